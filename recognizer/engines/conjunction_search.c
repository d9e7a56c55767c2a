/* Choosing partial matches that are independent of each other where it is not plain which.
 *
 * In general that is a hard problem: to find events of n kinds that are pairwise independent is as
 * hard as satisfying formulas (Mittal and Garg, Distributed Computing 2005). Three things make it easy
 * wherever it can be:
 *
 *   - partial matches are left out that none of some other operand goes with, until none is left out any more.
 *     Where the events of each operand are of one thread, the latest that remain go together: of two
 *     that do not, one is too early for the other and for all that come after it. The search then
 *     never turns back;
 *   - two partial matches with events of one thread are never independent: so it takes as many threads as
 *     operands, a thread for each that one of its partial matches has an event of (a matching);
 *   - the operand with the fewest partial matches left is next, and leaves out those of others.
 *
 * What remains is counted. */
#include "recognizer/engines/conjunction_choice.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#define MOST_WANTS 256 /* the search is as deep */
#define NOBODY UINT_MAX

struct hard {
	struct dpe_search *s;
	dpe_chosen_fn *each;
	void *context;
	unsigned *out;     /* by candidate: the depth at which it was left out, or 0 */
	unsigned *thread;  /* by candidate: which of the threads it has an event of */
	unsigned nthreads;
	unsigned *holder;  /* by thread: the want that it is for */
	bool *seen;        /* by thread */
	bool *done;        /* by want */
};

bool dpe_search_is_plain(const struct dpe_search *s)
{
	for (unsigned i = 0; i < s->nwants; i++) {
		if (s->wants[i].grouped || s->wants[i].conjunction->outer)
			return false;
	}
	for (unsigned i = 0; i < s->ncandidates; i++) {
		if (s->candidates[i]->conjunction)
			return false;
	}
	return s->nwants <= MOST_WANTS;
}

static bool apart(struct dpe_search *s, const struct dpe_partial *a, const struct dpe_partial *b)
{
	if (*s->work)
		--*s->work;
	return dpe_partials_independent(a, b);
}

/* ---- leaving out ------------------------------------------------------------------------- */

static bool has_partner(const struct hard *h, unsigned candidate, const struct dpe_want *other)
{
	struct dpe_search *s = h->s;

	for (unsigned i = other->to; i-- > other->from;) {
		if (!h->out[i] && apart(s, s->candidates[candidate], s->candidates[i]))
			return true;
	}
	return other->nullable;
}

/* True where a candidate was left out. */
static bool leave_out(
	const struct hard *h, const struct dpe_want *want, const struct dpe_want *other)
{
	bool any = false;

	for (unsigned i = want->from; i < want->to; i++) {
		if (h->out[i] || has_partner(h, i, other))
			continue;
		h->out[i] = 1;
		any = true;
	}
	return any;
}

static unsigned count_left(const struct hard *h, const struct dpe_want *want)
{
	unsigned left = 0;

	for (unsigned i = want->from; i < want->to; i++)
		left += !h->out[i];
	return left;
}

/* False where an operand has none left. */
static bool leave_out_all(const struct hard *h)
{
	struct dpe_search *s = h->s;

	for (bool changed = true; changed && *s->work;) {
		changed = false;
		for (unsigned i = 0; i < s->nwants; i++) {
			for (unsigned j = 0; j < s->nwants; j++) {
				if (i != j)
					changed |= leave_out(h, &s->wants[i], &s->wants[j]);
			}
			if (!s->wants[i].nullable && !count_left(h, &s->wants[i]))
				return false;
		}
	}
	return true;
}

/* ---- a thread for each ------------------------------------------------------------------- */

