/* resolve_sites: which functions of the target's files a site of the plan means. */
#ifndef DPE_PROBES_PLAN_RESOLVE_SITES_H
#define DPE_PROBES_PLAN_RESOLVE_SITES_H

#include "probes/binary/binary.h"
#include "probes/plan/plan.h"

struct dpe_target_function {
	struct dpe_module *module;
	const struct dpe_function *function; /* the module's */
	bool by_class; /* of C++: what the site calls a module is the class or namespace */
	const struct dpe_usdt *usdt;         /* of a USDT probe, else NULL */
};

/* All functions of the site's name in all modules that it may mean, the program's first, each
 * place of a file once. Static functions of a library are meant only where the site names the
 * library: what is inside a libc is not to depend on whether its debug file is installed; but events
 * of dpe/probe.h in all of them. Where there is no such symbol, a function of C++ or Rust is meant that
 * has the name in its source, alone (`f`) or in a class or namespace (`queue::push`, unless a module
 * called `queue` has a `push`).
 * `*out` is the caller's, NULL where there are none. 0 after one error where nothing can be
 * observed; without one where the site is optional. */
unsigned dpe_resolve_site(struct dpe_modules *modules, const struct dpe_plan_site *site,
	const struct dpe_names *names, struct dpe_diags *diags, struct dpe_target_function **out);
/* The same of a site that is a USDT probe, "usdt::provider" and "name". What is found lies in `arena`. */
unsigned dpe_resolve_usdt(struct dpe_modules *modules, const struct dpe_plan_site *site,
	const struct dpe_names *names, struct dpe_arena *arena, struct dpe_diags *diags,
	struct dpe_target_function **out);
/* The places of the line that the site names, "file.c:12", in the program, or else in its
 * libraries: of each copy of it (inlined functions, templates) the first instruction. The
 * functions, which begin there, lie in `arena`; `*out` is the caller's. 0 after one error; without
 * one where the site is optional. */
unsigned dpe_resolve_line(struct dpe_modules *modules, const struct dpe_plan_site *site,
	const struct dpe_names *names, struct dpe_arena *arena, struct dpe_diags *diags,
	struct dpe_target_function **out);

#endif
