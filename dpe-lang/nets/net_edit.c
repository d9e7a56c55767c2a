/* Building and copying nets. */
#include "dpe-lang/nets/nets.h"

#include <stdlib.h>
#include <string.h>

struct net *dpe_nets_new(struct translation *tr, const char *name, unsigned nplaces)
{
	struct net *net = dpe_arena_alloc(tr->arena, sizeof(*net));

	net->name = name;
	net->nplaces = nplaces;
	net->places = dpe_arena_alloc(tr->arena, (nplaces + 1) * sizeof(*net->places));
	*DPE_GROW(tr->nets, tr->nnets, tr->capnets) = net;
	return net;
}

struct transition *dpe_nets_add(struct net *net, const struct transition *like)
{
	struct transition *new = DPE_GROW(net->transitions, net->ntransitions, net->captransitions);

	*new = (struct transition){.label = like->label, .expr = like->expr, .id = like->id};
	return new;
}

void dpe_nets_add_arc(struct transition *t, bool out, unsigned place)
{
	unsigned **places = out ? &t->out : &t->in, *count = out ? &t->nout : &t->nin;
	unsigned *cap = out ? &t->capout : &t->capin, at;

	(void)DPE_GROW(*places, *count, *cap);
	for (at = *count - 1; at && (*places)[at - 1] > place; at--)
		(*places)[at] = (*places)[at - 1];
	(*places)[at] = place;
}

void dpe_nets_drop_transition(struct net *net, unsigned number)
{
	free(net->transitions[number].in);
	free(net->transitions[number].out);
	net->ntransitions--;
	memmove(net->transitions + number, net->transitions + number + 1,
		(net->ntransitions - number) * sizeof(*net->transitions));
}

struct transition *dpe_nets_add_renumbered(
	struct net *net, const struct transition *t, const unsigned *number)
{
	struct transition *copy = dpe_nets_add(net, t);

	for (unsigned i = 0; i < t->nin; i++) {
		if (number[t->in[i]] != NO_PLACE)
			dpe_nets_add_arc(copy, false, number[t->in[i]]);
	}
	for (unsigned i = 0; i < t->nout; i++) {
		if (number[t->out[i]] != NO_PLACE)
			dpe_nets_add_arc(copy, true, number[t->out[i]]);
	}
	return copy;
}

void dpe_nets_add_markings(struct translation *tr, const struct net *old, const struct net *net,
	const struct markings *from, struct markings *to, const unsigned *number)
{
	for (unsigned i = 0; i < from->count; i++) {
		tokens *marking = dpe_nets_marking(tr, net);

		for (unsigned p = 0; p < old->nplaces; p++) {
			if (number[p] != NO_PLACE)
				marking[number[p]] = from->at[i][p];
		}
		if (!dpe_nets_is_marked(net, to, marking))
			dpe_nets_mark(to, marking);
	}
}

struct net *dpe_nets_copy(struct translation *tr, const struct net *old, unsigned more)
{
	struct net *new = dpe_nets_new(tr, old->name, old->nplaces + more);
	unsigned *same = dpe_xcalloc(old->nplaces + 1, sizeof(*same));

	for (unsigned p = 0; p < new->nplaces; p++)
		new->places[p] = p < old->nplaces ? old->places[p] : old->name;
	for (unsigned p = 0; p < old->nplaces; p++)
		same[p] = p;
	for (unsigned i = 0; i < old->ntransitions; i++)
		dpe_nets_add_renumbered(new, &old->transitions[i], same);
	dpe_nets_add_markings(tr, old, new, &old->initial, &new->initial, same);
	dpe_nets_add_markings(tr, old, new, &old->final, &new->final, same);
	free(same);
	return new;
}

tokens *dpe_nets_marking(struct translation *tr, const struct net *net)
{
	return dpe_arena_alloc(tr->arena, (net->nplaces + 1) * sizeof(tokens));
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

void dpe_nets_clear_markings(struct markings *set)
{
	free(set->at);
	*set = (struct markings){0};
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

struct place_set *dpe_nets_add_set(struct place_sets *sets)
{
	struct place_set *set = DPE_GROW(sets->at, sets->count, sets->cap);

	*set = (struct place_set){0};
	return set;
}

void dpe_nets_add_place(struct place_set *set, unsigned place)
{
	*DPE_GROW(set->places, set->count, set->cap) = place;
}

void dpe_nets_free_sets(struct place_sets *sets)
{
	for (unsigned i = 0; i < sets->count; i++)
		free(sets->at[i].places);
	free(sets->at);
}

static void free_net(struct net *net)
{
	for (unsigned i = 0; i < net->ntransitions; i++) {
		free(net->transitions[i].in);
		free(net->transitions[i].out);
	}
	free(net->transitions);
	dpe_nets_clear_markings(&net->initial);
	dpe_nets_clear_markings(&net->final);
}

void dpe_nets_translation_free(struct translation *tr)
{
	for (unsigned i = 0; i < tr->nnets; i++)
		free_net(tr->nets[i]);
	free(tr->nets);
	dpe_arena_free(tr->arena);
}

struct dpe_diags *dpe_nets_divert_diags(struct translation *tr)
{
	struct dpe_diags *diags = tr->diags;

	tr->diags = dpe_diags_new();
	return diags;
}

void dpe_nets_restore_diags(struct translation *tr, struct dpe_diags *diags)
{
	dpe_diags_free(tr->diags);
	tr->diags = diags;
}
