/* A 1-safe net without silent transitions as an expression: its machines side by side, which move
 * together on the transitions that they share.
 *
 * Transitions with the same label are symbols of their own, but for those that need not be: where
 * the moves of some are all combinations of what each machine may do, one symbol stands for them.
 * What stands for several events has to be a symbol of one machine: in two of them it would say
 * twice what comes after what within it. */
#include "dpe-lang/nets/net.h"

#include <stdlib.h>
#include <string.h>

/* An expression of more events is divided into machines of one place each. */
#define MANY_SYMBOLS 500
#define MANY_STATES 256
#define MANY_ALTERNATIVES 1000

struct finder {
	struct work *work;
	struct net *net;
	struct machines machines;
	/* For one set of initial and one of final markings: */
	struct from_to ends;
	bool *used;              /* transitions */
	struct products symbols; /* of transitions; the moves of a machine are its choices */
	struct move *
		*moves; /* by machine: choice i + 1 is its move i; 0 is that it does not move */
	unsigned *nmoves, *capmoves;
	const char **labels; /* of transitions: what does not differ in it may be one symbol */
	unsigned nlabels, caplabels;
	bool split;
	bool known; /* the machines are: the net may have too many markings to look at them */
};

static unsigned state_in(const struct machine *machine, const tokens *marking)
{
	for (unsigned i = 0; i < machine->nplaces; i++) {
		if (marking[machine->places[i]])
			return i + 1;
	}
	return 0;
}

/* ---- sets of markings -------------------------------------------------------------------------
 */

static unsigned words_for(unsigned choices)
{
	return (choices + 63) / 64;
}

static struct products products_of(struct finder *r, const struct markings *markings)
{
	struct products products = {
		.ncolumns = r->machines.count, .nwords = words_for(r->net->nplaces + 1)};
	unsigned row[r->machines.count + 1];

	for (unsigned i = 0; i < markings->count; i++) {
		for (unsigned m = 0; m < r->machines.count; m++)
			row[m] = state_in(&r->machines.at[m], markings->at[i]);
		dpe_nets_products_add(&products, row, 0);
	}
	dpe_nets_products_merge(&products, false);
	return products;
}

static struct markings markings_in(struct finder *r, const struct markings *all,
	const struct products *products, unsigned which)
{
	struct markings some = {0};

	for (unsigned i = 0; i < all->count; i++) {
		bool within = true;

		for (unsigned m = 0; m < r->machines.count && within; m++)
			within = dpe_nets_products_have(
				products, which, m, state_in(&r->machines.at[m], all->at[i]));
		if (within)
			dpe_nets_mark(&some, all->at[i]);
	}
	return some;
}

/* ---- symbols ----------------------------------------------------------------------------------
 */

/* 0 where the transition does not touch the machine. */
static unsigned choice_of(struct finder *r, unsigned m, const struct transition *t)
{
	struct move move = {dpe_nets_state_of(&r->machines.at[m], t->in, t->nin),
		dpe_nets_state_of(&r->machines.at[m], t->out, t->nout), 0};

	if (!move.from && !move.to)
		return 0;
	for (unsigned i = 0; i < r->nmoves[m]; i++) {
		if (r->moves[m][i].from == move.from && r->moves[m][i].to == move.to)
			return i + 1;
	}
	*DPE_GROW(r->moves[m], r->nmoves[m], r->capmoves[m]) = move;
	return r->nmoves[m];
}

static unsigned label_number(struct finder *r, const char *label)
{
	unsigned i;

	for (i = 0; i < r->nlabels && r->labels[i] != label; i++)
		;
	if (i == r->nlabels)
		*DPE_GROW(r->labels, r->nlabels, r->caplabels) = label;
	return i;
}

