/* What the instruction before an address did to memory, and which value it left there as far as registers show: a
 * watchpoint reports after the access, when another thread may have written already. The function is decoded from its
 * beginning, as instructions cannot be decoded backwards. */
#include "probes/code/instructions.h"

enum { RAX = 0, ZERO_FLAG = 1 << 6 };

/* ---- read or write ----------------------------------------------------------------------- */

/* What the instruction does to memory operands. Those that a push or call implies are on the stack, where no watched
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

/* ---- the value --------------------------------------------------------------------------- */

static enum dpe_access_value value_of(ZydisMnemonic mnemonic)
{
	switch (mnemonic) {
	case ZYDIS_MNEMONIC_MOV:
		return DPE_VALUE_MOVED;
	case ZYDIS_MNEMONIC_CMPXCHG:
		return DPE_VALUE_COMPARED;
	case ZYDIS_MNEMONIC_XCHG:
		return DPE_VALUE_EXCHANGED;
	case ZYDIS_MNEMONIC_XADD:
		return DPE_VALUE_EXCHANGED_ADDED;
	case ZYDIS_MNEMONIC_ADD:
	case ZYDIS_MNEMONIC_INC:
		return DPE_VALUE_ADDED;
	case ZYDIS_MNEMONIC_SUB:
	case ZYDIS_MNEMONIC_DEC:
		return DPE_VALUE_SUBTRACTED;
	case ZYDIS_MNEMONIC_AND:
		return DPE_VALUE_AND;
	case ZYDIS_MNEMONIC_OR:
		return DPE_VALUE_OR;
	case ZYDIS_MNEMONIC_XOR:
		return DPE_VALUE_XOR;
	default:
		return DPE_VALUE_UNKNOWN;
	}
}

static bool exchanges(enum dpe_access_value value)
{
	return value == DPE_VALUE_EXCHANGED || value == DPE_VALUE_EXCHANGED_ADDED;
}

/* Which of the processor's 16 general registers it is in; -1: none. */
static int8_t register_of(ZydisRegister which)
{
	ZydisRegister whole = ZydisRegisterGetLargestEnclosing(ZYDIS_MACHINE_MODE_LONG_64, which);

	return whole >= ZYDIS_REGISTER_RAX && whole <= ZYDIS_REGISTER_R15
		       ? (int8_t)(whole - ZYDIS_REGISTER_RAX)
		       : -1;
}

/* False if the other operand is neither a general register nor a constant. */
static bool find_source(const struct dpe_instruction *instruction, struct dpe_access_effect *effect)
{
	effect->source = -1;
	effect->constant = 1; /* of inc, dec */
	for (unsigned i = 0; i < instruction->is.operand_count_visible; i++) {
		const ZydisDecodedOperand *operand = &instruction->operands[i];

		if (operand->type == ZYDIS_OPERAND_TYPE_IMMEDIATE) {
			effect->constant = operand->imm.value.s;
		} else if (operand->type == ZYDIS_OPERAND_TYPE_REGISTER) {
			effect->source = register_of(operand->reg.value);
			effect->shift = operand->reg.value >= ZYDIS_REGISTER_AH &&
						operand->reg.value <= ZYDIS_REGISTER_BH
						? 8
						: 0;
			return effect->source >= 0;
		}
	}
	return true;
}

/* False if the address cannot be computed from registers. */
static bool find_address(const ZydisDecodedOperand *operand, struct dpe_access_effect *effect)
{
	effect->relative = operand->mem.base == ZYDIS_REGISTER_RIP;
	effect->base = effect->relative ? -1 : register_of(operand->mem.base);
	effect->index = register_of(operand->mem.index);
	effect->scale = operand->mem.scale;
	effect->displacement = operand->mem.disp.value;
	effect->size = operand->size / 8;
	return operand->mem.segment != ZYDIS_REGISTER_FS && operand->mem.segment != ZYDIS_REGISTER_GS;
}

static const ZydisDecodedOperand *memory_operand(const struct dpe_instruction *instruction)
{
	for (unsigned i = 0; i < instruction->is.operand_count_visible; i++) {
		if (instruction->operands[i].type == ZYDIS_OPERAND_TYPE_MEMORY)
			return &instruction->operands[i];
	}
	return NULL;
}

