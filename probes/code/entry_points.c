/* Chooses the instruction of a function on which its entry is observed; docs/internals/probe-points.md says when another
 * one than the first makes no difference. */
#include "probes/code/instructions.h"

/* ---- what may be executed before the event ----------------------------------------------- */

static const ZydisRegister arguments[] = {ZYDIS_REGISTER_RDI, ZYDIS_REGISTER_RSI,
	ZYDIS_REGISTER_RDX, ZYDIS_REGISTER_RCX, ZYDIS_REGISTER_R8, ZYDIS_REGISTER_R9};

/* A probe that only notes the call may come after effects that other threads see. */
static bool may_write(const struct dpe_entry_use *use)
{
	return use->only_noted && use->nwords <= DPE_COUNT(arguments);
}

static bool is_harmless_kind(const ZydisDecodedInstruction *is, const struct dpe_entry_use *use)
{
	return dpe_code_is_locked(is) ? may_write(use) : dpe_code_only_computes(is);
}

static bool must_stay(ZydisRegister written, const struct dpe_entry_use *use)
{
	ZydisRegister whole = ZydisRegisterGetLargestEnclosing(ZYDIS_MACHINE_MODE_LONG_64, written);

	if (whole == ZYDIS_REGISTER_RSP || whole == ZYDIS_REGISTER_RIP)
		return true;
	for (unsigned i = 0; i < DPE_COUNT(arguments) && i < use->nwords; i++) {
		if (whole == arguments[i])
			return true;
	}
	return false;
}

/* NULL if the instruction may be executed before the probe, else why not. */
static const char *obstacle(const struct dpe_instruction *instruction, const struct dpe_entry_use *use)
{
	if (!is_harmless_kind(&instruction->is, use))
		return "what precedes an instruction that the kernel emulates has side effects";
	for (unsigned i = 0; i < instruction->is.operand_count; i++) {
		const ZydisDecodedOperand *operand = &instruction->operands[i];

		if (!(operand->actions & ZYDIS_OPERAND_ACTION_MASK_WRITE))
			continue;
		if (operand->type == ZYDIS_OPERAND_TYPE_MEMORY && !may_write(use))
			return "memory is written before an instruction that the kernel emulates";
		if (operand->type == ZYDIS_OPERAND_TYPE_REGISTER &&
			must_stay(operand->reg.value, use))
			return "arguments or the stack change before an instruction that the kernel emulates";
	}
	return NULL;
}

/* ---- the choice -------------------------------------------------------------------------- */

static void describe(const struct dpe_code *code, const struct dpe_instruction *instruction, bool emulated,
	const char *reason, struct dpe_placement *placement)
{
	placement->distance = (unsigned)(instruction->address - code->function->address);
	placement->cost = emulated ? DPE_STEP_EMULATED : DPE_STEP_SINGLE;
	snprintf(placement->reason, sizeof(placement->reason), "%s", reason);
	dpe_code_print(instruction, placement->instruction, sizeof(placement->instruction));
}

/* Finds the first instruction that the kernel emulates, if all before it are harmless. NULL, or why there is none. */
static const char *find_emulated(const struct dpe_code *code, const struct dpe_entry_use *use,
	struct dpe_instruction *instruction)
{
	for (size_t at = 0; at < code->size && at < DPE_ENTRY_DISTANCE; at += instruction->is.length) {
		const char *why;

		if (!dpe_code_decode(code, at, instruction))
			return "the function cannot be decoded";
		if (dpe_code_is_emulated(instruction))
			return NULL;
		why = obstacle(instruction, use);
		if (why)
			return why;
	}
	return "the kernel emulates none of its first instructions";
}

/* The kernel puts no probe on an instruction with a lock prefix: finds the first without. NULL, or why there is none. */
static const char *find_unlocked(const struct dpe_code *code, const struct dpe_entry_use *use,
	struct dpe_instruction *instruction)
{
	for (size_t at = 0; at < code->size && at < DPE_ENTRY_DISTANCE; at += instruction->is.length) {
		if (!dpe_code_decode(code, at, instruction))
			return "the function cannot be decoded";
		if (!dpe_code_is_locked(&instruction->is))
			return NULL;
		if (obstacle(instruction, use))
			break;
	}
	return "it begins with a lock prefix";
}

