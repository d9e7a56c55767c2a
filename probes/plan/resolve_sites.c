/* Finds functions by name in the symbol tables, and explains missing ones. */
#include "probes/plan/resolve_sites.h"

#include "probes/code/code.h"
#include "probes/limits.h"
#include "probes/plan/late_sites.h"

#include <stdlib.h>
#include <string.h>

struct function_search {
	struct dpe_modules *modules;
	const struct dpe_plan_site *site;
	const char *name, *module; /* module "": all */
	struct dpe_diags *diags;
	struct dpe_target_function *found;
	unsigned nfound, capfound;
	bool ambiguous; /* several functions match, which was reported */
	enum dpe_severity missing; /* severity of not finding any */
	/* An IFUNC of that name whose implementation is not known, or NULL. */
	const struct dpe_function *ifunc;
	struct dpe_module *ifunc_module;
};

static bool is_searched(const struct function_search *search, const struct dpe_module *module)
{
	return !*search->module || dpe_module_is(module, search->module);
}

/* A name without module refers to all functions of the program, and to exported ones and events of libraries. */
static bool is_reached(const struct function_search *search, const struct dpe_module *module,
	const struct dpe_function *function)
{
	return function->exported || function->is_event || module->program || *search->module;
}

static bool has_module(const struct function_search *search)
{
	for (unsigned i = 0; i < search->modules->count; i++)
		if (is_searched(search, search->modules->at[i]))
			return true;
	return false;
}

/* What precedes :: is a class or namespace. */
static bool names_class(const struct function_search *search)
{
	return *search->module && !has_module(search);
}

/* The same for functions without code. */
static bool reaches_all(const struct function_search *search, const struct dpe_module *module)
{
	if (names_class(search))
		return module->program;
	return is_searched(search, module) && (module->program || *search->module);
}

/* ---- found functions ----------------------------------------------------------------------- */

static bool is_found(const struct function_search *search, const struct dpe_module *module, uint64_t offset)
{
	for (unsigned i = 0; i < search->nfound; i++)
		if (search->found[i].module == module &&
			search->found[i].function->offset == offset)
			return true;
	return false;
}

static void add_found(
	struct function_search *search, struct dpe_module *module, const struct dpe_function *function)
{
	if (!is_found(search, module, function->offset))
		*DPE_GROW(search->found, search->nfound, search->capfound) =
			(struct dpe_target_function){.module = module, .function = function};
}

static void add_chosen(
	struct function_search *search, struct dpe_module *module, const struct dpe_function *chooser)
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
static void search_module(struct function_search *search, struct dpe_module *module)
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

static void search_all(struct function_search *search)
{
	struct dpe_module *program = dpe_modules_program(search->modules);

	if (program)
		search_module(search, program);
	for (unsigned i = 0; i < search->modules->count; i++)
		if (search->modules->at[i] != program)
			search_module(search, search->modules->at[i]);
}

/* ---- names in the source of C++ and Rust --------------------------------------------- */

/* The destructor of `delete`, which calls the one of the object, or contains it. */
static bool deletes(const char *symbol)
{
	size_t len = strlen(symbol);

	return len > 4 && !strcmp(symbol + len - 4, "D0Ev");
}

/* A name that only quotes can contain, such as "box<int>::open(int)" or "operator<", or a destructor without its class. */
static bool is_written_out(const struct function_search *search)
{
	const char *name = search->name;

	return strpbrk(name, "<(") || strstr(name, "::") || (!*search->module && (*name == '~' || dpe_names_operator(name)));
}

static bool has_source_name(const struct function_search *search, const char *symbol, bool by_class)
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

static void search_sources_of(struct function_search *search, struct dpe_module *module, bool by_class)
{
	unsigned count;
	const struct dpe_function *functions = dpe_module_functions(module, &count);

	for (unsigned i = 0; i < count; i++) {
		if (!functions[i].exported && !module->program && (by_class || !*search->module))
			continue;
		if (functions[i].is_ifunc || !has_source_name(search, functions[i].name, by_class) ||
			is_found(search, module, functions[i].offset))
			continue;
		if (!deletes(functions[i].name) || dpe_inlined_destructor(module, &functions[i]))
			*DPE_GROW(search->found, search->nfound, search->capfound) =
				(struct dpe_target_function){
					.module = module,
					.function = &functions[i],
					.by_class = by_class};
	}
}

static bool differ(const struct function_search *search, unsigned a, unsigned b, bool parameters)
{
	char *first = dpe_demangle(search->found[a].function->name, parameters);
	char *second = dpe_demangle(search->found[b].function->name, parameters);
	bool other = !first || !second || strcmp(first, second);

	free(first);
	free(second);
	return other;
}

