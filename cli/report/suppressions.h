/* Files of suppressions, and the findings that they match. Private to report. */
#ifndef DPE_CLI_SUPPRESSIONS_H
#define DPE_CLI_SUPPRESSIONS_H

#include "cli/cli.h"

struct cli_suppressions;
/* Reads the files of --suppressions; NULL after diagnostics about invalid lines. */
struct cli_suppressions *cli_suppressions_new(struct cli *cli);
void cli_suppressions_free(struct cli_suppressions *suppressions); /* accepts NULL */
/* True if a suppression of this rule names frames or events: then the events' stacks are needed. */
bool cli_suppressions_need_stacks(const struct cli_suppressions *suppressions, const char *rule);
/* True if a suppression matches the finding; counts it, and sets *place to the line. Events may
 * be NULL. */
bool cli_suppressions_match(struct cli_suppressions *suppressions, const struct dpe_names *names,
	const char *rule, struct dpe_message *const *events, unsigned nevents,
	struct dpe_place *place);
/* Calls `each` for each line, with the number of findings that it silenced. */
void cli_suppressions_each(const struct cli_suppressions *suppressions,
	void (*each)(void *context, const char *file, unsigned line, uint64_t count),
	void *context);
/* Prints a line that would suppress a finding of this rule at these events (with stacks; the
 * last event counts). */
void cli_suppression_print(struct dpe_text *to, const struct dpe_names *names, const char *rule,
	struct dpe_message *const *events, unsigned nevents);

#endif
