/* Places that tell who filled them: one for each maker of a place, and one for the beginning.
 *
 * Who takes from a place takes from one of those, so behaviours stay as they are; but what is true
 * of some tokens of a place only, say that they come from one firing, is then true of places.
 *
 * Silent transitions that leave the same places are one maker, and so is a beginning that marks
 * just these: which of them it was would multiply places for nothing. Where all inputs of a silent
 * transition have one maker, they have been made by one firing of it: a later firing would have put
 * second tokens into the other places. (All beginnings that are nothing else are one maker, too:
 * they have no past.) In a net that is saturated (saturate.c) no behaviour needs such a transition,
 * so it is left out. */
#include "dpe-lang/nets/net.h"

#include <stdlib.h>
#include <string.h>

struct telling {
	struct work *work;
	const struct net *old;
	struct net *new;
	unsigned *maker;  /* by transition: the first that leaves the same */
	unsigned *number; /* by place and maker, the last maker being the beginning; NO_PLACE */
	unsigned *was;    /* by new place: the old one */
};

#define NO_PLACE UINT32_MAX

static unsigned *number_of(const struct telling *t, unsigned place, unsigned maker)
{
	return &t->number[(size_t)place * (t->old->ntransitions + 1) + maker];
}

static unsigned maker_of(const struct net *net, unsigned number)
{
	const struct transition *t = &net->transitions[number];

	for (unsigned i = 0; i < number && !t->label; i++) {
		const struct transition *other = &net->transitions[i];

		if (!other->label && dpe_nets_same_places(other->out, other->nout, t->out, t->nout))
			return i;
	}
	return number;
}

static bool leaves(const struct net *net, const struct transition *t, const tokens *marking)
{
	for (unsigned p = 0; p < net->nplaces; p++) {
		if (dpe_nets_has_place(t->out, t->nout, p) != (marking[p] > 0))
			return false;
	}
	return true;
}

/* Who would have marked what is marked at one of the beginnings. */
static unsigned maker_of_beginning(const struct telling *t, unsigned which)
{
	const tokens *marking = t->old->initial.at[which];

	for (unsigned i = 0; i < t->old->ntransitions; i++) {
		if (!t->old->transitions[i].label &&
			leaves(t->old, &t->old->transitions[i], marking))
			return i;
	}
	return t->old->ntransitions;
}

static void add_place(struct telling *t, unsigned place, unsigned maker, unsigned *count)
{
	unsigned *number = number_of(t, place, maker);

	if (*number == NO_PLACE)
		*number = (*count)++;
}

static unsigned number_places(struct telling *t)
{
	size_t size = (size_t)t->old->nplaces * (t->old->ntransitions + 1);
	unsigned count = 0;

	t->number = dpe_xcalloc(size + 1, sizeof(*t->number));
	memset(t->number, 0xff, size * sizeof(*t->number));
	for (unsigned i = 0; i < t->old->ntransitions; i++) {
		const struct transition *made = &t->old->transitions[i];

		for (unsigned j = 0; j < made->nout; j++)
			add_place(t, made->out[j], t->maker[i], &count);
	}
	for (unsigned i = 0; i < t->old->initial.count; i++) {
		unsigned maker = maker_of_beginning(t, i);

		for (unsigned p = 0; p < t->old->nplaces; p++) {
			if (t->old->initial.at[i][p])
				add_place(t, p, maker, &count);
		}
	}
	return count;
}

static void name_places(struct telling *t)
{
	for (unsigned p = 0; p < t->old->nplaces; p++) {
		for (unsigned m = 0; m <= t->old->ntransitions; m++) {
			unsigned number = *number_of(t, p, m);

			if (number == NO_PLACE)
				continue;
			t->new->places[number] = t->old->places[p];
			t->was[number] = p;
		}
	}
}

static void add_taking(struct telling *t, unsigned number, const unsigned *makers)
{
	const struct transition *old = &t->old->transitions[number];
	struct transition *new;
	bool one = !old->label;

	for (unsigned i = 0; i < old->nin; i++)
		one = one && makers[i] == makers[0];
	if (one)
		return;
	new = dpe_nets_add(t->new, old);
	for (unsigned i = 0; i < old->nin; i++)
		dpe_nets_arc(new, false, *number_of(t, old->in[i], makers[i]));
	for (unsigned i = 0; i < old->nout; i++)
		dpe_nets_arc(new, true, *number_of(t, old->out[i], t->maker[number]));
}

/* For each way to take its inputs. False where there are too many. */
static bool add_takings(struct telling *t, unsigned number, unsigned *makers, unsigned at)
{
	const struct transition *old = &t->old->transitions[number];

	if (at == old->nin) {
		add_taking(t, number, makers);
		return !dpe_nets_too_many(t->work, t->new, t->new->ntransitions);
	}
	for (makers[at] = 0; makers[at] <= t->old->ntransitions; makers[at]++) {
		if (*number_of(t, old->in[at], makers[at]) != NO_PLACE &&
			!add_takings(t, number, makers, at + 1))
			return false;
	}
	return true;
}

static bool add_transitions(struct telling *t)
{
	bool good = true;

	for (unsigned i = 0; i < t->old->ntransitions && good; i++) {
		unsigned *makers = dpe_xcalloc(t->old->transitions[i].nin + 1, sizeof(*makers));

		good = add_takings(t, i, makers, 0);
		free(makers);
	}
	return good;
}

static void mark_beginnings(struct telling *t)
{
	for (unsigned i = 0; i < t->old->initial.count; i++) {
		tokens *marking = dpe_nets_marking(t->work, t->new);
		unsigned maker = maker_of_beginning(t, i);

		for (unsigned p = 0; p < t->old->nplaces; p++) {
			if (t->old->initial.at[i][p])
				marking[*number_of(t, p, maker)] = 1;
		}
		dpe_nets_mark(&t->new->initial, marking);
	}
}

/* The markings that can be reached, and were an end before. */
static bool mark_ends(struct telling *t)
{
	struct space *space = dpe_nets_explore(t->work, t->new);

	if (!space)
		return false;
	for (unsigned i = 0; i < space->nreached; i++) {
		tokens *before = dpe_nets_marking(t->work, t->old);
		tokens *marking;

		for (unsigned p = 0; p < t->new->nplaces; p++)
			before[t->was[p]] += space->reached[i].marking[p];
		if (!dpe_nets_is_marked(t->old, &t->old->final, before))
			continue;
		marking = dpe_nets_marking(t->work, t->new);
		memcpy(marking, space->reached[i].marking, t->new->nplaces * sizeof(*marking));
		dpe_nets_mark(&t->new->final, marking);
	}
	dpe_nets_space_free(space);
	return true;
}

struct net *dpe_nets_tell_makers(struct work *work, const struct net *old)
{
	struct telling t = {.work = work, .old = old};
	unsigned count;
	bool good;

	t.maker = dpe_xcalloc(old->ntransitions + 1, sizeof(*t.maker));
	for (unsigned i = 0; i < old->ntransitions; i++)
		t.maker[i] = maker_of(old, i);
	count = number_places(&t);
	t.was = dpe_xcalloc(count + 1, sizeof(*t.was));
	t.new = dpe_nets_new(work, old->name, count);
	name_places(&t);
	mark_beginnings(&t);
	good = add_transitions(&t) && mark_ends(&t);
	free(t.maker);
	free(t.number);
	free(t.was);
	return good ? t.new : NULL;
}
