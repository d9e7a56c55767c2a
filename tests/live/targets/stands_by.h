/* stands_by: programs that dpe attaches to begin what they do at a sign, not after some time. */
#ifndef DPE_TARGETS_STANDS_BY_H
#define DPE_TARGETS_STANDS_BY_H

#include <fcntl.h>
#include <time.h>
#include <unistd.h>

/* Makes the file, which says that the program is there, and returns when somebody has removed it. */
static inline void stand_by(const char *path)
{
	const struct timespec ms = {.tv_nsec = 1000000};

	close(open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
	while (!access(path, F_OK))
		nanosleep(&ms, NULL);
}

#endif
