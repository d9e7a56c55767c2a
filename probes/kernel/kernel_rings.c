/* Reader of the BPF ring buffers, one for each processor. It polls while records arrive, and sleeps in epoll after it has
 * announced that to the programs. It reads a ring as far as the producer was when the call began, and so knows up to
 * which time the ring is complete. Proof: docs/internals/event-order.md. */
#include "probes/kernel/kernel.h"

#include <errno.h>
#include <linux/bpf.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

/* ---- the rings --------------------------------------------------------------------------- */

/* The kernel maps the data twice, one behind the other, so that a record that wraps around is in one piece. Of the second
 * copy we need no more than the longest record: all pages of a mapping count as memory of ours at once. */
#define MAX_RECORD ((size_t)64 << 10)

_Static_assert(sizeof(struct dpe_record) +
			(DPE_RESULT_WORDS + DPE_WORDS + DPE_STACK_MAX + DPE_VALUES + DPE_TEXTS * (1 + DPE_TEXT_WORDS)) *
				sizeof(uint64_t) < MAX_RECORD / 2,
	"the longest record fits, with what may come to it");

static size_t mapped_bytes(const struct dpe_ring *ring)
{
	return ring->page + ring->size + (ring->size < MAX_RECORD ? ring->size : MAX_RECORD);
}

static int map_ring(struct dpe_ring *ring)
{
	void *consumer =
		mmap(NULL, ring->page, PROT_READ | PROT_WRITE, MAP_SHARED, ring->fd, 0);
	void *producer;

	if (consumer == MAP_FAILED)
		return -errno;
	producer = mmap(NULL, mapped_bytes(ring), PROT_READ, MAP_SHARED, ring->fd,
		(off_t)ring->page);
	if (producer == MAP_FAILED) {
		int error = errno;

		munmap(consumer, ring->page);
		return -error;
	}
	ring->consumer = consumer;
	ring->producer = producer;
	ring->data = (const char *)producer + ring->page;
	return 0;
}

static int wait_for(const struct dpe_kernel_rings *rings, int fd)
{
	struct epoll_event event = {.events = EPOLLIN};

	return epoll_ctl(rings->sleep, EPOLL_CTL_ADD, fd, &event) ? -errno : 0;
}

int dpe_kernel_rings_open(
	struct dpe_kernel_rings *rings, unsigned count, __u64 *waiting, int pidfd)
{
	*rings = (struct dpe_kernel_rings){
		.waiting = waiting, .pause = 1000000, .sleep = epoll_create1(EPOLL_CLOEXEC)};
	if (rings->sleep < 0)
		return -errno;
	rings->at = dpe_xcalloc(count, sizeof(*rings->at));
	return pidfd < 0 ? 0 : wait_for(rings, pidfd);
}

void dpe_kernel_rings_ended(struct dpe_kernel_rings *rings, int pidfd)
{
	if (rings->at && pidfd >= 0)
		epoll_ctl(rings->sleep, EPOLL_CTL_DEL, pidfd, NULL);
}

int dpe_kernel_rings_add(struct dpe_kernel_rings *rings, int fd, size_t size)
{
	struct dpe_ring *ring = &rings->at[rings->count];
	uint64_t now = dpe_ring_now();
	int error;

	*ring = (struct dpe_ring){.fd = fd, .size = size, .looked = now, .known = now};
	ring->page = (size_t)sysconf(_SC_PAGESIZE);
	error = map_ring(ring);
	if (error) {
		close(fd);
		return error;
	}
	rings->count++;
	return wait_for(rings, fd);
}

void dpe_kernel_rings_close(struct dpe_kernel_rings *rings)
{
	if (!rings->at)
		return;
	for (unsigned i = 0; i < rings->count; i++) {
		struct dpe_ring *ring = &rings->at[i];

		munmap(ring->consumer, ring->page);
		munmap((void *)ring->producer, mapped_bytes(ring));
		close(ring->fd);
	}
	free(rings->at);
	close(rings->sleep);
	*rings = (struct dpe_kernel_rings){0};
}

/* ---- waiting ----------------------------------------------------------------------------- */

static bool have_records(const struct dpe_kernel_rings *rings)
{
	for (unsigned i = 0; i < rings->count; i++) {
		const struct dpe_ring *ring = &rings->at[i];

		if (__atomic_load_n(ring->producer, __ATOMIC_ACQUIRE) != *ring->consumer)
			return true;
	}
	return false;
}

/* Long enough for many records, short enough that they do not fill the ring. */
static struct timespec pause_length(const struct dpe_kernel_rings *rings)
{
	const struct dpe_ring *ring = &rings->at[0];
	long pause = ring->size < (size_t)rings->pause ? (long)ring->size : rings->pause;

	return (struct timespec){.tv_nsec = pause};
}

