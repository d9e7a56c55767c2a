/* launch: from a command line to a child that waits before its exec. */
#include "probes/target/target.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

/* ---- the child --------------------------------------------------------------------------- */

/* From here to the exec only what is safe after fork in any process. */

static void map_code(const struct dpe_modules *modules)
{
	size_t page = sysconf(_SC_PAGESIZE);

	for (unsigned i = 0; i < modules->count; i++) {
		const struct dpe_module *module = modules->at[i];

		for (unsigned j = 0; j < module->nsegments; j++) {
			const struct dpe_segment *segment = &module->segments[j];
			size_t begin = segment->offset & ~(page - 1), end = segment->offset + segment->size;

			if (segment->executable)
				mmap(NULL, end - begin, PROT_READ | PROT_EXEC, MAP_PRIVATE,
					module->fd, begin);
		}
	}
}

static bool send_number(int channel, int number)
{
	ssize_t put;

	do
		put = send(channel, &number, sizeof(number), MSG_NOSIGNAL);
	while (put < 0 && errno == EINTR);
	return put == sizeof(number);
}

/* False if the other side is gone. */
static bool receive_number(int channel, int *number)
{
	ssize_t got;

	do
		got = recv(channel, number, sizeof(*number), MSG_WAITALL);
	while (got < 0 && errno == EINTR);
	return got == sizeof(*number);
}

static _Noreturn void run_child(const struct dpe_launch *launch, int channel)
{
	int number, error;

	map_code(launch->modules);
	if (launch->inherited >= 0)
		fcntl(launch->inherited, F_SETFD, 0);
	send_number(channel, 0);
	if (!receive_number(channel, &number))
		_exit(127);
	error = launch->user ? -dpe_user_become(launch->user) : 0;
	if (!error) {
		execve(launch->program->path, launch->argv, launch->environment);
		error = errno;
	}
	send_number(channel, error);
	_exit(127);
}

static bool report_no_child(struct dpe_diags *diags, const struct dpe_launch *launch, int error)
{
	dpe_diag_at(diags, DPE_ERROR, launch->program->path, "cannot make a process: %s", strerror(error));
	return false;
}

bool dpe_launch(struct dpe_child *child, const struct dpe_launch *launch, struct dpe_diags *diags)
{
	int ends[2], number;

	*child = (struct dpe_child){.channel = -1};
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends))
		return report_no_child(diags, launch, errno);
	child->pid = fork();
	if (!child->pid) {
		close(ends[0]);
		run_child(launch, ends[1]);
	}
	number = errno;
	child->channel = ends[0];
	close(ends[1]);
	if (child->pid < 0) {
		dpe_launch_close(child);
		child->pid = 0;
		return report_no_child(diags, launch, number);
	}
	/* If it has died already, the wait for its end will show that. */
	receive_number(child->channel, &number);
	return true;
}

int dpe_launch_go(struct dpe_child *child)
{
	int error = 0;

	if (send_number(child->channel, 0))
		receive_number(child->channel, &error);
	dpe_launch_close(child);
	return error;
}

void dpe_launch_close(struct dpe_child *child)
{
	if (child->channel >= 0)
		close(child->channel);
	child->channel = -1;
}
