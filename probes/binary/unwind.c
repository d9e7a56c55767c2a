/* Call stacks by call frame information (DWARF 5, section 6.4; System V ABI of x86-64), read with libdw. libdwfl
 * could unwind too, but guesses where a register is not known. */
#include "probes/binary/unwind.h"
#include "probes/binary/unwind_rows.h"

#include <elfutils/libdw.h>
#include <stdlib.h>

#define WORD 8

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

/* DPE_FRAME_UNKNOWN where the file has no such information for the code. */
static uint32_t find_rule(struct dpe_unwinder *unwinder, uint64_t pc)
{
	const struct dpe_map *map = dpe_map_find(unwinder->maps, unwinder->nmaps, pc);
	const struct frame_tables *tables;
	Dwarf_Frame *frame = NULL;
	uint64_t address;
	uint32_t rule;
	bool is_signal;

	if (!map || !dpe_module_address(map->module, pc - map->start + map->offset, &address))
		return DPE_FRAME_UNKNOWN;
	tables = tables_of(unwinder, map->module);
	if ((!tables->exception || dwarf_cfi_addrframe(tables->exception, address, &frame)) &&
		(!tables->debug || dwarf_cfi_addrframe(tables->debug, address, &frame)))
		return DPE_FRAME_UNKNOWN;
	dwarf_frame_info(frame, NULL, NULL, &is_signal);
	rule = dpe_frame_rule_of(frame, is_signal);
	free(frame);
	return rule;
}

/* ---- one step ------------------------------------------------------------------------------------ */

static bool read_memory(const struct dpe_unwinder *unwinder, uint64_t address, uint64_t *value)
{
	return unwinder->read(unwinder->context, address, value);
}

static void read_bp(const struct dpe_unwinder *unwinder, uint64_t address, struct dpe_registers *now)
{
	now->has_bp = read_memory(unwinder, address, &now->bp);
}

static bool step_over_signal(const struct dpe_unwinder *unwinder, struct dpe_registers *now)
{
	uint64_t at = now->sp;

	read_bp(unwinder, at + DPE_FRAME_SIGNAL_BP, now);
	return read_memory(unwinder, at + DPE_FRAME_SIGNAL_PC, &now->pc) &&
	       read_memory(unwinder, at + DPE_FRAME_SIGNAL_SP, &now->sp);
}

/* The address of the frame: the stack pointer before the call. False if it is not known. */
static bool find_frame_address(
	const struct dpe_unwinder *unwinder, const struct dpe_registers *now, uint32_t rule, uint64_t *address)
{
	uint64_t offset = DPE_FRAME_OFFSET(rule) * WORD;

	switch (DPE_FRAME_KIND(rule)) {
	case DPE_FRAME_BY_SP:
		*address = now->sp + offset;
		return true;
	case DPE_FRAME_PLT:
		*address = now->sp + WORD + ((now->pc & 15) >= DPE_FRAME_OFFSET(rule) ? WORD : 0);
		return true;
	case DPE_FRAME_BY_BP:
		*address = now->bp + offset;
		return now->has_bp;
	case DPE_FRAME_REALIGNED:
		return now->has_bp && read_memory(unwinder, now->bp - offset, address);
	default:
		return false;
	}
}

static enum dpe_unwound end_of(const struct dpe_registers *now, uint32_t rule)
{
	switch (DPE_FRAME_KIND(rule)) {
	case DPE_FRAME_OUTERMOST:
		return DPE_UNWOUND_OUTERMOST;
	case DPE_FRAME_BY_BP:
	case DPE_FRAME_REALIGNED:
		return now->has_bp ? DPE_UNWOUND_CUT : DPE_UNWOUND_REGISTERS;
	default:
		return DPE_UNWOUND_CUT;
	}
}

/* False if the caller is not known. */
static bool step_out(const struct dpe_unwinder *unwinder, struct dpe_registers *now, uint32_t rule)
{
	uint64_t below = DPE_FRAME_SAVED(rule) * WORD, address;

	if (DPE_FRAME_KIND(rule) == DPE_FRAME_SIGNAL)
		return step_over_signal(unwinder, now);
	if (!find_frame_address(unwinder, now, rule, &address))
		return false;
	if (DPE_FRAME_KIND(rule) == DPE_FRAME_REALIGNED)
		read_bp(unwinder, now->bp, now);
	else if (below)
		read_bp(unwinder, address - below, now);
	now->sp = address;
	return read_memory(unwinder, address - WORD, &now->pc);
}

/* After a signal the interrupted instruction is the next frame's, no return address: its call is not before it. */
enum dpe_unwound dpe_unwind(struct dpe_unwinder *unwinder, const struct dpe_registers *registers, uint64_t *frames,
	unsigned max, unsigned *count)
{
	struct dpe_registers now = *registers;
	bool is_return = false;

	for (*count = 0; *count < max;) {
		uint32_t rule = find_rule(unwinder, now.pc - is_return);
		enum dpe_unwound end = end_of(&now, rule);

		frames[(*count)++] = now.pc;
		if (!step_out(unwinder, &now, rule))
			return end;
		if (!now.pc)
			return DPE_UNWOUND_OUTERMOST;
		is_return = DPE_FRAME_KIND(rule) != DPE_FRAME_SIGNAL;
	}
	return DPE_UNWOUND_CUT;
}
