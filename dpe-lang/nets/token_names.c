/* k-safe → 1-safe: gives tokens names, by place invariants. An invariant of weight k has k names; a
 * token carries as many as its place weighs, and a place becomes a copy for each set of names that
 * a token there may carry. The names that a firing takes go to the tokens it makes; which of them
 * gets which does not matter, since all have the same causal past. docs/internals/nets.md. */
#include "dpe-lang/nets/limits.h"
#include "dpe-lang/nets/place_invariants.h"
#include "dpe-lang/nets/reachability.h"

#include <stdlib.h>
#include <string.h>
#include <uthash.h>

/* A place of the new net; without names where the invariant does not weigh the old place. */
struct named_place {
	unsigned place;
	uint64_t names;
};

struct known_copy {
	struct named_place copy;
	UT_hash_handle hh;
};

struct namer {
	struct translation *tr;
	const struct net *old;
	const unsigned *weight;
	unsigned total; /* names */
	struct named_place *copies;
	unsigned ncopies, capcopies;
	struct known_copy *known;
	unsigned *first; /* by old place: its first copy, once they are sorted */
	struct net *new; /* NULL while the copies are being found */
	unsigned nfirings;
	bool large;
	/* One firing: copies taken, by input arc, and names given, by output arc. */
	const struct transition *t;
	unsigned *in;
	uint64_t *out;
};

static int compare_copies(const void *a, const void *b)
{
	const struct named_place *left = a, *right = b;

	if (left->place != right->place)
		return left->place < right->place ? -1 : 1;
	return (left->names > right->names) - (left->names < right->names);
}

static void add_copy(struct namer *n, unsigned place, uint64_t names)
{
	struct known_copy *found, *new;
	struct named_place key;

	memset(&key, 0, sizeof(key)); /* padding takes part in the comparison */
	key.place = place;
	key.names = names;
	HASH_FIND(hh, n->known, &key, sizeof(key), found);
	if (found)
		return;
	new = dpe_arena_alloc(n->tr->arena, sizeof(*new));
	memcpy(&new->copy, &key, sizeof(key));
	HASH_ADD(hh, n->known, copy, sizeof(key), new);
	*DPE_GROW(n->copies, n->ncopies, n->capcopies) = key;
	n->large |= n->ncopies > MAX_NAMED;
}

static unsigned copy_number(const struct namer *n, unsigned place, uint64_t names)
{
	struct named_place key = {place, names};
	const struct named_place *found =
		bsearch(&key, n->copies, n->ncopies, sizeof(key), compare_copies);

	return (unsigned)(found - n->copies);
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

/* Takes the lowest names. */
static uint64_t take_names(uint64_t *from, unsigned count)
{
	uint64_t taken = 0;

	for (; count; count--) {
		uint64_t lowest = *from & -*from;

		taken |= lowest;
		*from &= ~lowest;
	}
	return taken;
}

/* ---- firings --------------------------------------------------------------------------------- */

/* A token that comes back to a place that it was taken from keeps its names. */
static void give_names(struct namer *n)
{
	const struct transition *t = n->t;
	uint64_t left = 0, kept = 0;

	for (unsigned i = 0; i < t->nin; i++)
		left |= n->copies[n->in[i]].names;
	for (unsigned o = 0; o < t->nout; o++) {
		n->out[o] = 0;
		for (unsigned i = 0; i < t->nin && !n->out[o]; i++) {
			uint64_t names = n->copies[n->in[i]].names;

			if (t->in[i] == t->out[o] && !(names & kept))
				n->out[o] = names;
		}
		kept |= n->out[o];
	}
	left &= ~kept;
	for (unsigned o = 0; o < t->nout; o++) {
		if (!n->out[o])
			n->out[o] = take_names(&left, n->weight[t->out[o]]);
	}
}

static void fire(struct namer *n)
{
	const struct transition *t = n->t;
	struct transition *new;

	n->large |= ++n->nfirings > MAX_NAMED;
	give_names(n);
	for (unsigned o = 0; o < t->nout && !n->new; o++)
		add_copy(n, t->out[o], n->out[o]);
	if (!n->new)
		return;
	new = dpe_nets_add(n->new, t);
	for (unsigned i = 0; i < t->nin; i++)
		dpe_nets_add_arc(new, false, n->in[i]);
	for (unsigned o = 0; o < t->nout; o++)
		dpe_nets_add_arc(new, true, copy_number(n, t->out[o], n->out[o]));
}

/* How many arcs from this one on take from the same place. */
static unsigned count_same(const struct transition *t, unsigned arc)
{
	unsigned count = 1;

	while (arc + count < t->nin && t->in[arc + count] == t->in[arc])
		count++;
	return count;
}

/* Fires with every choice of tokens whose names are disjoint; those from one place in ascending
 * order. */
static void take(struct namer *n, unsigned arc, uint64_t taken)
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
		if (n->copies[c].names & taken)
			continue;
		n->in[arc] = c;
		take(n, arc + 1, taken | n->copies[c].names);
	}
}

static void fire_all(struct namer *n)
{
	sort_copies(n);
	n->nfirings = 0;
	for (unsigned i = 0; i < n->old->ntransitions && !n->large; i++) {
		n->t = &n->old->transitions[i];
		n->in = dpe_xcalloc(n->t->nin + 1, sizeof(*n->in));
		n->out = dpe_xcalloc(n->t->nout + 1, sizeof(*n->out));
		take(n, 0, 0);
		free(n->in);
		free(n->out);
	}
}

/* ---- the new net ----------------------------------------------------------------------------- */

