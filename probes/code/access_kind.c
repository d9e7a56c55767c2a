/* Whether the instruction before an address read or wrote memory: a watchpoint reports after the access. The
 * function is decoded from its beginning, as instructions cannot be decoded backwards. */
#include "probes/code/instructions.h"
#include "probes/limits.h"

/* What the instruction does to memory operands. Operands that a push or call implies are on the stack, where no watched
 * variable is; those of string instructions count. */
static enum dpe_access access_of(const struct dpe_instruction *instruction)
{
	bool string = instruction->is.meta.category == ZYDIS_CATEGORY_STRINGOP;
	unsigned reads = 0, writes = 0;

	for (unsigned i = 0; i < instruction->is.operand_count; i++) {
		const ZydisDecodedOperand *operand = &instruction->operands[i];

		if (operand->type != ZYDIS_OPERAND_TYPE_MEMORY ||
			(!string && operand->visibility == ZYDIS_OPERAND_VISIBILITY_HIDDEN))
			continue;
		if (operand->actions & ZYDIS_OPERAND_ACTION_MASK_WRITE)
			writes++;
		else if (operand->actions & ZYDIS_OPERAND_ACTION_MASK_READ)
			reads++;
	}
	if (!reads == !writes)
		return DPE_ACCESS_UNKNOWN;
	return writes ? DPE_ACCESS_WRITE : DPE_ACCESS_READ;
}

static bool is_repeated(const struct dpe_instruction *instruction)
{
	return instruction->is.attributes & (ZYDIS_ATTRIB_HAS_REP | ZYDIS_ATTRIB_HAS_REPE |
						    ZYDIS_ATTRIB_HAS_REPNE);
}

/* The watchpoint on a repeated instruction is reported while that is still the next one. */
static enum dpe_access access_before(const struct dpe_code *code, size_t end)
{
	enum dpe_access access = DPE_ACCESS_UNKNOWN;
	struct dpe_instruction instruction;
	size_t at = 0;

	for (; at < end; at += instruction.is.length) {
		if (!dpe_code_decode(code, at, &instruction))
			return DPE_ACCESS_UNKNOWN;
		access = access_of(&instruction);
	}
	if (at > end || access != DPE_ACCESS_UNKNOWN)
		return at > end ? DPE_ACCESS_UNKNOWN : access;
	if (!dpe_code_decode(code, at, &instruction) || !is_repeated(&instruction))
		return DPE_ACCESS_UNKNOWN;
	return access_of(&instruction);
}

enum dpe_access dpe_access_before(struct dpe_module *module, uint64_t address)
{
	/* The access may be the last instruction of its function. */
	const struct dpe_function *function = dpe_module_function_at(module, address - 1);
	enum dpe_access access;
	struct dpe_code code;

	if (!function || dpe_code_open(&code, module, function, DPE_ENTRY_BYTES))
		return DPE_ACCESS_UNKNOWN;
	access = access_before(&code, address - function->address);
	dpe_code_close(&code);
	return access;
}
