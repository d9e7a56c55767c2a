/* Vector clocks as immutable tries over chain numbers, 16 to a leaf, that share equal parts: stamps of old
 * events stay valid, and joining clocks skips what they share. From tree clocks (Mathur et al., ASPLOS 2022),
 * which change in place and would have to be copied, comes the use of monotonicity: a clock that contains an
 * event contains its past. See README.md. */
#include "stabilizer/clock.h"
#include "stabilizer/limits.h"

#include <stdlib.h>
#include <string.h>

#define BITS 4
#define FAN DPE_CLOCK_FAN
_Static_assert(FAN == 1u << BITS, "a digit is a number of bits");

typedef uint32_t four __attribute__((vector_size(16), may_alias));

/* Covers FAN to the power of height + 1 chains. */
struct dpe_clock {
	struct dpe_pool *pool; /* the node's own pool */
	uint32_t refs, height;
	union {
		uint32_t at[FAN];             /* height 0: how far into each chain … */
		four fours[FAN / 4];          /* … four by four */
		struct dpe_clock *child[FAN]; /* NULL: no event of these chains */
	};
};

/* ---- counting ---------------------------------------------------------------------------- */

/* The counter is the only mutable part of a clock. */
static struct dpe_clock *ref(const struct dpe_clock *clock)
{
	if (clock)
		((struct dpe_clock *)clock)->refs++;
	return (struct dpe_clock *)clock;
}

static size_t size_of(unsigned height)
{
	return offsetof(struct dpe_clock, at) +
	       (height ? sizeof(((struct dpe_clock *)0)->child)
		       : sizeof(((struct dpe_clock *)0)->at));
}

static void unref(const struct dpe_clock *clock);

static void destroy(struct dpe_clock *clock)
{
	for (unsigned i = 0; clock->height && i < FAN; i++)
		unref(clock->child[i]);
	dpe_pool_give(clock->pool, clock, size_of(clock->height));
}

static inline void unref(const struct dpe_clock *clock)
{
	if (clock && !--((struct dpe_clock *)clock)->refs)
		destroy((struct dpe_clock *)clock);
}

void dpe_clock_unref(const struct dpe_clock *clock)
{
	unref(clock);
}

void dpe_stamp_ref(const struct dpe_stamp *stamp)
{
	ref(stamp->past);
}

void dpe_stamp_unref(const struct dpe_stamp *stamp)
{
	unref(stamp->past);
}

/* ---- reading stamps ---------------------------------------------------------------------- */

static bool covers(const struct dpe_clock *clock, uint32_t chain)
{
	return !((uint64_t)chain >> BITS * (clock->height + 1));
}

static unsigned digit(uint32_t chain, unsigned height)
{
	return chain >> (BITS * height) & (FAN - 1);
}

static uint32_t reach_in(const struct dpe_clock *clock, uint32_t chain)
{
	if (!clock || !covers(clock, chain))
		return 0;
	for (unsigned height = clock->height; height; height--) {
		clock = clock->child[digit(chain, height)];
		if (!clock)
			return 0;
	}
	return clock->at[digit(chain, 0)];
}

bool dpe_stamp_fills_chain(const struct dpe_stamp *stamp)
{
	return stamp->index == DPE_CHAIN_EVENTS;
}

uint32_t dpe_stamp_reach(const struct dpe_stamp *stamp, uint32_t chain)
{
	uint32_t reach = reach_in(stamp->past, chain);

	/* no early exit: the position is unpredictable, and so would be the branch */
	return chain == stamp->chain ? stamp->index - 1 : reach;
}

const uint32_t *dpe_stamp_reaches(const struct dpe_stamp *stamp)
{
	static const uint32_t none[FAN];

	if (!stamp->past)
		return none;
	return stamp->past->height ? NULL : stamp->past->at;
}

bool dpe_precedes(const struct dpe_stamp *a, const struct dpe_stamp *b)
{
	return dpe_stamp_reach(b, a->chain) >= a->index;
}

uint32_t dpe_clock_reach(const struct dpe_clock *clock, uint32_t chain)
{
	return reach_in(clock, chain);
}

struct clock_visit {
	dpe_enter_fn *enter; /* NULL: all parts */
	dpe_wanted_fn *wanted; /* the same */
	dpe_reach_fn *reach;
	void *context;
};

/* The last chain of a part that begins with `first`. */
static uint32_t last_of(const struct dpe_clock *clock, uint32_t first)
{
	unsigned bits = BITS * (clock->height + 1);

	return bits >= 32 ? UINT32_MAX : first + ((1u << bits) - 1);
}

