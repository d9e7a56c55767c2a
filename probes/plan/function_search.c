/* Finds functions by name in the symbol tables. */
#include "probes/plan/function_search.h"

#include <stdlib.h>
#include <string.h>

static bool is_searched(const struct dpe_function_search *search, const struct dpe_module *module)
{
	return !*search->module || dpe_module_is(module, search->module);
}

/* A name without module refers to all functions of the program, and to exported ones and events of libraries. */
static bool is_reached(const struct dpe_function_search *search, const struct dpe_module *module,
	const struct dpe_function *function)
{
	return function->exported || function->is_event || module->program || *search->module;
}

bool dpe_search_has_module(const struct dpe_function_search *search)
{
	for (unsigned i = 0; i < search->modules->count; i++)
		if (is_searched(search, search->modules->at[i]))
			return true;
	return false;
}

bool dpe_search_names_class(const struct dpe_function_search *search)
{
	return *search->module && !dpe_search_has_module(search);
}

bool dpe_search_reaches_all(const struct dpe_function_search *search, const struct dpe_module *module)
{
	if (dpe_search_names_class(search))
		return module->program;
	return is_searched(search, module) && (module->program || *search->module);
}

/* ---- found functions ----------------------------------------------------------------------- */

static bool is_found(const struct dpe_function_search *search, const struct dpe_module *module, uint64_t offset)
{
	for (unsigned i = 0; i < search->nfound; i++)
		if (search->found[i].module == module &&
			search->found[i].function->offset == offset)
			return true;
	return false;
}

static void add_found(
	struct dpe_function_search *search, struct dpe_module *module, const struct dpe_function *function)
{
	if (!is_found(search, module, function->offset))
		*DPE_GROW(search->found, search->nfound, search->capfound) =
			(struct dpe_target_function){.module = module, .function = function};
}

static void add_chosen(
	struct dpe_function_search *search, struct dpe_module *module, const struct dpe_function *chooser)
{
	const struct dpe_function *chosen = dpe_ifunc_chosen(module, chooser, NULL);

	if (chosen) {
		add_found(search, module, chosen);
		return;
	}
	search->ifunc_module = module;
	search->ifunc = chooser;
}

/* All functions of the name are observed: versions of a symbol, and static functions of different source files. */
static void search_module(struct dpe_function_search *search, struct dpe_module *module)
{
	unsigned count;
	const struct dpe_function *functions;

	if (!is_searched(search, module))
		return;
	functions = dpe_module_find(module, search->name, &count);
	for (unsigned i = 0; i < count; i++) {
		if (!is_reached(search, module, &functions[i]))
			continue;
		if (functions[i].is_ifunc)
			add_chosen(search, module, &functions[i]);
		else
			add_found(search, module, &functions[i]);
	}
}

static void search_all(struct dpe_function_search *search)
{
	struct dpe_module *program = dpe_modules_program(search->modules);

	if (program)
		search_module(search, program);
	for (unsigned i = 0; i < search->modules->count; i++)
		if (search->modules->at[i] != program)
			search_module(search, search->modules->at[i]);
}

/* ---- names in the source of C++ and Rust --------------------------------------------- */

bool dpe_symbol_deletes(const char *symbol)
{
	size_t len = strlen(symbol);

	return len > 4 && !strcmp(symbol + len - 4, "D0Ev");
}

/* A name that only quotes can contain, such as "box<int>::open(int)" or "operator<", or a destructor without its class. */
static bool is_written_out(const struct dpe_function_search *search)
{
	const char *name = search->name;

	return strpbrk(name, "<(") || strstr(name, "::") || (!*search->module && (*name == '~' || dpe_names_operator(name)));
}

bool dpe_search_has_source_name(const struct dpe_function_search *search, const char *symbol, bool by_class)
{
	char *base;
	bool so;

	if (is_written_out(search))
		return !by_class && dpe_symbol_is_written(symbol, search->name);
	if (!strstr(symbol, search->name + (*search->name == '~')))
		return false;
	base = dpe_demangle_base(symbol);
	so = base && dpe_demangled_is(base, by_class ? search->module : "", search->name);
	free(base);
	return so;
}

