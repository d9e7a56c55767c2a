/* Iterating over all slices of a rule: at the end of the input, when the automaton was renewed, and to forget.
 * Compact slices are made active only where necessary. */
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

static void finish_in_doubt(struct dpe_run *run, struct dpe_slice *slice)
{
	dpe_shared_inherit(run, slice);
	run->slice_engine->finish(run, slice);
}

static void finish_slice(struct dpe_run *run, struct dpe_cell *cell)
{
	if (run->rule->mode == DPE_DETECT) {
		if (dpe_cell_is_overflown(run->slices, cell) || (run->shared && run->shared->overflown))
			finish_in_doubt(run, dpe_slice_activate(run, cell));
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

/* ---- their states ---------------------------------------------------------------------------- */

/* Slices by state, and of compact slices the states that were met, so that each is described once. */
struct tally {
	struct tallied {
		char *text; /* owned */
		uint64_t slices;
	} *at;
	unsigned count, cap;
	unsigned *by_state; /* by state of the automaton: the entry plus one, or 0 */
	uint64_t others;    /* in states beyond DPE_SHOWN_STATES */
};

/* The entry, or DPE_SHOWN_STATES if there is no room for it. */
static unsigned tally_entry(struct tally *tally, const char *text)
{
	unsigned i = 0;

	while (i < tally->count && strcmp(tally->at[i].text, text))
		i++;
	if (i == tally->count && i < DPE_SHOWN_STATES)
		*DPE_GROW(tally->at, tally->count, tally->cap) = (struct tallied){.text = dpe_xstrdup(text)};
	return i;
}

static unsigned describe(struct dpe_run *run, struct dpe_cell *cell, struct tally *tally)
{
	struct dpe_text text = {0};
	unsigned entry;

	dpe_slice_describe(run, dpe_slice_activate(run, cell), &text);
	dpe_slices_compact(run);
	entry = tally_entry(tally, text.at);
	dpe_text_free(&text);
	return entry;
}

static unsigned state_of(struct dpe_run *run, struct dpe_cell *cell, struct tally *tally)
{
	bool single = cell->form == DPE_CELL_SINGLE;
	dpe_state state = cell->state;
	unsigned entry;

	if (dpe_cell_is_done(run->slices, cell))
		return tally_entry(tally, "has a verdict");
	if (cell->retired)
		return tally_entry(tally, "has ended");
	if (cell->extended)
		return tally_entry(tally, "is part of a larger slice");
	if (single && tally->by_state[state])
		return tally->by_state[state] - 1;
	entry = describe(run, cell, tally);
	if (single)
		tally->by_state[state] = entry + 1;
	return entry;
}

uint64_t dpe_slices_states(struct dpe_run *run, dpe_slice_state_fn *each, void *context)
{
	uint32_t looked = run->slices->ncells < DPE_LOOKED_SLICES ? run->slices->ncells : DPE_LOOKED_SLICES;
	struct tally tally = {0};

	if (run->automaton)
		tally.by_state = dpe_xcalloc(dpe_automaton_built(run->automaton) + 1, sizeof(*tally.by_state));
	for (uint32_t i = 0; i < looked; i++) {
		unsigned entry = state_of(run, dpe_cell_at(run->slices, i), &tally);

		if (entry < tally.count)
			tally.at[entry].slices++;
		else
			tally.others++;
	}
	for (unsigned i = 0; i < tally.count; i++) {
		each(context, run->rule, tally.at[i].text, tally.at[i].slices);
		free(tally.at[i].text);
	}
	if (tally.others)
		each(context, run->rule, "in other states", tally.others);
	free(tally.at);
	free(tally.by_state);
	return looked;
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

/* ---- forgetting ---------------------------------------------------------------------------- */

void dpe_slices_forget(struct dpe_run *run, const struct dpe_horizon *horizon)
{
	struct dpe_slices *slices = run->slices;

	for (uint32_t i = 0; i < slices->ncells; i++) {
		struct dpe_cell *cell = dpe_cell_at(slices, i);

		if (cell->form != DPE_CELL_ACTIVE && !cell->longer)
			continue;
		dpe_slice_forget(run, dpe_slice_activate(run, cell), horizon);
		dpe_slices_compact(run);
	}
}
