/* dfs: every behaviour once, where two runs that differ in the order of independent operations are one. Source:
 * P. Abdulla, S. Aronis, B. Jonsson, K. Sagonas, Optimal Dynamic Partial Order Reduction, POPL 2014, algorithm
 * 1 (source sets and sleep sets). With a bound on preemptions, for which neither suffices: K. Coons, M.
 * Musuvathi, K. McKinley, Bounded Partial-Order Reduction, OOPSLA 2013. */
#include "explore/dfs.h"

#include "explore/race_index.h"
#include "explore/runs.h"

#include "explore/sched/dependence.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

/* The state of the search for races in a run. A row of `clocks` has, for each thread, the number of its events
 * that happened before, the row's own included. */
struct races {
	struct dpe_dfs *dfs; /* NULL: only clocks are computed */
	const struct dpe_sched_header *memory;
	const struct dpe_sched_event *events;
	uint32_t count;
	unsigned threads;
	uint32_t *clocks; /* an index, plus 1, of the latest event of each thread */
	struct dpe_race_index index; /* of the events so far */
	uint32_t last[DPE_SCHED_THREADS]; /* the latest of these of each thread, or its creation, plus 1; 0: none */
};

static struct dpe_sched_set join(struct dpe_sched_set a, const struct dpe_sched_set *b)
{
	for (unsigned i = 0; i < DPE_COUNT(a.words); i++)
		a.words[i] |= b->words[i];
	return a;
}

static struct dpe_sched_set without(struct dpe_sched_set a, const struct dpe_sched_set *b)
{
	for (unsigned i = 0; i < DPE_COUNT(a.words); i++)
		a.words[i] &= ~b->words[i];
	return a;
}

/* The first thread of the set; DPE_SCHED_NOBODY. */
static unsigned first_of(const struct dpe_sched_set *set)
{
	for (unsigned i = 0; i < DPE_SCHED_THREADS; i++)
		if (dpe_set_has(set, i))
			return i;
	return DPE_SCHED_NOBODY;
}

static bool meet(const struct dpe_sched_set *a, const struct dpe_sched_set *b)
{
	for (unsigned i = 0; i < DPE_COUNT(a->words); i++)
		if (a->words[i] & b->words[i])
			return true;
	return false;
}

static bool is_preemption(const struct dpe_dfs_node *node, unsigned thread)
{
	return node->current != DPE_SCHED_THREADS && node->current != thread;
}

static bool is_bounded(const struct dpe_dfs *dfs)
{
	return dfs->bound != UINT_MAX;
}

/* ---- races ------------------------------------------------------------------------------- */

static const uint32_t *row(const struct races *races, uint32_t event)
{
	return &races->clocks[(size_t)event * races->threads];
}

static void join_row(const struct races *races, uint32_t *into, uint32_t event)
{
	for (unsigned i = 0; i < races->threads; i++)
		if (into[i] < row(races, event)[i])
			into[i] = row(races, event)[i];
}

/* The direct predecessor of the thread's next event: its previous event, or its creation. */
static void begin_row(const struct races *races, unsigned thread, uint32_t *clock)
{
	memset(clock, 0, races->threads * sizeof(*clock));
	if (races->last[thread])
		join_row(races, clock, races->last[thread] - 1);
}

/* The event is over. Threads that it may have created begin after it. */
static void pass(struct races *races, uint32_t event)
{
	const struct dpe_sched_event *at = &races->events[event];

	races->last[at->thread] = event + 1;
	for (unsigned i = at->nthreads; i < races->threads; i++)
		races->last[i] = event + 1;
	dpe_race_index_add(&races->index, at, event);
}

/* A lock is not free before it is unlocked, so these cannot occur in the other order. */
static bool enables(const struct dpe_sched_event *a, const struct dpe_sched_event *b)
{
	bool releases = a->kind == DPE_SCHED_MUTEX_UNLOCK || a->kind == DPE_SCHED_COND_WAIT ||
			a->kind == DPE_SCHED_COND_TIMEDWAIT;
	bool takes = b->kind == DPE_SCHED_MUTEX_LOCK || b->kind == DPE_SCHED_COND_BLOCK ||
		     b->kind == DPE_SCHED_COND_TIMEDBLOCK;

	return (releases && takes && (a->mutex ? a->mutex : a->object) == (b->mutex ? b->mutex : b->object)) ||
	       (a->kind == DPE_SCHED_SPIN_UNLOCK && b->kind == DPE_SCHED_SPIN_LOCK) ||
	       (a->kind == DPE_SCHED_END && b->kind == DPE_SCHED_JOIN);
}

