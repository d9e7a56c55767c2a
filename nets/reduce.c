/* A 1-safe net that is reduced as an automaton is by taking its states out, its transitions being
 * expressions: a silent one is the empty word.
 *
 * A firing of such a transition is all that one pomset of its words has; it comes after whatever
 * made what it takes, and before whoever takes what it leaves. Where that is to say no more than
 * the events themselves do, an expression of several events stands between one place and one place
 * only: others could not be in one machine (kernel.c). Each rule here keeps the pomsets. The net
 * stays 1-safe, for `together` says which places may be marked at once, or more of them. */
#include "nets/net.h"

#include <stdlib.h>
#include <string.h>

/* What may become longer at all. */
#define MANY_COPIES 500

struct around {
	unsigned *makers, *takers; /* transitions, in order */
	unsigned nmakers, ntakers, capmakers, captakers;
};

static struct around look_around(const struct net *net, unsigned place)
{
	struct around a = {0};

	for (unsigned i = 0; i < net->ntransitions; i++) {
		const struct transition *t = &net->transitions[i];

		if (dpe_nets_has_place(t->out, t->nout, place))
			*DPE_GROW(a.makers, a.nmakers, a.capmakers) = i;
		if (dpe_nets_has_place(t->in, t->nin, place))
			*DPE_GROW(a.takers, a.ntakers, a.captakers) = i;
	}
	return a;
}

/* The same of all places. */
static struct around *look_around_all(const struct net *net)
{
	struct around *all = dpe_xcalloc(net->nplaces + 1, sizeof(*all));

	for (unsigned i = 0; i < net->ntransitions; i++) {
		const struct transition *t = &net->transitions[i];

		for (unsigned j = 0; j < t->nout; j++) {
			struct around *a = &all[t->out[j]];

			*DPE_GROW(a->makers, a->nmakers, a->capmakers) = i;
		}
		for (unsigned j = 0; j < t->nin; j++) {
			struct around *a = &all[t->in[j]];

			*DPE_GROW(a->takers, a->ntakers, a->captakers) = i;
		}
	}
	return all;
}

static void free_around(struct around *a)
{
	free(a->makers);
	free(a->takers);
}

static bool *are_together(const struct reducer *r, unsigned a, unsigned b)
{
	return &r->together[(size_t)a * r->net->nplaces + b];
}

bool dpe_nets_may_have(
	const struct reducer *r, unsigned nin, unsigned nout, const struct expr *words)
{
	if (dpe_nets_is_simple(words))
		return true;
	return r->blocks && nin == 1 && nout == 1 && words->size <= MANY_EVENTS;
}

static bool is_empty(const struct transition *t)
{
	return t->words->kind == EXPR_EMPTY;
}

static bool is_between_two(const struct transition *t)
{
	return t->nin == 1 && t->nout == 1 && *t->in != *t->out;
}

static void remove_arcs(struct net *net, unsigned place)
{
	for (unsigned i = 0; i < net->ntransitions; i++) {
		struct transition *t = &net->transitions[i];
		unsigned nin = 0, nout = 0;

		for (unsigned j = 0; j < t->nin; j++) {
			if (t->in[j] != place)
				t->in[nin++] = t->in[j];
		}
		for (unsigned j = 0; j < t->nout; j++) {
			if (t->out[j] != place)
				t->out[nout++] = t->out[j];
		}
		t->nin = nin;
		t->nout = nout;
	}
}

/* ---- transitions ----------------------------------------------------------------------------- */

/* A silent one that puts back what it took, from one place, does nothing. */
static bool drop_idle(struct reducer *r)
{
	bool changed = false;

	for (unsigned i = r->net->ntransitions; i-- > 0;) {
		const struct transition *t = &r->net->transitions[i];

		if (!is_empty(t) || t->nin != 1 || t->nout != 1 || *t->in != *t->out)
			continue;
		dpe_nets_drop(r->net, i);
		changed = true;
	}
	return changed;
}

static bool merge_pair(struct reducer *r, struct transition *a, const struct transition *b)
{
	const struct expr *words;

	if (!dpe_nets_same_places(a->in, a->nin, b->in, b->nin) ||
		!dpe_nets_same_places(a->out, a->nout, b->out, b->nout))
		return false;
	words = dpe_nets_alt(r->work, a->words, b->words);
	if (!dpe_nets_may_have(r, a->nin, a->nout, words))
		return false;
	a->words = words;
	return true;
}

