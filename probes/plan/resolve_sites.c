/* The functions that a plan site names; explains missing ones, and warns of calls that are not seen. */
#include "probes/plan/function_search.h"

#include "probes/limits.h"
#include "probes/plan/late_sites.h"

#include <stdlib.h>
#include <string.h>

/* ---- functions that are not observed completely ------------------------------------- */

/* The symbol without what the compiler adds for a clone; NULL if it is not a clone. The caller's to free. */
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

static bool is_meant(const struct dpe_function_search *search, const char *symbol)
{
	if (!search->nfound)
		return !strcmp(symbol, search->name) ||
		       (!dpe_symbol_deletes(symbol) && dpe_search_has_source_name(search, symbol, dpe_search_names_class(search)));
	for (unsigned i = 0; i < search->nfound; i++)
		if (!strcmp(search->found[i].function->name, symbol))
			return true;
	return false;
}

/* A clone of the function that the compiler made for some of its calls, or all. */
static const char *find_clone(const struct dpe_function_search *search)
{
	for (unsigned i = 0; i < search->modules->count; i++) {
		struct dpe_module *module = search->modules->at[i];
		unsigned count;
		const struct dpe_function *functions = dpe_module_functions(module, &count);

		for (unsigned j = 0; j < count && dpe_search_reaches_all(search, module); j++) {
			char *original = original_of(functions[j].name);
			bool so = original && is_meant(search, original);

			free(original);
			if (so)
				return functions[j].name;
		}
	}
	return NULL;
}

static void warn_of_clones(const struct dpe_function_search *search)
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

