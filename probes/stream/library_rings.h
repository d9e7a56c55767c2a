/* library_rings: the reader of the memory that the preload library writes to. */
#ifndef DPE_PROBES_STREAM_LIBRARY_RINGS_H
#define DPE_PROBES_STREAM_LIBRARY_RINGS_H

#include "probes/inside/inside.h"
#include "probes/kernel/kernel.h"

#include <sys/types.h>

/* How far one ring was read. */
struct dpe_ring_reader {
	uint64_t next;    /* slot */
	uint64_t seen;    /* how many were taken at the last scan */
	uint64_t bound;   /* ns: everything earlier was handed over */
	uint64_t time;    /* ns: of the last slot */
	uint32_t lost;    /* by its thread up to the last slot */
	uint64_t gap;     /* of its events that were lost since the last slot, and not reported */
	uint64_t skipped; /* slots that were taken and will never be completed */
	uint64_t first_skipped, last_skipped; /* ns */
	bool begun; /* something of its thread was handed over */
};

/* What a thread lost; times in ns. */
struct dpe_ring_loss {
	uint32_t thread;
	uint64_t count, first, last;
};

struct dpe_rings {
	int fd;
	struct dpe_preload_header *header;
	size_t bytes, rows_begin;
	uint32_t slots, slot_bytes,
		frames; /* as the header has them, but out of the target's reach */
	bool barrier;   /* membarrier(2) is available */
	uint64_t before; /* ns: the last scan of the rings */
	struct dpe_ring_reader readers[DPE_PRELOAD_RINGS];
	struct dpe_ring_loss *losses; /* of rings that were given back */
	unsigned nlosses, caplosses;
	uint64_t asked; /* ns: when it was last checked which threads live */
};

/* Makes the memory: rings of about `ring_bytes`, with room for stacks or not. 0 or -errno. */
int dpe_rings_open(struct dpe_rings *rings, size_t ring_bytes, unsigned stack_depth);
void dpe_rings_close(struct dpe_rings *rings); /* accepts a zeroed one */

/* One event of a thread, before which `gap` others of it were lost. */
struct dpe_ring_event {
	const struct dpe_preload_slot *slot;
	const struct dpe_preload_ring *ring;
	unsigned index; /* of the ring */
	uint64_t time;  /* ns; no ring's events go back in time */
	uint64_t gap;
	bool first; /* of the thread in this ring */
};
/* Hands over what the rings hold, ring by ring; `ended`: nothing more is written. An event that is
 * not taken (`event` is false) stays in its ring, with what comes after it. Returns the time before
 * which every event was handed over; never 0. */
uint64_t dpe_rings_drain(struct dpe_rings *rings, bool ended,
	bool (*event)(void *context, const struct dpe_ring_event *event), void *context);
/* Calls once for each ring whose thread lost something, and for each that was given back. */
void dpe_rings_each_loss(const struct dpe_rings *rings,
	void (*each)(void *context, const struct dpe_ring_loss *loss), void *context);
/* Informs the library that its rings are no longer read. */
void dpe_rings_shut(struct dpe_rings *rings);

#endif
