/* event_flags: which flags are set, and how many events have set them: what this side makes of what the
 * programs count. See bpf/guard_layout.h. */
#ifndef DPE_PROBES_KERNEL_EVENT_FLAGS_H
#define DPE_PROBES_KERNEL_EVENT_FLAGS_H

#include "probes/kernel/bpf/guard_layout.h"

#include <stdint.h>

struct dpe_event_flags {
	uint32_t *states;               /* shared with the programs; NULL: there are none */
	struct dpe_flag_counts *counts; /* of groups of processors; shared as well */
	unsigned shares;                /* such groups */
	unsigned count;                 /* flags */
	uint64_t forever;               /* flags that count as set, whatever comes */
	uint64_t quiet;            /* flags whose events were all in the ring at the last look */
	uint64_t begun[DPE_EVENT_FLAGS]; /* how many these were */
};

/* How many entries the programs' map of counts is to have: a power of two. */
unsigned dpe_event_flags_shares(void);
/* `map` has that many; `states` must outlive the flags. 0 or a positive error. */
int dpe_event_flags_open(struct dpe_event_flags *flags, uint32_t *states, unsigned count, int map);
void dpe_event_flags_close(struct dpe_event_flags *flags);

/* Sets these flags for ever. */
void dpe_event_flags_keep(struct dpe_event_flags *flags, uint64_t set);
/* Before the ring is read: notes which of them are quiet. */
void dpe_event_flags_look(struct dpe_event_flags *flags);
/* After it was read: unsets those of the set which were quiet, where no event has set them since.
 */
void dpe_event_flags_unset(struct dpe_event_flags *flags, uint64_t set);

#endif
