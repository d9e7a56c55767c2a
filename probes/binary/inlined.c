/* Inlined calls of a function, which may have code of its own nevertheless. */
#include "probes/binary/module.h"

#include "probes/binary/demangle.h"
#include "probes/binary/dwarf.h"
#include "probes/limits.h"

#include <stdlib.h>
#include <string.h>

struct search {
	const char *symbol;
	const void *origin; /* the abstract origin of all its copies, or NULL */
	bool likely;        /* some unit describes it apart from its code */
	bool everywhere;    /* search all units, not only likely ones */
	const char *caller;
};

static bool is_meant(const struct search *search, Dwarf_Die *die)
{
	Dwarf_Attribute attribute;
	const char *name =
		dwarf_formstring(dwarf_attr_integrate(die, DW_AT_linkage_name, &attribute));

	if (!name)
		name = dwarf_diename(die);
	return name && !strcmp(name, search->symbol);
}

/* False if the DIE has no abstract origin. */
static bool find_origin(Dwarf_Die *die, Dwarf_Die *origin)
{
	Dwarf_Attribute attribute;

	return dwarf_formref_die(dwarf_attr(die, DW_AT_abstract_origin, &attribute), origin);
}

static bool has_code(Dwarf_Die *die)
{
	Dwarf_Addr base, start, end;

	return dwarf_ranges(die, 0, &base, &start, &end) > 0 && start < end;
}

static bool is_call(const struct search *search, Dwarf_Die *die)
{
	Dwarf_Die origin;

	if (dwarf_tag(die) != DW_TAG_inlined_subroutine || !find_origin(die, &origin))
		return false;
	return (origin.addr == search->origin || is_meant(search, &origin)) && has_code(die);
}

/* Symbols of destructors that differ in their kind at most: "_ZN1sD0Ev", which frees the object, "_ZN1sD1Ev", "_ZN1sD2Ev" of bases. */
static bool is_same_destructor(const char *a, const char *b)
{
	size_t at = 0;

	while (a[at] && a[at] == b[at])
		at++;
	return (!a[at] && !b[at]) || (at && a[at - 1] == 'D' && a[at] && b[at] && !strcmp(a + at + 1, b + at + 1));
}

static const char *symbol_of(Dwarf_Die *die)
{
	Dwarf_Attribute attribute;
	const char *name = dwarf_formstring(dwarf_attr_integrate(die, DW_AT_linkage_name, &attribute));

	return name ? name : "";
}

/* The function is the destructor that frees the object, and is observed as the one that it contains. */
static bool is_deletion(const struct search *search, Dwarf_Die *function)
{
	const char *symbol = symbol_of(function);
	size_t len = strlen(symbol);

	return len > 4 && !strcmp(symbol + len - 4, "D0Ev") && is_same_destructor(symbol, search->symbol);
}

/* Searches a scope for calls; `function` is the function with code that contains it, or NULL. */
static bool find_call(struct search *search, Dwarf_Die *scope, Dwarf_Die *function, unsigned depth)
{
	Dwarf_Die child;

	if (depth == DPE_DWARF_DEEP || dwarf_child(scope, &child))
		return false;
	do {
		int tag = dwarf_tag(&child);

		if (function && is_call(search, &child) && !is_deletion(search, function)) {
			search->caller = dwarf_diename(function);
			return search->caller;
		}
		if (dpe_dwarf_is_scope(&child) &&
			find_call(search, &child, tag == DW_TAG_subprogram ? &child : function, depth + 1))
			return true;
	} while (!dwarf_siblingof(&child, &child));
	return false;
}

/* The compiler describes a function apart from its code if it inlined it, or optimised it across units. */
static bool is_likely(struct search *search, Dwarf_Die *scope, unsigned depth)
{
	Dwarf_Die child, origin;

	if (depth == DPE_DWARF_DEEP || dwarf_child(scope, &child))
		return false;
	do {
		int tag = dwarf_tag(&child);

		if (tag == DW_TAG_subprogram && is_meant(search, &child) &&
			(dwarf_func_inline(&child) || find_origin(&child, &origin)))
			return true;
		if (tag != DW_TAG_subprogram && dpe_dwarf_is_scope(&child) && is_likely(search, &child, depth + 1))
			return true;
	} while (!dwarf_siblingof(&child, &child));
	return false;
}

static void search_calls(void *context, Dwarf_Die *unit, Dwarf_Die *scope, uint64_t bias)
{
	struct search *search = context;
	bool likely = search->everywhere;

	(void)unit, (void)bias;
	if (search->caller)
		return;
	if (!likely)
		likely = is_likely(search, scope, 0);
	search->likely |= likely;
	if (likely)
		find_call(search, scope, NULL, 0);
}

