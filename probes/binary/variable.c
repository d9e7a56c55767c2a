/* Variables, found by ELF symbol; what is inside them, by DWARF type. */
#include "probes/binary/variable.h"

#include "dpe-lang/dpe-lang.h"
#include "probes/binary/demangle.h"
#include "probes/binary/dwarf.h"
#include "probes/binary/elf_symbols.h"
#include "probes/binary/lock_layouts.h"
#include "probes/binary/lvalue.h"

#include <dwarf.h>
#include <stdlib.h>
#include <string.h>

/* ---- symbols ----------------------------------------------------------------------------- */

/* The search for a name of the source: `total`, `bank::total`. */
struct variable_search {
	struct dpe_module *module;
	char *whole;             /* owned */
	char *scope, *last;      /* the text before the last `::`, or "", and that after it; owned */
	const char *part;        /* what follows it in the lvalue, such as ".next" */
	bool exported;           /* only variables that other files can use */
	GElf_Sym found;
	unsigned count; /* of different addresses */
};

static void search_for(
	struct variable_search *search, struct dpe_module *module, const char *name, size_t len)
{
	const char *last = name;

	for (size_t i = 0; i + 2 < len; i++) {
		if (name[i] == ':' && name[i + 1] == ':')
			last = name + i + 2;
	}
	*search = (struct variable_search){
		.module = module,
		.whole = dpe_xasprintf("%.*s", (int)len, name),
		.part = name + len,
		.scope = dpe_xasprintf("%.*s", last > name ? (int)(last - name) - 2 : 0, name),
		.last = dpe_xasprintf("%.*s", (int)(name + len - last), last),
	};
}

static void search_end(struct variable_search *search)
{
	free(search->whole);
	free(search->scope);
	free(search->last);
}

/* Whether the symbol is the name itself, or that of a C++ or Rust variable of that name. */
static bool is_wanted(const struct variable_search *search, const char *name)
{
	size_t len = strlen(search->whole);
	char *base;
	bool is;

	if (!strncmp(name, search->whole, len) && (!name[len] || name[len] == '@'))
		return true;
	base = strstr(name, search->last) ? dpe_demangle_base(name) : NULL;
	is = base && dpe_demangled_is(base, search->scope, search->last);
	free(base);
	return is;
}

/* Whether a symbol of that name is a static variable of some C function: gcc calls it `last.7`, clang `f.last`. */
static bool is_in_function(const char *name, const char *last)
{
	const char *dot = strrchr(name, '.');
	size_t len = strlen(last);

	return dot && (!strcmp(dot + 1, last) || (!strncmp(name, last, len) && name + len == dot &&
							 !dot[1 + strspn(dot + 1, "0123456789")]));
}

/* Whether the variable at the address is declared in the function of that name. */
static bool is_declared_in(struct dpe_module *module, uint64_t address, const char *function)
{
	Dwarf_Die die, *scopes = NULL;
	int count = dpe_dwarf_variable(module, address, &die) ? dwarf_getscopes_die(&die, &scopes) : 0;
	bool is = false;

	for (int i = 0; i < count && !is; i++) {
		const char *name = dwarf_tag(&scopes[i]) == DW_TAG_subprogram ? dwarf_diename(&scopes[i]) : NULL;

		is = name && !strcmp(name, function);
	}
	free(scopes);
	return is;
}

/* Whether the search is for `f::x`, and that is it. */
static bool is_static_of(const struct variable_search *search, const struct dpe_elf_symbol *symbol)
{
	size_t len = strlen(search->scope);

	if (!len || !is_in_function(symbol->name, search->last))
		return false;
	return (!strncmp(symbol->name, search->scope, len) && symbol->name[len] == '.' &&
		       !strcmp(symbol->name + len + 1, search->last)) ||
	       is_declared_in(search->module, symbol->is.st_value, search->scope);
}

static bool is_exported(const GElf_Sym *symbol)
{
	return GELF_ST_BIND(symbol->st_info) != STB_LOCAL &&
	       GELF_ST_VISIBILITY(symbol->st_other) != STV_HIDDEN;
}

static bool match_symbol(void *context, const struct dpe_elf_symbol *symbol)
{
	struct variable_search *search = context;

	if (!dpe_elf_is_variable(symbol) || (search->exported && !is_exported(&symbol->is)) ||
		(!is_wanted(search, symbol->name) && !is_static_of(search, symbol)))
		return false;
	if (search->count && search->found.st_value == symbol->is.st_value)
		return false;
	search->found = symbol->is;
	search->count++;
	return false;
}

