/* Data flow analysis: registers and stack slots are followed along all paths; where paths join, only what they agree on is
 * kept. If the depth of the stack is not understood, nothing is known of the function. */
#include "probes/code/register_flow.h"

#include <stdlib.h>
#include <string.h>

enum { RSP = 4, RBP = 5, WORD = 8 };

/* ---- registers and the stack ------------------------------------------------------------- */

bool dpe_flow_on_stack(
	const struct dpe_flow_state *state, const ZydisDecodedOperand *operand, int *below)
{
	int base = operand->type == ZYDIS_OPERAND_TYPE_MEMORY
			   ? dpe_code_register(operand->mem.base)
			   : -1;

	if (base < 0 || operand->mem.index != ZYDIS_REGISTER_NONE ||
		operand->mem.disp.value > INT16_MAX || operand->mem.disp.value < INT16_MIN ||
		operand->mem.segment == ZYDIS_REGISTER_FS || operand->mem.segment == ZYDIS_REGISTER_GS)
		return false;
	if (base == RSP)
		*below = state->depth;
	else if (state->registers[base].what == DPE_HOLDS_STACK)
		*below = state->registers[base].number;
	else
		return false;
	*below -= (int)operand->mem.disp.value;
	return true;
}

static struct dpe_holding slot(const struct dpe_flow_state *state, int below)
{
	for (unsigned i = 0; i < state->nslots; i++) {
		if (state->slots[i].below == below)
			return state->slots[i].holding;
	}
	return (struct dpe_holding){0};
}

static void drop_slot(struct dpe_flow_state *state, unsigned i)
{
	state->slots[i] = state->slots[--state->nslots];
}

/* `size` bytes of the stack were overwritten. */
static void forget(struct dpe_flow_state *state, int below, int size)
{
	for (unsigned i = state->nslots; i-- > 0;) {
		int slot = state->slots[i].below;

		if (slot - WORD < below && below - size < slot)
			drop_slot(state, i);
	}
}

static void forget_beyond(struct dpe_flow_state *state, int depth)
{
	for (unsigned i = state->nslots; i-- > 0;) {
		if (state->slots[i].below > depth)
			drop_slot(state, i);
	}
}

static void keep(struct dpe_flow_state *state, int below, struct dpe_holding holding)
{
	forget(state, below, WORD);
	if (holding.what && state->nslots < DPE_FLOW_SLOTS)
		state->slots[state->nslots++] = (struct dpe_slot){below, holding};
}

/* A write through a pointer may change the stack if an address of it has escaped. */
static void forget_pointed_at(const struct dpe_flow *flow, struct dpe_flow_state *state)
{
	if (flow->escapes)
		state->nslots = 0;
}

static struct dpe_holding held(const struct dpe_flow_state *state, const ZydisDecodedOperand *operand)
{
	int number, below;

	if (operand->size != 8 * WORD)
		return (struct dpe_holding){0};
	if (dpe_flow_on_stack(state, operand, &below))
		return slot(state, below);
	number = operand->type == ZYDIS_OPERAND_TYPE_REGISTER
			 ? dpe_code_register(operand->reg.value)
			 : -1;
	if (number == RSP)
		return (struct dpe_holding){DPE_HOLDS_STACK, state->depth};
	return number < 0 ? (struct dpe_holding){0} : state->registers[number];
}

/* ---- one instruction --------------------------------------------------------------------- */

static const char stack_unknown[] = "the function's stack is not understood";

static const char *write_memory(const struct dpe_flow *flow, struct dpe_flow_state *state,
	const ZydisDecodedOperand *operand, struct dpe_holding holding)
{
	int below;

	if (!dpe_flow_on_stack(state, operand, &below))
		forget_pointed_at(flow, state);
	else if (operand->size == 8 * WORD)
		keep(state, below, holding);
	else
		forget(state, below, operand->size / 8);
	return NULL;
}

static const char *write_operand(struct dpe_flow *flow, struct dpe_flow_state *state,
	const ZydisDecodedOperand *operand, struct dpe_holding holding)
{
	int number = operand->type == ZYDIS_OPERAND_TYPE_REGISTER
			     ? dpe_code_register(operand->reg.value)
			     : -1;

	if (holding.what == DPE_HOLDS_STACK && number != RSP && number != RBP)
		flow->escapes = true;
	if (operand->type == ZYDIS_OPERAND_TYPE_MEMORY)
		return write_memory(flow, state, operand, holding);
	if (number == RSP && holding.what == DPE_HOLDS_STACK)
		state->depth = holding.number;
	else if (number == RSP)
		return stack_unknown;
	else if (number >= 0)
		state->registers[number] = holding;
	return NULL;
}

