/* sched_c11: the threads of C11. glibc's C11 functions would bypass the wrappers, so each is implemented by the
 * corresponding POSIX function. */
#include "explore/sched/control.h"

#include <errno.h>
#include <sched.h>
#include <stdint.h>
#include <threads.h>

static int result_of(int error)
{
	switch (error) {
	case 0:
		return thrd_success;
	case EBUSY:
		return thrd_busy;
	case ETIMEDOUT:
		return thrd_timedout;
	case ENOMEM:
	case EAGAIN:
		return thrd_nomem;
	default:
		return thrd_error;
	}
}

#define MUTEX(mutex) ((pthread_mutex_t *)(mutex))
#define COND(cond) ((pthread_cond_t *)(cond))

/* mtx_init and cnd_init only fill in the object. */
DPE_SCHED_EXPORTED void mtx_destroy(mtx_t *mutex)
{
	dpe_sched_mutex_destroy(MUTEX(mutex), DPE_SCHED_HERE);
}

DPE_SCHED_EXPORTED int mtx_lock(mtx_t *mutex)
{
	return result_of(dpe_sched_mutex_lock(MUTEX(mutex), DPE_SCHED_HERE));
}

DPE_SCHED_EXPORTED int mtx_trylock(mtx_t *mutex)
{
	return result_of(dpe_sched_mutex_trylock(MUTEX(mutex), DPE_SCHED_HERE));
}

DPE_SCHED_EXPORTED int mtx_timedlock(mtx_t *restrict mutex, const struct timespec *restrict until)
{
	return result_of(dpe_sched_mutex_timedlock(
		MUTEX(mutex), CLOCK_REALTIME, until, DPE_SCHED_HERE));
}

DPE_SCHED_EXPORTED int mtx_unlock(mtx_t *mutex)
{
	return result_of(dpe_sched_mutex_unlock(MUTEX(mutex), DPE_SCHED_HERE));
}

DPE_SCHED_EXPORTED void cnd_destroy(cnd_t *cond)
{
	dpe_sched_cond_destroy(COND(cond), DPE_SCHED_HERE);
}

DPE_SCHED_EXPORTED int cnd_wait(cnd_t *cond, mtx_t *mutex)
{
	return result_of(dpe_sched_cond_wait(COND(cond), MUTEX(mutex), CLOCK_REALTIME, NULL, DPE_SCHED_HERE));
}

DPE_SCHED_EXPORTED int cnd_timedwait(
	cnd_t *restrict cond, mtx_t *restrict mutex, const struct timespec *restrict until)
{
	return result_of(dpe_sched_cond_wait(COND(cond), MUTEX(mutex), CLOCK_REALTIME, until, DPE_SCHED_HERE));
}

DPE_SCHED_EXPORTED int cnd_signal(cnd_t *cond)
{
	return result_of(dpe_sched_cond_wake(COND(cond), false, DPE_SCHED_HERE));
}

DPE_SCHED_EXPORTED int cnd_broadcast(cnd_t *cond)
{
	return result_of(dpe_sched_cond_wake(COND(cond), true, DPE_SCHED_HERE));
}

/* A routine of C11 returns an int. */
struct c11_start {
	thrd_start_t routine;
	void *with;
};

static struct c11_start starts[DPE_SCHED_THREADS];
static unsigned started;

static void *begin(void *with)
{
	const struct c11_start *start = with;

	return (void *)(intptr_t)start->routine(start->with);
}

DPE_SCHED_EXPORTED int thrd_create(thrd_t *thread, thrd_start_t routine, void *with)
{
	struct c11_start *start = &starts[started];

	if (!dpe_sched_self())
		return REAL(thrd_create)(thread, routine, with);
	if (++started >= DPE_SCHED_THREADS)
		dpe_sched_end(DPE_SCHED_TOO_MANY);
	*start = (struct c11_start){routine, with};
	return result_of(dpe_sched_create(thread, NULL, begin, start, DPE_SCHED_HERE));
}

DPE_SCHED_EXPORTED int thrd_join(thrd_t thread, int *result)
{
	void *word = NULL;
	int error;

	if (!dpe_sched_self())
		return REAL(thrd_join)(thread, result);
	error = dpe_sched_join(thread, &word, DPE_SCHED_HERE);
	if (!error && result)
		*result = (int)(intptr_t)word;
	return result_of(error);
}

DPE_SCHED_EXPORTED int thrd_detach(thrd_t thread)
{
	return result_of(dpe_sched_detach(thread, DPE_SCHED_HERE));
}

DPE_SCHED_EXPORTED void thrd_exit(int result)
{
	if (!dpe_sched_self())
		REAL(thrd_exit)(result);
	pthread_exit((void *)(intptr_t)result);
}

DPE_SCHED_EXPORTED void thrd_yield(void)
{
	sched_yield();
}

DPE_SCHED_EXPORTED int thrd_sleep(const struct timespec *time, struct timespec *rest)
{
	return nanosleep(time, rest);
}

DPE_SCHED_EXPORTED void call_once(once_flag *once, void (*routine)(void))
{
	if (dpe_sched_self())
		dpe_sched_once((int *)once, routine, DPE_SCHED_HERE);
	else
		REAL(call_once)(once, routine);
}
