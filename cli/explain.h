/* explain: what a rule means, for people and for programs. Private to the command line. */
#ifndef DPE_CLI_EXPLAIN_H
#define DPE_CLI_EXPLAIN_H

#include "cli/cli.h"

#include <cjson/cJSON.h>

/* Adds the model, the engine, what is independent of what, and behaviours that are accepted and
 * rejected. */
void cli_explain(struct cli *cli, const struct dpe_rule *rule, struct dpe_text *to);
/* The same as one line of JSON to standard output; behaviours are lists of lines of a log. */
void cli_explain_json(struct cli *cli, const struct dpe_rule *rule);

#endif
