/* guards: what this side knows of events that wait for others, and of the stops that events make. */
#ifndef DPE_PROBES_KERNEL_GUARDS_H
#define DPE_PROBES_KERNEL_GUARDS_H

#include "probes/kernel/bpf/guard_layout.h"
#include "probes/kernel/event_flags.h"

#include <stdbool.h>
#include <stdint.h>

struct dpe_guards {
	struct dpe_guard_state *state; /* shared with the programs; NULL: nothing is guarded */
	unsigned max_sites;          /* the capacity for the BPF programs */
	struct dpe_event_flags flags;
	uint64_t stops;               /* how many there were when last read */
	uint64_t since;               /* ns: when we first saw a stop that is not handled; 0 */
	bool stops_target;                  /* events may stop the target */
};

/* Forbids stops by events, and waits for those under way. True if an event has stopped the target. */
bool dpe_guards_quiesce(struct dpe_guard_state *state);

#endif
