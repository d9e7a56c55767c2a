/* What the rules predict in a run, for an exploration that confirms it. Private to cli. */
#ifndef DPE_CLI_EXPLORE_PREDICTIONS_H
#define DPE_CLI_EXPLORE_PREDICTIONS_H

#include "cli/cli.h"
#include "cli/report/report.h"
#include "explore/explore.h"

/* An address without the number of its process. */
uint64_t cli_address(struct dpe_value value);
/* The turn that ends at this message. */
struct dpe_explore_turn cli_turn_at(const struct cli *cli, const struct dpe_message *until);

struct cli_predictions {
	struct cli *cli;
	struct cli_report *report; /* of the run */
	pid_t fork_server; /* that forks the runs: its events come before a run begins */
	struct cli_report_watch watch; /* of the run's report */
	bool collects; /* them, and not what the run shows: */
	struct dpe_text shown; /* a line a match, its key */
	struct dpe_explore_prediction *at;
	unsigned count, cap;
};
void cli_predictions_begin(struct cli_predictions *predictions, struct cli *cli, pid_t fork_server);
/* Begins a run whose matches are remembered; and whether it had this one. */
void cli_predictions_watch(struct cli_predictions *predictions);
bool cli_predictions_shown(const struct cli_predictions *predictions, const char *key);
/* Takes over the prediction; if it is empty, `unknown` says why it has no turns. */
void cli_predictions_add(
	struct cli_predictions *to, const struct dpe_explore_prediction *prediction);
void cli_predictions_free(struct cli_predictions *predictions);

#endif
