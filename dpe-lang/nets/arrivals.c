/* Where names end: see tokens.c.
 *
 * Each way in which the names can stand at an end of the net is an end of its own, and they are
 * many. Where names that begin in the same place may be exchanged in all that happens, one of the
 * ways that differ only by that is enough: what ends in another has the same events. */
#include "dpe-lang/nets/names.h"

#include <string.h>

#define MANY_ENDS 1000
#define MANY_TRIES_OF_ENDS 1000000

static unsigned count_place(const unsigned *places, unsigned count, unsigned place)
{
	unsigned often = 0;

	for (unsigned i = 0; i < count; i++)
		often += places[i] == place;
	return often;
}

/* Whether what it makes is the same whichever token gets which of the names: what does not stay in
 * its place goes to one and the same. */
static bool is_even_handed(const struct namer *n, const struct transition *t)
{
	unsigned fuller = 0, parted = 0;

	for (unsigned p = 0; p < n->old->nplaces; p++) {
		unsigned takes = count_place(t->in, t->nin, p),
			 gives = count_place(t->out, t->nout, p);

		if (!n->weight[p])
			continue;
		fuller += gives > takes;
		parted += gives && gives < takes;
	}
	return fuller <= 1 && !(fuller && parted);
}

/* Then names that begin in the same place may be exchanged in all that happens. */
static bool are_even_handed(const struct namer *n)
{
	for (unsigned p = 0; p < n->old->nplaces; p++) {
		if (n->weight[p] > 1)
			return false;
	}
	for (unsigned i = 0; i < n->old->ntransitions; i++) {
		if (!is_even_handed(n, &n->old->transitions[i]))
			return false;
	}
	return n->old->initial.count == 1;
}

struct ends {
	struct namer *namer;
	struct markings *to;
	tokens *left, *marking;
	unsigned
		*from; /* by name: where it begins, where names that begin alike are exchangeable */
	unsigned *place; /* by name: where it ends */
	unsigned tries;
};

static void end_names(struct ends *e, struct names left);

static void end_one(struct ends *e, unsigned place, struct names names, struct names left)
{
	unsigned number = dpe_nets_copy_number(e->namer, place, names);

	if (number == NO_COPY)
		return;
	e->marking[number]++;
	e->left[place]--;
	end_names(e, left);
	e->left[place]++;
	e->marking[number]--;
}

/* A token that has some names gets so many more, from this one on. */
static void end_token(struct ends *e, unsigned place, struct names names, unsigned more,
	unsigned from, struct names left)
{
	if (!more) {
		end_one(e, place, names, left);
		return;
	}
	for (unsigned name = from; name < e->namer->total && !e->namer->large; name++) {
		struct names new = names, rest = left;

		if (!dpe_nets_has_name(&left, name))
			continue;
		dpe_nets_flip_name(&new, name);
		dpe_nets_flip_name(&rest, name);
		end_token(e, place, new, more - 1, name + 1, rest);
	}
}

/* Of names that begin alike, one does not end before the one before it. */
static bool may_end(const struct ends *e, unsigned name, unsigned place)
{
	if (!e->from || !name || e->from[name] != e->from[name - 1])
		return true;
	return place >= e->place[name - 1];
}

static void end_names(struct ends *e, struct names left)
{
	struct namer *n = e->namer;
	struct names first = dpe_nets_no_names();
	unsigned name;

	n->large |= ++e->tries > MANY_TRIES_OF_ENDS;
	if (n->large)
		return;
	if (dpe_nets_has_no_names(&left)) {
		dpe_nets_mark(e->to, memcpy(dpe_nets_marking(n->work, n->new), e->marking,
					     n->new->nplaces * sizeof(tokens)));
		n->large |= e->to->count > MANY_ENDS;
		return;
	}
	name = dpe_nets_first_name(&left);
	dpe_nets_flip_name(&first, name);
	dpe_nets_flip_name(&left, name);
	for (unsigned p = 0; p < n->old->nplaces; p++) {
		if (!n->weight[p] || !e->left[p] || !may_end(e, name, p))
			continue;
		e->place[name] = p;
		end_token(e, p, first, n->weight[p] - 1, name + 1, left);
	}
}

/* Ends of another weight are never reached. */
static void end_at(struct namer *n, const tokens *marking, unsigned *from)
{
	unsigned place[MANY_NAMES];
	struct ends ends = {.namer = n,
		.to = &n->new->final,
		.left = dpe_nets_marking(n->work, n->old),
		.marking = dpe_nets_marking(n->work, n->new),
		.from = from,
		.place = place};

	if (dpe_nets_weight_of(n->weight, n->old, marking) != n->total)
		return;
	memcpy(ends.left, marking, n->old->nplaces * sizeof(*marking));
	for (unsigned p = 0; p < n->old->nplaces; p++) {
		if (n->weight[p] || !marking[p])
			continue;
		if (dpe_nets_copy_number(n, p, dpe_nets_no_names()) == NO_COPY)
			return; /* a place that nothing fills */
		ends.marking[dpe_nets_copy_number(n, p, dpe_nets_no_names())] = marking[p];
	}
	end_names(&ends, dpe_nets_first_names(n->total));
}

void dpe_nets_mark_arrivals(struct namer *n)
{
	unsigned from[MANY_NAMES], count = 0;
	bool alike = are_even_handed(n);

	for (unsigned p = 0; p < n->old->nplaces && alike; p++) {
		for (unsigned i = 0; n->weight[p] && i < n->old->initial.at[0][p]; i++)
			from[count++] = p;
	}
	for (unsigned i = 0; i < n->old->final.count; i++)
		end_at(n, n->old->final.at[i], alike ? from : NULL);
}
