/* choices: which thread continues. Under every strategy, a thread that repeats itself without a change, sleeps or yields lets others
 * run first. A schedule holds the differences from the default choice: continue the same thread, or else the next one by number. */
#include "explore/sched/choices.h"

/* By thread: the next requested switch, an index into `forced`, and the one after each. */
static uint32_t next_forced[DPE_SCHED_THREADS], after[DPE_SCHED_SWITCHES];
static bool polite; /* a yield lets others run first, not only many of them */

/* ---- the switches asked for -------------------------------------------------------------- */

static void chain_forced(void)
{
	for (unsigned i = 0; i < DPE_SCHED_THREADS; i++)
		next_forced[i] = UINT32_MAX;
	for (uint32_t i = dpe_sched->nforced; i--;) {
		unsigned from = dpe_sched->forced[i].from;

		after[i] = next_forced[from];
		next_forced[from] = i;
	}
}

static void note_divergence(uint32_t index)
{
	if (!dpe_sched->diverged)
		dpe_sched->diverged = index + 1;
}

/* The switch requested at the thread's operation, if any. */
static const struct dpe_sched_switch *forced_here(unsigned current)
{
	const struct dpe_sched_thread *thread = &dpe_sched->threads[current];
	uint32_t *next = &next_forced[current];
	const struct dpe_sched_switch *wanted;

	while (*next != UINT32_MAX && dpe_sched->forced[*next].step < thread->steps) {
		note_divergence(*next);
		*next = after[*next];
	}
	if (*next == UINT32_MAX || dpe_sched->forced[*next].step != thread->steps)
		return NULL;
	wanted = &dpe_sched->forced[*next];
	if (wanted->kind != thread->op.kind || wanted->to >= dpe_sched->nthreads ||
		dpe_sched_ready(&dpe_sched->threads[wanted->to]) == DPE_SCHED_BLOCKED) {
		note_divergence(*next);
		wanted = NULL;
	}
	*next = after[*next];
	return wanted;
}

/* ---- who can proceed ----------------------------------------------------------------------- */

/* In the order of numbers, beginning with `current`. Threads that are to let others run first are
 * in `later`. */
static void collect(unsigned current, struct dpe_sched_choosable *ready, struct dpe_sched_choosable *later)
{
	unsigned count = dpe_sched->nthreads;

	ready->count = later->count = 0;
	for (unsigned i = 0; i < count; i++) {
		unsigned number = (current + i) % count;
		const struct dpe_sched_thread *thread = &dpe_sched->threads[number];
		enum dpe_sched_ready how = dpe_sched_ready(thread);

		if (how == DPE_SCHED_READY && !thread->yields)
			ready->at[ready->count++] = (uint16_t)number;
		else if (how != DPE_SCHED_BLOCKED)
			later->at[later->count++] = (uint16_t)number;
	}
}

/* Threads that yielded continue before time advances, unless a thread that waits for a time is due already; of these, the first. */
static uint64_t due(unsigned number)
{
	const struct dpe_sched_thread *thread = &dpe_sched->threads[number];

	return dpe_sched_ready(thread) == DPE_SCHED_READY ? dpe_sched_now() : thread->op.until;
}

/* Among threads that yield, the current one comes last. */
static unsigned first_due(const struct dpe_sched_choosable *later, unsigned current)
{
	unsigned best = DPE_SCHED_NOBODY;

	for (unsigned i = 0; i < later->count; i++) {
		unsigned number = later->at[i];

		if (best == DPE_SCHED_NOBODY || due(number) < due(best) ||
			(best == current && due(number) == due(best)))
			best = number;
	}
	return best;
}

static unsigned without_strategy(
	const struct dpe_sched_choosable *ready, const struct dpe_sched_choosable *later, unsigned current)
{
	return ready->count ? ready->at[0] : first_due(later, current);
}

/* ---- a choice ---------------------------------------------------------------------------- */

void dpe_sched_switching(unsigned from, unsigned to)
{
	__asm__ volatile("" : : "r"(from), "r"(to) : "memory");
}

