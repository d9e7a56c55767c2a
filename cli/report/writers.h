/* Shared by the parts of the report: report.c decides, the others print. Private to report. */
#ifndef DPE_CLI_WRITERS_H
#define DPE_CLI_WRITERS_H

#include "cli/limits.h"
#include "cli/report/report.h"
#include "cli/report/suppressions.h"
#include "view/view.h"

#include <uthash.h>

/* A distinct finding, printed once, and the number of its occurrences. */
struct cli_finding {
	UT_hash_handle hh;
	char *key;
	unsigned number;
	uint64_t count;
	/* The values of the rule's variables the first time, and other values later. */
	char *examples[CLI_EXAMPLES];
	unsigned nexamples;
	bool race; /* on memory: without examples, as the variables of race.dpe mean nothing to users */
	/* Not one finding, but all further ones that differ from number `number` in values of variables alone; `count` includes
	 * the ones that were printed. */
	bool further;
	bool left_out; /* not printed, as the rule had --max-findings before */
};

/* The findings of a rule that were printed, and those beyond --max-findings. */
struct cli_rule_findings {
	const struct dpe_rule *rule;
	unsigned printed;
	uint64_t left_out;
};

/* Who created a thread. */
struct cli_creation {
	UT_hash_handle hh;
	char *key;
	struct dpe_message *message; /* the thread::create; its first argument is the thread */
	bool printed; /* in the text, which does so once */
};

struct cli_creations; /* the latest CLI_CREATIONS */
struct cli_allocations; /* the latest CLI_ALLOCATIONS */

struct cli_report {
	struct cli *cli;
	const struct dpe_spec *spec;
	FILE *to;
	bool own;                   /* opened here */
	struct dpe_probes *probes;  /* of a live run; borrowed */
	struct dpe_log_writer *log; /* borrowed, or NULL: events are written to it */
	int signals;                /* live: a signalfd of SIGINT, SIGTERM, SIGHUP */
	uint64_t stops_there;       /* breaks at an event that stopped the program itself */
	bool left;                  /* the user chose to end */
	const struct dpe_recognizer *recognizer; /* borrowed */
	bool found, inconclusive, reported_lost;
	bool needs_order; /* see cli_report_needs_order */
	enum cli_unobserved unobserved; /* which is no success */
	struct dpe_text first; /* finding: its rule and kind */
	bool terminal; /* `to` is one */
	bool color;    /* headings are coloured */
	bool prompt;   /* each finding is urgent: a user waits for it */
	char *match; /* JSON of the last match of a rule with `break`; owned, or NULL */
	/* the event that completed it, for comparison only */
	const struct dpe_message *match_event;
	const struct dpe_rule *match_rule;
	const struct cli_report_watch *watch;  /* borrowed, or NULL */
	bool repeated;                         /* the last verdict repeated an earlier one */
	struct cli_sarif *sarif;               /* owned; NULL: another format */
	struct cli_suppressions *suppressions; /* owned */
	struct dpe_view *view;                 /* owned; NULL: no --html … */
	struct dpe_view *beside;               /* during the run of --beside, whose view is the one above: the other one */
	FILE *html;                            /* … which it is written to */
	FILE *trace;                           /* NULL: no --trace */
	struct cli_inconclusive *doubts;              /* of the text report; owned */
	bool unsynchronised; /* a finding is about missing order */
	struct cli_finding *findings;
	struct cli_raw_finding *raw_findings; /* of findings.c */
	struct cli_finding forgotten; /* the last finding, once there are too many to remember */
	unsigned nfindings;
	struct cli_rule_findings *of_rules;
	unsigned nof_rules, capof_rules;
	struct cli_creations *creations; /* owned; NULL: there was none */
	dpe_name allocates; /* mem::alloc */
	struct cli_allocations *allocations; /* owned; NULL: there was none */
};

/* findings.c. The events at which the verdict was given: of a match, the violating one, or where an incomplete
 * slice ends. */
const struct dpe_message *const *cli_verdict_events(
	const struct dpe_verdict *verdict, unsigned *count);
/* The earlier finding that the verdict repeats, by its events before stacks are resolved. */
void *cli_finding_known(struct cli_report *report, const struct dpe_verdict *verdict);
void cli_finding_remember(
	struct cli_report *report, const struct dpe_verdict *verdict, void *finding);
/* For text: the same by what its events say with the text of their stacks; a new one if there is none. */
struct cli_finding *cli_finding_find(struct cli_report *report, const struct dpe_verdict *verdict,
	struct dpe_message *const *events, unsigned count);
