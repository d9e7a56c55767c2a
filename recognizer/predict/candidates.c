/* Events that a match may have, by pattern, values and thread. */
#include "recognizer/predict/predictor.h"

#include <stdlib.h>

uint64_t dpe_bound_values_hash(
	const struct dpe_rule *rule, uint64_t mask, const struct dpe_value *values)
{
	uint64_t hash = dpe_value_mix(mask + 1);

	for (unsigned i = 0; i < rule->nvariables; i++) {
		if (mask >> i & 1)
			hash = dpe_value_mix(hash ^ (dpe_value_hash(values[i]) + i));
	}
	return hash;
}

bool dpe_values_compatible(uint64_t mask, const struct dpe_value *values, uint64_t other_mask,
	const struct dpe_value *others)
{
	for (uint64_t left = mask & other_mask; left; left &= left - 1) {
		unsigned variable = (unsigned)__builtin_ctzll(left);

		if (!dpe_keys_equal(&values[variable], &others[variable]))
			return false;
	}
	return true;
}

static bool has_values(
	const struct dpe_candidate_slice *slice, uint64_t mask, const struct dpe_value *values)
{
	return slice->mask == mask && dpe_values_compatible(mask, values, mask, slice->values);
}

static struct dpe_slice_entry *slot(const struct dpe_prediction_search *search, uint64_t at)
{
	return &search->slices[at & (search->slice_slots - 1)];
}

/* The number of the only value's text; 0: unknown, or there are more values. */
static unsigned number_of(uint64_t mask, const struct dpe_value *values)
{
	return mask && !(mask & (mask - 1)) ? values[__builtin_ctzll(mask)].number : 0;
}

/* The slice that was found last for the text with this number; or NULL. */
static struct dpe_candidate_slice *remembered(const struct dpe_prediction_search *search, unsigned number)
{
	return number < search->nnumbered ? search->numbered[number] : NULL;
}

static void remember(struct dpe_prediction_search *search, unsigned number, struct dpe_candidate_slice *slice)
{
	search->recent = slice;
	if (!number || number >= DPE_NUMBERED_TEXTS)
		return;
	while (search->nnumbered <= number)
		*DPE_GROW(search->numbered, search->nnumbered, search->capnumbered) = NULL;
	search->numbered[number] = slice;
}

/* NULL: none; then `*hash` is that of the values. */
static struct dpe_candidate_slice *find_slice(struct dpe_prediction_search *search, uint64_t mask,
	const struct dpe_value *values, uint64_t *hash)
{
	unsigned number = number_of(mask, values);
	struct dpe_candidate_slice *slice = number ? remembered(search, number) : search->recent;

	if (slice && has_values(slice, mask, values))
		return slice;
	*hash = dpe_bound_values_hash(search->run->rule, mask, values);
	for (unsigned i = 0; i < search->slice_slots; i++) {
		const struct dpe_slice_entry *entry = slot(search, (*hash >> 32) + i);

		if (!entry->slice)
			return NULL;
		if (entry->hash != *hash || !has_values(entry->slice, mask, values))
			continue;
		remember(search, number, entry->slice);
		return entry->slice;
	}
	return NULL;
}

static void prefetch_slice(const struct dpe_candidate_slice *slice)
{
	enum { LINE = 64, LINES = 3 };

	for (unsigned i = 0; slice && i < LINES; i++)
		__builtin_prefetch((const char *)slice + i * LINE, 1);
}

/* First the entry, then what it points to. */
void dpe_candidates_prefetch(const struct dpe_prediction_search *search, uint64_t mask,
	const struct dpe_value *values, bool soon)
{
	unsigned number = number_of(mask, values);
	const struct dpe_slice_entry *entry;

	if (search->nslices < DPE_MANY_PREDICTED)
		return;
	if (number) {
		if (soon)
			prefetch_slice(remembered(search, number));
		return;
	}
	entry = slot(search, dpe_bound_values_hash(search->run->rule, mask, values) >> 32);
	if (soon)
		prefetch_slice(entry->slice);
	else
		__builtin_prefetch(entry);
}

static void insert(struct dpe_prediction_search *search, const struct dpe_slice_entry *entry)
{
	uint64_t at = entry->hash >> 32;

	while (slot(search, at)->slice)
		at++;
	*slot(search, at) = *entry;
}

/* At most half of it is used. */
static void grow_table(struct dpe_prediction_search *search)
{
	struct dpe_slice_entry *before = search->slices;
	unsigned slots = search->slice_slots;

	search->slice_slots = slots ? 2 * slots : 64;
	search->slices = dpe_xcalloc(search->slice_slots, sizeof(*search->slices));
	for (unsigned i = 0; i < slots; i++)
		if (before[i].slice)
			insert(search, &before[i]);
	free(before);
}

