/* compose(AUTO, AUTO): concurrent composition, with and without synchronisation (paper 4.4).
 * A state is a pair of the operands' states; an event of one operand moves that one, an event of both
 * moves both. Proof and differences to the paper: docs/internals/automata.md. */
#include "dpe-lang/automata/attributes.h"

#include <stdlib.h>
#include <string.h>

static const uint16_t *places(const struct dpe_key *key)
{
	return key->data + key->nregs;
}

/* Keeps the maximal ones of a set of registers. */
static unsigned keep_maximal(
	const struct dpe_auto *a, const struct dpe_key *key, uint16_t *set, unsigned count)
{
	unsigned kept = 0;

	if (!a->synchronises)
		return count;
	for (unsigned i = 0; i < count; i++) {
		bool below = false;

		for (unsigned j = 0; j < count && !below; j++)
			below = dpe_key_precedes(key, set[i], set[j]);
		/* Writing over set[kept], kept ≤ i, must not hide it from later comparisons: what a
		 * dropped register precedes is preceded by no less than what dropped it. */
		if (!below)
			set[kept++] = set[i];
	}
	return kept;
}

static unsigned add_to_set(uint16_t *set, unsigned count, uint16_t reg)
{
	for (unsigned i = 0; i < count; i++) {
		if (set[i] == reg)
			return count;
	}
	set[count] = reg;
	return count + 1;
}

void dpe_compose_derive(struct dpe_auto *a, struct dpe_node_state *s)
{
	const struct dpe_key *key = s->key;
	const struct dpe_node_state *left = a->left->states[key->left];
	const struct dpe_node_state *right = a->right->states[key->right];
	bool initial = !key->left && !key->right;
	uint16_t *last;

	s->needs_pred = left->needs_pred || right->needs_pred;
	s->final = left->final && right->final && !(initial && a->node->nonempty);
	if (!s->final || !a->last_wanted)
		return;
	last = dpe_arena_alloc(a->arena, (left->nlast + right->nlast + 1) * sizeof(*last));
	for (unsigned i = 0; i < left->nlast; i++)
		s->nlast = add_to_set(last, s->nlast, left->last[i]);
	for (unsigned i = 0; i < right->nlast; i++)
		s->nlast = add_to_set(last, s->nlast, places(key)[right->last[i]]);
	s->nlast = keep_maximal(a, key, last, s->nlast);
	s->last = last;
}

/* One step of the composition: `left` or `right` is NULL if that operand does not move. Registers of the new state are named by their source in the old one. */
struct step {
	struct dpe_auto *a;
	const struct dpe_key *from;
	const struct dpe_move *left, *right;
	const struct dpe_node_state *to_left, *to_right;
	uint16_t *preds, *source;
	unsigned npreds;
};

static uint16_t left_source(const struct step *step, unsigned reg)
{
	return step->left ? step->left->carry[reg] : reg;
}

static uint16_t right_source(const struct step *step, unsigned reg)
{
	uint16_t source = step->right ? step->right->carry[reg] : reg;

	return source == DPE_NEW_EVENT ? source : places(step->from)[source];
}

static void collect_preds(struct step *step)
{
	for (unsigned i = 0; step->left && i < step->left->npreds; i++)
		step->npreds = add_to_set(step->preds, step->npreds, step->left->preds[i]);
	for (unsigned i = 0; step->right && i < step->right->npreds; i++)
		step->npreds = add_to_set(
			step->preds, step->npreds, places(step->from)[step->right->preds[i]]);
	step->npreds = keep_maximal(step->a, step->from, step->preds, step->npreds);
}

/* The new event is in the future of a register's event. */
static bool precedes_new(const struct step *step, uint16_t source)
{
	for (unsigned i = 0; i < step->npreds; i++) {
		if (step->preds[i] == source || dpe_key_precedes(step->from, source, step->preds[i]))
			return true;
	}
	return false;
}

static void order_registers(const struct step *step, struct dpe_key *key)
{
	for (unsigned i = 0; i < key->nregs; i++) {
		for (unsigned j = 0; j < key->nregs; j++) {
			uint16_t before = step->source[i], after = step->source[j];

			if (before == DPE_NEW_EVENT)
				continue;
			if (after == DPE_NEW_EVENT ? precedes_new(step, before)
						   : dpe_key_precedes(step->from, before, after))
				dpe_key_set_precedes(key, i, j);
		}
	}
}

