/* Steps of a product of automata: finding and taking them. */
#include "recognizer/engines/engines.h"
#include "recognizer/engines/product_state.h"
#include "recognizer/limits.h"

#include <stdlib.h>
#include <string.h>

/* ---- finding steps ------------------------------------------------------------------------ */

static void find(struct dpe_product *product, const struct dpe_factor *factor,
	const struct dpe_product_state *state, struct dpe_bound *bound, unsigned level);

void dpe_product_steps_clear(struct dpe_product *product)
{
	for (unsigned i = 0; i < product->nbounds; i++)
		dpe_bound_unref(product, product->bounds[i]);
	product->nbounds = product->nsteps = product->nchoices = 0;
}

static void find_moves(struct dpe_product *product, const struct dpe_factor *factor,
	const struct dpe_product_state *state, struct dpe_bound *bound, unsigned level)
{
	unsigned count, first = product->nchoices;
	const struct dpe_move *moves =
		(product->folds ? dpe_automaton_moves : dpe_automaton_all_moves)(
			factor->automaton, state ? state->at : 0, product->literal, &count);

	for (unsigned i = 0; count && i < level; i++)
		*DPE_GROW(product->choices, product->nchoices, product->capchoices) =
			product->path[i];
	for (unsigned i = 0; i < count; i++)
		*DPE_GROW(product->steps, product->nsteps, product->capsteps) =
			(struct dpe_product_step){
				.of = product,
				.move = &moves[i],
				.factor = factor,
				.state = state,
				.bound = bound,
				.choices = first,
			};
}

static void find_in_child(struct dpe_product *product, const struct dpe_factor *factor, unsigned child,
	const struct dpe_product_state *state, struct dpe_bound *bound, unsigned level)
{
	if (!factor->children[child]->literals[product->literal])
		return;
	product->path[level] = child;
	find(product, factor->children[child], state, bound, level + 1);
}

/* The event is of the operand that the sequence is in, or, where that may end, of a later one that
 * only such precede as may be empty. */
static void find_in_seq(struct dpe_product *product, const struct dpe_factor *factor,
	const struct dpe_product_state *state, struct dpe_bound *bound, unsigned level)
{
	const struct dpe_product_state *inner = state ? state->slots[0].child : NULL;
	unsigned first = state ? state->at : 0, child = first;
	bool entered = false;

	find_in_child(product, factor, child, inner, state ? state->bound : bound, level);
	while (dpe_product_state_at_end(factor->children[child], child == first ? inner : NULL) &&
		++child < factor->nchildren) {
		if (!factor->children[child]->literals[product->literal])
			continue;
		if (state && !entered)
			bound = dpe_product_state_last(product, factor->children[first], inner);
		entered = true;
		find_in_child(product, factor, child, NULL, bound, level);
	}
}

/* In a * the choice is whether another round begins. */
static void find_in_star(struct dpe_product *product, const struct dpe_factor *factor,
	const struct dpe_product_state *state, struct dpe_bound *bound, unsigned level)
{
	const struct dpe_factor *child = factor->nchildren ? factor->children[0] : NULL;

	if (!child || !child->literals[product->literal])
		return;
	if (state) {
		product->path[level] = false;
		find(product, child, state->slots[0].child, state->bound, level + 1);
		if (!dpe_product_state_at_end(child, state->slots[0].child))
			return;
		bound = dpe_product_state_last(product, child, state->slots[0].child);
	}
	product->path[level] = true;
	find(product, child, NULL, bound, level + 1);
}

/* The operand has not begun, nor has one that is alike: whatever can follow where the one begins
 * can follow, with other carets, where the other one does. */
static bool waits_for_twin(const struct dpe_product *product, const struct dpe_factor *factor,
	const struct dpe_product_state *state, uint32_t child)
{
	uint32_t twin = factor->interchangeable_with[child];

	if (!product->folds || twin == DPE_NO_CHILD)
		return false;
	return !state || (!state->slots[child].child && !state->slots[twin].child);
}