/* NULL if every call reaches the instruction exactly once through those before it, else why not. */
static const char *check_path(
	struct dpe_module *module, const struct dpe_code *code, const struct dpe_instruction *chosen, bool again)
{
	uint64_t first = code->function->address;
	const char *why = dpe_code_jump_between(code, first + !again, chosen->address);

	return why ? why : dpe_code_entered(module, code->function, chosen->address - first);
}

static void place(struct dpe_module *module, const struct dpe_code *code,
	const struct dpe_entry_use *use, struct dpe_placement *placement)
{
	struct dpe_entry_use strict = *use;
	struct dpe_instruction first, chosen;
	const char *why;

	if (!dpe_code_decode(code, 0, &first)) {
		snprintf(placement->reason, sizeof(placement->reason),
			"the function cannot be decoded");
		return;
	}
	if (dpe_code_is_emulated(&first)) {
		describe(code, &first, true, "its first instruction", placement);
		return;
	}
	/* Only a function that begins with a lock prefix may be probed after effects; it must not loop back to its first
	 * instruction, as a later probe would be hit in each round. */
	strict.only_noted &= dpe_code_is_locked(&first.is);
	why = find_emulated(code, &strict, &chosen);
	if (!why)
		why = check_path(module, code, &chosen, dpe_code_is_locked(&first.is));
	if (!why) {
		describe(code, &chosen, true, "the first that the kernel emulates", placement);
		return;
	}
	if (dpe_code_is_locked(&first.is) && !find_unlocked(code, &strict, &chosen) &&
		!check_path(module, code, &chosen, true))
		describe(code, &chosen, false, "the first without a lock prefix", placement);
	else
		describe(code, &first, false, why, placement);
	if (!placement->distance && dpe_code_is_long_nop(&first)) {
		describe(code, &first, false, "a nop of five bytes, which Linux emulates from 6.9 on", placement);
		placement->cost = DPE_STEP_UNKNOWN;
	}
}

/* The limit of the stack is at a fixed offset of the goroutine, which r14 points to. */
static bool compares_limit(const struct dpe_instruction *instruction)
{
	const ZydisDecodedOperand *operands = instruction->operands;

	return instruction->is.mnemonic == ZYDIS_MNEMONIC_CMP && operands[1].type == ZYDIS_OPERAND_TYPE_MEMORY &&
	       operands[1].mem.base == ZYDIS_REGISTER_R14;
}

/* A function of Go that needs much of the stack first compares the limit, and begins again on a larger stack if that is reached:
 * a probe on the jump can tell. The instructions before it leave arguments as they are. */
static void place_in_go(const struct dpe_code *code, struct dpe_placement *placement)
{
	struct dpe_instruction instruction = {0}, before;
	size_t at = 0;

	if (!dpe_code_decode(code, 0, &instruction))
		return;
	describe(code, &instruction, dpe_code_is_emulated(&instruction), "its first instruction", placement);
	for (unsigned i = 0; i < DPE_GO_CHECK && !placement->checks_stack; i++) {
		at += instruction.is.length;
		before = instruction;
		if (!dpe_code_decode(code, at, &instruction))
			return;
		placement->checks_stack = compares_limit(&before) && instruction.is.mnemonic == ZYDIS_MNEMONIC_JBE;
	}
	if (placement->checks_stack)
		describe(code, &instruction, dpe_code_is_emulated(&instruction), "where the function checks its stack", placement);
}

void dpe_place_entry(struct dpe_module *module, const struct dpe_function *function,
	const struct dpe_entry_use *use, struct dpe_placement *placement)
{
	struct dpe_code code;
	const char *why = dpe_code_open(&code, module, function, DPE_ENTRY_BYTES);

	*placement = (struct dpe_placement){.cost = DPE_STEP_UNKNOWN};
	if (why) {
		snprintf(placement->reason, sizeof(placement->reason), "%s", why);
		return;
	}
	if (dpe_go_is(module))
		place_in_go(&code, placement);
	else
		place(module, &code, use, placement);
	dpe_code_close(&code);
}
