/* memory_hooks: what the files of libdpe-mem.so share that are not part of libdpe-pthread.so. */
#ifndef DPE_PROBES_INSIDE_MEMORY_HOOKS_H
#define DPE_PROBES_INSIDE_MEMORY_HOOKS_H

#include "probes/inside/library.h"

#define DPE_MEMORY_EXPORTED __attribute__((visibility("default")))

/* The caller of an exported function, for use in these functions. */
struct dpe_memory_place {
	uint64_t pc;
	const uint64_t *frame;
};
#define DPE_MEMORY_HERE                                                                            \
	(struct dpe_memory_place)                                                                  \
	{                                                                                          \
		(uint64_t)__builtin_return_address(0), __builtin_frame_address(0)                  \
	}

static inline bool dpe_memory_is_wanted(enum dpe_preload_memory what)
{
	return __builtin_expect(dpe_preload_look->wanted[what], 0);
}

/* The thread is in a runtime's call, whose own synchronisation orders what the program's code does there: it is not an
 * event. */
extern DPE_PRELOAD_HIDDEN __thread bool dpe_memory_ordered;
/* What the program says that is to be ignored (ignored_memory.c): how many times more it began than it ended, for this thread;
 * and whether there are ranges of memory whose races are benign. */
extern DPE_PRELOAD_HIDDEN __thread struct dpe_memory_ignored {
	unsigned reads, writes, order;
} dpe_memory_ignored;
extern DPE_PRELOAD_HIDDEN bool dpe_memory_any_benign;
DPE_PRELOAD_HIDDEN bool dpe_memory_ignores(enum dpe_preload_memory what, uint64_t address, uint64_t size);
/* Another object has these bytes now, whose races are not benign. */
DPE_PRELOAD_HIDDEN void dpe_memory_forget_benign(uint64_t address, uint64_t size);
DPE_PRELOAD_HIDDEN void dpe_memory_add_benign(const volatile void *address, uint64_t size);
/* A wanted read or write of `size` bytes. */
DPE_PRELOAD_HIDDEN void dpe_memory_access(enum dpe_preload_memory what, uint64_t address,
	uint64_t size, struct dpe_memory_place place);
/* In the section of the lock that begins, code that reports no accesses may read data, and write it unless `shared`: reported
 * as accesses to the lock, each time. */
DPE_PRELOAD_HIDDEN void dpe_memory_access_unseen(uint64_t lock, bool shared, struct dpe_memory_place place);
typedef unsigned __int128 dpe_memory_value;
/* An atomic operation has read this value, or another one that is not known. */
DPE_PRELOAD_HIDDEN void dpe_memory_read_value(
	uint64_t address, uint64_t size, dpe_memory_value value, struct dpe_memory_place place);
DPE_PRELOAD_HIDDEN void dpe_memory_read_unknown(uint64_t address, uint64_t size, struct dpe_memory_place place);
/* An atomic operation that was reported has written this value. */
DPE_PRELOAD_HIDDEN void dpe_memory_wrote_value(uint64_t address, uint64_t size, dpe_memory_value value);
/* An atomic load that acquires, and read this value. */
DPE_PRELOAD_HIDDEN void dpe_memory_load(
	uint64_t address, uint64_t size, uint64_t value, struct dpe_memory_place place);
/* From now on the memory belongs to another object, of `size` bytes, known to this thread only. */
DPE_PRELOAD_HIDDEN void dpe_memory_hand_out(
	const void *object, uint64_t usable, uint64_t size, struct dpe_memory_place place);
/* Any other event, which may synchronise. */
DPE_PRELOAD_HIDDEN void dpe_memory_sync(enum dpe_preload_memory what, uint64_t address,
	uint64_t size, struct dpe_memory_place place);

/* The functions that the thread is in, as far as compilers report them. */
extern DPE_PRELOAD_HIDDEN __thread struct dpe_preload_callers dpe_memory_callers;
/* The end of the thread's own stack, and the lowest page of it that was reported so far; 0: nothing to report. */
extern DPE_PRELOAD_HIDDEN __thread struct dpe_memory_stack {
	uint64_t end, new;
} dpe_memory_stack;
DPE_PRELOAD_HIDDEN void dpe_memory_grow_stack(struct dpe_memory_place place);
static inline void dpe_memory_use_stack(struct dpe_memory_place place)
{
	if ((uint64_t)place.frame < dpe_memory_stack.new || !dpe_memory_stack.end)
		dpe_memory_grow_stack(place);
}

/* What compilers call for a fence. */
void __tsan_atomic_thread_fence(int order);

#endif
