/* register_flow: which registers and stack slots of a function hold arguments of its call, before each instruction. Private
 * to code/. */
#ifndef DPE_PROBES_CODE_REGISTER_FLOW_H
#define DPE_PROBES_CODE_REGISTER_FLOW_H

#include "probes/code/instructions.h"
#include "probes/limits.h"

enum dpe_holds {
	DPE_HOLDS_ANYTHING,
	DPE_HOLDS_ARGUMENT, /* the argument word of that number */
	DPE_HOLDS_FRAME,    /* the caller's rbp */
	DPE_HOLDS_STACK,    /* a stack address: `number` bytes below the return address */
};

struct dpe_holding {
	enum dpe_holds what;
	int number;
};

#define DPE_FLOW_REGISTERS 16

struct dpe_slot {
	int below; /* bytes below the return address */
	struct dpe_holding holding;
};

struct dpe_flow_state {
	bool reached;
	int depth; /* bytes from the stack pointer up to the return address */
	struct dpe_holding registers[DPE_FLOW_REGISTERS]; /* by register number */
	struct dpe_slot slots[DPE_FLOW_SLOTS];
	unsigned nslots;
};

enum dpe_flow_kind {
	DPE_FLOW_PLAIN,
	DPE_FLOW_CALL,
	DPE_FLOW_JUMP,   /* within the function */
	DPE_FLOW_BRANCH, /* the same if a condition holds */
	DPE_FLOW_RETURN,
	DPE_FLOW_LEAVE,  /* a tail call */
	DPE_FLOW_END,    /* no successor: ud2, a call of abort */
};

#define DPE_FLOW_NONE UINT32_MAX

struct dpe_flow_step {
	enum dpe_flow_kind kind;
	uint32_t at;           /* offset in the function */
	uint32_t next, target; /* successors, or DPE_FLOW_NONE */
	struct dpe_flow_state before;
};

/* The control flow graph of a function. */
struct dpe_flow {
	struct dpe_module *module;
	const struct dpe_code *code;
	struct dpe_flow_step *steps; /* steps[0] is the entry */
	unsigned count, cap;
	uint32_t *numbers; /* of steps, by offset; in the arena */
	bool escapes;      /* an address of its stack may be known elsewhere */
};

/* Analyses the function. NULL, or why nothing is known of it. Call dpe_flow_free in either case. */
const char *dpe_flow_follow(struct dpe_flow *flow, struct dpe_module *module,
	const struct dpe_code *code, struct dpe_arena *arena);
void dpe_flow_free(struct dpe_flow *flow);
/* The first part of the analysis, in flow_steps.c: builds the graph. */
const char *dpe_flow_find_steps(struct dpe_flow *flow);
/* The position of a memory operand on the stack, in bytes below the return address; false where it may be elsewhere. */
bool dpe_flow_on_stack(
	const struct dpe_flow_state *state, const ZydisDecodedOperand *operand, int *below);

/* ---- exit_values.c ----------------------------------------------------------------------- */

/* The future value of a register: `constant`, or the current value of register `from`, masked by `mask`. */
struct dpe_exit_value {
	bool known;
	int from; /* -1: a constant */
	uint64_t constant, mask;
};

/* The value of rax at the `ret` that follows this step without branches. */
struct dpe_exit_value dpe_exit_value_from(const struct dpe_flow *flow, uint32_t number);

#endif
