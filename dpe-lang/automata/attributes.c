/* States of a node's automaton: found by their key, described once, their moves composed on demand. */
#include "dpe-lang/automata/attributes.h"

#include <stdlib.h>
#include <string.h>

static size_t key_size(unsigned ndata)
{
	return sizeof(struct dpe_key) + ndata * sizeof(uint16_t);
}

static const uint16_t *copy16(struct dpe_arena *arena, const uint16_t *from, unsigned count)
{
	uint16_t *to;

	if (!count)
		return NULL;
	to = dpe_arena_alloc(arena, count * sizeof(*to));
	memcpy(to, from, count * sizeof(*to));
	return to;
}

static const uint16_t *count_up(struct dpe_arena *arena, unsigned from, unsigned count)
{
	uint16_t *list;

	if (!count)
		return NULL;
	list = dpe_arena_alloc(arena, count * sizeof(*list));
	for (unsigned i = 0; i < count; i++)
		list[i] = from + i;
	return list;
}

/* A frame around a state of one operand: LAST is the operand's, or what its PRED is bound to. */
static void derive_frame(struct dpe_auto *a, struct dpe_node_state *s)
{
	const struct dpe_key *key = s->key;
	bool left = key->form == DPE_FORM_LEFT;
	const struct dpe_node_state *inner =
		left ? a->left->states[key->left] : a->right->states[key->right];

	s->final = inner->final;
	s->needs_pred = inner->needs_pred && !key->nbound;
	if (a->node->kind == DPE_NODE_SEQ && left)
		s->final = inner->final && a->right->states[0]->final;
	if (inner->nlast) {
		s->last = inner->last;
		s->nlast = inner->nlast;
	} else {
		s->nlast = key->nbound;
		s->last = count_up(a->arena, key->nregs - key->nbound, key->nbound);
	}
}

static unsigned count_distance(const struct dpe_auto *a, const struct dpe_key *key)
{
	switch ((enum dpe_form)key->form) {
	case DPE_FORM_START:
		return a->shortest;
	case DPE_FORM_DONE:
		return 0;
	case DPE_FORM_LEFT:
		return a->left->states[key->left]->distance +
		       (a->node->kind == DPE_NODE_SEQ ? a->right->shortest : 0);
	case DPE_FORM_RIGHT:
		return a->right->states[key->right]->distance;
	case DPE_FORM_BOTH:
		break;
	}
	return a->left->states[key->left]->distance + a->right->states[key->right]->distance;
}

/* All attributes of a state follow from its key. */
static void derive(struct dpe_auto *a, struct dpe_node_state *s)
{
	s->distance = count_distance(a, s->key);
	switch ((enum dpe_form)s->key->form) {
	case DPE_FORM_START:
		s->needs_pred = true;
		s->final = dpe_nullable(a->node);
		return;
	case DPE_FORM_DONE:
		s->final = true;
		s->complete = a->node->kind != DPE_NODE_STAR;
		s->nlast = s->key->nregs;
		s->last = count_up(a->arena, 0, s->nlast);
		return;
	case DPE_FORM_BOTH:
		dpe_compose_derive(a, s);
		return;
	case DPE_FORM_LEFT:
	case DPE_FORM_RIGHT:
		derive_frame(a, s);
		return;
	}
}

dpe_state dpe_auto_intern(struct dpe_auto *a, const struct dpe_key *key, unsigned ndata)
{
	struct dpe_node_state *s;
	struct dpe_key *copy;
	size_t size = key_size(ndata);

	HASH_FIND(hh, a->by_key, key, size, s);
	if (s)
		return s->number;
	s = dpe_arena_alloc(a->arena, sizeof(*s));
	copy = dpe_arena_alloc(a->arena, size);
	memcpy(copy, key, size);
	s->key = copy;
	s->ndata = ndata;
	dpe_budget_take(a->budget, sizeof(*s) + sizeof(UT_hash_handle) + size);
	s->number = a->nstates;
	*DPE_GROW(a->states, a->nstates, a->capstates) = s;
	HASH_ADD_KEYPTR(hh, a->by_key, s->key, size, s);
	derive(a, s);
	return s->number;
}