/* ---- missing variables -------------------------------------------------------------- */

struct variable_names {
	const char *last; /* the searched name without its scope */
	char *elsewhere;  /* a variable of that name in another scope; owned; NULL: none */
	const char *unsupported; /* what the name is, where that cannot be observed; NULL: unknown */
	char **at;        /* all variables of the file; owned */
	unsigned count, cap;
};

/* Why a symbol of this name is not what can be observed; NULL: it is something else. */
static const char *find_unsupported(const struct dpe_elf_symbol *symbol, const char *last)
{
	if (symbol->is.st_shndx == SHN_UNDEF)
		return NULL;
	if (GELF_ST_TYPE(symbol->is.st_info) == STT_TLS && !strcmp(symbol->name, last))
		return "it is thread-local, with another address in each thread";
	if (dpe_elf_is_variable(symbol) && is_in_function(symbol->name, last))
		return "it is a static variable of a function: write FUNCTION::VARIABLE; that needs debug "
		       "information, which names the function";
	return NULL;
}

static bool add_name(void *context, const struct dpe_elf_symbol *symbol)
{
	struct variable_names *names = context;
	char *base = dpe_elf_is_variable(symbol) ? dpe_demangle_base(symbol->name) : NULL;
	const char *last = base ? strrchr(base, ':') : NULL;

	if (!names->unsupported)
		names->unsupported = find_unsupported(symbol, names->last);
	if (!dpe_elf_is_variable(symbol))
		return false;
	if (last && !names->elsewhere && !strcmp(last + 1, names->last))
		names->elsewhere = dpe_xstrdup(base);
	*DPE_GROW(names->at, names->count, names->cap) = base ? base : dpe_xstrdup(symbol->name);
	return false;
}

/* `library`: "" for a function of the program. */
static char *explain_callable(const char *name, const char *library)
{
	return dpe_xasprintf("it is a function%s%s: dpe race takes a pair, such as %s,%s, and rules name functions without brackets",
		*library ? " of " : "", library, name, name);
}

/* What is wrong with `f`, or `f.x`, where `f` is a function. */
static char *explain_function(struct dpe_module *module, const struct variable_search *search)
{
	const char *name = search->part + strspn(search->part, ".->");
	struct dpe_variable found;
	char *inner, *why;

	if (name == search->part)
		return explain_callable(search->whole, "");
	inner = dpe_xasprintf("%s::%s", search->whole, name);
	why = dpe_variable_find(module, inner, &found);
	if (!why)
		why = dpe_xasprintf("'%s' is a function, and '%s' a static variable of it: write %s", search->whole, name, inner);
	free(inner);
	return why;
}

static char *explain_unknown(struct dpe_module *module, const struct variable_search *search,
	const struct variable_names *names)
{
	const char *meant = names->elsewhere, *stripped = module->stripped ? ", or is stripped of its symbols" : "";
	unsigned count;

	if (dpe_module_find(module, search->whole, &count))
		return explain_function(module, search);
	if (dpe_inlined_everywhere(module, search->scope, search->last))
		return dpe_xasprintf("it is a function that the compiler inlined everywhere: compile with -fno-inline, or declare it "
				     "__attribute__((noinline)), and for dpe race write it twice: %s,%s",
			search->whole, search->whole);
	if (!meant && !dpe_nearest(search->whole, (const char *const *)names->at, names->count, &meant, 1))
		meant = NULL;
	if (meant)
		return dpe_xasprintf("%s has no variable '%s'%s; did you mean '%s'?", module->name, search->whole, stripped, meant);
	return dpe_xasprintf("%s has no variable '%s'%s; arguments are named in the event, as in f(_, x) [x > 0], members with "
			     "an object, as in object.x or f(p) [p->x], enumerators by their numbers%s",
		module->name, search->whole, stripped,
		dpe_module_imports(module, "dlopen") ? ", and those of a library that it loads with dlopen as library::variable, if LD_PRELOAD "
						       "loads that library at the start" : "");
}

static char *explain_missing(struct dpe_module *module, const struct variable_search *search)
{
	struct variable_names names = {.last = search->last};
	unsigned in_debug_file_too = 0;
	char *said;

	dpe_dwarf_each_symbol(module, &in_debug_file_too, add_name, &names);
	if (names.unsupported)
		said = dpe_xasprintf("'%s' is in %s, but %s", search->last, module->name, names.unsupported);
	else
		said = explain_unknown(module, search, &names);
	for (unsigned i = 0; i < names.count; i++)
		free(names.at[i]);
	free(names.at);
	free(names.elsewhere);
	return said;
}

