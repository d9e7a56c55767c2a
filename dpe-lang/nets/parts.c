/* A net that falls into parts where transitions of several places are divided, each part with
 * those of the places that are its.
 *
 * What happens in the net is what happens in the parts, side by side, where they agree on the
 * firings of the divided transitions: that is what & of the parts says when these are events that
 * the operands share. Both orders together are the net's. Firings of one event are in order already
 * in each part, so it is clear which is which. There is one event for each divided transition, or
 * for several of one name that are all combinations of what each part may do. */
#include "dpe-lang/nets/net.h"

#include <stdlib.h>
#include <string.h>

struct divider {
	struct work *work;
	const struct net *net;
	unsigned *part;  /* by place: the first place of its part */
	unsigned *parts; /* these first places */
	unsigned nparts;
	/* What is divided: moves of each part, which are named by some transition that does them.
	 */
	struct products products; /* choice i + 1 of a part is its move i; 0 is that it has none */
	unsigned **moves, *nmoves, *capmoves;
	const struct expr **groups; /* words of what is divided: those of the group of a product */
	unsigned ngroups, capgroups;
	const struct expr **words; /* by product */
	bool apart;                /* each divided transition is an event of its own */
};

/* ---- which places belong together
 * ---------------------------------------------------------------- */

static bool join(struct divider *d, unsigned a, unsigned b)
{
	unsigned from = d->part[a] > d->part[b] ? d->part[a] : d->part[b];
	unsigned to = d->part[a] > d->part[b] ? d->part[b] : d->part[a];

	for (unsigned p = 0; p < d->net->nplaces && from != to; p++) {
		if (d->part[p] == from)
			d->part[p] = to;
	}
	return from != to;
}

static bool touches(const struct divider *d, const unsigned *places, unsigned count, unsigned part)
{
	for (unsigned i = 0; i < count; i++) {
		if (d->part[places[i]] == part)
			return true;
	}
	return false;
}

static bool can_be_divided(const struct transition *t)
{
	return dpe_nets_is_simple(t->words) && t->words->kind != EXPR_EMPTY && t->nin && t->nout;
}

static void join_all(struct divider *d, const struct transition *t)
{
	unsigned first = t->nin ? *t->in : t->nout ? *t->out : 0;

	for (unsigned i = 0; i < t->nin; i++)
		join(d, first, t->in[i]);
	for (unsigned i = 0; i < t->nout; i++)
		join(d, first, t->out[i]);
}

/* The first place from `*at` on in a part that the transition only takes from (or gives to). */
static unsigned next_odd(
	const struct divider *d, const struct transition *t, bool out, unsigned *at)
{
	const unsigned *places = out ? t->out : t->in;
	unsigned count = out ? t->nout : t->nin;

	for (; *at < count; ++*at) {
		if (!touches(d, out ? t->in : t->out, out ? t->nin : t->nout, d->part[places[*at]]))
			return places[*at];
	}
	return NO_PLACE;
}

/* In no part a transition only takes, or only gives. Where it does, its places go together in
 * their order: whoever writes machines side by side mostly writes them in the same order
 * everywhere. If that is wrong, there are fewer parts, or such as are refused. */
static bool balance(struct divider *d, const struct transition *t)
{
	unsigned in = 0, out = 0, taken, given;
	bool changed = false;

	while (can_be_divided(t)) {
		taken = next_odd(d, t, false, &in);
		given = next_odd(d, t, true, &out);
		if (taken == NO_PLACE && given == NO_PLACE)
			break;
		changed |= join(
			d, taken == NO_PLACE ? *t->in : taken, given == NO_PLACE ? *t->out : given);
	}
	return changed;
}

/* Whether some combination of what is in one place and in the other is in none of the markings. */
static bool depend(const struct markings *markings, unsigned a, unsigned b)
{
	bool seen[2][2] = {{false}}, ever_a[2] = {false}, ever_b[2] = {false};

	for (unsigned i = 0; i < markings->count; i++) {
		bool in_a = markings->at[i][a] > 0, in_b = markings->at[i][b] > 0;

		seen[in_a][in_b] = ever_a[in_a] = ever_b[in_b] = true;
	}
	for (unsigned i = 0; i < 4; i++) {
		if (ever_a[i / 2] && ever_b[i % 2] && !seen[i / 2][i % 2])
			return true;
	}
	return false;
}

