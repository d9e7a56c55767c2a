/* Syntax errors: what is wrong, and for mistakes that are often made what to write instead. */
#include "dpe-lang/syntax/ast_build.h"

#include <string.h>

static bool is_operator(int kind)
{
	return kind == ';' || kind == '+' || kind == '&' || kind == ':' || kind == '=';
}

/* Operators of C that events do not have, with what to write instead. */
static const char *instead_of(int kind)
{
	switch (kind) {
	case T_ANDAND:
		return "write & for causally independent events";
	case T_OROR:
	case '|':
		return "write + for a choice";
	case T_ARROW:
	case ',':
		return "write ; for one event after the other";
	case T_INCR:
		return "write one +";
	case '?':
		return "write (… + …) for what may occur, or * for what may repeat";
	case '<':
	case '>':
	case T_LE:
	case T_GE:
	case T_EQ:
	case T_NE:
		return "a condition is written in brackets, as in [count > 3] or f(x) [x > 3]";
	case T_UPDATE:
		return "an assignment is a statement of its own, in { }";
	default:
		return NULL;
	}
}

static bool expects(const char *const *names, unsigned n, const char *name)
{
	for (unsigned i = 0; i < n; i++) {
		if (!strcmp(names[i], name))
			return true;
	}
	return false;
}

static const char *list_of(struct dpe_parser *parser, const char *const *names, unsigned n)
{
	struct dpe_text text = {0};
	const char *list;

	for (unsigned i = 0; i < n; i++)
		dpe_text_printf(&text, "%s%s", i ? i + 1 < n ? ", " : " or " : "", names[i]);
	list = dpe_arena_strndup(parser->arena, text.at ? text.at : "", text.len);
	dpe_text_free(&text);
	return list;
}

/* `x: uprobe:…`: the name after a header would be the next one, on the same line. Other errors of that line follow from this. */
static bool report_prefix(struct dpe_parser *parser, const struct dpe_token *token, const struct dpe_token *last)
{
	const char *text, *end, *prefix;
	size_t len;

	if (token->kind != T_ITEM || !last || last->kind != ':' || token[1].kind != T_RULE_NAME || token[2].kind != ':')
		return false;
	text = dpe_source_text(last->place.source, &len);
	end = memchr(text + last->place.end, '\n', len - last->place.end);
	if (end && text + token[1].place.begin > end)
		return false;
	prefix = dpe_token_text(parser->arena, &token[1]);
	dpe_diag(parser->spec->diags, DPE_ERROR, token[1].place,
		"unexpected '%s:' where an event begins: an event is the name of a function, f, or libc::f in one library", prefix);
	parser->silent_until = end ? (uint32_t)(end - text) : (uint32_t)len;
	return true;
}

/* The file or the item ends too early; `last` is the token before. */
static void report_early_end(struct dpe_parser *parser, const struct dpe_token *last,
	const char *const *expected, unsigned n)
{
	struct dpe_diags *diags = parser->spec->diags;

	if (last && (last->kind == ':' || last->kind == '='))
		dpe_diag(diags, DPE_ERROR, last->place,
			"an expression is missing after '%s': it needs at least one event",
			dpe_token_text(parser->arena, last));
	else if (last && is_operator(last->kind))
		dpe_diag(diags, DPE_ERROR, last->place,
			"nothing follows this '%s': write the event that comes next, or remove it",
			dpe_token_text(parser->arena, last));
	else if (n && n <= 5)
		dpe_diag(diags, DPE_ERROR, last ? last->place : (struct dpe_place){0},
			"%s is missing after '%s'", list_of(parser, expected, n),
			last ? dpe_token_text(parser->arena, last) : "");
	else
		dpe_diag(diags, DPE_ERROR, last ? last->place : (struct dpe_place){0},
			"the rule ends early, after '%s'", last ? dpe_token_text(parser->arena, last) : "");
}

/* `(int)x` or `(unsigned long)x` where an operator is expected. */
static bool is_cast(const struct dpe_token *token, const struct dpe_token *last,
	const char *const *expected, unsigned n)
{
	bool value = token->kind == T_NAME || token->kind == T_NUMBER || token->kind == T_POSITION;

	return value && last && (last->kind == ')' || last->kind == T_NAME) &&
	       expects(expected, n, "'?'");
}

/* `&counter` where an event begins: the variable's name; NULL: something else. */
static const char *name_of_address(struct dpe_parser *parser, const struct dpe_token *token)
{
	const struct dpe_token *next = token + 1; /* there is one: the last token is the end */

	if (token->kind != '&' || next->kind != T_NAME || next->place.begin != token->place.end)
		return NULL;
	return dpe_token_text(parser->arena, next);
}

/* `within 5ms` or `< 5ms`, where a comparison has no left side. */
static bool is_time_bound(struct dpe_parser *parser, const struct dpe_token *token)
{
	bool compares = token->kind == '<' || token->kind == '>' || token->kind == T_LE || token->kind == T_GE;

	return dpe_token_is_time(parser->arena, compares ? token + 1 : token);
}

