/* ring_writer: how one event is written to the ring of its thread. */
#include "probes/inside/library.h"
#include "probes/inside/ring_slots.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

static __thread struct dpe_preload_writer self;
__thread uint64_t dpe_preload_epoch, dpe_preload_news;
static uint64_t writers; /* threads that had a ring up to now: their epochs differ */

static struct dpe_preload_ring *claim(struct dpe_preload_header *header)
{
	uint32_t free = DPE_PRELOAD_FREE, used;

	for (unsigned i = 0; i < DPE_PRELOAD_RINGS; i++, free = DPE_PRELOAD_FREE) {
		if (__atomic_load_n(&header->rings[i].state, __ATOMIC_RELAXED) ||
			!__atomic_compare_exchange_n(&header->rings[i].state, &free,
				DPE_PRELOAD_CLAIMED, false, __ATOMIC_SEQ_CST, __ATOMIC_RELAXED))
			continue;
		used = __atomic_load_n(&header->used, __ATOMIC_RELAXED);
		while (used <= i && !__atomic_compare_exchange_n(&header->used, &used, i + 1, false,
					    __ATOMIC_SEQ_CST, __ATOMIC_RELAXED))
			;
		return &header->rings[i];
	}
	return NULL;
}

/* The thread's first event. */
static __attribute__((noinline)) void join(struct dpe_preload_header *header)
{
	int error = errno;
	uint32_t thread = dpe_preload_own_id();
	bool first = !__atomic_load_n(&writers, __ATOMIC_RELAXED);
	struct dpe_preload_ring *ring = thread ? claim(header) : NULL;
	size_t size = (size_t)header->slots * header->slot_bytes;

	self.refused = !ring;
	if (ring) {
		ring->thread = thread;
		dpe_preload_own_name(ring->comm);
		self.tail = __atomic_load_n(&ring->tail, __ATOMIC_ACQUIRE);
		self.slots = (char *)header + header->slots_begin + size * (ring - header->rings);
		self.ring = ring;
		self.index = (unsigned)(ring - header->rings);
		dpe_preload_epoch = __atomic_add_fetch(&writers, 1, __ATOMIC_RELAXED) << 40;
		if (dpe_memory_begin_thread && !first)
			dpe_memory_begin_thread();
	}
	errno = error;
}

