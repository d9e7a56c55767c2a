/* Where a function returns, if its code shows all places: probes there observe what a return probe observes, without changing
 * the stack. They may be in code that the function jumps to: its cold part, or functions that return for it. */
#include "probes/code/instructions.h"

struct body {
	struct dpe_module *module;
	struct dpe_function parts[DPE_RETURN_PARTS];
	unsigned nparts, max_parts;
	unsigned entry; /* distance of the probe there */
	bool go;
	struct dpe_returns *returns;
};

static bool is_inside(const struct body *body, uint64_t address)
{
	for (unsigned i = 0; i < body->nparts; i++)
		if (address - body->parts[i].address < body->parts[i].size)
			return true;
	return false;
}

/* By call frame information, as static functions may have no symbols; static programs may have no list of it. */
static bool find_part(const struct body *body, uint64_t address, struct dpe_function *part)
{
	const struct dpe_function *known;
	uint64_t end;

	*part = (struct dpe_function){.name = ""};
	if (dpe_unwind_extent(body->module, address, &part->address, &end)) {
		part->size = end - part->address;
		return dpe_module_offset(body->module, part->address, &part->offset);
	}
	known = dpe_module_function_at(body->module, address);
	if (known)
		*part = *known;
	return known;
}

static bool add_part(struct body *body, uint64_t address)
{
	return body->nparts < body->max_parts && find_part(body, address, &body->parts[body->nparts]) && ++body->nparts;
}

static bool is_register(const ZydisDecodedOperand *operand, ZydisRegister wanted)
{
	return operand->type == ZYDIS_OPERAND_TYPE_REGISTER && operand->reg.value == wanted;
}

/* The jump of a `switch`: the table has distances, to which an address was added just before. */
static bool jumps_by_table(const struct dpe_instruction *jump, const struct dpe_instruction *before)
{
	return jump->operands[0].type == ZYDIS_OPERAND_TYPE_REGISTER && before->is.mnemonic == ZYDIS_MNEMONIC_ADD &&
	       is_register(&before->operands[0], jump->operands[0].reg.value) &&
	       before->operands[1].type == ZYDIS_OPERAND_TYPE_REGISTER;
}

/* Go's compiler puts the table's address into a register. */
static bool jumps_by_go_table(const struct dpe_instruction *jump)
{
	const ZydisDecodedOperand *to = &jump->operands[0];

	return to->type == ZYDIS_OPERAND_TYPE_MEMORY && to->mem.base != ZYDIS_REGISTER_RIP && to->mem.index != ZYDIS_REGISTER_NONE &&
	       to->mem.scale == sizeof(uint64_t);
}

static bool follow(struct body *body, const struct dpe_instruction *jump, const struct dpe_instruction *before)
{
	uint64_t target;

	if (!dpe_code_target(jump, &target))
		return body->go ? jumps_by_go_table(jump) : jumps_by_table(jump, before);
	if (body->go && body->entry && target == body->parts[0].address)
		return true; /* the stack has been made larger */
	if (target - body->parts[0].address <= body->entry)
		return false; /* the function begins again */
	return is_inside(body, target) || add_part(body, target);
}

static bool scan(struct body *body, const struct dpe_code *code)
{
	struct dpe_instruction instruction = {0}, before;
	struct dpe_returns *returns = body->returns;

	for (size_t at = 0; at < code->size; at += instruction.is.length) {
		before = instruction;
		if (!dpe_code_decode(code, at, &instruction))
			return false;
		if (dpe_code_jumps(&instruction.is) && !follow(body, &instruction, &before))
			return false;
		if (instruction.is.mnemonic != ZYDIS_MNEMONIC_RET)
			continue;
		if (returns->count == DPE_RETURN_PLACES)
			return false;
		returns->offsets[returns->count++] = code->function->offset + at;
	}
	return true;
}

static bool scan_part(struct body *body, const struct dpe_function *part)
{
	struct dpe_code code;
	bool good;

	if (dpe_code_open(&code, body->module, part, DPE_ENTRY_BYTES))
		return false;
	good = scan(body, &code);
	dpe_code_close(&code);
	return good;
}

bool dpe_code_returns(struct dpe_module *module, const struct dpe_function *function, unsigned entry, bool alone,
	struct dpe_returns *returns)
{
	struct body body = {.module = module, .parts = {*function}, .nparts = 1, .entry = entry, .returns = returns};

	body.go = dpe_go_is(module);
	body.max_parts = alone ? 1 : DPE_RETURN_PARTS;
	returns->count = 0;
	for (unsigned i = 0; i < body.nparts; i++)
		if (!scan_part(&body, &body.parts[i]))
			return false;
	returns->nparts = body.nparts;
	return true;
}
