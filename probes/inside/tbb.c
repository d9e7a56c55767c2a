/* tbb: the order that oneTBB makes. A task begins after everything that was spawned so far, since it is not known which task it
 * is; its begin is observed in a function that libtbb calls. Waits and locks are atomic operations in its headers, except for
 * those here. Source: oneTBB 2021 and 2022, their headers; names are those of its binary interface. */
#include "probes/inside/openmp.h"
#include "probes/inside/tbb.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

/* Keys. Others are addresses of mutexes. */
enum { SPAWNED = 1, RETURNED = 2 };

struct dpe_runtime dpe_tbb;

/* Calls that wait without a wait context for functions that libtbb calls; and pipelines, which also order these
 * functions. */
static unsigned waiting, pipelines;

#define HERE DPE_MEMORY_HERE
#define TBB(result, name, mangled, ...)                                                            \
	static __typeof__(result (*)(__VA_ARGS__)) real_##name(void)                               \
	{                                                                                          \
		static void *found;                                                                \
		if (!found)                                                                        \
			found = find("_ZN3tbb6detail2r1" mangled);                                 \
		return found;                                                                      \
	}                                                                                          \
	DPE_MEMORY_EXPORTED result name(__VA_ARGS__) __asm__("_ZN3tbb6detail2r1" mangled);         \
	result name(__VA_ARGS__)

static void *find(const char *function)
{
	void *found = dlsym(RTLD_NEXT, function);

	if (!found) {
		fprintf(stderr, "dpe: no library has %s: link the program with -ltbb\n", function);
		abort();
	}
	return found;
}

__attribute__((constructor)) static void find_tbb(void)
{
	dpe_tbb = dpe_runtime_code(dlsym(RTLD_NEXT, "TBB_runtime_version"));
}

static void release(uint64_t key, struct dpe_memory_place place)
{
	if (dpe_memory_is_wanted(DPE_PRELOAD_TBB_RELEASE))
		dpe_memory_sync(DPE_PRELOAD_TBB_RELEASE, key, 0, place);
}

static void acquire(uint64_t key, struct dpe_memory_place place)
{
	if (dpe_memory_is_wanted(DPE_PRELOAD_TBB_ACQUIRE))
		dpe_memory_sync(DPE_PRELOAD_TBB_ACQUIRE, key, 0, place);
}

/* ---- tasks --------------------------------------------------------------------------------- */

void dpe_tbb_enter(struct dpe_memory_place place)
{
	acquire(SPAWNED, place);
	if (__atomic_load_n(&pipelines, __ATOMIC_RELAXED))
		acquire(RETURNED, place);
	dpe_omp_begin(place.pc);
}

void dpe_tbb_return(struct dpe_memory_place place)
{
	if (__atomic_load_n(&waiting, __ATOMIC_RELAXED))
		release(RETURNED, place);
}

TBB(void, spawn, "5spawnERNS0_2d14taskERNS2_18task_group_contextE", void *task, void *context)
{
	release(SPAWNED, HERE);
	real_spawn()(task, context);
}

TBB(void, spawn_in_slot, "5spawnERNS0_2d14taskERNS2_18task_group_contextEt", void *task, void *context, unsigned short slot)
{
	release(SPAWNED, HERE);
	real_spawn_in_slot()(task, context, slot);
}

TBB(void, submit, "6submitERNS0_2d14taskERNS2_18task_group_contextEPNS1_5arenaEm", void *task, void *context, void *arena,
	unsigned long critical)
{
	release(SPAWNED, HERE);
	real_submit()(task, context, arena, critical);
}

TBB(void, enqueue, "7enqueueERNS0_2d14taskEPNS2_15task_arena_baseE", void *task, void *arena)
{
	release(SPAWNED, HERE);
	real_enqueue()(task, arena);
}

TBB(void, enqueue_in_context, "7enqueueERNS0_2d14taskERNS2_18task_group_contextEPNS2_15task_arena_baseE", void *task,
	void *context, void *arena)
{
	release(SPAWNED, HERE);
	real_enqueue_in_context()(task, context, arena);
}

/* ---- waits: what is waited for comes before their return, also by an exception --------------- */

struct wait_context {
	uint64_t version;
	uint64_t references; /* a finished task decrements it, in the header */
};

struct tbb_wait {
	const struct wait_context *context; /* or NULL: the calls themselves count */
	unsigned *first, *second;
	struct dpe_memory_place place;
};

