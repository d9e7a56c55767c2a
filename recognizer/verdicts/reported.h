/* Verdicts that were reported as certain. Private to reported_verdicts.c and retraction.c. */
#ifndef DPE_RECOGNIZER_VERDICTS_REPORTED_H
#define DPE_RECOGNIZER_VERDICTS_REPORTED_H

#include "recognizer/limits.h"
#include "recognizer/verdicts/verdicts.h"

struct dpe_reported_verdict {
	uint64_t number; /* the current event at the time */
	struct dpe_run *run;
	bool owned; /* the slice depends only on threads that it binds */
	enum dpe_verdict_kind kind;
	struct dpe_message *event; /* counted; NULL: a deadlock */
	struct dpe_deadlock deadlock;
	struct dpe_wait *waits;    /* of a deadlock; values owned, messages counted */
	struct dpe_value params[]; /* of the slice, owned; one a variable */
};

struct dpe_reported {
	struct dpe_reported_verdict **at; /* ring buffer */
	unsigned first, count;
};

void dpe_reported_drop(struct dpe_reported_verdict *entry); /* accepts NULL */
/* A failure of a slice that any thread may belong to. */
bool dpe_reported_is_failure(const struct dpe_reported_verdict *entry);
uint64_t *dpe_reported_counter_of(struct dpe_summary *summary, const struct dpe_reported_verdict *entry);

#endif
