/* A line about the progress of a run, at intervals. Private to cli. */
#ifndef DPE_CLI_PROGRESS_H
#define DPE_CLI_PROGRESS_H

#include "cli/cli.h"

#define CLI_PROGRESS_DEFAULT 5 /* seconds between lines */

struct cli_progress {
	unsigned every;             /* seconds; 0: never */
	uint64_t begin, last, next; /* ms */
	uint64_t events;            /* at the last line */
};

/* `target`: the observed process; 0: dpe starts it; -1: a log. Unless --progress says
 * otherwise, lines are printed to a terminal that the target does not write to. */
void cli_progress_begin(struct cli_progress *progress, const struct cli *cli, pid_t target);
bool cli_progress_due(const struct cli_progress *progress);
/* Prints a line to standard error. `target` 0: there is none. */
void cli_progress_print(struct cli_progress *progress, const struct dpe_recognizer *recognizer,
	uint64_t lost, pid_t target);

/* ms of a monotonic clock. */
uint64_t cli_clock(void);

#endif
