/* control: stopping, continuing and killing the target.
 *
 * While the target is stopped a small process of ours waits next to us: should we die, it lets
 * the target go on. Where it is to stay stopped without us, others wait until it ends. */
#include "probes/live.h"

#include <dirent.h>
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/pidfd.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* ---- the guardian
 * --------------------------------------------------------------------------------- */

static void close_all_but(unsigned low, unsigned high)
{
	if (low)
		close_range(0, low - 1, 0);
	if (high - low > 1)
		close_range(low + 1, high - 1, 0);
	close_range(high + 1, ~0U, 0);
}

/* It holds nothing of ours open but what it needs: our probes shall end with us. */
static _Noreturn void guard(int pidfd, int channel)
{
	sigset_t all;
	char byte;

	setsid();
	sigfillset(&all);
	sigprocmask(SIG_SETMASK, &all, NULL);
	close_all_but(pidfd < channel ? pidfd : channel, pidfd < channel ? channel : pidfd);
	if (recv(channel, &byte, 1, 0) <= 0)
		pidfd_send_signal(pidfd, SIGCONT, NULL, 0);
	_exit(0);
}

static int start_guardian(struct dpe_guardian *guardian, int pidfd)
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
		guard(pidfd, ends[1]);
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
static void leave_keepers(const struct dpe_probes *probes)
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

/* ---- the target
 * ------------------------------------------------------------------------------------- */

static bool is_stopped(pid_t pid, const char *tid)
{
	char *path = dpe_xasprintf("/proc/%d/task/%s/stat", pid, tid), line[512] = "", *end;
	FILE *file = fopen(path, "re");

	free(path);
	if (!file)
		return true; /* it is gone */
	if (!fgets(line, sizeof(line), file))
		line[0] = '\0';
	fclose(file);
	end = strrchr(line, ')');
	return !end || strchr("TtZX", end[1] == ' ' ? end[2] : 'X');
}

static bool all_stopped(pid_t pid)
{
	char *path = dpe_xasprintf("/proc/%d/task", pid);
	DIR *tasks = opendir(path);
	struct dirent *entry;
	bool stopped = true;

	free(path);
	while (tasks && stopped && (entry = readdir(tasks)))
		stopped = entry->d_name[0] == '.' || is_stopped(pid, entry->d_name);
	if (tasks)
		closedir(tasks);
	return stopped;
}

/* A thread that is inside the kernel stops when it comes out; nobody runs code of its own. */
static void wait_stopped(pid_t pid)
{
	struct timespec pause = {.tv_nsec = 500000};

	for (int i = 0; i < 200 && !all_stopped(pid); i++)
		nanosleep(&pause, NULL);
}

static int send_signal(const struct dpe_probes *probes, int signal)
{
	if (probes->exited || probes->pidfd < 0)
		return -ESRCH;
	return pidfd_send_signal(probes->pidfd, signal, NULL, 0) ? -errno : 0;
}

void dpe_probes_expect_stop(struct dpe_probes *probes)
{
	probes->stopped = !start_guardian(&probes->guardian, probes->pidfd);
}

int dpe_probes_stop(struct dpe_probes *probes)
{
	int error;

	if (probes->stopped)
		return 0;
	if (probes->exited || probes->pidfd < 0)
		return -ESRCH;
	error = start_guardian(&probes->guardian, probes->pidfd);
	if (!error)
		error = send_signal(probes, SIGSTOP);
	if (error) {
		dpe_guardian_dismiss(&probes->guardian);
		return error;
	}
	probes->stopped = true;
	wait_stopped(probes->pid);
	return 0;
}

int dpe_probes_continue(struct dpe_probes *probes)
{
	int error;

	if (!probes->stopped)
		return 0;
	error = send_signal(probes, SIGCONT);
	probes->stopped = false;
	dpe_guardian_dismiss(&probes->guardian);
	return error;
}

int dpe_probes_kill(struct dpe_probes *probes)
{
	int error = send_signal(probes, SIGKILL);

	if (!error) {
		probes->stopped = false;
		dpe_guardian_dismiss(&probes->guardian);
	}
	return error;
}

void dpe_probes_leave(struct dpe_probes *probes)
{
	dpe_detach(probes);
	if (probes->stopped && probes->child.pid)
		leave_keepers(probes);
	dpe_guardian_dismiss(&probes->guardian);
	probes->stopped = false;
	probes->started = probes->exited = true; /* as far as we are concerned */
	if (probes->pidfd >= 0)
		close(probes->pidfd);
	probes->pidfd = -1;
}
