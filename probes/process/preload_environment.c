/* The environment of a target that loads a library of ours. */
#include "probes/process/process.h"

#include <stdlib.h>
#include <string.h>

extern char **environ;

static bool is_replaced(const char *entry, char *const *added, unsigned nadded)
{
	size_t name = strcspn(entry, "=");

	if (!strncmp(entry, "LD_PRELOAD=", strlen("LD_PRELOAD=")))
		return true;
	for (unsigned i = 0; i < nadded; i++) {
		if (!strncmp(entry, added[i], name + 1))
			return true;
	}
	return false;
}

char **dpe_environment_preloading(const char *library, char *const *added, unsigned nadded)
{
	const char *others = getenv("LD_PRELOAD");
	unsigned count = 0, made = 0;
	char **environment;

	while (environ && environ[count])
		count++;
	environment = dpe_xcalloc(count + nadded + 2, sizeof(*environment));
	environment[made++] = dpe_xasprintf(
		"LD_PRELOAD=%s%s%s", library, others && *others ? ":" : "", others ? others : "");
	for (unsigned i = 0; i < count; i++) {
		if (!is_replaced(environ[i], added, nadded))
			environment[made++] = dpe_xstrdup(environ[i]);
	}
	for (unsigned i = 0; i < nadded; i++)
		environment[made++] = added[i];
	return environment;
}

void dpe_environment_free(char **environment)
{
	for (unsigned i = 0; environment && environment[i]; i++)
		free(environment[i]);
	free(environment);
}
