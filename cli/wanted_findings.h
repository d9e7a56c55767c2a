/* wanted_findings: findings of another run, as read from its report, and the messages of the present run. Private to
 * explore_findings.c and wanted_findings.c. */
#ifndef DPE_CLI_WANTED_FINDINGS_H
#define DPE_CLI_WANTED_FINDINGS_H

#include "cli/explore_parts.h"

/* An event of the other run. */
struct cli_wanted_event {
	int64_t thread;
	uint64_t seq;
	char *name;
	int lock;        /* of a deadlock: the argument that is the lock … */
	unsigned second; /* … or one byte further */
};

struct cli_wanted {
	char *what, *rule;
	struct cli_wanted_event *events; /* first the turns, then further events by which they are recognised */
	unsigned nturns, count, cap;
	int64_t main;     /* the thread; 0: unknown */
	char *accesses[2]; /* of a race of accesses: their places; NULL: another prediction */
	bool is_deadlock;
	bool happened; /* in that run */
	const char *unknown;
};

struct cli_wanted_findings {
	struct cli *cli;
	struct cli_wanted *at;
	unsigned count, cap;
	struct dpe_message **messages; /* of the run, by thread and number once it has ended */
	unsigned nmessages, capmessages;
	int64_t *threads; /* of the run, in the order of their first events */
	unsigned nthreads, capthreads;
	int64_t main;
};

#endif
