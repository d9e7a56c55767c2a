/* An expression as a rule: with a name, what else it observes, and what its events were called. */
#include "nets/net.h"

#include <stdlib.h>
#include <string.h>

#define MANY_WORDS 40000 /* a rule has 100,000 nodes at most */

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

bool dpe_nets_to_rule(
	struct work *work, struct dpe_text *to, const struct expr *words, const struct net *read)
{
	if (words->kind == EXPR_EMPTY) {
		dpe_diag_at(work->diags, DPE_ERROR, work->file,
			"net '%s' has one behaviour, in which nothing happens: no DPE says that",
			read->name);
		return false;
	}
	if (words->size > MANY_WORDS) {
		dpe_diag_at(work->diags, DPE_ERROR, work->file,
			"net '%s' is safe, but its rule would have more than %u events", read->name,
			MANY_WORDS);
		return false;
	}
	add_head(to, work, read);
	if (!dpe_nets_print(work, to, words))
		return false;
	add_observed(work, to, words);
	dpe_text_puts(to, "\n");
	add_names(work, to);
	return true;
}
