/* explore: runs a program under one schedule after another, until one breaks it. */
#ifndef DPE_EXPLORE_EXPLORE_H
#define DPE_EXPLORE_EXPLORE_H

#include "dpe/dpe-base.h"

#include <signal.h>
#include <sys/types.h>

/* The texts of a finding: one line; a key that is equal for equal findings; whole lines. */
struct dpe_explore_text {
	struct dpe_text *what, *cause, *details;
	bool found;
};

/* A turn of a predicted run: the thread runs up to what it did at this time of the observed run. */
struct dpe_explore_turn {
	pid_t thread;
	uint64_t time; /* ns of CLOCK_MONOTONIC */
	uint64_t object; /* of a deadlock: what it waits for */
	const char *call; /* the function that it called then; or NULL */
	bool may_wait; /* … it returned from a call that may wait; it may also still be in it */
	bool before;   /* the same, and it has to be in it */
};

struct dpe_explore_prediction {
	const char *what; /* one line */
	const char *cause; /* the key of a finding that confirms it; NULL: a deadlock, or a race */
	/* The places of a race of two accesses, which needs no turns, as texts that have "function+0xOFFSET" or are "FILE:LINE"; NULL: another
	 * kind of prediction. */
	const char *accesses[2];
	const struct dpe_explore_turn *turns;
	unsigned nturns;
	const char *unknown; /* why there are no turns; or NULL */
};

/* The caller's rules, which are followed in each run. */
struct dpe_explore_rules {
	void *context;
	/* Called before the first run, with the waiting process that will fork the runs, and the signal that a
	 * thread gets at an event, where another thread may then proceed. False after a diagnostic. */
	bool (*begin)(void *context, pid_t fork_server, int signal);
	/* Called during a run: takes events for at most `ms` milliseconds. */
	void (*wait)(void *context, int ms);
	/* Called after a run; `whole`: the program ended by itself. False, after a diagnostic, if the rules
	 * cannot be followed. */
	bool (*end_run)(void *context, bool whole, struct dpe_explore_text *finding);
	/* Sets whether the next runs are only observed for predictions; and gives the predictions of the last
	 * run. */
	void (*predict)(void *context, bool predicting);
	const struct dpe_explore_prediction *(*predictions)(void *context, unsigned *count);
	/* Whether the last run had a finding with this cause. */
	bool (*shows)(void *context, const char *cause);
	/* Called at the end: reports what could not be decided; false if there is anything. */
	bool (*finish)(void *context, FILE *to);
};

/* A thread at its place in a finding. NULL or 0: none. */
struct dpe_explore_place {
	unsigned thread, held_by;
	const char *operation;
	char *object, *mutex, *place;
};

/* A switch of a schedule: at this operation of the thread, `next` continues. */
struct dpe_explore_switch {
	unsigned thread, step, next;
	const char *operation;
	char *object, *place;
};

struct dpe_explore_found {
	const char *kind; /* deadlock, misuse, race, signal, exit, rule */
	const char *what, *details; /* one line; lines, or NULL */
	const struct dpe_explore_place *places;
	const struct dpe_explore_switch *switches;
	unsigned nplaces, nswitches;
	unsigned run; /* 0: a replay */
	const char *predicted; /* the prediction that this confirms; or NULL */
	unsigned choices; /* switches before the schedule was minimised */
	const char *file; /* of the schedule; NULL: it could not be written */
	bool again; /* the schedule led to the finding again */
};

struct dpe_explore_total {
	unsigned runs, findings;
	bool all; /* schedules were run */
	const char *notes; /* lines: what was not controlled or not decided, and how often findings were seen */
	int verdict; /* enum dpe_explored */
};

/* Instead of the report as text. */
struct dpe_explore_listener {
	void *context;
	void (*found)(void *context, const struct dpe_explore_found *found);
	void (*total)(void *context, const struct dpe_explore_total *total);
};

struct dpe_explore_options {
	char *const *argv;    /* the program, ended by NULL */
	const char *library;  /* the path of libdpe-sched.so */
	const char *strategy; /* see --strategy in docs/explore-strategies.md */
	const char *output;   /* the file for a schedule that was found */
	const char *replay;   /* a schedule to follow instead of exploring, or NULL */
	const char *fails;    /* exit statuses that count as found: "1,3,10-20"; NULL: others than the first run's */
	bool (*is_of_library)(const char *frame); /* whether its source is not the program's own: those are not printed */
	bool color;           /* of the headings of findings */
	const char *setup;    /* a command for the shell before each run, or NULL */
	const struct dpe_explore_rules *rules; /* or NULL */
	unsigned runs;
	unsigned seed;
	unsigned max_steps; /* operations of a run */
	unsigned seconds;   /* of a run */
	bool confirm;       /* steer towards what the rules predict, and report nothing else */
	bool keep_going;    /* continue after a finding */
	bool races;         /* two accesses that threads are about to make at the same time are a finding */
	bool spurious;      /* spurious wakeups of condition variables */
	bool allow_unobserved; /* a program without a second thread is no reason to be inconclusive */
	/* NULL, or for a replay: called repeatedly while the run waits before main, until it returns false: a
	 * debugger is attached. */
	bool (*debugger)(void *context, pid_t run);
	void *debugging; /* its context */
	FILE *commands;     /* of dpe_explore_step */
	const volatile sig_atomic_t *interrupted; /* set by a signal handler: no more runs are made, and the report ends; or NULL */
	FILE *to;           /* the report */
	const struct dpe_explore_listener *listener; /* or NULL */
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

/* Runs the program from one macrostep to the next by commands; with `replay`, the default choices are those of
 * the schedule. */
enum dpe_explored dpe_explore_step(
	const struct dpe_explore_options *options, struct dpe_diags *diags);

#endif
