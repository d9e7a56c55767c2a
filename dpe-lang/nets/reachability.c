/* The reachability graph of a net, and the firing sequence that shows an unsafe net to be so (Karp
 * and Miller: a marking that covers one of its ancestors). */
#include "dpe-lang/nets/reachability.h"
#include "dpe-lang/nets/limits.h"

#include <stdlib.h>
#include <string.h>
#include <uthash.h>

struct known_marking {
	const tokens *marking;
	unsigned number;
	UT_hash_handle hh;
};

static size_t size_of(const struct net *net)
{
	return net->nplaces * sizeof(tokens);
}

/* The number of a marking, which is added if it is new. */
static unsigned number_of(struct reachability *graph, const struct net *net, const tokens *marking,
	unsigned parent, unsigned by)
{
	struct reached_marking *reached;
	struct known_marking *known;

	HASH_FIND(hh, graph->known, marking, size_of(net), known);
	if (known)
		return known->number;
	known = dpe_arena_alloc(graph->arena, sizeof(*known));
	known->number = graph->nreached;
	reached = DPE_GROW(graph->reached, graph->nreached, graph->capreached);
	reached->marking = dpe_arena_alloc(graph->arena, size_of(net) + sizeof(tokens));
	reached->parent = parent;
	reached->by = by;
	memcpy(reached->marking, marking, size_of(net));
	known->marking = reached->marking;
	HASH_ADD_KEYPTR(hh, graph->known, known->marking, size_of(net), known);
	return known->number;
}

/* False if the transition is not enabled. */
static bool fire(
	const struct net *net, const struct transition *t, const tokens *before, tokens *after)
{
	for (unsigned i = 0; i < t->nin; i++) {
		if (!before[t->in[i]])
			return false;
	}
	memcpy(after, before, size_of(net));
	for (unsigned i = 0; i < t->nin; i++) {
		if (!after[t->in[i]])
			return false;
		after[t->in[i]]--;
	}
	for (unsigned i = 0; i < t->nout; i++) {
		if (after[t->out[i]] == UINT16_MAX)
			return false;
		after[t->out[i]]++;
	}
	return true;
}

/* ---- unsafe nets ----------------------------------------------------------------------------- */

/* `*place` has more tokens in `more`, and no place has fewer. */
static bool covers(const struct net *net, const tokens *more, const tokens *less, unsigned *place)
{
	bool covered = true, above = false;

	for (unsigned p = 0; p < net->nplaces && covered; p++) {
		if (more[p] > less[p] && !above) {
			above = true;
			*place = p;
		}
		covered = more[p] >= less[p];
	}
	return covered && above;
}

/* The firings that lead from one marking to another. */
static void add_firings(struct dpe_text *to, const struct net *net,
	const struct reachability *graph, unsigned from, unsigned marking)
{
	const struct reached_marking *at = &graph->reached[marking];
	const struct transition *t = &net->transitions[at->by];

	if (marking == from || at->parent == marking)
		return;
	add_firings(to, net, graph, from, at->parent);
	dpe_text_printf(to, "%s%s", to->len ? " " : "", t->label ? t->label : t->id);
}

static void report_unsafe(struct translation *tr, const struct net *net,
	const struct reachability *graph, unsigned ancestor, unsigned marking, unsigned place)
{
	struct dpe_text before = {0}, again = {0};

	add_firings(&before, net, graph, marking, ancestor);
	add_firings(&again, net, graph, ancestor, marking);
	dpe_diag_at(tr->diags, DPE_ERROR, tr->file,
		"net '%s' is not safe, so no safe DPE has its behaviours: %s%s%s%s can occur again "
		"and again, and each time place '%s' has more tokens",
		net->name, before.len ? "after " : "", before.len ? before.at : "",
		before.len ? ", " : "", again.at, net->places[place]);
	dpe_text_free(&before);
	dpe_text_free(&again);
}

