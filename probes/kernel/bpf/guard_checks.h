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

struct dpe_guard_state guard_state;

const volatile __u32 flag_shares; /* a mask of bits of a processor's number */

ARRAY_MAP(guards, struct dpe_guard_entry);

/* By processor, as many as its bits in `flag_shares` distinguish; the observer reads them. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct dpe_flag_counts);
} flag_counts SEC(".maps");

static __always_inline volatile __u32 *flag_at(__u32 index)
{
	asm volatile("%0 &= %1" : "+r"(index) : "i"(DPE_EVENT_FLAGS - 1));
	return &guard_state.flags[index];
}

static __always_inline bool is_set(__u32 index)
{
	return *flag_at(index) != DPE_FLAG_UNSET;
}

/* Another program may count on this processor meanwhile, so the addition is atomic. It is also a barrier: see
 * guard_layout.h. */
static __always_inline void count_begun(struct dpe_flag_counts *counts, __u32 index)
{
	asm volatile("%0 &= %1" : "+r"(index) : "i"(DPE_EVENT_FLAGS - 1));
	__sync_fetch_and_add(&counts->at[index].begun, 1);
}

static __always_inline void count_done(struct dpe_flag_counts *counts, __u32 index)
{
	asm volatile("%0 &= %1" : "+r"(index) : "i"(DPE_EVENT_FLAGS - 1));
	__sync_fetch_and_add(&counts->at[index].done, 1);
}

static __always_inline struct dpe_flag_counts *own_counts(void)
{
	__u32 share = bpf_get_smp_processor_id() & flag_shares;

	return bpf_map_lookup_elem(&flag_counts, &share);
}

static __always_inline void begin_flags(const struct dpe_guard_flags *flags)
{
	struct dpe_flag_counts *counts = flags->count ? own_counts() : 0;

	for (__u32 i = 0; counts && i < DPE_GUARD_FLAGS && i < flags->count; i++) {
		volatile __u32 *flag = flag_at(flags->at[i]);

		count_begun(counts, flags->at[i]);
		if (*flag != DPE_FLAG_SET)
			*flag = DPE_FLAG_SET;
	}
}

static __always_inline void end_flags(const struct dpe_guard_flags *flags)
{
	struct dpe_flag_counts *counts = flags->count ? own_counts() : 0;

	for (__u32 i = 0; counts && i < DPE_GUARD_FLAGS && i < flags->count; i++)
		count_done(counts, flags->at[i]);
}

static __always_inline bool all_set(const struct dpe_guard_flags *flags)
{
	for (__u32 i = 0; i < DPE_GUARD_FLAGS && i < flags->count; i++)
		if (!is_set(flags->at[i]))
			return false;
	return true;
}

/* False if no rule can use the event, because what must precede it has not occurred. */
static __noinline bool guard_is_open(const struct dpe_guard_entry *guard)
{
	if (!guard || !guard->after.count)
		return true;
	for (__u32 i = 0; i < DPE_GUARD_FLAGS && i < guard->after.count; i++)
		if (is_set(guard->after.at[i]))
			return true;
	return false;
}

static __always_inline bool may_stop(void)
{
	return *(volatile __u32 *)&guard_state.may_stop;
}

/* Called before the event gets its time. 1 if it may stop the target. A global function: see
 * pending_calls.h. */
__noinline int guard_begin(const struct dpe_guard_entry *guard)
{
	if (!guard)
		return 0;
	begin_flags(&guard->sets);
	if (!guard->nstops || !may_stop())
		return 0;
	__sync_fetch_and_add(&guard_state.begun, 1);
	return 1;
}

static __always_inline bool args_fit(const struct dpe_guard_stop *stop, const __u64 *words)
{
	for (__u32 i = 0; i < DPE_GUARD_ARGS && i < stop->nargs; i++) {
		const struct dpe_guard_arg *arg = &stop->args[i];
		__u32 at = arg->word, unused = (64 - 8 * arg->size) & 63;

		if (at >= DPE_WORDS)
			return true;
		if ((words[at] ^ (__u64)arg->number) << unused)
			return false;
	}
	return true;
}

/* The signal stops the process before this thread continues; the others, when they get it. */
static __always_inline void stop_here(__u32 tid, __u64 seq)
{
	struct dpe_stopped_at *at;
	__u64 number = __sync_fetch_and_add(&guard_state.stops, 1);

	asm volatile("%0 &= %1" : "+r"(number) : "i"(DPE_STOPS_KEPT - 1));
	at = &guard_state.at[number];
	at->tid = tid;
	at->seq = seq;
	if (bpf_send_signal(SIGNAL_STOP))
		__sync_fetch_and_add(&guard_state.refused, 1);
}

static __always_inline bool guard_stops(const struct dpe_guard_entry *guard, const __u64 *words)
{
	for (__u32 i = 0; i < DPE_GUARD_STOPS && i < guard->nstops; i++)
		if (all_set(&guard->stops[i].flags) && args_fit(&guard->stops[i], words))
			return true;
	return false;
}

enum { GUARD_BEGUN = 1, GUARD_SENT = 2 }; /* what guard_begin said; the event is in the ring */

/* Called once the event with that number is in the ring, or lost. 1 if it stopped the target, which may have
 * been forbidden in the meantime. */
__noinline int guard_end(const struct dpe_guard_entry *guard, const struct call_words *words, __u32 tid,
	__u64 seq, __u32 how)
{
	bool stops;

	if (!guard || !words)
		return 0;
	end_flags(&guard->sets);
	if (!(how & GUARD_BEGUN))
		return 0;
	stops = how & GUARD_SENT && may_stop() && guard_stops(guard, words->at);
	if (stops)
		stop_here(tid, seq);
	__sync_fetch_and_add(&guard_state.done, 1);
	return stops;
}

#endif
