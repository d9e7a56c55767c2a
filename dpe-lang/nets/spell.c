/* Behaviours that are known one by one, as an expression.
 *
 * One is made of what follows each other, what is side by side, and what is neither: chains of
 * events that share some. Of several, what some begin with, or end with, or have on one side, is
 * written once, and so is what goes with all of the same others. */
#include "dpe-lang/nets/net.h"

#include <stdlib.h>
#include <string.h>
#include <uthash.h>

/* One that was seen, and how it is divided. */
struct shape {
	struct pomset *pomset;
	unsigned number;
	unsigned nseries, nsides; /* one where it is not divided in this way */
	uint64_t *series, *sides;
	UT_hash_handle hh;
};

struct speller {
	struct work *work;
	struct dpe_arena *arena;
	struct shape *known;
};

struct shapes {
	struct shape **at;
	unsigned count, cap;
};

enum side { HEAD, TAIL, SIDE };

/* What may be written once, and what is left of those that have it. */
struct factor {
	enum side side;
	struct shape *shape;
};

static const struct expr *spell(struct speller *s, const struct shapes *shapes);

static uint64_t all_of(const struct pomset *p)
{
	return p->nevents == 64 ? UINT64_MAX : (UINT64_C(1) << p->nevents) - 1;
}

static uint64_t *kept(struct speller *s, const uint64_t *from, unsigned count)
{
	return memcpy(dpe_arena_alloc(s->arena, (count + 1) * sizeof(*from)), from,
		count * sizeof(*from));
}

static struct shape *shape_of(struct speller *s, const struct pomset *p, uint64_t events)
{
	struct pomset *part = dpe_nets_pomset_part(s->arena, p, events);
	size_t size = dpe_nets_pomset_size(part);
	uint64_t masks[MANY_RUN_EVENTS];
	struct shape *shape;

	HASH_FIND(hh, s->known, part, size, shape);
	if (shape)
		return shape;
	shape = dpe_arena_alloc(s->arena, sizeof(*shape));
	shape->pomset = part;
	shape->number = HASH_COUNT(s->known);
	shape->nseries = dpe_nets_pomset_series(part, masks);
	shape->series = kept(s, masks, shape->nseries);
	shape->nsides = dpe_nets_pomset_sides(part, masks);
	shape->sides = kept(s, masks, shape->nsides);
	HASH_ADD_KEYPTR(hh, s->known, part, size, shape);
	return shape;
}

/* ---- sets of them: in the order of their numbers, each once ---------------------------------- */

static bool has(const struct shapes *shapes, const struct shape *shape)
{
	unsigned from = 0, to = shapes->count;

	while (from < to) {
		unsigned middle = from + (to - from) / 2;

		if (shapes->at[middle] == shape)
			return true;
		if (shapes->at[middle]->number < shape->number)
			from = middle + 1;
		else
			to = middle;
	}
	return false;
}

static void add(struct shapes *shapes, struct shape *shape)
{
	unsigned at;

	if (has(shapes, shape))
		return;
	(void)DPE_GROW(shapes->at, shapes->count, shapes->cap);
	for (at = shapes->count - 1; at && shapes->at[at - 1]->number > shape->number; at--)
		shapes->at[at] = shapes->at[at - 1];
	shapes->at[at] = shape;
}

static bool is_within(const struct shapes *some, const struct shapes *all)
{
	for (unsigned i = 0; i < some->count; i++) {
		if (!has(all, some->at[i]))
			return false;
	}
	return true;
}

/* ---- factors -------------------------------------------------------------------------------- */

static unsigned count_factors(const struct shape *shape, enum side side)
{
	if (!shape->pomset->nevents)
		return 0;
	return side == SIDE ? shape->nsides : 1;
}

static uint64_t factor_mask(const struct shape *shape, enum side side, unsigned which)
{
	if (side == SIDE)
		return shape->sides[which];
	return shape->series[side == HEAD ? 0 : shape->nseries - 1];
}

/* What is left of it without the factor; NULL where it does not have it. */
static struct shape *without(struct speller *s, const struct shape *shape, struct factor f)
{
	for (unsigned i = 0; i < count_factors(shape, f.side); i++) {
		uint64_t mask = factor_mask(shape, f.side, i);

		if ((unsigned)__builtin_popcountll(mask) == f.shape->pomset->nevents &&
			shape_of(s, shape->pomset, mask) == f.shape)
			return shape_of(s, shape->pomset, all_of(shape->pomset) & ~mask);
	}
	return NULL;
}

static struct shapes find_rests(struct speller *s, const struct shapes *shapes, struct factor f)
{
	struct shapes rests = {0};

