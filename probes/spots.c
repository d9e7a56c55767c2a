/* spots: where in the target's files the plan's sites are. */
#include "probes/ifunc.h"
#include "probes/lines.h"
#include "probes/live.h"
#include "probes/plan_gates.h"
#include "probes/resolve.h"
#include "probes/usdt.h"

#include <stdlib.h>

static struct dpe_spot *find_spot(
	struct dpe_probes *probes, const struct dpe_module *module, uint64_t offset, dpe_name name)
{
	for (unsigned i = 0; i < probes->nspots; i++) {
		struct dpe_spot *spot = &probes->spots[i];

		if (spot->module == module && spot->function->offset == offset &&
			spot->event == name)
			return spot;
	}
	return NULL;
}

/* "queue::push", where that is a class and its method. */
static dpe_name event_of(struct dpe_probes *probes, const struct dpe_site *site,
	const struct dpe_target_function *target)
{
	char *whole;
	dpe_name event;

	if (!target->by_class)
		return site->event ? site->event : site->name;
	whole = dpe_xasprintf("%s::%s", dpe_name_text(probes->names, site->module),
		dpe_name_text(probes->names, site->name));
	event = dpe_intern_string(probes->names, whole);
	free(whole);
	return event;
}

static void merge_filters(struct dpe_filters *to, const struct dpe_filters *from)
{
	to->all |= from->all || !from->count || to->count + from->count > DPE_FILTERS;
	for (unsigned i = 0; i < from->count && !to->all; i++)
		to->at[to->count++] = from->at[i];
}

/* Two sites may mean the same place: `f` and `libc::f`. It gives one message all the same. */
static void add_spot(struct dpe_probes *probes, const struct dpe_site *site,
	const struct dpe_target_function *target)
{
	dpe_name event = event_of(probes, site, target);
	struct dpe_spot *spot = find_spot(probes, target->module, target->function->offset, event);

	if (dpe_preload_is_library(target->module))
		return;
	if (!spot) {
		spot = DPE_GROW(probes->spots, probes->nspots, probes->capspots);
		*spot = (struct dpe_spot){
			.site = site,
			.module = target->module,
			.function = target->function,
			.event = event,
			.usdt = target->usdt,
			.module_name = dpe_intern_string(probes->names, target->module->name),
		};
	}
	spot->enter |= site->enter;
	spot->exit |= site->exit;
	spot->reads |= site->reads;
	dpe_gate_merge(&spot->gates[0], &site->gates[0]);
	dpe_gate_merge(&spot->gates[1], &site->gates[1]);
	if (site->enter)
		merge_filters(&spot->filters[0], &site->filters[0]);
	if (site->exit)
		merge_filters(&spot->filters[1], &site->filters[1]);
	if (spot->nargs < site->nargs)
		spot->nargs = site->nargs;
}

static bool is_chosen_late(struct dpe_module *module, const char *name)
{
	unsigned count;
	const struct dpe_function *functions = dpe_module_find(module, name, &count);

	for (unsigned i = 0; i < count; i++)
		if (functions[i].chosen_late && !dpe_ifunc_chosen(module, &functions[i], NULL))
			return true;
	return false;
}

/* Some version of the function, or that of another file, is found; what programs really call may
 * be one that is not. */
static void warn_of_others(
	struct dpe_probes *probes, const struct dpe_site *site, struct dpe_diags *diags)
{
	const char *name = dpe_name_text(probes->names, site->name);
	const char *file = dpe_name_text(probes->names, site->module);

	for (unsigned i = 0; i < probes->modules.count; i++) {
		struct dpe_module *module = probes->modules.at[i];

		if ((*file && !dpe_module_is(module, file)) || !is_chosen_late(module, name))
			continue;
		dpe_diag(diags, DPE_WARNING, site->place,
			"the '%s' of %s is chosen when the program loads (IFUNC): its calls are "
			"not seen",
			name, module->name);
	}
}

static bool find_site(
	struct dpe_probes *probes, const struct dpe_site *site, struct dpe_diags *diags)
{
	struct dpe_target_function *found;
	unsigned count;

	if (site->kind == DPE_SITE_LINE)
		count = dpe_resolve_line(
			&probes->modules, site, probes->names, probes->arena, diags, &found);
	else if (site->kind == DPE_SITE_USDT)
		count = dpe_resolve_usdt(
			&probes->modules, site, probes->names, probes->arena, diags, &found);
	else
		count = dpe_resolve_site(&probes->modules, site, probes->names, diags, &found);

	for (unsigned i = 0; i < count; i++)
		add_spot(probes, site, &found[i]);
	free(found);
	if (count && !site->optional)
		warn_of_others(probes, site, diags);
	if (!count && site->optional)
		dpe_debug(probes->debug, "probes", 1, "%s: not in the target, so not observed",
			dpe_name_text(probes->names, site->name));
	return count || site->optional;
}

static void place(const struct dpe_probes *probes, struct dpe_spot *spot, bool nops)
{
	if (spot->site->kind)
		return;
	dpe_place_entry(spot->module, spot->function, dpe_signature_needed(spot->signature), nops,
		&spot->placement);
	dpe_debug(probes->debug, "probes", 2, "%s::%s: +%u %s: %s", spot->module->name,
		spot->function->name, spot->placement.distance, spot->placement.instruction,
		spot->placement.reason);
}

bool dpe_spots_find(struct dpe_probes *probes, struct dpe_diags *diags)
{
	bool complete = true, nops;

	for (unsigned i = 0; i < probes->plan->nsites; i++)
		complete &= find_site(probes, &probes->plan->sites[i], diags);
	nops = complete && probes->nspots && dpe_kernel_emulates_nops();
	for (unsigned i = 0; complete && i < probes->nspots; i++) {
		struct dpe_spot *spot = &probes->spots[i];

		if (spot->usdt)
			spot->signature = dpe_usdt_signature(spot->usdt, probes->arena);
		else
			spot->signature = dpe_signature_of(
				spot->module, spot->function, spot->nargs, probes->arena);
		dpe_preload_take(probes, spot);
		if (!spot->preloaded)
			place(probes, spot, nops);
	}
	dpe_spots_drop_unseen(probes, diags);
	return complete;
}
