/* What a run cost: events, memory, and the processor time of its stages. */
#ifndef DPE_CLI_STATS_H
#define DPE_CLI_STATS_H

#include "cli/cli.h"
#include "cli/report/report.h"

struct cli_stats;
/* Begins to measure the calling thread, which uses the recognizer; NULL without --stats. */
struct cli_stats *cli_stats_begin(const struct cli *cli, const struct dpe_recognizer *recognizer);
/* Before the recognizer's end: what it holds. Accepts NULL, as does the next one. */
void cli_stats_note(struct cli_stats *stats, const struct dpe_recognizer *recognizer);
/* Adds the figures to the report, and frees them. */
void cli_stats_end(struct cli_stats *stats, struct cli_report *report, const struct dpe_recognizer *recognizer);

#endif