static void each(const struct dpe_clock *clock, uint32_t first, const struct clock_visit *visit)
{
	if (!clock || (visit->enter && !visit->enter(visit->context, clock)) ||
		(visit->wanted && !visit->wanted(visit->context, first, last_of(clock, first))))
		return;
	for (unsigned i = 0; i < FAN; i++) {
		uint32_t chain = first + (i << (BITS * clock->height));

		if (clock->height)
			each(clock->child[i], chain, visit);
		else if (clock->at[i])
			visit->reach(visit->context, chain, clock->at[i]);
	}
}

void dpe_clock_each(const struct dpe_clock *clock, dpe_enter_fn *enter, dpe_reach_fn *visit,
	void *context)
{
	each(clock, 0, &(struct clock_visit){.enter = enter, .reach = visit, .context = context});
}

void dpe_stamp_each_wanted(
	const struct dpe_stamp *stamp, dpe_wanted_fn *wanted, dpe_reach_fn *visit, void *context)
{
	each(stamp->past, 0, &(struct clock_visit){.wanted = wanted, .reach = visit, .context = context});
}

/* Both begin with the chain `first`; `since` is NULL or as high as `clock`. */
static void each_since(const struct dpe_clock *clock, const struct dpe_clock *since, uint32_t first,
	const struct clock_visit *visit)
{
	if (!since) {
		each(clock, first, visit);
		return;
	}
	for (unsigned i = 0; clock && clock != since && i < FAN; i++) {
		uint32_t chain = first + (i << (BITS * clock->height));

		if (clock->height)
			each_since(clock->child[i], since->child[i], chain, visit);
		else if (clock->at[i] > since->at[i])
			visit->reach(visit->context, chain, clock->at[i]);
	}
}

/* A chain's past only grows, so `since` is not higher. */
void dpe_stamp_each_since(const struct dpe_stamp *stamp, const struct dpe_clock *since,
	dpe_reach_fn *visit, void *context)
{
	const struct clock_visit all = {.reach = visit, .context = context};
	const struct dpe_clock *clock = stamp->past;

	while (since && clock && clock->height > since->height) {
		for (unsigned i = 1; i < FAN; i++)
			each(clock->child[i], i << (BITS * clock->height), &all);
		clock = clock->child[0];
	}
	each_since(clock, since, 0, &all);
}

/* ---- joining ----------------------------------------------------------------------------- */

/* no numbers or children yet */
static struct dpe_clock *new_clock(struct dpe_pool *pool, unsigned height)
{
	struct dpe_clock *clock = dpe_pool_take(pool, size_of(height));

	clock->pool = pool;
	clock->refs = 1;
	clock->height = height;
	return clock;
}

static struct dpe_clock *empty_clock(struct dpe_pool *pool, unsigned height)
{
	struct dpe_clock *clock = new_clock(pool, height);

	memset(&clock->at, 0, size_of(height) - offsetof(struct dpe_clock, at));
	return clock;
}

static bool any(four of)
{
	uint64_t halves[2];

	memcpy(halves, &of, sizeof(halves));
	return halves[0] | halves[1];
}

/* The maximum of both for each chain; returns one of the two if it dominates. */
static struct dpe_clock *join_leaves(const struct dpe_clock *a, const struct dpe_clock *b)
{
	struct dpe_clock *joined;
	four max[FAN / 4], not_a = {0}, not_b = {0};

	for (unsigned i = 0; i < FAN / 4; i++) {
		four more = (four)(a->fours[i] > b->fours[i]);

		max[i] = (a->fours[i] & more) | (b->fours[i] & ~more);
		not_a |= max[i] ^ a->fours[i];
		not_b |= max[i] ^ b->fours[i];
	}
	if (!any(not_a))
		return ref(a);
	if (!any(not_b))
		return ref(b);
	joined = new_clock(a->pool, 0);
	memcpy(joined->fours, max, sizeof(max));
	return joined;
}

static struct dpe_clock *join(const struct dpe_clock *a, const struct dpe_clock *b);

static struct dpe_clock *join_inner(const struct dpe_clock *a, const struct dpe_clock *b)
{
	struct dpe_clock *joined = new_clock(a->pool, a->height);
	bool is_a = true, is_b = true;

	for (unsigned i = 0; i < FAN; i++) {
		joined->child[i] = join(a->child[i], b->child[i]);
		is_a &= joined->child[i] == a->child[i];
		is_b &= joined->child[i] == b->child[i];
	}
	if (!is_a && !is_b)
		return joined;
	unref(joined);
	return ref(is_a ? a : b);
}

/* The clock with one more level. Counted for the caller. */
static struct dpe_clock *raise_height(const struct dpe_clock *clock, unsigned height)
{
	struct dpe_clock *higher = ref(clock);

	while (higher->height < height) {
		struct dpe_clock *above = empty_clock(higher->pool, higher->height + 1);

		above->child[0] = higher;
		higher = above;
	}
	return higher;
}

static struct dpe_clock *join(const struct dpe_clock *a, const struct dpe_clock *b)
{
	struct dpe_clock *higher, *joined;

