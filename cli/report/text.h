/* Parts of the text report, each added to a text. Private to report. */
#ifndef DPE_CLI_TEXT_H
#define DPE_CLI_TEXT_H

#include "cli/report/report.h"

/* "race.dpe:3": the location of the rule. */
void cli_text_place(struct dpe_text *to, const struct dpe_rule *rule);
void cli_text_value(struct dpe_text *to, struct dpe_value value);
/* The same; a pointer by the name of its variable, if it has one. */
void cli_text_address(struct dpe_text *to, const struct cli_report *report, struct dpe_value value);
/* ", at 0.000001234 s", if the message has a time. */
void cli_text_time(
	struct dpe_text *to, const struct cli_report *report, const struct dpe_message *message);
/* " on HOST", if the message says which. */
void cli_text_host(struct dpe_text *to, const struct dpe_message *message);
/* " (mutex_a)": the variable of the program at this address, if any. */
void cli_text_variable(struct dpe_text *to, const struct cli_report *report, struct dpe_value value);
/* The event's name, with ".exit" if it is a return. */
void cli_text_name(
	struct dpe_text *to, const struct cli_report *report, const struct dpe_message *message);
/* The event's name with its id, or as in reasons: "enqueue 3", "enqueue.enter@7:2". */
void cli_text_event(
	struct dpe_text *to, const struct cli_report *report, const struct dpe_message *message);
/* An event as it is reported: a line, and its stack. Its values have the names that `rule`, or else another, gives them. */
void cli_text_message(
	struct dpe_text *to, const struct cli_report *report, const struct dpe_rule *rule, const struct dpe_message *message);
/* A stack, a line a frame. Short, unless --full-stacks was given. */
void cli_text_stack(
	struct dpe_text *to, const struct cli *cli, const char *const *frames, unsigned count);
void cli_text_params(
	struct dpe_text *to, const struct cli_report *report, const struct dpe_verdict *verdict);
/* The line of a suppressions file that would leave out the finding, if --show-suppressions asks for it. */
void cli_text_suppression(struct dpe_text *to, const struct cli_report *report, const struct dpe_rule *rule,
	struct dpe_message *const *events, unsigned count);
/* What happened, and what was expected. */
void cli_text_reason(struct dpe_text *to, const struct dpe_verdict *verdict);
/* "data race on x: write of 4 bytes by thread 7, not ordered with read of 4 bytes by thread 8". */
void cli_text_race(struct dpe_text *to, const struct cli_report *report, const struct dpe_verdict *verdict,
	const struct dpe_message *const *events);
/* The schedule of a predicted match; nothing for other verdicts. */
void cli_text_prediction(
	struct dpe_text *to, struct cli_report *report, const struct dpe_verdict *verdict);
/* The causal order of a finding's events, or a cycle of waits; nothing unless
 * --draw asks for it. */
void cli_draw_verdict(
	struct dpe_text *to, struct cli_report *report, const struct dpe_verdict *verdict);
void cli_draw_deadlock(
	struct dpe_text *to, struct cli_report *report, const struct dpe_deadlock *deadlock);
/* "thread 3 lost 5", or "unknown threads lost 5". */
void cli_text_loss(struct dpe_text *to, const struct cli_report *report,
	const struct dpe_thread_loss *loss);

/* ---- writing ----------------------------------------------------------------------------- */

/* Writes a text with its headings and summary in colour. */
#define CLI_NEVER_HEADING "can never proceed\n" /* a heading */
void cli_text_colored(FILE *to, const char *text);
/* Writes the text to the report and frees it. */
void cli_text_print(struct cli_report *report, struct dpe_text *text);

#endif
