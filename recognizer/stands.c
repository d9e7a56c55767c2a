/* Automata side by side: where readings stand, and the steps that events take. */
#include "recognizer/stands.h"
#include "recognizer/run.h"

#include <stdlib.h>
#include <string.h>

#define FEWEST_REGISTERS 2 /* there is room for */

/* The events that a part was entered after: what its PRED is. By number; NULL: none. */
struct bound {
	uint32_t refs, count;
	struct dpe_pred events[];
};

/* What operators around ask of an operand, as bits; a & counts the operands that have each. */
enum { OPEN, UNFINAL, NEEDING, NASKED };
#define IS(what) (1u << (what))

struct dpe_stand {
	uint32_t refs;
	uint32_t at;           /* the state of an automaton; of ; and + which kid */
	uint32_t counts[NASKED]; /* of &: operands that something can follow, that are not at an
				  * end, that may still follow what the & was entered after */
	uint32_t size;         /* slots there is room for */
	struct bound *bound;   /* ; and *: of the kid, where it still needs it */
	union slot {
		struct dpe_stand *kid;           /* of & one for each operand, else one */
		struct dpe_occurrence *occurrence; /* registers */
	} slots[];
};

struct dpe_way {
	struct dpe_stands *of;
	const struct dpe_move *move;
	const struct dpe_part *part;   /* the leaf … */
	const struct dpe_stand *stand; /* … and where it stands */
	struct bound *bound;           /* its PRED */
	unsigned choices;              /* which kid at each level, from there on */
};

struct dpe_stands {
	struct dpe_parts *parts;
	struct dpe_pool *pool;
	/* The last search. */
	unsigned literal;
	struct dpe_way *ways;
	unsigned nways, capways;
	uint32_t *choices, *path; /* of all ways; of the one at hand */
	unsigned nchoices, capchoices;
	struct bound **bounds; /* that were made */
	unsigned nbounds, capbounds;
};

/* ---- bounds ------------------------------------------------------------------------------ */

static size_t bound_size(unsigned count)
{
	return sizeof(struct bound) + count * sizeof(struct dpe_pred);
}

static struct bound *ref_bound(struct bound *bound)
{
	if (bound)
		bound->refs++;
	return bound;
}

static void unref_bound(struct dpe_stands *stands, struct bound *bound)
{
	if (!bound || --bound->refs)
		return;
	for (unsigned i = 0; i < bound->count; i++)
		dpe_occurrence_unref(bound->events[i].occurrence);
	dpe_pool_give(stands->pool, bound, bound_size(bound->count));
}

static bool same_bound(const struct bound *a, const struct bound *b)
{
	if (!a || !b || a == b)
		return a == b;
	return a->count == b->count &&
	       !memcmp(a->events, b->events, a->count * sizeof(a->events[0]));
}

/* ---- what is asked of a stand ------------------------------------------------------------ */

static const struct dpe_part *kid_at(const struct dpe_part *part, const struct dpe_stand *stand)
{
	return part->kids[part->kind == DPE_PART_STAR ? 0 : stand->at];
}

static unsigned automaton_bits(const struct dpe_part *part, dpe_state state)
{
	unsigned bits = dpe_automaton_needs_pred(part->automaton, state) ? IS(NEEDING) : 0;

	if (!dpe_automaton_final(part->automaton, state))
		return bits | IS(OPEN) | IS(UNFINAL);
	return dpe_automaton_complete(part->automaton, state) ? bits : bits | IS(OPEN);
}