static void find(struct dpe_product *product, const struct dpe_factor *factor,
	const struct dpe_product_state *state, struct dpe_bound *bound, unsigned level)
{
	uint32_t child;

	switch (factor->kind) {
	case DPE_FACTOR_AUTOMATON:
		find_moves(product, factor, state, bound, level);
		return;
	case DPE_FACTOR_PAR:
		child = factor->child_of[product->literal];
		if (child != DPE_NO_CHILD && !waits_for_twin(product, factor, state, child))
			find_in_child(product, factor, child, state ? state->slots[child].child : NULL,
				bound, level);
		return;
	case DPE_FACTOR_SEQ:
		find_in_seq(product, factor, state, bound, level);
		return;
	case DPE_FACTOR_STAR:
		find_in_star(product, factor, state, bound, level);
		return;
	case DPE_FACTOR_ALT:
		break;
	}
	for (child = state ? state->at : 0; child < factor->nchildren; child++) {
		find_in_child(product, factor, child, state ? state->slots[0].child : NULL, bound, level);
		if (state)
			return;
	}
}

unsigned dpe_product_steps(
	struct dpe_product *product, const struct dpe_product_state *state, unsigned literal)
{
	dpe_product_steps_clear(product);
	product->literal = literal;
	find(product, product->factors->root, state, NULL, 0);
	return product->nsteps;
}

unsigned dpe_product_all_steps(
	struct dpe_product *product, const struct dpe_product_state *state, unsigned literal)
{
	bool folds = product->folds;
	unsigned count;

	product->folds = false;
	count = dpe_product_steps(product, state, literal);
	product->folds = folds;
	return count;
}

const struct dpe_product_step *dpe_product_step_at(const struct dpe_product *product, unsigned at)
{
	return &product->steps[at];
}

const struct dpe_move *dpe_product_step_move(const struct dpe_product_step *step)
{
	return step->move;
}

unsigned dpe_product_step_npreds(const struct dpe_product_step *step)
{
	if (step->move->npreds)
		return step->move->npreds;
	return step->bound ? step->bound->count : 0;
}

void dpe_product_step_preds(const struct dpe_product_step *step, struct dpe_pred *preds)
{
	if (!step->move->npreds && step->bound)
		memcpy(preds, step->bound->events, step->bound->count * sizeof(*preds));
	for (unsigned i = 0; i < step->move->npreds; i++) {
		unsigned reg = step->move->preds[i];

		preds[i] = (struct dpe_pred){step->state->slots[reg].occurrence,
			dpe_automaton_register_literal(
				step->factor->automaton, step->state->at, reg)};
	}
}

/* The predecessors are exactly the step's. */
static bool step_fits(const struct dpe_product_step *step, const struct dpe_preds *preds)
{
	const struct dpe_move *move = step->move;

	if (dpe_product_step_npreds(step) != preds->count)
		return false;
	for (unsigned i = 0; i < preds->count; i++) {
		if (!dpe_preds_have(preds, move->npreds
						   ? step->state->slots[move->preds[i]].occurrence
						   : step->bound->events[i].occurrence))
			return false;
	}
	return true;
}

/* ---- taking them ------------------------------------------------------------------------- */

/* One that nobody else refers to; takes over the reference. */
static struct dpe_product_state *own(struct dpe_product *product, const struct dpe_factor *factor,
	struct dpe_product_state *state)
{
	struct dpe_product_state *copy;
	unsigned used;

	if (state->refs == 1)
		return state;
	used = dpe_product_state_used(factor, state);
	copy = dpe_product_state_new(product, used);
	copy->at = state->at;
	memcpy(copy->counts, state->counts, sizeof(copy->counts));
	copy->bound = dpe_bound_ref(state->bound);
	for (unsigned i = 0; i < used; i++)
		copy->slots[i].child = dpe_product_state_ref(state->slots[i].child);
	state->refs--;
	return copy;
}

/* Takes over the reference of the state; the new registers are taken before the old ones are released. */
static struct dpe_product_state *make_move(struct dpe_product *product,
	const struct dpe_factor *factor, struct dpe_product_state *state,
	const struct dpe_move *move, struct dpe_occurrence *occurrence)
{
	unsigned count = move->nregisters, old = state ? dpe_product_state_used(factor, state) : 0;
	struct dpe_occurrence *next[count + 1];
	bool fits = state && state->refs == 1 && count <= state->size;

	for (unsigned i = 0; i < count; i++)
		next[i] = dpe_occurrence_ref(move->carry[i] == DPE_NEW_EVENT
						     ? occurrence
						     : state->slots[move->carry[i]].occurrence);
	for (unsigned i = 0; fits && i < old; i++)
		dpe_occurrence_unref(state->slots[i].occurrence);
	if (!fits) {
		dpe_product_state_drop(product, factor, state);
		state = dpe_product_state_new(
			product, count < DPE_FIRST_SLOTS ? DPE_FIRST_SLOTS : count);
	}
	state->at = move->to;
	for (unsigned i = 0; i < count; i++)
		state->slots[i].occurrence = next[i];
	return state;
}

