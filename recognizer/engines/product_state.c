/* Automata side by side: where readings stand. The steps that events take are in product_step.c. */
#include "recognizer/engines/engines.h"
#include "recognizer/engines/product_state.h"

#include <stdlib.h>
#include <string.h>

/* ---- bounds ------------------------------------------------------------------------------ */

static size_t bound_size(unsigned count)
{
	return sizeof(struct dpe_bound) + count * sizeof(struct dpe_pred);
}

struct dpe_bound *dpe_bound_ref(struct dpe_bound *bound)
{
	if (bound)
		bound->refs++;
	return bound;
}

void dpe_bound_unref(struct dpe_stands *stands, struct dpe_bound *bound)
{
	if (!bound || --bound->refs)
		return;
	for (unsigned i = 0; i < bound->count; i++)
		dpe_occurrence_unref(bound->events[i].occurrence);
	dpe_pool_give(stands->pool, bound, bound_size(bound->count));
}

static bool same_bound(const struct dpe_bound *a, const struct dpe_bound *b)
{
	if (!a || !b || a == b)
		return a == b;
	return a->count == b->count &&
	       !memcmp(a->events, b->events, a->count * sizeof(a->events[0]));
}

/* ---- what is asked of a stand ------------------------------------------------------------ */

const struct dpe_factor *dpe_stand_kid(const struct dpe_factor *part, const struct dpe_stand *stand)
{
	return part->kids[part->kind == DPE_FACTOR_STAR ? 0 : stand->at];
}

static unsigned automaton_bits(const struct dpe_factor *part, dpe_state state)
{
	unsigned bits = dpe_automaton_needs_pred(part->automaton, state) ? IS(NEEDING) : 0;

	if (!dpe_automaton_final(part->automaton, state))
		return bits | IS(OPEN) | IS(UNFINAL);
	return dpe_automaton_complete(part->automaton, state) ? bits : bits | IS(OPEN);
}

/* A ; or * that has begun keeps what its kid needs itself. */
unsigned dpe_stand_bits(const struct dpe_factor *part, const struct dpe_stand *stand)
{
	unsigned bits = 0;

	if (!stand)
		return IS(OPEN) | IS(NEEDING) | (part->nullable ? 0 : IS(UNFINAL));
	switch (part->kind) {
	case DPE_FACTOR_AUTOMATON:
		return automaton_bits(part, stand->at);
	case DPE_FACTOR_PAR:
		for (unsigned what = 0; what < NASKED; what++)
			bits |= stand->counts[what] ? IS(what) : 0;
		return bits;
	case DPE_FACTOR_SEQ:
		bits = dpe_stand_bits(dpe_stand_kid(part, stand), stand->slots[0].kid) &
		       ~IS(NEEDING);
		bits |= stand->at + 1 < part->nkids ? IS(OPEN) : 0;
		return bits | (stand->at + 1 < part->tail ? IS(UNFINAL) : 0);
	case DPE_FACTOR_STAR:
		bits = dpe_stand_bits(part->kids[0], stand->slots[0].kid) & ~IS(NEEDING);
		return bits | IS(OPEN);
	case DPE_FACTOR_ALT:
		break;
	}
	return dpe_stand_bits(dpe_stand_kid(part, stand), stand->slots[0].kid);
}

bool dpe_stand_at_end(const struct dpe_factor *part, const struct dpe_stand *stand)
{
	return !(dpe_stand_bits(part, stand) & IS(UNFINAL));
}

bool dpe_stand_final(const struct dpe_stands *stands, const struct dpe_stand *stand)
{
	return dpe_stand_at_end(stands->parts->root, stand);
}

bool dpe_stand_complete(const struct dpe_stands *stands, const struct dpe_stand *stand)
{
	return !(dpe_stand_bits(stands->parts->root, stand) & IS(OPEN));
}

/* ---- stands ------------------------------------------------------------------------------ */

unsigned dpe_stand_used(const struct dpe_factor *part, const struct dpe_stand *stand)
{
	if (part->kind == DPE_FACTOR_AUTOMATON)
		return dpe_automaton_registers(part->automaton, stand->at);
	return part->kind == DPE_FACTOR_PAR ? part->nkids : 1;
}

static size_t stand_size(unsigned size)
{
	return sizeof(struct dpe_stand) + size * sizeof(union slot);
}

struct dpe_stand *dpe_stand_new(struct dpe_stands *stands, unsigned size)
{
	struct dpe_stand *stand = dpe_pool_take(stands->pool, stand_size(size));

	memset(stand, 0, stand_size(size));
	stand->refs = 1;
	stand->size = size;
	return stand;
}

struct dpe_stand *dpe_stand_ref(struct dpe_stand *stand)
{
	if (stand)
		stand->refs++;
	return stand;
}

void dpe_stand_drop(struct dpe_stands *stands, const struct dpe_factor *part, struct dpe_stand *stand)
{
	unsigned used;

	if (!stand || --stand->refs)
		return;
	used = dpe_stand_used(part, stand);
	for (unsigned i = 0; i < used; i++) {
		if (part->kind == DPE_FACTOR_AUTOMATON)
			dpe_occurrence_unref(stand->slots[i].occurrence);
		else
			dpe_stand_drop(stands,
				part->kind == DPE_FACTOR_PAR ? part->kids[i]
							   : dpe_stand_kid(part, stand),
				stand->slots[i].kid);
	}
	dpe_bound_unref(stands, stand->bound);
	dpe_pool_give(stands->pool, stand, stand_size(stand->size));
}

