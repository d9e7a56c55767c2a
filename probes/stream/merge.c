/* merge: one stream in order of time from all rings: the kernel's, one for each processor, and the library's, one for
 * each thread. An event leaves when every ring is complete up to its time. A thread's messages get new numbers where
 * both the programs and the library number them. Proof and delays: docs/internals/event-order.md. */
#include "probes/stream/library_reader.h"
#include "probes/binary/binary.h"

#include <stdlib.h>
#include <unistd.h>
#include <uthash.h>

struct dpe_numbers {
	uint32_t thread;
	uint64_t kernel; /* the next number that the kernel's programs will give */
	uint64_t next;   /* the next of both together */
	UT_hash_handle hh;
};

static struct dpe_numbers *numbers_of(struct dpe_merge *merge, uint32_t thread)
{
	struct dpe_numbers *numbers = merge->recent;

	if (numbers && numbers->thread == thread)
		return numbers;
	HASH_FIND_INT(merge->numbers, &thread, numbers);
	if (numbers)
		return merge->recent = numbers;
	numbers = dpe_xcalloc(1, sizeof(*numbers));
	numbers->thread = thread;
	HASH_ADD_INT(merge->numbers, thread, numbers);
	return merge->recent = numbers;
}

/* Beyond so many, events stay in their rings, where losses are counted; or where threads wait
 * instead, until these were delivered. */
#define MOST_HELD 1000000
#define MOST_AWAITED 200000
/* The kernel's, which need more memory. */
#define MOST_KEPT 200000
/* Messages that are delivered before the rings are looked at again. */
#define AT_ONCE 4096
#define A_FEW 16
#define LONGEST_DELIVERY 5000000 /* ns */
/* Events of a millisecond that show that taking more is more urgent than delivering. */
#define A_FLOOD 4096
#define KERNEL_FULL_ENOUGH 12 /* percent */
#define MILLISECOND UINT64_C(1000000)
#define MEMORY_FOR_LATER ((size_t)40 << 20)

/* What is held: of the kernel, a record. */
struct kernel_event {
	struct dpe_held held;
	struct dpe_record record;
};

/* Of the library, a slot as far as there is something in it; and, before the first of a thread in its
 * ring, whose the next ones are. */
enum { HELD_SLOT, HELD_WRITER };

struct library_event {
	struct dpe_held held;
	struct dpe_preload_slot slot;
};

struct newcomer {
	struct dpe_held held;
	struct dpe_writer writer;
};

#define MOST_WORDS (DPE_WORDS + 1 + DPE_STACK_MAX + DPE_VALUES + DPE_TEXTS * DPE_TEXT_WORDS)

_Static_assert(sizeof(struct kernel_event) + MOST_WORDS * sizeof(uint64_t) <= DPE_HELD_MOST,
	"the longest record can be held");

/* ns for which events may be held while there is no processor for them: none where somebody waits for
 * what is told, be it a thread for room in its ring, or whoever wants the target to be stopped as soon
 * as something is found. Deadlocks are told within milliseconds by the kernel's rings, and within a
 * tenth of a second by the library's, which bring more than can be taken in at once. */
static uint64_t patience_of(const struct dpe_probes *probes)
{
	const struct dpe_preload *preload = probes->preload;

	if (probes->plan->urgency == DPE_URGENCY_IMMEDIATE || dpe_gates_can_stop(probes) ||
		(preload && preload->rings.header->waits))
		return 0;
	if (probes->plan->urgency == DPE_URGENCY_SOON)
		return preload ? 75 * MILLISECOND : 0;
	return 1000 * MILLISECOND;
}

/* What is held of the library while there is no processor for it takes memory that is there before:
 * to get it page by page from the kernel would take more of the processors than delivering does. */
static void open_pace(struct dpe_probes *probes)
{
	struct dpe_merge *merge = probes->merge;
	bool there = !probes->preload || dpe_queues_prepare(&merge->held, MEMORY_FOR_LATER);
	const struct dpe_pace limits = {
		.processors = (unsigned)sysconf(_SC_NPROCESSORS_ONLN),
		.most = there ? MEMORY_FOR_LATER : 0,
		.longest = merge->patience,
	};

	dpe_pace_open(&merge->pace, "/proc/loadavg", &limits);
}