/* Symbols with the same signature are one function: a constructor has several. */
static bool is_other(const struct function_search *search, unsigned a, unsigned b)
{
	return differ(search, a, b, true);
}

/* Names that differ in their template arguments: the name of the template means all of its instances. */
static bool is_instance(const struct function_search *search, unsigned a, unsigned b)
{
	char *first = dpe_demangle_base(search->found[a].function->name);
	char *second = dpe_demangle_base(search->found[b].function->name);
	bool same = first && second && !strcmp(first, second);

	free(first);
	free(second);
	return same && differ(search, a, b, false);
}

static bool is_ambiguous(const struct function_search *search, unsigned of)
{
	for (unsigned i = 0; i < of; i++)
		if (is_other(search, i, of) && !is_instance(search, i, of))
			return true;
	return false;
}

static void note_candidate(const struct function_search *search, unsigned at)
{
	const char *symbol = search->found[at].function->name;
	char *readable = dpe_demangle(symbol, true);

	dpe_diag(search->diags, DPE_NOTE, search->site->place, "\"%s\"", readable ? readable : symbol);
	free(readable);
}

static bool is_new(const struct function_search *search, unsigned at)
{
	for (unsigned i = 0; i < at; i++)
		if (!is_other(search, i, at))
			return false;
	return true;
}

static void report_ambiguous(const struct function_search *search)
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

static bool are_ambiguous(const struct function_search *search)
{
	for (unsigned i = 1; i < search->nfound; i++)
		if (is_ambiguous(search, i))
			return true;
	return false;
}

/* Without those of libraries, if the program has one: an operator of its own is not meant to be that of a string. */
static void keep_those_of_program(struct function_search *search)
{
	unsigned kept = 0;

	for (unsigned i = 0; i < search->nfound; i++)
		if (search->found[i].module->program)
			search->found[kept++] = search->found[i];
	search->nfound = kept ? kept : search->nfound;
}

/* What orders does so with all parameters: of an optional site all functions of the name are observed. */
static void search_sources(struct function_search *search, bool by_class)
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
static void search_names(struct function_search *search)
{
	search_all(search);
	if (!search->nfound && !search->ifunc)
		search_sources(search, false);
	if (!search->nfound && !search->ifunc && !search->ambiguous && *search->module)
		search_sources(search, true);
}

/* ---- functions that are not observed completely ------------------------------------- */

/* The symbol without what the compiler adds for a clone; NULL if it is none. The caller's to free. */
static char *original_of(const char *symbol)
{
	static const char *const added[] = {".constprop.", ".isra.", ".part.", ".llvm."};
	const char *first = NULL;

	if (!strchr(symbol, '.'))
		return NULL;
	for (unsigned i = 0; i < sizeof(added) / sizeof(*added); i++) {
		const char *at = strstr(symbol, added[i]);

		if (at && (!first || at < first))
			first = at;
	}
	return first ? dpe_xasprintf("%.*s", (int)(first - symbol), symbol) : NULL;
}

static bool is_meant(const struct function_search *search, const char *symbol)
{
	if (!search->nfound)
		return !strcmp(symbol, search->name) ||
		       (!deletes(symbol) && has_source_name(search, symbol, names_class(search)));
	for (unsigned i = 0; i < search->nfound; i++)
		if (!strcmp(search->found[i].function->name, symbol))
			return true;
	return false;
}

/* A clone of the function that the compiler made for some of its calls, or all. */
static const char *find_clone(const struct function_search *search)
{
	for (unsigned i = 0; i < search->modules->count; i++) {
		struct dpe_module *module = search->modules->at[i];
		unsigned count;
		const struct dpe_function *functions = dpe_module_functions(module, &count);

		for (unsigned j = 0; j < count && reaches_all(search, module); j++) {
			char *original = original_of(functions[j].name);
			bool so = original && is_meant(search, original);

			free(original);
			if (so)
				return functions[j].name;
		}
	}
	return NULL;
}

static void warn_of_clones(const struct function_search *search)
{
	const char *clone = find_clone(search);

	if (clone)
		dpe_diag(search->diags, DPE_WARNING, search->site->place,
			"the compiler made the clone '%s' of '%s' for some of the calls: these are not seen",
			clone, search->name);
}

/* The name of a function that contains this one, the caller's to free; NULL: there is none. */
static char *find_container(const struct dpe_target_function *target)
{
	const char *caller = dpe_inlined_into(target->module, target->function), *thunk;
	char *name;

	if (caller)
		return dpe_xstrdup(caller);
	thunk = dpe_code_thunk_of(target->module, target->function);
	name = thunk ? dpe_demangle(thunk, true) : NULL;
	return thunk && !name ? dpe_xstrdup(thunk) : name;
}