static void add_symbols(struct finder *r)
{
	unsigned row[r->machines.count + 1];

	r->symbols = (struct products){
		.ncolumns = r->machines.count, .nwords = words_for(r->net->ntransitions + 1)};
	for (unsigned i = 0; i < r->net->ntransitions; i++) {
		if (!r->used[i])
			continue;
		for (unsigned m = 0; m < r->machines.count; m++)
			row[m] = choice_of(r, m, &r->net->transitions[i]);
		dpe_nets_products_add(
			&r->symbols, row, label_number(r, r->net->transitions[i].label));
	}
	dpe_nets_products_merge(&r->symbols, true);
}

static const struct expr *words_of_label(const struct finder *r, unsigned label)
{
	unsigned i;

	for (i = 0; r->net->transitions[i].label != r->labels[label]; i++)
		;
	return r->net->transitions[i].words;
}

/* How many machines a symbol moves. */
static unsigned count_moved(const struct finder *r, unsigned symbol)
{
	unsigned count = 0;

	for (unsigned m = 0; m < r->machines.count; m++)
		count += !dpe_nets_products_have(&r->symbols, symbol, m, 0);
	return count;
}

/* What parts of a net share is one event there, so it has to be one symbol here. */
static bool is_divided(const struct finder *r, unsigned symbol)
{
	if (words_of_label(r, r->symbols.groups[symbol])->kind != EXPR_SHARED)
		return false;
	for (unsigned i = 0; i < symbol; i++) {
		if (r->symbols.groups[i] == r->symbols.groups[symbol])
			return true;
	}
	return false;
}

/* False after a diagnostic: one stands for several events, and several machines need it. */
static bool fill_symbols(struct finder *r, struct kernel *kernel)
{
	kernel->nsymbols = r->symbols.count;
	kernel->symbols =
		dpe_arena_alloc(r->work->arena, (kernel->nsymbols + 1) * sizeof(*kernel->symbols));
	for (unsigned i = 0; i < kernel->nsymbols; i++) {
		kernel->symbols[i] = words_of_label(r, r->symbols.groups[i]);
		if (dpe_nets_is_simple(kernel->symbols[i]) ? !is_divided(r, i)
							   : count_moved(r, i) <= 1)
			continue;
		dpe_diag_at(r->work->diags, DPE_ERROR, r->work->file,
			"net '%s' is safe, but has too many places at which something of several "
			"events takes part",
			r->net->name);
		return false;
	}
	return true;
}

/* ---- machines ---------------------------------------------------------------------------------
 */

static struct move *moves_of(struct finder *r, unsigned m, unsigned *count)
{
	struct move *moves = NULL;
	unsigned cap = 0;

	*count = 0;
	for (unsigned s = 0; s < r->symbols.count; s++) {
		for (unsigned i = 0; i < r->nmoves[m]; i++) {
			if (!dpe_nets_products_have(&r->symbols, s, m, i + 1))
				continue;
			*DPE_GROW(moves, *count, cap) =
				(struct move){r->moves[m][i].from, r->moves[m][i].to, s};
		}
	}
	return moves;
}

static const struct regular *words_of(struct finder *r, unsigned m, const struct move *moves,
	unsigned nmoves, bool *empty, bool *large)
{
	unsigned nstates = r->machines.at[m].nplaces + 1, nmin, nminmoves;
	bool starts[nstates], ends[nstates], min_ends[MANY_STATES] = {0},
					     min_start[MANY_STATES] = {1};
	struct move *min_moves = NULL;
	size_t most = nstates > 2 ? MANY_SYMBOLS : SIZE_MAX; /* one place cannot be divided */
	const struct regular *e;

	for (unsigned i = 0; i < nstates; i++) {
		starts[i] = dpe_nets_products_have(r->ends.initial, r->ends.which_initial, m, i);
		ends[i] = dpe_nets_products_have(r->ends.final, r->ends.which_final, m, i);
	}
	nmin = dpe_nets_minimal(nstates, moves, nmoves, starts, ends, r->symbols.count, MANY_STATES,
		&min_moves, &nminmoves, min_ends);
	e = nmin ? dpe_nets_regular(r->work, nmin, min_moves, nminmoves, min_start, min_ends, most,
			   empty, large)
		 : dpe_nets_regular(
			   r->work, nstates, moves, nmoves, starts, ends, most, empty, large);
	free(min_moves);
	return e;
}

