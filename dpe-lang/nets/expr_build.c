/* Constructors of expressions, which simplify obvious cases. The language has no sign
 * for the empty word, so it is the left operand of an alternative, EMPTY + e, and only where e does
 * not accept it. */
#include "dpe-lang/nets/expr.h"

static struct expr *make(struct translation *tr, enum expr_kind kind, const struct expr *left,
	const struct expr *right)
{
	struct expr *new = dpe_arena_alloc(tr->arena, sizeof(*new));

	new->kind = kind;
	new->left = left;
	new->right = right;
	new->size = (left ? left->size : 0) + (right ? right->size : 0);
	return new;
}

const struct expr *dpe_nets_empty(struct translation *tr)
{
	struct expr *new = make(tr, EXPR_EMPTY, NULL, NULL);

	new->nullable = true;
	return new;
}

const struct expr *dpe_nets_event(struct translation *tr, unsigned event)
{
	struct expr *new = make(tr, EXPR_EVENT, NULL, NULL);

	new->event = event;
	new->size = 1;
	return new;
}

const struct expr *dpe_nets_shared(struct translation *tr, const struct expr *event)
{
	struct expr *new = make(tr, EXPR_SHARED, NULL, NULL);

	new->event = event->event;
	new->shared = tr->nshared++;
	new->size = 1;
	return new;
}

const struct expr *dpe_nets_sync(struct translation *tr, const struct synced_operands *operands)
{
	struct expr *new;

	if (operands->noperands == 1 && !operands->nshared)
		return *operands->operands;
	new = make(tr, EXPR_SYNC, NULL, NULL);
	new->sync = operands;
	new->nullable = true;
	for (unsigned i = 0; i < operands->noperands; i++) {
		new->size += operands->operands[i]->size;
		new->nullable &= operands->operands[i]->nullable;
	}
	return new;
}

bool dpe_nets_expr_equal(const struct expr *a, const struct expr *b)
{
	if (a == b || !a || !b)
		return a == b;
	return a->kind == b->kind && a->size == b->size && a->event == b->event &&
	       a->shared == b->shared && a->sync == b->sync &&
	       dpe_nets_expr_equal(a->left, b->left) && dpe_nets_expr_equal(a->right, b->right);
}

bool dpe_nets_is_simple(const struct expr *e)
{
	return e->kind == EXPR_EMPTY || e->kind == EXPR_EVENT || e->kind == EXPR_SHARED;
}

static bool is_star_of(struct translation *tr, const struct expr *star, const struct expr *e)
{
	return star->kind == EXPR_STAR && dpe_nets_expr_equal(star, dpe_nets_star(tr, e));
}

/* Where one operand is empty it is the other: order passes through the empty word. */
const struct expr *dpe_nets_seq(struct translation *tr, const struct expr *a, const struct expr *b)
{
	struct expr *new;

	if (a->kind == EXPR_EMPTY || b->kind == EXPR_EMPTY)
		return a->kind == EXPR_EMPTY ? b : a;
	new = make(tr, EXPR_SEQ, a, b);
	new->nullable = a->nullable && b->nullable;
	if (is_star_of(tr, b, a))
		new->star = b;
	else if (is_star_of(tr, a, b))
		new->star = a;
	return new;
}

/* The operands share nothing: expr_print.c distinguishes their events. */
const struct expr *dpe_nets_par(struct translation *tr, const struct expr *a, const struct expr *b)
{
	struct expr *new;

	if (a->kind == EXPR_EMPTY || b->kind == EXPR_EMPTY)
		return a->kind == EXPR_EMPTY ? b : a;
	new = make(tr, EXPR_PAR, a, b);
	new->nullable = a->nullable && b->nullable;
	return new;
}

/* Whether all alternatives of e but the empty word are alternatives of a. */
static bool has_all(const struct expr *a, const struct expr *e)
{
	if (!a || e->kind == EXPR_EMPTY)
		return e->kind == EXPR_EMPTY;
	if (dpe_nets_expr_equal(a, e))
		return true;
	if (e->star && dpe_nets_expr_equal(a, e->star))
		return true;
	if (e->kind == EXPR_ALT)
		return has_all(a, e->left) && has_all(a, e->right);
	return a->kind == EXPR_ALT && (has_all(a->left, e) || has_all(a->right, e));
}

/* a + b. NULL has no behaviour; neither operand has the empty word as an alternative. */
static const struct expr *either(struct translation *tr, const struct expr *a, const struct expr *b)
{
	struct expr *new;

	if (!a || !b)
		return a ? a : b;
	if (has_all(a, b))
		return a;
	if (b->kind == EXPR_ALT)
		return either(tr, either(tr, a, b->left), b->right);
	new = make(tr, EXPR_ALT, a, b);
	new->nullable = a->nullable || b->nullable;
	return new;
}

