/* Call stacks by call frame information (DWARF 5, section 6.4; System V ABI of x86-64), read with libdw. libdwfl
 * could unwind too, but guesses where a register is not known. */
#include "probes/binary/unwind.h"

#include <dwarf.h>
#include <elfutils/libdw.h>
#include <stdlib.h>
#include <string.h>

#define STACK 16 /* of an expression */

/* The information of one file, opened when it is first needed. */
struct frame_tables {
	const struct dpe_module *module;
	Dwarf *dwarf;
	Dwarf_CFI *exception, *debug; /* .eh_frame and .debug_frame; NULL: none */
};

struct dpe_unwinder {
	const struct dpe_map *maps;
	unsigned nmaps;
	bool (*read)(void *context, uint64_t address, uint64_t *word);
	void *context;
	struct frame_tables *tables;
	unsigned ntables, captables;
};

/* One step outwards. */
struct outward_step {
	const struct dpe_unwinder *unwinder;
	const struct dpe_registers *inner;
	Dwarf_Frame *frame;
	uint64_t cfa; /* the stack pointer before the call */
	enum dpe_unwound failure; /* of an expression that has no value */
};

/* ---- tables ------------------------------------------------------------------------------------ */

struct dpe_unwinder *dpe_unwinder_new(const struct dpe_map *maps, unsigned nmaps,
	bool (*read)(void *context, uint64_t address, uint64_t *word), void *context)
{
	struct dpe_unwinder *unwinder = dpe_xcalloc(1, sizeof(*unwinder));

	*unwinder = (struct dpe_unwinder){.maps = maps, .nmaps = nmaps, .read = read, .context = context};
	return unwinder;
}

void dpe_unwinder_free(struct dpe_unwinder *unwinder)
{
	if (!unwinder)
		return;
	for (unsigned i = 0; i < unwinder->ntables; i++) {
		dwarf_cfi_end(unwinder->tables[i].exception);
		dwarf_end(unwinder->tables[i].dwarf);
	}
	free(unwinder->tables);
	free(unwinder);
}

static const struct frame_tables *tables_of(struct dpe_unwinder *unwinder, const struct dpe_module *module)
{
	struct frame_tables *tables;

	for (unsigned i = 0; i < unwinder->ntables; i++) {
		if (unwinder->tables[i].module == module)
			return &unwinder->tables[i];
	}
	tables = DPE_GROW(unwinder->tables, unwinder->ntables, unwinder->captables);
	*tables = (struct frame_tables){
		.module = module,
		.exception = dwarf_getcfi_elf(module->elf),
		.dwarf = dwarf_begin_elf(module->elf, DWARF_C_READ, NULL),
	};
	if (tables->dwarf)
		tables->debug = dwarf_getcfi(tables->dwarf);
	return tables;
}

/* The rules of the frame of this code, for free(); NULL: the file has none. */
static Dwarf_Frame *find_frame(struct dpe_unwinder *unwinder, uint64_t pc)
{
	const struct dpe_map *map = dpe_map_find(unwinder->maps, unwinder->nmaps, pc);
	const struct frame_tables *tables;
	Dwarf_Frame *frame = NULL;
	uint64_t address;

	if (!map || !dpe_module_address(map->module, pc - map->start + map->offset, &address))
		return NULL;
	tables = tables_of(unwinder, map->module);
	if (tables->exception && !dwarf_cfi_addrframe(tables->exception, address, &frame))
		return frame;
	return tables->debug && !dwarf_cfi_addrframe(tables->debug, address, &frame) ? frame : NULL;
}

/* ---- expressions ------------------------------------------------------------------------------- */

static bool get_register(struct outward_step *step, uint64_t number, uint64_t *value)
{
	if (number >= DPE_REGISTERS || !(step->inner->known >> number & 1)) {
		step->failure = DPE_UNWOUND_REGISTERS;
		return false;
	}
	*value = step->inner->at[number];
	return true;
}

static bool read_memory(struct outward_step *step, uint64_t address, uint64_t *value)
{
	return step->unwinder->read(step->unwinder->context, address, value);
}

static bool calculate(uint8_t operation, uint64_t a, uint64_t b, uint64_t *value)
{
	switch (operation) {
	case DW_OP_plus:
		*value = a + b;
		return true;
	case DW_OP_minus:
		*value = a - b;
		return true;
	case DW_OP_and:
		*value = a & b;
		return true;
	case DW_OP_or:
		*value = a | b;
		return true;
	case DW_OP_shl:
		*value = b < 64 ? a << b : 0;
		return true;
	case DW_OP_shr:
		*value = b < 64 ? a >> b : 0;
		return true;
	case DW_OP_ge:
		*value = (int64_t)a >= (int64_t)b;
		return true;
	case DW_OP_gt:
		*value = (int64_t)a > (int64_t)b;
		return true;
	case DW_OP_le:
		*value = (int64_t)a <= (int64_t)b;
		return true;
	case DW_OP_lt:
		*value = (int64_t)a < (int64_t)b;
		return true;
	case DW_OP_eq:
		*value = a == b;
		return true;
	case DW_OP_ne:
		*value = a != b;
		return true;
	default:
		return false;
	}
}

