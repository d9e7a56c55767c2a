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

const char *dpe_constant_instead(const char *name)
{
	static const char *const zeros[] = {"false", "NULL", "nullptr"};

	for (unsigned i = 0; i < DPE_COUNT(zeros); i++) {
		if (!strcmp(name, zeros[i]))
			return "0";
	}
	return strcmp(name, "true") ? NULL : "1";
}

int dpe_find_global(const struct dpe_globals *globals, const char *name)
{
	for (unsigned i = 0; i < globals->n; i++) {
		if (!strcmp(globals->at[i].name, name))
			return (int)i;
	}
	return -1;
}