/* Of libraries only the ones named in the rule: other inlined calls within libraries do not matter. */
static void warn_of_inlined(const struct function_search *search)
{
	for (unsigned i = 0; i < search->nfound; i++) {
		const struct dpe_target_function *target = &search->found[i];
		char *container = reaches_all(search, target->module) ? find_container(target) : NULL;

		if (!container)
			continue;
		dpe_diag(search->diags, DPE_WARNING, search->site->place,
			"the compiler inlined '%s', in '%s' for one: such calls are not seen; "
			"declare it __attribute__((noinline)) to observe all",
			search->name, container);
		free(container);
		return;
	}
}

/* An event without an argument that the rules ask for is no match. */
static void check_arguments(const struct function_search *search)
{
	struct dpe_arena *arena = dpe_arena_new();
	unsigned wanted = search->site->nargs, fewest = wanted, most = 0;

	for (unsigned i = 0; i < search->nfound; i++) {
		const struct dpe_target_function *target = &search->found[i];
		unsigned count = dpe_signature_count(
			dpe_signature_of(target->module, target->function, wanted, arena));

		fewest = count < fewest ? count : fewest;
		most = count > most ? count : most;
	}
	dpe_arena_free(arena);
	if (fewest < wanted)
		dpe_diag(search->diags, most < wanted ? DPE_ERROR : DPE_WARNING, search->site->place,
			"'%s' has %u argument%s, and the rules ask for %u", search->name, fewest,
			fewest == 1 ? "" : "s", wanted);
}

/* ---- missing functions ------------------------------------------------------------------- */

static void list_modules(const struct function_search *search, struct dpe_text *to)
{
	for (unsigned i = 0; i < search->modules->count; i++)
		dpe_text_printf(to, "%s%s", i ? ", " : "", search->modules->at[i]->name);
}

static bool note_nearest(const struct function_search *search)
{
	const char *best[DPE_NEAREST_FUNCTIONS];
	struct dpe_arena *arena = dpe_arena_new();
	unsigned nbest = dpe_nearest_functions(search->modules, search->module, search->name, best, arena);

	if (nbest == 1)
		dpe_diag(search->diags, DPE_NOTE, search->site->place, "did you mean '%s'?",
			best[0]);
	else if (nbest == 2)
		dpe_diag(search->diags, DPE_NOTE, search->site->place, "did you mean '%s' or '%s'?",
			best[0], best[1]);
	else if (nbest)
		dpe_diag(search->diags, DPE_NOTE, search->site->place,
			"did you mean '%s', '%s' or '%s'?", best[0], best[1], best[2]);
	dpe_arena_free(arena);
	return nbest;
}

static bool note_optimised(const struct function_search *search)
{
	const char *clone = find_clone(search);

	if (clone) {
		dpe_diag(search->diags, DPE_NOTE, search->site->place,
			"the compiler made the clone '%s' of it, whose arguments may differ: declare it "
			"__attribute__((noipa)) to observe it",
			clone);
		return true;
	}
	for (unsigned i = 0; i < search->modules->count; i++) {
		struct dpe_module *module = search->modules->at[i];

		if (!reaches_all(search, module) || !dpe_inlined_everywhere(module, names_class(search) ? search->module : "", search->name))
			continue;
		dpe_diag(search->diags, DPE_NOTE, search->site->place,
			"the compiler inlined it everywhere in %s: to observe it, compile with -fno-inline, or "
			"declare it __attribute__((noinline))",
			module->name);
		return true;
	}
	return false;
}

/* `operator()`, read as the event "operator" without arguments. */
static bool note_operator(const struct function_search *search)
{
	if (strcmp(search->name, "operator") != 0)
		return false;
	dpe_diag(search->diags, DPE_NOTE, search->site->place, "the name of an operator is written in quotes: \"%s%soperator()\"",
		search->module, *search->module ? "::" : "");
	return true;
}

static void report_no_module(const struct function_search *search)
{
	struct dpe_text names = {0};

	list_modules(search, &names);
	dpe_diag(search->diags, search->missing, search->site->place,
		"no function '%s::%s', and no program or library '%s' in the target, only: %s",
		search->module, search->name, search->module, names.at ? names.at : "");
	if (!note_operator(search) && !note_optimised(search) && !note_nearest(search) && search->missing == DPE_ERROR)
		dpe_diag(search->diags, DPE_NOTE, search->site->place,
			"a library that is loaded later can be named: --library=FILE");
	dpe_text_free(&names);
}

