/* Silent transitions on circles of such, by what they know of each other's tokens: the steps of
 * saturate.c, makers.c and handover.c, until none takes what comes round. */
#include "dpe-lang/nets/net.h"

#define MANY_ROUNDS 2

/* Takes out those that no silent one comes before, and so on: what is left is `circle`, of which
 * the first is returned, or NULL. */
static const struct transition *find_silent_circle(struct work *work, const struct net *net)
{
	bool *circle = dpe_arena_alloc(work->arena, net->ntransitions + 1), changed = true;

	for (unsigned i = 0; i < net->ntransitions; i++)
		circle[i] = !net->transitions[i].label;
	while (changed) {
		changed = false;
		for (unsigned i = 0; i < net->ntransitions; i++) {
			bool fed = false;

			for (unsigned j = 0; circle[i] && !fed && j < net->ntransitions; j++)
				fed = circle[j] &&
				      dpe_nets_feeds(&net->transitions[j], &net->transitions[i]);
			changed |= circle[i] && !fed;
			circle[i] = fed;
		}
	}
	for (unsigned i = 0; i < net->ntransitions; i++) {
		if (circle[i])
			return &net->transitions[i];
	}
	return NULL;
}

/* Silent transitions all of which take what silent ones made. Who made a place tells more when the
 * makers of what was taken for it are told apart, so that is done twice. */
struct net *dpe_nets_go_round(struct work *work, struct net *net)
{
	const struct transition *left = NULL;

	for (unsigned rounds = 0; net && (left || !rounds) && rounds < MANY_ROUNDS; rounds++) {
		net = dpe_nets_saturate(work, net);
		for (unsigned i = 0; i < 2; i++) {
			net = net ? dpe_nets_trim(work, net) : NULL;
			net = net ? dpe_nets_tell_makers(work, net) : NULL;
		}
		net = net ? dpe_nets_trim(work, net) : NULL;
		net = net ? dpe_nets_hand_over(work, net) : NULL;
		net = net ? dpe_nets_saturate(work, net) : NULL;
		net = net ? dpe_nets_trim(work, net) : NULL;
		left = net ? find_silent_circle(work, net) : NULL;
	}
	if (left)
		return dpe_nets_not_supported(work, net, left,
			"lies on a circle of silent transitions, and joins on each round what "
			"does not wait for each other");
	return net ? dpe_nets_factor(work, net) : NULL;
}
