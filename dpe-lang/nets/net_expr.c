/* The behaviours of a 1-safe net as an expression: reduces the net, then divides what is left. That
 * is tried with transitions that stand for several events, which no two operands of & can share,
 * then without. */
#include "dpe-lang/nets/expr.h"

#include "dpe-lang/nets/event_names.h"
#include "dpe-lang/nets/limits.h"
#include "dpe-lang/nets/reachability.h"
#include "dpe-lang/nets/reduce.h"

#include <stdlib.h>
#include <string.h>

static struct net *copy_net(struct translation *tr, const struct net *old, unsigned more)
{
	struct net *new = dpe_nets_copy(tr, old, more);

	for (unsigned i = 0; i < new->ntransitions; i++) {
		struct transition *t = &new->transitions[i];

		if (t->expr)
			continue;
		t->expr = t->label ? dpe_nets_event(tr, dpe_nets_event_number(tr->events, t->label))
				   : dpe_nets_empty(tr);
	}
	return new;
}

/* Replaces the markings by one of this place alone, with a silent transition to or from each. */
static void add_end(struct translation *tr, struct net *net, struct markings *markings,
	unsigned place, bool start)
{
	tokens *one = dpe_nets_marking(tr, net);

	for (unsigned i = 0; i < markings->count; i++) {
		struct transition *t = dpe_nets_add(
			net, &(struct transition){.expr = dpe_nets_empty(tr), .id = net->name});

		dpe_nets_add_arc(t, !start, place);
		for (unsigned p = 0; p < net->nplaces; p++) {
			if (markings->at[i][p])
				dpe_nets_add_arc(t, start, p);
		}
	}
	dpe_nets_clear_markings(markings);
	one[place] = 1;
	dpe_nets_mark(markings, one);
}

static bool has_empty_marking(const struct net *net, const struct markings *markings)
{
	tokens empty[net->nplaces + 1];

	memset(empty, 0, sizeof(empty));
	return dpe_nets_is_marked(net, markings, empty);
}

/* The net between a start and an end place, which are its last ones but for the spare ones; NULL
 * where it cannot be, since it begins or ends without tokens. */
static struct net *enclose(struct translation *tr, const struct net *net, unsigned nspare)
{
	struct net *new;

	if (has_empty_marking(net, &net->initial) || has_empty_marking(net, &net->final))
		return NULL;
	new = copy_net(tr, net, nspare + 2);
	add_end(tr, new, &new->initial, net->nplaces, true);
	add_end(tr, new, &new->final, net->nplaces + 1, false);
	return new;
}

/* Whether only silent transitions that touch no other place at that side touch the place, and there
 * is one. */
static bool can_remove_end(const struct net *net, unsigned place, bool start)
{
	bool any = false;

	for (unsigned i = 0; i < net->ntransitions; i++) {
		const struct transition *t = &net->transitions[i];
		const unsigned *places = start ? t->in : t->out;
		unsigned count = start ? t->nin : t->nout;

		if (!dpe_nets_has_place(places, count, place))
			continue;
		if (t->expr->kind != EXPR_EMPTY || count != 1)
			return false;
		any = true;
	}
	return any;
}

/* Undoes add_end if that is still possible. */
static void remove_end(struct translation *tr, struct net *net, struct markings *markings,
	unsigned place, bool start)
{
	if (!can_remove_end(net, place, start))
		return;
	dpe_nets_clear_markings(markings);
	for (unsigned i = net->ntransitions; i-- > 0;) {
		struct transition *t = &net->transitions[i];
		tokens *marking;

		if (!dpe_nets_has_place(start ? t->in : t->out, start ? t->nin : t->nout, place))
			continue;
		marking = dpe_nets_marking(tr, net);
		for (unsigned j = 0; j < (start ? t->nout : t->nin); j++)
			marking[start ? t->out[j] : t->in[j]]++;
		dpe_nets_mark(markings, marking);
		dpe_nets_drop_transition(net, i);
	}
}

static const struct expr *divide(struct translation *tr, struct net *net, bool blocks)
{
	const struct expr *expr = NULL;

	net = dpe_nets_trim(tr, net);
	if (!net || !net->initial.count)
		return NULL;
	dpe_nets_dump(tr, "reduced", net);
	if (!net->ntransitions)
		return dpe_nets_empty(tr);
	if (blocks && tr->depth < MAX_DEPTH)
		expr = dpe_nets_by_components(tr, net);
	return expr ? expr : dpe_nets_by_state_machines(tr, net);
}

static bool *find_fixed(const struct net *net)
{
	bool *fixed = dpe_xcalloc(net->nplaces + 1, sizeof(*fixed));

	for (unsigned p = 0; p < net->nplaces; p++) {
		for (unsigned i = 0; i < net->initial.count; i++)
			fixed[p] |= net->initial.at[i][p] > 0;
		for (unsigned i = 0; i < net->final.count; i++)
			fixed[p] |= net->final.at[i][p] > 0;
	}
	return fixed;
}

static const struct expr *reduce_and_divide(struct reducer *r)
{
	const struct expr *expr = dpe_nets_reduce(r);
	struct net *left;

	if (expr)
		return expr;
	left = copy_net(r->tr, r->net, 0);
	if (r->start != NO_PLACE) {
		remove_end(r->tr, left, &left->initial, r->start, true);
		remove_end(r->tr, left, &left->final, r->end, false);
	}
	expr = r->start != NO_PLACE && r->blocks ? dpe_nets_reduce_further(r) : NULL;
	return expr ? expr : divide(r->tr, left, r->blocks);
}

/* Without a start and an end place where the net would not be 1-safe with them: it continues after a
 * final marking. */
static void begin(struct reducer *r, const struct net *net)
{
	struct dpe_diags *diags = dpe_nets_divert_diags(r->tr);

	r->nspare = net->ntransitions < MAX_LOOPS ? net->ntransitions : MAX_LOOPS;
	r->net = enclose(r->tr, net, r->nspare);
	r->together = r->net ? dpe_nets_concurrent_places(r->tr, r->net) : NULL;
	dpe_nets_restore_diags(r->tr, diags);
	r->start = r->together ? net->nplaces : NO_PLACE;
	r->end = r->together ? net->nplaces + 1 : NO_PLACE;
	if (r->together)
		return;
	r->net = copy_net(r->tr, net, r->nspare);
	r->together = dpe_nets_concurrent_places(r->tr, r->net);
}

static const struct expr *attempt(struct translation *tr, const struct net *net, bool blocks)
{
	struct reducer r = {.tr = tr,
		.blocks = blocks,
		.flat = !blocks,
		.regions = blocks && tr->depth < MAX_DEPTH};
	const struct expr *expr = NULL;

	begin(&r, net);
	r.fixed = find_fixed(r.net);
	tr->depth++;
	if (r.together)
		expr = reduce_and_divide(&r);
	tr->depth--;
	free(r.together);
	free(r.fixed);
	return expr;
}

const struct expr *dpe_nets_expr(struct translation *tr, struct net *net)
{
	struct dpe_diags *diags = dpe_nets_divert_diags(tr);
	const struct expr *expr = attempt(tr, net, true);

	dpe_nets_restore_diags(tr, diags);
	return expr ? expr : attempt(tr, net, false);
}
