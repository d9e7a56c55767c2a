/* An index for rules whose patterns bind different variables: cells by those of their values that
 * some pattern can share with them. */
#include "recognizer/slices/cells.h"

#include <stdlib.h>

struct dpe_bucket *dpe_bucket_find(
	struct dpe_slices *slices, uint64_t mask, uint64_t sub, const struct dpe_value *values)
{
	uint64_t hash = dpe_values_hash(mask, sub, values);
	struct dpe_bucket *bucket;

	HASH_FIND(hh, slices->buckets, &hash, sizeof(hash), bucket);
	for (; bucket; bucket = bucket->same_hash) {
		if (bucket->mask == mask && bucket->sub == sub &&
			dpe_values_agree(bucket->values, values, sub))
			return bucket;
	}
	return NULL;
}

static struct dpe_bucket *new_bucket(
	struct dpe_run *run, uint64_t sub, const struct dpe_cell *cell)
{
	struct dpe_slices *slices = run->slices;
	struct dpe_bucket *bucket = dpe_xcalloc(1, sizeof(*bucket)), *head;

	bucket->mask = cell->mask;
	bucket->sub = sub;
	bucket->hash = dpe_values_hash(cell->mask, sub, cell->params);
	bucket->values = dpe_xcalloc(run->rule->nvariables + 1, sizeof(*bucket->values));
	dpe_values_keep(bucket->values, cell->params, sub);
	HASH_FIND(hh, slices->buckets, &bucket->hash, sizeof(bucket->hash), head);
	if (head) {
		bucket->same_hash = head->same_hash;
		head->same_hash = bucket;
	} else {
		HASH_ADD(hh, slices->buckets, hash, sizeof(bucket->hash), bucket);
	}
	return bucket;
}

static void add_to_bucket(struct dpe_run *run, uint64_t sub, struct dpe_cell *cell)
{
	struct dpe_bucket *bucket = dpe_bucket_find(run->slices, cell->mask, sub, cell->params);

	if (!bucket)
		bucket = new_bucket(run, sub, cell);
	*DPE_GROW(bucket->cells, bucket->ncells, bucket->capcells) = cell;
}

void dpe_buckets_add(struct dpe_run *run, struct dpe_cell *cell)
{
	struct dpe_slices *slices = run->slices;

	if (slices->npattern_masks == 1)
		return;
	if (cell->mask != slices->full) /* else the table of cells finds it */
		add_to_bucket(run, cell->mask, cell);
	for (unsigned i = 0; i < slices->npattern_masks; i++) {
		uint64_t sub = slices->pattern_masks[i] & cell->mask;
		bool known = sub == cell->mask;

		for (unsigned j = 0; j < i && !known; j++)
			known = (slices->pattern_masks[j] & cell->mask) == sub;
		if (!known)
			add_to_bucket(run, sub, cell);
	}
}

void dpe_buckets_free(struct dpe_slices *slices)
{
	struct dpe_bucket *bucket, *next, *same;

	HASH_ITER (hh, slices->buckets, bucket, next) {
		HASH_DEL(slices->buckets, bucket);
		for (; bucket; bucket = same) {
			same = bucket->same_hash;
			dpe_values_drop(bucket->values, bucket->sub);
			free(bucket->values);
			free(bucket->cells);
			free(bucket);
		}
	}
}

/* ---- new cells ----------------------------------------------------------------------------- */

static void add_mask(struct dpe_slices *slices, uint64_t mask)
{
	if (dpe_mask_is_in(slices->masks, slices->nmasks, mask))
		return;
	*DPE_GROW(slices->masks, slices->nmasks, slices->capmasks) = mask;
}

struct dpe_cell *dpe_slice_new_cell(struct dpe_run *run, uint64_t mask, const struct dpe_value *values)
{
	struct dpe_cell *cell = dpe_cell_new(run, mask, values);

	dpe_buckets_add(run, cell);
	add_mask(run->slices, mask);
	run->recognizer->many_slices |= run->slices->ncells >= DPE_MANY_SLICES;
	return cell;
}
