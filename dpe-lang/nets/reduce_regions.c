/* Regions of a net that is being reduced: a piece between two places, entered and left by one
 * token, and empty before and after, becomes one transition whose expression is that of the piece
 * as a net of its own. The two places may be the same. docs/internals/nets.md has the proof. */
#include "dpe-lang/nets/expr.h"
#include "dpe-lang/nets/limits.h"
#include "dpe-lang/nets/reduce.h"

#include <stdlib.h>
#include <string.h>

struct region {
	struct reducer *r;
	unsigned from, to;
	bool *places, *transitions; /* of the piece */
	unsigned nplaces;
};

static bool touches(const struct region *g, const unsigned *places, unsigned count)
{
	for (unsigned i = 0; i < count; i++) {
		if (g->places[places[i]])
			return true;
	}
	return false;
}

static void add_places(struct region *g, const unsigned *places, unsigned count)
{
	for (unsigned i = 0; i < count; i++) {
		if (places[i] == g->from || places[i] == g->to || g->places[places[i]])
			continue;
		g->places[places[i]] = true;
		g->nplaces++;
	}
}

/* Adds all that is connected to the places of the piece without the two places at its ends. */
static void spread(struct region *g)
{
	const struct net *net = g->r->net;
	unsigned before;

	do {
		before = g->nplaces;
		g->r->tr->firings += 4 * (uint64_t)net->ntransitions;
		for (unsigned i = 0; i < net->ntransitions; i++) {
			const struct transition *t = &net->transitions[i];

			g->transitions[i] =
				touches(g, t->in, t->nin) || touches(g, t->out, t->nout);
			if (!g->transitions[i])
				continue;
			add_places(g, t->in, t->nin);
			add_places(g, t->out, t->nout);
		}
	} while (g->nplaces > before);
}

static bool has(const unsigned *places, unsigned count, unsigned place)
{
	return dpe_nets_has_place(places, count, place);
}

static bool is_left_empty(const struct region *g)
{
	const struct reducer *r = g->r;

	for (unsigned p = 0; p < r->net->nplaces; p++) {
		if (!g->places[p])
			continue;
		if (r->fixed[p] || r->together[(size_t)p * r->net->nplaces + g->from] ||
			r->together[(size_t)p * r->net->nplaces + g->to])
			return false;
	}
	return true;
}

static bool is_region(const struct region *g)
{
	const struct net *net = g->r->net;
	bool enters = false, leaves = false, all = true;

	for (unsigned i = 0; i < net->ntransitions; i++) {
		const struct transition *t = &net->transitions[i];

		all = all && g->transitions[i];
		if (!g->transitions[i])
			continue;
		if (!t->nin || !t->nout)
			return false;
		if (g->from != g->to &&
			(has(t->out, t->nout, g->from) || has(t->in, t->nin, g->to)))
			return false;
		enters |= has(t->in, t->nin, g->from);
		leaves |= has(t->out, t->nout, g->to);
	}
	return !all && enters && leaves && is_left_empty(g);
}

/* Its first place is the one that the region begins at, its last one that it ends at. */
static struct net *net_of(const struct region *g)
{
	struct translation *tr = g->r->tr;
	const struct net *old = g->r->net;
	struct net *new = dpe_nets_new(tr, old->name, g->nplaces + 2);
	unsigned *number = dpe_xcalloc(old->nplaces + 1, sizeof(*number)), count = 1;
	tokens *initial = dpe_nets_marking(tr, new), *final = dpe_nets_marking(tr, new);

