/* Violations of slices whose values are part of those of others: kept for those that begin with what
 * such a slice saw. */
#include "recognizer/actions/actions.h"
#include "recognizer/doubt/doubt.h"
#include "recognizer/slices/cells.h"
#include "recognizer/slices/slices.h"

#include <stdlib.h>

struct dpe_unsaid {
	UT_hash_handle hh;
	uint64_t number;           /* of the cell */
	struct dpe_occurrence *at; /* counted: the event that violated it */
	char *reason;              /* owned */
};

static struct dpe_unsaid *find(const struct dpe_slices *slices, const struct dpe_cell *cell)
{
	struct dpe_unsaid *found = NULL;

	HASH_FIND(hh, slices->unsaid, &cell->number, sizeof(cell->number), found);
	return found;
}

static void keep(struct dpe_slices *slices, const struct dpe_cell *cell, struct dpe_occurrence *at,
	const char *reason)
{
	struct dpe_unsaid *unsaid = dpe_xcalloc(1, sizeof(*unsaid));

	unsaid->number = cell->number;
	unsaid->at = dpe_occurrence_ref(at);
	unsaid->reason = dpe_xstrdup(reason);
	HASH_ADD(hh, slices->unsaid, number, sizeof(unsaid->number), unsaid);
}

static void drop(struct dpe_slices *slices, struct dpe_unsaid *unsaid)
{
	HASH_DEL(slices->unsaid, unsaid);
	dpe_occurrence_unref(unsaid->at);
	free(unsaid->reason);
	free(unsaid);
}

bool dpe_slice_keeps_silent(struct dpe_run *run, struct dpe_slice *slice,
	struct dpe_occurrence *occurrence, const char *reason)
{
	if (!slice->cell->extended)
		return false;
	slice->done = true;
	keep(run->slices, slice->cell, occurrence, reason);
	return true;
}

void dpe_unsaid_copy(struct dpe_run *run, struct dpe_cell *to, const struct dpe_cell *from)
{
	const struct dpe_unsaid *unsaid = find(run->slices, from);

	if (unsaid)
		keep(run->slices, to, unsaid->at, unsaid->reason);
}

void dpe_unsaid_tell(struct dpe_run *run, struct dpe_cell *cell)
{
	struct dpe_unsaid *unsaid = find(run->slices, cell);
	const struct dpe_stmt *action = run->rule->otherwise;
	const struct dpe_message *positions[run->rule->npositions + 1];
	struct dpe_slice *slice;
	const char *doubt;

	if (!unsaid)
		return;
	slice = dpe_slice_work(run, cell);
	doubt = dpe_failure_doubt(run, slice);
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
	drop(run->slices, unsaid);
}

void dpe_unsaid_drop(struct dpe_run *run, const struct dpe_cell *cell)
{
	struct dpe_unsaid *unsaid = run->slices->unsaid ? find(run->slices, cell) : NULL;

	if (unsaid)
		drop(run->slices, unsaid);
}

void dpe_unsaid_free(struct dpe_slices *slices)
{
	struct dpe_unsaid *unsaid, *next;

	HASH_ITER (hh, slices->unsaid, unsaid, next)
		drop(slices, unsaid);
}
