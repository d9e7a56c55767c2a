/* guardian: a small process next to us, as long as the target is stopped or may be at any moment:
 * should we die, it lets the target go on. Where it may stand still without us, others wait until
 * it ends. */
#include "probes/live.h"

#include <errno.h>
#include <linux/capability.h>
#include <poll.h>
#include <signal.h>
#include <sys/pidfd.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

static void close_all_but(unsigned low, unsigned high)
{
	if (low)
		close_range(0, low - 1, 0);
	if (high - low > 1)
		close_range(low + 1, high - 1, 0);
	close_range(high + 1, ~0U, 0);
}

/* It holds nothing of ours open but what it needs: our probes shall end with us. What the programs
 * share with us is memory, and stays. */
static _Noreturn void guard(int pidfd, int channel, struct dpe_gate_state *state)
{
	sigset_t all;
	char byte;

	setsid();
	dpe_capabilities_keep(NULL, UINT64_C(1) << CAP_KILL);
	sigfillset(&all);
	sigprocmask(SIG_SETMASK, &all, NULL);
	close_all_but(pidfd < channel ? pidfd : channel, pidfd < channel ? channel : pidfd);
	if (recv(channel, &byte, 1, 0) <= 0 && (!state || dpe_gates_quiesce(state)))
		pidfd_send_signal(pidfd, SIGCONT, NULL, 0);
	_exit(0);
}

int dpe_guardian_start(struct dpe_guardian *guardian, int pidfd, struct dpe_gate_state *state)
{
	int ends[2], error;
	pid_t pid;

	if (guardian->pid)
		return 0;
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends))
		return -errno;
	pid = fork();
	error = errno;
	if (!pid)
		guard(pidfd, ends[1], state);
	close(ends[1]);
	if (pid < 0) {
		close(ends[0]);
		return -error;
	}
	*guardian = (struct dpe_guardian){pid, ends[0]};
	return 0;
}

void dpe_guardian_dismiss(struct dpe_guardian *guardian)
{
	if (!guardian->pid)
		return;
	send(guardian->channel, "", 1, MSG_NOSIGNAL);
	close(guardian->channel);
	while (waitpid(guardian->pid, NULL, 0) < 0 && errno == EINTR)
		;
	*guardian = (struct dpe_guardian){0};
}

/* ---- the keepers of a stopped target
 * ------------------------------------------------------------------------------------- */

static _Noreturn void keep(int pidfd, int channel)
{
	struct pollfd end = {.fd = pidfd, .events = POLLIN};

	send(channel, "", 1, MSG_NOSIGNAL);
	close(channel);
	while (poll(&end, 1, -1) < 0 && errno == EINTR)
		;
	_exit(0);
}

/* A child in the target's group, and its parent in another group of the session. */
static _Noreturn void begin_keepers(int pidfd, int channel, pid_t group)
{
	sigset_t all;

	dpe_capabilities_keep(NULL, 0);
	sigfillset(&all);
	sigprocmask(SIG_SETMASK, &all, NULL);
	close_all_but(pidfd < channel ? pidfd : channel, pidfd < channel ? channel : pidfd);
	if (setpgid(0, 0) == 0 && fork() == 0 && setpgid(0, group) == 0)
		keep(pidfd, channel);
	close(channel);
	keep(pidfd, -1);
}

/* The kernel hangs up, and so ends, a group of processes with a stopped one in it when the last of
 * those goes that could continue it from within its session: that is us, who started the target. So
 * others stay as long as the target does. */
void dpe_keepers_leave(const struct dpe_probes *probes)
{
	pid_t group = getpgid(probes->pid), keeper;
	int ends[2];
	char byte;

	if (group < 0 || getsid(probes->pid) != getsid(0) ||
		socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends))
		return;
	keeper = fork();
	if (!keeper)
		begin_keepers(probes->pidfd, ends[1], group);
	close(ends[1]);
	if (keeper > 0)
		(void)!recv(ends[0], &byte, 1, 0); /* until they stand */
	close(ends[0]);
}
