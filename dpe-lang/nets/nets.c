/* The translation of the nets of a document: the list of the passes. */
#include "dpe-lang/nets/nets.h"

#include "dpe-lang/nets/event_names.h"
#include "dpe-lang/nets/reachability.h"

#include <stdlib.h>
#include <string.h>

/* One token in each place named "end"; false if there is no such place. */
static bool mark_end_places(struct translation *tr, struct net *net)
{
	tokens *end = dpe_nets_marking(tr, net);
	bool any = false;

	for (unsigned p = 0; p < net->nplaces; p++) {
		end[p] = !strcmp(net->places[p], "end");
		any |= end[p];
	}
	if (any)
		dpe_nets_mark(&net->final, end);
	return any;
}

static void mark_deadlocks(
	struct translation *tr, struct net *net, const struct reachability *graph)
{
	bool *alive = dpe_arena_alloc(tr->arena, graph->nreached + 1);

	for (unsigned i = 0; i < graph->nfirings; i++)
		alive[graph->firings[i].from] = true;
	for (unsigned i = 0; i < graph->nreached; i++) {
		tokens *marking;

		if (alive[i])
			continue;
		marking = dpe_nets_marking(tr, net);
		memcpy(marking, graph->reached[i].marking, net->nplaces * sizeof(*marking));
		dpe_nets_mark(&net->final, marking);
	}
}

/* The places named "end", else the deadlocks, else the initial marking. False after a diagnostic:
 * the net is not safe. */
static bool mark_final(struct translation *tr, struct net *net)
{
	struct reachability *graph = dpe_nets_explore(tr, net);

	if (!graph)
		return false;
	if (!mark_end_places(tr, net))
		mark_deadlocks(tr, net, graph);
	if (!net->final.count)
		dpe_nets_mark(&net->final, net->initial.at[0]);
	dpe_nets_reachability_free(graph);
	return true;
}

/* A transition without inputs is concurrent with itself, however few tokens its outputs ever hold.
 */
static bool has_inputs(struct translation *tr, const struct net *net)
{
	for (unsigned i = 0; i < net->ntransitions; i++) {
		const struct transition *t = &net->transitions[i];
		const char *name = t->label ? t->label : t->id;

		if (t->nin)
			continue;
		dpe_diag_at(tr->diags, DPE_ERROR, tr->file,
			"net '%s' is not safe, so no safe DPE has its behaviours: '%s' takes no "
			"token, so it can occur any number of times concurrently",
			net->name, name);
		return false;
	}
	return true;
}

static struct net *trim(struct translation *tr, struct net *net)
{
	net = dpe_nets_trim(tr, net);
	if (!net || net->initial.count)
		return net;
	dpe_diag_at(tr->diags, DPE_ERROR, tr->file, "net '%s' can never reach its end", net->name);
	return NULL;
}

static bool translate(struct translation *tr, struct dpe_text *to, struct net *read)
{
	const struct expr *expr;
	struct net *net = read;

	if (!has_inputs(tr, net) || !mark_final(tr, net))
		return false;
	dpe_nets_name_events(tr, net, tr->events);
	dpe_nets_dump(tr, "read", net);
	net = trim(tr, net);
	if (!net)
		return false;
	dpe_nets_dump(tr, "trimmed", net);
	net = dpe_nets_one_safe(tr, net);
	if (!net)
		return false;
	expr = dpe_nets_expr(tr, net);
	return expr && dpe_nets_write_rule(tr, to, expr, read);
}

bool dpe_nets_to_dpe(struct dpe_text *to, const char *name, const char *text, size_t len,
	const struct dpe_nets_options *options, struct dpe_diags *diags)
{
	unsigned count = 1;
	bool good = true;

	for (unsigned which = 0; which < count && good; which++) {
		struct events events = {0};
		struct translation tr = {.arena = dpe_arena_new(),
			.diags = diags,
			.dump = options->dump_to,
			.file = name,
			.name_silent = options->name_silent,
			.events = &events};
		struct net *net = dpe_nets_read(&tr, text, len, which, &count);

		good = net && translate(&tr, to, net);
		free(events.at);
		dpe_nets_translation_free(&tr);
	}
	return good;
}
