/* target_signals: signals to the target, and the watchdog that waits while it is stopped. */
#include "probes/target/target.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/pidfd.h>
#include <time.h>

/* ---- its watchdog ------------------------------------------------------------------------ */

struct stopped {
	int pidfd;
	struct dpe_guard_state *state;
};

static void let_go(const void *context)
{
	const struct stopped *stopped = context;

	if (!stopped->state || dpe_guards_quiesce(stopped->state))
		pidfd_send_signal(stopped->pidfd, SIGCONT, NULL, 0);
}

int dpe_watchdog_start(struct dpe_watchdog *watchdog, int pidfd, struct dpe_guard_state *state)
{
	const struct stopped stopped = {pidfd, state};
	const struct dpe_watchdog_task duty = {
		.act = let_go, .context = &stopped, .files = {pidfd}, .nfiles = 1};

	return dpe_watchdog_make(watchdog, &duty);
}

/* ---- the target -------------------------------------------------------------------------- */

struct stopping {
	pid_t pid;
	bool done; /* all threads that were looked at are stopped */
};

static bool is_stopped(void *context, pid_t thread)
{
	struct stopping *stopping = context;
	struct dpe_proc_stat stat;

	stopping->done = !dpe_proc_stat(stopping->pid, thread, &stat) || strchr("TtZX", stat.state);
	return stopping->done;
}

static bool all_stopped(pid_t pid)
{
	struct stopping stopping = {pid, true};

	dpe_threads_each(pid, is_stopped, &stopping);
	return stopping.done;
}

/* A thread inside the kernel stops when it leaves it; no thread runs code of the program any more. */
void dpe_control_wait_stopped(const struct dpe_probes *probes)
{
	struct timespec pause = {.tv_nsec = DPE_STOPPED_PAUSE};

	for (int i = 0; i < DPE_STOPPED_TRIES && !all_stopped(probes->pid); i++) {
		nanosleep(&pause, NULL);
		if (pause.tv_nsec < DPE_MAX_STOPPED_PAUSE)
			pause.tv_nsec *= 2;
	}
}

int dpe_control_send(const struct dpe_probes *probes, int signal)
{
	if (probes->exited || probes->pidfd < 0)
		return -ESRCH;
	return pidfd_send_signal(probes->pidfd, signal, NULL, 0) ? -errno : 0;
}

int dpe_control_continue(struct dpe_probes *probes)
{
	return dpe_control_send(probes, SIGCONT);
}

void dpe_control_note_stopped(struct dpe_probes *probes, bool stopped)
{
	probes->stopped = stopped;
	if (probes->guards->stops_target)
		__atomic_store_n(&probes->guards->state->held, stopped, __ATOMIC_SEQ_CST);
	else if (!stopped)
		dpe_watchdog_dismiss(probes->watchdog);
}

void dpe_probes_expect_stop(struct dpe_probes *probes)
{
	dpe_control_note_stopped(probes, !dpe_watchdog_start(probes->watchdog, probes->pidfd, NULL));
}
