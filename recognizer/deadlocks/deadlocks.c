/* Reporting deadlocks of any kind: asks whether threads are stuck, counts deadlocks, and marks those in doubt. */
#include "recognizer/deadlocks/deadlocks.h"
#include "recognizer/verdicts/verdicts.h"

#include <stdlib.h>

static void count_deadlock(struct dpe_summary *summary, const struct dpe_deadlock *deadlock)
{
	if (deadlock->reason)
		summary->inconclusive++;
	else if (deadlock->kind == DPE_POTENTIAL_DEADLOCK)
		summary->potential++;
	else if (deadlock->kind == DPE_HANG)
		summary->hangs++;
	else if (deadlock->kind == DPE_LONG_WAIT)
		summary->long_waits++;
	else
		summary->deadlocks++;
}

static bool is_suppressed(struct dpe_recognizer *recognizer, const struct dpe_rule *rule,
	const struct dpe_deadlock *deadlock)
{
	const struct dpe_message **events =
		dpe_xcalloc(2 * deadlock->nwaits + 1, sizeof(struct dpe_message *));
	bool suppressed;

	for (unsigned i = 0; i < deadlock->nwaits; i++) {
		events[2 * i] = deadlock->waits[i].waits;
		events[2 * i + 1] = deadlock->waits[i].holds;
	}
	suppressed = dpe_recognizer_suppresses(recognizer, rule, events, 2 * deadlock->nwaits);
	free(events);
	return suppressed;
}

void dpe_deadlock_report(struct dpe_recognizer *recognizer, const struct dpe_rule *rule,
	struct dpe_deadlock *deadlock)
{
	const struct dpe_recognizer_sink *sink = &recognizer->sink;

	if (is_suppressed(recognizer, rule, deadlock))
		return;
	if (!deadlock->reason)
		deadlock->reason = dpe_deadlock_doubt(recognizer, deadlock);
	if (!deadlock->reason && deadlock->kind != DPE_LONG_WAIT)
		dpe_reported_add_deadlock(recognizer, rule, deadlock);
	count_deadlock(&recognizer->summary, deadlock);
	if (sink->deadlock)
		sink->deadlock(sink->context, rule, deadlock);
}

enum dpe_hang_check dpe_deadlock_ask(struct dpe_recognizer *recognizer, const struct dpe_deadlock *deadlock)
{
	const struct dpe_recognizer_sink *sink = &recognizer->sink;

	return sink->hangs ? sink->hangs(sink->context, deadlock) : DPE_HANG_UNKNOWN;
}