/* Reports `within 5ms` and the like, which are no part of the language, or a unit apart from its number. False: it is neither. */
static bool report_time(struct dpe_parser *parser, const struct dpe_token *token, const struct dpe_token *last)
{
	struct dpe_diags *diags = parser->spec->diags;
	const char *text = dpe_token_text(parser->arena, token);

	if (is_time_bound(parser, token))
		dpe_diag(diags, DPE_ERROR, token->place,
			"unexpected '%s': a bound of time is a condition of the later event, as in a ; b [.time - $1.time > 5ms]", text);
	else if (last && last->kind == T_NUMBER && dpe_token_is_unit(token))
		dpe_diag(diags, DPE_ERROR, token->place, "unexpected '%s': a unit follows its number directly: %s%s", text,
			dpe_token_text(parser->arena, last), text);
	else
		return false;
	return true;
}

/* A mistake that is known, with what to write instead; false: it is not one. */
static bool report_known_mistake(struct dpe_parser *parser, const struct dpe_token *token,
	const struct dpe_token *last, const char *const *expected, unsigned n)
{
	struct dpe_diags *diags = parser->spec->diags;
	bool event = expects(expected, n, "'@'") || expects(expected, n, "'&'");
	const char *instead = event ? instead_of(token->kind) : NULL;
	const char *variable = name_of_address(parser, token);

	if (report_time(parser, token, last))
		return true;
	if (variable && last && (last->kind == '(' || last->kind == '[' || is_operator(last->kind)))
		dpe_diag(diags, DPE_ERROR, token->place,
			"unexpected '&': accesses to the variable %s are the event [%s], updates of it [%s']", variable, variable,
			variable);
	else if (event && token->kind == '<' && last && last->kind == T_NAME)
		dpe_diag(diags, DPE_ERROR, token->place,
			"unexpected '<': a name with template arguments is written in quotes, as dpe list prints it: \"queue<int>::push\"");
	else if (instead)
		dpe_diag(diags, DPE_ERROR, token->place, "unexpected '%s': %s", dpe_token_text(parser->arena, token), instead);
	else if (token->kind == '~')
		dpe_diag(diags, DPE_ERROR, token->place, "unexpected '~': a destructor is written with its class, queue::~queue");
	else if (token->kind == ')' && last && last->kind == '(')
		dpe_diag(diags, DPE_ERROR, token->place,
			"these parentheses are empty: write an expression");
	else if (token->kind == '^' && last && last->kind == ')')
		dpe_diag(
			diags, DPE_ERROR, token->place, "carets precede the arguments: f^(x)");
	else
		return false;
	return true;
}

static void report_unexpected(struct dpe_parser *parser, const struct dpe_token *token,
	const struct dpe_token *last, const char *const *expected, unsigned n)
{
	const char *text = dpe_token_text(parser->arena, token);
	struct dpe_diags *diags = parser->spec->diags;

	if (report_known_mistake(parser, token, last, expected, n))
		return;
	if (last && is_operator(last->kind) && is_operator(token->kind))
		dpe_diag(diags, DPE_ERROR, token->place, "%s is missing between '%s' and '%s'",
			expects(expected, n, "an event position") ? "a value" : "an event",
			dpe_token_text(parser->arena, last), text);
	else if (is_cast(token, last, expected, n))
		dpe_diag(diags, DPE_ERROR, token->place,
			"unexpected '%s' after '%s': an operator is missing, or this is a cast, "
			"which conditions do not have: values have their types in the program",
			text, dpe_token_text(parser->arena, last));
	else if (n && n <= 5)
		dpe_diag(diags, DPE_ERROR, token->place, "unexpected '%s': %s is expected here",
			text, list_of(parser, expected, n));
	else if (last && last->kind != T_ITEM)
		dpe_diag(diags, DPE_ERROR, token->place, "unexpected '%s' after '%s'", text,
			dpe_token_text(parser->arena, last));
	else
		dpe_diag(diags, DPE_ERROR, token->place,
			"unexpected '%s': a rule begins with its name, an event or '('", text);
}

void dpe_build_syntax_error(
	struct dpe_parser *parser, const char *const *expected, unsigned nexpected)
{
	unsigned at = parser->next ? parser->next - 1 : 0;
	const struct dpe_token *token, *last;

	if (at >= parser->tokens.n)
		at = parser->tokens.n - 1;
	token = &parser->tokens.at[at];
	while (at && parser->tokens.at[at - 1].place.begin == parser->tokens.at[at - 1].place.end &&
		parser->tokens.at[at - 1].kind != T_ITEM)
		at--;
	last = at ? &parser->tokens.at[at - 1] : NULL;
	if (token->place.begin < parser->silent_until || report_prefix(parser, token, last))
		return;
	if (token->kind == T_ITEM || token->kind == T_END || token->place.begin == token->place.end)
		report_early_end(parser, last, expected, nexpected);
	else
		report_unexpected(parser, token, last, expected, nexpected);
}
