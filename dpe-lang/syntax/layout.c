/* dpe fmt: the standard layout. One blank or none between tokens, tabs for nesting, at most one blank
 * line. Lines and comments stay, since line breaks separate items. The result is tokenised again and
 * must have the same tokens on the same lines. */
#include "dpe-lang/syntax/token_stream.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

enum kind { NAME, NUMBER, TEXT, OPERATOR, COMMENT, LINE_COMMENT };

struct piece {
	enum kind kind;
	const char *at;
	size_t len;
	unsigned newlines; /* before it */
	bool spaced;       /* separated from the one before it */
};

struct pieces {
	struct piece *at;
	unsigned count, cap;
};

/* ---- tokenising -------------------------------------------------------------------------- */

static bool is_name_char(char c)
{
	return isalnum((unsigned char)c) || c == '_';
}

static bool is(const struct piece *piece, const char *text)
{
	return piece && piece->kind == OPERATOR && piece->len == strlen(text) &&
	       !memcmp(piece->at, text, piece->len);
}

static size_t comment_length(const char *at, const char *end)
{
	const char *close;

	if (at[1] == '/') {
		close = memchr(at, '\n', (size_t)(end - at));
		return (size_t)((close ? close : end) - at);
	}
	close = memmem(at + 2, (size_t)(end - at - 2), "*/", 2);
	return (size_t)((close ? close + 2 : end) - at);
}

static void add_piece(struct pieces *pieces, struct piece piece)
{
	const struct piece *before = pieces->count ? &pieces->at[pieces->count - 1] : NULL;

	piece.spaced = before && before->at + before->len != piece.at;
	*DPE_GROW(pieces->at, pieces->count, pieces->cap) = piece;
}

/* The comments between two tokens; returns the newlines after the last one. */
static unsigned add_comments(struct pieces *pieces, const char *at, const char *end)
{
	unsigned newlines = 0;

	while (at < end) {
		struct piece piece = {.kind = COMMENT, .at = at, .newlines = newlines};

		if (*at != '/') {
			newlines += *at++ == '\n';
			continue;
		}
		piece.kind = at[1] == '/' ? LINE_COMMENT : COMMENT;
		piece.len = comment_length(at, end);
		add_piece(pieces, piece);
		at += piece.len;
		newlines = 0;
	}
	return newlines;
}

static enum kind kind_of(const struct dpe_token *token, char first)
{
	if (token->kind == T_NAME || token->kind == T_POSITION)
		return NAME;
	if (token->kind == T_STRING || (token->kind == T_NUMBER && first == '\''))
		return TEXT;
	return token->kind == T_NUMBER ? NUMBER : OPERATOR;
}

static struct pieces tokenise(const char *text, size_t len)
{
	struct dpe_arena *arena = dpe_arena_new();
	struct dpe_diags *diags = dpe_diags_new();
	struct dpe_lexer lexer = {arena, diags, dpe_source_new(arena, "", text, len), 0, true, {0}};
	struct dpe_tokens tokens = {0};
	struct pieces pieces = {0};
	const char *after = text;

	dpe_lex(&lexer, &tokens);
	for (unsigned i = 0; i < tokens.n; i++) {
		const struct dpe_token *token = &tokens.at[i];
		const char *at = text + token->place.begin;
		struct piece piece = {.at = at, .len = token->place.end - token->place.begin};

		piece.newlines = add_comments(&pieces, after, at);
		after = at + piece.len;
		if (token->kind == T_END)
			break;
		piece.kind = kind_of(token, *at);
		add_piece(&pieces, piece);
	}
	free(tokens.at);
	dpe_diags_free(diags);
	dpe_arena_free(arena);
	return pieces;
}

/* ---- context of a piece ------------------------------------------------------------------ */

struct layout_state {
	char open[DPE_MAX_OPEN_BRACKETS]; /* brackets */
	unsigned nopen;
	const struct piece *before; /* no comment */
	bool before_led;            /* it was the first of its line */
	bool unary;                 /* it is a sign before an operand */
	bool terminated;            /* the item ends in ';': var, include */
	struct dpe_text *to;
};

static bool word(const struct piece *piece, const char *text)
{
	return piece && piece->kind == NAME && piece->len == strlen(text) &&
	       !memcmp(piece->at, text, piece->len);
}

static bool is_keyword(const struct piece *piece)
{
	static const char *const words[] = {"if", "else", "by", "observing", "without", "ends", "expect", "detect",
		"sync", "fifo", "last", "all", "once", "rounds", "include", "var"};

	for (unsigned i = 0; i < DPE_COUNT(words); i++) {
		if (word(piece, words[i]))
			return true;
	}
	return false;
}

/* Inside [ ] or { } are expressions on values, elsewhere those on events. */
static bool in_expression(const struct layout_state *s)
{
	for (unsigned i = 0; i < s->nopen; i++) {
		if (s->open[i] != '(')
			return true;
	}
	return false;
}