	for (unsigned p = 0; p < old->nplaces; p++) {
		if (!g->places[p])
			continue;
		new->places[count] = old->places[p];
		number[p] = count++;
	}
	new->places[0] = old->places[g->from];
	new->places[count] = old->places[g->to];
	number[g->to] = count; /* for outputs; for inputs the region begins at 0 */
	for (unsigned i = 0; i < old->ntransitions; i++) {
		const struct transition *t = &old->transitions[i];
		struct transition *copy;

		if (!g->transitions[i])
			continue;
		copy = dpe_nets_add(new, t);
		for (unsigned j = 0; j < t->nin; j++)
			dpe_nets_add_arc(copy, false, t->in[j] == g->from ? 0 : number[t->in[j]]);
		for (unsigned j = 0; j < t->nout; j++)
			dpe_nets_add_arc(copy, true, number[t->out[j]]);
	}
	initial[0] = final[count] = 1;
	dpe_nets_mark(&new->initial, initial);
	dpe_nets_mark(&new->final, final);
	free(number);
	return new;
}

static bool replace(struct region *g)
{
	struct net *net = g->r->net;
	const struct expr *expr = dpe_nets_expr(g->r->tr, net_of(g));
	struct transition *t;

	if (!expr || !dpe_nets_may_have(g->r, 1, 1, expr))
		return false;
	for (unsigned i = net->ntransitions; i-- > 0;) {
		if (g->transitions[i])
			dpe_nets_drop_transition(net, i);
	}
	t = dpe_nets_add(net, &(struct transition){.expr = expr, .id = net->places[g->from]});
	dpe_nets_add_arc(t, false, g->from);
	dpe_nets_add_arc(t, true, g->to);
	return true;
}

static void consider(struct region *best, struct region *g, unsigned place)
{
	struct net *net = g->r->net;

	memset(g->places, 0, net->nplaces);
	g->places[place] = true;
	g->nplaces = 1;
	spread(g);
	if (!is_region(g) || (best->nplaces && best->nplaces <= g->nplaces))
		return;
	best->from = g->from;
	best->to = g->to;
	best->nplaces = g->nplaces;
	memcpy(best->places, g->places, net->nplaces);
	memcpy(best->transitions, g->transitions, net->ntransitions);
}

/* Looks at the pieces that begin at g->from. */
static void consider_pieces_from(struct region *best, struct region *g)
{
	const struct net *net = g->r->net;

	for (unsigned i = 0; i < net->ntransitions; i++) {
		const struct transition *t = &net->transitions[i];

		for (unsigned j = 0; j < t->nout && has(t->in, t->nin, g->from); j++) {
			if (t->out[j] == g->from || t->out[j] == g->to)
				continue;
			consider(best, g, t->out[j]);
			break;
		}
	}
}

/* Whether some transition takes from the place, or fills it. */
static bool is_used(const struct net *net, unsigned place, bool taken)
{
	bool used = false;

	for (unsigned i = 0; i < net->ntransitions && !used; i++) {
		const struct transition *t = &net->transitions[i];

		used = taken ? has(t->in, t->nin, place) : has(t->out, t->nout, place);
	}
	return used;
}

static struct region new_region(struct reducer *r)
{
	return (struct region){.r = r,
		.places = dpe_xcalloc(r->net->nplaces + 1, 1),
		.transitions = dpe_xcalloc(r->net->ntransitions + 1, 1)};
}

static void free_region(struct region *g)
{
	free(g->places);
	free(g->transitions);
}

static bool may_continue(const struct reducer *r, unsigned pairs)
{
	return pairs < MAX_REGIONS && r->tr->firings <= MAX_FIRINGS;
}

/* The smallest region; never the whole net. A search that takes too long is given up: the net is
 * divided in another way then, or refused. */
bool dpe_nets_reduce_region(struct reducer *r)
{
	struct region best = new_region(r), g = new_region(r);
	unsigned pairs = 0;
	bool done;

	for (g.from = 0; g.from < r->net->nplaces; g.from++) {
		for (g.to = 0; g.to < r->net->nplaces && may_continue(r, pairs); g.to++) {
			if (!is_used(r->net, g.from, true) || !is_used(r->net, g.to, false))
				continue;
			pairs++;
			consider_pieces_from(&best, &g);
		}
	}
	done = best.nplaces && replace(&best);
	r->regions &= done;
	free_region(&best);
	free_region(&g);
	return done;
}