void dpe_merge_open(struct dpe_probes *probes)
{
	struct dpe_merge *merge = probes->merge;

	merge->nkernel = probes->rings->count;
	dpe_queues_open(&merge->held, merge->nkernel + (probes->preload ? DPE_PRELOAD_RINGS : 0));
	if (probes->preload)
		merge->writers = dpe_xcalloc(2 * DPE_PRELOAD_RINGS, sizeof(*merge->writers));
	merge->patience = patience_of(probes);
	if (merge->patience)
		open_pace(probes);
}

void dpe_merge_free(struct dpe_probes *probes)
{
	struct dpe_merge *merge = probes->merge;
	struct dpe_numbers *numbers, *next;

	dpe_queues_close(&merge->held);
	free(merge->writers);
	dpe_pace_close(&merge->pace);
	HASH_ITER (hh, merge->numbers, numbers, next) {
		HASH_DEL(merge->numbers, numbers);
		free(numbers);
	}
}

/* ---- what arrives ------------------------------------------------------------------------ */

static bool wants_more(void *context, unsigned ring)
{
	struct dpe_merge *merge = ((struct dpe_probes *)context)->merge;
	bool wants = merge->held.counts[ring] < MOST_KEPT / merge->nkernel;

	merge->refused |= !wants;
	return wants;
}

/* Records are copied as they are, and become messages one by one when they leave: what they mean may
 * depend on those before them, and messages that are made and used at once stay in the processor's
 * caches. */
static void on_kernel(
	void *context, unsigned ring, const struct dpe_record *record, size_t size)
{
	struct dpe_probes *probes = context;
	struct kernel_event *event;

	if (size < sizeof(*record))
		return;
	if (record->has_stack && !probes->maps->read)
		dpe_maps_begin(probes);
	event = (void *)dpe_queues_add(&probes->merge->held, ring,
		offsetof(struct kernel_event, record) + size, record->time);
	memcpy(&event->record, record, size);
}

static uint64_t most_held(const struct dpe_preload *preload)
{
	return preload->rings.header->waits ? MOST_AWAITED : MOST_HELD;
}

/* Each ring has its share of the room, or the one that is ahead would take all of it, and the events
 * that must be delivered before those would be let in one by one. */
static bool is_full(const struct dpe_probes *probes, unsigned ring)
{
	const struct dpe_preload *preload = probes->preload;
	uint32_t used = __atomic_load_n(&preload->rings.header->used, __ATOMIC_RELAXED);
	uint64_t held = probes->merge->held.counts[probes->merge->nkernel + ring];

	if (used > DPE_PRELOAD_RINGS)
		used = DPE_PRELOAD_RINGS;
	return used && held >= most_held(preload) / used;
}

/* Read once: the target can write anything there, at any time. */
static unsigned count_frames(const struct dpe_probes *probes, const struct dpe_preload_slot *slot)
{
	unsigned count = __atomic_load_n(&slot->nframes, __ATOMIC_RELAXED);

	return count < probes->preload->rings.frames ? count : probes->preload->rings.frames;
}

/* Of a slot with so many frames, up to the last word that is not zero. */
static size_t bytes_of(const struct dpe_preload_slot *slot, unsigned count)
{
	unsigned words = DPE_PRELOAD_WORDS;

	while (!count && words && !slot->words[words - 1])
		words--;
	return offsetof(struct dpe_preload_slot, words) + (words + count) * sizeof(uint64_t);
}

/* Says whose what comes next by the ring is, where that is another thread than before. */
static void meet_writer(struct dpe_probes *probes, const struct dpe_ring_event *event)
{
	struct dpe_merge *merge = probes->merge;
	struct dpe_writer *last = &merge->writers[DPE_PRELOAD_RINGS + event->index];
	struct newcomer *newcomer;

	if (last->thread == event->ring->thread &&
		!memcmp(last->comm, event->ring->comm, sizeof(last->comm)))
		return;
	last->thread = event->ring->thread;
	memcpy(last->comm, event->ring->comm, sizeof(last->comm));
	newcomer = (void *)dpe_queues_add(
		&merge->held, merge->nkernel + event->index, sizeof(*newcomer), event->time);
	newcomer->held.kind = HELD_WRITER;
	newcomer->writer = *last;
}

