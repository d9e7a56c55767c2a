/* choices: which thread continues. Sources: PCT, Burckhardt et al., ASPLOS 2010; POS, Yuan, Yang and Gu, CAV 2018; SURW, Zhao et
 * al., ASPLOS 2025; delays, Emmi et al., POPL 2011. Under every strategy, a thread that repeats itself without a change, sleeps or
 * yields lets others run first. A schedule holds the differences from the default choice: continue the same thread, or else the next
 * one by number. */
#include "explore/sched/control.h"

#include "explore/sched/dependence.h"

struct choosable {
	uint16_t at[DPE_SCHED_THREADS];
	unsigned count;
};

/* By thread: the next requested switch, an index into `forced`, and the one after each. */
static uint32_t next_forced[DPE_SCHED_THREADS], after[DPE_SCHED_SWITCHES];
static uint32_t next_delay;
static struct dpe_sched_set asleep; /* DFS */
static bool polite;
static uint64_t lowest;          /* PCT: below all priorities so far */
static uint32_t changes[64];     /* PCT: the choices at which priorities change */
static uint32_t remaining[DPE_SCHED_THREADS]; /* SURW: estimate of the selected operations that each thread has
                                               * left */
static unsigned intended; /* SURW: the thread that does the next one; DPE_SCHED_NOBODY */
static uint32_t quantum;       /* ROUNDS: choices of a thread in a row */
static uint32_t turn_left[DPE_SCHED_THREADS]; /* ROUNDS: of each thread, what is left of its turn */

/* splitmix64 (G. Steele, D. Lea, C. Flood, OOPSLA 2014) */
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

/* ---- who can go on ----------------------------------------------------------------------- */

/* In the order of numbers, beginning with `current`. Threads that are to let others run first are
 * in `later`. */
static void collect(unsigned current, struct choosable *ready, struct choosable *later)
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
static unsigned first_due(const struct choosable *later, unsigned current)
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
	const struct choosable *ready, const struct choosable *later, unsigned current)
{
	return ready->count ? ready->at[0] : first_due(later, current);
}

/* ---- strategies -------------------------------------------------------------------------- */

static unsigned by_chance(const struct choosable *from)
{
	return from->at[roll_below(from->count)];
}

static unsigned by_priority(const struct choosable *from)
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
static unsigned by_pct(const struct choosable *from, unsigned current)
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
static bool all_wait(const struct choosable *from)
{
	const struct dpe_sched_thread *thread = &dpe_sched->threads[from->at[0]];

	return thread->gives_way || dpe_sched_ready(thread) != DPE_SCHED_READY;
}

/* Operations have random priorities; operations that race with the chosen one get new ones. */
static unsigned by_pos(const struct choosable *from)
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
	uint64_t hash = (op->object >> 3) * UINT64_C(0x9e3779b97f4a7c15) >> 32;

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
static unsigned by_share(const struct choosable *from)
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

static struct choosable alive(void)
{
	struct choosable all = {.count = 0};

	for (unsigned i = 0; i < dpe_sched->nthreads; i++)
		if (dpe_sched->threads[i].state == DPE_SCHED_CONTROLLED)
			all.at[all.count++] = (uint16_t)i;
	return all;
}

/* The threads that may run: all except those whose next operation is selected while another thread is chosen for the next selected
 * operation. */
static struct choosable not_held(const struct choosable *from)
{
	struct choosable rest = {.count = 0};

	for (unsigned i = 0; i < from->count; i++)
		if (from->at[i] == intended || !is_selected(&dpe_sched->threads[from->at[i]].op))
			rest.at[rest.count++] = from->at[i];
	return rest;
}

/* Uniform over the orders of the selected operations; between these, any thread. */
static unsigned by_surw(const struct choosable *from)
{
	struct choosable all, rest;
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

/* As if each thread had its own processor: turns are equally long, except for the first ones and for few random choices. */
static unsigned by_rounds(const struct choosable *from, unsigned current)
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
	const struct choosable *ready, const struct choosable *later, unsigned usual)
{
	const struct dpe_sched_delay *delay = &dpe_sched->delays[next_delay];
	unsigned skip, others = 0;

	if (next_delay == dpe_sched->ndelays || delay->choice != dpe_sched->choices)
		return usual;
	next_delay++;
	skip = delay->skip;
	if (skip < ready->count)
		return ready->at[skip];
	for (unsigned i = 0; i < later->count; i++)
		if (later->at[i] != usual && ++others == skip + 1 - (ready->count ? ready->count : 1))
			return later->at[i];
	return usual;
}

