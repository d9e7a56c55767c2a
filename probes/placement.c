/* Where an entry is observed. The instructions before the chosen one are executed before the event
 * is: they must be such that this makes no difference.
 *
 *	- They are straight-line code that every call goes through, and nothing jumps in between, so
 *	  that the probe is hit once for each call. The function is decoded whole for that; a jump
 *	  whose target is not known (a table) rules it out, and code elsewhere in the file (a part
 *	  that the compiler moved away) is searched for jumps that may lead there.
 *	- They write neither memory nor a register that holds an argument which the rules need (xmm0 … only
 *	  where they need such), nor
 *	  the stack pointer: the return address and arguments on the stack are found as at the
 *entry, and whatever the function does for others to see comes after the event.
 *
 * Returns are observed by the kernel's return probes, never at the `ret`s: a ret is single-stepped,
 * a return probe is not. */
#include "probes/placement.h"

#include <Zydis/Zydis.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
	LARGEST = 1 << 20, /* functions beyond are observed at their first instruction */
	FARTHEST = 64,     /* bytes from the entry to look at */
	LONGEST = 15,      /* bytes of an instruction */
};

struct code {
	ZydisDecoder decoder;
	const struct dpe_function *function;
	uint8_t *bytes;
	size_t size;
};

struct instruction {
	ZydisDecodedInstruction is;
	ZydisDecodedOperand operands[ZYDIS_MAX_OPERAND_COUNT];
	uint64_t address;
	const uint8_t *bytes;
};

static bool decode(const struct code *code, size_t at, struct instruction *instruction)
{
	instruction->address = code->function->address + at;
	instruction->bytes = code->bytes + at;
	return ZYAN_SUCCESS(ZydisDecoderDecodeFull(&code->decoder, code->bytes + at,
		code->size - at, &instruction->is, instruction->operands));
}

/* ---- what the kernel emulates ------------------------------------------------------------ */

static bool is_long_nop(const uint8_t *bytes, unsigned length)
{
	static const uint8_t nop5[] = {0x0f, 0x1f, 0x44, 0x00, 0x00};

	return length == sizeof(nop5) && !memcmp(bytes, nop5, sizeof(nop5));
}

/* As arch/x86/kernel/uprobes.c has it: the one-byte opcodes, and the long conditional jumps; none
 * with an operand size prefix. */
static bool is_emulated(const struct instruction *instruction, bool emulates_nops)
{
	const uint8_t *bytes = instruction->bytes;
	unsigned length = instruction->is.length;
	uint8_t opcode = bytes[0];

	if (length <= 2 && opcode == 0x41 && bytes[1] >= 0x50 && bytes[1] <= 0x57)
		return true; /* push %r8 … %r15 */
	if (length == 1 && (opcode == 0x90 || (opcode >= 0x50 && opcode <= 0x57)))
		return true;
	if (length == 2 && (opcode == 0xeb || (opcode >= 0x70 && opcode <= 0x7f)))
		return true;
	if (length == 5 && (opcode == 0xe8 || opcode == 0xe9))
		return true;
	if (length == 6 && opcode == 0x0f && bytes[1] >= 0x80 && bytes[1] <= 0x8f)
		return true;
	return emulates_nops && is_long_nop(bytes, length);
}

/* ---- what may be executed before the event ----------------------------------------------- */

static const ZydisRegister arguments[] = {ZYDIS_REGISTER_RDI, ZYDIS_REGISTER_RSI,
	ZYDIS_REGISTER_RDX, ZYDIS_REGISTER_RCX, ZYDIS_REGISTER_R8, ZYDIS_REGISTER_R9};

static bool is_locked(const ZydisDecodedInstruction *is)
{
	return is->attributes & ZYDIS_ATTRIB_HAS_LOCK;
}

/* What others see of the function makes no difference to a call that is only noted. */
static bool may_write(const struct dpe_entry_use *use)
{
	return use->only_noted && use->nwords <= DPE_COUNT(arguments);
}

static bool is_harmless_kind(const ZydisDecodedInstruction *is, const struct dpe_entry_use *use)
{
	if (is->attributes & ZYDIS_ATTRIB_IS_PRIVILEGED)
		return false;
	if (is_locked(is))
		return may_write(use);
	switch (is->meta.category) {
	case ZYDIS_CATEGORY_DATAXFER:
	case ZYDIS_CATEGORY_BINARY:
	case ZYDIS_CATEGORY_LOGICAL:
	case ZYDIS_CATEGORY_LOGICAL_FP:
	case ZYDIS_CATEGORY_SHIFT:
	case ZYDIS_CATEGORY_CMOV:
	case ZYDIS_CATEGORY_CONVERT:
	case ZYDIS_CATEGORY_SETCC:
	case ZYDIS_CATEGORY_NOP:
	case ZYDIS_CATEGORY_WIDENOP:
	case ZYDIS_CATEGORY_CET:
	case ZYDIS_CATEGORY_MISC:
		return true;
	default:
		return false;
	}
}

