/* The words of the command line: one table of options for all commands. */
#include "cli/cli.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

enum option_id {
	O_SPEC,
	O_OUTPUT,
	O_PID,
	O_INCLUDE,
	O_LIBRARY,
	O_FORMAT,
	O_REPORT,
	O_RULE,
	O_EMIT,
	O_FROM,
	O_TO,
	O_STABILIZE,
	O_TARGET_STATUS,
	O_PLAN,
	O_PLACEMENT,
	O_IN_PLACE,
	O_EXPLAIN,
	O_CHECK,
	O_DRAW,
	O_SUPPRESSIONS,
	O_SHOW_SUPPRESSIONS,
	O_ON_BREAK,
	O_ON_DEADLOCK,
	O_ALL,
	O_ENGINE,
	O_MAX_INSTANCES,
	O_MAX_STATES,
	O_STACK,
	O_DURATION,
	O_RING,
	O_TRACE,
	O_PRELOAD,
	O_DUMP,
	O_DEBUG,
	O_HELP,
};

struct option {
	enum option_id id;
	char letter;          /* 0: none */
	const char *name;     /* without the dashes */
	const char *argument; /* NULL: takes none; "[=X]": may have one, behind a "=" */
	unsigned mask;        /* commands that know it */
	const char *help;
};

static const struct option options[] = {
	{O_SPEC, 's', "spec", "SPEC...", FOR_LIVE | FOR_REPLAY | FOR_CONVERT,
		"specifications: all words up to the next option"},
	{O_OUTPUT, 'o', "output", "LOG", FOR_LIVE, "write the messages to a log (.jsonl, .dpel)"},
	{O_PID, 'p', "pid", "PID", FOR_ATTACH | FOR_LIST | FOR_DEADLOCK | FOR_RACE,
		"the process to observe"},
	{O_INCLUDE, 'I', "include", "DIR", FOR_ALL & ~FOR_LIST,
		"look here for included specifications"},
	{O_LIBRARY, 0, "library", "FILE", FOR_LIVE | FOR_LIST,
		"a library that the program loads later, with dlopen"},
	{O_FORMAT, 0, "format", "text|json|sarif", FOR_RECOGNIZING | FOR_RECORD | FOR_CHECK,
		"of the report, of what --explain tells"},
	{O_REPORT, 0, "report", "FILE", FOR_RECOGNIZING | FOR_RECORD, "send the report to a file"},
	{O_ALL, 0, "all", NULL, FOR_RECOGNIZING, "repeat findings that are identical"},
	{O_DRAW, 0, "draw", "auto|always|never", FOR_RECOGNIZING,
		"draw how the events of a finding follow each other (auto: on a terminal)"},
	{O_SUPPRESSIONS, 0, "suppressions", "FILE", FOR_RECOGNIZING,
		"leave out the findings that this file describes"},
	{O_SHOW_SUPPRESSIONS, 0, "show-suppressions", NULL, FOR_RECOGNIZING,
		"show a line for such a file with each finding"},
	{O_RULE, 0, "rule", "NAME", FOR_COMPILE, "this rule only"},
	{O_EMIT, 0, "emit", "pa|json|dot|net|pnml", FOR_COMPILE, "what to write (pa)"},
	{O_MAX_STATES, 0, "max-states", "N", FOR_COMPILE, "give up beyond this many (100000)"},
	{O_FROM, 0, "from", "jsonl|msg|dpel|std", FOR_CONVERT | FOR_REPLAY,
		"format of the logs read"},
	{O_TO, 0, "to", "jsonl|msg|dpel|std", FOR_CONVERT, "format of the log written"},
	{O_STABILIZE, 0, "stabilize", NULL, FOR_CONVERT,
		"causal order, with the predecessors that synchronisation adds"},
	{O_TARGET_STATUS, 0, "target-status", NULL, FOR_RUN | FOR_RECORD | FOR_DEADLOCK | FOR_RACE,
		"exit with the program's own status"},
	{O_PLAN, 0, "plan", NULL, FOR_LIVE, "show what would be observed, and end"},
	{O_PLACEMENT, 0, "placement", NULL, FOR_LIST, "show on which instruction, and why there"},
	{O_EXPLAIN, 0, "explain", NULL, FOR_CHECK, "tell what each rule means, with examples"},
	{O_IN_PLACE, 'i', "in-place", NULL, FOR_FMT, "change the files themselves"},
	{O_CHECK, 0, "check", NULL, FOR_FMT,
		"name the files that would change, and fail if there are any"},
	{O_ON_BREAK, 0, "on-break", "ask|continue|gdb|kill", FOR_RECOGNIZING,
		"at a break (ask; without a terminal, continue)"},
	{O_ENGINE, 0, "engine", "auto|pa|net", FOR_RECOGNIZING,
		"what follows the rules: automata, nets (auto: automata where they can)"},
	{O_ON_DEADLOCK, 0, "on-deadlock", "report|stop|kill|gdb",
		FOR_RUN | FOR_ATTACH | FOR_DEADLOCK | FOR_RACE,
		"what becomes of a program that hangs (report)"},
	{O_MAX_INSTANCES, 0, "max-instances", "N", FOR_RECOGNIZING,
		"partial matches kept of a slice (100000)"},
	{O_DURATION, 'd', "duration", "SECONDS", FOR_LIVE,
		"end after so long; the program goes on"},
	{O_STACK, 0, "stack", "N", FOR_LIVE, "frames kept of each event's stack, 0 to 32 (8)"},
	{O_RING, 0, "ring", "BYTES", FOR_LIVE, "size of the ring buffer, a power of two (8388608)"},
	{O_TRACE, 0, "trace", "[=FILE]", FOR_RECOGNIZING,
		"tell each step: messages held and released, what slices do with events"},
	{O_PRELOAD, 0, "preload", NULL, FOR_RUN | FOR_RECORD | FOR_DEADLOCK | FOR_RACE,
		"the program tells of pthread functions itself, by a library: quicker"},
	{O_DUMP, 0, "dump", "ast|resolved|normal", FOR_CHECK | FOR_COMPILE,
		"show what a pass made of the specification"},
	{O_DEBUG, 0, "debug", "DOMAIN[:LEVEL],...", FOR_ALL,
		"trace: lang, stabilizer, recognizer, probes, report, log, all"},
	{O_HELP, 'h', "help", NULL, ~0u, "this text"},
};