static int by_value(const void *a, const void *b)
{
	const unsigned *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

/* Numbers the threads of one event of each candidate. */
static void find_threads(struct hard *h)
{
	struct dpe_search *s = h->s;
	unsigned *chains = dpe_xcalloc(s->ncandidates + 1, sizeof(*chains));

	for (unsigned i = 0; i < s->ncandidates; i++)
		h->thread[i] = chains[i] = s->candidates[i]->last->at[0]->stamp.chain;
	qsort(chains, s->ncandidates, sizeof(*chains), by_value);
	for (unsigned i = 0; i < s->ncandidates; i++) {
		if (!i || chains[i] != chains[i - 1])
			chains[h->nthreads++] = chains[i];
	}
	for (unsigned i = 0; i < s->ncandidates; i++) {
		const unsigned *at = bsearch(
			&h->thread[i], chains, h->nthreads, sizeof(*chains), by_value);

		h->thread[i] = (unsigned)(at - chains);
	}
	free(chains);
}

/* Finds the want a thread, where others can take another one. */
static bool find_thread(struct hard *h, unsigned want)
{
	const struct dpe_search *s = h->s;

	for (unsigned i = s->wants[want].from; i < s->wants[want].to; i++) {
		unsigned thread = h->thread[i];

		if (h->out[i] || h->seen[thread])
			continue;
		h->seen[thread] = true;
		if (h->holder[thread] != NOBODY && !find_thread(h, h->holder[thread]))
			continue;
		h->holder[thread] = want;
		return true;
	}
	return false;
}

static bool has_threads(struct hard *h)
{
	struct dpe_search *s = h->s;

	for (unsigned i = 0; i < h->nthreads; i++)
		h->holder[i] = NOBODY;
	for (unsigned i = 0; i < s->nwants; i++) {
		if (h->done[i] || s->wants[i].nullable)
			continue;
		memset(h->seen, 0, h->nthreads * sizeof(*h->seen));
		*s->work -= *s->work >= h->nthreads ? h->nthreads : *s->work;
		if (!find_thread(h, i))
			return false;
	}
	return true;
}

/* ---- searching --------------------------------------------------------------------------- */

/* That has the fewest candidates left; NOBODY: all are done. */
static unsigned find_next(const struct hard *h)
{
	unsigned best = NOBODY, fewest = NOBODY;

	for (unsigned i = 0; i < h->s->nwants; i++) {
		unsigned left;

		if (h->done[i])
			continue;
		left = count_left(h, &h->s->wants[i]) + h->s->wants[i].nullable;
		if (left >= fewest)
			continue;
		best = i;
		fewest = left;
	}
	return best;
}

/* Leaves out what does not go with it; false where some operand has none left. */
static bool prune(struct hard *h, const struct dpe_partial *partial, unsigned depth)
{
	struct dpe_search *s = h->s;

	for (unsigned i = 0; i < s->nwants; i++) {
		const struct dpe_want *want = &s->wants[i];

		if (h->done[i])
			continue;
		for (unsigned j = want->from; j < want->to; j++) {
			if (!h->out[j] && !apart(s, partial, s->candidates[j]))
				h->out[j] = depth;
		}
		if (!want->nullable && !count_left(h, want))
			return false;
	}
	return has_threads(h);
}

static void undo(struct hard *h, unsigned depth)
{
	for (unsigned i = 0; i < h->s->ncandidates; i++) {
		if (h->out[i] == depth)
			h->out[i] = 0;
	}
}

static bool choose(struct hard *h, unsigned depth)
{
	struct dpe_search *s = h->s;
	unsigned want = find_next(h), nchosen = s->chosen->count;
	bool enough = false;

	if (want == NOBODY)
		return !h->each(h->context, s->chosen);
	h->done[want] = true;
	for (unsigned i = s->wants[want].to; i-- > s->wants[want].from && !enough && *s->work;) {
		struct dpe_choice choice = {s->candidates[i], s->wants[want].conjunction};

		if (h->out[i])
			continue;
		*DPE_GROW(s->chosen->at, s->chosen->count, s->chosen->cap) = choice;
		enough = prune(h, s->candidates[i], depth) && choose(h, depth + 1);
		undo(h, depth);
		if (!enough)
			s->chosen->count = nchosen;
	}
	if (!enough && *s->work && s->wants[want].nullable)
		enough = choose(h, depth + 1);
	h->done[want] = false;
	return enough;
}

bool dpe_search_hard(struct dpe_search *s, dpe_chosen_fn *each, void *context)
{
	unsigned count = s->ncandidates + 1;
	struct hard h = {
		.s = s,
		.each = each,
		.context = context,
		.out = dpe_xcalloc(count, sizeof(*h.out)),
		.thread = dpe_xcalloc(count, sizeof(*h.thread)),
		.holder = dpe_xcalloc(count, sizeof(*h.holder)),
		.seen = dpe_xcalloc(count, sizeof(*h.seen)),
		.done = dpe_xcalloc(s->nwants + 1, sizeof(*h.done)),
	};
	bool found;

	find_threads(&h);
	found = has_threads(&h) && leave_out_all(&h) && has_threads(&h) && choose(&h, 2);
	free(h.out);
	free(h.thread);
	free(h.holder);
	free(h.seen);
	free(h.done);
	return found;
}
