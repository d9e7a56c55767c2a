/* exploration: the state of an exploration, and the functions that its files share. Private to explore. */
#ifndef DPE_EXPLORE_EXPLORATION_H
#define DPE_EXPLORE_EXPLORATION_H

#include "explore/dfs.h"
#include "explore/runs.h"

#include <stdio.h>

struct dpe_known_finding {
	char *cause, *what;
	unsigned times;
};

/* An exploration. */
struct dpe_exploration {
	const struct dpe_explore_options *options;
	struct dpe_diags *diags;
	struct dpe_server server;
	FILE *to; /* the report as text; into memory if there is a listener */
	char *text;
	size_t text_size, notes, notes_end; /* the notes are a part of the text */
	struct dpe_known_finding *known;
	unsigned nknown, capknown;
	unsigned runs, cut, yielding, stuck, timed_out, crowded, uncontrolled;
	unsigned forked, replaced, unseen, nested;
	bool reports; /* the program does, its accesses to memory */
	bool scheduled; /* some run had a second thread, or a choice */
	struct dpe_delays delays;
	struct dpe_dfs dfs;
	const struct dpe_target *target; /* towards which runs are steered; or NULL */
	struct dpe_text unreached; /* predictions, a line each */
	unsigned confirmed, predicted;
	unsigned nraces; /* that were reported, the first of those in the memory */
	bool complete; /* all schedules were run */
	bool by_dfs; /* alone */
	bool without_dfs; /* the portfolio is */
	bool ended; /* no schedule is left, as far as known */
	unsigned pruned; /* runs that were equivalent to others */
	int first_status; /* exit status; -1: not known yet */
	const char *cause; /* while minimising: of the finding to be kept */
	bool broken; /* no more runs are possible */
	bool interrupted; /* no more are wanted */
	bool undecided; /* findings of the rules */
};

/* ---- exploration.c ----------------------------------------------------------------------- */

/* The process that makes the runs, and the rules' view of it. */
bool dpe_exploration_begin(struct dpe_exploration *exploration);
/* Makes one run, as described in the shared memory. False if no more are possible or wanted. */
bool dpe_exploration_run(struct dpe_exploration *exploration, struct dpe_explored_run *run);
/* Counts a run that did not end with the program's end. */
void dpe_exploration_count(struct dpe_exploration *exploration, const struct dpe_explored_run *run);
/* The finding of the run, or of its rules; for dpe_finding_free. */
void dpe_exploration_read(struct dpe_exploration *exploration, const struct dpe_explored_run *run,
	struct dpe_finding *finding);
/* No run ended where its schedule might have continued. */
bool dpe_exploration_is_whole(const struct dpe_exploration *exploration);
enum dpe_explored dpe_exploration_verdict(const struct dpe_exploration *exploration);

/* ---- next_run.c -------------------------------------------------------------------------- */

/* Chooses a schedule and makes the run; false if exploring ends with it. */
bool dpe_exploration_once(struct dpe_exploration *exploration, unsigned number);

/* ---- finding_schedule.c ------------------------------------------------------------------ */

/* Whether a finding of the same cause was reported; adds `times` to its count. */
bool dpe_exploration_has_reported(struct dpe_exploration *exploration, const struct dpe_finding *finding, unsigned times);
/* "found.schedule" of the first finding, "found-2.schedule"; the caller's. */
char *dpe_exploration_file(const struct dpe_exploration *exploration, unsigned number);
/* Reports a finding of that run, with its schedule, minimised, in a file. The finding becomes that of this schedule. */
void dpe_exploration_report(
	struct dpe_exploration *exploration, struct dpe_finding *finding, unsigned run);

/* ---- race_findings.c --------------------------------------------------------------------- */

/* Reports the races that the last run had first; false if there are none. */
bool dpe_exploration_take_races(struct dpe_exploration *exploration, unsigned run);
/* At the end: counts in how many runs they occurred. */
void dpe_exploration_count_races(struct dpe_exploration *exploration);

/* ---- summary.c --------------------------------------------------------------------------- */

/* The notes begin, or end, at this point of the report's text. */
void dpe_exploration_mark(struct dpe_exploration *exploration, size_t *at);
/* Reports what could not be explored. */
void dpe_exploration_limits(struct dpe_exploration *exploration);
/* The end of the report. */
void dpe_exploration_end(struct dpe_exploration *exploration);

/* ---- steer_runs.c, replay.c -------------------------------------------------------------- */

enum dpe_explored dpe_exploration_confirm(struct dpe_exploration *exploration);
enum dpe_explored dpe_exploration_replay(struct dpe_exploration *exploration);

#endif