/* A ; or * that has begun keeps what its kid needs itself. */
static unsigned bits_of(const struct dpe_part *part, const struct dpe_stand *stand)
{
	unsigned bits = 0;

	if (!stand)
		return IS(OPEN) | IS(NEEDING) | (part->nullable ? 0 : IS(UNFINAL));
	switch (part->kind) {
	case DPE_PART_AUTOMATON:
		return automaton_bits(part, stand->at);
	case DPE_PART_PAR:
		for (unsigned what = 0; what < NASKED; what++)
			bits |= stand->counts[what] ? IS(what) : 0;
		return bits;
	case DPE_PART_SEQ:
		bits = bits_of(kid_at(part, stand), stand->slots[0].kid) & ~IS(NEEDING);
		bits |= stand->at + 1 < part->nkids ? IS(OPEN) : 0;
		return bits | (stand->at + 1 < part->tail ? IS(UNFINAL) : 0);
	case DPE_PART_STAR:
		bits = bits_of(part->kids[0], stand->slots[0].kid) & ~IS(NEEDING);
		return bits | IS(OPEN);
	case DPE_PART_ALT:
		break;
	}
	return bits_of(kid_at(part, stand), stand->slots[0].kid);
}

static bool is_final(const struct dpe_part *part, const struct dpe_stand *stand)
{
	return !(bits_of(part, stand) & IS(UNFINAL));
}

bool dpe_stand_final(const struct dpe_stands *stands, const struct dpe_stand *stand)
{
	return is_final(stands->parts->root, stand);
}

bool dpe_stand_complete(const struct dpe_stands *stands, const struct dpe_stand *stand)
{
	return !(bits_of(stands->parts->root, stand) & IS(OPEN));
}

/* ---- stands ------------------------------------------------------------------------------ */

static unsigned used_slots(const struct dpe_part *part, const struct dpe_stand *stand)
{
	if (part->kind == DPE_PART_AUTOMATON)
		return dpe_automaton_registers(part->automaton, stand->at);
	return part->kind == DPE_PART_PAR ? part->nkids : 1;
}

static size_t stand_size(unsigned size)
{
	return sizeof(struct dpe_stand) + size * sizeof(union slot);
}

static struct dpe_stand *new_stand(struct dpe_stands *stands, unsigned size)
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

static void unref_stand(
	struct dpe_stands *stands, const struct dpe_part *part, struct dpe_stand *stand)
{
	unsigned used;

	if (!stand || --stand->refs)
		return;
	used = used_slots(part, stand);
	for (unsigned i = 0; i < used; i++) {
		if (part->kind == DPE_PART_AUTOMATON)
			dpe_occurrence_unref(stand->slots[i].occurrence);
		else
			unref_stand(stands,
				part->kind == DPE_PART_PAR ? part->kids[i] : kid_at(part, stand),
				stand->slots[i].kid);
	}
	unref_bound(stands, stand->bound);
	dpe_pool_give(stands->pool, stand, stand_size(stand->size));
}

void dpe_stand_unref(struct dpe_stands *stands, struct dpe_stand *stand)
{
	unref_stand(stands, stands->parts->root, stand);
}

