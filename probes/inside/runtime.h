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

/* A wrapper of a function of the runtime. If that ends in a jump to another function, such as free, the wrapper is
 * what this one returns to; so wrappers make no such jumps themselves. */
#define DPE_RUNTIME_WRAPPER __attribute__((section("dpe_runtime_wrappers")))

/* Absent from the library for --preload, which has no wrappers. */
extern __attribute__((weak)) DPE_PRELOAD_HIDDEN const char __start_dpe_runtime_wrappers[], __stop_dpe_runtime_wrappers[];

/* Whether the address, to which a function returns, says that the runtime called this function. */
static inline bool dpe_runtime_has(uint64_t pc)
{
	uint64_t begin = (uint64_t)__start_dpe_runtime_wrappers, end = (uint64_t)__stop_dpe_runtime_wrappers;

	return pc - dpe_runtime.begin < dpe_runtime.bytes || pc - begin < end - begin;
}

#endif
