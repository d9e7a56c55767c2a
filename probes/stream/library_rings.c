/* Reader of the preloaded library's rings, one for each thread. A thread takes a slot before it reads the clock, so a
 * slot taken after a scan at time T that was preceded by membarrier(2) is later than T. Proof:
 * docs/internals/event-order.md. */
#include "probes/stream/library_rings.h"
#include "probes/process/process.h"

#include <errno.h>
#include <linux/membarrier.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

/* ---- the memory -------------------------------------------------------------------------- */

static bool has_barrier(void)
{
	long known = syscall(SYS_membarrier, MEMBARRIER_CMD_QUERY, 0, 0);

	return known > 0 && known & MEMBARRIER_CMD_GLOBAL_EXPEDITED;
}

static uint32_t count_slots(size_t ring_bytes, uint32_t slot_bytes)
{
	uint32_t slots = 4 * DPE_PRELOAD_SLACK;

	while ((size_t)slots * slot_bytes * 2 <= ring_bytes && slots < DPE_RING_SLOTS)
		slots *= 2;
	return slots;
}

static size_t whole_pages(size_t bytes)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);

	return (bytes + page - 1) & ~(page - 1);
}

/* Filters of system calls, whose number older kernels do not report. */
static uint32_t count_filters(void)
{
	char count[16] = "0";

	if (!dpe_proc_status(getpid(), "Seccomp_filters", count, sizeof(count)))
		dpe_proc_status(getpid(), "Seccomp", count, sizeof(count));
	return (uint32_t)strtoul(count, NULL, 10);
}

static void fill_header(struct dpe_rings *rings, uint32_t slots, uint32_t slot_bytes, uint32_t frames)
{
	struct dpe_preload_header *header = rings->header;

	header->magic = DPE_PRELOAD_MAGIC;
	header->observer = (uint32_t)getpid();
	header->filters = count_filters();
	rings->slots = header->slots = slots;
	rings->slot_bytes = header->slot_bytes = slot_bytes;
	rings->frames = header->frames = frames;
	header->fences = !rings->barrier;
	header->waits = 1;
	header->bytes = rings->bytes;
	rings->rows_begin = header->rows_begin = whole_pages(sizeof(*header));
	header->slots_begin = rings->bytes - (uint64_t)slots * slot_bytes * DPE_PRELOAD_RINGS;
}

/* Allocates the pages of rings for as many threads as can run at once and one that waits for them, unless that
 * is much memory; the others get their pages when they are written to. Done before the target runs, because a
 * page fault costs more than all the events that are written to the page. */
static void prepare(struct dpe_rings *rings)
{
	struct dpe_preload_header *header = rings->header;
	size_t ring = (size_t)rings->slots * rings->slot_bytes;
	long processors = sysconf(_SC_NPROCESSORS_ONLN);
	size_t wanted = processors > 1 ? (size_t)processors + 1 : 2;

	if (wanted > DPE_PREPARED_BYTES / ring)
		wanted = DPE_PREPARED_BYTES / ring > 2 ? DPE_PREPARED_BYTES / ring : 2;
	if (!madvise((char *)header + header->slots_begin, wanted * ring, MADV_POPULATE_WRITE))
		header->prepared = (uint32_t)wanted;
}

/* The file is in memory and sparse. If it exceeds the limit of file sizes (ulimit -f), the kernel would end us
 * by a signal, so we try to raise the limit. 0, or -1 with errno. */
static int set_size(int fd, size_t bytes)
{
	struct rlimit limit, raised;
	bool small = !getrlimit(RLIMIT_FSIZE, &limit) && limit.rlim_cur < bytes;
	int result;

	raised = limit;
	raised.rlim_cur = raised.rlim_max;
	if (small && (limit.rlim_max < bytes || setrlimit(RLIMIT_FSIZE, &raised))) {
		errno = EFBIG;
		return -1;
	}
	result = ftruncate(fd, (off_t)bytes);
	if (small)
		setrlimit(RLIMIT_FSIZE, &limit);
	return result;
}

int dpe_rings_open(struct dpe_rings *rings, size_t ring_bytes, unsigned stack_depth)
{
	uint32_t wanted = stack_depth > 2 ? stack_depth - 1 : 0;
	uint32_t frames = wanted < DPE_PRELOAD_FRAMES ? wanted : DPE_PRELOAD_FRAMES;
	uint32_t lines = 1 + (frames * sizeof(uint64_t) + DPE_PRELOAD_LINE - 1) / DPE_PRELOAD_LINE;
	uint32_t slot_bytes = lines * DPE_PRELOAD_LINE, slots = count_slots(ring_bytes, slot_bytes);
	size_t begin = whole_pages(sizeof(*rings->header)) + whole_pages(DPE_PRELOAD_ROWS * sizeof(struct dpe_frame_row));

	*rings = (struct dpe_rings){.barrier = has_barrier()};
	rings->bytes = begin + (size_t)slots * slot_bytes * DPE_PRELOAD_RINGS;
	rings->fd = memfd_create("dpe-preload", MFD_CLOEXEC);
	if (rings->fd < 0)
		return -errno;
	rings->header = MAP_FAILED;
	if (!set_size(rings->fd, rings->bytes))
		rings->header = mmap(NULL, rings->bytes, PROT_READ | PROT_WRITE,
			MAP_SHARED | MAP_NORESERVE, rings->fd, 0);
	if (rings->header == MAP_FAILED) {
		int error = errno;

		close(rings->fd);
		*rings = (struct dpe_rings){0};
		return -error;
	}
	fill_header(rings, slots, slot_bytes, frames);
	prepare(rings);
	rings->before = dpe_ring_now();
	return 0;
}

