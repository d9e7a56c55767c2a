/* Who created the threads of a finding. Private to report. */
#ifndef DPE_CLI_CREATIONS_H
#define DPE_CLI_CREATIONS_H

#include "cli/report/report.h"

#include <uthash.h>

struct cli_creations; /* the latest CLI_CREATIONS */

/* Who created a thread. */
struct cli_creation {
	UT_hash_handle hh;
	char *key;
	struct dpe_message *message; /* the thread::create; its first argument is the thread */
	bool printed; /* in the text, which does so once */
};

/* How the thread of an event was created; NULL: that was not observed, or is too long ago. */
void cli_creations_add(struct cli_report *report, const struct dpe_message *message);
struct cli_creation *cli_creation_of(const struct cli_report *report, const struct dpe_message *event);
void cli_creations_free(struct cli_creations *creations); /* accepts NULL */
/* Where the threads of a finding about several threads, or of a deadlock, were created. */
void cli_text_threads(struct dpe_text *to, struct cli_report *report, const struct dpe_verdict *verdict);
void cli_text_waiting_threads(struct dpe_text *to, struct cli_report *report, const struct dpe_deadlock *deadlock);
/* Calls `add` for the creation of each thread of a deadlock that is known. */
void cli_creations_of_deadlock(struct cli_report *report, const struct dpe_deadlock *deadlock,
	void (*add)(void *context, struct cli_creation *creation), void *context);
bool cli_is_main(const struct dpe_message *event); /* whether it is an event of the process's first thread */

#endif
