/* watch_hits: what a watchpoint has seen accessed: a part of an object, or a variable. */
#ifndef DPE_PROBES_KERNEL_BPF_WATCH_HITS_H
#define DPE_PROBES_KERNEL_BPF_WATCH_HITS_H

#include "probes/kernel/bpf/watch_requests.h"
#include "probes/kernel/bpf/kernel_layout.h"
#include "probes/kernel/bpf/record.h"
#include "probes/kernel/bpf/send.h"

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

/* False where it is of no object. */
static __always_inline bool object_accessed(
	const struct bpf_perf_event_data *access, struct probe_event *event, __u64 *words)
{
	for (__u32 i = 0; i < DPE_WATCHES; i++) {
		struct dpe_object_watch_entry *entry = &object_watches[i];

		if (!access->addr || entry->address != access->addr)
			continue;
		words[0] = entry->object;
		words[1] = entry->last;
		words[2] = entry->last = read_bytes(entry->address, entry->size);
		words[3] = event->top.ip;
		event->kind = DPE_RECORD_OBJECT;
		event->nwords = 4;
		event->site = entry->kind;
		return true;
	}
	return false;
}

/* False where it is of no variable: its watchpoint may have been removed in the meantime. */
static __always_inline bool variable_accessed(
	const struct bpf_perf_event_data *access, struct probe_event *event, __u64 *words)
{
	bool found = false;

	for (__u32 i = 0; i < DPE_WATCHES; i++) {
		if (i >= nwatches)
			break;
		words[1 + i] = read_bytes(watches[i].address, watches[i].size);
		if (watches[i].address != access->addr)
			continue;
		found = true;
		event->site = i;
		words[0] = watches[i].last;
		watches[i].last = words[1 + i];
	}
	words[1 + DPE_WATCHES] = event->top.ip;
	return found;
}

#endif
