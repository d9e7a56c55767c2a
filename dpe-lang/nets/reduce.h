/* Reduction of a 1-safe net whose transitions are expressions. */
#ifndef DPE_NETS_REDUCE_H
#define DPE_NETS_REDUCE_H

#include "dpe-lang/nets/nets.h"

struct reducer {
	struct translation *tr;
	struct net *net;
	unsigned nspare; /* of its last places: without arcs, for loops that are unrolled */
	unsigned start,
		end;    /* the only marked places of its initial and final markings; NO_PLACE */
	bool *fixed;    /* by place: marked in an initial or a final marking */
	bool *together; /* by two places: may be marked at the same time */
	bool blocks;    /* transitions may become expressions of several events */
	bool flat;      /* forks may be fused with forks, and joins with joins */
	bool regions;   /* regions may be translated as nets of their own */
};

/* The transitions with the place as an output, and with it as an input, in ascending order. */
struct neighbours {
	unsigned *producers, *consumers;
	unsigned nproducers, nconsumers, capproducers, capconsumers;
};

/* ---- reduce_net.c ---------------------------------------------------------------------------- */

/* Applies all rules until none applies. Returns the expression where one transition is left
 * between start and end, else NULL. */
const struct expr *dpe_nets_reduce(struct reducer *r);
/* The same, also with steps that make expressions longer. */
const struct expr *dpe_nets_reduce_further(struct reducer *r);
/* Whether a transition with these numbers of arcs may have this expression. */
bool dpe_nets_may_have(
	const struct reducer *r, unsigned nin, unsigned nout, const struct expr *expr);
bool *dpe_nets_are_together(const struct reducer *r, unsigned a, unsigned b);

/* ---- reduce_places.c ------------------------------------------------------------------------- */

/* By place; for dpe_nets_free_neighbours. */
struct neighbours *dpe_nets_all_neighbours(const struct net *net);
void dpe_nets_free_neighbours(struct neighbours *all, unsigned count);
/* Takes out places where that makes nothing longer. True if it did. */
bool dpe_nets_fuse(struct reducer *r);
/* Takes out the place where that makes the expressions least longer. False if there is none. */
bool dpe_nets_fuse_best(struct reducer *r);

/* ---- reduce_regions.c ------------------------------------------------------------------------ */

/* Replaces one region between two places by a transition. False if there is none. */
bool dpe_nets_reduce_region(struct reducer *r);

#endif