/* What takes the same and leaves the same is one or the other: a + b. */
static bool merge_same(struct reducer *r)
{
	bool changed = false;

	for (unsigned i = 0; i < r->net->ntransitions; i++) {
		for (unsigned j = r->net->ntransitions; j-- > i + 1;) {
			if (!merge_pair(r, &r->net->transitions[i], &r->net->transitions[j]))
				continue;
			dpe_nets_drop(r->net, j);
			changed = true;
		}
	}
	return changed;
}

/* A place that no arc leads to or from, and that was never marked; NO_PLACE. */
static unsigned find_free_place(const struct reducer *r)
{
	bool *used = dpe_xcalloc(r->net->nplaces + 1, sizeof(*used));
	unsigned place;

	for (unsigned i = 0; i < r->net->ntransitions; i++) {
		const struct transition *t = &r->net->transitions[i];

		for (unsigned j = 0; j < t->nin; j++)
			used[t->in[j]] = true;
		for (unsigned j = 0; j < t->nout; j++)
			used[t->out[j]] = true;
	}
	for (place = 0; place < r->net->nplaces && (used[place] || r->fixed[place]); place++)
		;
	free(used);
	return place < r->net->nplaces ? place : NO_PLACE;
}

/* A second place is marked when the first would be, but never with it: what fills the first one
 * could have done so while the token was in it still. */
static void add_alike(struct reducer *r, unsigned place, unsigned alike)
{
	for (unsigned p = 0; p < r->net->nplaces; p++) {
		bool with = p != place && p != alike && *are_together(r, place, p);

		*are_together(r, alike, p) = *are_together(r, p, alike) = with;
	}
}

/* Between who fills a place and who takes from it, what begins and ends there occurs any number of
 * times: it becomes one transition from that place to another, from which others take now. */
static bool unroll(struct reducer *r, unsigned number)
{
	struct transition *loop = &r->net->transitions[number];
	unsigned place = *loop->in, next;
	const struct expr *words;

	if (loop->nin != 1 || loop->nout != 1 || place != *loop->out || r->fixed[place])
		return false;
	words = dpe_nets_star(r->work, loop->words);
	next = dpe_nets_may_have(r, 1, 1, words) ? find_free_place(r) : NO_PLACE;
	if (next == NO_PLACE)
		return false;
	add_alike(r, place, next);
	for (unsigned i = 0; i < r->net->ntransitions; i++) {
		struct transition *t = &r->net->transitions[i];
		bool takes = i != number && dpe_nets_has_place(t->in, t->nin, place);
		unsigned count = 0;

		for (unsigned j = 0; takes && j < t->nin; j++) {
			if (t->in[j] != place)
				t->in[count++] = t->in[j];
		}
		if (!takes)
			continue;
		t->nin = count;
		dpe_nets_arc(t, false, next);
	}
	*loop->out = next;
	loop->words = words;
	return true;
}

/* What the transition `but` is not needed for. */
static void reach(const struct net *net, unsigned but, bool *reached)
{
	bool changed = true;

	while (changed) {
		changed = false;
		for (unsigned i = 0; i < net->ntransitions; i++) {
			const struct transition *t = &net->transitions[i];
			bool from = false;

			for (unsigned j = 0; j < t->nin && i != but && !from; j++)
				from = reached[t->in[j]];
			for (unsigned j = 0; j < t->nout && from; j++) {
				changed |= !reached[t->out[j]];
				reached[t->out[j]] = true;
			}
		}
	}
}

/* Whether nothing but this leads from its place back there. */
static bool is_innermost(const struct reducer *r, unsigned number)
{
	const struct transition *loop = &r->net->transitions[number];
	bool *reached, innermost = true;

	if (loop->nin != 1 || loop->nout != 1 || *loop->in != *loop->out)
		return false;
	reached = dpe_xcalloc(r->net->nplaces + 1, sizeof(*reached));
	for (unsigned i = 0; i < r->net->ntransitions; i++) {
		const struct transition *t = &r->net->transitions[i];

		for (unsigned j = 0; j < t->nout && i != number; j++)
			reached[t->out[j]] |= dpe_nets_has_place(t->in, t->nin, *loop->in);
	}
	reach(r->net, number, reached);
	innermost = !reached[*loop->in];
	free(reached);
	return innermost;
}

