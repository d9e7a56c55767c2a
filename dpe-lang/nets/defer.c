/* Silent transitions that are done by whoever takes what they leave.
 *
 * Where a silent t leaves one token, in a place that nothing else fills, that is empty at the
 * beginning and has to be at the end, whoever takes that token may as well take those that t takes:
 * it has the same past, and t was of no use but to it. That doubles nothing, while making t part of
 * who fills its places does. */
#include "dpe-lang/nets/net.h"

#include <string.h>

static bool is_marked_in(const struct markings *markings, unsigned place)
{
	for (unsigned i = 0; i < markings->count; i++) {
		if (markings->at[i][place])
			return true;
	}
	return false;
}

static bool takes_any_of(const struct transition *t, const struct transition *of)
{
	for (unsigned i = 0; i < of->nin; i++) {
		if (dpe_nets_has_place(t->in, t->nin, of->in[i]))
			return true;
	}
	return false;
}

static bool can_wait(const struct net *net, const struct transition *t)
{
	unsigned place;

	if (t->label || t->nout != 1)
		return false;
	place = *t->out;
	if (is_marked_in(&net->initial, place) || is_marked_in(&net->final, place))
		return false;
	for (unsigned i = 0; i < net->ntransitions; i++) {
		const struct transition *other = &net->transitions[i];

		if (other != t && dpe_nets_has_place(other->out, other->nout, place))
			return false;
		if (dpe_nets_has_place(other->in, other->nin, place) &&
			(other == t || takes_any_of(other, t)))
			return false;
	}
	return true;
}

static void copy_transition(
	struct net *new, const struct transition *old, const struct transition *waits)
{
	struct transition *copy = dpe_nets_add(new, old);

	for (unsigned i = 0; i < old->nin; i++) {
		if (old->in[i] != *waits->out)
			dpe_nets_arc(copy, false, old->in[i]);
		for (unsigned j = 0; old->in[i] == *waits->out && j < waits->nin; j++)
			dpe_nets_arc(copy, false, waits->in[j]);
	}
	for (unsigned i = 0; i < old->nout; i++)
		dpe_nets_arc(copy, true, old->out[i]);
}

static void copy_markings(
	struct work *work, const struct net *net, const struct markings *from, struct markings *to)
{
	for (unsigned i = 0; i < from->count; i++)
		dpe_nets_mark(to, memcpy(dpe_nets_marking(work, net), from->at[i],
					  net->nplaces * sizeof(tokens)));
}

/* The place of t stays, and is never filled. */
static struct net *without(struct work *work, const struct net *old, const struct transition *t)
{
	struct net *new = dpe_nets_new(work, old->name, old->nplaces);

	memcpy(new->places, old->places, old->nplaces * sizeof(*new->places));
	for (unsigned i = 0; i < old->ntransitions; i++) {
		if (&old->transitions[i] != t)
			copy_transition(new, &old->transitions[i], t);
	}
	copy_markings(work, new, &old->initial, &new->initial);
	copy_markings(work, new, &old->final, &new->final);
	return new;
}

struct net *dpe_nets_defer(struct work *work, struct net *net)
{
	for (unsigned i = 0; i < net->ntransitions; i++) {
		if (can_wait(net, &net->transitions[i]))
			return without(work, net, &net->transitions[i]);
	}
	return net;
}
