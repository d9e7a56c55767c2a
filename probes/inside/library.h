/* library: what the files of libdpe-pthread.so share. */
#ifndef DPE_PROBES_INSIDE_LIBRARY_H
#define DPE_PROBES_INSIDE_LIBRARY_H

#include "probes/inside/inside.h"

#include <stdbool.h>

#define DPE_PRELOAD_HIDDEN __attribute__((visibility("hidden")))

/* What the wrappers check first. It lies in a page that the kernel clears in a forked child, so a child writes
 * nothing, however it was forked. */
struct dpe_preload_look {
	struct dpe_preload_header *header; /* NULL: nothing is written */
	uint32_t once; /* the header's */
	uint8_t wanted[DPE_PRELOAD_EVENTS];
};

extern DPE_PRELOAD_HIDDEN const struct dpe_preload_look *dpe_preload_look;
/* The same memory, or NULL, which a forked child has, too. */
extern DPE_PRELOAD_HIDDEN struct dpe_preload_header *dpe_preload_mapped;
/* The functions that are wrapped, NULL until they were looked up. */
extern DPE_PRELOAD_HIDDEN void *dpe_preload_real[DPE_PRELOAD_COUNT];

/* Whether the program may be killed for a system call that it does not make itself; never false again once true. */
extern DPE_PRELOAD_HIDDEN bool dpe_preload_filtered;
/* The number of filters that the kernel applies to system calls of this process. */
DPE_PRELOAD_HIDDEN unsigned dpe_preload_filters(void);
/* The id of this thread, which without system calls is known if it was looked up when the library began; or 0. */
DPE_PRELOAD_HIDDEN void dpe_preload_find_ids(void);
DPE_PRELOAD_HIDDEN uint32_t dpe_preload_own_id(void);
/* The name of this thread, or, where that takes a system call, of the first one. */
DPE_PRELOAD_HIDDEN void dpe_preload_own_name(char name[16]);

/* Initialises the library if the constructor has not run yet. Returns the function, or one that fails with
 * ENOSYS. */
DPE_PRELOAD_HIDDEN void *dpe_preload_find(enum dpe_preload_function function);

struct dpe_preload_call {
	uint64_t words[DPE_PRELOAD_WORDS];
	unsigned function; /* or what happened to memory */
};

/* Incremented by each call that releases by the rules of pthread.dpe. */
extern DPE_PRELOAD_HIDDEN __thread uint64_t dpe_preload_epoch;
/* Incremented by each event of the thread that may have to follow others, and each value that it reads newly. */
extern DPE_PRELOAD_HIDDEN __thread uint64_t dpe_preload_news;
/* Finds at most `wanted` return addresses beyond that of the function with this frame address: how many. */
DPE_PRELOAD_HIDDEN unsigned dpe_preload_find_callers(
	const struct dpe_preload_header *header, const uint64_t *frame, uint64_t *callers, unsigned wanted);
/* Writes one event, or counts it as lost. `frame` is the wrapper's frame address. */
DPE_PRELOAD_HIDDEN void dpe_preload_write(
	const struct dpe_preload_call *call, unsigned kind, int ret, const uint64_t *frame);

/* The latest calls that a thread is in, as far as instrumented code reports them. */
struct dpe_preload_callers {
	struct {
		uint64_t pc;      /* where it was called */
		const char *frame; /* grows towards the callers */
	} at[DPE_PRELOAD_CALLERS];
	unsigned count; /* of all; the last is at (count - 1) % DPE_PRELOAD_CALLERS */
};

/* An access to an object of a thread function; only libdpe-mem.so has it. */
DPE_PRELOAD_HIDDEN __attribute__((weak)) void dpe_memory_touch(
	unsigned what, uint64_t address, const uint64_t *frame);

/* The caller of the function with this frame has taken a lock, shared or not. */
DPE_PRELOAD_HIDDEN __attribute__((weak)) void dpe_memory_begin_section(uint64_t lock, bool shared, const uint64_t *frame);
/* The thread is about to create another one; to report something else that may order threads; to report its first event. Only
 * libdpe-mem.so has them. */
DPE_PRELOAD_HIDDEN __attribute__((weak)) void dpe_memory_create_thread(void);
DPE_PRELOAD_HIDDEN __attribute__((weak)) void dpe_memory_end_creation(void);
DPE_PRELOAD_HIDDEN __attribute__((weak)) void dpe_memory_begin_thread(void);
/* Whether the program asks the thread to ignore what orders threads; only libdpe-mem.so has it. */
DPE_PRELOAD_HIDDEN __attribute__((weak)) bool dpe_memory_ignores_order(void);

/* A call of pthread_once or call_once. */
struct dpe_once_call {
	const void *control;
	void (*routine)(void);
	bool returned; /* the routine */
	struct dpe_once_call *outer;
};

/* The routine to call instead; each call ends, the latest first. Only libdpe-mem.so has them. */
DPE_PRELOAD_HIDDEN __attribute__((weak)) void (*dpe_once_begin(struct dpe_once_call *call))(void);
DPE_PRELOAD_HIDDEN __attribute__((weak)) void dpe_once_end(struct dpe_once_call *call);

/* Counts an event of the thread as lost, of an unknown one if it has no ring. */
DPE_PRELOAD_HIDDEN void dpe_preload_lose_one(void);
/* A thread is about to be created. If this is a forked child, its threads are not observed: one loss. */
DPE_PRELOAD_HIDDEN void dpe_preload_lose_child(void);

/* The number of the thread's ring; false if it has none yet. */
DPE_PRELOAD_HIDDEN bool dpe_preload_number(unsigned *number);
/* Writes one event of memory, or counts it as lost. The stack is that of the reported calls, or without any the
 * one that frame pointers give. */
DPE_PRELOAD_HIDDEN void dpe_preload_write_access(const struct dpe_preload_call *call, uint64_t pc,
	const uint64_t *frame, const struct dpe_preload_callers *callers);

#endif
