/* sched_threads: creation, end and join of threads, and what is run once. For other threads, a
 * thread ends after the destructors of its thread-specific data: the destructor of the library's own key asks
 * to be called until the last of glibc's rounds. */
#include "explore/sched/control.h"

#include "explore/sched/libgomp.h"

#include <errno.h>
#include <limits.h>
#include <sched.h>
#include <stdlib.h>
#include <unistd.h>

struct thread_start {
	void *(*routine)(void *);
	void *with;
};

static struct thread_start starts[DPE_SCHED_THREADS];

static void end_round(void *round)
{
	if ((intptr_t)round < PTHREAD_DESTRUCTOR_ITERATIONS)
		dpe_sched_watch_end((intptr_t)round + 1);
	else
		dpe_sched_finish();
}

static void count_fork(void)
{
	if (dpe_sched)
		dpe_sched->forks++;
}

static void let_go(void)
{
	dpe_sched = NULL;
}

/* In the process of a run, by its first thread. A child runs on uncontrolled, also one of daemon(3), which calls no function named fork. */
void dpe_sched_threads_begin(void)
{
	pthread_atfork(count_fork, NULL, let_go);
	dpe_sched_watch_ends(end_round);
	dpe_sched_watch_end(1);
}

static void arrive(enum dpe_sched_kind kind, uint64_t object, uint64_t pc)
{
	dpe_sched_point(&(struct dpe_sched_op){.kind = kind, .object = object, .pc = pc});
}

/* ---- creation ---------------------------------------------------------------------------- */

static void *begin(void *with)
{
	const struct thread_start *start = with;
	struct dpe_sched_thread *me = &dpe_sched->threads[start - starts];

	dpe_sched_set_self(me);
	me->stack = (uint64_t)__builtin_frame_address(0);
	dpe_sched_watch_end(1);
	dpe_sched_libgomp_thread();
	dpe_sched_park(me);
	me->inside = false;
	return start->routine(start->with);
}

static bool is_detached(const pthread_attr_t *attr)
{
	int state = PTHREAD_CREATE_JOINABLE;

	if (attr)
		pthread_attr_getdetachstate(attr, &state);
	return state == PTHREAD_CREATE_DETACHED;
}

/* The thread that handed over to this one may still hold the lock, and wait for the processor: this one is `inside`, not
 * blocked outside, while it waits for that. */
static struct dpe_sched_thread *add_thread(const pthread_attr_t *attr)
{
	struct dpe_sched_thread *me = dpe_sched_self(), *added;
	uint8_t was_inside = me->inside;

	me->inside = true;
	dpe_sched_lock();
	if (dpe_sched->nthreads == DPE_SCHED_THREADS)
		dpe_sched_end(DPE_SCHED_TOO_MANY);
	added = &dpe_sched->threads[dpe_sched->nthreads++];
	added->state = DPE_SCHED_CONTROLLED;
	added->detached = is_detached(attr);
	added->parent = (uint16_t)dpe_sched_number(me);
	added->op = (struct dpe_sched_op){.kind = DPE_SCHED_START};
	added->steps = 1;
	added->inside = true; /* until its first turn */
	dpe_sched->live++;
	dpe_sched_choose_created(added->parent, dpe_sched_number(added));
	dpe_sched_unlock();
	me->inside = was_inside;
	return added;
}

int dpe_sched_create(pthread_t *thread, const pthread_attr_t *attr, void *(*routine)(void *),
	void *with, uint64_t pc)
{
	struct dpe_sched_thread *added;
	struct thread_start *start;
	int error;

	if (!dpe_sched_self())
		return REAL(pthread_create)(thread, attr, routine, with);
	arrive(DPE_SCHED_CREATE, 0, pc);
	dpe_sched_libgomp_look();
	added = add_thread(attr);
	added->op.pc = (uint64_t)routine + 1; /* because locations are taken as return addresses */
	start = &starts[dpe_sched_number(added)];
	*start = (struct thread_start){routine, with};
	error = REAL(pthread_create)(thread, attr, begin, start);
	if (!error) {
		added->handle = (uint64_t)*thread;
		dpe_sched_released(DPE_SCHED_CREATED, dpe_sched_number(added), pc);
		return 0;
	}
	added->state = DPE_SCHED_FINISHED;
	added->joined = true;
	dpe_sched->live--;
	return error;
}

DPE_SCHED_EXPORTED int pthread_create(pthread_t *thread, const pthread_attr_t *attr,
	void *(*routine)(void *), void *with)
{
	return dpe_sched_create(thread, attr, routine, with, DPE_SCHED_HERE);
}

/* ---- end --------------------------------------------------------------------------------- */

static void arrive_join(enum dpe_sched_kind kind, const struct dpe_sched_thread *thread,
	uint64_t until, uint64_t pc)
{
	const struct dpe_sched_op op = {
		.kind = kind, .object = dpe_sched_number(thread), .until = until, .pc = pc};

	dpe_sched_point(&op);
	if (thread->state != DPE_SCHED_FINISHED)
		dpe_sched_test_cancel(dpe_sched_self());
}

static bool is_joinable(const struct dpe_sched_thread *thread)
{
	return thread && !thread->detached && thread != dpe_sched_self();
}

