/* The plan of a specification: the driver of its passes. */
#include "probes/plan/plan_passes.h"

#include <stdlib.h>

struct dpe_plan *dpe_plan_new(const struct dpe_spec *spec)
{
	struct dpe_plan *plan = dpe_xcalloc(1, sizeof(*plan));

	plan->spec = spec;
	dpe_plan_add_sites(plan, spec);
	dpe_plan_add_reads(plan, spec);
	dpe_plan_add_guards(plan, spec);
	return plan;
}

void dpe_plan_free(struct dpe_plan *plan)
{
	if (!plan)
		return;
	free(plan->sites);
	free(plan->watched);
	free(plan->objects);
	free(plan->reads);
	free(plan->bindings);
	free(plan->assigned);
	free(plan);
}

bool dpe_plan_has_memory(const struct dpe_plan *plan)
{
	return plan->memory != 0;
}

unsigned dpe_plan_flags(const struct dpe_plan *plan, const struct dpe_event_flag **flags)
{
	*flags = plan->flags;
	return plan->nflags;
}

bool dpe_plan_observes_exits(const struct dpe_plan *plan)
{
	for (unsigned i = 0; i < plan->nsites; i++)
		if (plan->sites[i].exit)
			return true;
	return false;
}
