/* gomp_wrappers: wrappers of the functions of libgomp that order threads: they report that order and call the
 * original. If libomp replaces libgomp, libomp reports it itself (libomp_tool.c). Source: gcc, libgomp. */
#include "probes/inside/openmp.h"
#include "probes/inside/runtime.h"
#include "probes/limits.h"

#include <stddef.h>

#define HOOK DPE_MEMORY_EXPORTED DPE_RUNTIME_WRAPPER
#define HERE DPE_MEMORY_HERE
/* The location of code that libgomp calls, as if it had just begun: locations are return addresses. */
#define AT(function)                                                                               \
	(struct dpe_memory_place)                                                                  \
	{                                                                                          \
		(uint64_t)(function) + 1, __builtin_frame_address(0)                               \
	}
#define REAL(name)                                                                                 \
	({                                                                                         \
		static void *found;                                                                \
		if (!found)                                                                        \
			found = dpe_runtime_function(#name);                                           \
		(__typeof__(&name))found;                                                          \
	})

static bool is_wanted(void)
{
	return dpe_omp_is_wanted() && !dpe_runtime_tells;
}

typedef void work(void *data);
typedef void copier(void *to, void *from);

/* ---- parallel regions --------------------------------------------------------------------- */

struct parallel_region {
	void *reductions; /* which libgomp looks for here */
	work *work;
	void *data;
	uint64_t team;
};

static void run_region(void *data)
{
	const struct parallel_region *region = data;
	struct dpe_omp_task outer = dpe_omp_enter_team(region->team, AT(region->work));

	region->work(region->data);
	dpe_omp_leave_team(&outer, AT(region->work));
}

#define REGION(name, more, arguments)                                                              \
	HOOK void name(work *work, void *data, unsigned threads, UNPACK more)                      \
	{                                                                                          \
		struct parallel_region region = {NULL, work, data, 0};                                      \
                                                                                                   \
		if (is_wanted()) {                                                                 \
			region.team = dpe_omp_fork(HERE);                                          \
			work = run_region;                                                         \
			data = &region;                                                            \
		}                                                                                  \
		REAL(name)(work, data, threads, UNPACK arguments);                                 \
		if (region.team)                                                                   \
			dpe_omp_join(region.team, HERE);                                           \
	}
#define UNPACK(...) __VA_ARGS__
#define LOOP(name)                                                                                 \
	REGION(GOMP_parallel_loop_##name, (long from, long to, long step, unsigned flags),         \
		(from, to, step, flags))
#define CHUNKED_LOOP(name)                                                                         \
	REGION(GOMP_parallel_loop_##name,                                                          \
		(long from, long to, long step, long chunk, unsigned flags),                       \
		(from, to, step, chunk, flags))

REGION(GOMP_parallel, (unsigned flags), (flags))
REGION(GOMP_parallel_sections, (unsigned count, unsigned flags), (count, flags))
CHUNKED_LOOP(static)
CHUNKED_LOOP(dynamic)
CHUNKED_LOOP(guided)
CHUNKED_LOOP(nonmonotonic_dynamic)
CHUNKED_LOOP(nonmonotonic_guided)
LOOP(runtime)
LOOP(nonmonotonic_runtime)
LOOP(maybe_nonmonotonic_runtime)

HOOK unsigned GOMP_parallel_reductions(work *work, void *data, unsigned threads, unsigned flags)
{
	struct parallel_region region = {*(void **)data, work, data, 0};
	unsigned result;

	if (!is_wanted())
		return REAL(GOMP_parallel_reductions)(work, data, threads, flags);
	region.team = dpe_omp_fork(HERE);
	result = REAL(GOMP_parallel_reductions)(run_region, &region, threads, flags);
	dpe_omp_join(region.team, HERE);
	return result;
}

/* ---- barriers, ordered, copyprivate ------------------------------------------------------- */

#define BARRIER(name)                                                                              \
	HOOK void name(void)                                                                       \
	{                                                                                          \
		bool wanted = is_wanted();                                                         \
                                                                                                   \
		if (wanted)                                                                        \
			dpe_omp_arrive(HERE);                                                      \
		REAL(name)();                                                                      \
		if (wanted)                                                                        \
			dpe_omp_depart(HERE);                                                      \
	}
#define CANCELLABLE_BARRIER(name)                                                                  \
	HOOK bool name(void)                                                                       \
	{                                                                                          \
		bool wanted = is_wanted(), cancelled;                                              \
                                                                                                   \
		if (wanted)                                                                        \
			dpe_omp_arrive(HERE);                                                      \
		cancelled = REAL(name)();                                                          \
		if (wanted && !cancelled)                                                          \
			dpe_omp_depart(HERE);                                                      \
		return cancelled;                                                                  \
	}
BARRIER(GOMP_barrier)
BARRIER(GOMP_loop_end)
BARRIER(GOMP_sections_end)
CANCELLABLE_BARRIER(GOMP_barrier_cancel)
CANCELLABLE_BARRIER(GOMP_loop_end_cancel)
CANCELLABLE_BARRIER(GOMP_sections_end_cancel)

/* The end of a worksharing construct with task reductions: a taskgroup, and a barrier. */
HOOK void GOMP_workshare_task_reduction_unregister(bool cancelled)
{
	bool wanted = is_wanted() && !cancelled;

	if (wanted)
		dpe_omp_arrive(HERE);
	REAL(GOMP_workshare_task_reduction_unregister)(cancelled);
	if (wanted)
		dpe_omp_depart(HERE);
}

HOOK void GOMP_ordered_start(void)
{
	REAL(GOMP_ordered_start)();
	if (is_wanted())
		dpe_omp_acquire(DPE_OMP_ORDERED, HERE);
}

HOOK void GOMP_ordered_end(void)
{
	if (is_wanted())
		dpe_omp_release(DPE_OMP_ORDERED, HERE);
	REAL(GOMP_ordered_end)();
}

HOOK bool GOMP_single_start(void)
{
	dpe_omp_come_first(HERE.pc);
	return REAL(GOMP_single_start)();
}

/* NULL for the thread that has to do it. */
HOOK void *GOMP_single_copy_start(void)
{
	void *data;

	dpe_omp_come_first(HERE.pc);
	data = REAL(GOMP_single_copy_start)();
	if (data && is_wanted())
		dpe_omp_acquire(DPE_OMP_COPY, HERE);
	return data;
}

HOOK void GOMP_single_copy_end(void *data)
{
	if (is_wanted())
		dpe_omp_release(DPE_OMP_COPY, HERE);
	REAL(GOMP_single_copy_end)(data);
}

/* ---- sections, and chunks of loops that the threads take as they come ---------------------------- */

HOOK unsigned GOMP_sections_next(void)
{
	dpe_omp_begin(HERE.pc);
	return REAL(GOMP_sections_next)();
}

#define TAKES(name, type)                                                                          \
	HOOK bool name(type *from, type *to)                                                       \
	{                                                                                          \
		dpe_omp_begin(HERE.pc);                                                            \
		return REAL(name)(from, to);                                                       \
	}
#define TAKES_ALL(schedule)                                                                        \
	TAKES(GOMP_loop_##schedule##_next, long)                                                   \
	TAKES(GOMP_loop_ull_##schedule##_next, unsigned long long)
TAKES_ALL(dynamic)
TAKES_ALL(guided)
TAKES_ALL(runtime)
TAKES_ALL(nonmonotonic_dynamic)
TAKES_ALL(nonmonotonic_guided)
TAKES_ALL(nonmonotonic_runtime)
TAKES_ALL(maybe_nonmonotonic_runtime)

/* ---- doacross loops ------------------------------------------------------------------------
 * The functions that begin them have up to seven arguments behind the first, all of which are passed on. */

typedef uint64_t word;

#define DOACROSS(name)                                                                             \
	HOOK bool name(unsigned ncounts, word a, word b, word c, word d, word e, word f, word g)   \
	{                                                                                          \
		dpe_omp_current.ncounts = ncounts;                                                 \
		return REAL(name)(ncounts, a, b, c, d, e, f, g);                                   \
	}
#define POST(name)                                                                                 \
	HOOK void name(word *counts)                                                               \
	{                                                                                          \
		if (is_wanted())                                                                   \
			dpe_omp_iteration(DPE_PRELOAD_OMP_RELEASE, counts,                         \
				dpe_omp_current.ncounts, HERE);                                    \
		REAL(name)(counts);                                                                \
	}
/* The function has as many arguments as the loop has dimensions. More than eight are not followed. */
#define WAIT(name)                                                                                 \
	HOOK void name(word a, word b, word c, word d, word e, word f, word g, word h)             \
	{                                                                                          \
		const word counts[DPE_OMP_COUNTS] = {a, b, c, d, e, f, g, h};                         \
                                                                                                   \
		((void (*)(word, ...))REAL(name))(a, b, c, d, e, f, g, h);                         \
		if (is_wanted() && dpe_omp_current.ncounts <= DPE_OMP_COUNTS)                         \
			dpe_omp_iteration(DPE_PRELOAD_OMP_ACQUIRE, counts,                         \
				dpe_omp_current.ncounts, HERE);                                    \
	}
DOACROSS(GOMP_loop_doacross_static_start)
DOACROSS(GOMP_loop_doacross_dynamic_start)
DOACROSS(GOMP_loop_doacross_guided_start)
DOACROSS(GOMP_loop_doacross_runtime_start)
DOACROSS(GOMP_loop_doacross_start)
DOACROSS(GOMP_loop_ull_doacross_static_start)
DOACROSS(GOMP_loop_ull_doacross_dynamic_start)
DOACROSS(GOMP_loop_ull_doacross_guided_start)
DOACROSS(GOMP_loop_ull_doacross_runtime_start)
DOACROSS(GOMP_loop_ull_doacross_start)
POST(GOMP_doacross_post)
POST(GOMP_doacross_ull_post)
WAIT(GOMP_doacross_wait)
WAIT(GOMP_doacross_ull_wait)

/* ---- locks ------------------------------------------------------------------------------- */

static const char unnamed, atomic; /* the keys of these locks are the addresses of the variables */

#define LOCK(name, parameters, arguments, lock)                                                    \
	HOOK void name parameters                                                                  \
	{                                                                                          \
		REAL(name) arguments;                                                              \
		if (dpe_omp_is_wanted())                                                                   \
			dpe_omp_lock(DPE_PRELOAD_OMP_LOCK, lock, HERE);                            \
	}
#define UNLOCK(name, parameters, arguments, lock)                                                  \
	HOOK void name parameters                                                                  \
	{                                                                                          \
		if (dpe_omp_is_wanted())                                                                   \
			dpe_omp_lock(DPE_PRELOAD_OMP_UNLOCK, lock, HERE);                          \
		REAL(name) arguments;                                                              \
	}
#define TEST(name)                                                                                 \
	HOOK int name(void *lock)                                                                  \
	{                                                                                          \
		int taken = REAL(name)(lock);                                                      \
                                                                                                   \
		if (taken && dpe_omp_is_wanted())                                                          \
			dpe_omp_lock(DPE_PRELOAD_OMP_LOCK, lock, HERE);                            \
		return taken;                                                                      \
	}
LOCK(GOMP_critical_start, (void), (), &unnamed)
UNLOCK(GOMP_critical_end, (void), (), &unnamed)
LOCK(GOMP_critical_name_start, (void **name), (name), name)
UNLOCK(GOMP_critical_name_end, (void **name), (name), name)
LOCK(GOMP_atomic_start, (void), (), &atomic)
UNLOCK(GOMP_atomic_end, (void), (), &atomic)
LOCK(omp_set_lock, (void *lock), (lock), lock)
UNLOCK(omp_unset_lock, (void *lock), (lock), lock)
TEST(omp_test_lock)
LOCK(omp_set_nest_lock, (void *lock), (lock), lock)
UNLOCK(omp_unset_nest_lock, (void *lock), (lock), lock)
TEST(omp_test_nest_lock)

/* ---- tasks: what libgomp copies for a task begins with what we need of it --------------------- */

struct task_block {
	void *given[3]; /* what libgomp reads and sets: a taskloop's bounds and reductions, a detached task's event */
	unsigned ngiven;
	struct dpe_omp_created created;
	work *work;
	copier *copy;
	void *data;     /* of the compiler's, where it is copied from */
	size_t offset;  /* of the compiler's data in the block */
	size_t bytes;   /* with the dependences, which follow */
};

/* Not memcpy: ours reports accesses. */
static void copy_bytes(void *to, const void *from, size_t size)
{
	__asm__ volatile("rep movsb" : "+D"(to), "+S"(from), "+c"(size) : : "memory");
}

static void run_task(void *data)
{
	struct task_block *block = data;
	struct dpe_omp_created created = block->created;
	void **own = (void **)((char *)data + block->offset);
	struct dpe_omp_task outer;

	created.dependences = (const struct dpe_omp_dependence *)(block + 1);
	for (unsigned i = 0; i < block->ngiven; i++)
		own[i] = block->given[i];
	outer = dpe_omp_start(&created, AT(block->work));
	dpe_omp_begin((uint64_t)block->work);
	block->work(own);
	dpe_omp_complete(&created, AT(block->work));
	dpe_omp_current = outer;
}

static void copy_block(void *to, void *from)
{
	const struct task_block *block = from;

	copy_bytes(to, from, block->bytes);
	block->copy((char *)to + block->offset, block->data);
	dpe_omp_publish(&block->created, AT(block->copy));
}

/* The counts before the addresses: all, out; or 0, all, out, mutexinoutset, in. The remaining addresses are of
 * omp_depend_t: an address and its kind. */
static unsigned count_dependences(void **depend)
{
	return (unsigned)(uintptr_t)(depend[0] ? depend[0] : depend[1]);
}

static void list_dependences(void **depend, struct dpe_omp_dependence *list)
{
	enum { IN = 1 };
	uintptr_t count = count_dependences(depend);
	uintptr_t writes = depend[0] ? (uintptr_t)depend[1] : (uintptr_t)depend[2] + (uintptr_t)depend[3];
	uintptr_t plain = depend[0] ? count : writes + (uintptr_t)depend[4];

	depend += depend[0] ? 2 : 5;
	for (uintptr_t i = 0; i < count; i++) {
		void **object = depend[i];

		list[i] = i < plain ? (struct dpe_omp_dependence){(uintptr_t)object, i < writes}
				    : (struct dpe_omp_dependence){(uintptr_t)object[0],
					      (uintptr_t)object[1] != IN};
	}
}

enum { TASK_DEPEND = 1 << 3, TASK_NO_GROUP = 1 << 11, TASK_DETACH = 1 << 13 };

struct new_task {
	work *work;
	void *data;
	copier *copy;
	long size, align;
	unsigned flags;
	void **depend; /* or NULL */
	unsigned ngiven;
};

static size_t align_up(size_t size, size_t align)
{
	return (size + align - 1) & ~(align - 1);
}

static size_t block_align(const struct new_task *task)
{
	return task->align > 16 ? (size_t)task->align : 16;
}

static unsigned ndependences(const struct new_task *task)
{
	return task->depend ? count_dependences(task->depend) : 0;
}

static size_t block_bytes(const struct new_task *task)
{
	return sizeof(struct task_block) + ndependences(task) * sizeof(struct dpe_omp_dependence);
}

static size_t data_offset(const struct new_task *task)
{
	return align_up(block_bytes(task), block_align(task));
}

/* Room for the block on the stack of the creating thread. */
#define BLOCK_ROOM(task)                                                                           \
	__builtin_alloca(data_offset(task) + (size_t)(task)->size + block_align(task))

/* Replaces the task's function by one that reports the order and then runs the original. */
static void wrap(struct new_task *task, void *room, struct dpe_memory_place place)
{
	struct task_block *block = (void *)align_up((size_t)room, block_align(task));

	*block = (struct task_block){.ngiven = task->ngiven,
		.created = dpe_omp_create(place),
		.work = task->work,
		.copy = task->copy,
		.data = task->data,
		.offset = data_offset(task),
		.bytes = block_bytes(task)};
	for (unsigned i = 0; i < task->ngiven; i++)
		block->given[i] = ((void **)task->data)[i];
	block->created.ndependences = ndependences(task);
	if (task->depend)
		list_dependences(task->depend, (struct dpe_omp_dependence *)(block + 1));
	if (!task->copy)
		copy_bytes((char *)block + block->offset, task->data, (size_t)task->size);
	task->size += (long)block->offset;
	task->align = (long)block_align(task);
	task->work = run_task;
	task->data = block;
	task->copy = task->copy ? copy_block : NULL;
}

HOOK void GOMP_task(work *work, void *data, copier *copy, long size, long align, bool defer, unsigned flags,
	void **depend, int priority, void *detach)
{
	struct new_task task = {work, data, copy, size, align, flags, flags & TASK_DEPEND ? depend : NULL,
		flags & TASK_DETACH ? 1 : 0};
	uint32_t begun = dpe_omp_begun;

	if (is_wanted())
		wrap(&task, BLOCK_ROOM(&task), HERE);
	REAL(GOMP_task)(task.work, task.data, task.copy, task.size, task.align, defer, flags, depend,
		priority, detach);
	dpe_omp_let_begin(begun, DPE_OMP_PAUSES, HERE.pc);
}

/* The construct is a taskgroup of its own, unless it has `nogroup`. */
#define TASKLOOP(name, type)                                                                       \
	HOOK void name(work *work, void *data, copier *copy, long size, long align, unsigned flags, \
		unsigned long tasks, int priority, type from, type to, type step)                  \
	{                                                                                          \
		struct new_task task = {work, data, copy, size, align, flags, NULL, size >= 24 ? 3 : 2}; \
		bool group = is_wanted() && !(flags & TASK_NO_GROUP);                              \
		uint32_t begun = dpe_omp_begun;                                                    \
                                                                                                   \
		if (group)                                                                         \
			dpe_omp_begin_group();                                                     \
		if (is_wanted())                                                                   \
			wrap(&task, BLOCK_ROOM(&task), HERE);                                      \
		REAL(name)(task.work, task.data, task.copy, task.size, task.align, flags, tasks,   \
			priority, from, to, step);                                                 \
		if (group)                                                                         \
			dpe_omp_end_group(HERE);                                                   \
		else                                                                               \
			dpe_omp_let_begin(begun, DPE_OMP_PAUSES, HERE.pc);                           \
	}
TASKLOOP(GOMP_taskloop, long)
TASKLOOP(GOMP_taskloop_ull, unsigned long long)

HOOK void GOMP_taskwait(void)
{
	REAL(GOMP_taskwait)();
	if (is_wanted())
		dpe_omp_taskwait(HERE);
}

#define LIST_DEPENDENCES(list, count, depend)                                                      \
	unsigned count = count_dependences(depend);                                                \
	struct dpe_omp_dependence *list = __builtin_alloca(count * sizeof(*list));                 \
                                                                                                   \
	list_dependences(depend, list)

HOOK void GOMP_taskwait_depend(void **depend)
{
	LIST_DEPENDENCES(list, count, depend);

	REAL(GOMP_taskwait_depend)(depend);
	if (is_wanted())
		dpe_omp_await(dpe_omp_current.keys, list, count, HERE);
}

HOOK void GOMP_taskgroup_start(void)
{
	REAL(GOMP_taskgroup_start)();
	if (is_wanted())
		dpe_omp_begin_group();
}

HOOK void GOMP_taskgroup_end(void)
{
	REAL(GOMP_taskgroup_end)();
	if (is_wanted())
		dpe_omp_end_group(HERE);
}

/* The thread that completes a detached task does not know its parent: later barriers follow the task, a
 * taskwait does not. */
HOOK void omp_fulfill_event(void *event)
{
	if (is_wanted())
		dpe_omp_arrive(HERE);
	REAL(omp_fulfill_event)(event);
}

/* Without a device the code runs on the host. With nowait it would be a task without our data, so it runs at once
 * instead. */
HOOK void GOMP_target_ext(int device, work *work, size_t maps, void **addresses, size_t *sizes,
	unsigned short *kinds, unsigned flags, void **depend, void **arguments)
{
	enum { NOWAIT = 1 << 0 };
	void *none[2] = {0};
	LIST_DEPENDENCES(list, count, depend ? depend : none);

	if (!is_wanted()) {
		REAL(GOMP_target_ext)(device, work, maps, addresses, sizes, kinds, flags, depend, arguments);
		return;
	}
	dpe_omp_await(dpe_omp_current.keys, list, count, HERE);
	REAL(GOMP_target_ext)(device, work, maps, addresses, sizes, kinds, flags & ~NOWAIT, depend, arguments);
	dpe_omp_fulfil(dpe_omp_current.keys, list, count, HERE);
}
