/* explore: runs a program under one schedule after another, until one breaks it. */
#ifndef DPE_EXPLORE_EXPLORE_H
#define DPE_EXPLORE_EXPLORE_H

#include "dpe/dpe-base.h"

struct dpe_explore_options {
	char *const *argv;    /* the program, ended by NULL */
	const char *library;  /* the path of libdpe-sched.so */
	const char *strategy; /* portfolio, random, pct:D, pos, surw */
	const char *output;   /* the file for a schedule that was found */
	const char *replay;   /* a schedule to follow instead of exploring, or NULL */
	const char *fails;    /* exit statuses that count as found: "1,3,10-20"; NULL: others than the first run's */
	const char *setup;    /* a command for the shell before each run, or NULL */
	unsigned runs;
	unsigned seed;
	unsigned max_steps; /* operations of a run */
	unsigned seconds;   /* of a run */
	bool keep_going;    /* after something was found */
	bool spurious;      /* waits for conditions return without a reason, too */
	FILE *to;           /* the report */
};

enum dpe_explored {
	DPE_EXPLORED_NOTHING,
	DPE_EXPLORED_FOUND,
	DPE_EXPLORED_FAILED, /* after a diagnostic */
	DPE_EXPLORED_INCONCLUSIVE,
};

/* Runs the program, and reports what was found and what was not controlled. Schedules that were found
 * are written to the file `output`, later ones to `output` with a number before its last dot. */
enum dpe_explored dpe_explore(
	const struct dpe_explore_options *options, struct dpe_diags *diags);

#endif
