/* Expressions, as they are made: short where it is easy to see that they can be.
 *
 * The language has no sign for the empty word, so it stands in an alternative only, to the left
 * (`?`: EMPTY + e), and only where e does not have it itself. */
#include "dpe-lang/nets/net.h"

#include <stdlib.h>

static struct expr *make(
	struct work *work, enum expr_kind kind, const struct expr *left, const struct expr *right)
{
	struct expr *new = dpe_arena_alloc(work->arena, sizeof(*new));

	new->kind = kind;
	new->left = left;
	new->right = right;
	new->size = (left ? left->size : 0) + (right ? right->size : 0);
	return new;
}

const struct expr *dpe_nets_empty(struct work *work)
{
	struct expr *new = make(work, EXPR_EMPTY, NULL, NULL);

	new->nullable = true;
	return new;
}

const struct expr *dpe_nets_event(struct work *work, unsigned event)
{
	struct expr *new = make(work, EXPR_EVENT, NULL, NULL);

	new->event = event;
	new->size = 1;
	return new;
}

const struct expr *dpe_nets_kernel_expr(struct work *work, const struct kernel *kernel)
{
	struct expr *new = make(work, EXPR_KERNEL, NULL, NULL);

	new->kernel = kernel;
	new->nullable = true;
	for (unsigned i = 0; i < kernel->noperands; i++) {
		new->size += kernel->operands[i]->size;
		new->nullable &= kernel->or_nothing[i];
	}
	return new;
}

const struct expr *dpe_nets_shared(struct work *work, const struct expr *event)
{
	struct expr *new = make(work, EXPR_SHARED, NULL, NULL);

	new->event = event->event;
	new->shared = work->nshared++;
	new->size = 1;
	return new;
}

const struct expr *dpe_nets_parts_expr(struct work *work, const struct parts *parts)
{
	struct expr *new = make(work, EXPR_PARTS, NULL, NULL);

	new->parts = parts;
	new->nullable = true;
	for (unsigned i = 0; i < parts->noperands; i++) {
		new->size += parts->operands[i]->size;
		new->nullable &= parts->operands[i]->nullable;
	}
	return new;
}

bool dpe_nets_expr_equal(const struct expr *a, const struct expr *b)
{
	if (a == b || !a || !b)
		return a == b;
	return a->kind == b->kind && a->size == b->size && a->event == b->event &&
	       a->shared == b->shared && a->kernel == b->kernel && a->parts == b->parts &&
	       dpe_nets_expr_equal(a->left, b->left) && dpe_nets_expr_equal(a->right, b->right);
}

bool dpe_nets_is_simple(const struct expr *e)
{
	return e->kind == EXPR_EMPTY || e->kind == EXPR_EVENT || e->kind == EXPR_SHARED;
}

static bool is_star_of(struct work *work, const struct expr *star, const struct expr *e)
{
	return star->kind == EXPR_STAR && dpe_nets_expr_equal(star, dpe_nets_star(work, e));
}

/* a ; b. Where a or b is empty it is the other, for order passes through what is empty. */
const struct expr *dpe_nets_seq(struct work *work, const struct expr *a, const struct expr *b)
{
	struct expr *new;

	if (a->kind == EXPR_EMPTY || b->kind == EXPR_EMPTY)
		return a->kind == EXPR_EMPTY ? b : a;
	new = make(work, EXPR_SEQ, a, b);
	new->nullable = a->nullable && b->nullable;
	if (is_star_of(work, b, a))
		new->star = b;
	else if (is_star_of(work, a, b))
		new->star = a;
	return new;
}

/* a & b, with no event of both: whoever prints it tells them apart. */
const struct expr *dpe_nets_par(struct work *work, const struct expr *a, const struct expr *b)
{
	struct expr *new;

	if (a->kind == EXPR_EMPTY || b->kind == EXPR_EMPTY)
		return a->kind == EXPR_EMPTY ? b : a;
	new = make(work, EXPR_PAR, a, b);
	new->nullable = a->nullable && b->nullable;
	return new;
}

/* ---- alternatives ---------------------------------------------------------------------------- */

/* Whether all alternatives of e are some of a; the empty one is not asked for. */
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

/* NULL is nothing at all. Neither has the empty word as an alternative by itself. */
static const struct expr *either(struct work *work, const struct expr *a, const struct expr *b)
{
	struct expr *new;

	if (!a || !b)
		return a ? a : b;
	if (has_all(a, b))
		return a;
	if (b->kind == EXPR_ALT)
		return either(work, either(work, a, b->left), b->right);
	new = make(work, EXPR_ALT, a, b);
	new->nullable = a->nullable || b->nullable;
	return new;
}

