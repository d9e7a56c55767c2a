/* register_flow: what registers and the stack of a function hold of its call, before each of its instructions. Private
 * to probes/. */
#ifndef DPE_PROBES_CODE_REGISTER_FLOW_H
#define DPE_PROBES_CODE_REGISTER_FLOW_H

#include "probes/code/instructions.h"
#include "probes/limits.h"

enum dpe_holds {
	DPE_HOLDS_ANYTHING,
	DPE_HOLDS_ARGUMENT, /* the word of the call of that number */
	DPE_HOLDS_FRAME,    /* rbp, as the caller had it */
	DPE_HOLDS_STACK,    /* an address: so many bytes below the return address */
};

struct dpe_holding {
	enum dpe_holds what;
	int number;
};

#define DPE_FLOW_REGISTERS 16

struct dpe_slot {
	int below; /* the return address, in bytes */
	struct dpe_holding holding;
};

struct dpe_flow_state {
	bool reached;
	int depth; /* bytes from the stack pointer up to the return address */
	struct dpe_holding registers[DPE_FLOW_REGISTERS]; /* as the processor numbers them */
	struct dpe_slot slots[DPE_FLOW_SLOTS];
	unsigned nslots;
};

enum dpe_flow_kind {
	DPE_FLOW_PLAIN,
	DPE_FLOW_CALL,
	DPE_FLOW_JUMP,   /* within the function */
	DPE_FLOW_BRANCH, /* the same, or on to the next one */
	DPE_FLOW_RETURN,
	DPE_FLOW_LEAVE,  /* a jump to another function, with the stack as at the call */
	DPE_FLOW_END,    /* nothing comes after it */
};

#define DPE_FLOW_NONE UINT32_MAX

struct dpe_flow_step {
	enum dpe_flow_kind kind;
	uint32_t at;           /* bytes from the function's first */
	uint32_t next, target; /* steps, or DPE_FLOW_NONE */
	struct dpe_flow_state before;
};

/* All instructions that the function's first one leads to. */
struct dpe_flow {
	struct dpe_module *module;
	const struct dpe_code *code;
	struct dpe_flow_step *steps; /* the first one is the function's */
	unsigned count, cap;
	uint32_t *numbers; /* of steps, by byte; in the arena */
	bool escapes;      /* somebody may know addresses of its stack */
};

/* NULL, or why it is not known. For dpe_flow_free, whatever comes of it. */
const char *dpe_flow_follow(struct dpe_flow *flow, struct dpe_module *module,
	const struct dpe_code *code, struct dpe_arena *arena);
void dpe_flow_free(struct dpe_flow *flow);
/* The first part of it, flow_steps.c: only which steps there are. */
const char *dpe_flow_find_steps(struct dpe_flow *flow);
/* Where memory that the instruction names lies on the stack, in bytes below the return address; false where
 * it is not known to lie there. */
bool dpe_flow_on_stack(
	const struct dpe_flow_state *state, const ZydisDecodedOperand *operand, int *below);

/* ---- exit_values.c ----------------------------------------------------------------------- */

/* What a register will have: `constant`, or what `from` has now, as far as `mask` goes. */
struct dpe_exit_value {
	bool known;
	int from; /* -1: a constant */
	uint64_t constant, mask;
};

/* rax at the `ret` that plain instructions lead to from this step. */
struct dpe_exit_value dpe_exit_value_from(const struct dpe_flow *flow, uint32_t number);

#endif
