/* States of a product of automata; product_step.c has the steps between them. */
#include "recognizer/engines/product_state.h"
#include "recognizer/engines/engines.h"

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

void dpe_bound_unref(struct dpe_product *product, struct dpe_bound *bound)
{
	if (!bound || --bound->refs)
		return;
	for (unsigned i = 0; i < bound->count; i++)
		dpe_occurrence_unref(bound->events[i].occurrence);
	dpe_pool_give(product->pool, bound, bound_size(bound->count));
}

static bool same_bound(const struct dpe_bound *a, const struct dpe_bound *b)
{
	if (!a || !b || a == b)
		return a == b;
	return a->count == b->count &&
	       !memcmp(a->events, b->events, a->count * sizeof(a->events[0]));
}

/* ---- what operators ask of a state ------------------------------------------------------------
 */

const struct dpe_factor *dpe_product_state_child(
	const struct dpe_factor *factor, const struct dpe_product_state *state)
{
	return factor->children[factor->kind == DPE_FACTOR_STAR ? 0 : state->at];
}

static unsigned automaton_bits(const struct dpe_factor *factor, dpe_state state)
{
	unsigned bits = dpe_automaton_needs_pred(factor->automaton, state) ? IS(NEEDING) : 0;

	if (!dpe_automaton_final(factor->automaton, state))
		return bits | IS(OPEN) | IS(UNFINAL);
	return dpe_automaton_complete(factor->automaton, state) ? bits : bits | IS(OPEN);
}

/* A ; or * that has begun keeps what its child needs itself. */
unsigned dpe_product_state_bits(
	const struct dpe_factor *factor, const struct dpe_product_state *state)
{
	unsigned bits = 0;

	if (!state)
		return IS(OPEN) | IS(NEEDING) | (factor->nullable ? 0 : IS(UNFINAL));
	switch (factor->kind) {
	case DPE_FACTOR_AUTOMATON:
		return automaton_bits(factor, state->at);
	case DPE_FACTOR_PAR:
		for (unsigned what = 0; what < NASKED; what++)
			bits |= state->counts[what] ? IS(what) : 0;
		return bits;
	case DPE_FACTOR_SEQ:
		bits = dpe_product_state_bits(
			       dpe_product_state_child(factor, state), state->slots[0].child) &
		       ~IS(NEEDING);
		bits |= state->at + 1 < factor->nchildren ? IS(OPEN) : 0;
		return bits | (state->at + 1 < factor->tail ? IS(UNFINAL) : 0);
	case DPE_FACTOR_STAR:
		bits = dpe_product_state_bits(factor->children[0], state->slots[0].child) & ~IS(NEEDING);
		return bits | IS(OPEN);
	case DPE_FACTOR_ALT:
		break;
	}
	return dpe_product_state_bits(dpe_product_state_child(factor, state), state->slots[0].child);
}

bool dpe_product_state_at_end(
	const struct dpe_factor *factor, const struct dpe_product_state *state)
{
	return !(dpe_product_state_bits(factor, state) & IS(UNFINAL));
}

bool dpe_product_state_final(
	const struct dpe_product *product, const struct dpe_product_state *state)
{
	return dpe_product_state_at_end(product->factors->root, state);
}

bool dpe_product_state_complete(
	const struct dpe_product *product, const struct dpe_product_state *state)
{
	return !(dpe_product_state_bits(product->factors->root, state) & IS(OPEN));
}

/* ---- states ------------------------------------------------------------------------------ */

unsigned dpe_product_state_used(
	const struct dpe_factor *factor, const struct dpe_product_state *state)
{
	if (factor->kind == DPE_FACTOR_AUTOMATON)
		return dpe_automaton_registers(factor->automaton, state->at);
	return factor->kind == DPE_FACTOR_PAR ? factor->nchildren : 1;
}

static size_t state_size(unsigned size)
{
	return sizeof(struct dpe_product_state) + size * sizeof(union slot);
}

struct dpe_product_state *dpe_product_state_new(struct dpe_product *product, unsigned size)
{
	struct dpe_product_state *state = dpe_pool_take(product->pool, state_size(size));

	memset(state, 0, state_size(size));
	state->refs = 1;
	state->size = size;
	return state;
}

struct dpe_product_state *dpe_product_state_ref(struct dpe_product_state *state)
{
	if (state)
		state->refs++;
	return state;
}

void dpe_product_state_drop(struct dpe_product *product, const struct dpe_factor *factor,
	struct dpe_product_state *state)
{
	unsigned used;

	if (!state || --state->refs)
		return;
	used = dpe_product_state_used(factor, state);
	for (unsigned i = 0; i < used; i++) {
		if (factor->kind == DPE_FACTOR_AUTOMATON)
			dpe_occurrence_unref(state->slots[i].occurrence);
		else
			dpe_product_state_drop(product,
				factor->kind == DPE_FACTOR_PAR
					? factor->children[i]
					: dpe_product_state_child(factor, state),
				state->slots[i].child);
	}
	dpe_bound_unref(product, state->bound);
	dpe_pool_give(product->pool, state, state_size(state->size));
}

