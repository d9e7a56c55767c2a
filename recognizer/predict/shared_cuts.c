/* Cuts as immutable tries over chain numbers that share equal parts: joining two costs only the parts that differ,
 * not one number for each thread so far. Like the clocks of the stabilizer, but of the order that holds in every
 * run. All cuts of a window are freed together, so they have no reference counts. */
#include "recognizer/predict/history.h"

#include <string.h>

/* Empty, with room for `count` parts. */
static struct dpe_base *new_base(struct dpe_history *history, unsigned height, unsigned count)
{
	size_t entry = height ? sizeof(struct dpe_base *) : sizeof(uint32_t);
	size_t size = offsetof(struct dpe_base, at) + count * entry;
	struct dpe_base *base = dpe_arena_alloc(history->arena, size);

	history->bytes += size;
	base->height = height;
	base->count = count;
	return base;
}

/* With room for at least `count` parts. */
static struct dpe_base *copy(struct dpe_history *history, const struct dpe_base *base, unsigned count)
{
	struct dpe_base *other = new_base(history, base->height, count > base->count ? count : base->count);

	if (base->height)
		memcpy(other->part, base->part, base->count * sizeof(base->part[0]));
	else
		memcpy(other->at, base->at, base->count * sizeof(base->at[0]));
	return other;
}

/* The same cut, at least so high. */
static const struct dpe_base *lift(struct dpe_history *history, const struct dpe_base *base, unsigned height)
{
	while (base->height < height) {
		struct dpe_base *above = new_base(history, base->height + 1, 1);

		above->part[0] = base;
		base = above;
	}
	return base;
}

static const struct dpe_base *join_leaves(
	struct dpe_history *history, const struct dpe_base *a, const struct dpe_base *b)
{
	struct dpe_base *both = NULL;

	for (unsigned i = 0; i < b->count; i++) {
		if (b->at[i] <= (i < a->count ? a->at[i] : 0))
			continue;
		both = both ? both : copy(history, a, b->count);
		both->at[i] = b->at[i];
	}
	return both ? both : a;
}

static const struct dpe_base *join_parts(
	struct dpe_history *history, const struct dpe_base *a, const struct dpe_base *b)
{
	struct dpe_base *both = NULL;

	for (unsigned i = 0; i < b->count; i++) {
		const struct dpe_base *old = i < a->count ? a->part[i] : NULL;
		const struct dpe_base *part = dpe_bases_join(history, old, b->part[i]);

		if (part == old)
			continue;
		both = both ? both : copy(history, a, b->count);
		both->part[i] = part;
	}
	return both ? both : a;
}

const struct dpe_base *dpe_bases_join(
	struct dpe_history *history, const struct dpe_base *a, const struct dpe_base *b)
{
	if (!a || !b || a == b)
		return a ? a : b;
	a = lift(history, a, b->height);
	b = lift(history, b, a->height);
	return a->height ? join_parts(history, a, b) : join_leaves(history, a, b);
}

const struct dpe_base *dpe_base_raise(
	struct dpe_history *history, const struct dpe_base *base, uint32_t chain, uint32_t index)
{
	unsigned height = base ? base->height : 0, place;
	struct dpe_base *raised;

	if (dpe_base_reach(base, chain) >= index)
		return base;
	while (!dpe_base_covers(height, chain))
		height++;
	place = dpe_base_place(height, chain);
	raised = base ? copy(history, lift(history, base, height), place + 1) : new_base(history, height, place + 1);
	if (!height)
		raised->at[place] = index;
	else
		raised->part[place] =
			dpe_base_raise(history, raised->part[place], dpe_base_rest(height, chain), index);
	return raised;
}

bool dpe_base_each(const struct dpe_base *base, uint32_t first, dpe_base_fn *each, void *context)
{
	if (!base->height)
		return each(context, first, base->at, base->count);
	for (unsigned i = 0; i < base->count; i++) {
		if (base->part[i] &&
			!dpe_base_each(base->part[i], first + (i << DPE_BASE_BITS * base->height), each, context))
			return false;
	}
	return true;
}
