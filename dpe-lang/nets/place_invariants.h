/* Place invariants of a net: weights of places whose weighted sum of tokens no firing changes. */
#ifndef DPE_NETS_PLACE_INVARIANTS_H
#define DPE_NETS_PLACE_INVARIANTS_H

#include "dpe-lang/nets/nets.h"

struct invariants {
	unsigned **weights; /* of each invariant, by place; in the arena */
	unsigned count;
};

/* The semi-positive ones with minimal support; none where there are too many. In the arena. */
struct invariants *dpe_nets_invariants(struct translation *tr, const struct net *net);
/* The weighted sum of a marking; UINT32_MAX where it is greater. */
unsigned dpe_nets_weight_of(const unsigned *weight, const struct net *net, const tokens *marking);

#endif
