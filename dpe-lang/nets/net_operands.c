/* Writes a net as an & with one operand for each of some sets of its places. A transition that
 * touches several sets becomes an event that their operands share; transitions of one label whose
 * moves are all combinations of what each set may do share one event. docs/internals/nets.md. */
#include "dpe-lang/nets/expr.h"
#include "dpe-lang/nets/reachability.h"

#include <stdlib.h>
#include <string.h>

/* Rows of choices, one for each column, grouped into Cartesian products that contain exactly these
 * rows. */
struct products {
	unsigned ncolumns, nwords; /* up to nwords × 64 choices a column */
	uint64_t **sets;           /* of each product: ncolumns × nwords words */
	unsigned *groups;          /* rows of different groups are never put together */
	unsigned count, cap, capgroups;
};

struct operands {
	struct translation *tr;
	const struct net *net;
	const struct place_sets *sets;
	bool *member;             /* by set and place */
	struct products products; /* of moves: choice i + 1 is moves[set][i], 0 is no move */
	unsigned **moves;         /* by set: a transition for each different move */
	unsigned *nmoves, *capmoves;
	const struct expr **groups; /* different expressions: those of a product's group */
	unsigned ngroups, capgroups;
	const struct expr **events; /* by product */
	bool apart;                 /* each shared transition is an event of its own */
};

static struct products new_products(unsigned ncolumns, unsigned choices)
{
	return (struct products){.ncolumns = ncolumns, .nwords = (choices + 63) / 64};
}

static void add_row(struct products *p, const unsigned *row, unsigned group)
{
	uint64_t *set = dpe_xcalloc((size_t)p->ncolumns * p->nwords + 1, sizeof(*set));
	unsigned count = p->count;

	for (unsigned c = 0; c < p->ncolumns; c++)
		set[c * p->nwords + row[c] / 64] |= UINT64_C(1) << row[c] % 64;
	*DPE_GROW(p->sets, p->count, p->cap) = set;
	*DPE_GROW(p->groups, count, p->capgroups) = group;
}

static bool has_choice(const struct products *p, unsigned product, unsigned column, unsigned choice)
{
	return p->sets[product][column * p->nwords + choice / 64] >> choice % 64 & 1;
}

/* The number of columns that differ, at most 2; `*column` is the last of them. */
static unsigned differ(const struct products *p, unsigned a, unsigned b, unsigned *column)
{
	size_t size = p->nwords * sizeof(uint64_t);
	unsigned count = 0;

	for (unsigned c = 0; c < p->ncolumns && count < 2; c++) {
		if (!memcmp(p->sets[a] + c * p->nwords, p->sets[b] + c * p->nwords, size))
			continue;
		*column = c;
		count++;
	}
	return count;
}

static bool merge(struct products *p, unsigned a, unsigned b)
{
	unsigned column = 0, count;

	if (p->groups[a] != p->groups[b])
		return false;
	count = differ(p, a, b, &column);
	if (count > 1)
		return false;
	if (count && (has_choice(p, a, column, 0) || has_choice(p, b, column, 0)))
		return false;
	for (unsigned w = 0; count && w < p->nwords; w++)
		p->sets[a][column * p->nwords + w] |= p->sets[b][column * p->nwords + w];
	free(p->sets[b]);
	p->count--;
	p->sets[b] = p->sets[p->count];
	p->groups[b] = p->groups[p->count];
	return true;
}

/* Choice 0, "does not take part", is merged with no other. */
static void merge_all(struct products *p)
{
	bool changed = true;

	while (changed) {
		changed = false;
		for (unsigned a = 0; a < p->count; a++) {
			for (unsigned b = a + 1; b < p->count;) {
				if (merge(p, a, b))
					changed = true;
				else
					b++;
			}
		}
	}
}

static void free_products(struct products *p)
{
	for (unsigned i = 0; i < p->count; i++)
		free(p->sets[i]);
	free(p->sets);
	free(p->groups);
}

static bool is_member(const struct operands *o, unsigned set, unsigned place)
{
	return o->member[(size_t)set * o->net->nplaces + place];
}

static bool touches(const struct operands *o, unsigned set, const struct transition *t)
{
	for (unsigned i = 0; i < t->nin; i++) {
		if (is_member(o, set, t->in[i]))
			return true;
	}
	for (unsigned i = 0; i < t->nout; i++) {
		if (is_member(o, set, t->out[i]))
			return true;
	}
	return false;
}

static unsigned count_touched(const struct operands *o, const struct transition *t)
{
	unsigned count = 0;

	for (unsigned s = 0; s < o->sets->count; s++)
		count += touches(o, s, t);
	return count;
}

/* ---- shared events --------------------------------------------------------------------------- */

