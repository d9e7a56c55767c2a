/* code: on which instruction of a function its calls are observed, and what an instruction does to memory. The only folder that decodes machine code. */
#ifndef DPE_PROBES_CODE_CODE_H
#define DPE_PROBES_CODE_CODE_H

#include "probes/binary/binary.h"
#include "probes/kernel/bpf/record.h"
#include "probes/limits.h"

/* ---- entries ----------------------------------------------------------------------------- */

enum dpe_step_cost {
	DPE_STEP_EMULATED, /* the kernel emulates the instruction: under 1 us */
	DPE_STEP_SINGLE,   /* it single-steps a copy: about 10 us */
	DPE_STEP_UNKNOWN,  /* the instruction could not be decoded, or it depends on the kernel */
};

struct dpe_placement {
	unsigned distance;       /* bytes from the function's first instruction */
	enum dpe_step_cost cost; /* of the probe there */
	bool checks_stack; /* it is where a Go function checks its stack, and begins again if that is too small */
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
	const struct dpe_entry_use *use, struct dpe_placement *placement);

/* ---- returns ----------------------------------------------------------------------------- */

struct dpe_returns {
	uint64_t offsets[DPE_RETURN_PLACES]; /* in the file, of the instructions that return */
	unsigned count;
	unsigned nparts; /* of the code that they are in; above 1: other functions may return there, too */
};

/* The places where the function returns, if it ever does. `entry`: distance of the probe on its entry, behind which it must not
 * begin again, unless it is a Go function that checks its stack; `alone`: no other function may return for it (a tail call). False if they are not all known. */
bool dpe_code_returns(struct dpe_module *module, const struct dpe_function *function, unsigned entry, bool alone,
	struct dpe_returns *returns);

enum dpe_unwinder_kind {
	DPE_UNWINDER_NONE,
	DPE_UNWINDER_KNOWN,
	DPE_UNWINDER_UNKNOWN, /* not as libgcc's */
};

/* Sets where an exception lands: each language's personality function calls it. */
#define DPE_LANDING_FUNCTION "_Unwind_SetIP"

/* Whether the file has an unwinder, and the offset, in the first argument of DPE_LANDING_FUNCTION, of the stack pointer that the
 * frame has where it continues. `offset` may be NULL. */
enum dpe_unwinder_kind dpe_unwinder_of(struct dpe_module *module, uint64_t *offset);

/* ---- thunks ------------------------------------------------------------------------------ */

/* The symbol of a thunk, by which C++ calls a method through a pointer to a secondary base, if it contains the method instead of
 * jumping to it. NULL: there is none. Belongs to the module. */
const char *dpe_code_thunk_of(struct dpe_module *module, const struct dpe_function *function);

/* ---- accesses ---------------------------------------------------------------------------- */

enum dpe_access { DPE_ACCESS_UNKNOWN, DPE_ACCESS_READ, DPE_ACCESS_WRITE };

/* What a write left in memory: its operand, … */
enum dpe_access_value {
	DPE_VALUE_UNKNOWN,
	DPE_VALUE_MOVED,
	DPE_VALUE_COMPARED,  /* where that was equal to rax; else nothing */
	DPE_VALUE_EXCHANGED, /* the register has the value before */
	DPE_VALUE_EXCHANGED_ADDED,
	DPE_VALUE_ADDED, /* … computed with the value before, which no register has */
	DPE_VALUE_SUBTRACTED,
	DPE_VALUE_AND,
	DPE_VALUE_OR,
	DPE_VALUE_XOR,
};

/* What an instruction does to memory. Registers are numbered as the processor does, rax is 0; -1: none. */
struct dpe_access_effect {
	enum dpe_access access; /* UNKNOWN: not decoded, or it reads one place and writes another */
	enum dpe_access_value value;
	bool compares; /* writes only if that was equal */
	bool locked;   /* atomic */
	bool relative; /* its address counts from the next instruction */
	bool unknown;  /* nothing has the operand any more */
	int8_t base, index, source;
	int8_t swapped; /* has the value before */
	uint8_t scale, shift, swap_shift; /* shift: of the operand in its register */
	uint64_t size;        /* bytes */
	int64_t displacement, constant;
};

/* An access as a watchpoint reports it. */
struct dpe_accessed {
	uint64_t ip, address, size; /* ip: of the next instruction; address, size: of what is watched */
	const uint64_t *registers;  /* DPE_ACCESS_REGISTERS of them, after it */
};

struct dpe_access_outcome {
	enum dpe_access access; /* READ as well where a comparison failed */
	bool tells_before, tells_after; /* the instruction alone does */
	bool computed; /* `after` is from the `before` that was given */
	uint64_t before, after, operand;
};

/* The effect of the instruction that ends at the address of the module's file. */
struct dpe_access_effect dpe_access_before(struct dpe_module *module, uint64_t address);
/* What it did to what is watched. `before` is what others say that was there: only computed values depend on it. */
struct dpe_access_outcome dpe_access_evaluate(
	const struct dpe_access_effect *effect, const struct dpe_accessed *accessed, uint64_t before);

/* ---- atomic instructions ----------------------------------------------------------------- */

/* Adds the names of functions that have some, unless they only count references, or that code without symbols has some;
 * returns how many there are. Looks at code of `*bytes` at most, and takes off what it looked at; 0 is left if there is more. */
unsigned dpe_atomics_print(struct dpe_text *to, struct dpe_module *module, uint64_t *bytes);

/* True if a function of the Rust program that is not of Rust's own libraries has atomic instructions: std::sync is inlined
 * into it, as optimisation does. Looks at code of DPE_ATOMICS_BYTES at most. */
bool dpe_rust_is_inlined(struct dpe_module *module);

#endif