/* ---- dfs: sleep sets (P. Godefroid, Partial-Order Methods, 1996) --------------------------- */

/* A sleeping thread wakes when an operation is done that depends on its own next operation. */
static void wake_dependent(const struct dpe_sched_event *done)
{
	for (unsigned i = 0; i < dpe_sched->nthreads; i++) {
		const struct dpe_sched_event next = dpe_event_of(dpe_sched, i);

		if (dpe_set_has(&asleep, i) && dpe_events_dependent(done, &next))
			dpe_set_remove(&asleep, i);
	}
}

static void keep_event(const struct choosable *all, unsigned chosen, unsigned current)
{
	struct dpe_sched_event event = dpe_event_of(dpe_sched, chosen);

	event.current = (uint16_t)current;
	for (unsigned i = 0; i < all->count; i++)
		dpe_set_add(&event.possible, all->at[i]);
	event.asleep = asleep;
	event.nthreads = (uint16_t)dpe_sched->nthreads;
	if (dpe_sched->nevents == DPE_SCHED_EVENTS)
		dpe_sched->events_lost++;
	else
		dpe_sched->events[dpe_sched->nevents++] = event;
	wake_dependent(&event);
}

static bool is_among(const struct choosable *all, unsigned thread)
{
	for (unsigned i = 0; i < all->count; i++)
		if (all->at[i] == thread)
			return true;
	return false;
}

/* It has yielded or looked many times, and lets the usual thread, which is asleep, run first. */
static bool is_starved(unsigned thread, unsigned usual)
{
	const struct dpe_sched_thread *waits = &dpe_sched->threads[thread];

	return waits->yields && waits->op.kind == DPE_SCHED_YIELD && !dpe_sched->threads[usual].yields;
}

/* A thread that waits by yielding for one that is asleep would do so without end. */
static unsigned awake(const struct choosable *all, unsigned usual)
{
	if (!dpe_set_has(&asleep, usual))
		return usual;
	for (unsigned i = 0; i < all->count; i++) {
		if (dpe_set_has(&asleep, all->at[i]))
			continue;
		if (!is_starved(all->at[i], usual))
			return all->at[i];
		dpe_sched->starved = true;
	}
	dpe_sched->left_asleep = asleep;
	dpe_sched_end(DPE_SCHED_PRUNED);
}

static unsigned by_path(const struct choosable *ready, const struct choosable *later, unsigned usual, unsigned current)
{
	uint32_t at = dpe_sched->nevents;
	struct choosable all = *ready;
	unsigned chosen;

	for (unsigned i = 0; i < later->count; i++)
		all.at[all.count++] = later->at[i];
	if (at + 1 == dpe_sched->npath)
		asleep = dpe_sched->asleep;
	if (at < dpe_sched->npath && !is_among(&all, dpe_sched->path[at]))
		dpe_sched->strayed = true;
	if (at < dpe_sched->npath && !dpe_sched->strayed)
		chosen = dpe_sched->path[at];
	else
		chosen = awake(&all, usual);
	keep_event(&all, chosen, is_among(ready, current) ? current : DPE_SCHED_THREADS);
	return chosen;
}

/* With a depth, that many of 16 choices are random. */
static unsigned by_turns(const struct choosable *ready, const struct choosable *later, unsigned usual)
{
	struct choosable all = *ready;

	if (dpe_sched->depth && ready->count && roll_below(16) < dpe_sched->depth)
		return by_chance(ready);
	for (unsigned i = 0; i < later->count; i++)
		all.at[all.count++] = later->at[i];
	return dpe_sched_steer(all.at, all.count, usual);
}

static unsigned by_strategy(const struct choosable *from, unsigned current)
{
	switch (dpe_sched->strategy) {
	case DPE_SCHED_RANDOM:
		return by_chance(from);
	case DPE_SCHED_PCT:
		return by_pct(from, current);
	case DPE_SCHED_POS:
		return by_pos(from);
	case DPE_SCHED_ROUNDS:
		return by_rounds(from, current);
	default:
		return by_surw(from);
	}
}

