/* Prints a line of progress at intervals. */
#include "cli/progress.h"

#include <dirent.h>
#include <inttypes.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

uint64_t cli_clock(void)
{
	return dpe_clock(CLOCK_MONOTONIC) / 1000000;
}

/* True if standard output or error of the process is our standard error. */
static bool shares_stderr(pid_t target)
{
	struct stat ours, theirs;

	if (fstat(STDERR_FILENO, &ours) < 0)
		return false;
	for (int fd = STDOUT_FILENO; fd <= STDERR_FILENO; fd++) {
		char *path = dpe_xasprintf("/proc/%d/fd/%d", (int)target, fd);
		bool same = !stat(path, &theirs) && S_ISCHR(theirs.st_mode) &&
			    theirs.st_rdev == ours.st_rdev;

		free(path);
		if (same)
			return true;
	}
	return false;
}

static bool is_wanted(pid_t target)
{
	if (!isatty(STDERR_FILENO))
		return false;
	if (target > 0)
		return !shares_stderr(target);
	return target < 0 || !isatty(STDOUT_FILENO); /* it will inherit ours */
}

void cli_progress_begin(struct cli_progress *progress, const struct cli *cli, pid_t target)
{
	progress->every = cli->has_progress   ? cli->progress
			  : is_wanted(target) ? CLI_PROGRESS_DEFAULT
					      : 0;
	progress->events = 0;
	progress->begin = progress->last = cli_clock();
	progress->next = progress->begin + progress->every * UINT64_C(1000);
}

bool cli_progress_due(const struct cli_progress *progress)
{
	return progress->every && cli_clock() >= progress->next;
}

static unsigned count_threads(pid_t target)
{
	char *path = dpe_xasprintf("/proc/%d/task", (int)target);
	DIR *folder = opendir(path);
	const struct dirent *entry;
	unsigned count = 0;

	free(path);
	while (folder && (entry = readdir(folder)))
		count += entry->d_name[0] != '.';
	if (folder)
		closedir(folder);
	return count;
}

/* MiB of memory used by dpe. */
static unsigned long count_memory(void)
{
	FILE *file = fopen("/proc/self/statm", "re");
	unsigned long pages = 0;

	if (!file)
		return 0;
	if (fscanf(file, "%*u %lu", &pages) != 1)
		pages = 0;
	fclose(file);
	return (pages * (unsigned long)sysconf(_SC_PAGESIZE)) >> 20;
}

static void add_count(struct dpe_text *to, uint64_t count, const char *what)
{
	dpe_text_printf(to, "%" PRIu64 " %s%s, ", count, what, count == 1 ? "" : "s");
}

void cli_progress_print(struct cli_progress *progress, const struct dpe_recognizer *recognizer,
	uint64_t lost, pid_t target)
{
	uint64_t now = cli_clock(), passed = now - progress->last;
	struct dpe_text text = {0};
	struct dpe_summary sum;

	dpe_recognizer_summary(recognizer, &sum);
	dpe_text_printf(&text, "dpe: %" PRIu64 " s: %" PRIu64 " events (%" PRIu64 "/s), ",
		(now - progress->begin) / 1000, sum.events,
		(sum.events - progress->events) * 1000 / (passed ? passed : 1));
	if (target)
		add_count(&text, count_threads(target), "thread");
	add_count(&text, sum.slices, "slice");
	add_count(&text, dpe_summary_findings(&sum), "finding");
	dpe_text_printf(&text, "%" PRIu64 " lost, %lu MiB\n", lost, count_memory());
	fputs(text.at, stderr);
	dpe_text_free(&text);
	progress->last = now;
	progress->events = sum.events;
	progress->next = now + progress->every * UINT64_C(1000);
}
