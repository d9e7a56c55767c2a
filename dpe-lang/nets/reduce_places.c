/* Takes places out of a net that is being reduced: for each transition that fills the place and
 * each that takes from it there is one that does both. */
#include "dpe-lang/nets/expr.h"
#include "dpe-lang/nets/limits.h"
#include "dpe-lang/nets/reduce.h"

#include <stdlib.h>
#include <string.h>

bool dpe_nets_may_have(
	const struct reducer *r, unsigned nin, unsigned nout, const struct expr *expr)
{
	if (dpe_nets_is_simple(expr))
		return true;
	return r->blocks && nin == 1 && nout == 1 && expr->size <= MAX_EVENTS;
}

bool *dpe_nets_are_together(const struct reducer *r, unsigned a, unsigned b)
{
	return &r->together[(size_t)a * r->net->nplaces + b];
}

static struct neighbours neighbours_of(const struct net *net, unsigned place)
{
	struct neighbours a = {0};

	for (unsigned i = 0; i < net->ntransitions; i++) {
		const struct transition *t = &net->transitions[i];

		if (dpe_nets_has_place(t->out, t->nout, place))
			*DPE_GROW(a.makers, a.nmakers, a.capmakers) = i;
		if (dpe_nets_has_place(t->in, t->nin, place))
			*DPE_GROW(a.takers, a.ntakers, a.captakers) = i;
	}
	return a;
}

struct neighbours *dpe_nets_all_neighbours(const struct net *net)
{
	struct neighbours *all = dpe_xcalloc(net->nplaces + 1, sizeof(*all));

	for (unsigned p = 0; p < net->nplaces; p++)
		all[p] = neighbours_of(net, p);
	return all;
}

static void free_one(struct neighbours *a)
{
	free(a->makers);
	free(a->takers);
}

void dpe_nets_free_neighbours(struct neighbours *all, unsigned count)
{
	for (unsigned p = 0; p < count; p++)
		free_one(&all[p]);
	free(all);
}

static bool is_empty(const struct transition *t)
{
	return t->expr->kind == EXPR_EMPTY;
}

static bool has_one_input(const struct transition *t)
{
	return t->nin == 1;
}

static bool has_one_output(const struct transition *t)
{
	return t->nout == 1;
}

/* A taker that takes nothing else can fire as soon as the place is filled. (Its outputs are empty
 * then, or the net would not be 1-safe.) Where the maker has other outputs, which do not wait for
 * the taker, the taker has to be silent. */
static bool can_advance(const struct reducer *r, const struct neighbours *a)
{
	for (unsigned j = 0; j < a->ntakers; j++) {
		const struct transition *taker = &r->net->transitions[a->takers[j]];

		if (!has_one_input(taker))
			return false;
		for (unsigned i = 0; i < a->nmakers && !is_empty(taker); i++) {
			if (!has_one_output(&r->net->transitions[a->makers[i]]))
				return false;
		}
	}
	return true;
}

/* A maker that fills nothing else can wait for the taker, if its inputs are not filled again
 * meanwhile. Where the taker has other inputs, on which the maker does not depend, the maker has to
 * be silent. */
static bool can_delay(const struct reducer *r, const struct neighbours *a, unsigned place)
{
	for (unsigned i = 0; i < a->nmakers; i++) {
		const struct transition *maker = &r->net->transitions[a->makers[i]];

		if (!has_one_output(maker))
			return false;
		for (unsigned j = 0; j < maker->nin; j++) {
			if (*dpe_nets_are_together(r, place, maker->in[j]))
				return false;
		}
		for (unsigned j = 0; j < a->ntakers && !is_empty(maker); j++) {
			if (!has_one_input(&r->net->transitions[a->takers[j]]))
				return false;
		}
	}
	return true;
}

/* The token of the place stays in the inputs of its makers. */
static void delay(struct reducer *r, const struct neighbours *a, unsigned place)
{
	for (unsigned i = 0; i < a->nmakers; i++) {
		const struct transition *maker = &r->net->transitions[a->makers[i]];

		for (unsigned j = 0; j < maker->nin; j++) {
			for (unsigned p = 0; p < r->net->nplaces; p++) {
				if (!*dpe_nets_are_together(r, place, p))
					continue;
				*dpe_nets_are_together(r, maker->in[j], p) = true;
				*dpe_nets_are_together(r, p, maker->in[j]) = true;
			}
		}
	}
}

static bool add_both(struct reducer *r, unsigned maker, unsigned taker, unsigned place)
{
	struct transition like = r->net->transitions[maker];
	struct transition *both = dpe_nets_add(r->net, &like);
	const struct transition *u = &r->net->transitions[maker], *v = &r->net->transitions[taker];
	bool good = true;

	both->expr = dpe_nets_seq(r->tr, u->expr, v->expr);
	for (unsigned i = 0; i < u->nin; i++)
		dpe_nets_add_arc(both, false, u->in[i]);
	for (unsigned i = 0; i < v->nin; i++) {
		good = good && !dpe_nets_has_place(u->in, u->nin, v->in[i]);
		if (v->in[i] != place)
			dpe_nets_add_arc(both, false, v->in[i]);
	}
	for (unsigned i = 0; i < v->nout; i++)
		dpe_nets_add_arc(both, true, v->out[i]);
	for (unsigned i = 0; i < u->nout; i++) {
		good = good && !dpe_nets_has_place(v->out, v->nout, u->out[i]);
		if (u->out[i] != place)
			dpe_nets_add_arc(both, true, u->out[i]);
	}
	return good && dpe_nets_may_have(r, both->nin, both->nout, both->expr);
}