static bool is_unsafe(struct translation *tr, const struct net *net,
	const struct reachability *graph, unsigned marking)
{
	unsigned at = marking, place = 0;

	while (graph->reached[at].parent != at) {
		at = graph->reached[at].parent;
		if (!covers(net, graph->reached[marking].marking, graph->reached[at].marking,
			    &place))
			continue;
		report_unsafe(tr, net, graph, at, marking, place);
		return true;
	}
	return false;
}

/* ---- exploration ----------------------------------------------------------------------------- */

static bool visit(struct translation *tr, const struct net *net, struct reachability *graph,
	unsigned from, tokens *after)
{
	for (unsigned i = 0; i < net->ntransitions; i++) {
		unsigned before = graph->nreached, to;

		if (!fire(net, &net->transitions[i], graph->reached[from].marking, after))
			continue;
		to = number_of(graph, net, after, from, i);
		*DPE_GROW(graph->firings, graph->nfirings, graph->capfirings) =
			(struct firing){from, i, to};
		if (graph->nreached > before && is_unsafe(tr, net, graph, to))
			return false;
	}
	return true;
}

static bool exceeds_limits(
	struct translation *tr, const struct net *net, const struct reachability *graph)
{
	if (graph->nreached > MAX_MARKINGS) {
		dpe_diag_at(tr->diags, DPE_ERROR, tr->file,
			"not supported: net '%s' has more than %u reachable markings", net->name,
			MAX_MARKINGS);
		return true;
	}
	tr->firings += net->ntransitions;
	if (tr->firings <= MAX_FIRINGS)
		return false;
	dpe_diag_at(tr->diags, DPE_ERROR, tr->file,
		"not supported: net '%s' takes more than %u firings to translate", net->name,
		MAX_FIRINGS);
	return true;
}

struct reachability *dpe_nets_explore(struct translation *tr, const struct net *net)
{
	struct reachability *graph = dpe_xcalloc(1, sizeof(*graph));
	tokens *after = dpe_xcalloc(net->nplaces + 1, sizeof(*after));
	bool good = true;

	graph->arena = dpe_arena_new();
	for (unsigned i = 0; i < net->initial.count; i++)
		number_of(graph, net, net->initial.at[i], graph->nreached, 0);
	for (unsigned at = 0; at < graph->nreached && good; at++)
		good = !exceeds_limits(tr, net, graph) && visit(tr, net, graph, at, after);
	free(after);
	if (good)
		return graph;
	dpe_nets_reachability_free(graph);
	return NULL;
}

void dpe_nets_reachability_free(struct reachability *graph)
{
	if (!graph)
		return;
	HASH_CLEAR(hh, graph->known);
	free(graph->reached);
	free(graph->firings);
	dpe_arena_free(graph->arena);
	free(graph);
}

unsigned dpe_nets_bounds(struct translation *tr, const struct net *net, tokens *bounds)
{
	struct reachability *graph = dpe_nets_explore(tr, net);
	unsigned max = 1;

	if (!graph)
		return 0;
	for (unsigned i = 0; i < graph->nreached; i++) {
		for (unsigned p = 0; p < net->nplaces; p++) {
			if (graph->reached[i].marking[p] > bounds[p])
				bounds[p] = graph->reached[i].marking[p];
			if (bounds[p] > max)
				max = bounds[p];
		}
	}
	dpe_nets_reachability_free(graph);
	return max;
}

/* False if a place has several tokens. */
static bool add_pairs(const struct net *net, const tokens *marking, bool *together)
{
	bool safe = true;

	for (unsigned a = 0; a < net->nplaces; a++) {
		safe &= marking[a] <= 1;
		for (unsigned b = 0; marking[a] && b < net->nplaces; b++)
			together[(size_t)a * net->nplaces + b] |= marking[b] > 0;
	}
	return safe;
}

