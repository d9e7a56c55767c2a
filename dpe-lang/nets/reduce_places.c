/* Removes places from a net that is being reduced: each pair of a producer and a consumer of the place, which are
 * transitions, becomes one transition. */
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
			*DPE_GROW(a.producers, a.nproducers, a.capproducers) = i;
		if (dpe_nets_has_place(t->in, t->nin, place))
			*DPE_GROW(a.consumers, a.nconsumers, a.capconsumers) = i;
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
	free(a->producers);
	free(a->consumers);
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

/* A consumer that takes nothing else can fire as soon as the place is filled. (Its outputs are empty
 * then, or the net would not be 1-safe.) Where the producer has other outputs, which do not wait for
 * the consumer, the consumer has to be silent. */
static bool can_advance(const struct reducer *r, const struct neighbours *a)
{
	for (unsigned j = 0; j < a->nconsumers; j++) {
		const struct transition *consumer = &r->net->transitions[a->consumers[j]];

		if (!has_one_input(consumer))
			return false;
		for (unsigned i = 0; i < a->nproducers && !is_empty(consumer); i++) {
			if (!has_one_output(&r->net->transitions[a->producers[i]]))
				return false;
		}
	}
	return true;
}

/* A producer that fills nothing else can wait for the consumer, if its inputs are not filled again
 * meanwhile. Where the consumer has other inputs, on which the producer does not depend, the producer has to
 * be silent. */
static bool can_delay(const struct reducer *r, const struct neighbours *a, unsigned place)
{
	for (unsigned i = 0; i < a->nproducers; i++) {
		const struct transition *producer = &r->net->transitions[a->producers[i]];

		if (!has_one_output(producer))
			return false;
		for (unsigned j = 0; j < producer->nin; j++) {
			if (*dpe_nets_are_together(r, place, producer->in[j]))
				return false;
		}
		for (unsigned j = 0; j < a->nconsumers && !is_empty(producer); j++) {
			if (!has_one_input(&r->net->transitions[a->consumers[j]]))
				return false;
		}
	}
	return true;
}

/* The token of the place stays in the inputs of its producers. */
static void delay(struct reducer *r, const struct neighbours *a, unsigned place)
{
	for (unsigned i = 0; i < a->nproducers; i++) {
		const struct transition *producer = &r->net->transitions[a->producers[i]];

		for (unsigned j = 0; j < producer->nin; j++) {
			for (unsigned p = 0; p < r->net->nplaces; p++) {
				if (!*dpe_nets_are_together(r, place, p))
					continue;
				*dpe_nets_are_together(r, producer->in[j], p) = true;
				*dpe_nets_are_together(r, p, producer->in[j]) = true;
			}
		}
	}
}

static bool add_both(struct reducer *r, unsigned producer, unsigned consumer, unsigned place)
{
	struct transition like = r->net->transitions[producer];
	struct transition *both = dpe_nets_add(r->net, &like);
	const struct transition *u = &r->net->transitions[producer], *v = &r->net->transitions[consumer];
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

	for (unsigned i = 0; i < a->nproducers && good; i++) {
		for (unsigned j = 0; j < a->nconsumers && good; j++)
			good = add_both(r, a->producers[i], a->consumers[j], place);
	}
	while (!good && r->net->ntransitions > before)
		dpe_nets_drop_transition(r->net, r->net->ntransitions - 1);
	for (unsigned i = before; good && i-- > 0;) {
		if (is_among(a->producers, a->nproducers, i) || is_among(a->consumers, a->nconsumers, i))
			dpe_nets_drop_transition(r->net, i);
	}
	return good;
}

/* By how many events the expressions become longer. */
static size_t growth(const struct reducer *r, const struct neighbours *a)
{
	size_t more = 0;

	for (unsigned i = 0; i < a->nproducers; i++)
		more += r->net->transitions[a->producers[i]].expr->size * (a->nconsumers - 1);
	for (unsigned i = 0; i < a->nconsumers; i++)
		more += r->net->transitions[a->consumers[i]].expr->size * (a->nproducers - 1);
	return more;
}

static bool can_go(const struct reducer *r, const struct neighbours *a, unsigned place)
{
	if (r->fixed[place] || !a->nproducers || !a->nconsumers)
		return false;
	for (unsigned i = 0; i < a->nproducers; i++) {
		if (is_among(a->consumers, a->nconsumers, a->producers[i]))
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

/* What the producers of a place have, or its consumers: one that forks, joins, or is an event. */
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
	struct place_side before = side_of(r, a->producers, a->nproducers);
	struct place_side after = side_of(r, a->consumers, a->nconsumers);

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
