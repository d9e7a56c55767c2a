/* The unwinder of a file. The layout of its contexts is not public, but _Unwind_GetCFA gives the stack pointer. */
#include "probes/code/instructions.h"

static bool decode_next(const struct dpe_code *code, size_t *at, struct dpe_instruction *instruction)
{
	do {
		if (!dpe_code_decode(code, *at, instruction))
			return false;
		*at += instruction->is.length;
	} while (instruction->is.mnemonic == ZYDIS_MNEMONIC_ENDBR64);
	return true;
}

/* Whether it is `mov offset(%rdi), %rax`. */
static bool loads_result(const struct dpe_instruction *instruction, uint64_t *offset)
{
	const ZydisDecodedOperand *to = &instruction->operands[0], *from = &instruction->operands[1];

	if (instruction->is.mnemonic != ZYDIS_MNEMONIC_MOV || to->type != ZYDIS_OPERAND_TYPE_REGISTER ||
		to->reg.value != ZYDIS_REGISTER_RAX || from->type != ZYDIS_OPERAND_TYPE_MEMORY ||
		from->mem.base != ZYDIS_REGISTER_RDI || from->mem.index != ZYDIS_REGISTER_NONE || from->mem.disp.value < 0)
		return false;
	*offset = (uint64_t)from->mem.disp.value;
	return true;
}

static bool returns_member(const struct dpe_code *code, uint64_t *offset)
{
	struct dpe_instruction instruction;
	size_t at = 0;

	return decode_next(code, &at, &instruction) && loads_result(&instruction, offset) &&
	       decode_next(code, &at, &instruction) && instruction.is.mnemonic == ZYDIS_MNEMONIC_RET;
}

enum dpe_unwinder_kind dpe_unwinder_of(struct dpe_module *module, uint64_t *offset)
{
	const struct dpe_function *function;
	struct dpe_code code;
	uint64_t found;
	unsigned count;
	bool good;

	if (!dpe_module_find(module, DPE_LANDING_FUNCTION, &count))
		return DPE_UNWINDER_NONE;
	function = dpe_module_find(module, "_Unwind_GetCFA", &count);
	if (!function || dpe_code_open(&code, module, function, DPE_ENTRY_BYTES))
		return DPE_UNWINDER_UNKNOWN;
	good = returns_member(&code, offset ? offset : &found);
	dpe_code_close(&code);
	return good ? DPE_UNWINDER_KNOWN : DPE_UNWINDER_UNKNOWN;
}
