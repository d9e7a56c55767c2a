/* merge: one stream in order of time from all rings: the kernel's, one for each processor, and the library's, one for
 * each thread. An event leaves when every ring is complete up to its time. A thread's messages get new numbers where
 * both the programs and the library number them. Proof and delays: docs/internals/event-order.md. */
#include "probes/stream/library_reader.h"

#include <stdlib.h>
#include <string.h>
#include <uthash.h>

struct dpe_numbers {
	uint32_t thread;
	uint64_t kernel; /* the next number of the kernel's programs */
	uint64_t next;   /* the next number of the merged stream */
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

/* A record of the BPF programs, or one made from a slot of the library's ring. */
struct held_record {
	struct dpe_queued held;
	struct dpe_record record;
};

#define MAX_WORDS (DPE_WORDS + 1 + DPE_STACK_MAX + DPE_VALUES + DPE_TEXTS * DPE_TEXT_WORDS)

_Static_assert(sizeof(struct held_record) + MAX_WORDS * sizeof(uint64_t) <= DPE_QUEUED_MAX,
	"the longest record can be held");

void dpe_merge_open(struct dpe_probes *probes)
{
	struct dpe_merge *merge = probes->merge;

	merge->nkernel = probes->rings->count;
	dpe_queues_open(&merge->held, merge->nkernel + (probes->preload ? DPE_PRELOAD_RINGS : 0));
}

void dpe_merge_free(struct dpe_probes *probes)
{
	struct dpe_merge *merge = probes->merge;
	struct dpe_numbers *numbers, *next;

	dpe_queues_close(&merge->held);
	HASH_ITER (hh, merge->numbers, numbers, next) {
		HASH_DEL(merge->numbers, numbers);
		free(numbers);
	}
}

/* ---- what arrives ------------------------------------------------------------------------ */

static bool wants_more(void *context, unsigned ring)
{
	struct dpe_merge *merge = ((struct dpe_probes *)context)->merge;
	bool wants = merge->held.counts[ring] < DPE_MAX_HELD / merge->nkernel;

	merge->refused |= !wants;
	return wants;
}

static void hold(struct dpe_probes *probes, unsigned stream, const struct dpe_record *record,
	size_t size, uint64_t gap)
{
	struct held_record *held = (void *)dpe_queues_add(&probes->merge->held, stream,
		offsetof(struct held_record, record) + size, record->time);

	held->held.gap = (uint32_t)gap;
	memcpy(&held->record, record, size);
}

/* Records are copied, and become messages one by one when they leave: the meaning of a record may depend on earlier
 * ones, and a message that is used at once stays in the processor's cache. */
static void on_kernel(
	void *context, unsigned ring, const struct dpe_record *record, size_t size)
{
	struct dpe_probes *probes = context;

	if (size < sizeof(*record))
		return;
	if (record->has_stack && !probes->maps->read)
		dpe_maps_read(probes, probes->pid);
	hold(probes, ring, record, size, 0);
}

/* Each ring has its share of the space. Otherwise a ring that is ahead would take all of it, and events of the
 * other rings, which are delivered first, would enter one by one. */
static bool is_full(const struct dpe_probes *probes, unsigned ring)
{
	uint32_t used = __atomic_load_n(&probes->preload->rings.header->used, __ATOMIC_RELAXED);
	uint64_t held = probes->merge->held.counts[probes->merge->nkernel + ring];

	if (used > DPE_PRELOAD_RINGS)
		used = DPE_PRELOAD_RINGS;
	return used && held >= DPE_MAX_AWAITED / used;
}

static bool on_library(void *context, const struct dpe_ring_event *event)
{
	struct dpe_probes *probes = context;
	struct dpe_merge *merge = probes->merge;
	unsigned stream = merge->nkernel + event->index;
	union dpe_library_record made;
	size_t size;

	if (is_full(probes, event->index)) {
		merge->refused = true;
		return false;
	}
	if (event->first) {
		size = dpe_library_name(event, &made);
		hold(probes, stream, &made.record, size, 0);
	}
	size = dpe_library_record(probes, event, &made);
	if (size)
		hold(probes, stream, &made.record, size, event->gap);
	return true;
}

/* ---- what leaves ------------------------------------------------------------------------- */

/* Appends a message to those of its thread, after `gap` missing ones. */
static void deliver(struct dpe_probes *probes, struct dpe_message *message, uint64_t gap,
	const struct dpe_probes_sink *sink)
{
	struct dpe_numbers *numbers = numbers_of(probes->merge, (uint32_t)message->thread.num);

	numbers->next += gap;
	message->seq = numbers->next++;
	message->unreferenced = true;
	sink->message(sink->context, message);
}

struct record_pieces {
	struct dpe_probes *probes;
	struct dpe_record *record;
	size_t size;
	const struct dpe_probes_sink *sink;
	uint64_t gap;
};

static void deliver_piece(void *context, uint64_t address, uint64_t size)
{
	struct record_pieces *pieces = context;
	struct dpe_probes *probes = pieces->probes;
	struct dpe_record *record = pieces->record;
	struct dpe_message *message;

	record->words[0] = address;
	record->words[1] = size;
	message = dpe_message_of_record(
		probes, record, pieces->size, dpe_thread_names_find(probes, record->tid));
	if (message)
		deliver(probes, message, pieces->gap, pieces->sink);
	pieces->gap = 0;
}

static void deliver_memory(struct dpe_probes *probes, struct held_record *held, size_t size,
	const struct dpe_probes_sink *sink)
{
	struct dpe_record *record = &held->record;
	struct record_pieces pieces = {probes, record, size, sink, held->held.gap};
	const struct dpe_memory_use use = {record->tid, record->site, record->words[0], record->words[1]};

	if (!dpe_memory_each(&probes->preload->memory, &use, deliver_piece, &pieces))
		pieces.gap++; /* one that is too large counts as lost */
	if (pieces.gap)
		numbers_of(probes->merge, record->tid)->next += pieces.gap;
}

/* How many messages of the thread are missing before this one from the kernel. */
static uint64_t kernel_gap(struct dpe_merge *merge, const struct dpe_message *message)
{
	struct dpe_numbers *numbers = numbers_of(merge, (uint32_t)message->thread.num);
	uint64_t gap = message->seq > numbers->kernel ? message->seq - numbers->kernel : 0;

	numbers->kernel = message->seq + 1;
	return gap;
}

struct kernel_messages {
	struct dpe_probes *probes;
	const struct dpe_probes_sink *sink;
};

/* A message that the kernel's programs numbered. */
static void deliver_kernel(void *context, struct dpe_message *message)
{
	const struct kernel_messages *to = context;
	struct dpe_probes *probes = to->probes;

	if (probes->preload) {
		deliver(probes, message, kernel_gap(probes->merge, message), to->sink);
		return;
	}
	message->unreferenced = true;
	to->sink->message(to->sink->context, message);
}

static void deliver_event(struct dpe_probes *probes, unsigned stream,
	const struct held_record *held, size_t size, const struct dpe_probes_sink *sink)
{
	const struct dpe_record *record = &held->record;
	struct kernel_messages kernel = {probes, sink};
	struct dpe_message *message = dpe_message_of_record(
		probes, record, size, dpe_thread_names_find(probes, record->tid));

	if (!message)
		return;
	if (stream < probes->merge->nkernel)
		deliver_kernel(&kernel, message);
	else
		deliver(probes, message, held->held.gap, sink);
}

static void deliver_channels(struct dpe_probes *probes, const struct dpe_record *record,
	size_t size, const struct dpe_probes_sink *sink)
{
	struct kernel_messages kernel = {probes, sink};
	const struct dpe_probes_sink numbered = {.context = &kernel, .message = deliver_kernel};

	dpe_channels_deliver(probes, record, size, &numbered);
}

static void deliver_held(struct dpe_probes *probes, unsigned stream, struct dpe_queued *first,
	const struct dpe_probes_sink *sink)
{
	struct held_record *held = (void *)first;
	const struct dpe_record *record = &held->record;
	size_t size = first->bytes - offsetof(struct held_record, record);

	if (dpe_thread_names_take(probes, record, size))
		return;
	if (dpe_channels_is_theirs(record))
		deliver_channels(probes, record, size, sink);
	else if (record->kind == DPE_RECORD_MEMORY && probes->preload)
		deliver_memory(probes, held, size, sink);
	else
		deliver_event(probes, stream, held, size, sink);
}

/* Limited, because the consumer may take long for each message while processes wait for their probes. */
static bool is_long_enough(unsigned delivered, uint64_t begin)
{
	return delivered == DPE_DELIVERED_AT_ONCE ||
	       (delivered % DPE_DELIVERED_UNTIMED == DPE_DELIVERED_UNTIMED - 1 && dpe_ring_now() - begin > DPE_DELIVERY_TIME);
}

/* Delivers the records before `known`, for a limited time. Returns the time before which all were delivered. */
static uint64_t deliver_before(
	struct dpe_probes *probes, uint64_t known, const struct dpe_probes_sink *sink)
{
	struct dpe_merge *merge = probes->merge;
	uint64_t begin = dpe_ring_now();
	struct dpe_queued *held;
	unsigned stream;

	for (unsigned i = 0; (held = dpe_queues_first(&merge->held, &stream)); i++) {
		if (held->time >= known)
			break;
		if (is_long_enough(i, begin)) {
			merge->behind = true;
			return held->time;
		}
		probes->delivering = held->time;
		deliver_held(probes, stream, held, sink);
		dpe_queues_drop(&merge->held);
	}
	return known;
}

/* ---- all rings together ------------------------------------------------------------------ */

/* Reads all rings. Returns the time up to which they are known; *complete: nothing was left in the kernel's rings. */
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

bool dpe_merge_deliver(struct dpe_probes *probes, bool over, uint64_t slack,
	const struct dpe_probes_sink *sink)
{
	struct dpe_merge *merge = probes->merge;
	uint64_t now = dpe_ring_now(), known;
	bool complete;

	merge->behind = merge->refused = false;
	known = read_rings(probes, slack, &complete);
	if (over && complete && !merge->refused)
		known = UINT64_MAX; /* no more events will come */
	known = deliver_before(probes, known, sink);
	if (known == UINT64_MAX)
		known = now;
	if (known > probes->drained)
		probes->drained = known;
	return complete && !merge->refused && !merge->held.held;
}
