/* live: which of a rule's patterns have events in partial matches, so that what follows could still
 * complete one. For whoever leaves out, or stops at, events before they get here. */
#include "recognizer/engines/conjunction.h"
#include "recognizer/slices/slices.h"

/* Looking must not cost more than the events themselves. */
#define MOST_LOOKS 4096

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
	for (; trail && look->looks <= MOST_LOOKS; trail = trail->before) {
		if (trail->occurrence)
			add_event(look, trail->positions, trail->npositions);
		else
			add_trail(look, trail->beside);
	}
}

static void add_fibres(struct look *look, const struct dpe_fibres *fibres)
{
	for (unsigned i = 0; i < fibres->count && look->looks <= MOST_LOOKS; i++)
		add_trail(look, fibres->at[i]->trail);
}

static void add_lists(void *context, struct dpe_braid *braid, unsigned operand)
{
	const struct dpe_lists *lists = &braid->lists[operand];

	add_fibres(context, &lists->active);
	add_fibres(context, &lists->ended);
	add_fibres(context, &lists->closed);
}

static bool add_slice(void *context, const struct dpe_slice *slice)
{
	struct look *look = context;

	if (slice->overflown) /* partial matches were given up: one of them might go on */
		return false;
	for (unsigned i = 0; i < slice->npartials; i++) {
		const struct dpe_taken *taken = slice->partials[i].taken;

		for (; taken && look->looks <= MOST_LOOKS; taken = taken->before)
			add_event(look, taken->positions, taken->npositions);
	}
	if (slice->weave)
		dpe_braid_each(slice->weave->top, add_lists, look);
	return ++look->looks <= MOST_LOOKS;
}

bool dpe_recognizer_idle(const struct dpe_recognizer *recognizer)
{
	return recognizer->fed == recognizer->summary.events;
}

bool dpe_recognizer_live(
	const struct dpe_recognizer *recognizer, unsigned rule, uint64_t *patterns)
{
	struct dpe_run *run = &recognizer->runs[rule];
	struct look look = {.run = run, .patterns = patterns};

	*patterns = 0;
	if (!run->slices || run->pairs || run->rule->mode != DPE_DETECT || run->rule->npatterns > DPE_NEEDS)
		return false;
	return dpe_slices_each(run, add_slice, &look);
}
