/* function_search: the functions of a name that a rule gives. Private to function_search.c and resolve_sites.c. */
#ifndef DPE_PROBES_PLAN_FUNCTION_SEARCH_H
#define DPE_PROBES_PLAN_FUNCTION_SEARCH_H

#include "probes/plan/resolve_sites.h"

struct dpe_function_search {
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

/* Finds the functions that the name means, and fills in `found`, `nfound` and `ifunc`. */
void dpe_search_names(struct dpe_function_search *search);
/* Whether the target has a file with the name of the rule's module. */
bool dpe_search_has_module(const struct dpe_function_search *search);
/* What precedes :: is a class or namespace. */
bool dpe_search_names_class(const struct dpe_function_search *search);
/* Whether the rule is about all calls of the function in the module, so that inlined ones would be missed. */
bool dpe_search_reaches_all(const struct dpe_function_search *search, const struct dpe_module *module);
/* The symbol has the name in the source; `by_class`: with what precedes ::. */
bool dpe_search_has_source_name(const struct dpe_function_search *search, const char *symbol, bool by_class);
/* The symbol is the destructor of `delete`, which calls the one of the object, or contains it. */
bool dpe_symbol_deletes(const char *symbol);

#endif