static const char *push(struct dpe_flow *flow, struct dpe_flow_state *state,
	const struct dpe_instruction *instruction)
{
	struct dpe_holding holding = held(state, &instruction->operands[0]);

	flow->escapes |= holding.what == DPE_HOLDS_STACK;

	if (instruction->is.operand_width != 8 * WORD)
		return stack_unknown;
	state->depth += WORD;
	keep(state, state->depth, holding);
	return NULL;
}

static const char *pop(struct dpe_flow *flow, struct dpe_flow_state *state,
	const ZydisDecodedOperand *to, unsigned width)
{
	struct dpe_holding holding = slot(state, state->depth);

	if (width != 8 * WORD || to->type != ZYDIS_OPERAND_TYPE_REGISTER)
		return stack_unknown;
	state->depth -= WORD;
	return write_operand(flow, state, to, holding);
}

static const char *leave(struct dpe_flow_state *state)
{
	struct dpe_holding frame = state->registers[RBP];

	if (frame.what != DPE_HOLDS_STACK)
		return stack_unknown;
	state->registers[RBP] = slot(state, frame.number);
	state->depth = frame.number - WORD;
	return NULL;
}

/* A call changes all registers that the ABI does not preserve. */
static const char *call(const struct dpe_flow *flow, struct dpe_flow_state *state)
{
	static const uint8_t clobbered[] = {0, 1, 2, 6, 7, 8, 9, 10, 11};

	for (unsigned i = 0; i < DPE_COUNT(clobbered); i++)
		state->registers[clobbered[i]] = (struct dpe_holding){0};
	forget_beyond(state, state->depth);
	forget_pointed_at(flow, state);
	return NULL;
}

/* add or sub of a constant. */
static const char *move_stack(
	struct dpe_flow_state *state, const struct dpe_instruction *instruction, int sign)
{
	const ZydisDecodedOperand *by = &instruction->operands[1];

	if (by->type != ZYDIS_OPERAND_TYPE_IMMEDIATE || by->imm.value.s > INT16_MAX ||
		by->imm.value.s < INT16_MIN)
		return stack_unknown;
	state->depth += sign * (int)by->imm.value.s;
	return NULL;
}

static const char *write_outputs(struct dpe_flow *flow, struct dpe_flow_state *state,
	const struct dpe_instruction *instruction)
{
	const char *why = NULL;

	for (unsigned i = 0; i < instruction->is.operand_count && !why; i++) {
		const ZydisDecodedOperand *operand = &instruction->operands[i];

		if (operand->actions & ZYDIS_OPERAND_ACTION_MASK_WRITE)
			why = write_operand(flow, state, operand, (struct dpe_holding){0});
	}
	return why;
}

static bool is_stack_pointer(const ZydisDecodedOperand *operand)
{
	return operand->type == ZYDIS_OPERAND_TYPE_REGISTER &&
	       dpe_code_register(operand->reg.value) == RSP;
}

/* The stack address that lea computes. */
static struct dpe_holding address_of(struct dpe_flow *flow, const struct dpe_flow_state *state,
	const struct dpe_instruction *instruction)
{
	int base = dpe_code_register(instruction->operands[1].mem.base), below;

	flow->escapes |= instruction->operands[1].mem.index != ZYDIS_REGISTER_NONE && base >= 0 &&
			 (base == RSP || state->registers[base].what == DPE_HOLDS_STACK);
	if (instruction->operands[0].size == 8 * WORD &&
		dpe_flow_on_stack(state, &instruction->operands[1], &below))
		return (struct dpe_holding){DPE_HOLDS_STACK, below};
	return (struct dpe_holding){0};
}

