/* dependence: whether the order of two operations matters. The library uses it for sleep sets, and the command
 * to find races, so both agree. */
#ifndef DPE_EXPLORE_SCHED_DEPENDENCE_H
#define DPE_EXPLORE_SCHED_DEPENDENCE_H

#include "explore/sched/sched.h"

#include <stdbool.h>

static inline bool dpe_set_has(const struct dpe_sched_set *set, unsigned thread)
{
	return set->words[thread / 64] >> thread % 64 & 1;
}

static inline void dpe_set_add(struct dpe_sched_set *set, unsigned thread)
{
	set->words[thread / 64] |= UINT64_C(1) << thread % 64;
}

static inline void dpe_set_remove(struct dpe_sched_set *set, unsigned thread)
{
	set->words[thread / 64] &= ~(UINT64_C(1) << thread % 64);
}

/* The end of the process, which cuts off all other threads. */
static inline bool dpe_event_ends(const struct dpe_sched_event *a)
{
	return a->ends || a->kind == DPE_SCHED_RETURN || a->kind == DPE_SCHED_PROCESS_END;
}

static inline bool dpe_event_names_thread(const struct dpe_sched_event *a)
{
	return dpe_sched_names_thread(a->kind);
}

/* A cancelled thread may stop at any operation, and a signal handler come before any, and end a wait that nothing else has ended. The
 * owner of a robust mutex leaves it by ending. */
static inline bool dpe_event_concerns(const struct dpe_sched_event *a, const struct dpe_sched_event *b)
{
	if (a->kind == DPE_SCHED_END && b->robust)
		return true;
	if (a->kind == DPE_SCHED_KILL && (b->kind == DPE_SCHED_SEM_POST || b->kind == DPE_SCHED_FUTEX_WAKE))
		return true;
	if (!dpe_event_names_thread(a))
		return false;
	if (dpe_event_names_thread(b) && a->object == b->object)
		return true;
	return a->object == b->thread && (a->kind == DPE_SCHED_CANCEL || a->kind == DPE_SCHED_KILL ||
						 dpe_sched_follows_release(a->kind) || b->kind == DPE_SCHED_END);
}

/* Operations that commute with others of their own class: 0 is none. */
static inline int dpe_event_class(const struct dpe_sched_event *a)
{
	switch (a->kind) {
	case DPE_SCHED_READ:
	case DPE_SCHED_ATOMIC_LOAD:
	case DPE_SCHED_SEM_GETVALUE:
		return 1;
	case DPE_SCHED_RWLOCK_RDLOCK:
	case DPE_SCHED_RWLOCK_TRYRDLOCK:
	case DPE_SCHED_RWLOCK_TIMEDRDLOCK:
		return 2;
	case DPE_SCHED_BARRIER_BLOCK:
		return 3;
	default:
		return 0;
	}
}

/* Memory, by code that reports it. */
static inline bool dpe_op_accesses(const struct dpe_sched_op *op)
{
	return op->kind >= DPE_SCHED_READ && op->kind <= DPE_SCHED_ATOMIC_CHANGE;
}

static inline bool dpe_op_reads(const struct dpe_sched_op *op)
{
	return op->kind == DPE_SCHED_READ || op->kind == DPE_SCHED_ATOMIC_LOAD;
}

static inline bool dpe_bytes_overlap(uint64_t a, unsigned asize, uint64_t b, unsigned bsize)
{
	return a && b && a < b + (bsize ? bsize : 1) && b < a + (asize ? asize : 1);
}

static inline bool dpe_events_dependent(const struct dpe_sched_event *a, const struct dpe_sched_event *b)
{
	if (a->thread == b->thread || dpe_event_ends(a) || dpe_event_ends(b))
		return true;
	if (a->kind == DPE_SCHED_CREATE && b->kind == DPE_SCHED_CREATE) /* numbers of threads */
		return true;
	if (dpe_event_concerns(a, b) || dpe_event_concerns(b, a))
		return true;
	if (dpe_event_names_thread(a) || dpe_event_names_thread(b))
		return false;
	if (dpe_event_class(a) && dpe_event_class(a) == dpe_event_class(b))
		return false;
	return dpe_bytes_overlap(a->object, a->size, b->object, b->size) ||
	       dpe_bytes_overlap(a->mutex, 1, b->object, b->size) ||
	       dpe_bytes_overlap(a->object, a->size, b->mutex, 1) ||
	       dpe_bytes_overlap(a->mutex, 1, b->mutex, 1);
}

/* Accesses to the same memory, which at least one writes, and at least one is not atomic: a data race if two threads may make them at
 * the same time. A compare-and-swap counts as a write. */
static inline bool dpe_ops_race(const struct dpe_sched_op *a, const struct dpe_sched_op *b)
{
	bool plain = a->kind == DPE_SCHED_READ || a->kind == DPE_SCHED_WRITE || b->kind == DPE_SCHED_READ || b->kind == DPE_SCHED_WRITE;
	bool read = dpe_op_reads(a) && dpe_op_reads(b);

	return dpe_op_accesses(a) && dpe_op_accesses(b) && plain && !read && dpe_bytes_overlap(a->object, a->size, b->object, b->size);
}

/* The operation that the thread is about to do. */
static inline struct dpe_sched_event dpe_event_of(const struct dpe_sched_header *memory, unsigned thread)
{
	const struct dpe_sched_op *op = &memory->threads[thread].op;

	return (struct dpe_sched_event){
		.thread = (uint16_t)thread,
		.kind = op->kind,
		.object = op->object,
		.mutex = op->mutex,
		.size = op->size,
		.robust = op->robust,
	};
}

#endif
