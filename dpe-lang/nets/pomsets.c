/* Runs written down: events in causal order, and the tokens that are there in the end.
 *
 * Two runs that differ only in the names of their events are to look the same. So events are put
 * into an order by what can be said of them without names: what is in their past and future, and
 * in theirs, as far as that tells them apart; of those that it does not one goes first, and that
 * is said of it then. Where such two are each other's mirror image, as they mostly are, it does not
 * matter which goes first. Else two runs may look different that are not: nothing becomes wrong by
 * that, only longer. */
#include "dpe-lang/nets/net.h"

#include <stdlib.h>
#include <string.h>

enum { BEFORE = 1, AFTER, TOKEN, FIRST };

static uint64_t mix(uint64_t x)
{
	x += UINT64_C(0x9e3779b97f4a7c15);
	x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
	return x ^ x >> 31;
}

size_t dpe_nets_pomset_size(const struct pomset *p)
{
	return sizeof(*p) + (size_t)(p->nevents + p->ntokens) * sizeof(*p->at);
}

/* What is said of each event, once more, with what is said of those around it. */
static void look_around(const struct pomset *p, const uint64_t *old, uint64_t *new)
{
	memcpy(new, old, p->nevents * sizeof(*new));
	for (unsigned i = 0; i < p->nevents; i++) {
		for (uint64_t left = p->at[i].past; left; left &= left - 1) {
			unsigned j = (unsigned)__builtin_ctzll(left);

			new[i] += mix(old[j] ^ BEFORE);
			new[j] += mix(old[i] ^ AFTER);
		}
	}
	for (unsigned i = p->nevents; i < p->nevents + p->ntokens; i++) {
		uint64_t sum = p->at[i].what;

		for (uint64_t left = p->at[i].past; left; left &= left - 1)
			sum += mix(old[__builtin_ctzll(left)] ^ TOKEN);
		for (uint64_t left = p->at[i].past; left; left &= left - 1)
			new[__builtin_ctzll(left)] += mix(sum);
	}
	for (unsigned i = 0; i < p->nevents; i++)
		new[i] = mix(new[i]);
}

/* How many differ. `*tied`: of those that do not, one with the smallest. */
static unsigned count_kinds(const uint64_t *said, unsigned count, unsigned *tied)
{
	unsigned kinds = 0;

	*tied = count;
	for (unsigned i = 0; i < count; i++) {
		unsigned j;

		for (j = 0; j < i && said[j] != said[i]; j++)
			;
		kinds += j == i;
		if (j < i && (*tied == count || said[i] < said[*tied]))
			*tied = i;
	}
	return kinds;
}

static void tell_apart(const struct pomset *p, uint64_t *said)
{
	uint64_t more[MANY_RUN_EVENTS];
	unsigned kinds = 0, tied, now;

	for (;;) {
		now = count_kinds(said, p->nevents, &tied);
		if (now == p->nevents)
			return;
		if (now == kinds)
			said[tied] = mix(said[tied] ^ FIRST);
		look_around(p, said, more);
		memcpy(said, more, p->nevents * sizeof(*said));
		kinds = now;
	}
}

struct place_of {
	unsigned old, npast;
	uint64_t said;
};

static int compare_events(const void *a, const void *b)
{
	const struct place_of *left = a, *right = b;

	if (left->npast != right->npast)
		return left->npast < right->npast ? -1 : 1;
	return (left->said > right->said) - (left->said < right->said);
}

static int compare_tokens(const void *a, const void *b)
{
	const struct in_run *left = a, *right = b;

	if (left->what != right->what)
		return left->what < right->what ? -1 : 1;
	return (left->past > right->past) - (left->past < right->past);
}

static uint64_t renumber(uint64_t past, const unsigned *number)
{
	uint64_t new = 0;

	for (; past; past &= past - 1)
		new |= UINT64_C(1) << number[__builtin_ctzll(past)];
	return new;
}

void dpe_nets_pomset_sort(struct pomset *p)
{
	uint64_t said[MANY_RUN_EVENTS];
	struct place_of places[MANY_RUN_EVENTS];
	struct in_run old[MANY_RUN_EVENTS];
	unsigned number[MANY_RUN_EVENTS];

	for (unsigned i = 0; i < p->nevents; i++)
		said[i] = mix(p->at[i].what * 128 + (unsigned)__builtin_popcountll(p->at[i].past));
	tell_apart(p, said);
	for (unsigned i = 0; i < p->nevents; i++)
		places[i] = (struct place_of){
			i, (unsigned)__builtin_popcountll(p->at[i].past), said[i]};
	qsort(places, p->nevents, sizeof(*places), compare_events);
	for (unsigned i = 0; i < p->nevents; i++)
		number[places[i].old] = i;
	memcpy(old, p->at, p->nevents * sizeof(*old));
	for (unsigned i = 0; i < p->nevents; i++)
		p->at[i] = old[places[i].old];
	for (unsigned i = 0; i < p->nevents + p->ntokens; i++)
		p->at[i].past = renumber(p->at[i].past, number);
	qsort(p->at + p->nevents, p->ntokens, sizeof(*p->at), compare_tokens);
}

struct pomset *dpe_nets_pomset_part(
	struct dpe_arena *arena, const struct pomset *p, uint64_t events)
{
	unsigned count = (unsigned)__builtin_popcountll(events), number[MANY_RUN_EVENTS], at = 0;
	struct pomset *part =
		dpe_arena_alloc(arena, sizeof(*part) + (count + 1) * sizeof(*part->at));

	part->nevents = count;
	for (uint64_t left = events; left; left &= left - 1) {
		unsigned i = (unsigned)__builtin_ctzll(left);

		number[i] = at;
		part->at[at].what = p->at[i].what;
		part->at[at++].past = renumber(p->at[i].past & events, number);
	}
	dpe_nets_pomset_sort(part);
	return part;
}

/* ---- how it is divided ---------------------------------------------------------------------- */

/* Sorted, each event stands behind all in its past, and what all others follow stands first. */
unsigned dpe_nets_pomset_series(const struct pomset *p, uint64_t *factors)
{
	uint64_t before = 0;
	unsigned count = 0, begin = 0;

	for (unsigned cut = 1; cut <= p->nevents; cut++) {
		bool all = true;

		before |= UINT64_C(1) << (cut - 1);
		for (unsigned i = cut; i < p->nevents && all; i++)
			all = !(before & ~p->at[i].past);
		if (!all)
			continue;
		factors[count++] = before & ~((UINT64_C(1) << begin) - 1);
		begin = cut;
	}
	return count;
}

unsigned dpe_nets_pomset_sides(const struct pomset *p, uint64_t *sides)
{
	unsigned count = 0;

	for (unsigned i = 0; i < p->nevents; i++) {
		uint64_t side = p->at[i].past | UINT64_C(1) << i;
		unsigned kept = 0;

		for (unsigned j = 0; j < count; j++) {
			if (sides[j] & side)
				side |= sides[j];
			else
				sides[kept++] = sides[j];
		}
		sides[kept] = side;
		count = kept + 1;
	}
	return count;
}
