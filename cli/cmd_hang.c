/* dpe hang: what the threads of a running process wait for, without any probe. */
#include "cli/report/report.h"

int cli_hang(struct cli *cli)
{
	if (cli->words.count) {
		cli_usage_error(
			cli, "unexpected argument '%s': the process is given by -p PID", cli->words.at[0]);
		return CLI_ERROR;
	}
	if (!cli->pid) {
		cli_usage_error(cli, "no process: use -p PID");
		return CLI_ERROR;
	}
	return cli_waits_print(cli, cli->pid, stdout);
}
