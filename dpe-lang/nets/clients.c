/* Takes silent transitions out client by client: the way for nets in which they lie on circles, and
 * join again and again what does not wait for each other.
 *
 * What can be contracted without more ado is (silent.c). Then a client is found whose tokens go
 * round among its own silent transitions, and made to hand them on without these (hubs.c). Where
 * there is none, those of one client take turns (turns.c); after that fewer clients are left. What
 * lets nothing wait and adds no order is dropped on the way: without that the net would grow, as
 * who goes round a hub is told again and again what it knows. */
#include "dpe-lang/nets/net.h"

#define MANY_STEPS 200
#define MANY_IN_STEPS 300                 /* transitions, or beginnings, or ends */
#define MANY_STEP_TRIES (MANY_TRIES / 20) /* part of a second */

static bool is_silent(const struct net *net)
{
	for (unsigned i = 0; i < net->ntransitions; i++) {
		if (!net->transitions[i].label)
			return true;
	}
	return false;
}

static struct net *drop_implicit(struct work *work, struct net *net)
{
	struct net *old = NULL;

	while (net && net != old) {
		old = net;
		net = dpe_nets_drop_implicit(work, net);
		if (net != old)
			net = dpe_nets_trim(work, net);
	}
	return net;
}

static struct net *clean(struct work *work, struct net *net)
{
	if (net)
		net = dpe_nets_trim(work, net);
	if (net)
		net = drop_implicit(work, net);
	if (!net)
		return NULL;
	net = dpe_nets_merge_alike(work, net);
	dpe_nets_drop_noops(net);
	return net;
}

/* Without one that needs no turns; `net` where there is none. */
static struct net *take_out_plain(struct work *work, struct net *net)
{
	unsigned errors = dpe_diags_errors(work->diags);

	for (unsigned i = 0; i < net->ntransitions; i++) {
		struct net *new;

		if (net->transitions[i].label || !net->transitions[i].nout)
			continue;
		new = dpe_nets_take_out(work, net, i, false);
		if (new || dpe_diags_errors(work->diags) > errors)
			return clean(work, new);
	}
	return net;
}

/* One of those that are next; first what has one input or output. */
static struct net *take_out_next(struct work *work, struct net *net)
{
	unsigned next = net->ntransitions;

	for (unsigned i = 0; i < net->ntransitions; i++) {
		const struct transition *t = &net->transitions[i];

		if (t->next && (next == net->ntransitions || t->nin == 1 || t->nout == 1))
			next = i;
	}
	if (next == net->ntransitions)
		return net;
	return clean(work, dpe_nets_take_out(work, net, next, true));
}

static struct net *localize(struct work *work, struct net *net, bool inner)
{
	struct net *new = dpe_nets_localize(work, net, inner);

	for (unsigned i = 0; new &&inner &&i < new->ntransitions; i++)
		new->transitions[i].next = false;
	return new ? clean(work, new) : net;
}

/* `net` where there is no more to do. */
static struct net *next_step(struct work *work, struct net *net)
{
	struct net *new = take_out_next(work, net);

	if (new == net)
		new = take_out_plain(work, net);
	if (new == net)
		new = localize(work, net, true);
	if (new == net)
		new = localize(work, net, false);
	return new;
}

static bool is_too_large(const struct net *net)
{
	return net->ntransitions > MANY_IN_STEPS || net->initial.count > MANY_IN_STEPS ||
	       net->final.count > MANY_IN_STEPS;
}

struct net *dpe_nets_by_clients(struct work *work, struct net *net)
{
	uint64_t most = work->tries + MANY_STEP_TRIES;
	struct net *old = NULL;

	if (!dpe_nets_is_one_safe(work, net))
		return NULL;
	net = clean(work, net);
	for (unsigned steps = 0; net && net != old && is_silent(net); steps++) {
		if (steps > MANY_STEPS || is_too_large(net) || work->tries > most)
			return NULL;
		old = net;
		net = next_step(work, net);
	}
	return net ? dpe_nets_without_silent(work, net) : NULL;
}