static void report_function(const struct function_search *search)
{
	const struct dpe_module *program = dpe_modules_program(search->modules);

	if (*search->module)
		dpe_diag(search->diags, search->missing, search->site->place, "no function '%s' in %s",
			search->name, search->module);
	else
		dpe_diag(search->diags, search->missing, search->site->place,
			"no function '%s' in %s or its libraries", search->name,
			program ? program->name : "the program");
}

/* The name may be that of a method without its class. */
static bool note_member(const struct function_search *search)
{
	for (unsigned i = 0; i < search->modules->count; i++) {
		struct dpe_module *module = search->modules->at[i];
		unsigned count;
		const struct dpe_function *functions = dpe_module_functions(module, &count);

		for (unsigned j = 0; j < count && reaches_all(search, module); j++) {
			char *base = strstr(functions[j].name, search->name)
					     ? dpe_demangle_base(functions[j].name)
					     : NULL;
			const char *last = base ? strstr(base, "::") : NULL, *class = base;

			for (const char *next; last && (next = strstr(last + 2, "::")); last = next)
				class = last + 2;
			if (last && !strcmp(last + 2, search->name)) {
				dpe_diag(search->diags, DPE_NOTE, search->site->place,
					"%s has '%s': to observe it, write %s", module->name, base,
					class);
				free(base);
				return true;
			}
			free(base);
		}
	}
	return false;
}

static bool note_other_module(const struct function_search *search)
{
	for (unsigned i = 0; i < search->modules->count; i++) {
		const struct dpe_module *module = search->modules->at[i];
		unsigned count;

		if (!dpe_module_find(search->modules->at[i], search->name, &count))
			continue;
		if (*search->module)
			dpe_diag(search->diags, DPE_NOTE, search->site->place, "%s has a '%s'",
				module->name, search->name);
		else
			dpe_diag(search->diags, DPE_NOTE, search->site->place,
				"%s has a static '%s': to observe it, write %.*s::%s", module->name,
				search->name, (int)strcspn(module->name, ".-"), module->name,
				search->name);
		return true;
	}
	return false;
}

static bool note_stripped(const struct function_search *search)
{
	bool stripped = false;

	for (unsigned i = 0; i < search->modules->count; i++) {
		struct dpe_module *module = search->modules->at[i];
		unsigned count;

		dpe_module_functions(module, &count);
		if (!module->stripped || !reaches_all(search, module))
			continue;
		dpe_diag(search->diags, DPE_NOTE, search->site->place,
			"%s has no symbols (it is stripped, and no debug file of it is installed)", module->name);
		stripped = true;
	}
	return stripped;
}

static bool note_variable(const struct function_search *search)
{
	struct dpe_module *program = dpe_modules_program(search->modules);
	struct dpe_variable variable;
	char *problem = program && !*search->module ? dpe_variable_find(program, search->name, &variable)
						    : dpe_xstrdup("");

	free(problem);
	if (!problem)
		dpe_diag(search->diags, DPE_NOTE, search->site->place, "it is a variable: its accesses are written [%s]",
			search->name);
	return !problem;
}

static void report_ifunc(const struct function_search *search)
{
	const char *why = "";

	dpe_ifunc_chosen(search->ifunc_module, search->ifunc, &why);
	dpe_diag(search->diags, DPE_ERROR, search->site->place,
		"the implementation of '%s' in %s is selected when the program loads (IFUNC), and %s",
		search->name, search->ifunc_module->name, why);
}

static void report_missing(const struct function_search *search)
{
	bool nearest;

	if (search->ifunc) {
		report_ifunc(search);
		return;
	}
	if (!has_module(search)) {
		report_no_module(search);
		return;
	}
	report_function(search);
	if (note_operator(search) || note_optimised(search) || note_other_module(search) || note_member(search) ||
		note_variable(search))
		return;
	nearest = note_nearest(search);
	if (!note_stripped(search) && !nearest)
		dpe_diag(search->diags, DPE_NOTE, search->site->place, "'dpe list' prints the names that the program has");
}

unsigned dpe_resolve_site(struct dpe_modules *modules, const struct dpe_plan_site *site,
	const struct dpe_names *names, struct dpe_diags *diags, struct dpe_target_function **out)
{
	struct function_search search = {
		.modules = modules,
		.site = site,
		.name = dpe_name_text(names, site->name),
		.module = dpe_name_text(names, site->module),
		.diags = diags,
	};

	search_names(&search);
	*out = search.found;
	if (!search.nfound && !site->optional && !search.ambiguous) {
		search.missing = dpe_late_severity(modules, site, names);
		report_missing(&search);
		dpe_late_note(modules, search.missing, site, diags);
	}
	if (search.nfound && !site->optional) {
		warn_of_clones(&search);
		warn_of_inlined(&search);
		check_arguments(&search);
	}
	return search.nfound;
}
