/* A 1-safe net without silent transitions as a rule: its machines side by side, which move together
 * on the transitions that they share.
 *
 * Transitions with the same label are told apart by carets, but for those that need not be: where
 * the moves of some are all combinations of what each machine may do, one event stands for them. */
#include "nets/net.h"

#include <stdlib.h>
#include <string.h>

/* An expression of more events is divided into machines of one place each. */
#define MANY_SYMBOLS 500
#define MANY_STATES 256
#define MANY_ALTERNATIVES 1000

struct ruler {
	struct work *work;
	struct net *net;
	struct machines machines;
	struct events events;
	/* For one set of initial and one of final markings: */
	const struct products *initial, *final;
	unsigned which_initial, which_final;
	bool *used;              /* transitions */
	struct products symbols; /* of transitions; the moves of a machine are its choices */
	struct move *
		*moves; /* by machine: choice i + 1 is its move i; 0 is that it does not move */
	unsigned *nmoves, *capmoves;
	const char **texts;           /* of the symbols */
	const struct regular **words; /* of the machines that are written already */
	unsigned nnothings;           /* times that the empty word was written */
	bool wrong, split;
};

static unsigned state_in(const struct machine *machine, const tokens *marking)
{
	for (unsigned i = 0; i < machine->nplaces; i++) {
		if (marking[machine->places[i]])
			return i + 1;
	}
	return 0;
}

static unsigned state_of(const struct machine *machine, const unsigned *places, unsigned count)
{
	for (unsigned i = 0; i < machine->nplaces; i++) {
		if (dpe_nets_has_place(places, count, machine->places[i]))
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

static struct products products_of(struct ruler *r, const struct markings *markings)
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

static struct markings markings_in(struct ruler *r, const struct markings *all,
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
static unsigned choice_of(struct ruler *r, unsigned m, const struct transition *t)
{
	struct move move = {state_of(&r->machines.at[m], t->in, t->nin),
		state_of(&r->machines.at[m], t->out, t->nout), 0};

	if (!move.from && !move.to)
		return 0;
	for (unsigned i = 0; i < r->nmoves[m]; i++) {
		if (r->moves[m][i].from == move.from && r->moves[m][i].to == move.to)
			return i + 1;
	}
	*DPE_GROW(r->moves[m], r->nmoves[m], r->capmoves[m]) = move;
	return r->nmoves[m];
}

/* Events as numbers, equal where their texts are. */
static unsigned event_number(struct ruler *r, const char *label)
{
	const char *text = dpe_nets_events_text(r->work, &r->events, label);
	unsigned i;

	for (i = 0; i < r->events.count && strcmp(r->events.texts[i], text); i++)
		;
	return i;
}

static void add_symbols(struct ruler *r)
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
			&r->symbols, row, event_number(r, r->net->transitions[i].label));
	}
	dpe_nets_products_merge(&r->symbols, true);
}

/* The first symbol of an event has no caret, the next one, and so on. */
static void name_symbols(struct ruler *r)
{
	r->texts = dpe_xcalloc(r->symbols.count + 1, sizeof(*r->texts));
	for (unsigned i = 0; i < r->symbols.count; i++) {
		unsigned carets = 0;

		for (unsigned j = 0; j < i; j++)
			carets += r->symbols.groups[j] == r->symbols.groups[i];
		r->texts[i] = dpe_nets_events_with_carets(
			r->work, r->events.texts[r->symbols.groups[i]], carets);
		if (r->texts[i] || r->wrong)
			continue;
		r->wrong = true;
		r->texts[i] = r->events.texts[r->symbols.groups[i]];
		dpe_diag_at(r->work->diags, DPE_ERROR, r->work->file,
			"not supported: net '%s' has several transitions %s, which a rule would "
			"tell apart "
			"by carets; but data events have none",
			r->net->name, r->texts[i]);
	}
}

/* ---- machines ---------------------------------------------------------------------------------
 */

static struct move *moves_of(struct ruler *r, unsigned m, unsigned *count)
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

/* The empty word, for there is no sign for it: nothing can come first. */
static void add_nothing(struct ruler *r, struct dpe_text *to, const struct move *move)
{
	unsigned event = r->symbols.groups[move->symbol], used = 0;
	const char *one, *other;

	for (unsigned i = 0; i < r->symbols.count; i++)
		used += r->symbols.groups[i] == event;
	used += 2 * r->nnothings++;
	one = dpe_nets_events_with_carets(r->work, r->events.texts[event], used);
	other = dpe_nets_events_with_carets(r->work, r->events.texts[event], used + 1);
	if (one && other)
		dpe_text_printf(to, "+((%s;%s)*&(%s;%s)*)", one, other, other, one);
	r->wrong |= !one;
}

