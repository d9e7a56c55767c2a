/* A hash table and a heap. Private to the stabilizer. */
#ifndef DPE_STABILIZER_TABLES_H
#define DPE_STABILIZER_TABLES_H

#include "stabilizer/stabilizer.h"

struct dpe_table_slot {
	uint64_t hash;
	void *entry;
};

/* Open addressing. The caller owns the entries. Initialise to {0}. */
struct dpe_table {
	struct dpe_table_slot *slots;
	unsigned size, count; /* a power of two, or 0 */
};

typedef bool dpe_same_fn(const void *entry, const void *key);
void *dpe_table_find(
	const struct dpe_table *table, uint64_t hash, dpe_same_fn *same, const void *key);
void dpe_table_add(struct dpe_table *table, uint64_t hash, void *entry);
void dpe_table_remove(struct dpe_table *table, uint64_t hash, const void *entry);
void dpe_table_free(struct dpe_table *table); /* not the entries */
uint64_t dpe_mix(uint64_t a, uint64_t b);

struct dpe_message_node;
struct dpe_heap_item {
	uint64_t key, tie;
	struct dpe_message_node *node;
};

/* The lowest key first, then the lowest tie. Initialise to {0}. */
struct dpe_heap {
	struct dpe_heap_item *at;
	unsigned count, cap;
};

void dpe_heap_push(struct dpe_heap *heap, uint64_t key, uint64_t tie, struct dpe_message_node *node);
struct dpe_message_node *dpe_heap_pop(struct dpe_heap *heap); /* NULL if it is empty */
void dpe_heap_remove(struct dpe_heap *heap, const struct dpe_message_node *node);

#endif
