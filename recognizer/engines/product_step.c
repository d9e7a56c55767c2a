/* Automata side by side: the ways to take an event, and taking them. */
#include "recognizer/engines/engines.h"
#include "recognizer/engines/product_state.h"

#include <stdlib.h>
#include <string.h>

#define FEWEST_REGISTERS 2 /* there is room for */

/* ---- finding ways ------------------------------------------------------------------------ */

static void find(struct dpe_stands *stands, const struct dpe_factor *part,
	const struct dpe_stand *stand, struct dpe_bound *bound, unsigned level);

void dpe_ways_clear(struct dpe_stands *stands)
{
	for (unsigned i = 0; i < stands->nbounds; i++)
		dpe_bound_unref(stands, stands->bounds[i]);
	stands->nbounds = stands->nways = stands->nchoices = 0;
}

static void find_moves(struct dpe_stands *stands, const struct dpe_factor *part,
	const struct dpe_stand *stand, struct dpe_bound *bound, unsigned level)
{
	unsigned count, first = stands->nchoices;
	const struct dpe_move *moves = (stands->folds ? dpe_automaton_moves : dpe_automaton_all_moves)(
		part->automaton, stand ? stand->at : 0, stands->literal, &count);

	for (unsigned i = 0; count && i < level; i++)
		*DPE_GROW(stands->choices, stands->nchoices, stands->capchoices) = stands->path[i];
	for (unsigned i = 0; i < count; i++)
		*DPE_GROW(stands->ways, stands->nways, stands->capways) = (struct dpe_way){
			.of = stands,
			.move = &moves[i],
			.part = part,
			.stand = stand,
			.bound = bound,
			.choices = first,
		};
}

static void find_in_kid(struct dpe_stands *stands, const struct dpe_factor *part, unsigned kid,
	const struct dpe_stand *stand, struct dpe_bound *bound, unsigned level)
{
	if (!part->kids[kid]->literals[stands->literal])
		return;
	stands->path[level] = kid;
	find(stands, part->kids[kid], stand, bound, level + 1);
}

/* The event is of the operand that the sequence is in, or, where that may end, of a later one that
 * only such precede as may be empty. */
static void find_in_seq(struct dpe_stands *stands, const struct dpe_factor *part,
	const struct dpe_stand *stand, struct dpe_bound *bound, unsigned level)
{
	const struct dpe_stand *inner = stand ? stand->slots[0].kid : NULL;
	unsigned first = stand ? stand->at : 0, kid = first;
	bool entered = false;

	find_in_kid(stands, part, kid, inner, stand ? stand->bound : bound, level);
	while (dpe_stand_at_end(part->kids[kid], kid == first ? inner : NULL) &&
		++kid < part->nkids) {
		if (!part->kids[kid]->literals[stands->literal])
			continue;
		if (stand && !entered)
			bound = dpe_stand_last(stands, part->kids[first], inner);
		entered = true;
		find_in_kid(stands, part, kid, NULL, bound, level);
	}
}

/* In a * the choice is whether another round begins. */
static void find_in_star(struct dpe_stands *stands, const struct dpe_factor *part,
	const struct dpe_stand *stand, struct dpe_bound *bound, unsigned level)
{
	const struct dpe_factor *kid = part->nkids ? part->kids[0] : NULL;

	if (!kid || !kid->literals[stands->literal])
		return;
	if (stand) {
		stands->path[level] = false;
		find(stands, kid, stand->slots[0].kid, stand->bound, level + 1);
		if (!dpe_stand_at_end(kid, stand->slots[0].kid))
			return;
		bound = dpe_stand_last(stands, kid, stand->slots[0].kid);
	}
	stands->path[level] = true;
	find(stands, kid, NULL, bound, level + 1);
}

/* The operand has not begun, nor has one that is alike: whatever can follow where the one begins can
 * follow, with other carets, where the other one does. */
static bool waits_for_twin(const struct dpe_stands *stands, const struct dpe_factor *part,
	const struct dpe_stand *stand, uint32_t kid)
{
	uint32_t twin = part->twin_of[kid];

	if (!stands->folds || twin == DPE_NO_KID)
		return false;
	return !stand || (!stand->slots[kid].kid && !stand->slots[twin].kid);
}

