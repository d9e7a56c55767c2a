/* The table of commands, and one run of one of them. */
#include "cli/cli.h"

#include <cjson/cJSON.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

static const struct cli_command commands[] = {
	{"check", FOR_CHECK, cli_check, "check [OPTIONS] [-e RULE]... [SPEC...]",
		"Checks specifications, and shows the class, events and slices of each rule"},
	{"fmt", FOR_FMT, cli_fmt, "fmt [-i | --check] SPEC...",
		"Writes specifications in the standard layout"},
	{"compile", FOR_COMPILE, cli_compile_command,
		"compile [--rule=NAME] [--emit=pa|json|dot|net|pnml] SPEC... | [--name-silent] NET.pnml...",
		"Writes the automata or Petri nets of rules, or the rules of Petri nets"},
	{"run", FOR_RUN, cli_run, "run -s SPEC... [OPTIONS] -- COMMAND...",
		"Starts a program and checks the rules while it runs"},
	{"attach", FOR_ATTACH, cli_attach, "attach -s SPEC... [OPTIONS] -p PID",
		"Checks the rules in a running program"},
	{"top", FOR_TOP, cli_top, "top -s SPEC... [OPTIONS] [-p PID | -- COMMAND...]",
		"Shows a running program on the terminal: events, rules, waits, findings as they come"},
	{"record", FOR_RECORD, cli_record, "record -s SPEC... -o LOG [OPTIONS] -- COMMAND...",
		"Starts a program and records the events of the rules in a log"},
	{"replay", FOR_REPLAY, cli_replay, "replay -s SPEC... [OPTIONS] LOG...",
		"Checks the rules against logs; - is standard input"},
	{"view", FOR_VIEW, cli_view, "view [-s SPEC...] -o PAGE.html [OPTIONS] LOG...",
		"Draws logs, and what the rules find in them, as a page for a browser"},
	{"convert", FOR_CONVERT, cli_convert, "convert [--stabilize] [-s SPEC...] IN OUT",
		"Writes a log in another format, or in causal order"},
	{"list", FOR_LIST, cli_list, "list [-p PID | PROGRAM] [PATTERN]",
		"Lists the functions that can be observed"},
	{"deadlock", FOR_DEADLOCK, cli_deadlock, "deadlock [OPTIONS] [-p PID | -- COMMAND...]",
		"Finds deadlocks, potential deadlocks and hangs"},
	{"hang", FOR_HANG, cli_hang, "hang [OPTIONS] -p PID",
		"Shows what the threads of a running process wait for, and names deadlocks; no probes, no root"},
	{"race", FOR_RACE, cli_race,
		"race [OPTIONS] [VARIABLE|FUNCTION,FUNCTION...] [-p PID | -- COMMAND...]",
		"Finds data races on variables or all memory, and races between functions"},
	{"explore", FOR_EXPLORE, cli_explore, "explore [OPTIONS] -- COMMAND...",
		"Runs a program under one schedule after another, until one breaks it"},
};

static void print_usage(FILE *to)
{
	fputs("usage: dpe COMMAND ...\n\n"
	      "Checks running parallel programs against rules (Data Path Expressions) that say how\n"
	      "events may and may not relate causally, and reports where the program deviates.\n\n",
		to);
	for (unsigned i = 0; i < DPE_COUNT(commands); i++)
		fprintf(to, "  %-9s %s\n", commands[i].name, commands[i].summary);
	fputs("\n'dpe COMMAND --help' lists the options; 'man dpe' describes everything.\n"
	      "Exit status: 0 nothing found, 1 a finding, 2 an error of usage, specification or\n"
	      "input, 3 inconclusive, or nothing was observed.\n",
		to);
}

