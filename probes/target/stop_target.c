/* stop_target: stopping, continuing and killing the target. While it is stopped, a watchdog waits.
 */
#include "probes/limits.h"
#include "probes/process/process.h"
#include "probes/target/target.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/pidfd.h>
#include <time.h>
#include <unistd.h>

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
static void wait_stopped(pid_t pid)
{
	struct timespec pause = {.tv_nsec = DPE_STOPPED_PAUSE};

	for (int i = 0; i < DPE_STOPPED_TRIES && !all_stopped(pid); i++) {
		nanosleep(&pause, NULL);
		if (pause.tv_nsec < DPE_STOPPED_PAUSE_MOST)
			pause.tv_nsec *= 2;
	}
}

static int send_signal(const struct dpe_probes *probes, int signal)
{
	if (probes->exited || probes->pidfd < 0)
		return -ESRCH;
	return pidfd_send_signal(probes->pidfd, signal, NULL, 0) ? -errno : 0;
}

void dpe_control_wait_stopped(const struct dpe_probes *probes)
{
	wait_stopped(probes->pid);
}

int dpe_control_continue(struct dpe_probes *probes)
{
	return send_signal(probes, SIGCONT);
}

/* Events may stop the target at any moment, so its watchdog stays, and must know that we are alive. */
static void note_stopped(struct dpe_probes *probes, bool stopped)
{
	probes->stopped = stopped;
	if (probes->guards->stops_target)
		__atomic_store_n(&probes->guards->state->held, stopped, __ATOMIC_SEQ_CST);
	else if (!stopped)
		dpe_watchdog_dismiss(probes->watchdog);
}

void dpe_probes_expect_stop(struct dpe_probes *probes)
{
	note_stopped(probes, !dpe_watchdog_start(probes->watchdog, probes->pidfd, NULL));
}

static int stop_first(struct dpe_probes *probes)
{
	int error = dpe_watchdog_start(probes->watchdog, probes->pidfd, NULL);

	if (error)
		return error;
	note_stopped(probes, true);
	dpe_guards_await(probes); /* a pending signal comes before ours */
	error = send_signal(probes, SIGSTOP);
	if (error)
		note_stopped(probes, false);
	else
		wait_stopped(probes->pid);
	return error;
}

int dpe_probes_stop(struct dpe_probes *probes)
{
	int error = 0;

	if (probes->stopped)
		return 0;
	if ((probes->exited || probes->pidfd < 0) && !dpe_follow_is_alive(probes))
		return -ESRCH;
	dpe_follow_signal(probes, SIGSTOP);
	if (probes->exited)
		note_stopped(probes, true);
	else
		error = stop_first(probes);
	if (error)
		dpe_follow_signal(probes, SIGCONT);
	return error;
}

int dpe_probes_continue(struct dpe_probes *probes)
{
	int error = 0;

	dpe_follow_signal(probes, SIGCONT);
	if (!probes->stopped)
		return 0;
	/* If events stopped it that are not matched yet, it continues once they are. */
	if (!probes->exited && !dpe_stops_pending(probes))
		error = dpe_control_continue(probes);
	note_stopped(probes, false);
	return error;
}

int dpe_probes_kill(struct dpe_probes *probes)
{
	int error;

	dpe_follow_signal(probes, SIGKILL);
	error = send_signal(probes, SIGKILL);
	if (!error || probes->exited)
		note_stopped(probes, false);
	return error;
}

void dpe_probes_leave(struct dpe_probes *probes)
{
	dpe_preload_shut(probes);
	dpe_detach(probes);
	if (probes->guards->state)
		dpe_guards_quiesce(probes->guards->state);
	if (probes->stopped)
		dpe_keep_process_group(probes->child->pid, probes->pidfd);
	dpe_watchdog_dismiss(probes->watchdog);
	probes->guards->stops_target = probes->stopped = false;
	probes->started = probes->exited = true; /* as far as we are concerned */
	if (probes->pidfd >= 0)
		close(probes->pidfd);
	probes->pidfd = -1;
}
