/* plan_guards: the part of a plan that says which events wait for others, and which stop the target. */
#ifndef DPE_PROBES_PLAN_PLAN_GUARDS_H
#define DPE_PROBES_PLAN_PLAN_GUARDS_H

#include "probes/plan/plan.h"

/* Fills in the marks and gates, once the plan has all sites and watched variables of the specification. */
void dpe_plan_add_gates(struct dpe_plan *plan, const struct dpe_spec *spec);
/* Two sites are one place: what the other wants is wanted, too. */
void dpe_gate_merge(struct dpe_gate *to, const struct dpe_gate *from);

#endif