static void find(struct dpe_stands *stands, const struct dpe_factor *part,
	const struct dpe_stand *stand, struct dpe_bound *bound, unsigned level)
{
	uint32_t kid;

	switch (part->kind) {
	case DPE_FACTOR_AUTOMATON:
		find_moves(stands, part, stand, bound, level);
		return;
	case DPE_FACTOR_PAR:
		kid = part->kid_of[stands->literal];
		if (kid != DPE_NO_KID && !waits_for_twin(stands, part, stand, kid))
			find_in_kid(stands, part, kid, stand ? stand->slots[kid].kid : NULL, bound,
				level);
		return;
	case DPE_FACTOR_SEQ:
		find_in_seq(stands, part, stand, bound, level);
		return;
	case DPE_FACTOR_STAR:
		find_in_star(stands, part, stand, bound, level);
		return;
	case DPE_FACTOR_ALT:
		break;
	}
	for (kid = stand ? stand->at : 0; kid < part->nkids; kid++) {
		find_in_kid(stands, part, kid, stand ? stand->slots[0].kid : NULL, bound, level);
		if (stand)
			return;
	}
}

unsigned dpe_stand_ways(struct dpe_stands *stands, const struct dpe_stand *stand, unsigned literal)
{
	dpe_ways_clear(stands);
	stands->literal = literal;
	find(stands, stands->parts->root, stand, NULL, 0);
	return stands->nways;
}

unsigned dpe_stand_all_ways(
	struct dpe_stands *stands, const struct dpe_stand *stand, unsigned literal)
{
	bool folds = stands->folds;
	unsigned count;

	stands->folds = false;
	count = dpe_stand_ways(stands, stand, literal);
	stands->folds = folds;
	return count;
}

const struct dpe_way *dpe_way_at(const struct dpe_stands *stands, unsigned at)
{
	return &stands->ways[at];
}

const struct dpe_move *dpe_way_move(const struct dpe_way *way)
{
	return way->move;
}

unsigned dpe_way_npreds(const struct dpe_way *way)
{
	if (way->move->npreds)
		return way->move->npreds;
	return way->bound ? way->bound->count : 0;
}

void dpe_way_preds(const struct dpe_way *way, struct dpe_pred *preds)
{
	if (!way->move->npreds && way->bound)
		memcpy(preds, way->bound->events, way->bound->count * sizeof(*preds));
	for (unsigned i = 0; i < way->move->npreds; i++) {
		unsigned reg = way->move->preds[i];

		preds[i] = (struct dpe_pred){way->stand->slots[reg].occurrence,
			dpe_automaton_register_literal(way->part->automaton, way->stand->at, reg)};
	}
}

/* The predecessors are exactly those that the way wants. */
static bool way_fits(const struct dpe_way *way, const struct dpe_preds *preds)
{
	const struct dpe_move *move = way->move;

	if (dpe_way_npreds(way) != preds->count)
		return false;
	for (unsigned i = 0; i < preds->count; i++) {
		if (!dpe_preds_have(preds, move->npreds
						   ? way->stand->slots[move->preds[i]].occurrence
						   : way->bound->events[i].occurrence))
			return false;
	}
	return true;
}

/* ---- taking them ------------------------------------------------------------------------- */

/* One that nobody else refers to; takes over the reference. */
static struct dpe_stand *own(
	struct dpe_stands *stands, const struct dpe_factor *part, struct dpe_stand *stand)
{
	struct dpe_stand *copy;
	unsigned used;

	if (stand->refs == 1)
		return stand;
	used = dpe_stand_used(part, stand);
	copy = dpe_stand_new(stands, used);
	copy->at = stand->at;
	memcpy(copy->counts, stand->counts, sizeof(copy->counts));
	copy->bound = dpe_bound_ref(stand->bound);
	for (unsigned i = 0; i < used; i++)
		copy->slots[i].kid = dpe_stand_ref(stand->slots[i].kid);
	stand->refs--;
	return copy;
}

/* Takes over the reference of the stand; the registers are taken before those that were go. */
static struct dpe_stand *make_move(struct dpe_stands *stands, const struct dpe_factor *part,
	struct dpe_stand *stand, const struct dpe_move *move, struct dpe_occurrence *occurrence)
{
	unsigned count = move->nregisters, old = stand ? dpe_stand_used(part, stand) : 0;
	struct dpe_occurrence *next[count + 1];
	bool fits = stand && stand->refs == 1 && count <= stand->size;

	for (unsigned i = 0; i < count; i++)
		next[i] = dpe_occurrence_ref(move->carry[i] == DPE_NEW_EVENT
						     ? occurrence
						     : stand->slots[move->carry[i]].occurrence);
	for (unsigned i = 0; fits && i < old; i++)
		dpe_occurrence_unref(stand->slots[i].occurrence);
	if (!fits) {
		dpe_stand_drop(stands, part, stand);
		stand = dpe_stand_new(stands, count < FEWEST_REGISTERS ? FEWEST_REGISTERS : count);
	}
	stand->at = move->to;
	for (unsigned i = 0; i < count; i++)
		stand->slots[i].occurrence = next[i];
	return stand;
}

