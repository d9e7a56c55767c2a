/* Symmetry reduction: operands of & that differ in carets alone, as in (a;b)* & (a^;b^)*, are
 * interchangeable while they are in the same situation. Proof: docs/internals/symmetry.md. */
#include "dpe-lang/automata/attributes.h"

#include <stdlib.h>
#include <string.h>

/* A permutation of literals that is its own inverse. */
struct swap {
	unsigned *to;
	unsigned *moved, nmoved; /* the literals that become others */
};

struct dpe_symmetries {
	const struct dpe_rule *rule;
	struct swap *at;
	unsigned count, cap;
};

/* ---- applying a swap to expressions ------------------------------------------------------ */

/* The swap maps the first expression to the second, operand by operand. */
static bool maps_to(const struct dpe_rule *rule, const struct swap *swap,
	const struct dpe_node *from, const struct dpe_node *to)
{
	if (from->kind != to->kind || from->nonempty != to->nonempty)
		return false;
	if (from->kind == DPE_NODE_EVENT)
		return swap->to[dpe_node_literal(rule, from)] == dpe_node_literal(rule, to);
	return maps_to(rule, swap, from->left, to->left) &&
	       (!from->right || maps_to(rule, swap, from->right, to->right));
}

static bool is_invariant(
	const struct dpe_rule *rule, const struct swap *swap, const struct dpe_node *node);

/* The swap permutes the operands. */
static bool operands_are_invariant(
	const struct dpe_rule *rule, const struct swap *swap, const struct dpe_operands *operands)
{
	for (unsigned i = 0; i < operands->count; i++) {
		unsigned others = 0;

		if (is_invariant(rule, swap, operands->at[i]))
			continue;
		for (unsigned j = 0; j < operands->count; j++)
			others += maps_to(rule, swap, operands->at[i], operands->at[j]);
		if (others != 1)
			return false;
	}
	return true;
}

/* The swap maps the expression to itself, except for the order of operands of + and &. */
static bool is_invariant(const struct dpe_rule *rule, const struct swap *swap, const struct dpe_node *node)
{
	struct dpe_operands operands = {0};
	bool all;

	if (node->kind == DPE_NODE_EVENT)
		return swap->to[dpe_node_literal(rule, node)] == dpe_node_literal(rule, node);
	if (node->kind == DPE_NODE_STAR)
		return is_invariant(rule, swap, node->left);
	if (node->kind == DPE_NODE_SEQ)
		return is_invariant(rule, swap, node->left) && is_invariant(rule, swap, node->right);
	dpe_collect_operands(&operands, node, node->kind, true);
	all = operands_are_invariant(rule, swap, &operands);
	free(operands.at);
	return all;
}

/* ---- finding symmetries ----------------------------------------------------------------------- */

static bool join(struct dpe_symmetries *symmetries, struct swap *swap, unsigned a, unsigned b)
{
	const struct dpe_literal *literals = symmetries->rule->literals;

	if (swap->to[a] == b && swap->to[b] == a)
		return true;
	if (literals[a].pattern != literals[b].pattern || swap->to[a] != a || swap->to[b] != b)
		return false;
	swap->to[a] = b;
	swap->to[b] = a;
	swap->moved[swap->nmoved++] = a;
	swap->moved[swap->nmoved++] = b;
	return true;
}

/* Builds the swap of the literals at corresponding leaves; false if they do not correspond. */
static bool align(struct dpe_symmetries *symmetries, struct swap *swap, const struct dpe_node *a,
	const struct dpe_node *b)
{
	if (a->kind != b->kind || a->nonempty != b->nonempty)
		return false;
	if (a->kind == DPE_NODE_EVENT)
		return join(symmetries, swap, dpe_node_literal(symmetries->rule, a), dpe_node_literal(symmetries->rule, b));
	return align(symmetries, swap, a->left, b->left) &&
	       (!a->right || align(symmetries, swap, a->right, b->right));
}

static bool is_there(const struct dpe_symmetries *symmetries, const struct swap *swap)
{
	size_t size = symmetries->rule->nliterals * sizeof(*swap->to);

	for (unsigned i = 0; i < symmetries->count; i++) {
		if (!memcmp(symmetries->at[i].to, swap->to, size))
			return true;
	}
	return false;
}

static void free_swap(struct swap *swap)
{
	free(swap->to);
	free(swap->moved);
}

/* The identity; for free_swap. */
static struct swap new_swap(unsigned nliterals)
{
	struct swap swap = {
		.to = dpe_xcalloc(nliterals, sizeof(*swap.to)),
		.moved = dpe_xcalloc(nliterals, sizeof(*swap.moved)),
	};

