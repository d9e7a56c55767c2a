/* Pairs of functions that `dpe race` watches, as expressions of the language. Calls about different objects are no race: a
 * pair whose functions all take a pointer to the same kind of object first is followed for each object. */
#include "cli/race_pairs.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

struct race_event {
	char *name; /* without quotes; owned */
	int carets; /* their number after the name */
	char *rest; /* arguments, .exit, a condition; owned */
};

struct race_side {
	char *text; /* owned */
	struct race_event *events; /* of a choice; none: another expression */
	unsigned count, cap;
};

/* ---- words ------------------------------------------------------------------------------- */

static bool is_letter(char c)
{
	return isalnum((unsigned char)c) || c == '_';
}

/* The end of the name of the operator of C++ that begins here, such as `operator<<`, `operator new[]`, `operator unsigned long`; NULL:
 * none does. */
static const char *skip_operator(const char *begin, const char *at)
{
	size_t len = dpe_operator_length(begin, at);

	if (!len)
		return NULL;
	at += len;
	if (*at != ' ')
		return at;
	while (is_letter(*at) || (*at && strchr(" :*&", *at)))
		at++;
	return at + 2 * !strncmp(at, "[]", 2);
}

bool cli_race_is_cplusplus(const char *word)
{
	const char *at = word;

	while (*at && !skip_operator(word, at))
		at++;
	return *at || strchr(word, '~');
}

const char *cli_race_find(const char *word, const char *characters)
{
	unsigned brackets = 0, angles = 0;
	const char *begin = word, *end;

	for (; *word; word++) {
		end = brackets ? NULL : skip_operator(begin, word);
		if (end) {
			word = end - 1;
			continue;
		}
		if (!brackets && !angles && strchr(characters, *word))
			return word;
		if (*word == '"') {
			end = strchr(word + 1, '"');
			if (!end)
				return word + strlen(word); /* it was reported */
			word = end;
			continue;
		}
		brackets += *word == '(' || *word == '[';
		brackets -= (*word == ')' || *word == ']') && brackets;
		angles += *word == '<' && !brackets;
		angles -= *word == '>' && !brackets && angles;
	}
	return word;
}

/* The text without blanks around it. */
static char *trimmed(const char *text, size_t len)
{
	while (len && strchr(" \t", *text))
		text++, len--;
	while (len && strchr(" \t", text[len - 1]))
		len--;
	return dpe_xasprintf("%.*s", (int)len, text);
}

static void add_event(struct race_side *side, const char *text, size_t len)
{
	char *whole = trimmed(text, len);
	bool quoted = *whole == '"';
	size_t name = quoted ? 1 + strcspn(whole + 1, "\"") : (size_t)(cli_race_find(whole, "(.[^ \t") - whole);
	size_t end = name + (quoted && whole[name]);
	int carets = (int)strspn(whole + end, "^");

	*DPE_GROW(side->events, side->count, side->cap) = (struct race_event){
		.name = dpe_xasprintf("%.*s", (int)(name - quoted), whole + quoted),
		.carets = carets,
		.rest = dpe_xstrdup(whole + end + carets),
	};
	free(whole);
}

/* The text in the parentheses that are around all of it, if any are; owned. */
static char *unwrapped(const char *text, size_t len)
{
	char *inner = trimmed(text, len), *shorter;

	while (*inner == '(') {
		const char *end = cli_race_find(inner + 1, ")");

		if (!*end || end[1])
			break;
		shorter = trimmed(inner + 1, (size_t)(end - inner - 1));
		free(inner);
		inner = shorter;
	}
	return inner;
}

static void parse_side(struct race_side *side, const char *text, size_t len)
{
	const char *end;

	side->text = unwrapped(text, len);
	if (*side->text == '(' || *cli_race_find(side->text, ";&*@"))
		return;
	for (const char *at = side->text;; at = end + 1) {
		end = cli_race_find(at, "+");
		add_event(side, at, (size_t)(end - at));
		if (!*end)
			return;
	}
}

static void free_side(struct race_side *side)
{
	for (unsigned i = 0; i < side->count; i++) {
		free(side->events[i].name);
		free(side->events[i].rest);
	}
	free(side->events);
	free(side->text);
}

/* ---- objects ----------------------------------------------------------------------------- */

/* The type that all functions have first, up to its last * or &. */
struct first_type {
	char *text; /* owned; NULL: none yet */
	bool other; /* there is one that is no pointer to an object, or differs */
	bool global; /* the name means no function of a class or namespace */
	bool unknown; /* for want of debug information: whether a function is a method, whose object comes first */
};

static char *without_template_arguments(const char *begin, const char *end)
{
	struct dpe_text text = {0};
	unsigned depth = 0;

	for (; begin < end; begin++) {
		depth += *begin == '<';
		if (!depth)
			dpe_text_add(&text, begin, 1);
		depth -= *begin == '>' && depth;
	}
	return text.at ? text.at : dpe_xstrdup("");
}

/* "struct queue *" of "program::put(const struct queue *queue, int item)"; NULL if that is no pointer, or one to text. */
static char *type_in(const char *line)
{
	static const char constant[] = "const ";
	const char *begin = strchr(line, '(');
	char *text;
	size_t len;

	if (!begin)
		return NULL;
	begin++;
	if (!strncmp(begin, constant, strlen(constant)))
		begin += strlen(constant);
	text = without_template_arguments(begin, cli_race_find(begin, ",)"));
	for (len = strlen(text); len && text[len - 1] != '*' && text[len - 1] != '&'; len--)
		;
	text[len] = '\0';
	if (len && !strstr(text, "char"))
		return text;
	free(text);
	return NULL;
}

