/* `dpe top`. */
#include "cli/live_run.h"

int cli_top(struct cli *cli)
{
	const struct cli_live_run how = {.recognize = true, .launch = !cli->pid, .screen = true};

	if (cli->words.count || (cli->pid && cli->target) || (!cli->plan && !cli->pid && !(cli->target && cli->target[0]))) {
		cli_usage_error(cli, "either a process (-p PID) or a program (-- COMMAND...)");
		return CLI_ERROR;
	}
	cli->draw = CLI_ALWAYS;
	cli->on_break = CLI_CONTINUE;
	cli->has_progress = true; /* none */
	return cli_live_run(cli, &how);
}