/* Whether the operation can never enable another one, so that a race with it can be reversed. An operation that
 * may end a wait hides no earlier race. */
static bool never_enables(const struct races *races, const struct dpe_sched_event *a)
{
	switch (a->kind) {
	case DPE_SCHED_WRITE:
	case DPE_SCHED_ATOMIC_STORE:
	case DPE_SCHED_ATOMIC_CHANGE:
	case DPE_SCHED_HEAP_FREE:
		return !races->memory->loops;
	case DPE_SCHED_READ:
	case DPE_SCHED_ATOMIC_LOAD:
	case DPE_SCHED_MUTEX_LOCK:
	case DPE_SCHED_MUTEX_TRYLOCK:
	case DPE_SCHED_SPIN_LOCK:
	case DPE_SCHED_SPIN_TRYLOCK:
	case DPE_SCHED_RWLOCK_RDLOCK:
	case DPE_SCHED_RWLOCK_TRYRDLOCK:
	case DPE_SCHED_RWLOCK_WRLOCK:
	case DPE_SCHED_RWLOCK_TRYWRLOCK:
	case DPE_SCHED_SEM_WAIT:
	case DPE_SCHED_SEM_TRYWAIT:
		return true;
	default:
		return false;
	}
}

/* Finds the threads that can begin the events between the two (and the second itself) that do not follow the
 * first: the initials of Abdulla et al. */
struct meantime {
	uint32_t first[DPE_SCHED_THREADS]; /* event of each thread; UINT32_MAX: none */
	struct dpe_sched_set initials;
};

static void add_between(const struct races *races, struct meantime *between, unsigned thread,
	uint32_t event, const uint32_t *clock)
{
	if (between->first[thread] != UINT32_MAX)
		return;
	between->first[thread] = event;
	for (unsigned i = 0; i < races->threads; i++)
		if (i != thread && between->first[i] != UINT32_MAX && clock[i] > between->first[i])
			return;
	dpe_set_add(&between->initials, thread);
}

/* Asks for a run with the thread, or whatever leads to it, at that place, even beyond the bound's conservative
 * places. */
static void add_backtrack_point(struct dpe_dfs_node *node, unsigned thread)
{
	if (dpe_set_has(&node->possible, thread))
		dpe_set_add(&node->todo, thread);
	else
		node->todo = join(node->todo, &node->possible);
}

/* Also at the place where the thread of the first event began to run: a switch there costs no preemption. */
static void reverse_bounded(const struct races *races, uint32_t first, unsigned thread)
{
	struct dpe_dfs_node *nodes = races->dfs->nodes;

	add_backtrack_point(&nodes[first], thread);
	while (first && nodes[first - 1].thread == nodes[first].thread)
		first--;
	add_backtrack_point(&nodes[first], thread);
}

/* Reverses the race of two events: some run has to begin, in place of the first, with what leads to the second.
 * False if the second is not possible there. */
static bool reverse(const struct races *races, uint32_t first, unsigned thread, uint32_t second,
	const uint32_t *clock)
{
	struct dpe_dfs_node *node = &races->dfs->nodes[first];
	struct dpe_sched_set covered = join(node->todo, &node->asleep), possible;
	struct meantime between = {.initials = {{0}}};
	unsigned first_thread = races->events[first].thread;

	if (is_bounded(races->dfs)) {
		reverse_bounded(races, first, thread);
		return false;
	}
	memset(between.first, 0xff, sizeof(between.first));
	for (uint32_t i = first + 1; i < second; i++)
		if (row(races, i)[first_thread] <= first)
			add_between(races, &between, races->events[i].thread, i, row(races, i));
	add_between(races, &between, thread, second, clock);
	if (between.first[thread] == second && dpe_set_has(&between.initials, thread) &&
		!dpe_set_has(&node->possible, thread))
		return false;
	if (meet(&between.initials, &covered))
		return true;
	possible = without(between.initials, &covered);
	for (unsigned i = 0; i < DPE_COUNT(possible.words); i++)
		possible.words[i] &= node->possible.words[i];
	if (first_of(&possible) == DPE_SCHED_NOBODY)
		node->todo = join(node->todo, &node->possible);
	else
		dpe_set_add(&node->todo, first_of(&possible));
	return true;
}

