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

		if (!dpe_value_equal(values[variable], others[variable]))
			return false;
	}
	return true;
}

/* The groups of all patterns for the same values are in one list; an event needs several of them. */
static struct dpe_candidate_group *find_group(struct dpe_prediction_search *search, unsigned pattern,
	uint64_t mask, const struct dpe_value *values, uint64_t *hash)
{
	struct dpe_candidate_group *group = search->recent;

	if (group && group->mask == mask && dpe_values_compatible(mask, values, mask, group->values)) {
		*hash = group->hash;
	} else {
		*hash = dpe_bound_values_hash(search->run->rule, mask, values);
		HASH_FIND_BYHASHVALUE(hh, search->groups, hash, sizeof(*hash), (unsigned)*hash, group);
		search->recent = group;
	}
	while (group && (group->pattern != pattern || group->mask != mask ||
				!dpe_values_compatible(mask, values, mask, group->values)))
		group = group->same;
	return group;
}

static struct dpe_candidate_group *new_group(
	struct dpe_prediction_search *search, const struct dpe_binding *binding, uint64_t hash)
{
	const struct dpe_rule *rule = search->run->rule;
	struct dpe_candidate_group *group =
		dpe_xcalloc(1, sizeof(*group) + rule->nvariables * sizeof(*group->values)), *head;
	unsigned pattern = binding->pattern;

	group->hash = hash;
	group->pattern = pattern;
	group->mask = binding->mask;
	group->values = (struct dpe_value *)(group + 1);
	for (unsigned i = 0; i < rule->nvariables; i++) {
		if (binding->mask >> i & 1)
			group->values[i] = dpe_value_copy(binding->values[i]);
	}
	*DPE_GROW(search->by_pattern[pattern], search->ngroups[pattern],
		search->capgroups[pattern]) = group;
	HASH_FIND_BYHASHVALUE(hh, search->groups, &hash, sizeof(hash), (unsigned)hash, head);
	if (head) {
		group->same = head->same;
		head->same = group;
		return group;
	}
	HASH_ADD_BYHASHVALUE(hh, search->groups, hash, sizeof(group->hash), (unsigned)hash, group);
	return group;
}

struct dpe_candidates *dpe_candidates_of(
	struct dpe_prediction_search *search, const struct dpe_binding *binding, uint32_t chain)
{
	struct dpe_candidate_group *group;
	struct dpe_candidates *candidates;
	uint64_t hash;

	group = find_group(search, binding->pattern, binding->mask, binding->values, &hash);
	if (!group)
		group = new_group(search, binding, hash);
	for (unsigned i = 0; i < group->nchains; i++) {
		if (group->by_chain[i].chain == chain)
			return group->by_chain[i].of;
	}
	candidates = dpe_xcalloc(1, sizeof(*candidates));
	candidates->group = group;
	candidates->chain = chain;
	*DPE_GROW(group->by_chain, group->nchains, group->capchains) =
		(struct dpe_group_chain){chain, candidates};
	return candidates;
}

void dpe_candidates_add(
	struct dpe_prediction_search *search, struct dpe_candidates *candidates, uint64_t number)
{
	const struct dpe_sections_set *held = search->history->events[number].held;

	struct dpe_candidate_group *group = candidates->group;

	candidates->common = candidates->count ? dpe_sections_common(search->history,
							 candidates->common, held)
					       : held;
	group->common = group->any ? dpe_sections_common(search->history, group->common, held) : held;
	group->any = true;
	*DPE_GROW(candidates->events, candidates->count, candidates->cap) = number;
}

void dpe_candidates_each(struct dpe_prediction_search *search,
	const struct dpe_assignment *assignment, unsigned pattern, dpe_group_fn *each, void *context)
{
	uint64_t mask = search->run->masks[pattern], hash;

	if ((mask & assignment->mask) == mask) {
		struct dpe_candidate_group *group =
			find_group(search, pattern, mask, assignment->values, &hash);

		if (group)
			each(context, group);
		return;
	}
	for (unsigned i = 0; i < search->ngroups[pattern]; i++) {
		struct dpe_candidate_group *group = search->by_pattern[pattern][i];

		if (dpe_values_compatible(
			    assignment->mask, assignment->values, group->mask, group->values))
			each(context, group);
	}
}

uint64_t dpe_assignment_bind(
	struct dpe_assignment *assignment, const struct dpe_candidate_group *group)
{
	uint64_t before = assignment->mask;

	for (uint64_t left = group->mask & ~before; left; left &= left - 1) {
		unsigned variable = (unsigned)__builtin_ctzll(left);

		assignment->values[variable] = group->values[variable];
	}
	assignment->mask |= group->mask;
	return before;
}

static void free_group(const struct dpe_rule *rule, struct dpe_candidate_group *group)
{
	for (unsigned i = 0; i < rule->nvariables; i++)
		dpe_value_drop(group->values[i]);
	for (unsigned i = 0; i < group->nchains; i++) {
		free(group->by_chain[i].of->events);
		free(group->by_chain[i].of);
	}
	free(group->by_chain);
	free(group);
}

void dpe_candidates_free(struct dpe_prediction_search *search)
{
	const struct dpe_rule *rule = search->run->rule;

	HASH_CLEAR(hh, search->groups);
	search->recent = NULL;
	for (unsigned i = 0; i < rule->npatterns; i++) {
		for (unsigned j = 0; j < search->ngroups[i]; j++)
			free_group(rule, search->by_pattern[i][j]);
		free(search->by_pattern[i]);
		search->by_pattern[i] = NULL;
		search->ngroups[i] = search->capgroups[i] = 0;
	}
}
