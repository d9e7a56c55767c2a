/* Freeing slices that have ended: once they are half of all, slices that would be created again just
 * as they are now. */
#include "recognizer/engines/engines.h"
#include "recognizer/slices/cells.h"

#include <stdlib.h>
#include <string.h>

/* Calls for each existing slice whose values are a proper subset of this one's. */
static void each_part(struct dpe_slices *slices, struct dpe_cell *cell,
	void (*each)(struct dpe_cell *cell, struct dpe_cell *part))
{
	for (unsigned i = 0; i < slices->nmasks; i++) {
		uint64_t mask = slices->masks[i];
		struct dpe_cell *part = NULL;

		if ((mask & cell->mask) == mask && mask != cell->mask)
			part = dpe_cell_find(slices, mask, cell->params);
		if (part)
			each(cell, part);
	}
}

static void keep_beside_live(struct dpe_cell *cell, struct dpe_cell *part)
{
	cell->marked |= !part->retired && !cell->gone;
}

static void keep_part(struct dpe_cell *cell, struct dpe_cell *part)
{
	part->marked |= cell->marked && !part->gone;
}

/* Marks the slices that stay. A retired slice is as new, and can go if it would be created again as
 * new: that is, if no slice with a subset of its values has contents that it would start from, and
 * if it is not itself a subset of one that stays, which has to know that it is not maximal. One that
 * is gone can go in any case. */
static void choose_kept(struct dpe_slices *slices)
{
	for (uint32_t i = 0; i < slices->ncells; i++) {
		struct dpe_cell *cell = dpe_cell_at(slices, i);

		cell->marked = !cell->retired;
	}
	if (slices->nmasks == 1)
		return;
	for (uint32_t i = 0; i < slices->ncells; i++) {
		struct dpe_cell *cell = dpe_cell_at(slices, i);

		if (cell->retired)
			each_part(slices, cell, keep_beside_live);
	}
	for (int size = __builtin_popcountll(slices->full); size > 0; size--) {
		for (uint32_t i = 0; i < slices->ncells; i++) {
			struct dpe_cell *cell = dpe_cell_at(slices, i);

			if (__builtin_popcountll(cell->mask) == size)
				each_part(slices, cell, keep_part);
		}
	}
}

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
	uint32_t nkept = 0;

	for (uint32_t i = 0; i < slices->ncells; i++) {
		struct dpe_cell *cell = dpe_cell_at(slices, i), *to;

		if (!cell->marked) {
			drop_cell(run, cell);
			continue;
		}
		cell->marked = false;
		to = dpe_cell_at(slices, nkept++);
		if (to == cell)
			continue;
		memcpy(to, cell, slices->cell_size);
		dpe_cell_moved(slices, to);
	}
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
	for (uint32_t i = 0; i < slices->ncells; i++) {
		struct dpe_cell *cell = dpe_cell_at(slices, i);

		dpe_buckets_add(run, cell);
		slices->nretired += cell->retired;
	}
}

void dpe_slices_sweep(struct dpe_run *run)
{
	struct dpe_slices *slices = run->slices;

	if (slices->nretired * 2 < slices->ncells || !run->rule->nvariables)
		return;
	choose_kept(slices);
	keep_some(run);
	slices->sweep_from = slices->nretired * 2 + DPE_FEWEST_RETIRED;
}