/* Takes an event out of its ring as it is, which is quick. */
static bool on_library(void *context, const struct dpe_ring_event *event)
{
	struct dpe_probes *probes = context;
	struct dpe_merge *merge = probes->merge;
	unsigned frames = count_frames(probes, event->slot);
	size_t bytes = bytes_of(event->slot, frames);
	struct library_event *held;

	if (is_full(probes, event->index)) {
		merge->refused = true;
		return false;
	}
	meet_writer(probes, event);
	held = (void *)dpe_queues_add(&merge->held, merge->nkernel + event->index,
		offsetof(struct library_event, slot) + bytes, event->time);
	held->held.kind = HELD_SLOT;
	held->held.gap = (uint32_t)event->gap;
	memcpy(&held->slot, event->slot, bytes);
	held->slot.nframes = (uint8_t)frames;
	return true;
}

/* ---- what leaves ------------------------------------------------------------------------- */

/* Puts a message behind all others of its thread, `gap` of which are missing. */
static void deliver(struct dpe_probes *probes, struct dpe_message *message, uint64_t gap,
	const struct dpe_probes_sink *sink)
{
	struct dpe_numbers *numbers = numbers_of(probes->merge, (uint32_t)message->thread.num);

	numbers->next += gap;
	message->seq = numbers->next++;
	message->place = ++probes->place;
	sink->message(sink->context, message);
}

struct record_pieces {
	struct dpe_probes *probes;
	const struct dpe_library_event *event;
	const struct dpe_probes_sink *sink;
	uint64_t gap;
};

static void deliver_piece(void *context, uint64_t address, uint64_t size)
{
	struct record_pieces *pieces = context;
	struct dpe_probes *probes = pieces->probes;
	struct dpe_message *message =
		dpe_told_access(probes, pieces->event, address, size);

	if (message)
		deliver(probes, message, pieces->gap, pieces->sink);
	pieces->gap = 0;
}

static void deliver_memory(struct dpe_probes *probes, const struct dpe_library_event *event,
	const struct dpe_probes_sink *sink)
{
	struct record_pieces pieces = {probes, event, sink, event->gap};

	if (event->slot.function >= DPE_PRELOAD_EVENTS)
		return;
	if (!dpe_memory_each(&probes->preload->memory, &event->slot, deliver_piece, &pieces))
		pieces.gap++; /* one that is too large counts as lost */
	if (pieces.gap)
		numbers_of(probes->merge, event->thread)->next += pieces.gap;
}

static void deliver_record(struct dpe_probes *probes, const struct dpe_record *record, size_t size,
	const struct dpe_probes_sink *sink)
{
	struct dpe_message *message;
	struct dpe_numbers *numbers;
	uint64_t gap;

	if (dpe_comms_take(probes, record, size))
		return;
	if (dpe_channels_is_theirs(record)) {
		dpe_channels_deliver(probes, record, size, sink);
		return;
	}
	message = dpe_message_of_record(probes, record, size, dpe_comms_of(probes, record->tid));
	if (!message)
		return;
	if (!probes->preload) {
		message->place = ++probes->place;
		sink->message(sink->context, message);
		return;
	}
	numbers = numbers_of(probes->merge, (uint32_t)message->thread.num);
	gap = message->seq > numbers->kernel ? message->seq - numbers->kernel : 0;
	numbers->kernel = message->seq + 1;
	deliver(probes, message, gap, sink);
}

/* As the library wrote it. */
static struct dpe_library_event whole(
	const struct dpe_writer *writer, const struct library_event *held)
{
	struct dpe_library_event event = {
		.time = held->held.time, .gap = held->held.gap, .thread = writer->thread};

	memcpy(event.comm, writer->comm, sizeof(writer->comm));
	memcpy(event.room, &held->slot, held->held.bytes - offsetof(struct library_event, slot));
	return event;
}

static void deliver_library(struct dpe_probes *probes, unsigned ring, const struct dpe_held *held,
	const struct dpe_probes_sink *sink)
{
	struct dpe_writer *writer = &probes->merge->writers[ring];
	struct dpe_library_event event;
	struct dpe_message *message;

	if (held->kind == HELD_WRITER) {
		*writer = ((const struct newcomer *)held)->writer;
		return;
	}
	event = whole(writer, (const struct library_event *)held);
	if (event.slot.function >= DPE_PRELOAD_COUNT) {
		deliver_memory(probes, &event, sink);
		return;
	}
	message = dpe_told_call(probes, &event);
	if (message)
		deliver(probes, message, event.gap, sink);
}

