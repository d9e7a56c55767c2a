/* Tokens with a name of their own.
 *
 * A component of the net through which tokens flow one by one (each transition takes one token from
 * it and gives one back, or does not touch it; an S-component) and that holds k of them is k copies
 * of itself, one for each token: a transition moves the token of one copy. Every behaviour of the
 * net is one of the copies', for each token that is made continues the one that was taken. This is
 * what several tokens mostly are, the places of a buffer, say, and far smaller than slots.c's way.
 */
#include "nets/net.h"

#include <string.h>

#define MANY_CHOICES 100000
#define MANY_COPIES 6 /* an end is reached in as many ways as these can be arranged */

struct finder {
	const struct net *net;
	bool *in; /* by place: in the component */
	unsigned choices;
};

static unsigned count_in(const struct finder *f, const unsigned *places, unsigned count)
{
	unsigned inside = 0;

	for (unsigned i = 0; i < count; i++)
		inside += f->in[places[i]];
	return inside;
}

static bool complete(struct finder *f);

/* One of the places joins the component. */
static bool choose(struct finder *f, const unsigned *places, unsigned count)
{
	for (unsigned i = 0; i < count; i++) {
		unsigned place = places[i];

		f->in[place] = true;
		if (complete(f))
			return true;
		f->in[place] = false;
	}
	return false;
}

/* Adds places until each transition takes and gives one token, or none. */
static bool complete(struct finder *f)
{
	if (f->choices++ > MANY_CHOICES)
		return false;
	for (unsigned i = 0; i < f->net->ntransitions; i++) {
		const struct transition *t = &f->net->transitions[i];
		unsigned takes = count_in(f, t->in, t->nin), gives = count_in(f, t->out, t->nout);

		if (takes > 1 || gives > 1)
			return false;
		if (takes > gives)
			return choose(f, t->out, t->nout);
		if (gives > takes)
			return choose(f, t->in, t->nin);
	}
	return true;
}

static bool find_component(const struct net *net, unsigned place, bool *component)
{
	struct finder f = {.net = net, .in = component};

	memset(component, 0, net->nplaces);
	component[place] = true;
	return complete(&f);
}

static unsigned tokens_in(const struct net *net, const bool *component, const tokens *marking)
{
	unsigned count = 0;

	for (unsigned p = 0; p < net->nplaces; p++)
		count += component[p] ? marking[p] : 0;
	return count;
}

/* ---- copies ------------------------------------------------------------------------------- */

struct copier {
	struct work *work;
	const struct net *old;
	const bool *component;
	unsigned copies;
	unsigned *number; /* by place: its number, or that of its first copy */
	struct net *new;
};

static unsigned number_of(const struct copier *c, unsigned place, unsigned copy)
{
	return c->number[place] + (c->component[place] ? copy : 0);
}

static void copy_transition(struct copier *c, const struct transition *t, unsigned copy)
{
	struct transition *new = dpe_nets_add(c->new, t);

	for (unsigned i = 0; i < t->nin; i++)
		dpe_nets_arc(new, false, number_of(c, t->in[i], copy));
	for (unsigned i = 0; i < t->nout; i++)
		dpe_nets_arc(new, true, number_of(c, t->out[i], copy));
}

static void copy_transitions(struct copier *c)
{
	for (unsigned i = 0; i < c->old->ntransitions; i++) {
		const struct transition *t = &c->old->transitions[i];
		bool touches = false;

		for (unsigned j = 0; j < t->nin; j++)
			touches |= c->component[t->in[j]];
		for (unsigned copy = 0; copy < (touches ? c->copies : 1); copy++)
			copy_transition(c, t, copy);
	}
}

/* The tokens of `left` go to the copies from `copy` on: in all ways, or, where it does not matter
 * how they begin, in one. */
static void distribute(struct copier *c, struct markings *to, tokens *left, tokens *marking,
	unsigned copy, bool all)
{
	if (copy == c->copies) {
		tokens *done = dpe_nets_marking(c->work, c->new);

		memcpy(done, marking, c->new->nplaces * sizeof(*done));
		dpe_nets_mark(to, done);
		return;
	}
	for (unsigned p = 0; p < c->old->nplaces; p++) {
		if (!c->component[p] || !left[p])
			continue;
		left[p]--;
		marking[number_of(c, p, copy)]++;
		distribute(c, to, left, marking, copy + 1, all);
		marking[number_of(c, p, copy)]--;
		left[p]++;
		if (!all)
			return;
	}
}

static void copy_markings(
	struct copier *c, const struct markings *from, struct markings *to, bool all)
{
	for (unsigned i = 0; i < from->count; i++) {
		tokens *marking = dpe_nets_marking(c->work, c->new),
		       *left = dpe_nets_marking(c->work, c->old);

		memcpy(left, from->at[i], c->old->nplaces * sizeof(*left));
		for (unsigned p = 0; p < c->old->nplaces; p++) {
			if (!c->component[p])
				marking[c->number[p]] = left[p];
		}
		distribute(c, to, left, marking, 0, all);
	}
}

static struct net *copy(
	struct work *work, const struct net *old, const bool *component, unsigned copies)
{
	struct copier c = {.work = work, .old = old, .component = component, .copies = copies};
	unsigned count = 0;

	c.number = dpe_arena_alloc(work->arena, (old->nplaces + 1) * sizeof(*c.number));
	for (unsigned p = 0; p < old->nplaces; p++) {
		c.number[p] = count;
		count += component[p] ? copies : 1;
	}
	c.new = dpe_nets_new(work, old->name, count);
	for (unsigned p = 0; p < old->nplaces; p++) {
		for (unsigned i = 0; i < (component[p] ? copies : 1); i++)
			c.new->places[c.number[p] + i] = old->places[p];
	}
	copy_transitions(&c);
	copy_markings(&c, &old->initial, &c.new->initial, false);
	copy_markings(&c, &old->final, &c.new->final, true);
	return c.new;
}

/* ---- all of them ---------------------------------------------------------------------------- */

/* Ends with fewer tokens in it than the beginning are never reached. */
static bool is_worth_copying(const struct net *net, const bool *component, unsigned count)
{
	for (unsigned i = 0; i < net->initial.count; i++) {
		if (tokens_in(net, component, net->initial.at[i]) != count)
			return false;
	}
	for (unsigned i = 0; i < net->final.count; i++) {
		if (tokens_in(net, component, net->final.at[i]) != count)
			return false;
	}
	return count > 1 && count <= MANY_COPIES;
}

struct net *dpe_nets_name_tokens(struct work *work, struct net *net)
{
	bool *component = dpe_arena_alloc(work->arena, net->nplaces + 1);
	tokens *bounds = dpe_nets_marking(work, net);

	if (!dpe_nets_bound(work, net, bounds))
		return NULL;
	for (unsigned p = 0; p < net->nplaces; p++) {
		unsigned count;

		if (bounds[p] < 2 || !find_component(net, p, component))
			continue;
		count = tokens_in(net, component, net->initial.at[0]);
		if (!is_worth_copying(net, component, count))
			continue;
		net = copy(work, net, component, count);
		return dpe_nets_name_tokens(work, net);
	}
	return net;
}
