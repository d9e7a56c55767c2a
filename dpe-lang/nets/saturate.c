/* Silent firings within what one firing made, done by whoever made it.
 *
 * All tokens of one firing have the same past. A silent firing that takes some of them, and no
 * others, leaves tokens of that same past: it adds no order, and nobody else has a part in it. So
 * the first firing may as well leave those at once. Each transition gets, beside its outputs, all
 * sets of places that silent firings can make of them, and each beginning all markings that silent
 * firings can make of it, for what was there from the beginning has no past. How often a circle is
 * gone round does not matter: there is an end to sets of places. After that no behaviour needs a
 * silent firing whose tokens all come from one firing, nor, therefore, one of a single token. */
#include "dpe-lang/nets/net.h"

#include <string.h>

static bool is_there(const struct net *net, const struct transition *t)
{
	for (unsigned i = 0; i < net->ntransitions; i++) {
		const struct transition *other = &net->transitions[i];

		if (other != t && other->label == t->label &&
			dpe_nets_same_places(other->in, other->nin, t->in, t->nin) &&
			dpe_nets_same_places(other->out, other->nout, t->out, t->nout))
			return true;
	}
	return false;
}

/* Adds what silent firings make of the markings. False where there are too many. */
static bool close_markings(struct work *work, const struct net *net, struct markings *markings)
{
	tokens *after = dpe_nets_marking(work, net);

	for (unsigned i = 0; i < markings->count; i++) {
		for (unsigned j = 0; j < net->ntransitions; j++) {
			if (net->transitions[j].label ||
				!dpe_nets_fire(net, &net->transitions[j], markings->at[i], after) ||
				dpe_nets_is_marked(net, markings, after))
				continue;
			dpe_nets_mark(markings, after);
			after = dpe_nets_marking(work, net);
		}
		if (dpe_nets_too_many(work, net, markings->count))
			return false;
	}
	return true;
}

static void add_making(struct net *new, const struct transition *t, const tokens *made)
{
	struct transition *copy = dpe_nets_add(new, t);

	for (unsigned i = 0; i < t->nin; i++)
		dpe_nets_arc(copy, false, t->in[i]);
	for (unsigned p = 0; p < new->nplaces; p++) {
		if (made[p])
			dpe_nets_arc(copy, true, p);
	}
	if (is_there(new, copy))
		dpe_nets_drop(new, new->ntransitions - 1);
}

static bool saturate(
	struct work *work, const struct net *old, const struct transition *t, struct net *new)
{
	struct markings made = {0};
	tokens *first = dpe_nets_marking(work, old);
	bool good;

	if (!t->label && t->nin == 1)
		return true;
	for (unsigned i = 0; i < t->nout; i++)
		first[t->out[i]]++;
	dpe_nets_mark(&made, first);
	good = close_markings(work, old, &made);
	for (unsigned i = 0; good && i < made.count; i++)
		add_making(new, t, made.at[i]);
	good = good && !dpe_nets_too_many(work, new, new->ntransitions);
	dpe_nets_markings_free(&made);
	return good;
}

struct net *dpe_nets_saturate(struct work *work, const struct net *old)
{
	struct net *new = dpe_nets_new(work, old->name, old->nplaces);

	memcpy(new->places, old->places, old->nplaces * sizeof(*new->places));
	for (unsigned i = 0; i < old->ntransitions; i++) {
		if (!saturate(work, old, &old->transitions[i], new))
			return NULL;
	}
	for (unsigned i = 0; i < old->initial.count; i++)
		dpe_nets_mark(&new->initial, old->initial.at[i]);
	for (unsigned i = 0; i < old->final.count; i++)
		dpe_nets_mark(&new->final, old->final.at[i]);
	return close_markings(work, old, &new->initial) ? new : NULL;
}
