/* dpe race: rules for what the words name, on the shipped rules of POSIX threads and of who holds
 * their locks. A variable: two
 * accesses that nothing orders, one of which updates it. A pair of functions: calls of them that
 * nothing orders. Without words: any two accesses, in a program that was compiled to tell of them,
 * by shipped rules as well. */
#include "cli/live.h"

#include <ctype.h>
#include <string.h>

/* A name for the rule: "race_" and what is a letter or digit of the word. */
static void add_name(struct dpe_text *to, const char *word)
{
	dpe_text_puts(to, "detect race_");
	for (; *word; word++)
		dpe_text_printf(to, "%c", isalnum((unsigned char)*word) ? *word : '_');
	dpe_text_puts(to, ": ");
}

/* The event with a caret behind its name: another of the same kind. */
static void add_another(struct dpe_text *to, const char *event)
{
	size_t name = strcspn(event, "(.[ ");

	dpe_text_printf(to, "%.*s^%s", (int)name, event, event + name);
}

/* Events of a pair are divided by the comma that stands in no parenthesis; NULL: there is none. */
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

static void add_rule(struct dpe_text *to, const char *word)
{
	const char *comma = find_comma(word);

	add_name(to, word);
	if (comma)
		add_pair(to, word, comma);
	else
		dpe_text_printf(to, "[%s'] & [%s]", word, word);
	dpe_text_puts(to, "\n");
}

/* What would make no rule is told in terms of the command line. */
static bool is_watchable(struct cli *cli, const char *word)
{
	const char *comma = find_comma(word);
	size_t letters = strspn(word, " \t");

	if (!word[letters] || comma == word || (comma && !comma[1])) {
		cli_usage_error(cli,
			"'%s' is neither a variable nor a pair of functions such as get,put", word);
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

int cli_race(struct cli *cli)
{
	struct cli_live how = {.recognize = true, .launch = !cli->pid};

	how.once = !cli->words.count && !cli->specs.count;
	if (how.once && !cli->plan && !(cli->target && cli->target[0])) {
		cli_usage_error(cli,
			"what is to be watched? variables, or pairs of functions such as get,put");
		return CLI_ERROR;
	}
	if (!cli->pid == !(cli->target && cli->target[0]) && !cli->plan) {
		cli_usage_error(
			cli, "either a process (-p PID) or a program (-- COMMAND...) is needed");
		return CLI_ERROR;
	}
	if (how.once)
		*DPE_GROW(cli->specs.at, cli->specs.count, cli->specs.cap) = "race.dpe";
	dpe_text_puts(&cli->rules, "include \"pthread.dpe\" include \"locks.dpe\"\n");
	for (unsigned i = 0; i < cli->words.count; i++) {
		if (!is_watchable(cli, cli->words.at[i]))
			return CLI_ERROR;
		if (!is_repeated(cli, i))
			add_rule(&cli->rules, cli->words.at[i]);
	}
	return cli_live(cli, &how);
}
