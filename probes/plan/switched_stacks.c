/* Refuses to observe exits in programs that switch stacks themselves. The kernel's uretprobes take calls on lower stacks for
 * abandoned once a probed function is called on a higher one, and end the program with SIGILL when such a call returns. So do
 * our own notes of calls: an exit would be lost, or taken for that of another call. In Go programs, whose calls are noted otherwise,
 * a changed return address would stop the program when its stacks are walked. */
#include "probes/plan/site_passes.h"

#include <signal.h>
#include <sys/wait.h>

/* Libraries that switch stacks in one function only, which hardly a program calls: OpenSSL's jobs and oneTBB's
 * resumable tasks. */
static const struct {
	const char *function;
	bool called_by_libraries; /* of the same project: that does not count */
} rare_switches[] = {
	{"ASYNC_start_job", true},
	{"_ZN3tbb6detail2r17suspendEPFvPvPNS1_18suspend_point_typeEES2_", false},
};

/* glibc's, Boost.Context's and Go's. */
static const char *const switches[] = {
	"makecontext", "make_fcontext", "jump_fcontext", "runtime.gogo", "runtime.gogo.abi0"};

static bool defines(struct dpe_module *module, const char *name)
{
	unsigned count;

	return dpe_module_find(module, name, &count) && count;
}

static bool is_called(const struct dpe_modules *modules, const char *function)
{
	for (unsigned i = 0; i < modules->count; i++)
		if (dpe_module_imports(modules->at[i], function))
			return true;
	return false;
}

static bool switches_rarely(const struct dpe_modules *modules, struct dpe_module *module)
{
	for (unsigned i = 0; i < DPE_COUNT(rare_switches); i++)
		if (defines(module, rare_switches[i].function))
			return rare_switches[i].called_by_libraries || !is_called(modules, rare_switches[i].function);
	return false;
}

/* How the file switches stacks; NULL if it does not. Only the program's own definitions count: those of libraries
 * are there for others. */
static const char *stack_switch(const struct dpe_modules *modules, struct dpe_module *module)
{
	for (unsigned i = 0; i < DPE_COUNT(switches); i++) {
		bool used = dpe_module_imports(module, switches[i]) ||
			    (module->program && defines(module, switches[i]));

		if (used)
			return switches_rarely(modules, module) ? NULL : switches[i];
	}
	return NULL;
}

static const struct dpe_site *probed_return(const struct dpe_probes *probes)
{
	for (unsigned i = 0; i < probes->nsites; i++)
		if (probes->sites[i].exit && !probes->sites[i].preloaded && !probes->sites[i].returns)
			return &probes->sites[i];
	return NULL;
}

static const struct dpe_site *observed_exit(const struct dpe_probes *probes)
{
	const struct dpe_site *site = probed_return(probes);

	for (unsigned i = 0; !site && i < probes->nsites; i++)
		if (probes->sites[i].exit && !probes->sites[i].preloaded)
			site = &probes->sites[i];
	return site;
}

/* The program is running: what is not attached yet is left out. */
static void drop_exits(struct dpe_probes *probes, const struct dpe_module *module)
{
	for (unsigned i = 0; i < probes->nsites; i++)
		if (probes->sites[i].module == module)
			probes->sites[i].exit = false;
}

static bool check_go(const struct dpe_probes *probes, struct dpe_diags *diags)
{
	const struct dpe_site *site = probed_return(probes);

	if (site)
		dpe_diag(diags, DPE_ERROR, site->wanted->place,
			"it is not known where '%s' returns, whose exit the rules need: it ends in another function, or is too large; "
			"observe only its entry (f.enter)",
			dpe_name_text(probes->names, site->wanted->name));
	return !site;
}

bool dpe_sites_check_stacks(struct dpe_probes *probes, unsigned first_module, struct dpe_diags *diags)
{
	const struct dpe_site *site = observed_exit(probes);
	bool good = true;

	if (probes->go)
		return check_go(probes, diags);
	for (unsigned i = first_module; site && i < probes->modules.count && (good || probes->placed); i++) {
		struct dpe_module *module = probes->modules.at[i];
		const char *function = stack_switch(&probes->modules, module);

		if (!function)
			continue;
		dpe_diag(diags, probes->placed ? DPE_WARNING : DPE_ERROR, site->wanted->place,
			"%s switches stacks (%s): %s '%s' returns, whose exit the rules need",
			module->name, function, site->returns ? "it is not always seen which call of" : "the kernel may end it when",
			dpe_name_text(probes->names, site->wanted->name));
		dpe_diag(diags, DPE_NOTE, site->wanted->place,
			"observe only entries (f.enter); thread functions can be observed with "
			"--preload");
		if (probes->placed)
			drop_exits(probes, module);
		good = false;
	}
	return good;
}

void dpe_sites_report_fatal_return(const struct dpe_probes *probes, struct dpe_diags *diags)
{
	const struct dpe_site *site = probed_return(probes);
	int signal = WIFSIGNALED(probes->status) ? WTERMSIG(probes->status) : 0;

	if (site && signal == SIGILL && is_called(&probes->modules, "sigaltstack"))
		dpe_diag(diags, DPE_WARNING, site->wanted->place,
			"SIGILL may be due to dpe: the kernel ends a program with probed returns, such as that of '%s', if a signal "
			"handler on an alternative stack calls a function whose return is probed, too; observe only entries (f.enter)",
			dpe_name_text(probes->names, site->wanted->name));
	if (site && signal == SIGABRT && probes->unwinds)
		dpe_diag(diags, DPE_WARNING, site->wanted->place,
			"SIGABRT may be due to dpe: an exception cannot leave a function whose return is probed, such as '%s'; "
			"observe only entries (f.enter), and thread functions with --preload",
			dpe_name_text(probes->names, site->wanted->name));
}
