/* sched_state: the memory that is shared with the command, its lock, and the end of a run. */
#include "explore/sched/sched_state.h"

#include <errno.h>
#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

struct dpe_sched_header *dpe_sched;

long dpe_sched_kernel(long number, long first, long second, long third)
{
	int error = errno;
	long result = REAL(syscall)(number, first, second, third, 0L);

	errno = error;
	return result;
}

void dpe_sched_futex_wait(uint32_t *word, uint32_t value)
{
	dpe_sched_kernel(SYS_futex, (long)word, FUTEX_WAIT, (long)value);
}

void dpe_sched_futex_wake(uint32_t *word)
{
	dpe_sched_kernel(SYS_futex, (long)word, FUTEX_WAKE, 1);
}

/* 0: free, 1: taken, 2: taken and waited for. (U. Drepper: Futexes Are Tricky, mutex 3.) */
void dpe_sched_lock(void)
{
	uint32_t *lock = &dpe_sched->lock;
	uint32_t was = 0;

	if (__atomic_compare_exchange_n(
		    lock, &was, 1, false, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
		return;
	while (__atomic_exchange_n(lock, 2, __ATOMIC_ACQUIRE))
		dpe_sched_futex_wait(lock, 2);
}

void dpe_sched_unlock(void)
{
	if (__atomic_exchange_n(&dpe_sched->lock, 0, __ATOMIC_RELEASE) == 2)
		dpe_sched_futex_wake(&dpe_sched->lock);
}

bool dpe_sched_anybody_outside(void)
{
	for (unsigned i = 0; i < dpe_sched->nthreads; i++)
		if (dpe_sched->threads[i].state == DPE_SCHED_OUTSIDE)
			return true;
	return false;
}

/* ---- ends -------------------------------------------------------------------------------- */

static const char *end_name(enum dpe_sched_end end)
{
	switch (end) {
	case DPE_SCHED_DEADLOCK:
		return "deadlock";
	case DPE_SCHED_STUCK:
		return "all threads wait";
	case DPE_SCHED_MISUSE:
		return "misuse of a lock, a condition or memory";
	case DPE_SCHED_RACE:
		return "two threads are about to race";
	default:
		return "a limit of the run was reached";
	}
}

void dpe_sched_ended(const char *how)
{
	__asm__ volatile("" : : "r"(how) : "memory");
}

void dpe_sched_end(enum dpe_sched_end end)
{
	dpe_sched->end = end;
	dpe_sched_ended(end_name(end));
	_exit(0);
}

void dpe_sched_misuse(enum dpe_sched_misuse misuse)
{
	dpe_sched->misuse = misuse;
	dpe_sched_end(DPE_SCHED_MISUSE);
}

void dpe_sched_pause(void)
{
	REAL(usleep)(1000);
}
