/* The value that a function is going to return, by the instructions between an exit point and the return. */
#include "probes/code/register_flow.h"

enum { RAX = 0 };

static struct dpe_exit_value value_of(const struct dpe_exit_value *values, const ZydisDecodedOperand *operand)
{
	int number = operand->type == ZYDIS_OPERAND_TYPE_REGISTER
			     ? dpe_code_register(operand->reg.value)
			     : -1;

	if (operand->type == ZYDIS_OPERAND_TYPE_IMMEDIATE)
		return (struct dpe_exit_value){
			.known = true, .from = -1, .constant = operand->imm.value.u, .mask = ~0ull};
	return number < 0 ? (struct dpe_exit_value){0} : values[number];
}

static bool is_cleared(const struct dpe_instruction *instruction)
{
	const ZydisDecodedOperand *operands = instruction->operands;

	return (instruction->is.mnemonic == ZYDIS_MNEMONIC_XOR ||
		       instruction->is.mnemonic == ZYDIS_MNEMONIC_SUB) &&
	       operands[0].type == ZYDIS_OPERAND_TYPE_REGISTER &&
	       operands[1].type == ZYDIS_OPERAND_TYPE_REGISTER &&
	       operands[0].reg.value == operands[1].reg.value;
}

static void compute(struct dpe_exit_value *values, const struct dpe_instruction *instruction)
{
	const ZydisDecodedOperand *to = &instruction->operands[0];
	struct dpe_exit_value value = {0};

	if (is_cleared(instruction))
		value = (struct dpe_exit_value){.known = true, .from = -1};
	else if (instruction->is.mnemonic == ZYDIS_MNEMONIC_MOV)
		value = value_of(values, &instruction->operands[1]);
	if (to->size == 32)
		value.mask &= UINT32_MAX;
	else if (to->size != 64)
		value.known = false;
	for (unsigned i = 0; i < instruction->is.operand_count; i++) {
		const ZydisDecodedOperand *operand = &instruction->operands[i];
		int number = operand->type == ZYDIS_OPERAND_TYPE_REGISTER
				     ? dpe_code_register(operand->reg.value)
				     : -1;

		if (number >= 0 && operand->actions & ZYDIS_OPERAND_ACTION_MASK_WRITE)
			values[number] = operand == to ? value : (struct dpe_exit_value){0};
	}
}

struct dpe_exit_value dpe_exit_value_from(const struct dpe_flow *flow, uint32_t number)
{
	struct dpe_exit_value values[DPE_FLOW_REGISTERS];
	struct dpe_instruction instruction;

	for (int i = 0; i < DPE_FLOW_REGISTERS; i++)
		values[i] = (struct dpe_exit_value){.known = true, .from = i, .mask = ~0ull};
	while (flow->steps[number].kind == DPE_FLOW_PLAIN) {
		dpe_code_decode(flow->code, flow->steps[number].at, &instruction);
		compute(values, &instruction);
		number = flow->steps[number].next;
	}
	return values[RAX];
}