static void deliver_held(struct dpe_probes *probes, unsigned stream, const struct dpe_held *held,
	const struct dpe_probes_sink *sink)
{
	const struct kernel_event *event = (const void *)held;

	if (stream < probes->merge->nkernel)
		deliver_record(probes, &event->record,
			held->bytes - offsetof(struct kernel_event, record), sink);
	else
		deliver_library(probes, stream - probes->merge->nkernel, held, sink);
}

/* Whoever takes the messages may need any time for each. Meanwhile processes may wait for their probes. */
static bool is_long_enough(unsigned delivered, uint64_t begin)
{
	return delivered == AT_ONCE ||
	       (delivered % A_FEW == A_FEW - 1 && dpe_ring_now() - begin > LONGEST_DELIVERY);
}

/* Delivers what is before `known`, but not for too long; the time before which all was. */
static uint64_t deliver_before(
	struct dpe_probes *probes, uint64_t known, const struct dpe_probes_sink *sink)
{
	struct dpe_merge *merge = probes->merge;
	uint64_t begin = dpe_ring_now();
	struct dpe_held *held;
	unsigned stream;

	for (unsigned i = 0; (held = dpe_queues_first(&merge->held, &stream)); i++) {
		if (held->time >= known)
			break;
		if (is_long_enough(i, begin)) {
			merge->behind = true;
			return held->time;
		}
		probes->telling = held->time;
		deliver_held(probes, stream, held, sink);
		dpe_queues_drop(&merge->held);
	}
	return known;
}

/* ---- all rings together ------------------------------------------------------------------ */

/* Reads all rings; the time up to which they are known, and whether nothing was left in any. */
static uint64_t read_rings(struct dpe_probes *probes, uint64_t slack, bool *complete)
{
	const struct dpe_kernel_sink sink = {probes, wants_more, on_kernel};
	uint64_t known = dpe_kernel_rings_drain(probes->rings, &sink, complete) - slack;
	uint64_t library;

	if (!probes->preload)
		return known;
	library = dpe_rings_drain(&probes->preload->rings, probes->exited, on_library, probes);
	return library < known ? library : known;
}

/* With a library the kernel's rings can wait, too, unless records come by them as fast as by the
 * others. */
static bool can_wait(struct dpe_probes *probes, uint64_t now)
{
	struct dpe_backlog backlog = dpe_kernel_rings_backlog(probes->rings);

	if (probes->preload) {
		if (backlog.percent >= KERNEL_FULL_ENOUGH)
			return false;
		backlog = dpe_rings_backlog(&probes->preload->rings);
	}
	if (!dpe_pace_leaves(&probes->merge->pace, now, &backlog))
		return false;
	probes->rings->busy |= !probes->preload; /* what comes next wakes nobody */
	return true;
}

/* Reads the rings, unless they can wait; the time before which all that may be delivered now is known. */
static uint64_t look(struct dpe_probes *probes, bool over, uint64_t slack, bool *complete)
{
	struct dpe_merge *merge = probes->merge;
	uint64_t now = dpe_ring_now(), before = merge->held.held;
	bool patient = merge->patience && !over && !probes->exited && !probes->stopped;

	if (patient && can_wait(probes, now)) {
		*complete = false;
	} else {
		merge->refused = false;
		merge->known = read_rings(probes, slack, complete);
		dpe_pace_read(&merge->pace, now, merge->held.held - before);
	}
	if (!patient || merge->refused)
		return merge->known;
	now = dpe_pace_due(&merge->pace, now, merge->held.held, merge->held.bytes);
	return now < merge->known ? now : merge->known;
}

/* More came than can be delivered while it comes. */
static bool is_flooded(const struct dpe_probes *probes)
{
	const struct dpe_merge *merge = probes->merge;

	return probes->preload && merge->pace.rate > A_FLOOD &&
	       merge->held.held < most_held(probes->preload) / 2;
}

bool dpe_merge_deliver(struct dpe_probes *probes, bool over, uint64_t slack,
	const struct dpe_probes_sink *sink)
{
	struct dpe_merge *merge = probes->merge;
	uint64_t now = dpe_ring_now(), known;
	bool complete;

	merge->behind = false;
	known = look(probes, over, slack, &complete);
	if (!over && is_flooded(probes))
		return false;
	if (over && complete && !merge->refused)
		known = UINT64_MAX; /* that was all */
	known = deliver_before(probes, known, sink);
	if (known == UINT64_MAX)
		known = now;
	if (known > probes->drained)
		probes->drained = known;
	return complete && !merge->refused && !merge->held.held;
}
