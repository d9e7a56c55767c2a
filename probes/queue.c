/* queue: a ring of chunks for each stream, and a heap of those that hold something. */
#include "probes/queue.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define CHUNK 256 /* elements */
#define BLOCK ((size_t)4 << 20)
#define PAGE ((size_t)4096)

void dpe_queues_open(struct dpe_queues *queues, unsigned count)
{
	*queues = (struct dpe_queues){.count = count};
	queues->queues = dpe_xcalloc(count, sizeof(*queues->queues));
	queues->heap = dpe_xcalloc(count, sizeof(*queues->heap));
}

void dpe_queues_close(struct dpe_queues *queues)
{
	for (unsigned i = 0; i < queues->count; i++)
		free(queues->queues[i].chunks);
	for (unsigned i = 0; i < queues->nblocks; i++)
		free(queues->blocks[i]);
	free(queues->blocks);
	free(queues->queues);
	free(queues->heap);
	*queues = (struct dpe_queues){0};
}

static struct dpe_held *element(const struct dpe_queue *queue, uint64_t number)
{
	char *chunk = queue->chunks[number / CHUNK & (queue->cap - 1)];

	return (void *)(chunk + number % CHUNK * queue->bytes);
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

/* Where all chunks are in use, there will be twice as many. */
static void grow(struct dpe_queue *queue)
{
	uint64_t cap = queue->cap ? 2 * queue->cap : 4, from = queue->first / CHUNK;
	char **chunks = dpe_xcalloc(cap, sizeof(*chunks));

	for (uint64_t i = from; i < from + queue->cap; i++)
		chunks[i & (cap - 1)] = queue->chunks[i & (queue->cap - 1)];
	free(queue->chunks);
	queue->chunks = chunks;
	queue->cap = cap;
}

/* Chunks are cut from blocks. */
static char *add_block(struct dpe_queues *queues, size_t bytes)
{
	char *block = dpe_xmalloc(bytes);

	*DPE_GROW(queues->blocks, queues->nblocks, queues->capblocks) = block;
	queues->room = bytes;
	queues->used = 0;
	return block;
}

/* Larger pages are asked for here alone: to get one takes the kernel too long while events come. */
bool dpe_queues_prepare(struct dpe_queues *queues, size_t bytes)
{
	char *block = add_block(queues, bytes);
	char *page = (char *)(((uintptr_t)block + PAGE - 1) & ~(uintptr_t)(PAGE - 1));

	madvise(page, bytes - PAGE, MADV_HUGEPAGE);
	return !madvise(page, bytes - PAGE, MADV_POPULATE_WRITE);
}

static char *make_chunk(struct dpe_queues *queues, size_t element)
{
	size_t bytes = CHUNK * element;

	if (queues->room - queues->used < bytes)
		add_block(queues, BLOCK);
	queues->used += bytes;
	return queues->blocks[queues->nblocks - 1] + queues->used - bytes;
}

/* Makes room for the element of that number, behind all others. */
static void make_room(struct dpe_queues *queues, struct dpe_queue *queue, uint64_t number)
{
	char **chunk;

	if (number / CHUNK - queue->first / CHUNK >= queue->cap)
		grow(queue);
	chunk = &queue->chunks[number / CHUNK & (queue->cap - 1)];
	if (!*chunk)
		*chunk = make_chunk(queues, queue->bytes);
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
	at = queue->first + queue->count++;
	make_room(queues, queue, at);
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
