/* Whether the target hangs, as far as the kernel can tell: every thread sleeps in a futex that no
 * time ends and no other process can wake. */
#include "probes/live.h"

#include <ctype.h>
#include <dirent.h>
#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>

/* Reads a small file of /proc, as text; false where that fails. */
static bool read_text(char *text, size_t size, const char *path)
{
	FILE *file = fopen(path, "re");
	size_t len;

	if (!file)
		return false;
	len = fread(text, 1, size - 1, file);
	fclose(file);
	text[len] = '\0';
	return len > 0;
}

/* 'S' sleeps, 'Z' is over; '\0' where nobody knows. */
static char state_of(pid_t pid, pid_t thread)
{
	char path[64], text[512];
	const char *name_end;

	snprintf(path, sizeof(path), "/proc/%d/task/%d/stat", pid, thread);
	if (!read_text(text, sizeof(text), path))
		return '\0';
	name_end = strrchr(text, ')');
	return name_end && name_end[1] ? name_end[2] : '\0';
}

/* The address of the futex that the thread sleeps in until it is woken; 0: it does no such thing.
 */
static uint64_t futex_of(pid_t pid, pid_t thread)
{
	uint64_t address, operation, value, timeout;
	char path[64], text[512];
	long number;

	snprintf(path, sizeof(path), "/proc/%d/task/%d/syscall", pid, thread);
	if (!read_text(text, sizeof(text), path))
		return 0;
	if (sscanf(text, "%ld %" SCNx64 " %" SCNx64 " %" SCNx64 " %" SCNx64, &number, &address,
		    &operation, &value, &timeout) != 5)
		return 0;
	return number == SYS_futex && !timeout ? address : 0;
}

static bool is_among(pid_t thread, const pid_t *threads, unsigned count)
{
	for (unsigned i = 0; i < count; i++) {
		if (threads[i] == thread)
			return true;
	}
	return false;
}

/* Fills in the futexes, one a thread. False where a thread is none of these, or does not sleep. */
static bool find_futexes(pid_t pid, const pid_t *threads, unsigned count, uint64_t *futexes)
{
	unsigned found = 0;
	char path[64];
	struct dirent *entry;
	bool good = true;
	DIR *tasks;

	snprintf(path, sizeof(path), "/proc/%d/task", pid);
	tasks = opendir(path);
	while (tasks && good && (entry = readdir(tasks))) {
		pid_t thread = (pid_t)atoi(entry->d_name);
		char state;

		if (!isdigit((unsigned char)entry->d_name[0]))
			continue;
		state = state_of(pid, thread);
		if (state == 'Z' || state == 'X')
			continue;
		good = state == 'S' && found < count && is_among(thread, threads, count);
		if (good)
			good = (futexes[found++] = futex_of(pid, thread));
	}
	if (!tasks)
		return false;
	closedir(tasks);
	return good && found == count;
}

/* True where one of them lies in memory that other processes may have, too. */
static bool any_is_shared(pid_t pid, const uint64_t *futexes, unsigned count)
{
	char path[64], line[512];
	bool shared = false;
	FILE *maps;

	snprintf(path, sizeof(path), "/proc/%d/maps", pid);
	maps = fopen(path, "re");
	if (!maps)
		return true;
	while (!shared && fgets(line, sizeof(line), maps)) {
		uint64_t start, end;
		char access[5];

		if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %4s", &start, &end, access) != 3)
			continue;
		for (unsigned i = 0; i < count && access[3] == 's'; i++)
			shared |= futexes[i] >= start && futexes[i] < end;
	}
	fclose(maps);
	return shared;
}

/* Signals that a thread brings upon itself, which wake nobody who sleeps, and those that the C
 * library keeps for itself. */
static uint64_t own_signals(void)
{
	static const int own[] = {
		SIGILL, SIGTRAP, SIGABRT, SIGBUS, SIGFPE, SIGSEGV, SIGPIPE, SIGSYS, 32, 33, 34};
	uint64_t mask = 0;

	for (unsigned i = 0; i < DPE_COUNT(own); i++)
		mask |= UINT64_C(1) << (own[i] - 1);
	return mask;
}

bool dpe_probes_handles_signals(const struct dpe_probes *probes)
{
	char path[64], text[8192];
	const char *caught;

	snprintf(path, sizeof(path), "/proc/%d/status", probes->pid);
	if (!read_text(text, sizeof(text), path))
		return true;
	caught = strstr(text, "\nSigCgt:");
	return !caught || strtoull(caught + 8, NULL, 16) & ~own_signals();
}

bool dpe_probes_stuck(const struct dpe_probes *probes, const pid_t *threads, unsigned count)
{
	uint64_t *futexes;
	bool stuck;

	if (probes->exited)
		return false;
	futexes = dpe_xcalloc(count, sizeof(*futexes));
	stuck = find_futexes(probes->pid, threads, count, futexes) &&
		!any_is_shared(probes->pid, futexes, count);
	free(futexes);
	return stuck;
}
