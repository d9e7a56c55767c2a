/* Nets as the steps of a translation build them. */
#include "dpe-lang/nets/net.h"

#include <stdlib.h>
#include <string.h>

#define MANY_TRANSITIONS 20000

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

	*new = (struct transition){.label = like->label,
		.words = like->words,
		.id = like->id,
		.own_outputs = like->own_outputs,
		.next = like->next};
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

void dpe_nets_markings_free(struct markings *set)
{
	free(set->at);
	*set = (struct markings){0};
}

void dpe_nets_drop(struct net *net, unsigned number)
{
	free(net->transitions[number].in);
	free(net->transitions[number].out);
	net->ntransitions--;
	memmove(net->transitions + number, net->transitions + number + 1,
		(net->ntransitions - number) * sizeof(*net->transitions));
}

bool dpe_nets_too_many(struct work *work, const struct net *net, unsigned count)
{
	if (count <= MANY_TRANSITIONS)
		return false;
	dpe_diag_at(work->diags, DPE_ERROR, work->file,
		"net '%s' is safe, but without its silent transitions it has more than %u others",
		net->name, MANY_TRANSITIONS);
	return true;
}

static void free_net(struct net *net)
{
	for (unsigned i = 0; i < net->ntransitions; i++) {
		free(net->transitions[i].in);
		free(net->transitions[i].out);
	}
	free(net->transitions);
	dpe_nets_markings_free(&net->initial);
	dpe_nets_markings_free(&net->final);
	dpe_nets_machines_free(&net->known);
}

void dpe_nets_work_free(struct work *work)
{
	for (unsigned i = 0; i < work->nnets; i++)
		free_net(work->nets[i]);
	free(work->nets);
	dpe_arena_free(work->arena);
}

struct dpe_diags *dpe_nets_hush(struct work *work)
{
	struct dpe_diags *diags = work->diags;

	work->diags = dpe_diags_new();
	return diags;
}

void dpe_nets_speak(struct work *work, struct dpe_diags *diags)
{
	dpe_diags_free(work->diags);
	work->diags = diags;
}

bool dpe_nets_has_place(const unsigned *places, unsigned count, unsigned place)
{
	for (unsigned i = 0; i < count; i++) {
		if (places[i] == place)
			return true;
	}
	return false;
}

bool dpe_nets_same_places(const unsigned *a, unsigned na, const unsigned *b, unsigned nb)
{
	return na == nb && (!na || !memcmp(a, b, na * sizeof(*a)));
}
