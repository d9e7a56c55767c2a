/* k-safe → 1-safe nets, with the same causal order.
 *
 * A place that holds up to k tokens becomes k slots. Which slot a new token takes must not make it
 * depend on what left that slot: so a free slot is handed on. Whatever takes a token from a slot
 * owns the slot then, and gives it along with one of the tokens that it makes; only who owns a slot
 * may fill it, and what it depends on through the slot it depends on anyway. A slot that was never
 * filled is free for everybody.
 *
 * Every behaviour of the k-safe net is one of the new net: the tokens that ever lie in a place are
 * ordered by "what took the one precedes what made the other", at most k of them are pairwise
 * unordered, so they fall into k chains (Dilworth), one for each slot; and along a chain there is a
 * path of tokens on which the slot can be handed on. Which path and which chain is open, so there
 * is a transition for each choice. (That such nets exist: Best and Wimmel, ATPN 2000.) */
#include "dpe-lang/nets/net.h"

#include <stdlib.h>
#include <string.h>
#include <uthash.h>

#define MANY_SLOTS 64
#define MANY_STATES 20000
#define MANY_OF_TOKENS 2500 /* variants: with more, tokens make a rule that is too long */

/* A place of the new net: a token in a slot with the slots it carries along, or a free slot. */
struct kind {
	unsigned place, slot;
	uint64_t carried;
	bool fresh;
};

struct known_kind {
	struct kind kind;
	unsigned number;
	UT_hash_handle hh;
};

/* A marking of the new net: the numbers of its marked places, in order. */
struct state {
	unsigned *places;
	unsigned count;
	UT_hash_handle hh;
};

struct variant {
	unsigned *key; /* transition, inputs, outputs */
	unsigned len;
	UT_hash_handle hh;
};

struct slots {
	struct work *work;
	struct dpe_arena *arena;
	const struct net *old;
	const tokens *bounds;
	unsigned *first; /* by place: its first slot among all; UINT32_MAX where it needs none */
	struct kind *kinds;
	unsigned nkinds, capkinds;
	struct known_kind *known;
	struct state **states, *seen;
	unsigned nstates, capstates;
	unsigned most;
	struct variant *variants; /* `most`, in the order in which they were found */
	/* One firing under construction. */
	const struct state *from;
	const struct transition *t;
	unsigned number;
	unsigned *in, *out; /* in: indices into from->places, then of fresh slots; out: kinds */
	unsigned nin;
	struct kind *made;
};

static unsigned number_of(struct slots *s, struct kind kind)
{
	struct known_kind *known, *new;
	struct kind key;

	memset(&key, 0, sizeof(key));
	key.place = kind.place;
	key.slot = kind.slot;
	key.carried = kind.carried;
	key.fresh = kind.fresh;
	HASH_FIND(hh, s->known, &key, sizeof(key), known);
	if (known)
		return known->number;
	new = dpe_arena_alloc(s->arena, sizeof(*new));
	memcpy(&new->kind, &key, sizeof(key));
	new->number = s->nkinds;
	*DPE_GROW(s->kinds, s->nkinds, s->capkinds) = kind;
	HASH_ADD(hh, s->known, kind, sizeof(key), new);
	return new->number;
}

static int compare_numbers(const void *a, const void *b)
{
	unsigned left = *(const unsigned *)a, right = *(const unsigned *)b;

	return (left > right) - (left < right);
}

static void add_state(struct slots *s, unsigned *places, unsigned count)
{
	struct state *state;

	qsort(places, count, sizeof(*places), compare_numbers);
	HASH_FIND(hh, s->seen, places, count * sizeof(*places), state);
	if (state)
		return;
	state = dpe_arena_alloc(s->arena, sizeof(*state));
	state->count = count;
	state->places = dpe_arena_alloc(s->arena, (count + 1) * sizeof(*places));
	memcpy(state->places, places, count * sizeof(*places));
	HASH_ADD_KEYPTR(hh, s->seen, state->places, count * sizeof(*places), state);
	*DPE_GROW(s->states, s->nstates, s->capstates) = state;
}

static void add_variant(struct slots *s)
{
	unsigned len = 2 + s->nin + s->t->nout, key[len];
	struct variant *variant;

	key[0] = s->number;
	key[1] = s->nin;
	for (unsigned i = 0; i < s->nin; i++)
		key[2 + i] = s->from->places[s->in[i]];
	for (unsigned i = 0; i < s->t->nout; i++)
		key[2 + s->nin + i] = s->out[i] = number_of(s, s->made[i]);
	HASH_FIND(hh, s->variants, key, sizeof(key), variant);
	if (variant)
		return;
	variant = dpe_arena_alloc(s->arena, sizeof(*variant));
	variant->len = len;
	variant->key = dpe_arena_alloc(s->arena, sizeof(key));
	memcpy(variant->key, key, sizeof(key));
	HASH_ADD_KEYPTR(hh, s->variants, variant->key, sizeof(key), variant);
}

