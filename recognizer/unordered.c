/* Rules `a ; b` without a match although both events occurred, independent of each other: the user may have meant
 * `a & b`, or a `sync` rule is missing. */
#include "recognizer/engines/engines.h"

void dpe_unordered_prepare(struct dpe_run *run)
{
	if (run->rule->mode == DPE_DETECT)
		dpe_rule_is_sequence(run->rule, &run->first, &run->second);
}

static bool is_event(const struct dpe_run *run, const struct dpe_occurrence *occurrence, const char *text)
{
	const char *pattern = dpe_rule_pattern_of(run->rule, occurrence->message);

	return pattern && !strcmp(pattern, text);
}

static bool has_independent_first(const struct dpe_run *run, const struct dpe_order *order,
	const struct dpe_occurrence *occurrence)
{
	for (unsigned i = 0; i < order->nchains; i++) {
		const struct dpe_occurrence *last = order->chains[i].last;

		if (last->stamp.chain != occurrence->stamp.chain &&
			!dpe_precedes(&last->stamp, &occurrence->stamp) && is_event(run, last, run->first))
			return true;
	}
	return false;
}

void dpe_unordered_take(
	struct dpe_run *run, const struct dpe_slice *slice, const struct dpe_occurrence *occurrence)
{
	if (!run->second || run->verdicts || !is_event(run, occurrence, run->second))
		return;
	run->unordered += has_independent_first(run, &slice->order, occurrence) ||
			  (run->shared && has_independent_first(run, &run->shared->order, occurrence));
}

void dpe_recognizer_unordered(
	const struct dpe_recognizer *recognizer, dpe_unordered_fn *each, void *context)
{
	for (unsigned i = 0; i < recognizer->spec->nrules; i++) {
		const struct dpe_run *run = &recognizer->runs[i];

		if (run->unordered && !run->verdicts)
			each(context, run->rule, run->first, run->second, run->unordered);
	}
}