static bool ends_operand(const struct piece *piece)
{
	if (!piece)
		return false;
	if (piece->kind != OPERATOR)
		return !is_keyword(piece);
	return is(piece, ")") || is(piece, "]") || is(piece, "'") || is(piece, "++") ||
	       is(piece, "--");
}

static bool is_sign(const struct layout_state *s, const struct piece *piece)
{
	static const char *const signs[] = {"-", "+", "*", "&", "!", "~", "++", "--"};

	if (!in_expression(s)) /* a destructor; an argument or a result */
		return is(piece, "~") ||
		       ((is(piece, "-") || is(piece, "&")) && s->before &&
			       (is(s->before, "(") || is(s->before, ",") || is(s->before, "=")));
	if (ends_operand(s->before))
		return false;
	for (unsigned i = 0; i < DPE_COUNT(signs); i++) {
		if (is(piece, signs[i]))
			return true;
	}
	return false;
}

/* Two pieces that would be one token. */
static bool would_merge(const struct piece *a, const struct piece *b)
{
	static const char longer[] = "// /* :: -> ++ -- == != <= >= << >> && || += -= *= /= %= &= |= ^=";
	const char both[2] = {a->at[a->len - 1], b->at[0]};

	if (is_name_char(both[0]) && (is_name_char(both[1]) || both[1] == '$'))
		return true;
	if (a->kind == NUMBER && both[1] == '.')
		return true;
	return a->kind == OPERATOR && b->kind == OPERATOR && memmem(longer, sizeof(longer) - 1, both, 2);
}

/* ---- blanks ------------------------------------------------------------------------------ */

static bool binds_tight(const struct piece *piece)
{
	return is(piece, ".") || is(piece, "::") || is(piece, "->");
}

/* A parenthesis, a bracket or a caret that belongs to the name before it. */
static bool follows_name(const struct layout_state *s, const struct piece *piece)
{
	const struct piece *before = s->before;

	if (is(piece, "("))
		return (before->kind == NAME && !is_keyword(before)) || before->kind == TEXT ||
		       (is(before, "^") && !in_expression(s));
	if (is(piece, "["))
		return in_expression(s) && ends_operand(before);
	return false;
}

static bool blank_in_events(const struct layout_state *s, const struct piece *piece)
{
	if (is(piece, "*") || is(piece, "@") || is(piece, "^"))
		return false;
	if (is(piece, ";"))
		return !s->terminated;
	if (is(piece, ":"))
		return false;
	return true;
}

static bool blank_in_expression(const struct layout_state *s, const struct piece *piece)
{
	return (!is(piece, ";") && !is(piece, "++") && !is(piece, "--")) || is_sign(s, piece);
}

/* Where both layouts are right: after keywords, whose meaning depends on the context; in a list that begins
 * with "( "; before a control variable, which with a blank is the next item. */
static bool keeps_blank(const struct layout_state *s, const struct piece *piece)
{
	const struct piece *before = s->before;

	if (is(piece, "(") && is_keyword(before) && !word(before, "if"))
		return true;
	if (is(before, "("))
		return s->before_led && !is(piece, ")");
	return !in_expression(s) && is(before, "*") && piece->kind == NAME;
}

/* What has no blank before it, or after it. */
static bool is_closed_up(const struct layout_state *s, const struct piece *piece)
{
	static const char *const closing[] = {")", "]", ",", "'"};

	for (unsigned i = 0; i < DPE_COUNT(closing); i++) {
		if (is(piece, closing[i]))
			return true;
	}
	return is(s->before, "(") || is(s->before, "[") || s->unary || follows_name(s, piece);
}

static bool blank_before(const struct layout_state *s, const struct piece *piece)
{
	if (keeps_blank(s, piece))
		return piece->spaced;
	if (is_closed_up(s, piece))
		return false;
	if (is(piece, "}"))
		return !is(s->before, "{");
	if (binds_tight(piece))
		return is(piece, ".") && !ends_operand(s->before);
	if (binds_tight(s->before))
		return false;
	return in_expression(s) ? blank_in_expression(s, piece) : blank_in_events(s, piece);
}

/* ---- lines ------------------------------------------------------------------------------- */

static bool may_continue(const struct piece *before)
{
	static const char *const open_ended[] = {";", "+", "&", ":", ",", "=", ".", "::"};

	if (!before)
		return false;
	if (is_keyword(before))
		return !word(before, "last") && !word(before, "all") &&
		       !word(before, "once") && !word(before, "rounds") && !word(before, "ends");
	for (unsigned i = 0; i < DPE_COUNT(open_ended); i++) {
		if (is(before, open_ended[i]))
			return true;
	}
	return false;
}

