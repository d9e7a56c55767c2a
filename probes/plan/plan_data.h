/* plan_data: the plan, what the rules need of a target. For neighbours see plan.h. */
#ifndef DPE_PROBES_PLAN_PLAN_DATA_H
#define DPE_PROBES_PLAN_PLAN_DATA_H

#include "dpe-lang/dpe-lang.h"
#include "dpe/dpe-probes.h"
#include "probes/limits.h"

enum dpe_site_kind {
	DPE_SITE_FUNCTION,
	DPE_SITE_LINE, /* "file.c:12" */
	DPE_SITE_USDT, /* its module is "usdt::provider" */
};

/* A comparison that an event has to satisfy to match any pattern: read `read` op number; or op text, where that is
 * not NULL. */
struct dpe_filter {
	unsigned read;
	enum dpe_op op;
	int64_t number;
	const char *text;
};

/* An event is sent where one of the filters holds. */
struct dpe_filters {
	bool all;       /* some pattern needs every event */
	unsigned count; /* 0: every event is sent */
	struct dpe_filter at[DPE_FILTERS];
};

/* An event stops the target if all these flags are set and its arguments have these values. */
struct dpe_guard_condition {
	uint64_t flags;
	unsigned nargs;
	struct {
		unsigned index;
		int64_t number;
	} args[DPE_PLAN_STOP_ARGS];
};

/* How the events of a site depend on others. */
struct dpe_guard {
	uint64_t sets;  /* flags that the event sets */
	uint64_t after; /* it is needed once one of these flags is set … */
	bool always;    /* … or at any time */
	unsigned nstops;
	struct dpe_guard_condition stops[DPE_PLAN_STOPS]; /* any of them stops the target */
};

/* A function, line or USDT probe that the rules name, and what they need of it. */
struct dpe_plan_site {
	enum dpe_site_kind kind;
	dpe_name name, module; /* module 0: the program and all libraries */
	dpe_name event;        /* the name of its messages if it differs; else 0 */
	bool enter, exit;
	bool phased;    /* some pattern has .enter or .exit */
	/* Not an error where the target lacks it: only sync rules name it, or it is a thread function in a rule
	 * about locks. */
	bool optional;
	bool own;       /* a sync rule of the user names it, so its absence may be a mistake */
	const struct dpe_pattern *acquire; /* its entry acquires a lock; NULL: it does not */
	unsigned nargs; /* arguments that patterns and expressions use */
	uint64_t used;  /* arguments whose values matter: bits, of the first 64 */
	bool ret;       /* they use the result */
	uint64_t reads; /* bits, by number in the plan: variables to read there */
	struct dpe_filters filters[2]; /* of the entry, of the return */
	struct dpe_guard guards[2];      /* of the entry, of the return */
	struct dpe_place place;        /* of a pattern that names it */
};

/* A variable whose value is read at events. */
struct dpe_read {
	const struct dpe_rule *rule; /* the first that names it */
	const char *lvalue; /* belongs to the specification */
	dpe_name name;      /* in messages */
	bool dispensable;   /* only used in `x ? a : b`, or for a round: the rule works without */
	bool computed;      /* an operand of arithmetic */
	bool whole;         /* a text whose truncation would change verdicts */
	bool behind;        /* what an argument points to, bound by a pattern: without a type, an address */
	bool at_data;       /* a text in a condition of a data event, which is an error */
	size_t longest;     /* bytes of the longest string that the text is compared with */
	struct dpe_place place;
};

/* Accesses to memory, reported by programs that are compiled for it, see docs/memory-accesses.md. Their numbers are the bits
 * of `memory` in a plan. */
enum dpe_memory_events { DPE_MEMORY_EVENTS = 17 };
const char *dpe_memory_event(unsigned number);

/* A variable whose accesses are events. */
struct dpe_watched {
	const char *lvalue; /* belongs to the specification */
	dpe_name event;     /* the name of its messages: "[X']", "[X]" */
	bool access;        /* reads as well, not only updates */
	uint64_t reads;     /* bits: other variables to read there */
	struct dpe_guard guard;
	struct dpe_place place;
};

/* A member of objects whose accesses are events while the object is watched. */
struct dpe_watched_object {
	const struct dpe_object *object; /* belongs to the specification */
	bool access;    /* reads as well, not only updates */
	bool updates;   /* some rule names updates separately */
	uint64_t reads; /* bits: variables to read there */
	struct dpe_place place;
};

/* A variable of a rule that an argument or the result of a function binds. */
struct dpe_plan_binding {
	unsigned rule, variable;
	const char *text;      /* of the variable; belongs to the specification */
	dpe_name name, module; /* of the function */
	unsigned arg;          /* from 0, or DPE_SIGNATURE_RESULT */
	struct dpe_place place;
};

/* A name that an action assigns and no `var` declares: the program may not have a variable of that name. */
struct dpe_plan_assigned {
	const char *name; /* belongs to the specification */
	struct dpe_place place;
};

/* What to observe, made from the rules alone: plain data. */
struct dpe_plan {
	const struct dpe_spec *spec; /* borrowed */
	unsigned nwatched;
	struct dpe_watched *watched;
	unsigned nobjects; /* each may need several watchpoints */
	struct dpe_watched_object *objects;
	bool values, priors; /* what an update left, or replaced, matters to some rule */
	unsigned nreads; /* more than DPE_READS is an error */
	struct dpe_read *reads;
	unsigned nsites;
	struct dpe_plan_site *sites;
	unsigned nbindings;
	struct dpe_plan_binding *bindings;
	unsigned nassigned;
	struct dpe_plan_assigned *assigned;
	bool threads;    /* some pattern is a thread event */
	bool channels, waits; /* … an event of channels; of waits for processes */
	bool founds;     /* threads that exist at the start begin with an event */
	unsigned memory; /* bits: which accesses to memory are events */
	unsigned nflags;
	struct dpe_event_flag flags[DPE_PLAN_FLAGS];
};

#endif
