/* Partial matches, the sets and trails of events that they share, and all of a slice. */
#include "recognizer/engines/conjunction.h"
#include "recognizer/engines/engines.h"
#include "recognizer/limits.h"

#include <stdlib.h>
#include <string.h>

/* ---- sets -------------------------------------------------------------------------------- */

static size_t set_size(unsigned count)
{
	return sizeof(struct dpe_set) + count * sizeof(struct dpe_occurrence *);
}

struct dpe_set *dpe_set_new(struct dpe_pool *pool, unsigned count)
{
	struct dpe_set *set = dpe_pool_take(pool, set_size(count));

	set->refs = 1;
	set->count = count;
	return set;
}

static struct dpe_set *ref_set(struct dpe_set *set)
{
	if (set)
		set->refs++;
	return set;
}

static void unref_set(struct dpe_pool *pool, struct dpe_set *set)
{
	if (!set || --set->refs)
		return;
	for (unsigned i = 0; i < set->count; i++)
		dpe_occurrence_unref(set->at[i]);
	dpe_pool_give(pool, set, set_size(set->count));
}

bool dpe_set_same(const struct dpe_set *a, const struct dpe_set *b)
{
	if (!a || !b || a == b)
		return a == b;
	return a->count == b->count && !memcmp(a->at, b->at, a->count * sizeof(a->at[0]));
}

static bool names(const struct dpe_pred *preds, unsigned npreds, const struct dpe_occurrence *event)
{
	for (unsigned i = 0; i < npreds; i++) {
		if (preds[i].occurrence == event)
			return true;
	}
	return false;
}

/* The set (or NULL) without some events, and with one more. */
static struct dpe_set *replace_events(struct dpe_pool *pool, const struct dpe_set *set,
	const struct dpe_pred *without, unsigned nwithout, struct dpe_occurrence *with)
{
	unsigned kept = 0;
	struct dpe_set *new;

	for (unsigned i = 0; set && i < set->count; i++)
		kept += !names(without, nwithout, set->at[i]);
	new = dpe_set_new(pool, kept + 1);
	kept = 0;
	for (unsigned i = 0; set && i < set->count; i++) {
		if (!names(without, nwithout, set->at[i]))
			new->at[kept++] = dpe_occurrence_ref(set->at[i]);
	}
	new->at[kept] = dpe_occurrence_ref(with); /* the newest of all */
	return new;
}

/* ---- trails ------------------------------------------------------------------------------ */

static struct dpe_trail *ref_trail(struct dpe_trail *trail)
{
	if (trail)
		trail->refs++;
	return trail;
}

static void unref_trail(struct dpe_pool *pool, struct dpe_trail *trail)
{
	while (trail && !--trail->refs) {
		struct dpe_trail *before = trail->before;

		dpe_occurrence_unref(trail->occurrence);
		dpe_pool_give(pool, trail, sizeof(*trail));
		trail = before;
	}
}

/* ---- partial matches ----------------------------------------------------------------------- */

struct dpe_partial *dpe_partial_ref(struct dpe_partial *partial)
{
	partial->refs++;
	return partial;
}

void dpe_partial_unref(const struct dpe_run *run, struct dpe_partial *partial)
{
	struct dpe_pool *pool = run->recognizer->pool;
	const struct dpe_run *engine;

	if (!partial || --partial->refs)
		return;
	engine = run->conjunction->operands[partial->operand].run;
	engine->follow->drop(engine, &partial->config);
	unref_set(pool, partial->first);
	unref_set(pool, partial->last);
	unref_trail(pool, partial->trail);
	dpe_pool_give(pool, partial, sizeof(*partial));
}

/* ---- one more event -------------------------------------------------------------------------- */

static struct dpe_trail *extend_trail(struct dpe_pool *pool, struct dpe_trail *before,
	const struct dpe_config_step *step, struct dpe_occurrence *occurrence)
{
	struct dpe_trail *trail = dpe_pool_take(pool, sizeof(*trail));

	*trail = (struct dpe_trail){
		.refs = 1,
		.positions = step->positions,
		.npositions = step->npositions,
		.occurrence = dpe_occurrence_ref(occurrence),
		.before = ref_trail(before),
	};
	return trail;
}