/* Nothing where one is there that has the same words. */
static void add_operand(struct kernel *kernel, const struct regular *e, bool or_nothing)
{
	for (unsigned i = 0; i < kernel->noperands; i++) {
		if (dpe_nets_regular_equal(kernel->operands[i], e) &&
			kernel->or_nothing[i] == or_nothing)
			return;
	}
	kernel->operands[kernel->noperands] = e;
	kernel->or_nothing[kernel->noperands++] = or_nothing;
}

static void add_machine(struct finder *r, struct kernel *kernel, unsigned m,
	const struct move *moves, unsigned nmoves)
{
	bool empty, large;
	const struct regular *e = words_of(r, m, moves, nmoves, &empty, &large);

	if (large) {
		dpe_nets_split_machine(&r->machines, m);
		r->split = true;
		return;
	}
	add_operand(kernel, e, empty && !dpe_nets_regular_nullable(e));
}

/* The machines side by side, without those that never move. */
static void add_machines(struct finder *r, struct kernel *kernel)
{
	unsigned count = r->machines.count;

	kernel->operands = dpe_arena_alloc(r->work->arena, (count + 1) * sizeof(*kernel->operands));
	kernel->or_nothing = dpe_arena_alloc(r->work->arena, count + 1);
	for (unsigned m = 0; m < count && !r->split; m++) {
		unsigned nmoves;
		struct move *moves = moves_of(r, m, &nmoves);

		if (nmoves)
			add_machine(r, kernel, m, moves, nmoves);
		free(moves);
	}
}

/* One operand alone is no & of any: an expression like others. */
static const struct expr *expr_of(
	struct work *work, const struct kernel *kernel, const struct regular *e)
{
	switch (e->kind) {
	case REGULAR_SYMBOL:
		return kernel->symbols[e->symbol];
	case REGULAR_SEQ:
		return dpe_nets_seq(
			work, expr_of(work, kernel, e->left), expr_of(work, kernel, e->right));
	case REGULAR_ALT:
		return dpe_nets_alt(
			work, expr_of(work, kernel, e->left), expr_of(work, kernel, e->right));
	case REGULAR_STAR:
		return dpe_nets_star(work, expr_of(work, kernel, e->left));
	}
	return NULL;
}

static const struct expr *words_of_kernel(struct work *work, const struct kernel *kernel)
{
	const struct expr *words;

	if (!kernel->noperands)
		return dpe_nets_empty(work);
	if (kernel->noperands > 1)
		return dpe_nets_kernel_expr(work, kernel);
	words = expr_of(work, kernel, kernel->operands[0]);
	return kernel->or_nothing[0] ? dpe_nets_alt(work, dpe_nets_empty(work), words) : words;
}

/* NULL after a diagnostic, or where a machine was divided and all has to be done again. */
static const struct expr *find_alternative(struct finder *r)
{
	unsigned count = r->machines.count;
	struct kernel *kernel = dpe_arena_alloc(r->work->arena, sizeof(*kernel));
	bool good;

	r->moves = dpe_xcalloc(count + 1, sizeof(*r->moves));
	r->nmoves = dpe_xcalloc(count + 1, sizeof(*r->nmoves));
	r->capmoves = dpe_xcalloc(count + 1, sizeof(*r->capmoves));
	r->nlabels = 0;
	add_symbols(r);
	good = fill_symbols(r, kernel);
	if (good)
		add_machines(r, kernel);
	for (unsigned m = 0; m < count; m++)
		free(r->moves[m]);
	free(r->moves);
	free(r->nmoves);
	free(r->capmoves);
	dpe_nets_products_free(&r->symbols);
	if (!good || r->split)
		return NULL;
	return words_of_kernel(r->work, kernel);
}

static bool may_do_nothing(
	const struct net *net, const struct markings *initial, const struct markings *final)
{
	for (unsigned i = 0; i < initial->count; i++) {
		if (dpe_nets_is_marked(net, final, initial->at[i]))
			return true;
	}
	return false;
}

