#include "probes/code/instructions.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

const char *dpe_code_open(struct dpe_code *code, const struct dpe_module *module,
	const struct dpe_function *function, size_t max)
{
	*code = (struct dpe_code){.function = function, .size = function->size};
	if (!code->size)
		return "the symbol does not give the function's size";
	if (code->size > max)
		return "the function is too large";
	ZydisDecoderInit(&code->decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
	code->bytes = dpe_xmalloc(code->size);
	if (pread(module->fd, code->bytes, code->size, (off_t)function->offset) ==
		(ssize_t)code->size)
		return NULL;
	dpe_code_close(code);
	return "the file does not hold all of the function";
}

void dpe_code_close(struct dpe_code *code)
{
	free(code->bytes);
	code->bytes = NULL;
}

bool dpe_code_decode(const struct dpe_code *code, size_t at, struct dpe_instruction *instruction)
{
	instruction->address = code->function->address + at;
	instruction->bytes = code->bytes + at;
	return ZYAN_SUCCESS(ZydisDecoderDecodeFull(&code->decoder, code->bytes + at,
		code->size - at, &instruction->is, instruction->operands));
}

void dpe_code_print(const struct dpe_instruction *instruction, char *text, size_t size)
{
	ZydisFormatter formatter;

	ZydisFormatterInit(&formatter, ZYDIS_FORMATTER_STYLE_ATT);
	if (!ZYAN_SUCCESS(ZydisFormatterFormatInstruction(&formatter, &instruction->is,
		    instruction->operands, instruction->is.operand_count_visible, text, size,
		    instruction->address, NULL)))
		text[0] = '\0';
}

/* ---- what the kernel emulates ------------------------------------------------------------ */

bool dpe_code_is_long_nop(const struct dpe_instruction *instruction)
{
	static const uint8_t nop5[] = {0x0f, 0x1f, 0x44, 0x00, 0x00};

	return instruction->is.length == sizeof(nop5) && !memcmp(instruction->bytes, nop5, sizeof(nop5));
}

/* As in the kernel's arch/x86/kernel/uprobes.c: one-byte opcodes and long conditional jumps, without operand size prefix. */
bool dpe_code_is_emulated(const struct dpe_instruction *instruction)
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
	return length == 6 && opcode == 0x0f && bytes[1] >= 0x80 && bytes[1] <= 0x8f;
}

/* ---- instructions ------------------------------------------------------------------------ */

bool dpe_code_is_locked(const ZydisDecodedInstruction *is)
{
	return is->attributes & ZYDIS_ATTRIB_HAS_LOCK;
}

bool dpe_code_is_atomic(const struct dpe_instruction *instruction)
{
	if (dpe_code_is_locked(&instruction->is))
		return true;
	return instruction->is.mnemonic == ZYDIS_MNEMONIC_XCHG &&
	       (instruction->operands[0].type == ZYDIS_OPERAND_TYPE_MEMORY ||
		       instruction->operands[1].type == ZYDIS_OPERAND_TYPE_MEMORY);
}

