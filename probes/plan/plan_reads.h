/* plan_reads: the part of a plan that says which variables are read at which events. */
#ifndef DPE_PROBES_PLAN_PLAN_READS_H
#define DPE_PROBES_PLAN_PLAN_READS_H

#include "probes/plan/plan.h"

/* Adds to the plan what conditions of control events and actions read of the program's variables,
 * once the plan has all sites of the specification. */
void dpe_plan_add_reads(struct dpe_plan *plan, const struct dpe_spec *spec);

#endif
