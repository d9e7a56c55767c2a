/* The end of the lock order: potential deadlocks, and whether limits may have hidden some. */
#include "recognizer/deadlocks/lock_order.h"
#include "recognizer/verdicts/verdicts.h"

/* Why limits may have hidden potential deadlocks, or NULL. */
static const char *doubt_of(const struct dpe_lock_order *order)
{
	if (order->acquisitions_dropped)
		return "potential deadlocks may be missing: locks were taken in too many orders";
	if (order->searches_ended)
		return "potential deadlocks may be missing: a search for a cycle was too long";
	if (order->cycles_dropped)
		return "potential deadlocks are missing: too many were found";
	if (order->searches_blind)
		return "potential deadlocks may be missing: too many threads took the same locks at the same places";
	if (order->searches_late)
		return "potential deadlocks may be missing: a thread whose creation was not observed cannot "
			"be compared with threads that had ended";
	return NULL;
}

void dpe_lock_order_report(struct dpe_lock_order *order, struct dpe_recognizer *recognizer)
{
	struct dpe_verdict verdict = {.kind = DPE_INCONCLUSIVE};
	struct dpe_lock_cycle *cycle, *next;

	dpe_lock_release_settle(order, NULL);
	verdict.reason = doubt_of(order);
	HASH_ITER (hh, order->cycles, cycle, next) {
		struct dpe_deadlock deadlock = {
			.kind = DPE_POTENTIAL_DEADLOCK,
			.waits = cycle->waits,
			.nwaits = cycle->nwaits,
			.others = cycle->others,
			.predicted = cycle->meeting == DPE_MEET,
			.certain = dpe_recognizer_knows_data(recognizer),
		};

		if (cycle->waits && dpe_lock_cycle_may_close(order, cycle))
			dpe_deadlock_report(recognizer, cycle->rule, &deadlock);
	}
	if (verdict.reason)
		dpe_verdict_report(
			&recognizer->runs[order->rule - recognizer->spec->rules], NULL, &verdict);
}
