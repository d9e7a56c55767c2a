/* ring: the reader of the kernel's ring buffer.
 *
 * While records come it looks by itself every now and then, and the kernel's side wakes nobody;
 * when there was nothing it says so and sleeps. It reads exactly as far as the producer had come
 * when the call began, and knows when it could not: that is what makes the watermark exact. */
#include "probes/live.h"

#include <errno.h>
#include <linux/bpf.h>
#include <poll.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

int dpe_ring_open(struct dpe_ring *ring, int fd, size_t size, uint32_t *waiting)
{
	size_t page = sysconf(_SC_PAGESIZE);
	void *consumer = mmap(NULL, page, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	void *producer;

	if (consumer == MAP_FAILED)
		return -errno;
	producer = mmap(NULL, page + 2 * size, PROT_READ, MAP_SHARED, fd, page);
	if (producer == MAP_FAILED) {
		int error = errno;

		munmap(consumer, page);
		return -error;
	}
	*ring = (struct dpe_ring){
		.fd = fd,
		.size = size,
		.nap = 1000000,
		.page = page,
		.waiting = waiting,
		.consumer = consumer,
		.producer = producer,
		.data = (const char *)producer + page,
	};
	return 0;
}

void dpe_ring_close(struct dpe_ring *ring)
{
	if (ring->consumer)
		munmap(ring->consumer, ring->page);
	if (ring->producer)
		munmap((void *)ring->producer, ring->page + 2 * ring->size);
	*ring = (struct dpe_ring){0};
}

static bool has_records(const struct dpe_ring *ring)
{
	return __atomic_load_n(ring->producer, __ATOMIC_ACQUIRE) != *ring->consumer;
}

/* Long enough for many records, short enough that they do not fill the ring. */
static struct timespec length_of_nap(const struct dpe_ring *ring)
{
	long nap = ring->size < (size_t)ring->nap ? (long)ring->size : ring->nap;

	return (struct timespec){.tv_nsec = nap};
}

static int nap(const struct dpe_ring *ring, struct pollfd *end)
{
	struct timespec length = length_of_nap(ring);

	if (ppoll(end, 1, &length, NULL) < 0)
		return -1;
	return end->revents != 0;
}

int dpe_ring_wait(struct dpe_ring *ring, int pidfd, int timeout)
{
	struct pollfd news[] = {
		{.fd = pidfd, .events = POLLIN},
		{.fd = ring->fd, .events = POLLIN},
	};
	int some;

	if (ring->busy && timeout) {
		int end = nap(ring, &news[0]);

		if (end || has_records(ring))
			return end;
	}
	__atomic_store_n(ring->waiting, 1, __ATOMIC_SEQ_CST);
	some = poll(news, DPE_COUNT(news), timeout);
	__atomic_store_n(ring->waiting, 0, __ATOMIC_RELAXED);
	return some < 0 ? -1 : news[0].revents != 0;
}

bool dpe_ring_drain(struct dpe_ring *ring,
	void (*record)(void *context, const struct dpe_record *record, size_t size), void *context)
{
	unsigned long end = __atomic_load_n(ring->producer, __ATOMIC_ACQUIRE);
	unsigned long at = *ring->consumer;

	ring->busy = at < end;
	while (at < end) {
		const char *header = ring->data + (at & (ring->size - 1));
		uint32_t len = __atomic_load_n((const uint32_t *)header, __ATOMIC_ACQUIRE);
		size_t size = len & ~(BPF_RINGBUF_BUSY_BIT | BPF_RINGBUF_DISCARD_BIT);

		if (len & BPF_RINGBUF_BUSY_BIT)
			return false;
		if (!(len & BPF_RINGBUF_DISCARD_BIT))
			record(context, (const void *)(header + BPF_RINGBUF_HDR_SZ), size);
		at += (size + BPF_RINGBUF_HDR_SZ + 7) & ~7UL;
		__atomic_store_n(ring->consumer, at, __ATOMIC_RELEASE);
	}
	return true;
}

uint64_t dpe_ring_now(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	__builtin_ia32_lfence(); /* what is read after this is read later */
	return now.tv_sec * UINT64_C(1000000000) + now.tv_nsec;
}
