/* virtual_time: it advances a little with each operation, and to the next time that a thread waits
 * for when no other thread can proceed. */
#include "explore/sched/sched_state.h"

#define STEP 1000 /* ns that an operation takes */
#define MONOTONIC_START (1000 * DPE_SCHED_SECOND)

uint64_t dpe_sched_now(void)
{
	return dpe_sched->now + (uint64_t)dpe_sched->steps * STEP;
}

/* The clock's time at the start. */
static uint64_t start_of(clockid_t clock)
{
	return clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE ? dpe_sched->epoch
									 : MONOTONIC_START;
}

uint64_t dpe_sched_ns_of(const struct timespec *time)
{
	return time->tv_sec < 0 ? 0 : (uint64_t)time->tv_sec * DPE_SCHED_SECOND + (uint64_t)time->tv_nsec;
}

bool dpe_sched_is_time(const struct timespec *at)
{
	return at->tv_nsec >= 0 && at->tv_nsec < (long)DPE_SCHED_SECOND;
}

uint64_t dpe_sched_until(clockid_t clock, const struct timespec *at)
{
	uint64_t start = start_of(clock), time = dpe_sched_ns_of(at);

	return time > start ? time - start : 1;
}

uint64_t dpe_sched_read_clock(clockid_t clock)
{
	dpe_sched->now += STEP;
	return start_of(clock) + dpe_sched_now();
}
