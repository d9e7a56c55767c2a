/* plan: what of a target to observe. Private to probes/. */
#ifndef DPE_PROBES_PLAN_PLAN_H
#define DPE_PROBES_PLAN_PLAN_H

#include "dpe/dpe-probes.h"
#include "dpe-lang/dpe-lang.h"

enum dpe_site_kind {
	DPE_SITE_FUNCTION,
	DPE_SITE_LINE, /* of the source, "file.c:12" */
	DPE_SITE_USDT, /* module "usdt::provider" */
};

#define DPE_FILTERS 4

/* What the value of a variable must be for an event to be of any use: `read` op number, or, where that
 * is not NULL, op text. */
struct dpe_filter {
	unsigned read;
	enum dpe_op op;
	int64_t number;
	const char *text;
};

/* Events of a kind are wanted where one of them holds. */
struct dpe_filters {
	bool all;       /* some rule wants every event */
	unsigned count; /* 0: the same */
	struct dpe_filter at[DPE_FILTERS];
};

#define DPE_PLAN_MARKS 64
#define DPE_PLAN_STOPS 4
#define DPE_PLAN_STOP_ARGS 2

/* An event stops the target where all these marks are set, and its arguments are these. */
struct dpe_gate_condition {
	uint64_t marks;
	unsigned nargs;
	struct {
		unsigned index;
		int64_t number;
	} args[DPE_PLAN_STOP_ARGS];
};

/* What the events of a place have to do with others. */
struct dpe_gate {
	uint64_t sets;  /* marks */
	uint64_t after; /* some rule wants it once this is set; and … */
	bool always;    /* … some rule at any time */
	unsigned nstops;
	struct dpe_gate_condition stops[DPE_PLAN_STOPS]; /* any of them */
};

/* One function of the target (or another place in its code), and what of it the rules need. A plan
 * is data. */
struct dpe_plan_site {
	enum dpe_site_kind kind;
	dpe_name name, module; /* module 0: the program and each of its libraries */
	dpe_name event;        /* the name of its messages, where it is another one; else 0 */
	bool enter, exit;
	bool phased;    /* some rule has its .enter or .exit */
	/* Only sync rules ask for it, or, of functions of POSIX threads, rules about who holds what:
	 * skipped where the target lacks it. */
	bool optional;
	unsigned nargs; /* arguments that patterns and conditions mention */
	uint64_t used;  /* the same as bits, of the first 64; what may be any is not in it */
	bool ret;       /* they mention the result */
	uint64_t reads; /* variables of the program to read there: bits, by their number */
	struct dpe_filters filters[2]; /* of its entry, of its return */
	struct dpe_gate gates[2];      /* the same */
	struct dpe_place place;        /* a pattern that asks for it */
};

#define DPE_READS 64

/* A variable of the program whose value rules want at their events. */
struct dpe_read {
	const char *lvalue; /* the specification's */
	dpe_name name;      /* of it, in messages */
	bool spared;        /* rules ask for it as in `x ? a : b` alone, or for a round */
	bool whole;         /* a text that stands for something: what is cut off would be missed */
	bool at_data;       /* a text that is wanted at accesses of variables */
	size_t longest;     /* bytes of the longest string that a text is compared with */
	struct dpe_place place;
};

/* What a program tells that was compiled for it, with its addresses; see docs/preload.md. Their
 * numbers are the bits of a plan. */
enum dpe_memory_events { DPE_MEMORY_EVENTS = 5 };
const char *dpe_memory_event(unsigned number);

/* A variable of the program whose accesses the rules need. */
struct dpe_watched {
	const char *lvalue; /* the specification's */
	dpe_name event;     /* of its messages: "[X']", "[X]" */
	bool access;        /* reads, too; else updates only */
	uint64_t reads;     /* other variables to read there */
	struct dpe_gate gate;
	struct dpe_place place;
};

/* A part of objects whose accesses the rules need, while an object is watched. */
struct dpe_watched_object {
	const struct dpe_object *object; /* the specification's */
	bool access;    /* reads, too; else updates only */
	bool tells;     /* some rule has updates alone */
	uint64_t reads; /* variables of the program to read there */
	struct dpe_place place;
};

/* How long what the rules find may wait while others want all processors. */
enum dpe_haste {
	DPE_LATER,
	DPE_SOON,    /* a deadlock is told within a tenth of a second */
	DPE_AT_ONCE, /* what stops the target does so at once */
};

struct dpe_plan {
	unsigned nwatched;
	struct dpe_watched *watched;
	unsigned nobjects; /* each of them can have one watchpoint or more */
	struct dpe_watched_object *objects;
	unsigned nreads; /* from DPE_READS on they are too many */
	struct dpe_read *reads;
	unsigned nsites;
	struct dpe_plan_site *sites;
	bool threads;    /* some rule names one of the kernel's thread events */
	bool channels, waits; /* some rule names an event of channels, of waits for processes */
	bool founds;     /* threads that run already begin with an event */
	unsigned memory; /* bits: which events of memory the rules name */
	enum dpe_haste haste;
	unsigned nmarks;
	struct dpe_mark marks[DPE_PLAN_MARKS];
};

#endif
