/* ring_slots: a thread's own side of its ring. Nothing here waits, allocates or calls anything, and all of it
 * is reentrant: a signal handler may interrupt it and do the same. */
#ifndef DPE_PROBES_INSIDE_RING_SLOTS_H
#define DPE_PROBES_INSIDE_RING_SLOTS_H

#include "probes/inside/inside.h"

#include <stdbool.h>
#include <stddef.h>
#include <time.h>

/* A thread and its ring; ring NULL: it has none yet. */
struct dpe_preload_writer {
	struct dpe_preload_ring *ring;
	char *slots;
	uint64_t tail; /* as it last was */
	unsigned index; /* of the ring */
	bool refused;   /* there was no ring left */
	const void *frame; /* of the function that writes a slot (except in handlers that interrupt it); or
			    * NULL */
	uint64_t from;     /* earlier slots are complete or abandoned */
};

/* The C library's clock_gettime, which may be wrapped. */
extern __attribute__((visibility("hidden"))) int (*dpe_preload_clock)(clockid_t clock, struct timespec *now);

static inline uint64_t dpe_preload_now(void)
{
	struct timespec now;

	dpe_preload_clock(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

/* Counts one event for which there is no room; one instruction, so that no handler can interrupt it. */
static inline void dpe_preload_lose(struct dpe_preload_ring *ring)
{
	uint64_t now = dpe_preload_now();

	__asm__ volatile("incq %0" : "+m"(ring->lost.count) : : "memory");
	if (!ring->lost.first)
		ring->lost.first = now;
	ring->lost.last = now;
}

static inline bool dpe_preload_is_full(
	const struct dpe_preload_header *header, struct dpe_preload_writer *writer)
{
	uint64_t room = header->slots - DPE_PRELOAD_SLACK;
	uint64_t reserved = *(volatile uint64_t *)&writer->ring->reserved;

	if (reserved - writer->tail < room)
		return false;
	writer->tail = __atomic_load_n(&writer->ring->tail, __ATOMIC_ACQUIRE);
	return reserved - writer->tail >= room;
}

static inline struct dpe_preload_slot *dpe_preload_slot_at(const struct dpe_preload_header *header,
	const struct dpe_preload_writer *writer, uint64_t number)
{
	return (void *)(writer->slots + (number & (header->slots - 1)) * header->slot_bytes);
}

/* Takes the next slot and returns its number; NULL if the ring is full. The reader must see that it is taken
 * before the clock is read: its membarrier(2) ensures that, or a fence here. */
static inline struct dpe_preload_slot *dpe_preload_reserve(const struct dpe_preload_header *header,
	struct dpe_preload_writer *writer, uint64_t *number)
{
	uint64_t taken = 1;

	if (dpe_preload_is_full(header, writer))
		return NULL;
	__asm__ volatile("xaddq %0, %1" : "+r"(taken), "+m"(writer->ring->reserved) : : "memory");
	if (header->fences)
		__atomic_thread_fence(__ATOMIC_SEQ_CST);
	*number = taken;
	return dpe_preload_slot_at(header, writer, taken);
}

/* The slot is complete. */
static inline void dpe_preload_commit(struct dpe_preload_slot *slot, uint64_t number)
{
	__atomic_store_n(&slot->stamp, dpe_preload_stamp(number), __ATOMIC_RELEASE);
}

/* Abandons the slots that were reserved and not committed. */
static inline void dpe_preload_leave(
	const struct dpe_preload_header *header, struct dpe_preload_writer *writer)
{
	uint64_t end = writer->ring->reserved;

	for (uint64_t i = writer->from; i < end; i++) {
		struct dpe_preload_slot *slot = dpe_preload_slot_at(header, writer, i);

		if (slot->stamp != dpe_preload_stamp(i))
			__atomic_store_n(&slot->stamp, dpe_preload_left(i), __ATOMIC_RELEASE);
	}
	writer->from = end;
}

#endif