static bool is_option(const struct expr *e)
{
	return e->kind == EXPR_ALT && e->left->kind == EXPR_EMPTY;
}

/* e without the alternative of the empty word; NULL if that is all. */
static const struct expr *without_empty(const struct expr *e)
{
	if (e->kind == EXPR_EMPTY)
		return NULL;
	return is_option(e) ? e->right : e;
}

static const struct expr *option(struct translation *tr, const struct expr *e);

/* An alternative a & b of e such that a and b are alternatives of `all`, and need no sign for the
 * empty word as an option. */
static const struct expr *find_both(
	struct translation *tr, const struct expr *all, const struct expr *e)
{
	const struct expr *found = NULL;

	if (e->kind == EXPR_ALT) {
		found = find_both(tr, all, e->left);
		return found ? found : find_both(tr, all, e->right);
	}
	if (e->kind == EXPR_PAR && has_all(all, e->left) && has_all(all, e->right) &&
		!is_option(option(tr, e->left)) && !is_option(option(tr, e->right)))
		found = e;
	return found;
}

/* The alternatives of e that `left_out` does not have. */
static const struct expr *without(
	struct translation *tr, const struct expr *e, const struct expr *left_out)
{
	if (has_all(left_out, e))
		return NULL;
	if (e->kind == EXPR_ALT)
		return either(tr, without(tr, e->left, left_out), without(tr, e->right, left_out));
	return e;
}

/* e with its first alternative x;x* replaced by x*; NULL if there is none. */
static const struct expr *with_star(struct translation *tr, const struct expr *e)
{
	const struct expr *left;

	if (e->star)
		return e->star;
	if (e->kind != EXPR_ALT)
		return NULL;
	left = with_star(tr, e->left);
	if (left)
		return either(tr, left, e->right);
	left = with_star(tr, e->right);
	return left ? either(tr, e->left, left) : NULL;
}

/* With the empty word, a & b + a + b is (a or nothing) & (b or nothing). */
static const struct expr *fold(struct translation *tr, const struct expr *e)
{
	const struct expr *both, *left, *right, *within;

	while (e && (both = find_both(tr, e, e))) {
		left = option(tr, both->left);
		right = option(tr, both->right);
		within = either(tr, both, either(tr, without_empty(left), without_empty(right)));
		e = either(tr, dpe_nets_par(tr, left, right), without(tr, e, within));
	}
	return e;
}

/* The empty word or e. */
static const struct expr *option(struct translation *tr, const struct expr *e)
{
	const struct expr *star;
	struct expr *new;

	e = fold(tr, e);
	if (!e)
		return dpe_nets_empty(tr);
	if (e->nullable)
		return e;
	star = with_star(tr, e);
	if (star)
		return star;
	new = make(tr, EXPR_ALT, dpe_nets_empty(tr), e);
	new->nullable = true;
	return new;
}

/* (a;a* & b) + b is a* & b. NULL if the operands have another form. */
static const struct expr *half(struct translation *tr, const struct expr *a, const struct expr *b)
{
	if (a->kind != EXPR_PAR)
		return NULL;
	if (a->left->star && dpe_nets_expr_equal(a->right, b))
		return dpe_nets_par(tr, a->left->star, b);
	if (a->right->star && dpe_nets_expr_equal(a->left, b))
		return dpe_nets_par(tr, b, a->right->star);
	return NULL;
}

const struct expr *dpe_nets_alt(struct translation *tr, const struct expr *a, const struct expr *b)
{
	bool empty = a->kind == EXPR_EMPTY || b->kind == EXPR_EMPTY || is_option(a) || is_option(b);
	const struct expr *e = half(tr, a, b);

	if (!e)
		e = half(tr, b, a);
	if (e)
		return e;
	e = either(tr, without_empty(a), without_empty(b));
	return empty || e->nullable ? option(tr, e) : e;
}

/* What may replace e in e*: x for x;x* and for x*. */
static const struct expr *once(struct translation *tr, const struct expr *e)
{
	if (e->kind == EXPR_ALT)
		return either(tr, once(tr, e->left), once(tr, e->right));
	if (e->star)
		return e->star->left;
	return e->kind == EXPR_STAR ? e->left : e;
}

const struct expr *dpe_nets_star(struct translation *tr, const struct expr *e)
{
	struct expr *new;

	e = without_empty(e);
	if (!e)
		return dpe_nets_empty(tr);
	e = once(tr, fold(tr, e));
	new = make(tr, EXPR_STAR, e, NULL);
	new->nullable = true;
	return new;
}