dpe_state dpe_auto_adopt(struct dpe_auto *a, const struct dpe_auto *from, dpe_state state)
{
	const struct dpe_node_state *old = from->states[state];
	struct dpe_key *key;
	dpe_state new;

	if (!state)
		return 0;
	key = dpe_key_new(old->ndata);
	memcpy(key, old->key, key_size(old->ndata));
	if (a->left)
		key->left = dpe_auto_adopt(a->left, from->left, key->left);
	if (a->right)
		key->right = dpe_auto_adopt(a->right, from->right, key->right);
	new = dpe_auto_intern(a, key, old->ndata);
	free(key);
	return new;
}

dpe_state dpe_auto_skeleton_state(
	struct dpe_auto *skeleton, const struct dpe_auto *from, dpe_state state, uint32_t generation)
{
	struct dpe_node_state *s = from->states[state];
	struct dpe_key key = {.form = s->key->form};

	if (!state || s->skeleton_generation == generation)
		return state ? s->skeleton : 0;
	if (skeleton->left)
		key.left = dpe_auto_skeleton_state(skeleton->left, from->left, s->key->left, generation);
	if (skeleton->right)
		key.right = dpe_auto_skeleton_state(skeleton->right, from->right, s->key->right, generation);
	s->skeleton = dpe_auto_intern(skeleton, &key, 0);
	s->skeleton_generation = generation;
	return s->skeleton;
}

static bool same16(const uint16_t *a, const uint16_t *b, unsigned count)
{
	return !count || !memcmp(a, b, count * sizeof(*a));
}

/* Most moves of a state lead to different states, and need not be compared with each other. */
static bool has_move_to(struct dpe_auto *a, const struct dpe_node_state *s, dpe_state to)
{
	struct dpe_node_state *there = a->states[to];
	bool does = there->has_from && there->from == s->number;

	there->from = s->number;
	there->has_from = true;
	return does;
}

static bool same_move(const struct dpe_move *a, const struct dpe_move *b)
{
	return a->literal == b->literal && a->to == b->to && a->npreds == b->npreds &&
	       same16(a->preds, b->preds, a->npreds) && same16(a->carry, b->carry, a->nregisters);
}

static bool has_move(const struct dpe_node_state *s, const struct dpe_move *move)
{
	for (unsigned i = 0; i < s->nmoves; i++) {
		if (same_move(&s->moves[i], move))
			return true;
	}
	return false;
}

void dpe_auto_add_move(struct dpe_auto *a, struct dpe_node_state *s, const struct dpe_move *move)
{
	struct dpe_move *new;

	if (has_move_to(a, s, move->to) && has_move(s, move))
		return;
	new = DPE_GROW(s->moves, s->nmoves, s->capmoves);
	*new = *move;
	new->preds = copy16(a->arena, move->preds, move->npreds);
	new->carry = copy16(a->arena, move->carry, move->nregisters);
	new->positions = copy16(a->arena, move->positions, move->npositions);
	dpe_budget_take(a->budget,
		2 * sizeof(*new) + (move->npreds + move->nregisters + move->npositions + 6) *
					   sizeof(uint16_t));
}

const struct dpe_node_state *dpe_auto_expand(struct dpe_auto *a, dpe_state state)
{
	struct dpe_node_state *s = a->states[state];

	if (s->expanded)
		return s;
	s->expanded = true;
	switch (a->node->kind) {
	case DPE_NODE_EVENT:
		dpe_expand_leaf(a, s);
		break;
	case DPE_NODE_SEQ:
		dpe_expand_concat(a, s);
		break;
	case DPE_NODE_ALT:
		dpe_expand_union(a, s);
		break;
	case DPE_NODE_STAR:
		dpe_expand_repeat(a, s);
		break;
	case DPE_NODE_PAR:
		dpe_expand_compose(a, s);
		break;
	case DPE_NODE_CLOSURE:
	case DPE_NODE_ACTION:
	case DPE_NODE_GROUP:
		break; /* refused before an automaton is made */
	}
	return s;
}

