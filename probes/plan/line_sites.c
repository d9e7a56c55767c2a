/* Plan sites that are lines of the source. A line has many rows in the line table; as a debugger does, dpe observes the
 * lowest address in each copy of the line (inlined functions, templates). */
#include "probes/plan/late_sites.h"
#include "probes/plan/resolve_sites.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct line_copy {
	uint64_t owner; /* identifies the function, or the inlined call of it */
	uint64_t address;
	bool cold; /* in a .cold part */
};

struct line_search {
	struct dpe_module *module;
	const char *file;
	size_t len; /* of the file name */
	int line;
	bool has_lines; /* the module has debug information */
	bool has_file;
	int below, above; /* the nearest lines that have code; 0: none */
	struct line_copy *copies;
	unsigned ncopies, cap;
};

/* ---- rows -------------------------------------------------------------------------------- */

/* True if the path ends with the file name in the rule. */
static bool is_file(const struct line_search *search, const char *path)
{
	size_t len = strlen(path);

	if (len < search->len || strncmp(path + len - search->len, search->file, search->len))
		return false;
	return len == search->len || path[len - search->len - 1] == '/';
}

static bool is_cold(struct dpe_module *module, uint64_t address)
{
	const struct dpe_function *function = dpe_module_function_at(module, address);

	return function && strstr(function->name, ".cold");
}

static void add_copy(struct line_search *search, uint64_t owner, uint64_t address)
{
	bool cold = is_cold(search->module, address);

	for (unsigned i = 0; i < search->ncopies; i++) {
		struct line_copy *copy = &search->copies[i];

		if (copy->owner != owner)
			continue;
		if (copy->cold > cold || (copy->cold == cold && address < copy->address))
			*copy = (struct line_copy){owner, address, cold};
		return;
	}
	*DPE_GROW(search->copies, search->ncopies, search->cap) =
		(struct line_copy){owner, address, cold};
}

static void note_neighbour(struct line_search *search, int line)
{
	if (line < search->line && line > search->below)
		search->below = line;
	if (line > search->line && (!search->above || line < search->above))
		search->above = line;
}

static void add_row(void *context, const struct dpe_line_row *row)
{
	struct line_search *search = context;

	if (!is_file(search, row->file))
		return;
	search->has_file = true;
	if (row->line == search->line)
		add_copy(search, dpe_line_owner(row), row->address);
	else
		note_neighbour(search, row->line);
}

/* ---- found lines ----------------------------------------------------------------------- */

/* Linux 6.18 replaces such a nop by a call, which overwrites the red zone below the stack pointer: it is only unused at
 * the entry of a function. */
static bool is_unsafe(struct dpe_module *module, uint64_t address, uint64_t offset)
{
	static const uint8_t nop[] = {0x0f, 0x1f, 0x44, 0x00, 0x00};
	const struct dpe_function *function = dpe_module_function_at(module, address);
	uint8_t bytes[sizeof(nop)];

	return pread(module->fd, bytes, sizeof(bytes), (off_t)offset) == sizeof(bytes) &&
	       !memcmp(bytes, nop, sizeof(nop)) && !(function && function->address == address);
}

struct found_lines {
	struct dpe_target_function *at;
	unsigned count, cap;
};

static bool is_found(const struct found_lines *found, const struct line_search *search, uint64_t address)
{
	for (unsigned i = 0; i < found->count; i++) {
		if (found->at[i].module == search->module &&
			found->at[i].function->address == address)
			return true;
	}
	return false;
}

static void take_copies(struct found_lines *found, const struct line_search *search,
	const struct dpe_plan_site *site, struct dpe_arena *arena, struct dpe_diags *diags)
{
	for (unsigned i = 0; i < search->ncopies; i++) {
		uint64_t address = search->copies[i].address, offset;
		struct dpe_function *function;

		if (is_found(found, search, address) ||
			!dpe_module_offset(search->module, address, &offset))
			continue;
		if (is_unsafe(search->module, address, offset)) {
			dpe_diag(diags, DPE_ERROR, site->place,
				"this line begins with a nop that cannot be observed without harm: "
				"take another line");
			continue;
		}
		function = dpe_arena_alloc(arena, sizeof(*function));
		*function = (struct dpe_function){
			.name = search->file, .address = address, .offset = offset};
		*DPE_GROW(found->at, found->count, found->cap) =
			(struct dpe_target_function){
				.module = search->module, .function = function};
	}
}

/* ---- missing lines ------------------------------------------------------------------- */

static void report_missing(const struct line_search *search, const struct dpe_modules *modules,
	const struct dpe_plan_site *site, enum dpe_severity missing, struct dpe_diags *diags)
{
	const char *program = search->module->name;

	if (!search->has_lines)
		dpe_diag(diags, missing, site->place,
			"%s has no debug information, which gives the addresses of lines: "
			"compile it with -g",
			program);
	else if (!search->has_file)
		dpe_diag(diags, missing, site->place, "no file '%.*s' in %s or its libraries",
			(int)search->len, search->file, program);
	else if (search->below && search->above)
		dpe_diag(diags, DPE_ERROR, site->place,
			"line %d has no code; the nearest lines that have some are %d and %d",
			search->line, search->below, search->above);
	else
		dpe_diag(diags, DPE_ERROR, site->place,
			"line %d has no code; the nearest line that has some is %d", search->line,
			search->below ? search->below : search->above);
	if (!search->has_lines || !search->has_file)
		dpe_late_note(modules, missing, site, diags);
}

static bool is_well_formed(const struct dpe_plan_site *site, struct dpe_diags *diags)
{
	if (site->phased)
		dpe_diag(diags, DPE_ERROR, site->place,
			"a line is neither entered nor left: write it without .enter or .exit");
	else if (site->nargs)
		dpe_diag(diags, DPE_ERROR, site->place, "a line has no arguments");
	return !site->phased && !site->nargs;
}

/* ---- all --------------------------------------------------------------------------------- */

static void search_module(struct line_search *search, struct found_lines *found, const struct dpe_plan_site *site,
	struct dpe_arena *arena, struct dpe_diags *diags)
{
	search->has_lines = dpe_line_each(search->module, add_row, search);
	take_copies(found, search, site, arena, diags);
	free(search->copies);
}

static struct line_search search_for(const char *name, struct dpe_module *module)
{
	const char *colon = strrchr(name, ':');

	return (struct line_search){
		.module = module,
		.file = name,
		.len = (size_t)(colon - name),
		.line = (int)strtol(colon + 1, NULL, 10),
	};
}

unsigned dpe_resolve_line(struct dpe_modules *modules, const struct dpe_plan_site *site,
	const struct dpe_names *names, struct dpe_arena *arena, struct dpe_diags *diags,
	struct dpe_target_function **out)
{
	const char *name = dpe_name_text(names, site->name);
	struct line_search of_program = search_for(name, modules->at[0]);
	struct found_lines found = {0};

	*out = NULL;
	if (!is_well_formed(site, diags))
		return 0;
	for (unsigned pass = 0; pass < 2 && !of_program.has_file; pass++) {
		for (unsigned i = 0; i < modules->count; i++) {
			struct line_search search = search_for(name, modules->at[i]);

			if (search.module->program == pass)
				continue;
			search_module(&search, &found, site, arena, diags);
			if (!pass || (search.has_file && !of_program.has_file))
				of_program = search;
		}
	}
	if (!found.count && !site->optional)
		report_missing(&of_program, modules, site, dpe_late_severity(modules, site, names), diags);
	*out = found.at;
	return found.count;
}
