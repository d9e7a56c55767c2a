/* Which lock of glibc a futex belongs to, and what its words say: pthread_mutex_t and the others, as glibc lays them
 * out (nptl/, sysdeps/nptl/bits/struct_mutex.h and struct_rwlock.h). */
#include "probes/waits/waits.h"

#include <linux/futex.h>
#include <stdlib.h>
#include <stddef.h>
#include <string.h>

#define ROBUST 16  /* of __kind */
#define INHERITS 32

#define RW_READERS_SHIFT 3

static const struct {
	const char *function;
	enum dpe_wait_kind kind;
} CALLS[] = {
	{"pthread_mutex_lock", DPE_WAIT_MUTEX},
	{"pthread_mutex_timedlock", DPE_WAIT_MUTEX},
	{"pthread_mutex_clocklock", DPE_WAIT_MUTEX},
	{"pthread_mutex_lock_full", DPE_WAIT_MUTEX},
	{"mtx_lock", DPE_WAIT_MUTEX},
	{"mtx_timedlock", DPE_WAIT_MUTEX},
	{"pthread_rwlock_rdlock", DPE_WAIT_READ_LOCK},
	{"pthread_rwlock_timedrdlock", DPE_WAIT_READ_LOCK},
	{"pthread_rwlock_clockrdlock", DPE_WAIT_READ_LOCK},
	{"pthread_rwlock_wrlock", DPE_WAIT_WRITE_LOCK},
	{"pthread_rwlock_timedwrlock", DPE_WAIT_WRITE_LOCK},
	{"pthread_rwlock_clockwrlock", DPE_WAIT_WRITE_LOCK},
	{"pthread_cond_wait", DPE_WAIT_CONDITION},
	{"pthread_cond_timedwait", DPE_WAIT_CONDITION},
	{"pthread_cond_clockwait", DPE_WAIT_CONDITION},
	{"cnd_wait", DPE_WAIT_CONDITION},
	{"cnd_timedwait", DPE_WAIT_CONDITION},
	{"sem_wait", DPE_WAIT_SEMAPHORE},
	{"sem_timedwait", DPE_WAIT_SEMAPHORE},
	{"sem_clockwait", DPE_WAIT_SEMAPHORE},
	{"pthread_join", DPE_WAIT_JOIN},
	{"pthread_timedjoin_np", DPE_WAIT_JOIN},
	{"pthread_clockjoin_np", DPE_WAIT_JOIN},
	{"pthread_clockjoin_ex", DPE_WAIT_JOIN},
	{"thrd_join", DPE_WAIT_JOIN},
	{"pthread_barrier_wait", DPE_WAIT_BARRIER},
	{"pthread_once", DPE_WAIT_ONCE},
	{"pthread_once_slow", DPE_WAIT_ONCE},
	{"call_once", DPE_WAIT_ONCE},
	{"cxa_guard_acquire", DPE_WAIT_ONCE},
	{"lll_lock_wait_private", DPE_WAIT_LIBRARY},
};

/* ---- calls on the stack ----------------------------------------------------------------------- */

/* Aliases differ by leading underscores, "__GI_" for use within glibc, and a version. */
static enum dpe_wait_kind kind_of(const char *name)
{
	size_t length;

	name += strspn(name, "_");
	if (!strncmp(name, "GI_", 3))
		name += 3 + strspn(name + 3, "_");
	length = strcspn(name, "@");
	for (unsigned i = 0; i < DPE_COUNT(CALLS); i++) {
		if (strlen(CALLS[i].function) == length && !strncmp(CALLS[i].function, name, length))
			return CALLS[i].kind;
	}
	return DPE_WAIT_NONE;
}

static enum dpe_wait_kind kind_of_frame(const struct dpe_process_image *image, const struct dpe_call_stack *stack,
	unsigned frame, struct dpe_module **module)
{
	const struct dpe_function *function = dpe_image_function(image, stack, frame, module);
	enum dpe_wait_kind kind = function ? kind_of(function->name) : DPE_WAIT_NONE;

	if (kind)
		return kind;
	function = dpe_image_callee(image, stack, frame, module);
	return function ? kind_of(function->name) : DPE_WAIT_NONE;
}

