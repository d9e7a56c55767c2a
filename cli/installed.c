/* Files that are installed with the command, or lie beside it in the build tree. */
#include "cli/cli.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

char *cli_command_folder(void)
{
	char path[PATH_MAX] = "";
	ssize_t len = readlink("/proc/self/exe", path, sizeof(path) - 1);

	*strrchr(len > 0 ? path : strcpy(path, "/"), '/') = '\0';
	return dpe_xstrdup(path);
}

char *cli_find_beside(const char *const *places, unsigned count, const char *installed, const char *name)
{
	char *folder = cli_command_folder(), *path = NULL;

	for (unsigned i = 0; i <= count && !path; i++) {
		path = i < count ? dpe_xasprintf("%s%s/%s", folder, places[i], name) : dpe_xasprintf("%s/%s", installed, name);
		if (!access(path, R_OK))
			break;
		free(path);
		path = NULL;
	}
	free(folder);
	return path;
}
