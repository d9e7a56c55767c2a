/* dpe race: generates rules from the words, on top of the shipped rules of POSIX threads and
 * locks. A variable: two unordered accesses, one of which writes. A pair of functions:
 * unordered calls; and the same predicted, as far as it did not happen. Without words: unordered
 * accesses to any memory, in a program compiled to report them. Rules of -s are followed, too. */
#include "cli/live_run.h"
#include "cli/shared_objects.h"

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

/* The event with a caret after its name: another occurrence of it. */
static void add_another(struct dpe_text *to, const char *event)
{
	size_t name = *event == '"' ? 2 + strcspn(event + 1, "\"") : strcspn(event, "(.[ ");

	if (name > strlen(event)) /* an unterminated quote, which the compiler will report */
		name = strlen(event);
	dpe_text_printf(to, "%.*s^%s", (int)name, event, event + name);
}

/* The comma outside parentheses that separates the events of a pair; NULL if there is none. */
static const char *find_comma(const char *word)
{
	int open = 0;

	for (; *word; word++) {
		open += *word == '(' || *word == '[';
		open -= *word == ')' || *word == ']';
		if (*word == ',' && !open)
			return word;
	}
	return NULL;
}

static void add_pair(struct dpe_text *to, const char *word, const char *comma)
{
	size_t first = (size_t)(comma - word);

	dpe_text_printf(to, "%.*s & ", (int)first, word);
	if (strlen(comma + 1) == first && !strncmp(word, comma + 1, first))
		add_another(to, comma + 1);
	else
		dpe_text_puts(to, comma + 1);
}

/* Two accesses; one of them writes, and they are not both atomic. */
static void add_accesses(struct dpe_text *to, const char *variable)
{
	dpe_text_printf(to, "[%s'] [.access != \"atomic write\"] & [%s] + ", variable, variable);
	dpe_text_printf(to, "[%s'] [.access = \"atomic write\"] & [%s] [.access = \"read\"]", variable, variable);
}

/* The number of the line that is added next. */
static unsigned next_line(const struct dpe_text *text)
{
	unsigned line = 1;

	for (size_t i = 0; i < text->len; i++)
		line += text->at[i] == '\n';
	return line;
}

/* `pair`: what to watch if the word is a pair. */
static void add_rule(struct cli *cli, const char *begin, const char *word, const char *pair)
{
	struct dpe_text *to = &cli->rules;

	dpe_diags_show_word(cli->diags, CLI_COMMAND_LINE, next_line(to), "dpe race", word);
	add_name(to, begin, word);
	if (pair)
		add_pair(to, pair, find_comma(pair));
	else
		add_accesses(to, word);
	dpe_text_puts(to, "\n");
}

/* The first bracket or quote that is never closed, or that closes nothing; NULL: all are in pairs. */
static const char *find_unpaired(const char *word)
{
	const char *open[strlen(word) + 1], *end;
	unsigned depth = 0;

	for (; *word; word++) {
		if (*word == '"') {
			end = strchr(word + 1, '"');
			if (!end)
				return word;
			word = end;
		} else if (strchr("([", *word)) {
			open[depth++] = word;
		} else if (strchr(")]", *word)) {
			if (!depth || *open[depth - 1] != (*word == ')' ? '(' : '['))
				return word;
			depth--;
		}
	}
	return depth ? open[depth - 1] : NULL;
}

static void report_unpaired(struct cli *cli, const char *word, const char *unpaired)
{
	struct dpe_arena *arena = dpe_arena_new();
	uint32_t at = (uint32_t)(unpaired - word);
	struct dpe_place place = {dpe_source_new(arena, "dpe race", word, strlen(word)), at, at + 1};

	dpe_diag(cli->diags, DPE_ERROR, place, "this %c is not one of a pair", *unpaired);
	dpe_diags_keep(cli->diags, arena);
}

/* Invalid words are reported in terms of the command line, not of the generated rule. */
static bool is_watchable(struct cli *cli, const char *word)
{
	const char *comma = find_comma(word), *unpaired = find_unpaired(word);
	size_t letters = strspn(word, " \t");

	if (unpaired) {
		report_unpaired(cli, word, unpaired);
		return false;
	}
	if (!word[letters] || comma == word || (comma && !comma[1])) {
		cli_usage_error(cli,
			"'%s' is neither a variable nor a pair of functions such as get,put", word);
		return false;
	}
	if (word[letters] == '&') {
		cli_usage_error(cli, "'%s': write the name of the variable itself, %s", word, word + letters + 1);
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

/* The word if it is a pair, of the same object where both take one; NULL: a variable. The caller's to free. */
static char *pair_of(const struct cli *cli, const char *word)
{
	const char *comma = find_comma(word);
	char *first, *pair;

	if (!comma)
		return NULL;
	first = dpe_xasprintf("%.*s", (int)(comma - word), word);
	pair = cli_pair_of_object(cli, first, comma + 1);
	free(first);
	return pair ? pair : dpe_xstrdup(word);
}

static void add_rules(struct cli *cli, const char *word)
{
	char *pair = pair_of(cli, word);

	add_rule(cli, "detect race_", word, pair);
	if (!cli->no_predict)
		add_rule(cli, "predict predicted_race_", word, pair);
	free(pair);
}

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
	bool memory = !cli->words.count;
	struct cli_live_run how = {.recognize = true,
		.launch = !cli->pid,
		.memory_observed = memory,
		.skip_happened = "predicted_"};

	if (!memory && cli->heap) {
		cli_usage_error(cli, "--heap is about all memory, and takes no variable or function");
		return CLI_ERROR;
	}
	cli->predicts_races = !cli->no_predict;
	how.once = memory && !cli->specs.count && !cli->rules.len;
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
	cli->shipped = rules_of(cli);
	for (unsigned i = 0; i < cli->words.count; i++) {
		if (!is_watchable(cli, cli->words.at[i]))
			return CLI_ERROR;
		if (is_repeated(cli, i))
			continue;
		add_rules(cli, cli->words.at[i]);
	}
	return cli_live_run(cli, &how);
}
