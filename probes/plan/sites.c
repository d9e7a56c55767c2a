/* Sites: the places in the files of a target where the plan sites are. */
#include "probes/plan/late_sites.h"
#include "probes/plan/site_passes.h"
#include "probes/plan/resolve_sites.h"

#include <stdlib.h>

static struct dpe_site *find_site(
	struct dpe_probes *probes, const struct dpe_module *module, uint64_t offset, dpe_name name)
{
	for (unsigned i = 0; i < probes->nsites; i++) {
		struct dpe_site *site = &probes->sites[i];

		if (site->module == module && site->function->offset == offset &&
			site->event == name)
			return site;
	}
	return NULL;
}

/* "queue::push", where `queue` is a class. */
static dpe_name event_of(struct dpe_probes *probes, const struct dpe_plan_site *wanted,
	const struct dpe_target_function *target)
{
	char *whole;
	dpe_name event;

	if (!target->by_class)
		return wanted->event ? wanted->event : wanted->name;
	whole = dpe_xasprintf("%s::%s", dpe_name_text(probes->names, wanted->module),
		dpe_name_text(probes->names, wanted->name));
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

/* Two plan sites may be one site, such as `f` and `libc::f`: it sends one message. */
static void add_site(struct dpe_probes *probes, const struct dpe_plan_site *wanted,
	const struct dpe_target_function *target)
{
	dpe_name event = event_of(probes, wanted, target);
	struct dpe_site *site = find_site(probes, target->module, target->function->offset, event);

	if (dpe_preload_is_library(target->module) ||
		dpe_preload_replaces(probes, target->module, target->function->name))
		return;
	if (!site) {
		site = DPE_GROW(probes->sites, probes->nsites, probes->capsites);
		*site = (struct dpe_site){
			.wanted = wanted,
			.module = target->module,
			.function = target->function,
			.event = event,
			.usdt = target->usdt,
			.module_name = dpe_intern_string(probes->names, target->module->name),
		};
	}
	site->enter |= wanted->enter;
	site->exit |= wanted->exit;
	site->reads |= wanted->reads;
	dpe_guard_merge(&site->guards[0], &wanted->guards[0]);
	dpe_guard_merge(&site->guards[1], &wanted->guards[1]);
	site->used |= wanted->optional ? 0 : wanted->used;
	site->ret |= !wanted->optional && wanted->ret;
	if (wanted->enter)
		merge_filters(&site->filters[0], &wanted->filters[0]);
	if (wanted->exit)
		merge_filters(&site->filters[1], &wanted->filters[1]);
	if (site->nargs < wanted->nargs)
		site->nargs = wanted->nargs;
}

static bool is_unknown_ifunc(struct dpe_module *module, const char *name)
{
	unsigned count;
	const struct dpe_function *functions = dpe_module_find(module, name, &count);

	for (unsigned i = 0; i < count; i++)
		if (functions[i].is_ifunc && !dpe_ifunc_chosen(module, &functions[i], NULL))
			return true;
	return false;
}

/* Another file has an IFUNC of that name, which the program may call instead of the function that was found. */
static void warn_of_ifuncs(
	struct dpe_probes *probes, const struct dpe_plan_site *wanted, struct dpe_diags *diags)
{
	const char *name = dpe_name_text(probes->names, wanted->name);
	const char *file = dpe_name_text(probes->names, wanted->module);

	for (unsigned i = 0; i < probes->modules.count; i++) {
		struct dpe_module *module = probes->modules.at[i];

		if ((*file && !dpe_module_is(module, file)) || !is_unknown_ifunc(module, name))
			continue;
		dpe_diag(diags, DPE_WARNING, wanted->place,
			"the implementation of '%s' in %s is selected when the program loads "
			"(IFUNC): its calls are not observed",
			name, module->name);
	}
}

/* A lock that is acquired at the entry of a function follows what was released before: not what the call waits for. */
static void warn_of_entries(const struct dpe_plan_site *wanted, struct dpe_diags *diags)
{
	if (wanted->acquire && wanted->kind == DPE_SITE_FUNCTION)
		dpe_diag(diags, DPE_WARNING, wanted->acquire->place,
			"'%s' occurs when the call begins, so a release that it waits for does not precede what "
			"follows: write .exit",
			wanted->acquire->text);
}

static unsigned resolve(struct dpe_probes *probes, struct dpe_modules *modules,
	const struct dpe_plan_site *wanted, struct dpe_diags *diags, struct dpe_target_function **found)
{
	if (wanted->kind == DPE_SITE_LINE)
		return dpe_resolve_line(modules, wanted, probes->names, probes->arena, diags, found);
	if (wanted->kind == DPE_SITE_USDT)
		return dpe_resolve_usdt(modules, wanted, probes->names, probes->arena, diags, found);
	return dpe_resolve_site(modules, wanted, probes->names, diags, found);
}

/* Marks a missing site as awaited where a library or a program of a later process may have it. */
static bool await(struct dpe_probes *probes, const struct dpe_plan_site *wanted)
{
	if (!probes->follows && !dpe_late_may_come(&probes->modules, wanted, probes->names))
		return false;
	if (!probes->awaited)
		probes->awaited = dpe_xcalloc(probes->plan->nsites, sizeof(*probes->awaited));
	probes->awaited[wanted - probes->plan->sites] = true;
	return true;
}

static bool is_missing(struct dpe_probes *probes, const struct dpe_plan_site *wanted)
{
	struct dpe_diags *ignored = dpe_diags_new();
	struct dpe_target_function *found;
	bool elsewhere = !resolve(probes, &probes->modules, wanted, ignored, &found);

	free(found);
	dpe_diags_free(ignored);
	return elsewhere;
}

/* In a Go program, the goroutine is known in its own code only; in others, Go's functions have no thread. */
static bool is_foreign(const struct dpe_probes *probes, const struct dpe_target_function *target)
{
	if (!probes->go)
		return dpe_go_is(target->module);
	return target->module != probes->go || !dpe_go_compiled(target->module, target->function);
}

static void report_foreign(const struct dpe_probes *probes, const struct dpe_plan_site *wanted, const struct dpe_target_function *target,
	struct dpe_diags *diags)
{
	if (wanted->optional)
		return;
	dpe_diag(diags, probes->placed ? DPE_WARNING : DPE_ERROR, wanted->place, "'%s' of %s cannot be observed: %s",
		dpe_name_text(probes->names, wanted->name), target->module->name,
		probes->go ? "Go's compiler did not compile it, so its goroutine is not known"
			   : "it is a function of Go, which are only observed in a Go program that dpe starts itself, without --follow");
}

/* Those of the functions that can be observed; how many there are. */
static unsigned add_sites(struct dpe_probes *probes, const struct dpe_plan_site *wanted, const struct dpe_target_function *found,
	unsigned count, struct dpe_diags *diags)
{
	unsigned added = 0;

	for (unsigned i = 0; i < count; i++) {
		if (wanted->kind == DPE_SITE_FUNCTION && is_foreign(probes, &found[i])) {
			report_foreign(probes, wanted, &found[i], diags);
			continue;
		}
		add_site(probes, wanted, &found[i]);
		added++;
	}
	return added;
}

static bool find_wanted(
	struct dpe_probes *probes, const struct dpe_plan_site *wanted, struct dpe_diags *diags)
{
	struct dpe_target_function *found;
	unsigned errors = dpe_diags_errors(diags), count;

	if (probes->follows && !wanted->optional && is_missing(probes, wanted))
		return await(probes, wanted);
	count = resolve(probes, &probes->modules, wanted, diags, &found);
	count = add_sites(probes, wanted, found, count, diags);
	free(found);
	if (count)
		warn_of_entries(wanted, diags);
	if (count && !wanted->optional)
		warn_of_ifuncs(probes, wanted, diags);
	if (!count && wanted->optional && wanted->own && dpe_diags_errors(diags) == errors)
		dpe_diag(diags, DPE_WARNING, wanted->place,
			"the program and its libraries have no '%s': the rule orders nothing there",
			dpe_name_text(probes->names, wanted->name));
	if (!count && wanted->optional)
		dpe_debug(probes->debug, "probes", 1, "%s: not in the target, so not observed",
			dpe_name_text(probes->names, wanted->name));
	return dpe_diags_errors(diags) == errors && (count || wanted->optional || await(probes, wanted));
}

static void place(struct dpe_probes *probes, struct dpe_site *site)
{
	const struct dpe_entry_use use = {
		.nwords = dpe_signature_needed(site->signature),
		.only_noted = !site->enter && !probes->plan->nobjects,
	};

	if (site->wanted->kind)
		return;
	dpe_place_entry(site->module, site->function, &use, &site->placement);
	dpe_site_find_returns(probes, site);
	dpe_debug(probes->debug, "probes", 2, "%s::%s: +%u %s: %s", site->module->name,
		site->function->name, site->placement.distance, site->placement.instruction,
		site->placement.reason);
}

static void give_signature(struct dpe_probes *probes, struct dpe_site *site)
{
	if (site->usdt)
		site->signature = dpe_usdt_signature(site->usdt, probes->arena);
	else
		site->signature = dpe_signature_of(
			site->module, site->function, site->nargs, probes->arena);
}

static void report_no_value(const struct dpe_probes *probes, const struct dpe_site *site,
	const char *what, const char *why, struct dpe_diags *diags)
{
	dpe_diag(diags, probes->placed ? DPE_WARNING : DPE_ERROR, site->wanted->place,
		"the rules ask for %s of '%s', which has no value: %s", what,
		dpe_name_text(probes->names, site->wanted->name), why);
}

/* False after an error for each value that rules use and that cannot be read. */
static bool check_values(
	const struct dpe_probes *probes, const struct dpe_site *site, struct dpe_diags *diags)
{
	const char *why_ret = site->ret ? dpe_signature_ret_obstacle(site->signature) : NULL;
	unsigned missing = 0;

	if (why_ret)
		report_no_value(probes, site, "the result", why_ret, diags);
	for (unsigned i = 0; i < 64; i++) {
		const char *why;
		char what[32];

		if (!(site->used >> i & 1))
			continue;
		why = dpe_signature_obstacle(site->signature, i);
		if (!why)
			continue;
		snprintf(what, sizeof(what), "argument %u", i + 1);
		report_no_value(probes, site, what, why, diags);
		missing++;
	}
	if (missing)
		dpe_diag(diags, DPE_NOTE, site->wanted->place, "write _ for an argument that the rule does not need");
	return !why_ret && !missing;
}

bool dpe_probes_have_no_function(const struct dpe_probes *probes)
{
	bool named = false;

	for (unsigned i = 0; i < probes->plan->nsites; i++)
		named |= probes->plan->sites[i].kind == DPE_SITE_FUNCTION;
	return named && !probes->nsites;
}

/* A program that is linked statically, and stripped, has no names. Rules of a shipped specification are no error there. */
static void warn_of_no_function(const struct dpe_probes *probes, struct dpe_diags *diags)
{
	const struct dpe_module *program = dpe_modules_program(&probes->modules);

	if (!probes->follows && program && dpe_probes_have_no_function(probes))
		dpe_diag_at(diags, DPE_WARNING, program->name, "has none of the functions that the rules name%s: only where threads begin and "
			"end is observed",
			program->stripped ? " (it is stripped, and no debug file of it is installed)" : "");
}

bool dpe_sites_find(struct dpe_probes *probes, struct dpe_diags *diags)
{
	bool complete = true;

	probes->unwinds = dpe_sites_unwind(probes);
	probes->may_unwind = dpe_sites_may_unwind(probes);
	for (unsigned i = 0; i < probes->plan->nsites; i++)
		complete &= find_wanted(probes, &probes->plan->sites[i], diags);
	for (unsigned i = 0; complete && i < probes->nsites; i++) {
		struct dpe_site *site = &probes->sites[i];

		give_signature(probes, site);
		complete &= check_values(probes, site, diags);
		complete &= dpe_reads_reach(probes, site, diags);
		dpe_preload_take(probes, site);
		if (!site->preloaded)
			place(probes, site);
	}
	if (complete)
		dpe_sites_warn_of_types(probes, diags);
	if (complete)
		warn_of_no_function(probes, diags);
	dpe_sites_drop_unprobed(probes, 0, diags);
	probes->nsearched = probes->modules.count;
	return complete && dpe_sites_check_code(probes, 0, diags) && dpe_sites_check_stacks(probes, 0, diags);
}

/* ---- in files that came later ------------------------------------------------------------ */

/* The loaded programs have no room for what the site needs. */
static bool lacks_room(const struct dpe_probes *probes, const struct dpe_site *site)
{
	bool far = (unsigned)(site - probes->sites) >= probes->first_watch;

	return !dpe_reads_have_room(probes, site) ||
	       (far && (site->reads || site->usdt));
}

/* False if it cannot be observed. */
static bool find_wanted_late(
	struct dpe_probes *probes, struct dpe_modules *modules, const struct dpe_plan_site *wanted)
{
	struct dpe_diags *ignored = dpe_diags_new();
	struct dpe_target_function *found;
	struct dpe_plan_site any = *wanted;
	unsigned count;
	bool good;

	any.optional = true; /* its absence is not an error */
	count = resolve(probes, modules, &any, ignored, &found);
	good = add_sites(probes, wanted, found, count, probes->diags) == count && !dpe_diags_errors(ignored);
	if (!good)
		dpe_diag(probes->diags, DPE_WARNING, wanted->place,
			"'%s' of a file that was loaded late cannot be observed",
			dpe_name_text(probes->names, wanted->name));
	if (count && probes->awaited)
		probes->awaited[wanted - probes->plan->sites] = false;
	free(found);
	dpe_diags_free(ignored);
	return good;
}

static void prepare_late(struct dpe_probes *probes, struct dpe_site *site)
{
	give_signature(probes, site);
	check_values(probes, site, probes->diags);
	dpe_reads_reach(probes, site, probes->diags);
	place(probes, site);
	if (!lacks_room(probes, site))
		return;
	dpe_diag(probes->diags, DPE_WARNING, site->wanted->place,
		"there is no room for the variables that come with '%s' of %s, which was "
		"loaded late: they are unknown",
		site->function->name, site->module->name);
	site->reads = 0;
	site->filters[0] = site->filters[1] = (struct dpe_filters){.all = true};
}

unsigned dpe_sites_find_late(struct dpe_probes *probes)
{
	struct dpe_modules fresh = {
		.at = probes->modules.at + probes->nsearched,
		.count = probes->modules.count - probes->nsearched,
	};
	unsigned first = probes->nsites, first_module = probes->nsearched, refused = 0;

	for (unsigned i = 0; i < probes->plan->nsites; i++)
		refused += !find_wanted_late(probes, &fresh, &probes->plan->sites[i]);
	probes->nsearched = probes->modules.count;
	probes->unwinds = probes->may_unwind && dpe_sites_unwind(probes);
	for (unsigned i = first; i < probes->nsites; i++)
		prepare_late(probes, &probes->sites[i]);
	dpe_sites_drop_unprobed(probes, first, probes->diags);
	refused += !dpe_sites_check_code(probes, first, probes->diags);
	refused += !dpe_sites_check_stacks(probes, first_module, probes->diags);
	return refused;
}
