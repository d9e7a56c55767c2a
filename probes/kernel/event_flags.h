/* event_flags: which flags are set, and how many events have set them: computed from the counts of
 * the programs. See bpf/guard_layout.h. */
#ifndef DPE_PROBES_KERNEL_EVENT_FLAGS_H
#define DPE_PROBES_KERNEL_EVENT_FLAGS_H

#include "probes/kernel/bpf/guard_layout.h"

#include <stdint.h>

struct dpe_event_flags {
	uint32_t *states;               /* shared with the programs; NULL: no flags */
	struct dpe_flag_counts *counts; /* of groups of processors; shared as well */
	unsigned shares;                /* such groups */
	unsigned count;                 /* flags */
	uint64_t forever;               /* flags that always count as set */
	uint64_t quiet;            /* flags whose events were all in the ring when it was last read */
	uint64_t begun[DPE_EVENT_FLAGS]; /* how many events these were */
};

/* How many entries the programs' map of counts is to have: a power of two. */
unsigned dpe_event_flags_shares(void);
/* `map` has that many; `states` must outlive the flags. 0 or a positive error. */
int dpe_event_flags_open(struct dpe_event_flags *flags, uint32_t *states, unsigned count, int map);
void dpe_event_flags_close(struct dpe_event_flags *flags);

/* Sets these flags for ever. */
void dpe_event_flags_keep(struct dpe_event_flags *flags, uint64_t set);
/* Called before the ring is read: notes which flags are quiet. */
void dpe_event_flags_look(struct dpe_event_flags *flags);
/* Called after it was read: clears those of the flags in the set that were quiet, unless an event has set them
 * since. */
void dpe_event_flags_unset(struct dpe_event_flags *flags, uint64_t set);

#endif