static bool is_taken(const struct slots *s, unsigned index)
{
	return dpe_nets_has_place(s->in, s->nin, index);
}

static void fire(struct slots *s)
{
	unsigned places[s->from->count + s->t->nout + 1], count = 0;

	add_variant(s);
	for (unsigned i = 0; i < s->from->count; i++) {
		if (!is_taken(s, i))
			places[count++] = s->from->places[i];
	}
	for (unsigned i = 0; i < s->t->nout; i++)
		places[count++] = s->out[i];
	add_state(s, places, count);
}

/* Each slot that is left over goes along with one of the tokens. */
static void hand_on(struct slots *s, uint64_t owned)
{
	uint64_t slot = owned & -owned;

	if (HASH_COUNT(s->variants) > s->most || s->nstates > MANY_STATES)
		return;
	if (!owned || !s->t->nout) {
		fire(s);
		return;
	}
	for (unsigned i = 0; i < s->t->nout; i++) {
		s->made[i].carried |= slot;
		hand_on(s, owned & ~slot);
		s->made[i].carried &= ~slot;
	}
}

static void make(struct slots *s, unsigned at, uint64_t owned);

static void make_in(struct slots *s, unsigned at, unsigned slot, uint64_t owned)
{
	s->made[at] = (struct kind){.place = s->t->out[at], .slot = slot};
	make(s, at + 1, owned);
}

static void make_in_fresh(struct slots *s, unsigned at, uint64_t owned)
{
	for (unsigned i = 0; i < s->from->count; i++) {
		const struct kind kind = s->kinds[s->from->places[i]];

		if (!kind.fresh || kind.place != s->t->out[at] || is_taken(s, i))
			continue;
		s->in[s->nin++] = i;
		make_in(s, at, kind.slot, owned);
		s->nin--;
		return; /* the others are like it */
	}
}

/* The slot that is free, as a bit, once the token of this one is taken. */
static uint64_t freed_by(const struct slots *s, struct kind kind)
{
	if (s->first[kind.place] == UINT32_MAX)
		return 0;
	return UINT64_C(1) << (s->first[kind.place] + kind.slot);
}

static void make(struct slots *s, unsigned at, uint64_t owned)
{
	unsigned place, first;

	if (at == s->t->nout) {
		hand_on(s, owned);
		return;
	}
	place = s->t->out[at];
	first = s->first[place];
	if (first == UINT32_MAX) {
		make_in(s, at, 0, owned);
		return;
	}
	for (unsigned slot = 0; slot < s->bounds[place]; slot++) {
		uint64_t bit = UINT64_C(1) << (first + slot);

		if (!(owned & bit))
			continue;
		make_in(s, at, slot, owned & ~bit);
		break; /* owned alike, they are alike */
	}
	make_in_fresh(s, at, owned);
}

static void take(struct slots *s, unsigned at, uint64_t owned)
{
	unsigned from = 0;

	if (at == s->t->nin) {
		make(s, 0, owned);
		return;
	}
	if (at && s->t->in[at] == s->t->in[at - 1])
		from = s->in[at - 1] + 1;
	for (unsigned i = from; i < s->from->count; i++) {
		const struct kind kind = s->kinds[s->from->places[i]];

		if (kind.fresh || kind.place != s->t->in[at])
			continue;
		s->in[s->nin++] = i;
		take(s, at + 1, owned | kind.carried | freed_by(s, kind));
		s->nin--;
	}
}

static void visit(struct slots *s, const struct state *state)
{
	s->from = state;
	for (s->number = 0; s->number < s->old->ntransitions; s->number++) {
		unsigned nin, nout;

		s->t = &s->old->transitions[s->number];
		nin = s->t->nin + s->t->nout;
		nout = s->t->nout;
		s->in = dpe_xcalloc(nin + 1, sizeof(*s->in));
		s->out = dpe_xcalloc(nout + 1, sizeof(*s->out));
		s->made = dpe_xcalloc(nout + 1, sizeof(*s->made));
		take(s, 0, 0);
		free(s->in);
		free(s->out);
		free(s->made);
	}
}

