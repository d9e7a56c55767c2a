/* Measures a run: a thread looks every millisecond, and at the end, at which stage the main thread is, and adds the
 * processor time that this has used since. Nothing is measured at an event. */
#include "cli/stats.h"

#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

struct cli_stats {
	const struct dpe_recognizer *recognizer; /* borrowed */
	pthread_t thread;
	clockid_t clock; /* processor time of the main thread */
	uint64_t begin;  /* ns */
	uint64_t last;   /* on that clock: time up to here has been added */
	struct cli_stats_figures figures;
	bool over;
};

static void *look(void *context)
{
	const struct timespec period = {.tv_nsec = 1000000};
	struct cli_stats *stats = context;
	bool over = false;

	while (!over) {
		enum dpe_stage stage;
		uint64_t now;

		nanosleep(&period, NULL);
		over = __atomic_load_n(&stats->over, __ATOMIC_ACQUIRE);
		stage = dpe_recognizer_stage(stats->recognizer);
		now = dpe_clock(stats->clock);
		stats->figures.stages[stage] += now - stats->last;
		stats->last = now;
	}
	return NULL;
}

/* Signals are for the main thread. */
static int start(struct cli_stats *stats)
{
	sigset_t all, before;
	int error;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	error = pthread_create(&stats->thread, NULL, look, stats);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return error;
}

struct cli_stats *cli_stats_begin(const struct cli *cli, const struct dpe_recognizer *recognizer)
{
	struct cli_stats *stats;
	int error;

	if (!cli->stats || !recognizer)
		return NULL;
	stats = dpe_xcalloc(1, sizeof(*stats));
	stats->recognizer = recognizer;
	stats->begin = dpe_clock(CLOCK_MONOTONIC);
	error = pthread_getcpuclockid(pthread_self(), &stats->clock);
	if (!error) {
		stats->last = dpe_clock(stats->clock);
		error = start(stats);
	}
	if (!error)
		return stats;
	dpe_diag_at(cli->diags, DPE_WARNING, "--stats", "cannot measure: %s", strerror(error));
	free(stats);
	return NULL;
}

void cli_stats_note(struct cli_stats *stats, const struct dpe_recognizer *recognizer)
{
	struct dpe_summary summary;

	if (!stats)
		return;
	dpe_recognizer_summary(recognizer, &summary);
	stats->figures.slices = summary.slices;
	stats->figures.kept = summary.kept;
}

void cli_stats_end(struct cli_stats *stats, struct cli_report *report, const struct dpe_recognizer *recognizer)
{
	struct dpe_summary summary;
	struct rusage used;

	if (!stats)
		return;
	stats->figures.wall = dpe_clock(CLOCK_MONOTONIC) - stats->begin;
	__atomic_store_n(&stats->over, true, __ATOMIC_RELEASE);
	pthread_join(stats->thread, NULL);
	dpe_recognizer_summary(recognizer, &summary);
	getrusage(RUSAGE_SELF, &used);
	stats->figures.events = summary.events;
	stats->figures.memory = (uint64_t)used.ru_maxrss * 1024;
	cli_report_stats(report, &stats->figures);
	free(stats);
}