static void join_dependent(struct divider *d, const struct markings *markings)
{
	for (unsigned p = 0; p < d->net->nplaces && markings->count > 1; p++) {
		for (unsigned q = 0; q < p; q++) {
			if (d->part[p] != d->part[q] && depend(markings, p, q))
				join(d, p, q);
		}
	}
}

static void find_parts(struct divider *d)
{
	bool changed = true;

	for (unsigned p = 0; p < d->net->nplaces; p++)
		d->part[p] = p;
	for (unsigned i = 0; i < d->net->ntransitions; i++) {
		if (!can_be_divided(&d->net->transitions[i]))
			join_all(d, &d->net->transitions[i]);
	}
	join_dependent(d, &d->net->initial);
	join_dependent(d, &d->net->final);
	while (changed) {
		changed = false;
		for (unsigned i = 0; i < d->net->ntransitions; i++)
			changed |= balance(d, &d->net->transitions[i]);
	}
	for (unsigned p = 0; p < d->net->nplaces; p++) {
		if (d->part[p] == p)
			d->parts[d->nparts++] = p;
	}
}

/* ---- what is shared
 * ------------------------------------------------------------------------------ */

static unsigned count_parts(const struct divider *d, const struct transition *t)
{
	unsigned count = 0;

	for (unsigned i = 0; i < d->nparts; i++)
		count += touches(d, t->in, t->nin, d->parts[i]) ||
			 touches(d, t->out, t->nout, d->parts[i]);
	return count;
}

static bool same_within(const struct divider *d, unsigned part, const unsigned *a, unsigned na,
	const unsigned *b, unsigned nb)
{
	unsigned i = 0, j = 0;

	for (;;) {
		while (i < na && d->part[a[i]] != part)
			i++;
		while (j < nb && d->part[b[j]] != part)
			j++;
		if (i == na || j == nb)
			return i == na && j == nb;
		if (a[i++] != b[j++])
			return false;
	}
}

/* The choice of the part; 0 where the transition does not touch it. */
static unsigned choice_of(struct divider *d, unsigned which, unsigned number)
{
	const struct transition *all = d->net->transitions, *t = &all[number];
	unsigned part = d->parts[which];

	if (!touches(d, t->in, t->nin, part) && !touches(d, t->out, t->nout, part))
		return 0;
	for (unsigned i = 0; i < d->nmoves[which]; i++) {
		const struct transition *known = &all[d->moves[which][i]];

		if (same_within(d, part, known->in, known->nin, t->in, t->nin) &&
			same_within(d, part, known->out, known->nout, t->out, t->nout))
			return i + 1;
	}
	*DPE_GROW(d->moves[which], d->nmoves[which], d->capmoves[which]) = number;
	return d->nmoves[which];
}

static unsigned group_of(struct divider *d, const struct expr *words)
{
	for (unsigned i = 0; i < d->ngroups; i++) {
		if (dpe_nets_expr_equal(d->groups[i], words))
			return i;
	}
	*DPE_GROW(d->groups, d->ngroups, d->capgroups) = words;
	return d->ngroups - 1;
}

static void divide(struct divider *d)
{
	unsigned *row = dpe_xcalloc(d->nparts + 1, sizeof(*row));

	d->products = (struct products){
		.ncolumns = d->nparts, .nwords = (d->net->ntransitions + 1 + 63) / 64};
	for (unsigned i = 0; i < d->net->ntransitions; i++) {
		if (count_parts(d, &d->net->transitions[i]) < 2)
			continue;
		for (unsigned m = 0; m < d->nparts; m++)
			row[m] = choice_of(d, m, i);
		dpe_nets_products_add(&d->products, row, group_of(d, d->net->transitions[i].words));
	}
	if (!d->apart)
		dpe_nets_products_merge(&d->products, true);
	free(row);
}

