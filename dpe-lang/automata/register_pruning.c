/* Drops registers of synchronised operands that no later event can follow immediately, although the
 * operand that has them still waits for one. Proof: docs/internals/register-pruning.md. */
#include "dpe-lang/automata/attributes.h"

#include <stdlib.h>
#include <string.h>

/* An operand of &; `regs` maps its registers to those of the whole. */
struct member {
	struct dpe_auto *automaton;
	dpe_state state;
	unsigned nregs;
	uint16_t *regs;
	bool covered; /* its register is covered … */
	bool single;  /* … by one other operand, with register `by` */
	uint16_t by;
};

struct chain {
	const struct dpe_key *key; /* of the whole, for the order among registers and their literals */
	struct member *at;
	unsigned count, cap, next;
};

static bool is_chain(const struct dpe_auto *a)
{
	return a->node->kind == DPE_NODE_PAR && !a->node->nonempty;
}

/* Only the outermost & of a chain prunes: it sees all operands. */
static void drop_below(struct dpe_auto *a, bool within)
{
	if (!a)
		return;
	within &= is_chain(a);
	a->prunes = a->synchronises && !within;
	drop_below(a->left, within || a->prunes);
	drop_below(a->right, within || a->prunes);
}

void dpe_enable_register_pruning(struct dpe_auto *a)
{
	drop_below(a, false);
}

static uint16_t *copy_regs(const uint16_t *from, unsigned count)
{
	uint16_t *to = dpe_xcalloc(count + 1, sizeof(*to));

	memcpy(to, from, count * sizeof(*to));
	return to;
}

/* Takes over `regs`. */
static void collect(struct chain *chain, struct dpe_auto *a, const struct dpe_key *key,
	dpe_state state, uint16_t *regs, bool top)
{
	const uint16_t *places = key->data + key->nregs;
	const struct dpe_key *left, *right;
	uint16_t *child;

	if (!top && (!is_chain(a) || key->form != DPE_FORM_BOTH)) {
		*DPE_GROW(chain->at, chain->count, chain->cap) = (struct member){
			.automaton = a, .state = state, .nregs = key->nregs, .regs = regs};
		return;
	}
	left = a->left->states[key->left]->key;
	right = a->right->states[key->right]->key;
	child = dpe_xcalloc(key->nplaces + 1, sizeof(*child));
	for (unsigned i = 0; i < key->nplaces; i++)
		child[i] = regs[places[i]];
	collect(chain, a->left, left, key->left, copy_regs(regs, left->nregs), false);
	collect(chain, a->right, right, key->right, child, false);
	free(regs);
}

/* ---- covered registers ------------------------------------------------------------------- */

static bool has_one_register(const struct member *member)
{
	return member->nregs == 1 && member->automaton->sequential;
}

/* An operand whose register an event of both operands must follow, and that the member's register
 * precedes; or NULL. */
static const struct member *find_cover(
	const struct chain *chain, const struct member *member, unsigned literal)
{
	for (unsigned i = 0; i < chain->count; i++) {
		const struct member *other = &chain->at[i];

		if (other != member && other->automaton->literals[literal] && has_one_register(other) &&
			dpe_key_precedes(chain->key, member->regs[0], other->regs[0]))
			return other;
	}
	return NULL;
}

static void find_covers(const struct chain *chain, struct member *member)
{
	const struct dpe_node_state *s;

	if (!has_one_register(member))
		return;
	s = dpe_auto_expand(member->automaton, member->state);
	member->covered = member->single = s->nmoves;
	for (unsigned i = 0; i < s->nmoves && member->covered; i++) {
		const struct member *other = find_cover(chain, member, s->moves[i].literal);

		member->covered = other != NULL;
		if (!other)
			return;
		member->single &= !i || member->by == other->regs[0];
		member->by = other->regs[0];
	}
}

/* ---- states of operands without their covered registers --------------------------------- */

/* A state of a sequential operand whose register has an event of this literal. */
static dpe_state relabel(struct dpe_auto *a, dpe_state state, uint16_t literal)
{
	const struct dpe_node_state *old = a->states[state];
	struct dpe_key *key;
	dpe_state new;

	if (!old->key->nregs)
		return state;
	key = dpe_key_new(old->ndata);
	memcpy(key, old->key, sizeof(*key) + old->ndata * sizeof(*key->data));
	key->data[0] = literal;
	if (key->form == DPE_FORM_LEFT)
		key->left = relabel(a->left, key->left, literal);
	if (key->form == DPE_FORM_RIGHT)
		key->right = relabel(a->right, key->right, literal);
	new = dpe_auto_intern(a, key, old->ndata);
	free(key);
	return new;
}

