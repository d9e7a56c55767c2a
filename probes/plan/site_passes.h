/* site_passes: the steps in which a site gets what it needs. Private to plan/. */
#ifndef DPE_PROBES_PLAN_SITE_PASSES_H
#define DPE_PROBES_PLAN_SITE_PASSES_H

#include "probes/plan/plan.h"

/* Finds the variables that arguments of the site, whose signature is known, lead to; a variable that cannot be read is
 * dropped. False after an error, for each that the rules cannot do without. */
bool dpe_reads_reach(struct dpe_probes *probes, struct dpe_site *site, struct dpe_diags *diags);
/* False, with an error, where a rule computes with a floating point number. */
bool dpe_read_check_arithmetic(
	const struct dpe_read *read, const struct dpe_variable *variable, struct dpe_diags *diags);
/* Whether the loaded programs can read what a site that is added later needs. */
bool dpe_reads_have_room(const struct dpe_probes *probes, const struct dpe_site *site);
/* Drops, from site number `first` on, optional sites on which the kernel puts no probe, with a warning if the target
 * calls them. */
void dpe_sites_drop_unprobed(struct dpe_probes *probes, unsigned first, struct dpe_diags *diags);
/* Whether the kernel puts probes on the code of the sites, from number `first` on; if not, after one error, or a warning
 * once probes are placed. */
bool dpe_sites_check_code(const struct dpe_probes *probes, unsigned first, struct dpe_diags *diags);

/* Warns of variables of rules that are a pointer in one function and a number in another, once the signatures of the
 * sites are known. */
void dpe_sites_warn_of_types(const struct dpe_probes *probes, struct dpe_diags *diags);

/* Whether something in the target throws exceptions, or cleans up when they pass. */
bool dpe_sites_unwind(const struct dpe_probes *probes);
/* The same of what is loaded later. */
bool dpe_sites_may_unwind(const struct dpe_probes *probes);
/* If an exception may pass the site's function: finds the places where it returns. */
void dpe_site_find_returns(struct dpe_probes *probes, struct dpe_site *site);
/* Whether exits can be observed in the modules from number `first_module` on; if not, after one error; once probes are placed,
 * after a warning, and without the exits of that module. */
bool dpe_sites_check_stacks(struct dpe_probes *probes, unsigned first_module, struct dpe_diags *diags);

#endif
