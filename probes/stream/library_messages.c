/* library_messages: what the preloaded library wrote, as messages. */
#include "probes/binary/binary.h"
#include "probes/stream/library_reader.h"

#include <string.h>

/* A record as the kernel's programs make it, with room for the longest stack and all values. */
#define RECORD_BYTES                                                                               \
	(sizeof(struct dpe_record) +                                                               \
		(DPE_RESULT_WORDS + DPE_WORDS + 1 + DPE_STACK_MAX + DPE_VALUES) * sizeof(uint64_t))

/* Behind the result, where there is one. */
static __u64 *words_of(struct dpe_record *record)
{
	return record->words + (record->kind == DPE_RECORD_EXIT ? DPE_RESULT_WORDS : 0);
}

/* The target can have written anything there. */
static unsigned count_frames(const struct dpe_probes *probes, const struct dpe_preload_slot *slot)
{
	unsigned most = probes->preload->rings.frames;

	return slot->nframes < most ? slot->nframes : most;
}

/* The innermost place, and what it was called by. */
static void add_callers(const struct dpe_probes *probes, const struct dpe_preload_slot *slot,
	uint64_t place, struct dpe_record *record)
{
	unsigned count = 0;
	__u64 *frames = words_of(record) + DPE_WORDS + 1;

	record->has_stack = DPE_STACK_WHOLE;
	frames[count++] = place;
	for (unsigned i = 0; i < count_frames(probes, slot); i++)
		frames[count++] = slot->frames[i];
	record->nstack = (uint8_t)count;
}

/* The function itself, its caller, and what frame pointers led to. */
static void add_stack(const struct dpe_probes *probes, const struct dpe_preload_slot *slot,
	struct dpe_record *record)
{
	uint64_t function = probes->preload->rings.header->address[slot->function];
	unsigned count = 0;
	__u64 *behind = words_of(record) + DPE_WORDS, *frames = behind + 1;

	record->has_stack = DPE_STACK_WHOLE;
	if (slot->kind == DPE_PRELOAD_EXIT)
		*behind = function;
	else
		frames[count++] = function;
	frames[count++] = slot->caller;
	for (unsigned i = 0; i < count_frames(probes, slot); i++)
		frames[count++] = slot->frames[i];
	record->nstack = (uint8_t)count;
}

/* Of what may follow the words nothing is looked at that is not there. */
static void begin_record(const struct dpe_probes *probes, const struct dpe_library_event *event,
	enum dpe_record_kind kind, struct dpe_record *record)
{
	__u64 *words;

	memset(record, 0, sizeof(*record));
	record->time = event->time;
	record->tid = event->thread;
	record->tgid = (uint32_t)probes->pid;
	record->kind = kind;
	record->nwords = DPE_WORD_REGISTERS;
	words = words_of(record);
	memset(words, 0, DPE_WORD_REGISTERS * sizeof(*words));
	memcpy(words, event->slot.words, sizeof(event->slot.words));
	words[DPE_WORDS] = 0;
}

/* What is in the lock, which stands in the words of the call: `values` are the last of the record. */
static void add_values(const struct dpe_probes *probes, const struct dpe_site *site,
	const struct dpe_preload_slot *slot, struct dpe_record *record, uint64_t *values)
{
	const struct dpe_plan *plan = probes->plan;

	for (unsigned i = 0; site->reads && i < plan->nreads && i < DPE_READS; i++) {
		if (!(site->reads >> i & 1))
			continue;
		record->known |= 1u << record->nvalues;
		values[record->nvalues++] =
			slot->words[dpe_layout_word(site->function->name, plan->reads[i].lvalue)];
	}
}

struct dpe_message *dpe_told_call(struct dpe_probes *probes, const struct dpe_library_event *event)
{
	const struct dpe_preload_slot *slot = &event->slot;
	const struct dpe_site *site = dpe_preload_site(probes, slot->function);
	_Alignas(struct dpe_record) char room[RECORD_BYTES];
	struct dpe_record *record = (void *)room;

	if (!site)
		return NULL;
	begin_record(probes, event,
		slot->kind == DPE_PRELOAD_EXIT ? DPE_RECORD_EXIT : DPE_RECORD_ENTER, record);
	if (record->kind == DPE_RECORD_EXIT) {
		record->words[0] = (uint64_t)(int64_t)slot->ret;
		record->words[1] = 0;
	}
	record->site = (uint32_t)(site - probes->sites);
	if (probes->stack_depth)
		add_stack(probes, slot, record);
	add_values(probes, site, slot, record, (uint64_t *)(room + sizeof(room)) - DPE_VALUES);
	return dpe_message_of_record(probes, record, sizeof(room), event->comm);
}

struct dpe_message *dpe_told_access(struct dpe_probes *probes,
	const struct dpe_library_event *event, uint64_t address, uint64_t size)
{
	const struct dpe_preload_slot *slot = &event->slot;
	_Alignas(struct dpe_record) char room[RECORD_BYTES];
	struct dpe_record *record = (void *)room;

	begin_record(probes, event, DPE_RECORD_MEMORY, record);
	record->site = slot->function;
	record->words[0] = address;
	record->words[1] = size;
	if (probes->stack_depth)
		add_callers(probes, slot, slot->caller - 1, record);
	return dpe_message_of_record(probes, record, sizeof(room), event->comm);
}
