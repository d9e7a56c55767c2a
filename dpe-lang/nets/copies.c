/* A net with names for what flows through some of its places: see tokens.c.
 *
 * Copies of places are found from the beginning on, with the names that tokens there can have;
 * which of them can be marked together is not looked at. */
#include "dpe-lang/nets/names.h"

#include <stdlib.h>
#include <string.h>

#define MANY_FIRINGS 3000 /* transitions of the new net */
#define MANY_COPIES 3000  /* its places */

static int compare_copies(const void *a, const void *b)
{
	const struct copy *left = a, *right = b;

	if (left->place != right->place)
		return left->place < right->place ? -1 : 1;
	return dpe_nets_compare_names(&left->names, &right->names);
}

static void add_copy(struct namer *n, unsigned place, struct names names)
{
	struct known_copy *found, *new;
	struct copy key;

	memset(&key, 0, sizeof(key));
	key.place = place;
	key.names = names;
	HASH_FIND(hh, n->known, &key, sizeof(key), found);
	if (found)
		return;
	new = dpe_arena_alloc(n->work->arena, sizeof(*new));
	new->copy = key;
	HASH_ADD(hh, n->known, copy, sizeof(key), new);
	*DPE_GROW(n->copies, n->ncopies, n->capcopies) = key;
	n->large |= n->ncopies > MANY_COPIES;
}

unsigned dpe_nets_copy_number(const struct namer *n, unsigned place, struct names names)
{
	struct copy key = {place, names};
	const struct copy *found =
		bsearch(&key, n->copies, n->ncopies, sizeof(key), compare_copies);

	return found ? (unsigned)(found - n->copies) : NO_COPY;
}

static void sort_copies(struct namer *n)
{
	unsigned next = n->ncopies;

	qsort(n->copies, n->ncopies, sizeof(*n->copies), compare_copies);
	for (unsigned p = n->old->nplaces + 1; p-- > 0;) {
		while (next && n->copies[next - 1].place >= p)
			next--;
		n->first[p] = next;
	}
}

/* ---- firings -------------------------------------------------------------------------------- */

/* A token that can stay where it is does, with its names. */
static void give_names(struct namer *n)
{
	const struct transition *t = n->t;
	bool stays[t->nin + 1];
	struct names left = dpe_nets_no_names();

	memset(stays, 0, sizeof(stays));
	for (unsigned o = 0; o < t->nout; o++) {
		n->out[o] = dpe_nets_no_names();
		for (unsigned i = 0; i < t->nin && dpe_nets_has_no_names(&n->out[o]); i++) {
			if (!n->weight[t->out[o]] || stays[i] || t->in[i] != t->out[o])
				continue;
			stays[i] = true;
			n->out[o] = n->copies[n->in[i]].names;
		}
	}
	for (unsigned i = 0; i < t->nin; i++)
		left = stays[i] ? left : dpe_nets_more_names(left, &n->copies[n->in[i]].names);
	for (unsigned o = 0; o < t->nout; o++) {
		if (dpe_nets_has_no_names(&n->out[o]))
			n->out[o] = dpe_nets_take_names(&left, n->weight[t->out[o]]);
	}
}

static void fire(struct namer *n)
{
	const struct transition *t = n->t;
	struct transition *new;

	n->large |= ++n->firings > MANY_FIRINGS;
	give_names(n);
	for (unsigned o = 0; o < t->nout && !n->new; o++)
		add_copy(n, t->out[o], n->out[o]);
	if (!n->new)
		return;
	new = dpe_nets_add(n->new, t);
	for (unsigned i = 0; i < t->nin; i++)
		dpe_nets_arc(new, false, n->in[i]);
	for (unsigned o = 0; o < t->nout; o++)
		dpe_nets_arc(new, true, dpe_nets_copy_number(n, t->out[o], n->out[o]));
}

/* How many arcs from here on take from the same place. */
static unsigned count_same(const struct transition *t, unsigned arc)
{
	unsigned count = 1;

	while (arc + count < t->nin && t->in[arc + count] == t->in[arc])
		count++;
	return count;
}

