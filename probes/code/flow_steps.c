/* The control flow graph of a function: its reachable instructions, and their successors. */
#include "probes/code/register_flow.h"

#include <string.h>

static bool ends(const struct dpe_instruction *instruction)
{
	switch (instruction->is.mnemonic) {
	case ZYDIS_MNEMONIC_HLT:
	case ZYDIS_MNEMONIC_UD0:
	case ZYDIS_MNEMONIC_UD1:
	case ZYDIS_MNEMONIC_UD2:
	case ZYDIS_MNEMONIC_INT3:
		return true;
	default:
		return false;
	}
}

/* Functions of the C library that never return. */
static bool never_returns(struct dpe_module *module, const struct dpe_instruction *call)
{
	static const char *const names[] = {"abort", "exit", "_exit", "_Exit", "quick_exit",
		"__assert", "__assert_fail", "__assert_perror_fail", "__chk_fail",
		"__fortify_fail", "__libc_fatal", "__stack_chk_fail", "pthread_exit"};
	static const char inner[] = "__GI_"; /* glibc's prefix of its internal aliases */
	const struct dpe_function *function;
	const char *name;
	uint64_t target;

	if (!dpe_code_target(call, &target))
		return false;
	function = dpe_module_function_at(module, target);
	if (!function || function->address != target)
		return false;
	name = function->name + (strncmp(function->name, inner, strlen(inner)) ? 0 : strlen(inner));
	for (unsigned i = 0; i < DPE_COUNT(names); i++) {
		if (!strcmp(name, names[i]))
			return true;
	}
	return false;
}

/* The step at that offset, made if it is new. */
static uint32_t step_at(struct dpe_flow *flow, uint64_t at)
{
	struct dpe_flow_step *step;

	if (flow->numbers[at] != DPE_FLOW_NONE)
		return flow->numbers[at];
	step = DPE_GROW(flow->steps, flow->count, flow->cap);
	*step = (struct dpe_flow_step){
		.at = (uint32_t)at, .next = DPE_FLOW_NONE, .target = DPE_FLOW_NONE};
	return flow->numbers[at] = flow->count - 1;
}

static const char *follow_jump(
	struct dpe_flow *flow, uint32_t number, const struct dpe_instruction *instruction)
{
	bool branches = instruction->is.meta.category == ZYDIS_CATEGORY_COND_BR;
	uint64_t target, first = flow->code->function->address;
	uint32_t to;

	flow->steps[number].kind = branches ? DPE_FLOW_BRANCH : DPE_FLOW_JUMP;
	if (!dpe_code_target(instruction, &target)) {
		if (branches || !dpe_code_leaves(instruction))
			return "the function jumps by a table";
		flow->steps[number].kind = DPE_FLOW_LEAVE;
		return NULL;
	}
	if (target == first)
		return "the function jumps to its beginning";
	if (target - first >= flow->code->size) {
		flow->steps[number].kind = DPE_FLOW_LEAVE;
		return branches ? "a part of the function is elsewhere" : NULL;
	}
	to = step_at(flow, target - first);
	flow->steps[number].target = to;
	return NULL;
}

/* Decodes a step and adds its successors. */
static const char *add_successors(struct dpe_flow *flow, uint32_t number)
{
	struct dpe_instruction instruction;
	uint32_t at = flow->steps[number].at, next;
	const char *why = NULL;

	if (!dpe_code_decode(flow->code, at, &instruction))
		return "the function cannot be decoded";
	if (dpe_code_jumps(&instruction.is)) {
		why = follow_jump(flow, number, &instruction);
	} else if (instruction.is.meta.category == ZYDIS_CATEGORY_RET) {
		flow->steps[number].kind = DPE_FLOW_RETURN;
	} else if (ends(&instruction)) {
		flow->steps[number].kind = DPE_FLOW_END;
	} else if (instruction.is.meta.category == ZYDIS_CATEGORY_CALL) {
		flow->steps[number].kind = never_returns(flow->module, &instruction)
						   ? DPE_FLOW_END
						   : DPE_FLOW_CALL;
	}
	if (why || flow->steps[number].kind >= DPE_FLOW_RETURN ||
		flow->steps[number].kind == DPE_FLOW_JUMP)
		return why;
	if (at + instruction.is.length >= flow->code->size)
		return "the function continues into the next one";
	next = step_at(flow, at + instruction.is.length);
	flow->steps[number].next = next;
	return NULL;
}

const char *dpe_flow_find_steps(struct dpe_flow *flow)
{
	const char *why = NULL;

	step_at(flow, 0);
	for (uint32_t i = 0; i < flow->count && !why; i++) {
		why = add_successors(flow, i);
		if (flow->count > DPE_FLOW_STEPS)
			why = "the function is too large";
	}
	return why;
}
