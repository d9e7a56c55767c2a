/* features: what the running kernel can do, found out by trying. */
#ifndef DPE_PROBES_FEATURES_FEATURES_H
#define DPE_PROBES_FEATURES_FEATURES_H

#include <stdbool.h>
#include <stdint.h>

/* Probes at many sites in one call, as the kernel takes them: installed headers may be too old to name it. */
enum { TRACE_UPROBE_MULTI = 48, TRACE_UPROBE_SESSION = 57, UPROBE_MULTI_RETURN = 1 };

struct dpe_multi_request {
	uint32_t program, target, type, flags;
	uint64_t path, offsets, counters, cookies;
	uint32_t count, multi_flags, pid, padding;
};

/* A link, or -1 with errno. */
int dpe_multi_link(struct dpe_multi_request *request);
/* A program that does nothing, or -1 with errno. */
int dpe_load_nothing(uint32_t type, uint32_t flags);
/* Whether the kernel knows the request (Linux 6.6). */
bool dpe_kernel_has_multi(void);
/* Whether a program can decide at an entry if the return is probed (Linux 6.13). */
bool dpe_kernel_has_sessions(void);
/* Whether no program of a probe can sleep, as before Linux 6.0. False if it cannot be known. */
bool dpe_kernel_is_old(void);
/* False if a watchpoint of our own can be set and does not fire; where it cannot, the caller gets the error of its own. */
bool dpe_watchpoints_fire(void);

#endif
