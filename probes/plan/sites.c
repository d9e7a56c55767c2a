/* sites: where in the target's files the plan's sites are. */
#include "probes/binary/ifunc.h"
#include "probes/plan/late_sites.h"
#include "probes/binary/lines.h"
#include "probes/live.h"
#include "probes/plan/plan_guards.h"
#include "probes/plan/resolve_sites.h"
#include "probes/binary/usdt.h"

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
	spot->used |= site->optional ? 0 : site->used;
	spot->ret |= !site->optional && site->ret;
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

static unsigned resolve(struct dpe_probes *probes, struct dpe_modules *modules,
	const struct dpe_site *site, struct dpe_diags *diags, struct dpe_target_function **found)
{
	if (site->kind == DPE_SITE_LINE)
		return dpe_resolve_line(modules, site, probes->names, probes->arena, diags, found);
	if (site->kind == DPE_SITE_USDT)
		return dpe_resolve_usdt(modules, site, probes->names, probes->arena, diags, found);
	return dpe_resolve_site(modules, site, probes->names, diags, found);
}

/* Waits for a site that is not there where a library may come that has it, or, where programs are
 * followed, another program. */
static bool await(struct dpe_probes *probes, const struct dpe_site *site)
{
	if (!probes->follows && !dpe_late_may_come(&probes->modules, site, probes->names))
		return false;
	if (!probes->awaited)
		probes->awaited = dpe_xcalloc(probes->plan->nsites, sizeof(*probes->awaited));
	probes->awaited[site - probes->plan->sites] = true;
	return true;
}

static bool is_elsewhere(struct dpe_probes *probes, const struct dpe_site *site)
{
	struct dpe_diags *unheard = dpe_diags_new();
	struct dpe_target_function *found;
	bool elsewhere = !resolve(probes, &probes->modules, site, unheard, &found);

	free(found);
	dpe_diags_free(unheard);
	return elsewhere;
}

static bool find_site(
	struct dpe_probes *probes, const struct dpe_site *site, struct dpe_diags *diags)
{
	struct dpe_target_function *found;
	unsigned errors = dpe_diags_errors(diags), count;

	if (probes->follows && !site->optional && is_elsewhere(probes, site))
		return await(probes, site);
	count = resolve(probes, &probes->modules, site, diags, &found);
	for (unsigned i = 0; i < count; i++)
		add_spot(probes, site, &found[i]);
	free(found);
	if (count && !site->optional)
		warn_of_others(probes, site, diags);
	if (!count && site->optional)
		dpe_debug(probes->debug, "probes", 1, "%s: not in the target, so not observed",
			dpe_name_text(probes->names, site->name));
	return count || site->optional ||
	       (dpe_diags_errors(diags) == errors && await(probes, site));
}

static void place(struct dpe_probes *probes, struct dpe_spot *spot)
{
	const struct dpe_entry_use use = {
		.nwords = dpe_signature_needed(spot->signature),
		.nvectors = dpe_signature_needed_vectors(spot->signature),
		.only_noted = !spot->enter && !probes->plan->nobjects,
	};

	if (spot->site->kind)
		return;
	dpe_place_entry(spot->module, spot->function, &use, probes->nops, &spot->placement);
	dpe_points_find(probes, spot);
	dpe_debug(probes->debug, "probes", 2, "%s::%s: +%u %s: %s", spot->module->name,
		spot->function->name, spot->placement.distance, spot->placement.instruction,
		spot->placement.reason);
}

static void give_signature(struct dpe_probes *probes, struct dpe_spot *spot)
{
	if (spot->usdt)
		spot->signature = dpe_usdt_signature(spot->usdt, probes->arena);
	else
		spot->signature = dpe_signature_of(
			spot->module, spot->function, spot->nargs, probes->arena);
	dpe_vectors_note(probes, spot);
}

static void say_no_value(const struct dpe_probes *probes, const struct dpe_spot *spot,
	const char *what, const char *why, struct dpe_diags *diags)
{
	dpe_diag(diags, probes->placed ? DPE_WARNING : DPE_ERROR, spot->site->place,
		"the rules ask for %s of '%s', which has no value: %s", what,
		dpe_name_text(probes->names, spot->site->name), why);
}

