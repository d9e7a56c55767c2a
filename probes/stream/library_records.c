/* library_records: slots of the preloaded library as records like those of the kernel's programs.
 */
#include "probes/stream/library_reader.h"

#include <string.h>

static struct dpe_record *begin_record(const struct dpe_ring_event *event,
	enum dpe_record_kind kind, union dpe_library_record *to)
{
	memset(to, 0, sizeof(*to));
	to->record.time = event->time;
	to->record.tid = event->ring->thread;
	to->record.kind = kind;
	return &to->record;
}

size_t dpe_library_name(const struct dpe_ring_event *event, union dpe_library_record *to)
{
	struct dpe_record *record = begin_record(event, DPE_RECORD_NAME, to);

	memcpy(record->words, event->ring->comm, sizeof(event->ring->comm));
	return sizeof(*record) + sizeof(event->ring->comm);
}

/* Writes `first` (if not 0), the caller, and the frames found by frame pointers after the words and the word
 * that follows them. The number of frames is read once: the target can write there at any time. */
static __u64 *add_stack(const struct dpe_probes *probes, const struct dpe_preload_slot *slot,
	uint64_t first, uint64_t caller, struct dpe_record *record, __u64 *behind)
{
	unsigned there = __atomic_load_n(&slot->nframes, __ATOMIC_RELAXED), count = 0;
	__u64 *frames = behind + 1;

	if (there > probes->preload->rings.frames)
		there = probes->preload->rings.frames;
	if (first)
		frames[count++] = first;
	frames[count++] = caller;
	memcpy(frames + count, slot->frames, there * sizeof(*frames));
	record->nstack = (uint8_t)(count + there);
	return frames + record->nstack;
}

/* At an exit the function is no longer on the stack, so it is put before it. */
static __u64 *add_call_stack(const struct dpe_probes *probes, const struct dpe_preload_slot *slot,
	unsigned number, struct dpe_record *record, __u64 *behind)
{
	uint64_t function = probes->preload->rings.header->address[number];
	bool exits = record->kind == DPE_RECORD_EXIT;

	*behind = exits ? function : 0;
	return add_stack(probes, slot, exits ? 0 : function, slot->caller, record, behind);
}

/* The word in the lock, which the wrapper put after the arguments. */
static __u64 *add_values(const struct dpe_probes *probes, const struct dpe_site *site,
	const struct dpe_preload_slot *slot, struct dpe_record *record, __u64 *values)
{
	const struct dpe_plan *plan = probes->plan;

	for (unsigned i = 0; i < plan->nreads && i < DPE_READS; i++) {
		if (!(site->reads >> i & 1))
			continue;
		record->known |= 1u << record->nvalues;
		values[record->nvalues++] =
			slot->words[dpe_layout_word(site->function->name, plan->reads[i].lvalue)];
	}
	return values + DPE_VALUES;
}

static size_t size_to(const struct dpe_record *record, const __u64 *end)
{
	return (size_t)((const char *)end - (const char *)record);
}

static size_t make_call(const struct dpe_probes *probes, const struct dpe_ring_event *event,
	const struct dpe_site *site, unsigned function, union dpe_library_record *to)
{
	const struct dpe_preload_slot *slot = event->slot;
	bool exits = slot->kind == DPE_PRELOAD_EXIT;
	bool brief = !site->reads && dpe_signature_needed(site->signature) <= 2;
	struct dpe_record *record =
		begin_record(event, exits ? DPE_RECORD_EXIT : DPE_RECORD_ENTER, to);
	__u64 *words = record->words + (exits ? DPE_RESULT_WORDS : 0), *end;

	if (exits)
		record->words[0] = (uint64_t)(int64_t)slot->ret;
	memcpy(words, slot->words, sizeof(slot->words));
	record->site = (uint32_t)(site - probes->sites);
	record->nwords = brief ? 2 : DPE_WORD_REGISTERS;
	end = words + record->nwords;
	if (site->reads || (probes->stack_depth && !brief))
		end = words + DPE_WORDS;
	if (probes->stack_depth) {
		record->has_stack = brief ? DPE_STACK_BRIEF : DPE_STACK_WHOLE;
		end = add_call_stack(probes, slot, function, record, end);
	} else if (site->reads) {
		end++;
	}
	if (site->reads)
		end = add_values(probes, site, slot, record, end);
	return size_to(record, end);
}

static size_t make_access(const struct dpe_probes *probes, const struct dpe_ring_event *event,
	unsigned what, union dpe_library_record *to)
{
	const struct dpe_preload_slot *slot = event->slot;
	struct dpe_record *record = begin_record(event, DPE_RECORD_MEMORY, to);
	__u64 *end = record->words + 2;

	record->site = what;
	record->nwords = 2;
	memcpy(record->words, slot->words, 2 * sizeof(*record->words));
	if (probes->stack_depth) {
		record->has_stack = DPE_STACK_BRIEF;
		end = add_stack(probes, slot, 0, slot->caller - 1, record, end);
	}
	return size_to(record, end);
}

size_t dpe_library_record(struct dpe_probes *probes, const struct dpe_ring_event *event,
	union dpe_library_record *to)
{
	unsigned function = __atomic_load_n(&event->slot->function, __ATOMIC_RELAXED);
	const struct dpe_site *site = dpe_preload_site(probes, function);
	size_t size = 0;

	if (site)
		size = make_call(probes, event, site, function, to);
	else if (function >= DPE_PRELOAD_COUNT && function < DPE_PRELOAD_EVENTS)
		size = make_access(probes, event, function, to);
	to->record.tgid = (uint32_t)probes->pid;
	return size;
}
