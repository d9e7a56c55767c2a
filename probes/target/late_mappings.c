/* late_mappings: files that the target maps while it runs: by dlopen, what that needs, another program.
 *
 * The dynamic linker calls an empty function, made for debuggers, when it has mapped files and
 * before anything of them runs. A thread that comes there waits in the kernel (kernel/bpf/linker_wait.h)
 * until we have looked which files are new and put probes on what the rules name in them. */
#include "probes/live.h"
#include "probes/stream/read_values.h"

#include <stdlib.h>

bool dpe_late_begin(struct dpe_probes *probes, struct dpe_diags *diags)
{
	for (; probes->nlinkers < probes->modules.count; probes->nlinkers++) {
		struct dpe_module *module = probes->modules.at[probes->nlinkers];
		unsigned count;
		const struct dpe_function *function =
			dpe_module_find(module, DPE_LINKER_FUNCTION, &count);

		if (function && !dpe_attach_linker(probes, module, function, diags))
			return false;
	}
	return true;
}

static void observe_since(struct dpe_probes *probes, unsigned module, unsigned site)
{
	for (unsigned i = module; i < probes->modules.count; i++)
		dpe_debug(probes->debug, "probes", 1, "mapped since: %s",
			probes->modules.at[i]->path);
	if (probes->nsites == site)
		return;
	dpe_debug(probes->debug, "probes", 1, "%u more places", probes->nsites - site);
	dpe_preload_forget_sites(probes);
	dpe_armed_find_late(probes, site);
	dpe_attach_late(probes, module, site);
}

void dpe_late_look(struct dpe_probes *probes, pid_t pid)
{
	unsigned module = probes->nsearched, site = probes->nsites;
	struct dpe_diags *unheard = dpe_diags_new();

	dpe_libraries_of_process(&probes->modules, pid, unheard);
	dpe_diags_free(unheard);
	if (module == probes->modules.count)
		return;
	dpe_late_begin(probes, probes->diags);
	dpe_sites_find_late(probes);
	observe_since(probes, module, site);
}

void dpe_late_answer(struct dpe_probes *probes)
{
	uint64_t number, loads;

	if (!dpe_attach_asked(probes, &number))
		return;
	dpe_armed_answer(probes);
	loads = dpe_attach_loads(probes);
	if (probes->follow)
		dpe_follow_look(probes);
	else if (loads != probes->loads)
		dpe_late_look(probes, probes->pid);
	probes->loads = loads;
	dpe_attach_answer(probes, number);
}

static void say_missing(
	const struct dpe_probes *probes, const struct dpe_plan_site *site, struct dpe_diags *diags)
{
	const char *module = dpe_name_text(probes->names, site->module);
	const char *name = dpe_name_text(probes->names, site->name);

	if (probes->follows)
		dpe_diag(diags, DPE_ERROR, site->place,
			"'%s%s%s' was in none of the programs that were followed", module,
			*module ? "::" : "", name);
	else
		dpe_diag(diags, DPE_WARNING, site->place,
			"'%s%s%s' never appeared: no library that was loaded has it", module,
			*module ? "::" : "", name);
}

static void tell_replaced(const struct dpe_probes *probes, struct dpe_diags *diags)
{
	if ((probes->arms.nkinds || probes->nwatches) && dpe_attach_replaced(probes))
		dpe_diag_at(diags, DPE_WARNING, "dpe",
			"the program replaced itself (exec): nothing was watched from then on, which "
			"counts as a loss");
}

static void report_untraceable(const struct dpe_probes *probes, struct dpe_diags *diags)
{
	uint64_t count = dpe_attach_untraceable(probes);

	if (!count)
		return;
	if (probes->child.pid && !dpe_attach_execs(probes))
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

void dpe_probes_tell_missing(const struct dpe_probes *probes, struct dpe_diags *diags)
{
	report_untraceable(probes, diags);
	dpe_armed_tell_refused(probes, diags);
	tell_replaced(probes, diags);
	dpe_texts_tell_cut(probes, diags);
	for (unsigned i = 0; probes->awaited && i < probes->plan->nsites; i++) {
		if (probes->awaited[i])
			say_missing(probes, &probes->plan->sites[i], diags);
	}
}
