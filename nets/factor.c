/* A net after what saturate.c and makers.c made of it, as small as it was before.
 *
 * Two places that the same transitions fill and the same ones take from, and that are marked alike
 * at the beginning and at the ends, are always marked alike: one of them will do.
 *
 * Transitions of one name that take the same and leave this or that leave one token in a new place
 * instead, from which silent ones make this or that: the same choice, later. All that leave the
 * same choice leave it in the same place, the beginning too, so the choice is written once. */
#include "nets/net.h"

#include <stdlib.h>
#include <string.h>

/* ---- places that are marked alike ---------------------------------------------------------- */

static bool are_marked_alike(const struct markings *markings, unsigned a, unsigned b)
{
	for (unsigned i = 0; i < markings->count; i++) {
		if (markings->at[i][a] != markings->at[i][b])
			return false;
	}
	return true;
}

static bool are_alike(const struct net *net, unsigned a, unsigned b)
{
	for (unsigned i = 0; i < net->ntransitions; i++) {
		const struct transition *t = &net->transitions[i];

		if (net_has_place(t->in, t->nin, a) != net_has_place(t->in, t->nin, b) ||
			net_has_place(t->out, t->nout, a) != net_has_place(t->out, t->nout, b))
			return false;
	}
	return are_marked_alike(&net->initial, a, b) && are_marked_alike(&net->final, a, b);
}

/* New numbers of the places; NO_PLACE where another one will do. Returns how many there are. */
#define NO_PLACE UINT32_MAX

static unsigned number_different(const struct net *net, unsigned *number)
{
	unsigned count = 0;

	for (unsigned p = 0; p < net->nplaces; p++) {
		bool alike = false;

		for (unsigned other = 0; other < p && !alike; other++)
			alike = are_alike(net, other, p);
		number[p] = alike ? NO_PLACE : count++;
	}
	return count;
}

static void copy_arcs(struct transition *to, bool out, const unsigned *places, unsigned count,
	const unsigned *number)
{
	for (unsigned i = 0; i < count; i++) {
		if (number[places[i]] != NO_PLACE)
			net_arc(to, out, number[places[i]]);
	}
}

static void copy_markings(struct work *work, const struct net *old, const struct markings *from,
	const struct net *new, struct markings *to, const unsigned *number)
{
	for (unsigned i = 0; i < from->count; i++) {
		tokens *marking = net_marking(work, new);

		for (unsigned p = 0; p < old->nplaces; p++) {
			if (number[p] != NO_PLACE)
				marking[number[p]] = from->at[i][p];
		}
		net_mark(to, marking);
	}
}

static struct net *merge_alike(struct work *work, const struct net *old)
{
	unsigned *number = dpe_arena_alloc(work->arena, (old->nplaces + 1) * sizeof(*number));
	struct net *new = net_new(work, old->name, number_different(old, number));

	for (unsigned p = 0; p < old->nplaces; p++) {
		if (number[p] != NO_PLACE)
			new->places[number[p]] = old->places[p];
	}
	for (unsigned i = 0; i < old->ntransitions; i++) {
		const struct transition *t = &old->transitions[i];
		struct transition *copy = net_add(new, t);

		copy_arcs(copy, false, t->in, t->nin, number);
		copy_arcs(copy, true, t->out, t->nout, number);
	}
	copy_markings(work, old, &old->initial, new, &new->initial, number);
	copy_markings(work, old, &old->final, new, &new->final, number);
	return new;
}

/* ---- choices --------------------------------------------------------------------------------- */

/* What is left: sets of places, as markings. */
struct choice {
	struct markings sets;
	unsigned place; /* the place of the choice, or NO_PLACE: there is none */
};

struct factoring {
	struct work *work;
	const struct net *old;
	struct choice *choices;
	unsigned nchoices, capchoices, nplaces;
	unsigned *of; /* by transition: its choice; those of the same group have the same */
};

static bool take_alike(const struct transition *a, const struct transition *b)
{
	return a->label == b->label && net_same_places(a->in, a->nin, b->in, b->nin);
}

static unsigned first_like(const struct net *net, unsigned number)
{
	unsigned i;

	for (i = 0; !take_alike(&net->transitions[i], &net->transitions[number]); i++)
		;
	return i;
}

static bool are_same(const struct net *net, const struct markings *a, const struct markings *b)
{
	if (a->count != b->count)
		return false;
	for (unsigned i = 0; i < a->count; i++) {
		if (!net_is_marked(net, b, a->at[i]))
			return false;
	}
	return true;
}