static __attribute__((noinline)) void lose_nowhere(struct dpe_preload_header *header)
{
	uint64_t now = dpe_preload_now(), none = 0;

	__atomic_add_fetch(&header->nowhere.count, 1, __ATOMIC_RELAXED);
	__atomic_compare_exchange_n(
		&header->nowhere.first, &none, now, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
	__atomic_store_n(&header->nowhere.last, now, __ATOMIC_RELAXED);
}

/* A process that has ended exists until its parent has waited for it, and a parent may never do that. By system calls, since
 * functions are wrapped and would report events. Where the target may not ask, the observer counts as living. */
static bool lives(pid_t process)
{
	struct pollfd end = {.fd = (int)syscall(SYS_pidfd_open, process, 0), .events = POLLIN};
	long ended;

	if (end.fd < 0)
		return errno != ESRCH && (!syscall(SYS_kill, process, 0) || errno != ESRCH);
	ended = syscall(SYS_poll, &end, 1, 0);
	syscall(SYS_close, end.fd);
	return ended <= 0;
}

static void pause_briefly(void)
{
	const struct timespec pause = {.tv_nsec = DPE_ROOM_PAUSE};
	uint64_t end;

	if (!dpe_preload_filtered) {
		syscall(SYS_nanosleep, &pause, NULL);
		return;
	}
	end = dpe_preload_now() + DPE_ROOM_PAUSE;
	while (dpe_preload_now() < end)
		__builtin_ia32_pause();
}

/* True once there is room again. The reader empties the rings many times a second; if it took nothing for so
 * long it must be stopped, and is no longer waited for. */
static __attribute__((noinline)) bool wait_for_room(struct dpe_preload_header *header)
{
	const uint64_t max = DPE_ROOM_TIME / DPE_ROOM_PAUSE;
	uint64_t tail = self.tail;
	int error = errno;

	for (uint64_t i = 0; i < max && header->waits && !header->closed; i++) {
		if (i % 64 == 63 && !dpe_preload_filtered && !lives((pid_t)header->observer))
			break;
		pause_briefly();
		if (!dpe_preload_is_full(header, &self)) {
			errno = error;
			return true;
		}
		if (self.tail != tail)
			i = 0;
		tail = self.tail;
	}
	errno = error;
	header->waits = 0;
	return false;
}

static struct dpe_preload_slot *reserve(struct dpe_preload_header *header, uint64_t *number)
{
	struct dpe_preload_slot *slot;

	if (header->closed)
		return NULL;
	if (!self.ring && !self.refused)
		join(header);
	if (!self.ring) {
		lose_nowhere(header);
		return NULL;
	}
	do
		slot = dpe_preload_reserve(header, &self, number);
	while (!slot && header->waits && wait_for_room(header));
	if (!slot)
		dpe_preload_lose(self.ring);
	return slot;
}

/* An event that is being written. */
struct writing {
	struct dpe_preload_slot *slot; /* NULL: it is lost */
	uint64_t number;
	bool interrupts; /* the writing of another one, in a signal's handler */
};

/* A handler that interrupts the writing of a slot has a frame further down the stack, or another stack.
 * Otherwise a handler has left the slots by longjmp. */
static __attribute__((noinline)) bool interrupts(
	const struct dpe_preload_header *header, const void *frame)
{
	stack_t other;
	int error = errno;
	bool handler = frame < self.frame || dpe_preload_filtered || sigaltstack(NULL, &other) || other.ss_flags & SS_ONSTACK;

	if (!handler && self.ring)
		dpe_preload_leave(header, &self);
	errno = error;
	return handler;
}

static inline struct writing begin(struct dpe_preload_header *header,
	const struct dpe_preload_call *call, unsigned kind, const uint64_t *frame)
{
	struct writing writing = {.interrupts = self.frame && interrupts(header, frame)};
	struct dpe_preload_slot *slot;

	if (!writing.interrupts)
		self.frame = frame;
	slot = writing.slot = reserve(header, &writing.number);
	if (!slot)
		return writing;
	if (!writing.interrupts)
		self.from = writing.number;
	slot->time = dpe_preload_now();
	slot->ret = 0;
	slot->kind = (uint8_t)kind;
	slot->nframes = 0;
	slot->function = (uint16_t)call->function;
	slot->lost = (uint32_t)self.ring->lost.count;
	for (unsigned i = 0; i < DPE_PRELOAD_WORDS; i++)
		slot->words[i] = call->words[i];
	return writing;
}

static inline void end(const struct writing *writing)
{
	if (writing->slot)
		dpe_preload_commit(writing->slot, writing->number);
	if (!writing->interrupts)
		self.frame = NULL;
}

void dpe_preload_write(
	const struct dpe_preload_call *call, unsigned kind, int ret, const uint64_t *frame)
{
	struct dpe_preload_header *header = dpe_preload_look->header;
	struct writing writing;

	if (!header)
		return;
	dpe_preload_news++;
	writing = begin(header, call, kind, frame);
	if (writing.slot) {
		writing.slot->ret = ret;
		writing.slot->caller = frame[1];
		if (header->frames)
			writing.slot->nframes =
				(uint8_t)dpe_preload_find_callers(header, frame, writing.slot->frames, header->frames);
	}
	end(&writing);
}

/* The innermost first. */
static unsigned copy_callers(struct dpe_preload_slot *slot,
	const struct dpe_preload_callers *callers, unsigned wanted)
{
	unsigned count = 0;

	for (; count < wanted && count < callers->count && count < DPE_PRELOAD_CALLERS; count++)
		slot->frames[count] =
			callers->at[(callers->count - 1 - count) % DPE_PRELOAD_CALLERS].pc;
	return count;
}

bool dpe_preload_number(unsigned *number)
{
	*number = self.index;
	return self.ring;
}

void dpe_preload_write_access(const struct dpe_preload_call *call, uint64_t pc,
	const uint64_t *frame, const struct dpe_preload_callers *callers)
{
	struct dpe_preload_header *header = dpe_preload_look->header;
	struct writing writing;

	if (!header)
		return;
	writing = begin(header, call, DPE_PRELOAD_ENTER, frame);
	if (writing.slot) {
		writing.slot->caller = pc;
		if (header->frames)
			writing.slot->nframes = (uint8_t)(
				callers->count ? copy_callers(writing.slot, callers, header->frames)
					       : dpe_preload_find_callers(header, frame, writing.slot->frames, header->frames));
	}
	end(&writing);
}

void dpe_preload_lose_one(void)
{
	struct dpe_preload_header *header = dpe_preload_look->header;

	if (header && self.ring)
		dpe_preload_lose(self.ring);
	else if (header)
		lose_nowhere(header);
}

void dpe_preload_lose_child(void)
{
	static bool counted;

	if (counted || !dpe_preload_mapped || dpe_preload_look->header)
		return;
	counted = true;
	lose_nowhere(dpe_preload_mapped);
}
