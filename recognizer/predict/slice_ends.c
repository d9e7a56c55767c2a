/* Events that end slices, by their values: of those with equal values only the last one counts. */
#include "recognizer/predict/predictor.h"

#include <stdlib.h>

struct dpe_slice_end {
	UT_hash_handle hh;
	uint64_t hash; /* of the mask and the values */
	struct dpe_slice_end *same; /* next of that hash */
	uint64_t number;
	uint64_t mask;
	struct dpe_value *values;
};

static bool ends_slices(const struct dpe_rule *rule, unsigned pattern)
{
	for (unsigned i = 0; i < rule->nobserving; i++) {
		if (rule->observing[i] == pattern && rule->ends[i])
			return true;
	}
	return false;
}

static struct dpe_slice_end *find(const struct dpe_prediction_search *search, uint64_t mask,
	const struct dpe_value *values, uint64_t *hash)
{
	struct dpe_slice_end *end;

	*hash = dpe_bound_values_hash(search->run->rule, mask, values);
	HASH_FIND_BYHASHVALUE(hh, search->ends, hash, sizeof(*hash), (unsigned)*hash, end);
	while (end && (end->mask != mask || !dpe_values_compatible(mask, end->values, mask, values)))
		end = end->same;
	return end;
}

static void note_mask(struct dpe_prediction_search *search, uint64_t mask)
{
	for (unsigned i = 0; i < search->nend_masks; i++) {
		if (search->end_masks[i] == mask)
			return;
	}
	*DPE_GROW(search->end_masks, search->nend_masks, search->capend_masks) = mask;
}

static struct dpe_slice_end *add(
	struct dpe_prediction_search *search, const struct dpe_binding *binding, uint64_t hash)
{
	const struct dpe_rule *rule = search->run->rule;
	struct dpe_slice_end *end = dpe_xcalloc(1, sizeof(*end)), *head;

	end->hash = hash;
	end->mask = binding->mask;
	end->values = dpe_xcalloc(rule->nvariables + 1, sizeof(*end->values));
	for (unsigned i = 0; i < rule->nvariables; i++) {
		if (binding->mask >> i & 1)
			end->values[i] = dpe_value_copy(binding->values[i]);
	}
	note_mask(search, binding->mask);
	HASH_FIND_BYHASHVALUE(hh, search->ends, &hash, sizeof(hash), (unsigned)hash, head);
	if (head) {
		end->same = head->same;
		head->same = end;
	} else {
		HASH_ADD_BYHASHVALUE(hh, search->ends, hash, sizeof(end->hash), (unsigned)hash, end);
	}
	return end;
}

void dpe_slice_ends_add(struct dpe_prediction_search *search, const struct dpe_binding *binding,
	uint64_t number)
{
	struct dpe_candidate_slice *slice;
	struct dpe_slice_end *end;
	uint64_t hash;

	if (!ends_slices(search->run->rule, binding->pattern))
		return;
	slice = dpe_candidates_slice(search, binding);
	if (!slice) /* of a pairwise rule: no earlier event has these values */
		return;
	dpe_candidates_end(slice, search->run->rule);
	end = find(search, binding->mask, binding->values, &hash);
	if (!end)
		end = add(search, binding, hash);
	end->number = number;
}

uint64_t dpe_slice_begins(
	const struct dpe_prediction_search *search, const struct dpe_assignment *assignment)
{
	uint64_t first = 0, hash;

	for (unsigned i = 0; i < search->nend_masks; i++) {
		uint64_t mask = search->end_masks[i];
		const struct dpe_slice_end *end;

		if ((mask & assignment->mask) != mask)
			continue;
		end = find(search, mask, assignment->values, &hash);
		if (end && end->number >= first)
			first = end->number + 1;
	}
	return first;
}

static void free_end(const struct dpe_rule *rule, struct dpe_slice_end *end)
{
	for (unsigned i = 0; i < rule->nvariables; i++)
		dpe_value_drop(end->values[i]);
	free(end->values);
	free(end);
}

void dpe_slice_ends_free(struct dpe_prediction_search *search)
{
	struct dpe_slice_end *end, *next, *same;

	HASH_ITER (hh, search->ends, end, next) {
		HASH_DEL(search->ends, end);
		for (; end; end = same) {
			same = end->same;
			free_end(search->run->rule, end);
		}
	}
	free(search->end_masks);
	search->end_masks = NULL;
	search->nend_masks = search->capend_masks = 0;
}