void dpe_product_state_unref(struct dpe_product *product, struct dpe_product_state *state)
{
	dpe_product_state_drop(product, product->factors->root, state);
}

static bool same(const struct dpe_factor *factor, const struct dpe_product_state *a,
	const struct dpe_product_state *b)
{
	unsigned used;

	if (!a || !b || a == b)
		return a == b;
	if (a->at != b->at || !same_bound(a->bound, b->bound))
		return false;
	used = dpe_product_state_used(factor, a);
	if (factor->kind == DPE_FACTOR_AUTOMATON)
		return !memcmp(a->slots, b->slots, used * sizeof(a->slots[0]));
	for (unsigned i = 0; i < used; i++) {
		const struct dpe_factor *child = factor->kind == DPE_FACTOR_PAR
						       ? factor->children[i]
						       : dpe_product_state_child(factor, a);

		if (!same(child, a->slots[i].child, b->slots[i].child))
			return false;
	}
	return true;
}

bool dpe_product_state_same(const struct dpe_product *product, const struct dpe_product_state *a,
	const struct dpe_product_state *b)
{
	return same(product->factors->root, a, b);
}

/* ---- the last events --------------------------------------------------------------------- */

static unsigned count_last(const struct dpe_factor *factor, const struct dpe_product_state *state)
{
	unsigned count = 0;

	if (!state)
		return 0;
	if (factor->kind == DPE_FACTOR_AUTOMATON)
		return dpe_automaton_last(factor->automaton, state->at, &count), count;
	if (factor->kind != DPE_FACTOR_PAR)
		return count_last(dpe_product_state_child(factor, state), state->slots[0].child);
	for (unsigned i = 0; i < factor->nchildren; i++)
		count += count_last(factor->children[i], state->slots[i].child);
	return count;
}

static void add_event(struct dpe_bound *to, const struct dpe_factor *factor,
	const struct dpe_product_state *state, unsigned reg)
{
	struct dpe_pred event = {
		.occurrence = dpe_occurrence_ref(state->slots[reg].occurrence),
		.literal = dpe_automaton_register_literal(factor->automaton, state->at, reg),
	};
	unsigned at = to->count++;

	for (; at && to->events[at - 1].occurrence->number > event.occurrence->number; at--)
		to->events[at] = to->events[at - 1];
	to->events[at] = event;
}

/* What has begun has last events of its own; what has not adds none. */
static void collect_last(struct dpe_bound *to, const struct dpe_factor *factor,
	const struct dpe_product_state *state)
{
	const uint16_t *last;
	unsigned count;

	if (!state)
		return;
	switch (factor->kind) {
	case DPE_FACTOR_AUTOMATON:
		last = dpe_automaton_last(factor->automaton, state->at, &count);
		for (unsigned i = 0; i < count; i++)
			add_event(to, factor, state, last[i]);
		return;
	case DPE_FACTOR_PAR:
		for (unsigned i = 0; i < factor->nchildren; i++)
			collect_last(to, factor->children[i], state->slots[i].child);
		return;
	case DPE_FACTOR_SEQ:
	case DPE_FACTOR_ALT:
	case DPE_FACTOR_STAR:
		break;
	}
	collect_last(to, dpe_product_state_child(factor, state), state->slots[0].child);
}

/* LAST of a factor that is at an end; the search's. */
struct dpe_bound *dpe_product_state_last(struct dpe_product *product,
	const struct dpe_factor *factor, const struct dpe_product_state *state)
{
	struct dpe_bound *bound =
		dpe_pool_take(product->pool, bound_size(count_last(factor, state)));

	bound->refs = 1;
	bound->count = 0;
	collect_last(bound, factor, state);
	*DPE_GROW(product->bounds, product->nbounds, product->capbounds) = bound;
	return bound;
}

/* ---- the beginning and the end ----------------------------------------------------------- */

struct dpe_product *dpe_product_new(struct dpe_factors *factors, struct dpe_pool *pool)
{
	struct dpe_product *product = dpe_xcalloc(1, sizeof(*product));

	product->factors = factors;
	product->pool = pool;
	product->path = dpe_xcalloc(factors->height + 1, sizeof(*product->path));
	return product;
}

void dpe_product_fold(struct dpe_product *product)
{
	product->folds = true;
	dpe_factors_reduce_symmetry(product->factors);
}

const struct dpe_factor *dpe_product_root(const struct dpe_product *product)
{
	return product->factors->root;
}

bool dpe_product_given_up(const struct dpe_product *product)
{
	return dpe_factors_given_up(product->factors);
}

uint64_t dpe_product_built(const struct dpe_product *product)
{
	return dpe_factors_built(product->factors);
}

void dpe_product_free(struct dpe_product *product)
{
	if (!product)
		return;
	dpe_product_steps_clear(product);
	dpe_factors_free(product->factors);
	free(product->steps);
	free(product->choices);
	free(product->path);
	free(product->bounds);
	free(product);
}
