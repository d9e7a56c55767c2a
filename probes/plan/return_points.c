/* Which sites have their returns observed at exit points instead of by a return probe. */
#include "probes/plan/plan.h"
#include "probes/features/features.h"
#include "probes/plan/site_passes.h"

struct dpe_exit_use dpe_exit_use_of(
	const struct dpe_function *function, const struct dpe_signature *signature)
{
	return (struct dpe_exit_use){
		.nwords = dpe_signature_needed(signature),
		.nresult = dpe_signature_ret_registers(signature),
		.may_write = dpe_preload_knows(function->name),
	};
}

/* An exit point comes shortly before the return: an event between the two would be in the wrong order. */
static bool has_inner_events(const struct dpe_plan *plan)
{
	if (plan->nwatched || plan->nobjects || plan->memory)
		return true;
	for (unsigned i = 0; i < plan->nsites; i++) {
		if (plan->sites[i].kind)
			return true;
	}
	return false;
}

bool dpe_points_are_possible(const struct dpe_probes *probes)
{
	return !probes->one_by_one && !has_inner_events(probes->plan) && dpe_kernel_has_multi();
}

/* Only sites without entry event, variables and stops. */
static bool may_have_points(const struct dpe_probes *probes, const struct dpe_site *site)
{
	return probes->points && site->exit && !site->enter && !site->wanted->kind &&
	       !site->reads && !site->gates[1].nstops;
}

void dpe_points_find(struct dpe_probes *probes, struct dpe_site *site)
{
	const struct dpe_exit_use use = dpe_exit_use_of(site->function, site->signature);

	site->exits = (struct dpe_exits){0};
	if (!may_have_points(probes, site))
		return;
	site->exits = dpe_place_exits(
		site->module, site->function, &use, probes->nops, probes->arena);
	if (probes->placed && probes->npoints + site->exits.count > probes->most_points)
		site->exits = (struct dpe_exits){.reason = "there are too many"};
	dpe_debug(probes->debug, "probes", 2, "%s::%s returns: %u places%s%s", site->module->name,
		site->function->name, site->exits.count, site->exits.reason ? ": " : "",
		site->exits.reason ? site->exits.reason : "");
	if (!site->exits.count)
		return;
	site->placement.distance = 0;
	site->first_point = probes->npoints;
	probes->npoints += site->exits.count;
}