/* A thread that should let others run first sometimes does not. Those that yielded do so for this choice alone: the
 * default choice is the same in a replay, which heeds no yields. */
static const struct choosable *pool(struct choosable *ready, struct choosable *later)
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

static unsigned choose(struct choosable *ready, struct choosable *later, unsigned current, unsigned usual)
{
	const struct dpe_sched_switch *wanted;

	if (dpe_sched->strategy == DPE_SCHED_STEER)
		return by_turns(ready, later, usual);
	if (dpe_sched->strategy == DPE_SCHED_DFS)
		return by_path(ready, later, usual, current);
	if (dpe_sched->strategy == DPE_SCHED_DELAY)
		return by_delay(ready, later, usual);
	if (dpe_sched->strategy != DPE_SCHED_FIRST)
		return by_strategy(pool(ready, later), current);
	wanted = forced_here(current);
	if (dpe_sched->asks && ready->count + later->count > 1)
		return dpe_sched_ask(current, usual);
	if (wanted)
		usual = wanted->to;
	return dpe_sched->held && ready->count + later->count > 1 ? dpe_sched_offer(current, usual) : usual;
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
	struct choosable ready, later;
	unsigned usual, chosen;

	collect(current, &ready, &later);
	usual = without_strategy(&ready, &later, current);
	if (usual == DPE_SCHED_NOBODY)
		return usual;
	count_choice(ready.count + later.count);
	chosen = choose(&ready, &later, current, usual);
	if (chosen != usual)
		record(current, chosen);
	dpe_sched->threads[chosen].yields = dpe_sched->threads[chosen].gives_way = false;
	return chosen;
}

static bool is_idle(const struct dpe_sched_op *op)
{
	switch (op->kind) {
	case DPE_SCHED_READ:
	case DPE_SCHED_ATOMIC_LOAD:
	case DPE_SCHED_MUTEX_TRYLOCK:
	case DPE_SCHED_SPIN_TRYLOCK:
	case DPE_SCHED_SEM_TRYWAIT:
	case DPE_SCHED_SEM_GETVALUE:
	case DPE_SCHED_OMP_TEST_LOCK:
	case DPE_SCHED_OMP_TEST_NEST_LOCK:
	case DPE_SCHED_RWLOCK_TRYRDLOCK:
	case DPE_SCHED_RWLOCK_TRYWRLOCK:
	case DPE_SCHED_ATOMIC_CHANGE:
	case DPE_SCHED_EVENT:
		return true;
	default:
		return false;
	}
}

static bool is_pause(const struct dpe_sched_op *op)
{
	return op->kind == DPE_SCHED_YIELD || op->kind == DPE_SCHED_SLEEP;
}

bool dpe_sched_looks(const struct dpe_sched_op *op)
{
	return is_idle(op) || is_pause(op) || op->kind == DPE_SCHED_FENCE;
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
	me->idle = is_idle(&me->op) || me->op.kind == DPE_SCHED_YIELD ? me->idle + 1 : 0;
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
	if (dpe_sched->strategy == DPE_SCHED_PCT && (me->gives_way || me->op.until))
		me->priority = --lowest;
	if (dpe_sched->strategy == DPE_SCHED_POS)
		me->priority = roll() >> 1;
	if (visible || me->yields) {
		if (class_of(&me->op) < DPE_SCHED_CLASSES)
			me->visible[class_of(&me->op)]++;
		me->visible[DPE_SCHED_CLASSES]++;
		return true;
	}
	if (dpe_sched->strategy == DPE_SCHED_STEER)
		return dpe_sched_is_held(number);
	return next_forced[number] != UINT32_MAX &&
	       dpe_sched->forced[next_forced[number]].step <= me->steps;
}

static void begin_rounds(void)
{
	quantum = 1 + roll_below(1 + roll_below(DPE_SCHED_QUANTA));
	for (unsigned i = 0; i < DPE_SCHED_THREADS; i++)
		turn_left[i] = roll_below(quantum + 1);
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

void dpe_sched_choose_begin(void)
{
	dpe_sched->dice = dpe_sched->seed;
	polite = !(dpe_sched->seed >> 3 & 1); /* each strategy of the portfolio does so in turn */
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
	chain_forced();
	dpe_sched_steer_begin();
}
