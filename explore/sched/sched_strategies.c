/* sched_strategies: which thread continues under each strategy. Sources: PCT, Burckhardt et al., ASPLOS 2010; POS, Yuan, Yang and
 * Gu, CAV 2018; SURW, Zhao et al., ASPLOS 2025; delays, Emmi et al., POPL 2011. */
#include "explore/sched/choices.h"

#include "explore/sched/dependence.h"

static uint32_t next_delay;
static uint64_t lowest;       /* PCT: below all priorities so far */
static uint32_t changes[64];  /* PCT: the choices at which priorities change */
static uint32_t remaining[DPE_SCHED_THREADS]; /* SURW: estimate of the selected operations that each thread has
                                               * left */
static unsigned intended;     /* SURW: the thread that does the next one; DPE_SCHED_NOBODY */
static uint32_t quantum;      /* ROUNDS: choices of a thread in a row */
static uint32_t turn_left[DPE_SCHED_THREADS]; /* ROUNDS: of each thread, what is left of its turn */

/* splitmix64, as dpe_splitmix of base/, which this library cannot use. */
static uint64_t roll(void)
{
	uint64_t z = dpe_sched->dice += 0x9e3779b97f4a7c15;

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
	z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
	return z ^ (z >> 31);
}

static uint32_t roll_below(uint32_t count)
{
	return (uint32_t)(roll() % count);
}

static unsigned by_chance(const struct dpe_sched_choosable *from)
{
	return from->at[roll_below(from->count)];
}

static unsigned by_priority(const struct dpe_sched_choosable *from)
{
	unsigned best = from->at[0];

	for (unsigned i = 1; i < from->count; i++)
		if (dpe_sched->threads[from->at[i]].priority > dpe_sched->threads[best].priority)
			best = from->at[i];
	return best;
}

static bool is_change(void)
{
	for (uint32_t i = 0; i + 1 < dpe_sched->depth; i++)
		if (changes[i] == dpe_sched->choices)
			return true;
	return false;
}

/* Threads have random priorities; at depth - 1 random choices the running thread's priority becomes the
 * lowest. */
static unsigned by_pct(const struct dpe_sched_choosable *from, unsigned current)
{
	if (is_change())
		dpe_sched->threads[current].priority = --lowest;
	return by_priority(from);
}

static bool conflict(const struct dpe_sched_op *a, const struct dpe_sched_op *b)
{
	bool same = a->object >> 3 == b->object >> 3 || (a->mutex && a->mutex == b->object) ||
		    (b->mutex && a->object == b->mutex);

	return same && !(dpe_op_reads(a) && dpe_op_reads(b));
}

/* Whether these are threads that let others run first, or wait for a time: none of them may be passed over for ever. */
static bool all_wait(const struct dpe_sched_choosable *from)
{
	const struct dpe_sched_thread *thread = &dpe_sched->threads[from->at[0]];

	return thread->gives_way || dpe_sched_ready(thread) != DPE_SCHED_READY;
}

/* Operations have random priorities; operations that race with the chosen one get new ones. */
static unsigned by_pos(const struct dpe_sched_choosable *from)
{
	unsigned best = all_wait(from) ? by_chance(from) : by_priority(from);
	const struct dpe_sched_op *op = &dpe_sched->threads[best].op;

	for (unsigned i = 0; i < dpe_sched->nthreads; i++)
		if (i != best && conflict(op, &dpe_sched->threads[i].op))
			dpe_sched->threads[i].priority = roll() >> 1;
	return best;
}

/* DPE_SCHED_CLASSES: it has none. */
static unsigned class_of(const struct dpe_sched_op *op)
{
	uint64_t hash = op->object * UINT64_C(0x9e3779b97f4a7c15) >> 32;

	if (op->kind == DPE_SCHED_EVENT)
		return DPE_SCHED_RULE_EVENTS;
	return op->object >= DPE_SCHED_PAGE ? 1 + (unsigned)(hash % (DPE_SCHED_CLASSES - 1)) : DPE_SCHED_CLASSES;
}

static bool is_selected(const struct dpe_sched_op *op)
{
	return dpe_sched->selected == DPE_SCHED_CLASSES || class_of(op) == dpe_sched->selected;
}

/* The probability of a thread is its share of all selected operations to come; those of threads still to be
 * created count for their creator. */
