/* fpregs_wakers: threads that others give way to. A ring of the kernel's wakes each, at once and on the
 * processor that something is put into it. */
#include "probes/kernel/fpregs_wakers.h"

#include "probes/live.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

struct waker {
	int ring;
	unsigned processor;
	unsigned long *consumer;
	const unsigned long *producer;
};

/* ---- their rings ------------------------------------------------------------------------- */

unsigned dpe_wakers_most(void)
{
	long processors = sysconf(_SC_NPROCESSORS_CONF);

	return processors > 0 ? (unsigned)processors : 1;
}

static int make_ring(struct waker *waker, int map)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	void *consumer, *producer;

	waker->ring = bpf_map_create(BPF_MAP_TYPE_RINGBUF, "dpe_waker", 0, 0, page, NULL);
	if (waker->ring < 0)
		return -errno;
	consumer = mmap(NULL, page, PROT_READ | PROT_WRITE, MAP_SHARED, waker->ring, 0);
	producer = mmap(NULL, page, PROT_READ, MAP_SHARED, waker->ring, (off_t)page);
	waker->consumer = consumer == MAP_FAILED ? NULL : consumer;
	waker->producer = producer == MAP_FAILED ? NULL : producer;
	if (!waker->consumer || !waker->producer ||
		bpf_map_update_elem(map, &waker->processor, &waker->ring, BPF_ANY))
		return -errno;
	return 0;
}

/* Ours; the process has its own of all of it, and the kernel's map the ring. */
static void forget_rings(struct waker *all, unsigned count)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);

	for (unsigned i = 0; i < count; i++) {
		if (all[i].consumer)
			munmap(all[i].consumer, page);
		if (all[i].producer)
			munmap((void *)all[i].producer, page);
		if (all[i].ring >= 0)
			close(all[i].ring);
	}
	free(all);
}

static int make_rings(struct waker **all, unsigned count, int map)
{
	int error = 0;

	*all = dpe_xcalloc(count, sizeof(**all));
	for (unsigned i = 0; i < count; i++)
		(*all)[i] = (struct waker){.ring = -1, .processor = i};
	for (unsigned i = 0; !error && i < count; i++)
		error = make_ring(&(*all)[i], map);
	return error;
}

/* ---- the process ------------------------------------------------------------------------- */

/* Should waiting fail, the thread ends: it must never run on and on. */
static void *be_woken(void *context)
{
	struct waker *waker = context;
	struct pollfd ring = {.fd = waker->ring, .events = POLLIN};

	while (poll(&ring, 1, -1) > 0 && !(ring.revents & ~POLLIN))
		__atomic_store_n(waker->consumer,
			__atomic_load_n(waker->producer, __ATOMIC_ACQUIRE), __ATOMIC_RELEASE);
	return NULL;
}

/* On its processor from its first instruction on; of one that is off, or not ours, there is none. */
static int begin_one(struct waker *waker)
{
	pthread_attr_t attributes;
	cpu_set_t *where = CPU_ALLOC(waker->processor + 1);
	size_t size = CPU_ALLOC_SIZE(waker->processor + 1);
	pthread_t thread;
	int error;

	if (!where)
		return -ENOMEM;
	CPU_ZERO_S(size, where);
	CPU_SET_S(waker->processor, size, where);
	pthread_attr_init(&attributes);
	pthread_attr_setaffinity_np(&attributes, size, where);
	error = pthread_create(&thread, &attributes, be_woken, waker);
	pthread_attr_destroy(&attributes);
	CPU_FREE(where);
	return error == EINVAL ? 0 : -error;
}

static int begin_all(struct waker *all, unsigned count)
{
	struct sched_param first = {.sched_priority = sched_get_priority_max(SCHED_FIFO)};
	int error = sched_setscheduler(0, SCHED_FIFO, &first) ? -errno : 0;

	dpe_guardian_shed(0);
	for (unsigned i = 0; !error && i < count; i++)
		error = begin_one(&all[i]);
	return error;
}

/* Says whether they are there, and stays until we end. */
static _Noreturn void wait_until_end(struct waker *all, unsigned count, int channel)
{
	int *files = dpe_xcalloc(count + 1, sizeof(*files)), error;
	char byte;

	for (unsigned i = 0; i < count; i++)
		files[i] = all[i].ring;
	files[count] = channel;
	setsid();
	dpe_guardian_close_others(files, count + 1);
	free(files);
	error = begin_all(all, count);
	if (send(channel, &error, sizeof(error), MSG_NOSIGNAL) == sizeof(error) && !error)
		while (recv(channel, &byte, 1, 0) < 0 && errno == EINTR)
			;
	_exit(0);
}

/* ---- ours -------------------------------------------------------------------------------- */

static int make_process(struct dpe_wakers *wakers, struct waker *all, unsigned count)
{
	int ends[2], error;
	pid_t pid;

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends))
		return -errno;
	pid = fork();
	error = -errno;
	if (!pid)
		wait_until_end(all, count, ends[1]);
	close(ends[1]);
	if (pid < 0) {
		close(ends[0]);
		return error;
	}
	*wakers = (struct dpe_wakers){pid, ends[0]};
	if (recv(wakers->channel, &error, sizeof(error), MSG_WAITALL) != sizeof(error))
		error = -ECHILD;
	if (error)
		dpe_wakers_end(wakers);
	return error;
}

int dpe_wakers_begin(struct dpe_wakers *wakers, int map)
{
	unsigned count = dpe_wakers_most();
	struct waker *all;
	int error = make_rings(&all, count, map);

	if (!error)
		error = make_process(wakers, all, count);
	forget_rings(all, count);
	return error;
}

void dpe_wakers_end(struct dpe_wakers *wakers)
{
	if (!wakers->pid)
		return;
	close(wakers->channel);
	/* Stopped, it would not see that. As another user we must not wait for it. */
	while (waitpid(wakers->pid, NULL, kill(wakers->pid, SIGKILL) ? WNOHANG : 0) < 0 &&
		errno == EINTR)
		;
	*wakers = (struct dpe_wakers){0};
}