static const struct regular *words_of(struct ruler *r, unsigned m, const struct move *moves,
	unsigned nmoves, bool *empty, bool *large)
{
	unsigned nstates = r->machines.at[m].nplaces + 1, nmin, nminmoves;
	bool starts[nstates], ends[nstates], min_ends[MANY_STATES] = {0},
					     min_start[MANY_STATES] = {1};
	struct move *min_moves = NULL;
	const struct regular *e;

	for (unsigned i = 0; i < nstates; i++) {
		starts[i] = dpe_nets_products_have(r->initial, r->which_initial, m, i);
		ends[i] = dpe_nets_products_have(r->final, r->which_final, m, i);
	}
	nmin = dpe_nets_minimal(nstates, moves, nmoves, starts, ends, r->symbols.count, MANY_STATES,
		&min_moves, &nminmoves, min_ends);
	e = nmin ? dpe_nets_regular(r->work, nmin, min_moves, nminmoves, min_start, min_ends,
			   MANY_SYMBOLS, empty, large)
		 : dpe_nets_regular(r->work, nstates, moves, nmoves, starts, ends, MANY_SYMBOLS,
			   empty, large);
	free(min_moves);
	return e;
}

static void add_operand(struct ruler *r, struct dpe_text *to, const struct regular *e, bool empty,
	const struct move *move)
{
	bool parens = empty || e->kind == REGULAR_ALT;

	dpe_text_puts(to, to->len ? " & " : "");
	dpe_text_puts(to, parens ? "(" : "");
	dpe_nets_regular_print(to, e, r->texts);
	if (empty)
		add_nothing(r, to, move);
	dpe_text_puts(to, parens ? ")" : "");
}

/* True where a machine before this one has the same words. */
static bool is_there(struct ruler *r, unsigned m, const struct regular *e)
{
	for (unsigned i = 0; i < m; i++) {
		if (dpe_nets_regular_equal(r->words[i], e))
			return true;
	}
	return false;
}

static void add_machine(
	struct ruler *r, struct dpe_text *to, unsigned m, const struct move *moves, unsigned nmoves)
{
	bool empty, large;
	const struct regular *e = words_of(r, m, moves, nmoves, &empty, &large);

	if (large && r->machines.at[m].nplaces > 1) {
		dpe_nets_split_machine(&r->machines, m);
		r->split = true;
		return;
	}
	if (!is_there(r, m, e))
		add_operand(r, to, e, empty && !dpe_nets_regular_nullable(e), &moves[0]);
	r->words[m] = e;
}

/* The machines side by side; nothing where none of them moves. */
static void add_machines(struct ruler *r, struct dpe_text *to)
{
	unsigned count = r->machines.count;

	for (unsigned m = 0; m < count && !r->split && !r->wrong; m++) {
		unsigned nmoves;
		struct move *moves = moves_of(r, m, &nmoves);

		if (nmoves)
			add_machine(r, to, m, moves, nmoves);
		free(moves);
	}
}

static void add_alternative(struct ruler *r, struct dpe_text *to)
{
	unsigned count = r->machines.count;
	struct dpe_text side = {0};

	r->moves = dpe_xcalloc(count + 1, sizeof(*r->moves));
	r->nmoves = dpe_xcalloc(count + 1, sizeof(*r->nmoves));
	r->capmoves = dpe_xcalloc(count + 1, sizeof(*r->capmoves));
	r->words = dpe_xcalloc(count + 1, sizeof(*r->words));
	r->nnothings = 0;
	add_symbols(r);
	name_symbols(r);
	add_machines(r, &side);
	if (side.len)
		dpe_text_printf(to, "%s%s", to->len ? "\n\t+ " : "", side.at);
	dpe_text_free(&side);
	for (unsigned m = 0; m < count; m++)
		free(r->moves[m]);
	free(r->moves);
	free(r->nmoves);
	free(r->capmoves);
	free(r->words);
	free(r->texts);
	dpe_nets_products_free(&r->symbols);
}

