/* Plan sites that no file has yet: a library that the program loads later may have them. */
#include "probes/plan/late_sites.h"

bool dpe_late_may_come(const struct dpe_modules *modules, const struct dpe_plan_site *site,
	const struct dpe_names *names)
{
	static const char *const loaders[] = {"dlopen", "dlmopen"};
	const char *file = dpe_name_text(names, site->module);
	bool loads = false;

	for (unsigned i = 0; i < modules->count; i++) {
		if (site->kind == DPE_SITE_FUNCTION && *file &&
			dpe_module_is(modules->at[i], file))
			return false;
		for (unsigned j = 0; j < DPE_COUNT(loaders); j++)
			loads |= dpe_module_imports(modules->at[i], loaders[j]);
	}
	return loads;
}

enum dpe_severity dpe_late_severity(const struct dpe_modules *modules,
	const struct dpe_plan_site *site, const struct dpe_names *names)
{
	return dpe_late_may_come(modules, site, names) ? DPE_WARNING : DPE_ERROR;
}

static bool starts_programs(const struct dpe_module *program)
{
	static const char *const starters[] = {"execve", "execv", "execvp", "execvpe", "execl",
		"execlp", "execle", "posix_spawn", "posix_spawnp"};

	for (unsigned i = 0; program && i < DPE_COUNT(starters); i++)
		if (dpe_module_imports(program, starters[i]))
			return true;
	return false;
}

void dpe_late_note(const struct dpe_modules *modules, enum dpe_severity severity,
	const struct dpe_plan_site *site, struct dpe_diags *diags)
{
	const struct dpe_module *program = dpe_modules_program(modules);

	if (severity == DPE_WARNING)
		dpe_diag(diags, DPE_NOTE, site->place,
			"dpe waits for it: the program may load a library that has it");
	else if (starts_programs(program))
		dpe_diag(diags, DPE_NOTE, site->place,
			"%s can start other programs; --follow observes these, too", program->name);
}

void dpe_late_note_watched(const struct dpe_modules *modules, struct dpe_place place, struct dpe_diags *diags)
{
	const struct dpe_module *program = dpe_modules_program(modules);

	if (starts_programs(program))
		dpe_diag(diags, DPE_NOTE, place,
			"%s can start other programs, and a watchpoint is for one process: start the program that has the variable, "
			"or name its process with -p PID",
			program->name);
}

void dpe_late_note_accesses(const struct dpe_modules *modules, struct dpe_diags *diags)
{
	const struct dpe_module *program = dpe_modules_program(modules);

	if (starts_programs(program))
		dpe_diag_at(diags, DPE_NOTE, program->path,
			"it can start other programs, and accesses are observed in one process: start the program itself");
}
