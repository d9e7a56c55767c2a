/* Telling deadlocks, of any kind: certain ones count as findings, others are in doubt. */
#include "recognizer/run.h"

static void count_deadlock(struct dpe_summary *summary, const struct dpe_deadlock *deadlock)
{
	if (deadlock->reason)
		summary->inconclusive++;
	else if (deadlock->kind == DPE_POTENTIAL_DEADLOCK)
		summary->potential++;
	else if (deadlock->kind == DPE_HANG)
		summary->hangs++;
	else
		summary->deadlocks++;
}

void dpe_deadlock_tell(struct dpe_recognizer *recognizer, const struct dpe_rule *rule,
	struct dpe_deadlock *deadlock)
{
	const struct dpe_recognizer_sink *sink = &recognizer->sink;

	if (!recognizer->doubt && sink->losing && sink->losing(sink->context))
		dpe_recognizer_set_doubt(recognizer, "events were lost");
	deadlock->reason = recognizer->doubt;
	count_deadlock(&recognizer->summary, deadlock);
	sink->deadlock(sink->context, rule, deadlock);
}
