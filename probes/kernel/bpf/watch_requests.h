/* watch_requests: requests to begin or end watching an object. Only the observer can set a watchpoint, so the
 * thread waits for it, as for libraries (see linker_wait.h). */
#ifndef DPE_PROBES_KERNEL_BPF_WATCH_REQUESTS_H
#define DPE_PROBES_KERNEL_BPF_WATCH_REQUESTS_H

#include "probes/kernel/bpf/map_access.h"
#include "probes/kernel/bpf/linker_wait.h"
#include "probes/kernel/bpf/record.h"
#include "probes/kernel/bpf/send.h"

const volatile bool watches_objects; /* some rule watches objects */

struct dpe_object_watch_entry object_watches[DPE_WATCHES];
struct dpe_watch_request watch_requests[DPE_WATCH_REQUESTS];

/* By site. */
ARRAY_MAP(watch_changes, struct dpe_watch_changes);

static __always_inline bool is_watched(__u32 kind, __u64 object)
{
	for (__u32 i = 0; i < DPE_WATCHES; i++) {
		volatile struct dpe_object_watch_entry *entry = &object_watches[i];

		if (entry->address && entry->object == object && entry->kind == kind)
			return true;
	}
	return false;
}

static __always_inline bool change_state(struct dpe_watch_request *request, __u64 from, __u64 to)
{
	return __sync_val_compare_and_swap(&request->state, from, to) == from;
}

/* What the observer has done, once it has. If the thread no longer waits, the observer must not do it. */
static __always_inline __u32 take_result(struct dpe_watch_request *request)
{
	__u32 result;

	if (change_state(request, DPE_WATCH_READY, DPE_WATCH_FREE) ||
		change_state(request, DPE_WATCH_TAKEN, DPE_WATCH_ABANDONED))
		return DPE_WATCH_NONE;
	result = request->result;
	request->state = DPE_WATCH_FREE;
	return result;
}

/* DPE_WATCH_NONE if the observer has not answered. `address`: any that can be read. */
static __always_inline __u32 ask_for_change(__u32 kind, __u64 object, __u32 ends, __u64 address)
{
	struct dpe_watch_request *request = 0;
	__u64 number;

	for (__u32 i = 0; i < DPE_WATCH_REQUESTS; i++) {
		request = &watch_requests[i];
		if (change_state(request, DPE_WATCH_FREE, DPE_WATCH_FILLING))
			break;
		request = 0;
	}
	if (!request)
		return DPE_WATCH_NONE;
	request->object = object;
	request->kind = kind;
	request->ends = ends;
	request->result = DPE_WATCH_NONE;
	change_state(request, DPE_WATCH_FILLING, DPE_WATCH_READY);
	number = __sync_fetch_and_add(&asked, 1) + 1;
	wake_at_once();
	await_answer(number, address, DPE_WAIT_TIME);
	return take_result(request);
}

/* Not static, so that the kernel verifies it once, not on each path to each call. */
__noinline int request_change(__u32 kind, __u32 ends, __u64 object, __u64 sp)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct probe_event event = {.kind = DPE_RECORD_WATCH, .nwords = 2, .site = kind};
	__u64 words[2] = {object, DPE_WATCH_NONE};

	if (!watches_objects || !object || is_watched(kind, object) == !ends)
		return 0;
	words[1] = ask_for_change(kind, object, ends, sp);
	if (words[1] == DPE_WATCH_KNOWN || *(volatile __u32 *)&observer_gone)
		return 0;
	event.tid = thread_id(task);
	event.thread = thread_of(task, event.tid);
	if (words[1] == DPE_WATCH_NONE || !event.thread || !send_name(event.thread) ||
		!put(&event, words, 2))
		lose_nowhere(bpf_ktime_get_ns()); /* accesses to the object are missing */
	return 0;
}

/* The probe's event has been sent, so its changes to watchpoints come after it. */
static __noinline void arm(__u32 site, __u32 phase, const __u64 *words, __u64 sp, __u64 result)
{
	const struct dpe_watch_changes *changes;

	if (!watches_objects || !words || !observing || replaced)
		return;
	changes = bpf_map_lookup_elem(&watch_changes, &site);
	if (!changes)
		return;
	for (__u32 i = 0; i < DPE_WATCH_CHANGES; i++) {
		__u32 word = changes->at[i].word;

		if (i >= changes->count)
			break;
		if (changes->at[i].phase == phase && word <= DPE_WORDS)
			request_change(changes->at[i].kind, changes->at[i].ends,
				word < DPE_WORDS ? words[word] : result, sp);
	}
}

#endif