/* Whether the module is glibc, whose locks have these layouts, or has it linked in. */
static bool is_glibc(struct dpe_module *module)
{
	unsigned count;

	return dpe_module_find(module, "gnu_get_libc_version", &count) ||
	       dpe_module_find(module, "__lll_lock_wait_private", &count);
}

/* The outermost of the calls that one wait is made of: functions of the library call each other. */
static unsigned find_call(const struct dpe_process_image *image, const struct dpe_call_stack *stack,
	enum dpe_wait_kind *kind, struct dpe_module **module)
{
	unsigned found = 0;

	*kind = DPE_WAIT_FUTEX;
	for (unsigned i = 0; i < stack->count; i++) {
		struct dpe_module *now = NULL;
		enum dpe_wait_kind call = kind_of_frame(image, stack, i, &now);

		if (call && (*kind == DPE_WAIT_FUTEX || (*kind == DPE_WAIT_LIBRARY && i == found + 1))) {
			*kind = call;
			*module = now;
			found = i;
		} else if (*kind != DPE_WAIT_FUTEX) {
			if (call != *kind || now != *module)
				break;
			found = i;
		}
	}
	return found + (*kind == DPE_WAIT_LIBRARY && found + 1 < stack->count); /* whose lock it is */
}

/* The innermost such call waits; one further out runs its routine. */
bool dpe_lock_runs_once(const struct dpe_process_image *image, const struct dpe_call_stack *stack)
{
	enum dpe_wait_kind kind;
	struct dpe_module *module = NULL;
	unsigned call = find_call(image, stack, &kind, &module);

	for (unsigned i = kind == DPE_WAIT_FUTEX ? 0 : call + 1; i < stack->count; i++) {
		if (kind_of_frame(image, stack, i, &module) == DPE_WAIT_ONCE)
			return true;
	}
	return false;
}

/* ---- words --------------------------------------------------------------------------------------- */

static void look_at_mutex(const struct dpe_process_image *image, struct dpe_waiting_thread *thread)
{
	struct __pthread_mutex_s mutex;

	if (!dpe_image_read(image, thread->object, &mutex, sizeof(mutex)))
		return;
	if (mutex.__kind & (ROBUST | INHERITS))
		thread->holder = mutex.__lock & FUTEX_TID_MASK;
	else if (mutex.__owner > 0 && (mutex.__owner & ~FUTEX_TID_MASK) == 0)
		thread->holder = mutex.__owner;
}

/* Readers wait for the phase to change, or with preference for writers in __readers: a value with more bits. */
static void look_at_rwlock(const struct dpe_process_image *image, const struct dpe_thread_state *state,
	struct dpe_waiting_thread *thread)
{
	uint64_t futex = thread->object;
	struct __pthread_rwlock_arch_t lock;

	if (futex % 8)
		futex -= offsetof(struct __pthread_rwlock_arch_t, __writers_futex);
	else if (thread->kind == DPE_WAIT_WRITE_LOCK || state->args[2] >> RW_READERS_SHIFT == 0)
		futex -= offsetof(struct __pthread_rwlock_arch_t, __wrphase_futex);
	thread->object = futex;
	if (!dpe_image_read(image, futex, &lock, sizeof(lock)))
		return;
	thread->holder = lock.__cur_writer > 0 ? lock.__cur_writer : 0;
	if (!thread->holder)
		thread->readers = lock.__readers >> RW_READERS_SHIFT;
}

/* The futex is one of two counters, which lie elsewhere from glibc 2.41 on. */
static void look_at_condition(struct dpe_module *libc, struct dpe_waiting_thread *thread)
{
	unsigned count;
	uint64_t first = dpe_module_find(libc, "sched_setattr@@GLIBC_2.41", &count) ? 32 : 40;

	thread->object -= thread->object % 8 ? first + 4 : first;
}

/* struct pthread_barrier: threads that arrived in total, threads of finished rounds, and of one round. */
static void look_at_barrier(const struct dpe_process_image *image, struct dpe_waiting_thread *thread)
{
	uint32_t words[3];

	thread->object -= sizeof(words[0]);
	if (!dpe_image_read(image, thread->object, words, sizeof(words)) || !words[2])
		return;
	thread->missing = words[2] - (words[0] - words[1]) % words[2];
}

