/* Rules that are followed in each run of an exploration. Private to cli. */
#ifndef DPE_CLI_EXPLORE_RULES_H
#define DPE_CLI_EXPLORE_RULES_H

#include "cli/cli.h"
#include "explore/explore.h"

struct cli_explore_rules;
/* Compiles the rules of the command line; NULL after diagnostics. */
struct cli_explore_rules *cli_explore_rules_new(struct cli *cli);
/* What the exploration calls. */
struct dpe_explore_rules cli_explore_rules_hooks(struct cli_explore_rules *rules);
void cli_explore_rules_free(struct cli_explore_rules *rules); /* accepts NULL */

#endif
