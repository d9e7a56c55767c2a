/* Findings that nobody wants to be told again: files of suppressions, and who matches them. Private
 * to cli. */
#ifndef DPE_CLI_SUPPRESS_H
#define DPE_CLI_SUPPRESS_H

#include "cli/cli.h"

#include <inttypes.h>

struct cli_suppressions;
/* Reads the files of --suppressions; NULL after diagnostics, with the lines that are wrong. */
struct cli_suppressions *cli_suppressions_new(struct cli *cli);
void cli_suppressions_free(struct cli_suppressions *suppressions); /* accepts NULL */
/* True where a line is about events: whoever has them must know their stacks then. */
bool cli_suppressions_look(const struct cli_suppressions *suppressions, const char *rule);
/* True where a line is about such a finding: counts it there, and fills in where that is. Events
 * may be NULL. */
bool cli_suppressions_match(struct cli_suppressions *suppressions, const struct dpe_names *names,
	const char *rule, struct dpe_message *const *events, unsigned nevents,
	struct dpe_place *place);
/* Each line with how many findings it has silenced. */
void cli_suppressions_each(const struct cli_suppressions *suppressions,
	void (*each)(void *context, const char *file, unsigned line, uint64_t count),
	void *context);
/* A line that would silence a finding of this rule at these events (resolved; the last one
 * counts). */
void cli_suppression_print(struct dpe_text *to, const struct dpe_names *names, const char *rule,
	struct dpe_message *const *events, unsigned nevents);

#endif
