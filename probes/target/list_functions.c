/* list_functions: the functions that can be observed, with their arguments where these are known. */
#include "probes/target/target.h"

#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct listing {
	const struct dpe_listing *wanted;
	unsigned count;
};

/* ---- one function ------------------------------------------------------------------------ */

static void print_function(
	struct dpe_text *to, struct dpe_module *module, const struct dpe_function *function)
{
	char *readable = dpe_demangle(function->name, true);

	dpe_text_printf(to, "%s::%s", module->name, function->name);
	dpe_signature_print(to, module, function);
	if (readable)
		dpe_text_printf(to, "  %s", readable);
	free(readable);
}

static void print_line(const struct listing *listing, char *text)
{
	listing->wanted->line(listing->wanted->context, text);
	free(text);
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
		&(struct dpe_entry_use){.nwords = dpe_signature_needed(signature)}, &place);
	print_line(listing, dpe_xasprintf("    +%-3u %-28s %s: %s", place.distance,
				    place.instruction, costs[place.cost], place.reason));
	dpe_arena_free(arena);
}

/* ---- all --------------------------------------------------------------------------------- */

/* Its name in the source: complete, as rules may write it, or without parameters and template arguments, or also without
 * the outer classes and namespaces. */
static bool matches_source_name(const char *pattern, const char *symbol)
{
	char *whole = dpe_demangle(symbol, true), *base = whole ? dpe_demangle_base(symbol) : NULL;
	bool so = whole && (!fnmatch(pattern, whole, 0) || dpe_symbol_is_written(symbol, pattern));

	for (const char *at = base; at && !so; at = strstr(at, "::") ? strstr(at, "::") + 2 : NULL)
		so = !fnmatch(pattern, at, 0);
	free(whole);
	free(base);
	return so;
}

/* A pattern with "::" is for the whole name, any other for what follows that. */
static bool matches(const char *pattern, const char *whole, const char *name)
{
	return !pattern || !fnmatch(pattern, strstr(pattern, "::") ? whole : name, 0);
}

static bool is_wanted(const struct listing *listing, const struct dpe_module *module,
	const struct dpe_function *function)
{
	char *whole = dpe_xasprintf("%s::%s", module->name, function->name);
	bool wanted = matches(listing->wanted->pattern, whole, function->name) ||
		      matches_source_name(listing->wanted->pattern, function->name);

	free(whole);
	return wanted;
}

struct probe_lines {
	struct listing *listing;
	char *last; /* a probe may have several places */
};

static void list_usdt(void *context, const struct dpe_usdt *usdt)
{
	struct probe_lines *lines = context;
	struct dpe_text text = {0};
	char *whole;
	bool wanted;

	dpe_usdt_print(&text, usdt);
	whole = dpe_xasprintf("%.*s", (int)strcspn(text.at, "("), text.at);
	wanted = matches(lines->listing->wanted->pattern, whole, usdt->name) &&
		 !(lines->last && !strcmp(lines->last, text.at));
	free(whole);
	if (!wanted) {
		dpe_text_free(&text);
		return;
	}
	lines->listing->wanted->line(lines->listing->wanted->context, text.at);
	lines->listing->count++;
	free(lines->last);
	lines->last = text.at;
}

static void list_probes(struct listing *listing, struct dpe_module *module)
{
	struct probe_lines lines = {.listing = listing};

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

		/* Two versions of a function have the same text. */
		if (i && !strcmp(functions[i - 1].name, function->name) &&
			!functions[i - 1].is_ifunc)
			continue;
		if (!is_wanted(listing, module, function))
			continue;
		if (function->is_ifunc)
			function = dpe_ifunc_chosen(module, function, NULL);
		if (!function)
			continue;
		print_function(&text, module, function);
		listing->wanted->line(listing->wanted->context, text.at);
		if (listing->wanted->placement)
			print_placement(listing, module, function);
		listing->count++;
		dpe_text_free(&text);
	}
}

/* A single colon is that of "file.c:12". */
static bool is_for_lines(const char *pattern)
{
	const char *colon = pattern ? strchr(pattern, ':') : NULL;

	return colon && colon[1] != ':';
}

struct listed_line {
	const char *file; /* its last component */
	int line;
	uint64_t address;
};

struct rows {
	const char *pattern;
	struct listed_line *at;
	unsigned count, cap;
};

static void collect_row(void *context, const struct dpe_line_row *row)
{
	struct rows *rows = context;
	const char *slash = strrchr(row->file, '/'), *file = slash ? slash + 1 : row->file;
	char *name = dpe_xasprintf("%s:%d", file, row->line);

	if (!fnmatch(rows->pattern, name, 0))
		*DPE_GROW(rows->at, rows->count, rows->cap) =
			(struct listed_line){file, row->line, row->address};
	free(name);
}

static int by_line(const void *left, const void *right)
{
	const struct listed_line *a = left, *b = right;
	int order = strcmp(a->file, b->file);

	if (order)
		return order;
	if (a->line != b->line)
		return a->line < b->line ? -1 : 1;
	return a->address < b->address ? -1 : a->address > b->address;
}

static void list_lines(struct listing *listing, struct dpe_module *module)
{
	struct rows rows = {.pattern = listing->wanted->pattern};

	dpe_line_each(module, collect_row, &rows);
	if (rows.count)
		qsort(rows.at, rows.count, sizeof(*rows.at), by_line);
	for (unsigned i = 0; i < rows.count; i++) {
		const struct listed_line *row = &rows.at[i];
		const struct dpe_function *function;

		if (i && !strcmp(row[-1].file, row->file) && row[-1].line == row->line)
			continue;
		function = dpe_module_function_at(module, row->address);
		print_line(listing, dpe_xasprintf("\"%s:%d\" in %s::%s", row->file, row->line,
					    module->name, function ? function->name : "?"));
		listing->count++;
	}
	free(rows.at);
}

static bool find_modules(
	struct dpe_modules *modules, const char *program, pid_t pid, struct dpe_diags *diags)
{
	struct dpe_program found;
	bool complete;

	if (!program)
		return dpe_libraries_of_process(modules, pid, NULL, diags);
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
				"its own functions are not known, except exported ones: it is stripped, and no debug "
				"file of it is installed");
	}
}

int dpe_probes_list(const struct dpe_listing *wanted, struct dpe_diags *diags)
{
	struct listing listing = {wanted, 0};
	struct dpe_modules modules = {0};
	const char *pattern = wanted->pattern;
	bool complete = find_modules(&modules, wanted->program, wanted->pid, diags) &&
			dpe_libraries_add(&modules, wanted->libraries, wanted->nlibraries, diags);

	for (unsigned i = 0; complete && i < modules.count; i++) {
		if (is_for_lines(pattern))
			list_lines(&listing, modules.at[i]);
		else
			list_module(&listing, modules.at[i]);
		if (!is_for_lines(pattern))
			list_probes(&listing, modules.at[i]);
	}
	if (complete && !listing.count && pattern)
		dpe_diag_at(diags, DPE_ERROR, "dpe list", "no %s matches '%s'%s",
			is_for_lines(pattern) ? "line with code" : "function", pattern,
			strpbrk(pattern, "*?") ? "; without a pattern all are listed"
					       : "; in a pattern * stands for any text, as in '*queue*'");
	else if (complete && !listing.count)
		dpe_diag_at(diags, DPE_ERROR, "dpe list", "there are no symbols");
	if (complete)
		note_stripped(&modules, diags);
	dpe_modules_free(&modules);
	return listing.count ? 0 : -1;
}