static bool is_option(const struct expr *e)
{
	return e->kind == EXPR_ALT && e->left->kind == EXPR_EMPTY;
}

/* Without the empty word as an alternative; NULL where that leaves nothing. */
static const struct expr *without_empty(const struct expr *e)
{
	if (e->kind == EXPR_EMPTY)
		return NULL;
	return is_option(e) ? e->right : e;
}

static const struct expr *option(struct work *work, const struct expr *e);

/* An alternative a & b of e whose a and b are alternatives, too, and short with the empty word. */
static const struct expr *find_both(struct work *work, const struct expr *all, const struct expr *e)
{
	const struct expr *found = NULL;

	if (e->kind == EXPR_ALT) {
		found = find_both(work, all, e->left);
		return found ? found : find_both(work, all, e->right);
	}
	if (e->kind == EXPR_PAR && has_all(all, e->left) && has_all(all, e->right) &&
		!is_option(option(work, e->left)) && !is_option(option(work, e->right)))
		found = e;
	return found;
}

/* The alternatives of e that are not among those of `left_out`. */
static const struct expr *without(
	struct work *work, const struct expr *e, const struct expr *left_out)
{
	if (has_all(left_out, e))
		return NULL;
	if (e->kind == EXPR_ALT)
		return either(
			work, without(work, e->left, left_out), without(work, e->right, left_out));
	return e;
}

/* With the first alternative e;e* as e*. NULL where there is none. */
static const struct expr *with_star(struct work *work, const struct expr *e)
{
	const struct expr *left;

	if (e->star)
		return e->star;
	if (e->kind != EXPR_ALT)
		return NULL;
	left = with_star(work, e->left);
	if (left)
		return either(work, left, e->right);
	left = with_star(work, e->right);
	return left ? either(work, e->left, left) : NULL;
}

/* Where the empty word is another alternative, a & b + a + b is (a or nothing) & (b or nothing). */
static const struct expr *fold(struct work *work, const struct expr *e)
{
	const struct expr *both, *left, *right, *within;

	while (e && (both = find_both(work, e, e))) {
		left = option(work, both->left);
		right = option(work, both->right);
		within =
			either(work, both, either(work, without_empty(left), without_empty(right)));
		e = either(work, dpe_nets_par(work, left, right), without(work, e, within));
	}
	return e;
}

/* The empty word, or e. */
static const struct expr *option(struct work *work, const struct expr *e)
{
	const struct expr *star;
	struct expr *new;

	e = fold(work, e);
	if (!e)
		return dpe_nets_empty(work);
	if (e->nullable)
		return e;
	star = with_star(work, e);
	if (star)
		return star;
	new = make(work, EXPR_ALT, dpe_nets_empty(work), e);
	new->nullable = true;
	return new;
}

/* a;a* & b, or b, is a* & b. NULL where e is not this. */
static const struct expr *half(struct work *work, const struct expr *a, const struct expr *b)
{
	if (a->kind != EXPR_PAR)
		return NULL;
	if (a->left->star && dpe_nets_expr_equal(a->right, b))
		return dpe_nets_par(work, a->left->star, b);
	if (a->right->star && dpe_nets_expr_equal(a->left, b))
		return dpe_nets_par(work, b, a->right->star);
	return NULL;
}

const struct expr *dpe_nets_alt(struct work *work, const struct expr *a, const struct expr *b)
{
	bool empty = a->kind == EXPR_EMPTY || b->kind == EXPR_EMPTY || is_option(a) || is_option(b);
	const struct expr *e = half(work, a, b);

	if (!e)
		e = half(work, b, a);
	if (e)
		return e;
	e = either(work, without_empty(a), without_empty(b));
	return empty || e->nullable ? option(work, e) : e;
}

/* In a repetition e;e* is as good as e, and so is e*. */
static const struct expr *once(struct work *work, const struct expr *e)
{
	if (e->kind == EXPR_ALT)
		return either(work, once(work, e->left), once(work, e->right));
	if (e->star)
		return e->star->left;
	return e->kind == EXPR_STAR ? e->left : e;
}

const struct expr *dpe_nets_star(struct work *work, const struct expr *e)
{
	struct expr *new;

	e = without_empty(e);
	if (!e)
		return dpe_nets_empty(work);
	e = once(work, fold(work, e));
	new = make(work, EXPR_STAR, e, NULL);
	new->nullable = true;
	return new;
}