static bool inherits_priority(const struct dpe_thread_state *state)
{
	unsigned operation = state->args[1] & FUTEX_CMD_MASK;

	return operation == FUTEX_LOCK_PI || operation == FUTEX_LOCK_PI2;
}

/* A condition's wait ends by taking the mutex again: an operation of its own. */
static enum dpe_wait_kind correct(enum dpe_wait_kind kind, const struct dpe_thread_state *state)
{
	if (kind == DPE_WAIT_CONDITION &&
		((state->args[1] & FUTEX_CMD_MASK) == FUTEX_WAIT || inherits_priority(state)))
		return DPE_WAIT_MUTEX;
	return kind;
}

/* A mutex with priority inheritance whose cycle the kernel found, or whose holder has ended: glibc then waits for ever,
 * in a word on the stack. */
static bool is_refused(const struct dpe_thread_state *state, const struct dpe_waiting_thread *thread)
{
	return thread->kind == DPE_WAIT_MUTEX && (state->args[1] & FUTEX_CMD_MASK) == FUTEX_WAIT_BITSET &&
	       !thread->timed && !thread->word;
}

static void look_at_words(const struct dpe_process_image *image, const struct dpe_thread_state *state,
	struct dpe_module *libc, struct dpe_waiting_thread *thread)
{
	switch (thread->kind) {
	case DPE_WAIT_MUTEX:
		look_at_mutex(image, thread);
		return;
	case DPE_WAIT_READ_LOCK:
	case DPE_WAIT_WRITE_LOCK:
		look_at_rwlock(image, state, thread);
		return;
	case DPE_WAIT_CONDITION:
		look_at_condition(libc, thread);
		return;
	case DPE_WAIT_BARRIER:
		look_at_barrier(image, thread);
		return;
	case DPE_WAIT_JOIN:
		thread->holder = (pid_t)thread->word;
		return;
	case DPE_WAIT_LIBRARY:
		dpe_stream_lock_look(image, libc, thread);
		return;
	default:
		return;
	}
}

unsigned dpe_lock_classify(const struct dpe_process_image *image, const struct dpe_thread_state *state,
	const struct dpe_call_stack *stack, struct dpe_waiting_thread *thread)
{
	struct dpe_module *libc = NULL;
	unsigned call = find_call(image, stack, &thread->kind, &libc);

	thread->kind = correct(thread->kind, state);
	thread->object = state->args[0];
	thread->timed = state->args[3];
	dpe_image_read(image, thread->object, &thread->word, sizeof(thread->word));
	if (thread->kind != DPE_WAIT_FUTEX && thread->kind != DPE_WAIT_ONCE && !is_glibc(libc))
		return call;
	thread->is_refused = is_refused(state, thread);
	if (!thread->is_refused)
		look_at_words(image, state, libc, thread);
	if (inherits_priority(state))
		thread->holder = (pid_t)(thread->word & FUTEX_TID_MASK);
	return call;
}

/* ---- languages ----------------------------------------------------------------------------------- */

static bool has_module(const struct dpe_process_image *image, const char *name)
{
	for (unsigned i = 0; i < image->modules.count; i++) {
		if (!strncmp(image->modules.at[i]->name, name, strlen(name)))
			return true;
	}
	return false;
}

static bool program_has(const struct dpe_process_image *image, const char *function)
{
	struct dpe_module *program = dpe_modules_program(&image->modules);
	unsigned count;

	return program && dpe_module_find(program, function, &count);
}

const char *dpe_lock_advice(const struct dpe_process_image *image)
{
	if (has_module(image, "libjvm.so"))
		return "Java does not expose the owners of its locks: 'jstack PID' prints them";
	if (has_module(image, "libpython") || has_module(image, "python"))
		return "Python's locks are semaphores and conditions, which do not record their holders: 'py-spy dump --pid "
		       "PID' prints the lines of Python";
	if (program_has(image, "runtime.gopark") || program_has(image, "runtime.futex.abi0"))
		return "goroutines that wait are in no thread: 'kill -QUIT PID' ends the program and prints them";
	if (program_has(image, "rust_panic") || program_has(image, "rust_begin_unwind"))
		return "Rust's std::sync locks do not record their holders; the stacks of the other threads may show them";
	return NULL;
}
