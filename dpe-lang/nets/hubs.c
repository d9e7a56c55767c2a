/* Silent transitions on a circle of such, with what they take from visible ones: hubs, through
 * which one client after another goes, and none waits for what the others do meanwhile.
 *
 * Let F be places of which one at most is ever marked, filled by visible transitions only, and G
 * the silent transitions that take from F: the client. Firings g1, g2, … of G are in order, and
 * what fills F for the next one, d2, comes after g1: else both could be in F at the same time. So
 * where G takes from a place x what G left there, that adds no order: d2 comes after g1 as it is,
 * and on no way that leads through such a token, for it would lead from some g to a later one that
 * comes before d2. Therefore d1 and d2 may as well hand the token to each other, in a place of
 * their own: d1 leaves it, and so says that its g will leave x for G, and d2 takes it, and so says
 * that its own takes x from G. F is divided by what was said; whatever else makes x, or takes it,
 * decides whether it does that for G.
 *
 * After that no token goes from G to G, and each transition of G can be contracted, though silent
 * ones fill its places (silent.c). The silent ones that are left take from F no more, so there is
 * an end to this where each takes from something that visible ones fill.
 *
 * That two firings of G leave x before one takes it would not be safe; to say so, and not do it,
 * is kept from happening by a place that is marked where the token is not. The d are in order, so
 * that orders nothing. */
#include "dpe-lang/nets/net.h"

#include <stdlib.h>
#include <string.h>

#define NO_PLACE UINT32_MAX
#define MANY_INNER 8 /* places from G to G: each doubles who takes or fills it */

/* Beside an inner place itself: what is said of its tokens, and by whom. */
enum role { FOR_CLIENT, OF_CLIENT, HANDED, NOT_HANDED, ROLES };

/* A place of F for those of G that take and leave these inner places from and for G. */
struct own {
	unsigned place, number;
	uint64_t takes, leaves;
};

struct hub {
	struct work *work;
	const struct net *old;
	struct net *new;
	bool *silently; /* by place: silent ones fill it */
	bool *family, *client;
	unsigned *inner; /* by place: its number among those from G to G, or NO_PLACE */
	unsigned ninner, nplaces;
	struct own *owns;
	unsigned nowns, capowns;
};

/* ---- who is a client ------------------------------------------------------------------------ */

static void find_silently(struct hub *h)
{
	h->silently = dpe_xcalloc(h->old->nplaces + 1, sizeof(*h->silently));
	for (unsigned i = 0; i < h->old->ntransitions; i++) {
		const struct transition *t = &h->old->transitions[i];

		for (unsigned j = 0; j < t->nout && !t->label; j++)
			h->silently[t->out[j]] = true;
	}
}

/* Where silent ones take it together with what silent ones fill. */
static bool is_at_hub(const struct hub *h, unsigned place)
{
	for (unsigned i = 0; i < h->old->ntransitions && !h->silently[place]; i++) {
		const struct transition *t = &h->old->transitions[i];

		if (t->label || !dpe_nets_has_place(t->in, t->nin, place))
			continue;
		for (unsigned j = 0; j < t->nin; j++) {
			if (h->silently[t->in[j]])
				return true;
		}
	}
	return false;
}

static void grow_family(
	const struct hub *h, const bool *together, const bool *at_hub, unsigned first, bool *family)
{
	for (unsigned i = 0; i <= h->old->nplaces; i++) {
		unsigned p = i ? i - 1 : first;
		bool alone = at_hub[p];

		for (unsigned q = 0; q < h->old->nplaces && alone; q++)
			alone = !family[q] || !together[(size_t)p * h->old->nplaces + q];
		family[p] |= alone;
	}
}

static unsigned count_takers(const struct hub *h, const bool *family, bool *client)
{
	unsigned count = 0;

	for (unsigned i = 0; i < h->old->ntransitions; i++) {
		const struct transition *t = &h->old->transitions[i];

		client[i] = false;
		for (unsigned j = 0; j < t->nin && !t->label; j++)
			client[i] |= family[t->in[j]];
		count += client[i];
	}
	return count;
}

