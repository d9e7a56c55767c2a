/* A binary heap. */
#include "stabilizer/heap.h"

static bool less(const struct dpe_heap_item *a, const struct dpe_heap_item *b)
{
	return a->key != b->key ? a->key < b->key : a->tie < b->tie;
}

/* Moves the item at i up to its place. */
static void sift_up(struct dpe_heap *heap, unsigned i, struct dpe_heap_item item)
{
	for (; i && less(&item, &heap->at[(i - 1) / 2]); i = (i - 1) / 2)
		heap->at[i] = heap->at[(i - 1) / 2];
	heap->at[i] = item;
}

/* Moves the item at i down to its place. */
static void sift_down(struct dpe_heap *heap, unsigned i, struct dpe_heap_item item)
{
	while (2 * (uint64_t)i + 1 < heap->count) {
		unsigned child = 2 * i + 1;

		if (child + 1 < heap->count && less(&heap->at[child + 1], &heap->at[child]))
			child++;
		if (!less(&heap->at[child], &item))
			break;
		heap->at[i] = heap->at[child];
		i = child;
	}
	heap->at[i] = item;
}

void dpe_heap_push(struct dpe_heap *heap, uint64_t key, uint64_t tie, struct dpe_message_node *node)
{
	struct dpe_heap_item item = {key, tie, node};

	*DPE_GROW(heap->at, heap->count, heap->cap) = item;
	sift_up(heap, heap->count - 1, item);
}

struct dpe_message_node *dpe_heap_pop(struct dpe_heap *heap)
{
	struct dpe_message_node *top;

	if (!heap->count)
		return NULL;
	top = heap->at[0].node;
	if (--heap->count)
		sift_down(heap, 0, heap->at[heap->count]);
	return top;
}

void dpe_heap_remove(struct dpe_heap *heap, const struct dpe_message_node *node)
{
	struct dpe_heap_item last;
	unsigned i = 0;

	while (i < heap->count && heap->at[i].node != node)
		i++;
	if (i == heap->count)
		return;
	last = heap->at[--heap->count];
	if (i == heap->count)
		return;
	if (i && less(&last, &heap->at[(i - 1) / 2]))
		sift_up(heap, i, last);
	else
		sift_down(heap, i, last);
}