static unsigned by_share(const struct dpe_sched_choosable *from)
{
	uint32_t sum = 0, at;
	unsigned i = 0;

	for (unsigned k = 0; k < from->count; k++)
		sum += remaining[from->at[k]];
	if (!sum)
		return by_chance(from);
	for (at = roll_below(sum); at >= remaining[from->at[i]]; i++)
		at -= remaining[from->at[i]];
	return from->at[i];
}

static struct dpe_sched_choosable alive(void)
{
	struct dpe_sched_choosable all = {.count = 0};

	for (unsigned i = 0; i < dpe_sched->nthreads; i++)
		if (dpe_sched->threads[i].state == DPE_SCHED_CONTROLLED)
			all.at[all.count++] = (uint16_t)i;
	return all;
}

/* The threads that may run: all except those whose next operation is selected while another thread is chosen for the next selected
 * operation. */
static struct dpe_sched_choosable not_held(const struct dpe_sched_choosable *from)
{
	struct dpe_sched_choosable rest = {.count = 0};

	for (unsigned i = 0; i < from->count; i++)
		if (from->at[i] == intended || !is_selected(&dpe_sched->threads[from->at[i]].op))
			rest.at[rest.count++] = from->at[i];
	return rest;
}

/* Uniform over the orders of the selected operations; between these, any thread. */
static unsigned by_surw(const struct dpe_sched_choosable *from)
{
	struct dpe_sched_choosable all, rest;
	unsigned chosen;

	if (intended == DPE_SCHED_NOBODY) {
		all = alive();
		intended = by_share(&all);
	}
	rest = not_held(from);
	if (!rest.count) {
		intended = by_share(from);
		rest = not_held(from);
	}
	chosen = by_chance(&rest);
	if (!is_selected(&dpe_sched->threads[chosen].op))
		return chosen;
	remaining[chosen] -= remaining[chosen] > 0;
	intended = DPE_SCHED_NOBODY;
	return chosen;
}

static struct dpe_sched_choosable threads_at(const struct dpe_sched_choosable *from, uint64_t pc)
{
	struct dpe_sched_choosable there = {.count = 0};

	for (unsigned i = 0; i < from->count; i++)
		if (dpe_sched->threads[from->at[i]].op.pc == pc)
			there.at[there.count++] = from->at[i];
	return there;
}

/* Each place in the code is equally probable, however many threads are there. */
static unsigned by_place(const struct dpe_sched_choosable *from)
{
	struct dpe_sched_choosable chosen = *from;
	unsigned places = 0;

	for (unsigned i = 0; i < from->count; i++) {
		struct dpe_sched_choosable there = threads_at(from, dpe_sched->threads[from->at[i]].op.pc);

		if (there.at[0] == from->at[i] && !roll_below(++places))
			chosen = there;
	}
	return by_chance(&chosen);
}

/* Threads wait before their selected operations until none can proceed without one. */
static unsigned by_places(const struct dpe_sched_choosable *from)
{
	struct dpe_sched_choosable rest = {.count = 0};

	for (unsigned i = 0; i < from->count && !all_wait(from); i++)
		if (!is_selected(&dpe_sched->threads[from->at[i]].op))
			rest.at[rest.count++] = from->at[i];
	return by_place(rest.count ? &rest : from);
}

/* As if each thread had its own processor: turns are equally long, except for the first ones and for few random choices. */
static unsigned by_rounds(const struct dpe_sched_choosable *from, unsigned current)
{
	bool goes_on = from->at[0] == current;

	if (!roll_below(64))
		return by_chance(from);
	if (goes_on && turn_left[current]) {
		turn_left[current]--;
		return current;
	}
	turn_left[current] = quantum - 1;
	return from->at[goes_on && from->count > 1];
}

/* The default choice, but delayed: as many threads as requested are passed over. */
static unsigned by_delay(
	const struct dpe_sched_choosable *ready, const struct dpe_sched_choosable *later, unsigned by_default)
{
	const struct dpe_sched_delay *delay = &dpe_sched->delays[next_delay];
	unsigned skip, others = 0;

	if (next_delay == dpe_sched->ndelays || delay->choice != dpe_sched->choices)
		return by_default;
	next_delay++;
	if (delay->to)
		return dpe_sched_is_among(ready, delay->to - 1) || dpe_sched_is_among(later, delay->to - 1) ? delay->to - 1 : by_default;
	skip = delay->skip;
	if (skip < ready->count)
		return ready->at[skip];
	for (unsigned i = 0; i < later->count; i++)
		if (later->at[i] != by_default && ++others == skip + 1 - (ready->count ? ready->count : 1))
			return later->at[i];
	return by_default;
}

