/* What run, attach and record share. Private to cli. */
#ifndef DPE_CLI_LIVE_H
#define DPE_CLI_LIVE_H

#include "cli/cli.h"

/* How a live command observes. */
struct cli_live {
	bool recognize; /* else only record */
	bool launch;    /* cli->target; else attach to cli->pid */
	bool once;      /* whether something races is all that is asked of memory */
};

int cli_live(struct cli *cli, const struct cli_live *how);

#endif