/* ---- errors ------------------------------------------------------------------------------ */

void cli_usage_error(struct cli *cli, const char *fmt, ...)
{
	struct dpe_text text = {0};
	va_list args;

	va_start(args, fmt);
	dpe_text_vprintf(&text, fmt, args);
	va_end(args);
	if (cli->command)
		dpe_text_printf(&text, " (dpe %s --help tells more)", cli->command->name);
	else
		dpe_text_puts(&text, " (dpe --help tells more)");
	dpe_diag_at(cli->diags, DPE_ERROR, "dpe", "%s", text.at);
	dpe_text_free(&text);
}

const char *cli_did_you_mean(
	struct dpe_text *text, const char *word, const char *const *names, unsigned count)
{
	const char *best;

	text->len = 0;
	dpe_text_puts(text, "");
	if (dpe_nearest(word, names, count, &best, 1))
		dpe_text_printf(text, "; did you mean '%s'?", best);
	return text->at;
}

static void unknown_option(struct cli *cli, const char *word, size_t len)
{
	const char *names[DPE_COUNT(options)];
	struct dpe_text hint = {0};
	unsigned count = 0;
	char *name = dpe_xasprintf("%.*s", (int)len, word);
	char *shown[DPE_COUNT(options)];

	for (unsigned i = 0; i < DPE_COUNT(options); i++) {
		if (!(options[i].mask & cli->command->mask))
			continue;
		shown[count] = dpe_xasprintf("--%s", options[i].name);
		names[count] = shown[count];
		count++;
	}
	cli_usage_error(
		cli, "unknown option '%s'%s", name, cli_did_you_mean(&hint, name, names, count));
	for (unsigned i = 0; i < count; i++)
		free(shown[i]);
	dpe_text_free(&hint);
	free(name);
}