static struct dpe_access_effect effect_of(const struct dpe_instruction *instruction)
{
	struct dpe_access_effect effect = {.access = access_of(instruction)};
	const ZydisDecodedOperand *operand = memory_operand(instruction);
	ZydisMnemonic mnemonic = instruction->is.mnemonic;

	if (!operand || effect.access != DPE_ACCESS_WRITE)
		return effect;
	if (find_address(operand, &effect) && find_source(instruction, &effect))
		effect.value = value_of(mnemonic);
	effect.locked = dpe_code_is_atomic(instruction);
	effect.compares = mnemonic == ZYDIS_MNEMONIC_CMPXCHG || mnemonic == ZYDIS_MNEMONIC_CMPXCHG8B ||
			  mnemonic == ZYDIS_MNEMONIC_CMPXCHG16B;
	effect.swapped = -1;
	if (exchanges(effect.value)) {
		effect.swapped = effect.source;
		effect.swap_shift = effect.shift;
		effect.unknown = true;
	}
	return effect;
}

/* ---- its outcome ------------------------------------------------------------------------- */

/* The number of written bytes before the watched ones; negative: not all watched bytes are written. */
static int64_t bytes_before(const struct dpe_access_effect *effect, const struct dpe_accessed *accessed)
{
	uint64_t at = (uint64_t)effect->displacement, before;

	if (effect->relative)
		at += accessed->ip;
	if (effect->base >= 0)
		at += accessed->registers[effect->base];
	if (effect->index >= 0)
		at += accessed->registers[effect->index] * effect->scale;
	before = accessed->address - at;
	return before <= effect->size && accessed->size <= effect->size - before ? (int64_t)before : -1;
}

static uint64_t compute(enum dpe_access_value how, uint64_t before, uint64_t operand)
{
	switch (how) {
	case DPE_VALUE_ADDED:
	case DPE_VALUE_EXCHANGED_ADDED:
		return before + operand;
	case DPE_VALUE_SUBTRACTED:
		return before - operand;
	case DPE_VALUE_AND:
		return before & operand;
	case DPE_VALUE_OR:
		return before | operand;
	case DPE_VALUE_XOR:
		return before ^ operand;
	default:
		return operand;
	}
}

struct dpe_access_outcome dpe_access_evaluate(
	const struct dpe_access_effect *effect, const struct dpe_accessed *accessed, uint64_t before)
{
	struct dpe_access_outcome outcome = {.access = effect->access, .before = before};
	uint64_t mask = accessed->size < 8 ? (1ull << (8 * accessed->size)) - 1 : UINT64_MAX;
	int64_t skipped;

	if (effect->compares && !(accessed->registers[DPE_ACCESS_FLAGS] & ZERO_FLAG))
		outcome.access = DPE_ACCESS_READ;
	if (outcome.access != DPE_ACCESS_WRITE || effect->value == DPE_VALUE_UNKNOWN)
		return outcome;
	skipped = bytes_before(effect, accessed);
	if (skipped < 0 || (effect->size != accessed->size && effect->value != DPE_VALUE_MOVED))
		return outcome;
	outcome.operand = effect->source < 0 ? (uint64_t)effect->constant
					     : accessed->registers[effect->source] >> effect->shift;
	outcome.operand = outcome.operand >> 8 * skipped & mask;
	outcome.computed = effect->value >= DPE_VALUE_ADDED;
	outcome.tells_before = effect->value == DPE_VALUE_COMPARED || effect->swapped >= 0;
	outcome.tells_after = !outcome.computed && !effect->unknown;
	if (outcome.tells_before)
		outcome.before = accessed->registers[effect->swapped < 0 ? RAX : effect->swapped] >> effect->swap_shift & mask;
	outcome.after = compute(effect->value, outcome.before, outcome.operand) & mask;
	return outcome;
}

/* ---- what a register had before an exchange ---------------------------------------------- */

/* The instruction that gave a register its value. */
struct definition {
	bool known;
	int8_t source; /* another register; -1: it is `constant` */
	int64_t constant;
	uint64_t size, behind; /* behind: its end */
};

