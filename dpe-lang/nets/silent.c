/* Takes the silent transitions out of a 1-safe net, with the same causal order between the others.
 *
 * A silent transition t that nothing competes with for its inputs P can be contracted: a place
 * (p, q) for each p of P and each output q of Q stands for a token that lies in p, or that t has
 * moved on to q. What takes q takes all (p, q), so it depends on whatever made any p, as before.
 * That is right as long as tokens of different firings do not mix, which they cannot where no
 * (p, q) ever holds two. It could hold two where others fill q while a token waits in p: then t
 * first gets outputs of its own. And it could get the token of the next round before that of this
 * one is taken, as in (a & b)*: then rounds take turns (turns.c).
 *
 * What does compete for a place p is first given a place of its own: whatever makes a token in p
 * makes it for t or for the others ("all decisions can be made at the first place", appendix I.2).
 * That doubles those that make it; so t is one whose inputs no silent transition makes. */
#include "dpe-lang/nets/net.h"

#include <stdlib.h>
#include <string.h>

#define MANY_TURNS 12 /* transitions that are taken out with them: each makes much of a net, … */
#define MANY_IN_TURNS 300 /* … so that is not done where there is much of it */

/* One that took several tokens would join their pasts. */
static bool is_noop(const struct transition *t)
{
	return !t->label && t->nin == 1 && t->nout == 1 && *t->in == *t->out;
}

void dpe_nets_drop_noops(struct net *net)
{
	for (unsigned i = net->ntransitions; i-- > 0;) {
		if (is_noop(&net->transitions[i]))
			dpe_nets_drop(net, i);
	}
}

/* ---- rebuilding ---------------------------------------------------------------------------- */

/* Where the places of a net are in the next one: up to `width` each. */
struct mapping {
	unsigned *to, *count;
	unsigned width;
};

static struct mapping new_mapping(struct work *work, const struct net *net, unsigned width)
{
	struct mapping map = {.width = width};

	map.to = dpe_arena_alloc(work->arena, (net->nplaces * width + 1) * sizeof(*map.to));
	map.count = dpe_arena_alloc(work->arena, (net->nplaces + 1) * sizeof(*map.count));
	return map;
}

static void map_to(struct mapping *map, unsigned place, unsigned new)
{
	map->to[place * map->width + map->count[place]++] = new;
}

static void map_arcs(const struct mapping *map, struct transition *new, bool out,
	const unsigned *places, unsigned count)
{
	for (unsigned i = 0; i < count; i++) {
		for (unsigned j = 0; j < map->count[places[i]]; j++)
			dpe_nets_arc(new, out, map->to[places[i] * map->width + j]);
	}
}

static void map_markings(struct work *work, const struct mapping *map, const struct net *old,
	const struct markings *from, const struct net *new, struct markings *to)
{
	for (unsigned i = 0; i < from->count; i++) {
		tokens *marking = dpe_nets_marking(work, new);

		for (unsigned p = 0; p < old->nplaces; p++) {
			for (unsigned j = 0; j < map->count[p]; j++)
				marking[map->to[p * map->width + j]] += from->at[i][p];
		}
		if (!dpe_nets_is_marked(new, to, marking))
			dpe_nets_mark(to, marking);
	}
}

/* All but one transition (or none: `left_out` beyond the last). */
static void map_net(struct work *work, const struct mapping *map, const struct net *old,
	struct net *new, unsigned left_out)
{
	for (unsigned p = 0; p < old->nplaces; p++) {
		for (unsigned j = 0; j < map->count[p]; j++)
			new->places[map->to[p * map->width + j]] = old->places[p];
	}
	for (unsigned i = 0; i < old->ntransitions; i++) {
		const struct transition *t = &old->transitions[i];
		struct transition *copy;

		if (i == left_out)
			continue;
		copy = dpe_nets_add(new, t);
		map_arcs(map, copy, false, t->in, t->nin);
		map_arcs(map, copy, true, t->out, t->nout);
	}
	map_markings(work, map, old, &old->initial, new, &new->initial);
	map_markings(work, map, old, &old->final, new, &new->final);
}

/* ---- circles of silent steps from one place to one place --------------------------------------
 */

static void reach(const struct net *net, unsigned place, bool *reached)
{
	reached[place] = true;
	for (unsigned i = 0; i < net->ntransitions; i++) {
		const struct transition *t = &net->transitions[i];

		if (!t->label && t->nin == 1 && t->nout == 1 && t->in[0] == place &&
			!reached[t->out[0]])
			reach(net, t->out[0], reached);
	}
}

