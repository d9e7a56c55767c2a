/* live: which of a rule's patterns have events in partial matches, so that what follows could still
 * complete one. For whoever leaves out, or stops at, events before they get here. */
#include "recognizer/run.h"

/* Looking must not cost more than the events themselves. */
#define MOST_LOOKS 4096

static bool add_partial(const struct dpe_run *run, const struct dpe_partial *partial,
	uint64_t *patterns, unsigned *looks)
{
	for (const struct dpe_taken *taken = partial->taken; taken; taken = taken->before) {
		if (++*looks > MOST_LOOKS)
			return false;
		for (unsigned i = 0; i < taken->npositions; i++) {
			const struct dpe_position *position =
				&run->rule->positions[taken->positions[i] - 1];

			*patterns |= UINT64_C(1)
				     << (run->rule->literals[position->literal].pattern & 63);
		}
	}
	return true;
}

struct look {
	const struct dpe_run *run;
	uint64_t *patterns;
	unsigned looks;
};

static bool add_slice(void *context, const struct dpe_slice *slice)
{
	struct look *look = context;

	if (slice->overflown) /* partial matches were given up: one of them might go on */
		return false;
	for (unsigned i = 0; i < slice->npartials; i++) {
		if (!add_partial(look->run, &slice->partials[i], look->patterns, &look->looks))
			return false;
	}
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
