/* Findings of another run, from a report as JSON Lines, that an exploration is to confirm. Private to cli. */
#ifndef DPE_CLI_EXPLORE_FINDINGS_H
#define DPE_CLI_EXPLORE_FINDINGS_H

#include "cli/explore_predictions.h"

struct cli_wanted_findings;
/* The predicted matches and potential deadlocks of the file, all of rules of the specification; NULL after a
 * diagnostic. */
struct cli_wanted_findings *cli_wanted_read(
	struct cli *cli, const char *path, const struct dpe_spec *spec);
/* Called when a run begins; for each of its messages; and when it has ended, which gives the findings in terms
 * of this run. */
void cli_wanted_begin(struct cli_wanted_findings *wanted);
void cli_wanted_message(struct cli_wanted_findings *wanted, struct dpe_message *message);
void cli_wanted_add(struct cli_wanted_findings *wanted, struct cli_predictions *to);
void cli_wanted_free(struct cli_wanted_findings *wanted); /* accepts NULL */

#endif
