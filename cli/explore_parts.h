/* explore_parts: what cmd_explore.c puts together, and what follows the rules in each run. Private to cli. */
#ifndef DPE_CLI_EXPLORE_PARTS_H
#define DPE_CLI_EXPLORE_PARTS_H

#include "cli/explore_predictions.h"

/* ---- explore_json.c: the report as JSON Lines, described in docs/formats.md -------------------------- */

/* What the exploration calls; `to` is a FILE. */
struct dpe_explore_listener cli_explore_json(const struct dpe_explore_options *options);

/* ---- explore_rules.c: rules that are followed in each run -------------------------------------------- */

struct cli_explore_rules;
/* Compiles the rules of the command line; NULL after diagnostics. */
struct cli_explore_rules *cli_explore_rules_new(struct cli *cli);
/* What the exploration calls. */
struct dpe_explore_rules cli_explore_rules_hooks(struct cli_explore_rules *rules);
void cli_explore_rules_free(struct cli_explore_rules *rules); /* accepts NULL */

/* ---- explore_findings.c, wanted_findings.c: findings of another run that are to be confirmed --------- */

struct cli_wanted_findings;
/* The predicted matches and potential deadlocks of the file, JSON Lines, all of rules of the specification; NULL after a
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