static bool same_within(const struct operands *o, unsigned set, const unsigned *a, unsigned na,
	const unsigned *b, unsigned nb)
{
	unsigned i = 0, j = 0;

	for (;;) {
		while (i < na && !is_member(o, set, a[i]))
			i++;
		while (j < nb && !is_member(o, set, b[j]))
			j++;
		if (i == na || j == nb)
			return i == na && j == nb;
		if (a[i++] != b[j++])
			return false;
	}
}

/* The move of the set; 0 where the transition does not touch it. */
static unsigned choice_of(struct operands *o, unsigned set, unsigned number)
{
	const struct transition *all = o->net->transitions, *t = &all[number];

	if (!touches(o, set, t))
		return 0;
	for (unsigned i = 0; i < o->nmoves[set]; i++) {
		const struct transition *known = &all[o->moves[set][i]];

		if (same_within(o, set, known->in, known->nin, t->in, t->nin) &&
			same_within(o, set, known->out, known->nout, t->out, t->nout))
			return i + 1;
	}
	*DPE_GROW(o->moves[set], o->nmoves[set], o->capmoves[set]) = number;
	return o->nmoves[set];
}

static unsigned group_of(struct operands *o, const struct expr *expr)
{
	for (unsigned i = 0; i < o->ngroups; i++) {
		if (dpe_nets_expr_equal(o->groups[i], expr))
			return i;
	}
	*DPE_GROW(o->groups, o->ngroups, o->capgroups) = expr;
	return o->ngroups - 1;
}

/* False if a shared transition is not one event. */
static bool find_products(struct operands *o)
{
	unsigned *row = dpe_xcalloc(o->sets->count + 1, sizeof(*row));
	bool good = true;

	o->products = new_products(o->sets->count, o->net->ntransitions + 1);
	for (unsigned i = 0; i < o->net->ntransitions && good; i++) {
		const struct transition *t = &o->net->transitions[i];

		if (count_touched(o, t) < 2)
			continue;
		good = dpe_nets_is_simple(t->expr) && t->expr->kind != EXPR_EMPTY;
		for (unsigned s = 0; s < o->sets->count; s++)
			row[s] = choice_of(o, s, i);
		add_row(&o->products, row, group_of(o, t->expr));
	}
	if (!o->apart)
		merge_all(&o->products);
	free(row);
	return good;
}

/* False if one event of an enclosing & would become several. */
static bool name_products(struct operands *o, struct synced_operands *synced)
{
	unsigned count = o->products.count;

	o->events = dpe_arena_alloc(o->tr->arena, (count + 1) * sizeof(*o->events));
	synced->shared = dpe_arena_alloc(o->tr->arena, (count + 1) * sizeof(*synced->shared));
	for (unsigned i = 0; i < count; i++) {
		const struct expr *expr = o->groups[o->products.groups[i]];

		for (unsigned j = 0; j < i && expr->kind == EXPR_SHARED; j++) {
			if (o->products.groups[j] == o->products.groups[i])
				return false;
		}
		o->events[i] = expr;
		if (expr->kind == EXPR_SHARED)
			continue;
		o->events[i] = dpe_nets_shared(o->tr, expr);
		synced->shared[synced->nshared++] = o->events[i];
	}
	return true;
}

/* ---- an operand as a net --------------------------------------------------------------------- */

static void add_transitions(
	const struct operands *o, struct net *new, unsigned set, const unsigned *number)
{
	const struct transition *all = o->net->transitions;

	for (unsigned i = 0; i < o->net->ntransitions; i++) {
		if (count_touched(o, &all[i]) == 1 && touches(o, set, &all[i]))
			dpe_nets_add_renumbered(new, &all[i], number);
	}
	for (unsigned i = 0; i < o->products.count; i++) {
		for (unsigned j = 0; j < o->nmoves[set]; j++) {
			if (!has_choice(&o->products, i, set, j + 1))
				continue;
			dpe_nets_add_renumbered(new, &all[o->moves[set][j]], number)->expr =
				o->events[i];
		}
	}
}

static struct net *net_of(const struct operands *o, unsigned set)
{
	const struct place_set *places = &o->sets->at[set];
	unsigned *number = dpe_xcalloc(o->net->nplaces + 1, sizeof(*number));
	struct net *new = dpe_nets_new(o->tr, o->net->name, places->count);

	for (unsigned p = 0; p < o->net->nplaces; p++)
		number[p] = NO_PLACE;
	for (unsigned i = 0; i < places->count; i++) {
		number[places->places[i]] = i;
		new->places[i] = o->net->places[places->places[i]];
	}
	add_transitions(o, new, set, number);
	dpe_nets_add_markings(o->tr, o->net, new, &o->net->initial, &new->initial, number);
	dpe_nets_add_markings(o->tr, o->net, new, &o->net->final, &new->final, number);
	free(number);
	return new;
}

/* ---- what makes the operands equal to the net ------------------------------------------------ */

