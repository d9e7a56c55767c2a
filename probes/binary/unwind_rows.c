/* Call frame information (DWARF 5, section 6.4; the table of .eh_frame_hdr: Linux Standard Base, Core, 10.6.2),
 * read with libdw. */
#include "probes/binary/unwind_rows.h"

#include <dwarf.h>
#include <elfutils/libdw.h>
#include <gelf.h>
#include <stdlib.h>
#include <string.h>

#define REGISTER_BP 6
#define REGISTER_SP 7
#define REGISTER_PC 16
#define WORD 8

/* ---- one row -------------------------------------------------------------------------------- */

/* An operation that is a register and an offset. */
static bool is_based(const Dwarf_Op *operation, unsigned *number, int64_t *offset)
{
	if (operation->atom >= DW_OP_breg0 && operation->atom <= DW_OP_breg31) {
		*number = operation->atom - DW_OP_breg0;
		*offset = (int64_t)operation->number;
		return true;
	}
	*number = (unsigned)operation->number;
	*offset = (int64_t)operation->number2;
	return operation->atom == DW_OP_bregx;
}

static bool in_words(int64_t bytes, int64_t max, unsigned *words)
{
	if (bytes < 0 || bytes % WORD || bytes / WORD > max)
		return false;
	*words = (unsigned)(bytes / WORD);
	return true;
}

/* *below: how many bytes below the frame's address the caller's register lies; 0: it is still in the register. */
static bool find_saved(Dwarf_Frame *frame, int number, int64_t *below)
{
	Dwarf_Op space[3], *operations = space;
	size_t count;

	if (dwarf_frame_register(frame, number, space, &operations, &count))
		return false;
	*below = 0;
	if (!count)
		return !operations;
	if (operations[0].atom != DW_OP_call_frame_cfa || count > 2)
		return false;
	if (count == 2 && operations[1].atom != DW_OP_plus_uconst)
		return false;
	*below = count == 2 ? -(int64_t)operations[1].number : 0;
	return *below > 0;
}

static bool has_caller(Dwarf_Frame *frame)
{
	Dwarf_Op space[3], *operations = space;
	size_t count;

	return dwarf_frame_register(frame, REGISTER_PC, space, &operations, &count) || count || !operations;
}

/* gcc's prologue of functions that align their stack: the old stack pointer is kept below rbp. */
static uint32_t realigned_rule(Dwarf_Frame *frame, const Dwarf_Op *cfa, size_t count)
{
	Dwarf_Op space[3], *operations = space;
	unsigned base, words;
	size_t nsaved;
	int64_t offset;

	if (count != 2 || !is_based(cfa, &base, &offset) || base != REGISTER_BP || cfa[1].atom != DW_OP_deref ||
		!in_words(-offset, DPE_FRAME_OFFSETS, &words))
		return DPE_FRAME_UNKNOWN;
	if (dwarf_frame_register(frame, REGISTER_BP, space, &operations, &nsaved) || nsaved != 2 ||
		operations[0].atom != DW_OP_call_frame_cfa || !is_based(operations + 1, &base, &offset) || base != REGISTER_BP || offset)
		return DPE_FRAME_UNKNOWN;
	return DPE_FRAME_RULE(DPE_FRAME_REALIGNED, words, 0);
}

/* What linkers write for .plt: sp + 8 + ((pc & 15) >= n) * 8. */
static uint32_t plt_rule(const Dwarf_Op *cfa, size_t count)
{
	static const uint8_t rest[] = {DW_OP_and, 0, DW_OP_ge, DW_OP_lit3, DW_OP_shl, DW_OP_plus};
	unsigned base;
	int64_t offset;

	if (count != 9 || !is_based(cfa, &base, &offset) || base != REGISTER_SP || offset != WORD ||
		!is_based(cfa + 1, &base, &offset) || base != REGISTER_PC || offset || cfa[2].atom != DW_OP_lit15)
		return DPE_FRAME_UNKNOWN;
	for (unsigned i = 0; i < DPE_COUNT(rest); i++) {
		if (rest[i] && cfa[3 + i].atom != rest[i])
			return DPE_FRAME_UNKNOWN;
	}
	if (cfa[4].atom < DW_OP_lit0 || cfa[4].atom > DW_OP_lit15)
		return DPE_FRAME_UNKNOWN;
	return DPE_FRAME_RULE(DPE_FRAME_PLT, cfa[4].atom - DW_OP_lit0, 0);
}

static uint32_t signal_rule(const Dwarf_Op *cfa, size_t count)
{
	unsigned base;
	int64_t offset;

	if (count == 2 && is_based(cfa, &base, &offset) && base == REGISTER_SP && offset == DPE_FRAME_SIGNAL_SP &&
		cfa[1].atom == DW_OP_deref)
		return DPE_FRAME_RULE(DPE_FRAME_SIGNAL, 0, 0);
	return DPE_FRAME_UNKNOWN;
}

