/* watch_requests: an object is to be watched from here on, or no longer. Only the observer can set a
 * watchpoint, so the thread waits for it, as for libraries (see libraries.h). */
#ifndef DPE_PROBES_KERNEL_BPF_WATCH_REQUESTS_H
#define DPE_PROBES_KERNEL_BPF_WATCH_REQUESTS_H

#include "probes/kernel/bpf/map_access.h"
#include "probes/kernel/bpf/linker_wait.h"
#include "probes/kernel/bpf/record.h"
#include "probes/kernel/bpf/send.h"

const volatile bool arms; /* some rule watches objects */

struct dpe_armed_entry armed_objects[DPE_WATCHES];
struct dpe_arm_request arm_requests[DPE_ARM_REQUESTS];

/* By site. */
ARRAY_MAP(arm_where, struct dpe_armings);

static __always_inline bool is_armed(__u32 kind, __u64 object)
{
	for (__u32 i = 0; i < DPE_WATCHES; i++) {
		volatile struct dpe_armed_entry *entry = &armed_objects[i];

		if (entry->address && entry->object == object && entry->kind == kind)
			return true;
	}
	return false;
}

static __always_inline bool change_state(struct dpe_arm_request *request, __u64 from, __u64 to)
{
	return __sync_val_compare_and_swap(&request->state, from, to) == from;
}

/* What the observer has done, once it has. Where nobody waits any longer it shall not do it. */
static __always_inline __u32 take_result(struct dpe_arm_request *request)
{
	__u32 result;

	if (change_state(request, DPE_ARM_READY, DPE_ARM_FREE) ||
		change_state(request, DPE_ARM_TAKEN, DPE_ARM_ABANDONED))
		return DPE_ARM_NONE;
	result = request->result;
	request->state = DPE_ARM_FREE;
	return result;
}

/* DPE_ARM_NONE where the observer has not answered. `address`: any that can be read. */
static __always_inline __u32 ask_to_arm(__u32 kind, __u64 object, __u32 disarm, __u64 address)
{
	struct dpe_arm_request *request = 0;
	__u64 number;

	for (__u32 i = 0; i < DPE_ARM_REQUESTS; i++) {
		request = &arm_requests[i];
		if (change_state(request, DPE_ARM_FREE, DPE_ARM_FILLING))
			break;
		request = 0;
	}
	if (!request)
		return DPE_ARM_NONE;
	request->object = object;
	request->kind = kind;
	request->disarm = disarm;
	request->result = DPE_ARM_NONE;
	change_state(request, DPE_ARM_FILLING, DPE_ARM_READY);
	number = __sync_fetch_and_add(&asked, 1) + 1;
	wake_at_once();
	await_answer(number, address, DPE_WAIT_TIME);
	return take_result(request);
}

/* No static function: so the kernel checks it once, not for each way to each call. */
__noinline int arm_one(__u32 kind, __u32 disarm, __u64 object, __u64 sp)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct probe_event event = {.kind = DPE_RECORD_WATCH, .nwords = 2, .site = kind};
	__u64 words[2] = {object, DPE_ARM_NONE};

	if (!arms || !object || is_armed(kind, object) == !disarm)
		return 0;
	words[1] = ask_to_arm(kind, object, disarm, sp);
	if (words[1] == DPE_ARM_KNOWN || *(volatile __u32 *)&observer_gone)
		return 0;
	event.tid = thread_id(task);
	event.thread = thread_of(task, event.tid);
	if (words[1] == DPE_ARM_NONE || !event.thread || !tell_name(event.thread) ||
		!put(&event, words, 2))
		lose_nowhere(bpf_ktime_get_ns()); /* what anybody does to the object is missing */
	return 0;
}

/* The probe's event is sent already: so what it does to watchpoints comes behind it. */
static __noinline void arm(__u32 site, __u32 phase, const __u64 *words, __u64 sp, __u64 result)
{
	const struct dpe_armings *armings;

	if (!arms || !words || !armed || replaced)
		return;
	armings = bpf_map_lookup_elem(&arm_where, &site);
	if (!armings)
		return;
	for (__u32 i = 0; i < DPE_ARMINGS; i++) {
		__u32 word = armings->at[i].word;

		if (i >= armings->count)
			break;
		if (armings->at[i].phase == phase && word <= DPE_WORDS)
			arm_one(armings->at[i].kind, armings->at[i].disarm,
				word < DPE_WORDS ? words[word] : result, sp);
	}
}

#endif