static void begin_wait(struct tbb_wait *wait)
{
	release(SPAWNED, wait->place);
	__atomic_add_fetch(wait->first, 1, __ATOMIC_SEQ_CST);
	if (wait->second)
		__atomic_add_fetch(wait->second, 1, __ATOMIC_SEQ_CST);
}

static void end_wait(struct tbb_wait *wait)
{
	if (wait->context) {
		if (dpe_memory_is_wanted(DPE_PRELOAD_ATOMIC_LOAD))
			dpe_memory_load((uint64_t)&wait->context->references, sizeof(wait->context->references), 0,
				wait->place);
		return;
	}
	__atomic_sub_fetch(wait->first, 1, __ATOMIC_SEQ_CST);
	if (wait->second)
		__atomic_sub_fetch(wait->second, 1, __ATOMIC_SEQ_CST);
	acquire(RETURNED, wait->place);
}

/*
 * From oneTBB 2022 on, a thread counts the unfinished tasks that it has made for somebody's wait in a vertex of its own,
 * of a class in the header whose code is libtbb's: atomic operations that nobody reports. The vertex gets ours.
 */
struct vertex {
	const struct vertex_functions *functions;
	struct vertex *parent;
	uint64_t references;
};

struct vertex_functions {
	void (*reserve)(struct vertex *, uint32_t);
	void (*release)(struct vertex *, uint32_t);
};

uint64_t __tsan_atomic64_fetch_add(volatile uint64_t *, uint64_t, int);
uint64_t __tsan_atomic64_fetch_sub(volatile uint64_t *, uint64_t, int);

static void reserve_vertex(struct vertex *vertex, uint32_t more)
{
	if (!__tsan_atomic64_fetch_add(&vertex->references, more, __ATOMIC_SEQ_CST))
		vertex->parent->functions->reserve(vertex->parent, 1);
}

static void release_vertex(struct vertex *vertex, uint32_t fewer)
{
	struct vertex *parent = vertex->parent; /* the vertex may be freed as soon as its count is 0 */

	if (__tsan_atomic64_fetch_sub(&vertex->references, fewer, __ATOMIC_SEQ_CST) == fewer)
		parent->functions->release(parent, 1);
}

/* The table of a class has two words before these functions and two destructors after them. All vertices are of one class, so
 * that threads that copy its table at the same time copy the same. */
static void observe_vertex(struct vertex *vertex)
{
	static struct {
		void *before[2];
		struct vertex_functions functions;
		void *destructors[2];
	} ours;
	void *const *table = (void *const *)vertex->functions;

	if (vertex->functions == &ours.functions)
		return;
	ours.before[0] = table[-2];
	ours.before[1] = table[-1];
	ours.functions = (struct vertex_functions){reserve_vertex, release_vertex};
	ours.destructors[0] = table[2];
	ours.destructors[1] = table[3];
	vertex->functions = &ours.functions;
}

TBB(struct vertex *, thread_vertex, "27get_thread_reference_vertexEPNS0_2d126wait_tree_vertex_interfaceE", struct vertex *parent)
{
	struct vertex *vertex = real_thread_vertex()(parent);

	observe_vertex(vertex);
	return vertex;
}

#define WAIT struct tbb_wait wait __attribute__((unused, cleanup(end_wait)))

TBB(void, wait, "4waitERNS0_2d112wait_contextERNS2_18task_group_contextE", struct wait_context *on, void *context)
{
	WAIT = {.context = on, .place = HERE};

	real_wait()(on, context);
}

TBB(void, execute_and_wait,
	"16execute_and_waitERNS0_2d14taskERNS2_18task_group_contextERNS2_12wait_contextES6_", void *task,
	void *context, struct wait_context *on, void *wait_in)
{
	WAIT = {.context = on, .place = HERE};

	release(SPAWNED, HERE);
	real_execute_and_wait()(task, context, on, wait_in);
}

TBB(void, execute, "7executeERNS0_2d115task_arena_baseERNS2_13delegate_baseE", void *arena, void *delegate)
{
	WAIT = {.first = &waiting, .place = HERE};

	begin_wait(&wait);
	real_execute()(arena, delegate);
}

TBB(void, parallel_pipeline, "17parallel_pipelineERNS0_2d118task_group_contextEmRKNS2_11filter_nodeE", void *context,
	unsigned long tokens, const void *filters)
{
	WAIT = {.first = &waiting, .second = &pipelines, .place = HERE};

	begin_wait(&wait);
	real_parallel_pipeline()(context, tokens, filters);
}

/* ---- mutexes that are not in the headers ------------------------------------------------------ */

