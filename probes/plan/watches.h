/* watches: variables and parts of objects that have, or are to have, hardware watchpoints. */
#ifndef DPE_PROBES_PLAN_WATCHES_H
#define DPE_PROBES_PLAN_WATCHES_H

#include "event/event.h"
#include "probes/binary/binary.h"
#include "probes/kernel/bpf/record.h"

/* The accesses to a variable or a part of an object, and the last update, by its record. */
struct dpe_last_update {
	uint64_t accesses, began;
	bool known;
	bool contended; /* some update came between another one and its record */
	bool counts;    /* this and all before it were the same atomic addition */
	bool doubted;   /* which was reported */
	bool tells;     /* its value follows from its instruction */
	int how;        /* that addition, enum dpe_access_value, … */
	uint64_t step;  /* … of this */
	uint32_t tid;
	uint64_t time, read, value; /* what the probe read; what the update left */
	uint64_t current;     /* the value as far as known, for reports */
	uint64_t unsure;      /* time of the first update whose values do not follow from its instruction; 0:
			       * none */
};

/* A variable under a hardware watchpoint. */
struct dpe_watch {
	struct dpe_variable variable;
	uint64_t address;     /* in the process, once it is there */
	bool access;          /* reads, too */
	dpe_name module;      /* that it is a variable of */
	bool set, fresh;      /* it has its watchpoints; is about to have them */
	dpe_name event;       /* "[X']", or "[X]" */
	dpe_name update;      /* "[X']" where the rules distinguish it from "[X]", else 0 */
	dpe_name reference;   /* "[X]" */
	dpe_name name, prior; /* "X", "X'" */
	struct dpe_place place;
	struct dpe_last_update last; /* of a variable */
	uint64_t reads;       /* variables to read at accesses: see struct dpe_watched */
};

/* A part of some kind of objects: as in `[p->x] from f(p) to g(p)`. */
struct dpe_object_watch_kind {
	struct dpe_watch watch; /* address: the offset from the pointer */
	bool found;             /* in the debug information of a function */
};

/* A watchpoint, with a file descriptor for each thread that existed when it was set. */
struct dpe_object_watch {
	bool used;
	unsigned kind;
	uint64_t object;
	int *files;
	unsigned nfiles, capfiles;
};

/* The last update of a part of an object, of the latest that were accessed. */
struct dpe_object_updates {
	unsigned kind;
	uint64_t object;
	struct dpe_last_update last;
};

struct dpe_object_watches {
	struct dpe_object_watch_kind kinds[DPE_WATCHES];
	unsigned nkinds;
	struct dpe_object_watch slots[DPE_WATCHES];
	struct dpe_object_updates updates[DPE_WATCHES];
	unsigned nupdates;
	uint64_t refused; /* objects that could not be watched */
	dpe_name begin, end, refusal;
};

#endif
