/* program_check: whether a file is a program that can be run. */
#include "probes/process/process.h"

#include <errno.h>
#include <sys/stat.h>
#include <unistd.h>

int dpe_program_check(const char *path)
{
	struct stat status;

	if (stat(path, &status))
		return errno;
	if (S_ISDIR(status.st_mode))
		return EISDIR;
	if (!S_ISREG(status.st_mode))
		return EACCES;
	return access(path, X_OK) ? errno : 0;
}
