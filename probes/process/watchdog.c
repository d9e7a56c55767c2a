/* watchdog: a small process that lives as long as the target, or a followed process, is stopped or may be
 * stopped at any moment: if we die, it continues them. Other processes, the keepers, keep the target's process
 * group from being orphaned. */
#include "probes/process/process.h"

#include <errno.h>
#include <inttypes.h>
#include <linux/capability.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/pidfd.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#define BIT(capability) (UINT64_C(1) << (capability))

/* ---- any of them ------------------------------------------------------------------------- */

/* Closes all files but these, in any order (-1: none). */
static void close_others(const int *files, unsigned count)
{
	unsigned from = 0;

	for (;;) {
		unsigned next = ~0U;

		for (unsigned i = 0; i < count; i++)
			if (files[i] >= 0 && (unsigned)files[i] >= from && (unsigned)files[i] < next)
				next = (unsigned)files[i];
		if (next > from)
			close_range(from, next - (next != ~0U), 0);
		if (next == ~0U)
			return;
		from = next + 1;
	}
}

/* Keeps these capabilities at most; no signal reaches the process. */
static void drop_rights(uint64_t capabilities)
{
	sigset_t all;

	dpe_capabilities_keep(NULL, capabilities);
	sigfillset(&all);
	sigprocmask(SIG_SETMASK, &all, NULL);
}

/* It keeps open only the files that it needs, so that our probes end with us. Memory shared with the BPF
 * programs stays. */
static void drop_rights_and_files(uint64_t capabilities, const int *files, unsigned count)
{
	drop_rights(capabilities);
	close_others(files, count);
}

static bool read_times(const struct dpe_paced *paced, uint64_t *ran, uint64_t *waited)
{
	char path[96], text[128];

	snprintf(path, sizeof(path), "/proc/%d/task/%d/schedstat", paced->process, paced->thread);
	return dpe_proc_text(text, sizeof(text), path) && sscanf(text, "%" SCNu64 " %" SCNu64, ran, waited) == 2;
}

uint64_t dpe_watchdog_pace(struct dpe_paced *paced, uint64_t pause)
{
	uint64_t ran, waited, has_run, has_waited;
	struct dpe_thread_state state;

	if (!dpe_thread_look(paced->process, paced->thread, &state) || !read_times(paced, &ran, &waited))
		return pause;
	has_run = ran - paced->ran;
	has_waited = waited - paced->waited;
	paced->ran = ran;
	paced->waited = waited;
	switch (state.stat.state) {
	case 'R':
		return has_run;
	case 'D':
		return has_run + pause / DPE_WATCH_SLOWNESS;
	default:
		return has_waited < pause ? pause - has_waited : 0;
	}
}

/* Until there is something to read. */
static void watch(const struct dpe_watchdog_task *duty, int channel)
{
	struct pollfd end = {.fd = channel, .events = POLLIN};
	int pause = 0;

	while (duty->watch && poll(&end, 1, pause) <= 0)
		pause = duty->watch(duty->context);
}

/* Which program a process runs may be visible with CAP_SYS_PTRACE only. */
static _Noreturn void guard(const struct dpe_watchdog_task *duty, int channel)
{
	int files[DPE_WATCHDOG_FILES + 1];
	char byte;

	for (unsigned i = 0; i < DPE_WATCHDOG_FILES; i++)
		files[i] = i < duty->nfiles ? duty->files[i] : -1;
	files[DPE_WATCHDOG_FILES] = channel;
	setsid();
	drop_rights_and_files(BIT(CAP_KILL) | BIT(CAP_SYS_PTRACE), files, DPE_COUNT(files));
	send(channel, "", 1, MSG_NOSIGNAL);
	watch(duty, channel);
	if (recv(channel, &byte, 1, 0) <= 0)
		duty->act(duty->context);
	_exit(0);
}

int dpe_watchdog_make(struct dpe_watchdog *watchdog, const struct dpe_watchdog_task *duty)
{
	int ends[2], error;
	char byte;
	pid_t pid;

	if (watchdog->pid)
		return 0;
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends))
		return -errno;
	pid = fork();
	error = errno;
	if (!pid)
		guard(duty, ends[1]);
	close(ends[1]);
	if (pid < 0) {
		close(ends[0]);
		return -error;
	}
	while (recv(ends[0], &byte, 1, 0) < 0 && errno == EINTR)
		;
	*watchdog = (struct dpe_watchdog){pid, ends[0]};
	return 0;
}

void dpe_watchdog_dismiss(struct dpe_watchdog *watchdog)
{
	if (!watchdog->pid)
		return;
	send(watchdog->channel, "", 1, MSG_NOSIGNAL);
	close(watchdog->channel);
	while (waitpid(watchdog->pid, NULL, 0) < 0 && errno == EINTR)
		;
	*watchdog = (struct dpe_watchdog){0};
}

/* ---- the keepers of what is stopped ------------------------------------------------------ */

static _Noreturn void keep(int until, int channel)
{
	struct pollfd end = {.fd = until, .events = POLLIN};

	send(channel, "", 1, MSG_NOSIGNAL);
	close(channel);
	while (poll(&end, 1, -1) < 0 && errno == EINTR)
		;
	_exit(0);
}

/* A child in the target's group, and its parent in another group of the session. */
static _Noreturn void begin_keepers(int until, int channel, pid_t group)
{
	int files[] = {until, channel};

	drop_rights_and_files(0, files, DPE_COUNT(files));
	if (setpgid(0, 0) == 0 && fork() == 0 && setpgid(0, group) == 0)
		keep(until, channel);
	close(channel);
	keep(until, -1);
}

/* 0 where the process is gone. */
static pid_t parent_of(pid_t pid)
{
	struct dpe_proc_stat stat;

	dpe_proc_stat(pid, pid, &stat);
	return stat.parent;
}

/* One of us and our ancestors in this group has a parent elsewhere in the session. */
static bool connects(pid_t group)
{
	pid_t pid = getpid(), session = getsid(0);

	while (pid > 1 && getpgid(pid) == group) {
		pid = parent_of(pid);
		if (pid <= 1 || getsid(pid) != session)
			return false;
	}
	return pid > 1;
}

/* When a process group with a stopped member becomes orphaned, the kernel sends SIGHUP to all of it. As
 * long as the keepers are there, the death of dpe does not orphan the target's group. A group that is
 * orphaned already needs none, and would become orphaned again as they end. */
void dpe_keep_process_group(pid_t target, int until)
{
	pid_t group = getpgid(target), keeper;
	int ends[2];
	char byte;

	if (!target || group < 0 || getsid(target) != getsid(0) || !connects(group) ||
		socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends))
		return;
	keeper = fork();
	if (!keeper)
		begin_keepers(until, ends[1], group);
	close(ends[1]);
	if (keeper > 0)
		(void)!recv(ends[0], &byte, 1, 0); /* until they stand */
	close(ends[0]);
}