/* An event without predecessors in the partial match is a minimal one. */
struct dpe_partial *dpe_partial_extend(struct dpe_run *run, const struct dpe_partial *from,
	const struct dpe_config *config, const struct dpe_config_step *step, struct dpe_occurrence *occurrence,
	uint64_t mask)
{
	const struct dpe_run *engine = run->conjunction->operands[from->operand].run;
	struct dpe_pool *pool = run->recognizer->pool;
	struct dpe_partial *partial = dpe_pool_take(pool, sizeof(*partial));

	*partial = (struct dpe_partial){
		.refs = 1,
		.operand = from->operand,
		.config = engine->follow->take(engine, config, step, occurrence),
		.first = step->npreds ? ref_set(from->first)
				      : replace_events(pool, from->first, NULL, 0, occurrence),
		.last = run->conjunction->compact
				? NULL
				: replace_events(pool, from->last, step->preds, step->npreds, occurrence),
		.trail = extend_trail(pool, from->trail, step, occurrence),
		.mask = from->mask | mask,
	};
	return partial;
}

/* ---- in a slice ---------------------------------------------------------------------------- */

static void copy_list(struct dpe_partial_list *to, const struct dpe_partial_list *from)
{
	for (unsigned i = 0; i < from->count; i++) {
		if (from->at[i])
			*DPE_GROW(to->at, to->count, to->cap) = dpe_partial_ref(from->at[i]);
	}
}

struct dpe_matching *dpe_matching_of(const struct dpe_run *run, struct dpe_slice *slice)
{
	struct dpe_matching *matching = slice->matching;

	if (matching)
		return matching;
	matching = slice->matching = dpe_xcalloc(1, sizeof(*matching));
	matching->noperands = run->conjunction->noperands;
	matching->lists = dpe_xcalloc(matching->noperands, sizeof(*matching->lists));
	return matching;
}

void dpe_detect_copy(struct dpe_run *run, struct dpe_slice *to, const struct dpe_slice *from)
{
	const struct dpe_matching *old = from->matching;
	struct dpe_matching *new;

	if (!old)
		return;
	dpe_detect_clear(run, to);
	new = dpe_matching_of(run, to);
	for (unsigned i = 0; i < old->noperands; i++) {
		copy_list(&new->lists[i].active, &old->lists[i].active);
		copy_list(&new->lists[i].ended, &old->lists[i].ended);
	}
	new->count = old->count;
	new->prune_at = old->prune_at;
	new->full = old->full;
	new->trim_at = old->trim_at;
}

void dpe_detect_clear(struct dpe_run *run, struct dpe_slice *slice)
{
	struct dpe_matching *matching = slice->matching;

	if (!matching)
		return;
	for (unsigned i = 0; i < matching->noperands; i++) {
		dpe_partial_list_clear(run, &matching->lists[i].active);
		dpe_partial_list_clear(run, &matching->lists[i].ended);
	}
	matching->count = matching->prune_at = matching->full = matching->trim_at = 0;
}

void dpe_detect_free(struct dpe_run *run, struct dpe_slice *slice)
{
	struct dpe_matching *matching = slice->matching;

	if (!matching)
		return;
	dpe_detect_clear(run, slice);
	for (unsigned i = 0; i < matching->noperands; i++) {
		free(matching->lists[i].active.at);
		free(matching->lists[i].ended.at);
	}
	free(matching->lists);
	free(matching);
	slice->matching = NULL;
}

struct dpe_partial *const *dpe_detect_partials(const struct dpe_slice *slice, unsigned *count)
{
	const struct dpe_partial_list *active;

	*count = 0;
	if (!slice->matching)
		return NULL;
	active = &slice->matching->lists[0].active;
	*count = active->count;
	return active->at;
}

void dpe_detect_restore(struct dpe_run *run, struct dpe_slice *slice, struct dpe_config config,
	struct dpe_set *first, struct dpe_trail *trail, uint64_t mask)
{
	struct dpe_matching *matching = dpe_matching_of(run, slice);
	struct dpe_partial_list *active = &matching->lists[0].active;
	struct dpe_partial *partial = dpe_pool_take(run->recognizer->pool, sizeof(*partial));

	*partial = (struct dpe_partial){
		.refs = 1,
		.config = config,
		.first = first,
		.trail = trail,
		.mask = mask,
	};
	*DPE_GROW(active->at, active->count, active->cap) = partial;
	matching->count++;
}

/* In the state of the new automaton; other slices may share it. */
static struct dpe_partial *adopt(
	const struct dpe_run *run, struct dpe_partial *partial, const struct dpe_automaton *old)
{
	dpe_state state = dpe_automaton_adopt(run->automaton, old, partial->config.state);
	struct dpe_partial *copy;

	if (partial->refs == 1) {
		partial->config.state = state;
		return partial;
	}
	copy = dpe_pool_take(run->recognizer->pool, sizeof(*copy));
	*copy = *partial;
	copy->refs = 1;
	copy->config.state = state;
	copy->config = run->follow->copy(run, &copy->config);
	ref_set(copy->first);
	ref_trail(copy->trail);
	partial->refs--;
	return copy;
}