/* The number of the choice, which then owns the sets. */
static unsigned add_choice(struct factoring *f, struct markings sets)
{
	for (unsigned i = 0; i < f->nchoices; i++) {
		if (!are_same(f->old, &f->choices[i].sets, &sets))
			continue;
		net_markings_free(&sets);
		return i;
	}
	*DPE_GROW(f->choices, f->nchoices, f->capchoices) =
		(struct choice){sets, sets.count > 1 ? f->nplaces++ : NO_PLACE};
	return f->nchoices - 1;
}

static void find_choices(struct factoring *f)
{
	for (unsigned i = 0; i < f->old->ntransitions; i++) {
		unsigned first = first_like(f->old, i);
		struct markings sets = {0};

		for (unsigned j = i; first == i && j < f->old->ntransitions; j++) {
			const struct transition *t = &f->old->transitions[j];
			tokens *set = net_marking(f->work, f->old);

			for (unsigned k = 0; k < t->nout; k++)
				set[t->out[k]]++;
			if (first_like(f->old, j) == i && !net_is_marked(f->old, &sets, set))
				net_mark(&sets, set);
		}
		f->of[i] = first == i ? add_choice(f, sets) : f->of[first];
	}
}

static void add_arcs(struct transition *to, const struct net *old, const tokens *set)
{
	for (unsigned p = 0; p < old->nplaces; p++) {
		for (tokens i = 0; i < set[p]; i++)
			net_arc(to, true, p);
	}
}

static void add_taking(struct factoring *f, struct net *new, unsigned number)
{
	const struct transition *t = &f->old->transitions[number];
	const struct choice *choice = &f->choices[f->of[number]];
	struct transition *copy;

	if (first_like(f->old, number) != number)
		return;
	copy = net_add(new, t);
	for (unsigned i = 0; i < t->nin; i++)
		net_arc(copy, false, t->in[i]);
	if (choice->place == NO_PLACE)
		add_arcs(copy, f->old, choice->sets.at[0]);
	else
		net_arc(copy, true, choice->place);
}

static void add_choosing(struct factoring *f, struct net *new, const struct choice *choice)
{
	if (choice->place == NO_PLACE)
		return;
	new->places[choice->place] = "a choice";
	for (unsigned i = 0; i < choice->sets.count; i++) {
		struct transition *t = net_add(new,
			&(struct transition){.id = dpe_arena_printf(f->work->arena,
						     "choice %u of p%u", i + 1, choice->place)});

		net_arc(t, false, choice->place);
		add_arcs(t, f->old, choice->sets.at[i]);
	}
}

static void mark(struct factoring *f, struct net *new, unsigned begin)
{
	if (begin == NO_PLACE) {
		for (unsigned i = 0; i < f->old->initial.count; i++)
			net_mark(&new->initial,
				memcpy(net_marking(f->work, new), f->old->initial.at[i],
					f->old->nplaces * sizeof(tokens)));
	} else {
		tokens *marking = net_marking(f->work, new);

		marking[begin] = 1;
		net_mark(&new->initial, marking);
	}
	for (unsigned i = 0; i < f->old->final.count; i++)
		net_mark(&new->final, memcpy(net_marking(f->work, new), f->old->final.at[i],
					      f->old->nplaces * sizeof(tokens)));
}

/* The place of the choice of where it begins, if any transition leaves just that. */
static unsigned find_beginning(const struct factoring *f)
{
	for (unsigned i = 0; i < f->nchoices; i++) {
		if (are_same(f->old, &f->choices[i].sets, &f->old->initial))
			return f->choices[i].place;
	}
	return NO_PLACE;
}

static struct net *factor(struct work *work, const struct net *old)
{
	struct factoring f = {.work = work, .old = old, .nplaces = old->nplaces};
	struct net *new;

	f.of = dpe_xcalloc(old->ntransitions + 1, sizeof(*f.of));
	find_choices(&f);
	new = net_new(work, old->name, f.nplaces);
	memcpy(new->places, old->places, old->nplaces * sizeof(*new->places));
	for (unsigned i = 0; i < old->ntransitions; i++)
		add_taking(&f, new, i);
	for (unsigned i = 0; i < f.nchoices; i++)
		add_choosing(&f, new, &f.choices[i]);
	mark(&f, new, find_beginning(&f));
	for (unsigned i = 0; i < f.nchoices; i++)
		net_markings_free(&f.choices[i].sets);
	free(f.choices);
	free(f.of);
	return new;
}

struct net *net_factor(struct work *work, const struct net *net)
{
	return factor(work, merge_alike(work, net));
}