/* Counts the values of the rule's variables among the finding's examples. */
void cli_finding_add_example(
	struct cli_report *report, struct cli_finding *finding, const struct dpe_verdict *verdict);
/* Whether a new finding of the rule is one too many to be printed; counts it. */
bool cli_finding_is_left_out(struct cli_report *report, const struct dpe_rule *rule);
void cli_findings_free(struct cli_report *report);

/* Whether the verdict is about events of several threads; and whether its event of this number is the first one of its thread. */
bool cli_has_threads(const struct dpe_verdict *verdict);
bool cli_is_first_of_thread(const struct dpe_verdict *verdict, unsigned number);

/* creations.c. How the thread of an event was created; NULL: that was not observed, or is too long ago. */
void cli_creations_add(struct cli_report *report, const struct dpe_message *message);
struct cli_creation *cli_creation_of(const struct cli_report *report, const struct dpe_message *event);
void cli_creations_free(struct cli_creations *creations); /* accepts NULL */
/* Of the threads of a finding about several threads, or of a deadlock: where they were created. */
void cli_text_threads(struct dpe_text *to, struct cli_report *report, const struct dpe_verdict *verdict);
void cli_text_waiting_threads(struct dpe_text *to, struct cli_report *report, const struct dpe_deadlock *deadlock);
/* Calls `add` for the creation of each thread of a deadlock that is known. */
void cli_creations_of_deadlock(struct cli_report *report, const struct dpe_deadlock *deadlock,
	void (*add)(void *context, struct cli_creation *creation), void *context);
bool cli_is_main(const struct dpe_message *event); /* whether it is an event of the process's first thread */

/* allocations.c. The allocation of the object on the heap that a memory access is in; NULL: none was observed, or it is too long
 * ago. */
void cli_allocations_add(struct cli_report *report, const struct dpe_message *message);
const struct dpe_message *cli_allocation_of(const struct cli_report *report, const struct dpe_message *event);
void cli_allocations_free(struct cli_allocations *allocations); /* accepts NULL */
/* Whether the event with this number is the first one that accesses its object, which is known. */
bool cli_is_first_of_object(const struct cli_report *report, const struct dpe_message *const *events, unsigned number);
void cli_text_objects(struct dpe_text *to, struct cli_report *report, const struct dpe_message *const *events, unsigned count);

/* These print whole lines. */
void cli_text_verdict(struct cli_report *report, const struct dpe_verdict *verdict);
void cli_text_line(
	struct cli_report *report, const struct dpe_rule *rule, const char *kind, const char *text);
/* report_measure.c. */
void cli_text_measurement(struct cli_report *report, const struct dpe_measurement *measurement);
void cli_json_measurement(struct cli_report *report, const struct dpe_measurement *measurement);
void cli_text_params(
	struct dpe_text *to, const struct cli_report *report, const struct dpe_verdict *verdict);
void cli_text_deadlock(struct cli_report *report, const struct dpe_rule *rule,
	const struct dpe_deadlock *deadlock);
void cli_text_held(
	struct cli_report *report, const struct dpe_message *message, const char *missing);
void cli_text_lost(struct cli_report *report);
void cli_text_summary(struct cli_report *report, const struct dpe_recognizer *recognizer,
	const struct dpe_summary *summary);

/* "thread 3 lost 5", or "unknown threads lost 5". */
void cli_text_loss(struct dpe_text *to, const struct cli_report *report,
	const struct dpe_thread_loss *loss);
/* A finding without its number. */
void cli_text_finding(struct dpe_text *to, struct cli_report *report,
	const struct dpe_verdict *verdict, struct dpe_message *const *events, unsigned count);
/* The schedule of a predicted match; nothing for other verdicts. */
void cli_text_prediction(
	struct dpe_text *to, struct cli_report *report, const struct dpe_verdict *verdict);
/* "race.dpe:3": the location of the rule. */
/* What happened, and what was expected. */
/* Whether the rule wants the violating event, after other ones. */
bool cli_wanted_elsewhere(const struct dpe_verdict *verdict);
void cli_text_reason(struct dpe_text *to, const struct dpe_verdict *verdict);
void cli_text_place(struct dpe_text *to, const struct dpe_rule *rule);
void cli_text_value(struct dpe_text *to, struct dpe_value value);
/* ", at 0.000001234 s", if the message has a time. */
void cli_text_time(
	struct dpe_text *to, const struct cli_report *report, const struct dpe_message *message);