/* Every way to take tokens whose names differ; of one place, in order. */
static void take(struct namer *n, unsigned arc, struct names taken)
{
	const struct transition *t = n->t;
	unsigned from, end, same;

	if (arc == t->nin) {
		fire(n);
		return;
	}
	from = n->first[t->in[arc]];
	end = n->first[t->in[arc] + 1];
	same = n->weight[t->in[arc]] ? count_same(t, arc) : 1;
	if (arc && t->in[arc] == t->in[arc - 1] && n->weight[t->in[arc]])
		from = n->in[arc - 1] + 1;
	for (unsigned c = from; c + same <= end && !n->large; c++) {
		if (dpe_nets_names_meet(&n->copies[c].names, &taken))
			continue;
		n->in[arc] = c;
		take(n, arc + 1, dpe_nets_more_names(taken, &n->copies[c].names));
	}
}

static void fire_all(struct namer *n)
{
	sort_copies(n);
	n->firings = 0;
	for (unsigned i = 0; i < n->old->ntransitions && !n->large; i++) {
		n->t = &n->old->transitions[i];
		n->in = dpe_xcalloc(n->t->nin + 1, sizeof(*n->in));
		n->out = dpe_xcalloc(n->t->nout + 1, sizeof(*n->out));
		take(n, 0, dpe_nets_no_names());
		free(n->in);
		free(n->out);
	}
}

/* ---- markings ------------------------------------------------------------------------------- */

/* Names go to tokens in the order of their places. */
static void begin_at(struct namer *n, const tokens *marking, tokens *to)
{
	struct names left = dpe_nets_first_names(n->total);

	for (unsigned p = 0; p < n->old->nplaces; p++) {
		for (unsigned i = 0; i < marking[p]; i++) {
			struct names names = dpe_nets_take_names(&left, n->weight[p]);

			if (to)
				to[dpe_nets_copy_number(n, p, names)]++;
			else
				add_copy(n, p, names);
		}
	}
}

static void mark_all(struct namer *n)
{
	for (unsigned i = 0; i < n->old->initial.count; i++) {
		tokens *marking = dpe_nets_marking(n->work, n->new);

		begin_at(n, n->old->initial.at[i], marking);
		dpe_nets_mark(&n->new->initial, marking);
	}
	dpe_nets_mark_arrivals(n);
}

/* ---- the new net ---------------------------------------------------------------------------- */

/* Those of the old net, and one for each name. */
static void add_machines(struct namer *n)
{
	for (unsigned m = 0; m < n->old->known.count; m++) {
		const struct machine *old = &n->old->known.at[m];
		struct machine *new = dpe_nets_machine_new(&n->new->known);

		for (unsigned c = 0; c < n->ncopies; c++) {
			if (dpe_nets_has_place(old->places, old->nplaces, n->copies[c].place))
				dpe_nets_machine_add(new, c);
		}
	}
	for (unsigned name = 0; name < n->total; name++) {
		struct machine *new = dpe_nets_machine_new(&n->new->known);

		for (unsigned c = 0; c < n->ncopies; c++) {
			if (dpe_nets_has_name(&n->copies[c].names, name))
				dpe_nets_machine_add(new, c);
		}
	}
}

static void find_copies(struct namer *n)
{
	unsigned before;

	for (unsigned i = 0; i < n->old->initial.count; i++)
		begin_at(n, n->old->initial.at[i], NULL);
	do {
		before = n->ncopies;
		fire_all(n);
	} while (n->ncopies > before && !n->large);
}

static void build(struct namer *n)
{
	n->new = dpe_nets_new(n->work, n->old->name, n->ncopies);
	n->new->large = n->old->large;
	for (unsigned c = 0; c < n->ncopies; c++)
		n->new->places[c] = n->old->places[n->copies[c].place];
	fire_all(n);
	mark_all(n);
	add_machines(n);
}

struct net *dpe_nets_name_flow(struct work *work, const struct net *old, const unsigned *weight,
	unsigned total, unsigned **origins)
{
	struct namer n = {.work = work, .old = old, .weight = weight, .total = total};

	n.first = dpe_xcalloc(old->nplaces + 2, sizeof(*n.first));
	find_copies(&n);
	if (!n.large)
		build(&n);
	*origins = dpe_arena_alloc(work->arena, (n.ncopies + 1) * sizeof(**origins));
	for (unsigned c = 0; c < n.ncopies; c++)
		(*origins)[c] = n.copies[c].place;
	HASH_CLEAR(hh, n.known);
	free(n.copies);
	free(n.first);
	return n.large ? NULL : n.new;
}