static bool add_pair(struct ruler *r, struct dpe_text *to)
{
	struct markings initial = markings_in(r, &r->net->initial, r->initial, r->which_initial);
	struct markings final = markings_in(r, &r->net->final, r->final, r->which_final);
	bool good;

	r->used = dpe_xcalloc(r->net->ntransitions + 1, sizeof(*r->used));
	good = dpe_nets_find_used(r->work, r->net, &initial, &final, r->used);
	if (good)
		add_alternative(r, to);
	free(r->used);
	free(initial.at);
	free(final.at);
	return good && !r->wrong;
}

/* False after a diagnostic, or where a machine was divided and all has to be done again. */
static bool add_pairs(struct ruler *r, struct dpe_text *to)
{
	struct products initial = products_of(r, &r->net->initial);
	struct products final = products_of(r, &r->net->final);
	bool good = initial.count * final.count <= MANY_ALTERNATIVES;

	if (!good)
		dpe_diag_at(r->work->diags, DPE_ERROR, r->work->file,
			"net '%s' is safe, but begins and ends in more than %u ways", r->net->name,
			MANY_ALTERNATIVES);
	r->wrong |= !good;
	r->initial = &initial;
	r->final = &final;
	for (unsigned i = 0; i < initial.count; i++) {
		for (unsigned j = 0; j < final.count && good; j++) {
			r->which_initial = i;
			r->which_final = j;
			good = add_pair(r, to) && !r->split;
		}
	}
	dpe_nets_products_free(&initial);
	dpe_nets_products_free(&final);
	return good;
}

/* ---- the rule ---------------------------------------------------------------------------------
 */

static void add_head(struct dpe_text *to, struct work *work, const struct net *read)
{
	struct events none = {0};
	const char *name = dpe_nets_events_text(work, &none, read->name);
	size_t len =
		strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_");

	dpe_nets_events_free(&none);
	dpe_text_printf(to,
		"%s// net '%s': %u places, %u transitions\nexpect %.*s: ", to->len ? "\n" : "",
		read->name, read->nplaces, read->ntransitions, len ? (int)len : 3,
		len ? name : "net");
}

static bool occurs(const struct net *net, const char *label)
{
	for (unsigned i = 0; i < net->ntransitions; i++) {
		if (!strcmp(net->transitions[i].label, label))
			return true;
	}
	return false;
}

/* What never occurs in the net must not occur in a run either. */
static void add_observed(struct ruler *r, struct dpe_text *to, const struct net *read)
{
	const char *between = "\n\tobserving ";
	unsigned known;

	for (unsigned i = 0; i < read->ntransitions; i++) {
		const char *label = read->transitions[i].label;

		if (!label || occurs(r->net, label))
			continue;
		known = r->events.count;
		dpe_nets_events_text(r->work, &r->events, label);
		if (r->events.count == known)
			continue;
		dpe_text_printf(to, "%s%s", between, r->events.texts[known]);
		between = ", ";
	}
}

static void add_names(struct ruler *r, struct dpe_text *to)
{
	for (unsigned i = 0; i < r->events.count; i++) {
		const char *label = r->events.labels[i], *text = r->events.texts[i];

		if (strncmp(label, text, strcspn(label, "^")))
			dpe_text_printf(to, "// %s: \"%s\"\n", text, label);
	}
}

static bool add_expression(struct ruler *r, struct dpe_text *to)
{
	bool good;

	do {
		to->len = 0;
		r->split = false;
		good = add_pairs(r, to);
	} while (!good && r->split && !r->wrong);
	if (!good || to->len)
		return good;
	dpe_diag_at(r->work->diags, DPE_ERROR, r->work->file,
		"net '%s' has one behaviour, in which nothing happens: no DPE says that",
		r->net->name);
	return false;
}

bool dpe_nets_to_rule(
	struct work *work, struct dpe_text *to, struct net *net, const struct net *read)
{
	struct ruler r = {.work = work, .net = net};
	struct dpe_text expression = {0};
	bool good = dpe_nets_machines(work, net, &r.machines) && add_expression(&r, &expression);

	if (good) {
		add_head(to, work, read);
		dpe_text_puts(to, expression.at);
		add_observed(&r, to, read);
		dpe_text_puts(to, "\n");
		add_names(&r, to);
	}
	dpe_text_free(&expression);
	dpe_nets_events_free(&r.events);
	dpe_nets_machines_free(&r.machines);
	return good;
}
