/* futex_scan: whether threads of the target are deadlocked as far as the kernel shows: each sleeps in a futex without
 * timeout that no other process can wake. Two scans are compared, as a scan takes time: threads that have not run
 * between them all slept at one moment in between. */
#include "probes/target/target.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>

/* Reads a small file of /proc, as text; false and errno where that fails. */
static bool read_text(char *text, size_t size, const char *path)
{
	FILE *file = fopen(path, "re");
	size_t len;

	int error;

	if (!file)
		return false;
	len = fread(text, 1, size - 1, file);
	error = errno;
	fclose(file);
	errno = error;
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

/* What the thread does in the kernel: sleeps in a futex until it is woken, and has slept so often.
 */
struct sleep {
	uint64_t futex, times;
};

enum sleep_scan { AWAKE, UNSEEN, ASLEEP };

static enum sleep_scan find_futex(pid_t pid, pid_t thread, uint64_t *futex)
{
	uint64_t operation, value, timeout;
	char path[64], text[512];
	long number;

	snprintf(path, sizeof(path), "/proc/%d/task/%d/syscall", pid, thread);
	if (!read_text(text, sizeof(text), path))
		return errno == EPERM || errno == EACCES ? UNSEEN : AWAKE;
	if (sscanf(text, "%ld %" SCNx64 " %" SCNx64 " %" SCNx64 " %" SCNx64, &number, futex,
		    &operation, &value, &timeout) != 5)
		return AWAKE;
	return number == SYS_futex && !timeout ? ASLEEP : AWAKE;
}

/* It changes whenever the thread has run and sleeps again. */
static bool find_times(pid_t pid, pid_t thread, uint64_t *times)
{
	char path[64], text[4096];
	const char *line;

	snprintf(path, sizeof(path), "/proc/%d/task/%d/status", pid, thread);
	if (!read_text(text, sizeof(text), path))
		return false;
	line = strstr(text, "\nvoluntary_ctxt_switches:");
	return line && sscanf(line, "%*[^0-9]%" SCNu64, times) == 1;
}

static enum sleep_scan look_at(pid_t pid, pid_t thread, struct sleep *sleep)
{
	if (!find_times(pid, thread, &sleep->times) || state_of(pid, thread) != 'S')
		return AWAKE;
	return find_futex(pid, thread, &sleep->futex);
}

static bool is_among(pid_t thread, const pid_t *threads, unsigned count)
{
	for (unsigned i = 0; i < count; i++) {
		if (threads[i] == thread)
			return true;
	}
	return false;
}

/* True where every thread that lives is one of these. */
static bool are_all(pid_t pid, const pid_t *threads, unsigned count)
{
	char path[64];
	struct dirent *entry;
	bool good = true;
	DIR *tasks;

	snprintf(path, sizeof(path), "/proc/%d/task", pid);
	tasks = opendir(path);
	if (!tasks)
		return false;
	while (good && (entry = readdir(tasks))) {
		pid_t thread = (pid_t)atoi(entry->d_name);
		char state;

		if (!isdigit((unsigned char)entry->d_name[0]) || is_among(thread, threads, count))
			continue;
		state = state_of(pid, thread);
		good = state == 'Z' || state == 'X';
	}
	closedir(tasks);
	return good;
}

/* True where one of them lies in memory that other processes may have, too. */
static bool any_is_shared(pid_t pid, const struct dpe_sleeper *sleepers, unsigned count)
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
			shared |= sleepers[i].futex >= start && sleepers[i].futex < end;
	}
	fclose(maps);
	return shared;
}

/* Signals that a thread causes itself, which wake no sleeping thread, and signals that the C
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

/* ---- what was seen before ---------------------------------------------------------------- */

static struct dpe_sleeper *find_sleeper(const struct dpe_probes *probes, pid_t thread)
{
	for (unsigned i = 0; i < probes->nsleepers; i++) {
		if (probes->sleepers[i].thread == thread)
			return &probes->sleepers[i];
	}
	return NULL;
}

/* Not where the thread slept so already; since then all that was sent before has been delivered. */
static bool is_new(const struct dpe_probes *probes, const struct dpe_sleeper *now)
{
	const struct dpe_sleeper *before = find_sleeper(probes, now->thread);

	return !before || before->futex != now->futex || before->times != now->times ||
	       probes->drained < before->seen;
}

/* Fills in how each sleeps; AWAKE or UNSEEN where one does not, or that is unknown. */
static enum sleep_scan look_at_all(const struct dpe_probes *probes, const pid_t *threads, unsigned count,
	struct dpe_sleeper *sleepers)
{
	for (unsigned i = 0; i < count; i++) {
		struct sleep sleep = {0};
		enum sleep_scan seen = look_at(probes->pid, threads[i], &sleep);

		if (seen != ASLEEP)
			return seen;
		sleepers[i] = (struct dpe_sleeper){
			.thread = threads[i],
			.futex = sleep.futex,
			.times = sleep.times,
			.seen = dpe_ring_now(),
		};
	}
	return ASLEEP;
}

static void remember(struct dpe_probes *probes, const struct dpe_sleeper *now)
{
	struct dpe_sleeper *before = find_sleeper(probes, now->thread);

	if (!before)
		before = DPE_GROW(probes->sleepers, probes->nsleepers, probes->capsleepers);
	*before = *now;
}

/* What is new is what the next look compares with. */
static enum dpe_stuck compare(
	struct dpe_probes *probes, const struct dpe_sleeper *sleepers, unsigned count)
{
	enum dpe_stuck stuck = DPE_STUCK;

	for (unsigned i = 0; i < count; i++) {
		if (!is_new(probes, &sleepers[i]))
			continue;
		stuck = DPE_STUCK_PERHAPS;
		remember(probes, &sleepers[i]);
	}
	return stuck;
}

enum dpe_stuck dpe_probes_stuck(
	struct dpe_probes *probes, const pid_t *threads, unsigned count, bool all)
{
	enum dpe_stuck stuck = DPE_STUCK_NOT;
	struct dpe_sleeper *sleepers;
	enum sleep_scan seen;

	if (probes->exited) /* with all its threads: no wait of theirs can last */
		return DPE_STUCK_NOT;
	if (all && !are_all(probes->pid, threads, count))
		return DPE_STUCK_NOT;
	sleepers = dpe_xcalloc(count, sizeof(*sleepers));
	seen = look_at_all(probes, threads, count, sleepers);
	if (seen == UNSEEN)
		stuck = DPE_STUCK_UNKNOWN;
	else if (seen == ASLEEP && !(all && any_is_shared(probes->pid, sleepers, count)))
		stuck = compare(probes, sleepers, count);
	if (all && stuck != DPE_STUCK_PERHAPS)
		probes->nsleepers = 0;
	free(sleepers);
	return stuck;
}