/* `*some`: anything happens, or nothing may. False after a diagnostic. */
static bool find_used(
	struct finder *r, const struct markings *initial, const struct markings *final, bool *some)
{
	bool good = true, any = true;

	if (r->known)
		any = dpe_nets_find_moving(r->net, &r->machines, &r->ends, r->used);
	else
		good = dpe_nets_find_used(r->work, r->net, initial, final, r->used);
	*some = may_do_nothing(r->net, initial, final);
	for (unsigned i = 0; i < r->net->ntransitions && any; i++)
		*some |= r->used[i];
	return good;
}

static bool is_among(const struct expr *all, const struct expr *one)
{
	for (; all && all->kind == EXPR_ALT; all = all->left) {
		if (dpe_nets_expr_equal(all->right, one))
			return true;
	}
	return all && dpe_nets_expr_equal(all, one);
}

/* `*all`: with what leads from one of these markings to one of those, too. */
static bool add_pair(struct finder *r, const struct expr **all)
{
	struct markings initial =
		markings_in(r, &r->net->initial, r->ends.initial, r->ends.which_initial);
	struct markings final = markings_in(r, &r->net->final, r->ends.final, r->ends.which_final);
	const struct expr *one = NULL;
	bool good, some;

	r->used = dpe_xcalloc(r->net->ntransitions + 1, sizeof(*r->used));
	good = find_used(r, &initial, &final, &some);
	if (good && some)
		one = find_alternative(r);
	if (one && !is_among(*all, one))
		*all = *all ? dpe_nets_alt(r->work, *all, one) : one;
	free(r->used);
	free(initial.at);
	free(final.at);
	return good && (one || !some);
}

/* Transitions are compared with each other each time. */
static bool is_too_much(struct finder *r, const struct expr *so_far)
{
	r->work->tries += (uint64_t)r->net->ntransitions * r->net->ntransitions;
	return dpe_nets_too_long(r->work, r->net) ||
	       dpe_nets_too_many_words(r->work, r->net->name, so_far);
}

/* False after a diagnostic, or where a machine was divided and all has to be done again. */
static bool add_pairs(struct finder *r, const struct expr **all)
{
	struct products initial = products_of(r, &r->net->initial);
	struct products final = products_of(r, &r->net->final);
	bool good = initial.count * final.count <= MANY_ALTERNATIVES;

	if (!good)
		dpe_diag_at(r->work->diags, DPE_ERROR, r->work->file,
			"net '%s' is safe, but begins and ends in more than %u ways", r->net->name,
			MANY_ALTERNATIVES);
	r->ends.initial = &initial;
	r->ends.final = &final;
	for (unsigned i = 0; i < initial.count; i++) {
		for (unsigned j = 0; j < final.count && good; j++) {
			r->ends.which_initial = i;
			r->ends.which_final = j;
			good = !(*all && is_too_much(r, *all)) && add_pair(r, all);
		}
	}
	dpe_nets_products_free(&initial);
	dpe_nets_products_free(&final);
	return good;
}

static const struct expr *find_words(struct finder *r)
{
	const struct expr *all = NULL;
	bool good = true;

	while (good) {
		all = NULL;
		r->split = false;
		good = add_pairs(r, &all);
		if (!r->split)
			break;
		good = true;
	}
	free(r->labels);
	dpe_nets_machines_free(&r->machines);
	return good ? all : NULL;
}

const struct expr *dpe_nets_kernel(struct work *work, struct net *net)
{
	struct finder r = {.work = work, .net = net};

	if (dpe_nets_machines(work, net, &r.machines))
		return find_words(&r);
	dpe_nets_machines_free(&r.machines);
	return NULL;
}

const struct expr *dpe_nets_known_kernel(struct work *work, struct net *net)
{
	struct finder r = {.work = work, .net = net, .known = true};

	if (dpe_nets_known_machines(net, &r.machines))
		return find_words(&r);
	dpe_nets_machines_free(&r.machines);
	return NULL;
}
