/* How things go, told now and then while they do. Private to cli. */
#ifndef DPE_CLI_PROGRESS_H
#define DPE_CLI_PROGRESS_H

#include "cli/cli.h"

#define CLI_PROGRESS_USUALLY 5 /* seconds from line to line */

struct cli_progress {
	unsigned every;             /* seconds; 0: never */
	uint64_t begin, last, next; /* ms */
	uint64_t events;            /* told last */
};

/* `target`: the process that is observed, 0 where dpe starts it; -1: a log. Where --progress does
 * not say it, lines come on a terminal on which the target does not write. */
void cli_progress_begin(struct cli_progress *progress, const struct cli *cli, pid_t target);
bool cli_progress_due(const struct cli_progress *progress);
/* One line to standard error. `target` 0: there is none. */
void cli_progress_tell(struct cli_progress *progress, const struct dpe_recognizer *recognizer,
	uint64_t lost, pid_t target);

/* ms of a clock that only goes forward. */
uint64_t cli_clock(void);

#endif
