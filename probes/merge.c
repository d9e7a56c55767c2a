/* merge: two streams of messages, the kernel's and the preloaded library's, become one.
 *
 * Each thread's messages are numbered in each stream by themselves. They are held until both
 * streams are known up to their time, put in order of time, and numbered anew: a gap of a stream is
 * a gap before its next message. */
#include "probes/preload.h"

#include <stdlib.h>
#include <uthash.h>

struct dpe_numbers {
	uint32_t thread;
	uint64_t kernel; /* the next number that the kernel's programs will give */
	uint64_t next;   /* the next of both together */
	UT_hash_handle hh;
};

static struct dpe_numbers *numbers_of(struct dpe_preload *preload, uint32_t thread)
{
	struct dpe_numbers *numbers;

	HASH_FIND_INT(preload->numbers, &thread, numbers);
	if (numbers)
		return numbers;
	numbers = dpe_xcalloc(1, sizeof(*numbers));
	numbers->thread = thread;
	HASH_ADD_INT(preload->numbers, thread, numbers);
	return numbers;
}

void dpe_merge_free(struct dpe_preload *preload)
{
	struct dpe_numbers *numbers, *next;

	while (preload->nheld)
		dpe_message_unref(preload->held[--preload->nheld].message);
	free(preload->held);
	HASH_ITER (hh, preload->numbers, numbers, next) {
		HASH_DEL(preload->numbers, numbers);
		free(numbers);
	}
}

/* ---- what arrives ------------------------------------------------------------------------ */

static void hold(struct dpe_preload *preload, struct dpe_message *message, uint64_t gap)
{
	*DPE_GROW(preload->held, preload->nheld, preload->capheld) =
		(struct dpe_held){message, gap, preload->order++};
}

static void on_kernel(void *context, const struct dpe_record *record, size_t size)
{
	struct dpe_probes *probes = context;
	struct dpe_message *message = dpe_message_of_record(probes, record, size);
	struct dpe_numbers *numbers;
	uint64_t gap;

	if (!message)
		return;
	numbers = numbers_of(probes->preload, record->tid);
	gap = record->seq > numbers->kernel ? record->seq - numbers->kernel : 0;
	numbers->kernel = record->seq + 1;
	hold(probes->preload, message, gap);
}

/* A record as the kernel's programs make it, with room for the longest stack. */
struct long_record {
	struct dpe_record record;
	uint64_t words[DPE_WORDS + 1 + DPE_STACK_MAX];
};

/* The function itself, its caller, and what frame pointers led to. */
static void add_stack(const struct dpe_probes *probes, const struct dpe_preload_slot *slot,
	struct long_record *to)
{
	uint64_t function = probes->preload->rings.header->address[slot->function];
	uint64_t *frames = &to->words[DPE_WORDS + 1];
	unsigned count = 0;

	to->record.has_stack = 1;
	if (slot->kind == DPE_PRELOAD_EXIT)
		to->words[DPE_WORDS] = function;
	else
		frames[count++] = function;
	frames[count++] = slot->caller;
	for (unsigned i = 0; i < probes->preload->rings.frames && slot->frames[i]; i++)
		frames[count++] = slot->frames[i];
	to->record.nstack = (uint8_t)count;
}

static void on_library(void *context, const struct dpe_ring_event *event)
{
	struct dpe_probes *probes = context;
	const struct dpe_preload_slot *slot = event->slot;
	const struct dpe_spot *spot = dpe_preload_spot(probes, slot->function);
	struct dpe_message *message;
	struct long_record record = {
		.record.time = event->time,
		.record.ret = (uint64_t)(int64_t)slot->ret,
		.record.tid = event->ring->thread,
		.record.tgid = (uint32_t)probes->pid,
		.record.kind = slot->kind == DPE_PRELOAD_EXIT ? DPE_RECORD_EXIT : DPE_RECORD_ENTER,
		.record.nwords = DPE_WORD_REGISTERS,
	};

	if (!spot)
		return;
	record.record.site = (uint32_t)(spot - probes->spots);
	memcpy(record.record.comm, event->ring->comm, sizeof(record.record.comm));
	memcpy(record.words, slot->words, sizeof(slot->words));
	if (probes->stack_depth)
		add_stack(probes, slot, &record);
	message = dpe_message_of_record(probes, &record.record, sizeof(record));
	if (message)
		hold(probes->preload, message, event->gap);
}

/* ---- what leaves ------------------------------------------------------------------------- */

static int by_time(const void *left, const void *right)
{
	const struct dpe_held *a = left, *b = right;

	if (a->message->time != b->message->time)
		return a->message->time < b->message->time ? -1 : 1;
	return a->order < b->order ? -1 : a->order > b->order;
}

