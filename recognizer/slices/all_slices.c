/* Iterating over all slices of a rule: at the end of the input, and when the automaton was renewed.
 * Compact slices are made active only where necessary. */
#include "recognizer/engines/engines.h"
#include "recognizer/slices/cells.h"
#include "recognizer/slices/slices.h"
#include "recognizer/verdicts/verdicts.h"

/* ---- the end ----------------------------------------------------------------------------- */

/* A compact slice in a final state is reported without making it active. */
static bool finish_compact(struct dpe_run *run, struct dpe_cell *cell)
{
	struct dpe_branch branch = {.config.state = cell->state};
	struct dpe_slice slice = {
		.cell = cell,
		.params = cell->params,
		.number = cell->number,
		.mask = cell->mask,
		.renewed = cell->renewed,
		.overflown = cell->overflown,
		.searched = cell->searched,
		.branches = &branch,
		.nbranches = 1,
	};

	if (cell->form != DPE_CELL_SINGLE || !dpe_config_final(run, &branch.config))
		return false;
	run->slice_engine->finish(run, &slice);
	cell->done = true;
	return true;
}

static void finish_slice(struct dpe_run *run, struct dpe_cell *cell)
{
	if (run->rule->mode == DPE_DETECT) {
		if (dpe_cell_is_overflown(run->slices, cell))
			run->slice_engine->finish(run, dpe_slice_activate(run, cell));
		return;
	}
	if (dpe_cell_is_done(run->slices, cell) || cell->extended || cell->retired ||
		finish_compact(run, cell))
		return;
	run->slice_engine->finish(run, dpe_slice_activate(run, cell));
}

void dpe_slices_finish(struct dpe_run *run)
{
	for (uint32_t i = 0; i < run->slices->ncells; i++) {
		finish_slice(run, dpe_cell_at(run->slices, i));
		dpe_slices_compact(run);
	}
}

bool dpe_slices_live(struct dpe_run *run, uint64_t *patterns)
{
	bool known = true;
	unsigned looks = 0;

	for (uint32_t i = 0; known && i < run->slices->ncells; i++) {
		known = dpe_slice_live_patterns(
			run, dpe_slice_activate(run, dpe_cell_at(run->slices, i)), patterns, &looks);
		dpe_slices_compact(run);
	}
	return known;
}

/* ---- other states ------------------------------------------------------------------------ */

static void adopt_cell(struct dpe_run *run, struct dpe_cell *cell, const struct dpe_automaton *old)
{
	if (cell->form == DPE_CELL_SINGLE)
		cell->state = dpe_automaton_adopt(run->automaton, old, cell->state);
	else if (cell->form != DPE_CELL_NEW)
		run->slice_engine->adopt(run, dpe_slice_activate(run, cell), old);
}

/* Active slices first, so that none is made compact in a state of the old automaton. */
void dpe_slices_adopt(struct dpe_run *run, const struct dpe_automaton *old)
{
	struct dpe_slices *slices = run->slices;

	for (struct dpe_slice *slice = slices->first; slice; slice = slice->next) {
		run->slice_engine->adopt(run, slice, old);
		slice->cell->marked = true;
	}
	for (uint32_t i = 0; i < slices->ncells; i++) {
		struct dpe_cell *cell = dpe_cell_at(slices, i);

		if (!cell->marked)
			adopt_cell(run, cell, old);
		cell->marked = false;
		dpe_slices_compact(run);
	}
}