/* What only follows a release does nothing: for DFS alone, it depends on other operations. */
static bool are_ordered(const struct races *races, const struct dpe_sched_event *a, const struct dpe_sched_event *b)
{
	bool nothing = dpe_sched_follows_release(a->kind) || dpe_sched_follows_release(b->kind);

	return dpe_events_dependent(a, b) && (races->dfs || !nothing || a->thread == b->thread);
}

/* Completes the clock of an event, which begins as that of its thread, and reverses its races: those with
 * unordered events that precede no other such event. */
static void look_back(struct races *races, const struct dpe_sched_event *event, uint32_t end, uint32_t *clock, bool reverses)
{
	struct dpe_race_index *index = &races->index;
	uint32_t before[DPE_SCHED_THREADS], shadow[DPE_SCHED_THREADS] = {0};

	memcpy(before, clock, races->threads * sizeof(*clock));
	dpe_race_index_find(index, races->events, end, event, before);
	for (unsigned i = 0; i < index->nfound; i++)
		if (clock[races->events[index->found[i]].thread] <= index->found[i] &&
			are_ordered(races, &races->events[index->found[i]], event))
			join_row(races, clock, index->found[i]);
	for (unsigned i = 0; reverses && i < index->nfound; i++) {
		const struct dpe_sched_event *other = &races->events[index->found[i]];

		if (other->thread == event->thread || shadow[other->thread] > index->found[i] ||
			!dpe_events_dependent(other, event) || enables(other, event))
			continue;
		if (reverse(races, index->found[i], event->thread, end, clock) && never_enables(races, other))
			join_row(races, shadow, index->found[i]);
	}
}

/* Operations that threads were about to do when the run ended race, too: also those of threads that are blocked at the end of an
 * equivalent run, since what blocks them may come later. Those of sleeping threads were done in other runs. */
static void look_at_pending(struct races *races)
{
	const struct dpe_sched_header *memory = races->memory;
	uint32_t clock[DPE_SCHED_THREADS];

	for (unsigned i = 0; i < races->threads; i++) {
		struct dpe_sched_event event = dpe_event_of(memory, i);

		if (memory->threads[i].state != DPE_SCHED_CONTROLLED || event.kind == DPE_SCHED_NONE || dpe_set_has(&memory->left_asleep, i) ||
			(races->events[races->count - 1].ends && i == races->events[races->count - 1].thread))
			continue;
		begin_row(races, i, clock);
		look_back(races, &event, races->count, clock, true);
	}
}

static struct races begin_races(struct dpe_dfs *dfs, const struct dpe_sched_header *memory)
{
	struct races races = {
		.dfs = dfs, .memory = memory, .events = memory->events, .count = memory->nevents, .threads = memory->nthreads};

	races.clocks = dpe_xcalloc((size_t)races.count * races.threads, sizeof(*races.clocks));
	dpe_race_index_begin(&races.index, races.count, races.threads);
	return races;
}

/* Computes the clocks of all events, and reverses the races of those from `from` on. */
static void add_events(struct races *races, uint32_t from)
{
	for (uint32_t i = 0; i < races->count; i++) {
		uint32_t *clock = &races->clocks[(size_t)i * races->threads];

		begin_row(races, races->events[i].thread, clock);
		clock[races->events[i].thread] = i + 1;
		look_back(races, &races->events[i], i, clock, i >= from);
		pass(races, i);
	}
}

static void find_races(struct dpe_dfs *dfs, const struct dpe_sched_header *memory, uint32_t from)
{
	struct races races = begin_races(dfs, memory);

	add_events(&races, from);
	look_at_pending(&races);
	dpe_race_index_free(&races.index);
	free(races.clocks);
}

uint32_t *dpe_dfs_clocks(const struct dpe_sched_header *memory)
{
	struct races races = begin_races(NULL, memory);

	add_events(&races, races.count);
	dpe_race_index_free(&races.index);
	return races.clocks;
}

/* ---- the tree ---------------------------------------------------------------------------- */

static void begin(struct dpe_dfs *dfs, struct dpe_sched_header *memory)
{
	dfs->begun = true;
	dfs->learned = memory->learned;
	dfs->count = dfs->behaviours = 0;
	dfs->strayed = dfs->cut = dfs->starved = false;
	memory->npath = 0;
}

/* The threads left to try at the last node. */
static struct dpe_sched_set left_at_last(const struct dpe_dfs *dfs)
{
	const struct dpe_dfs_node *node = &dfs->nodes[dfs->count - 1];
	struct dpe_sched_set covered = join(node->done, &node->asleep), left = without(node->todo, &covered);
	bool stays = is_bounded(dfs) && node->preempted >= dfs->bound;