/* Two places between which a token goes to and fro freely are one. */
static bool find_circle(struct work *work, const struct net *net, unsigned *one, unsigned *other)
{
	bool *forth = dpe_arena_alloc(work->arena, net->nplaces + 1);
	bool *back = dpe_arena_alloc(work->arena, net->nplaces + 1);

	for (*one = 0; *one < net->nplaces; ++*one) {
		memset(forth, 0, net->nplaces);
		reach(net, *one, forth);
		for (*other = *one + 1; *other < net->nplaces; ++*other) {
			if (!forth[*other])
				continue;
			memset(back, 0, net->nplaces);
			reach(net, *other, back);
			if (back[*one])
				return true;
		}
	}
	return false;
}

static struct net *merge_places(
	struct work *work, const struct net *net, unsigned one, unsigned other)
{
	struct net *new = dpe_nets_new(work, net->name, net->nplaces - 1);
	struct mapping map = new_mapping(work, net, 1);

	for (unsigned p = 0; p < net->nplaces; p++)
		map_to(&map, p, p == other ? one : p - (p > other));
	map_net(work, &map, net, new, UINT32_MAX);
	return new;
}

/* ---- one transition ------------------------------------------------------------------------ */

bool dpe_nets_feeds(const struct transition *from, const struct transition *to)
{
	for (unsigned i = 0; i < from->nout; i++) {
		if (dpe_nets_has_place(to->in, to->nin, from->out[i]))
			return true;
	}
	return false;
}

static bool is_fed_silently(const struct net *net, const struct transition *t)
{
	for (unsigned i = 0; i < net->ntransitions; i++) {
		if (!net->transitions[i].label && dpe_nets_feeds(&net->transitions[i], t))
			return true;
	}
	return false;
}

static unsigned count_silent(const struct net *net)
{
	unsigned count = 0;

	for (unsigned i = 0; i < net->ntransitions; i++)
		count += !net->transitions[i].label;
	return count;
}

static bool has_competitor(const struct net *net, const struct transition *t, unsigned place)
{
	for (unsigned i = 0; i < net->ntransitions; i++) {
		const struct transition *other = &net->transitions[i];

		if (other != t && dpe_nets_has_place(other->in, other->nin, place))
			return true;
	}
	return false;
}

static struct transition *choose(struct net *net)
{
	for (unsigned i = 0; i < net->ntransitions; i++) {
		if (!net->transitions[i].label && !is_fed_silently(net, &net->transitions[i]))
			return &net->transitions[i];
	}
	return NULL;
}

static void copy_transition(struct net *new, const struct transition *t, unsigned from, unsigned to,
	bool inputs, bool outputs)
{
	struct transition *copy = dpe_nets_add(new, t);

	for (unsigned i = 0; i < t->nin; i++)
		dpe_nets_arc(copy, false, inputs && t->in[i] == from ? to : t->in[i]);
	for (unsigned i = 0; i < t->nout; i++)
		dpe_nets_arc(copy, true, outputs && t->out[i] == from ? to : t->out[i]);
}

/* Markings with a place more, and where asked for all ways to move tokens of `place` there. */
static void split_markings(struct work *work, const struct net *old, const struct markings *from,
	struct net *new, unsigned place, bool move)
{
	struct markings *to = from == &old->initial ? &new->initial : &new->final;

	for (unsigned i = 0; i < from->count; i++) {
		for (tokens moved = 0; moved <= (move ? from->at[i][place] : 0); moved++) {
			tokens *marking = dpe_nets_marking(work, new);

			memcpy(marking, from->at[i], old->nplaces * sizeof(*marking));
			marking[place] -= moved;
			marking[old->nplaces] = moved;
			dpe_nets_mark(to, marking);
		}
	}
}

/* A place of its own for t instead of `place`: as an input of it, which others fill or not, or as
 * an output, from which others take or not. The transitions keep their order; `*number` is that of
 * t. */
static struct net *split_place(
	struct work *work, const struct net *old, unsigned *number, unsigned place, bool output)
{
	struct net *new = dpe_nets_new(work, old->name, old->nplaces + 1);
	unsigned t = *number, own = old->nplaces;

