/* Reporting verdicts: counts them, asks whether they are suppressed, and passes them to the sink. */
#include "recognizer/verdicts/verdicts.h"

#include <stdlib.h>

static void count_verdict(struct dpe_summary *summary, enum dpe_verdict_kind kind)
{
	switch (kind) {
	case DPE_SATISFIED:
		summary->satisfied++;
		return;
	case DPE_VIOLATED:
		summary->violated++;
		return;
	case DPE_INCOMPLETE:
		summary->incomplete++;
		return;
	case DPE_INCONCLUSIVE:
		summary->inconclusive++;
		return;
	case DPE_MATCH:
		summary->matches++;
		return;
	}
}

bool dpe_recognizer_suppresses(struct dpe_recognizer *recognizer, const struct dpe_rule *rule,
	const struct dpe_message *const *events, unsigned nevents)
{
	const struct dpe_recognizer_sink *sink = &recognizer->sink;

	if (!sink->suppresses || !sink->suppresses(sink->context, rule, events, nevents))
		return false;
	recognizer->summary.suppressed++;
	return true;
}

/* By where it ends; NULL in the end, as no event decided it. */
static bool is_incomplete_suppressed(
	struct dpe_recognizer *recognizer, const struct dpe_verdict *verdict)
{
	const struct dpe_message **events =
		dpe_xcalloc(verdict->naround + 1, sizeof(struct dpe_message *));
	bool suppressed;

	for (unsigned i = 0; i < verdict->naround; i++)
		events[i] = verdict->around[i];
	suppressed = dpe_recognizer_suppresses(
		recognizer, verdict->rule, events, verdict->naround + 1);
	free(events);
	return suppressed;
}

/* A loss is no finding and cannot be suppressed. */
static bool is_suppressed(struct dpe_recognizer *recognizer, const struct dpe_verdict *verdict)
{
	if (verdict->kind == DPE_SATISFIED ||
		(verdict->kind == DPE_INCONCLUSIVE && !verdict->event))
		return false;
	if (verdict->nevents)
		return dpe_recognizer_suppresses(
			recognizer, verdict->rule, verdict->events, verdict->nevents);
	if (verdict->kind == DPE_INCOMPLETE)
		return is_incomplete_suppressed(recognizer, verdict);
	return dpe_recognizer_suppresses(recognizer, verdict->rule, &verdict->event, 1);
}

void dpe_match_sort(unsigned count, const struct dpe_message **events, const struct dpe_stamp **stamps, uint16_t *positions)
{
	for (unsigned i = 1; i < count; i++) {
		const struct dpe_message *event = events[i];
		const struct dpe_stamp *stamp = stamps ? stamps[i] : NULL;
		uint16_t position = positions[i];
		unsigned at = i;

		for (; at && positions[at - 1] > position && !(stamps && dpe_precedes(stamps[at - 1], stamp)); at--) {
			events[at] = events[at - 1];
			positions[at] = positions[at - 1];
			if (stamps)
				stamps[at] = stamps[at - 1];
		}
		events[at] = event;
		positions[at] = position;
		if (stamps)
			stamps[at] = stamp;
	}
}

/* They are in an order that the causal one allows. */
static bool are_independent(const struct dpe_verdict *verdict)
{
	for (unsigned i = 0; i < verdict->naround; i++)
		for (unsigned j = i + 1; j < verdict->naround; j++)
			if (!dpe_precedes(verdict->stamps[i], verdict->stamps[j]))
				return true;
	return verdict->prediction;
}

/* Something that is not observed may order its events. */
static void doubt_independence(const struct dpe_recognizer *recognizer, struct dpe_verdict *verdict)
{
	const struct dpe_recognizer_sink *sink = &recognizer->sink;
	const char *reason;

	if (!sink->unordered || (verdict->kind != DPE_MATCH && verdict->kind != DPE_VIOLATED) || !are_independent(verdict))
		return;
	reason = sink->unordered(sink->context);
	if (!reason)
		return;
	verdict->kind = DPE_INCONCLUSIVE;
	verdict->reason = reason;
}

void dpe_verdict_report(struct dpe_run *run, const struct dpe_slice *slice, struct dpe_verdict *verdict)
{
	struct dpe_recognizer *recognizer = run->recognizer;
	static const struct dpe_value unbound[DPE_RULE_VARIABLES];
	enum dpe_stage stage;

	verdict->rule = run->rule;
	verdict->params = slice ? slice->params : unbound;
	run->verdicts++;
	run->satisfied += verdict->kind == DPE_SATISFIED;
	if (run->rule->measures && verdict->kind == DPE_MATCH) { /* its action measures, and that is all */
		recognizer->suppressing = false;
		return;
	}
	doubt_independence(recognizer, verdict);
	recognizer->matched |= verdict->kind == DPE_MATCH && !verdict->prediction;
	recognizer->suppressing = is_suppressed(recognizer, verdict);
	if (recognizer->suppressing)
		return;
	count_verdict(&recognizer->summary, verdict->kind);
	if (verdict->kind == DPE_INCONCLUSIVE)
		run->inconclusive++;
	else
		dpe_reported_add_verdict(run, slice, verdict);
	stage = recognizer->stage;
	recognizer->stage = DPE_STAGE_REPORT;
	if (recognizer->sink.verdict)
		recognizer->sink.verdict(recognizer->sink.context, verdict);
	recognizer->stage = stage;
}
