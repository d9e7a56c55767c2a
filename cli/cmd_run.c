/* dpe run, attach, record, deadlock: choose the target, and what is done with its messages. */
#include "cli/live_run.h"

/* How else the command takes a program. */
static const char *other_way(unsigned mask)
{
	if (mask & (FOR_DEADLOCK | FOR_RACE | FOR_TOP))
		return ", or -p PID";
	return mask & FOR_RUN ? "; 'dpe attach' takes -p PID" : "";
}

static bool has_target(struct cli *cli)
{
	if (cli_has_stray_program(cli))
		return false;
	if (cli->words.count) {
		cli_usage_error(
			cli, "unexpected argument '%s': the program follows '--'", cli->words.at[0]);
		return false;
	}
	if (cli->plan || (cli->target && cli->target[0]))
		return true;
	cli_usage_error(cli, "no program: use -- COMMAND...%s", other_way(cli->command->mask));
	return false;
}

int cli_run(struct cli *cli)
{
	const struct cli_live_run how = {.recognize = true, .launch = true};

	return has_target(cli) ? cli_live_run(cli, &how) : CLI_ERROR;
}

int cli_record(struct cli *cli)
{
	const struct cli_live_run how = {.launch = true};

	if (!has_target(cli))
		return CLI_ERROR;
	if (!cli->output && !cli->plan) {
		cli_usage_error(cli, "no output log: use -o LOG");
		return CLI_ERROR;
	}
	return cli_live_run(cli, &how);
}

int cli_attach(struct cli *cli)
{
	const struct cli_live_run how = {.recognize = true};

	if (cli->words.count) {
		cli_usage_error(
			cli, "unexpected argument '%s': the process is given by -p PID", cli->words.at[0]);
		return CLI_ERROR;
	}
	if (!cli->pid && !cli->plan) {
		cli_usage_error(cli, "no process: use -p PID");
		return CLI_ERROR;
	}
	return cli_live_run(cli, &how);
}

/* The shipped rules, and those of -s in addition. A page draws the causal order, and predictions need it: what barriers order
 * takes a probe, which --preload is to do without. */
int cli_deadlock(struct cli *cli)
{
	static const char *const rules[] = {"deadlock.dpe", NULL}, *const ordered[] = {"deadlock.dpe", "pthread.dpe", NULL};
	const struct cli_live_run how = {.recognize = true, .launch = !cli->pid, .waits = true};

	cli->shipped = cli->html || (!cli->no_predict && !cli->preload) ? ordered : rules;
	if (cli->preload && cli->pid) {
		cli_usage_error(cli, "--preload needs a program that dpe starts (-- COMMAND...)");
		return CLI_ERROR;
	}
	if (how.launch)
		return has_target(cli) ? cli_live_run(cli, &how) : CLI_ERROR;
	if (!cli->target && !cli->words.count)
		return cli_live_run(cli, &how);
	cli_usage_error(cli, "either a process (-p PID) or a program (-- COMMAND...), not both");
	return CLI_ERROR;
}
