/* target: the target from its launch, or from dpe joining it, to its end. */
#ifndef DPE_PROBES_TARGET_TARGET_H
#define DPE_PROBES_TARGET_TARGET_H

#include "probes/stream/stream.h"

/* ---- launch.c ------------------------------------------------------------------------ */

/* The child that dpe_launch made. */
struct dpe_child {
	pid_t pid;
	int channel; /* a number lets it exec, closing lets it exit; it sends errno where exec fails
		      */
};

/* Makes the child, which maps the modules' code (so that the kernel reports sites that it cannot
 * observe) and waits. It has our standard files, signal mask, process group and terminal, and the
 * file `inherited`, unless that is -1. Its program is run by `user`, unless that is NULL. */
bool dpe_launch(struct dpe_child *child, const struct dpe_program *program, char *const argv[],
	char *const *environment, int inherited, const struct dpe_user *user,
	const struct dpe_modules *modules, struct dpe_diags *diags);
/* Lets the child exec; 0, or the error of exec as a positive number. */
int dpe_launch_go(struct dpe_child *child);
/* Closes the channel: a child that still waits exits. */
void dpe_launch_close(struct dpe_child *child);

/* ---- load_addresses.c ---------------------------------------------------------------- */

bool dpe_load_addresses_missing(const struct dpe_probes *probes);
/* Finds where the target has mapped its program and libraries. False after an error. */
bool dpe_load_addresses_find(struct dpe_probes *probes, struct dpe_diags *diags);
/* False after an error where some is missing. */
bool dpe_load_addresses_check(const struct dpe_probes *probes, struct dpe_diags *diags);

/* ---- late_mappings.c ----------------------------------------------------------------- */

/* Puts a probe on the dynamic linkers among the modules, which reports what they load. False after
 * one error. */
bool dpe_late_mappings_begin(struct dpe_probes *probes, struct dpe_diags *diags);
/* Looks for files that a process of the target has mapped since, and observes them. */
void dpe_late_mappings_scan(struct dpe_probes *probes, pid_t pid);
/* The same where threads of the target wait for that, which go on then. */
void dpe_late_mappings_answer(struct dpe_probes *probes);

/* ---- process_probes.c ---------------------------------------------------------------- */

/* Those of a process that is observed, where they are missing with those of dynamic linkers; NULL if it
 * has ended, or is not followed. */
struct dpe_process_probes *dpe_process_probes_of(struct dpe_probes *probes, pid_t pid);
/* Puts a probe on a linker that was found late into all processes. False after an error. */
bool dpe_process_probes_add_linker(struct dpe_probes *probes, const struct dpe_linker *linker,
	struct dpe_diags *diags);
/* Takes them out of a process at once; accepts that there are none. */
void dpe_process_probes_end(struct dpe_probes *probes, pid_t pid);
/* Frees those of processes that have ended, without waiting for that. */
void dpe_process_probes_sweep(struct dpe_probes *probes);
void dpe_process_probes_free(struct dpe_probes *probes);

/* ---- follow.c ------------------------------------------------------------------------ */

/* Whether what is to be observed can be in more than one process. False after an error for each
 * thing that cannot. */
bool dpe_follow_check(const struct dpe_probes *probes, struct dpe_diags *diags);
/* Begins to follow, once the programs are loaded and before a process can be stopped. `diags` must
 * outlive it. False after one error. */
bool dpe_follow_begin(struct dpe_probes *probes, struct dpe_diags *diags);
/* Puts probes into programs that processes have begun, and lets them go on. */
void dpe_follow_serve(struct dpe_probes *probes);
/* Puts probes into processes that wait for it, or leaves them; `number`: see dpe_attach_asked. */
void dpe_follow_answer(struct dpe_probes *probes, uint64_t number);
/* The first process has ended, maybe before the kernel's side was there to see it. */
void dpe_follow_first_ended(struct dpe_probes *probes);
/* True while a process that is followed lives. */
bool dpe_follow_is_alive(const struct dpe_probes *probes);
/* SIGSTOP, SIGCONT, SIGKILL to all but the first process; should we die, what is stopped goes on. */
void dpe_follow_signal(struct dpe_probes *probes, int signal);
/* Lets go what is still stopped; accepts that nothing is followed. */
void dpe_follow_free(struct dpe_probes *probes);

/* ---- stop_target.c ------------------------------------------------------------------- */

/* The target is about to be stopped: should we die then, it is continued. */
void dpe_probes_expect_stop(struct dpe_probes *probes);
/* Waits until all threads stand still, for some time at most. */
void dpe_control_wait_stopped(const struct dpe_probes *probes);
/* Continues the target, also if others stopped it. 0 or -errno. */
int dpe_control_continue(struct dpe_probes *probes);
/* Makes the one that continues the target; where `state` is given, only if we or an event stopped it.
 * 0 or -errno. */
int dpe_watchdog_start(struct dpe_watchdog *watchdog, int pidfd, struct dpe_guard_state *state);

/* ---- stops.c ------------------------------------------------------------------------- */

/* From now on events may. False after an error. */
bool dpe_stops_enable(struct dpe_probes *probes, struct dpe_diags *diags);
/* Whether an event has stopped the target that we have not continued since. */
bool dpe_stops_pending(const struct dpe_probes *probes);
/* Before the ring is read, and after all that was in it was handed over (`complete`). */
void dpe_stops_scan(struct dpe_probes *probes);
void dpe_stops_settle(struct dpe_probes *probes, bool complete, const struct dpe_probes_sink *sink);
/* No event stops the target any more, and if one has, it goes on. The programs must still be there. */
void dpe_stops_disable(struct dpe_probes *probes);

/* ---- packs.c ------------------------------------------------------------------------- */

/* Says, in a line each, which languages and libraries the target uses that order its threads by means of their own, and
 * whether what these order is observed. False after an error where the rules are about threads, and the target is not. */
bool dpe_packs_report(const struct dpe_probes *probes, struct dpe_diags *diags);

/* ---- futex_scan.c -------------------------------------------------------------------- */

/* Threads that were asleep when they were looked at last. */
struct dpe_sleeper {
	pid_t thread;
	uint64_t futex, times; /* in which, and how often it has slept */
	uint64_t seen;         /* when first */
};

#endif
