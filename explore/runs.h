/* runs: what the files of the room share. */
#ifndef DPE_EXPLORE_RUNS_H
#define DPE_EXPLORE_RUNS_H

#include "explore/explore.h"
#include "explore/sched/sched.h"
#include "probes/process/process.h"

/* ---- strategies.c ------------------------------------------------------------------------ */

struct dpe_strategy {
	enum dpe_sched_strategy strategy;
	unsigned depth; /* of PCT */
	unsigned bound; /* of preemptions, of DFS; UINT_MAX: none */
	bool full; /* DFS without reduction */
};
/* The strategy of a run (numbered from 0) if the name is the portfolio's. False if there is no strategy of that
 * name. */
bool dpe_strategy_find(const char *name, unsigned run, struct dpe_strategy *found);

/* ---- symbols.c ---------------------------------------------------------------------------- */

struct dpe_symbols {
	struct dpe_modules modules;
	struct dpe_map *maps;
	unsigned count, cap;
	bool (*is_of_library)(const char *frame); /* see dpe_explore_options; or NULL */
};
/* The program and the libraries that the process has mapped. */
void dpe_symbols_read(struct dpe_symbols *symbols, pid_t pid);
void dpe_symbols_free(struct dpe_symbols *symbols);
/* "main+0x1f (prog.c:12)", of a return address; of code inlined there "lock (inlined) (prog.c:3) by main…". Code of libraries is left out
 * where it is inlined in other code, or other code in it. */
void dpe_place_print(const struct dpe_symbols *symbols, uint64_t pc, struct dpe_text *to);
/* Whether all code there, of a return address, is of libraries' headers. */
bool dpe_place_is_of_library(const struct dpe_symbols *symbols, uint64_t pc);
/* "'lock'", or the address if there is no variable. */
void dpe_object_print(const struct dpe_symbols *symbols, uint64_t address, struct dpe_text *to);
/* The same as texts of the caller's; NULL: 0, or a place in no file, such as the kernel's for observed returns. */
char *dpe_place_text(const struct dpe_symbols *symbols, uint64_t pc);
char *dpe_object_text(const struct dpe_symbols *symbols, uint64_t object);
/* The program's build id in hexadecimal; "none". */
void dpe_build_id_print(const struct dpe_symbols *symbols, struct dpe_text *to);

/* ---- crash_place.c ----------------------------------------------------------------------- */

/* As a return address; 0: not known. */
uint64_t dpe_crash_place(const struct dpe_symbols *symbols, struct dpe_sched_crash *crash);

/* ---- server.c ---------------------------------------------------------------------------- */

/* The process that forks one for each run. */
struct dpe_server {
	struct dpe_sched_header *memory;
	struct dpe_symbols symbols;
	pid_t pid;
	int commands; /* a socket: a byte begins a run, its wait status ends it */
	int errors;   /* holds the run's standard error; -1: it goes to ours */
	unsigned seconds;
	const char *setup; /* a command before each run, or NULL */
	const volatile sig_atomic_t *interrupted; /* as in the options */
	const struct dpe_explore_rules *rules; /* or NULL */
	bool (*debugger)(void *context, pid_t run); /* as in the options */
	void *debugging;
	/* NULL, or answers the question in the shared memory; false: end the run. */
	bool (*answer)(void *context);
	void *answering; /* its context */
	struct dpe_text outside; /* places where threads were not controlled, a line each */
};

/* Starts it. False after a diagnostic. */
bool dpe_server_start(struct dpe_server *server, const struct dpe_explore_options *options,
	struct dpe_diags *diags);
void dpe_server_stop(struct dpe_server *server);
/* The last line of its standard error; owned by the caller, or NULL. */
char *dpe_server_last_words(const struct dpe_server *server);

struct dpe_explored_run {
	int status;    /* as of wait(2) */
	bool timed_out;
	bool replaced; /* ended by an exec of another program */
};
/* Makes one run, as described in the shared memory. False if no more are possible, after a diagnostic unless it was interrupted. */
bool dpe_server_run(struct dpe_server *server, struct dpe_explored_run *run, struct dpe_diags *diags);
bool dpe_server_is_interrupted(const struct dpe_server *server);

/* ---- uncontrolled.c ---------------------------------------------------------------------- */

/* Checks a run periodically: a thread that blocks in the kernel, or computes for long, runs uncontrolled, and
 * another one continues. */
struct dpe_run_watch {
	uint32_t running, steps;
	uint64_t cpu; /* ns of processor time of the thread */
	bool asleep;  /* it was so at the last check */
	bool known;
};
void dpe_watch_run(struct dpe_server *server, struct dpe_run_watch *watch);

/* How long a run had a processor, or waited for anything else than one, in ns; then what is known of the last look. */
struct dpe_run_time {
	uint64_t had;
	uint64_t looked, cpu; /* the clocks of ours and of the run's process; 0: not yet */
};
/* Adds the time since the last look. If the run's thread waits for something, that counts in full, but little if we look
 * rarely, since the run may have waited for a processor as we did. */
void dpe_run_time_add(const struct dpe_server *server, struct dpe_run_time *time);

/* ---- run_findings.c ---------------------------------------------------------------------- */

