/* Freeing slices that have ended, once they are half of all. */
#include "recognizer/slices/cells.h"

#include <string.h>

static void drop_cell(struct dpe_run *run, struct dpe_cell *cell)
{
	run->slices->njoined -= cell->joined;
	dpe_deferred_drop(run, cell->number);
	dpe_cell_clear(run, cell);
	dpe_values_drop(cell->params, cell->mask);
}

/* Moves the remaining cells together, in order. */
static void move_together(struct dpe_run *run)
{
	struct dpe_slices *slices = run->slices;
	uint32_t *moved = dpe_xcalloc(slices->ncells + 1, sizeof(*moved));
	uint32_t nkept = 0;

	for (uint32_t i = 0; i < slices->ncells; i++) {
		struct dpe_cell *cell = dpe_cell_at(slices, i), *to;

		moved[i] = cell->retired ? UINT32_MAX : nkept;
		if (cell->retired) {
			drop_cell(run, cell);
			continue;
		}
		to = dpe_cell_at(slices, nkept++);
		if (to == cell)
			continue;
		memcpy(to, cell, slices->cell_size);
		to->index = nkept - 1;
		dpe_cell_moved(slices, to);
	}
	dpe_awaited_move(slices, moved);
	free(moved);
	slices->ncells = nkept;
	dpe_cells_shrink(slices);
}

static void keep_some(struct dpe_run *run)
{
	struct dpe_slices *slices = run->slices;

	dpe_buckets_free(slices);
	move_together(run);
	dpe_cells_index(slices);
	slices->nretired = 0;
	for (uint32_t i = 0; i < slices->ncells; i++)
		dpe_buckets_add(run, dpe_cell_at(slices, i));
}

void dpe_slices_sweep(struct dpe_run *run)
{
	struct dpe_slices *slices = run->slices;

	if (slices->nretired * 2 < slices->ncells || !run->rule->nvariables)
		return;
	keep_some(run);
	slices->sweep_from = slices->nretired * 2 + DPE_FEWEST_RETIRED;
}