/* " (mutex_a)": the variable of the program at this address, if any. */
void cli_text_variable(struct dpe_text *to, const struct cli_report *report, struct dpe_value value);
/* Writes a text with its headings and summary in colour. */
#define CLI_NEVER "can never go on\n" /* a heading */
void cli_text_colored(FILE *to, const char *text);
/* Writes the text to the report and frees it. */
void cli_text_print(struct cli_report *report, struct dpe_text *text);
/* The event's name with its id, or as in reasons: "enqueue 3", "enqueue.enter@7:2". */
void cli_text_event(
	struct dpe_text *to, const struct cli_report *report, const struct dpe_message *message);
/* Whether it is two accesses to memory, or to a file descriptor, as the rules of race.dpe match them; and that in words:
 * "data race on x: write of 4 bytes by thread 7, not ordered with read of 4 bytes by thread 8". */
bool cli_is_data_race(const struct cli_report *report, const struct dpe_verdict *verdict,
	const struct dpe_message *const *events, unsigned count);
void cli_text_race(struct dpe_text *to, const struct cli_report *report, const struct dpe_verdict *verdict,
	const struct dpe_message *const *events);
/* Adds the name of the variable that they access, if it has one, without members and indices: races on different ones at
 * the same places are different findings. */
void cli_add_raced(struct dpe_text *to, const struct cli_report *report, const struct dpe_message *const *events);
/* A stack, a line a frame; and one frame. Short, unless --full-stacks was given. */
void cli_text_stack(
	struct dpe_text *to, const struct cli *cli, const char *const *frames, unsigned count);
void cli_text_frame(struct dpe_text *to, const struct cli *cli, const char *frame);
/* The event's name, with ".exit" if it is a return. */
void cli_text_name(
	struct dpe_text *to, const struct cli_report *report, const struct dpe_message *message);

/* report_inconclusive.c. Collects an inconclusive verdict that has only a slice; false if it
 * has to be printed at once. Collected ones are printed at the end. */
bool cli_inconclusive_take(struct cli_report *report, const struct dpe_verdict *verdict);
void cli_json_stats(struct cli_report *report, const struct cli_stats_figures *figures);
void cli_inconclusive_print(struct dpe_text *to, struct cli_report *report);
void cli_inconclusive_free(struct cli_report *report);

/* report_draw.c. The causal order of a finding's events, or a cycle of waits; nothing unless
 * --draw asks for it. */
void cli_draw_verdict(
	struct dpe_text *to, struct cli_report *report, const struct dpe_verdict *verdict);
void cli_draw_deadlock(
	struct dpe_text *to, struct cli_report *report, const struct dpe_deadlock *deadlock);

struct cJSON; /* cJSON's */
struct cJSON *cli_json_value(struct dpe_value value);
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
void cli_json_summary(struct cli_report *report, const struct dpe_recognizer *recognizer,
	const struct dpe_summary *summary);

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

/* "deadlock", "potential deadlock", "hang", or "possible …" if it is uncertain. */
const char *cli_deadlock_name(const struct dpe_deadlock *deadlock);
/* Its number of threads. */
unsigned cli_deadlock_threads(const struct dpe_deadlock *deadlock);
const char *cli_verdict_name(enum dpe_verdict_kind kind);
/* The name of the variable at a pointer, for free(); or NULL. */
char *cli_variable_at(const struct cli_report *report, struct dpe_value value);
/* The message with the text of its stack; the reference is the caller's. */
struct dpe_message *cli_resolved(struct cli_report *report, const struct dpe_message *message);

/* report_trace.c. Opens the file of --trace, NULL after a diagnostic; and the recognizer's
 * callback. */
FILE *cli_trace_open(struct cli *cli);
void cli_trace(void *context, const struct dpe_trace *trace);

/* report_page.c. Opens the file before the run, so that the run is not in vain if it cannot be written; until the
 * end it says that there is no page yet. False after a diagnostic. */
bool cli_page_begin(struct cli_report *report);
/* Notes on the page that the message waited for what never came. */
void cli_page_held(struct cli_report *report, const struct dpe_message *message, const char *missing);
/* Writes the page, if there is one. */
void cli_page_write(struct cli_report *report, const struct dpe_summary *summary);

/* report_gdb.c. Runs gdb on the stopped program until its user quits; then the program
 * continues. */
void cli_gdb_run(struct cli_report *report, pid_t target);

/* report_break.c. A deadlock, or a `break`, in a live run. */
void cli_stop_at_deadlock(struct cli_report *report, const struct dpe_rule *rule);
enum dpe_break cli_stop(
	struct cli_report *report, const struct dpe_rule *rule, const struct dpe_message *at);

#endif
