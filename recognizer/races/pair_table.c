/* The table of slices of rules about pairs: open addressing, entries in place. */
#include "recognizer/races/pair_table.h"

#include <stdlib.h>
#include <string.h>

void dpe_pair_table_begin(struct dpe_pair_table *table, struct dpe_pool *pool, unsigned nkeys)
{
	*table = (struct dpe_pair_table){.pool = pool, .size = DPE_FIRST_PAIRS, .nkeys = nkeys};
	table->slots = dpe_xcalloc_lines(table->size, sizeof(*table->slots));
}

/* ---- keys -------------------------------------------------------------------------------- */

static uint64_t hash_key(const struct dpe_pair_table *table, const struct dpe_value *key)
{
	uint64_t hash = table->nkeys;

	if (table->nkeys == 1)
		return dpe_value_hash(*key);
	for (unsigned i = 0; i < table->nkeys; i++)
		hash = (hash ^ dpe_value_hash(key[i])) * UINT64_C(0x9e3779b97f4a7c15);
	return hash ^ hash >> 32;
}

static inline bool same(const struct dpe_value *a, const struct dpe_value *b)
{
	return (a->num == b->num && a->kind == b->kind) || dpe_value_equal(*a, *b);
}

static inline bool has_key(const struct dpe_pair_table *table, const struct dpe_pair_slice *slice,
	const struct dpe_value *key)
{
	const struct dpe_value *own = dpe_pair_key(table, slice);

	for (unsigned i = 0; i < table->nkeys; i++) {
		if (!same(&own[i], &key[i]))
			return false;
	}
	return true;
}

static void keep_key(const struct dpe_pair_table *table, struct dpe_pair_slice *slice,
	const struct dpe_value *key)
{
	if (table->nkeys == 1)
		slice->key = dpe_value_copy(*key);
	if (table->nkeys <= 1)
		return;
	slice->keys = dpe_xcalloc(table->nkeys, sizeof(*slice->keys));
	for (unsigned i = 0; i < table->nkeys; i++)
		slice->keys[i] = dpe_value_copy(key[i]);
}

static void drop_key(const struct dpe_pair_table *table, struct dpe_pair_slice *slice)
{
	if (table->nkeys == 1)
		dpe_value_drop(slice->key);
	if (table->nkeys <= 1)
		return;
	for (unsigned i = 0; i < table->nkeys; i++)
		dpe_value_drop(slice->keys[i]);
	free(slice->keys);
}

/* ---- places ------------------------------------------------------------------------------ */

static uint64_t home(const struct dpe_pair_table *table, const struct dpe_pair_slice *slice)
{
	return hash_key(table, dpe_pair_key(table, slice)) & (table->size - 1);
}

/* The slot of the slice, or the free slot where it would be. */
static inline struct dpe_pair_slice *find_place(
	const struct dpe_pair_table *table, const struct dpe_value *key)
{
	uint64_t mask = table->size - 1;

	for (uint64_t at = hash_key(table, key) & mask;; at = (at + 1) & mask) {
		struct dpe_pair_slice *slice = &table->slots[at];

		if (!slice->used || has_key(table, slice, key))
			return slice;
	}
}

static void enlarge(struct dpe_pair_table *table)
{
	struct dpe_pair_slice *old = table->slots;
	uint64_t size = table->size;

	table->size *= 2;
	table->slots = dpe_xcalloc_lines(table->size, sizeof(*table->slots));
	for (uint64_t i = 0; i < size; i++) {
		if (old[i].used)
			*find_place(table, dpe_pair_key(table, &old[i])) = old[i];
	}
	free(old);
}

struct dpe_pair_slice *dpe_pair_find(
	const struct dpe_pair_table *table, const struct dpe_value *key)
{
	struct dpe_pair_slice *slice = find_place(table, key);

	return slice->used ? slice : NULL;
}

static struct dpe_pair_slice *make(struct dpe_pair_table *table, const struct dpe_value *key)
{
	struct dpe_pair_slice *slice;

	if (++table->count * 4 > table->size * 3)
		enlarge(table);
	slice = find_place(table, key);
	*slice = (struct dpe_pair_slice){.used = true, .log_cap = DPE_LOG_FEW_EVENTS};
	keep_key(table, slice, key);
	return slice;
}

