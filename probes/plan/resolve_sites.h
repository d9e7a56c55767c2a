/* resolve_sites: the functions, lines and USDT probes that a plan site names. Private to plan/. */
#ifndef DPE_PROBES_PLAN_RESOLVE_SITES_H
#define DPE_PROBES_PLAN_RESOLVE_SITES_H

#include "probes/binary/binary.h"
#include "probes/plan/plan.h"

struct dpe_target_function {
	struct dpe_module *module;
	const struct dpe_function *function; /* the module's, or in the arena */
	bool by_class; /* the name before :: is a class or namespace, not a module */
	const struct dpe_usdt *usdt;         /* for a USDT probe, else NULL */
};

/* Finds all functions of that name, the program's first, each address once. Static functions of a library count only where
 * the site names the library, so that results do not depend on an installed debug file; events of <dpe/probe.h> always
 * count. Without such a symbol, C++ and Rust functions of that name in the source are searched (`f`, `queue::push`; in quotes
 * with template arguments and parameters, `"queue<int>::push(int)"`); the name of a template means all of its instances.
 * `*out` is the caller's, NULL if there are none. Returns how many; 0 after one error, or without one where the site
 * is optional. */
unsigned dpe_resolve_site(struct dpe_modules *modules, const struct dpe_plan_site *site,
	const struct dpe_names *names, struct dpe_diags *diags, struct dpe_target_function **out);
/* The same for a USDT probe, "usdt::provider" and "name"; functions are allocated in `arena`. */
unsigned dpe_resolve_usdt(struct dpe_modules *modules, const struct dpe_plan_site *site,
	const struct dpe_names *names, struct dpe_arena *arena, struct dpe_diags *diags,
	struct dpe_target_function **out);
/* The same for a line, "file.c:12", in the program, or else in its libraries: one place for each copy of it (inlined
 * functions, templates). */
unsigned dpe_resolve_line(struct dpe_modules *modules, const struct dpe_plan_site *site,
	const struct dpe_names *names, struct dpe_arena *arena, struct dpe_diags *diags,
	struct dpe_target_function **out);

/* Functions that were meant perhaps, as rules name them: at most this number, the nearest first. `module` "": in all files; a
 * module that no file is called, as a class or namespace. The names belong to the modules and the arena. */
enum { DPE_NEAREST_FUNCTIONS = 3 };
unsigned dpe_nearest_functions(struct dpe_modules *modules, const char *module, const char *name,
	const char **best, struct dpe_arena *arena);

#endif
