/* late_mappings: files that the target maps while it runs: by dlopen, what that needs, another program. The
 * dynamic linker calls an empty function, made for debuggers, when it has mapped files and before anything of
 * them runs. A thread that calls it waits in the kernel (kernel/bpf/linker_wait.h) until we have found the new
 * files and put probes on what the rules name in them. */
#include "probes/target/target.h"

#include <stdlib.h>

bool dpe_late_mappings_begin(struct dpe_probes *probes, struct dpe_diags *diags)
{
	for (; probes->nlinker_modules < probes->modules.count; probes->nlinker_modules++) {
		struct dpe_module *module = probes->modules.at[probes->nlinker_modules];
		struct dpe_linker linker = {module, NULL};
		unsigned count;

		linker.function = dpe_module_find(module, DPE_LINKER_FUNCTION, &count);
		if (!linker.function)
			continue;
		*DPE_GROW(probes->linkers, probes->nlinkers, probes->caplinkers) = linker;
		if (!dpe_process_probes_add_linker(probes, &linker, diags))
			return false;
	}
	return true;
}

static void find_sites_since(struct dpe_probes *probes, unsigned module)
{
	unsigned site = probes->nsites;

	for (unsigned i = module; i < probes->modules.count; i++)
		dpe_debug(probes->debug, "probes", 1, "mapped since: %s",
			probes->modules.at[i]->path);
	dpe_late_mappings_begin(probes, probes->diags);
	for (unsigned refused = dpe_sites_find_late(probes); refused; refused--)
		dpe_attach_lose(probes);
	if (probes->nsites == site)
		return;
	dpe_debug(probes->debug, "probes", 1, "%u more places", probes->nsites - site);
	dpe_preload_forget_sites(probes);
	dpe_object_watches_find_late(probes, site);
	dpe_attach_configure_sites(probes, site);
}

void dpe_late_mappings_scan(struct dpe_probes *probes, pid_t pid)
{
	struct dpe_process_probes *process = dpe_process_probes_of(probes, pid);
	struct dpe_diags *unheard = dpe_diags_new();
	struct dpe_mapped mapped = {0};

	dpe_libraries_of_process(&probes->modules, pid, &mapped, unheard);
	dpe_diags_free(unheard);
	dpe_frame_tables_add(probes);
	dpe_known_mappings_fill(probes, pid);
	dpe_maps_read(probes, pid);
	dpe_preload_map_rows(probes);
	if (probes->nsearched < probes->modules.count)
		find_sites_since(probes, probes->nsearched);
	if (process)
		dpe_attach_process(probes, process, &mapped);
	free(mapped.at);
}

static void report_missing(
	struct dpe_probes *probes, const struct dpe_plan_site *site, struct dpe_diags *diags)
{
	const char *module = dpe_name_text(probes->names, site->module);
	const char *name = dpe_name_text(probes->names, site->name);

	if (!probes->follows) {
		dpe_diag(diags, DPE_WARNING, site->place,
			"'%s%s%s' never appeared: no library that was loaded has it", module,
			*module ? "::" : "", name);
		return;
	}
	dpe_diag(diags, DPE_ERROR, site->place,
		"'%s%s%s' was in none of the programs that were followed", module,
		*module ? "::" : "", name);
	dpe_sites_note_optimised(&probes->modules, site, probes->names, diags);
}

static void report_replaced(const struct dpe_probes *probes, struct dpe_diags *diags)
{
	if ((probes->object_watches->nkinds || probes->nwatches) && dpe_attach_replaced(probes))
		dpe_diag_at(diags, DPE_WARNING, "dpe",
			"the program replaced itself (exec): nothing was watched from then on, which "
			"counts as a loss");
}

static void report_untraceable(const struct dpe_probes *probes, struct dpe_diags *diags)
{
	uint64_t count = dpe_attach_untraceable(probes);

	if (!count)
		return;
	if (probes->child->pid && !dpe_attach_execs(probes))
		dpe_diag_at(diags, DPE_ERROR, "dpe",
			"the program has more rights than the user who runs dpe (set-user-ID, "
			"set-group-ID, capabilities, or no right to read it): observing it needs "
			"the capability CAP_SYS_PTRACE");
	else
		dpe_diag_at(diags, DPE_WARNING, "dpe",
			"%llu program%s with more rights than the user who runs dpe (set-user-ID, "
			"set-group-ID, capabilities, or no right to read it) %s not observed, which "
			"counts as a loss: that needs the capability CAP_SYS_PTRACE",
			(unsigned long long)count, count == 1 ? "" : "s",
			count == 1 ? "was" : "were");
}

uint64_t dpe_probes_unplaced(const struct dpe_probes *probes)
{
	return dpe_attach_unplaced(probes);
}

static void report_unplaced(const struct dpe_probes *probes, struct dpe_diags *diags)
{
	uint64_t count = dpe_attach_unplaced(probes);

	if (count)
		dpe_diag_at(diags, DPE_WARNING, "dpe",
			"%llu event%s lost: threads or observers were changing the memory mappings of the process, so it is not known "
			"whether arguments are in memory that processes share",
			(unsigned long long)count, count == 1 ? " is" : "s are");
}

void dpe_probes_report_missing(struct dpe_probes *probes, struct dpe_diags *diags)
{
	report_untraceable(probes, diags);
	dpe_object_watches_report_refused(probes, diags);
	report_replaced(probes, diags);
	dpe_texts_report_cut(probes, diags);
	dpe_memory_report_mapped_twice(probes, diags);
	report_unplaced(probes, diags);
	dpe_sites_report_fatal_return(probes, diags);
	for (unsigned i = 0; probes->awaited && i < probes->plan->nsites; i++) {
		if (probes->awaited[i])
			report_missing(probes, &probes->plan->sites[i], diags);
	}
}
