/* The reachability graph of a net. */
#ifndef DPE_NETS_REACHABILITY_H
#define DPE_NETS_REACHABILITY_H

#include "dpe-lang/nets/nets.h"

struct firing {
	unsigned from, transition, to; /* markings by number */
};

struct reached_marking {
	tokens *marking;
	unsigned parent,
		by; /* the firing that reached it first; an initial one is its own parent */
};

struct reachability {
	struct reached_marking *reached;
	unsigned nreached, capreached;
	struct firing *firings;
	unsigned nfirings, capfirings;
	struct known_marking *known;
	struct dpe_arena *arena;
};

/* NULL after a diagnostic: the net is not safe, or has too many markings. */
struct reachability *dpe_nets_explore(struct translation *tr, const struct net *net);
void dpe_nets_reachability_free(struct reachability *graph); /* accepts NULL */
/* Sets bounds[p] to the most tokens that place p holds. Returns the greatest bound, at least 1;
 * 0 after a diagnostic. */
unsigned dpe_nets_bounds(struct translation *tr, const struct net *net, tokens *bounds);
/* By two places, p * nplaces + q: some marking has both. For free(). NULL if the net is not
 * 1-safe, or after a diagnostic. */
bool *dpe_nets_concurrent_places(struct translation *tr, const struct net *net);

#endif