	for (unsigned i = 0; stays && i < DPE_SCHED_THREADS; i++)
		if (is_preemption(node, i))
			dpe_set_remove(&left, i);
	return left;
}

bool dpe_dfs_give(struct dpe_dfs *dfs, struct dpe_sched_header *memory)
{
	if (!dfs->begun || dfs->learned != memory->learned) {
		begin(dfs, memory);
		return true;
	}
	while (dfs->count) {
		struct dpe_dfs_node *node = &dfs->nodes[dfs->count - 1];
		struct dpe_sched_set left = left_at_last(dfs), covered;

		if (first_of(&left) == DPE_SCHED_NOBODY) {
			dfs->count--;
			continue;
		}
		node->thread = (uint16_t)first_of(&left);
		memory->npath = dfs->count;
		for (unsigned i = 0; i < dfs->count; i++)
			memory->path[i] = dfs->nodes[i].thread;
		covered = without(node->done, &node->ended);
		memory->asleep = dfs->full || is_bounded(dfs) ? (struct dpe_sched_set){{0}} : join(node->asleep, &covered);
		return true;
	}
	return false;
}

/* Whether the run followed the requested path, with the same operations as before. */
static bool followed_path(const struct dpe_dfs *dfs, const struct dpe_sched_header *memory)
{
	if (memory->strayed || memory->nevents < dfs->count || !memory->nevents)
		return false;
	for (unsigned i = 0; i + 1 < dfs->count; i++)
		if (memory->events[i].kind != dfs->nodes[i].kind ||
			memory->events[i].object != dfs->nodes[i].object)
			return false;
	return true;
}

static void add_node(struct dpe_dfs *dfs, const struct dpe_sched_event *event)
{
	struct dpe_dfs_node *node = DPE_GROW(dfs->nodes, dfs->count, dfs->cap);
	const struct dpe_dfs_node *before = dfs->count > 1 ? node - 1 : NULL;

	*node = (struct dpe_dfs_node){
		.thread = event->thread, .current = event->current, .possible = event->possible, .asleep = event->asleep};
	if (dfs->full)
		node->todo = event->possible;
	if (before)
		node->preempted = before->preempted + is_preemption(before, before->thread);
	dpe_set_add(&node->todo, event->thread);
}

static bool all_finished(const struct dpe_sched_header *memory)
{
	for (unsigned i = 0; i < memory->nthreads; i++)
		if (memory->threads[i].state != DPE_SCHED_FINISHED)
			return false;
	return true;
}

/* A thread that waits for ever does not end the process, nor does the one that finishes last. */
static bool ended_by_event(const struct dpe_sched_header *memory)
{
	return memory->end != DPE_SCHED_PRUNED && memory->end != DPE_SCHED_DEADLOCK &&
	       memory->end != DPE_SCHED_STUCK && memory->end != DPE_SCHED_RACE && !all_finished(memory);
}

void dpe_dfs_take(struct dpe_dfs *dfs, struct dpe_sched_header *memory)
{
	unsigned from = dfs->count ? dfs->count - 1 : 0;
	struct dpe_dfs_node *last;

	if (dfs->learned != memory->learned)
		return;
	if (!followed_path(dfs, memory)) {
		dfs->strayed = true;
		if (dfs->count)
			dpe_set_add(&dfs->nodes[from].done, dfs->nodes[from].thread);
		return;
	}
	dfs->cut |= memory->events_lost > 0;
	dfs->starved |= memory->starved;
	dfs->behaviours += memory->end != DPE_SCHED_PRUNED;
	memory->events[memory->nevents - 1].ends = ended_by_event(memory);
	for (uint32_t i = dfs->count; i < memory->nevents; i++)
		add_node(dfs, &memory->events[i]);
	for (uint32_t i = from; i < memory->nevents; i++) {
		dfs->nodes[i].kind = memory->events[i].kind;
		dfs->nodes[i].object = memory->events[i].object;
		dpe_set_add(&dfs->nodes[i].done, memory->events[i].thread);
	}
	last = &dfs->nodes[memory->nevents - 1];
	if (memory->events[memory->nevents - 1].ends)
		dpe_set_add(&last->ended, last->thread);
	if (!dfs->full)
		find_races(dfs, memory, from);
}

void dpe_dfs_free(struct dpe_dfs *dfs)
{
	free(dfs->nodes);
}
