/* What a 1-safe net does, as an expression.
 *
 * It is reduced first. What is left when no rule of that applies any more, a kernel, goes the
 * general way: its silent transitions are taken out, and it becomes machines side by side. That is
 * tried with transitions that stand for several events; where such a one would have to be in
 * several machines, once more without. */
#include "dpe-lang/nets/net.h"

#include <stdlib.h>
#include <string.h>

#define SPARE 16 /* places for what is unrolled; those that became free are used again */

#define MANY_DEPTHS 50

/* ---- from one place to one place ---------------------------------------------------------------
 */

static void give_words(struct work *work, struct transition *t)
{
	if (t->words)
		return;
	t->words = t->label ? dpe_nets_event(work, dpe_nets_event_number(work->events, t->label))
			    : dpe_nets_empty(work);
}

static void copy_markings(struct work *work, const struct net *old, const struct markings *from,
	const struct net *new, struct markings *to)
{
	for (unsigned i = 0; i < from->count; i++)
		dpe_nets_mark(to, memcpy(dpe_nets_marking(work, new), from->at[i],
					  old->nplaces * sizeof(tokens)));
}

static struct net *copy_net(struct work *work, const struct net *old, unsigned more)
{
	struct net *new = dpe_nets_new(work, old->name, old->nplaces + more);

	for (unsigned p = 0; p < new->nplaces; p++)
		new->places[p] = p < old->nplaces ? old->places[p] : old->name;
	for (unsigned i = 0; i < old->ntransitions; i++) {
		const struct transition *t = &old->transitions[i];
		struct transition *copy = dpe_nets_add(new, t);

		give_words(work, copy);
		for (unsigned j = 0; j < t->nin; j++)
			dpe_nets_arc(copy, false, t->in[j]);
		for (unsigned j = 0; j < t->nout; j++)
			dpe_nets_arc(copy, true, t->out[j]);
	}
	copy_markings(work, old, &old->initial, new, &new->initial);
	copy_markings(work, old, &old->final, new, &new->final);
	return new;
}

/* A silent transition between a place and each of the markings, which are that place's then. */
static void add_end(
	struct work *work, struct net *net, struct markings *markings, unsigned place, bool begins)
{
	tokens *one = dpe_nets_marking(work, net);

	for (unsigned i = 0; i < markings->count; i++) {
		struct transition *t = dpe_nets_add(
			net, &(struct transition){.words = dpe_nets_empty(work), .id = net->name});

		dpe_nets_arc(t, !begins, place);
		for (unsigned p = 0; p < net->nplaces; p++) {
			if (markings->at[i][p])
				dpe_nets_arc(t, begins, p);
		}
	}
	dpe_nets_markings_free(markings);
	one[place] = 1;
	dpe_nets_mark(markings, one);
}

static bool has_blank(const struct net *net, const struct markings *markings)
{
	for (unsigned i = 0; i < markings->count; i++) {
		bool blank = true;

		for (unsigned p = 0; p < net->nplaces; p++)
			blank = blank && !markings->at[i][p];
		if (blank)
			return true;
	}
	return false;
}

/* The net between two more places, its last but for SPARE ones; NULL where it would not be 1-safe
 * any more: an end may be on the way to others. */
static struct net *enclose(struct work *work, const struct net *net)
{
	struct net *new;

	if (has_blank(net, &net->initial) || has_blank(net, &net->final))
		return NULL;
	new = copy_net(work, net, SPARE + 2);
	add_end(work, new, &new->initial, net->nplaces, true);
	add_end(work, new, &new->final, net->nplaces + 1, false);
	return dpe_nets_is_one_safe(work, new) ? new : NULL;
}

/* ---- back --------------------------------------------------------------------------------------
 */

static bool has_arc(const struct transition *t, unsigned place, bool out)
{
	return dpe_nets_has_place(out ? t->out : t->in, out ? t->nout : t->nin, place);
}

/* Undoes what add_end did, where still nothing but silent transitions touch the place, and only
 * it. */
static void remove_end(
	struct work *work, struct net *net, struct markings *markings, unsigned place, bool begins)
{
	bool any = false;