static void begin_at(struct slots *s, const tokens *marking)
{
	unsigned count = 0, *places;

	for (unsigned p = 0; p < s->old->nplaces; p++)
		count += s->bounds[p];
	places = dpe_xcalloc(count + 1, sizeof(*places));
	count = 0;
	for (unsigned p = 0; p < s->old->nplaces; p++) {
		for (unsigned slot = 0; slot < s->bounds[p]; slot++) {
			struct kind kind = {.place = p, .slot = slot, .fresh = slot >= marking[p]};

			if (!kind.fresh || s->first[p] != UINT32_MAX)
				places[count++] = number_of(s, kind);
		}
	}
	add_state(s, places, count);
	free(places);
}

/* ---- the new net --------------------------------------------------------------------------- */

static tokens *marking_of(struct slots *s, const struct net *new, const struct state *state)
{
	tokens *marking = dpe_nets_marking(s->work, new);

	for (unsigned i = 0; i < state->count; i++)
		marking[state->places[i]] = 1;
	return marking;
}

static bool is_end(struct slots *s, const struct state *state)
{
	tokens marking[s->old->nplaces + 1];

	memset(marking, 0, sizeof(marking));
	for (unsigned i = 0; i < state->count; i++)
		marking[s->kinds[state->places[i]].place] += !s->kinds[state->places[i]].fresh;
	return dpe_nets_is_marked(s->old, &s->old->final, marking);
}

static void add_transitions(struct slots *s, struct net *new)
{
	for (const struct variant *v = s->variants; v; v = v->hh.next) {
		struct transition *t = dpe_nets_add(new, &s->old->transitions[v->key[0]]);

		for (unsigned i = 2; i < v->len; i++)
			dpe_nets_arc(t, i >= 2 + v->key[1], v->key[i]);
	}
}

static struct net *build(struct slots *s, unsigned ninitial)
{
	struct net *new = dpe_nets_new(s->work, s->old->name, s->nkinds);

	for (unsigned i = 0; i < s->nkinds; i++)
		new->places[i] = s->old->places[s->kinds[i].place];
	add_transitions(s, new);
	for (unsigned i = 0; i < s->nstates; i++) {
		if (i < ninitial)
			dpe_nets_mark(&new->initial, marking_of(s, new, s->states[i]));
		if (is_end(s, s->states[i]))
			dpe_nets_mark(&new->final, marking_of(s, new, s->states[i]));
	}
	return new;
}

static struct net *explore(struct slots *s)
{
	unsigned ninitial;

	for (unsigned i = 0; i < s->old->initial.count; i++)
		begin_at(s, s->old->initial.at[i]);
	ninitial = s->nstates;
	for (unsigned i = 0; i < s->nstates; i++) {
		visit(s, s->states[i]);
		if (s->nstates <= MANY_STATES && HASH_COUNT(s->variants) <= s->most)
			continue;
		dpe_diag_at(s->work->diags, DPE_ERROR, s->work->file,
			"net '%s' is safe, but has too many ways to put several tokens into one "
			"place (more than %u markings, or %u different firings, of tokens that are "
			"told apart)",
			s->old->name, MANY_STATES, s->most);
		return NULL;
	}
	return build(s, ninitial);
}

/* Slots for places of several tokens. */
static bool number_slots(struct slots *s)
{
	unsigned count = 0;

	s->first = dpe_arena_alloc(s->work->arena, (s->old->nplaces + 1) * sizeof(*s->first));
	for (unsigned p = 0; p < s->old->nplaces; p++) {
		bool needed = s->bounds[p] > 1;

		s->first[p] = needed ? count : UINT32_MAX;
		count += needed ? s->bounds[p] : 0;
	}
	if (count <= MANY_SLOTS)
		return true;
	dpe_diag_at(s->work->diags, DPE_ERROR, s->work->file,
		"net '%s' is safe, but its places that hold several tokens hold more than %u "
		"together, which are too many here",
		s->old->name, MANY_SLOTS);
	return false;
}

static struct net *with_slots(
	struct work *work, struct net *net, const tokens *bounds, unsigned most)
{
	struct slots s = {.work = work, .old = net, .bounds = bounds, .most = most};
	struct net *new = NULL;

	if (!number_slots(&s))
		return NULL;
	s.arena = dpe_arena_new();
	new = explore(&s);
	HASH_CLEAR(hh, s.known);
	HASH_CLEAR(hh, s.seen);
	HASH_CLEAR(hh, s.variants);
	free(s.kinds);
	free(s.states);
	dpe_arena_free(s.arena);
	return new ? dpe_nets_trim(work, new) : NULL;
}

struct net *dpe_nets_one_safe(struct work *work, struct net *net)
{
	tokens *bounds = dpe_nets_marking(work, net);
	unsigned most = dpe_nets_bound(work, net, bounds);

	if (most <= 1)
		return most ? net : NULL;
	return with_slots(work, net, bounds, MANY_OF_TOKENS);
}
