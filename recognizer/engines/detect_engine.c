/* The engine of slices of a `detect` rule. */
#include "recognizer/engines/conjunction.h"
#include "recognizer/verdicts/verdicts.h"

/* A match may begin with the event: then nothing is at the other positions. */
static bool detect_admits(const struct dpe_run *run, const struct dpe_slice *slice,
	unsigned pattern, const struct dpe_occurrence *occurrence)
{
	unsigned count;
	struct dpe_partial *const *partials = dpe_detect_partials(slice, &count);

	for (unsigned i = 0; i < count; i++) {
		if (dpe_trail_admits(run, slice, partials[i]->trail, pattern, occurrence))
			return true;
	}
	return dpe_trail_admits(run, slice, NULL, pattern, occurrence);
}

static void detect_begin(struct dpe_run *run, struct dpe_slice *slice)
{
	dpe_detect_clear(run, slice);
}

/* Matches of this slice may have been missed. */
static void detect_finish(struct dpe_run *run, struct dpe_slice *slice)
{
	struct dpe_verdict verdict = {
		.kind = DPE_INCONCLUSIVE,
		.reason = dpe_slice_doubt(run, slice),
	};

	if (slice->overflown)
		dpe_verdict_report(run, slice, &verdict);
}

static void detect_take(
	struct dpe_run *run, struct dpe_slice *slice, struct dpe_occurrence *occurrence)
{
	run->recognizer->kept -= dpe_slice_size(slice);
	dpe_detect_take(run, slice, occurrence);
	dpe_matching_prune_if_large(run, slice);
	run->recognizer->kept += dpe_slice_size(slice);
}

const struct dpe_slice_engine dpe_detect_engine = {
	.begin = detect_begin,
	.take = detect_take,
	.finish = detect_finish,
	.copy = dpe_detect_copy,
	.clear = dpe_detect_clear,
	.free = dpe_detect_free,
	.admits = detect_admits,
	.adopt = dpe_detect_adopt,
};
