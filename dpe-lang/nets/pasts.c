/* Which tokens lie together, and how their pasts are related.
 *
 * The past of a token is the set of visible firings before it. All that matters of a firing is
 * which tokens have it in their past: a set of marked places. So a state is a marking of a 1-safe
 * net with a family of such sets, of which there is an end. When P is taken and Q made, a set that
 * meets P loses P and gets Q; a visible firing adds Q itself. */
#include "dpe-lang/nets/net.h"

#include <stdlib.h>
#include <string.h>
#include <uthash.h>

#define MANY_STATES 20000

/* The first set is the marking. */
struct state {
	uint64_t *sets;
	unsigned count;
	UT_hash_handle hh;
};

struct pasts {
	const struct net *net;
	unsigned nwords;
	struct state *states;
	struct dpe_arena *arena;
	uint64_t *in, *out; /* of the firing under way */
};

static bool has(const uint64_t *set, unsigned place)
{
	return set[place / 64] >> place % 64 & 1;
}

static void put(uint64_t *set, unsigned place)
{
	set[place / 64] |= UINT64_C(1) << place % 64;
}

static bool meets(const struct pasts *p, const uint64_t *a, const uint64_t *b)
{
	for (unsigned i = 0; i < p->nwords; i++) {
		if (a[i] & b[i])
			return true;
	}
	return false;
}

static bool is_within(const struct pasts *p, const uint64_t *a, const uint64_t *b)
{
	for (unsigned i = 0; i < p->nwords; i++) {
		if (a[i] & ~b[i])
			return false;
	}
	return true;
}

/* At its place among the others after the first; once; not where it is empty. */
static void add_set(const struct pasts *p, uint64_t *sets, unsigned *count, const uint64_t *set)
{
	size_t size = p->nwords * sizeof(*set);
	unsigned at;

	for (at = 1; at < *count; at++) {
		int order = memcmp(set, sets + (size_t)at * p->nwords, size);

		if (!order)
			return;
		if (order < 0)
			break;
	}
	if (!meets(p, set, set))
		return;
	memmove(sets + (size_t)(at + 1) * p->nwords, sets + (size_t)at * p->nwords,
		(*count - at) * size);
	memcpy(sets + (size_t)at * p->nwords, set, size);
	++*count;
}

static void add_state(struct pasts *p, const uint64_t *sets, unsigned count)
{
	size_t size = (size_t)count * p->nwords * sizeof(*sets);
	struct state *state;

	HASH_FIND(hh, p->states, sets, size, state);
	if (state)
		return;
	state = dpe_arena_alloc(p->arena, sizeof(*state));
	state->sets = dpe_arena_alloc(p->arena, size);
	state->count = count;
	memcpy(state->sets, sets, size);
	HASH_ADD_KEYPTR(hh, p->states, state->sets, size, state);
}

static void move(const struct pasts *p, const uint64_t *from, uint64_t *to)
{
	for (unsigned i = 0; i < p->nwords; i++)
		to[i] = (from[i] & ~p->in[i]) | p->out[i];
}

static void fire(struct pasts *p, const struct state *from, bool visible)
{
	uint64_t *sets = dpe_xcalloc((size_t)(from->count + 1) * p->nwords, sizeof(*sets));
	uint64_t moved[p->nwords];
	unsigned count = 1;

	move(p, from->sets, sets);
	for (unsigned i = 1; i < from->count; i++) {
		const uint64_t *set = from->sets + (size_t)i * p->nwords;

		if (meets(p, set, p->in)) {
			move(p, set, moved);
			set = moved;
		}
		add_set(p, sets, &count, set);
	}
	if (visible)
		add_set(p, sets, &count, p->out);
	add_state(p, sets, count);
	free(sets);
}

static void visit(struct pasts *p, const struct state *state)
{
	for (unsigned i = 0; i < p->net->ntransitions; i++) {
		const struct transition *t = &p->net->transitions[i];

		memset(p->in, 0, p->nwords * sizeof(*p->in));
		memset(p->out, 0, p->nwords * sizeof(*p->out));
		for (unsigned j = 0; j < t->nin; j++)
			put(p->in, t->in[j]);
		if (!is_within(p, p->in, state->sets))
			continue;
		for (unsigned j = 0; j < t->nout; j++)
			put(p->out, t->out[j]);
		fire(p, state, t->label);
	}
}