/* Remembers the slot for the next lookup. */
static void note_place(struct dpe_pair_table *table, const struct dpe_value *key,
	const struct dpe_pair_slice *slice)
{
	uint64_t at = (uint64_t)(slice - table->slots);
	unsigned old = table->nplaces;

	if (table->nkeys != 1 || !key->number || key->number >= DPE_NUMBERED_TEXTS || at > UINT32_MAX)
		return;
	while (key->number >= table->nplaces)
		table->nplaces = table->nplaces ? table->nplaces * 2 : DPE_FIRST_PAIRS;
	if (table->nplaces != old) {
		table->places =
			dpe_xrealloc(table->places, table->nplaces * sizeof(*table->places));
		memset(table->places + old, 0, (table->nplaces - old) * sizeof(*table->places));
	}
	table->places[key->number] = (uint32_t)at;
}

__attribute__((noinline)) struct dpe_pair_slice *dpe_pair_take_other(
	struct dpe_pair_table *table, const struct dpe_value *key)
{
	struct dpe_pair_slice *slice = find_place(table, key);

	if (!slice->used)
		slice = make(table, key);
	note_place(table, key, slice);
	return slice;
}

static void end(const struct dpe_pair_table *table, struct dpe_pair_slice *slice)
{
	for (uint32_t i = 0; i < slice->nevents; i++)
		dpe_retained_free(table->pool, dpe_pair_events(slice)[i].message);
	drop_key(table, slice);
	if (dpe_pair_has_many(slice)) {
		free(slice->many);
		free(slice->literals_of_many);
	}
	*slice = (struct dpe_pair_slice){0};
}

/* Moves entries back that were probed past it. */
void dpe_pair_remove(struct dpe_pair_table *table, struct dpe_pair_slice *slice)
{
	uint64_t mask = table->size - 1, hole = (uint64_t)(slice - table->slots);

	end(table, slice);
	for (uint64_t at = (hole + 1) & mask; table->slots[at].used; at = (at + 1) & mask) {
		if (((at - home(table, &table->slots[at])) & mask) < ((at - hole) & mask))
			continue;
		table->slots[hole] = table->slots[at];
		table->slots[at] = (struct dpe_pair_slice){0};
		hole = at;
	}
	table->count--;
}

void dpe_pair_each(struct dpe_pair_table *table,
	void (*each)(void *context, struct dpe_pair_slice *slice), void *context)
{
	for (uint64_t i = 0; i < table->size; i++) {
		if (table->slots[i].used)
			each(context, &table->slots[i]);
	}
}

void dpe_pair_table_end(struct dpe_pair_table *table)
{
	for (uint64_t i = 0; i < table->size; i++) {
		if (table->slots[i].used)
			end(table, &table->slots[i]);
	}
	free(table->slots);
	free(table->places);
	table->slots = NULL;
	table->places = NULL;
}

/* ---- events ------------------------------------------------------------------------------ */

static __attribute__((noinline)) void grow(struct dpe_pair_slice *slice)
{
	size_t cap = (size_t)2 << slice->log_cap;
	bool few = !dpe_pair_has_many(slice);
	struct dpe_pair_event *many =
		dpe_xrealloc(few ? NULL : slice->many, cap * sizeof(*many));
	uint32_t *literals =
		dpe_xrealloc(few ? NULL : slice->literals_of_many, cap * sizeof(*literals));

	if (few) {
		memcpy(many, slice->few, sizeof(slice->few));
		memcpy(literals, slice->literals_of_few, sizeof(slice->literals_of_few));
	}
	slice->many = many;
	slice->literals_of_many = literals;
	slice->log_cap++;
}

void dpe_pair_add(const struct dpe_pair_table *table, struct dpe_pair_slice *slice,
	const struct dpe_event *event, uint32_t literals, struct dpe_retained *instead)
{
	uint32_t at = slice->nevents;

	if (at == UINT32_C(1) << slice->log_cap)
		grow(slice);
	dpe_pair_events(slice)[at] = (struct dpe_pair_event){
		.chain = event->stamp.chain,
		.index = event->stamp.index,
		.message = dpe_message_retain(table->pool, event->message, instead),
	};
	dpe_pair_literals(slice)[at] = literals;
	slice->nevents++;
}