static bool is_among(const unsigned *numbers, unsigned count, unsigned number)
{
	return dpe_nets_has_place(numbers, count, number);
}

/* Changes nothing, and returns false, where one of the new transitions is not allowed. */
static bool replace(struct reducer *r, const struct neighbours *a, unsigned place)
{
	unsigned before = r->net->ntransitions;
	bool good = true;

	for (unsigned i = 0; i < a->nmakers && good; i++) {
		for (unsigned j = 0; j < a->ntakers && good; j++)
			good = add_both(r, a->makers[i], a->takers[j], place);
	}
	while (!good && r->net->ntransitions > before)
		dpe_nets_drop_transition(r->net, r->net->ntransitions - 1);
	for (unsigned i = before; good && i-- > 0;) {
		if (is_among(a->makers, a->nmakers, i) || is_among(a->takers, a->ntakers, i))
			dpe_nets_drop_transition(r->net, i);
	}
	return good;
}

/* By how many events the expressions become longer. */
static size_t growth(const struct reducer *r, const struct neighbours *a)
{
	size_t more = 0;

	for (unsigned i = 0; i < a->nmakers; i++)
		more += r->net->transitions[a->makers[i]].expr->size * (a->ntakers - 1);
	for (unsigned i = 0; i < a->ntakers; i++)
		more += r->net->transitions[a->takers[i]].expr->size * (a->nmakers - 1);
	return more;
}

static bool can_go(const struct reducer *r, const struct neighbours *a, unsigned place)
{
	if (r->fixed[place] || !a->nmakers || !a->ntakers)
		return false;
	for (unsigned i = 0; i < a->nmakers; i++) {
		if (is_among(a->takers, a->ntakers, a->makers[i]))
			return false;
	}
	return true;
}

static bool take_out(struct reducer *r, const struct neighbours *a, unsigned place)
{
	if (can_advance(r, a))
		return replace(r, a, place);
	if (!can_delay(r, a, place))
		return false;
	delay(r, a, place);
	return replace(r, a, place);
}

/* What the makers of a place have, or its takers: one that forks, joins, or is an event. */
struct place_side {
	bool forks, joins, event, choice;
};

static struct place_side side_of(const struct reducer *r, const unsigned *numbers, unsigned count)
{
	struct place_side side = {.choice = count > 1};

	for (unsigned i = 0; i < count; i++) {
		const struct transition *t = &r->net->transitions[numbers[i]];

		side.forks |= t->nout > 1;
		side.joins |= t->nin > 1;
		side.event |= !is_empty(t);
	}
	return side;
}

/* Whether a region may begin or end in the place, since several paths meet there and several leave;
 * or, unless the net may be flat, whether fusing would hide the structure of the expression: a fork
 * is followed by a fork or a choice, a join or the end of a choice by a join, an event by a fork,
 * or a join by an event. */
static bool is_boundary(const struct reducer *r, const struct neighbours *a)
{
	struct place_side before = side_of(r, a->makers, a->nmakers);
	struct place_side after = side_of(r, a->takers, a->ntakers);

	if ((before.joins || before.choice) && (after.forks || after.choice))
		return true;
	return !r->flat && ((before.forks && (after.forks || after.choice)) ||
				   (after.joins && (before.joins || before.choice)) ||
				   (before.event && after.forks) || (before.joins && after.event));
}

bool dpe_nets_fuse(struct reducer *r)
{
	bool changed = false;

	for (unsigned p = 0; p < r->net->nplaces; p++) {
		struct neighbours a = neighbours_of(r->net, p);

		if (can_go(r, &a, p) && !growth(r, &a) && !is_boundary(r, &a))
			changed |= take_out(r, &a, p);
		free_one(&a);
	}
	return changed;
}

/* By how many events taking out the place lengthens the expressions; SIZE_MAX where that cannot be.
 */
static size_t cost_of(const struct reducer *r, unsigned place)
{
	struct neighbours a = neighbours_of(r->net, place);
	size_t cost = SIZE_MAX;

	if (can_go(r, &a, place) && (can_advance(r, &a) || can_delay(r, &a, place)))
		cost = growth(r, &a);
	free_one(&a);
	return cost <= MAX_EVENTS ? cost : SIZE_MAX;
}

bool dpe_nets_fuse_best(struct reducer *r)
{
	size_t least = SIZE_MAX;
	unsigned best = 0;
	struct neighbours a;
	bool done;

	for (unsigned p = 0; p < r->net->nplaces; p++) {
		size_t cost = cost_of(r, p);

		if (cost >= least)
			continue;
		least = cost;
		best = p;
	}
	if (least == SIZE_MAX)
		return false;
	a = neighbours_of(r->net, best);
	done = take_out(r, &a, best);
	free_one(&a);
	return done;
}