/* Waits for its last instructions only. */
static int join_finished(struct dpe_sched_thread *thread, pthread_t handle, void **result)
{
	struct dpe_sched_thread *me = dpe_sched_self();
	int error;

	thread->joined = true;
	me->inside = true;
	error = REAL(pthread_join)(handle, result);
	me->inside = false;
	return error;
}

int dpe_sched_join(pthread_t handle, void **result, uint64_t pc)
{
	struct dpe_sched_thread *thread = dpe_sched_self() ? dpe_sched_find(handle) : NULL;

	if (!is_joinable(thread))
		return REAL(pthread_join)(handle, result);
	arrive_join(DPE_SCHED_JOIN, thread, 0, pc);
	return join_finished(thread, handle, result);
}

static int timed_join(pthread_t handle, void **result, uint64_t until, int otherwise, uint64_t pc)
{
	struct dpe_sched_thread *thread = dpe_sched_find(handle);

	if (!is_joinable(thread))
		return EINVAL;
	arrive_join(DPE_SCHED_TIMEDJOIN, thread, until, pc);
	return thread->state == DPE_SCHED_FINISHED ? join_finished(thread, handle, result)
						   : otherwise;
}

DPE_SCHED_EXPORTED int pthread_join(pthread_t handle, void **result)
{
	return dpe_sched_join(handle, result, DPE_SCHED_HERE);
}

/* A timeout in the past. */
DPE_SCHED_EXPORTED int pthread_tryjoin_np(pthread_t handle, void **result)
{
	if (!dpe_sched_self())
		return REAL(pthread_tryjoin_np)(handle, result);
	return timed_join(handle, result, 1, EBUSY, DPE_SCHED_HERE);
}

DPE_SCHED_EXPORTED int pthread_clockjoin_np(
	pthread_t handle, void **result, clockid_t clock, const struct timespec *until)
{
	if (!dpe_sched_self())
		return REAL(pthread_clockjoin_np)(handle, result, clock, until);
	return timed_join(
		handle, result, dpe_sched_until(clock, until), ETIMEDOUT, DPE_SCHED_HERE);
}

DPE_SCHED_EXPORTED int pthread_timedjoin_np(
	pthread_t handle, void **result, const struct timespec *until)
{
	if (!dpe_sched_self())
		return REAL(pthread_timedjoin_np)(handle, result, until);
	return timed_join(handle, result, dpe_sched_until(CLOCK_REALTIME, until), ETIMEDOUT,
		DPE_SCHED_HERE);
}

int dpe_sched_detach(pthread_t handle, uint64_t pc)
{
	struct dpe_sched_thread *thread = dpe_sched_self() ? dpe_sched_find(handle) : NULL;

	if (thread) {
		arrive(DPE_SCHED_DETACH, dpe_sched_number(thread), pc);
		thread->detached = true;
	}
	return REAL(pthread_detach)(handle);
}

DPE_SCHED_EXPORTED int pthread_detach(pthread_t handle)
{
	return dpe_sched_detach(handle, DPE_SCHED_HERE);
}

static int (*program_main)(int, char **, char **);

static int controlled_main(int argc, char **argv, char **environment)
{
	int status = program_main(argc, argv, environment);

	arrive(DPE_SCHED_RETURN, 0, 0);
	return status;
}

int __libc_start_main(int (*main)(int, char **, char **), int argc, char **argv,
	void (*init)(void), void (*fini)(void), void (*rtld_fini)(void), void *stack_end);

DPE_SCHED_EXPORTED int __libc_start_main(int (*main)(int, char **, char **), int argc, char **argv,
	void (*init)(void), void (*fini)(void), void (*rtld_fini)(void), void *stack_end)
{
	program_main = main;
	return REAL(__libc_start_main)(
		controlled_main, argc, argv, init, fini, rtld_fini, stack_end);
}

DPE_SCHED_EXPORTED _Noreturn void exit(int status)
{
	arrive(DPE_SCHED_PROCESS_END, 0, DPE_SCHED_HERE);
	REAL(exit)(status);
	__builtin_unreachable();
}

/* ---- once: 0 not yet, 1 somebody is at it, 2 done ----------------------------------------- */

static void begin_again(void *once)
{
	*(int *)once = 0;
}

int dpe_sched_once(int *once, void (*routine)(void), uint64_t pc)
{
	if (!dpe_sched_self())
		return REAL(pthread_once)(once, routine);
	arrive(DPE_SCHED_ONCE, (uint64_t)once, pc);
	if (*once)
		return 0;
	*once = 1;
	pthread_cleanup_push(begin_again, once);
	routine();
	pthread_cleanup_pop(0);
	arrive(DPE_SCHED_ONCE_DONE, (uint64_t)once, pc);
	*once = 2;
	if (!dpe_sched->reports)
		arrive(DPE_SCHED_ONCE_DONE, (uint64_t)once, pc);
	return 0;
}

DPE_SCHED_EXPORTED int pthread_once(pthread_once_t *once, void (*routine)(void))
{
	return dpe_sched_once(once, routine, DPE_SCHED_HERE);
}

/* ---- processes --------------------------------------------------------------------------- */

DPE_SCHED_EXPORTED pid_t fork(void)
{
	arrive(DPE_SCHED_FORK, 0, DPE_SCHED_HERE);
	return REAL(fork)();
}
