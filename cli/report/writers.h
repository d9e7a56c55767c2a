/* The writers of a report, one for each format, which report.c calls; and what stops a live run. Private to report. */
#ifndef DPE_CLI_WRITERS_H
#define DPE_CLI_WRITERS_H

#include "cli/report/report_state.h"

/* ---- text: these print whole lines -------------------------------------------------------- */

void cli_text_verdict(struct cli_report *report, const struct dpe_verdict *verdict);
void cli_text_line(
	struct cli_report *report, const struct dpe_rule *rule, const char *kind, const char *text);
void cli_text_measurement(struct cli_report *report, const struct dpe_measurement *measurement);
void cli_text_deadlock(struct cli_report *report, const struct dpe_rule *rule,
	const struct dpe_deadlock *deadlock);
void cli_text_held(
	struct cli_report *report, const struct dpe_message *message, const char *missing);
void cli_text_lost(struct cli_report *report);
void cli_text_summary(struct cli_report *report, const struct dpe_recognizer *recognizer,
	const struct dpe_summary *summary);
/* Collects an inconclusive verdict that has only a slice; false if it has to be printed at once. Collected ones
 * are printed at the end; the caller adds the finding to *first, unless that is NULL. */
bool cli_inconclusive_take(struct cli_report *report, const struct dpe_verdict *verdict, struct dpe_text **first);
void cli_inconclusive_print(struct dpe_text *to, struct cli_report *report);
void cli_inconclusive_free(struct cli_report *report);

/* ---- JSON -------------------------------------------------------------------------------- */

void cli_json_verdict(struct cli_report *report, const struct dpe_verdict *verdict);
/* Keeps the match as JSON for gdb, in report->match. */
void cli_json_keep_match(struct cli_report *report, const struct dpe_verdict *verdict);
/* The kept match, or, if another event stopped the program, what is known of that event. */
void cli_json_match(
	struct cli_report *report, const struct dpe_rule *rule, const struct dpe_message *at);
void cli_json_line(
	struct cli_report *report, const struct dpe_rule *rule, const char *kind, const char *text);
void cli_json_deadlock(struct cli_report *report, const struct dpe_rule *rule,
	const struct dpe_deadlock *deadlock);
void cli_json_held(
	struct cli_report *report, const struct dpe_message *message, const char *missing);
void cli_json_lost(struct cli_report *report, const struct dpe_gap *gap);
void cli_json_stop(
	struct cli_report *report, const struct dpe_rule *rule, const struct dpe_message *at);
void cli_json_measurement(struct cli_report *report, const struct dpe_measurement *measurement);
void cli_json_stats(struct cli_report *report, const struct cli_stats_figures *figures);
void cli_json_summary(struct cli_report *report, const struct dpe_recognizer *recognizer,
	const struct dpe_summary *summary);

/* ---- SARIF ------------------------------------------------------------------------------- */

struct cli_sarif *cli_sarif_new(void);
void cli_sarif_free(struct cli_sarif *sarif); /* accepts NULL */
void cli_sarif_verdict(struct cli_report *report, const struct dpe_verdict *verdict);
void cli_sarif_line(
	struct cli_report *report, const struct dpe_rule *rule, const char *kind, const char *text);
void cli_sarif_deadlock(struct cli_report *report, const struct dpe_rule *rule,
	const struct dpe_deadlock *deadlock);
/* A finding suppressed by the line at `place`; its events have stacks, or are NULL. */
void cli_sarif_suppressed(struct cli_report *report, const struct dpe_rule *rule,
	struct dpe_message *const *events, unsigned nevents, struct dpe_place place);
/* Adds a reason why verdicts are uncertain. */
void cli_sarif_doubt(struct cli_report *report, const char *text);
/* Writes the document, after which nothing can be added. */
void cli_sarif_summary(struct cli_report *report, const struct dpe_recognizer *recognizer,
	const struct dpe_summary *summary);

/* ---- beside the report ------------------------------------------------------------------- */

/* Opens the file of --trace, NULL after a diagnostic. */
FILE *cli_trace_open(struct cli *cli);
/* The recognizer's callback. */
void cli_trace(void *context, const struct dpe_trace *trace);
/* Opens the file before the run, so that a file that cannot be written is reported at once; until the
 * end it says that there is no page yet. False after a diagnostic. */
bool cli_page_begin(struct cli_report *report);
/* Notes on the page that the message waited for what never came. */
void cli_page_held(struct cli_report *report, const struct dpe_message *message, const char *missing);
/* Writes the page, if there is one. */
void cli_page_write(struct cli_report *report, const struct dpe_summary *summary);

/* ---- stopping the target ----------------------------------------------------------------- */

/* Runs gdb on the stopped program until its user quits; then the program
 * continues. */
void cli_gdb_run(struct cli_report *report, pid_t target);
/* A deadlock, or a `break`, in a live run. */
void cli_stop_at_deadlock(struct cli_report *report, const struct dpe_rule *rule);
enum dpe_break cli_stop(
	struct cli_report *report, const struct dpe_rule *rule, const struct dpe_message *at);

#endif
