/* Source lines of addresses and addresses of source lines, with the calls that were inlined. */
#include "probes/binary/lines.h"
#include "probes/binary/dwarf.h"

#include "dpe/dpe-probes.h"
#include "probes/limits.h"

#include <stdlib.h>
#include <string.h>

/* A unit and an address in it, as the DWARF has it. With split DWARF the DIE tree (`scope`) is in another
 * file than the line table. */
struct unit_address {
	Dwarf_Die die, scope;
	uint64_t address;
};

static bool find_unit(struct dpe_module *module, uint64_t address, struct unit_address *unit)
{
	unit->address = address;
	return dpe_dwarf_unit(module, &unit->address, &unit->die, &unit->scope);
}

/* ---- lines ------------------------------------------------------------------------------- */

/* The path without the directory of the compilation. */
static const char *relative_path(struct unit_address *unit, const char *file)
{
	Dwarf_Attribute attribute;
	const char *folder = dwarf_formstring(dwarf_attr(&unit->die, DW_AT_comp_dir, &attribute));
	size_t len = folder ? strlen(folder) : 0;

	if (len && !strncmp(file, folder, len) && file[len] == '/')
		file += len + 1;
	while (!strncmp(file, "./", 2))
		file += 2;
	return file;
}

static bool print_line(struct unit_address *unit, struct dpe_text *to)
{
	Dwarf_Line *line = dwarf_getsrc_die(&unit->die, unit->address);
	const char *file;
	int number;

	if (!line || dwarf_lineno(line, &number) || number <= 0)
		return false;
	file = dwarf_linesrc(line, NULL, NULL);
	if (!file)
		return false;
	dpe_text_printf(to, "%s:%d", relative_path(unit, file), number);
	return true;
}

bool dpe_dwarf_print_line(struct dpe_module *module, uint64_t address, struct dpe_text *to)
{
	struct unit_address unit;

	return find_unit(module, address, &unit) && print_line(&unit, to);
}

/* ---- inlined calls ----------------------------------------------------------------------- */

/* The position of the inlined call. */
static bool print_call_line(struct unit_address *unit, Dwarf_Die *inlined, struct dpe_text *to)
{
	Dwarf_Files *files;
	uint64_t index, line;
	const char *file;

	if (!dpe_dwarf_number(inlined, DW_AT_call_file, &index) ||
		!dpe_dwarf_number(inlined, DW_AT_call_line, &line) ||
		dwarf_getsrcfiles(&unit->scope, &files, NULL))
		return false;
	file = dwarf_filesrc(files, index, NULL, NULL);
	if (!file)
		return false;
	dpe_text_printf(to, "%s:%u", relative_path(unit, file), (unsigned)line);
	return true;
}

static char *name_of(Dwarf_Die *inlined)
{
	Dwarf_Attribute attribute;
	const char *symbol =
		dwarf_formstring(dwarf_attr_integrate(inlined, DW_AT_linkage_name, &attribute));
	char *readable = symbol ? dpe_demangle(symbol, true) : NULL;
	const char *name = dwarf_diename(inlined);

	return readable ? readable : dpe_xstrdup(name ? name : "?");
}

/* The scope directly within this one that has code at the address. */
static bool find_inner(Dwarf_Die *scope, uint64_t address, Dwarf_Die *inner)
{
	if (dwarf_child(scope, inner))
		return false;
	do {
		int tag = dwarf_tag(inner);

		if ((tag == DW_TAG_inlined_subroutine || tag == DW_TAG_lexical_block ||
			    tag == DW_TAG_try_block || tag == DW_TAG_catch_block) &&
			dwarf_haspc(inner, address) > 0)
			return true;
	} while (!dwarf_siblingof(inner, inner));
	return false;
}

/* The inlined calls that contain the address, outermost first. */
static unsigned find_inlined(
	Dwarf_Die function, uint64_t address, Dwarf_Die inlined[DPE_DWARF_DEEP])
{
	Dwarf_Die inner;
	unsigned count = 0;

	for (unsigned depth = 0; depth < DPE_DWARF_DEEP; depth++) {
		if (!find_inner(&function, address, &inner))
			break;
		if (dwarf_tag(&inner) == DW_TAG_inlined_subroutine)
			inlined[count++] = inner;
		function = inner;
	}
	return count;
}

bool dpe_dwarf_print_inlined(struct dpe_module *module, uint64_t function, uint64_t address,
	struct dpe_text *to, struct dpe_text *place)
{
	struct unit_address unit;
	Dwarf_Die inlined[DPE_DWARF_DEEP], die;
	bool known = find_unit(module, address, &unit) && print_line(&unit, place);
	unsigned count = 0;

	if (known && dpe_dwarf_function(module, function, &die))
		count = find_inlined(die, unit.address, inlined);
	while (known && count) {
		char *name = name_of(&inlined[--count]);

		dpe_text_printf(to, "%s (inlined) (%s)\n", name, place->at);
		free(name);
		place->len = 0;
		known = print_call_line(&unit, &inlined[count], place);
	}
	return known;
}

/* ---- rows -------------------------------------------------------------------------------- */

struct row_walk {
	struct dpe_module *module;
	void (*each)(void *context, const struct dpe_line_row *row);
	void *context;
};

static bool read_row(Dwarf_Lines *lines, size_t number, struct dpe_line_row *row)
{
	Dwarf_Line *line = dwarf_onesrcline(lines, number);
	bool begins = false, ends = true;

	row->file = line ? dwarf_linesrc(line, NULL, NULL) : NULL;
	return row->file && !dwarf_linebeginstatement(line, &begins) && begins &&
	       !dwarf_lineendsequence(line, &ends) && !ends && !dwarf_lineno(line, &row->line) &&
	       row->line > 0 && !dwarf_lineaddr(line, &row->in_dwarf);
}

static void walk_unit(void *context, Dwarf_Die *unit, Dwarf_Die *scope, uint64_t bias)
{
	struct row_walk *walk = context;
	struct dpe_line_row row = {.scope = scope};
	Dwarf_Lines *lines;
	uint64_t offset;
	size_t count;

	if (dwarf_getsrclines(unit, &lines, &count))
		return;
	for (size_t i = 0; i < count; i++) {
		if (!read_row(lines, i, &row))
			continue;
		row.address = row.in_dwarf + bias;
		if (dpe_module_offset(walk->module, row.address, &offset))
			walk->each(walk->context, &row);
	}
}

bool dpe_line_each(struct dpe_module *module,
	void (*each)(void *context, const struct dpe_line_row *row), void *context)
{
	struct row_walk walk = {module, each, context};

	return dpe_dwarf_each_unit(module, walk_unit, &walk);
}

uint64_t dpe_line_owner(const struct dpe_line_row *row)
{
	Dwarf_Die unit = *(const Dwarf_Die *)row->scope, *scopes = NULL;
	int count = dwarf_getscopes(&unit, row->in_dwarf, &scopes);
	uint64_t owner = 0;

	for (int i = 0; i < count && !owner; i++) {
		int tag = dwarf_tag(&scopes[i]);

		if (tag == DW_TAG_subprogram || tag == DW_TAG_inlined_subroutine)
			owner = dwarf_dieoffset(&scopes[i]);
	}
	free(scopes);
	return owner;
}
