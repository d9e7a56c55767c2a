/* The state of the token classification. Private to classify_tokens.c and lookahead.c. */
#ifndef DPE_LANG_FILTER_H
#define DPE_LANG_FILTER_H

#include "dpe-lang/syntax/token_stream.h"

enum dpe_bracket_kind { GROUP, ARGS, DATA, CONDITION, BRACES, INNER };

struct dpe_bracket {
	enum dpe_bracket_kind kind;
	char closer;
	struct dpe_place place;
	unsigned bad; /* unknown tokens before it */
};

struct dpe_classifier {
	struct dpe_arena *arena;
	struct dpe_diags *diags;
	const struct dpe_token *in;
	unsigned at, n;
	struct dpe_tokens *out;
	struct dpe_bracket *open;
	unsigned nopen, capopen;
	unsigned bad;       /* unknown tokens so far, which are reported already */
	unsigned questions; /* each `?` that still needs its ':' */
	bool variables;     /* in a `var` item */
	bool observing;     /* after `observing` or `without` */
	bool without;       /* after `without` */
	bool from;          /* after `from`, before its `to` */
	bool header;        /* in the names of a header or definition */
	bool too_deep;
	unsigned conditions; /* after the ']' of the last condition: out->n */
};

/* The token `by` positions after the next one; the last token if there is none. */
const struct dpe_token *dpe_token_ahead(const struct dpe_classifier *f, unsigned by);
int dpe_token_kind_at(const struct dpe_classifier *f, unsigned by);
bool dpe_token_is_word(const struct dpe_classifier *f, unsigned by, const char *word);
/* The last token of the output, or NULL. */
const struct dpe_token *dpe_token_before(const struct dpe_classifier *f);
/* Its kind, or T_ITEM. */
int dpe_token_kind_before(const struct dpe_classifier *f);
/* Outside of brackets, or inside groups of events only: where an expression of events may be. */
bool dpe_token_at_dpe(const struct dpe_classifier *f);
bool dpe_token_in_braces(const struct dpe_classifier *f);
/* The last token ends an event, a group of events, or a list of observed events. */
bool dpe_token_after_operand(const struct dpe_classifier *f);
/* Whether NAME [(names)] stands at `by`; `next`: what follows it. */
bool dpe_token_skip_header(const struct dpe_classifier *f, unsigned by, unsigned *next);
/* NAME [(names)] followed by `closer`, which is ':' or '=', from `by` on. */
bool dpe_token_is_header(const struct dpe_classifier *f, unsigned by, int closer);
/* Behind an operator: `f(x) =`, by mistake. */
bool dpe_token_is_assigned(const struct dpe_classifier *f);
bool dpe_token_starts_operand(const struct dpe_classifier *f, unsigned by);
/* A mode, not an event or a rule of that name. */
bool dpe_token_is_mode(const struct dpe_classifier *f);
/* `observing`, or its synonym `without`. */
bool dpe_token_is_observing(const struct dpe_classifier *f);
/* `not c`, `!c`: absence, in words that the language does not have. */
bool dpe_token_is_absence(const struct dpe_classifier *f);
bool dpe_token_is_keep(const struct dpe_classifier *f);
bool dpe_token_is_pairing(const struct dpe_classifier *f, enum dpe_pairing *pairing);
bool dpe_token_is_include(const struct dpe_classifier *f);
bool dpe_token_is_variables(const struct dpe_classifier *f);
/* The next token can only begin an item. */
bool dpe_token_is_clear_start(const struct dpe_classifier *f);
/* The same inside a bracket that was left open by mistake. */
bool dpe_token_is_start_in_brackets(const struct dpe_classifier *f);

#endif
