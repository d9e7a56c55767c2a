/* target: the target from its launch, or from attaching to it, to its end. */
#ifndef DPE_PROBES_TARGET_TARGET_H
#define DPE_PROBES_TARGET_TARGET_H

#include "probes/stream/stream.h"

/* ---- launch.c ------------------------------------------------------------------------ */

/* The child that dpe_launch made. */
struct dpe_child {
	pid_t pid;
	int channel; /* a number lets it exec, closing makes it exit; it sends errno if exec fails */
};

struct dpe_launch {
	const struct dpe_program *program;
	char *const *argv, *const *environment;
	int inherited; /* a file that it has besides our standard ones; -1: none */
	const struct dpe_user *user; /* as whom it runs; NULL: as we do */
	const struct dpe_modules *modules;
};

/* Makes the child, which maps the modules' code (so that the kernel reports sites that it cannot observe) and
 * waits. It has our signal mask, process group and terminal. */
bool dpe_launch(struct dpe_child *child, const struct dpe_launch *launch, struct dpe_diags *diags);
/* Lets the child exec; 0, or the error of exec as a positive number. */
int dpe_launch_go(struct dpe_child *child);
/* Closes the channel: a child that still waits exits. */
void dpe_launch_close(struct dpe_child *child);

/* ---- load_addresses.c ---------------------------------------------------------------- */

bool dpe_load_addresses_missing(const struct dpe_probes *probes);
/* Finds the addresses at which the target has mapped its program and libraries. False after an error. */
bool dpe_load_addresses_find(struct dpe_probes *probes, struct dpe_diags *diags);
/* False after an error where some is missing. */
bool dpe_load_addresses_check(const struct dpe_probes *probes, struct dpe_diags *diags);

/* ---- late_mappings.c ----------------------------------------------------------------- */

/* Puts a probe on each dynamic linker among the modules, which reports what it loads. False after one error. */
bool dpe_late_mappings_begin(struct dpe_probes *probes, struct dpe_diags *diags);
/* Finds files that a process of the target has mapped since the last call, and observes them. */
void dpe_late_mappings_scan(struct dpe_probes *probes, pid_t pid);

/* ---- process_probes.c ---------------------------------------------------------------- */

/* The probes of an observed process, including those of dynamic linkers, which are added if missing; NULL if it
 * has ended, or is not followed. */
struct dpe_process_probes *dpe_process_probes_of(struct dpe_probes *probes, pid_t pid);
/* Puts a probe on a linker that was found late into all processes. False after an error. */
bool dpe_process_probes_add_linker(struct dpe_probes *probes, const struct dpe_linker *linker,
	struct dpe_diags *diags);
/* Removes them from a process at once; accepts that there are none. */
void dpe_process_probes_end(struct dpe_probes *probes, pid_t pid);
/* Frees those of processes that have ended, in the background. */
void dpe_process_probes_sweep(struct dpe_probes *probes);
void dpe_process_probes_free(struct dpe_probes *probes);

/* ---- follow.c ------------------------------------------------------------------------ */

/* Whether everything in the plan can be observed in more than one process. False after an error for each thing
 * that cannot. */
bool dpe_follow_check(const struct dpe_probes *probes, struct dpe_diags *diags);
/* Begins to follow, once the programs are loaded and before a process can be stopped. `diags` must
 * outlive it. False after one error. */
bool dpe_follow_begin(struct dpe_probes *probes, struct dpe_diags *diags);
/* Puts probes into programs that processes have begun, and continues them. */
void dpe_follow_serve(struct dpe_probes *probes);
/* Serves what waits in the kernel, which then continues: threads that mapped files, processes that began a program. */
void dpe_requests_answer(struct dpe_probes *probes);
/* The first process has ended, perhaps before the BPF programs were attached. */
void dpe_follow_first_ended(struct dpe_probes *probes);
/* True while a process that is followed lives. */
bool dpe_follow_is_alive(const struct dpe_probes *probes);
/* Sends SIGSTOP, SIGCONT or SIGKILL to all but the first process; what is stopped is continued if we die. */
void dpe_follow_signal(struct dpe_probes *probes, int signal);
/* Continues what is still stopped; accepts that nothing is followed. */
void dpe_follow_free(struct dpe_probes *probes);

/* ---- target_signals.c, stop_target.c ------------------------------------------------------------------- */

/* The target is about to be stopped: makes sure that it is continued if we die. */
void dpe_probes_expect_stop(struct dpe_probes *probes);
/* Waits a limited time until all threads have stopped. */
void dpe_control_wait_stopped(const struct dpe_probes *probes);
/* Continues the target, also if others stopped it. 0 or -errno. */
int dpe_control_continue(struct dpe_probes *probes);
int dpe_control_send(const struct dpe_probes *probes, int signal);
/* Events may stop the target at any moment, so its watchdog stays, and must know that we are alive. */
void dpe_control_note_stopped(struct dpe_probes *probes, bool stopped);
/* Makes the watchdog that continues the target; if `state` is given, only if we or an event stopped it. 0 or
 * -errno. */
int dpe_watchdog_start(struct dpe_watchdog *watchdog, int pidfd, struct dpe_guard_state *state);

/* ---- event_stops.c ------------------------------------------------------------------- */

/* From now on events may stop the target. False after an error. */
bool dpe_stops_enable(struct dpe_probes *probes, struct dpe_diags *diags);
/* Whether an event has stopped the target, and we have not continued it since. */
bool dpe_stops_pending(const struct dpe_probes *probes);
/* Called before the rings are read, and after all their records were handed over (`complete`). */
void dpe_stops_scan(struct dpe_probes *probes);
void dpe_stops_settle(struct dpe_probes *probes, bool complete, const struct dpe_probes_sink *sink);
/* Forbids stops by events, and continues the target if one has stopped it. The programs must still be
 * attached. */
void dpe_stops_disable(struct dpe_probes *probes);

/* ---- packs.c ------------------------------------------------------------------------- */

/* Recognises a Go program. False after an error where its goroutines cannot be observed as the rules want it. */
bool dpe_packs_check(struct dpe_probes *probes, struct dpe_diags *diags);
/* Reports, in a line each, the languages and libraries with their own synchronisation that the target uses, and whether
 * that is observed. */
void dpe_packs_report(const struct dpe_probes *probes, struct dpe_diags *diags);

/* ---- futex_scan.c -------------------------------------------------------------------- */

/* Threads that were asleep at the last scan. */
struct dpe_sleeper {
	pid_t thread;
	uint64_t futex, times; /* the futex, and how often the thread has slept */
	uint64_t seen;         /* when it was first found asleep there */
};

#endif
