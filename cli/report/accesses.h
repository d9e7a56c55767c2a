/* Accesses to memory and file descriptors, and races between two of them. Private to report. */
#ifndef DPE_CLI_ACCESSES_H
#define DPE_CLI_ACCESSES_H

#include "cli/report/report.h"

/* An access to memory at an address. */
bool cli_is_access(const struct cli_report *report, const struct dpe_message *message);
/* An access to a variable that is watched: "[x']" or "[x]". */
bool cli_is_data(const struct cli_report *report, const struct dpe_message *message);
/* Whether the verdict is about two accesses that race, as the rules of race.dpe match them; and that in words:
 * "data race on x: write of 4 bytes by thread 7, not ordered with read of 4 bytes by thread 8". */
bool cli_is_data_race(const struct cli_report *report, const struct dpe_verdict *verdict,
	const struct dpe_message *const *events, unsigned count);
void cli_text_race(struct dpe_text *to, const struct cli_report *report, const struct dpe_verdict *verdict,
	const struct dpe_message *const *events);

#endif
