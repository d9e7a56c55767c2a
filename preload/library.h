/* library: what the files of libdpe-pthread.so share. */
#ifndef DPE_PRELOAD_LIBRARY_H
#define DPE_PRELOAD_LIBRARY_H

#include "preload/preload.h"

#define DPE_PRELOAD_HIDDEN __attribute__((visibility("hidden")))

/* What the wrappers look at first. It lies in a page that the kernel clears in a forked child,
 * which so writes nothing, however it was forked. */
struct dpe_preload_look {
	struct dpe_preload_header *header; /* NULL: nothing is to be written */
	uint8_t wanted[DPE_PRELOAD_COUNT];
};

extern DPE_PRELOAD_HIDDEN const struct dpe_preload_look *dpe_preload_look;
/* The functions that are wrapped, NULL until they were looked up. */
extern DPE_PRELOAD_HIDDEN void *dpe_preload_real[DPE_PRELOAD_COUNT];

/* Begins, where the constructor has not run yet, and gives the function, or one that says ENOSYS.
 */
DPE_PRELOAD_HIDDEN void *dpe_preload_find(enum dpe_preload_function function);

struct dpe_preload_call {
	uint64_t words[DPE_PRELOAD_WORDS];
	enum dpe_preload_function function;
};

/* Writes one event, or counts it as lost. `frame` is the wrapper's frame address. */
DPE_PRELOAD_HIDDEN void dpe_preload_write(
	const struct dpe_preload_call *call, unsigned kind, int ret, const uint64_t *frame);

#endif