static void add_slice(struct dpe_prediction_search *search, const struct dpe_slice_entry *entry)
{
	if (2 * ++search->nslices > search->slice_slots)
		grow_table(search);
	insert(search, entry);
	search->run->recognizer->many_slices |= search->nslices >= DPE_MANY_PREDICTED;
}

static struct dpe_candidate_slice *new_slice(
	struct dpe_prediction_search *search, const struct dpe_binding *binding, uint64_t hash)
{
	const struct dpe_rule *rule = search->run->rule;
	struct dpe_candidate_slice *slice = dpe_xcalloc_lines(1,
		sizeof(*slice) + rule->nvariables * sizeof(slice->values[0]) + rule->npatterns * sizeof(slice->groups[0]));

	slice->mask = binding->mask;
	slice->groups = (struct dpe_candidate_group *)&slice->values[rule->nvariables];
	for (unsigned i = 0; i < rule->npatterns; i++) {
		slice->groups[i].slice = slice;
		slice->groups[i].pattern = i;
	}
	for (unsigned i = 0; i < rule->nvariables; i++) {
		if (binding->mask >> i & 1)
			slice->values[i] = dpe_value_copy(binding->values[i]);
	}
	add_slice(search, &(struct dpe_slice_entry){hash, slice});
	return slice;
}

struct dpe_candidate_slice *dpe_candidates_slice(
	struct dpe_prediction_search *search, const struct dpe_binding *binding)
{
	uint64_t hash;

	return find_slice(search, binding->mask, binding->values, &hash);
}

struct dpe_candidate_group *dpe_candidates_of(
	struct dpe_prediction_search *search, const struct dpe_binding *binding)
{
	uint64_t hash;
	struct dpe_candidate_slice *slice = find_slice(search, binding->mask, binding->values, &hash);

	if (!slice)
		slice = new_slice(search, binding, hash);
	return &slice->groups[binding->pattern];
}

struct dpe_candidates *dpe_candidates_of_chain(struct dpe_candidate_group *group, uint32_t chain)
{
	struct dpe_candidates *candidates;

	for (unsigned i = 0; i < group->nchains; i++) {
		if (group->by_chain[i]->chain == chain)
			return group->by_chain[i];
	}
	candidates = dpe_xcalloc(1, sizeof(*candidates));
	candidates->chain = chain;
	return *DPE_GROW(group->by_chain, group->nchains, group->capchains) = candidates;
}

static void add_to_span(struct dpe_history *history, struct dpe_candidate_span *span, const struct dpe_epoch *epoch)
{
	if (!span->any) {
		*span = (struct dpe_candidate_span){true, epoch->chain, epoch->held};
		return;
	}
	span->common = dpe_sections_common(history, span->common, epoch->held);
	if (span->chain != epoch->chain)
		span->chain = DPE_MANY_CHAINS;
}

bool dpe_candidates_rule_out(const struct dpe_prediction_search *search,
	const struct dpe_candidate_group *group, uint64_t number)
{
	const struct dpe_past_event *event = &search->history->events[number];
	const struct dpe_candidate_slice *slice = group->slice;

	if (!search->pairwise)
		return false;
	if (dpe_span_excludes(&slice->all, event->epoch))
		return true;
	return slice->quiet >> group->pattern & 1 && slice->quiet_in == event->epoch;
}

void dpe_candidates_note_quiet(
	const struct dpe_prediction_search *search, struct dpe_candidate_group *group, uint64_t number)
{
	const struct dpe_epoch *epoch = search->history->events[number].epoch;
	struct dpe_candidate_slice *slice = group->slice;

	if (!search->pairwise)
		return;
	if (slice->quiet_in != epoch)
		slice->quiet = 0;
	slice->quiet_in = epoch;
	slice->quiet |= UINT64_C(1) << group->pattern;
}

static void add_to_slice(struct dpe_prediction_search *search, struct dpe_candidate_slice *slice,
	const struct dpe_past_event *event)
{
	const struct dpe_epoch *epoch = event->epoch;

	if (slice->quiet_in && slice->quiet_in->chain != epoch->chain)
		slice->quiet_in = NULL;
	add_to_span(search->history, &slice->all, epoch);
}

void dpe_candidates_add(
	struct dpe_prediction_search *search, struct dpe_candidate_group *group, uint64_t number)
{
	const struct dpe_past_event *event = &search->history->events[number];
	unsigned pattern = group->pattern;