/* ---- the tree ------------------------------------------------------------------------- */

static void add_initial_state(struct dpe_auto *a)
{
	struct dpe_key *key = dpe_key_new(0);

	key->form = DPE_FORM_START;
	if (a->node->kind == DPE_NODE_SEQ)
		key->form = DPE_FORM_LEFT;
	else if (a->node->kind == DPE_NODE_PAR)
		key->form = DPE_FORM_BOTH;
	dpe_auto_intern(a, key, 0);
	free(key);
}

static void merge_literals(struct dpe_auto *a)
{
	for (unsigned i = 0; i < a->nliterals; i++) {
		bool left = a->left && a->left->literals[i];
		bool right = a->right && a->right->literals[i];

		a->literals[i] |= left || right;
		a->synchronises |= left && right && a->node->kind == DPE_NODE_PAR;
	}
}

static unsigned count_shortest(const struct dpe_auto *a)
{
	unsigned left = a->left ? a->left->shortest : 0, right = a->right ? a->right->shortest : 0;

	switch (a->node->kind) {
	case DPE_NODE_EVENT:
		return 1;
	case DPE_NODE_ALT:
		return left < right ? left : right;
	case DPE_NODE_SEQ:
	case DPE_NODE_PAR:
		return left + right;
	case DPE_NODE_STAR:
	case DPE_NODE_CLOSURE:
	case DPE_NODE_ACTION:
	case DPE_NODE_GROUP:
		break;
	}
	return 0;
}

static struct dpe_auto *new_node(
	struct dpe_arena *arena, const struct dpe_rule *rule, const struct dpe_node *node)
{
	struct dpe_auto *a = dpe_arena_alloc(arena, sizeof(*a));

	a->arena = arena;
	a->node = node;
	a->positions = rule->positions;
	a->nliterals = rule->nliterals;
	a->literals = dpe_arena_alloc(arena, rule->nliterals * sizeof(*a->literals));
	return a;
}

static void finish_node(struct dpe_auto *a)
{
	if (a->node->kind == DPE_NODE_EVENT)
		a->literals[a->positions[a->node->position - 1].literal] = true;
	a->sequential = a->node->kind != DPE_NODE_PAR && (!a->left || a->left->sequential) &&
			(!a->right || a->right->sequential);
	a->shortest = count_shortest(a);
	merge_literals(a);
	add_initial_state(a);
}

struct dpe_auto *dpe_auto_new(struct dpe_arena *arena, const struct dpe_rule *rule,
	const struct dpe_node *node, bool last_wanted, struct dpe_budget *budget)
{
	struct dpe_auto *a = new_node(arena, rule, node);
	bool bound = node->kind == DPE_NODE_SEQ || node->kind == DPE_NODE_STAR;

	a->last_wanted = last_wanted;
	a->budget = budget;
	if (node->left)
		a->left = dpe_auto_new(arena, rule, node->left, last_wanted || bound, budget);
	if (node->right)
		a->right = dpe_auto_new(arena, rule, node->right, last_wanted, budget);
	finish_node(a);
	return a;
}

/* Nothing is bound to LAST, so no registers are made. */
struct dpe_auto *dpe_auto_new_skeleton(struct dpe_arena *arena, const struct dpe_rule *rule,
	const struct dpe_node *node, struct dpe_budget *budget)
{
	struct dpe_auto *a = new_node(arena, rule, node);

	a->budget = budget;
	if (node->left)
		a->left = dpe_auto_new_skeleton(arena, rule, node->left, budget);
	if (node->right)
		a->right = dpe_auto_new_skeleton(arena, rule, node->right, budget);
	finish_node(a);
	return a;
}

void dpe_auto_free(struct dpe_auto *a)
{
	if (!a)
		return;
	dpe_auto_free(a->left);
	dpe_auto_free(a->right);
	HASH_CLEAR(hh, a->by_key);
	for (unsigned i = 0; i < a->nstates; i++)
		free(a->states[i]->moves);
	free(a->states);
}
