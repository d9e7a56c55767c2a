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
	uint64_t address; /* link-time */
	const uint8_t *bytes;
};

/* Reads the function. NULL, or why it cannot be read: its size is unknown or above `max` bytes, or the file is truncated. */
const char *dpe_code_open(struct dpe_code *code, const struct dpe_module *module,
	const struct dpe_function *function, size_t max);
void dpe_code_close(struct dpe_code *code);
/* Decodes the instruction at offset `at` of the function. False if it is invalid. */
bool dpe_code_decode(const struct dpe_code *code, size_t at, struct dpe_instruction *instruction);
/* Prints it in AT&T syntax. */
void dpe_code_print(const struct dpe_instruction *instruction, char *text, size_t size);

/* Whether each kernel emulates it under a probe, instead of single-stepping a copy. */
bool dpe_code_is_emulated(const struct dpe_instruction *instruction);
/* A nop of five bytes: Linux emulates it from 6.9 on, and replaces it by a call from 6.18 on. */
bool dpe_code_is_long_nop(const struct dpe_instruction *instruction);
/* Whether it has a lock prefix: the kernel puts no probe on it then. */
bool dpe_code_is_locked(const ZydisDecodedInstruction *is);
/* Whether it reads and writes memory in one step. */
bool dpe_code_is_atomic(const struct dpe_instruction *instruction);
/* Whether it only moves data or computes. */
bool dpe_code_only_computes(const ZydisDecodedInstruction *is);
bool dpe_code_jumps(const ZydisDecodedInstruction *is);
/* The target of a direct jump or call; false if it is indirect. */
bool dpe_code_target(const struct dpe_instruction *instruction, uint64_t *target);

/* NULL if no jump of the function leads to an address from `begin` to `end`, else why. */
const char *dpe_code_jump_between(const struct dpe_code *code, uint64_t begin, uint64_t end);
/* NULL if nothing in the file jumps from outside into the function, from its second byte to offset `end`; else what may. */
const char *dpe_code_entered(
	struct dpe_module *module, const struct dpe_function *function, size_t end);

#endif
