/* steering: turns of threads that lead to a predicted match, or places of two accesses that race. A thread that has had
 * its turn, or is at one of the places, is held while others run; if no other can, it continues. Sources: P. Joshi,
 * C.-S. Park, K. Sen, M. Naik, A Randomized Dynamic Program Analysis Technique for Detecting Real Deadlocks, PLDI 2009;
 * K. Sen, Race Directed Random Testing of Concurrent Programs, PLDI 2008. */
#include "explore/sched/control.h"

#include "explore/sched/sched_races.h"

#define NONE UINT32_MAX

/* The first pending turn of each thread; NONE: it has had all, or has none. */
static uint32_t pending[DPE_SCHED_THREADS], next_turn[DPE_SCHED_TURNS];
static bool has_turns[DPE_SCHED_THREADS];

void dpe_sched_stamp(const struct dpe_sched_thread *me)
{
	struct timespec now;

	if (dpe_sched->nstamps == DPE_SCHED_STAMPS) {
		dpe_sched->stamps_lost++;
		return;
	}
	REAL(clock_gettime)(CLOCK_MONOTONIC, &now);
	dpe_sched->stamped[dpe_sched->nstamps++] = (struct dpe_sched_stamp){
		.time = (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec,
		.pc = me->op.pc,
		.step = me->steps,
		.thread = (uint16_t)dpe_sched_number(me),
		.kind = me->op.kind,
	};
}

void dpe_sched_steer_begin(void)
{
	for (unsigned i = 0; i < DPE_SCHED_THREADS; i++)
		pending[i] = NONE;
	for (uint32_t i = dpe_sched->nturns; i--;) {
		unsigned thread = dpe_sched->turns[i].thread;

		next_turn[i] = pending[thread];
		pending[thread] = i;
		has_turns[thread] = true;
	}
}

static bool is_done(const struct dpe_sched_turn *turn)
{
	const struct dpe_sched_thread *thread = &dpe_sched->threads[turn->thread];

	if (turn->thread >= dpe_sched->nthreads)
		return false;
	return thread->state == DPE_SCHED_FINISHED || thread->steps >= turn->step ||
	       (turn->may_wait && thread->steps + 1 == turn->step &&
		       dpe_sched_ready(thread) == DPE_SCHED_BLOCKED);
}

static void skip_done_turns(void)
{
	while (dpe_sched->turns_done < dpe_sched->nturns &&
		is_done(&dpe_sched->turns[dpe_sched->turns_done])) {
		unsigned thread = dpe_sched->turns[dpe_sched->turns_done].thread;

		pending[thread] = next_turn[dpe_sched->turns_done++];
	}
}

bool dpe_sched_is_held(unsigned thread)
{
	if (dpe_sched->race[0])
		return dpe_sched_is_at(&dpe_sched->threads[thread], 0) || dpe_sched_is_at(&dpe_sched->threads[thread], 1);
	if (dpe_sched->turns_done >= dpe_sched->nturns || !has_turns[thread])
		return false;
	return pending[thread] == NONE ||
	       dpe_sched->threads[thread].steps >= dpe_sched->turns[pending[thread]].step;
}

static bool is_among(const uint16_t *possible, unsigned count, unsigned thread)
{
	for (unsigned i = 0; i < count; i++)
		if (possible[i] == thread)
			return true;
	return false;
}

/* The thread itself if it is possible, else the one that holds what it waits for, and so on. */
static unsigned find_enabling(const uint16_t *possible, unsigned count, unsigned thread)
{
	for (unsigned i = 0; i < dpe_sched->nthreads && thread < dpe_sched->nthreads; i++) {
		if (is_among(possible, count, thread))
			return thread;
		thread = dpe_sched_awaited(&dpe_sched->threads[thread]);
	}
	return DPE_SCHED_NOBODY;
}

unsigned dpe_sched_steer(const uint16_t *possible, unsigned count, unsigned by_default)
{
	unsigned wanted;

	skip_done_turns();
	if (dpe_sched->turns_done < dpe_sched->nturns) {
		wanted = find_enabling(possible, count, dpe_sched->turns[dpe_sched->turns_done].thread);
		if (wanted != DPE_SCHED_NOBODY)
			return wanted;
	}
	if (!dpe_sched_is_held(by_default))
		return by_default;
	for (unsigned i = 0; i < count; i++)
		if (!dpe_sched_is_held(possible[i]))
			return possible[i];
	return by_default;
}