/* ---- all --------------------------------------------------------------------------------- */

static const char *root_of(const char *lvalue)
{
	if (dpe_lvalue_is_text(lvalue))
		lvalue += sizeof(DPE_TEXT) - 1;
	return lvalue + strspn(lvalue, "*(");
}

/* Finds the only variable of that name. NULL, or what is wrong, the caller's to free. */
static char *find_root(struct dpe_module *module, struct variable_search *search)
{
	unsigned unused;

	dpe_dwarf_each_symbol(module, &search->count, match_symbol, search);
	if (!search->count) {
		dpe_module_functions(module, &unused); /* sets `stripped` */
		return explain_missing(module, search);
	}
	if (search->count > 1)
		return dpe_xasprintf(
			"%s has %u variables '%s'", module->name, search->count, search->whole);
	return NULL;
}

char *dpe_variable_find(
	struct dpe_module *module, const char *lvalue, struct dpe_variable *variable)
{
	const char *root = root_of(lvalue);
	size_t len = strcspn(root, DPE_LVALUE_PART);
	Dwarf_Die declared, type;
	struct variable_search search;
	char *why;

	search_for(&search, module, root, len);
	why = find_root(module, &search);
	search_end(&search);
	if (why)
		return why;
	*variable = (struct dpe_variable){
		.module = module,
		.address = search.found.st_value,
		.size = search.found.st_size,
		.is_signed = true,
	};
	if (dpe_dwarf_variable(module, search.found.st_value, &declared) && dpe_dwarf_type(&declared, &type)) {
		variable->is_atomic = dpe_dwarf_is_atomic(&type);
		if (dpe_dwarf_peel(&type, &type))
			return dpe_lvalue_enter(lvalue, &type, variable);
	}
	if (len < strlen(lvalue))
		return dpe_xasprintf("there is no debug information on what is in '%.*s'",
			(int)len, root);
	return NULL;
}

static bool has_root(struct dpe_module *module, const char *lvalue, bool exported)
{
	const char *root = root_of(lvalue);
	struct variable_search search;

	search_for(&search, module, root, strcspn(root, DPE_LVALUE_PART));
	search.exported = exported;
	dpe_elf_each_symbol(module->elf, match_symbol, &search);
	search_end(&search);
	return search.count;
}

/* Whether it is a library that is loaded before the program begins: only their variables are observed. */
static bool is_searched(const struct dpe_module *module)
{
	return !module->program && !module->late && !module->replaced;
}

/* Splits `libc::name` into scope and `name`; NULL if the lvalue has no scope. The caller frees both. */
static char *without_scope(const char *lvalue, char **scope)
{
	const char *root = root_of(lvalue), *colons = strstr(root, "::");
	size_t len = colons ? (size_t)(colons - root) : 0;

	if (!colons || strcspn(root, DPE_LVALUE_PART) < len)
		return NULL;
	*scope = dpe_xasprintf("%.*s", (int)len, root);
	return dpe_xasprintf("%.*s%s", (int)(root - lvalue), lvalue, colons + 2);
}

/* Finds up to two libraries that have the variable: libraries called `scope`, or without a scope any that export it. */
static unsigned find_library(const struct dpe_modules *modules, const char *scope,
	const char *lvalue, struct dpe_module *found[2])
{
	unsigned count = 0;

	for (unsigned i = 0; i < modules->count && count < 2; i++) {
		struct dpe_module *module = modules->at[i];

		if (is_searched(module) && (!scope || dpe_module_is(module, scope)) &&
			has_root(module, lvalue, !scope))
			found[count++] = module;
	}
	return count;
}

static char *find_in_libraries(const struct dpe_modules *modules, const char *lvalue,
	struct dpe_variable *variable, bool *found)
{
	struct dpe_module *at[2];
	unsigned count = find_library(modules, NULL, lvalue, at);
	char *scope = NULL, *rest = count ? NULL : without_scope(lvalue, &scope), *why = NULL;

	if (rest)
		count = find_library(modules, scope, rest, at);
	*found = count;
	if (count == 1)
		why = dpe_variable_find(at[0], rest ? rest : lvalue, variable);
	else if (count)
		why = dpe_xasprintf("both %s and %s have it: write %.*s::%s", at[0]->name,
			at[1]->name, (int)strcspn(at[0]->name, ".-"), at[0]->name, lvalue);
	free(scope);
	free(rest);
	return why;
}

