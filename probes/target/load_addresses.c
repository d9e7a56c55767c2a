/* load_addresses: where the target has the libraries whose variables are wanted.
 *
 * A running process has all of them mapped. In a process that we start, the program is mapped first, and alone: the
 * dynamic linker maps its libraries then, and notifies of that, as it does for debuggers, before anything of
 * them runs. There the target is stopped once more, and at the latest where its program begins. */
#include "probes/target/target.h"

#include <string.h>

static bool is_missing(const struct dpe_variable *variable)
{
	return variable->module && !variable->module->program && !variable->module->based;
}

bool dpe_load_addresses_missing(const struct dpe_probes *probes)
{
	return dpe_any_variable(probes, is_missing);
}

static void note_base(void *context, const struct dpe_mapping *mapping)
{
	const struct dpe_modules *modules = context;
	struct dpe_module *module = dpe_modules_find(modules, mapping->path);

	if (module && !module->based)
		module->based = dpe_module_bias(
			module, mapping->start, mapping->offset, &module->bias);
}

bool dpe_load_addresses_find(struct dpe_probes *probes, struct dpe_diags *diags)
{
	if (dpe_mappings_each(probes->pid, note_base, &probes->modules) >= 0 &&
		dpe_modules_program(&probes->modules)->based)
		return true;
	dpe_diag_at(diags, DPE_ERROR, "dpe",
		"cannot find where process %d has its program, to observe variables", probes->pid);
	return false;
}

bool dpe_load_addresses_check(const struct dpe_probes *probes, struct dpe_diags *diags)
{
	const struct dpe_module *program = dpe_modules_program(&probes->modules);

	if (!dpe_load_addresses_missing(probes))
		return true;
	dpe_diag_at(diags, DPE_ERROR, program->path,
		"it has begun without a library whose variables are to be observed");
	return false;
}