/* After link-time optimisation the calls may be in any unit: all are searched if the likely ones have none. */
const char *dpe_inlined_into(struct dpe_module *module, const struct dpe_function *function)
{
	struct search search = {.symbol = function->name};
	Dwarf_Die die, origin;

	if (dpe_dwarf_function(module, function->address, &die) && find_origin(&die, &origin)) {
		search.origin = origin.addr;
		search.likely = true;
	}
	dpe_dwarf_each_unit(module, search_calls, &search);
	search.everywhere = true;
	if (search.likely && !search.caller)
		dpe_dwarf_each_unit(module, search_calls, &search);
	return search.caller;
}

static bool contains_destructor(Dwarf_Die *scope, const char *symbol, const void *origin, unsigned depth)
{
	Dwarf_Die child, called;

	if (depth == DPE_DWARF_DEEP || dwarf_child(scope, &child))
		return false;
	do {
		if (dwarf_tag(&child) == DW_TAG_inlined_subroutine && find_origin(&child, &called) && has_code(&child) &&
			(called.addr == origin || is_same_destructor(symbol_of(&called), symbol)))
			return true;
		if (dpe_dwarf_is_scope(&child) && contains_destructor(&child, symbol, origin, depth + 1))
			return true;
	} while (!dwarf_siblingof(&child, &child));
	return false;
}

bool dpe_inlined_destructor(struct dpe_module *module, const struct dpe_function *function)
{
	Dwarf_Die die, origin;

	if (!dpe_dwarf_function(module, function->address, &die))
		return false;
	return contains_destructor(&die, function->name, find_origin(&die, &origin) ? origin.addr : NULL, 0);
}

struct described {
	const char *scope, *name;
	bool (*is)(void *context, Dwarf_Die *die);
	bool found;
};

/* A template's instances are called f<int>. */
static bool has_name(Dwarf_Die *die, const char *wanted)
{
	const char *name = dwarf_diename(die);
	size_t len = strlen(wanted);

	return name && !strncmp(name, wanted, len) && (!name[len] || name[len] == '<');
}

/* "depot::look", from the scopes that contain it: static functions of C++ have no linkage name. The caller's. */
static char *scoped_name(Dwarf_Die *die)
{
	struct dpe_text name = {0};
	Dwarf_Attribute attribute;
	Dwarf_Die declared, *scopes;
	bool elsewhere = dwarf_formref_die(dwarf_attr(die, DW_AT_specification, &attribute), &declared);
	int count = dwarf_getscopes_die(elsewhere ? &declared : die, &scopes);

	for (int i = count - 1; i > 0; i--) {
		int tag = dwarf_tag(&scopes[i]);
		const char *scope = dwarf_diename(&scopes[i]);

		if (scope && (tag == DW_TAG_namespace || tag == DW_TAG_class_type || tag == DW_TAG_structure_type))
			dpe_text_printf(&name, "%s::", scope);
	}
	if (count > 0)
		free(scopes);
	dpe_text_puts(&name, dwarf_diename(die));
	return name.at;
}

static bool is_in_scope(Dwarf_Die *die, const struct described *search)
{
	Dwarf_Attribute attribute;
	const char *symbol = dwarf_formstring(dwarf_attr_integrate(die, DW_AT_linkage_name, &attribute));
	char *base = symbol ? dpe_demangle_base(symbol) : scoped_name(die);
	bool so = base && dpe_demangled_is(base, search->scope, search->name);

	free(base);
	return so;
}

static bool is_only_inlined(void *context, Dwarf_Die *die)
{
	const struct described *search = context;

	return dwarf_func_inline(die) && has_name(die, search->name) &&
	       (!*search->scope || is_in_scope(die, search));
}

static bool is_virtual(void *context, Dwarf_Die *die)
{
	const struct described *search = context;

	return *search->scope && dwarf_hasattr(die, DW_AT_virtuality) && has_name(die, search->name) && is_in_scope(die, search);
}

static void search_scope(void *context, Dwarf_Die *scope)
{
	struct described *search = context;

	search->found = search->found || dpe_dwarf_each_subprogram(scope, 0, search->is, search);
}

bool dpe_inlined_everywhere(struct dpe_module *module, const char *scope, const char *name)
{
	struct described search = {.scope = scope, .name = name, .is = is_only_inlined};

	dpe_dwarf_each_scope(module, search_scope, &search);
	return search.found;
}

bool dpe_only_virtual(struct dpe_module *module, const char *scope, const char *name)
{
	struct described search = {.scope = scope, .name = name, .is = is_virtual};

	dpe_dwarf_each_scope(module, search_scope, &search);
	return search.found;
}