	for (unsigned i = 0; i < net->ntransitions; i++) {
		const struct transition *t = &net->transitions[i];

		if (!has_arc(t, place, !begins))
			continue;
		if (t->words->kind != EXPR_EMPTY || (begins ? t->nin : t->nout) != 1)
			return;
		any = true;
	}
	if (!any)
		return;
	dpe_nets_markings_free(markings);
	for (unsigned i = net->ntransitions; i-- > 0;) {
		struct transition *t = &net->transitions[i];
		tokens *marking;

		if (!has_arc(t, place, !begins))
			continue;
		marking = dpe_nets_marking(work, net);
		for (unsigned j = 0; j < (begins ? t->nout : t->nin); j++)
			marking[begins ? t->out[j] : t->in[j]]++;
		dpe_nets_mark(markings, marking);
		dpe_nets_drop(net, i);
	}
}

/* What parts share has the same label wherever it is. */
static bool has_label(struct net *net, unsigned number)
{
	struct transition *t = &net->transitions[number];

	for (unsigned i = 0; i < number; i++) {
		if (t->words->kind != EXPR_SHARED || net->transitions[i].words != t->words)
			continue;
		t->label = net->transitions[i].label;
		return true;
	}
	return false;
}

/* Labels as the general way looks at them: none is silent, and other words are a label each. */
static void give_labels(struct work *work, struct net *net)
{
	for (unsigned i = 0; i < net->ntransitions; i++) {
		struct transition *t = &net->transitions[i];

		if (t->words->kind == EXPR_EMPTY)
			t->label = NULL;
		else if (t->words->kind == EXPR_EVENT)
			t->label = work->events->texts[t->words->event];
		else if (!has_label(net, i))
			t->label = dpe_arena_printf(work->arena, "(%u)", i);
	}
}

static bool has_silent(const struct net *net)
{
	for (unsigned i = 0; i < net->ntransitions; i++) {
		if (net->transitions[i].words->kind == EXPR_EMPTY)
			return true;
	}
	return false;
}

/* Firings are the same without the place, and so are their pasts. */
static struct net *without_place(struct work *work, const struct net *old, unsigned place)
{
	struct net *new = copy_net(work, old, 0);

	for (unsigned i = 0; i < new->ntransitions; i++) {
		struct transition *t = &new->transitions[i], all = *t;

		t->nin = t->nout = 0;
		for (unsigned j = 0; j < all.nin; j++)
			t->in[t->nin] = all.in[j], t->nin += all.in[j] != place;
		for (unsigned j = 0; j < all.nout; j++)
			t->out[t->nout] = all.out[j], t->nout += all.out[j] != place;
	}
	for (unsigned i = 0; i < new->initial.count; i++)
		new->initial.at[i][place] = 0;
	for (unsigned i = 0; i < new->final.count; i++)
		new->final.at[i][place] = 0;
	return new;
}

struct net *dpe_nets_drop_implicit(struct work *work, struct net *net)
{
	struct dpe_diags *diags;
	struct pasts *pasts;
	unsigned place = 0;

	diags = dpe_nets_hush(work);
	give_labels(work, net);
	pasts = dpe_nets_pasts(work, net);
	while (pasts && place < net->nplaces && !dpe_nets_is_implicit(pasts, place))
		place++;
	net = pasts && place < net->nplaces ? without_place(work, net, place) : net;
	dpe_nets_pasts_free(pasts);
	dpe_nets_speak(work, diags);
	return net;
}

static const struct expr *divide(struct work *work, struct net *net)
{
	const struct expr *words = dpe_nets_parts(work, net);
	struct net *smaller;

	if (!words)
		words = dpe_nets_cuts(work, net);
	if (words)
		return words;
	smaller = dpe_nets_drop_implicit(work, net);
	return smaller == net ? NULL : dpe_nets_words(work, smaller);
}

/* Where the usual way does not get on. */
static const struct expr *go_by_clients(struct work *work, struct net *net)
{
	struct dpe_diags *diags;
	const struct expr *words;
	uint64_t tries = work->tries;

	diags = dpe_nets_hush(work);
	net = dpe_nets_by_clients(work, net);
	words = net ? dpe_nets_kernel(work, net) : NULL;
	dpe_nets_speak(work, diags);
	work->tries = tries;
	return words;
}