/* A second one at the same place is merged with the first (merge_same) before that. */
static bool unroll_one(struct reducer *r, bool innermost)
{
	for (unsigned i = 0; i < r->net->ntransitions; i++) {
		if ((!innermost || is_innermost(r, i)) && unroll(r, i))
			return true;
	}
	return false;
}

/* ---- side by side ---------------------------------------------------------------------------- */

static bool same_makers(const struct around *a, const struct around *b)
{
	return a->nmakers && dpe_nets_same_places(a->makers, a->nmakers, b->makers, b->nmakers);
}

static bool same_takers(const struct around *a, const struct around *b)
{
	return a->ntakers && dpe_nets_same_places(a->takers, a->ntakers, b->takers, b->ntakers);
}

/* The one transition that takes from the place, and leads to one that nothing else fills. */
static struct transition *find_way(
	const struct reducer *r, const struct around *all, unsigned place)
{
	struct transition *t;

	if (r->fixed[place] || all[place].ntakers != 1)
		return NULL;
	t = &r->net->transitions[*all[place].takers];
	if (!is_between_two(t) || all[*t->out].nmakers != 1 || r->fixed[*t->out])
		return NULL;
	return t;
}

/* Two places that are filled together, and one way from each on, to places that are emptied
 * together: the ways are one, a & b, between the first two. For the places filled together get
 * their tokens from one firing; neither gets the next one before both ways have been gone, for the
 * net is 1-safe; and whoever takes one of what they leave takes the other. */
static bool join_ways(struct reducer *r, const struct around *all, unsigned p, unsigned q)
{
	struct transition *a = find_way(r, all, p), *b = find_way(r, all, q);
	const struct expr *words;
	unsigned out;

	if (!a || !b || !same_takers(&all[*a->out], &all[*b->out]))
		return false;
	words = dpe_nets_par(r->work, a->words, b->words);
	if (!dpe_nets_may_have(r, 1, 1, words))
		return false;
	a->words = words;
	out = *b->out;
	dpe_nets_drop(r->net, (unsigned)(b - r->net->transitions));
	remove_arcs(r->net, q);
	remove_arcs(r->net, out);
	return true;
}

/* The same where the second way is empty: its place says nothing that the first way does not. So
 * does a place that is filled and emptied together with the other. */
static bool drop_beside(struct reducer *r, const struct around *all, unsigned p, unsigned q)
{
	const struct transition *a;

	if (r->fixed[p] || r->fixed[q])
		return false;
	a = find_way(r, all, p);
	if (!same_takers(&all[p], &all[q]) && (!a || !same_takers(&all[*a->out], &all[q])))
		return false;
	remove_arcs(r->net, q);
	return true;
}

static bool join_with_any(struct reducer *r, const struct around *all, unsigned p)
{
	for (unsigned q = 0; q < r->net->nplaces; q++) {
		if (q == p || !same_makers(&all[p], &all[q]))
			continue;
		if (drop_beside(r, all, p, q) || join_ways(r, all, p, q))
			return true;
	}
	return false;
}

static bool join_one(struct reducer *r)
{
	unsigned count = r->net->nplaces;
	struct around *all = look_around_all(r->net);
	bool changed = false;

	for (unsigned p = 0; p < count && !changed; p++)
		changed = join_with_any(r, all, p);
	for (unsigned p = 0; p < count; p++)
		free_around(&all[p]);
	free(all);
	return changed;
}

/* ---- one after the other --------------------------------------------------------------------- */

static bool takes_only_that(const struct transition *t)
{
	return t->nin == 1;
}

static bool leaves_only_that(const struct transition *t)
{
	return t->nout == 1;
}

/* Whoever takes from the place takes nothing else, so it may as well do so as soon as the place is
 * filled: maker and taker are one firing. (What it leaves is empty then: if not, it would leave
 * second tokens.) Where the maker leaves something else, too, which does not wait for the taker,
 * the taker has to be empty. */
