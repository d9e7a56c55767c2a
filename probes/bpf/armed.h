/* armed: an object is to be watched from here on, or no longer. Only the observer can set a
 * watchpoint, so the thread waits for it, as for libraries (see libraries.h). */
#ifndef DPE_PROBES_ARMED_BPF_H
#define DPE_PROBES_ARMED_BPF_H

#include "probes/bpf/libraries.h"
#include "probes/bpf/record.h"

const volatile bool arms; /* some rule watches objects */

struct dpe_armed_entry armed_objects[DPE_WATCHES];
struct dpe_arm_request arm_requests[DPE_ARM_REQUESTS];

/* By site. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct dpe_armings);
} arm_where SEC(".maps");

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
	await_answer(number, address);
	return take_result(request);
}

#endif
