/* shield: what puts probes in or takes them out is done by a child of its own, so that a fatal signal for us cannot interrupt it.
 * The kernel leaves breakpoints in the target where the process that removes them has such a signal pending. The child shares our
 * files: if we are killed, the probes end as it exits. */
#include "probes/kernel/attach.h"

#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

struct shielded {
	void (*act)(void *context);
	void *context;
};

/* A group of its own: SIGKILL may be sent to ours. */
static int act_in_child(void *context)
{
	const struct shielded *shielded = context;

	setsid();
	shielded->act(shielded->context);
	_exit(0);
}

/* The child runs in our memory while this thread waits, as with vfork. */
void dpe_shielded(void (*act)(void *context), void *context)
{
	struct shielded shielded = {act, context};
	const size_t size = 1 << 16;
	char *stack = dpe_xmalloc(size);
	sigset_t all, before;
	pid_t child;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	child = clone(act_in_child, stack + size, CLONE_VM | CLONE_VFORK | CLONE_FILES, &shielded);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	if (child < 0)
		act(context);
	while (child > 0 && waitpid(child, NULL, __WCLONE) < 0 && errno == EINTR)
		;
	free(stack);
}

struct linking {
	struct dpe_multi_request *request;
	int link, error;
};

static void make_link(void *context)
{
	struct linking *linking = context;

	linking->link = dpe_multi_link(linking->request);
	linking->error = errno;
}

int dpe_shielded_link(struct dpe_multi_request *request)
{
	struct linking linking = {.request = request};

	dpe_shielded(make_link, &linking);
	errno = linking.error;
	return linking.link;
}