static bool can_hurry(const struct reducer *r, const struct around *a)
{
	for (unsigned j = 0; j < a->ntakers; j++) {
		const struct transition *taker = &r->net->transitions[a->takers[j]];

		if (!takes_only_that(taker))
			return false;
		for (unsigned i = 0; i < a->nmakers && !is_empty(taker); i++) {
			if (!leaves_only_that(&r->net->transitions[a->makers[i]]))
				return false;
		}
	}
	return true;
}

/* Whoever fills the place fills nothing else, so it may as well wait for the taker: then what it
 * takes waits, which must not be filled again meanwhile. Where the taker takes something else, too,
 * which the maker does not depend on, the maker has to be empty. */
static bool can_wait(const struct reducer *r, const struct around *a, unsigned place)
{
	for (unsigned i = 0; i < a->nmakers; i++) {
		const struct transition *maker = &r->net->transitions[a->makers[i]];

		if (!leaves_only_that(maker))
			return false;
		for (unsigned j = 0; j < maker->nin; j++) {
			if (*are_together(r, place, maker->in[j]))
				return false;
		}
		for (unsigned j = 0; j < a->ntakers && !is_empty(maker); j++) {
			if (!takes_only_that(&r->net->transitions[a->takers[j]]))
				return false;
		}
	}
	return true;
}

/* What lay in the place lies in what the makers take from instead. */
static void wait(struct reducer *r, const struct around *a, unsigned place)
{
	for (unsigned i = 0; i < a->nmakers; i++) {
		const struct transition *maker = &r->net->transitions[a->makers[i]];

		for (unsigned j = 0; j < maker->nin; j++) {
			for (unsigned p = 0; p < r->net->nplaces; p++) {
				if (!*are_together(r, place, p))
					continue;
				*are_together(r, maker->in[j], p) = true;
				*are_together(r, p, maker->in[j]) = true;
			}
		}
	}
}

static bool add_both(struct reducer *r, unsigned maker, unsigned taker, unsigned place)
{
	struct transition like = r->net->transitions[maker];
	struct transition *both = dpe_nets_add(r->net, &like);
	const struct transition *u = &r->net->transitions[maker], *v = &r->net->transitions[taker];
	bool good = true;

	both->words = dpe_nets_seq(r->work, u->words, v->words);
	for (unsigned i = 0; i < u->nin; i++)
		dpe_nets_arc(both, false, u->in[i]);
	for (unsigned i = 0; i < v->nin; i++) {
		good = good && !dpe_nets_has_place(u->in, u->nin, v->in[i]);
		if (v->in[i] != place)
			dpe_nets_arc(both, false, v->in[i]);
	}
	for (unsigned i = 0; i < v->nout; i++)
		dpe_nets_arc(both, true, v->out[i]);
	for (unsigned i = 0; i < u->nout; i++) {
		good = good && !dpe_nets_has_place(v->out, v->nout, u->out[i]);
		if (u->out[i] != place)
			dpe_nets_arc(both, true, u->out[i]);
	}
	return good && dpe_nets_may_have(r, both->nin, both->nout, both->words);
}

static bool is_among(const unsigned *numbers, unsigned count, unsigned number)
{
	return dpe_nets_has_place(numbers, count, number);
}

/* Nothing is changed where one of them cannot be. */
static bool replace(struct reducer *r, const struct around *a, unsigned place)
{
	unsigned before = r->net->ntransitions;
	bool good = true;

	for (unsigned i = 0; i < a->nmakers && good; i++) {
		for (unsigned j = 0; j < a->ntakers && good; j++)
			good = add_both(r, a->makers[i], a->takers[j], place);
	}
	while (!good && r->net->ntransitions > before)
		dpe_nets_drop(r->net, r->net->ntransitions - 1);
	for (unsigned i = before; good && i-- > 0;) {
		if (is_among(a->makers, a->nmakers, i) || is_among(a->takers, a->ntakers, i))
			dpe_nets_drop(r->net, i);
	}
	return good;
}

/* By how many events what is there becomes longer. */
static size_t growth(const struct reducer *r, const struct around *a)
{
	size_t more = 0;

	for (unsigned i = 0; i < a->nmakers; i++)
		more += r->net->transitions[a->makers[i]].words->size * (a->ntakers - 1);
	for (unsigned i = 0; i < a->ntakers; i++)
		more += r->net->transitions[a->takers[i]].words->size * (a->nmakers - 1);
	return more;
}