/* ---- arguments --------------------------------------------------------------------------- */

static bool set_number(struct cli *cli, const char *name, const char *text, unsigned long min,
	unsigned long max, unsigned *to)
{
	unsigned long number;
	char *end;

	errno = 0;
	number = strtoul(text, &end, 10);
	if (errno || *end || !*text || *text == '-' || number < min || number > max) {
		cli_usage_error(
			cli, "--%s takes a number from %lu to %lu, not '%s'", name, min, max, text);
		return false;
	}
	*to = (unsigned)number;
	return true;
}

/* The index of the word among those of "a|b|c"; -1 after a diagnostic. */
static int choose(struct cli *cli, const char *name, const char *choices, const char *word)
{
	size_t len = strlen(word);
	int at = 0;

	for (const char *c = choices; c; at++) {
		const char *next = strchr(c, '|');

		if (len == (next ? (size_t)(next - c) : strlen(c)) && !strncmp(c, word, len))
			return at;
		c = next ? next + 1 : NULL;
	}
	cli_usage_error(cli, "--%s takes one of %s, not '%s'", name, choices, word);
	return -1;
}

static bool set_ring(struct cli *cli, const char *text)
{
	if (!set_number(cli, "ring", text, 4096, 1ul << 31, &cli->ring_bytes))
		return false;
	if (!(cli->ring_bytes & (cli->ring_bytes - 1)))
		return true;
	cli_usage_error(cli, "--ring takes a power of two, not '%s'", text);
	return false;
}

static bool set_emit(struct cli *cli, const char *text)
{
	cli->emit = text;
	return choose(cli, "emit", "pa|json|dot|net|pnml", text) >= 0;
}

static bool set_pid(struct cli *cli, const char *text)
{
	unsigned pid;

	if (!set_number(cli, "pid", text, 1, INT_MAX, &pid))
		return false;
	cli->pid = (pid_t)pid;
	return true;
}

static bool set_format(struct cli *cli, const struct option *option, const char *text)
{
	bool recognizes = !(cli->command->mask & FOR_CHECK);
	int at = choose(cli, option->name, recognizes ? "text|json|sarif" : "text|json", text);

	cli->json = at == 1;
	cli->sarif = at == 2;
	return at >= 0;
}

static bool set_on_break(struct cli *cli, const struct option *option, const char *text)
{
	int at = choose(cli, option->name, option->argument, text);

	cli->on_break = at < 0 ? CLI_ASK : (enum cli_on_break)at;
	return at >= 0;
}

static bool set_on_deadlock(struct cli *cli, const struct option *option, const char *text)
{
	int at = choose(cli, option->name, option->argument, text);

	cli->on_deadlock = at < 0 ? CLI_HANG : (enum cli_on_deadlock)at;
	return at >= 0;
}

static bool set_engine(struct cli *cli, const struct option *option, const char *text)
{
	int at = choose(cli, option->name, option->argument, text);

	cli->engine = at < 0 ? DPE_ENGINE_AUTO : (enum dpe_engine_choice)at;
	return at >= 0;
}

static bool set_draw(struct cli *cli, const struct option *option, const char *text)
{
	int at = choose(cli, option->name, option->argument, text);

	cli->draw = at < 0 ? CLI_DRAW_AUTO : (enum cli_draw_when)at;
	return at >= 0;
}