static void record(unsigned current, unsigned to)
{
	const struct dpe_sched_thread *from = &dpe_sched->threads[current];

	dpe_sched_switching(current, to);
	if (dpe_sched->nswitches == DPE_SCHED_SWITCHES) {
		dpe_sched->switches_lost++;
		return;
	}
	dpe_sched->switches[dpe_sched->nswitches++] = (struct dpe_sched_switch){
		.step = from->steps,
		.from = (uint16_t)current,
		.to = (uint16_t)to,
		.kind = from->op.kind,
		.pc = from->op.pc,
		.object = from->op.object,
	};
}

static unsigned choose(struct dpe_sched_choosable *ready, struct dpe_sched_choosable *later, unsigned current, unsigned by_default)
{
	const struct dpe_sched_switch *wanted;

	if (dpe_sched->strategy == DPE_SCHED_DFS)
		return dpe_sched_by_path(ready, later, by_default, current);
	if (dpe_sched->strategy != DPE_SCHED_FIRST)
		return dpe_sched_by_strategy(ready, later, current, by_default);
	wanted = forced_here(current);
	if (dpe_sched->asks && ready->count + later->count > 1)
		return dpe_sched_ask(current, by_default);
	if (wanted)
		by_default = wanted->to;
	return dpe_sched->held && ready->count + later->count > 1 ? dpe_sched_offer(current, by_default) : by_default;
}

static void count_choice(unsigned width)
{
	if (width < 2)
		return;
	if (++dpe_sched->choices < DPE_SCHED_CHOICES)
		dpe_sched->widths[dpe_sched->choices] = (uint8_t)width;
}

unsigned dpe_sched_choose(unsigned current)
{
	struct dpe_sched_choosable ready, later;
	unsigned by_default, chosen;

	collect(current, &ready, &later);
	by_default = without_strategy(&ready, &later, current);
	if (by_default == DPE_SCHED_NOBODY)
		return by_default;
	count_choice(ready.count + later.count);
	chosen = choose(&ready, &later, current, by_default);
	if (chosen != by_default)
		record(current, chosen);
	if (dpe_sched->traces)
		dpe_sched_trace(&ready, &later, chosen);
	dpe_sched->threads[chosen].yields = dpe_sched->threads[chosen].gives_way = false;
	return chosen;
}

/* If the strategy prefers the default thread, and in every second run at random, a yield alone changes nothing: a
 * thread that spins for a while before it waits then reaches the wait. */
static bool heeds_yields(void)
{
	switch (dpe_sched->strategy) {
	case DPE_SCHED_FIRST:
	case DPE_SCHED_DELAY:
	case DPE_SCHED_STEER:
	case DPE_SCHED_DFS:
		return false;
	default:
		return polite;
	}
}

/* Fairness: whether the thread has to let others run first. It may hold a lock that they wait for, so after many operations without
 * a switch it lets them run at each of the next ones. */
static bool is_to_yield(struct dpe_sched_thread *me)
{
	me->idle = dpe_sched_is_idle(&me->op) || me->op.kind == DPE_SCHED_YIELD ? me->idle + 1 : 0;
	me->alone++;
	if (me->op.kind == DPE_SCHED_SLEEP || me->idle >= DPE_SCHED_IDLE) {
		me->idle = me->alone = 0;
		return true;
	}
	if (me->alone < DPE_SCHED_ALONE)
		return false;
	if (me->alone == DPE_SCHED_ALONE + DPE_SCHED_STILL_ALONE)
		me->alone = 0;
	return true;
}

bool dpe_sched_arrive(struct dpe_sched_thread *me, bool visible)
{
	unsigned number = dpe_sched_number(me);

	me->yields = is_to_yield(me);
	me->gives_way = me->yields || (me->op.kind == DPE_SCHED_YIELD && heeds_yields());
	dpe_sched_strategy_arrive(me);
	if (visible || me->yields) {
		dpe_sched_strategy_count(me);
		return true;
	}
	if (dpe_sched->strategy == DPE_SCHED_STEER)
		return dpe_sched_is_held(number);
	return next_forced[number] != UINT32_MAX &&
	       dpe_sched->forced[next_forced[number]].step <= me->steps;
}

void dpe_sched_choose_begin(void)
{
	polite = !(dpe_sched->seed >> 3 & 1); /* each strategy of the portfolio does so in turn */
	dpe_sched_strategy_begin();
	chain_forced();
	dpe_sched_steer_begin();
}
