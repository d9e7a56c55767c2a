/* Pairs of functions that `dpe race` watches, as expressions of the language. Calls about different objects are no race: a
 * pair whose functions both take a pointer to the same kind of object first is followed for each object. */
#include "cli/race_pairs.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

struct race_side {
	char *name; /* without quotes; owned */
	bool quoted;
	int carets; /* their number after the name */
	char *rest; /* arguments, .exit, a condition; owned */
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

static struct race_side parse_side(const char *text, size_t len)
{
	char *whole = trimmed(text, len);
	bool quoted = *whole == '"';
	size_t name = quoted ? 1 + strcspn(whole + 1, "\"") : (size_t)(cli_race_find(whole, "(.[^ \t") - whole);
	size_t end = name + (quoted && whole[name]);
	int carets = (int)strspn(whole + end, "^");
	struct race_side side = {
		.name = dpe_xasprintf("%.*s", (int)(name - quoted), whole + quoted),
		.quoted = quoted,
		.carets = carets,
		.rest = dpe_xstrdup(whole + end + carets),
	};

	free(whole);
	return side;
}

static void free_side(struct race_side *side)
{
	free(side->name);
	free(side->rest);
}

/* ---- objects ----------------------------------------------------------------------------- */

/* The type that both functions have first, up to its last * or &. */
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
	return !strpbrk(side->rest, "([ ");
}

/* What both functions of the pair take first; the text is the caller's, and NULL if there is none. */
static struct first_type type_of_object(const struct cli *cli, const struct race_side sides[2])
{
	struct first_type type = {0};

	if (!may_take_object(&sides[0]) || !may_take_object(&sides[1]) ||
		(!cli->pid && !(cli->target && cli->target[0])))
		return type;
	for (unsigned i = 0; i < 2 && !type.other; i++)
		take_types(cli, sides[i].name, &type);
	if (type.other) {
		free(type.text);
		type.text = NULL;
	}
	return type;
}

/* ---- expressions --------------------------------------------------------------------------- */

static bool is_same_call(const struct race_side *a, const struct race_side *b)
{
	return !strcmp(a->name, b->name) && a->carets == b->carets && !strcmp(a->rest, b->rest);
}

/* `argument`: what is inserted as its arguments, such as "(object)". */
static void add_side(struct dpe_text *to, const struct race_side *side, int carets, const char *argument)
{
	const char *quote = strpbrk(side->name, "<>([ ~+-*/%&|^=!") || side->quoted ? "\"" : "";

	dpe_text_printf(to, "%s%s%s", quote, side->name, quote);
	while (carets-- > 0)
		dpe_text_puts(to, "^");
	dpe_text_printf(to, "%s%s", argument, side->rest);
}

static void add_sides(struct dpe_text *to, const struct race_side sides[2], int carets, const char *between, const char *argument)
{
	add_side(to, &sides[0], sides[0].carets, argument);
	dpe_text_puts(to, between);
	add_side(to, &sides[1], carets, argument);
}

/* What the word means, and how the other meaning is written. */
static void note_object(const struct cli *cli, const char *word, const struct race_side sides[2], const struct first_type *type)
{
	const char *argument = type->text ? "(_)" : "(object)";
	struct dpe_text other = {0};

	add_sides(&other, sides, sides[1].carets, ",", argument);
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
	struct race_side sides[2];
	struct dpe_text text = {0};
	struct first_type type;

	if (!*comma)
		return NULL;
	sides[0] = parse_side(word, (size_t)(comma - word));
	sides[1] = parse_side(comma + 1, strlen(comma + 1));
	type = type_of_object(cli, sides);
	/* another call of the same function gets a caret */
	add_sides(&text, sides, sides[1].carets + is_same_call(&sides[0], &sides[1]), " & ", type.text ? "(object)" : "");
	if (type.text || type.unknown)
		note_object(cli, word, sides, &type);
	*objects |= type.text != NULL;
	free(type.text);
	free_side(&sides[0]);
	free_side(&sides[1]);
	return text.at;
}
