/* Places of a net that is being reduced are taken out: for each that fills the place and each that
 * takes from it there is one transition that does both, one after the other. */
#include "dpe-lang/nets/net.h"

#include <stdlib.h>
#include <string.h>

/* What may become longer at all. */
#define MANY_COPIES 500

/* ---- what is around places ------------------------------------------------------------------- */

bool *dpe_nets_are_together(const struct reducer *r, unsigned a, unsigned b)
{
	return &r->together[(size_t)a * r->net->nplaces + b];
}

static struct around look_around(const struct net *net, unsigned place)
{
	struct around a = {0};

	for (unsigned i = 0; i < net->ntransitions; i++) {
		const struct transition *t = &net->transitions[i];

		if (dpe_nets_has_place(t->out, t->nout, place))
			*DPE_GROW(a.makers, a.nmakers, a.capmakers) = i;
		if (dpe_nets_has_place(t->in, t->nin, place))
			*DPE_GROW(a.takers, a.ntakers, a.captakers) = i;
	}
	return a;
}

struct around *dpe_nets_look_around_all(const struct net *net)
{
	struct around *all = dpe_xcalloc(net->nplaces + 1, sizeof(*all));

	for (unsigned i = 0; i < net->ntransitions; i++) {
		const struct transition *t = &net->transitions[i];

		for (unsigned j = 0; j < t->nout; j++) {
			struct around *a = &all[t->out[j]];

			*DPE_GROW(a->makers, a->nmakers, a->capmakers) = i;
		}
		for (unsigned j = 0; j < t->nin; j++) {
			struct around *a = &all[t->in[j]];

			*DPE_GROW(a->takers, a->ntakers, a->captakers) = i;
		}
	}
	return all;
}

void dpe_nets_around_free(struct around *a)
{
	free(a->makers);
	free(a->takers);
}

/* ---- one after the other -------------------------------------------------------------------- */

static bool is_empty(const struct transition *t)
{
	return t->words->kind == EXPR_EMPTY;
}

static bool takes_only_that(const struct transition *t)
{
	return t->nin == 1;
}

static bool leaves_only_that(const struct transition *t)
{
	return t->nout == 1;
}

/* Whoever takes from the place takes nothing else, so it may as well do so as soon as the place is
 * filled: maker and taker are one firing. (What it leaves is empty then: if not, it would leave
 * second tokens.) Where the maker leaves something else, too, which does not wait for the taker,
 * the taker has to be empty. */
static bool can_hurry(const struct reducer *r, const struct around *a)
{
	for (unsigned j = 0; j < a->ntakers; j++) {
		const struct transition *taker = &r->net->transitions[a->takers[j]];

		if (!takes_only_that(taker))
			return false;
		for (unsigned i = 0; i < a->nmakers && !is_empty(taker); i++) {
			if (!leaves_only_that(&r->net->transitions[a->makers[i]]))
				return false;
		}
	}
	return true;
}

/* Whoever fills the place fills nothing else, so it may as well wait for the taker: then what it
 * takes waits, which must not be filled again meanwhile. Where the taker takes something else, too,
 * which the maker does not depend on, the maker has to be empty. */
static bool can_wait(const struct reducer *r, const struct around *a, unsigned place)
{
	for (unsigned i = 0; i < a->nmakers; i++) {
		const struct transition *maker = &r->net->transitions[a->makers[i]];

		if (!leaves_only_that(maker))
			return false;
		for (unsigned j = 0; j < maker->nin; j++) {
			if (*dpe_nets_are_together(r, place, maker->in[j]))
				return false;
		}
		for (unsigned j = 0; j < a->ntakers && !is_empty(maker); j++) {
			if (!takes_only_that(&r->net->transitions[a->takers[j]]))
				return false;
		}
	}
	return true;
}

/* What lay in the place lies in what the makers take from instead. */
static void wait(struct reducer *r, const struct around *a, unsigned place)
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

	both->words = dpe_nets_seq(r->work, u->words, v->words);
	for (unsigned i = 0; i < u->nin; i++)
		dpe_nets_arc(both, false, u->in[i]);
	for (unsigned i = 0; i < v->nin; i++) {
		good = good && !dpe_nets_has_place(u->in, u->nin, v->in[i]);
		if (v->in[i] != place)
			dpe_nets_arc(both, false, v->in[i]);
	}
	for (unsigned i = 0; i < v->nout; i++)
		dpe_nets_arc(both, true, v->out[i]);
	for (unsigned i = 0; i < u->nout; i++) {
		good = good && !dpe_nets_has_place(v->out, v->nout, u->out[i]);
		if (u->out[i] != place)
			dpe_nets_arc(both, true, u->out[i]);
	}
	return good && dpe_nets_may_have(r, both->nin, both->nout, both->words);
}