static bool set_log_format(
	struct cli *cli, const struct option *option, const char *text, const char **to)
{
	*to = text;
	return choose(cli, option->name, "jsonl|msg|dpel|std", text) >= 0;
}

static bool set_option(struct cli *cli, const struct option *option, const char *text)
{
	switch (option->id) {
	case O_SPEC: /* its words are taken one by one */
		*DPE_GROW(cli->specs.at, cli->specs.count, cli->specs.cap) = text;
		return true;
	case O_LIBRARY:
		*DPE_GROW(cli->libraries.at, cli->libraries.count, cli->libraries.cap) = text;
		return true;
	case O_INCLUDE:
		*DPE_GROW(cli->includes.at, cli->includes.count, cli->includes.cap) = text;
		return true;
	case O_OUTPUT:
		cli->output = text;
		return true;
	case O_PID:
		return set_pid(cli, text);
	case O_FORMAT:
		return set_format(cli, option, text);
	case O_REPORT:
		cli->report = text;
		return true;
	case O_RULE:
		cli->rule = text;
		return true;
	case O_EMIT:
		return set_emit(cli, text);
	case O_FROM:
		return set_log_format(cli, option, text, &cli->from);
	case O_TO:
		return set_log_format(cli, option, text, &cli->to);
	case O_STABILIZE:
		cli->stabilize = true;
		return true;
	case O_TARGET_STATUS:
		cli->target_status = true;
		return true;
	case O_PLAN:
		cli->plan = true;
		return true;
	case O_PLACEMENT:
		cli->placement = true;
		return true;
	case O_EXPLAIN:
		cli->explain = true;
		return true;
	case O_IN_PLACE:
		cli->in_place = true;
		return true;
	case O_CHECK:
		cli->check = true;
		return true;
	case O_ON_BREAK:
		return set_on_break(cli, option, text);
	case O_ON_DEADLOCK:
		return set_on_deadlock(cli, option, text);
	case O_ENGINE:
		return set_engine(cli, option, text);
	case O_ALL:
		cli->all = true;
		return true;
	case O_DRAW:
		return set_draw(cli, option, text);
	case O_SUPPRESSIONS:
		*DPE_GROW(cli->suppressions.at, cli->suppressions.count, cli->suppressions.cap) =
			text;
		return true;
	case O_SHOW_SUPPRESSIONS:
		cli->show_suppressions = true;
		return true;
	case O_MAX_INSTANCES:
		return set_number(cli, option->name, text, 1, UINT_MAX, &cli->max_instances);
	case O_MAX_STATES:
		return set_number(cli, option->name, text, 1, UINT_MAX, &cli->max_states);
	case O_DURATION:
		return set_number(cli, option->name, text, 1, 1000000000, &cli->duration);
	case O_STACK:
		return set_number(cli, option->name, text, 0, 32, &cli->stack_depth);
	case O_RING:
		return set_ring(cli, text);
	case O_TRACE:
		cli->trace = true;
		cli->trace_to = text;
		return true;
	case O_PRELOAD:
		cli->preload = true;
		return true;
	case O_DUMP:
		cli->dump = text;
		return choose(cli, option->name, option->argument, text) >= 0;
	case O_DEBUG:
		cli->debug_text = text;
		return true;
	case O_HELP:
		cli->help = true;
		return true;
	}
	return false;
}

/* ---- words ------------------------------------------------------------------------------- */

static const struct option *find_long(const struct cli *cli, const char *word, size_t len)
{
	for (unsigned i = 0; i < DPE_COUNT(options); i++) {
		if ((options[i].mask & cli->command->mask) && strlen(options[i].name) == len &&
			!strncmp(options[i].name, word, len))
			return &options[i];
	}
	return NULL;
}

static const struct option *find_letter(const struct cli *cli, char letter)
{
	for (unsigned i = 0; i < DPE_COUNT(options); i++) {
		if ((options[i].mask & cli->command->mask) && options[i].letter == letter)
			return &options[i];
	}
	return NULL;
}