/* A finding; the texts are for dpe_text_free. */
struct dpe_finding {
	struct dpe_text what; /* one line: "deadlock (2 threads)" */
	struct dpe_text details; /* further lines */
	struct dpe_text cause; /* a key that is equal for equal findings */
	const char *kind; /* as in struct dpe_explore_found */
	struct dpe_explore_place *places;
	unsigned nplaces, capplaces;
	bool found;
};
/* The finding of the server's last run. `first_status` is the exit status that is not a finding, or -1. */
void dpe_finding_read(struct dpe_finding *finding, const struct dpe_server *server,
	const struct dpe_explored_run *run, const char *fails, int first_status);
/* A race that the run had on its way. */
void dpe_finding_read_race(struct dpe_finding *finding, const struct dpe_server *server, const struct dpe_sched_race *race);
void dpe_finding_free(struct dpe_finding *finding);
/* "pthread_mutex_lock of 'm' at main+0x1f (prog.c:12)" */
void dpe_operation_print(
	const struct dpe_symbols *symbols, const struct dpe_sched_op *op, struct dpe_text *to);
/* False, after a diagnostic, if the text is not a list of statuses. */
bool dpe_fails_check(const char *fails, struct dpe_diags *diags);

/* ---- schedule_file.c --------------------------------------------------------------------- */

struct dpe_schedule {
	struct dpe_sched_switch *at;
	unsigned count, cap;
	uint64_t epoch;
	uint64_t race[2]; /* as in the library's memory */
	bool spurious;
	char *build_id, *finding; /* or NULL */
};
/* The schedule of the last run. */
void dpe_schedule_take(struct dpe_schedule *schedule, const struct dpe_sched_header *memory);
/* As if the last run had been made by it. */
void dpe_schedule_put_back(const struct dpe_schedule *schedule, struct dpe_sched_header *memory);
/* Makes the next run follow it. */
void dpe_schedule_give(const struct dpe_schedule *schedule, struct dpe_sched_header *memory);
void dpe_schedule_free(struct dpe_schedule *schedule);
bool dpe_schedule_write(const struct dpe_schedule *schedule, const char *path,
	const struct dpe_server *server, char *const *argv, struct dpe_diags *diags);
bool dpe_schedule_read(struct dpe_schedule *schedule, const char *path, struct dpe_diags *diags);
const char *dpe_sched_kind_name(unsigned kind);

/* ---- finding_data.c ---------------------------------------------------------------------- */

/* Passes a finding and its schedule to the listener. */
void dpe_announce(const struct dpe_explore_listener *listener, const struct dpe_server *server,
	const struct dpe_finding *finding, const struct dpe_schedule *schedule,
	struct dpe_explore_found *found);

/* ---- confirm.c --------------------------------------------------------------------------- */

/* A prediction to be confirmed, in terms of the library; `what` is owned by the caller. */
struct dpe_target {
	char *what;
	char *cause; /* NULL: a deadlock, or a race */
	uint64_t race[2]; /* the places of its accesses; 0: none */
	struct dpe_sched_turn *turns;
	uint64_t *objects; /* of a deadlock: what the thread of each turn waits for */
	unsigned nturns;
	const char *unknown; /* why it has no turns; or NULL */
};
struct dpe_targets {
	struct dpe_target *at;
	unsigned count, cap;
	unsigned left_out;
};
/* Called after the run in which they were predicted. */
void dpe_targets_take(struct dpe_targets *targets, const struct dpe_explore_prediction *predictions,
	unsigned count, const struct dpe_server *server);
/* Steers the next run there, for the n-th time. */
void dpe_target_give(const struct dpe_target *target, struct dpe_sched_header *memory, unsigned n);
/* Whether the last run, which ended with this, shows what was predicted. */
bool dpe_target_is_met(const struct dpe_target *target, const struct dpe_finding *finding,
	const struct dpe_server *server);
void dpe_targets_free(struct dpe_targets *targets);

/* ---- delays.c ---------------------------------------------------------------------------- */

/* All schedules, those with few delays first (M. Emmi, S. Qadeer, Z. Rakamarić: Delay-Bounded Scheduling,
 * POPL 2011). A node is a run: its parent's delays and one more. */
struct dpe_delay_node {
	const struct dpe_delay_node *parent; /* NULL: the run without delays */
	struct dpe_sched_delay delay;
};
struct dpe_delays {
	struct dpe_delay_node **level, **next; /* to be run; those with one delay more */
	unsigned nlevel, caplevel, nnext, capnext;
	struct dpe_delay_node **done;
	unsigned ndone, capdone;
	uint64_t dice;
	uint32_t learned; /* the input of the tree; another input makes another tree */
	bool begun, cut; /* nodes were left out */
};
/* Writes the next run to the shared memory; false if there is none. */
bool dpe_delays_give(struct dpe_delays *delays, struct dpe_sched_header *memory);
/* To be called after that run. */
void dpe_delays_take(struct dpe_delays *delays, const struct dpe_sched_header *memory);
void dpe_delays_free(struct dpe_delays *delays);

/* ---- minimise.c -------------------------------------------------------------------------- */

/* Tests whether the schedule still leads to the finding. */
struct dpe_oracle {
	bool (*leads)(void *context, const struct dpe_schedule *schedule);
	void *context;
};
/* The schedule without `count` switches from `begin` on; its switches are for free(), the rest is shared. */
void dpe_schedule_leave_out(const struct dpe_schedule *from, unsigned begin, unsigned count,
	struct dpe_schedule *to);
/* Leaves out switches as long as the schedule leads there (A. Zeller, R. Hildebrandt: Simplifying and
 * Isolating Failure-Inducing Input, TSE 2002). */
void dpe_schedule_minimise(struct dpe_schedule *schedule, const struct dpe_oracle *oracle);

#endif
