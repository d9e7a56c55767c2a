/* merge_queue: several streams, each nearly in order of time, from which the earliest element is taken.
 */
#ifndef DPE_PROBES_STREAM_MERGE_QUEUE_H
#define DPE_PROBES_STREAM_MERGE_QUEUE_H

#include "base/base.h"
#include "probes/limits.h"

/* The header of an element. */
struct dpe_queued {
	uint64_t time;
	uint32_t bytes; /* of the element */
	uint32_t gap;   /* messages of its thread and stream that were lost before it */
};

/* A sequence of elements in order of time. */
struct dpe_lane {
	struct dpe_chunk *first, *last; /* NULL: empty */
	size_t at;                      /* of the earliest element, in the first chunk */
	uint64_t latest;                /* time of the last one */
	unsigned stream;
	unsigned next; /* the lane for this stream's elements that are earlier than that; 0: none yet */
};

struct dpe_queues {
	struct dpe_lane
		*lanes; /* one for each stream, then the additional ones */
	unsigned nlanes, caplanes;
	struct dpe_head {
		uint64_t time; /* of a lane's earliest element */
		unsigned lane;
	} * heap; /* of the lanes that are not empty, the earliest first */
	unsigned nheap;
	uint64_t *counts; /* elements of each stream */
	unsigned count;   /* streams */
	uint64_t held;    /* elements in all of them */
	struct dpe_chunk *unused;
	char **blocks; /* which chunks are cut from */
	unsigned nblocks, capblocks;
	size_t used; /* bytes of the last one */
};

void dpe_queues_open(struct dpe_queues *queues, unsigned count);
void dpe_queues_close(struct dpe_queues *queues); /* accepts a zeroed one */
/* Adds an element of `bytes`, DPE_QUEUED_MAX at most, after all those of its stream that are not later.
 * The caller fills in everything but its time and size, before the next call. */
struct dpe_queued *dpe_queues_add(
	struct dpe_queues *queues, unsigned stream, size_t bytes, uint64_t time);
/* The earliest element, and its stream; NULL if there is none. */
struct dpe_queued *dpe_queues_first(const struct dpe_queues *queues, unsigned *stream);
/* Takes the earliest one out. */
void dpe_queues_drop(struct dpe_queues *queues);

#endif
