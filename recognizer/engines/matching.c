/* All partial matches of a slice, and which events they need. */
#include "recognizer/engines/conjunction.h"

#include <stdlib.h>

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

void dpe_detect_adopt(
	const struct dpe_run *run, struct dpe_slice *slice, const struct dpe_automaton *old)
{
	struct dpe_partial_list *active;

	if (!slice->matching || !run->conjunction->whole)
		return;
	active = &slice->matching->lists[0].active;
	dpe_partial_list_drop_index(active);
	for (unsigned i = 0; i < active->count; i++)
		active->at[i] = dpe_partial_adopt(run, active->at[i], old);
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
	unsigned low = DPE_PARTITION_POINT(i, 0, needed->count, needed->firsts[i] < from);

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