void dpe_detect_adopt(
	const struct dpe_run *run, struct dpe_slice *slice, const struct dpe_automaton *old)
{
	struct dpe_partial_list *active;

	if (!slice->matching || !run->conjunction->whole)
		return;
	active = &slice->matching->lists[0].active;
	for (unsigned i = 0; i < active->count; i++) {
		if (active->at[i])
			active->at[i] = adopt(run, active->at[i], old);
	}
}

uint64_t dpe_matching_size(const struct dpe_slice *slice)
{
	return slice->matching ? slice->matching->count : 0;
}

/* ---- what it needs ------------------------------------------------------------------------- */

/* Minimal events of partial matches, each as chain << 32 | index, sorted. What is needed is at one of these, or
 * after it. */
struct needed {
	uint64_t *firsts;
	unsigned count, cap;
	bool reached;
};

static void add_firsts(struct needed *needed, const struct dpe_partial_list *partials)
{
	for (unsigned i = 0; i < partials->count; i++) {
		const struct dpe_set *first = partials->at[i] ? partials->at[i]->first : NULL;

		for (unsigned j = 0; first && j < first->count; j++)
			*DPE_GROW(needed->firsts, needed->count, needed->cap) =
				(uint64_t)first->at[j]->stamp.chain << 32 | first->at[j]->stamp.index;
	}
}

static int by_place(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

/* True if one of them lies between these two. */
static bool any_between(const struct needed *needed, uint64_t from, uint64_t to)
{
	unsigned low = 0, high = needed->count;

	while (low < high) {
		unsigned middle = low + (high - low) / 2;

		if (needed->firsts[middle] < from)
			low = middle + 1;
		else
			high = middle;
	}
	return low < needed->count && needed->firsts[low] <= to;
}

static bool is_wanted(void *context, uint32_t first, uint32_t last)
{
	const struct needed *needed = context;

	return !needed->reached &&
	       any_between(needed, (uint64_t)first << 32, (uint64_t)last << 32 | UINT32_MAX);
}

static void note_reach(void *context, uint32_t chain, uint32_t reach)
{
	struct needed *needed = context;

	needed->reached = needed->reached ||
			  any_between(needed, (uint64_t)chain << 32, (uint64_t)chain << 32 | reach);
}

static bool is_needed(void *context, const struct dpe_occurrence *occurrence)
{
	struct needed *needed = context;

	needed->reached = false;
	note_reach(needed, occurrence->stamp.chain, occurrence->stamp.index);
	if (!needed->reached)
		dpe_stamp_each_wanted(&occurrence->stamp, is_wanted, note_reach, needed);
	return needed->reached;
}

static bool any_touches(
	const struct dpe_partial_list *partials, const struct dpe_occurrence *occurrence)
{
	for (unsigned i = 0; i < partials->count; i++) {
		if (partials->at[i] && dpe_set_touches(partials->at[i]->first, occurrence))
			return true;
	}
	return false;
}

/* Two sets of partial matches; the second one may be NULL. */
struct matchings {
	const struct dpe_matching *own, *shared;
};

static bool any_of_matching_touches(const struct dpe_matching *matching, const struct dpe_occurrence *occurrence)
{
	for (unsigned i = 0; matching && i < matching->noperands; i++) {
		if (any_touches(&matching->lists[i].active, occurrence) ||
			any_touches(&matching->lists[i].ended, occurrence))
			return true;
	}
	return false;
}

/* The same where there are few. */
static bool is_needed_by_any(void *context, const struct dpe_occurrence *occurrence)
{
	const struct matchings *matchings = context;

	return any_of_matching_touches(matchings->own, occurrence) ||
	       any_of_matching_touches(matchings->shared, occurrence);
}

static void add_all_firsts(struct needed *needed, const struct dpe_matching *matching)
{
	for (unsigned i = 0; matching && i < matching->noperands; i++) {
		add_firsts(needed, &matching->lists[i].active);
		add_firsts(needed, &matching->lists[i].ended);
	}
}

void dpe_matching_trim(const struct dpe_run *run, struct dpe_slice *slice)
{
	struct matchings matchings = {slice->matching, run->shared ? run->shared->matching : NULL};
	uint64_t count = matchings.own->count + (matchings.shared ? matchings.shared->count : 0);
	struct needed needed = {0};

	if (count < DPE_INDEXED_PARTIALS) {
		dpe_order_trim(&slice->order, is_needed_by_any, &matchings);
		return;
	}
	add_all_firsts(&needed, matchings.own);
	add_all_firsts(&needed, matchings.shared);
	qsort(needed.firsts, needed.count, sizeof(*needed.firsts), by_place);
	dpe_order_trim(&slice->order, is_needed, &needed);
	free(needed.firsts);
}
