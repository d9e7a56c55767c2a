/* lines: which line of which file an address comes from, and which calls were inlined there. */
#include "probes/binary/dwarf.h"
#include "probes/plan/plan.h"

#include <stdlib.h>
#include <string.h>

/* A unit of a module: its tree may be in a file of its own, its line table is not. */
struct unit {
	Dwarf_Die die, scope;
	uint64_t address; /* the one that is asked for, as DWARF has it */
};

static bool find_unit(struct dpe_module *module, uint64_t address, struct unit *unit)
{
	unit->address = address;
	return dpe_dwarf_unit(module, &unit->address, &unit->die, &unit->scope);
}

/* ---- lines ------------------------------------------------------------------------------- */

/* The file as the compiler was given it. */
static const char *without_folder(struct unit *unit, const char *file)
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

static bool print_line(struct unit *unit, struct dpe_text *to)
{
	Dwarf_Line *line = dwarf_getsrc_die(&unit->die, unit->address);
	const char *file;
	int number;

	if (!line || dwarf_lineno(line, &number) || number <= 0)
		return false;
	file = dwarf_linesrc(line, NULL, NULL);
	if (!file)
		return false;
	dpe_text_printf(to, "%s:%d", without_folder(unit, file), number);
	return true;
}

bool dpe_dwarf_print_line(struct dpe_module *module, uint64_t address, struct dpe_text *to)
{
	struct unit unit;

	return find_unit(module, address, &unit) && print_line(&unit, to);
}

/* ---- inlined calls ----------------------------------------------------------------------- */

static bool number_of(Dwarf_Die *die, unsigned name, Dwarf_Word *number)
{
	Dwarf_Attribute attribute;

	return !dwarf_formudata(dwarf_attr(die, name, &attribute), number);
}

/* Where the inlined call stands. */
static bool print_call_line(struct unit *unit, Dwarf_Die *inlined, struct dpe_text *to)
{
	Dwarf_Files *files;
	Dwarf_Word index, line;
	const char *file;

	if (!number_of(inlined, DW_AT_call_file, &index) ||
		!number_of(inlined, DW_AT_call_line, &line) ||
		dwarf_getsrcfiles(&unit->scope, &files, NULL))
		return false;
	file = dwarf_filesrc(files, index, NULL, NULL);
	if (!file)
		return false;
	dpe_text_printf(to, "%s:%u", without_folder(unit, file), (unsigned)line);
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

/* The scope within this one that has code there. */
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

/* The inlined calls that the address lies in, outermost first. Functions may stand in namespaces,
 * which have no addresses to find them by. */
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
	struct unit unit;
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