/* Whether the function of the line, "program::symbol(arguments)  readable name", is one of a class or a named namespace. */
static bool is_in_scope(const char *line)
{
	static const char anonymous[] = "(anonymous namespace)::";
	const char *name = strstr(line, "  ");

	if (!name)
		return false;
	name += 2;
	if (!strncmp(name, anonymous, strlen(anonymous)))
		name += strlen(anonymous);
	return *cli_race_find(name, "(:") == ':';
}

/* Then only the readable name has parameters, and no object. */
static bool lacks_arguments(const char *line)
{
	const char *symbol = strstr(line, "::");

	return symbol && symbol[2 + strcspn(symbol + 2, "( ")] == ' ';
}

static void take_line(void *context, const char *line)
{
	struct first_type *type = context;
	char *text;

	if (type->global && is_in_scope(line))
		return;
	type->unknown |= is_in_scope(line) && lacks_arguments(line);
	text = type_in(line);
	type->other |= !text || (type->text && strcmp(type->text, text) != 0);
	free(type->text);
	type->text = text;
}

/* The types of the first parameter of all functions with the name. */
static void take_types(const struct cli *cli, const char *name, struct first_type *type)
{
	struct first_type of_name = {.global = !strpbrk(name, ":<(")};
	const struct dpe_listing listing = {
		.program = cli->pid ? NULL : cli->target[0],
		.pid = (pid_t)cli->pid,
		.pattern = name,
		.libraries = cli->libraries.at,
		.nlibraries = cli->libraries.count,
		.line = take_line,
		.context = &of_name,
	};
	struct dpe_diags *ignored = dpe_diags_new();

	dpe_probes_list(&listing, ignored);
	dpe_diags_free(ignored);
	type->unknown |= of_name.unknown;
	type->other |= of_name.other || !of_name.text || (type->text && strcmp(type->text, of_name.text) != 0);
	if (type->text)
		free(of_name.text);
	else
		type->text = of_name.text;
}

static bool may_take_object(const struct race_side *side)
{
	for (unsigned i = 0; i < side->count; i++)
		if (strpbrk(side->events[i].rest, "([ "))
			return false;
	return side->count;
}

/* What all functions of the pair take first; the text is the caller's, and NULL if there is none. */
static struct first_type type_of_object(const struct cli *cli, const struct race_side sides[2])
{
	struct first_type type = {0};

	if (!may_take_object(&sides[0]) || !may_take_object(&sides[1]) ||
		(!cli->pid && !(cli->target && cli->target[0])))
		return type;
	for (unsigned i = 0; i < 2; i++)
		for (unsigned j = 0; j < sides[i].count && !type.other; j++)
			take_types(cli, sides[i].events[j].name, &type);
	if (type.other) {
		free(type.text);
		type.text = NULL;
	}
	return type;
}

/* ---- expressions --------------------------------------------------------------------------- */

static bool has_event(const struct race_side *side, const struct race_event *event)
{
	for (unsigned i = 0; i < side->count; i++)
		if (!strcmp(side->events[i].name, event->name) && side->events[i].carets == event->carets &&
			!strcmp(side->events[i].rest, event->rest))
			return true;
	return false;
}

/* `other`: the side whose events get carets here, as another call of the function is meant; or NULL. `argument`: what is
 * inserted as their arguments, such as "(object)". */
static void add_side(
	struct dpe_text *to, const struct race_side *side, const struct race_side *other, const char *argument)
{
	if (!side->count)
		dpe_text_puts(to, side->text);
	for (unsigned i = 0; i < side->count; i++) {
		const struct race_event *event = &side->events[i];
		const char *quote = strpbrk(event->name, "<>([ ~+-*/%&|^=!") || *side->text == '"' ? "\"" : "";

		dpe_text_printf(to, "%s%s%s%s", i ? "+" : "", quote, event->name, quote);
		for (int carets = -(other && has_event(other, event)); carets < event->carets; carets++)
			dpe_text_puts(to, "^");
		dpe_text_printf(to, "%s%s", argument, event->rest);
	}
}

/* What the word means, and how the other meaning is written. */
static void note_object(const struct cli *cli, const char *word, const struct race_side sides[2], const struct first_type *type)
{
	const char *argument = type->text ? "(_)" : "(object)";
	struct dpe_text other = {0};

	add_side(&other, &sides[0], NULL, argument);
	dpe_text_puts(&other, ",");
	add_side(&other, &sides[1], NULL, argument);
	if (type->text)
		dpe_diag_at(cli->diags, DPE_NOTE, "dpe race", "%s: calls with the same first argument (%s); write '%s' for all calls", word,
			type->unknown ? "of a method the object" : type->text, other.at);
	else
		dpe_diag_at(cli->diags, DPE_NOTE, "dpe race",
			"%s: all calls, as there is no debug information that says whether they are methods; write '%s' for calls with the "
			"same object",
			word, other.at);
	dpe_text_free(&other);
}

char *cli_race_pair(const struct cli *cli, const char *word, bool *objects)
{
	const char *comma = cli_race_find(word, ",");
	struct race_side sides[2] = {0};
	struct dpe_text text = {0};
	struct first_type type;

	if (!*comma)
		return NULL;
	parse_side(&sides[0], word, (size_t)(comma - word));
	parse_side(&sides[1], comma + 1, strlen(comma + 1));
	type = type_of_object(cli, sides);
	dpe_text_puts(&text, "(");
	add_side(&text, &sides[0], NULL, type.text ? "(object)" : "");
	dpe_text_puts(&text, ") & (");
	add_side(&text, &sides[1], &sides[0], type.text ? "(object)" : "");
	dpe_text_puts(&text, ")");
	if (type.text || type.unknown)
		note_object(cli, word, sides, &type);
	*objects |= type.text != NULL;
	free(type.text);
	free_side(&sides[0]);
	free_side(&sides[1]);
	return text.at;
}
