/* exits: where the returns of a function are observed, other than by a return probe.
 *
 * A return probe costs two visits to the kernel, one at the entry and one at the return, and probes on the
 * `ret`s would be single-stepped. But often a function's last jump before a `ret` is one that the kernel
 * emulates: where the rest of the way is nothing but tidying up, the event is told there. Only all
 * the ways out of a function together take the place of the return probe. */
#ifndef DPE_PROBES_PLAN_EXITS_H
#define DPE_PROBES_PLAN_EXITS_H

#include "probes/kernel/bpf/record.h"
#include "probes/binary/module.h"

/* What returns are observed for. */
struct dpe_exit_use {
	unsigned nwords;  /* so many words of the call are needed, of those in registers, … */
	unsigned nresult; /* … and so many of rax and rdx as they are at the return */
	bool may_write;  /* what the function writes at last is nobody's business */
};

/* One of the places. */
struct dpe_exit_point {
	bool leaves; /* a jump to another function, which returns for this one: a return probe begins there */
	struct dpe_point_entry entry; /* but for the site; of one that leaves only `distance` and `nwords` */
	const char *instruction;
	const char *when; /* "": always */
};

struct dpe_exits {
	struct dpe_exit_point *points;
	unsigned count;
	const char *reason; /* why there are none; NULL where there are */
};

/* Finds them, in the arena. */
struct dpe_exits dpe_place_exits(struct dpe_module *module, const struct dpe_function *function,
	const struct dpe_exit_use *use, bool emulates_nops, struct dpe_arena *arena);

#endif
