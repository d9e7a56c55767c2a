/* object_watch: objects whose parts are watched from one event to another. */
#ifndef DPE_PROBES_KERNEL_OBJECT_WATCH_H
#define DPE_PROBES_KERNEL_OBJECT_WATCH_H

#include "probes/kernel/bpf/record.h"
#include "probes/kernel/watchpoints.h"

/* A part of some kind of objects: what `[p->x] from f(p) to g(p)` names. */
struct dpe_armed_kind {
	struct dpe_watch watch; /* address: how far behind the pointer */
	bool found;             /* in the debug information of a function */
};

/* One watchpoint, and a file for it for each thread that was there when it was set. */
struct dpe_armed {
	bool used;
	unsigned kind;
	uint64_t object;
	int *files;
	unsigned nfiles, capfiles;
};

struct dpe_arms {
	struct dpe_armed_kind kinds[DPE_WATCHES];
	unsigned nkinds;
	struct dpe_armed slots[DPE_WATCHES];
	uint64_t refused; /* objects that could not be watched */
	dpe_name begin, end, refusal;
};

#endif
