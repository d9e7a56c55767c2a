/* Parses the command line: one table of options for all commands. */
#include "cli/progress.h"

#include <errno.h>
#include <limits.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

/* An option, and what its argument sets. */
struct option {
	char letter;          /* 0: none */
	const char *name;     /* without the dashes */
	const char *argument; /* NULL: takes none; "[=X]": optional, after a "=" */
	unsigned mask;        /* the commands that have it */
	const char *help;
	bool (*take)(struct cli *cli, const struct option *option, const char *text);
	size_t at;         /* of the member of struct cli that it sets */
	unsigned min, max; /* of a number */
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
		dpe_text_printf(&text, " (see 'dpe %s --help')", cli->command->name);
	else
		dpe_text_puts(&text, " (see 'dpe --help')");
	dpe_diag_at(cli->diags, DPE_ERROR, "dpe", "%s", text.at);
	dpe_text_free(&text);
}

static bool is_program(const char *word)
{
	struct stat stat_of;

	return strchr(word, '/') && !access(word, X_OK) && !stat(word, &stat_of) && S_ISREG(stat_of.st_mode);
}

static bool has_program(struct cli *cli, const struct cli_words *words, bool alone)
{
	for (unsigned i = 0; i < words->count; i++) {
		const char *word = words->at[i];

		if (!is_program(word))
			continue;
		cli_usage_error(cli, "'%s' is a program: put it after '--': dpe %s %s-- %s", word, cli->command->name,
			alone && !i ? "" : "… ", word);
		return true;
	}
	return false;
}