void dpe_rings_shut(struct dpe_rings *rings)
{
	if (rings->header)
		__atomic_store_n(&rings->header->closed, 1, __ATOMIC_RELEASE);
}

void dpe_rings_close(struct dpe_rings *rings)
{
	if (!rings->header)
		return;
	dpe_rings_shut(rings);
	munmap(rings->header, rings->bytes);
	close(rings->fd);
	free(rings->losses);
	*rings = (struct dpe_rings){0};
}

/* ---- losses ------------------------------------------------------------------------------ */

static uint64_t earlier(uint64_t a, uint64_t b)
{
	return !a || (b && b < a) ? b : a;
}

static struct dpe_ring_loss loss_of(const struct dpe_rings *rings, unsigned index)
{
	const struct dpe_preload_ring *ring = &rings->header->rings[index];
	const struct dpe_ring_reader *reader = &rings->readers[index];
	struct dpe_ring_loss loss = {ring->thread, ring->lost.count, 0, reader->last_skipped};

	if (loss.count) {
		loss.first = ring->lost.first;
		loss.last = ring->lost.last > loss.last ? ring->lost.last : loss.last;
	}
	if (reader->skipped)
		loss.first = earlier(loss.first, reader->first_skipped);
	loss.count += reader->skipped;
	return loss;
}

void dpe_rings_each_loss(const struct dpe_rings *rings,
	void (*each)(void *context, const struct dpe_ring_loss *loss), void *context)
{
	const struct dpe_preload_loss *nowhere = &rings->header->nowhere;
	struct dpe_ring_loss loss = {0, nowhere->count, nowhere->first, nowhere->last};

	if (loss.count)
		each(context, &loss);
	for (unsigned i = 0; i < rings->nlosses; i++)
		each(context, &rings->losses[i]);
	for (unsigned i = 0; i < DPE_PRELOAD_RINGS; i++) {
		if (!rings->header->rings[i].state)
			continue;
		loss = loss_of(rings, i);
		if (loss.count)
			each(context, &loss);
	}
}

/* ---- reading ----------------------------------------------------------------------------- */

struct drain {
	struct dpe_rings *rings;
	uint64_t now;
	bool ended;
	bool (*event)(void *context, const struct dpe_ring_event *event);
	void *context;
};

static struct dpe_preload_slot *slot_at(
	const struct dpe_rings *rings, unsigned index, uint64_t number)
{
	size_t all = (size_t)rings->slots * rings->slot_bytes;
	char *begin = (char *)rings->header + rings->bytes - all * DPE_PRELOAD_RINGS;

	return (void *)(begin + index * all + (number & (rings->slots - 1)) * rings->slot_bytes);
}

/* False if it was not accepted: the ring is known up to there. */
static bool hand_over(
	const struct drain *drain, unsigned index, const struct dpe_preload_slot *slot)
{
	struct dpe_ring_reader *reader = &drain->rings->readers[index];
	int32_t lost = (int32_t)(slot->lost - reader->lost);
	struct dpe_ring_event event = {
		.slot = slot,
		.ring = &drain->rings->header->rings[index],
		.index = index,
		.time = slot->time,
		.gap = reader->gap + (lost > 0 ? (uint32_t)lost : 0),
		.first = !reader->begun,
	};

	if (event.time < reader->time)
		event.time = reader->time;
	if (!drain->event(drain->context, &event)) {
		reader->bound = event.time;
		return false;
	}
	if (lost > 0)
		reader->lost = slot->lost;
	reader->skipped += reader->gap;
	reader->gap = 0;
	reader->begun = true;
	reader->time = event.time;
	return true;
}

/* Notes how far a ring is known that has a slot which is incomplete, but may still be completed. */
static void wait_for_slot(const struct drain *drain, struct dpe_ring_reader *reader)
{
	if (reader->next >= reader->seen)
		reader->bound = drain->rings->before;
}

/* A slot that will never be completed. It counts as a loss once an event of the thread follows it: an event cut off by the
 * end of the thread or process had not happened yet. */
static void skip_slot(struct dpe_ring_reader *reader)
{
	if (!reader->skipped && !reader->gap)
		reader->first_skipped = reader->bound;
	reader->gap++;
	reader->last_skipped = reader->bound;
}