	memcpy(new->places, old->places, old->nplaces * sizeof(*new->places));
	new->places[own] = old->places[place];
	for (unsigned i = 0; i < old->ntransitions; i++) {
		const struct transition *other = &old->transitions[i];
		bool in = i == t && !output, out = i == t && output;

		if (i == t)
			*number = new->ntransitions;
		copy_transition(new, other, place, own, in, out);
		if (output ? dpe_nets_has_place(other->in, other->nin, place)
			   : dpe_nets_has_place(other->out, other->nout, place))
			copy_transition(new, other, place, own, in || output, out || !output);
	}
	split_markings(work, old, &old->initial, new, place, !output);
	split_markings(work, old, &old->final, new, place, output);
	return new;
}

/* Places 0 … nin × nout - 1 of the result are the pairs. */
static struct net *contract(struct work *work, const struct net *net, unsigned number)
{
	const struct transition *t = &net->transitions[number];
	unsigned pairs = t->nin * t->nout, width = t->nin + t->nout, next = pairs;
	struct mapping map = new_mapping(work, net, width ? width : 1);
	struct net *new = dpe_nets_new(work, net->name, net->nplaces - width + pairs);

	for (unsigned i = 0; i < t->nin; i++) {
		for (unsigned j = 0; j < t->nout; j++) {
			map_to(&map, t->in[i], i * t->nout + j);
			map_to(&map, t->out[j], i * t->nout + j);
		}
	}
	for (unsigned p = 0; p < net->nplaces; p++) {
		if (!dpe_nets_has_place(t->in, t->nin, p) &&
			!dpe_nets_has_place(t->out, t->nout, p))
			map_to(&map, p, next++);
	}
	map_net(work, &map, net, new, number);
	return new;
}

static bool pairs_are_one_safe(struct work *work, const struct net *net, unsigned pairs)
{
	tokens *bounds = dpe_nets_marking(work, net);

	if (!dpe_nets_bound(work, net, bounds))
		return false;
	for (unsigned p = 0; p < pairs; p++) {
		if (bounds[p] > 1)
			return false;
	}
	return true;
}

struct net *dpe_nets_not_supported(
	struct work *work, const struct net *net, const struct transition *t, const char *why)
{
	struct dpe_text places = {0};

	for (unsigned i = 0; i < t->nin; i++) {
		const char *name = net->places[t->in[i]];
		bool told = !name;

		for (unsigned j = 0; j < i && !told; j++)
			told = net->places[t->in[j]] && !strcmp(net->places[t->in[j]], name);
		if (!told)
			dpe_text_printf(&places, "%s'%s'", places.len ? ", " : "", name);
	}
	dpe_diag_at(work->diags, DPE_ERROR, work->file,
		"not supported: the silent transition '%s' %s: give it a name, or say "
		"--name-silent "
		"(what it joins is in %s)",
		t->id, why, places.len ? places.at : "places that were made on the way");
	dpe_text_free(&places);
	return NULL;
}

static bool is_too_large(struct work *work, const struct net *net)
{
	return dpe_nets_too_many(work, net, net->ntransitions) ||
	       dpe_nets_too_many(work, net, net->initial.count) ||
	       dpe_nets_too_many(work, net, net->final.count);
}

/* With inputs that nothing else takes, and, where it is to own them, outputs that nothing else
 * makes. NULL after a diagnostic: that makes too much of it. */
static struct net *isolate(struct work *work, struct net *net, unsigned *number)
{
	const struct transition *t = &net->transitions[*number];
	struct net *new = net;

	for (unsigned i = 0; new &&i < t->nin; i++) {
		if (has_competitor(new, &new->transitions[*number], t->in[i]))
			new = split_place(work, new, number, t->in[i], false);
		new = is_too_large(work, new) ? NULL : new;
	}
	for (unsigned i = 0; new && t->own_outputs &&i < t->nout; i++) {
		new = split_place(work, new, number, t->out[i], true);
		new = is_too_large(work, new) ? NULL : new;
	}
	return new;
}

/* What takes tokens of a 1-safe net and leaves none does so once: whatever could fill its places
 * again does not wait for it, and could have put second tokens there. So nothing comes of its
 * tokens, and they can as well lie there at the end. */
static struct net *leave_lying(struct work *work, const struct net *net, unsigned number)
{
	const struct transition *t = &net->transitions[number];
	struct net *new = dpe_nets_new(work, net->name, net->nplaces);
	struct mapping map = new_mapping(work, net, 1);
	unsigned count;