static void begin(struct pasts *p)
{
	uint64_t set[p->nwords];

	for (unsigned i = 0; i < p->net->initial.count; i++) {
		memset(set, 0, sizeof(set));
		for (unsigned j = 0; j < p->net->nplaces; j++) {
			if (p->net->initial.at[i][j])
				put(set, j);
		}
		add_state(p, set, 1);
	}
}

struct pasts *dpe_nets_pasts(struct work *work, const struct net *net)
{
	struct pasts *p = dpe_arena_alloc(work->arena, sizeof(*p));
	bool good = true;

	p->net = net;
	p->nwords = net->nplaces / 64 + 1;
	p->arena = dpe_arena_new();
	p->in = dpe_arena_alloc(p->arena, p->nwords * sizeof(*p->in));
	p->out = dpe_arena_alloc(p->arena, p->nwords * sizeof(*p->out));
	begin(p);
	for (struct state *s = p->states; s && good; s = s->hh.next) {
		visit(p, s);
		good = !dpe_nets_too_long(work, net) && HASH_COUNT(p->states) <= MANY_STATES;
	}
	if (good)
		return p;
	if (HASH_COUNT(p->states) > MANY_STATES)
		dpe_diag_at(work->diags, DPE_ERROR, work->file,
			"net '%s' is safe, but has too many ways to order what its silent "
			"transitions join (more than %u)",
			net->name, MANY_STATES);
	dpe_nets_pasts_free(p);
	return NULL;
}

void dpe_nets_pasts_free(struct pasts *p)
{
	if (!p)
		return;
	HASH_CLEAR(hh, p->states);
	dpe_arena_free(p->arena);
}

/* ---- what is asked ------------------------------------------------------------------------- */

static bool has_more(const struct pasts *p, const struct state *s, unsigned more, unsigned less)
{
	for (unsigned i = 1; i < s->count; i++) {
		const uint64_t *set = s->sets + (size_t)i * p->nwords;

		if (has(set, more) && !has(set, less))
			return true;
	}
	return false;
}

bool dpe_nets_past_is_less(struct pasts *p, unsigned place, unsigned other)
{
	for (const struct state *s = p->states; s; s = s->hh.next) {
		if (has(s->sets, place) && has(s->sets, other) &&
			(has_more(p, s, place, other) || !has_more(p, s, other, place)))
			return false;
	}
	return true;
}

static bool adds_nothing(
	const struct pasts *p, const struct state *s, const struct transition *t, unsigned place)
{
	uint64_t others[p->nwords];

	memset(others, 0, sizeof(others));
	for (unsigned i = 0; i < t->nin; i++) {
		if (t->in[i] != place)
			put(others, t->in[i]);
	}
	if (!is_within(p, others, s->sets))
		return true;
	if (!meets(p, others, others) || !has(s->sets, place))
		return false;
	for (unsigned i = 1; i < s->count; i++) {
		const uint64_t *set = s->sets + (size_t)i * p->nwords;

		if (has(set, place) && !meets(p, set, others))
			return false;
	}
	return true;
}

/* Whether some end is one only if nothing is in the place. */
static bool decides_end(const struct pasts *p, const struct state *s, unsigned place)
{
	const struct markings *final = &p->net->final;
	bool ends = false, would = false;

	for (unsigned i = 0; i < final->count; i++) {
		bool same = true;

		for (unsigned q = 0; q < p->net->nplaces && same; q++)
			same = q == place || has(s->sets, q) == (final->at[i][q] > 0);
		would |= same;
		ends |= same && has(s->sets, place) == (final->at[i][place] > 0);
	}
	return would && !ends;
}

bool dpe_nets_is_implicit(struct pasts *p, unsigned place)
{
	bool taken = false;

	for (const struct state *s = p->states; s; s = s->hh.next) {
		if (decides_end(p, s, place))
			return false;
		for (unsigned i = 0; i < p->net->ntransitions; i++) {
			const struct transition *t = &p->net->transitions[i];

			if (!dpe_nets_has_place(t->in, t->nin, place))
				continue;
			if (!adds_nothing(p, s, t, place))
				return false;
			taken = true;
		}
	}
	return taken;
}