/* The line begins an item, as far as that is visible without the context of classify_tokens.c. */
static bool begins_item(const struct layout_state *s, const struct piece *piece)
{
	if (s->nopen)
		return false;
	if (!s->before || (s->terminated && is(s->before, ";")))
		return true;
	if (piece->kind != NAME || word(piece, "by") || word(piece, "observing") ||
		word(piece, "without") ||
		word(piece, "else") || (word(piece, "from") && is(s->before, "]")))
		return false;
	return !may_continue(s->before);
}

static void begin_item(struct layout_state *s, const struct piece *piece)
{
	s->terminated = word(piece, "var") || word(piece, "include");
}

/* The first piece from here on that is no comment. */
static const struct piece *next_real(const struct pieces *pieces, unsigned at)
{
	while (at < pieces->count && pieces->at[at].kind >= COMMENT)
		at++;
	return at < pieces->count ? &pieces->at[at] : NULL;
}

static unsigned indentation(const struct layout_state *s, const struct piece *real)
{
	unsigned depth = 0, parens = 0;

	if (!real || begins_item(s, real))
		return 0;
	for (unsigned i = 0; i < s->nopen; i++) {
		depth += s->open[i] == '{';
		parens += s->open[i] != '{' && !depth;
	}
	if (is(real, "}") && depth)
		depth--;
	return 1 + depth + (parens > 1 ? parens - 1 : 0);
}

static void start_line(struct layout_state *s, const struct piece *piece, const struct piece *real)
{
	if (s->to->len)
		dpe_text_puts(s->to, piece->newlines > 1 ? "\n\n" : "\n");
	for (unsigned i = indentation(s, real); i; i--)
		dpe_text_puts(s->to, "\t");
}

/* ---- writing ----------------------------------------------------------------------------- */

static void note_bracket(struct layout_state *s, const struct piece *piece)
{
	char c = piece->kind == OPERATOR && piece->len == 1 ? *piece->at : '\0';

	if (c && strchr("([{", c) && s->nopen < DPE_MAX_OPEN_BRACKETS)
		s->open[s->nopen++] = c;
	else if (c && strchr(")]}", c) && s->nopen)
		s->nopen--;
}

/* A line comment, and the last line of any other, ends without blanks. */
static void put(struct dpe_text *to, const struct piece *piece)
{
	size_t len = piece->len;

	while (piece->kind == LINE_COMMENT && len && isspace((unsigned char)piece->at[len - 1]))
		len--;
	dpe_text_add(to, piece->at, len);
}

static void join_pieces(const struct pieces *pieces, struct dpe_text *to)
{
	struct layout_state s = {.to = to};
	const struct piece *last = NULL; /* comments, too */

	for (unsigned i = 0; i < pieces->count; i++) {
		const struct piece *piece = &pieces->at[i];
		bool comment = piece->kind >= COMMENT, sign;

		if (piece->newlines || !last)
			start_line(&s, piece, next_real(pieces, i));
		else if (comment || last->kind >= COMMENT || blank_before(&s, piece) ||
			 would_merge(last, piece))
			dpe_text_puts(to, " ");
		put(to, piece);
		last = piece;
		if (comment)
			continue;
		if (begins_item(&s, piece))
			begin_item(&s, piece);
		sign = is_sign(&s, piece);
		note_bracket(&s, piece);
		s.before = piece;
		s.before_led = piece->newlines || !i;
		s.unary = sign;
	}
	if (pieces->count)
		dpe_text_puts(to, "\n");
}

/* ---- all --------------------------------------------------------------------------------- */

static bool same_pieces(const struct pieces *a, const struct pieces *b)
{
	if (a->count != b->count)
		return false;
	for (unsigned i = 0; i < a->count; i++) {
		const struct piece *x = &a->at[i], *y = &b->at[i];
		size_t len = x->len < y->len ? x->len : y->len;

		if (x->kind != y->kind || memcmp(x->at, y->at, len) ||
			(x->len != y->len && x->kind != LINE_COMMENT) ||
			(i && !x->newlines != !y->newlines))
			return false;
	}
	return true;
}

/* A comment may separate tokens that belong together. */
static bool still_parses(
	const struct dpe_text *text, const char *name, const struct dpe_compile_options *options)
{
	struct dpe_diags *diags = dpe_diags_new();
	bool parses = dpe_spec_parses(name, text->at, text->len, options, diags);

	dpe_diags_free(diags);
	return parses;
}

bool dpe_format(struct dpe_text *to, const char *name, const char *text, size_t len,
	const struct dpe_compile_options *options, struct dpe_diags *diags)
{
	struct pieces before, after;
	bool same;

	if (!dpe_spec_parses(name, text, len, options, diags))
		return false;
	before = tokenise(text, len);
	dpe_text_puts(to, "");
	join_pieces(&before, to);
	after = tokenise(to->at, to->len);
	same = same_pieces(&before, &after) && still_parses(to, name, options);
	free(before.at);
	free(after.at);
	if (!same)
		dpe_diag_at(diags, DPE_ERROR, name,
			"no layout was found that keeps its meaning; the file is unchanged");
	return same;
}
