/* dpe race: generates rules from the words, on top of the shipped rules of POSIX threads and
 * locks. A variable: two unordered accesses, one of which writes. A pair of functions:
 * unordered calls; and the same predicted, as far as it did not happen. Without words: unordered
 * accesses to any memory, in a program compiled to report them. Rules of -s are followed, too. */
#include "cli/live_run.h"
#include "cli/race_pairs.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

/* The beginning of a rule, whose name ends with the letters and digits of the word. */
static void add_name(struct dpe_text *to, const char *begin, const char *word)
{
	dpe_text_puts(to, begin);
	for (; *word; word++)
		dpe_text_printf(to, "%c", isalnum((unsigned char)*word) ? *word : '_');
	dpe_text_puts(to, ": ");
}

/* `name`, `space::name`, `name.member`, `name->member[3]`, with blanks around it: what a watched variable can be called. */
static bool is_path(const char *word)
{
	const char *at = word + strspn(word, " \t");

	while (isalpha((unsigned char)*at) || *at == '_') {
		while (isalnum((unsigned char)*at) || *at == '_')
			at++;
		while (*at == '[')
			at += strcspn(at, "]") + 1;
		if (!at[strspn(at, " \t")])
			return true;
		if (*at != '.' && strncmp(at, "->", 2) != 0 && strncmp(at, "::", 2) != 0)
			return false;
		at += 1 + (*at != '.');
	}
	return false;
}

/* Two accesses; one of them writes, and they are not both atomic. */
static void add_accesses(struct dpe_text *to, const char *word)
{
	char *variable = dpe_xasprintf("%.*s", (int)strcspn(word, " \t"), word);

	dpe_text_printf(to, "[%s'] [.access != \"atomic write\"] & [%s] + ", variable, variable);
	dpe_text_printf(to, "[%s'] [.access = \"atomic write\"] & [%s] [.access = \"read\"]", variable, variable);
	free(variable);
}

/* The number of the line that is added next. */
static unsigned next_line(const struct dpe_text *text)
{
	unsigned line = 1;

	for (size_t i = 0; i < text->len; i++)
		line += text->at[i] == '\n';
	return line;
}

/* `pair`: the expression of a pair; NULL: the word is a variable. */
static void add_rule(struct cli *cli, const char *begin, const char *word, const char *pair)
{
	struct dpe_text *to = &cli->rules;

	dpe_diags_show_word(cli->diags, CLI_COMMAND_LINE, next_line(to), "dpe race", word);
	add_name(to, begin, word);
	if (pair)
		dpe_text_puts(to, pair);
	else
		add_accesses(to, word + strspn(word, " \t"));
	dpe_text_puts(to, "\n");
}

/* Invalid words are reported in terms of the command line, not of the generated rule. */
static bool is_watchable(struct cli *cli, const char *word)
{
	size_t letters = strspn(word, " \t");
	const char *comma = cli_race_find(word, ","), *blank = cli_race_find(word + letters, " \t");

	if (!word[letters] || comma == word || (*comma && !comma[1])) {
		cli_usage_error(cli,
			"'%s' is neither a variable nor a pair of functions such as get,put", word);
		return false;
	}
	if (*comma && (*word == '(' || comma[1] == '(' || *cli_race_find(word, "+;&*@"))) {
		cli_usage_error(cli, "'%s': a pair has one function on each side; several pairs are several words, get,put peek,put, and other "
			"expressions are rules, -e 'detect race: (get + peek) & put'", word);
		return false;
	}
	if (*comma && *cli_race_find(comma + 1, ",")) {
		cli_usage_error(cli, "'%s': a pair has two functions; several pairs are several words, get,put get,clear", word);
		return false;
	}
	if (!*comma && (blank[strspn(blank, " \t")] || cli_race_is_cplusplus(word))) {
		cli_usage_error(cli, "'%s' is no variable; a pair of functions is written with a comma, get,put", word);
		return false;
	}
	if (word[letters] == '&') {
		cli_usage_error(cli, "'%s': write the name of the variable itself, %s", word, word + letters + 1);
		return false;
	}
	if (!*comma && !is_path(word)) {
		cli_usage_error(cli, "'%s' is no name of a variable, such as count, queue.items[2].state or shop::total", word);
		return false;
	}
	return true;
}

static bool is_repeated(const struct cli *cli, unsigned number)
{
	for (unsigned i = 0; i < number; i++) {
		if (!strcmp(cli->words.at[i], cli->words.at[number]))
			return true;
	}
	return false;
}

static void add_rules(struct cli *cli, const char *word, bool *objects)
{
	char *pair = cli_race_pair(cli, word, objects);

	add_rule(cli, "detect race_", word, pair);
	if (!cli->no_predict)
		add_rule(cli, "predict " CLI_PREDICTED "race_", word, pair);
	free(pair);
}

/* The allocator orders the last call on an object before the first call on the next object at its address. */
#define REUSE "-e 'sync last reuse(p): free(p) ; (malloc(_).exit = p + calloc(_, _).exit = p)'"

/* The shipped rules. */
static const char *const *rules_of(const struct cli *cli)
{
	static const char *const of_words[] = {"ipc.dpe", "locks.dpe", "packs.dpe", NULL},
		*const of_memory[][3] = {{"predicted_race.dpe", "ipc.dpe"}, {"race.dpe", "ipc.dpe"}},
		*const of_heap[][3] = {{"predicted_heap.dpe", "ipc.dpe"}, {"heap.dpe", "ipc.dpe"}};

	if (cli->words.count)
		return of_words;
	return cli->heap ? of_heap[cli->no_predict] : of_memory[cli->no_predict];
}

int cli_race(struct cli *cli)
{
	bool memory = !cli->words.count, alone = !cli->specs.count && !cli->rules.len, objects = false;
	int status;
	struct cli_live_run how = {.recognize = true,
		.launch = !cli->pid,
		.memory_observed = memory,
		.skip_happened = CLI_PREDICTED};

	if (!memory && cli->heap) {
		cli_usage_error(cli, "--heap checks all heap memory, and takes no variable or function");
		return CLI_ERROR;
	}
	if (cli_has_stray_program(cli))
		return CLI_ERROR;
	cli->predicts_races = !cli->no_predict;
	how.once = memory && alone;
	if (memory && !cli->plan && !(cli->target && cli->target[0])) {
		cli_usage_error(cli,
			"nothing to watch: name variables, or pairs of functions such as get,put");
		return CLI_ERROR;
	}
	if (!cli->pid == !(cli->target && cli->target[0]) && !cli->plan) {
		cli_usage_error(
			cli, "no target: use -p PID or -- COMMAND...");
		return CLI_ERROR;
	}
	if (memory && getenv("TSAN_OPTIONS"))
		dpe_diag_at(cli->diags, DPE_NOTE, "dpe race",
			"TSAN_OPTIONS is not read: --suppressions=FILE leaves out findings, --error-exitcode=N sets the exit status of a finding, "
			"--report=FILE writes the report to a file");
	cli->shipped = rules_of(cli);
	for (unsigned i = 0; i < cli->words.count; i++) {
		if (!is_watchable(cli, cli->words.at[i]))
			return CLI_ERROR;
		if (is_repeated(cli, i))
			continue;
		add_rules(cli, cli->words.at[i], &objects);
	}
	status = cli_live_run(cli, &how);
	if (status == CLI_FINDING && objects && alone)
		dpe_diag_at(cli->diags, DPE_NOTE, "dpe race",
			"if one thread frees an object and another one allocates the next object at its address, both count as one; to distinguish "
			"them, which takes time at each allocation, add " REUSE);
	return status;
}
