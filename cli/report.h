/* What the parts of the report share: report.c decides, the others write. Private to cli. */
#ifndef DPE_CLI_REPORT_H
#define DPE_CLI_REPORT_H

#include "cli/suppress.h"

#include <uthash.h>

/* A finding as often as it came; told once. */
struct cli_finding {
	UT_hash_handle hh;
	char *key;
	unsigned number;
	uint64_t count;
	const char *rule; /* the specification's */
};

struct cli_report {
	struct cli *cli;
	const struct dpe_spec *spec;
	FILE *to;
	bool own;                   /* opened here */
	struct dpe_probes *probes;  /* live: borrowed */
	struct dpe_log_writer *log; /* of events, borrowed; or NULL */
	int signals;                /* live: a signalfd of SIGINT, SIGTERM, SIGHUP */
	uint64_t stops_there;       /* breaks at an event that stopped the program itself */
	bool left;                  /* the user wants no more of it */
	const struct dpe_recognizer *recognizer; /* borrowed */
	bool found, inconclusive, told_lost;
	char *match; /* the last one of a rule with `break`, as JSON; owned, or NULL */
	const struct dpe_message *match_event; /* that completed it, for comparing only */
	const struct dpe_rule *match_rule;
	bool repeated;                         /* the last verdict was counted, not told */
	struct cli_sarif *sarif;               /* owned; NULL: another format */
	struct cli_suppressions *suppressions; /* owned */
	FILE *trace;                           /* NULL: nobody wants it */
	struct cli_doubt *doubts;              /* of the text; owned */
	struct cli_finding *findings;
	struct cli_finding forgotten; /* the last that came when there were too many */
	unsigned nfindings;
};

/* Each writes whole lines. */
void cli_text_verdict(struct cli_report *report, const struct dpe_verdict *verdict);
void cli_text_line(
	struct cli_report *report, const struct dpe_rule *rule, const char *kind, const char *text);
void cli_text_deadlock(struct cli_report *report, const struct dpe_rule *rule,
	const struct dpe_deadlock *deadlock);
void cli_text_held(
	struct cli_report *report, const struct dpe_message *message, const char *missing);
void cli_text_lost(struct cli_report *report);
void cli_text_summary(struct cli_report *report, const struct dpe_recognizer *recognizer,
	const struct dpe_summary *summary);

/* "thread 3 lost 5", or "nobody knows which threads lost 5". */
void cli_text_loss(struct dpe_text *to, const struct cli_report *report,
	const struct dpe_thread_loss *loss);
/* All of a finding but its number. */
void cli_text_finding(struct dpe_text *to, struct cli_report *report,
	const struct dpe_verdict *verdict, struct dpe_message *const *events, unsigned count);
/* "race.dpe:3": where the rule stands. */
/* What happened, and what was due instead. */
void cli_text_reason(struct dpe_text *to, const struct dpe_verdict *verdict);
void cli_text_place(struct dpe_text *to, const struct dpe_rule *rule);
/* Text without what could drive a terminal. */
void cli_text_safe(struct dpe_text *to, const char *text);
void cli_text_value(struct dpe_text *to, struct dpe_value value);
/* " (mutex_a)": the variable of the program that lies there, if any. */
void cli_text_variable(struct dpe_text *to, struct cli_report *report, struct dpe_value value);
/* Into the report; frees the text. */
void cli_text_print(struct cli_report *report, struct dpe_text *text);
/* The event's name with its id, or as reasons call it: "enqueue 3", "enqueue.enter@7:2". */
void cli_text_event(
	struct dpe_text *to, const struct cli_report *report, const struct dpe_message *message);
/* The event's name, with ".exit" where it is one. */
void cli_text_name(
	struct dpe_text *to, const struct cli_report *report, const struct dpe_message *message);

/* report_doubts.c: takes an inconclusive verdict that has nothing to show but its slice; false
 * where it is to be told at once. What was taken is added at the end. */
bool cli_doubts_take(struct cli_report *report, const struct dpe_verdict *verdict);
void cli_doubts_add(struct dpe_text *to, struct cli_report *report);
void cli_doubts_free(struct cli_report *report);

/* report_draw.c: how the events of a finding follow each other, who waits for whom; nothing where
 * --draw does not ask for it. */
void cli_draw_verdict(
	struct dpe_text *to, struct cli_report *report, const struct dpe_verdict *verdict);
void cli_draw_deadlock(
	struct dpe_text *to, struct cli_report *report, const struct dpe_deadlock *deadlock);

void cli_json_verdict(struct cli_report *report, const struct dpe_verdict *verdict);
/* Keeps the match for a debugger, in report->match; … */
void cli_json_keep_match(struct cli_report *report, const struct dpe_verdict *verdict);
/* … unless it is not that which stopped the program here: then what is known of the event. */
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
void cli_json_summary(struct cli_report *report, const struct dpe_recognizer *recognizer,
	const struct dpe_summary *summary);

struct cli_sarif *cli_sarif_new(void);
void cli_sarif_free(struct cli_sarif *sarif); /* accepts NULL */
void cli_sarif_verdict(struct cli_report *report, const struct dpe_verdict *verdict);
void cli_sarif_line(
	struct cli_report *report, const struct dpe_rule *rule, const char *kind, const char *text);
void cli_sarif_deadlock(struct cli_report *report, const struct dpe_rule *rule,
	const struct dpe_deadlock *deadlock);
/* Notes what makes verdicts uncertain. */
/* A finding that the line at this place suppresses; its events are resolved, or NULL. */
void cli_sarif_suppressed(struct cli_report *report, const struct dpe_rule *rule,
	struct dpe_message *const *events, unsigned nevents, struct dpe_place place);
void cli_sarif_doubt(struct cli_report *report, const char *text);
/* Writes the document; nothing can be added after it. */
void cli_sarif_summary(struct cli_report *report, const struct dpe_recognizer *recognizer,
	const struct dpe_summary *summary);

/* "deadlock", "potential deadlock", "hang", or, where it is in doubt, a possible one. */
const char *cli_deadlock_name(const struct dpe_deadlock *deadlock);
const char *cli_verdict_name(enum dpe_verdict_kind kind);
/* The name of the variable that a pointer leads to, or NULL; the caller's. */
char *cli_variable_at(const struct cli_report *report, struct dpe_value value);
/* The message with the text of its stack: the caller's reference. */
struct dpe_message *cli_resolved(struct cli_report *report, const struct dpe_message *message);

/* trace.c: where --trace goes, NULL after a diagnostic; and what the recognizer calls. */
FILE *cli_trace_open(struct cli *cli);
void cli_trace(void *context, const struct dpe_trace *trace);

/* debugger.c: runs gdb on the stopped program until its user leaves it; the program goes on then. */
void cli_debugger_run(struct cli_report *report, pid_t target);

/* stop.c: a deadlock, or a `break`, in a live run. */
void cli_stop_at_deadlock(struct cli_report *report, const struct dpe_rule *rule);
enum dpe_break cli_stop(
	struct cli_report *report, const struct dpe_rule *rule, const struct dpe_message *at);

#endif
