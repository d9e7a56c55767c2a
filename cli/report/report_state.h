/* The report, as its parts share it. Private to report. */
#ifndef DPE_CLI_REPORT_STATE_H
#define DPE_CLI_REPORT_STATE_H

#include "cli/report/findings.h"
#include "cli/report/suppressions.h"
#include "view/view.h"

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
	bool blocked; /* threads can never continue, as their waits at the end show */
	struct dpe_waits *noted; /* owned, or NULL: see cli_report_note_waits */
	bool needs_order; /* see cli_report_needs_order */
	const char *unobserved; /* why a run without findings is no success, or NULL */
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

/* The name of the variable at a pointer, for free(); or NULL. */
char *cli_variable_at(const struct cli_report *report, struct dpe_value value);
/* The same, but a structure rather than its first member. */
char *cli_object_at(const struct cli_report *report, struct dpe_value value);
/* The message with the text of its stack; the reference is the caller's. */
struct dpe_message *cli_resolved(struct cli_report *report, const struct dpe_message *message);

#endif
