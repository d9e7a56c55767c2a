/* What the rules predict in a run, for an exploration that confirms it. Private to cli. */
#ifndef DPE_CLI_EXPLORE_PREDICTIONS_H
#define DPE_CLI_EXPLORE_PREDICTIONS_H

#include "cli/cli.h"
#include "cli/report/report.h"
#include "explore/explore.h"

struct cli_predictions {
	struct cli *cli;
	pid_t maker; /* of the runs: what it does is done before a run begins */
	struct cli_report_watch watch; /* of the run's report */
	struct dpe_explore_prediction *at;
	unsigned count, cap;
};
void cli_predictions_begin(struct cli_predictions *predictions, struct cli *cli, pid_t maker);
void cli_predictions_free(struct cli_predictions *predictions);

#endif
