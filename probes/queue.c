/* queue: a ring buffer for each stream, and a heap of those that hold something. */
#include "probes/queue.h"

#include <stdlib.h>
#include <string.h>

void dpe_queues_open(struct dpe_queues *queues, unsigned count)
{
	*queues = (struct dpe_queues){.count = count};
	queues->queues = dpe_xcalloc(count, sizeof(*queues->queues));
	queues->heap = dpe_xcalloc(count, sizeof(*queues->heap));
}

void dpe_queues_close(struct dpe_queues *queues)
{
	for (unsigned i = 0; i < queues->count; i++)
		free(queues->queues[i].at);
	free(queues->queues);
	free(queues->heap);
	*queues = (struct dpe_queues){0};
}

static struct dpe_held *element(const struct dpe_queue *queue, uint64_t number)
{
	return (void *)(queue->at + (number & (queue->cap - 1)) * queue->bytes);
}

/* ---- the heap ---------------------------------------------------------------------------- */

static uint64_t time_at(const struct dpe_queues *queues, unsigned place)
{
	const struct dpe_queue *queue = &queues->queues[queues->heap[place]];

	return element(queue, queue->first)->time;
}

static void swap(struct dpe_queues *queues, unsigned a, unsigned b)
{
	unsigned queue = queues->heap[a];

	queues->heap[a] = queues->heap[b];
	queues->heap[b] = queue;
}

static void sift_up(struct dpe_queues *queues, unsigned place)
{
	while (place && time_at(queues, place) < time_at(queues, (place - 1) / 2)) {
		swap(queues, place, (place - 1) / 2);
		place = (place - 1) / 2;
	}
}

static void sift_down(struct dpe_queues *queues, unsigned place)
{
	for (unsigned child; (child = 2 * place + 1) < queues->nheap; place = child) {
		if (child + 1 < queues->nheap &&
			time_at(queues, child + 1) < time_at(queues, child))
			child++;
		if (time_at(queues, place) <= time_at(queues, child))
			return;
		swap(queues, place, child);
	}
}

/* ---- the queues -------------------------------------------------------------------------- */

static void grow(struct dpe_queue *queue)
{
	struct dpe_queue bigger = {.cap = queue->cap ? 2 * queue->cap : 64,
		.first = queue->first,
		.count = queue->count,
		.bytes = queue->bytes};

	bigger.at = dpe_xcalloc(bigger.cap, bigger.bytes);
	for (uint64_t i = queue->first; i < queue->first + queue->count; i++)
		memcpy(element(&bigger, i), element(queue, i), queue->bytes);
	free(queue->at);
	*queue = bigger;
}

static unsigned place_of(const struct dpe_queues *queues, unsigned queue)
{
	unsigned place = 0;

	while (queues->heap[place] != queue)
		place++;
	return place;
}

struct dpe_held *dpe_queues_add(
	struct dpe_queues *queues, unsigned index, size_t bytes, uint64_t time)
{
	struct dpe_queue *queue = &queues->queues[index];
	uint64_t at;

	queue->bytes = bytes;
	if (queue->count == queue->cap)
		grow(queue);
	at = queue->first + queue->count++;
	for (; at > queue->first && element(queue, at - 1)->time > time; at--)
		memcpy(element(queue, at), element(queue, at - 1), bytes);
	element(queue, at)->time = time;
	queues->held++;
	if (queue->count == 1) {
		queues->heap[queues->nheap] = index;
		sift_up(queues, queues->nheap++);
	} else if (at == queue->first) {
		sift_up(queues, place_of(queues, index));
	}
	return element(queue, at);
}

struct dpe_held *dpe_queues_first(const struct dpe_queues *queues, unsigned *index)
{
	const struct dpe_queue *queue;

	if (!queues->nheap)
		return NULL;
	*index = queues->heap[0];
	queue = &queues->queues[*index];
	return element(queue, queue->first);
}

void dpe_queues_drop(struct dpe_queues *queues)
{
	struct dpe_queue *queue = &queues->queues[queues->heap[0]];

	queue->first++;
	queues->held--;
	if (!--queue->count)
		queues->heap[0] = queues->heap[--queues->nheap];
	sift_down(queues, 0);
}
