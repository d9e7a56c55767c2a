/* late_sites: plan sites that a library loaded later may have. Private to plan/. */
#ifndef DPE_PROBES_PLAN_LATE_SITES_H
#define DPE_PROBES_PLAN_LATE_SITES_H

#include "probes/binary/binary.h"
#include "probes/plan/plan.h"

/* Whether a library loaded later may have the site: some file calls dlopen, the library that the site names is not
 * loaded yet, and the kernel can suspend the loading thread until the probes are set. */
bool dpe_late_may_come(const struct dpe_modules *modules, const struct dpe_plan_site *site,
	const struct dpe_names *names);
/* What a missing site is: DPE_WARNING where that may be, else DPE_ERROR. */
enum dpe_severity dpe_late_severity(const struct dpe_modules *modules,
	const struct dpe_plan_site *site, const struct dpe_names *names);
/* After a warning: notes that dpe waits for the site. After an error: that the program may start one that has it. */
void dpe_late_note(const struct dpe_modules *modules, enum dpe_severity severity,
	const struct dpe_plan_site *site, struct dpe_diags *diags);

#endif
