/* argument_roots: arguments that rules name for nothing but what they hold or lead to. */
#ifndef DPE_PROBES_PLAN_ARGUMENT_ROOTS_H
#define DPE_PROBES_PLAN_ARGUMENT_ROOTS_H

#include "probes/plan/plan.h"

/* Whether the rule has a name for that argument of the event only to write `x.member`: a structure that
 * is handed over as a whole has no value of its own. */
bool dpe_plan_is_root(
	const struct dpe_rule *rule, const struct dpe_pattern *pattern, unsigned argument);

#endif
