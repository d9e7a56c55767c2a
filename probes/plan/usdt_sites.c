/* Plan sites that are USDT probes: all their places in the target's files. */
#include "probes/plan/late_sites.h"
#include "probes/plan/resolve_sites.h"

#include <stdlib.h>
#include <string.h>

struct usdt_search {
	struct dpe_module *module;
	const char *provider, *name;
	struct dpe_arena *arena;
	struct dpe_target_function *found;
	unsigned nfound, cap;
	const char **names; /* of all probes, to suggest one if none matches */
	unsigned nnames, capnames;
};

static void add_probe(void *context, const struct dpe_usdt *usdt)
{
	struct usdt_search *search = context;
	struct dpe_function *function;
	struct dpe_usdt *copy;
	uint64_t offset;

	*DPE_GROW(search->names, search->nnames, search->capnames) =
		dpe_arena_printf(search->arena, "%s::%s", usdt->provider, usdt->name);
	if (strcmp(usdt->provider, search->provider) || strcmp(usdt->name, search->name) ||
		!dpe_module_offset(search->module, usdt->address, &offset))
		return;
	copy = dpe_arena_alloc(search->arena, sizeof(*copy));
	*copy = *usdt;
	function = dpe_arena_alloc(search->arena, sizeof(*function));
	*function = (struct dpe_function){
		.name = usdt->name, .address = usdt->address, .offset = offset};
	*DPE_GROW(search->found, search->nfound, search->cap) =
		(struct dpe_target_function){
			.module = search->module, .function = function, .usdt = copy};
}

static void report_missing(const struct usdt_search *search, const struct dpe_modules *modules,
	const struct dpe_plan_site *site, enum dpe_severity missing, struct dpe_diags *diags)
{
	char *wanted = dpe_xasprintf("%s::%s", search->provider, search->name);
	const char *best;

	dpe_diag(diags, missing, site->place,
		"no USDT probe '%s' of a provider '%s' in the target or its libraries",
		search->name, search->provider);
	if (!search->nnames)
		dpe_diag(diags, DPE_NOTE, site->place, "they have no USDT probes at all");
	else if (dpe_nearest(wanted, search->names, search->nnames, &best, 1))
		dpe_diag(diags, DPE_NOTE, site->place, "did you mean 'usdt::%s'?", best);
	dpe_late_note(modules, missing, site, diags);
	free(wanted);
}

static void check_form(
	const struct usdt_search *search, const struct dpe_plan_site *site, struct dpe_diags *diags)
{
	unsigned count = search->found[0].usdt->nargs;

	if (count < site->nargs)
		dpe_diag(diags, DPE_ERROR, site->place,
			"'%s' has %u argument%s, and the rules ask for %u", search->name, count,
			count == 1 ? "" : "s", site->nargs);
}

unsigned dpe_resolve_usdt(struct dpe_modules *modules, const struct dpe_plan_site *site,
	const struct dpe_names *names, struct dpe_arena *arena, struct dpe_diags *diags,
	struct dpe_target_function **out)
{
	struct usdt_search search = {
		.provider = dpe_name_text(names, site->module) + strlen("usdt::"),
		.name = dpe_name_text(names, site->name),
		.arena = arena,
	};

	*out = NULL;
	if (site->phased) {
		dpe_diag(diags, DPE_ERROR, site->place,
			"a USDT probe is neither entered nor left: write it without .enter or "
			".exit");
		return 0;
	}
	for (unsigned i = 0; i < modules->count; i++) {
		search.module = modules->at[i];
		dpe_usdt_each(search.module, add_probe, &search);
	}
	if (!search.nfound && !site->optional)
		report_missing(&search, modules, site, dpe_late_severity(modules, site, names), diags);
	else if (search.nfound && !site->optional)
		check_form(&search, site, diags);
	free(search.names);
	*out = search.found;
	return search.nfound;
}