static bool is_kept(ZydisRegister written, const struct dpe_entry_use *use)
{
	ZydisRegister whole = ZydisRegisterGetLargestEnclosing(ZYDIS_MACHINE_MODE_LONG_64, written);

	if (whole == ZYDIS_REGISTER_RSP || whole == ZYDIS_REGISTER_RIP)
		return true;
	for (unsigned i = 0; i < DPE_COUNT(arguments) && i < use->nwords; i++) {
		if (whole == arguments[i])
			return true;
	}
	return whole >= ZYDIS_REGISTER_ZMM0 &&
	       (unsigned)(whole - ZYDIS_REGISTER_ZMM0) < use->nvectors;
}

/* NULL where it may be passed, else why not. */
static const char *obstacle(const struct instruction *instruction, const struct dpe_entry_use *use)
{
	if (!is_harmless_kind(&instruction->is, use))
		return "what comes before one that the kernel emulates has effects";
	for (unsigned i = 0; i < instruction->is.operand_count; i++) {
		const ZydisDecodedOperand *operand = &instruction->operands[i];

		if (!(operand->actions & ZYDIS_OPERAND_ACTION_MASK_WRITE))
			continue;
		if (operand->type == ZYDIS_OPERAND_TYPE_MEMORY && !may_write(use))
			return "memory is written before one that the kernel emulates";
		if (operand->type == ZYDIS_OPERAND_TYPE_REGISTER &&
			is_kept(operand->reg.value, use))
			return "arguments or the stack change before one that the kernel emulates";
	}
	return NULL;
}

/* ---- jumps ------------------------------------------------------------------------------- */

static bool jumps(const ZydisDecodedInstruction *is)
{
	return is->meta.category == ZYDIS_CATEGORY_COND_BR ||
	       is->meta.category == ZYDIS_CATEGORY_UNCOND_BR;
}

/* A jump through a word at a fixed address leaves the function (a tail call of a library). */
static bool leaves(const struct instruction *instruction)
{
	const ZydisDecodedOperand *to = &instruction->operands[0];

	return to->type == ZYDIS_OPERAND_TYPE_MEMORY && to->mem.base == ZYDIS_REGISTER_RIP &&
	       to->mem.index == ZYDIS_REGISTER_NONE;
}

/* NULL where no jump of the function leads to anything from `begin` to `end`, addresses. */
static const char *jump_between(const struct code *code, uint64_t begin, uint64_t end)
{
	struct instruction instruction;
	ZyanU64 target;

	for (size_t at = 0; at < code->size; at += instruction.is.length) {
		if (!decode(code, at, &instruction))
			return "the function cannot be decoded";
		if (!jumps(&instruction.is) || leaves(&instruction))
			continue;
		if (!ZYAN_SUCCESS(ZydisCalcAbsoluteAddress(&instruction.is,
			    &instruction.operands[0], instruction.address, &target)) ||
			instruction.operands[0].type != ZYDIS_OPERAND_TYPE_IMMEDIATE)
			return "the function jumps by a table";
		if (target >= begin && target <= end)
			return "a jump leads in between";
	}
	return NULL;
}

/* Whether the bytes hold something like a near jump or call from elsewhere to between; what only
 * looks like one is taken for one. `address` is that of bytes[0]. */
static bool far_jump_between(const uint8_t *bytes, size_t size, uint64_t address,
	const struct dpe_function *function, unsigned end)
{
	for (size_t at = 0; at + 6 <= size; at++) {
		bool jump = bytes[at] == 0xe8 || bytes[at] == 0xe9;
		unsigned operand = jump ? 1 : 2;
		int32_t distance;
		uint64_t target;

		if (!jump && (bytes[at] != 0x0f || (bytes[at + 1] & 0xf0) != 0x80))
			continue;
		memcpy(&distance, bytes + at + operand, sizeof(distance));
		target = address + at + operand + sizeof(distance) + (uint64_t)(int64_t)distance;
		if (target > function->address && target <= function->address + end)
			return true;
	}
	return false;
}

static bool jumped_at_from_elsewhere(
	const struct dpe_module *module, const struct dpe_function *function, unsigned end)
{
	enum { PIECE = 1 << 20, OVERLAP = 6 };
	uint8_t *piece = dpe_xmalloc(PIECE);
	bool found = false;

	for (unsigned i = 0; i < module->nloads && !found; i++) {
		const GElf_Phdr *load = &module->loads[i];
		uint64_t at = 0;
		ssize_t got;

		if (!(load->p_flags & PF_X))
			continue;
		while (!found && at + OVERLAP < load->p_filesz) {
			size_t rest = load->p_filesz - at;

			got = pread(module->fd, piece, rest < PIECE ? rest : PIECE,
				(off_t)(load->p_offset + at));
			if (got <= OVERLAP)
				break;
			found = far_jump_between(
				piece, (size_t)got, load->p_vaddr + at, function, end);
			at += (size_t)got - OVERLAP + 1;
		}
	}
	free(piece);
	return found;
}

/* Another name for the middle of the function. */
static bool entered_between(
	struct dpe_module *module, const struct dpe_function *function, unsigned end)
{
	unsigned count;
	const struct dpe_function *functions = dpe_module_functions(module, &count);

