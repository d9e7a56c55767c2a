/* Silent transitions that take tokens of silent ones, on a circle: tokens that say nothing new are
 * handed over by who says more.
 *
 * Let a silent t take a token from p, which silent transitions fill, and one from q, which only
 * visible ones do, and let, whenever both lie there, the past of the first be less than that of the
 * second (pasts.c). A visible b that fills q then finds p filled before, and nothing that it comes
 * after would be new to it: what filled p does not come after b, or the past of p had b in it, so
 * it can as well come before; and what is in the past of p and not that of q after b was not in the
 * past of what b took. So b may take the token of p along, and leave in place of both one token in
 * a place of its own, which stands for the pair: t takes that one. The pair has the past that t
 * would have got. Who wants the two tokens by themselves takes what b leaves otherwise: b does
 * either.
 *
 * Then one input of t less is filled silently. It is as if b had asked for the token that t brought
 * round: a circle such as that of ((a + skip) & (b + skip))* ends there. */
#include "dpe-lang/nets/net.h"

#include <stdlib.h>
#include <string.h>

/* One token in `place` for one in `with` and those in `handed`. */
struct pair {
	unsigned with, place;
	unsigned *handed, nhanded, caphanded;
};

struct giver {
	const struct net *old;
	struct net *new;
	struct pasts *pasts;
	bool *silently, *visibly; /* filled by such transitions, by place */
	struct pair *pairs;
	unsigned npairs, cappairs;
	unsigned *taken; /* by transition: the pair that it takes; NO_PAIR */
};

#define NO_PAIR UINT32_MAX

static void find_makers(struct giver *g)
{
	g->silently = dpe_xcalloc(g->old->nplaces + 1, sizeof(*g->silently));
	g->visibly = dpe_xcalloc(g->old->nplaces + 1, sizeof(*g->visibly));
	for (unsigned i = 0; i < g->old->ntransitions; i++) {
		const struct transition *t = &g->old->transitions[i];

		for (unsigned j = 0; j < t->nout; j++)
			*(t->label ? &g->visibly[t->out[j]] : &g->silently[t->out[j]]) = true;
	}
	for (unsigned i = 0; i < g->old->initial.count; i++) {
		for (unsigned p = 0; p < g->old->nplaces; p++)
			g->visibly[p] &= !g->old->initial.at[i][p];
	}
}

static struct pair pair_of(const struct giver *g, const struct transition *t, unsigned with)
{
	struct pair pair = {.with = with};

	for (unsigned i = 0; i < t->nin; i++) {
		if (t->in[i] != with && g->silently[t->in[i]] &&
			dpe_nets_past_is_less(g->pasts, t->in[i], with))
			*DPE_GROW(pair.handed, pair.nhanded, pair.caphanded) = t->in[i];
	}
	return pair;
}

/* The number of the pair, which then owns what is handed over. */
static unsigned add_pair(struct giver *g, struct pair pair)
{
	for (unsigned i = 0; i < g->npairs; i++) {
		const struct pair *other = &g->pairs[i];

		if (other->with != pair.with || other->nhanded != pair.nhanded ||
			memcmp(other->handed, pair.handed, pair.nhanded * sizeof(*pair.handed)))
			continue;
		free(pair.handed);
		return i;
	}
	pair.place = g->old->nplaces + g->npairs;
	*DPE_GROW(g->pairs, g->npairs, g->cappairs) = pair;
	return g->npairs - 1;
}

/* The pair that spares the transition most. */
static unsigned choose_pair(struct giver *g, const struct transition *t)
{
	struct pair best = {0};

	for (unsigned i = 0; i < t->nin && !t->label; i++) {
		struct pair pair = {0};

		if (g->visibly[t->in[i]] && !g->silently[t->in[i]])
			pair = pair_of(g, t, t->in[i]);
		if (pair.nhanded <= best.nhanded) {
			free(pair.handed);
			continue;
		}
		free(best.handed);
		best = pair;
	}
	return best.nhanded ? add_pair(g, best) : NO_PAIR;
}

static void find_pairs(struct giver *g)
{
	g->taken = dpe_xcalloc(g->old->ntransitions + 1, sizeof(*g->taken));
	for (unsigned i = 0; i < g->old->ntransitions; i++)
		g->taken[i] = choose_pair(g, &g->old->transitions[i]);
}