/* What was held before is in order already. */
static void sort_held(struct dpe_preload *preload)
{
	unsigned old = 0, fresh = preload->nsorted, made = 0;
	struct dpe_held *merged;

	if (fresh == preload->nheld)
		return;
	qsort(preload->held + fresh, preload->nheld - fresh, sizeof(*preload->held), by_time);
	merged = dpe_xcalloc(preload->nheld, sizeof(*merged));
	while (old < preload->nsorted || fresh < preload->nheld) {
		bool take_old = fresh == preload->nheld ||
				(old < preload->nsorted &&
					by_time(&preload->held[old], &preload->held[fresh]) < 0);

		merged[made++] = preload->held[take_old ? old++ : fresh++];
	}
	free(preload->held);
	preload->held = merged;
	preload->capheld = preload->nsorted = preload->nheld;
}

static void let_go(
	struct dpe_probes *probes, struct dpe_held *held, const struct dpe_probes_sink *sink)
{
	struct dpe_message *message = held->message;
	struct dpe_numbers *numbers = numbers_of(probes->preload, (uint32_t)message->thread.num);

	numbers->next += held->gap;
	message->seq = numbers->next++;
	message->place = ++probes->place;
	sink->message(sink->context, message);
}

static void let_go_before(
	struct dpe_probes *probes, uint64_t time, bool all, const struct dpe_probes_sink *sink)
{
	struct dpe_preload *preload = probes->preload;
	unsigned count = 0;

	sort_held(preload);
	while (count < preload->nheld && (all || preload->held[count].message->time < time))
		let_go(probes, &preload->held[count++], sink);
	preload->nheld -= count;
	preload->nsorted = preload->nheld;
	memmove(preload->held, preload->held + count, preload->nheld * sizeof(*preload->held));
}

bool dpe_preload_deliver(
	struct dpe_probes *probes, uint64_t kernel_slack, const struct dpe_probes_sink *sink)
{
	uint64_t now = dpe_ring_now(), place = probes->place, known;
	bool complete = dpe_ring_drain(&probes->ring, on_kernel, probes);

	if (complete)
		probes->kernel_drained = now - kernel_slack;
	known = dpe_rings_drain(&probes->preload->rings, probes->exited, on_library, probes);
	probes->place = place;
	if (known > probes->kernel_drained)
		known = probes->kernel_drained;
	if (known > probes->drained)
		probes->drained = known;
	let_go_before(probes, probes->drained, complete && probes->exited, sink);
	return complete;
}

/* ---- losses ------------------------------------------------------------------------------ */

struct losses {
	struct dpe_loss *at;
	unsigned count, cap;
};

static struct dpe_loss *loss_of(struct losses *losses, pid_t thread)
{
	struct dpe_loss *loss;

	for (unsigned i = 0; i < losses->count; i++)
		if (losses->at[i].thread == thread)
			return &losses->at[i];
	loss = DPE_GROW(losses->at, losses->count, losses->cap);
	*loss = (struct dpe_loss){.thread = thread, .first = UINT64_MAX};
	return loss;
}

static void add_loss(void *context, const struct dpe_ring_loss *lost)
{
	struct dpe_loss *loss = loss_of(context, (pid_t)lost->thread);

	loss->count += lost->count;
	if (lost->first < loss->first)
		loss->first = lost->first;
	if (lost->last > loss->last)
		loss->last = lost->last;
}

/* Programs that the target became, by exec, without loading the library: what they do is lost. */
static void add_images(const struct dpe_probes *probes, struct losses *losses)
{
	uint32_t begun = dpe_attach_execs(probes);
	uint32_t told = __atomic_load_n(&probes->preload->rings.header->images, __ATOMIC_ACQUIRE);
	struct dpe_ring_loss lost = {.count = begun - told, .first = probes->drained};

	lost.last = lost.first;
	if (begun > told)
		add_loss(losses, &lost);
}

unsigned dpe_preload_losses(struct dpe_probes *probes, struct dpe_loss *to, unsigned max)
{
	struct losses losses = {0};
	unsigned count = dpe_attach_losses(probes, NULL, 0);

	losses.cap = count + 1;
	losses.at = dpe_xcalloc(losses.cap, sizeof(*losses.at));
	losses.count = dpe_attach_losses(probes, losses.at, count);
	if (losses.count > count)
		losses.count = count;
	dpe_rings_each_loss(&probes->preload->rings, add_loss, &losses);
	add_images(probes, &losses);
	count = losses.count;
	if (max)
		memcpy(to, losses.at, (count < max ? count : max) * sizeof(*to));
	free(losses.at);
	return count;
}
