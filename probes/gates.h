/* gates: what this side knows of the marks that events set, and of the stops that they make. */
#ifndef DPE_PROBES_GATES_STATE_H
#define DPE_PROBES_GATES_STATE_H

#include "probes/bpf/gate.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct dpe_gates {
	struct dpe_gate_state *state; /* shared with the programs; NULL: nothing is gated */
	unsigned most_spots;          /* that there may ever be, for the kernel's side */
	uint64_t forever;             /* marks that count as set, whatever comes */
	uint64_t quiet;               /* marks whose events were all in the ring at the last look */
	uint64_t begun[DPE_MARKS];    /* how many these were */
	uint64_t stops;               /* how many there were at the last look */
	uint64_t since;               /* ns: when we first saw a stop that is not handled; 0 */
	bool armed;                   /* events may stop the target */
};

/* No event will stop the target from now on, nor is about to. True where the target stands still
 * because of us. */
bool dpe_gates_quiesce(struct dpe_gate_state *state);

#endif