/* Operations that push a value; *known: it is such a one. */
static bool push(struct outward_step *step, const Dwarf_Op *operation, uint64_t *value, bool *known)
{
	uint8_t atom = operation->atom;

	*known = true;
	if (atom >= DW_OP_lit0 && atom <= DW_OP_lit31) {
		*value = atom - DW_OP_lit0;
		return true;
	}
	if (atom >= DW_OP_const1u && atom <= DW_OP_consts) {
		*value = operation->number;
		return true;
	}
	if (atom >= DW_OP_breg0 && atom <= DW_OP_breg31) {
		if (!get_register(step, atom - DW_OP_breg0, value))
			return false;
		*value += operation->number;
		return true;
	}
	if (atom == DW_OP_bregx) {
		if (!get_register(step, operation->number, value))
			return false;
		*value += operation->number2;
		return true;
	}
	*value = step->cfa;
	*known = atom == DW_OP_call_frame_cfa;
	return *known;
}

/* What compilers, assemblers and linkers write into call frame information. False if the value cannot be found. */
static bool evaluate(struct outward_step *step, const Dwarf_Op *operations, size_t count, uint64_t *value)
{
	uint64_t stack[STACK] = {0};
	unsigned depth = 0;

	for (size_t i = 0; i < count; i++) {
		const Dwarf_Op *operation = &operations[i];
		uint8_t atom = operation->atom;
		bool known;

		if (depth == STACK)
			return false;
		if (push(step, operation, &stack[depth], &known))
			depth++;
		else if (known || !depth)
			return false;
		else if (atom == DW_OP_plus_uconst)
			stack[depth - 1] += operation->number;
		else if (atom == DW_OP_deref && !read_memory(step, stack[depth - 1], &stack[depth - 1]))
			return false;
		else if (atom != DW_OP_deref && atom != DW_OP_stack_value &&
			 (depth < 2 || !calculate(atom, stack[depth - 2], stack[depth - 1], &stack[depth - 2])))
			return false;
		else if (atom != DW_OP_deref && atom != DW_OP_stack_value)
			depth--;
	}
	*value = depth ? stack[depth - 1] : 0;
	return depth;
}

/* ---- one step ------------------------------------------------------------------------------------ */

/* A register as the caller has it; *defined: it has one. False if that cannot be found. */
static bool restore(struct outward_step *step, int number, uint64_t *value, bool *defined)
{
	Dwarf_Op space[3], *operations = space;
	size_t count = 0;

	*defined = true;
	if (dwarf_frame_register(step->frame, number, space, &operations, &count))
		return false;
	if (!count && !operations) /* it keeps its value */
		return get_register(step, (uint64_t)number, value);
	if (!count) {
		*defined = false;
		return true;
	}
	if (count == 1 && operations->atom >= DW_OP_reg0 && operations->atom <= DW_OP_reg31)
		return get_register(step, operations->atom - DW_OP_reg0, value);
	if (count == 1 && operations->atom == DW_OP_regx)
		return get_register(step, operations->number, value);
	if (!evaluate(step, operations, count, value))
		return false;
	return operations[count - 1].atom == DW_OP_stack_value || read_memory(step, *value, value);
}

/* Registers that cannot be found are not known further out; only the program counter is needed. */
static bool step_out(struct outward_step *step, struct dpe_registers *outer, enum dpe_unwound *end)
{
	Dwarf_Op *operations;
	size_t count;
	bool defined;

	*end = step->failure = DPE_UNWOUND_CUT;
	*outer = (struct dpe_registers){0};
	if (dwarf_frame_cfa(step->frame, &operations, &count) ||
		!evaluate(step, operations, count, &step->cfa)) {
		*end = step->failure;
		return false;
	}
	for (int i = 0; i < DPE_REGISTERS; i++) {
		step->failure = DPE_UNWOUND_CUT;
		if (!restore(step, i, &outer->at[i], &defined))
			*end = step->failure;
		else if (defined)
			outer->known |= 1u << i;
		else if (i == DPE_REGISTER_PC)
			*end = DPE_UNWOUND_OUTERMOST;
	}
	if (!(outer->known >> DPE_REGISTER_SP & 1)) {
		outer->at[DPE_REGISTER_SP] = step->cfa;
		outer->known |= 1u << DPE_REGISTER_SP;
	}
	if (outer->known >> DPE_REGISTER_PC & 1 && !outer->at[DPE_REGISTER_PC])
		*end = DPE_UNWOUND_OUTERMOST;
	return outer->known >> DPE_REGISTER_PC & 1 && outer->at[DPE_REGISTER_PC];
}

/* After a signal the interrupted instruction is the next frame's, no return address: its call is not before it. */
enum dpe_unwound dpe_unwind(struct dpe_unwinder *unwinder, const struct dpe_registers *registers, uint64_t *frames,
	unsigned max, unsigned *count)
{
	struct dpe_registers now = *registers;
	bool is_return = false;

	for (*count = 0; *count < max;) {
		uint64_t pc = now.at[DPE_REGISTER_PC];
		struct outward_step step = {.unwinder = unwinder, .inner = &now};
		struct dpe_registers outer;
		enum dpe_unwound end;
		bool interrupted, found;

		frames[(*count)++] = pc;
		step.frame = find_frame(unwinder, pc - is_return);
		if (!step.frame)
			return DPE_UNWOUND_CUT;
		dwarf_frame_info(step.frame, NULL, NULL, &interrupted);
		found = step_out(&step, &outer, &end);
		free(step.frame);
		if (!found)
			return end;
		is_return = !interrupted;
		now = outer;
	}
	return DPE_UNWOUND_CUT;
}