static bool is_in_pair(const struct pair *pair, unsigned place)
{
	return place == pair->with || dpe_nets_has_place(pair->handed, pair->nhanded, place);
}

static void copy_transition(struct giver *g, unsigned number)
{
	const struct transition *t = &g->old->transitions[number];
	const struct pair *pair = g->taken[number] == NO_PAIR ? NULL : &g->pairs[g->taken[number]];
	struct transition *copy = dpe_nets_add(g->new, t);

	if (pair)
		dpe_nets_arc(copy, false, pair->place);
	for (unsigned i = 0; i < t->nin; i++) {
		if (!pair || !is_in_pair(pair, t->in[i]))
			dpe_nets_arc(copy, false, t->in[i]);
	}
	for (unsigned i = 0; i < t->nout; i++)
		dpe_nets_arc(copy, true, t->out[i]);
}

static bool takes_any(const struct transition *t, const struct pair *pair)
{
	for (unsigned i = 0; i < pair->nhanded; i++) {
		if (dpe_nets_has_place(t->in, t->nin, pair->handed[i]))
			return true;
	}
	return false;
}

/* `number` with the pair in place of one token of it. */
static void add_giving(struct giver *g, unsigned number, const struct pair *pair)
{
	const struct transition like = g->new->transitions[number]; /* which moves as they grow */
	struct transition *copy = dpe_nets_add(g->new, &like);
	const struct transition *t = &g->new->transitions[number];

	for (unsigned i = 0; i < t->nin; i++)
		dpe_nets_arc(copy, false, t->in[i]);
	for (unsigned i = 0; i < pair->nhanded; i++)
		dpe_nets_arc(copy, false, pair->handed[i]);
	for (unsigned i = 0; i < t->nout; i++)
		dpe_nets_arc(copy, true, t->out[i] == pair->with ? pair->place : t->out[i]);
}

/* One who gives several pairs gives each set of them. */
static void add_givings(struct giver *g, const struct pair *pair)
{
	unsigned count = g->new->ntransitions;

	for (unsigned i = 0; i < count; i++) {
		const struct transition *t = &g->new->transitions[i];

		if (dpe_nets_has_place(t->out, t->nout, pair->with) && !takes_any(t, pair))
			add_giving(g, i, pair);
	}
}

static void copy_markings(
	struct work *work, const struct giver *g, const struct markings *from, struct markings *to)
{
	for (unsigned i = 0; i < from->count; i++) {
		tokens *marking = dpe_nets_marking(work, g->new);

		memcpy(marking, from->at[i], g->old->nplaces * sizeof(*marking));
		dpe_nets_mark(to, marking);
	}
}

static struct net *give(struct work *work, struct giver *g)
{
	g->new = dpe_nets_new(work, g->old->name, g->old->nplaces + g->npairs);
	memcpy(g->new->places, g->old->places, g->old->nplaces * sizeof(*g->new->places));
	for (unsigned i = 0; i < g->npairs; i++)
		g->new->places[g->pairs[i].place] = g->old->places[g->pairs[i].with];
	copy_markings(work, g, &g->old->initial, &g->new->initial);
	copy_markings(work, g, &g->old->final, &g->new->final);
	for (unsigned i = 0; i < g->old->ntransitions; i++)
		copy_transition(g, i);
	for (unsigned i = 0; i < g->npairs; i++) {
		add_givings(g, &g->pairs[i]);
		if (dpe_nets_too_many(work, g->new, g->new->ntransitions))
			return NULL;
	}
	return g->new;
}

struct net *dpe_nets_hand_over(struct work *work, struct net *net)
{
	struct giver g = {.old = net, .pasts = dpe_nets_pasts(work, net)};
	struct net *new;

	if (!g.pasts)
		return NULL;
	find_makers(&g);
	find_pairs(&g);
	new = g.npairs ? give(work, &g) : net;
	for (unsigned i = 0; i < g.npairs; i++)
		free(g.pairs[i].handed);
	free(g.pairs);
	free(g.taken);
	free(g.silently);
	free(g.visibly);
	dpe_nets_pasts_free(g.pasts);
	return new;
}