bool dpe_code_only_computes(const ZydisDecodedInstruction *is)
{
	if (is->attributes & ZYDIS_ATTRIB_IS_PRIVILEGED)
		return false;
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

bool dpe_code_jumps(const ZydisDecodedInstruction *is)
{
	return is->meta.category == ZYDIS_CATEGORY_COND_BR ||
	       is->meta.category == ZYDIS_CATEGORY_UNCOND_BR;
}

/* Whether it jumps through a word at a fixed address: a tail call through the GOT. */
static bool leaves(const struct dpe_instruction *instruction)
{
	const ZydisDecodedOperand *to = &instruction->operands[0];

	return to->type == ZYDIS_OPERAND_TYPE_MEMORY && to->mem.base == ZYDIS_REGISTER_RIP &&
	       to->mem.index == ZYDIS_REGISTER_NONE;
}

bool dpe_code_target(const struct dpe_instruction *instruction, uint64_t *target)
{
	ZyanU64 found;

	if (instruction->operands[0].type != ZYDIS_OPERAND_TYPE_IMMEDIATE ||
		!ZYAN_SUCCESS(ZydisCalcAbsoluteAddress(&instruction->is,
			&instruction->operands[0], instruction->address, &found)))
		return false;
	*target = found;
	return true;
}

/* ---- jumps within a function ------------------------------------------------------------- */

const char *dpe_code_jump_between(const struct dpe_code *code, uint64_t begin, uint64_t end)
{
	struct dpe_instruction instruction;
	uint64_t target;

	for (size_t at = 0; at < code->size; at += instruction.is.length) {
		bool calls;

		if (!dpe_code_decode(code, at, &instruction))
			return "the function cannot be decoded";
		calls = instruction.is.meta.category == ZYDIS_CATEGORY_CALL;
		if ((!calls && !dpe_code_jumps(&instruction.is)) || leaves(&instruction))
			continue;
		if (!dpe_code_target(&instruction, &target)) {
			if (calls)
				continue;
			return "the function jumps by a table";
		}
		if (target >= begin && target <= end)
			return "a jump leads in between";
	}
	return NULL;
}

/* ---- jumps into a function ---------------------------------------------------------------- */

/* The size of the opcode of a near jump or call whose operand is at `at`; 0: it is not one. */
static unsigned opcode_before(const uint8_t *bytes, size_t at)
{
	if (bytes[at - 1] == 0xe8 || bytes[at - 1] == 0xe9)
		return 1;
	return at >= 2 && bytes[at - 2] == 0x0f && (bytes[at - 1] & 0xf0) == 0x80 ? 2 : 0;
}

/* Whether the bytes contain what may be a near jump or call from outside of the function into its first `end` bytes.
 * `address` is that of bytes[0]. The target is compared first: few operands lead there, and files are large. */
static bool far_jump_between(const uint8_t *bytes, size_t size, uint64_t address,
	const struct dpe_function *function, size_t end)
{
	uint64_t behind = address + sizeof(int32_t) - (function->address + 1);

	for (size_t at = 1; at + sizeof(int32_t) <= size; at++) {
		int32_t distance;
		unsigned opcode;

		memcpy(&distance, bytes + at, sizeof(distance));
		if (behind + at + (uint64_t)(int64_t)distance >= end)
			continue;
		opcode = opcode_before(bytes, at);
		if (opcode && address + at - opcode - function->address >= function->size)
			return true;
	}
	return false;
}

static bool jumped_at_from_elsewhere(
	const struct dpe_module *module, const struct dpe_function *function, size_t end)
{
	enum { OVERLAP = 6 };
	uint8_t *piece = dpe_xmalloc(DPE_CODE_PIECE);
	bool found = false;

	for (unsigned i = 0; i < module->nsegments && !found; i++) {
		const struct dpe_segment *segment = &module->segments[i];
		uint64_t at = 0;
		ssize_t got;

		if (!(segment->executable))
			continue;
		while (!found && at + OVERLAP < segment->size) {
			size_t rest = segment->size - at;

			got = pread(module->fd, piece, rest < DPE_CODE_PIECE ? rest : DPE_CODE_PIECE,
				(off_t)(segment->offset + at));
			if (got <= OVERLAP)
				break;
			found = far_jump_between(
				piece, (size_t)got, segment->address + at, function, end);
			at += (size_t)got - OVERLAP + 1;
		}
	}
	free(piece);
	return found;
}

/* Whether a symbol points into the middle of the function. */
static bool has_symbol_between(
	struct dpe_module *module, const struct dpe_function *function, size_t end)
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

const char *dpe_code_entered(
	struct dpe_module *module, const struct dpe_function *function, size_t end)
{
	if (has_symbol_between(module, function, end))
		return "another function begins in between";
	if (jumped_at_from_elsewhere(module, function, end))
		return "code elsewhere may jump in between";
	return NULL;
}