	for (unsigned i = 0; i < shapes->count; i++) {
		struct shape *rest = without(s, shapes->at[i], f);

		if (rest)
			add(&rests, rest);
	}
	return rests;
}

static int compare_factors(const void *a, const void *b)
{
	const struct factor *left = a, *right = b;

	if (left->side != right->side)
		return left->side < right->side ? -1 : 1;
	return (left->shape->number > right->shape->number) -
	       (left->shape->number < right->shape->number);
}

static void add_factors(struct speller *s, const struct shape *shape, struct factor **all,
	unsigned *count, unsigned *cap)
{
	for (enum side side = HEAD; side <= SIDE; side++) {
		unsigned first = *count;

		for (unsigned i = 0; i < count_factors(shape, side); i++) {
			struct factor f = {
				side, shape_of(s, shape->pomset, factor_mask(shape, side, i))};
			unsigned j;

			for (j = first; j < *count && (*all)[j].shape != f.shape; j++)
				;
			if (j == *count)
				*DPE_GROW(*all, *count, *cap) = f;
		}
	}
}

/* In order: how often each is there is how many have it. */
static struct factor *find_factors(struct speller *s, const struct shapes *shapes, unsigned *count)
{
	struct factor *all = NULL;
	unsigned cap = 0;

	*count = 0;
	for (unsigned i = 0; i < shapes->count; i++)
		add_factors(s, shapes->at[i], &all, count, &cap);
	qsort(all, *count, sizeof(*all), compare_factors);
	return all;
}

/* The one that saves most; its shape is NULL where none saves anything. */
static struct factor find_best(const struct factor *all, unsigned count)
{
	struct factor best = {HEAD, NULL};
	size_t most = 0;

	for (unsigned i = 0, next; i < count; i = next) {
		size_t saved;

		for (next = i; next < count && !compare_factors(&all[next], &all[i]); next++)
			;
		saved = (size_t)(next - i - 1) * all[i].shape->pomset->nevents;
		if (saved <= most)
			continue;
		most = saved;
		best = all[i];
	}
	return best;
}

/* All factors of this side that go with all of these rests. */
static struct shapes find_alike(struct speller *s, const struct shapes *shapes,
	const struct factor *all, unsigned count, struct factor best, const struct shapes *rests)
{
	struct shapes alike = {0};

	for (unsigned i = 0, next; i < count; i = next) {
		struct shapes own;

		for (next = i; next < count && !compare_factors(&all[next], &all[i]); next++)
			;
		if (all[i].side != best.side || next - i < rests->count)
			continue;
		own = find_rests(s, shapes, all[i]);
		if (is_within(rests, &own))
			add(&alike, all[i].shape);
		free(own.at);
	}
	return alike;
}

/* ---- one ------------------------------------------------------------------------------------ */

/* From this event on, over arrows that no chain has yet where there are some, to the last. */
static const struct regular *chain(struct speller *s, uint64_t *left, unsigned count, unsigned from)
{
	struct regular *one = dpe_arena_alloc(s->work->arena, sizeof(*one)), *both;

	one->kind = REGULAR_SYMBOL;
	one->symbol = from;
	one->size = 1;
	if (!left[from])
		return one;
	both = dpe_arena_alloc(s->work->arena, sizeof(*both));
	both->kind = REGULAR_SEQ;
	both->left = one;
	both->right = NULL;
	for (unsigned to = from + 1; to < count && !both->right; to++) {
		if (!(left[from] >> to & 1))
			continue;
		left[from] &= ~(UINT64_C(1) << to);
		both->right = chain(s, left, count, to);
	}
	both->size = 1 + both->right->size;
	return both;
}

/* By event, those that follow it with none between. */
static void find_next(const struct pomset *p, uint64_t *next)
{
	memset(next, 0, p->nevents * sizeof(*next));
	for (unsigned i = 0; i < p->nevents; i++) {
		uint64_t direct = p->at[i].past;

		for (uint64_t left = p->at[i].past; left; left &= left - 1)
			direct &= ~p->at[__builtin_ctzll(left)].past;
		for (; direct; direct &= direct - 1)
			next[__builtin_ctzll(direct)] |= UINT64_C(1) << i;
	}
}

