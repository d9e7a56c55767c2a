/* lines: which line of which file an address comes from, and which calls were inlined there. */
#include "probes/dwarf.h"
#include "probes/probes.h"

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
	const char *symbol = dwarf_formstring(
		dwarf_attr_integrate(inlined, DW_AT_linkage_name, &attribute));
	char *readable = symbol ? dpe_demangle(symbol, true) : NULL;
	const char *name = dwarf_diename(inlined);

	return readable ? readable : dpe_xstrdup(name ? name : "?");
}

/* The scopes as they lie within each other in the code, innermost first; the caller's. */
static int find_scopes(struct unit *unit, Dwarf_Die **scopes)
{
	Dwarf_Die *innermost;
	int count = dwarf_getscopes(&unit->scope, unit->address, &innermost);

	if (count <= 0)
		return 0;
	count = dwarf_getscopes_die(&innermost[0], scopes);
	free(innermost);
	return count > 0 ? count : 0;
}

bool dpe_dwarf_print_inlined(struct dpe_module *module, uint64_t address, struct dpe_text *to,
	struct dpe_text *place)
{
	struct unit unit;
	Dwarf_Die *scopes = NULL;
	int count = find_unit(module, address, &unit) ? find_scopes(&unit, &scopes) : 0;
	bool known = count && print_line(&unit, place);

	for (int i = 0; i < count && known; i++) {
		char *name;

		if (dwarf_tag(&scopes[i]) != DW_TAG_inlined_subroutine)
			continue;
		name = name_of(&scopes[i]);
		dpe_text_printf(to, "%s (inlined) (%s)\n", name, place->at);
		free(name);
		place->len = 0;
		known = print_call_line(&unit, &scopes[i], place);
	}
	free(scopes);
	return known;
}
