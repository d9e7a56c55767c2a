/* Tokens with a name of their own.
 *
 * Where a net keeps the weight of what flows through some of its places (flows.c), and that is k,
 * there are k names, and each token carries as many as it weighs: a place becomes copies of itself,
 * one for each set of names that a token there can have. A firing has the names of the tokens that
 * it takes, and gives them to those that it makes; which of these gets which does not matter, for
 * all have the same past. So every behaviour of the net is one of the copies', for tokens that are
 * made continue the ones that were taken. This is what several tokens mostly are, the places of a
 * buffer, say, and far smaller than slots.c's way.
 *
 * The places in which a token with one certain name can be are a machine of which one place is
 * marked at any time. */
#include "dpe-lang/nets/names.h"

#include <stdlib.h>
#include <string.h>

#define NO_FLOW UINT32_MAX

/* What is known of a net whose tokens are named step by step. */
struct naming {
	struct work *work;
	struct net *net;
	tokens *bounds;
	struct flows *flows;
};

/* Its weight in the beginning; 0 where beginnings differ, or have too much. */
static unsigned total_of(const struct naming *n, const unsigned *weight)
{
	const struct markings *initial = &n->net->initial;
	unsigned total = dpe_nets_weight_of(weight, n->net, initial->at[0]);

	for (unsigned i = 1; i < initial->count; i++) {
		if (dpe_nets_weight_of(weight, n->net, initial->at[i]) != total)
			return 0;
	}
	return total <= MANY_NAMES ? total : 0;
}

static void look_through(struct naming *n, const unsigned *origins)
{
	struct work *work = n->work;
	tokens *bounds = dpe_nets_marking(work, n->net);

	for (unsigned f = 0; f < n->flows->count; f++) {
		unsigned *weight =
			dpe_arena_alloc(work->arena, (n->net->nplaces + 1) * sizeof(*weight));

		for (unsigned p = 0; p < n->net->nplaces; p++)
			weight[p] = n->flows->weights[f][origins[p]];
		n->flows->weights[f] = weight;
	}
	for (unsigned p = 0; p < n->net->nplaces; p++)
		bounds[p] = n->bounds[origins[p]];
	n->bounds = bounds;
}

static bool name_with(struct naming *n, unsigned flow)
{
	unsigned *weight = n->flows->weights[flow], *origins, total = total_of(n, weight);
	struct net *new =
		total ? dpe_nets_name_flow(n->work, n->net, weight, total, &origins) : NULL;

	if (!new)
		return false;
	n->net = new;
	look_through(n, origins);
	for (unsigned p = 0; p < new->nplaces; p++) {
		if (n->flows->weights[flow][p])
			n->bounds[p] = 1;
	}
	return true;
}

/* The one through the place with the fewest names that was not tried; NO_FLOW where none is left.
 */
static unsigned choose_flow(const struct naming *n, unsigned place, const bool *tried)
{
	unsigned best = NO_FLOW, fewest = UINT32_MAX;

	for (unsigned f = 0; f < n->flows->count; f++) {
		unsigned total = total_of(n, n->flows->weights[f]), most = 0;

		for (unsigned p = 0; p < n->net->nplaces; p++)
			most = n->flows->weights[f][p] > most ? n->flows->weights[f][p] : most;
		if (tried[f] || !total || !n->flows->weights[f][place] || total * most >= fewest)
			continue;
		best = f;
		fewest = total * most;
	}
	return best;
}

static bool name_place(struct naming *n, unsigned place)
{
	bool *tried = dpe_xcalloc(n->flows->count + 1, sizeof(*tried)), good = false;
	unsigned flow;

	while (!good && (flow = choose_flow(n, place, tried)) != NO_FLOW) {
		tried[flow] = true;
		good = name_with(n, flow);
	}
	free(tried);
	return good;
}

/* Sets of places with one token are machines as they are. */
static void add_single_machines(struct naming *n)
{
	for (unsigned f = 0; f < n->flows->count; f++) {
		struct machine *machine;

		if (total_of(n, n->flows->weights[f]) != 1)
			continue;
		machine = dpe_nets_machine_new(&n->net->known);
		for (unsigned p = 0; p < n->net->nplaces; p++) {
			if (n->flows->weights[f][p] == 1)
				dpe_nets_machine_add(machine, p);
		}
	}
}

/* What flows through a place bounds it. */
static void bound_by_flows(struct naming *n)
{
	for (unsigned p = 0; p < n->net->nplaces; p++) {
		n->bounds[p] = UINT16_MAX;
		for (unsigned f = 0; f < n->flows->count; f++) {
			unsigned *weight = n->flows->weights[f], bound;

			if (!weight[p])
				continue;
			bound = dpe_nets_weight_of(weight, n->net, n->net->initial.at[0]) /
				weight[p];
			if (bound < n->bounds[p])
				n->bounds[p] = (tokens)bound;
		}
	}
}

struct net *dpe_nets_name_tokens(struct work *work, struct net *net)
{
	struct naming n = {.work = work, .net = net, .bounds = dpe_nets_marking(work, net)};
	unsigned p = 0;

	n.flows = dpe_nets_flows(work, net);
	if (net->large)
		bound_by_flows(&n);
	else if (!dpe_nets_bound(work, net, n.bounds))
		return NULL;
	if (!net->known.count)
		add_single_machines(&n);
	while (p < n.net->nplaces) {
		if (n.bounds[p] > 1 && name_place(&n, p))
			p = 0;
		else
			p++;
	}
	return n.net;
}