static const struct expr *spell_chains(struct speller *s, const struct pomset *p)
{
	struct dpe_arena *arena = s->work->arena;
	struct kernel *kernel = dpe_arena_alloc(arena, sizeof(*kernel));
	uint64_t next[MANY_RUN_EVENTS];
	unsigned arrows = 0;

	find_next(p, next);
	for (unsigned i = 0; i < p->nevents; i++)
		arrows += (unsigned)__builtin_popcountll(next[i]);
	kernel->nsymbols = p->nevents;
	kernel->symbols = dpe_arena_alloc(arena, (p->nevents + 1) * sizeof(*kernel->symbols));
	kernel->operands = dpe_arena_alloc(arena, (arrows + 1) * sizeof(*kernel->operands));
	kernel->or_nothing = dpe_arena_alloc(arena, arrows + 1);
	for (unsigned i = 0; i < p->nevents; i++)
		kernel->symbols[i] = dpe_nets_event(s->work, (unsigned)p->at[i].what);
	for (unsigned i = 0; i < p->nevents; i++) {
		while (next[i])
			kernel->operands[kernel->noperands++] = chain(s, next, p->nevents, i);
	}
	return dpe_nets_kernel_expr(s->work, kernel);
}

static const struct expr *spell_one(struct speller *s, const struct shape *shape)
{
	bool follows = shape->nseries > 1;
	unsigned count = follows ? shape->nseries : shape->nsides;
	const struct expr *all = dpe_nets_empty(s->work);

	if (shape->pomset->nevents == 1)
		return dpe_nets_event(s->work, (unsigned)shape->pomset->at[0].what);
	if (count == 1)
		return spell_chains(s, shape->pomset);
	for (unsigned i = 0; i < count; i++) {
		const struct expr *one = spell_one(s,
			shape_of(s, shape->pomset, follows ? shape->series[i] : shape->sides[i]));

		all = follows ? dpe_nets_seq(s->work, all, one) : dpe_nets_par(s->work, all, one);
	}
	return all;
}

/* ---- several -------------------------------------------------------------------------------- */

static const struct expr *alternatives(struct speller *s, const struct shapes *shapes)
{
	const struct expr *all = NULL;

	for (unsigned i = 0; i < shapes->count; i++) {
		const struct expr *one = spell_one(s, shapes->at[i]);

		all = all ? dpe_nets_alt(s->work, all, one) : one;
	}
	return all;
}

static const struct expr *put_together(
	struct speller *s, enum side side, const struct shapes *factors, const struct shapes *rests)
{
	const struct expr *factor = spell(s, factors), *rest = spell(s, rests);

	if (side == SIDE)
		return dpe_nets_par(s->work, factor, rest);
	return side == HEAD ? dpe_nets_seq(s->work, factor, rest)
			    : dpe_nets_seq(s->work, rest, factor);
}

/* Whether it is one of these factors with one of these rests. */
static bool is_one_of(struct speller *s, const struct shape *shape, enum side side,
	const struct shapes *factors, const struct shapes *rests)
{
	for (unsigned i = 0; i < factors->count; i++) {
		struct shape *rest = without(s, shape, (struct factor){side, factors->at[i]});

		if (rest && has(rests, rest))
			return true;
	}
	return false;
}

static const struct expr *spell_with(struct speller *s, const struct shapes *shapes,
	const struct factor *all, unsigned count, struct factor best)
{
	struct shapes rests = find_rests(s, shapes, best), others = {0};
	struct shapes alike = find_alike(s, shapes, all, count, best, &rests);
	const struct expr *words = put_together(s, best.side, &alike, &rests);

	for (unsigned i = 0; i < shapes->count; i++) {
		if (!is_one_of(s, shapes->at[i], best.side, &alike, &rests))
			add(&others, shapes->at[i]);
	}
	if (others.count)
		words = dpe_nets_alt(s->work, words, spell(s, &others));
	free(rests.at);
	free(alike.at);
	free(others.at);
	return words;
}

static const struct expr *spell(struct speller *s, const struct shapes *shapes)
{
	struct factor *all, best;
	const struct expr *words;
	unsigned count;

	if (shapes->count == 1)
		return spell_one(s, shapes->at[0]);
	all = find_factors(s, shapes, &count);
	best = find_best(all, count);
	words = best.shape ? spell_with(s, shapes, all, count, best) : alternatives(s, shapes);
	free(all);
	return words;
}

const struct expr *dpe_nets_runs(struct work *work, const struct net *net)
{
	struct speller s = {.work = work, .arena = dpe_arena_new()};
	struct behaviours behaviours = {0};
	const struct expr *words = NULL;
	struct shapes shapes = {0};

	if (dpe_nets_follow_runs(work, net, s.arena, &behaviours)) {
		for (unsigned i = 0; i < behaviours.count; i++)
			add(&shapes, shape_of(&s, behaviours.at[i], all_of(behaviours.at[i])));
		words = spell(&s, &shapes);
	}
	HASH_CLEAR(hh, s.known);
	free(shapes.at);
	free(behaviours.at);
	dpe_arena_free(s.arena);
	return words;
}
