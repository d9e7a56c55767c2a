/* A net after what saturate.c and makers.c made of it, as small as it was before.
 *
 * Two places that the same transitions fill and the same ones take from, and that are marked alike
 * at the beginning and at the ends, are always marked alike: one of them will do.
 *
 * Transitions of one name that take the same and leave this or that leave one token in a new place
 * instead, from which silent ones make this or that: the same choice, later. All that leave the
 * same choice leave it in the same place, the beginning too, so the choice is written once. */
#include "dpe-lang/nets/net.h"

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

		if (dpe_nets_has_place(t->in, t->nin, a) != dpe_nets_has_place(t->in, t->nin, b) ||
			dpe_nets_has_place(t->out, t->nout, a) !=
				dpe_nets_has_place(t->out, t->nout, b))
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
			dpe_nets_arc(to, out, number[places[i]]);
	}
}

static void copy_markings(struct work *work, const struct net *old, const struct markings *from,
	const struct net *new, struct markings *to, const unsigned *number)
{
	for (unsigned i = 0; i < from->count; i++) {
		tokens *marking = dpe_nets_marking(work, new);

		for (unsigned p = 0; p < old->nplaces; p++) {
			if (number[p] != NO_PLACE)
				marking[number[p]] = from->at[i][p];
		}
		dpe_nets_mark(to, marking);
	}
}

struct net *dpe_nets_merge_alike(struct work *work, const struct net *old)
{
	unsigned *number = dpe_arena_alloc(work->arena, (old->nplaces + 1) * sizeof(*number));
	struct net *new = dpe_nets_new(work, old->name, number_different(old, number));

	for (unsigned p = 0; p < old->nplaces; p++) {
		if (number[p] != NO_PLACE)
			new->places[number[p]] = old->places[p];
	}
	for (unsigned i = 0; i < old->ntransitions; i++) {
		const struct transition *t = &old->transitions[i];
		struct transition *copy = dpe_nets_add(new, t);

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
	return a->label == b->label && dpe_nets_same_places(a->in, a->nin, b->in, b->nin);
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
		if (!dpe_nets_is_marked(net, b, a->at[i]))
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
		dpe_nets_markings_free(&sets);
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
			tokens *set = dpe_nets_marking(f->work, f->old);

			for (unsigned k = 0; k < t->nout; k++)
				set[t->out[k]]++;
			if (first_like(f->old, j) == i && !dpe_nets_is_marked(f->old, &sets, set))
				dpe_nets_mark(&sets, set);
		}
		f->of[i] = first == i ? add_choice(f, sets) : f->of[first];
	}
}

static void add_arcs(struct transition *to, const struct net *old, const tokens *set)
{
	for (unsigned p = 0; p < old->nplaces; p++) {
		for (tokens i = 0; i < set[p]; i++)
			dpe_nets_arc(to, true, p);
	}
}

static void add_taking(struct factoring *f, struct net *new, unsigned number)
{
	const struct transition *t = &f->old->transitions[number];
	const struct choice *choice = &f->choices[f->of[number]];
	struct transition *copy;

	if (first_like(f->old, number) != number)
		return;
	copy = dpe_nets_add(new, t);
	for (unsigned i = 0; i < t->nin; i++)
		dpe_nets_arc(copy, false, t->in[i]);
	if (choice->place == NO_PLACE)
		add_arcs(copy, f->old, choice->sets.at[0]);
	else
		dpe_nets_arc(copy, true, choice->place);
}

static void add_choosing(struct factoring *f, struct net *new, const struct choice *choice)
{
	if (choice->place == NO_PLACE)
		return;
	new->places[choice->place] = "a choice";
	for (unsigned i = 0; i < choice->sets.count; i++) {
		struct transition *t = dpe_nets_add(new,
			&(struct transition){.id = dpe_arena_printf(f->work->arena,
						     "choice %u of p%u", i + 1, choice->place)});

		dpe_nets_arc(t, false, choice->place);
		add_arcs(t, f->old, choice->sets.at[i]);
	}
}

static void mark(struct factoring *f, struct net *new, unsigned begin)
{
	if (begin == NO_PLACE) {
		for (unsigned i = 0; i < f->old->initial.count; i++)
			dpe_nets_mark(&new->initial,
				memcpy(dpe_nets_marking(f->work, new), f->old->initial.at[i],
					f->old->nplaces * sizeof(tokens)));
	} else {
		tokens *marking = dpe_nets_marking(f->work, new);

		marking[begin] = 1;
		dpe_nets_mark(&new->initial, marking);
	}
	for (unsigned i = 0; i < f->old->final.count; i++)
		dpe_nets_mark(
			&new->final, memcpy(dpe_nets_marking(f->work, new), f->old->final.at[i],
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
	new = dpe_nets_new(work, old->name, f.nplaces);
	memcpy(new->places, old->places, old->nplaces * sizeof(*new->places));
	for (unsigned i = 0; i < old->ntransitions; i++)
		add_taking(&f, new, i);
	for (unsigned i = 0; i < f.nchoices; i++)
		add_choosing(&f, new, &f.choices[i]);
	mark(&f, new, find_beginning(&f));
	for (unsigned i = 0; i < f.nchoices; i++)
		dpe_nets_markings_free(&f.choices[i].sets);
	free(f.choices);
	free(f.of);
	return new;
}

struct net *dpe_nets_factor(struct work *work, const struct net *net)
{
	return factor(work, dpe_nets_merge_alike(work, net));
}
