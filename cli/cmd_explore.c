/* dpe explore: runs a program under one schedule after another. */
#include "cli/explore_parts.h"
#include "cli/report/report.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

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

static enum dpe_explored explore(struct cli *cli, struct dpe_explore_options *options)
{
	char *library = cli_find_library(cli, "libdpe-sched.so");
	enum dpe_explored explored;

	if (!library)
		return DPE_EXPLORED_FAILED;
	options->library = library;
	explored = cli->step ? dpe_explore_step(options, cli->diags) : dpe_explore(options, cli->diags);
	free(library);
	return explored;
}

static enum dpe_explored with_rules(struct cli *cli, struct dpe_explore_options *options)
{
	static const char *const order[] = {"pthread.dpe", NULL};
	struct cli_explore_rules *rules;
	struct dpe_explore_rules hooks;
	enum dpe_explored explored;

	if (!cli->specs.count && !cli->rules.len) {
		if (!cli->html && !cli->log && !cli->confirm_from)
			return explore(cli, options);
		cli->shipped = order;
	}
	rules = cli_explore_rules_new(cli);
	if (!rules)
		return DPE_EXPLORED_FAILED;
	hooks = cli_explore_rules_hooks(rules);
	options->rules = &hooks;
	explored = explore(cli, options);
	cli_explore_rules_free(rules);
	return explored;
}

/* The report of the command line is that of the exploration; the reports of the rules are text in it. */
static enum dpe_explored with_report(struct cli *cli, struct dpe_explore_options *options)
{
	const struct dpe_explore_listener json = cli_explore_json(options);
	const char *report = cli->report;
	enum dpe_explored explored = DPE_EXPLORED_FAILED;
	FILE *file = report ? cli_create_file(report, NULL) : NULL;

	options->to = file ? file : cli->json || cli->step ? stdout : stderr;
	options->color = cli_has_color(cli, options->to);
	options->listener = cli->json ? &json : NULL;
	cli->report = NULL;
	cli->json = false;
	if (file || !report)
		explored = with_rules(cli, options);
	if ((file || !report) && !(fflush(options->to) || ferror(options->to)) && !(file && fclose(file)))
		return explored;
	dpe_diag_at(cli->diags, DPE_ERROR, report ? report : "dpe", "cannot write the report: %s",
		strerror(errno));
	return DPE_EXPLORED_FAILED;
}

static bool attend_gdb(void *context, pid_t run)
{
	return cli_gdb_attend(context, run);
}

/* False after a diagnostic. */
static bool check_usage(struct cli *cli)
{
	if (cli_has_stray_program(cli))
		return false;
	if (cli->words.count)
		cli_usage_error(cli, "'%s' is not an option; put the program after --", cli->words.at[0]);
	else if (!cli->target || !cli->target[0])
		cli_usage_error(cli, "no program; put it after --");
	else if (cli->gdb && !cli->replay_from)
		cli_usage_error(cli, "--gdb needs --replay=SCHEDULE: it looks at one run");
	else if (cli->html && !cli->replay_from)
		cli_usage_error(cli, "--html needs --replay=SCHEDULE: it draws one run");
	else if (cli->log && !cli->replay_from)
		cli_usage_error(cli, "--log needs --replay=SCHEDULE: it is the log of one run");
	else if (cli->confirm && !cli->confirm_from && !cli->specs.count && !cli->rules.len)
		cli_usage_error(cli, "--confirm needs rules that predict: -s SPEC, or -e RULE");
	else if (cli->confirm && (cli->replay_from || cli->step))
		cli_usage_error(cli, "--confirm cannot be combined with --replay or --step");
	else if (cli->races && (cli->replay_from || cli->confirm) && !cli->step)
		cli_usage_error(cli, "--races cannot be combined with --replay or --confirm: the schedule of a race ends at the race");
	else if (cli->step && (cli->gdb || cli->json))
		cli_usage_error(cli, "--step cannot be combined with --gdb or --format=json");
	else if (cli->step && (cli->specs.count || cli->rules.len))
		cli_usage_error(cli, "--step does not check rules");
	else
		return cli_gdb_check(cli);
	return false;
}

static volatile sig_atomic_t interrupted;

static void interrupt(int signal)
{
	(void)signal;
	interrupted = 1;
}

/* The next one ends dpe itself. Those that are ignored (nohup) stay so. */
static void take_interrupts(void)
{
	static const int signals[] = {SIGINT, SIGTERM, SIGHUP};
	const struct sigaction action = {.sa_handler = interrupt, .sa_flags = SA_RESTART | (int)SA_RESETHAND};
	struct sigaction before;

	for (unsigned i = 0; i < DPE_COUNT(signals); i++)
		if (!sigaction(signals[i], NULL, &before) && before.sa_handler == SIG_DFL)
			sigaction(signals[i], &action, NULL);
}

int cli_explore(struct cli *cli)
{
	struct cli_gdb gdb = {0};
	struct dpe_explore_options options = {
		.argv = cli->target,
		.strategy = cli->strategy ? cli->strategy : "portfolio",
		.output = cli->output ? cli->output : "found.schedule",
		.replay = cli->replay_from,
		.fails = cli->fails,
		.is_of_library = cli_frame_is_of_language,
		.setup = cli->setup,
		.runs = cli->runs,
		.seed = cli->seed,
		.max_steps = cli->max_steps,
		.seconds = cli->run_seconds,
		.confirm = cli->confirm,
		.keep_going = cli->keep_going,
		.races = cli->races,
		.spurious = cli->spurious,
		.allow_unobserved = cli->allow_unobserved,
		.debugger = cli->gdb ? attend_gdb : NULL,
		.debugging = &gdb,
		.commands = cli->step ? stdin : NULL,
		.interrupted = &interrupted,
	};

	if (!check_usage(cli))
		return CLI_ERROR;
	if (!cli->replay_from && !cli->step)
		take_interrupts();
	return status_of(with_report(cli, &options));
}
