/* Writes the rule of a net: a name, the expression, what it observes besides, and the labels that
 * are no events of the language. */
#include "dpe-lang/nets/expr.h"

#include "dpe-lang/nets/event_names.h"
#include "dpe-lang/nets/limits.h"

#include <stdlib.h>
#include <string.h>

static void add_head(struct dpe_text *to, struct translation *tr, const struct net *read)
{
	dpe_text_printf(to,
		"%s// net '%s': %u places, %u transitions\nexpect %s: ", to->len ? "\n" : "",
		read->name, read->nplaces, read->ntransitions,
		dpe_nets_similar_name(tr, &(struct events){0}, read->name));
}

static void find_events(const struct expr *e, bool *occur)
{
	if (!e)
		return;
	if (e->kind == EXPR_EVENT || e->kind == EXPR_SHARED)
		occur[e->event] = true;
	for (unsigned i = 0; e->sync && i < e->sync->noperands; i++)
		find_events(e->sync->operands[i], occur);
	find_events(e->left, occur);
	find_events(e->right, occur);
}

/* Events that never occur in the net must not occur in a run either. */
static void add_observed(struct translation *tr, struct dpe_text *to, const struct expr *expr)
{
	const char *between = "\n\tobserving ";
	bool *occur = dpe_xcalloc(tr->events->count + 1, sizeof(*occur));

	find_events(expr, occur);
	for (unsigned i = 0; i < tr->events->count; i++) {
		if (occur[i])
			continue;
		dpe_text_printf(to, "%s%s", between, tr->events->at[i].text);
		between = ", ";
	}
	free(occur);
}

static void add_names(struct translation *tr, struct dpe_text *to)
{
	for (unsigned i = 0; i < tr->events->count; i++) {
		if (tr->events->at[i].label)
			dpe_text_printf(
				to, "// %s: \"%s\"\n", tr->events->at[i].text, tr->events->at[i].label);
	}
}

#define EMPTY_POSITIONS 4 /* of the expression for the empty word */

/* How many events the expression has when it is printed. */
static size_t positions(const struct expr *e)
{
	size_t count = 0;

	if (e->kind == EXPR_EMPTY)
		return EMPTY_POSITIONS;
	if (e->kind == EXPR_EVENT || e->kind == EXPR_SHARED)
		return 1;
	for (unsigned i = 0; e->sync && i < e->sync->noperands; i++)
		count += positions(e->sync->operands[i]);
	return count + (e->left ? positions(e->left) : 0) + (e->right ? positions(e->right) : 0);
}

bool dpe_nets_write_rule(struct translation *tr, struct dpe_text *to, const struct expr *expr,
	const struct net *read)
{
	if (expr->kind == EXPR_EMPTY) {
		dpe_diag_at(tr->diags, DPE_ERROR, tr->file,
			"net '%s' has one behaviour, in which nothing happens: no DPE expresses that",
			read->name);
		return false;
	}
	if (positions(expr) + tr->events->count > MAX_EVENTS) {
		dpe_diag_at(tr->diags, DPE_ERROR, tr->file,
			"not supported: the rule of net '%s' would have more than %u events",
			read->name, MAX_EVENTS);
		return false;
	}
	add_head(to, tr, read);
	if (!dpe_nets_print(tr, to, expr))
		return false;
	add_observed(tr, to, expr);
	dpe_text_puts(to, "\n");
	add_names(tr, to);
	return true;
}
