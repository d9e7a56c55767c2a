/* Covers a net with sets of places, at most one of which is marked at any time, and writes it as an
 * & of these state machines (appendix I.2 of the paper: a 1-safe net is a concurrent composition of
 * sequential machines). */
#include "dpe-lang/nets/expr.h"
#include "dpe-lang/nets/limits.h"
#include "dpe-lang/nets/reachability.h"

#include <stdlib.h>

struct cover {
	struct translation *tr;
	const struct net *net;
	bool *together; /* by two places: some marking has both */
	bool *covered;
	struct place_sets sets;
};

static bool excludes_all(const struct cover *c, const struct place_set *set, unsigned place)
{
	for (unsigned i = 0; i < set->count; i++) {
		if (c->together[(size_t)place * c->net->nplaces + set->places[i]])
			return false;
	}
	return true;
}

static bool touches(const struct place_set *set, const unsigned *places, unsigned count)
{
	for (unsigned i = 0; i < count; i++) {
		if (dpe_nets_has_place(set->places, set->count, places[i]))
			return true;
	}
	return false;
}

/* A place that continues the machine: the other end of a transition that only takes its token, or
 * only gives it one. NO_PLACE if there is none. */
static unsigned find_next(const struct cover *c, const struct place_set *set, bool covered)
{
	for (unsigned i = 0; i < c->net->ntransitions; i++) {
		const struct transition *t = &c->net->transitions[i];
		bool takes = touches(set, t->in, t->nin), gives = touches(set, t->out, t->nout);
		const unsigned *places = gives ? t->in : t->out;

		for (unsigned j = 0; takes != gives && j < (gives ? t->nin : t->nout); j++) {
			if ((covered || !c->covered[places[j]]) && excludes_all(c, set, places[j]))
				return places[j];
		}
	}
	return NO_PLACE;
}

/* Whether every transition that touches the machine takes its token and gives it back. */
static bool is_closed(const struct net *net, const struct place_set *set)
{
	for (unsigned i = 0; i < net->ntransitions; i++) {
		const struct transition *t = &net->transitions[i];

		if (touches(set, t->in, t->nin) != touches(set, t->out, t->nout))
			return false;
	}
	return true;
}

/* A machine around the place. Places of other machines are added only if that closes it. */
static void grow(struct cover *c, unsigned place)
{
	struct place_set *set = dpe_nets_add_set(&c->sets);
	unsigned own;

	for (; place != NO_PLACE; place = find_next(c, set, false)) {
		dpe_nets_add_place(set, place);
		c->covered[place] = true;
	}
	own = set->count;
	while ((place = find_next(c, set, true)) != NO_PLACE)
		dpe_nets_add_place(set, place);
	if (!is_closed(c->net, set))
		set->count = own;
}

static bool find_machines(struct cover *c)
{
	c->together = dpe_nets_concurrent_places(c->tr, c->net);
	if (!c->together)
		return false;
	c->covered = dpe_xcalloc(c->net->nplaces + 1, sizeof(*c->covered));
	for (unsigned later = 0; later < 2; later++) {
		for (unsigned p = 0; p < c->net->nplaces; p++) {
			if (!c->covered[p] && (later || c->net->initial.at[0][p]))
				grow(c, p);
		}
	}
	free(c->covered);
	free(c->together);
	return true;
}

static void mark_idle(struct markings *markings, const struct place_set *set, unsigned idle)
{
	for (unsigned i = 0; i < markings->count; i++) {
		markings->at[i][idle] = 1;
		for (unsigned j = 0; j < set->count; j++) {
			if (markings->at[i][set->places[j]])
				markings->at[i][idle] = 0;
		}
	}
}

/* Adds a place to the machine that is marked when no other place of it is. It adds no order, since transitions that touch a
 * machine are ordered anyway: if a firing that takes its token were independent of one that puts a token into it, the
 * latter could come first, and two places would be marked. */
static void add_idle_place(struct net *net, struct place_set *set, unsigned idle)
{
	for (unsigned i = 0; i < net->ntransitions; i++) {
		struct transition *t = &net->transitions[i];
		bool takes = touches(set, t->in, t->nin), gives = touches(set, t->out, t->nout);

		if (takes != gives)
			dpe_nets_add_arc(t, takes, idle);
	}
	mark_idle(&net->initial, set, idle);
	mark_idle(&net->final, set, idle);
	dpe_nets_add_place(set, idle);
}