static bool writes(const struct dpe_instruction *instruction, int8_t which)
{
	for (unsigned i = 0; i < instruction->is.operand_count; i++) {
		const ZydisDecodedOperand *operand = &instruction->operands[i];

		if (which >= 0 && operand->type == ZYDIS_OPERAND_TYPE_REGISTER &&
			(operand->actions & ZYDIS_OPERAND_ACTION_MASK_WRITE) &&
			register_of(operand->reg.value) == which)
			return true;
	}
	return false;
}

static struct definition definition_of(const struct dpe_instruction *instruction, int8_t which)
{
	const ZydisDecodedOperand *to = instruction->operands, *from = to + 1;
	struct definition found = {.source = -1, .size = to->size / 8};

	found.behind = instruction->address + instruction->is.length;
	if (instruction->is.mnemonic != ZYDIS_MNEMONIC_MOV || found.size < sizeof(int32_t))
		return found;
	if (from->type == ZYDIS_OPERAND_TYPE_REGISTER)
		found.source = register_of(from->reg.value);
	else if (from->type == ZYDIS_OPERAND_TYPE_IMMEDIATE)
		found.constant = found.size == sizeof(int32_t) ? (uint32_t)from->imm.value.s
							       : from->imm.value.s;
	found.known = from->type == ZYDIS_OPERAND_TYPE_IMMEDIATE ||
		      (found.source >= 0 && found.source != which);
	if (found.source < 0 && found.size == sizeof(int32_t))
		found.size = sizeof(int64_t);
	return found;
}

/* Finds the operand elsewhere, if every path to the exchange at `end` contains the definition. */
static void find_operand(struct dpe_module *module, const struct dpe_code *code, size_t end,
	struct dpe_access_effect *effect)
{
	struct definition last = {0};
	struct dpe_instruction instruction;

	for (size_t at = 0; at < end; at += instruction.is.length) {
		if (!dpe_code_decode(code, at, &instruction))
			return;
		if (writes(&instruction, effect->swapped))
			last = definition_of(&instruction, effect->swapped);
		else if (!dpe_code_only_computes(&instruction.is) || writes(&instruction, last.source))
			last.known = false;
	}
	if (!last.known || effect->shift || last.size < effect->size ||
		dpe_code_jump_between(code, last.behind, code->function->address + end) ||
		dpe_code_entered(module, code->function, end))
		return;
	effect->unknown = false;
	effect->source = last.source;
	effect->constant = last.constant;
}

/* ---- finding the instruction ------------------------------------------------------------- */

static bool is_repeated(const struct dpe_instruction *instruction)
{
	return instruction->is.attributes & (ZYDIS_ATTRIB_HAS_REP | ZYDIS_ATTRIB_HAS_REPE |
						    ZYDIS_ATTRIB_HAS_REPNE);
}

/* A watchpoint hit by a repeated instruction is reported while that instruction is still the next one. */
static struct dpe_access_effect effect_before(
	struct dpe_module *module, const struct dpe_code *code, size_t end)
{
	struct dpe_access_effect effect = {0}, none = {0};
	struct dpe_instruction instruction;
	size_t at = 0, last = 0;

	for (; at < end; at += instruction.is.length) {
		if (!dpe_code_decode(code, at, &instruction))
			return none;
		effect = effect_of(&instruction);
		last = at;
	}
	if (at > end)
		return none;
	if (effect.unknown)
		find_operand(module, code, last, &effect);
	if (effect.access != DPE_ACCESS_UNKNOWN)
		return effect;
	if (!dpe_code_decode(code, at, &instruction) || !is_repeated(&instruction))
		return none;
	return (struct dpe_access_effect){.access = access_of(&instruction)};
}

struct dpe_access_effect dpe_access_before(struct dpe_module *module, uint64_t address)
{
	/* The access may be the last instruction of its function. */
	const struct dpe_function *function = dpe_module_function_at(module, address - 1);
	struct dpe_access_effect effect = {0};
	struct dpe_code code;

	if (!function || dpe_code_open(&code, module, function, DPE_ENTRY_BYTES))
		return effect;
	effect = effect_before(module, &code, address - function->address);
	dpe_code_close(&code);
	return effect;
}
