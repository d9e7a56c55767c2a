/* report: findings as text, JSON Lines or SARIF, and what a `break` does to a running program.
 * The commands create a report, give its sink to the recognizer, and get the exit status. */
#ifndef DPE_CLI_REPORT_H
#define DPE_CLI_REPORT_H

#include "cli/cli.h"

struct cli_report;
/* Opens cli->report, or the stream that the format asks for; NULL after a diagnostic. */
struct cli_report *cli_report_new(struct cli *cli, const struct dpe_spec *spec);
/* Single findings are not urgent: they are written in larger pieces, unless to a terminal. */
void cli_report_buffer(struct cli_report *report);
/* With `probes`, stacks get their text and `break` stops the target. `signals`: a signalfd of
 * SIGINT, SIGTERM and SIGHUP. */
void cli_report_set_probes(struct cli_report *report, struct dpe_probes *probes, int signals);
/* The recognizer whose verdicts are reported; its first event is time 0. Before any verdict. */
void cli_report_set_recognizer(struct cli_report *report, const struct dpe_recognizer *recognizer);
/* Writes each event to the log as the stabilizer releases it. */
void cli_report_set_log(struct cli_report *report, struct dpe_log_writer *log);
/* `live`: of a running program, whose losses are known as they happen. */
struct dpe_recognizer_sink cli_report_sink(struct cli_report *report, bool live);
/* Sees each finding after it was printed. Borrowed. */
struct cli_report_watch {
	void *context;
	void (*verdict)(void *context, const struct dpe_verdict *verdict);
	void (*deadlock)(void *context, const struct dpe_rule *rule, const struct dpe_deadlock *deadlock);
};
void cli_report_watch(struct cli_report *report, const struct cli_report_watch *watch);
/* Writes to this stream, which stays the caller's. */
void cli_report_set_stream(struct cli_report *report, FILE *to);
/* What is the same for matches of the rule at the same places, for events with stacks; the caller's. */
char *cli_match_key(struct cli_report *report, const char *rule,
	const struct dpe_message *const *events, unsigned count);
/* Whether the end of the file's name asks for a page. */
bool cli_is_page(const char *path);
/* The sink for the run of --beside, which is drawn on the page of this report: what it finds is neither printed nor
 * counted. The second function is called at its end, with its recognizer, and prints how many findings there
 * were. */
struct dpe_recognizer_sink cli_report_begin_beside(struct cli_report *report);
void cli_report_end_beside(struct cli_report *report, const struct dpe_recognizer *recognizer);
/* At the end: whether there is a finding; the rule and kind of the first one, and the text that is equal for
 * findings at the same places. */
bool cli_report_first(struct cli_report *report, const struct dpe_recognizer *recognizer,
	struct dpe_text *what, struct dpe_text *cause);
bool cli_report_inconclusive(const struct cli_report *report);
/* Sets `observed` of each rule of which an event occurred; others keep what is there. */
void cli_note_observed(const struct dpe_recognizer *recognizer, const struct dpe_spec *spec, bool *observed);
enum cli_unobserved {
	CLI_OBSERVED, /* an event of each rule that the user wrote; also for synchronisation rules alone */
	CLI_SOME_UNOBSERVED,
	CLI_ALL_UNOBSERVED, /* no event of any rule, of shipped ones neither */
};
enum cli_unobserved cli_unobserved(const struct dpe_spec *spec, const bool *observed);
/* Writes the page of --html, for a run without a summary. */
void cli_report_page(struct cli_report *report, const struct dpe_recognizer *recognizer);
/* Prints the summary. */
void cli_report_finish(struct cli_report *report, const struct dpe_recognizer *recognizer);
/* What a run cost. Stages are those of the recognizer; outside it is what reads the log or the probes. */
struct cli_stats_figures {
	uint64_t events, slices, kept; /* slices and events that they keep: at the end */
	uint64_t memory;               /* bytes, at most */
	uint64_t wall, stages[DPE_STAGES]; /* ns; of stages, processor time */
};
void cli_report_stats(struct cli_report *report, const struct cli_stats_figures *figures);
/* Prints the current counts, and which thread waits for which, to standard error. */
void cli_report_state(
	struct cli_report *report, const struct dpe_recognizer *recognizer, uint64_t lost);
/* The number of breaks at events that stopped the program themselves. */
uint64_t cli_report_stops(const struct cli_report *report);
/* True if a finding has events of several threads: order that was not observed could explain it. */
bool cli_report_needs_order(const struct cli_report *report);
/* True if the user chose to end at a `break`. */
bool cli_report_user_quit(const struct cli_report *report);
/* Returns the exit status of the verdicts; an error if the report could not be written. */
int cli_report_free(struct cli_report *report);

/* report_waits.c. Prints what the threads of a process wait for; returns the exit status, or an error. */
int cli_waits_print(struct cli *cli, pid_t pid, FILE *to);
/* The same in the report (SARIF: on standard error), as information: it is no finding. `blocked`: only where some
 * thread is. */
void cli_report_waits(struct cli_report *report, pid_t pid, bool blocked);
/* What threads wait for while nothing happens, for the case that a signal ends the program before anything does: noted,
 * forgotten, printed where some thread is blocked. */
void cli_report_note_waits(struct cli_report *report);
void cli_report_forget_waits(struct cli_report *report);
void cli_report_noted_waits(struct cli_report *report);
/* Where threads of the process can never continue, prints that: a finding. Whether it is so. */
bool cli_report_hangs_already(struct cli_report *report, pid_t pid);

/* stack_frame.c. Whether the source of a stack frame is that of a language's library, much of which is compiled into
 * programs. */
bool cli_frame_is_of_language(const char *frame);
/* Adds text of the target, escaped so that it cannot drive a terminal. */
void cli_text_safe(struct dpe_text *to, const char *text);
/* Checks --gdb and --on-break=gdb: false, with a diagnostic, if gdb is asked for and missing. */
bool cli_gdb_check(struct cli *cli);
/* gdb on a run of an exploration. The first call starts it; each says whether it is still there. */
struct cli_gdb {
	pid_t pid;
	bool begun;
	void (*interrupt)(int); /* what SIGINT did before */
};
bool cli_gdb_attend(struct cli_gdb *gdb, pid_t target);

/* explain.c. What a rule means: the semantic model, the engine, which events are independent, and
 * behaviours that the rule accepts and rejects. The second prints a line of JSON to standard output. */
void cli_explain(struct cli *cli, const struct dpe_rule *rule, struct dpe_text *to);
void cli_explain_json(struct cli *cli, const struct dpe_rule *rule);

#endif