static const struct cli_command *find_command(struct cli *cli, const char *name)
{
	const char *names[DPE_COUNT(commands) + 2];
	struct dpe_text hint = {0};

	for (unsigned i = 0; i < DPE_COUNT(commands); i++) {
		if (!strcmp(commands[i].name, name))
			return &commands[i];
		names[i] = commands[i].name;
	}
	names[DPE_COUNT(commands)] = "--help";
	names[DPE_COUNT(commands) + 1] = "--version";
	if (strchr(name, '/'))
		cli_usage_error(cli, "'%s' is a program, which follows a command and '--': dpe race -- %s", name, name);
	else
		cli_usage_error(cli, "unknown command '%s'%s", name, cli_did_you_mean(&hint, name, names, DPE_COUNT(names)));
	dpe_text_free(&hint);
	return NULL;
}

static int run_command(struct cli *cli, char *const *argv)
{
	cli->commands = commands;
	cli->ncommands = DPE_COUNT(commands);
	cli->command = find_command(cli, argv[1]);
	if (!cli->command || !cli_parse(cli, argv + 2))
		return CLI_ERROR;
	dpe_diags_terminal(cli->diags, cli_has_color(cli, stderr), cli_columns(stderr));
	if (cli->help) {
		cli_print_help(cli->command, stdout);
		return CLI_GOOD;
	}
	if (cli->debug_text) {
		cli->debug = dpe_debug_parse(cli->debug_text, stderr, cli->diags);
		if (!cli->debug)
			return CLI_ERROR;
	}
	return cli->command->run(cli);
}

/* "dpe help", "dpe help COMMAND". */
static int help(struct cli *cli, const char *name)
{
	const struct cli_command *command = name ? find_command(cli, name) : NULL;

	if (name && !command)
		return CLI_ERROR;
	if (command)
		cli_print_help(command, stdout);
	else
		print_usage(stdout);
	return CLI_GOOD;
}

struct command_line {
	int argc;
	char **argv;
	int status;
};

static void run_command_line(void *with)
{
	struct command_line *line = with;
	int argc = line->argc;
	char **argv = line->argv;
	struct cli cli = {.diags = dpe_diags_new(), .names = dpe_names_new()};
	int status = CLI_ERROR;

	dpe_diags_terminal(cli.diags, cli_has_color(&cli, stderr), cli_columns(stderr));
	if (argc < 2) {
		print_usage(stderr);
	} else if (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h") ||
		   !strcmp(argv[1], "help")) {
		status = help(&cli, argv[2]);
	} else if (!strcmp(argv[1], "--version")) {
		puts("dpe " DPE_VERSION);
		status = CLI_GOOD;
	} else {
		status = run_command(&cli, argv);
	}
	if (status == CLI_FINDING && cli.error_exitcode)
		status = (int)cli.error_exitcode;
	dpe_diags_print(cli.diags, stderr);
	dpe_debug_free(cli.debug);
	dpe_names_free(cli.names);
	dpe_diags_free(cli.diags);
	free(cli.specs.at);
	free(cli.words.at);
	free(cli.includes.at);
	free(cli.libraries.at);
	dpe_text_free(&cli.rules);
	free(cli.suppressions.at);
	line->status = status;
}

/* Without this, cJSON drops what it has no memory for, and a report lacks a line. */
static void *allocate_json(size_t size)
{
	return dpe_xcalloc(1, size);
}

/* The libraries that read debug information need more than small limits allow, and would crash. */
static bool has_stack(void)
{
	const rlim_t least = 1 << 20;
	struct rlimit stack;

	if (getrlimit(RLIMIT_STACK, &stack) || stack.rlim_cur >= least)
		return true;
	fprintf(stderr, "dpe: error: the limit of the stack is %llu KiB: dpe needs 1024 (ulimit -s 1024)\n",
		(unsigned long long)stack.rlim_cur >> 10);
	return false;
}

int cli_main(int argc, char **argv)
{
	struct command_line line = {argc, argv, CLI_ERROR};
	cJSON_Hooks hooks = {.malloc_fn = allocate_json, .free_fn = free};

	if (!has_stack())
		return CLI_ERROR;
	cJSON_InitHooks(&hooks);
	if (!dpe_protect(run_command_line, &line))
		fputs("dpe: error: out of memory\n", stderr);
	if (fflush(stdout) || ferror(stdout)) {
		perror("dpe: standard output");
		return CLI_ERROR;
	}
	return line.status;
}
