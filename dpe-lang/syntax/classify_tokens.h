/* The state of the token classification. Private to classify_tokens.c and lookahead.c. */
#ifndef DPE_LANG_FILTER_H
#define DPE_LANG_FILTER_H

#include "dpe-lang/syntax/token_stream.h"

enum dpe_bracket_kind { GROUP, ARGS, DATA, CONDITION, BRACES, INNER };

struct dpe_bracket {
	enum dpe_bracket_kind kind;
	char closer;
	struct dpe_place place;
	unsigned bad; /* how many unknown tokens there were before */
};

struct dpe_classifier {
	struct dpe_arena *arena;
	struct dpe_diags *diags;
	const struct dpe_token *in;
	unsigned at, n;
	struct dpe_tokens *out;
	struct dpe_bracket *open;
	unsigned nopen, capopen;
	unsigned bad;       /* unknown tokens, of which somebody spoke already */
	unsigned questions; /* of `? :` that wait for their ':' */
	bool variables;     /* in a `var` item */
	bool observing;     /* behind `observing` */
	bool from;          /* behind `from`, before its `to` */
	bool header;        /* in the names of a header or definition */
	bool too_deep;
	unsigned conditions; /* behind the ']' of the last condition: out->n */
};

/* The token `by` behind the one that is next; the last one behind the end. */
const struct dpe_token *dpe_token_ahead(const struct dpe_classifier *f, unsigned by);
int dpe_token_kind_at(const struct dpe_classifier *f, unsigned by);
bool dpe_token_is_word(const struct dpe_classifier *f, unsigned by, const char *word);
/* The last token written, or NULL. */
const struct dpe_token *dpe_token_before(const struct dpe_classifier *f);
/* T_ITEM where there is none. */
int dpe_token_kind_before(const struct dpe_classifier *f);
/* Within parentheses of events only, or within none: where a DPE may stand. */
bool dpe_token_at_dpe(const struct dpe_classifier *f);
bool dpe_token_in_braces(const struct dpe_classifier *f);
/* The last token ends an event or a parenthesis of events. */
bool dpe_token_after_operand(const struct dpe_classifier *f);
/* NAME [(names)] followed by `closer`, which is ':' or '=', from `by` on. */
bool dpe_token_is_header(const struct dpe_classifier *f, unsigned by, int closer);
bool dpe_token_starts_operand(const struct dpe_classifier *f, unsigned by);
/* A mode rather than an event or a rule of that name. */
bool dpe_token_is_mode(const struct dpe_classifier *f);
bool dpe_token_is_pairing(const struct dpe_classifier *f, enum dpe_pairing *pairing);
bool dpe_token_is_include(const struct dpe_classifier *f);
bool dpe_token_is_variables(const struct dpe_classifier *f);
/* What can be nothing but the beginning of an item, wherever it stands between events. */
bool dpe_token_is_clear_start(const struct dpe_classifier *f);
/* The same inside of brackets that somebody forgot to close. */
bool dpe_token_is_start_in_brackets(const struct dpe_classifier *f);

#endif
