/* A hash table with open addressing. */
#include "base/limits.h"

#include <stdlib.h>

uint64_t dpe_mix(uint64_t a, uint64_t b)
{
	uint64_t mixed = (a ^ (b + UINT64_C(0x9e3779b97f4a7c15) + (a << 6) + (a >> 2))) *
			 UINT64_C(0xff51afd7ed558ccd);

	return mixed ^ mixed >> 32;
}

/* The first slot for a hash. */
static unsigned home(const struct dpe_table *table, uint64_t hash)
{
	return (unsigned)(hash * UINT64_C(0x9e3779b97f4a7c15) >> 32) & (table->size - 1);
}

void *dpe_table_find(
	const struct dpe_table *table, uint64_t hash, dpe_same_fn *same, const void *key)
{
	if (!table->size)
		return NULL;
	for (unsigned i = home(table, hash);; i = (i + 1) & (table->size - 1)) {
		const struct dpe_table_slot *slot = &table->slots[i];

		if (!slot->entry)
			return NULL;
		if (slot->hash == hash && same(slot->entry, key))
			return slot->entry;
	}
}

static void put(struct dpe_table *table, struct dpe_table_slot slot)
{
	unsigned i = home(table, slot.hash);

	while (table->slots[i].entry)
		i = (i + 1) & (table->size - 1);
	table->slots[i] = slot;
}

static void enlarge(struct dpe_table *table)
{
	struct dpe_table old = *table;

	table->size = old.size ? old.size * 2 : DPE_FIRST_SLOTS;
	table->slots = dpe_xcalloc(table->size, sizeof(*table->slots));
	for (unsigned i = 0; i < old.size; i++) {
		if (old.slots[i].entry)
			put(table, old.slots[i]);
	}
	free(old.slots);
}

void dpe_table_add(struct dpe_table *table, uint64_t hash, void *entry)
{
	if (table->count >= table->size - table->size / 4)
		enlarge(table);
	put(table, (struct dpe_table_slot){hash, entry});
	table->count++;
}

/* Closes the gap at i: moves entries back that were probed past it. */
static void close_hole(struct dpe_table *table, unsigned i)
{
	unsigned mask = table->size - 1;

	for (unsigned j = (i + 1) & mask; table->slots[j].entry; j = (j + 1) & mask) {
		unsigned from = home(table, table->slots[j].hash);

		if (((j - from) & mask) < ((j - i) & mask))
			continue;
		table->slots[i] = table->slots[j];
		i = j;
	}
	table->slots[i] = (struct dpe_table_slot){0};
}

void dpe_table_remove(struct dpe_table *table, uint64_t hash, const void *entry)
{
	unsigned i;

	if (!table->size)
		return;
	for (i = home(table, hash); table->slots[i].entry != entry;
		i = (i + 1) & (table->size - 1)) {
		if (!table->slots[i].entry)
			return;
	}
	close_hole(table, i);
	table->count--;
}

void dpe_table_free(struct dpe_table *table)
{
	free(table->slots);
	*table = (struct dpe_table){0};
}
