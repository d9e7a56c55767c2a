/* Nets as the steps of a translation build them. */
#include "nets/net.h"

#include <stdlib.h>
#include <string.h>

struct net *dpe_nets_new(struct work *work, const char *name, unsigned nplaces)
{
	struct net *net = dpe_arena_alloc(work->arena, sizeof(*net));

	net->name = name;
	net->nplaces = nplaces;
	net->places = dpe_arena_alloc(work->arena, (nplaces + 1) * sizeof(*net->places));
	*DPE_GROW(work->nets, work->nnets, work->capnets) = net;
	return net;
}

struct transition *dpe_nets_add(struct net *net, const struct transition *like)
{
	struct transition *new = DPE_GROW(net->transitions, net->ntransitions, net->captransitions);

	*new = (struct transition){
		.label = like->label, .id = like->id, .alternates = like->alternates};
	return new;
}

/* Arcs stand in the order of their places, so that equal transitions look equal. */
void dpe_nets_arc(struct transition *t, bool out, unsigned place)
{
	unsigned **places = out ? &t->out : &t->in, *count = out ? &t->nout : &t->nin;
	unsigned *cap = out ? &t->capout : &t->capin, at;

	(void)DPE_GROW(*places, *count, *cap);
	for (at = *count - 1; at && (*places)[at - 1] > place; at--)
		(*places)[at] = (*places)[at - 1];
	(*places)[at] = place;
}

tokens *dpe_nets_marking(struct work *work, const struct net *net)
{
	return dpe_arena_alloc(work->arena, (net->nplaces + 1) * sizeof(tokens));
}

bool dpe_nets_is_marked(const struct net *net, const struct markings *set, const tokens *marking)
{
	for (unsigned i = 0; i < set->count; i++) {
		if (!memcmp(set->at[i], marking, net->nplaces * sizeof(*marking)))
			return true;
	}
	return false;
}

void dpe_nets_mark(struct markings *set, tokens *marking)
{
	*DPE_GROW(set->at, set->count, set->cap) = marking;
}

static void free_net(struct net *net)
{
	for (unsigned i = 0; i < net->ntransitions; i++) {
		free(net->transitions[i].in);
		free(net->transitions[i].out);
	}
	free(net->transitions);
	free(net->initial.at);
	free(net->final.at);
}

void dpe_nets_work_free(struct work *work)
{
	for (unsigned i = 0; i < work->nnets; i++)
		free_net(work->nets[i]);
	free(work->nets);
	dpe_arena_free(work->arena);
}

bool dpe_nets_has_place(const unsigned *places, unsigned count, unsigned place)
{
	for (unsigned i = 0; i < count; i++) {
		if (places[i] == place)
			return true;
	}
	return false;
}