/* Names go to tokens in the order of their places. Finds copies, or marks them. */
static void begin(struct namer *n, const tokens *marking, tokens *to)
{
	uint64_t left = UINT64_MAX >> (64 - n->total);

	for (unsigned p = 0; p < n->old->nplaces; p++) {
		for (unsigned i = 0; i < marking[p]; i++) {
			uint64_t names = take_names(&left, n->weight[p]);

			if (to)
				to[copy_number(n, p, names)]++;
			else
				add_copy(n, p, names);
		}
	}
}

/* Copies are found without regard to which of them can be marked together. */
static void find_copies(struct namer *n)
{
	unsigned before;

	for (unsigned i = 0; i < n->old->initial.count; i++)
		begin(n, n->old->initial.at[i], NULL);
	do {
		before = n->ncopies;
		fire_all(n);
	} while (n->ncopies > before && !n->large);
}

/* Final are the reachable markings that are final without the names. */
static bool mark_final(struct namer *n)
{
	struct reachability *graph = dpe_nets_explore(n->tr, n->new);
	tokens *plain = dpe_nets_marking(n->tr, n->old);

	for (unsigned i = 0; graph && i < graph->nreached; i++) {
		const tokens *named = graph->reached[i].marking;

		memset(plain, 0, n->old->nplaces * sizeof(*plain));
		for (unsigned c = 0; c < n->ncopies; c++)
			plain[n->copies[c].place] += named[c];
		if (dpe_nets_is_marked(n->old, &n->old->final, plain))
			dpe_nets_mark(&n->new->final, memcpy(dpe_nets_marking(n->tr, n->new), named,
							      n->ncopies * sizeof(*named)));
	}
	dpe_nets_reachability_free(graph);
	return graph;
}

static bool build(struct namer *n)
{
	n->new = dpe_nets_new(n->tr, n->old->name, n->ncopies);
	for (unsigned c = 0; c < n->ncopies; c++)
		n->new->places[c] = n->old->places[n->copies[c].place];
	fire_all(n);
	for (unsigned i = 0; i < n->old->initial.count; i++) {
		tokens *marking = dpe_nets_marking(n->tr, n->new);

		begin(n, n->old->initial.at[i], marking);
		dpe_nets_mark(&n->new->initial, marking);
	}
	return mark_final(n);
}

/* Names the tokens of one invariant; carries the other invariants over to the new net. NULL if
 * that is too large, perhaps after a diagnostic. */
static struct net *name_invariant(struct translation *tr, const struct net *old,
	struct invariants *invariants, unsigned which, unsigned total)
{
	struct namer n = {
		.tr = tr, .old = old, .weight = invariants->weights[which], .total = total};
	bool good;

	n.first = dpe_xcalloc(old->nplaces + 2, sizeof(*n.first));
	find_copies(&n);
	good = !n.large && build(&n);
	for (unsigned i = 0; i < invariants->count && good; i++) {
		unsigned *weight = dpe_arena_alloc(tr->arena, (n.ncopies + 1) * sizeof(*weight));

		for (unsigned c = 0; c < n.ncopies; c++)
			weight[c] = invariants->weights[i][n.copies[c].place];
		invariants->weights[i] = weight;
	}
	HASH_CLEAR(hh, n.known);
	free(n.copies);
	free(n.first);
	return good ? n.new : NULL;
}

/* ---- which invariant ------------------------------------------------------------------------- */

/* Its weight at the beginning; 0 where beginnings differ, or where it has too many names. */
static unsigned total_of(const struct net *net, const unsigned *weight)
{
	unsigned total = dpe_nets_weight_of(weight, net, net->initial.at[0]);

	for (unsigned i = 1; i < net->initial.count; i++) {
		if (dpe_nets_weight_of(weight, net, net->initial.at[i]) != total)
			return 0;
	}
	return total <= MAX_NAMES ? total : 0;
}

/* The invariant through the place with the fewest names; invariants->count if there is none. */
static unsigned choose(const struct net *net, const struct invariants *invariants, unsigned place)
{
	unsigned best = invariants->count, fewest = UINT32_MAX;

	for (unsigned i = 0; i < invariants->count; i++) {
		unsigned total = total_of(net, invariants->weights[i]), max = 0;

		for (unsigned p = 0; p < net->nplaces; p++) {
			if (invariants->weights[i][p] > max)
				max = invariants->weights[i][p];
		}
		if (!total || !invariants->weights[i][place] || total * max >= fewest)
			continue;
		best = i;
		fewest = total * max;
	}
	return best;
}

static struct net *name_place(struct translation *tr, const struct net *net,
	struct invariants *invariants, unsigned place)
{
	unsigned errors = dpe_diags_errors(tr->diags), which = choose(net, invariants, place);
	struct net *new = NULL;

	if (which < invariants->count)
		new = name_invariant(
			tr, net, invariants, which, total_of(net, invariants->weights[which]));
	if (!new &&dpe_diags_errors(tr->diags) == errors)
		dpe_diag_at(tr->diags, DPE_ERROR, tr->file,
			"not supported: place '%s' of net '%s' can hold several tokens, and no "
			"place "
			"invariant of at most %u tokens, %u copies of places and %u of transitions "
			"distinguishes them",
			net->places[place], net->name, MAX_NAMES, MAX_NAMED, MAX_NAMED);
	return new;
}

struct net *dpe_nets_one_safe(struct translation *tr, struct net *net)
{
	struct invariants *invariants = dpe_nets_invariants(tr, net);

	while (net) {
		tokens *bounds = dpe_nets_marking(tr, net);
		unsigned max = dpe_nets_bounds(tr, net, bounds), place = 0;

		if (max <= 1)
			return max ? net : NULL;
		while (bounds[place] <= 1)
			place++;
		net = name_place(tr, net, invariants, place);
		if (net)
			dpe_nets_dump(tr, "named tokens", net);
	}
	return NULL;
}
