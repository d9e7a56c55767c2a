/* dpe explore: runs a program under one schedule after another. */
#include "cli/cli.h"

#include "explore/explore.h"

#include <stdlib.h>
#include <time.h>

static int status_of(enum dpe_explored explored)
{
	switch (explored) {
	case DPE_EXPLORED_NOTHING:
		return CLI_GOOD;
	case DPE_EXPLORED_FOUND:
		return CLI_FINDING;
	case DPE_EXPLORED_INCONCLUSIVE:
		return CLI_INCONCLUSIVE;
	default:
		return CLI_ERROR;
	}
}

int cli_explore(struct cli *cli)
{
	struct dpe_explore_options options = {
		.argv = cli->target,
		.strategy = cli->strategy ? cli->strategy : "portfolio",
		.output = cli->output ? cli->output : "found.schedule",
		.replay = cli->replay_from,
		.fails = cli->fails,
		.setup = cli->setup,
		.runs = cli->runs,
		.seed = cli->seed,
		.max_steps = cli->max_steps,
		.seconds = cli->run_seconds,
		.keep_going = cli->keep_going,
		.spurious = cli->spurious,
		.to = stderr,
	};
	char *library;
	enum dpe_explored explored;

	if (cli->words.count) {
		cli_usage_error(cli, "'%s' is no option; put the program after --",
			cli->words.at[0]);
		return CLI_ERROR;
	}
	if (!cli->target || !cli->target[0]) {
		cli_usage_error(cli, "no program; put it after --");
		return CLI_ERROR;
	}
	library = cli_find_library("libdpe-sched.so");
	options.library = library;
	explored = dpe_explore(&options, cli->diags);
	free(library);
	return status_of(explored);
}
