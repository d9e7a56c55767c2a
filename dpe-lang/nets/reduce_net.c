/* Reduces a 1-safe net as state elimination reduces an automaton: transitions become expressions, a
 * silent one is the empty word. Each rule keeps the pomsets of the net. An expression of several
 * events has one input place and one output place only, since state machines cannot share it. The
 * proofs are in docs/internals/nets.md. */
#include "dpe-lang/nets/expr.h"
#include "dpe-lang/nets/reduce.h"

#include <string.h>

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

static bool merge_pair(struct reducer *r, struct transition *a, const struct transition *b)
{
	const struct expr *expr;

	if (!dpe_nets_same_places(a->in, a->nin, b->in, b->nin) ||
		!dpe_nets_same_places(a->out, a->nout, b->out, b->nout))
		return false;
	expr = dpe_nets_alt(r->tr, a->expr, b->expr);
	if (!dpe_nets_may_have(r, a->nin, a->nout, expr))
		return false;
	a->expr = expr;
	return true;
}

/* Transitions with the same inputs and outputs become one alternative. */
static bool merge_same(struct reducer *r)
{
	bool changed = false;

	for (unsigned i = 0; i < r->net->ntransitions; i++) {
		for (unsigned j = r->net->ntransitions; j-- > i + 1;) {
			if (!merge_pair(r, &r->net->transitions[i], &r->net->transitions[j]))
				continue;
			dpe_nets_drop_transition(r->net, j);
			changed = true;
		}
	}
	return changed;
}

/* A second place that takes over tokens of the first has the same concurrent places, except for the first one, since the
 * token could still be in the first. */
static void copy_concurrency(struct reducer *r, unsigned place, unsigned alike)
{
	for (unsigned p = 0; p < r->net->nplaces; p++) {
		bool with = p != place && p != alike && *dpe_nets_are_together(r, place, p);

		*dpe_nets_are_together(r, alike, p) = *dpe_nets_are_together(r, p, alike) = with;
	}
}

/* A loop on a place becomes a star: one transition from that place to a second one, from which the
 * others take now. */
static bool unroll(struct reducer *r, unsigned number)
{
	struct transition *loop = &r->net->transitions[number];
	unsigned place = *loop->in, next;
	const struct expr *expr;

	if (loop->nin != 1 || loop->nout != 1 || place != *loop->out || r->fixed[place])
		return false;
	expr = dpe_nets_star(r->tr, loop->expr);
	if (!r->nspare || !dpe_nets_may_have(r, 1, 1, expr))
		return false;
	next = r->net->nplaces - r->nspare--;
	copy_concurrency(r, place, next);
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
		dpe_nets_add_arc(t, false, next);
	}
	*loop->out = next;
	loop->expr = expr;
	return true;
}

/* Two loops at a place have been merged before (merge_same). */
static bool unroll_one(struct reducer *r)
{
	for (unsigned i = 0; i < r->net->ntransitions; i++) {
		if (unroll(r, i))
			return true;
	}
	return false;
}

static bool same_producers(const struct neighbours *a, const struct neighbours *b)
{
	return a->nproducers && dpe_nets_same_places(a->producers, a->nproducers, b->producers, b->nproducers);
}

static bool same_consumers(const struct neighbours *a, const struct neighbours *b)
{
	return a->nconsumers && dpe_nets_same_places(a->consumers, a->nconsumers, b->consumers, b->nconsumers);
}

/* The only transition that takes from the place, if it leads to one that nothing else fills. */
static struct transition *find_path(
	const struct reducer *r, const struct neighbours *all, unsigned place)
{
	struct transition *t;

	if (r->fixed[place] || all[place].nconsumers != 1)
		return NULL;
	t = &r->net->transitions[*all[place].consumers];
	if (!is_between_two(t) || all[*t->out].nproducers != 1 || r->fixed[*t->out])
		return NULL;
	return t;
}

/* Two places that are filled together, each with one path to places that are emptied together:
 * the paths become a & b between the first two. */
static bool join_paths(struct reducer *r, const struct neighbours *all, unsigned p, unsigned q)
{
	struct transition *a = find_path(r, all, p), *b = find_path(r, all, q);
	const struct expr *expr;
	unsigned out;

	if (!a || !b || !same_consumers(&all[*a->out], &all[*b->out]))
		return false;
	expr = dpe_nets_par(r->tr, a->expr, b->expr);
	if (!dpe_nets_may_have(r, 1, 1, expr))
		return false;
	a->expr = expr;
	out = *b->out;
	dpe_nets_drop_transition(r->net, (unsigned)(b - r->net->transitions));
	remove_arcs(r->net, q);
	remove_arcs(r->net, out);
	return true;
}

/* The same where the second path is empty, or where the places are filled and emptied together: the
 * second place is redundant. */
static bool drop_beside(struct reducer *r, const struct neighbours *all, unsigned p, unsigned q)
{
	const struct transition *a;

	if (r->fixed[p] || r->fixed[q])
		return false;
	a = find_path(r, all, p);
	if (!same_consumers(&all[p], &all[q]) && (!a || !same_consumers(&all[*a->out], &all[q])))
		return false;
	remove_arcs(r->net, q);
	return true;
}

static bool join_with_any(struct reducer *r, const struct neighbours *all, unsigned p)
{
	for (unsigned q = 0; q < r->net->nplaces; q++) {
		if (q == p || !same_producers(&all[p], &all[q]))
			continue;
		if (drop_beside(r, all, p, q) || join_paths(r, all, p, q))
			return true;
	}
	return false;
}

static bool join_one(struct reducer *r)
{
	unsigned count = r->net->nplaces;
	struct neighbours *all = dpe_nets_all_neighbours(r->net);
	bool changed = false;

	for (unsigned p = 0; p < count && !changed; p++)
		changed = join_with_any(r, all, p);
	dpe_nets_free_neighbours(all, count);
	return changed;
}

static bool step(struct reducer *r)
{
	bool changed = merge_same(r);

	changed |= dpe_nets_fuse(r);
	return changed || join_one(r) || (r->regions && dpe_nets_reduce_region(r)) || unroll_one(r);
}

static const struct expr *last_one(const struct reducer *r)
{
	const struct transition *t = r->net->transitions;

	if (r->start == NO_PLACE || r->net->ntransitions != 1 || !is_between_two(t) ||
		*t->in != r->start || *t->out != r->end)
		return NULL;
	return t->expr;
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
