/* The kernel's return probes divert the return address, so exceptions, cancellation and backtrace() do not find
 * the caller. In programs that unwind, functions through which an exception may pass are observed at their return
 * instructions instead. */
#include "probes/plan/site_passes.h"

#include <string.h>

/* Only a library of the language itself defines what others call to throw or to proceed; Rust's is part of the program, as is a
 * static one. */
bool dpe_sites_unwind(const struct dpe_probes *probes)
{
	static const char *const functions[] = {"_Unwind_Resume", "_Unwind_RaiseException", "__cxa_throw"};
	unsigned count;

	for (unsigned i = 0; i < probes->modules.count; i++) {
		struct dpe_module *module = probes->modules.at[i];

		for (unsigned j = 0; j < DPE_COUNT(functions); j++)
			if (dpe_module_imports(module, functions[j]) ||
				(module->program && dpe_module_find(module, functions[j], &count)))
				return true;
	}
	return false;
}

bool dpe_sites_may_unwind(const struct dpe_probes *probes)
{
	for (unsigned i = 0; i < probes->modules.count; i++)
		if (dpe_module_imports(probes->modules.at[i], "dlopen") || dpe_module_imports(probes->modules.at[i], "dlmopen"))
			return true;
	return probes->unwinds || probes->follows;
}

/* Other functions may return for one if it is seen when an exception has left it. */
static bool returns_alone(const struct dpe_probes *probes)
{
	bool alone = true;

	for (unsigned i = 0; i < probes->modules.count; i++) {
		enum dpe_unwinder_kind unwinder = dpe_unwinder_of(probes->modules.at[i], NULL);

		if (unwinder == DPE_UNWINDER_UNKNOWN)
			return true;
		alone &= unwinder == DPE_UNWINDER_NONE;
	}
	return alone;
}

/* Functions of the C library that call nothing of the program, wait for nothing, and are called often. */
static bool is_never_left(const struct dpe_site *site)
{
	static const char *const prefixes[] = {"pthread_mutex_", "__pthread_mutex_", "pthread_rwlock_", "__pthread_rwlock_",
		"pthread_spin_", "malloc", "calloc", "realloc", "free", "mem", "str"};

	if (!dpe_module_is(site->module, "libc") && !dpe_module_is(site->module, "libpthread"))
		return false;
	for (unsigned i = 0; i < DPE_COUNT(prefixes); i++)
		if (!strncmp(site->function->name, prefixes[i], strlen(prefixes[i])))
			return true;
	return false;
}

/* Nothing is called before a place that is also the function's entry, which has to come first. */
static bool begins_there(const struct dpe_site *site, const struct dpe_returns *returns)
{
	for (unsigned i = 0; i < returns->count; i++)
		if (returns->offsets[i] == site->function->offset + site->placement.distance)
			return true;
	return false;
}

void dpe_site_find_returns(struct dpe_probes *probes, struct dpe_site *site)
{
	struct dpe_returns *returns;
	bool go = dpe_go_is(site->module);

	if (!site->exit || (!go && (!probes->unwinds || is_never_left(site))))
		return;
	returns = dpe_arena_alloc(probes->arena, sizeof(*returns));
	if (dpe_code_returns(site->module, site->function, site->placement.distance, go || returns_alone(probes), returns) &&
		!begins_there(site, returns))
		site->returns = returns;
	dpe_debug(probes->debug, "probes", 2, "%s::%s: %u returns in %u functions", site->module->name, site->function->name,
		site->returns ? returns->count : 0, site->returns ? returns->nparts : 0);
}