static struct dpe_product_state *begin_par(
	struct dpe_product *product, const struct dpe_factor *factor)
{
	struct dpe_product_state *state = dpe_product_state_new(product, factor->nchildren);

	for (unsigned i = 0; i < factor->nchildren; i++) {
		unsigned bits = dpe_product_state_bits(factor->children[i], NULL);

		for (unsigned what = 0; what < NASKED; what++)
			state->counts[what] += bits >> what & 1;
	}
	return state;
}

static struct dpe_product_state *advance(const struct dpe_product_step *step,
	const struct dpe_factor *factor, struct dpe_product_state *state,
	struct dpe_occurrence *occurrence, unsigned level);

static struct dpe_product_state *advance_par(const struct dpe_product_step *step,
	const struct dpe_factor *factor, struct dpe_product_state *state,
	struct dpe_occurrence *occurrence, unsigned level)
{
	uint32_t child = step->of->choices[step->choices + level];
	unsigned before, after;

	state = state ? own(step->of, factor, state) : begin_par(step->of, factor);
	before = dpe_product_state_bits(factor->children[child], state->slots[child].child);
	state->slots[child].child =
		advance(step, factor->children[child], state->slots[child].child, occurrence, level + 1);
	after = dpe_product_state_bits(factor->children[child], state->slots[child].child);
	for (unsigned what = 0; what < NASKED; what++)
		state->counts[what] += (after >> what & 1) - (before >> what & 1);
	return state;
}

/* The state of a ; or + at this child, or of a * in this round, from where it is on. */
static struct dpe_product_state *enter(const struct dpe_product_step *step,
	const struct dpe_factor *factor, struct dpe_product_state *state, uint32_t choice)
{
	bool round = factor->kind == DPE_FACTOR_STAR;
	struct dpe_product_state *entered;

	if (state && (round ? !choice : state->at == choice))
		return own(step->of, factor, state);
	dpe_product_state_drop(step->of, factor, state);
	entered = dpe_product_state_new(step->of, 1);
	entered->at = round ? 0 : choice;
	if (factor->kind != DPE_FACTOR_ALT)
		entered->bound = dpe_bound_ref(step->bound);
	return entered;
}

/* Takes over the reference of the state. */
static struct dpe_product_state *advance(const struct dpe_product_step *step,
	const struct dpe_factor *factor, struct dpe_product_state *state,
	struct dpe_occurrence *occurrence, unsigned level)
{
	const struct dpe_factor *child;

	if (factor->kind == DPE_FACTOR_AUTOMATON)
		return make_move(step->of, factor, state, step->move, occurrence);
	if (factor->kind == DPE_FACTOR_PAR)
		return advance_par(step, factor, state, occurrence, level);
	state = enter(step, factor, state, step->of->choices[step->choices + level]);
	child = dpe_product_state_child(factor, state);
	state->slots[0].child = advance(step, child, state->slots[0].child, occurrence, level + 1);
	if (state->bound && !(dpe_product_state_bits(child, state->slots[0].child) & IS(NEEDING))) {
		dpe_bound_unref(step->of, state->bound);
		state->bound = NULL;
	}
	return state;
}

struct dpe_product_state *dpe_product_step_take(const struct dpe_product_step *step,
	struct dpe_product_state *state, struct dpe_occurrence *occurrence)
{
	return advance(step, step->of->factors->root, state, occurrence, 0);
}

bool dpe_product_take_only(struct dpe_product *product, struct dpe_product_state **state,
	const bool *literals, unsigned nliterals, const struct dpe_preds *preds,
	struct dpe_occurrence *occurrence)
{
	const bool *end = literals + nliterals, *literal = literals;
	const struct dpe_product_step *only = NULL;

	dpe_product_steps_clear(product);
	for (; (literal = memchr(literal, true, (size_t)(end - literal))); literal++) {
		product->literal = (unsigned)(literal - literals);
		find(product, product->factors->root, *state, NULL, 0);
	}
	for (unsigned i = 0; i < product->nsteps; i++) {
		if (!step_fits(&product->steps[i], preds))
			continue;
		if (only)
			return false;
		only = &product->steps[i];
	}
	if (only)
		*state = dpe_product_step_take(only, *state, occurrence);
	return only;
}
