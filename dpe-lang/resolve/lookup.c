/* What a name in a rule refers to: a variable of the rule, or one of the specification. */
#include "dpe-lang/resolve/resolve.h"

#include <string.h>

int dpe_find_variable(const struct dpe_resolver *r, const char *name)
{
	for (unsigned i = 0; i < r->nvariables; i++) {
		if (!strcmp(r->variables[i].name, name))
			return (int)i;
	}
	return -1;
}

int dpe_find_global(const struct dpe_globals *globals, const char *name)
{
	for (unsigned i = 0; i < globals->n; i++) {
		if (!strcmp(globals->at[i].name, name))
			return (int)i;
	}
	return -1;
}