static bool client_has(const struct hub *h, unsigned place, bool out)
{
	for (unsigned i = 0; i < h->old->ntransitions; i++) {
		const struct transition *t = &h->old->transitions[i];

		if (h->client[i] &&
			dpe_nets_has_place(out ? t->out : t->in, out ? t->nout : t->nin, place))
			return true;
	}
	return false;
}

static void number_inner(struct hub *h)
{
	h->ninner = 0;
	for (unsigned p = 0; p < h->old->nplaces; p++)
		h->inner[p] =
			client_has(h, p, true) && client_has(h, p, false) ? h->ninner++ : NO_PLACE;
	h->nplaces = h->old->nplaces + ROLES * h->ninner;
}

/* The client with the most transitions. False where there is none. */
static bool find_client(struct hub *h, const bool *together, bool inner)
{
	unsigned nplaces = h->old->nplaces, best = 0;
	bool *at_hub = dpe_xcalloc(nplaces + 1, sizeof(*at_hub));
	bool *family = dpe_xcalloc(nplaces + 1, sizeof(*family));

	for (unsigned p = 0; p < nplaces; p++)
		at_hub[p] = is_at_hub(h, p);
	for (unsigned p = 0; p < nplaces; p++) {
		unsigned count;

		if (!at_hub[p])
			continue;
		memset(family, 0, nplaces * sizeof(*family));
		grow_family(h, together, at_hub, p, family);
		count = count_takers(h, family, h->client);
		number_inner(h);
		if (count <= best || (inner && !h->ninner))
			continue;
		best = count;
		memcpy(h->family, family, nplaces * sizeof(*family));
	}
	free(at_hub);
	free(family);
	return best && count_takers(h, h->family, h->client);
}

static unsigned place_of(const struct hub *h, unsigned inner, enum role role)
{
	return h->old->nplaces + ROLES * inner + role;
}

/* ---- what each becomes ------------------------------------------------------------------------
 */

static unsigned count_inner(const struct hub *h, const unsigned *places, unsigned count)
{
	unsigned inner = 0;

	for (unsigned i = 0; i < count; i++)
		inner += h->inner[places[i]] != NO_PLACE;
	return inner;
}

/* Inner places of these arcs whose bits, in the order of the arcs, are set. */
static uint64_t chosen(const struct hub *h, const unsigned *places, unsigned count, uint64_t bits)
{
	uint64_t set = 0;

	for (unsigned i = 0; i < count; i++) {
		if (h->inner[places[i]] == NO_PLACE)
			continue;
		set |= (bits & 1) << h->inner[places[i]];
		bits >>= 1;
	}
	return set;
}

static unsigned own_place(struct hub *h, unsigned place, uint64_t takes, uint64_t leaves)
{
	for (unsigned i = 0; i < h->nowns; i++) {
		const struct own *own = &h->owns[i];

		if (own->place == place && own->takes == takes && own->leaves == leaves)
			return own->number;
	}
	*DPE_GROW(h->owns, h->nowns, h->capowns) = (struct own){place, h->nplaces, takes, leaves};
	return h->nplaces++;
}

/* Arcs to places that are not for G, nor of it, or are in these roles where the set has them. */
static void add_arcs(const struct hub *h, struct transition *to, bool out, const unsigned *places,
	unsigned count, uint64_t set, enum role role)
{
	for (unsigned i = 0; i < count; i++) {
		unsigned inner = h->inner[places[i]];
		bool in_role = inner != NO_PLACE && (set >> inner & 1);

		dpe_nets_arc(to, out, in_role ? place_of(h, inner, role) : places[i]);
	}
}