	for (unsigned i = 0; i < nliterals; i++)
		swap.to[i] = i;
	return swap;
}

static void try_swap(struct dpe_symmetries *symmetries, const struct dpe_node *tree, const struct dpe_node *a,
	const struct dpe_node *b)
{
	struct swap swap = new_swap(symmetries->rule->nliterals);

	if (align(symmetries, &swap, a, b) && swap.nmoved && !is_there(symmetries, &swap) &&
		is_invariant(symmetries->rule, &swap, tree))
		*DPE_GROW(symmetries->at, symmetries->count, symmetries->cap) = swap;
	else
		free_swap(&swap);
}

static void try_operands(
	struct dpe_symmetries *symmetries, const struct dpe_node *tree, const struct dpe_node *par)
{
	struct dpe_operands operands = {0};

	dpe_collect_operands(&operands, par, DPE_NODE_PAR, true);
	for (unsigned i = 0; i < operands.count; i++) {
		for (unsigned j = i + 1; j < operands.count; j++)
			try_swap(symmetries, tree, operands.at[i], operands.at[j]);
	}
	free(operands.at);
}

/* `within`: the node is part of a & that was examined. */
static void find_swaps(struct dpe_symmetries *symmetries, const struct dpe_node *tree,
	const struct dpe_node *node, bool within)
{
	bool par = node && node->kind == DPE_NODE_PAR;

	if (!node)
		return;
	if (par && !(within && !node->nonempty))
		try_operands(symmetries, tree, node);
	find_swaps(symmetries, tree, node->left, par);
	find_swaps(symmetries, tree, node->right, par);
}

static bool has_carets(const struct dpe_rule *rule)
{
	for (unsigned i = 0; i < rule->nliterals; i++) {
		if (rule->literals[i].carets)
			return true;
	}
	return false;
}

struct dpe_symmetries *dpe_symmetries_new(const struct dpe_rule *rule, const struct dpe_node *tree)
{
	struct dpe_symmetries *symmetries;

	if (!has_carets(rule))
		return NULL;
	symmetries = dpe_xcalloc(1, sizeof(*symmetries));
	symmetries->rule = rule;
	find_swaps(symmetries, tree, tree, false);
	if (symmetries->count)
		return symmetries;
	dpe_symmetries_free(symmetries);
	return NULL;
}

void dpe_symmetries_free(struct dpe_symmetries *symmetries)
{
	if (!symmetries)
		return;
	for (unsigned i = 0; i < symmetries->count; i++)
		free_swap(&symmetries->at[i]);
	free(symmetries->at);
	free(symmetries);
}

/* ---- applying a swap to states ------------------------------------------------------------ */

/* The state of an operand of &, and which registers of the whole its registers are. */
struct operand_state {
	const struct dpe_auto *automaton;
	const struct dpe_node_state *state;
	uint16_t *places;
};

struct operand_states {
	struct operand_state *at;
	unsigned count, cap;
};

struct view {
	const struct dpe_rule *rule;
	const struct swap *swap;
};

static bool touches(const struct view *view, const struct dpe_auto *a)
{
	for (unsigned i = 0; i < view->swap->nmoved; i++) {
		if (a->literals[view->swap->moved[i]])
			return true;
	}
	return false;
}

/* Only operands that the swap affects. Takes ownership of `places`. */
static void collect(struct operand_states *operands, const struct view *view, const struct dpe_auto *a,
	dpe_state state, uint16_t *places, bool top)
{
	const struct dpe_node_state *s = a->states[state];
	const struct dpe_key *key = s->key;
	const uint16_t *right = key->data + key->nregs;
	uint16_t *child;

	if (!touches(view, a)) {
		free(places);
		return;
	}
	if (!top && (!dpe_continues_chain(a->node, DPE_NODE_PAR) || key->form != DPE_FORM_BOTH)) {
		*DPE_GROW(operands->at, operands->count, operands->cap) =
			(struct operand_state){a, s, places};
		return;
	}
	child = dpe_xcalloc(key->nplaces + 1, sizeof(*child));
	for (unsigned i = 0; i < key->nplaces; i++)
		child[i] = places[right[i]];
	collect(operands, view, a->left, key->left, places, false);
	collect(operands, view, a->right, key->right, child, false);
}