static uint32_t based_rule(Dwarf_Frame *frame, unsigned base, int64_t offset)
{
	int64_t pc_below, bp_below;
	unsigned words, saved;

	if (base != REGISTER_SP && base != REGISTER_BP)
		return DPE_FRAME_UNKNOWN;
	if (!find_saved(frame, REGISTER_PC, &pc_below) || pc_below != WORD ||
		!find_saved(frame, REGISTER_BP, &bp_below) || !in_words(offset, DPE_FRAME_OFFSETS, &words) ||
		!in_words(bp_below, DPE_FRAME_SAVES, &saved))
		return DPE_FRAME_UNKNOWN;
	return DPE_FRAME_RULE(base == REGISTER_SP ? DPE_FRAME_BY_SP : DPE_FRAME_BY_BP, words, saved);
}

uint32_t dpe_frame_rule_of(Dwarf_Frame *frame, bool is_signal)
{
	Dwarf_Op *cfa;
	size_t count;
	unsigned base;
	int64_t offset;
	uint32_t rule;

	if (!has_caller(frame))
		return DPE_FRAME_RULE(DPE_FRAME_OUTERMOST, 0, 0);
	if (dwarf_frame_cfa(frame, &cfa, &count) || !count)
		return DPE_FRAME_UNKNOWN;
	if (is_signal)
		return signal_rule(cfa, count);
	if (count == 1)
		return is_based(cfa, &base, &offset) ? based_rule(frame, base, offset) : DPE_FRAME_UNKNOWN;
	rule = realigned_rule(frame, cfa, count);
	return rule == DPE_FRAME_UNKNOWN ? plt_rule(cfa, count) : rule;
}

/* ---- the table -------------------------------------------------------------------------------- */

struct rows_builder {
	const struct dpe_module *module;
	struct dpe_unwind_rows *rows;
	Dwarf_CFI *cfi;
	unsigned max;
	bool cut;
};

/* Code from that address on; what no row can hold is unknown. */
static void add_row(struct rows_builder *builder, uint64_t address, uint32_t rule)
{
	struct dpe_unwind_rows *rows = builder->rows;
	struct dpe_frame_row *last = &rows->at[rows->count - 1];
	uint64_t offset;

	if (!dpe_module_offset(builder->module, address, &offset) || offset > UINT32_MAX)
		return;
	if (rows->count > 1 && offset < last->from) {
		builder->cut = true; /* not sorted: a broken file */
		return;
	}
	if (rows->count > 1 && offset == last->from)
		last->rule = rule;
	else if (rows->count == 1 || last->rule != rule)
		*DPE_GROW(rows->at, rows->count, rows->cap) = (struct dpe_frame_row){(uint32_t)offset, rule};
}

/* The rows of a function that begins at `from`, and none from `end` on. */
static void add_function(struct rows_builder *builder, uint64_t from, uint64_t end)
{
	while (from < end) {
		Dwarf_Addr begin, next;
		Dwarf_Frame *frame;
		bool is_signal;

		if (builder->rows->count > builder->max)
			builder->cut = true;
		if (builder->cut || dwarf_cfi_addrframe(builder->cfi, from, &frame))
			break;
		dwarf_frame_info(frame, &begin, &next, &is_signal);
		add_row(builder, from, dpe_frame_rule_of(frame, is_signal));
		free(frame);
		if (next <= from)
			break;
		from = next;
	}
	if (from < end || builder->cut)
		add_row(builder, from, DPE_FRAME_UNKNOWN);
}

/* Where the functions begin: relative to the section, in the only encoding that linkers write, or as found in .eh_frame. */
struct function_list {
	const unsigned char *at;
	uint64_t base;
	uint64_t *found; /* owned; NULL: there is such a section */
	unsigned count, cap;
};

static uint64_t begin_of(const struct function_list *list, unsigned i)
{
	int32_t distance;

	if (list->found)
		return list->found[i];
	memcpy(&distance, list->at + (size_t)i * 2 * sizeof(distance), sizeof(distance));
	return list->base + (uint64_t)(int64_t)distance;
}

static bool read_list(const Elf_Data *data, uint64_t address, struct function_list *list)
{
	const uint8_t version = 1, head = 12;
	const unsigned char *bytes = data->d_buf;
	uint32_t count;

	if (!bytes || data->d_size < head || bytes[0] != version ||
		bytes[1] != (DW_EH_PE_pcrel | DW_EH_PE_sdata4) || bytes[2] != DW_EH_PE_udata4 ||
		bytes[3] != (DW_EH_PE_datarel | DW_EH_PE_sdata4))
		return false;
	memcpy(&count, bytes + 8, sizeof(count));
	if (count > (data->d_size - head) / (2 * sizeof(int32_t)))
		return false;
	*list = (struct function_list){.at = bytes + head, .base = address, .count = count};
	return true;
}

/* NULL: there is none of that name. */
static Elf_Data *find_section(Elf *elf, const char *wanted, uint64_t *address)
{
	Elf_Scn *section = NULL;
	size_t names;

	if (elf_getshdrstrndx(elf, &names))
		return NULL;
	while ((section = elf_nextscn(elf, section))) {
		GElf_Shdr header;
		const char *name;

		if (!gelf_getshdr(section, &header))
			continue;
		name = elf_strptr(elf, names, header.sh_name);
		*address = header.sh_addr;
		if (name && !strcmp(name, wanted))
			return elf_rawdata(section, NULL);
	}
	return NULL;
}