static void add_client_arcs(const struct hub *h, struct transition *to, bool out,
	const unsigned *places, unsigned count, uint64_t handed)
{
	for (unsigned i = 0; i < count; i++) {
		unsigned inner = h->inner[places[i]];

		if (h->family[places[i]] || (inner != NO_PLACE && (handed >> inner & 1)))
			continue;
		if (inner == NO_PLACE)
			dpe_nets_arc(to, out, places[i]);
		else
			dpe_nets_arc(to, out, place_of(h, inner, out ? OF_CLIENT : FOR_CLIENT));
	}
}

static bool add_client(struct hub *h, const struct transition *t)
{
	unsigned nin = count_inner(h, t->in, t->nin), nout = count_inner(h, t->out, t->nout);
	unsigned from = 0;

	while (!h->family[t->in[from]])
		from++;
	for (uint64_t bits = 0; bits >> (nin + nout) == 0; bits++) {
		uint64_t takes = chosen(h, t->in, t->nin, bits);
		uint64_t leaves = chosen(h, t->out, t->nout, bits >> nin);
		struct transition *copy = dpe_nets_add(h->new, t);

		copy->next = true;
		dpe_nets_arc(copy, false, own_place(h, t->in[from], takes, leaves));
		add_client_arcs(h, copy, false, t->in, t->nin, takes);
		add_client_arcs(h, copy, true, t->out, t->nout, leaves);
		if (dpe_nets_too_many(h->work, h->new, h->new->ntransitions))
			return false;
	}
	return true;
}

static void hand(const struct hub *h, struct transition *to, const struct own *own)
{
	for (unsigned i = 0; i < h->ninner; i++) {
		bool takes = own->takes >> i & 1, leaves = own->leaves >> i & 1;

		if (!takes && !leaves)
			continue;
		dpe_nets_arc(to, false, place_of(h, i, takes ? HANDED : NOT_HANDED));
		dpe_nets_arc(to, true, place_of(h, i, leaves ? HANDED : NOT_HANDED));
	}
}

/* What it fills of F, it fills for others or as `own` says. */
static void add_other_way(
	struct hub *h, const struct transition *t, uint64_t bits, const struct own *own)
{
	unsigned nin = count_inner(h, t->in, t->nin);
	struct transition *copy = dpe_nets_add(h->new, t);

	add_arcs(h, copy, false, t->in, t->nin, chosen(h, t->in, t->nin, bits), OF_CLIENT);
	add_arcs(h, copy, true, t->out, t->nout, chosen(h, t->out, t->nout, bits >> nin),
		FOR_CLIENT);
	for (unsigned i = 0; own && i < copy->nout; i++) {
		if (copy->out[i] == own->place)
			memmove(copy->out + i, copy->out + i + 1,
				(--copy->nout - i) * sizeof(*copy->out));
	}
	if (!own)
		return;
	dpe_nets_arc(copy, true, own->number);
	hand(h, copy, own);
}

static bool add_other(struct hub *h, const struct transition *t)
{
	unsigned count = count_inner(h, t->in, t->nin) + count_inner(h, t->out, t->nout);

	for (uint64_t bits = 0; bits >> count == 0; bits++) {
		add_other_way(h, t, bits, NULL);
		for (unsigned i = 0; i < h->nowns; i++) {
			if (dpe_nets_has_place(t->out, t->nout, h->owns[i].place))
				add_other_way(h, t, bits, &h->owns[i]);
		}
		if (dpe_nets_too_many(h->work, h->new, h->new->ntransitions))
			return false;
	}
	return true;
}

/* ---- the new net ------------------------------------------------------------------------------
 */

/* The marking with some inner places in these roles, and with what was said of F. */
static tokens *marking_of(
	struct hub *h, const tokens *old, uint64_t bits, enum role role, const struct own *own)
{
	tokens *marking = dpe_nets_marking(h->work, h->new);

