/* merge_queue: a queue for each stream, and a heap of the queues by their first element. A stream that is out of order,
 * because a thread was interrupted between taking its slot and reading the clock, uses further lanes. Elements are
 * written once and never moved; empty chunks are used again while they are in the cache. */
#include "probes/stream/merge_queue.h"

#include <stdlib.h>

#define CHUNK ((size_t)16 << 10)
#define BLOCK ((size_t)4 << 20)

struct dpe_chunk {
	struct dpe_chunk *next;
	size_t used; /* bytes of the data */
	char data[CHUNK - 2 * sizeof(void *)];
};

_Static_assert(sizeof(struct dpe_chunk) == CHUNK, "nothing is left between chunks");
_Static_assert(sizeof(((struct dpe_chunk *)0)->data) >= DPE_QUEUED_MAX, "an element fits in one");

void dpe_queues_open(struct dpe_queues *queues, unsigned count)
{
	*queues = (struct dpe_queues){.count = count, .nlanes = count, .caplanes = count};
	queues->lanes = dpe_xcalloc(count, sizeof(*queues->lanes));
	queues->heap = dpe_xcalloc(count, sizeof(*queues->heap));
	queues->counts = dpe_xcalloc(count, sizeof(*queues->counts));
	for (unsigned i = 0; i < count; i++)
		queues->lanes[i].stream = i;
}

void dpe_queues_close(struct dpe_queues *queues)
{
	for (unsigned i = 0; i < queues->nblocks; i++)
		free(queues->blocks[i]);
	free(queues->blocks);
	free(queues->lanes);
	free(queues->heap);
	free(queues->counts);
	*queues = (struct dpe_queues){0};
}

/* ---- the heap ---------------------------------------------------------------------------- */

static bool is_earlier(struct dpe_head a, struct dpe_head b)
{
	return a.time < b.time || (a.time == b.time && a.lane < b.lane);
}

static void sift_up(struct dpe_head *heap, unsigned place)
{
	struct dpe_head head = heap[place];

	for (unsigned parent; place && is_earlier(head, heap[parent = (place - 1) / 2]);
		place = parent)
		heap[place] = heap[parent];
	heap[place] = head;
}

static void sift_down(struct dpe_head *heap, unsigned count)
{
	struct dpe_head head = heap[0];
	unsigned place = 0;

	for (unsigned child; (child = 2 * place + 1) < count; place = child) {
		if (child + 1 < count && is_earlier(heap[child + 1], heap[child]))
			child++;
		if (!is_earlier(heap[child], head))
			break;
		heap[place] = heap[child];
	}
	heap[place] = head;
}

/* ---- chunks ------------------------------------------------------------------------------ */

static struct dpe_chunk *take_chunk(struct dpe_queues *queues)
{
	struct dpe_chunk *chunk = queues->unused;

	if (chunk) {
		queues->unused = chunk->next;
	} else {
		if (!queues->nblocks || queues->used == BLOCK) {
			*DPE_GROW(queues->blocks, queues->nblocks, queues->capblocks) =
				dpe_xmalloc(BLOCK);
			queues->used = 0;
		}
		chunk = (void *)(queues->blocks[queues->nblocks - 1] + queues->used);
		queues->used += CHUNK;
	}
	chunk->next = NULL;
	chunk->used = 0;
	return chunk;
}

/* ---- lanes ------------------------------------------------------------------------------- */

static struct dpe_queued *earliest(const struct dpe_lane *lane)
{
	return (void *)(lane->first->data + lane->at);
}

static unsigned add_lane(struct dpe_queues *queues, unsigned stream)
{
	unsigned number = queues->nlanes;

	*DPE_GROW(queues->lanes, queues->nlanes, queues->caplanes) =
		(struct dpe_lane){.stream = stream};
	queues->heap = dpe_xrealloc(queues->heap, queues->caplanes * sizeof(*queues->heap));
	return number;
}

/* A lane that holds nothing later. */
static unsigned lane_for(struct dpe_queues *queues, unsigned stream, uint64_t time)
{
	unsigned at = stream;

	while (queues->lanes[at].first && queues->lanes[at].latest > time) {
		if (!queues->lanes[at].next) {
			unsigned more = add_lane(queues, stream);

			queues->lanes[at].next = more;
		}
		at = queues->lanes[at].next;
	}
	return at;
}

/* Space for this number of bytes at the end of the lane. */
static struct dpe_queued *extend(struct dpe_queues *queues, struct dpe_lane *lane, size_t bytes)
{
	struct dpe_chunk *last = lane->last;

	if (!last || sizeof(last->data) - last->used < bytes) {
		struct dpe_chunk *chunk = take_chunk(queues);

		if (last)
			last->next = chunk;
		else
			lane->first = chunk;
		last = lane->last = chunk;
	}
	last->used += bytes;
	return (void *)(last->data + last->used - bytes);
}

struct dpe_queued *dpe_queues_add(
	struct dpe_queues *queues, unsigned stream, size_t bytes, uint64_t time)
{
	unsigned number = lane_for(queues, stream, time);
	struct dpe_lane *lane = &queues->lanes[number];
	bool was_empty = !lane->first;
	struct dpe_queued *held;

	bytes = (bytes + sizeof(uint64_t) - 1) & ~(sizeof(uint64_t) - 1);
	held = extend(queues, lane, bytes);
	held->time = lane->latest = time;
	held->bytes = (uint32_t)bytes;
	queues->held++;
	queues->counts[stream]++;
	if (was_empty) {
		lane->at = 0;
		queues->heap[queues->nheap] = (struct dpe_head){time, number};
		sift_up(queues->heap, queues->nheap++);
	}
	return held;
}

struct dpe_queued *dpe_queues_first(const struct dpe_queues *queues, unsigned *stream)
{
	const struct dpe_lane *lane;

	if (!queues->nheap)
		return NULL;
	lane = &queues->lanes[queues->heap[0].lane];
	*stream = lane->stream;
	return earliest(lane);
}

/* The first chunk was read to its end. */
static void leave_chunk(struct dpe_queues *queues, struct dpe_lane *lane)
{
	struct dpe_chunk *chunk = lane->first;

	lane->first = chunk->next;
	lane->at = 0;
	if (!lane->first)
		lane->last = NULL;
	chunk->next = queues->unused;
	queues->unused = chunk;
}

void dpe_queues_drop(struct dpe_queues *queues)
{
	struct dpe_head *head = &queues->heap[0];
	struct dpe_lane *lane = &queues->lanes[head->lane];
	size_t bytes = earliest(lane)->bytes;

	lane->at += bytes;
	queues->held--;
	queues->counts[lane->stream]--;
	if (lane->at == lane->first->used)
		leave_chunk(queues, lane);
	if (lane->first)
		head->time = earliest(lane)->time;
	else
		*head = queues->heap[--queues->nheap];
	if (queues->nheap)
		sift_down(queues->heap, queues->nheap);
}