static void search_sources_of(struct dpe_function_search *search, struct dpe_module *module, bool by_class)
{
	unsigned count;
	const struct dpe_function *functions = dpe_module_functions(module, &count);

	for (unsigned i = 0; i < count; i++) {
		if (!functions[i].exported && !module->program && (by_class || !*search->module))
			continue;
		if (functions[i].is_ifunc || !dpe_search_has_source_name(search, functions[i].name, by_class) ||
			is_found(search, module, functions[i].offset))
			continue;
		if (!dpe_symbol_deletes(functions[i].name) || dpe_inlined_destructor(module, &functions[i]))
			*DPE_GROW(search->found, search->nfound, search->capfound) =
				(struct dpe_target_function){
					.module = module,
					.function = &functions[i],
					.by_class = by_class};
	}
}

static bool differ(const struct dpe_function_search *search, unsigned a, unsigned b, bool parameters)
{
	char *first = dpe_demangle(search->found[a].function->name, parameters);
	char *second = dpe_demangle(search->found[b].function->name, parameters);
	bool other = !first || !second || strcmp(first, second);

	free(first);
	free(second);
	return other;
}

/* Symbols with the same signature are one function: a constructor has several. */
static bool is_other(const struct dpe_function_search *search, unsigned a, unsigned b)
{
	return differ(search, a, b, true);
}

/* Names that differ in their template arguments: the name of the template means all of its instances. */
static bool is_instance(const struct dpe_function_search *search, unsigned a, unsigned b)
{
	char *first = dpe_demangle_base(search->found[a].function->name);
	char *second = dpe_demangle_base(search->found[b].function->name);
	bool same = first && second && !strcmp(first, second);

	free(first);
	free(second);
	return same && differ(search, a, b, false);
}

static bool is_ambiguous(const struct dpe_function_search *search, unsigned of)
{
	for (unsigned i = 0; i < of; i++)
		if (is_other(search, i, of) && !is_instance(search, i, of))
			return true;
	return false;
}

static void note_candidate(const struct dpe_function_search *search, unsigned at)
{
	const char *symbol = search->found[at].function->name;
	char *readable = dpe_demangle(symbol, true);

	dpe_diag(search->diags, DPE_NOTE, search->site->place, "\"%s\"", readable ? readable : symbol);
	free(readable);
}

static bool is_new(const struct dpe_function_search *search, unsigned at)
{
	for (unsigned i = 0; i < at; i++)
		if (!is_other(search, i, at))
			return false;
	return true;
}

static void report_ambiguous(const struct dpe_function_search *search)
{
	unsigned listed = 0;

	dpe_diag(search->diags, DPE_ERROR, search->site->place,
		"there is more than one function '%s%s%s': write one of them in quotes, or several with '+'",
		search->module, *search->module ? "::" : "", search->name);
	for (unsigned i = 0; i < search->nfound && listed < DPE_LISTED_CANDIDATES; i++) {
		if (!is_new(search, i))
			continue;
		note_candidate(search, i);
		listed++;
	}
	if (listed == DPE_LISTED_CANDIDATES)
		dpe_diag(search->diags, DPE_NOTE, search->site->place,
			"there may be more of them: dpe list shows all");
}

static bool are_ambiguous(const struct dpe_function_search *search)
{
	for (unsigned i = 1; i < search->nfound; i++)
		if (is_ambiguous(search, i))
			return true;
	return false;
}

/* Without those of libraries, if the program has one: an operator of its own is not meant to be that of a string. */
static void keep_those_of_program(struct dpe_function_search *search)
{
	unsigned kept = 0;

	for (unsigned i = 0; i < search->nfound; i++)
		if (search->found[i].module->program)
			search->found[kept++] = search->found[i];
	search->nfound = kept ? kept : search->nfound;
}

/* What orders does so with all parameters: of an optional site all functions of the name are observed. */
static void search_sources(struct dpe_function_search *search, bool by_class)
{
	for (unsigned i = 0; i < search->modules->count; i++)
		if (by_class || is_searched(search, search->modules->at[i]))
			search_sources_of(search, search->modules->at[i], by_class);
	if (search->site->optional || !are_ambiguous(search))
		return;
	keep_those_of_program(search);
	search->ambiguous = are_ambiguous(search);
	if (!search->ambiguous)
		return;
	report_ambiguous(search);
	free(search->found);
	search->found = NULL;
	search->nfound = search->capfound = 0;
}

/* The name before :: is looked up as a module first, then as a class; in Rust it is often both. */
void dpe_search_names(struct dpe_function_search *search)
{
	search_all(search);
	if (!search->nfound && !search->ifunc)
		search_sources(search, false);
	if (!search->nfound && !search->ifunc && !search->ambiguous && *search->module)
		search_sources(search, true);
}