static bool can_go(const struct reducer *r, const struct around *a, unsigned place)
{
	if (r->fixed[place] || !a->nmakers || !a->ntakers)
		return false;
	for (unsigned i = 0; i < a->nmakers; i++) {
		if (is_among(a->takers, a->ntakers, a->makers[i]))
			return false;
	}
	return true;
}

/* Without a place, for whose makers and takers there are transitions that do both. */
static bool take_out(struct reducer *r, const struct around *a, unsigned place)
{
	if (can_hurry(r, a))
		return replace(r, a, place);
	if (!can_wait(r, a, place))
		return false;
	wait(r, a, place);
	return replace(r, a, place);
}

/* A place that several come together at, or several begin at, may be where a region begins or
 * ends. */
static bool is_crossing(const struct reducer *r, const struct around *a)
{
	bool joins = a->nmakers > 1, forks = a->ntakers > 1;

	for (unsigned i = 0; i < a->nmakers; i++)
		joins |= r->net->transitions[a->makers[i]].nin > 1;
	for (unsigned i = 0; i < a->ntakers; i++)
		forks |= r->net->transitions[a->takers[i]].nout > 1;
	return joins && forks;
}

/* A fork right after a fork, or a choice; a join right before a join, or the end of a choice: that
 * they are two shows what belongs together. */
static bool is_nested(const struct reducer *r, const struct around *a)
{
	bool forks = false, joins = false, after = a->ntakers > 1, before = a->nmakers > 1;

	for (unsigned i = 0; i < a->nmakers; i++) {
		forks |= r->net->transitions[a->makers[i]].nout > 1;
		before |= r->net->transitions[a->makers[i]].nin > 1;
	}
	for (unsigned i = 0; i < a->ntakers; i++) {
		after |= r->net->transitions[a->takers[i]].nout > 1;
		joins |= r->net->transitions[a->takers[i]].nin > 1;
	}
	return (forks && after) || (before && joins);
}

/* Those that make nothing longer. */
static bool take_out_places(struct reducer *r)
{
	bool changed = false;

	for (unsigned p = 0; p < r->net->nplaces; p++) {
		struct around a = look_around(r->net, p);

		if (can_go(r, &a, p) && !growth(r, &a) && !is_crossing(r, &a) &&
			(r->flat || !is_nested(r, &a)))
			changed |= take_out(r, &a, p);
		free_around(&a);
	}
	return changed;
}

static size_t cost_of(const struct reducer *r, unsigned place, size_t most)
{
	struct around a = look_around(r->net, place);
	size_t cost = SIZE_MAX;

	if (can_go(r, &a, place) && growth(r, &a) <= most &&
		(can_hurry(r, &a) || can_wait(r, &a, place)))
		cost = growth(r, &a);
	free_around(&a);
	return cost;
}

/* The one that makes things least longer. */
static bool take_out_best(struct reducer *r)
{
	unsigned best = NO_PLACE;
	size_t least = SIZE_MAX;
	struct around a;
	bool done;

	for (unsigned p = 0; p < r->net->nplaces; p++) {
		size_t cost = cost_of(r, p, MANY_COPIES);

		if (cost >= least)
			continue;
		least = cost;
		best = p;
	}
	if (best == NO_PLACE)
		return false;
	a = look_around(r->net, best);
	done = take_out(r, &a, best);
	free_around(&a);
	return done;
}

/* ---- all of it ------------------------------------------------------------------------------- */

static bool step(struct reducer *r)
{
	bool changed = drop_idle(r);

	changed |= merge_same(r);
	changed |= take_out_places(r);
	return changed || join_one(r) || unroll_one(r, true) ||
	       (r->regions && dpe_nets_reduce_region(r)) || unroll_one(r, false);
}

static const struct expr *last_one(const struct reducer *r)
{
	const struct transition *t = r->net->transitions;

	if (r->start == NO_PLACE || r->net->ntransitions != 1 || !is_between_two(t) ||
		*t->in != r->start || *t->out != r->end)
		return NULL;
	return t->words;
}

const struct expr *dpe_nets_reduce(struct reducer *r)
{
	while (step(r))
		;
	return last_one(r);
}

const struct expr *dpe_nets_reduce_further(struct reducer *r)
{
	r->flat = true;
	do
		while (step(r))
			;
	while (take_out_best(r));
	return last_one(r);
}
