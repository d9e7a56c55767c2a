/* sched_time: clocks and sleeps, in virtual time (virtual_time.c). */
#include "explore/sched/control.h"

#include <errno.h>
#include <sched.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#define SECOND DPE_SCHED_SECOND

static bool is_controlled(clockid_t clock)
{
	switch (clock) {
	case CLOCK_REALTIME:
	case CLOCK_REALTIME_COARSE:
	case CLOCK_MONOTONIC:
	case CLOCK_MONOTONIC_RAW:
	case CLOCK_MONOTONIC_COARSE:
	case CLOCK_BOOTTIME:
		return dpe_sched_self();
	default:
		return false;
	}
}

DPE_SCHED_EXPORTED int clock_gettime(clockid_t clock, struct timespec *time)
{
	uint64_t now;

	if (!is_controlled(clock))
		return REAL(clock_gettime)(clock, time);
	now = dpe_sched_read_clock(clock);
	*time = (struct timespec){(time_t)(now / SECOND), (long)(now % SECOND)};
	return 0;
}

DPE_SCHED_EXPORTED int gettimeofday(struct timeval *restrict time, void *restrict zone)
{
	struct timespec now;

	if (!dpe_sched_self())
		return REAL(gettimeofday)(time, zone);
	clock_gettime(CLOCK_REALTIME, &now);
	*time = (struct timeval){now.tv_sec, now.tv_nsec / 1000};
	return 0;
}

DPE_SCHED_EXPORTED time_t time(time_t *to)
{
	struct timespec now;

	if (!dpe_sched_self())
		return REAL(time)(to);
	clock_gettime(CLOCK_REALTIME, &now);
	if (to)
		*to = now.tv_sec;
	return now.tv_sec;
}

DPE_SCHED_EXPORTED int timespec_get(struct timespec *to, int base)
{
	if (base != TIME_UTC || !dpe_sched_self())
		return REAL(timespec_get)(to, base);
	clock_gettime(CLOCK_REALTIME, to);
	return base;
}

/* The time that is left because a signal handler interrupted it; 0: it was not interrupted. */
static uint64_t sleep_until(uint64_t until, uint64_t pc)
{
	const struct dpe_sched_op op = {.kind = DPE_SCHED_SLEEP, .until = until, .pc = pc};
	struct dpe_sched_thread *me = dpe_sched_self();
	uint64_t now;

	dpe_sched_point(&op);
	dpe_sched_test_cancel(me);
	now = dpe_sched_now();
	return !me->op.interrupted ? 0 : until > now ? until - now : 1;
}

static uint64_t sleep_for(uint64_t ns, uint64_t pc)
{
	return sleep_until(dpe_sched_now() + ns + 1, pc);
}

/* 0 or EINTR. */
static int keep_rest(uint64_t ns, struct timespec *rest)
{
	if (ns && rest)
		*rest = (struct timespec){(time_t)(ns / SECOND), (long)(ns % SECOND)};
	return ns ? EINTR : 0;
}

static int result_of(int error)
{
	if (!error)
		return 0;
	errno = error;
	return -1;
}

DPE_SCHED_EXPORTED int nanosleep(const struct timespec *time, struct timespec *rest)
{
	if (!dpe_sched_self())
		return REAL(nanosleep)(time, rest);
	if (time->tv_sec < 0 || !dpe_sched_is_time(time))
		return result_of(EINVAL);
	return result_of(keep_rest(sleep_for(dpe_sched_ns_of(time), DPE_SCHED_HERE), rest));
}

DPE_SCHED_EXPORTED int clock_nanosleep(
	clockid_t clock, int flags, const struct timespec *time, struct timespec *rest)
{
	if (!is_controlled(clock))
		return REAL(clock_nanosleep)(clock, flags, time, rest);
	if (time->tv_sec < 0 || !dpe_sched_is_time(time))
		return EINVAL;
	if (flags & TIMER_ABSTIME)
		return keep_rest(sleep_until(dpe_sched_until(clock, time), DPE_SCHED_HERE), NULL);
	return keep_rest(sleep_for(dpe_sched_ns_of(time), DPE_SCHED_HERE), rest);
}

DPE_SCHED_EXPORTED unsigned sleep(unsigned seconds)
{
	if (!dpe_sched_self())
		return REAL(sleep)(seconds);
	return (unsigned)(sleep_for(seconds * SECOND, DPE_SCHED_HERE) / SECOND);
}

DPE_SCHED_EXPORTED int usleep(useconds_t us)
{
	if (!dpe_sched_self())
		return REAL(usleep)(us);
	return result_of(keep_rest(sleep_for(us * UINT64_C(1000), DPE_SCHED_HERE), NULL));
}

DPE_SCHED_EXPORTED int sched_yield(void)
{
	const struct dpe_sched_op op = {.kind = DPE_SCHED_YIELD, .pc = DPE_SCHED_HERE};

	return dpe_sched_point(&op) ? 0 : REAL(sched_yield)();
}