static struct net *with_idle_places(struct cover *c)
{
	struct net *net = dpe_nets_copy(c->tr, c->net, c->sets.count);

	for (unsigned s = 0; s < c->sets.count; s++) {
		if (!is_closed(net, &c->sets.at[s]))
			add_idle_place(net, &c->sets.at[s], c->net->nplaces + s);
	}
	return net;
}

/* `*all` or what leads from one initial marking to one final one; false if that is refused. */
static bool add_alternative(struct cover *c, const struct net *net, unsigned initial,
	unsigned final, const struct expr **all)
{
	struct net *part = dpe_nets_copy(c->tr, net, 0);
	const struct expr *expr;

	part->initial.at[0] = part->initial.at[initial];
	part->final.at[0] = part->final.at[final];
	part->initial.count = part->final.count = 1;
	part = dpe_nets_trim(c->tr, part);
	if (!part || !part->initial.count)
		return part;
	expr = dpe_nets_expr(c->tr, part);
	if (expr)
		*all = *all ? dpe_nets_alt(c->tr, *all, expr) : expr;
	return expr && (*all)->size <= MAX_EVENTS;
}

/* Where the final markings are not all combinations of final states of the machines, each is an
 * alternative of its own. */
static const struct expr *add_alternatives(struct cover *c, const struct net *net)
{
	size_t pairs = (size_t)net->initial.count * net->final.count;
	struct dpe_diags *diags = dpe_nets_divert_diags(c->tr);
	const struct expr *all = NULL;
	bool good = pairs > 1 && pairs <= MAX_ENDS;

	for (unsigned i = 0; i < pairs && good; i++)
		good = add_alternative(c, net, i / net->final.count, i % net->final.count, &all);
	dpe_nets_restore_diags(c->tr, diags);
	return good ? all : NULL;
}

/* A transition of several machines that is not one event, so that they cannot share it; NULL. */
static const struct transition *find_unshareable(
	const struct net *net, const struct place_sets *sets)
{
	for (unsigned i = 0; i < net->ntransitions; i++) {
		const struct transition *t = &net->transitions[i];
		unsigned count = 0;

		for (unsigned s = 0; s < sets->count; s++)
			count += touches(&sets->at[s], t->in, t->nin) ||
				 touches(&sets->at[s], t->out, t->nout);
		if (count > 1 && (t->expr->kind == EXPR_EMPTY || !dpe_nets_is_simple(t->expr)))
			return t;
	}
	return NULL;
}

static void refuse(struct cover *c, const struct transition *unshareable)
{
	if (unshareable)
		dpe_diag_at(c->tr->diags, DPE_ERROR, c->tr->file,
			"not supported: the silent transition '%s' synchronises state machines of "
			"net '%s': give it a name, or use --name-silent",
			unshareable->id, c->net->name);
	else
		dpe_diag_at(c->tr->diags, DPE_ERROR, c->tr->file,
			"not supported: the rule of net '%s' would have more than %u events, or "
			"more than %u alternatives by where it begins and ends",
			c->net->name, MAX_EVENTS, MAX_ENDS);
}

const struct expr *dpe_nets_by_state_machines(struct translation *tr, const struct net *net)
{
	struct cover c = {.tr = tr, .net = net};
	const struct transition *unshareable;
	const struct expr *expr = NULL;
	struct net *closed;

	if (!find_machines(&c))
		return NULL;
	closed = with_idle_places(&c);
	unshareable = find_unshareable(closed, &c.sets);
	/* A single machine without an idle place is the net itself: that would not end. */
	if (!unshareable && (c.sets.count > 1 || c.sets.at[0].count > net->nplaces))
		expr = dpe_nets_by_operands(tr, closed, &c.sets);
	if (!expr && !unshareable)
		expr = add_alternatives(&c, closed);
	if (!expr)
		refuse(&c, unshareable);
	dpe_nets_free_sets(&c.sets);
	return expr;
}
