/* placement: on which instruction of a function its entry is observed.
 *
 * The kernel executes an instruction with a probe on it out of line and single-stepped, some ten
 * microseconds here, unless it emulates it: push, nop, jmp, call and the conditional jumps, under
 * one. A function often has one of these a few instructions in. The probe goes there if nobody can
 * tell the difference. */
#ifndef DPE_PROBES_PLAN_PLACEMENT_H
#define DPE_PROBES_PLAN_PLACEMENT_H

#include "probes/binary/module.h"

#include <sys/types.h>

enum dpe_step_cost {
	DPE_STEP_EMULATED, /* by the kernel */
	DPE_STEP_SINGLE,   /* out of line, single-stepped */
	DPE_STEP_UNKNOWN,  /* it could not be decoded */
};

/* What the kernel we run on does with a nop of five bytes: emulate it (6.9; 6.18 replaces it by a
 * call without a trap), or single-step it. Asked by trying, in a function of our own, in a process of its
 * own, which was never probed before. That takes the kernel long to clear up: so it is begun, asked
 * for its answer, and ended. */
struct dpe_nop_trial {
	pid_t child; /* or 0 */
	int answer;  /* read from here; or -1 */
};
void dpe_nop_trial_begin(struct dpe_nop_trial *trial);
/* True where nops are emulated; false, too, where nobody knows. Waits; to be asked once. */
bool dpe_nop_trial_answer(const struct dpe_nop_trial *trial);
/* Waits until the process is gone; accepts that it is, and that there never was one (0, -1). */
void dpe_nop_trial_end(struct dpe_nop_trial *trial);

struct dpe_placement {
	unsigned distance;       /* of the instruction, in bytes from the function's first */
	enum dpe_step_cost cost; /* of the probe there */
	char instruction[96];    /* its text */
	char reason[96];         /* why here: for people */
};

/* What an entry is observed for. */
struct dpe_entry_use {
	unsigned nwords; /* so many words of arguments must still be where they were at the call (six in
			    registers, the rest on the stack), … */
	bool only_noted; /* nothing is told there: the call is noted for its return, behind a lock prefix, too */
};

/* Chooses for a function. */
void dpe_place_entry(struct dpe_module *module, const struct dpe_function *function,
	const struct dpe_entry_use *use, bool emulates_nops, struct dpe_placement *placement);

#endif