	for (unsigned i = 0; i < count; i++) {
		uint64_t address = functions[i].address;

		if (address > function->address && address <= function->address + end)
			return true;
	}
	return false;
}

/* ---- the choice -------------------------------------------------------------------------- */

static void describe(const struct code *code, const struct instruction *instruction, bool emulated,
	const char *reason, struct dpe_placement *placement)
{
	ZydisFormatter formatter;

	placement->distance = (unsigned)(instruction->address - code->function->address);
	placement->cost = emulated ? DPE_STEP_EMULATED : DPE_STEP_SINGLE;
	snprintf(placement->reason, sizeof(placement->reason), "%s", reason);
	ZydisFormatterInit(&formatter, ZYDIS_FORMATTER_STYLE_ATT);
	if (!ZYAN_SUCCESS(ZydisFormatterFormatInstruction(&formatter, &instruction->is,
		    instruction->operands, instruction->is.operand_count_visible,
		    placement->instruction, sizeof(placement->instruction), instruction->address,
		    NULL)))
		placement->instruction[0] = '\0';
}

/* The first instruction that the kernel emulates with only harmless ones before it. NULL, or why
 * there is none. */
static const char *find_emulated(const struct code *code, const struct dpe_entry_use *use,
	bool emulates_nops, struct instruction *instruction)
{
	for (size_t at = 0; at < code->size && at < FARTHEST; at += instruction->is.length) {
		const char *why;

		if (!decode(code, at, instruction))
			return "the function cannot be decoded";
		if (is_emulated(instruction, emulates_nops))
			return NULL;
		why = obstacle(instruction, use);
		if (why)
			return why;
	}
	return "the kernel emulates none of its first instructions";
}

/* The kernel puts no probe on what has a lock prefix: the first instruction without one, where those
 * before it have, and may be passed. NULL, or why there is none. */
static const char *find_unlocked(const struct code *code, const struct dpe_entry_use *use,
	struct instruction *instruction)
{
	for (size_t at = 0; at < code->size && at < FARTHEST; at += instruction->is.length) {
		if (!decode(code, at, instruction))
			return "the function cannot be decoded";
		if (!is_locked(&instruction->is))
			return NULL;
		if (obstacle(instruction, use))
			break;
	}
	return "it begins with a lock prefix";
}

/* NULL where every call comes to the instruction, once, by those before it. */
static const char *way_to(
	struct dpe_module *module, const struct code *code, const struct instruction *chosen, bool again)
{
	uint64_t first = code->function->address;
	unsigned end = (unsigned)(chosen->address - first);
	const char *why = jump_between(code, first + !again, chosen->address);

	if (why)
		return why;
	if (entered_between(module, code->function, end))
		return "another function begins in between";
	if (jumped_at_from_elsewhere(module, code->function, end))
		return "code elsewhere may jump in between";
	return NULL;
}

static void place(struct dpe_module *module, const struct code *code,
	const struct dpe_entry_use *use, bool emulates_nops, struct dpe_placement *placement)
{
	struct dpe_entry_use strict = *use;
	struct instruction first, chosen;
	const char *why;

	if (!decode(code, 0, &first)) {
		snprintf(placement->reason, sizeof(placement->reason),
			"the function cannot be decoded");
		return;
	}
	if (is_emulated(&first, emulates_nops)) {
		describe(code, &first, true, "its first instruction", placement);
		return;
	}
	/* Of what has a lock prefix more may be passed; but a loop that begins with it would come to a
	 * later probe again and again. */
	strict.only_noted &= is_locked(&first.is);
	why = find_emulated(code, &strict, emulates_nops, &chosen);
	if (!why)
		why = way_to(module, code, &chosen, is_locked(&first.is));
	if (!why) {
		describe(code, &chosen, true, "the first that the kernel emulates", placement);
		return;
	}
	if (is_locked(&first.is) && !find_unlocked(code, &strict, &chosen) &&
		!way_to(module, code, &chosen, true))
		describe(code, &chosen, false, "the first without a lock prefix", placement);
	else
		describe(code, &first, false, why, placement);
}

void dpe_place_entry(struct dpe_module *module, const struct dpe_function *function,
	const struct dpe_entry_use *use, bool emulates_nops, struct dpe_placement *placement)
{
	struct code code = {.function = function, .size = function->size};

	*placement = (struct dpe_placement){.cost = DPE_STEP_UNKNOWN};
	if (!code.size || code.size > LARGEST) {
		snprintf(placement->reason, sizeof(placement->reason),
			code.size ? "the function is larger than 1 MiB"
				  : "the symbol does not tell the function's size");
		return;
	}
	ZydisDecoderInit(&code.decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
	code.bytes = dpe_xmalloc(code.size);
	if (pread(module->fd, code.bytes, code.size, (off_t)function->offset) == (ssize_t)code.size)
		place(module, &code, use, emulates_nops, placement);
	else
		snprintf(placement->reason, sizeof(placement->reason),
			"the file does not hold all of the function");
	free(code.bytes);
}