	memcpy(marking, old, h->old->nplaces * sizeof(*marking));
	for (unsigned p = 0; p < h->old->nplaces; p++) {
		unsigned inner = h->inner[p];
		bool handed;

		if (inner == NO_PLACE)
			continue;
		handed = own && (own->leaves >> inner & 1);
		marking[place_of(h, inner, handed ? HANDED : NOT_HANDED)] = 1;
		if (!old[p])
			continue;
		marking[p] = !(bits & 1);
		marking[place_of(h, inner, role)] = bits & 1;
		bits >>= 1;
	}
	if (own) {
		marking[own->place] = 0;
		marking[own->number] = 1;
	}
	return marking;
}

/* One marking in all ways to choose. */
static bool mark_ways(
	struct hub *h, const tokens *old, struct markings *to, enum role role, unsigned count)
{
	for (uint64_t bits = 0; bits >> count == 0; bits++) {
		dpe_nets_mark(to, marking_of(h, old, bits, role, NULL));
		for (unsigned i = 0; role == FOR_CLIENT && i < h->nowns; i++) {
			const struct own *own = &h->owns[i];

			if (old[own->place] && !own->takes)
				dpe_nets_mark(to, marking_of(h, old, bits, role, own));
		}
		if (dpe_nets_too_many(h->work, h->new, to->count))
			return false;
	}
	return true;
}

static bool mark(struct hub *h, const struct markings *from, struct markings *to, enum role role)
{
	for (unsigned i = 0; i < from->count; i++) {
		unsigned count = 0;

		for (unsigned p = 0; p < h->old->nplaces; p++)
			count += h->inner[p] != NO_PLACE && from->at[i][p];
		if (!mark_ways(h, from->at[i], to, role, count))
			return false;
	}
	return true;
}

static void name_places(struct hub *h)
{
	h->new->nplaces = h->nplaces;
	h->new->places =
		dpe_arena_alloc(h->work->arena, (h->nplaces + 1) * sizeof(*h->new->places));
	for (unsigned p = 0; p < h->old->nplaces; p++) {
		h->new->places[p] = h->old->places[p];
		for (unsigned role = 0; role < ROLES && h->inner[p] != NO_PLACE; role++)
			h->new->places[place_of(h, h->inner[p], role)] = h->old->places[p];
	}
	for (unsigned i = 0; i < h->nowns; i++)
		h->new->places[h->owns[i].number] = h->old->places[h->owns[i].place];
}

static bool build(struct hub *h)
{
	h->new = dpe_nets_new(h->work, h->old->name, 0);
	for (unsigned i = 0; i < h->old->ntransitions; i++) {
		if (h->client[i] && !add_client(h, &h->old->transitions[i]))
			return false;
	}
	for (unsigned i = 0; i < h->old->ntransitions; i++) {
		if (!h->client[i] && !add_other(h, &h->old->transitions[i]))
			return false;
	}
	name_places(h);
	return mark(h, &h->old->initial, &h->new->initial, FOR_CLIENT) &&
	       mark(h, &h->old->final, &h->new->final, OF_CLIENT);
}

static struct net *localize(struct hub *h, const bool *together, bool inner)
{
	if (!find_client(h, together, inner))
		return NULL;
	number_inner(h);
	if (h->ninner > MANY_INNER)
		return NULL;
	return build(h) ? h->new : NULL;
}

struct net *dpe_nets_localize(struct work *work, const struct net *net, bool inner)
{
	struct hub h = {.work = work, .old = net};
	bool *together = dpe_nets_together(work, net);
	struct net *new;

	if (!together)
		return NULL;
	h.family = dpe_xcalloc(net->nplaces + 1, sizeof(*h.family));
	h.client = dpe_xcalloc(net->ntransitions + 1, sizeof(*h.client));
	h.inner = dpe_xcalloc(net->nplaces + 1, sizeof(*h.inner));
	find_silently(&h);
	new = localize(&h, together, inner);
	free(together);
	free(h.silently);
	free(h.family);
	free(h.client);
	free(h.inner);
	free(h.owns);
	return new;
}
