/* Violations of slices whose values are part of those of others: kept for slices that begin with
 * what such a slice saw. */
#include "recognizer/actions/actions.h"
#include "recognizer/engines/engines.h"
#include "recognizer/verdicts/verdicts.h"

#include <stdlib.h>

struct dpe_deferred {
	UT_hash_handle hh;
	uint64_t number;           /* of the cell */
	struct dpe_occurrence *at; /* counted: the event that violated it */
	char *reason;              /* owned */
};

static struct dpe_deferred *find(const struct dpe_run *run, uint64_t number)
{
	struct dpe_deferred *found = NULL;

	HASH_FIND(hh, run->deferred, &number, sizeof(number), found);
	return found;
}

static void add(struct dpe_run *run, uint64_t number, struct dpe_occurrence *at, const char *reason)
{
	struct dpe_deferred *deferred = dpe_xcalloc(1, sizeof(*deferred));

	deferred->number = number;
	deferred->at = dpe_occurrence_ref(at);
	deferred->reason = dpe_xstrdup(reason);
	HASH_ADD(hh, run->deferred, number, sizeof(deferred->number), deferred);
}

static void drop(struct dpe_run *run, struct dpe_deferred *deferred)
{
	HASH_DEL(run->deferred, deferred);
	dpe_occurrence_unref(deferred->at);
	free(deferred->reason);
	free(deferred);
}

bool dpe_violation_defer(struct dpe_run *run, struct dpe_slice *slice,
	struct dpe_occurrence *occurrence, const char *reason)
{
	if (!slice->extended)
		return false;
	slice->done = true;
	add(run, slice->number, occurrence, reason);
	return true;
}

void dpe_deferred_copy(struct dpe_run *run, uint64_t to, uint64_t from)
{
	const struct dpe_deferred *deferred = run->deferred ? find(run, from) : NULL;

	if (deferred)
		add(run, to, deferred->at, deferred->reason);
}

bool dpe_deferred_has(const struct dpe_run *run, uint64_t number)
{
	return run->deferred && find(run, number);
}

void dpe_deferred_report(struct dpe_run *run, struct dpe_slice *slice)
{
	struct dpe_deferred *deferred = find(run, slice->number);
	const struct dpe_stmt *action = run->rule->otherwise;
	const struct dpe_message *positions[run->rule->npositions + 1];
	const char *doubt = dpe_expect_doubt(run, slice);

	dpe_verdict_report(run, slice,
		&(struct dpe_verdict){
			.kind = doubt ? DPE_INCONCLUSIVE : DPE_VIOLATED,
			.event = deferred->at->message,
			.reason = doubt ? doubt : deferred->reason,
			.around = (const struct dpe_message *const[]){deferred->at->message},
			.stamps = (const struct dpe_stamp *const[]){&deferred->at->stamp},
			.naround = 1,
		});
	for (unsigned i = 0; i < run->rule->npositions; i++)
		positions[i] = NULL;
	if (!doubt && action)
		dpe_run_action(run, slice, action, positions, deferred->at->message);
	run->recognizer->suppressing = false;
	drop(run, deferred);
}

void dpe_deferred_drop(struct dpe_run *run, uint64_t number)
{
	struct dpe_deferred *deferred = run->deferred ? find(run, number) : NULL;

	if (deferred)
		drop(run, deferred);
}

void dpe_deferred_free(struct dpe_run *run)
{
	struct dpe_deferred *deferred, *next;

	HASH_ITER (hh, run->deferred, deferred, next)
		drop(run, deferred);
}
