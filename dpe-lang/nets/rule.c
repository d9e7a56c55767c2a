/* An expression as a rule: with a name, what else it observes, and what its events were called. */
#include "dpe-lang/nets/net.h"

#include <stdlib.h>
#include <string.h>

static void add_head(struct dpe_text *to, struct work *work, const struct net *read)
{
	struct net named = {.name = read->name};
	struct transition *like = dpe_nets_add(&named, &(struct transition){.label = read->name});
	struct events none = {0};
	size_t len;

	dpe_nets_name_events(work, &named, &none);
	len = strspn(
		like->label, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_");
	dpe_text_printf(to,
		"%s// net '%s': %u places, %u transitions\nexpect %.*s: ", to->len ? "\n" : "",
		read->name, read->nplaces, read->ntransitions, len ? (int)len : 3,
		len ? like->label : "net");
	dpe_nets_events_free(&none);
	free(named.transitions);
}

static void find_events(const struct expr *e, bool *occur)
{
	if (!e)
		return;
	if (e->kind == EXPR_EVENT || e->kind == EXPR_SHARED)
		occur[e->event] = true;
	for (unsigned i = 0; e->kernel && i < e->kernel->nsymbols; i++)
		find_events(e->kernel->symbols[i], occur);
	for (unsigned i = 0; e->parts && i < e->parts->noperands; i++)
		find_events(e->parts->operands[i], occur);
	find_events(e->left, occur);
	find_events(e->right, occur);
}

/* What never occurs in the net must not occur in a run either. */
static void add_observed(struct work *work, struct dpe_text *to, const struct expr *words)
{
	const char *between = "\n\tobserving ";
	bool *occur = dpe_xcalloc(work->events->count + 1, sizeof(*occur));

	find_events(words, occur);
	for (unsigned i = 0; i < work->events->count; i++) {
		if (occur[i])
			continue;
		dpe_text_printf(to, "%s%s", between, work->events->texts[i]);
		between = ", ";
	}
	free(occur);
}

static void add_names(struct work *work, struct dpe_text *to)
{
	for (unsigned i = 0; i < work->events->count; i++) {
		if (work->events->labels[i])
			dpe_text_printf(to, "// %s: \"%s\"\n", work->events->texts[i],
				work->events->labels[i]);
	}
}

#define NOTHING 4 /* positions of what stands for the empty word */

static size_t positions(const struct expr *e);

static size_t positions_of_operand(const struct kernel *kernel, const struct regular *e)
{
	if (e->kind == REGULAR_SYMBOL)
		return positions(kernel->symbols[e->symbol]);
	return positions_of_operand(kernel, e->left) +
	       (e->right ? positions_of_operand(kernel, e->right) : 0);
}

/* As they are printed. */
static size_t positions(const struct expr *e)
{
	size_t count = 0;

	if (e->kind == EXPR_EMPTY)
		return NOTHING;
	if (e->kind == EXPR_EVENT || e->kind == EXPR_SHARED)
		return 1;
	for (unsigned i = 0; e->kernel && i < e->kernel->noperands; i++)
		count += positions_of_operand(e->kernel, e->kernel->operands[i]) +
			 (e->kernel->or_nothing[i] ? NOTHING : 0);
	for (unsigned i = 0; e->parts && i < e->parts->noperands; i++)
		count += positions(e->parts->operands[i]);
	return count + (e->left ? positions(e->left) : 0) + (e->right ? positions(e->right) : 0);
}

static bool too_many(struct work *work, const char *name, size_t count)
{
	if (count <= MANY_WORDS)
		return false;
	dpe_diag_at(work->diags, DPE_ERROR, work->file,
		"net '%s' is safe, but its rule would have more than %u events", name, MANY_WORDS);
	return true;
}

/* At least so many. */
bool dpe_nets_too_many_words(struct work *work, const char *name, const struct expr *words)
{
	return too_many(work, name, words->size);
}

bool dpe_nets_to_rule(
	struct work *work, struct dpe_text *to, const struct expr *words, const struct net *read)
{
	if (words->kind == EXPR_EMPTY) {
		dpe_diag_at(work->diags, DPE_ERROR, work->file,
			"net '%s' has one behaviour, in which nothing happens: no DPE says that",
			read->name);
		return false;
	}
	if (too_many(work, read->name, positions(words) + work->events->count))
		return false;
	add_head(to, work, read);
	if (!dpe_nets_print(work, to, words))
		return false;
	add_observed(work, to, words);
	dpe_text_puts(to, "\n");
	add_names(work, to);
	return true;
}