/* Hands over the slots up to `end`, and notes how far the ring is known. */
static void read_slots(const struct drain *drain, unsigned index, uint64_t end, bool dead)
{
	struct dpe_ring_reader *reader = &drain->rings->readers[index];

	for (; reader->next < end; reader->next++) {
		const struct dpe_preload_slot *slot = slot_at(drain->rings, index, reader->next);
		uint32_t stamp = __atomic_load_n(&slot->stamp, __ATOMIC_ACQUIRE);

		if (stamp != dpe_preload_stamp(reader->next)) {
			if (!dead && stamp != dpe_preload_left(reader->next)) {
				wait_for_slot(drain, reader);
				return;
			}
			skip_slot(reader);
			continue;
		}
		if (!dead && slot->time > drain->now)
			break; /* later than this scan */
		if (!hand_over(drain, index, slot))
			return;
	}
	reader->bound = drain->now;
}

/* The thread is gone and its ring is empty: another thread may have it. */
static void give_back(struct dpe_rings *rings, unsigned index)
{
	struct dpe_preload_ring *ring = &rings->header->rings[index];
	struct dpe_ring_reader *reader = &rings->readers[index];
	struct dpe_ring_loss loss = loss_of(rings, index);

	if (loss.count)
		*DPE_GROW(rings->losses, rings->nlosses, rings->caplosses) = loss;
	ring->lost = (struct dpe_preload_loss){0};
	ring->thread = 0; /* so that its next thread is not looked up before it has reported its id */
	*reader = (struct dpe_ring_reader){.next = reader->next,
		.seen = reader->next,
		.bound = reader->bound,
		.time = reader->time};
	__atomic_store_n(&ring->state, DPE_PRELOAD_FREE, __ATOMIC_RELEASE);
}

static uint64_t read_ring(const struct drain *drain, unsigned index)
{
	struct dpe_rings *rings = drain->rings;
	struct dpe_preload_ring *ring = &rings->header->rings[index];
	struct dpe_ring_reader *reader = &rings->readers[index];
	uint32_t state = __atomic_load_n(&ring->state, __ATOMIC_ACQUIRE);
	uint64_t end = __atomic_load_n(&ring->reserved, __ATOMIC_ACQUIRE);
	bool dead = drain->ended || state == DPE_PRELOAD_DEAD;

	if (state == DPE_PRELOAD_FREE)
		return drain->now;
	if (end - reader->next > rings->slots) /* the target has corrupted it */
		end = reader->next + rings->slots;
	if (!reader->bound)
		reader->bound = rings->before;
	read_slots(drain, index, end, dead);
	reader->seen = end;
	__atomic_store_n(&ring->tail, reader->next, __ATOMIC_RELEASE);
	if (dead && reader->next == end && !drain->ended)
		give_back(rings, index);
	return reader->bound;
}

/* ---- threads that are gone --------------------------------------------------------------- */

/* The library's number cannot be trusted: the target may have overwritten it. */
static unsigned count_used(const struct dpe_rings *rings)
{
	uint32_t used = __atomic_load_n(&rings->header->used, __ATOMIC_ACQUIRE);

	return used < DPE_PRELOAD_RINGS ? used : DPE_PRELOAD_RINGS;
}

static bool is_gone(const struct dpe_rings *rings, const struct dpe_preload_ring *ring)
{
	return ring->thread && tgkill((pid_t)rings->header->pid, (pid_t)ring->thread, 0) &&
	       errno == ESRCH;
}

static bool are_rare(const struct dpe_rings *rings, unsigned used)
{
	unsigned claimed = 0;

	for (unsigned i = 0; i < used; i++)
		claimed += rings->header->rings[i].state == DPE_PRELOAD_CLAIMED;
	return claimed > DPE_PRELOAD_RINGS / 4;
}

/* Their rings are given back when rings become scarce, or if one of them died while it wrote a slot. */
static void find_gone(struct dpe_rings *rings, uint64_t now)
{
	unsigned used = count_used(rings);
	bool rare = are_rare(rings, used);

	if (!rare && now - rings->asked < DPE_RING_STUCK)
		return;
	rings->asked = now;
	for (unsigned i = 0; i < used; i++) {
		struct dpe_preload_ring *ring = &rings->header->rings[i];

		if (ring->state == DPE_PRELOAD_CLAIMED &&
			(rare || rings->readers[i].bound + DPE_RING_STUCK < now) && is_gone(rings, ring))
			__atomic_store_n(&ring->state, DPE_PRELOAD_DEAD, __ATOMIC_RELEASE);
	}
}

uint64_t dpe_rings_drain(struct dpe_rings *rings, bool ended,
	bool (*event)(void *context, const struct dpe_ring_event *event), void *context)
{
	struct drain drain = {.rings = rings, .ended = ended, .event = event, .context = context};
	uint64_t bound;

	if (!ended)
		find_gone(rings, rings->before);
	drain.now = dpe_ring_now();
	if (rings->barrier)
		syscall(SYS_membarrier, MEMBARRIER_CMD_GLOBAL_EXPEDITED, 0, 0);
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	bound = drain.now;
	for (unsigned i = 0, used = count_used(rings); i < used; i++) {
		uint64_t known = read_ring(&drain, i);

		bound = known < bound ? known : bound;
	}
	rings->before = drain.now;
	return bound;
}
