/* tbb: the order that oneTBB makes, for the hooks of calls. */
#ifndef DPE_PROBES_INSIDE_TBB_H
#define DPE_PROBES_INSIDE_TBB_H

#include "probes/inside/memory_hooks.h"
#include "probes/inside/runtime.h"

extern DPE_PRELOAD_HIDDEN struct dpe_runtime dpe_tbb; /* its code */

static inline bool dpe_tbb_has(uint64_t pc)
{
	return __builtin_expect(pc - dpe_tbb.begin < dpe_tbb.bytes, 0);
}

/* It has called a function of the program, which is about to begin, or to return. */
DPE_PRELOAD_HIDDEN void dpe_tbb_enter(struct dpe_memory_place place);
DPE_PRELOAD_HIDDEN void dpe_tbb_return(struct dpe_memory_place place);

#endif