void dpe_stand_unref(struct dpe_stands *stands, struct dpe_stand *stand)
{
	dpe_stand_drop(stands, stands->parts->root, stand);
}

static bool same(const struct dpe_factor *part, const struct dpe_stand *a, const struct dpe_stand *b)
{
	unsigned used;

	if (!a || !b || a == b)
		return a == b;
	if (a->at != b->at || !same_bound(a->bound, b->bound))
		return false;
	used = dpe_stand_used(part, a);
	if (part->kind == DPE_FACTOR_AUTOMATON)
		return !memcmp(a->slots, b->slots, used * sizeof(a->slots[0]));
	for (unsigned i = 0; i < used; i++) {
		const struct dpe_factor *kid =
			part->kind == DPE_FACTOR_PAR ? part->kids[i] : dpe_stand_kid(part, a);

		if (!same(kid, a->slots[i].kid, b->slots[i].kid))
			return false;
	}
	return true;
}

bool dpe_stand_same(
	const struct dpe_stands *stands, const struct dpe_stand *a, const struct dpe_stand *b)
{
	return same(stands->parts->root, a, b);
}

/* ---- the last events --------------------------------------------------------------------- */

static unsigned count_last(const struct dpe_factor *part, const struct dpe_stand *stand)
{
	unsigned count = 0;

	if (!stand)
		return 0;
	if (part->kind == DPE_FACTOR_AUTOMATON)
		return dpe_automaton_last(part->automaton, stand->at, &count), count;
	if (part->kind != DPE_FACTOR_PAR)
		return count_last(dpe_stand_kid(part, stand), stand->slots[0].kid);
	for (unsigned i = 0; i < part->nkids; i++)
		count += count_last(part->kids[i], stand->slots[i].kid);
	return count;
}

static void add_event(struct dpe_bound *to, const struct dpe_factor *part,
	const struct dpe_stand *stand, unsigned reg)
{
	struct dpe_pred event = {
		.occurrence = dpe_occurrence_ref(stand->slots[reg].occurrence),
		.literal = dpe_automaton_register_literal(part->automaton, stand->at, reg),
	};
	unsigned at = to->count++;

	for (; at && to->events[at - 1].occurrence->number > event.occurrence->number; at--)
		to->events[at] = to->events[at - 1];
	to->events[at] = event;
}

/* What has begun has last events of its own; what has not adds none. */
static void collect_last(
	struct dpe_bound *to, const struct dpe_factor *part, const struct dpe_stand *stand)
{
	const uint16_t *last;
	unsigned count;

	if (!stand)
		return;
	switch (part->kind) {
	case DPE_FACTOR_AUTOMATON:
		last = dpe_automaton_last(part->automaton, stand->at, &count);
		for (unsigned i = 0; i < count; i++)
			add_event(to, part, stand, last[i]);
		return;
	case DPE_FACTOR_PAR:
		for (unsigned i = 0; i < part->nkids; i++)
			collect_last(to, part->kids[i], stand->slots[i].kid);
		return;
	case DPE_FACTOR_SEQ:
	case DPE_FACTOR_ALT:
	case DPE_FACTOR_STAR:
		break;
	}
	collect_last(to, dpe_stand_kid(part, stand), stand->slots[0].kid);
}

/* LAST of a part that is at an end; the search's. */
struct dpe_bound *dpe_stand_last(
	struct dpe_stands *stands, const struct dpe_factor *part, const struct dpe_stand *stand)
{
	struct dpe_bound *bound = dpe_pool_take(stands->pool, bound_size(count_last(part, stand)));

	bound->refs = 1;
	bound->count = 0;
	collect_last(bound, part, stand);
	*DPE_GROW(stands->bounds, stands->nbounds, stands->capbounds) = bound;
	return bound;
}

/* ---- the beginning and the end ----------------------------------------------------------- */

struct dpe_stands *dpe_stands_new(struct dpe_factors *parts, struct dpe_pool *pool)
{
	struct dpe_stands *stands = dpe_xcalloc(1, sizeof(*stands));

	stands->parts = parts;
	stands->pool = pool;
	stands->path = dpe_xcalloc(parts->height + 1, sizeof(*stands->path));
	return stands;
}

void dpe_stands_fold(struct dpe_stands *stands)
{
	stands->folds = true;
	dpe_factors_reduce_symmetry(stands->parts);
}

const struct dpe_factor *dpe_stands_root(const struct dpe_stands *stands)
{
	return stands->parts->root;
}

bool dpe_stands_given_up(const struct dpe_stands *stands)
{
	return dpe_factors_given_up(stands->parts);
}

uint64_t dpe_stands_built(const struct dpe_stands *stands)
{
	return dpe_factors_built(stands->parts);
}

void dpe_stands_free(struct dpe_stands *stands)
{
	if (!stands)
		return;
	dpe_ways_clear(stands);
	dpe_factors_free(stands->parts);
	free(stands->ways);
	free(stands->choices);
	free(stands->path);
	free(stands->bounds);
	free(stands);
}