static bool same(
	const struct dpe_part *part, const struct dpe_stand *a, const struct dpe_stand *b)
{
	unsigned used;

	if (!a || !b || a == b)
		return a == b;
	if (a->at != b->at || !same_bound(a->bound, b->bound))
		return false;
	used = used_slots(part, a);
	if (part->kind == DPE_PART_AUTOMATON)
		return !memcmp(a->slots, b->slots, used * sizeof(a->slots[0]));
	for (unsigned i = 0; i < used; i++) {
		const struct dpe_part *kid =
			part->kind == DPE_PART_PAR ? part->kids[i] : kid_at(part, a);

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

static unsigned count_last(const struct dpe_part *part, const struct dpe_stand *stand)
{
	unsigned count = 0;

	if (!stand)
		return 0;
	if (part->kind == DPE_PART_AUTOMATON)
		return dpe_automaton_last(part->automaton, stand->at, &count), count;
	if (part->kind != DPE_PART_PAR)
		return count_last(kid_at(part, stand), stand->slots[0].kid);
	for (unsigned i = 0; i < part->nkids; i++)
		count += count_last(part->kids[i], stand->slots[i].kid);
	return count;
}

static void add_event(
	struct bound *to, const struct dpe_part *part, const struct dpe_stand *stand, unsigned reg)
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
	struct bound *to, const struct dpe_part *part, const struct dpe_stand *stand)
{
	const uint16_t *last;
	unsigned count;

	if (!stand)
		return;
	switch (part->kind) {
	case DPE_PART_AUTOMATON:
		last = dpe_automaton_last(part->automaton, stand->at, &count);
		for (unsigned i = 0; i < count; i++)
			add_event(to, part, stand, last[i]);
		return;
	case DPE_PART_PAR:
		for (unsigned i = 0; i < part->nkids; i++)
			collect_last(to, part->kids[i], stand->slots[i].kid);
		return;
	case DPE_PART_SEQ:
	case DPE_PART_ALT:
	case DPE_PART_STAR:
		break;
	}
	collect_last(to, kid_at(part, stand), stand->slots[0].kid);
}

/* LAST of a part that is at an end; the search's. */
static struct bound *last_of(
	struct dpe_stands *stands, const struct dpe_part *part, const struct dpe_stand *stand)
{
	struct bound *bound = dpe_pool_take(stands->pool, bound_size(count_last(part, stand)));

	bound->refs = 1;
	bound->count = 0;
	collect_last(bound, part, stand);
	*DPE_GROW(stands->bounds, stands->nbounds, stands->capbounds) = bound;
	return bound;
}

/* ---- finding ways ------------------------------------------------------------------------ */

static void find(struct dpe_stands *stands, const struct dpe_part *part,
	const struct dpe_stand *stand, struct bound *bound, unsigned level);

static void clear_search(struct dpe_stands *stands)
{
	for (unsigned i = 0; i < stands->nbounds; i++)
		unref_bound(stands, stands->bounds[i]);
	stands->nbounds = stands->nways = stands->nchoices = 0;
}

static void find_moves(struct dpe_stands *stands, const struct dpe_part *part,
	const struct dpe_stand *stand, struct bound *bound, unsigned level)
{
	unsigned count, first = stands->nchoices;
	const struct dpe_move *moves = dpe_automaton_moves(
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

static void find_in_kid(struct dpe_stands *stands, const struct dpe_part *part, unsigned kid,
	const struct dpe_stand *stand, struct bound *bound, unsigned level)
{
	if (!part->kids[kid]->literals[stands->literal])
		return;
	stands->path[level] = kid;
	find(stands, part->kids[kid], stand, bound, level + 1);
}

/* The event is of the operand that the sequence is in, or, where that may end, of a later one that
 * only such precede as may be empty. */
static void find_in_seq(struct dpe_stands *stands, const struct dpe_part *part,
	const struct dpe_stand *stand, struct bound *bound, unsigned level)
{
	const struct dpe_stand *inner = stand ? stand->slots[0].kid : NULL;
	unsigned first = stand ? stand->at : 0, kid = first;
	bool entered = false;

	find_in_kid(stands, part, kid, inner, stand ? stand->bound : bound, level);
	while (is_final(part->kids[kid], kid == first ? inner : NULL) && ++kid < part->nkids) {
		if (!part->kids[kid]->literals[stands->literal])
			continue;
		if (stand && !entered)
			bound = last_of(stands, part->kids[first], inner);
		entered = true;
		find_in_kid(stands, part, kid, NULL, bound, level);
	}
}

/* In a * the choice is whether another round begins. */
static void find_in_star(struct dpe_stands *stands, const struct dpe_part *part,
	const struct dpe_stand *stand, struct bound *bound, unsigned level)
{
	const struct dpe_part *kid = part->nkids ? part->kids[0] : NULL;

	if (!kid || !kid->literals[stands->literal])
		return;
	if (stand) {
		stands->path[level] = false;
		find(stands, kid, stand->slots[0].kid, stand->bound, level + 1);
		if (!is_final(kid, stand->slots[0].kid))
			return;
		bound = last_of(stands, kid, stand->slots[0].kid);
	}
	stands->path[level] = true;
	find(stands, kid, NULL, bound, level + 1);
}

static void find(struct dpe_stands *stands, const struct dpe_part *part,
	const struct dpe_stand *stand, struct bound *bound, unsigned level)
{
	uint32_t kid;

	switch (part->kind) {
	case DPE_PART_AUTOMATON:
		find_moves(stands, part, stand, bound, level);
		return;
	case DPE_PART_PAR:
		kid = part->kid_of[stands->literal];
		if (kid != DPE_NO_KID)
			find_in_kid(stands, part, kid, stand ? stand->slots[kid].kid : NULL, bound,
				level);
		return;
	case DPE_PART_SEQ:
		find_in_seq(stands, part, stand, bound, level);
		return;
	case DPE_PART_STAR:
		find_in_star(stands, part, stand, bound, level);
		return;
	case DPE_PART_ALT:
		break;
	}
	for (kid = stand ? stand->at : 0; kid < part->nkids; kid++) {
		find_in_kid(stands, part, kid, stand ? stand->slots[0].kid : NULL, bound, level);
		if (stand)
			return;
	}
}

unsigned dpe_stand_ways(
	struct dpe_stands *stands, const struct dpe_stand *stand, unsigned literal)
{
	clear_search(stands);
	stands->literal = literal;
	find(stands, stands->parts->root, stand, NULL, 0);
	return stands->nways;
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
			dpe_automaton_register_literal(
				way->part->automaton, way->stand->at, reg)};
	}
}

/* The predecessors are exactly those that the way wants. */
static bool way_fits(const struct dpe_way *way, const struct dpe_preds *preds)
{
	const struct dpe_move *move = way->move;

	if (dpe_way_npreds(way) != preds->count)
		return false;
	for (unsigned i = 0; i < preds->count; i++) {
		if (!dpe_preds_have(preds,
			    move->npreds ? way->stand->slots[move->preds[i]].occurrence
					 : way->bound->events[i].occurrence))
			return false;
	}
	return true;
}

/* ---- taking them ------------------------------------------------------------------------- */

/* One that nobody else refers to; takes over the reference. */
static struct dpe_stand *own(
	struct dpe_stands *stands, const struct dpe_part *part, struct dpe_stand *stand)
{
	struct dpe_stand *copy;
	unsigned used;

	if (stand->refs == 1)
		return stand;
	used = used_slots(part, stand);
	copy = new_stand(stands, used);
	copy->at = stand->at;
	memcpy(copy->counts, stand->counts, sizeof(copy->counts));
	copy->bound = ref_bound(stand->bound);
	for (unsigned i = 0; i < used; i++)
		copy->slots[i].kid = dpe_stand_ref(stand->slots[i].kid);
	stand->refs--;
	return copy;
}

/* Takes over the reference of the stand; the registers are taken before those that were go. */
static struct dpe_stand *make_move(struct dpe_stands *stands, const struct dpe_part *part,
	struct dpe_stand *stand, const struct dpe_move *move, struct dpe_occurrence *occurrence)
{
	unsigned count = move->nregisters, old = stand ? used_slots(part, stand) : 0;
	struct dpe_occurrence *next[count + 1];
	bool fits = stand && stand->refs == 1 && count <= stand->size;

	for (unsigned i = 0; i < count; i++)
		next[i] = dpe_occurrence_ref(
			move->carry[i] == DPE_NEW_EVENT ? occurrence
							: stand->slots[move->carry[i]].occurrence);
	for (unsigned i = 0; fits && i < old; i++)
		dpe_occurrence_unref(stand->slots[i].occurrence);
	if (!fits) {
		unref_stand(stands, part, stand);
		stand = new_stand(stands, count < FEWEST_REGISTERS ? FEWEST_REGISTERS : count);
	}
	stand->at = move->to;
	for (unsigned i = 0; i < count; i++)
		stand->slots[i].occurrence = next[i];
	return stand;
}

static struct dpe_stand *begin_par(struct dpe_stands *stands, const struct dpe_part *part)
{
	struct dpe_stand *stand = new_stand(stands, part->nkids);

	for (unsigned i = 0; i < part->nkids; i++) {
		unsigned bits = bits_of(part->kids[i], NULL);

		for (unsigned what = 0; what < NASKED; what++)
			stand->counts[what] += bits >> what & 1;
	}
	return stand;
}

static struct dpe_stand *advance(const struct dpe_way *way, const struct dpe_part *part,
	struct dpe_stand *stand, struct dpe_occurrence *occurrence, unsigned level);

static struct dpe_stand *advance_par(const struct dpe_way *way, const struct dpe_part *part,
	struct dpe_stand *stand, struct dpe_occurrence *occurrence, unsigned level)
{
	uint32_t kid = way->of->choices[way->choices + level];
	unsigned before, after;

	stand = stand ? own(way->of, part, stand) : begin_par(way->of, part);
	before = bits_of(part->kids[kid], stand->slots[kid].kid);
	stand->slots[kid].kid = advance(
		way, part->kids[kid], stand->slots[kid].kid, occurrence, level + 1);
	after = bits_of(part->kids[kid], stand->slots[kid].kid);
	for (unsigned what = 0; what < NASKED; what++)
		stand->counts[what] += (after >> what & 1) - (before >> what & 1);
	return stand;
}

/* The stand of a ; or + at this kid, or of a * in this round, from where it is on. */
static struct dpe_stand *enter(const struct dpe_way *way, const struct dpe_part *part,
	struct dpe_stand *stand, uint32_t choice)
{
	bool round = part->kind == DPE_PART_STAR;
	struct dpe_stand *entered;

	if (stand && (round ? !choice : stand->at == choice))
		return own(way->of, part, stand);
	unref_stand(way->of, part, stand);
	entered = new_stand(way->of, 1);
	entered->at = round ? 0 : choice;
	if (part->kind != DPE_PART_ALT)
		entered->bound = ref_bound(way->bound);
	return entered;
}

/* Takes over the reference of the stand. */
static struct dpe_stand *advance(const struct dpe_way *way, const struct dpe_part *part,
	struct dpe_stand *stand, struct dpe_occurrence *occurrence, unsigned level)
{
	const struct dpe_part *kid;

	if (part->kind == DPE_PART_AUTOMATON)
		return make_move(way->of, part, stand, way->move, occurrence);
	if (part->kind == DPE_PART_PAR)
		return advance_par(way, part, stand, occurrence, level);
	stand = enter(way, part, stand, way->of->choices[way->choices + level]);
	kid = kid_at(part, stand);
	stand->slots[0].kid = advance(way, kid, stand->slots[0].kid, occurrence, level + 1);
	if (stand->bound && !(bits_of(kid, stand->slots[0].kid) & IS(NEEDING))) {
		unref_bound(way->of, stand->bound);
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

	clear_search(stands);
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

/* ---- the beginning and the end ----------------------------------------------------------- */

struct dpe_stands *dpe_stands_new(struct dpe_parts *parts, struct dpe_pool *pool)
{
	struct dpe_stands *stands = dpe_xcalloc(1, sizeof(*stands));

	stands->parts = parts;
	stands->pool = pool;
	stands->path = dpe_xcalloc(parts->height + 1, sizeof(*stands->path));
	return stands;
}

uint64_t dpe_stands_built(const struct dpe_stands *stands)
{
	return dpe_parts_built(stands->parts);
}

void dpe_stands_free(struct dpe_stands *stands)
{
	if (!stands)
		return;
	clear_search(stands);
	dpe_parts_free(stands->parts);
	free(stands->ways);
	free(stands->choices);
	free(stands->path);
	free(stands->bounds);
	free(stands);
}
