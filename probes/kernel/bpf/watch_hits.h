/* watch_hits: an access that a watchpoint has observed: to a part of an object, or to a variable. */
#ifndef DPE_PROBES_KERNEL_BPF_WATCH_HITS_H
#define DPE_PROBES_KERNEL_BPF_WATCH_HITS_H

#include "probes/kernel/bpf/watch_requests.h"
#include "probes/kernel/bpf/kernel_layout.h"
#include "probes/kernel/bpf/record.h"
#include "probes/kernel/bpf/send.h"

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>
#include <stdbool.h>

static __always_inline __u64 read_bytes(__u64 address, __u32 size)
{
	__u64 value = 0;

	switch (size) {
	case 1:
		bpf_probe_read_user(&value, 1, (void *)address);
		break;
	case 2:
		bpf_probe_read_user(&value, 2, (void *)address);
		break;
	case 4:
		bpf_probe_read_user(&value, 4, (void *)address);
		break;
	default:
		bpf_probe_read_user(&value, 8, (void *)address);
	}
	return value;
}

/* Which watchpoint was hit: see dpe_watch_open. There may be several on one address, for a union's members and for other names
 * of it. */
static __always_inline __u32 watch_number(const struct bpf_perf_event_data *access)
{
	return BPF_CORE_READ((const struct bpf_perf_event_data_kern *)access, event, attr.config);
}

/* Written out for the verifier: the compiler would drop a redundant mask. */
static __always_inline __u32 mask_number(__u32 number)
{
	asm volatile("%0 &= %1" : "+r"(number) : "i"(DPE_WATCHES - 1));
	return number;
}

/* False if it is not of an object. */
static __always_inline bool object_accessed(__u32 slot, struct probe_event *event, __u64 *words)
{
	struct dpe_object_watch_entry *entry = &object_watches[mask_number(slot)];
	__u64 address = entry->address;

	if (slot >= DPE_WATCHES || !address)
		return false;
	words[0] = entry->object;
	words[2] = read_bytes(address, entry->size);
	words[1] = __sync_lock_test_and_set(&entry->last, words[2]);
	words[3] = event->top.ip;
	event->kind = DPE_RECORD_OBJECT;
	event->site = entry->kind;
	return true;
}

/* Instructions that determine everything about their accesses: the variable need not be read, which would trigger the
 * watchpoint again, since reads are watched. */
HASH_MAP(known_accesses, DPE_MAP_ACCESSES, __u64, __u8);

/* False if it is not of a variable: its watchpoint may have been removed in the meantime. */
static __always_inline bool variable_accessed(__u32 number, struct probe_event *event, __u64 *words)
{
	__u64 read = 0;

	if (number >= nwatches)
		return false;
	event->site = number;
	words[1 + DPE_WATCHES] = event->top.ip;
	if (bpf_map_lookup_elem(&known_accesses, &words[1 + DPE_WATCHES])) {
		event->nwords = 0;
		return true;
	}
	for (__u32 i = 0; i < DPE_WATCHES; i++) {
		if (i >= nwatches)
			break;
		words[1 + i] = read_bytes(watches[i].address, watches[i].size);
		if (i == number)
			read = words[1 + i];
	}
	words[0] = __sync_lock_test_and_set(&watches[mask_number(number)].last, read);
	return true;
}

/* By the processor's numbers of them. */
static __always_inline void read_registers(const struct bpf_perf_event_data *access, __u64 *to)
{
	to[0] = access->regs.ax;
	to[1] = access->regs.cx;
	to[2] = access->regs.dx;
	to[3] = access->regs.bx;
	to[4] = access->regs.sp;
	to[5] = access->regs.bp;
	to[6] = access->regs.si;
	to[7] = access->regs.di;
	to[8] = access->regs.r8;
	to[9] = access->regs.r9;
	to[10] = access->regs.r10;
	to[11] = access->regs.r11;
	to[12] = access->regs.r12;
	to[13] = access->regs.r13;
	to[14] = access->regs.r14;
	to[15] = access->regs.r15;
	to[DPE_ACCESS_FLAGS] = access->regs.flags;
}

#endif