/* False after an error for each value that rules want and that nobody can read. */
static bool check_values(
	const struct dpe_probes *probes, const struct dpe_spot *spot, struct dpe_diags *diags)
{
	const char *why = spot->ret ? dpe_signature_ret_obstacle(spot->signature) : NULL;
	bool good = !why;

	if (why)
		say_no_value(probes, spot, "the result", why, diags);
	for (unsigned i = 0; i < 64; i++) {
		char what[32];

		if (!(spot->used >> i & 1))
			continue;
		why = dpe_signature_obstacle(spot->signature, i);
		if (!why)
			continue;
		snprintf(what, sizeof(what), "argument %u", i + 1);
		say_no_value(probes, spot, what, why, diags);
		good = false;
	}
	return good;
}

bool dpe_spots_find(struct dpe_probes *probes, struct dpe_diags *diags)
{
	bool complete = true;

	if (probes->plan->nsites)
		dpe_nop_trial_begin(&probes->nop_trial);
	for (unsigned i = 0; i < probes->plan->nsites; i++)
		complete &= find_site(probes, &probes->plan->sites[i], diags);
	probes->nops = complete && dpe_nop_trial_answer(&probes->nop_trial);
	probes->points = dpe_points_are_possible(probes);
	for (unsigned i = 0; complete && i < probes->nspots; i++) {
		struct dpe_spot *spot = &probes->spots[i];

		give_signature(probes, spot);
		complete &= check_values(probes, spot, diags);
		complete &= dpe_reads_reach(probes, spot, diags);
		dpe_preload_take(probes, spot);
		if (!spot->preloaded)
			place(probes, spot);
	}
	dpe_spots_drop_unseen(probes, 0, diags);
	probes->nsearched = probes->modules.count;
	return complete;
}

/* ---- in files that came later ------------------------------------------------------------ */

/* What a message of the spot is to carry has no room. */
static bool is_too_much(const struct dpe_probes *probes, const struct dpe_spot *spot)
{
	bool far = (unsigned)(spot - probes->spots) >= probes->first_watch;

	return !dpe_reads_have_room(probes, spot) ||
	       (far && (spot->reads || spot->usdt));
}

static void find_site_late(
	struct dpe_probes *probes, struct dpe_modules *modules, const struct dpe_site *site)
{
	struct dpe_diags *ignored = dpe_diags_new();
	struct dpe_target_function *found;
	struct dpe_site any = *site;
	unsigned count;

	any.optional = true; /* that it is not there is no error */
	count = resolve(probes, modules, &any, ignored, &found);
	for (unsigned i = 0; i < count; i++)
		add_spot(probes, site, &found[i]);
	if (dpe_diags_errors(ignored)) {
		dpe_diag(probes->diags, DPE_WARNING, site->place,
			"'%s' of a file that was loaded late cannot be observed",
			dpe_name_text(probes->names, site->name));
		dpe_attach_lose(probes);
	}
	if (count && probes->awaited)
		probes->awaited[site - probes->plan->sites] = false;
	free(found);
	dpe_diags_free(ignored);
}

static void prepare_late(struct dpe_probes *probes, struct dpe_spot *spot)
{
	give_signature(probes, spot);
	check_values(probes, spot, probes->diags);
	dpe_reads_reach(probes, spot, probes->diags);
	place(probes, spot);
	if (!is_too_much(probes, spot))
		return;
	dpe_diag(probes->diags, DPE_WARNING, spot->site->place,
		"there is no room for the variables that come with '%s' of %s, which was "
		"loaded late: they are unknown",
		spot->function->name, spot->module->name);
	spot->reads = 0;
	spot->filters[0] = spot->filters[1] = (struct dpe_filters){.all = true};
}

void dpe_spots_find_late(struct dpe_probes *probes)
{
	struct dpe_modules fresh = {
		.at = probes->modules.at + probes->nsearched,
		.count = probes->modules.count - probes->nsearched,
	};
	unsigned first = probes->nspots;

	for (unsigned i = 0; i < probes->plan->nsites; i++)
		find_site_late(probes, &fresh, &probes->plan->sites[i]);
	probes->nsearched = probes->modules.count;
	for (unsigned i = first; i < probes->nspots; i++)
		prepare_late(probes, &probes->spots[i]);
	dpe_spots_drop_unseen(probes, first, probes->diags);
}
