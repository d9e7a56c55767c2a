/* late_mappings: what is said of places that the rules name and that no file has: a library that the program
 * loads later may. */
#ifndef DPE_PROBES_PLAN_LATE_SITES_H
#define DPE_PROBES_PLAN_LATE_SITES_H

#include "probes/binary/binary.h"
#include "probes/plan/plan.h"

/* Whether a library that comes later can have the site: the program, or a library of it, can load
 * some, none of the files is the one that the site names, and the kernel can wait for our probes. */
bool dpe_late_may_come(const struct dpe_modules *modules, const struct dpe_plan_site *site,
	const struct dpe_names *names);
/* DPE_WARNING where it can, else DPE_ERROR. */
enum dpe_severity dpe_late_severity(const struct dpe_modules *modules,
	const struct dpe_plan_site *site, const struct dpe_names *names);
/* Says, behind a warning, that the site is waited for. */
void dpe_late_note(
	enum dpe_severity severity, const struct dpe_plan_site *site, struct dpe_diags *diags);

#endif
