/* exit_wait: at the end of main, exit() waits for the other threads, since the accesses that it would cut off may race, too. */
#include "probes/inside/library.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { STEP = 5, ENOUGH_STEPS = 3 }; /* ms; steps in a row in which no thread can proceed */

static unsigned count_threads(void)
{
	struct stat status;

	return syscall(SYS_stat, "/proc/self/task", &status) ? 1 : (unsigned)status.st_nlink - 2;
}

/* "202 0x7f… 0x80 0x0 0x0 …": the number of the system call, its arguments; the fourth one is a futex's time limit. */
static bool is_endless_wait(const char *call)
{
	unsigned long number = 0;

	for (; *call >= '0' && *call <= '9'; call++)
		number = number * 10 + (unsigned long)(*call - '0');
	for (unsigned words = 0; words < 4 && *call; call++)
		words += *call == ' ';
	return number == SYS_futex && call[0] == '0' && call[1] == 'x' && call[2] == '0' && call[3] == ' ';
}

/* Whether the thread waits for another one, without a time limit. Functions that the library replaces are not called. */
static bool waits(int threads, const char *id)
{
	char path[32] = "", call[128] = "";
	size_t len = strlen(id);
	long file;

	if (len + sizeof("/syscall") > sizeof(path))
		return false;
	memcpy(path, id, len);
	memcpy(path + len, "/syscall", sizeof("/syscall"));
	file = syscall(SYS_openat, threads, path, O_RDONLY | O_CLOEXEC);
	if (file < 0)
		return false;
	if (syscall(SYS_read, file, call, sizeof(call) - 1) <= 0)
		call[0] = '\0';
	syscall(SYS_close, file);
	return is_endless_wait(call);
}

/* All of the entries, but for this thread. */
static bool all_wait(int threads, const char *entries, long size)
{
	pid_t self = (pid_t)syscall(SYS_gettid);

	for (long at = 0; at < size;) {
		const struct dirent64 *entry = (const struct dirent64 *)(entries + at);

		if (entry->d_name[0] != '.' && atoi(entry->d_name) != self && !waits(threads, entry->d_name))
			return false;
		at += entry->d_reclen;
	}
	return true;
}

/* Nobody wakes them: they are the idle threads of a pool, or deadlocked. */
static bool others_wait(void)
{
	_Alignas(struct dirent64) char entries[4096];
	long threads = syscall(SYS_openat, AT_FDCWD, "/proc/self/task", O_RDONLY | O_DIRECTORY | O_CLOEXEC), size;
	bool wait = threads >= 0;

	while (wait && (size = syscall(SYS_getdents64, threads, entries, sizeof(entries))))
		wait = size > 0 && all_wait((int)threads, entries, size);
	if (threads >= 0)
		syscall(SYS_close, threads);
	return wait;
}

__attribute__((destructor)) static void stay(void)
{
	const struct timespec step = {.tv_nsec = STEP * 1000000};
	const struct dpe_preload_look *look = dpe_preload_look;
	const struct dpe_preload_header *header = look ? look->header : NULL;
	unsigned found = 0;

	if (dpe_preload_filtered)
		return;
	for (uint32_t ms = 0; header && ms < header->stay && count_threads() > 1 && found < ENOUGH_STEPS; ms += STEP) {
		if (__atomic_load_n(&header->closed, __ATOMIC_ACQUIRE))
			return;
		found = others_wait() ? found + 1 : 0;
		nanosleep(&step, NULL);
	}
}
