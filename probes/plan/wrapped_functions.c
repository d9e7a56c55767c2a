/* The thread functions that the preloaded library wraps and reports itself. */
#include "probes/live.h"
#include "probes/inside/inside.h"

#include <string.h>

static const char *const NAMES[] = {
#define NAME(name) #name,
	DPE_PRELOAD_FUNCTIONS(NAME)
#undef NAME
};

bool dpe_preload_is_library(const struct dpe_module *module)
{
	return !strcmp(module->name, DPE_PRELOAD_LIBRARY) ||
	       !strcmp(module->name, DPE_PRELOAD_MEMORY_LIBRARY);
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
