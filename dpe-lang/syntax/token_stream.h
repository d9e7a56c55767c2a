/* The tokens of one file, between lexer and grammar. Private to lexer.l, grammar.y, literals.c,
 * classify_tokens.c, parse.c and layout.c. */
#ifndef DPE_LANG_TOKENS_H
#define DPE_LANG_TOKENS_H

#include "dpe-lang/syntax/syntax.h"
#include "dpe-lang/syntax/grammar.h"

/* bison's types under flex's names */
#define YYSTYPE DPE_YYSTYPE
#define YYLTYPE DPE_YYLTYPE

struct dpe_token {
	int kind;
	bool first; /* on its line */
	DPE_YYSTYPE value;
	struct dpe_place place;
};

struct dpe_tokens {
	struct dpe_token *at;
	unsigned n, cap;
};

/* The lexer's state besides that of flex. */
struct dpe_lexer {
	struct dpe_arena *arena;
	struct dpe_diags *diags;
	const struct dpe_source *source;
	uint32_t offset;
	bool newline;          /* seen since the last token */
	struct dpe_token last; /* the token before */
};

/* The parser's state: its input, classified tokens, and its output, items. */
struct dpe_parser {
	struct ast_spec *spec;
	struct dpe_arena *arena;
	struct dpe_tokens tokens;
	unsigned next;
	bool included;
	bool too_deep; /* reported */
	uint32_t silent_until; /* errors in front of this place follow from a reported one */
	struct ast_item *items, **last;
};

/* The token as it is written. */
const char *dpe_token_text(struct dpe_arena *arena, const struct dpe_token *token);
int dpe_yylex(DPE_YYSTYPE *value, DPE_YYLTYPE *place, struct dpe_parser *parser);
void dpe_yyerror(const DPE_YYLTYPE *place, struct dpe_parser *parser, const char *message);

/* ---- lexer.l, literals.c -------------------------------------------------------------- */

/* All tokens of the source, in its order. */
void dpe_lex(struct dpe_lexer *lexer, struct dpe_tokens *tokens);
int dpe_lex_real(
	struct dpe_lexer *lexer, const char *text, struct dpe_place place, DPE_YYSTYPE *value);
int dpe_lex_number(
	struct dpe_lexer *lexer, const char *text, struct dpe_place place, DPE_YYSTYPE *value);
int dpe_lex_position(
	struct dpe_lexer *lexer, const char *digits, struct dpe_place place, DPE_YYSTYPE *value);
int dpe_lex_string(struct dpe_lexer *lexer, const char *text, size_t len, struct dpe_place place,
	DPE_YYSTYPE *value);
int dpe_lex_char(struct dpe_lexer *lexer, const char *text, size_t len, struct dpe_place place,
	DPE_YYSTYPE *value);
int dpe_lex_unknown(struct dpe_lexer *lexer, struct dpe_place place);
/* A time, `5ms` or `5 ms`; the last token is the end of the input, so there is one after a number. */
bool dpe_token_is_time(struct dpe_arena *arena, const struct dpe_token *token);
/* `ms`, or another unit of time. */
bool dpe_token_is_unit(const struct dpe_token *token);
/* True if a ' at `place` is the prime of a variable, directly behind it. */
bool dpe_lex_is_prime(const struct dpe_lexer *lexer, struct dpe_place place);

/* ---- classify_tokens.c ------------------------------------------------------------------ */

/* Classifies names, inserts the ends of items, closes open brackets, and reports errors in these. The
 * brackets of the result are always paired. */
void dpe_classify_tokens(struct dpe_arena *arena, struct dpe_diags *diags,
	const struct dpe_tokens *in, struct dpe_tokens *out);

#endif