/* NULL: no library has a function of that name. */
static char *explain_library_function(const struct dpe_modules *modules, const char *name)
{
	unsigned count;

	for (unsigned i = 0; i < modules->count; i++) {
		if (is_searched(modules->at[i]) && dpe_module_find(modules->at[i], name, &count))
			return explain_callable(name, modules->at[i]->name);
	}
	return NULL;
}

char *dpe_variable_find_in(
	const struct dpe_modules *modules, const char *lvalue, struct dpe_variable *variable)
{
	struct dpe_module *program = dpe_modules_program(modules);
	char *why, *other;
	bool found;

	if (!program)
		return dpe_xstrdup("the program is not known");
	why = dpe_variable_find(program, lvalue, variable);
	if (!why || has_root(program, lvalue, false))
		return why;
	other = find_in_libraries(modules, lvalue, variable, &found);
	if (!found)
		other = explain_library_function(modules, lvalue);
	if (!found && !other)
		return why;
	free(why);
	return other;
}

/* ---- arguments and results --------------------------------------------------------------- */

int dpe_variable_argument(const char *lvalue)
{
	const char *root = root_of(lvalue);
	size_t len = sizeof(DPE_ARGUMENT) - 1;

	if (!strncmp(root, DPE_RESULT, sizeof(DPE_RESULT) - 1))
		return DPE_VARIABLE_RESULT;
	return strncmp(root, DPE_ARGUMENT, len) ? -1 : atoi(root + len);
}

/* The function's parameter of that number, from 0. */
static bool find_parameter(Dwarf_Die *function, int number, Dwarf_Die *parameter)
{
	if (dwarf_child(function, parameter))
		return false;
	do {
		if (dwarf_tag(parameter) == DW_TAG_formal_parameter && !number--)
			return true;
	} while (!dwarf_siblingof(parameter, parameter));
	return false;
}

static bool find_type(Dwarf_Die *function, int number, Dwarf_Die *type)
{
	Dwarf_Die parameter;

	if (number == DPE_VARIABLE_RESULT)
		return dpe_dwarf_type(function, type) && dpe_dwarf_peel(type, type);
	return find_parameter(function, number, &parameter) && dpe_dwarf_type(&parameter, type) &&
	       dpe_dwarf_peel(type, type);
}

/* "argument 2 of 'f'", the caller's to free. */
static char *describe(const struct dpe_function *function, int number)
{
	if (number == DPE_VARIABLE_RESULT)
		return dpe_xasprintf("the result of '%s'", function->name);
	return dpe_xasprintf("argument %d of '%s'", number + 1, function->name);
}

static char *explain(
	const char *before, const struct dpe_function *function, int number, const char *after)
{
	char *what = describe(function, number);
	char *said = dpe_xasprintf("%s%s%s", before, what, after);

	free(what);
	return said;
}

/* An argument of unknown type can only be used as text, which it then points to; what it points to may be a pointer. */
static char *without_types(struct dpe_module *module, const struct dpe_function *function,
	const char *lvalue, struct dpe_variable *variable)
{
	char *root = dpe_lvalue_in_text(lvalue), *why = NULL;

	if (dpe_lvalue_is_text(lvalue) && !root[strcspn(root, DPE_LVALUE_PART "*(")])
		why = dpe_lvalue_point_to_text(variable);
	else
		why = dpe_xasprintf("%s has no debug information that describes the arguments of '%s'", module->name, function->name);
	if (*lvalue == '*' && !lvalue[1 + strcspn(lvalue + 1, DPE_LVALUE_PART "*(")])
		*variable = (struct dpe_variable){
			.size = 8, .nsteps = 1, .is_address = true, .is_guess = true};
	free(root);
	return why;
}

char *dpe_variable_of_call(struct dpe_module *module, const struct dpe_function *function,
	const char *lvalue, struct dpe_variable *variable)
{
	int number = dpe_variable_argument(lvalue);
	Dwarf_Die die, type;
	char *why;

	*variable = (struct dpe_variable){0};
	if (dpe_layout_find(module, function->name, lvalue, variable))
		return NULL;
	if (!dpe_dwarf_call(module, function->address, &die))
		return without_types(module, function, lvalue, variable);
	if (!find_type(&die, number, &type))
		return explain("debug information has no type for ", function, number, "");
	why = dpe_lvalue_enter(lvalue, &type, variable);
	if (why)
		return why;
	variable->in_structure = dpe_dwarf_is_aggregate(&type);
	if (!variable->nsteps && !variable->in_structure)
		return explain("", function, number, " is not a pointer");
	return NULL;
}