/* False where what is one event of an & around this would be several. */
static bool share(struct divider *d, struct parts *parts)
{
	divide(d);
	d->words = dpe_arena_alloc(d->work->arena, (d->products.count + 1) * sizeof(*d->words));
	parts->shared =
		dpe_arena_alloc(d->work->arena, (d->products.count + 1) * sizeof(*parts->shared));
	for (unsigned i = 0; i < d->products.count; i++) {
		const struct expr *words = d->groups[d->products.groups[i]];

		for (unsigned j = 0; j < i && words->kind == EXPR_SHARED; j++) {
			if (d->products.groups[j] == d->products.groups[i])
				return false;
		}
		d->words[i] = words;
		if (words->kind == EXPR_SHARED)
			continue;
		d->words[i] = dpe_nets_shared(d->work, words);
		parts->shared[parts->nshared++] = d->words[i];
	}
	return true;
}

/* ---- a part as a net
 * ------------------------------------------------------------------------------ */

/* Each different marking of the part once. */
static void restrict_markings(const struct divider *d, const struct markings *from,
	const unsigned *number, const struct net *new, struct markings *to)
{
	for (unsigned i = 0; i < from->count; i++) {
		tokens *marking = dpe_nets_marking(d->work, new);

		for (unsigned p = 0; p < d->net->nplaces; p++) {
			if (number[p] != NO_PLACE)
				marking[number[p]] = from->at[i][p];
		}
		if (!dpe_nets_is_marked(new, to, marking))
			dpe_nets_mark(to, marking);
	}
}

static void copy_arcs(struct transition *to, bool out, const unsigned *places, unsigned count,
	const unsigned *number)
{
	for (unsigned i = 0; i < count; i++) {
		if (number[places[i]] != NO_PLACE)
			dpe_nets_arc(to, out, number[places[i]]);
	}
}

static void add_transition(struct net *new, const struct transition *t, const struct expr *words,
	const unsigned *number)
{
	struct transition *copy = dpe_nets_add(new, t);

	copy->words = words;
	copy_arcs(copy, false, t->in, t->nin, number);
	copy_arcs(copy, true, t->out, t->nout, number);
}

static void add_transitions(
	const struct divider *d, struct net *new, unsigned which, const unsigned *number)
{
	const struct transition *all = d->net->transitions;
	unsigned part = d->parts[which];

	for (unsigned i = 0; i < d->net->ntransitions; i++) {
		const struct transition *t = &all[i];

		if (count_parts(d, t) < 2 &&
			(touches(d, t->in, t->nin, part) || touches(d, t->out, t->nout, part)))
			add_transition(new, t, t->words, number);
	}
	for (unsigned i = 0; i < d->products.count; i++) {
		for (unsigned j = 0; j < d->nmoves[which]; j++) {
			if (dpe_nets_products_have(&d->products, i, which, j + 1))
				add_transition(new, &all[d->moves[which][j]], d->words[i], number);
		}
	}
}

static struct net *net_of(const struct divider *d, unsigned which)
{
	unsigned *number = dpe_xcalloc(d->net->nplaces + 1, sizeof(*number)), count = 0;
	struct net *new;

	for (unsigned p = 0; p < d->net->nplaces; p++)
		number[p] = d->part[p] == d->parts[which] ? count++ : NO_PLACE;
	new = dpe_nets_new(d->work, d->net->name, count);
	for (unsigned p = 0; p < d->net->nplaces; p++) {
		if (number[p] != NO_PLACE)
			new->places[number[p]] = d->net->places[p];
	}
	add_transitions(d, new, which, number);
	restrict_markings(d, &d->net->initial, number, new, &new->initial);
	restrict_markings(d, &d->net->final, number, new, &new->final);
	free(number);
	return new;
}

/* ---- all parts
 * ------------------------------------------------------------------------------------- */

/* Each part its own way to begin and to end: all combinations are those of the net. */
static bool are_independent(const struct divider *d, struct net **nets)
{
	size_t initial = 1, final = 1;

	for (unsigned i = 0; i < d->nparts; i++) {
		initial *= nets[i]->initial.count;
		final *= nets[i]->final.count;
		if (initial > d->net->initial.count || final > d->net->final.count)
			return false;
	}
	return initial == d->net->initial.count && final == d->net->final.count;
}

