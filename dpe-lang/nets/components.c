/* Divides a net into components that share transitions: the inverse of how the net of a & b is
 * built. A transition of one event may belong to several components, where it takes and gives
 * tokens; any other transition belongs to one. */
#include "dpe-lang/nets/expr.h"

#include <stdlib.h>

struct partition {
	const struct net *net;
	unsigned *component; /* by place: the first place of its component */
};

static bool join(struct partition *d, unsigned a, unsigned b)
{
	unsigned from = d->component[a] > d->component[b] ? d->component[a] : d->component[b];
	unsigned to = d->component[a] > d->component[b] ? d->component[b] : d->component[a];

	for (unsigned p = 0; p < d->net->nplaces && from != to; p++) {
		if (d->component[p] == from)
			d->component[p] = to;
	}
	return from != to;
}

static bool touches(
	const struct partition *d, const unsigned *places, unsigned count, unsigned component)
{
	for (unsigned i = 0; i < count; i++) {
		if (d->component[places[i]] == component)
			return true;
	}
	return false;
}

static bool can_be_shared(const struct transition *t)
{
	return dpe_nets_is_simple(t->expr) && t->expr->kind != EXPR_EMPTY && t->nin && t->nout;
}

static void join_all(struct partition *d, const struct transition *t)
{
	unsigned first = t->nin ? *t->in : t->nout ? *t->out : 0;

	for (unsigned i = 0; i < t->nin; i++)
		join(d, first, t->in[i]);
	for (unsigned i = 0; i < t->nout; i++)
		join(d, first, t->out[i]);
}

/* The first place from index `*at` on in a component that the transition only takes from (or only
 * gives to); NO_PLACE. */
static unsigned next_unbalanced(
	const struct partition *d, const struct transition *t, bool out, unsigned *at)
{
	const unsigned *places = out ? t->out : t->in;
	unsigned count = out ? t->nout : t->nin;

	for (; *at < count; ++*at) {
		if (!touches(d, out ? t->in : t->out, out ? t->nin : t->nout,
			    d->component[places[*at]]))
			return places[*at];
	}
	return NO_PLACE;
}

/* Joins places until the transition takes from each component that it gives to. Which input goes
 * with which output is a guess: their order, since most authors write the machines of a net in the
 * same order everywhere. A wrong guess means fewer components, or one that is refused. Where only
 * one side is unbalanced, that waits for the other transitions to join more, unless `all` is set.
 */
static bool balance(struct partition *d, const struct transition *t, bool all)
{
	unsigned in = 0, out = 0, taken, given;
	bool changed = false;

	while (can_be_shared(t)) {
		taken = next_unbalanced(d, t, false, &in);
		given = next_unbalanced(d, t, true, &out);
		if (all ? taken == NO_PLACE && given == NO_PLACE
			: taken == NO_PLACE || given == NO_PLACE)
			break;
		changed |= join(
			d, taken == NO_PLACE ? *t->in : taken, given == NO_PLACE ? *t->out : given);
	}
	return changed;
}

static bool balance_any(struct partition *d, bool all)
{
	bool changed = false;

	for (unsigned i = 0; i < d->net->ntransitions && !changed; i++)
		changed = balance(d, &d->net->transitions[i], all);
	return changed;
}

static void find_components(struct partition *d)
{
	for (unsigned p = 0; p < d->net->nplaces; p++)
		d->component[p] = p;
	for (unsigned i = 0; i < d->net->ntransitions; i++) {
		if (!can_be_shared(&d->net->transitions[i]))
			join_all(d, &d->net->transitions[i]);
	}
	while (balance_any(d, false) || balance_any(d, true))
		;
}

const struct expr *dpe_nets_by_components(struct translation *tr, const struct net *net)
{
	struct partition d = {.net = net};
	struct place_sets sets = {0};
	const struct expr *expr = NULL;

	d.component = dpe_xcalloc(net->nplaces + 1, sizeof(*d.component));
	find_components(&d);
	for (unsigned first = 0; first < net->nplaces; first++) {
		struct place_set *set;

		if (d.component[first] != first)
			continue;
		set = dpe_nets_add_set(&sets);
		for (unsigned p = first; p < net->nplaces; p++) {
			if (d.component[p] == first)
				dpe_nets_add_place(set, p);
		}
	}
	if (sets.count > 1)
		expr = dpe_nets_by_operands(tr, net, &sets);
	dpe_nets_free_sets(&sets);
	free(d.component);
	return expr;
}
