/* watches: variables and parts of objects that have, or are to have, hardware watchpoints. */
#ifndef DPE_PROBES_PLAN_WATCHES_H
#define DPE_PROBES_PLAN_WATCHES_H

#include "event/event.h"
#include "probes/binary/binary.h"
#include "probes/kernel/bpf/record.h"

/* A variable under a hardware watchpoint. */
struct dpe_watch {
	struct dpe_variable variable;
	uint64_t address;     /* in the process, once it is there */
	bool access;          /* reads, too */
	dpe_name module;      /* that it is a variable of */
	bool set, fresh;      /* it has its watchpoints; is about to have them */
	dpe_name event;       /* "[X']", or "[X]" */
	dpe_name update;      /* "[X']" where the rules distinguish it from "[X]", else 0 */
	dpe_name name, prior; /* "X", "X'" */
	uint64_t reads;       /* variables to read at accesses: see struct dpe_watched */
};

/* A part of some kind of objects: what `[p->x] from f(p) to g(p)` names. */
struct dpe_object_watch_kind {
	struct dpe_watch watch; /* address: how far behind the pointer */
	bool found;             /* in the debug information of a function */
};

/* One watchpoint, and a file for it for each thread that was there when it was set. */
struct dpe_object_watch {
	bool used;
	unsigned kind;
	uint64_t object;
	int *files;
	unsigned nfiles, capfiles;
};

struct dpe_object_watches {
	struct dpe_object_watch_kind kinds[DPE_WATCHES];
	unsigned nkinds;
	struct dpe_object_watch slots[DPE_WATCHES];
	uint64_t refused; /* objects that could not be watched */
	dpe_name begin, end, refusal;
};

#endif