/* What a scoped_lock begins with. */
static uint64_t mutex_of(void *const *lock)
{
	return (uint64_t)*lock;
}

#define TAKE(name, mangled)                                                                        \
	TBB(void, name, mangled, void *mutex, void **lock, bool how)                                \
	{                                                                                          \
		real_##name()(mutex, lock, how);                                                    \
		acquire((uint64_t)mutex, HERE);                                                     \
	}
#define TRY(name, mangled)                                                                         \
	TBB(bool, name, mangled, void *mutex, void **lock, bool how)                                \
	{                                                                                          \
		bool taken = real_##name()(mutex, lock, how);                                       \
                                                                                                   \
		if (taken)                                                                         \
			acquire((uint64_t)mutex, HERE);                                             \
		return taken;                                                                      \
	}
#define RELEASE(name, mangled)                                                                     \
	TBB(void, name, mangled, void **lock)                                                       \
	{                                                                                          \
		release(mutex_of(lock), HERE);                                                      \
		real_##name()(lock);                                                                \
	}
/* Upgrades to a writer or downgrades to a reader. */
#define CHANGE(name, mangled)                                                                      \
	TBB(bool, name, mangled, void **lock)                                                       \
	{                                                                                          \
		uint64_t mutex = mutex_of(lock);                                                    \
		bool kept;                                                                         \
                                                                                                   \
		release(mutex, HERE);                                                               \
		kept = real_##name()(lock);                                                         \
		acquire(mutex, HERE);                                                               \
		return kept;                                                                       \
	}

TAKE(queuing_acquire, "7acquireERNS0_2d116queuing_rw_mutexERNS3_11scoped_lockEb")
TRY(queuing_try, "11try_acquireERNS0_2d116queuing_rw_mutexERNS3_11scoped_lockEb")
RELEASE(queuing_release, "7releaseERNS0_2d116queuing_rw_mutex11scoped_lockE")
CHANGE(queuing_upgrade, "17upgrade_to_writerERNS0_2d116queuing_rw_mutex11scoped_lockE")
CHANGE(queuing_downgrade, "19downgrade_to_readerERNS0_2d116queuing_rw_mutex11scoped_lockE")
TAKE(rtm_acquire, "7acquireERNS0_2d19rtm_mutexERNS3_11scoped_lockEb")
TRY(rtm_try, "11try_acquireERNS0_2d19rtm_mutexERNS3_11scoped_lockE")
RELEASE(rtm_release, "7releaseERNS0_2d19rtm_mutex11scoped_lockE")
TAKE(rtm_read, "14acquire_readerERNS0_2d112rtm_rw_mutexERNS3_11scoped_lockEb")
TAKE(rtm_write, "14acquire_writerERNS0_2d112rtm_rw_mutexERNS3_11scoped_lockEb")
TRY(rtm_try_read, "18try_acquire_readerERNS0_2d112rtm_rw_mutexERNS3_11scoped_lockE")
TRY(rtm_try_write, "18try_acquire_writerERNS0_2d112rtm_rw_mutexERNS3_11scoped_lockE")
RELEASE(rtm_rw_release, "7releaseERNS0_2d112rtm_rw_mutex11scoped_lockE")
CHANGE(rtm_upgrade, "7upgradeERNS0_2d112rtm_rw_mutex11scoped_lockE")
CHANGE(rtm_downgrade, "9downgradeERNS0_2d112rtm_rw_mutex11scoped_lockE")

/* ---- memory that is another object's from then on ------------------------------------------- */

static void *hand_out(void *object, uint64_t size, struct dpe_memory_place place)
{
	if (object && dpe_memory_is_wanted(DPE_PRELOAD_HANDED_OUT))
		dpe_memory_hand_out(object, size, size, place);
	return object;
}

TBB(void *, allocate_small, "8allocateERPNS0_2d117small_object_poolEm", void *pool, uint64_t size)
{
	return hand_out(real_allocate_small()(pool, size), size, HERE);
}

TBB(void *, allocate_small_in, "8allocateERPNS0_2d117small_object_poolEmRKNS2_14execution_dataE", void *pool, uint64_t size,
	const void *data)
{
	return hand_out(real_allocate_small_in()(pool, size, data), size, HERE);
}

TBB(void *, allocate_memory, "15allocate_memoryEm", uint64_t size)
{
	return hand_out(real_allocate_memory()(size), size, HERE);
}

TBB(void *, allocate_aligned, "22cache_aligned_allocateEm", uint64_t size)
{
	return hand_out(real_allocate_aligned()(size), size, HERE);
}
