/* new_automaton, concat, union and repeat (paper, figures 4-8 and 4-9). */
#include "dpe-lang/automata/attributes.h"

#include <stdlib.h>
#include <string.h>

/* An operand in a state of the frame around it. */
struct framed {
	struct dpe_auto *operand;
	enum dpe_form form;
	const uint16_t *bound; /* the registers that its PRED is bound to; none if it is the frame's own */
	unsigned nbound;
};

/* Adds the move of an operand to the frame around it. The operand's registers are the frame's first ones. */
static void add_framed_move(struct dpe_auto *a, struct dpe_node_state *s, const struct framed *inside, const struct dpe_move *move)
{
	const struct dpe_node_state *to = inside->operand->states[move->to];
	const enum dpe_form form = inside->form;
	bool leads_on = a->node->kind == DPE_NODE_SEQ && form == DPE_FORM_LEFT;
	bool done = to->complete && !leads_on;
	unsigned nkept = to->needs_pred ? inside->nbound : 0;
	unsigned nregs = to->key->nregs + nkept;
	struct dpe_key *key = dpe_key_new(nregs);
	uint16_t carry[nregs + 1]; /* never empty */
	struct dpe_move framed = *move;

	key->form = done ? DPE_FORM_DONE : form;
	key->nregs = nregs;
	key->nbound = nkept;
	if (!done && form == DPE_FORM_LEFT)
		key->left = move->to;
	if (!done && form == DPE_FORM_RIGHT)
		key->right = move->to;
	for (unsigned i = 0; i < to->key->nregs; i++) {
		key->data[i] = to->key->data[i];
		carry[i] = move->carry[i];
	}
	for (unsigned i = 0; i < nkept; i++) {
		key->data[to->key->nregs + i] = s->key->data[inside->bound[i]];
		carry[to->key->nregs + i] = inside->bound[i];
	}
	if (!move->npreds) {
		framed.preds = inside->bound;
		framed.npreds = inside->nbound;
	}
	framed.to = dpe_auto_intern(a, key, nregs);
	framed.carry = carry;
	framed.nregisters = nregs;
	dpe_auto_add_move(a, s, &framed);
	free(key);
}

static void add_framed_moves(struct dpe_auto *a, struct dpe_node_state *s, const struct framed *inside, dpe_state from)
{
	const struct dpe_node_state *inner = dpe_auto_expand(inside->operand, from);

	for (unsigned i = 0; i < inner->nmoves; i++)
		add_framed_move(a, s, inside, &inner->moves[i]);
}

/* The operand's PRED stays bound to the last registers of the frame. */
static void continue_operand(
	struct dpe_auto *a, struct dpe_node_state *s, struct dpe_auto *operand, dpe_state from)
{
	unsigned nbound = s->key->nbound;
	uint16_t bound[nbound + 1];

	for (unsigned i = 0; i < nbound; i++)
		bound[i] = s->key->nregs - nbound + i;
	add_framed_moves(a, s, &(struct framed){operand, s->key->form, bound, nbound}, from);
}

void dpe_expand_leaf(struct dpe_auto *a, struct dpe_node_state *s)
{
	uint16_t position = a->node->position, carry = DPE_NEW_EVENT;
	struct dpe_move move = {
		.literal = a->positions[position - 1].literal,
		.positions = &position,
		.npositions = 1,
		.carry = &carry,
		.nregisters = a->last_wanted,
	};
	struct dpe_key *key;

	if (s->key->form == DPE_FORM_DONE)
		return;
	key = dpe_key_new(move.nregisters);
	key->form = DPE_FORM_DONE;
	key->nregs = move.nregisters;
	if (move.nregisters)
		key->data[0] = move.literal;
	move.to = dpe_auto_intern(a, key, move.nregisters);
	dpe_auto_add_move(a, s, &move);
	free(key);
}

void dpe_expand_concat(struct dpe_auto *a, struct dpe_node_state *s)
{
	const struct dpe_node_state *inner;

	if (s->key->form == DPE_FORM_DONE)
		return;
	if (s->key->form == DPE_FORM_RIGHT) {
		continue_operand(a, s, a->right, s->key->right);
		return;
	}
	continue_operand(a, s, a->left, s->key->left);
	inner = a->left->states[s->key->left];
	if (inner->final)
		add_framed_moves(a, s, &(struct framed){a->right, DPE_FORM_RIGHT, inner->last, inner->nlast}, 0);
}

void dpe_expand_union(struct dpe_auto *a, struct dpe_node_state *s)
{
	switch (s->key->form) {
	case DPE_FORM_START:
		add_framed_moves(a, s, &(struct framed){a->left, DPE_FORM_LEFT, NULL, 0}, 0);
		add_framed_moves(a, s, &(struct framed){a->right, DPE_FORM_RIGHT, NULL, 0}, 0);
		break;
	case DPE_FORM_LEFT:
		continue_operand(a, s, a->left, s->key->left);
		break;
	case DPE_FORM_RIGHT:
		continue_operand(a, s, a->right, s->key->right);
		break;
	}
}

/* A round begins where nothing happened yet (bound to the inherited PRED), or where the round
 * before may end (bound to its LAST). */
void dpe_expand_repeat(struct dpe_auto *a, struct dpe_node_state *s)
{
	bool inside = s->key->form == DPE_FORM_LEFT;

	if (inside)
		continue_operand(a, s, a->left, s->key->left);
	if (s->final)
		add_framed_moves(a, s, &(struct framed){a->left, DPE_FORM_LEFT, s->last, s->nlast}, 0);
}