	if (!group->all.any && !search->pairwise)
		*DPE_GROW(search->by_pattern[pattern], search->ngroups[pattern],
			search->capgroups[pattern]) = group;
	add_to_span(search->history, &group->all, event->epoch);
	add_to_slice(search, group->slice, event);
	if (!search->nwaiting)
		*DPE_GROW(search->waiting, search->nwaiting, search->capwaiting) = (struct dpe_waiting_event){0};
	*DPE_GROW(search->waiting, search->nwaiting, search->capwaiting) =
		(struct dpe_waiting_event){(uint32_t)number, group->waiting};
	group->waiting = search->nwaiting - 1;
}

static void divide(struct dpe_prediction_search *search, struct dpe_candidate_group *group, uint32_t number)
{
	const struct dpe_epoch *epoch = search->history->events[number].epoch;
	struct dpe_candidates *of = dpe_candidates_of_chain(group, epoch->chain);

	of->common = of->count ? dpe_sections_common(search->history, of->common, epoch->held) : epoch->held;
	*DPE_GROW(of->events, of->count, of->cap) = number;
}

/* Waiting events are linked from the last one back, so the links are reversed first. */
void dpe_candidates_divide(struct dpe_prediction_search *search, struct dpe_candidate_group *group)
{
	uint32_t first = 0;

	for (uint32_t at = group->waiting, before; at; at = before) {
		before = search->waiting[at].before;
		search->waiting[at].before = first;
		first = at;
	}
	for (; first; first = search->waiting[first].before)
		divide(search, group, search->waiting[first].event);
	group->waiting = 0;
}

void dpe_candidates_each(struct dpe_prediction_search *search,
	const struct dpe_assignment *assignment, unsigned pattern, dpe_group_fn *each, void *context)
{
	uint64_t mask = search->run->masks[pattern], hash;

	if ((mask & assignment->mask) == mask) {
		struct dpe_candidate_slice *slice = find_slice(search, mask, assignment->values, &hash);

		if (slice && slice->groups[pattern].all.any)
			each(context, &slice->groups[pattern]);
		return;
	}
	for (unsigned i = 0; i < search->ngroups[pattern]; i++) {
		struct dpe_candidate_group *group = search->by_pattern[pattern][i];

		if (dpe_values_compatible(
			    assignment->mask, assignment->values, group->slice->mask, group->slice->values))
			each(context, group);
	}
}

uint64_t dpe_assignment_bind(
	struct dpe_assignment *assignment, const struct dpe_candidate_group *group)
{
	const struct dpe_candidate_slice *slice = group->slice;
	uint64_t before = assignment->mask;

	for (uint64_t left = slice->mask & ~before; left; left &= left - 1) {
		unsigned variable = (unsigned)__builtin_ctzll(left);

		assignment->values[variable] = slice->values[variable];
	}
	assignment->mask |= slice->mask;
	return before;
}

void dpe_candidates_forget(struct dpe_candidate_group *group)
{
	for (unsigned i = 0; i < group->nchains; i++) {
		free(group->by_chain[i]->events);
		free(group->by_chain[i]);
	}
	free(group->by_chain);
	group->by_chain = NULL;
	group->nchains = group->capchains = group->waiting = 0;
}

static void free_slice(const struct dpe_rule *rule, struct dpe_candidate_slice *slice)
{
	for (unsigned i = 0; i < rule->nvariables; i++)
		dpe_value_drop(slice->values[i]);
	for (unsigned i = 0; i < rule->npatterns; i++)
		dpe_candidates_forget(&slice->groups[i]);
	free(slice);
}

void dpe_candidates_keep(struct dpe_prediction_search *search, dpe_keep_fn *keep, void *context)
{
	struct dpe_slice_entry *before = search->slices;
	unsigned slots = search->slice_slots;

	search->slices = NULL;
	search->nslices = search->slice_slots = 0;
	search->recent = NULL;
	search->nnumbered = search->nwaiting = 0;
	for (unsigned i = 0; i < slots; i++) {
		if (before[i].slice && keep && keep(context, before[i].slice))
			add_slice(search, &before[i]);
		else if (before[i].slice)
			free_slice(search->run->rule, before[i].slice);
	}
	free(before);
}

void dpe_candidates_free(struct dpe_prediction_search *search)
{
	const struct dpe_rule *rule = search->run->rule;

	dpe_candidates_keep(search, NULL, NULL);
	free(search->numbered);
	free(search->waiting);
	search->numbered = NULL;
	search->waiting = NULL;
	search->capnumbered = search->capwaiting = 0;
	for (unsigned i = 0; i < rule->npatterns; i++) {
		free(search->by_pattern[i]);
		search->by_pattern[i] = NULL;
		search->ngroups[i] = search->capgroups[i] = 0;
	}
}