static struct dpe_stand *begin_par(struct dpe_stands *stands, const struct dpe_factor *part)
{
	struct dpe_stand *stand = dpe_stand_new(stands, part->nkids);

	for (unsigned i = 0; i < part->nkids; i++) {
		unsigned bits = dpe_stand_bits(part->kids[i], NULL);

		for (unsigned what = 0; what < NASKED; what++)
			stand->counts[what] += bits >> what & 1;
	}
	return stand;
}

static struct dpe_stand *advance(const struct dpe_way *way, const struct dpe_factor *part,
	struct dpe_stand *stand, struct dpe_occurrence *occurrence, unsigned level);

static struct dpe_stand *advance_par(const struct dpe_way *way, const struct dpe_factor *part,
	struct dpe_stand *stand, struct dpe_occurrence *occurrence, unsigned level)
{
	uint32_t kid = way->of->choices[way->choices + level];
	unsigned before, after;

	stand = stand ? own(way->of, part, stand) : begin_par(way->of, part);
	before = dpe_stand_bits(part->kids[kid], stand->slots[kid].kid);
	stand->slots[kid].kid =
		advance(way, part->kids[kid], stand->slots[kid].kid, occurrence, level + 1);
	after = dpe_stand_bits(part->kids[kid], stand->slots[kid].kid);
	for (unsigned what = 0; what < NASKED; what++)
		stand->counts[what] += (after >> what & 1) - (before >> what & 1);
	return stand;
}

/* The stand of a ; or + at this kid, or of a * in this round, from where it is on. */
static struct dpe_stand *enter(const struct dpe_way *way, const struct dpe_factor *part,
	struct dpe_stand *stand, uint32_t choice)
{
	bool round = part->kind == DPE_FACTOR_STAR;
	struct dpe_stand *entered;

	if (stand && (round ? !choice : stand->at == choice))
		return own(way->of, part, stand);
	dpe_stand_drop(way->of, part, stand);
	entered = dpe_stand_new(way->of, 1);
	entered->at = round ? 0 : choice;
	if (part->kind != DPE_FACTOR_ALT)
		entered->bound = dpe_bound_ref(way->bound);
	return entered;
}

/* Takes over the reference of the stand. */
static struct dpe_stand *advance(const struct dpe_way *way, const struct dpe_factor *part,
	struct dpe_stand *stand, struct dpe_occurrence *occurrence, unsigned level)
{
	const struct dpe_factor *kid;

	if (part->kind == DPE_FACTOR_AUTOMATON)
		return make_move(way->of, part, stand, way->move, occurrence);
	if (part->kind == DPE_FACTOR_PAR)
		return advance_par(way, part, stand, occurrence, level);
	stand = enter(way, part, stand, way->of->choices[way->choices + level]);
	kid = dpe_stand_kid(part, stand);
	stand->slots[0].kid = advance(way, kid, stand->slots[0].kid, occurrence, level + 1);
	if (stand->bound && !(dpe_stand_bits(kid, stand->slots[0].kid) & IS(NEEDING))) {
		dpe_bound_unref(way->of, stand->bound);
		stand->bound = NULL;
	}
	return stand;
}

struct dpe_stand *dpe_way_take(
	const struct dpe_way *way, struct dpe_stand *stand, struct dpe_occurrence *occurrence)
{
	return advance(way, way->of->parts->root, stand, occurrence, 0);
}

bool dpe_stand_go_on(struct dpe_stands *stands, struct dpe_stand **stand, const bool *literals,
	unsigned nliterals, const struct dpe_preds *preds, struct dpe_occurrence *occurrence)
{
	const bool *end = literals + nliterals, *literal = literals;
	const struct dpe_way *only = NULL;

	dpe_ways_clear(stands);
	for (; (literal = memchr(literal, true, (size_t)(end - literal))); literal++) {
		stands->literal = (unsigned)(literal - literals);
		find(stands, stands->parts->root, *stand, NULL, 0);
	}
	for (unsigned i = 0; i < stands->nways; i++) {
		if (!way_fits(&stands->ways[i], preds))
			continue;
		if (only)
			return false;
		only = &stands->ways[i];
	}
	if (only)
		*stand = dpe_way_take(only, *stand, occurrence);
	return only;
}
