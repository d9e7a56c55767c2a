/* libomp_tool: the order that OpenMP makes, as libomp reports it. It looks for ompt_start_tool when it starts, and
 * calls back for teams, barriers and tasks. What it reports too late, such as the release of a lock, is wrapped.
 * Sources: OpenMP 5.0, chapter 4 (OMPT), whose numbers are those of omp-tools.h; LLVM, openmp/runtime/src/kmp.h. */
#include "probes/inside/openmp.h"
#include "probes/inside/runtime.h"

#include <stddef.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#define HOOK DPE_MEMORY_EXPORTED
#define HERE DPE_MEMORY_HERE
#define REAL(name)                                                                                 \
	({                                                                                         \
		static void *found;                                                                \
		if (!found)                                                                        \
			found = dpe_runtime_function(#name);                                           \
		(__typeof__(&name))found;                                                          \
	})

/* Callbacks get the address at which the program called libomp, if it is known. */
static struct dpe_memory_place at(const void *code)
{
	return (struct dpe_memory_place){(uint64_t)code, __builtin_frame_address(0)};
}

/* ---- tasks: libomp keeps a pointer for each, ours to one of these ---------------------------- */

struct libomp_task {
	struct dpe_omp_created created; /* of an explicit task */
	struct dpe_omp_task outer;      /* of an implicit one: what its thread ran before */
	struct dpe_omp_task state;      /* while it is suspended */
	struct dpe_omp_dependence few[4], *many;
	size_t bytes; /* of `many` */
	struct libomp_task *next; /* in the list of free ones */
	bool started, ended; /* ended: its completion was reported */
};

static __thread struct libomp_task *spare, *running, *interrupted;

static void *map(size_t bytes)
{
	void *memory = dpe_preload_filtered ? NULL : (void *)syscall(SYS_mmap, NULL, bytes, PROT_READ | PROT_WRITE,
		MAP_PRIVATE | MAP_ANONYMOUS, -1, 0L);

	return (uint64_t)memory < -4095ull ? memory : NULL;
}

static struct libomp_task *new_task(void)
{
	enum { CHUNK = 1 << 16 };
	struct libomp_task *task, *chunk = spare ? NULL : map(CHUNK);

	for (size_t i = 0; chunk && i < CHUNK / sizeof(*chunk); i++) {
		chunk[i].next = spare;
		spare = &chunk[i];
	}
	task = spare;
	if (!task) {
		dpe_preload_lose_one();
		return NULL;
	}
	spare = task->next;
	*task = (struct libomp_task){.few = {{0}}};
	return task;
}

static void free_task(struct libomp_task *task)
{
	if (task->many && !dpe_preload_filtered)
		syscall(SYS_munmap, task->many, task->bytes);
	task->next = spare;
	spare = task;
}

/* ---- teams and barriers ------------------------------------------------------------------ */

union data {
	uint64_t keys;
	struct libomp_task *task;
};

enum { BEGIN = 1, END = 2 };

static void on_parallel_begin(union data *outer, const void *frame, union data *team, unsigned threads,
	int flags, const void *code)
{
	(void)outer;
	(void)frame;
	(void)threads;
	(void)flags;
	team->keys = dpe_omp_fork(at(code));
}

static void on_parallel_end(union data *team, union data *outer, int flags, const void *code)
{
	(void)outer;
	(void)flags;
	dpe_omp_join(team->keys, at(code));
}

/* The program's initial task has no team. */
static void on_implicit_task(
	int endpoint, union data *team, union data *data, unsigned threads, unsigned index, int flags)
{
	struct libomp_task *task = data->task;

	(void)threads;
	(void)index;
	(void)flags;
	if (endpoint == BEGIN) {
		data->task = new_task();
		if (data->task && team && team->keys)
			data->task->outer = dpe_omp_enter_team(team->keys, at(NULL));
	} else if (task) {
		dpe_omp_current = task->outer;
		free_task(task);
		data->task = NULL;
	}
}

enum { TASKWAIT = 5, TASKGROUP = 6, REDUCTION = 7 };

/* The reductions of a taskgroup are made between this and its end. */
static void on_wait(int kind, int endpoint, union data *team, union data *task, const void *code)
{
	(void)team;
	(void)task;
	if (kind == TASKGROUP && endpoint == END && dpe_omp_current.depth)
		dpe_omp_await_group(at(code));
}

/* Threads other than the first learn that a region has ended when they begin the next one, without a team. */
static void on_sync_region(
	int kind, int endpoint, union data *team, union data *task, const void *code)
{
	(void)task;
	if (kind == TASKGROUP && endpoint == BEGIN)
		dpe_omp_begin_group();
	else if (kind == TASKGROUP && dpe_omp_current.depth)
		dpe_omp_end_group(at(code));
	else if (kind == TASKWAIT && endpoint == END)
		dpe_omp_taskwait(at(code));
	else if (kind >= TASKWAIT && kind <= REDUCTION)
		return;
	else if (endpoint == BEGIN)
		dpe_omp_arrive(at(code));
	else if (team)
		dpe_omp_depart(at(code));
}

/* ---- explicit tasks ---------------------------------------------------------------------- */

static void on_task_create(union data *outer, const void *frame, union data *data, int flags,
	int dependences, const void *code)
{
	enum { EXPLICIT = 4, TARGET = 8, DEPENDENT_WAIT = 16 };

	(void)outer;
	(void)frame;
	(void)dependences;
	if (!(flags & (EXPLICIT | TARGET | DEPENDENT_WAIT)))
		return;
	data->task = new_task();
	if (data->task)
		data->task->created = dpe_omp_create(at(code));
}

struct ompt_dependence {
	uint64_t variable;
	int type;
};

static void on_dependences(union data *data, const struct ompt_dependence *given, int count)
{
	enum { IN = 1, SOURCE = 5, SINK = 6 };
	struct libomp_task *task = data->task;
	struct dpe_omp_dependence *list;

	if (!task || count <= 0 || given->type == SOURCE || given->type == SINK)
		return;
	list = task->few;
	if ((size_t)count > sizeof(task->few) / sizeof(task->few[0])) {
		task->bytes = (size_t)count * sizeof(*list);
		list = task->many = map(task->bytes);
	}
	for (int i = 0; list && i < count; i++)
		list[i] = (struct dpe_omp_dependence){given[i].variable, given[i].type != IN};
	task->created.dependences = list;
	task->created.ndependences = list ? (unsigned)count : 0;
}

static void resume(struct libomp_task *task)
{
	unsigned round = dpe_omp_current.round;

	running = task;
	if (task)
		dpe_omp_current = task->state;
	dpe_omp_current.round = round;
}

/* A taskwait with dependences is a task that only completes. */
static void complete(struct libomp_task *task, struct libomp_task *next)
{
	if (!task->started)
		dpe_omp_await(task->created.parent, task->created.dependences,
			task->created.ndependences, at(NULL));
	else if (!task->ended)
		dpe_omp_complete(&task->created, at(NULL));
	if (task->started)
		resume(next);
	free_task(task);
}

static void on_task_schedule(union data *prior, int status, union data *next)
{
	enum { COMPLETE = 1, CANCEL = 3, EARLY = 5, LATE = 6, WAITED = 8 };
	struct libomp_task *to = next ? next->task : NULL;

	if (status == EARLY)
		return;
	if (status == COMPLETE || status == CANCEL || status == LATE || status == WAITED) {
		if (prior->task)
			complete(prior->task, to);
		prior->task = NULL;
		return;
	}
	if (prior->task)
		prior->task->state = dpe_omp_current;
	if (to && to->created.keys && !to->started) {
		to->started = true;
		interrupted = prior->task;
		dpe_omp_start(&to->created, at(NULL));
		dpe_omp_current.depth = to->state.depth;
		running = to;
	} else if (to) {
		resume(to);
	}
}

/* Called after the fence, and before any access that follows it. */
static void on_flush(union data *thread, const void *code)
{
	(void)thread;
	(void)code;
	__tsan_atomic_thread_fence(__ATOMIC_SEQ_CST);
}

/* ---- the beginning ----------------------------------------------------------------------- */

typedef void tool_callback(void);
typedef int set_callback(int which, tool_callback *function);
typedef tool_callback *lookup(const char *name);

static int initialize(lookup *look_up, int device, union data *tool)
{
	enum {
		PARALLEL_BEGIN = 3,
		PARALLEL_END,
		TASK_CREATE,
		TASK_SCHEDULE,
		IMPLICIT_TASK,
		SYNC_REGION_WAIT = 16,
		DEPENDENCES = 18,
		SYNC_REGION = 23,
		FLUSH = 29
	};
	set_callback *set = (set_callback *)look_up("ompt_set_callback");

	(void)device;
	(void)tool;
	if (!set)
		return 0;
	set(PARALLEL_BEGIN, (tool_callback *)on_parallel_begin);
	set(PARALLEL_END, (tool_callback *)on_parallel_end);
	set(TASK_CREATE, (tool_callback *)on_task_create);
	set(TASK_SCHEDULE, (tool_callback *)on_task_schedule);
	set(IMPLICIT_TASK, (tool_callback *)on_implicit_task);
	set(DEPENDENCES, (tool_callback *)on_dependences);
	set(SYNC_REGION, (tool_callback *)on_sync_region);
	set(FLUSH, (tool_callback *)on_flush);
	set(SYNC_REGION_WAIT, (tool_callback *)on_wait);
	return 1;
}

static void finalize(union data *tool)
{
	(void)tool;
}

struct tool_functions {
	int (*initialize)(lookup *look_up, int device, union data *tool);
	void (*finalize)(union data *tool);
	union data tool;
};

HOOK struct tool_functions *ompt_start_tool(unsigned version, const char *runtime)
{
	static struct tool_functions result = {initialize, finalize, {0}};

	(void)version;
	(void)runtime;
	return dpe_omp_is_wanted() ? &result : NULL;
}

/* ---- what is wrapped ---------------------------------------------------------------------- */

#define AFTER(name, parameters, arguments, tell)                                                   \
	HOOK void name parameters                                                                  \
	{                                                                                          \
		REAL(name) arguments;                                                              \
		if (dpe_omp_is_wanted())                                                           \
			tell;                                                                      \
	}
#define BEFORE(name, parameters, arguments, tell)                                                  \
	HOOK void name parameters                                                                  \
	{                                                                                          \
		if (dpe_omp_is_wanted())                                                           \
			tell;                                                                      \
		REAL(name) arguments;                                                              \
	}
AFTER(__kmpc_critical, (void *where, int thread, void *lock), (where, thread, lock),
	dpe_omp_lock(DPE_PRELOAD_OMP_LOCK, lock, HERE))
AFTER(__kmpc_critical_with_hint, (void *where, int thread, void *lock, uint32_t hint),
	(where, thread, lock, hint), dpe_omp_lock(DPE_PRELOAD_OMP_LOCK, lock, HERE))
BEFORE(__kmpc_end_critical, (void *where, int thread, void *lock), (where, thread, lock),
	dpe_omp_lock(DPE_PRELOAD_OMP_UNLOCK, lock, HERE))
AFTER(__kmpc_ordered, (void *where, int thread), (where, thread), dpe_omp_acquire(DPE_OMP_ORDERED, HERE))
BEFORE(__kmpc_end_ordered, (void *where, int thread), (where, thread),
	dpe_omp_release(DPE_OMP_ORDERED, HERE))

HOOK void __kmpc_doacross_init(void *where, int thread, int dimensions, const void *bounds)
{
	dpe_omp_current.ncounts = (unsigned)dimensions;
	REAL(__kmpc_doacross_init)(where, thread, dimensions, bounds);
}
BEFORE(__kmpc_doacross_post, (void *where, int thread, const uint64_t *counts), (where, thread, counts),
	dpe_omp_iteration(DPE_PRELOAD_OMP_RELEASE, counts, dpe_omp_current.ncounts, HERE))
AFTER(__kmpc_doacross_wait, (void *where, int thread, const uint64_t *counts), (where, thread, counts),
	dpe_omp_iteration(DPE_PRELOAD_OMP_ACQUIRE, counts, dpe_omp_current.ncounts, HERE))

/* One thread of a `reduction(task, …)` initialises the copies of all; the others wait for it by atomic variables of
 * libomp. */
#define INITIALISES(name)                                                                          \
	HOOK void *name(void *where, int thread, int loop, int count, void *data)                  \
	{                                                                                          \
		void *result;                                                                      \
                                                                                                   \
		dpe_memory_ordered = true;                                                         \
		result = REAL(name)(where, thread, loop, count, data);                             \
		dpe_memory_ordered = false;                                                        \
		return result;                                                                     \
	}
INITIALISES(__kmpc_taskred_modifier_init)
INITIALISES(__kmpc_task_reduction_modifier_init)

/* A reduction is made under the lock by each thread that gets 1, or by combining the values of pairs of
 * threads. */
typedef void combine(void *to, void *from);
static __thread combine *combines;

static void combine_after(void *to, void *from)
{
	dpe_omp_acquire(DPE_OMP_REDUCTION, at(combines));
	combines(to, from);
	dpe_omp_release(DPE_OMP_REDUCTION, at(combines));
}

#define REDUCE(name)                                                                               \
	HOOK int name(void *where, int thread, int count, size_t size, void *values,               \
		combine *combine, void *lock)                                                      \
	{                                                                                          \
		int result;                                                                        \
                                                                                                   \
		if (!dpe_omp_is_wanted())                                                          \
			return REAL(name)(where, thread, count, size, values, combine, lock);      \
		combines = combine;                                                                \
		dpe_omp_release(DPE_OMP_REDUCTION, HERE);                                          \
		result = REAL(name)(where, thread, count, size, values, combine_after, lock);      \
		if (result == 1)                                                                   \
			dpe_omp_lock(DPE_PRELOAD_OMP_LOCK, lock, HERE);                            \
		return result;                                                                     \
	}
REDUCE(__kmpc_reduce)
REDUCE(__kmpc_reduce_nowait)
BEFORE(__kmpc_end_reduce, (void *where, int thread, void *lock), (where, thread, lock),
	dpe_omp_lock(DPE_PRELOAD_OMP_UNLOCK, lock, HERE))
BEFORE(__kmpc_end_reduce_nowait, (void *where, int thread, void *lock), (where, thread, lock),
	dpe_omp_lock(DPE_PRELOAD_OMP_UNLOCK, lock, HERE))

/* ---- tasks, which libomp reports when others may have found them complete ---------------------
 * A task begins with a pointer to the shared variables' block. Ours begins with the function that the task runs. clang
 * compiles an untied task into parts. Each but the last creates the task again, for any thread, and returns. */

typedef int entry(int thread, void **task);
enum { BEFORE_SHARED = 16 };

static __thread void *entered; /* the task whose part runs */
static __thread bool continues; /* that part was not the last */

static int run_entry(int thread, void **task)
{
	entry *run = *(entry **)((char *)task[0] - BEFORE_SHARED);
	struct libomp_task *below = interrupted;
	void *outer = entered;
	int result;

	dpe_omp_begin((uint64_t)run);
	entered = task;
	result = run(thread, task);
	entered = outer;

	if (continues) {
		continues = false;
		resume(below);
	} else if (running && running->started) {
		dpe_omp_complete(&running->created, at(run));
		running->ended = true;
	}
	return result;
}

/* The memory of a task, which the program fills in, was another task's. */
static void renew(const void *memory, size_t size, struct dpe_memory_place place)
{
	if (size && dpe_memory_is_wanted(DPE_PRELOAD_RENEWED))
		dpe_memory_sync(DPE_PRELOAD_RENEWED, (uint64_t)memory, size, place);
}

#define TASK_ALLOC(name, more, arguments)                                                          \
	HOOK void **name(void *where, int thread, int flags, size_t size, size_t shared_size,      \
		entry *run UNPACK more)                                                            \
	{                                                                                          \
		void **task;                                                                       \
                                                                                                   \
		if (!dpe_omp_is_wanted())                                                          \
			return REAL(name)(                                                         \
				where, thread, flags, size, shared_size, run UNPACK arguments);    \
		task = REAL(name)(where, thread, flags, size, shared_size + BEFORE_SHARED,         \
			run_entry UNPACK arguments);                                               \
		renew(task, size, HERE);                                                           \
		renew(task[0], shared_size + BEFORE_SHARED, HERE);                                 \
		*(entry **)task[0] = run;                                                          \
		task[0] = (char *)task[0] + BEFORE_SHARED;                                         \
		return task;                                                                       \
	}
#define UNPACK(...) __VA_ARGS__
TASK_ALLOC(__kmpc_omp_task_alloc, (), ())
TASK_ALLOC(__kmpc_omp_target_task_alloc, (, int64_t device), (, device))

static void end_part(struct dpe_memory_place place)
{
	if (!running || !running->started)
		return;
	running->state = dpe_omp_current;
	running->started = false;
	dpe_omp_publish(&running->created, place);
}

#define CREATES(name, more, arguments)                                                             \
	HOOK int name(void *where, int thread, void *task UNPACK more)                             \
	{                                                                                          \
		uint32_t begun = dpe_omp_begun;                                                    \
		bool part = task == entered;                                                       \
		int result;                                                                        \
                                                                                                   \
		if (part)                                                                          \
			end_part(HERE);                                                            \
		result = REAL(name)(where, thread, task UNPACK arguments);                         \
		continues = part;                                                                  \
		dpe_omp_let_begin(begun, DPE_OMP_PAUSES, HERE.pc);                                   \
		return result;                                                                     \
	}
CREATES(__kmpc_omp_task, (), ())
CREATES(__kmpc_omp_task_with_deps, (, int count, void *list, int more, void *others), (, count, list, more, others))

HOOK int __kmpc_single(void *where, int thread)
{
	dpe_omp_come_first(HERE.pc);
	return REAL(__kmpc_single)(where, thread);
}

/* Chunks of loops that the threads take as they come. */
#define TAKES(name)                                                                                \
	HOOK int name(void *where, int thread, void *last, void *from, void *to, void *step)       \
	{                                                                                          \
		dpe_omp_begin(HERE.pc);                                                            \
		return REAL(name)(where, thread, last, from, to, step);                            \
	}
TAKES(__kmpc_dispatch_next_4)
TAKES(__kmpc_dispatch_next_4u)
TAKES(__kmpc_dispatch_next_8)
TAKES(__kmpc_dispatch_next_8u)