static const struct expr *go_general_way(struct work *work, struct net *net, bool blocks)
{
	const struct expr *words = NULL;

	give_labels(work, net);
	if (!blocks && has_silent(net))
		words = go_by_clients(work, net);
	if (words)
		return words;
	net = dpe_nets_without_silent(work, net);
	if (net)
		net = dpe_nets_name_tokens(work, net);
	if (net)
		net = dpe_nets_one_safe(work, net);
	return net ? dpe_nets_kernel(work, net) : NULL;
}

/* The general way is good enough where nothing is silent. */
static const struct expr *go_on(struct work *work, struct net *net, bool blocks)
{
	const struct expr *words = NULL;

	net = dpe_nets_trim(work, net);
	if (net && blocks && work->depth < MANY_DEPTHS && has_silent(net))
		words = divide(work, net);
	return words || !net ? words : go_general_way(work, net, blocks);
}

/* ---- both ways ---------------------------------------------------------------------------------
 */

static bool *find_fixed(const struct net *net)
{
	bool *fixed = dpe_xcalloc(net->nplaces + 1, sizeof(*fixed));

	for (unsigned p = 0; p < net->nplaces; p++) {
		for (unsigned i = 0; i < net->initial.count; i++)
			fixed[p] |= net->initial.at[i][p] > 0;
		for (unsigned i = 0; i < net->final.count; i++)
			fixed[p] |= net->final.at[i][p] > 0;
	}
	return fixed;
}

static struct net *take_apart(struct reducer *r, struct net *net)
{
	if (r->start == NO_PLACE)
		return net;
	remove_end(r->work, net, &net->initial, r->start, true);
	remove_end(r->work, net, &net->final, r->end, false);
	return net;
}

static const struct expr *reduce(struct reducer *r)
{
	const struct expr *words = dpe_nets_reduce(r);
	struct net *kernel;

	if (words)
		return words;
	kernel = take_apart(r, copy_net(r->work, r->net, 0));
	words = r->start != NO_PLACE && r->blocks ? dpe_nets_reduce_further(r) : NULL;
	return words ? words : go_on(r->work, kernel, r->blocks);
}

static const struct expr *try(struct work *work, const struct net *net, bool blocks)
{
	struct net *enclosed = enclose(work, net);
	struct reducer r = {.work = work,
		.net = enclosed ? enclosed : copy_net(work, net, SPARE),
		.start = enclosed ? net->nplaces : NO_PLACE,
		.end = enclosed ? net->nplaces + 1 : NO_PLACE,
		.blocks = blocks,
		.flat = !blocks,
		.regions = blocks && work->depth < MANY_DEPTHS};
	const struct expr *words = NULL;

	r.together = dpe_nets_together(work, r.net);
	r.fixed = find_fixed(r.net);
	work->depth++;
	if (r.together)
		words = reduce(&r);
	work->depth--;
	free(r.together);
	free(r.fixed);
	return words;
}

static const struct expr *try_quietly(struct work *work, const struct net *net)
{
	struct dpe_diags *diags;
	const struct expr *words;

	diags = dpe_nets_hush(work);
	words = try(work, net, true);
	dpe_nets_speak(work, diags);
	return words;
}

const struct expr *dpe_nets_machine_words(struct work *work, struct net *net)
{
	for (unsigned i = 0; i < net->ntransitions; i++)
		give_words(work, &net->transitions[i]);
	return dpe_nets_known_kernel(work, net);
}

const struct expr *dpe_nets_words_quietly(struct work *work, struct net *net)
{
	struct dpe_diags *diags;
	const struct expr *words;

	diags = dpe_nets_hush(work);
	words = dpe_nets_words(work, net);
	dpe_nets_speak(work, diags);
	return words;
}

const struct expr *dpe_nets_words(struct work *work, struct net *net)
{
	const struct expr *words = try_quietly(work, net);

	if (!work->depth)
		work->tries = 0;
	return words ? words : try(work, net, false);
}
