/* stop_target: stopping, continuing and killing the target. */
#include "probes/target/target.h"

#include <errno.h>
#include <signal.h>
#include <unistd.h>

static int stop_first(struct dpe_probes *probes)
{
	int error = dpe_watchdog_start(probes->watchdog, probes->pidfd, NULL);

	if (error)
		return error;
	dpe_control_note_stopped(probes, true);
	dpe_guards_await(probes); /* a pending signal comes before ours */
	error = dpe_control_send(probes, SIGSTOP);
	if (error)
		dpe_control_note_stopped(probes, false);
	else
		dpe_control_wait_stopped(probes);
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
		dpe_control_note_stopped(probes, true);
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
	dpe_control_note_stopped(probes, false);
	return error;
}

int dpe_probes_kill(struct dpe_probes *probes)
{
	int error;

	dpe_follow_signal(probes, SIGKILL);
	error = dpe_control_send(probes, SIGKILL);
	if (!error || probes->exited)
		dpe_control_note_stopped(probes, false);
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