bool cli_has_stray_program(struct cli *cli)
{
	bool alone = !cli->specs.count && !cli->rules.len;

	return has_program(cli, &cli->words, alone) || (!cli->target && !cli->pid && has_program(cli, &cli->specs, false));
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

/* ---- arguments --------------------------------------------------------------------------- */

#define AT(member) .at = offsetof(struct cli, member)

static void *place(struct cli *cli, const struct option *option)
{
	return (char *)cli + option->at;
}

static bool take_flag(struct cli *cli, const struct option *option, const char *text)
{
	(void)text;
	*(bool *)place(cli, option) = true;
	return true;
}

static bool take_text(struct cli *cli, const struct option *option, const char *text)
{
	*(const char **)place(cli, option) = text;
	return true;
}

static bool take_word(struct cli *cli, const struct option *option, const char *text)
{
	struct cli_words *words = place(cli, option);

	*DPE_GROW(words->at, words->count, words->cap) = text;
	return true;
}

/* Rules, each on a line of its own. */
static bool take_rules(struct cli *cli, const struct option *option, const char *text)
{
	(void)option;
	dpe_text_printf(&cli->rules, "%s\n", text);
	return true;
}

static bool take_trace(struct cli *cli, const struct option *option, const char *text)
{
	(void)option;
	cli->trace = true;
	cli->trace_to = text;
	return true;
}

static bool take_number(struct cli *cli, const struct option *option, const char *text)
{
	unsigned long number;
	char *end;

	errno = 0;
	number = strtoul(text, &end, 10);
	if (errno || *end || *text < '0' || *text > '9' || number < option->min ||
		number > option->max) {
		cli_usage_error(cli, "--%s takes a number from %u to %u, not '%s'", option->name,
			option->min, option->max, text);
		return false;
	}
	*(unsigned *)place(cli, option) = (unsigned)number;
	return true;
}

/* Without an argument: the default interval. */
static bool take_progress(struct cli *cli, const struct option *option, const char *text)
{
	cli->has_progress = true;
	cli->progress = CLI_PROGRESS_DEFAULT;
	return !text || take_number(cli, option, text);
}

static bool take_confirm(struct cli *cli, const struct option *option, const char *text)
{
	(void)option;
	cli->confirm = true;
	cli->confirm_from = text;
	return true;
}

static bool take_ring(struct cli *cli, const struct option *option, const char *text)
{
	if (!take_number(cli, option, text))
		return false;
	if (!(cli->ring_bytes & (cli->ring_bytes - 1)))
		return true;
	cli_usage_error(cli, "--ring takes a power of two, not '%s'", text);
	return false;
}

/* The index of the word in "a|b|c"; -1 after a diagnostic. */
static int choose(
	struct cli *cli, const struct option *option, const char *choices, const char *word)
{
	size_t len = strlen(word);
	int at = 0;

	for (const char *c = choices; c; at++) {
		const char *next = strchr(c, '|');

		if (len == (next ? (size_t)(next - c) : strlen(c)) && !strncmp(c, word, len))
			return at;
		c = next ? next + 1 : NULL;
	}
	cli_usage_error(cli, "--%s takes one of %s, not '%s'", option->name, choices, word);
	return -1;
}

/* A string. */
static bool take_one_of(struct cli *cli, const struct option *option, const char *text)
{
	return choose(cli, option, option->argument, text) >= 0 && take_text(cli, option, text);
}

/* A word for an enumerator; the enumerators are in the order of the words. */
static bool take_choice(struct cli *cli, const struct option *option, const char *text)
{
	int at = choose(cli, option, option->argument, text);

	if (at >= 0)
		memcpy(place(cli, option), &at, sizeof(at));
	return at >= 0;
}

static bool take_format(struct cli *cli, const struct option *option, const char *text)
{
	bool recognizes = !(cli->command->mask & (FOR_CHECK | FOR_HANG | FOR_EXPLORE));
	int at = choose(cli, option, recognizes ? "text|json|sarif" : "text|json", text);

	cli->json = at == 1;
	cli->sarif = at == 2;
	return at >= 0;
}

_Static_assert(sizeof(enum cli_on_break) == sizeof(int) &&
		       sizeof(enum cli_break_at) == sizeof(int) &&
		       sizeof(enum cli_on_deadlock) == sizeof(int) &&
		       sizeof(enum cli_when) == sizeof(int) &&
		       sizeof(enum dpe_engine_choice) == sizeof(int),
	"take_choice sets them");

bool cli_has_color(const struct cli *cli, FILE *to)
{
	const char *no_color = getenv("NO_COLOR"), *terminal = getenv("TERM");

	if (cli->color != CLI_AUTO)
		return cli->color == CLI_ALWAYS;
	return isatty(fileno(to)) && !(no_color && *no_color) && !(terminal && !strcmp(terminal, "dumb"));
}

unsigned cli_columns(FILE *to)
{
	struct winsize size;

	return isatty(fileno(to)) && !ioctl(fileno(to), TIOCGWINSZ, &size) ? size.ws_col : 0;
}

/* ---- options ----------------------------------------------------------------------------- */

static const struct option options[] = {
	{'s', "spec", "SPEC...", FOR_LIVE | FOR_REPLAY | FOR_VIEW | FOR_CONVERT | FOR_EXPLORE,
		"specifications: all words up to the next option", take_word, AT(specs)},
	{'e', "rule-text", "RULE", FOR_LIVE | FOR_REPLAY | FOR_VIEW | FOR_EXPLORE | FOR_CHECK,
		"a rule, such as 'detect race: get() & put()'; may be repeated", .take = take_rules},
	{0, "strategy", "portfolio|random|pct:D|pos|surw|places|rounds|delay|dfs|dfs:B|dfs-full|dfs-full:B", FOR_EXPLORE,
		"how schedules are chosen (portfolio: the others in turn)", take_text,
		AT(strategy)},
	{0, "runs", "N", FOR_EXPLORE, "maximum number of runs (10000)", take_number, AT(runs),
		.min = 1, .max = UINT_MAX},
	{0, "seed", "N", FOR_EXPLORE, "the same schedules for the same seed (1)", take_number,
		AT(seed), .min = 0, .max = UINT_MAX},
	{0, "replay", "SCHEDULE", FOR_EXPLORE, "run the program once, under this schedule",
		take_text, AT(replay_from)},
	{0, "confirm", "[=FINDINGS]", FOR_EXPLORE,
		"steer runs towards what the rules predict, or predicted in another run's JSON", .take = take_confirm},
	{0, "step", NULL, FOR_EXPLORE, "stop at each macrostep, and choose the thread that continues", take_flag,
		AT(step)},
	{'o', "output", "SCHEDULE", FOR_EXPLORE, "file for what is found (found.schedule)", take_text,
		AT(output)},
	{0, "keep-going", NULL, FOR_EXPLORE, "make all runs, and report each finding once", take_flag,
		AT(keep_going)},
	{0, "races", NULL, FOR_EXPLORE, "find two accesses to the same memory at the same time, by code compiled with -fsanitize=thread", take_flag,
		AT(races)},
	{0, "fails", "STATUSES", FOR_EXPLORE,
		"exit statuses that are findings, such as 1,3,10-20, or !0 for all but 0 (others than the first run's)", take_text,
		AT(fails)},
	{0, "setup", "COMMAND", FOR_EXPLORE, "run this shell command before each run", take_text,
		AT(setup)},
	{0, "spurious", NULL, FOR_EXPLORE, "let waits for conditions wake up spuriously, too",
		take_flag, AT(spurious)},
	{0, "max-steps", "N", FOR_EXPLORE, "maximum number of operations of a run (1000000)",
		take_number, AT(max_steps), .min = 1, .max = UINT_MAX - 1},
	{0, "run-seconds", "SECONDS", FOR_EXPLORE, "end a run after this time (10), not counting time that it waits for a processor", take_number,
		AT(run_seconds), .min = 1, .max = 1000000},
	{'o', "output", "LOG", FOR_LIVE, "write the messages to a log (.jsonl, .dpel)", take_text,
		AT(output)},
	{'o', "output", "PAGE", FOR_VIEW, "a page (.html), a Chrome trace (.json), ShiViz's log (.shiviz), or for Graphviz the first finding (.dot) or the order of locks (.locks.dot)", take_text, AT(output)},
	{0, "beside", "LOG", FOR_VIEW, "draw a second run, from this log, next to the first, and list the differences", take_text, AT(beside)},
	{0, "steps", NULL, FOR_VIEW, "show what each rule does at each event, too; slower", take_flag, AT(steps)},
	{0, "html", "FILE", FOR_RECOGNIZING & ~FOR_VIEW,
		"write a page that draws the run and its findings, for a browser", take_text, AT(html)},
	{0, "html", "FILE", FOR_EXPLORE, "write a page that draws the run of --replay", take_text, AT(html)},
	{0, "log", "LOG", FOR_EXPLORE, "write the events of the run of --replay to a log (.jsonl, .dpel)", take_text, AT(log)},
	{'p', "pid", "PID", FOR_ATTACH | FOR_TOP | FOR_LIST | FOR_DEADLOCK | FOR_RACE | FOR_HANG,
		"the process to observe", take_number, AT(pid), .min = 1, .max = INT_MAX},
	{'I', "include", "DIR", FOR_ALL & ~(FOR_LIST | FOR_HANG), "search this directory for included specifications",
		take_word, AT(includes)},
	{0, "library", "FILE", FOR_LIVE | FOR_LIST,
		"a library that the program loads later, with dlopen", take_word, AT(libraries)},
	{0, "format", "text|json|sarif", FOR_RECOGNIZING | FOR_RECORD | FOR_CHECK | FOR_HANG,
		"format of the report, or of --explain", .take = take_format},
	{0, "format", "text|json", FOR_EXPLORE, "format of the report", .take = take_format},
	{0, "report", "FILE", FOR_RECOGNIZING | FOR_RECORD | FOR_EXPLORE, "send the report to a file", take_text,
		AT(report)},
	{0, "max-findings", "N", FOR_RECOGNIZING | FOR_TOP, "print at most this many findings of a rule as text, and count the others (100); 0: all",
		take_number, AT(max_findings), .min = 0, .max = UINT_MAX},
	{0, "allow-unobserved", NULL, FOR_RECOGNIZING | FOR_EXPLORE | FOR_TOP, "exit with 0, not 3, if no event of a rule occurred (explore: or no thread began)",
		take_flag, AT(allow_unobserved)},
	{0, "all", NULL, FOR_RECOGNIZING,
		"print repeated findings, and each inconclusive slice", take_flag,
		AT(all)},
	{0, "all", NULL, FOR_CHECK, "show the rules of included specifications as well", take_flag, AT(all)},
	{0, "draw", "auto|always|never", FOR_RECOGNIZING,
		"draw the causal order of a finding's events (auto: on a terminal)",
		take_choice, AT(draw)},
	{0, "full-stacks", NULL, FOR_RECOGNIZING | FOR_HANG | FOR_TOP, "print stacks with template arguments, parameters and all frames of language libraries",
		take_flag, AT(full_stacks)},
	{0, "color", "auto|always|never", FOR_ALL, "colour findings and errors (auto: on a terminal, unless NO_COLOR is set)",
		take_choice, AT(color)},
	{0, "suppressions", "FILE", FOR_RECOGNIZING | FOR_EXPLORE | FOR_TOP,
		"suppress the findings described in this file", take_word, AT(suppressions)},
	{0, "show-suppressions", NULL, FOR_RECOGNIZING,
		"print a suppression for each finding", take_flag, AT(show_suppressions)},
	{0, "rule", "NAME", FOR_COMPILE, "this rule only", take_text, AT(rule)},
	{0, "emit", "pa|json|dot|net|pnml", FOR_COMPILE, "what to write (pa)", take_choice,
		AT(emit)},
	{0, "name-silent", NULL, FOR_COMPILE,
		"treat silent transitions of a net as events named by their ids", take_flag,
		AT(name_silent)},
	{0, "max-states", "N", FOR_COMPILE, "maximum number of states (100000)", take_number,
		AT(max_states), .min = 1, .max = UINT_MAX},
	{0, "from", "jsonl|msg|dpel|std|otlp|shiviz|journal|ctf", FOR_CONVERT | FOR_REPLAY | FOR_VIEW, "format of the logs read",
		take_one_of, AT(from)},
	{0, "pattern", "REGEX", FOR_CONVERT | FOR_REPLAY | FOR_VIEW,
		"read text: each match is an event, with named groups such as (?<event>\\w+)", take_text, AT(pattern)},
	{0, "to", "jsonl|msg|dpel|std", FOR_CONVERT, "format of the output", take_one_of,
		AT(to)},
	{0, "stabilize", NULL, FOR_CONVERT,
		"write causal order, with the predecessors added by synchronisation", take_flag,
		AT(stabilize)},
	{0, "error-exitcode", "N", FOR_RECOGNIZING | FOR_EXPLORE | FOR_TOP, "exit with this status if something is found (1)",
		take_number, AT(error_exitcode), .min = 1, .max = 255},
	{0, "target-status", NULL, FOR_RUN | FOR_TOP | FOR_RECORD | FOR_DEADLOCK | FOR_RACE,
		"exit with the program's own status if nothing is found, unless that is 0 and the result inconclusive", take_flag, AT(target_status)},
	{'u', "user", "NAME", FOR_RUN | FOR_TOP | FOR_RECORD | FOR_DEADLOCK | FOR_RACE,
		"run the program as this user (root only)", take_text, AT(user)},
	{0, "plan", NULL, FOR_LIVE, "print what would be observed, and exit", take_flag, AT(plan)},
	{0, "placement", NULL, FOR_LIST, "print the instruction of each probe, and why it was chosen", take_flag,
		AT(placement)},
	{0, "explain", NULL, FOR_CHECK, "explain each rule, with examples", take_flag,
		AT(explain)},
	{'i', "in-place", NULL, FOR_FMT, "edit the files in place", take_flag, AT(in_place)},
	{0, "check", NULL, FOR_FMT, "list the files that would change, and fail if there are any",
		take_flag, AT(check)},
	{0, "on-break", "ask|continue|gdb|kill", FOR_RECOGNIZING,
		"what to do at a break (ask; without a terminal: continue)", take_choice, AT(on_break)},
	{0, "gdb", NULL, FOR_RUN | FOR_ATTACH, "the same as --on-break=gdb",
		take_flag, AT(gdb)},
	{0, "gdb", NULL, FOR_EXPLORE, "run gdb on the run of --replay, before main", take_flag, AT(gdb)},
	{0, "break-at", "auto|event|later", FOR_RUN | FOR_ATTACH | FOR_DEADLOCK | FOR_RACE,
		"stop the program at the event itself, or when its match is reported (auto: event, but later with -p)",
		take_choice, AT(break_at)},
	{0, "dynamic", NULL, FOR_RUN | FOR_ATTACH,
		"drop events in the probe that cannot be part of a match yet", take_flag,
		AT(dynamic)},
	{0, "engine", "auto|pa|net", FOR_RECOGNIZING,
		"engine that follows the rules (auto: chosen for each rule)",
		take_choice, AT(engine)},
	{0, "on-deadlock", "report|stop|kill|gdb", FOR_RUN | FOR_ATTACH | FOR_DEADLOCK | FOR_RACE,
		"what to do with a program that hangs (report)", take_choice, AT(on_deadlock)},
	{0, "hang-after", "SECONDS", FOR_RECOGNIZING | FOR_TOP,
		"report waits of this length as a possible hang (10); 0: never", take_number,
		AT(hang_after), .min = 0, .max = 1000000000},
	{0, "max-instances", "N", FOR_RECOGNIZING, "maximum number of partial matches in a slice (100000)",
		take_number, AT(max_instances), .min = 1, .max = UINT_MAX},
	{0, "interval", "SECONDS", FOR_LIVE & ~FOR_TOP, "print what rules measure at this interval, not only at the end",
		take_number, AT(interval), .min = 1, .max = 1000000000},
	{'d', "duration", "SECONDS", FOR_LIVE, "stop observing after this time; the program runs on",
		take_number, AT(duration), .min = 1, .max = 1000000000},
	{0, "stack", "N", FOR_LIVE | FOR_HANG, "stack frames of each event or thread, 0 to 32 (16)", take_number,
		AT(stack_depth), .min = 0, .max = 32},
	{0, "ring", "BYTES", FOR_LIVE, "bytes of each ring buffer, a power of two (8388608)",
		take_ring, AT(ring_bytes), .min = 4096, .max = 1u << 31},
	{0, "rings", "N", FOR_LIVE, "number of ring buffers (one for each processor)", take_number,
		AT(rings), .min = 1, .max = 8192},
	{0, "trace", "[=FILE]", FOR_RECOGNIZING,
		"trace each step: messages held and released, transitions of slices",
		.take = take_trace},
	{0, "progress", "[=SECONDS]", FOR_RECOGNIZING | FOR_RECORD,
		"print progress at this interval (5); 0: never", take_progress,
		AT(progress), .min = 0, .max = 1000000},
	{0, "stats", NULL, (FOR_RECOGNIZING & ~FOR_VIEW) | FOR_TOP, "print at the end what the run cost: time by stage, rate, memory", take_flag, AT(stats)},
	{0, "stay", "MS", FOR_RUN | FOR_TOP | FOR_RECORD | FOR_RACE,
		"how long exit waits for other threads where memory is observed (1000)",
		take_number, AT(stay), .min = 0, .max = 1000000000},
	{0, "no-predict", NULL, FOR_RACE | FOR_DEADLOCK,
		"do not predict: races that happened only, all deadlocks as potential",
		take_flag, AT(no_predict)},
	{0, "heap", NULL, FOR_RACE, "find heap memory that is used after it was freed, or freed twice, and nothing else",
		take_flag, AT(heap)},
	{0, "preload", NULL, FOR_RUN | FOR_TOP | FOR_RECORD | FOR_DEADLOCK | FOR_RACE,
		"observe pthread functions by a preloaded library: faster", take_flag,
		AT(preload)},
	{0, "follow", NULL, FOR_LIVE,
		"observe child processes, and programs that they execute",
		take_flag, AT(follow)},
	{0, "dump", "ast|expanded|resolved|normal|nets", FOR_CHECK | FOR_COMPILE,
		"print the result of a compiler pass", take_choice, AT(dump)},
	{0, "debug", "DOMAIN[:LEVEL],...", FOR_ALL,
		"trace: lang, stabilizer, recognizer, probes, report, log, all", take_text,
		AT(debug_text)},
	{'h', "help", NULL, ~0u, "this text", take_flag, AT(help)},
};

/* The commands that have an option of that word. */
static unsigned commands_with(const char *name)
{
	for (unsigned i = 0; i < DPE_COUNT(options); i++) {
		bool is_letter = name[1] == options[i].letter && name[1] && !name[2];

		if (is_letter || (!strncmp(name, "--", 2) && !strcmp(name + 2, options[i].name)))
			return options[i].mask;
	}
	return 0;
}

/* "run, attach" */
static void list_commands(const struct cli *cli, unsigned mask, struct dpe_text *to)
{
	for (unsigned i = 0; i < cli->ncommands; i++) {
		if (cli->commands[i].mask & mask)
			dpe_text_printf(to, "%s%s", to->len ? ", " : "", cli->commands[i].name);
	}
}

static void unknown_option(struct cli *cli, const char *word, size_t len)
{
	const char *names[DPE_COUNT(options)], *best;
	char *name = dpe_xasprintf("%.*s", (int)len, word);
	struct dpe_text hint = {0};
	unsigned count = 0;

	for (unsigned i = 0; i < DPE_COUNT(options); i++) {
		if (options[i].mask & cli->command->mask)
			names[count++] = options[i].name;
	}
	dpe_text_puts(&hint, "");
	if (commands_with(name)) {
		list_commands(cli, commands_with(name), &hint);
		cli_usage_error(cli, "unknown option '%s', which these commands have: %s", name, hint.at);
	} else {
		if (dpe_nearest(name + strspn(name, "-"), names, count, &best, 1))
			dpe_text_printf(&hint, "; did you mean '--%s'?", best);
		cli_usage_error(cli, "unknown option '%s'%s", name, hint.at);
	}
	dpe_text_free(&hint);
	free(name);
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

static bool is_log(const struct cli *cli, const char *word)
{
	const char *dot = strrchr(word, '.');

	return dpe_log_format_of(word) != DPE_LOG_UNKNOWN || ((cli->pattern || cli->from) && !(dot && !strcmp(dot, ".dpe")));
}

/* -s takes words up to the next option, or up to a log where logs are expected. */
static unsigned take_specs(struct cli *cli, char *const *argv)
{
	bool logs = cli->command->mask & (FOR_REPLAY | FOR_VIEW | FOR_CONVERT);
	unsigned taken = 0;

	while (argv[taken] && (argv[taken][0] != '-' || (!argv[taken][1] && !logs)) &&
		!(logs && is_log(cli, argv[taken])))
		*DPE_GROW(cli->specs.at, cli->specs.count, cli->specs.cap) = argv[taken++];
	return taken;
}

/* The option that a word names, and the argument in the word, if any. NULL after a diagnostic. */
static const struct option *find_option(struct cli *cli, const char *word, const char **argument)
{
	size_t len = word[1] == '-' ? strcspn(word, "=") : 2;
	const struct option *option =
		word[1] == '-' ? find_long(cli, word + 2, len - 2) : find_letter(cli, word[1]);

	*argument = !word[len] ? NULL : word[1] == '-' ? word + len + 1 : word + len;
	if (!option)
		unknown_option(cli, word, word[1] == '-' ? len : strlen(word));
	return option;
}

/* Parses the option at argv[0]; returns the number of words, 0 after a diagnostic. */
static unsigned take_option(struct cli *cli, char *const *argv)
{
	const char *argument;
	const struct option *option = find_option(cli, argv[0], &argument);
	unsigned taken;

	if (!option)
		return 0;
	if (!option->argument && argument) {
		cli_usage_error(cli, "--%s takes no argument", option->name);
		return 0;
	}
	if (argument || !option->argument || *option->argument == '[')
		return option->take(cli, option, argument);
	if (option->take == take_word && option->at == offsetof(struct cli, specs)) {
		taken = take_specs(cli, argv + 1);
		if (!taken && argv[1] && argv[1][0] != '-')
			cli_usage_error(cli, "-s needs a specification, and '%s' is a log", argv[1]);
		else if (!taken)
			cli_usage_error(cli, "-s needs a specification");
		return taken ? taken + 1 : 0;
	}
	if (argv[1])
		return option->take(cli, option, argv[1]) ? 2 : 0;
	cli_usage_error(cli, "%s needs an argument, %s", argv[0], option->argument);
	return 0;
}

/* The words after "--": the program to run, or else words that are not options. */
static void take_rest(struct cli *cli, char *const *argv)
{
	if (cli->command->mask & (FOR_RUN | FOR_TOP | FOR_RECORD | FOR_DEADLOCK | FOR_RACE | FOR_EXPLORE)) {
		cli->target = (char **)argv;
		return;
	}
	for (; *argv; argv++)
		*DPE_GROW(cli->words.at, cli->words.count, cli->words.cap) = *argv;
}

uint64_t cli_hang_after(const struct cli *cli)
{
	return cli->hang_after ? cli->hang_after * UINT64_C(1000000000) : UINT64_MAX;
}

bool cli_parse(struct cli *cli, char *const *argv)
{
	cli->emit = cli->dump = -1;
	cli->max_states = 100000;
	cli->stack_depth = 16;
	cli->stay = 1000;
	cli->hang_after = 10;
	cli->runs = 10000;
	cli->seed = 1;
	cli->max_steps = 1000000;
	cli->run_seconds = 10;
	cli->max_findings = 100;
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

/* "-p, --pid=PID", "--trace[=FILE]", "-s, --spec SPEC...": an option with several words takes
 * no "=". */
static void print_option(FILE *to, const struct option *option)
{
	const char *argument = option->argument ? option->argument : "";
	const char *between = !*argument || *argument == '['              ? ""
			      : strstr(argument, "...") && option->letter ? " "
									  : "=";
	char left[128], letter[] = "-x, ";

	letter[1] = option->letter;
	snprintf(left, sizeof(left), "%s--%s%s%s", option->letter ? letter : "", option->name,
		between, argument);
	fprintf(to, "  %-36s %s\n", left, option->help);
}

void cli_print_help(const struct cli_command *command, FILE *to)
{
	fprintf(to, "usage: dpe %s\n\n%s.\n\n", command->synopsis, command->summary);
	for (unsigned i = 0; i < DPE_COUNT(options); i++) {
		if (options[i].mask & command->mask)
			print_option(to, &options[i]);
	}
}