/* A library counts only if the rule names it: other inlined calls within libraries do not matter. */
static void warn_of_inlined(const struct dpe_function_search *search)
{
	for (unsigned i = 0; i < search->nfound; i++) {
		const struct dpe_target_function *target = &search->found[i];
		char *container = dpe_search_reaches_all(search, target->module) ? find_container(target) : NULL;

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
static void check_arguments(const struct dpe_function_search *search)
{
	struct dpe_arena *arena = dpe_arena_new();
	unsigned wanted = search->site->nargs, fewest = wanted, max = 0;

	for (unsigned i = 0; i < search->nfound; i++) {
		const struct dpe_target_function *target = &search->found[i];
		unsigned count = dpe_signature_count(
			dpe_signature_of(target->module, target->function, wanted, arena));

		fewest = count < fewest ? count : fewest;
		max = count > max ? count : max;
	}
	dpe_arena_free(arena);
	if (fewest < wanted)
		dpe_diag(search->diags, max < wanted ? DPE_ERROR : DPE_WARNING, search->site->place,
			"'%s' has %u argument%s, and the rules ask for %u", search->name, fewest,
			fewest == 1 ? "" : "s", wanted);
}

/* ---- missing functions ------------------------------------------------------------------- */

static bool note_nearest(const struct dpe_function_search *search)
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

/* The file whose debug information describes the function so; NULL: none. The name may be written with template arguments. */
static const struct dpe_module *find_described(const struct dpe_function_search *search,
	bool (*is_so)(struct dpe_module *module, const char *scope, const char *name))
{
	char *base = dpe_written_base(search->name), *name = base;
	const char *scope = dpe_search_names_class(search) ? search->module : "";
	const struct dpe_module *found = NULL;

	for (char *colons = strstr(base, "::"); !*search->module && colons; colons = strstr(name, "::")) {
		name = colons + 2;
		scope = base;
	}
	if (name > base)
		name[-2] = '\0';
	for (unsigned i = 0; i < search->modules->count && !found; i++)
		if (dpe_search_reaches_all(search, search->modules->at[i]) && is_so(search->modules->at[i], scope, name))
			found = search->modules->at[i];
	free(base);
	return found;
}

static const struct dpe_module *find_inlined(const struct dpe_function_search *search)
{
	return find_described(search, dpe_inlined_everywhere);
}

/* A function without code, which a vtable alone names. */
static bool note_pure_virtual(const struct dpe_function_search *search, const struct dpe_module *declared)
{
	if (declared)
		dpe_diag(search->diags, DPE_NOTE, search->site->place,
			"it is a virtual function that has no code in %s: observe those of the classes that override it", declared->name);
	return declared;
}

static bool note_optimised(const struct dpe_function_search *search, const struct dpe_module *inlined)
{
	const char *clone = find_clone(search);

	if (clone) {
		dpe_diag(search->diags, DPE_NOTE, search->site->place,
			"the compiler made the clone '%s' of it, whose arguments may differ: declare it "
			"__attribute__((noipa)) to observe it",
			clone);
		return true;
	}
	if (!inlined)
		return false;
	dpe_diag(search->diags, DPE_NOTE, search->site->place,
		"the compiler inlined it everywhere in %s: to observe it, compile with -fno-inline, or "
		"declare it __attribute__((noinline))",
		inlined->name);
	return true;
}

static void report_function(const struct dpe_function_search *search)
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

static bool note_other_module(const struct dpe_function_search *search)
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

static bool note_stripped(const struct dpe_function_search *search)
{
	bool stripped = false;

	for (unsigned i = 0; i < search->modules->count; i++) {
		struct dpe_module *module = search->modules->at[i];
		unsigned count;

		dpe_module_functions(module, &count);
		if (!module->stripped || !dpe_search_reaches_all(search, module))
			continue;
		dpe_diag(search->diags, DPE_NOTE, search->site->place,
			"%s has no symbols (it is stripped, and no debug file of it is installed)", module->name);
		stripped = true;
	}
	return stripped;
}

static bool note_variable(const struct dpe_function_search *search)
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

/* The program or library with functions in the class or namespace; NULL: none. */
static const struct dpe_module *find_scope(const struct dpe_function_search *search)
{
	const struct dpe_module *found = NULL;

	for (unsigned i = 0; i < search->modules->count && !found; i++) {
		struct dpe_module *module = search->modules->at[i];
		unsigned count;
		const struct dpe_function *functions = dpe_module_functions(module, &count);

		for (unsigned j = 0; j < count && !found; j++) {
			char *base = dpe_demangle_base(functions[j].name);
			const char *last = base;

			for (const char *next = base; next && (next = strstr(next, "::"));)
				last = next += 2;
			if (base && dpe_demangled_is(base, search->module, last))
				found = module;
			free(base);
		}
	}
	return found;
}

/* What precedes "::" may be a library that is loaded later. */
static void note_modules(const struct dpe_function_search *search)
{
	struct dpe_text text = {0};

	dpe_text_printf(&text, "no class, namespace, program or library there is called '%s'; the files are ", search->module);
	for (unsigned i = 0; i < search->modules->count; i++)
		dpe_text_printf(&text, "%s%s", i ? ", " : "", search->modules->at[i]->name);
	if (search->missing == DPE_ERROR)
		dpe_text_puts(&text, "; a library that is loaded later can be named: --library=FILE");
	dpe_diag(search->diags, DPE_NOTE, search->site->place, "%s", text.at);
	dpe_text_free(&text);
}

static void note_scope(const struct dpe_function_search *search)
{
	const struct dpe_module *known = find_scope(search);

	if (known)
		dpe_diag(search->diags, DPE_NOTE, search->site->place,
			"%s has other functions of '%s': the compiler may have inlined this one (compile with -fno-inline) or left it out",
			known->name, search->module);
	else
		note_modules(search);
}

static void report_no_module(const struct dpe_function_search *search)
{
	const struct dpe_module *inlined = find_inlined(search), *program = dpe_modules_program(search->modules);
	const struct dpe_module *declared = inlined ? NULL : find_described(search, dpe_only_virtual);

	if (inlined || declared)
		dpe_diag(search->diags, search->missing, search->site->place, "no function '%s::%s' in %s", search->module, search->name,
			inlined ? inlined->name : declared->name);
	else
		dpe_diag(search->diags, search->missing, search->site->place, "no function '%s::%s' in %s or its libraries",
			search->module, search->name, program ? program->name : "the program");
	if (note_pure_virtual(search, declared) || note_optimised(search, inlined) || note_nearest(search))
		return;
	if (!note_stripped(search))
		note_scope(search);
}

static void report_ifunc(const struct dpe_function_search *search)
{
	const char *why = "";

	dpe_ifunc_chosen(search->ifunc_module, search->ifunc, &why);
	dpe_diag(search->diags, DPE_ERROR, search->site->place,
		"the implementation of '%s' in %s is selected when the program loads (IFUNC), and %s",
		search->name, search->ifunc_module->name, why);
}

static void report_missing(const struct dpe_function_search *search)
{
	bool nearest;

	if (search->ifunc) {
		report_ifunc(search);
		return;
	}
	if (!dpe_search_has_module(search)) {
		report_no_module(search);
		return;
	}
	report_function(search);
	if (note_optimised(search, find_inlined(search)) ||
		note_pure_virtual(search, find_described(search, dpe_only_virtual)) || note_other_module(search) || note_variable(search))
		return;
	nearest = note_nearest(search);
	if (!note_stripped(search) && !nearest)
		dpe_diag(search->diags, DPE_NOTE, search->site->place, "'dpe list' prints the names that the program has");
}

unsigned dpe_resolve_site(struct dpe_modules *modules, const struct dpe_plan_site *site,
	const struct dpe_names *names, struct dpe_diags *diags, struct dpe_target_function **out)
{
	struct dpe_function_search search = {
		.modules = modules,
		.site = site,
		.name = dpe_name_text(names, site->name),
		.module = dpe_name_text(names, site->module),
		.diags = diags,
	};

	dpe_search_names(&search);
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

void dpe_sites_note_optimised(struct dpe_modules *modules, const struct dpe_plan_site *site, const struct dpe_names *names,
	struct dpe_diags *diags)
{
	const struct dpe_function_search search = {
		.modules = modules,
		.site = site,
		.name = dpe_name_text(names, site->name),
		.module = dpe_name_text(names, site->module),
		.diags = diags,
	};

	note_optimised(&search, find_inlined(&search));
}