static bool is_among(const unsigned *numbers, unsigned count, unsigned number)
{
	return dpe_nets_has_place(numbers, count, number);
}

/* Nothing is changed where one of them cannot be. */
static bool replace(struct reducer *r, const struct around *a, unsigned place)
{
	unsigned before = r->net->ntransitions;
	bool good = true;

	for (unsigned i = 0; i < a->nmakers && good; i++) {
		for (unsigned j = 0; j < a->ntakers && good; j++)
			good = add_both(r, a->makers[i], a->takers[j], place);
	}
	while (!good && r->net->ntransitions > before)
		dpe_nets_drop(r->net, r->net->ntransitions - 1);
	for (unsigned i = before; good && i-- > 0;) {
		if (is_among(a->makers, a->nmakers, i) || is_among(a->takers, a->ntakers, i))
			dpe_nets_drop(r->net, i);
	}
	return good;
}

/* By how many events what is there becomes longer. */
static size_t growth(const struct reducer *r, const struct around *a)
{
	size_t more = 0;

	for (unsigned i = 0; i < a->nmakers; i++)
		more += r->net->transitions[a->makers[i]].words->size * (a->ntakers - 1);
	for (unsigned i = 0; i < a->ntakers; i++)
		more += r->net->transitions[a->takers[i]].words->size * (a->nmakers - 1);
	return more;
}

static bool can_go(const struct reducer *r, const struct around *a, unsigned place)
{
	if (r->fixed[place] || !a->nmakers || !a->ntakers)
		return false;
	for (unsigned i = 0; i < a->nmakers; i++) {
		if (is_among(a->takers, a->ntakers, a->makers[i]))
			return false;
	}
	return true;
}

/* Without a place, for whose makers and takers there are transitions that do both. */
static bool take_out(struct reducer *r, const struct around *a, unsigned place)
{
	if (can_hurry(r, a))
		return replace(r, a, place);
	if (!can_wait(r, a, place))
		return false;
	wait(r, a, place);
	return replace(r, a, place);
}

/* A place that several come together at, or several begin at, may be where a region begins or
 * ends. */
static bool is_crossing(const struct reducer *r, const struct around *a)
{
	bool joins = a->nmakers > 1, forks = a->ntakers > 1;

	for (unsigned i = 0; i < a->nmakers; i++)
		joins |= r->net->transitions[a->makers[i]].nin > 1;
	for (unsigned i = 0; i < a->ntakers; i++)
		forks |= r->net->transitions[a->takers[i]].nout > 1;
	return joins && forks;
}

/* A fork right after a fork, or a choice; a join right before a join, or the end of a choice: that
 * they are two shows what belongs together. */
static bool is_nested(const struct reducer *r, const struct around *a)
{
	bool forks = false, joins = false, after = a->ntakers > 1, before = a->nmakers > 1;

	for (unsigned i = 0; i < a->nmakers; i++) {
		forks |= r->net->transitions[a->makers[i]].nout > 1;
		before |= r->net->transitions[a->makers[i]].nin > 1;
	}
	for (unsigned i = 0; i < a->ntakers; i++) {
		after |= r->net->transitions[a->takers[i]].nout > 1;
		joins |= r->net->transitions[a->takers[i]].nin > 1;
	}
	return (forks && after) || (before && joins);
}

/* Those that make nothing longer. */
bool dpe_nets_fuse(struct reducer *r)
{
	bool changed = false;

	for (unsigned p = 0; p < r->net->nplaces; p++) {
		struct around a = look_around(r->net, p);

		if (can_go(r, &a, p) && !growth(r, &a) && !is_crossing(r, &a) &&
			(r->flat || !is_nested(r, &a)))
			changed |= take_out(r, &a, p);
		dpe_nets_around_free(&a);
	}
	return changed;
}

static size_t cost_of(const struct reducer *r, unsigned place, size_t most)
{
	struct around a = look_around(r->net, place);
	size_t cost = SIZE_MAX;

	if (can_go(r, &a, place) && growth(r, &a) <= most &&
		(can_hurry(r, &a) || can_wait(r, &a, place)))
		cost = growth(r, &a);
	dpe_nets_around_free(&a);
	return cost;
}

/* The one that makes things least longer. */
bool dpe_nets_fuse_best(struct reducer *r)
{
	unsigned best = NO_PLACE;
	size_t least = SIZE_MAX;
	struct around a;
	bool done;

	for (unsigned p = 0; p < r->net->nplaces; p++) {
		size_t cost = cost_of(r, p, MANY_COPIES);

		if (cost >= least)
			continue;
		least = cost;
		best = p;
	}
	if (best == NO_PLACE)
		return false;
	a = look_around(r->net, best);
	done = take_out(r, &a, best);
	dpe_nets_around_free(&a);
	return done;
}
