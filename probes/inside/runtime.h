/* runtime: the OpenMP runtime of the target, whose own accesses and locks are no events. */
#ifndef DPE_PROBES_INSIDE_RUNTIME_H
#define DPE_PROBES_INSIDE_RUNTIME_H

#include "probes/inside/library.h"

/* Its code: `bytes` 0 if there is none. */
struct dpe_runtime {
	uint64_t begin, bytes;
};

extern DPE_PRELOAD_HIDDEN struct dpe_runtime dpe_runtime;
/* It calls libomp_tool.c. */
extern DPE_PRELOAD_HIDDEN bool dpe_runtime_tells;

/* Where the code of the file with this function is. */
DPE_PRELOAD_HIDDEN struct dpe_runtime dpe_runtime_code(const void *function);

/* A function of the runtime. Loads libgomp if necessary: the linker leaves it out if the program needs only
 * functions that we wrap. If no file has the function, the process prints that and aborts. */
DPE_PRELOAD_HIDDEN void *dpe_runtime_function(const char *name);

static inline bool dpe_runtime_has(uint64_t pc)
{
	return pc - dpe_runtime.begin < dpe_runtime.bytes;
}

#endif