static int pause_polling(const struct dpe_kernel_rings *rings, int pidfd)
{
	struct timespec length = pause_length(rings);
	struct pollfd end = {.fd = pidfd, .events = POLLIN};

	if (ppoll(&end, 1, &length, NULL) < 0)
		return -1;
	return end.revents != 0;
}

static int ended(int pidfd)
{
	struct pollfd end = {.fd = pidfd, .events = POLLIN};

	return poll(&end, 1, 0) < 0 ? -1 : end.revents != 0;
}

/* The programs wake us only after we have announced that we sleep, so we check once more after the
 * announcement. */
int dpe_kernel_rings_wait(struct dpe_kernel_rings *rings, int pidfd, int timeout)
{
	struct epoll_event event;
	int some;

	if (rings->busy && timeout) {
		int end = pause_polling(rings, pidfd);

		if (end || have_records(rings))
			return end;
	}
	__atomic_store_n(rings->waiting, 1, __ATOMIC_SEQ_CST);
	some = have_records(rings) ? 0 : epoll_wait(rings->sleep, &event, 1, timeout);
	__atomic_store_n(rings->waiting, 0, __ATOMIC_RELAXED);
	return some < 0 ? -1 : ended(pidfd);
}

/* ---- reading ----------------------------------------------------------------------------- */

/* Whenever our position changes, the writing processor has to fetch that cache line for its next record. */
#define AHEAD 512       /* bytes: what comes next is in another processor's cache */

static void give_back(struct dpe_ring *ring, unsigned long at)
{
	__atomic_store_n(ring->consumer, at, __ATOMIC_RELEASE);
}

/* Hands over the record at *at, and moves *at after it. False if it is still being written. */
static inline bool read_record(const struct dpe_ring *ring, unsigned index, unsigned long *at,
	const struct dpe_kernel_sink *sink)
{
	const char *header = ring->data + (*at & (ring->size - 1));
	uint32_t len = __atomic_load_n((const uint32_t *)header, __ATOMIC_ACQUIRE);
	size_t size = len & ~(BPF_RINGBUF_BUSY_BIT | BPF_RINGBUF_DISCARD_BIT);

	if (len & BPF_RINGBUF_BUSY_BIT)
		return false;
	__builtin_prefetch(header + AHEAD);
	if (!(len & BPF_RINGBUF_DISCARD_BIT))
		sink->record(
			sink->context, index, (const void *)(header + BPF_RINGBUF_HDR_SZ), size);
	*at += (size + BPF_RINGBUF_HDR_SZ + 7) & ~7UL;
	return true;
}

/* Hands over the records up to the producer's position `end`. False if a record is still being written: those
 * before it were handed over. */
static bool read_records(
	struct dpe_ring *ring, unsigned index, unsigned long end, const struct dpe_kernel_sink *sink)
{
	unsigned long at = *ring->consumer, given = at;
	bool whole = true;

	while (at < end && (whole = read_record(ring, index, &at, sink))) {
		if (at - given >= DPE_RING_STEP)
			give_back(ring, given = at);
	}
	give_back(ring, at);
	return whole;
}

/* Reads one up to the producer's position at the time `now` or later; true if that was everything. */
static bool read_ring(
	struct dpe_ring *ring, unsigned index, uint64_t now, const struct dpe_kernel_sink *sink)
{
	unsigned long end = __atomic_load_n(ring->producer, __ATOMIC_ACQUIRE);
	bool complete = read_records(ring, index, end, sink);

	if (complete)
		ring->known = now;
	else if (*ring->consumer >= ring->seen)
		ring->known = ring->looked;
	ring->seen = end;
	ring->looked = now;
	return complete;
}

static uint64_t least_known(const struct dpe_kernel_rings *rings)
{
	uint64_t known = UINT64_MAX;

	for (unsigned i = 0; i < rings->count; i++)
		known = rings->at[i].known < known ? rings->at[i].known : known;
	return known;
}

/* The ring that is known up to the earliest time is always read, since all others wait for it. */
uint64_t dpe_kernel_rings_drain(
	struct dpe_kernel_rings *rings, const struct dpe_kernel_sink *sink, bool *complete)
{
	uint64_t least = least_known(rings), now = dpe_ring_now();

	*complete = true;
	rings->busy = have_records(rings);
	for (unsigned i = 0; i < rings->count; i++) {
		if (rings->at[i].known > least && !sink->wants(sink->context, i))
			*complete = false;
		else
			*complete &= read_ring(&rings->at[i], i, now, sink);
	}
	return least_known(rings);
}

uint64_t dpe_ring_now(void)
{
	uint64_t now = dpe_clock(CLOCK_MONOTONIC);

	__builtin_ia32_lfence(); /* the rings are read after this time */
	return now;
}
