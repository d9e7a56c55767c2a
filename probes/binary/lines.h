/* lines: which code is that of a line of the source. */
#ifndef DPE_PROBES_BINARY_LINES_H
#define DPE_PROBES_BINARY_LINES_H

#include "probes/plan/plan.h"
#include "probes/plan/resolve_sites.h"

/* The places of the line that the site names, "file.c:12", in the program, or else in its
 * libraries: of each copy of it (inlined functions, templates) the first instruction. The
 * functions, which begin there, lie in `arena`; `*out` is the caller's. 0 after one error; without
 * one where the site is optional. */
unsigned dpe_resolve_line(struct dpe_modules *modules, const struct dpe_plan_site *site,
	const struct dpe_names *names, struct dpe_arena *arena, struct dpe_diags *diags,
	struct dpe_target_function **out);
/* Calls `each` with "file.c:12" and an address of it for each line of the module that has code, in
 * order. */
void dpe_lines_each(struct dpe_module *module,
	void (*each)(void *context, const char *name, uint64_t address), void *context);

#endif