/* Applies the instruction to the state. NULL, or why the state after it is not known. */
static const char *execute(struct dpe_flow *flow, struct dpe_flow_state *state,
	const struct dpe_instruction *instruction)
{
	const ZydisDecodedOperand *to = &instruction->operands[0];

	switch (instruction->is.mnemonic) {
	case ZYDIS_MNEMONIC_PUSH:
		return push(flow, state, instruction);
	case ZYDIS_MNEMONIC_POP:
		return pop(flow, state, to, instruction->is.operand_width);
	case ZYDIS_MNEMONIC_LEAVE:
		return leave(state);
	case ZYDIS_MNEMONIC_CALL:
		return call(flow, state);
	case ZYDIS_MNEMONIC_MOV:
		return write_operand(flow, state, to, held(state, &instruction->operands[1]));
	case ZYDIS_MNEMONIC_LEA:
		return write_operand(flow, state, to, address_of(flow, state, instruction));
	case ZYDIS_MNEMONIC_SUB:
		if (is_stack_pointer(to))
			return move_stack(state, instruction, 1);
		break;
	case ZYDIS_MNEMONIC_ADD:
		if (is_stack_pointer(to))
			return move_stack(state, instruction, -1);
		break;
	default:
		break;
	}
	return write_outputs(flow, state, instruction);
}

/* ---- all paths ---------------------------------------------------------------------------- */

static bool same(struct dpe_holding a, struct dpe_holding b)
{
	return a.what == b.what && a.number == b.number;
}

/* Joins the states of two paths; `*why`: they contradict. True where less is known than before. */
static bool join(struct dpe_flow_state *to, const struct dpe_flow_state *from, const char **why)
{
	bool changed = false;

	if (!to->reached) {
		*to = *from;
		return true;
	}
	if (to->depth != from->depth)
		*why = stack_unknown;
	for (unsigned i = 0; i < DPE_FLOW_REGISTERS; i++) {
		if (same(to->registers[i], from->registers[i]) || !to->registers[i].what)
			continue;
		to->registers[i] = (struct dpe_holding){0};
		changed = true;
	}
	for (unsigned i = to->nslots; i-- > 0;) {
		if (same(to->slots[i].holding, slot(from, to->slots[i].below)))
			continue;
		drop_slot(to, i);
		changed = true;
	}
	return changed;
}

static const char *propagate(struct dpe_flow *flow, uint32_t number, bool *changed)
{
	const struct dpe_flow_step *step = &flow->steps[number];
	struct dpe_flow_state state = step->before;
	struct dpe_instruction instruction;
	const char *why = NULL;

	if (step->kind < DPE_FLOW_RETURN) {
		dpe_code_decode(flow->code, step->at, &instruction);
		why = execute(flow, &state, &instruction);
	} else if (step->kind != DPE_FLOW_END && state.depth) {
		return step->kind == DPE_FLOW_LEAVE ? "a part of the function is elsewhere"
						    : stack_unknown;
	}
	if (!why && step->next != DPE_FLOW_NONE)
		*changed |= join(&flow->steps[step->next].before, &state, &why);
	if (!why && step->target != DPE_FLOW_NONE)
		*changed |= join(&flow->steps[step->target].before, &state, &why);
	return why;
}

static void begin(struct dpe_flow_state *state)
{
	static const uint8_t arguments[] = {7, 6, 2, 1, 8, 9};

	state->reached = true;
	for (unsigned i = 0; i < DPE_COUNT(arguments); i++)
		state->registers[arguments[i]] =
			(struct dpe_holding){DPE_HOLDS_ARGUMENT, (int)i};
	state->registers[RBP] = (struct dpe_holding){DPE_HOLDS_FRAME, 0};
}

static const char *follow_all(struct dpe_flow *flow)
{
	const char *why = NULL;
	bool changed = true;

	for (uint32_t i = 0; i < flow->count; i++)
		flow->steps[i].before = (struct dpe_flow_state){0};
	begin(&flow->steps[0].before);
	for (unsigned round = 0; changed && !why; round++) {
		changed = false;
		if (round == DPE_FLOW_ROUNDS)
			return "the function is too complex";
		for (uint32_t i = 0; i < flow->count && !why; i++) {
			if (flow->steps[i].before.reached)
				why = propagate(flow, i, &changed);
		}
	}
	return why;
}

const char *dpe_flow_follow(struct dpe_flow *flow, struct dpe_module *module,
	const struct dpe_code *code, struct dpe_arena *arena)
{
	const char *why;

	*flow = (struct dpe_flow){.module = module, .code = code};
	flow->numbers = dpe_arena_alloc(arena, code->size * sizeof(*flow->numbers));
	memset(flow->numbers, 0xff, code->size * sizeof(*flow->numbers));
	why = dpe_flow_find_steps(flow);
	if (!why)
		why = follow_all(flow);
	if (!why && flow->escapes) /* found during the first pass */
		why = follow_all(flow);
	return why;
}

void dpe_flow_free(struct dpe_flow *flow)
{
	free(flow->steps);
	flow->steps = NULL;
}
