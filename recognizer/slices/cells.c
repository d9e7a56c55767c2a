/* The cells of a rule's slices: fixed size, in order of creation, with a hash table by values. */
#include "recognizer/slices/cells.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define ALIGNMENT 64
#define LARGE_PAGE ((size_t)2 << 20)
#define CELL_STEP 16
/* Bytes for a slice with one event that has as many arguments as the rule has variables, and one
 * word more. */
#define EXPECTED 72
#define DETECTED 104

/* ---- values ------------------------------------------------------------------------------ */

void dpe_values_keep(struct dpe_value *to, const struct dpe_value *values, uint64_t mask)
{
	for (uint64_t left = mask; left; left &= left - 1) {
		unsigned at = (unsigned)__builtin_ctzll(left);

		to[at] = dpe_value_copy(values[at]);
	}
}

void dpe_values_drop(struct dpe_value *values, uint64_t mask)
{
	for (uint64_t left = mask; left; left &= left - 1)
		dpe_value_drop(values[__builtin_ctzll(left)]);
}

bool dpe_values_agree(const struct dpe_value *a, const struct dpe_value *b, uint64_t mask)
{
	for (uint64_t left = mask; left; left &= left - 1) {
		unsigned at = (unsigned)__builtin_ctzll(left);

		if (!dpe_value_equal(a[at], b[at]))
			return false;
	}
	return true;
}

uint64_t dpe_values_hash(uint64_t mask, uint64_t sub, const struct dpe_value *values)
{
	uint64_t hash = mask * 0x9e3779b97f4a7c15ull ^ sub;

	for (uint64_t left = sub; left; left &= left - 1) {
		hash ^= dpe_value_hash(values[__builtin_ctzll(left)]);
		hash *= 0x9e3779b97f4a7c15ull;
		hash ^= hash >> 29;
	}
	return hash;
}

/* ---- cells ------------------------------------------------------------------------------- */

static size_t round_up(size_t size)
{
	return (size + CELL_STEP - 1) / CELL_STEP * CELL_STEP;
}

void dpe_cells_begin(struct dpe_run *run)
{
	struct dpe_slices *slices = run->slices;
	unsigned nvariables = run->rule->nvariables;
	size_t max = run->rule->mode == DPE_EXPECT ? EXPECTED : DETECTED;
	unsigned more = nvariables < DPE_CELL_VALUES ? nvariables : DPE_CELL_VALUES;

	slices->content_at = sizeof(struct dpe_cell) + nvariables * sizeof(struct dpe_value);
	slices->cell_size = round_up(slices->content_at + max + more * sizeof(uint64_t));
	slices->size = DPE_FIRST_SLICES;
	slices->table = dpe_xcalloc(slices->size, sizeof(*slices->table));
}

void dpe_cells_end(struct dpe_slices *slices)
{
	slices->ncells = 0;
	dpe_cells_shrink(slices);
	free(slices->chunks);
	free(slices->table);
}

size_t dpe_cell_room(const struct dpe_slices *slices)
{
	return slices->cell_size - slices->content_at;
}

/* With many cells, address translation dominates: use large pages where the system has them. */
static void *new_block(size_t size, bool many)
{
	void *block = NULL;

	if (posix_memalign(&block, many ? LARGE_PAGE : ALIGNMENT, size))
		return dpe_xmalloc(size);
	if (many)
		madvise(block, size, MADV_HUGEPAGE); /* a failure costs only speed */
	return block;
}

void dpe_cells_shrink(struct dpe_slices *slices)
{
	unsigned used = (slices->ncells + DPE_CELL_CHUNK - 1) / DPE_CELL_CHUNK;

	while (slices->nchunks > used)
		free(slices->chunks[--slices->nchunks]);
}

/* ---- the table --------------------------------------------------------------------------- */

static uint32_t hash_of(uint64_t mask, const struct dpe_value *values)
{
	return (uint32_t)(dpe_values_hash(mask, mask, values) >> 16);
}