	if (a == b || !b)
		return ref(a);
	if (!a)
		return ref(b);
	if (a->height == b->height)
		return a->height ? join_inner(a, b) : join_leaves(a, b);
	if (a->height < b->height)
		return join(b, a);
	higher = raise_height(b, a->height);
	joined = join(a, higher);
	unref(higher);
	return joined;
}

const struct dpe_clock *dpe_pasts_join(const struct dpe_stamp *const *stamps, unsigned count)
{
	const struct dpe_clock *all = NULL;

	for (unsigned i = 0; i < count; i++) {
		const struct dpe_clock *before = all;

		all = join(before, stamps[i]->past);
		unref(before);
	}
	return all;
}

/* ---- building a past --------------------------------------------------------------------- */

void dpe_past_start(struct dpe_past *past, const struct dpe_clock *base, uint32_t own, uint32_t since)
{
	unref(past->clock);
	past->clock = ref(base);
	past->own = own;
	past->since = since;
}

bool dpe_past_has(const struct dpe_past *past, const struct dpe_stamp *stamp)
{
	return stamp->chain == past->own || reach_in(past->clock, stamp->chain) >= stamp->index;
}

/* The node for writing: a copy if it is shared. */
static struct dpe_clock *own(struct dpe_pool *pool, struct dpe_clock **place, unsigned height)
{
	struct dpe_clock *clock = *place;

	if (clock && clock->refs == 1)
		return clock;
	if (!clock)
		return *place = empty_clock(pool, height);
	*place = new_clock(pool, height);
	if (height)
		memcpy((*place)->child, clock->child, sizeof(clock->child));
	else
		memcpy((*place)->at, clock->at, sizeof(clock->at));
	for (unsigned i = 0; height && i < FAN; i++)
		ref(clock->child[i]);
	unref(clock);
	return *place;
}

static void raise_to(struct dpe_past *past, uint32_t chain, uint32_t index)
{
	struct dpe_clock **place = &past->clock, *clock;

	if (!past->clock)
		past->clock = empty_clock(past->pool, 0);
	while (!covers(past->clock, chain)) {
		clock = raise_height(past->clock, past->clock->height + 1);
		unref(past->clock);
		past->clock = clock;
	}
	for (unsigned height = past->clock->height; height; height--)
		place = &own(past->pool, place, height)->child[digit(chain, height)];
	clock = own(past->pool, place, 0);
	if (clock->at[digit(chain, 0)] < index)
		clock->at[digit(chain, 0)] = index;
}

void dpe_past_add(struct dpe_past *past, const struct dpe_stamp *stamp)
{
	if (dpe_past_has(past, stamp))
		return;
	dpe_past_join(past, stamp->past);
	raise_to(past, stamp->chain, stamp->index);
}

/* A clock that has an event has all of its past. */
void dpe_past_join(struct dpe_past *past, const struct dpe_clock *clock)
{
	struct dpe_clock *before = past->clock;
	bool has_all = past->since && reach_in(clock, past->own) >= past->since;

	past->clock = has_all ? ref(clock) : join(before, clock);
	past->since = 0;
	unref(before);
}

static bool is_leaf(const struct dpe_clock *clock)
{
	return !clock || !clock->height;
}

/* Joins two leaves; the event is in the second only, so the result is new. */
static const struct dpe_clock *follow_leaves(struct dpe_pool *pool, const struct dpe_clock *base,
	const struct dpe_stamp *stamp)
{
	static const struct dpe_clock none;
	const struct dpe_clock *a = base ? base : &none, *b = stamp->past ? stamp->past : &none;
	struct dpe_clock *joined = new_clock(pool, 0);

	for (unsigned i = 0; i < FAN; i++)
		joined->at[i] = a->at[i] > b->at[i] ? a->at[i] : b->at[i];
	joined->at[stamp->chain] = stamp->index;
	return joined;
}

const struct dpe_clock *dpe_clock_follow(struct dpe_pool *pool, const struct dpe_clock *base,
	uint32_t own, uint32_t since, const struct dpe_stamp *stamp)
{
	struct dpe_past past = {.pool = pool};

	if (stamp->chain == own || reach_in(base, stamp->chain) >= stamp->index)
		return ref(base);
	if (stamp->chain < FAN && is_leaf(base) && is_leaf(stamp->past))
		return follow_leaves(pool, base, stamp);
	dpe_past_start(&past, base, own, since);
	dpe_past_add(&past, stamp);
	return dpe_past_take(&past);
}

const struct dpe_clock *dpe_past_take(struct dpe_past *past)
{
	const struct dpe_clock *clock = past->clock;

	past->clock = NULL;
	return clock;
}

void dpe_past_free(struct dpe_past *past)
{
	unref(past->clock);
	past->clock = NULL;
}
