/* Stamps: sparse vector clocks, shared by the events of a chain until an edge arrives from
 * elsewhere. A clock is immutable; a past under construction becomes one. */
#include "stabilizer/stable.h"

#include <stdlib.h>
#include <string.h>

/* ---- reading stamps ---------------------------------------------------------------------- */

/* The first entry whose chain is not lower. */
static unsigned find(const struct dpe_reach *at, unsigned count, uint32_t chain)
{
	unsigned low = 0, high = count;

	while (low < high) {
		unsigned middle = low + (high - low) / 2;

		if (at[middle].chain < chain)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static uint32_t reach_in(const struct dpe_reach *at, unsigned count, uint32_t chain)
{
	unsigned i = find(at, count, chain);

	return i < count && at[i].chain == chain ? at[i].index : 0;
}

uint32_t dpe_stamp_reach(const struct dpe_stamp *stamp, uint32_t chain)
{
	if (chain == stamp->chain)
		return stamp->index - 1;
	return stamp->past ? reach_in(stamp->past->at, stamp->past->count, chain) : 0;
}

bool dpe_precedes(const struct dpe_stamp *a, const struct dpe_stamp *b)
{
	return dpe_stamp_reach(b, a->chain) >= a->index;
}

/* The counter is the one thing about a clock that changes. */
static void ref(const struct dpe_clock *clock)
{
	if (clock)
		((struct dpe_clock *)clock)->refs++;
}

static void unref(const struct dpe_clock *clock)
{
	if (clock && !--((struct dpe_clock *)clock)->refs)
		free((struct dpe_clock *)clock);
}

void dpe_stamp_ref(const struct dpe_stamp *stamp)
{
	ref(stamp->past);
}

void dpe_stamp_unref(const struct dpe_stamp *stamp)
{
	unref(stamp->past);
}

/* ---- building a past --------------------------------------------------------------------- */

static void reserve(struct dpe_reach **at, unsigned *cap, unsigned count)
{
	if (count <= *cap)
		return;
	*cap = count + count / 2 + 4;
	*at = dpe_xrealloc(*at, *cap * sizeof(**at));
}

void dpe_past_start(struct dpe_past *past, const struct dpe_clock *base, uint32_t own)
{
	past->base = base;
	past->own = own;
	past->changed = false;
	past->count = 0;
}

bool dpe_past_has(const struct dpe_past *past, const struct dpe_stamp *stamp)
{
	uint32_t reach = 0;

	if (stamp->chain == past->own)
		return true;
	if (past->changed)
		reach = reach_in(past->at, past->count, stamp->chain);
	else if (past->base)
		reach = reach_in(past->base->at, past->base->count, stamp->chain);
	return reach >= stamp->index;
}

/* Leaves the base, which stays as it is. */
static void change(struct dpe_past *past)
{
	if (past->changed)
		return;
	past->changed = true;
	if (!past->base)
		return;
	past->count = past->base->count;
	reserve(&past->at, &past->cap, past->count);
	memcpy(past->at, past->base->at, past->count * sizeof(*past->at));
}

/* The higher of both in each chain, as far as the first list and then the second have any. */
static void merge(struct dpe_past *past, const struct dpe_clock *clock)
{
	struct dpe_reach *merged;
	unsigned i = 0, j = 0, n = 0, cap;

	reserve(&past->other, &past->othercap, past->count + clock->count);
	while (i < past->count || j < clock->count) {
		struct dpe_reach next;

		if (j == clock->count ||
			(i < past->count && past->at[i].chain < clock->at[j].chain)) {
			past->other[n++] = past->at[i++];
			continue;
		}
		next = clock->at[j++];
		if (i < past->count && past->at[i].chain == next.chain) {
			if (past->at[i].index > next.index)
				next.index = past->at[i].index;
			i++;
		}
		if (next.chain != past->own)
			past->other[n++] = next;
	}
	merged = past->other;
	past->other = past->at;
	past->at = merged;
	cap = past->othercap;
	past->othercap = past->cap;
	past->cap = cap;
	past->count = n;
}

static void raise_to(struct dpe_past *past, uint32_t chain, uint32_t index)
{
	unsigned i = find(past->at, past->count, chain);

	if (i < past->count && past->at[i].chain == chain) {
		if (past->at[i].index < index)
			past->at[i].index = index;
		return;
	}
	reserve(&past->at, &past->cap, past->count + 1);
	memmove(&past->at[i + 1], &past->at[i], (past->count - i) * sizeof(*past->at));
	past->at[i] = (struct dpe_reach){chain, index};
	past->count++;
}

void dpe_past_add(struct dpe_past *past, const struct dpe_stamp *stamp)
{
	if (dpe_past_has(past, stamp))
		return;
	change(past);
	if (stamp->past)
		merge(past, stamp->past);
	raise_to(past, stamp->chain, stamp->index);
}

const struct dpe_clock *dpe_past_take(struct dpe_past *past)
{
	struct dpe_clock *clock;

	if (!past->changed) {
		ref(past->base);
		return past->base;
	}
	clock = dpe_xmalloc(sizeof(*clock) + past->count * sizeof(clock->at[0]));
	clock->refs = 1;
	clock->count = past->count;
	memcpy(clock->at, past->at, past->count * sizeof(clock->at[0]));
	return clock;
}

void dpe_past_free(struct dpe_past *past)
{
	free(past->at);
	free(past->other);
	*past = (struct dpe_past){0};
}
