/* event_flags: which marks are set, and how many events have set them: what this side makes of what the
 * programs count. See bpf/gate.h. */
#ifndef DPE_PROBES_KERNEL_EVENT_FLAGS_H
#define DPE_PROBES_KERNEL_EVENT_FLAGS_H

#include "probes/kernel/bpf/guard_layout.h"

#include <stdint.h>

struct dpe_marks {
	uint32_t *states;               /* shared with the programs; NULL: there are none */
	struct dpe_mark_counts *counts; /* of groups of processors; shared as well */
	unsigned shares;                /* such groups */
	unsigned count;                 /* marks */
	uint64_t forever;               /* marks that count as set, whatever comes */
	uint64_t quiet;            /* marks whose events were all in the ring at the last look */
	uint64_t begun[DPE_MARKS]; /* how many these were */
};

/* How many entries the programs' map of counts is to have: a power of two. */
unsigned dpe_marks_shares(void);
/* `map` has that many; `states` must outlive the marks. 0 or a positive error. */
int dpe_marks_open(struct dpe_marks *marks, uint32_t *states, unsigned count, int map);
void dpe_marks_close(struct dpe_marks *marks);

/* These are set from now on, and nobody unsets them. */
void dpe_marks_keep(struct dpe_marks *marks, uint64_t set);
/* Before the ring is read: notes which of them are quiet. */
void dpe_marks_look(struct dpe_marks *marks);
/* After it was read: unsets those of the set which were quiet, where no event has set them since.
 */
void dpe_marks_unset(struct dpe_marks *marks, uint64_t set);

#endif
