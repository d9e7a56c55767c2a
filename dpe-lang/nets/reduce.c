/* A 1-safe net that is reduced as an automaton is by taking its states out, its transitions being
 * expressions: a silent one is the empty word.
 *
 * A firing of such a transition is all that one pomset of its words has; it comes after whatever
 * made what it takes, and before whoever takes what it leaves. Where that is to say no more than
 * the events themselves do, an expression of several events stands between one place and one place
 * only: others could not be in one machine (kernel.c). Each rule here keeps the pomsets. The net
 * stays 1-safe, for `together` says which places may be marked at once, or more of them. */
#include "dpe-lang/nets/net.h"

#include <stdlib.h>
#include <string.h>

bool dpe_nets_may_have(
	const struct reducer *r, unsigned nin, unsigned nout, const struct expr *words)
{
	if (dpe_nets_is_simple(words))
		return true;
	return r->blocks && nin == 1 && nout == 1 && words->size <= MANY_EVENTS;
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

		if (t->words->kind != EXPR_EMPTY || t->nin != 1 || t->nout != 1 ||
			*t->in != *t->out)
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
		bool with = p != place && p != alike && *dpe_nets_are_together(r, place, p);

		*dpe_nets_are_together(r, alike, p) = *dpe_nets_are_together(r, p, alike) = with;
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
	struct around *all = dpe_nets_look_around_all(r->net);
	bool changed = false;

	for (unsigned p = 0; p < count && !changed; p++)
		changed = join_with_any(r, all, p);
	for (unsigned p = 0; p < count; p++)
		dpe_nets_around_free(&all[p]);
	free(all);
	return changed;
}

/* ---- all of it ------------------------------------------------------------------------------- */

static bool step(struct reducer *r)
{
	bool changed = drop_idle(r);

	changed |= merge_same(r);
	changed |= dpe_nets_fuse(r);
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
	while (dpe_nets_fuse_best(r));
	return last_one(r);
}