static bool is_log(const char *word)
{
	return dpe_log_format_of(word) != DPE_LOG_UNKNOWN;
}

/* -s takes words until one begins another option, or is a log where logs are expected. */
static unsigned take_specs(struct cli *cli, char *const *argv)
{
	bool logs = cli->command->mask & (FOR_REPLAY | FOR_CONVERT);
	unsigned taken = 0;

	while (argv[taken] && (argv[taken][0] != '-' || (!argv[taken][1] && !logs)) &&
		!(logs && is_log(argv[taken])))
		*DPE_GROW(cli->specs.at, cli->specs.count, cli->specs.cap) = argv[taken++];
	return taken;
}

/* The option at argv[0]; returns how many words it took, 0 after a diagnostic. */
static unsigned take_option(struct cli *cli, char *const *argv)
{
	const char *word = argv[0], *argument = NULL;
	const struct option *option;
	size_t len;

	if (word[1] == '-') {
		len = strcspn(word + 2, "=");
		option = find_long(cli, word + 2, len);
		argument = word[2 + len] ? word + 3 + len : NULL;
	} else {
		len = 0;
		option = find_letter(cli, word[1]);
		argument = word[1] && word[2] ? word + 2 : NULL;
	}
	if (!option) {
		unknown_option(cli, word, len ? len + 2 : strlen(word));
		return 0;
	}
	if (!option->argument) {
		if (!argument)
			return set_option(cli, option, NULL);
		cli_usage_error(cli, "--%s takes no argument", option->name);
		return 0;
	}
	if (option->id == O_SPEC && !argument) {
		unsigned taken = take_specs(cli, argv + 1);

		if (!taken)
			cli_usage_error(cli, "-s needs a specification");
		return taken ? taken + 1 : 0;
	}
	if (argument || *option->argument == '[')
		return set_option(cli, option, argument);
	if (!argv[1]) {
		cli_usage_error(cli, "%s needs an argument, %s", word, option->argument);
		return 0;
	}
	return set_option(cli, option, argv[1]) ? 2 : 0;
}

/* What stands after "--": the program to run; where none is run, words that are no options. */
static void take_rest(struct cli *cli, char *const *argv)
{
	if (cli->command->mask & (FOR_RUN | FOR_RECORD | FOR_DEADLOCK | FOR_RACE)) {
		cli->target = (char **)argv;
		return;
	}
	for (; *argv; argv++)
		*DPE_GROW(cli->words.at, cli->words.count, cli->words.cap) = *argv;
}

bool cli_parse(struct cli *cli, char *const *argv)
{
	cli->max_states = 100000;
	cli->stack_depth = 8;
	while (*argv) {
		unsigned taken = 1;

		if (!strcmp(*argv, "--")) {
			take_rest(cli, argv + 1);
			break;
		}
		if (**argv == '-' && (*argv)[1])
			taken = take_option(cli, argv);
		else
			*DPE_GROW(cli->words.at, cli->words.count, cli->words.cap) = *argv;
		if (!taken)
			return false;
		argv += taken;
	}
	return true;
}

void cli_print_help(const struct cli_command *command, FILE *to)
{
	fprintf(to, "usage: dpe %s\n\n%s.\n\n", command->synopsis, command->summary);
	for (unsigned i = 0; i < DPE_COUNT(options); i++) {
		const struct option *option = &options[i];
		char left[64];

		if (!(option->mask & command->mask))
			continue;
		if (option->letter)
			snprintf(left, sizeof(left), "-%c%s%s", option->letter,
				option->argument ? " " : ", --help",
				option->argument ? option->argument : "");
		else
			snprintf(left, sizeof(left), "--%s%s%s", option->name,
				option->argument && *option->argument != '[' ? "=" : "",
				option->argument ? option->argument : "");
		fprintf(to, "  %-32s %s\n", left, option->help);
	}
}