/* A part alone may do what the others do not let it. */
static bool are_one_safe(const struct divider *d, struct net **nets)
{
	bool safe = true;

	for (unsigned i = 0; i < d->nparts && safe; i++)
		safe = dpe_nets_is_one_safe(d->work, nets[i]);
	return safe;
}

static bool may_be_together(const struct net *net, const bool *together, const struct transition *a,
	const struct transition *b)
{
	for (unsigned i = 0; i < a->nin; i++) {
		for (unsigned j = 0; j < b->nin; j++) {
			if (a->in[i] == b->in[j] ||
				!together[(size_t)a->in[i] * net->nplaces + b->in[j]])
				return false;
		}
	}
	return true;
}

/* What is one event of an & is never twice side by side in one of its operands. */
static bool are_in_order(const struct divider *d, const struct net *net)
{
	bool *together = dpe_nets_together(d->work, net), good = together;

	for (unsigned i = 0; i < net->ntransitions && good; i++) {
		const struct transition *a = &net->transitions[i];

		for (unsigned j = 0; j < i && good && a->words->kind == EXPR_SHARED; j++)
			good = net->transitions[j].words != a->words ||
			       !may_be_together(net, together, a, &net->transitions[j]);
	}
	free(together);
	return good;
}

static bool are_all_in_order(const struct divider *d, struct net **nets)
{
	bool good = true;

	for (unsigned i = 0; i < d->nparts && good; i++)
		good = are_in_order(d, nets[i]);
	return good;
}

static const struct expr *words_of_parts(struct divider *d, struct parts *parts)
{
	struct net **nets = dpe_arena_alloc(d->work->arena, (d->nparts + 1) * sizeof(struct net *));

	parts->operands =
		dpe_arena_alloc(d->work->arena, (d->nparts + 1) * sizeof(*parts->operands));
	for (unsigned i = 0; i < d->nparts; i++)
		nets[i] = net_of(d, i);
	if (!are_independent(d, nets) || !are_one_safe(d, nets) || !are_all_in_order(d, nets))
		return NULL;
	for (unsigned i = 0; i < d->nparts; i++) {
		const struct expr *words = dpe_nets_words_quietly(d->work, nets[i]);

		if (!words)
			return NULL;
		if (words->kind != EXPR_EMPTY)
			parts->operands[parts->noperands++] = words;
	}
	if (!parts->noperands)
		return dpe_nets_empty(d->work);
	return dpe_nets_parts_expr(d->work, parts);
}

static const struct expr *words_of_all(struct divider *d)
{
	struct parts *parts = dpe_arena_alloc(d->work->arena, sizeof(*parts));
	const struct expr *words = NULL;

	d->moves = dpe_xcalloc(d->nparts, sizeof(*d->moves));
	d->nmoves = dpe_xcalloc(d->nparts, sizeof(*d->nmoves));
	d->capmoves = dpe_xcalloc(d->nparts, sizeof(*d->capmoves));
	if (share(d, parts))
		words = words_of_parts(d, parts);
	for (unsigned i = 0; i < d->nparts; i++)
		free(d->moves[i]);
	free(d->moves);
	free(d->nmoves);
	free(d->capmoves);
	free(d->groups);
	d->groups = NULL;
	d->ngroups = d->capgroups = 0;
	dpe_nets_products_free(&d->products);
	return words;
}

const struct expr *dpe_nets_parts(struct work *work, struct net *net)
{
	struct divider d = {.work = work, .net = net};
	const struct expr *words = NULL;

	d.part = dpe_xcalloc(net->nplaces + 1, sizeof(*d.part));
	d.parts = dpe_xcalloc(net->nplaces + 1, sizeof(*d.parts));
	find_parts(&d);
	if (d.nparts > 1)
		words = words_of_all(&d);
	d.apart = true;
	if (d.nparts > 1 && !words)
		words = words_of_all(&d);
	free(d.part);
	free(d.parts);
	return words;
}
