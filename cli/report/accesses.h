/* Accesses to memory and file descriptors, and which two of them race. Private to report. */
#ifndef DPE_CLI_ACCESSES_H
#define DPE_CLI_ACCESSES_H

#include "cli/report/report.h"

/* An access to memory at an address. */
bool cli_is_access(const struct cli_report *report, const struct dpe_message *message);
/* An access to a variable that is watched: "[x']" or "[x]". */
bool cli_is_data(const struct cli_report *report, const struct dpe_message *message);
bool cli_is_atomic(const struct cli_report *report, const struct dpe_message *message);
/* A use of a file descriptor, or its close. */
bool cli_is_file(const struct cli_report *report, const struct dpe_message *message);
/* Whether the verdict is about two accesses that race, as the rules of race.dpe match them. */
bool cli_is_data_race(const struct cli_report *report, const struct dpe_verdict *verdict,
	const struct dpe_message *const *events, unsigned count);

#endif
