/* plan_passes: the steps in which a plan is made, in this order. Private to plan/. */
#ifndef DPE_PROBES_PLAN_PLAN_PASSES_H
#define DPE_PROBES_PLAN_PLAN_PASSES_H

#include "probes/plan/plan_data.h"

/* The functions, lines, USDT probes, kernel events, variables and objects that patterns name, and the arguments and
 * results that patterns and expressions use. */
void dpe_plan_add_sites(struct dpe_plan *plan, const struct dpe_spec *spec);
/* The variables that conditions and actions read, at which sites, and the filters on their values. */
void dpe_plan_add_reads(struct dpe_plan *plan, const struct dpe_spec *spec);
/* Which events set flags, wait for flags, and stop the target. */
void dpe_plan_add_guards(struct dpe_plan *plan, const struct dpe_spec *spec);

/* Whether the rule names that argument of the pattern only to write `x.member`: a structure that is passed by value
 * has no value of its own. */
bool dpe_plan_is_root(
	const struct dpe_rule *rule, const struct dpe_pattern *pattern, unsigned argument);

#endif
