/* list_functions: the functions that can be observed, with their arguments where these are known. */
#include "probes/binary/demangle.h"
#include "probes/binary/dwarf.h"
#include "probes/binary/ifunc.h"
#include "probes/binary/lines.h"
#include "probes/live.h"
#include "probes/binary/prototypes.h"
#include "probes/binary/usdt.h"

#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct listing {
	const char *pattern; /* NULL: all */
	void (*line)(void *context, const char *text);
	void *context;
	unsigned count;
	bool placement, emulates_nops;
};

/* ---- one function ------------------------------------------------------------------------ */

static void print_parameters(struct dpe_text *to, Dwarf_Die *function)
{
	const char *between = "";
	Dwarf_Die child;

	if (dwarf_child(function, &child))
		return;
	do {
		if (dwarf_tag(&child) == DW_TAG_unspecified_parameters)
			dpe_text_printf(to, "%s...", between);
		if (dwarf_tag(&child) != DW_TAG_formal_parameter)
			continue;
		dpe_text_puts(to, between);
		between = ", ";
		dpe_dwarf_print_declaration(to, &child);
	} while (!dwarf_siblingof(&child, &child));
}

static const char *type_of_letter(char letter)
{
	switch (letter) {
	case 'i':
		return "int";
	case 'u':
		return "unsigned int";
	case 'z':
		return "size_t";
	case 'h':
		return "thread";
	default:
		return "pointer";
	}
}

static void print_prototype(struct dpe_text *to, const struct dpe_prototype *prototype)
{
	for (const char *arg = prototype->args; *arg; arg++)
		dpe_text_printf(
			to, "%s%s", arg == prototype->args ? "" : ", ", type_of_letter(*arg));
}

static void print_signature(
	struct dpe_text *to, struct dpe_module *module, const struct dpe_function *function)
{
	const struct dpe_prototype *prototype = dpe_prototype_find(function->name);
	Dwarf_Die die;

	if (strchr(function->name, '.'))
		return; /* the compiler's copy takes what it likes */
	if (dpe_dwarf_function(module, function->address, &die)) {
		dpe_text_puts(to, "(");
		print_parameters(to, &die);
		dpe_text_puts(to, ")");
	} else if (prototype) {
		dpe_text_puts(to, "(");
		print_prototype(to, prototype);
		dpe_text_puts(to, ")");
	}
}

static void print_function(
	struct dpe_text *to, struct dpe_module *module, const struct dpe_function *function)
{
	char *readable = dpe_demangle(function->name, true);

	dpe_text_printf(to, "%s::%s", module->name, function->name);
	print_signature(to, module, function);
	if (readable)
		dpe_text_printf(to, "  %s", readable);
	free(readable);
}

static void print_line(const struct listing *listing, char *text)
{
	listing->line(listing->context, text);
	free(text);
}

/* Where rules that have its .exit alone observe it. */
static void print_exits(const struct listing *listing, struct dpe_module *module,
	const struct dpe_function *function, const struct dpe_signature *signature,
	struct dpe_arena *arena)
{
	const struct dpe_exit_use use = dpe_exit_use_of(function, signature);
	struct dpe_exits exits =
		dpe_place_exits(module, function, &use, listing->emulates_nops, arena);

	if (exits.reason)
		print_line(listing, dpe_xasprintf("    exit: a return probe: %s", exits.reason));
	for (unsigned i = 0; i < exits.count; i++) {
		const struct dpe_exit_point *point = &exits.points[i];

		print_line(listing, dpe_xasprintf("    exit: +%-4u %-28s %s%s%s",
					    point->entry.distance, point->instruction,
					    point->leaves ? "a return probe: it leaves for another function"
							  : "emulated",
					    *point->when ? ", " : "", point->when));
	}
}

static void print_placement(const struct listing *listing, struct dpe_module *module,
	const struct dpe_function *function)
{
	static const char *const costs[] = {
		[DPE_STEP_EMULATED] = "emulated",
		[DPE_STEP_SINGLE] = "single-stepped",
		[DPE_STEP_UNKNOWN] = "not known",
	};
	struct dpe_arena *arena = dpe_arena_new();
	const struct dpe_signature *signature = dpe_signature_of(module, function, 0, arena);
	struct dpe_placement place;

	dpe_place_entry(module, function,
		&(struct dpe_entry_use){.nwords = dpe_signature_needed(signature)}, listing->emulates_nops, &place);
	print_line(listing, dpe_xasprintf("    +%-3u %-28s %s: %s", place.distance,
				    place.instruction, costs[place.cost], place.reason));
	print_exits(listing, module, function, signature, arena);
	dpe_arena_free(arena);
}

/* ---- all --------------------------------------------------------------------------------- */

/* What the source calls it, whole or without parameters and arguments of templates; of that also
 * without the outer classes and namespaces. */
static bool is_called_so(const char *pattern, const char *symbol)
{
	char *whole = dpe_demangle(symbol, true), *base = whole ? dpe_demangle_base(symbol) : NULL;
	bool so = whole && !fnmatch(pattern, whole, 0);

	for (const char *at = base; at && !so; at = strstr(at, "::") ? strstr(at, "::") + 2 : NULL)
		so = !fnmatch(pattern, at, 0);
	free(whole);
	free(base);
	return so;
}

/* A pattern with "::" is for the whole name, any other for that of the function. */
static bool is_wanted(const struct listing *listing, const struct dpe_module *module,
	const struct dpe_function *function)
{
	char *whole;
	bool wanted;

	if (!listing->pattern || is_called_so(listing->pattern, function->name))
		return true;
	if (!strstr(listing->pattern, "::"))
		return !fnmatch(listing->pattern, function->name, 0);
	whole = dpe_xasprintf("%s::%s", module->name, function->name);
	wanted = !fnmatch(listing->pattern, whole, 0);
	free(whole);
	return wanted;
}

