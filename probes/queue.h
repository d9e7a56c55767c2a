/* queue: several streams, each in order of time, from which the earliest element is taken. */
#ifndef DPE_PROBES_QUEUE_H
#define DPE_PROBES_QUEUE_H

#include "base/base.h"

/* Elements lie in chunks, which come again: nothing is moved when a queue grows. */
struct dpe_queue {
	char **chunks; /* number n at n modulo cap, a power of two; NULL: not needed yet */
	uint64_t cap, first, count;
	size_t bytes; /* of an element */
};

struct dpe_queues {
	struct dpe_queue *queues;
	unsigned *heap, nheap; /* those that hold something, the earliest first */
	unsigned count;
	uint64_t held; /* elements in all of them */
	char **blocks; /* which chunks are cut from */
	unsigned nblocks, capblocks;
	size_t room, used; /* bytes of the last one */
};

/* What stands at the beginning of an element. */
struct dpe_held {
	uint64_t time;
	uint64_t gap; /* messages of its thread and stream that were lost before it */
};

void dpe_queues_open(struct dpe_queues *queues, unsigned count);
void dpe_queues_close(struct dpe_queues *queues); /* accepts one that is zeroed */
/* Has so much memory there, page by page, before anything is added. False where the kernel cannot
 * do that. */
bool dpe_queues_prepare(struct dpe_queues *queues, size_t bytes);
/* Adds an element behind all of its queue that are not later. What follows its time is the caller's
 * to fill, until the next call. All elements of a queue have the same size, the first one's. */
struct dpe_held *dpe_queues_add(
	struct dpe_queues *queues, unsigned queue, size_t bytes, uint64_t time);
/* The earliest element, and its queue; NULL where there is none. */
struct dpe_held *dpe_queues_first(const struct dpe_queues *queues, unsigned *queue);
/* Takes the earliest one out. */
void dpe_queues_drop(struct dpe_queues *queues);

#endif
