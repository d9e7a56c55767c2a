/* instructions: a function's machine code, decoded with Zydis. Private to code/. */
#ifndef DPE_PROBES_CODE_INSTRUCTIONS_H
#define DPE_PROBES_CODE_INSTRUCTIONS_H

#include "probes/code/code.h"

#include <Zydis/Zydis.h>

struct dpe_code {
	ZydisDecoder decoder;
	const struct dpe_function *function;
	uint8_t *bytes; /* for dpe_code_close */
	size_t size;
};

struct dpe_instruction {
	ZydisDecodedInstruction is;
	ZydisDecodedOperand operands[ZYDIS_MAX_OPERAND_COUNT];
	uint64_t address; /* as the file has it */
	const uint8_t *bytes;
};

/* Reads the function. NULL, or why it cannot be read: it has no known size, or more than `most` bytes,
 * or the file ends before. */
const char *dpe_code_open(struct dpe_code *code, const struct dpe_module *module,
	const struct dpe_function *function, size_t most);
void dpe_code_close(struct dpe_code *code);
/* The instruction at so many bytes from the function's first. False where there is none. */
bool dpe_code_decode(const struct dpe_code *code, size_t at, struct dpe_instruction *instruction);
/* As the assembler writes it. */
void dpe_code_print(const struct dpe_instruction *instruction, char *text, size_t size);

/* Whether the kernel emulates it where there is a probe on it, instead of stepping a copy. */
bool dpe_code_is_emulated(const struct dpe_instruction *instruction, bool emulates_nops);
/* The kernel puts no probe on what has a lock prefix. */
bool dpe_code_is_locked(const ZydisDecodedInstruction *is);
/* It moves or computes something, and that is all. */
bool dpe_code_only_computes(const ZydisDecodedInstruction *is);
bool dpe_code_jumps(const ZydisDecodedInstruction *is);
/* A jump through a word at a fixed address leaves the function (a tail call of a library). */
bool dpe_code_leaves(const struct dpe_instruction *instruction);
/* Where a jump or call leads that says so itself; false where it does not. */
bool dpe_code_target(const struct dpe_instruction *instruction, uint64_t *target);
/* The general register, from 0 as the processor numbers them, of which this is one or a part; -1 where
 * it is none. */
int dpe_code_register(ZydisRegister which);

/* NULL where, as far as the file shows, nothing outside of the function leads into it behind its first
 * byte, up to `end` bytes from it; else what does. */
const char *dpe_code_entered(
	struct dpe_module *module, const struct dpe_function *function, size_t end);

#endif
