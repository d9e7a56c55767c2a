/* Expressions over events: what the net's behaviours become. */
#ifndef DPE_NETS_EXPR_H
#define DPE_NETS_EXPR_H

#include "dpe-lang/nets/nets.h"

enum expr_kind {
	EXPR_EMPTY, /* the empty word */
	EXPR_EVENT,
	EXPR_SHARED, /* an event that operands of an enclosing EXPR_SYNC share */
	EXPR_SEQ,
	EXPR_ALT,
	EXPR_STAR,
	EXPR_PAR, /* operands side by side that share nothing, even where both name an event */
	EXPR_SYNC /* operands side by side that share events */
};

struct synced_operands {
	const struct expr **shared, **operands;
	unsigned nshared, noperands;
};

/* Immutable, in the arena. The language has no sign for the empty word: it is an expression of its
 * own, or the left operand of an alternative. */
struct expr {
	enum expr_kind kind;
	bool nullable;   /* accepts the empty word */
	unsigned event;  /* EXPR_EVENT, EXPR_SHARED: its number among the events … */
	unsigned shared; /* … and among the shared ones */
	size_t size;     /* events */
	const struct expr *left, *right;
	const struct expr *star; /* of e;e* and e*;e: e* */
	const struct synced_operands *sync;
};

/* ---- expr_build.c: constructors, which simplify obvious cases --------------------------------- */

const struct expr *dpe_nets_empty(struct translation *tr);
const struct expr *dpe_nets_event(struct translation *tr, unsigned event);
const struct expr *dpe_nets_seq(struct translation *tr, const struct expr *a, const struct expr *b);
const struct expr *dpe_nets_alt(struct translation *tr, const struct expr *a, const struct expr *b);
const struct expr *dpe_nets_par(struct translation *tr, const struct expr *a, const struct expr *b);
const struct expr *dpe_nets_star(struct translation *tr, const struct expr *e);
/* A shared event with the label of `event`, equal to no other expression. */
const struct expr *dpe_nets_shared(struct translation *tr, const struct expr *event);
/* The arena owns `operands`. */
const struct expr *dpe_nets_sync(struct translation *tr, const struct synced_operands *operands);
bool dpe_nets_expr_equal(const struct expr *a, const struct expr *b);
/* Whether it has one event at most. */
bool dpe_nets_is_simple(const struct expr *e);

/* ---- expr_print.c ---------------------------------------------------------------------------- */

/* Appends it as text of the language, with carets where operands of & name one event and do not
 * share it. False after a diagnostic: an event cannot have carets. */
bool dpe_nets_print(struct translation *tr, struct dpe_text *to, const struct expr *e);

#endif
