/* The screen of `dpe top`: what is observed, what waits, and findings as they come. */
#ifndef DPE_CLI_TOP_H
#define DPE_CLI_TOP_H

#include "cli/cli.h"
#include "cli/report/report.h"

struct cli_top;

/* Before the target starts, so that what it and dpe write does not get onto the screen: it goes to files, and is printed
 * at the end. NULL after a diagnostic: this is no terminal. */
struct cli_top *cli_top_new(struct cli *cli);
/* Shows the screen; false after a diagnostic. The report writes its text here from then on. Borrows both. */
bool cli_top_begin(struct cli_top *top, struct cli_report *report, struct dpe_recognizer *recognizer);

/* What is known of the target. */
struct cli_top_state {
	pid_t pid;
	const char *name;
	uint64_t lost;
	struct dpe_probes *probes; /* borrowed */
	bool target_ended;
};
/* Takes keys, and draws now and then. False if the user wants to leave. */
bool cli_top_turn(struct cli_top *top, const struct cli_top_state *state);
/* Restores the terminal, prints the output that was held back, and frees. Accepts NULL. */
void cli_top_end(struct cli_top *top);

#endif