static void replace(const struct chain *chain, struct member *member)
{
	const struct dpe_key *key = member->automaton->states[member->state]->key;

	if (member->automaton->node->kind == DPE_NODE_STAR && key->form == DPE_FORM_DONE) {
		member->state = 0;
		member->nregs = 0;
	} else if (member->single) {
		member->state = relabel(
			member->automaton, member->state, chain->key->data[member->by]);
		member->regs[0] = member->by;
	}
}

/* A & recomposed: its key, and which of the old registers its registers are. */
struct whole {
	dpe_state state;
	struct dpe_key *key;
	unsigned ndata, nregs;
	uint16_t *regs;
};

static struct whole recompose(
	struct chain *chain, struct dpe_auto *a, const struct dpe_key *key);

static void order_registers(const struct chain *chain, const struct whole *whole)
{
	for (unsigned i = 0; i < whole->nregs; i++) {
		for (unsigned j = 0; j < whole->nregs; j++) {
			if (dpe_key_precedes(chain->key, whole->regs[i], whole->regs[j]))
				dpe_key_set_precedes(whole->key, i, j);
		}
	}
}

static void fill_key(const struct chain *chain, const struct dpe_auto *a, struct whole *whole,
	const struct whole *left, const struct whole *right)
{
	whole->regs = dpe_xcalloc(left->nregs + right->nregs + 1, sizeof(*whole->regs));
	whole->key = dpe_key_pair(&(struct dpe_key_operand){left->state, left->nregs, left->regs},
		&(struct dpe_key_operand){right->state, right->nregs, right->regs}, a->synchronises, whole->regs, &whole->ndata);
	whole->nregs = whole->key->nregs;
	for (unsigned i = 0; i < whole->nregs; i++)
		whole->key->data[i] = chain->key->data[whole->regs[i]];
	if (a->synchronises)
		order_registers(chain, whole);
}

static struct whole recompose_child(struct chain *chain, struct dpe_auto *a, dpe_state state)
{
	const struct dpe_key *key = a->states[state]->key;
	const struct member *member;
	struct whole whole;

	if (is_chain(a) && key->form == DPE_FORM_BOTH) {
		whole = recompose(chain, a, key);
		whole.state = dpe_auto_intern(a, whole.key, whole.ndata);
		return whole;
	}
	member = &chain->at[chain->next++];
	return (struct whole){.state = member->state,
		.nregs = member->nregs,
		.regs = copy_regs(member->regs, member->nregs)};
}

static struct whole recompose(
	struct chain *chain, struct dpe_auto *a, const struct dpe_key *key)
{
	struct whole left = recompose_child(chain, a->left, key->left);
	struct whole right = recompose_child(chain, a->right, key->right), whole = {0};

	fill_key(chain, a, &whole, &left, &right);
	free(left.key);
	free(left.regs);
	free(right.key);
	free(right.regs);
	return whole;
}

struct dpe_key *dpe_prune_registers(
	struct dpe_auto *a, struct dpe_key *key, unsigned *ndata, uint16_t *source)
{
	uint16_t *regs = dpe_xcalloc(key->nregs + 1, sizeof(*regs)), old[key->nregs + 1];
	struct chain chain = {.key = key};
	struct whole whole;

	for (unsigned i = 0; i < key->nregs; i++) {
		regs[i] = i;
		old[i] = source[i];
	}
	collect(&chain, a, key, 0, regs, true);
	for (unsigned i = 0; i < chain.count; i++)
		find_covers(&chain, &chain.at[i]);
	for (unsigned i = 0; i < chain.count; i++) {
		if (chain.at[i].covered)
			replace(&chain, &chain.at[i]);
	}
	whole = recompose(&chain, a, key);
	for (unsigned i = 0; i < whole.nregs; i++)
		source[i] = old[whole.regs[i]];
	for (unsigned i = 0; i < chain.count; i++)
		free(chain.at[i].regs);
	free(chain.at);
	free(whole.regs);
	free(key);
	*ndata = whole.ndata;
	return whole.key;
}
