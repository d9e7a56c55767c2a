/* Violations of slices whose values are part of those of others: kept for those that begin with what
 * such a slice saw. */
#include "recognizer/actions/actions.h"
#include "recognizer/engines/engines.h"
#include "recognizer/verdicts/verdicts.h"

#include <stdlib.h>

struct dpe_unsaid {
	UT_hash_handle hh;
	uint64_t number;           /* of the cell */
	struct dpe_occurrence *at; /* counted: the event that violated it */
	char *reason;              /* owned */
};

static struct dpe_unsaid *find(const struct dpe_run *run, uint64_t number)
{
	struct dpe_unsaid *found = NULL;

	HASH_FIND(hh, run->unsaid, &number, sizeof(number), found);
	return found;
}

static void keep(
	struct dpe_run *run, uint64_t number, struct dpe_occurrence *at, const char *reason)
{
	struct dpe_unsaid *unsaid = dpe_xcalloc(1, sizeof(*unsaid));

	unsaid->number = number;
	unsaid->at = dpe_occurrence_ref(at);
	unsaid->reason = dpe_xstrdup(reason);
	HASH_ADD(hh, run->unsaid, number, sizeof(unsaid->number), unsaid);
}

static void drop(struct dpe_run *run, struct dpe_unsaid *unsaid)
{
	HASH_DEL(run->unsaid, unsaid);
	dpe_occurrence_unref(unsaid->at);
	free(unsaid->reason);
	free(unsaid);
}

bool dpe_slice_keeps_silent(struct dpe_run *run, struct dpe_slice *slice,
	struct dpe_occurrence *occurrence, const char *reason)
{
	if (!slice->extended)
		return false;
	slice->done = true;
	keep(run, slice->number, occurrence, reason);
	return true;
}

void dpe_unsaid_copy(struct dpe_run *run, uint64_t to, uint64_t from)
{
	const struct dpe_unsaid *unsaid = run->unsaid ? find(run, from) : NULL;

	if (unsaid)
		keep(run, to, unsaid->at, unsaid->reason);
}

bool dpe_unsaid_has(const struct dpe_run *run, uint64_t number)
{
	return run->unsaid && find(run, number);
}

void dpe_unsaid_tell(struct dpe_run *run, struct dpe_slice *slice)
{
	struct dpe_unsaid *unsaid = find(run, slice->number);
	const struct dpe_stmt *action = run->rule->otherwise;
	const struct dpe_message *positions[run->rule->npositions + 1];
	const char *doubt = dpe_expect_doubt(run, slice);

	dpe_run_tell(run, slice, &(struct dpe_verdict){
		.kind = doubt ? DPE_INCONCLUSIVE : DPE_VIOLATED,
		.event = unsaid->at->message,
		.reason = doubt ? doubt : unsaid->reason,
		.around = (const struct dpe_message *const[]){unsaid->at->message},
		.stamps = (const struct dpe_stamp *const[]){&unsaid->at->stamp},
		.naround = 1,
	});
	for (unsigned i = 0; i < run->rule->npositions; i++)
		positions[i] = NULL;
	if (!doubt && action)
		dpe_run_action(run, slice, action, positions, unsaid->at->message);
	run->recognizer->quiet = false;
	drop(run, unsaid);
}

void dpe_unsaid_drop(struct dpe_run *run, uint64_t number)
{
	struct dpe_unsaid *unsaid = run->unsaid ? find(run, number) : NULL;

	if (unsaid)
		drop(run, unsaid);
}

void dpe_unsaid_free(struct dpe_run *run)
{
	struct dpe_unsaid *unsaid, *next;

	HASH_ITER (hh, run->unsaid, unsaid, next)
		drop(run, unsaid);
}
