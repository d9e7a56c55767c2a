/* Which of a rule's patterns have events in partial matches, so that what follows could still
 * complete one. For callers that leave events out, or stop at them, before they get here. */
#include "recognizer/engines/conjunction.h"

struct look {
	const struct dpe_run *run;
	uint64_t *patterns;
	unsigned looks;
};

static void add_event(struct look *look, const uint16_t *positions, unsigned npositions)
{
	++look->looks;
	for (unsigned i = 0; i < npositions; i++) {
		const struct dpe_rule *rule = look->run->rule;
		const struct dpe_position *position = &rule->positions[positions[i] - 1];

		*look->patterns |= UINT64_C(1) << (rule->literals[position->literal].pattern & 63);
	}
}

static void add_trail(struct look *look, const struct dpe_trail *trail)
{
	for (; trail && look->looks <= DPE_LIVE_LOOKS; trail = trail->before)
		add_event(look, trail->positions, trail->npositions);
}

static void add_partials(struct look *look, const struct dpe_partial_list *partials)
{
	for (unsigned i = 0; i < partials->count && look->looks <= DPE_LIVE_LOOKS; i++) {
		if (partials->at[i])
			add_trail(look, partials->at[i]->trail);
	}
}

bool dpe_slice_live_patterns(const struct dpe_run *run, const struct dpe_slice *slice,
	uint64_t *patterns, unsigned *looks)
{
	struct look look = {.run = run, .patterns = patterns, .looks = *looks};
	const struct dpe_matching *matching = slice->matching;

	if (slice->overflown) /* partial matches were given up: one of them might proceed */
		return false;
	for (unsigned i = 0; matching && i < matching->noperands; i++) {
		add_partials(&look, &matching->lists[i].active);
		add_partials(&look, &matching->lists[i].ended);
	}
	*looks = look.looks + 1;
	return *looks <= DPE_LIVE_LOOKS;
}