struct dpe_cell *dpe_cell_find(
	const struct dpe_slices *slices, uint64_t mask, const struct dpe_value *values)
{
	uint32_t hash = hash_of(mask, values);

	for (uint64_t at = hash & (slices->size - 1);; at = (at + 1) & (slices->size - 1)) {
		const struct dpe_cell_slot *entry = &slices->table[at];
		struct dpe_cell *cell;

		if (!entry->cell)
			return NULL;
		if (entry->hash != hash)
			continue;
		cell = dpe_cell_at(slices, entry->cell - 1);
		if (cell->mask == mask && dpe_values_agree(cell->params, values, mask))
			return cell;
	}
}

void dpe_cell_prefetch(
	const struct dpe_slices *slices, uint64_t mask, const struct dpe_value *values, bool soon)
{
	uint32_t hash = hash_of(mask, values);
	const struct dpe_cell_slot *entry = &slices->table[hash & (slices->size - 1)];
	const struct dpe_cell *cell;

	if (!soon) {
		dpe_prefetch(entry);
		return;
	}
	while (entry->cell && entry->hash != hash)
		entry = entry + 1 < slices->table + slices->size ? entry + 1 : slices->table;
	if (!entry->cell)
		return;
	cell = dpe_cell_at(slices, entry->cell - 1);
	dpe_prefetch(cell);
	dpe_prefetch((const char *)cell + ALIGNMENT);
}

static void place(struct dpe_slices *slices, struct dpe_cell_slot entry)
{
	uint64_t at = entry.hash & (slices->size - 1);

	while (slices->table[at].cell)
		at = (at + 1) & (slices->size - 1);
	slices->table[at] = entry;
}

static struct dpe_cell_slot *new_table(uint64_t size)
{
	size_t bytes = size * sizeof(struct dpe_cell_slot);

	return memset(new_block(bytes, bytes >= LARGE_PAGE), 0, bytes);
}

static void enlarge(struct dpe_slices *slices)
{
	struct dpe_cell_slot *old = slices->table;
	uint64_t size = slices->size;

	slices->size *= 2;
	slices->table = new_table(slices->size);
	for (uint64_t i = 0; i < size; i++) {
		if (old[i].cell)
			place(slices, old[i]);
	}
	free(old);
}

static void add_to_table(struct dpe_slices *slices, uint32_t index)
{
	const struct dpe_cell *cell = dpe_cell_at(slices, index);

	if (slices->ncells * UINT64_C(4) > slices->size * 3)
		enlarge(slices);
	place(slices, (struct dpe_cell_slot){hash_of(cell->mask, cell->params), index + 1});
}

void dpe_cells_index(struct dpe_slices *slices)
{
	memset(slices->table, 0, slices->size * sizeof(*slices->table));
	for (uint32_t i = 0; i < slices->ncells; i++)
		add_to_table(slices, i);
}

static void add_chunk(struct dpe_slices *slices)
{
	void *chunk = new_block(DPE_CELL_CHUNK * slices->cell_size, slices->nchunks > 0);

	*DPE_GROW(slices->chunks, slices->nchunks, slices->capchunks) = chunk;
}

struct dpe_cell *dpe_cell_new(struct dpe_run *run, uint64_t mask, const struct dpe_value *values)
{
	struct dpe_slices *slices = run->slices;
	struct dpe_cell *cell;

	if (slices->ncells == UINT32_MAX - 1) /* more than memory can hold */
		dpe_xmalloc(PTRDIFF_MAX);
	if (slices->ncells == slices->nchunks * (uint64_t)DPE_CELL_CHUNK)
		add_chunk(slices);
	cell = dpe_cell_at(slices, slices->ncells);
	memset(cell, 0, slices->content_at);
	cell->number = slices->nslices++;
	cell->index = slices->ncells;
	cell->mask = mask;
	dpe_values_keep(cell->params, values, mask);
	add_to_table(slices, slices->ncells++);
	return cell;
}