bool *dpe_nets_concurrent_places(struct translation *tr, const struct net *net)
{
	struct reachability *graph;
	bool *together, safe = true;

	if (net->nplaces > MAX_PLACES) {
		dpe_diag_at(tr->diags, DPE_ERROR, tr->file,
			"not supported: net '%s' has more than %u places that hold one token each",
			net->name, MAX_PLACES);
		return NULL;
	}
	graph = dpe_nets_explore(tr, net);
	if (!graph)
		return NULL;
	together = dpe_xcalloc((size_t)net->nplaces * net->nplaces + 1, sizeof(*together));
	for (unsigned i = 0; i < graph->nreached && safe; i++)
		safe = add_pairs(net, graph->reached[i].marking, together);
	dpe_nets_reachability_free(graph);
	if (safe)
		return together;
	free(together);
	return NULL;
}

/* ---- trimming -------------------------------------------------------------------------------- */

/* From which markings a final one is reachable. Firings are mostly in breadth-first order, so going
 * through them backwards needs few rounds. */
static bool *find_useful(const struct net *net, const struct reachability *graph)
{
	bool *useful = dpe_xcalloc(graph->nreached + 1, sizeof(*useful)), changed = true;

	for (unsigned i = 0; i < graph->nreached; i++)
		useful[i] = dpe_nets_is_marked(net, &net->final, graph->reached[i].marking);
	while (changed) {
		changed = false;
		for (unsigned i = graph->nfirings; i-- > 0;) {
			if (useful[graph->firings[i].from] || !useful[graph->firings[i].to])
				continue;
			useful[graph->firings[i].from] = changed = true;
		}
	}
	return useful;
}

/* Drops markings from which no final one is reachable, or which are not reachable. */
static void keep_useful(const struct net *net, const struct reachability *graph, const bool *useful,
	const struct markings *from, struct markings *to)
{
	for (unsigned i = 0; i < from->count; i++) {
		const struct known_marking *known;

		HASH_FIND(hh, graph->known, from->at[i], size_of(net), known);
		if (known && useful[known->number])
			dpe_nets_mark(to, from->at[i]);
	}
}

/* Renumbers the places that are marked on a path to a final marking; returns their number. */
static unsigned number_places(const struct net *net, const struct reachability *graph,
	const bool *useful, unsigned *number)
{
	unsigned count = 0;

	for (unsigned p = 0; p < net->nplaces; p++) {
		bool marked = false;

		for (unsigned i = 0; i < graph->nreached && !marked; i++)
			marked = useful[i] && graph->reached[i].marking[p];
		number[p] = marked ? count++ : NO_PLACE;
	}
	return count;
}

static struct net *trimmed(struct translation *tr, const struct net *net,
	const struct reachability *graph, const bool *useful)
{
	unsigned *number = dpe_xcalloc(net->nplaces + 1, sizeof(*number));
	bool *used = dpe_xcalloc(net->ntransitions + 1, sizeof(*used));
	struct net *kept = dpe_nets_new(tr, net->name, number_places(net, graph, useful, number));
	struct markings initial = {0}, final = {0};

	for (unsigned p = 0; p < net->nplaces; p++) {
		if (number[p] != NO_PLACE)
			kept->places[number[p]] = net->places[p];
	}
	for (unsigned i = 0; i < graph->nfirings; i++)
		used[graph->firings[i].transition] |=
			useful[graph->firings[i].from] && useful[graph->firings[i].to];
	for (unsigned i = 0; i < net->ntransitions; i++) {
		if (used[i])
			dpe_nets_add_renumbered(kept, &net->transitions[i], number);
	}
	keep_useful(net, graph, useful, &net->initial, &initial);
	keep_useful(net, graph, useful, &net->final, &final);
	dpe_nets_add_markings(tr, net, kept, &initial, &kept->initial, number);
	dpe_nets_add_markings(tr, net, kept, &final, &kept->final, number);
	dpe_nets_clear_markings(&initial);
	dpe_nets_clear_markings(&final);
	free(used);
	free(number);
	return kept;
}

struct net *dpe_nets_trim(struct translation *tr, struct net *net)
{
	struct reachability *graph = dpe_nets_explore(tr, net);
	struct net *kept;
	bool *useful;

	if (!graph)
		return NULL;
	useful = find_useful(net, graph);
	kept = trimmed(tr, net, graph, useful);
	free(useful);
	dpe_nets_reachability_free(graph);
	return kept;
}
