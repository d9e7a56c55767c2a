/* guard_checks: events that are sent only after others, and events that stop the target at once. */
#ifndef DPE_PROBES_KERNEL_BPF_GUARD_CHECKS_H
#define DPE_PROBES_KERNEL_BPF_GUARD_CHECKS_H

#include "probes/kernel/bpf/map_access.h"
#include "probes/kernel/bpf/guard_layout.h"
#include "probes/kernel/bpf/kernel_layout.h"
#include "probes/kernel/bpf/record.h"
#include <linux/bpf.h>

#include <bpf/bpf_helpers.h>
#include <stdbool.h>

struct dpe_gate_state gate_state;

const volatile __u32 mark_shares; /* a mask of bits of a processor's number */

ARRAY_MAP(gates, struct dpe_gate_entry);

/* By processor, as many as its bits in `mark_shares` tell apart; the observer reads them. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct dpe_mark_counts);
} mark_counts SEC(".maps");

static __always_inline volatile __u32 *mark_at(__u32 index)
{
	asm volatile("%0 &= %1" : "+r"(index) : "i"(DPE_MARKS - 1));
	return &gate_state.marks[index];
}

static __always_inline bool is_set(__u32 index)
{
	return *mark_at(index) != DPE_MARK_UNSET;
}

/* Another program may count on this processor in between: so each adds at once. That is a barrier as
 * well: see gate.h. */
static __always_inline void count_begun(struct dpe_mark_counts *counts, __u32 index)
{
	asm volatile("%0 &= %1" : "+r"(index) : "i"(DPE_MARKS - 1));
	__sync_fetch_and_add(&counts->at[index].begun, 1);
}

static __always_inline void count_done(struct dpe_mark_counts *counts, __u32 index)
{
	asm volatile("%0 &= %1" : "+r"(index) : "i"(DPE_MARKS - 1));
	__sync_fetch_and_add(&counts->at[index].done, 1);
}

static __always_inline struct dpe_mark_counts *own_counts(void)
{
	__u32 share = bpf_get_smp_processor_id() & mark_shares;

	return bpf_map_lookup_elem(&mark_counts, &share);
}

static __always_inline void begin_marks(const struct dpe_gate_marks *marks)
{
	struct dpe_mark_counts *counts = marks->count ? own_counts() : 0;

	for (__u32 i = 0; counts && i < DPE_GATE_MARKS && i < marks->count; i++) {
		volatile __u32 *mark = mark_at(marks->at[i]);

		count_begun(counts, marks->at[i]);
		if (*mark != DPE_MARK_SET)
			*mark = DPE_MARK_SET;
	}
}

static __always_inline void end_marks(const struct dpe_gate_marks *marks)
{
	struct dpe_mark_counts *counts = marks->count ? own_counts() : 0;

	for (__u32 i = 0; counts && i < DPE_GATE_MARKS && i < marks->count; i++)
		count_done(counts, marks->at[i]);
}

static __always_inline bool all_set(const struct dpe_gate_marks *marks)
{
	for (__u32 i = 0; i < DPE_GATE_MARKS && i < marks->count; i++)
		if (!is_set(marks->at[i]))
			return false;
	return true;
}

/* False where no rule can make use of the event, as what must come before it has not come. */
static __noinline bool gate_is_open(const struct dpe_gate_entry *gate)
{
	if (!gate || !gate->after.count)
		return true;
	for (__u32 i = 0; i < DPE_GATE_MARKS && i < gate->after.count; i++)
		if (is_set(gate->after.at[i]))
			return true;
	return false;
}

static __always_inline bool may_stop(void)
{
	return *(volatile __u32 *)&gate_state.may_stop;
}

/* Before the event gets its time. 1 where it is one that may stop the target. A global function: see
 * calls.h. */
__noinline int gate_begin(const struct dpe_gate_entry *gate)
{
	if (!gate)
		return 0;
	begin_marks(&gate->sets);
	if (!gate->nstops || !may_stop())
		return 0;
	__sync_fetch_and_add(&gate_state.begun, 1);
	return 1;
}

static __always_inline bool args_fit(const struct dpe_gate_stop *stop, const __u64 *words)
{
	for (__u32 i = 0; i < DPE_GATE_ARGS && i < stop->nargs; i++) {
		const struct dpe_gate_arg *arg = &stop->args[i];
		__u32 at = arg->word, unused = (64 - 8 * arg->size) & 63;

		if (at >= DPE_WORDS)
			return true;
		if ((words[at] ^ (__u64)arg->number) << unused)
			return false;
	}
	return true;
}

/* The signal stops the process before this thread goes on; the others, when they get it. */
static __always_inline void stop_here(__u32 tid, __u64 seq)
{
	struct dpe_stopped_at *at;
	__u64 number = __sync_fetch_and_add(&gate_state.stops, 1);

	asm volatile("%0 &= %1" : "+r"(number) : "i"(DPE_STOPS_KEPT - 1));
	at = &gate_state.at[number];
	at->tid = tid;
	at->seq = seq;
	if (bpf_send_signal(SIGNAL_STOP))
		__sync_fetch_and_add(&gate_state.refused, 1);
}

static __always_inline bool gate_stops(const struct dpe_gate_entry *gate, const __u64 *words)
{
	for (__u32 i = 0; i < DPE_GATE_STOPS && i < gate->nstops; i++)
		if (all_set(&gate->stops[i].marks) && args_fit(&gate->stops[i], words))
			return true;
	return false;
}

struct gate_words {
	__u64 at[DPE_WORDS];
};

enum { GATE_BEGUN = 1, GATE_SENT = 2 }; /* what gate_begin said; the event is in the ring */

/* Once the event, of that number, is in the ring, or lost. 1 where it stopped the target: unless that was
 * forbidden in the meantime. */
__noinline int gate_end(const struct dpe_gate_entry *gate, const struct gate_words *words, __u32 tid,
	__u64 seq, __u32 how)
{
	bool stops;

	if (!gate || !words)
		return 0;
	end_marks(&gate->sets);
	if (!(how & GATE_BEGUN))
		return 0;
	stops = how & GATE_SENT && may_stop() && gate_stops(gate, words->at);
	if (stops)
		stop_here(tid, seq);
	__sync_fetch_and_add(&gate_state.done, 1);
	return stops;
}

#endif