struct lines {
	struct listing *listing;
	struct dpe_module *module;
	char *last; /* a probe may have several places */
};

static void list_usdt(void *context, const struct dpe_usdt *usdt)
{
	struct lines *lines = context;
	const char *pattern = lines->listing->pattern;
	struct dpe_text text = {0};
	bool wanted = true;

	dpe_usdt_print(&text, usdt);
	if (pattern) {
		char *whole = dpe_xasprintf("%.*s", (int)strcspn(text.at, "("), text.at);

		wanted = !fnmatch(pattern, strstr(pattern, "::") ? whole : usdt->name, 0);
		free(whole);
	}
	if (!wanted || (lines->last && !strcmp(lines->last, text.at))) {
		dpe_text_free(&text);
		return;
	}
	lines->listing->line(lines->listing->context, text.at);
	lines->listing->count++;
	free(lines->last);
	lines->last = text.at;
}

static void list_probes(struct listing *listing, struct dpe_module *module)
{
	struct lines lines = {.listing = listing, .module = module};

	dpe_usdt_each(module, list_usdt, &lines);
	free(lines.last);
}

static void list_module(struct listing *listing, struct dpe_module *module)
{
	unsigned count;
	const struct dpe_function *functions = dpe_module_functions(module, &count);

	for (unsigned i = 0; i < count; i++) {
		const struct dpe_function *function = &functions[i];
		struct dpe_text text = {0};

		/* Two versions of one function look alike. */
		if (i && !strcmp(functions[i - 1].name, function->name) &&
			!functions[i - 1].chosen_late)
			continue;
		if (!is_wanted(listing, module, function))
			continue;
		if (function->chosen_late)
			function = dpe_ifunc_chosen(module, function, NULL);
		if (!function)
			continue;
		print_function(&text, module, function);
		listing->line(listing->context, text.at);
		if (listing->placement)
			print_placement(listing, module, function);
		listing->count++;
		dpe_text_free(&text);
	}
}

/* A colon that stands alone is that of a line. */
static bool is_for_lines(const char *pattern)
{
	const char *colon = pattern ? strchr(pattern, ':') : NULL;

	return colon && colon[1] != ':';
}

static void list_line(void *context, const char *name, uint64_t address)
{
	struct lines *lines = context;
	const struct dpe_function *function;
	char *text;

	if (fnmatch(lines->listing->pattern, name, 0))
		return;
	function = dpe_module_function_at(lines->module, address);
	text = dpe_xasprintf(
		"\"%s\" in %s::%s", name, lines->module->name, function ? function->name : "?");
	lines->listing->line(lines->listing->context, text);
	lines->listing->count++;
	free(text);
}

static void list_lines(struct listing *listing, struct dpe_module *module)
{
	struct lines lines = {.listing = listing, .module = module};

	dpe_lines_each(module, list_line, &lines);
}

static bool find_modules(
	struct dpe_modules *modules, const char *program, pid_t pid, struct dpe_diags *diags)
{
	struct dpe_program found;
	bool complete;

	if (!program)
		return dpe_libraries_of_process(modules, pid, diags);
	if (!dpe_program_find(&found, program, diags))
		return false;
	complete = dpe_libraries_of_program(modules, &found, environ, diags);
	dpe_program_free(&found);
	return complete;
}

/* What is missing from the list, and why. */
static void note_stripped(const struct dpe_modules *modules, struct dpe_diags *diags)
{
	for (unsigned i = 0; i < modules->count; i++) {
		if (modules->at[i]->program && modules->at[i]->stripped)
			dpe_diag_at(diags, DPE_NOTE, modules->at[i]->name,
				"its own functions are not known, as it is stripped, and no debug "
				"file of it is installed");
	}
}

static bool emulates_nops(void)
{
	struct dpe_nop_trial trial;
	bool does;

	dpe_nop_trial_begin(&trial);
	does = dpe_nop_trial_answer(&trial);
	dpe_nop_trial_end(&trial);
	return does;
}

int dpe_probes_list(const char *program, pid_t pid, const char *pattern, bool placement,
	const struct dpe_probes_options *options, void (*line)(void *context, const char *text),
	void *context, struct dpe_diags *diags)
{
	struct listing listing = {
		.pattern = pattern,
		.line = line,
		.context = context,
		.placement = placement,
		.emulates_nops = placement && emulates_nops(),
	};
	struct dpe_modules modules = {0};
	bool complete = find_modules(&modules, program, pid, diags) &&
			(!options || dpe_libraries_add(&modules, options->libraries,
					     options->nlibraries, diags));

	for (unsigned i = 0; complete && i < modules.count; i++) {
		if (is_for_lines(pattern))
			list_lines(&listing, modules.at[i]);
		else
			list_module(&listing, modules.at[i]);
		if (!is_for_lines(pattern))
			list_probes(&listing, modules.at[i]);
	}
	if (complete && !listing.count && pattern)
		dpe_diag_at(diags, DPE_ERROR, "dpe list", "no %s matches '%s'",
			is_for_lines(pattern) ? "line with code" : "function", pattern);
	else if (complete && !listing.count)
		dpe_diag_at(diags, DPE_ERROR, "dpe list", "there are no symbols");
	if (complete)
		note_stripped(&modules, diags);
	dpe_modules_free(&modules);
	return listing.count ? 0 : -1;
}