	for (unsigned p = 0; p < net->nplaces; p++)
		map_to(&map, p, p);
	map_net(work, &map, net, new, number);
	count = new->final.count;
	for (unsigned i = 0; i < count; i++) {
		tokens *marking = dpe_nets_marking(work, new);

		memcpy(marking, new->final.at[i], new->nplaces * sizeof(*marking));
		for (unsigned j = 0; j < t->nin; j++)
			marking[t->in[j]]++;
		if (!dpe_nets_is_marked(new, &new->final, marking))
			dpe_nets_mark(&new->final, marking);
	}
	return new;
}

/* The ways to take one out, from the one that makes least of it. */
enum manner { CONTRACTED, WITH_OWN_OUTPUTS, IN_TURNS, MANNERS };

/* Then (p, q) would be all marked at that end, as they are when others have filled all q. */
static bool may_wait_at_end(const struct net *net, const struct transition *t)
{
	for (unsigned i = 0; i < net->final.count; i++) {
		bool all = true;

		for (unsigned j = 0; j < t->nin; j++)
			all = all && net->final.at[i][t->in[j]];
		if (all)
			return true;
	}
	return false;
}

static struct net *take_out_so(
	struct work *work, struct net *net, unsigned number, enum manner manner)
{
	struct transition *t = &net->transitions[number];
	unsigned pairs = t->nin * t->nout;

	t->own_outputs = manner != CONTRACTED || may_wait_at_end(net, t);
	net = isolate(work, net, &number);
	if (!net)
		return NULL;
	if (manner == IN_TURNS) {
		net = dpe_nets_take_turns(work, net, number);
		return net && dpe_nets_is_one_safe(work, net) ? net : NULL;
	}
	net = contract(work, net, number);
	return pairs_are_one_safe(work, net, pairs) ? net : NULL;
}

struct net *dpe_nets_take_out(struct work *work, struct net *net, unsigned number, bool turns)
{
	const struct transition *t = &net->transitions[number];
	unsigned errors = dpe_diags_errors(work->diags);
	unsigned nmanners = turns ? MANNERS : IN_TURNS;

	if (dpe_nets_feeds(t, t))
		return NULL;
	if (!t->nout && t->nin > 1)
		return leave_lying(work, net, number);
	for (enum manner manner = CONTRACTED; manner < nmanners; manner++) {
		struct net *new = take_out_so(work, net, number, manner);

		if (new || dpe_diags_errors(work->diags) > errors)
			return new;
	}
	return NULL;
}

static struct net *take_out(
	struct work *work, struct net *net, struct transition *t, unsigned *turns)
{
	unsigned errors = dpe_diags_errors(work->diags), number = (unsigned)(t - net->transitions);
	struct net *new = dpe_nets_take_out(work, net, number, false);

	if (new || dpe_diags_errors(work->diags) > errors)
		return new;
	if (++*turns <= MANY_TURNS && net->ntransitions <= MANY_IN_TURNS &&
		net->final.count <= MANY_IN_TURNS)
		new = dpe_nets_take_out(work, net, number, true);
	if (new || dpe_diags_errors(work->diags) > errors)
		return new;
	return dpe_nets_not_supported(
		work, net, t, "joins and splits what comes again before it is over");
}

static struct net *next_step(struct work *work, struct net *net, unsigned *turns)
{
	struct transition *t;
	struct net *safe, *deferred;
	unsigned one, other;

	if (find_circle(work, net, &one, &other))
		return merge_places(work, net, one, other);
	deferred = dpe_nets_defer(work, net);
	if (deferred != net)
		return deferred;
	t = choose(net);
	if (t && (t->nout || t->nin == 1))
		return take_out(work, net, t, turns);
	safe = dpe_nets_one_safe(work, net);
	if (safe != net)
		return safe;
	return t ? take_out(work, net, t, turns) : dpe_nets_go_round(work, net);
}

struct net *dpe_nets_without_silent(struct work *work, struct net *net)
{
	unsigned turns = 0;

	dpe_nets_drop_noops(net);
	while (net && count_silent(net)) {
		net = next_step(work, net, &turns);
		if (net)
			net = dpe_nets_trim(work, net);
		if (net)
			dpe_nets_drop_noops(net);
		if (net && is_too_large(work, net))
			return NULL;
	}
	return net;
}
