/* code: on which instruction of a function its calls are observed, and what an instruction does to memory. The only folder that decodes machine code. */
#ifndef DPE_PROBES_CODE_CODE_H
#define DPE_PROBES_CODE_CODE_H

#include "probes/binary/binary.h"
#include "probes/kernel/bpf/record.h"

/* ---- entries ----------------------------------------------------------------------------- */

enum dpe_step_cost {
	DPE_STEP_EMULATED, /* the kernel emulates the instruction: under 1 us */
	DPE_STEP_SINGLE,   /* it single-steps a copy: about 10 us */
	DPE_STEP_UNKNOWN,  /* the instruction could not be decoded */
};

struct dpe_placement {
	unsigned distance;       /* bytes from the function's first instruction */
	enum dpe_step_cost cost; /* of the probe there */
	char instruction[96];    /* in assembler syntax */
	char reason[96];         /* why it was chosen, for the user */
};

/* What a probe at the entry must still find unchanged. */
struct dpe_entry_use {
	unsigned nwords; /* words of arguments, from the first: six registers, then the stack */
	/* The probe only notes the call for its return: then memory may be written before it, and
	 * instructions with a lock prefix may be passed. */
	bool only_noted;
};

/* Chooses the instruction for the probe: the first one that the kernel emulates, if executing those before
 * it makes no difference; else the first of the function. See docs/internals/probe-points.md. */
void dpe_place_entry(struct dpe_module *module, const struct dpe_function *function,
	const struct dpe_entry_use *use, bool emulates_nops, struct dpe_placement *placement);

/* ---- accesses ---------------------------------------------------------------------------- */

enum dpe_access { DPE_ACCESS_UNKNOWN, DPE_ACCESS_READ, DPE_ACCESS_WRITE };

/* What the instruction that ends at the address (of the module's file) did to memory. UNKNOWN where no function
 * is there, it cannot be decoded, or the instruction both reads one place and writes another. */
enum dpe_access dpe_access_before(struct dpe_module *module, uint64_t address);

/* ---- atomic instructions ----------------------------------------------------------------- */

/* Adds the names of functions that have some, unless they only count references; returns how many there are. Looks
 * at code of `*bytes` at most, and takes off what it looked at. */
unsigned dpe_atomics_print(struct dpe_text *to, struct dpe_module *module, uint64_t *bytes);

#endif
