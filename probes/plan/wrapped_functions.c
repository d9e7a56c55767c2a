/* The thread functions that the preloaded library wraps and reports itself. */
#include "probes/plan/plan.h"
#include "probes/inside/inside.h"

#include <string.h>

static const char *const NAMES[] = {
#define NAME(name, ...) #name,
	DPE_PRELOAD_FUNCTIONS(NAME)
#undef NAME
};

bool dpe_preload_is_library(const struct dpe_module *module)
{
	return !strcmp(module->name, DPE_PRELOAD_LIBRARY) ||
	       !strcmp(module->name, DPE_PRELOAD_MEMORY_LIBRARY);
}

/* The scheduler may call the function that it replaces: that is no second call of the program. */
bool dpe_preload_replaces(const struct dpe_probes *probes, const struct dpe_module *module, const char *function)
{
	unsigned count;

	for (unsigned i = 0; !module->program && i < probes->modules.count; i++) {
		struct dpe_module *other = probes->modules.at[i];

		if (other != module && !strcmp(other->name, DPE_PRELOAD_SCHEDULER))
			return dpe_module_find(other, function, &count) != NULL;
	}
	return false;
}

unsigned dpe_preload_function(const char *name)
{
	unsigned function = 0;

	while (function < DPE_PRELOAD_COUNT && strcmp(NAMES[function], name))
		function++;
	return function;
}

bool dpe_preload_knows(const char *function)
{
	return dpe_preload_function(function) < DPE_PRELOAD_COUNT;
}

/* Only probes read variables of the program, except the ones that the library reports. */
static bool needs_kernel(const struct dpe_probes *probes, const struct dpe_site *site)
{
	for (unsigned i = 0; i < probes->plan->nreads && i < DPE_READS; i++) {
		if (site->reads >> i & 1 &&
			dpe_layout_word(site->function->name, probes->plan->reads[i].lvalue) < 0)
			return true;
	}
	return false;
}

/* A program that has the function itself calls its own. */
void dpe_preload_take(struct dpe_probes *probes, struct dpe_site *site)
{
	unsigned function = site->module->program ? DPE_PRELOAD_COUNT : dpe_preload_function(site->function->name);
	bool reportable = function < DPE_PRELOAD_COUNT && !needs_kernel(probes, site);

	site->preloadable = reportable && !probes->preload;
	if (!probes->preload || function == DPE_PRELOAD_COUNT)
		return;
	site->known = true;
	site->rare = function == DPE_PRELOAD_pthread_barrier_wait;
	if (!reportable)
		return;
	site->preloaded = true;
	site->wrapped = function;
}