/* Whether the initial and final markings are all combinations of those of the operands. */
static bool are_independent(const struct operands *o, struct net **nets)
{
	size_t initial = 1, final = 1;

	for (unsigned i = 0; i < o->sets->count; i++) {
		initial *= nets[i]->initial.count;
		final *= nets[i]->final.count;
		if (initial > o->net->initial.count || final > o->net->final.count)
			return false;
	}
	return initial == o->net->initial.count && final == o->net->final.count;
}

static bool may_be_concurrent(const struct net *net, const bool *together,
	const struct transition *a, const struct transition *b)
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

/* Whether the operand is 1-safe, and occurrences of a shared event are ordered within it: else the
 * operands could pair different occurrences. */
static bool is_ordered(const struct operands *o, const struct net *net)
{
	bool *together = dpe_nets_concurrent_places(o->tr, net), good = together;

	for (unsigned i = 0; i < net->ntransitions && good; i++) {
		const struct transition *a = &net->transitions[i];

		for (unsigned j = 0; j < i && good && a->expr->kind == EXPR_SHARED; j++)
			good = net->transitions[j].expr != a->expr ||
			       !may_be_concurrent(net, together, a, &net->transitions[j]);
	}
	free(together);
	return good;
}

/* An operand by itself may have behaviours that the other operands rule out. */
static bool are_valid(const struct operands *o, struct net **nets)
{
	bool good = are_independent(o, nets);

	for (unsigned i = 0; i < o->sets->count && good; i++)
		good = is_ordered(o, nets[i]);
	return good;
}

/* ---- all operands ---------------------------------------------------------------------------- */

static bool has_own_event(const struct expr *e)
{
	return e && (e->kind == EXPR_EVENT || e->sync || has_own_event(e->left) ||
			    has_own_event(e->right));
}

/* Leaves out an operand that restricts shared events as another one does. */
static void add_operand(struct synced_operands *synced, const struct expr *expr)
{
	for (unsigned i = 0; i < synced->noperands; i++) {
		if (!has_own_event(expr) && dpe_nets_expr_equal(synced->operands[i], expr))
			return;
	}
	if (expr->kind != EXPR_EMPTY)
		synced->operands[synced->noperands++] = expr;
}

static const struct expr *translate(struct operands *o, struct synced_operands *synced)
{
	unsigned count = o->sets->count;
	struct net **nets = dpe_arena_alloc(o->tr->arena, (count + 1) * sizeof(*nets));

	synced->operands = dpe_arena_alloc(o->tr->arena, (count + 1) * sizeof(*synced->operands));
	for (unsigned i = 0; i < count; i++)
		nets[i] = net_of(o, i);
	if (!are_valid(o, nets))
		return NULL;
	for (unsigned i = 0; i < count; i++) {
		const struct expr *expr;

		dpe_nets_dump(o->tr, "operand of &", nets[i]);
		expr = dpe_nets_expr(o->tr, nets[i]);
		if (!expr)
			return NULL;
		add_operand(synced, expr);
	}
	if (!synced->noperands)
		return dpe_nets_empty(o->tr);
	return dpe_nets_sync(o->tr, synced);
}

static const struct expr *share_and_translate(struct operands *o)
{
	struct synced_operands *synced = dpe_arena_alloc(o->tr->arena, sizeof(*synced));
	unsigned count = o->sets->count;
	const struct expr *expr = NULL;

	o->moves = dpe_xcalloc(count, sizeof(*o->moves));
	o->nmoves = dpe_xcalloc(count, sizeof(*o->nmoves));
	o->capmoves = dpe_xcalloc(count, sizeof(*o->capmoves));
	if (find_products(o) && name_products(o, synced))
		expr = translate(o, synced);
	for (unsigned s = 0; s < count; s++)
		free(o->moves[s]);
	free(o->moves);
	free(o->nmoves);
	free(o->capmoves);
	free(o->groups);
	o->groups = NULL;
	o->ngroups = o->capgroups = 0;
	free_products(&o->products);
	return expr;
}

const struct expr *dpe_nets_by_operands(
	struct translation *tr, const struct net *net, const struct place_sets *sets)
{
	struct operands o = {.tr = tr, .net = net, .sets = sets};
	struct dpe_diags *diags = dpe_nets_divert_diags(tr);
	const struct expr *expr;

	o.member = dpe_xcalloc((size_t)sets->count * net->nplaces + 1, sizeof(*o.member));
	for (unsigned s = 0; s < sets->count; s++) {
		for (unsigned i = 0; i < sets->at[s].count; i++)
			o.member[(size_t)s * net->nplaces + sets->at[s].places[i]] = true;
	}
	expr = share_and_translate(&o);
	o.apart = true;
	if (!expr)
		expr = share_and_translate(&o);
	free(o.member);
	dpe_nets_restore_diags(tr, diags);
	return expr;
}