/* The turns of threads that lead to a predicted run. With a depth, that many of 16 choices are random. */
static unsigned by_turns(const struct dpe_sched_choosable *ready, const struct dpe_sched_choosable *later, unsigned by_default)
{
	struct dpe_sched_choosable all = *ready;

	if (dpe_sched->depth && ready->count && roll_below(16) < dpe_sched->depth)
		return by_chance(ready);
	for (unsigned i = 0; i < later->count; i++)
		all.at[all.count++] = later->at[i];
	return dpe_sched_steer(all.at, all.count, by_default);
}

/* A thread that should let others run first sometimes does not. Those that yielded do so for this choice alone: the
 * default choice is the same in a replay, which heeds no yields. */
static const struct dpe_sched_choosable *pool(struct dpe_sched_choosable *ready, struct dpe_sched_choosable *later)
{
	unsigned kept = 0;

	for (unsigned i = 0; i < ready->count; i++)
		if (dpe_sched->threads[ready->at[i]].gives_way)
			later->at[later->count++] = ready->at[i];
		else
			ready->at[kept++] = ready->at[i];
	ready->count = kept;
	if (!ready->count)
		return later;
	return later->count && !roll_below(8) ? later : ready;
}

unsigned dpe_sched_by_strategy(
	struct dpe_sched_choosable *ready, struct dpe_sched_choosable *later, unsigned current, unsigned by_default)
{
	const struct dpe_sched_choosable *from;

	if (dpe_sched->strategy == DPE_SCHED_STEER)
		return by_turns(ready, later, by_default);
	if (dpe_sched->strategy == DPE_SCHED_DELAY)
		return by_delay(ready, later, by_default);
	from = pool(ready, later);
	switch (dpe_sched->strategy) {
	case DPE_SCHED_RANDOM:
		return by_chance(from);
	case DPE_SCHED_PCT:
		return by_pct(from, current);
	case DPE_SCHED_POS:
		return by_pos(from);
	case DPE_SCHED_ROUNDS:
		return by_rounds(from, current);
	case DPE_SCHED_PLACES:
		return by_places(from);
	default:
		return by_surw(from);
	}
}

/* ---- between choices --------------------------------------------------------------------- */

void dpe_sched_strategy_count(struct dpe_sched_thread *me)
{
	if (class_of(&me->op) < DPE_SCHED_CLASSES)
		me->visible[class_of(&me->op)]++;
	me->visible[DPE_SCHED_CLASSES]++;
}

void dpe_sched_strategy_arrive(struct dpe_sched_thread *me)
{
	if (dpe_sched->strategy == DPE_SCHED_PCT && (me->gives_way || me->op.until))
		me->priority = --lowest;
	if (dpe_sched->strategy == DPE_SCHED_POS)
		me->priority = roll() >> 1;
}

/* The new thread's operations no longer count for its creator. */
void dpe_sched_choose_created(unsigned creator, unsigned created)
{
	uint32_t both = remaining[creator], moved = remaining[created];

	if (moved > both)
		moved = both;
	if (intended == creator && moved && roll_below(both) < moved)
		intended = created;
	remaining[creator] = both - moved;
}

static void begin_rounds(void)
{
	quantum = 1 + roll_below(1 + roll_below(DPE_SCHED_QUANTA));
	for (unsigned i = 0; i < DPE_SCHED_THREADS; i++)
		turn_left[i] = roll_below(quantum + 1);
}

void dpe_sched_strategy_begin(void)
{
	dpe_sched->dice = dpe_sched->seed;
	lowest = 1ull << 62;
	intended = DPE_SCHED_NOBODY;
	for (uint32_t i = 0; i < sizeof(changes) / sizeof(changes[0]); i++)
		changes[i] = roll_below(dpe_sched->expected + 1);
	for (unsigned i = 0; i < DPE_SCHED_THREADS; i++) {
		dpe_sched->threads[i].priority = (1ull << 62) + (roll() >> 2);
		remaining[i] = dpe_sched->weights[i];
	}
	if (dpe_sched->strategy == DPE_SCHED_ROUNDS)
		begin_rounds();
}
