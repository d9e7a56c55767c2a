/* A heap of messages. Private to the stabilizer. */
#ifndef DPE_STABILIZER_HEAP_H
#define DPE_STABILIZER_HEAP_H

#include "stabilizer/stabilizer.h"

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