/* Corresponding states of automata that the swap maps to each other. */
static bool correspond(const struct dpe_auto *a, dpe_state x, const struct dpe_auto *b, dpe_state y)
{
	const struct dpe_node_state *s = a->states[x], *t = b->states[y];
	const struct dpe_key *k = s->key, *l = t->key;

	if (k->form != l->form || k->nregs != l->nregs || k->nbound != l->nbound ||
		k->nplaces != l->nplaces || s->ndata != t->ndata ||
		memcmp(k->data + k->nregs, l->data + l->nregs,
			(s->ndata - k->nregs) * sizeof(*k->data)))
		return false;
	if ((k->form == DPE_FORM_LEFT || k->form == DPE_FORM_BOTH) &&
		!correspond(a->left, k->left, b->left, l->left))
		return false;
	return (k->form != DPE_FORM_RIGHT && k->form != DPE_FORM_BOTH) ||
	       correspond(a->right, k->right, b->right, l->right);
}

static bool are_exchangeable(const struct operand_state *a, const struct operand_state *b)
{
	return correspond(a->automaton, a->state->number, b->automaton, b->state->number) &&
	       !memcmp(a->places, b->places, a->state->key->nregs * sizeof(*a->places));
}

static bool state_stays(const struct view *view, const struct dpe_auto *a, dpe_state state);

static bool operand_stays(
	const struct view *view, const struct operand_states *operands, const struct operand_state *operand)
{
	if (is_invariant(view->rule, view->swap, operand->automaton->node))
		return state_stays(view, operand->automaton, operand->state->number);
	for (unsigned i = 0; i < operands->count; i++) {
		if (maps_to(view->rule, view->swap, operand->automaton->node,
			    operands->at[i].automaton->node))
			return are_exchangeable(operand, &operands->at[i]);
	}
	return false;
}

static bool par_stays(const struct view *view, const struct dpe_auto *a, dpe_state state)
{
	unsigned nregs = a->states[state]->key->nregs;
	uint16_t *places = dpe_xcalloc(nregs + 1, sizeof(*places));
	struct operand_states operands = {0};
	bool all = true;

	for (unsigned i = 0; i < nregs; i++)
		places[i] = i;
	collect(&operands, view, a, state, places, true);
	for (unsigned i = 0; i < operands.count && all; i++)
		all = operand_stays(view, &operands, &operands.at[i]);
	for (unsigned i = 0; i < operands.count; i++)
		free(operands.at[i].places);
	free(operands.at);
	return all;
}

/* The swap maps the state to itself; it maps the node to itself. */
static bool state_stays(const struct view *view, const struct dpe_auto *a, dpe_state state)
{
	const struct dpe_key *key = a->states[state]->key;
	bool left = key->form == DPE_FORM_LEFT;
	const struct dpe_auto *child = left ? a->left : a->right;

	if (!state || key->form == DPE_FORM_DONE || !touches(view, a))
		return true;
	if (key->form == DPE_FORM_BOTH)
		return par_stays(view, a, state);
	/* One operand of + has begun: the swap must not exchange it. */
	if (a->node->kind == DPE_NODE_ALT && child->node->kind != DPE_NODE_ALT &&
		!is_invariant(view->rule, view->swap, child->node))
		return false;
	return state_stays(view, child, left ? key->left : key->right);
}

/* ---- redundant literals ------------------------------------------------------------------- */

static unsigned carets(const struct dpe_rule *rule, unsigned literal)
{
	return rule->literals[literal].carets;
}

/* A cheap necessary condition: the swap makes a new literal redundant, and maps literals with moves to
 * literals with moves. */
static bool is_promising(const struct dpe_rule *rule, const struct swap *swap, const bool *moves,
	const bool *redundant)
{
	bool spares = false;

	for (unsigned i = 0; i < swap->nmoved; i++) {
		unsigned literal = swap->moved[i], to = swap->to[literal];

		if (moves[literal] != moves[to])
			return false;
		spares |= moves[literal] && !redundant[literal] &&
			  carets(rule, to) < carets(rule, literal);
	}
	return spares;
}

bool dpe_symmetries_find_redundant(const struct dpe_symmetries *symmetries, const struct dpe_auto *a, dpe_state state,
	bool *redundant)
{
	const struct dpe_rule *rule = symmetries->rule;
	const struct dpe_node_state *s = a->states[state];
	bool moves[rule->nliterals + 1], any = false;

	memset(moves, 0, sizeof(moves));
	memset(redundant, 0, rule->nliterals * sizeof(*redundant));
	for (unsigned i = 0; i < s->nmoves; i++)
		moves[s->moves[i].literal] = true;
	for (unsigned i = 0; i < symmetries->count; i++) {
		const struct swap *swap = &symmetries->at[i];
		const struct view view = {rule, swap};

		if (!is_promising(rule, swap, moves, redundant) || !state_stays(&view, a, state))
			continue;
		any = true;
		for (unsigned j = 0; j < swap->nmoved; j++) {
			unsigned literal = swap->moved[j];

			redundant[literal] |= carets(rule, swap->to[literal]) < carets(rule, literal);
		}
	}
	return any;
}
