/* Shared by run, attach, record, deadlock and race. Private to cli. */
#ifndef DPE_CLI_LIVE_RUN_H
#define DPE_CLI_LIVE_RUN_H

#include "cli/cli.h"

/* Options of a live run. */
struct cli_live_run {
	bool recognize; /* false: only record */
	bool launch;    /* cli->target; false: attach to cli->pid */
	bool waits;     /* what threads wait for is shown: at the beginning where they hang already, on SIGUSR1, at the end */
	bool screen;    /* shown by dpe top */
	bool once;      /* report only whether there are memory races, not each of them */
	bool memory_observed; /* see the recognizer's options */
	const char *skip_happened; /* see the recognizer's options */
};

int cli_live_run(struct cli *cli, const struct cli_live_run *how);
/* The losses so far; the caller's. */
struct dpe_loss *cli_losses(struct dpe_probes *probes, unsigned *count);
void cli_lose(struct dpe_recognizer *recognizer, const struct dpe_loss *lost);
/* Writes the loss to the log, if there is one (NULL). */
void cli_log_loss(struct dpe_log_writer *log, const struct dpe_loss *lost);

/* ---- live_signals.c ---------------------------------------------------------------------- */

/* Called after the target was created, so that it does not inherit the mask. A descriptor from which the signals are read. */
int cli_live_take_signals(void);
/* Whether dpe was started to outlive its terminal, as by nohup. SIGHUP is read all the same, as our handler of SIGTERM sends it. */
bool cli_live_ignores_hangup(void);
/* From here on nothing is written; what remains to be done may wait for the kernel. */
void cli_live_leave_timer(void);

/* ---- live_target.c ----------------------------------------------------------------------- */

/* `over`: the target has ended. */
void cli_live_print_target(const struct cli *cli, const struct cli_live_run *how, const struct dpe_probes *probes, bool over);

#endif