static bool find_list(Elf *elf, struct function_list *list)
{
	uint64_t address;
	Elf_Data *data = find_section(elf, ".eh_frame_hdr", &address);

	return data && read_list(data, address, list);
}

/* ---- without .eh_frame_hdr, as in programs that are linked statically ------------------------------------------------- */

/* Whether the entries of that CIE begin with the distance to their function, as compilers write it. */
static bool has_distances(const unsigned char *ident, Elf_Data *data, Dwarf_Off at)
{
	const char *augmentation;
	const uint8_t *value, *end;
	Dwarf_CFI_Entry entry;
	Dwarf_Off next;

	if (dwarf_next_cfi(ident, data, true, at, &next, &entry) || !dwarf_cfi_cie_p(&entry))
		return false;
	augmentation = entry.cie.augmentation;
	value = entry.cie.augmentation_data;
	end = value + entry.cie.augmentation_data_size;
	if (*augmentation != 'z')
		return false;
	for (augmentation++; *augmentation && value < end; augmentation++) {
		if (*augmentation == 'R')
			return *value == (DW_EH_PE_pcrel | DW_EH_PE_sdata4);
		if (*augmentation == 'L')
			value++;
		else if (*augmentation == 'P') /* of four or eight bytes, behind its encoding */
			value += 1 + ((*value & 0xf) == DW_EH_PE_sdata4 || (*value & 0xf) == DW_EH_PE_udata4 ? 4 : 8);
		else if (*augmentation != 'S')
			return false;
	}
	return false;
}

static void add_found(struct function_list *list, Elf_Data *data, uint64_t address, const Dwarf_CFI_Entry *entry)
{
	int32_t distance;

	if (entry->fde.end - entry->fde.start < (ptrdiff_t)sizeof(distance))
		return;
	memcpy(&distance, entry->fde.start, sizeof(distance));
	*DPE_GROW(list->found, list->count, list->cap) =
		address + (uint64_t)(entry->fde.start - (const uint8_t *)data->d_buf) + (uint64_t)(int64_t)distance;
}

static int by_address(const void *a, const void *b)
{
	const uint64_t *left = a, *right = b;

	return (*left > *right) - (*left < *right);
}

static bool make_list(Elf *elf, struct function_list *list)
{
	const unsigned char *ident = (const unsigned char *)elf_getident(elf, NULL);
	uint64_t address;
	Elf_Data *data = find_section(elf, ".eh_frame", &address);
	Dwarf_Off at = 0, next, cie = 0;
	Dwarf_CFI_Entry entry;
	bool distances = false, known = false;

	*list = (struct function_list){0};
	if (!data || !data->d_buf)
		return false;
	for (; !dwarf_next_cfi(ident, data, true, at, &next, &entry) && next > at; at = next) {
		if (dwarf_cfi_cie_p(&entry))
			continue;
		if (!known || cie != entry.fde.CIE_pointer)
			distances = has_distances(ident, data, entry.fde.CIE_pointer);
		known = true;
		cie = entry.fde.CIE_pointer;
		if (distances)
			add_found(list, data, address, &entry);
	}
	if (list->count)
		qsort(list->found, list->count, sizeof(*list->found), by_address);
	return list->count;
}

bool dpe_unwind_extent(const struct dpe_module *module, uint64_t address, uint64_t *begin, uint64_t *end)
{
	struct function_list list;
	unsigned next;

	if (!find_list(module->elf, &list))
		return false;
	next = DPE_PARTITION_POINT(i, 0, list.count, begin_of(&list, i) <= address);
	if (!next || next == list.count) /* the end of the last one is not known */
		return false;
	*begin = begin_of(&list, next - 1);
	*end = begin_of(&list, next);
	return true;
}

struct dpe_unwind_rows dpe_unwind_rows_of(const struct dpe_module *module, unsigned max, bool *cut)
{
	struct dpe_unwind_rows rows = {0};
	struct rows_builder builder = {.module = module, .rows = &rows, .max = max};
	struct function_list list;

	*cut = false;
	if (!find_list(module->elf, &list) && !make_list(module->elf, &list))
		return rows;
	builder.cfi = dwarf_getcfi_elf(module->elf);
	if (!builder.cfi) {
		free(list.found);
		return rows;
	}
	*DPE_GROW(rows.at, rows.count, rows.cap) = (struct dpe_frame_row){0};
	for (unsigned i = 0; i < list.count && !builder.cut; i++)
		add_function(&builder, begin_of(&list, i), i + 1 < list.count ? begin_of(&list, i + 1) : UINT64_MAX);
	dwarf_cfi_end(builder.cfi);
	free(list.found);
	rows.at[0].from = rows.count - 1;
	*cut = builder.cut;
	return rows;
}

void dpe_unwind_rows_free(struct dpe_unwind_rows *rows)
{
	free(rows->at);
	*rows = (struct dpe_unwind_rows){0};
}
