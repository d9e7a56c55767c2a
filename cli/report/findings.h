/* What is known of findings: which repeat an earlier one, and what they are about. Private to report. */
#ifndef DPE_CLI_FINDINGS_H
#define DPE_CLI_FINDINGS_H

#include "cli/limits.h"
#include "cli/report/report.h"

#include <uthash.h>

/* A distinct finding, printed once, and the number of its occurrences. */
struct cli_finding {
	UT_hash_handle hh;
	char *key;
	unsigned number;
	uint64_t count;
	uint64_t predicted; /* occurrences in other runs, of one that happened in this run */
	bool happened;
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

/* The events at which the verdict was given: of a match, the violating one, or where an incomplete slice ends. */
const struct dpe_message *const *cli_verdict_events(const struct dpe_verdict *verdict, unsigned *count);
/* The earlier finding that the verdict repeats, by its events before stacks are resolved. */
void *cli_finding_known(struct cli_report *report, const struct dpe_verdict *verdict);
void cli_finding_remember(
	struct cli_report *report, const struct dpe_verdict *verdict, void *finding);
/* For text: the same by what its events say with the text of their stacks; a new one if there is none. */
struct cli_finding *cli_finding_find(struct cli_report *report, const struct dpe_verdict *verdict,
	struct dpe_message *const *events, unsigned count);
/* Whether the verdict is the first that happened of a finding that was only predicted so far: it is printed, too. */
bool cli_finding_confirms(const struct cli_finding *finding, const struct dpe_verdict *verdict);
/* Counts an occurrence, and the values of the rule's variables among the finding's examples. */
void cli_finding_count(
	struct cli_report *report, struct cli_finding *finding, const struct dpe_verdict *verdict);
/* Whether a new finding of the rule is one too many to be printed; counts it. */
bool cli_finding_is_left_out(struct cli_report *report, const struct dpe_rule *rule);
void cli_findings_free(struct cli_report *report);

/* ---- what they are about ----------------------------------------------------------------- */

/* Whether the verdict is about events of several threads; and whether its event of this number is the first one of its thread. */
bool cli_has_threads(const struct dpe_verdict *verdict);
bool cli_is_first_of_thread(const struct dpe_verdict *verdict, unsigned number);
/* Whether the rule wants the violating event, after other ones. */
bool cli_wanted_elsewhere(const struct dpe_verdict *verdict);
/* Adds the name of the variable that two accesses race on, if it has one, without members and indices: races on different
 * ones at the same places are different findings. */
void cli_add_raced(struct dpe_text *to, const struct cli_report *report, const struct dpe_message *const *events);
/* "deadlock", "potential deadlock", "hang", or "possible …" if it is uncertain. */
const char *cli_deadlock_name(const struct dpe_deadlock *deadlock);
/* What is waited for, as the call names it: a reader of a read-write lock at l waits for l + 1 (deadlock.dpe). */
struct dpe_value cli_wait_object(const struct dpe_wait *wait);
/* Its number of threads. */
unsigned cli_deadlock_threads(const struct dpe_deadlock *deadlock);
const char *cli_verdict_name(enum dpe_verdict_kind kind);

#endif