static struct dpe_key *pair_key(struct step *step, unsigned *ndata)
{
	unsigned nleft = step->to_left->key->nregs, nright = step->to_right->key->nregs;
	uint16_t left[nleft + 1], right[nright + 1];
	struct dpe_key *key;

	for (unsigned i = 0; i < nleft; i++)
		left[i] = left_source(step, i);
	for (unsigned i = 0; i < nright; i++)
		right[i] = right_source(step, i);
	key = dpe_key_pair(&(struct dpe_key_operand){step->to_left->number, nleft, left},
		&(struct dpe_key_operand){step->to_right->number, nright, right}, step->a->synchronises, step->source, ndata);
	for (unsigned i = 0; i < nleft; i++)
		key->data[i] = step->to_left->key->data[i];
	for (unsigned i = 0; i < nright; i++)
		key->data[places(key)[i]] = step->to_right->key->data[i];
	if (step->a->synchronises)
		order_registers(step, key);
	return key;
}

/* Both operands have ended: only LAST remains. */
static struct dpe_key *done_key(struct step *step, struct dpe_key *pair, unsigned *ndata)
{
	unsigned count = pair->nregs;
	uint16_t last[count + 1], source[count + 1];
	struct dpe_key *key;

	for (unsigned i = 0; i < count; i++)
		last[i] = i;
	count = keep_maximal(step->a, pair, last, count);
	key = dpe_key_new(count);
	key->form = DPE_FORM_DONE;
	key->nregs = count;
	for (unsigned i = 0; i < count; i++) {
		key->data[i] = pair->data[last[i]];
		source[i] = step->source[last[i]];
	}
	memcpy(step->source, source, count * sizeof(*source));
	*ndata = count;
	free(pair);
	return key;
}

static void add_step(struct dpe_auto *a, struct dpe_node_state *s, const struct dpe_move *left,
	const struct dpe_move *right)
{
	const struct dpe_move *one = left ? left : right;
	const struct dpe_node_state *to_left = a->left->states[left ? left->to : s->key->left];
	const struct dpe_node_state *to_right = a->right->states[right ? right->to : s->key->right];
	unsigned nleft = left ? left->npositions : 0, nright = right ? right->npositions : 0;
	uint16_t positions[nleft + nright], preds[s->key->nregs + 1];
	uint16_t source[to_left->key->nregs + to_right->key->nregs + 1];
	struct step step = {
		.a = a,
		.from = s->key,
		.left = left,
		.right = right,
		.to_left = to_left,
		.to_right = to_right,
		.preds = preds,
		.source = source,
	};
	struct dpe_move move = {.literal = one->literal, .positions = positions};
	struct dpe_key *key;
	unsigned ndata;

	collect_preds(&step);
	key = pair_key(&step, &ndata);
	if (to_left->complete && to_right->complete)
		key = done_key(&step, key, &ndata);
	else if (a->prunes)
		key = dpe_prune_registers(a, key, &ndata, source);
	for (unsigned i = 0; i < nleft; i++)
		positions[move.npositions++] = left->positions[i];
	for (unsigned i = 0; i < nright; i++)
		positions[move.npositions++] = right->positions[i];
	move.to = dpe_auto_intern(a, key, ndata);
	move.preds = preds;
	move.npreds = step.npreds;
	move.carry = source;
	move.nregisters = key->nregs;
	dpe_auto_add_move(a, s, &move);
	free(key);
}

static bool shared(const struct dpe_auto *a, unsigned literal)
{
	return a->left->literals[literal] && a->right->literals[literal];
}

void dpe_expand_compose(struct dpe_auto *a, struct dpe_node_state *s)
{
	const struct dpe_node_state *left, *right;

	if (s->key->form == DPE_FORM_DONE)
		return;
	left = dpe_auto_expand(a->left, s->key->left);
	right = dpe_auto_expand(a->right, s->key->right);
	for (unsigned i = 0; i < left->nmoves; i++) {
		if (!shared(a, left->moves[i].literal))
			add_step(a, s, &left->moves[i], NULL);
		for (unsigned j = 0; j < right->nmoves; j++) {
			if (left->moves[i].literal == right->moves[j].literal)
				add_step(a, s, &left->moves[i], &right->moves[j]);
		}
	}
	for (unsigned j = 0; j < right->nmoves; j++) {
		if (!shared(a, right->moves[j].literal))
			add_step(a, s, NULL, &right->moves[j]);
	}
}
