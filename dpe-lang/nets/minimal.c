/* The smallest deterministic machine with the same words: what silent transitions left behind,
 * places that differ only in what will be decided later, falls together again. */
#include "dpe-lang/nets/net.h"

#include <stdlib.h>
#include <string.h>

struct subsets {
	unsigned nold, nsymbols, most;
	const struct move *moves; /* in the order of their symbols */
	unsigned *first;          /* by symbol, and after the last one: its first move */
	bool **members;           /* of each new state */
	unsigned count, cap;
	unsigned *next; /* by new state and symbol; UINT32_MAX: nowhere */
};

static unsigned find_subset(struct subsets *s, const bool *members)
{
	for (unsigned i = 0; i < s->count; i++) {
		if (!memcmp(s->members[i], members, s->nold * sizeof(*members)))
			return i;
	}
	*DPE_GROW(s->members, s->count, s->cap) =
		memcpy(dpe_xcalloc(s->nold, sizeof(*members)), members, s->nold * sizeof(*members));
	return s->count - 1;
}

static unsigned step(struct subsets *s, unsigned from, unsigned symbol)
{
	bool to[s->nold], any = false;

	memset(to, 0, sizeof(to));
	for (unsigned i = s->first[symbol]; i < s->first[symbol + 1]; i++) {
		if (s->members[from][s->moves[i].from])
			to[s->moves[i].to] = any = true;
	}
	return any ? find_subset(s, to) : UINT32_MAX;
}

/* False where there are too many. */
static bool find_subsets(struct subsets *s, const bool *starts)
{
	find_subset(s, starts);
	s->next = dpe_xcalloc((size_t)s->most * s->nsymbols + 1, sizeof(*s->next));
	for (unsigned i = 0; i < s->count; i++) {
		for (unsigned symbol = 0; symbol < s->nsymbols; symbol++) {
			s->next[i * s->nsymbols + symbol] = step(s, i, symbol);
			if (s->count > s->most)
				return false;
		}
	}
	return true;
}

/* ---- states that cannot be told apart ---------------------------------------------------------
 */

#define NOWHERE UINT32_MAX

static bool alike(const struct subsets *s, const unsigned *class, unsigned a, unsigned b)
{
	if (class[a] != class[b])
		return false;
	for (unsigned symbol = 0; symbol < s->nsymbols; symbol++) {
		unsigned left = s->next[a * s->nsymbols + symbol];
		unsigned right = s->next[b * s->nsymbols + symbol];

		if ((left == NOWHERE ? NOWHERE : class[left]) !=
			(right == NOWHERE ? NOWHERE : class[right]))
			return false;
	}
	return true;
}

static unsigned refine(const struct subsets *s, unsigned *class)
{
	unsigned *finer = dpe_xcalloc(s->count + 1, sizeof(*finer)), count = 0;

	for (unsigned i = 0; i < s->count; i++) {
		unsigned j;

		for (j = 0; j < i && !alike(s, class, i, j); j++)
			;
		finer[i] = j < i ? finer[j] : count++;
	}
	memcpy(class, finer, s->count * sizeof(*class));
	free(finer);
	return count;
}

static bool has_end(const struct subsets *s, unsigned state, const bool *ends)
{
	for (unsigned i = 0; i < s->nold; i++) {
		if (s->members[state][i] && ends[i])
			return true;
	}
	return false;
}

static unsigned find_classes(const struct subsets *s, const bool *ends, unsigned *class)
{
	unsigned count = 0, before;

	for (unsigned i = 0; i < s->count; i++)
		class[i] = has_end(s, i, ends) != has_end(s, 0, ends);
	do {
		before = count;
		count = refine(s, class);
	} while (count != before);
	return count;
}

static struct move *moves_between(
	const struct subsets *s, const unsigned *class, unsigned nclasses, unsigned *count)
{
	bool *done = dpe_xcalloc(nclasses + 1, sizeof(*done));
	struct move *moves = NULL;
	unsigned cap = 0;

	*count = 0;
	for (unsigned i = 0; i < s->count; i++) {
		for (unsigned symbol = 0; symbol < s->nsymbols && !done[class[i]]; symbol++) {
			unsigned to = s->next[i * s->nsymbols + symbol];

			if (to != NOWHERE)
				*DPE_GROW(moves, *count, cap) =
					(struct move){class[i], class[to], symbol};
		}
		done[class[i]] = true;
	}
	free(done);
	return moves;
}

static unsigned *find_first(const struct move *moves, unsigned nmoves, unsigned nsymbols)
{
	unsigned *first = dpe_xcalloc(nsymbols + 1, sizeof(*first)), at = 0;

	for (unsigned symbol = 0; symbol <= nsymbols; symbol++) {
		while (at < nmoves && moves[at].symbol < symbol)
			at++;
		first[symbol] = at;
	}
	return first;
}

/* Each state of a trimmed net's machine leads to an end, so no class is dead. */
unsigned dpe_nets_minimal(unsigned nstates, const struct move *old, unsigned nold,
	const bool *starts, const bool *old_ends, unsigned nsymbols, unsigned most,
	struct move **moves, unsigned *nmoves, bool *ends)
{
	struct subsets s = {.nold = nstates, .nsymbols = nsymbols, .most = most, .moves = old};
	unsigned *class = dpe_xcalloc(most + 1, sizeof(*class)), count = 0;

	s.first = find_first(old, nold, nsymbols);
	if (find_subsets(&s, starts)) {
		count = find_classes(&s, old_ends, class);
		for (unsigned i = 0; i < s.count; i++)
			ends[class[i]] = has_end(&s, i, old_ends);
		*moves = moves_between(&s, class, count, nmoves);
	}
	for (unsigned i = 0; i < s.count; i++)
		free(s.members[i]);
	free(s.members);
	free(s.next);
	free(s.first);
	free(class);
	return count;
}
