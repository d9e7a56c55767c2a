/* A rule's predecessor automaton: the root's attribute AUTO with PRED = ε, without dead states. */
#include "dpe-lang/automata/attributes.h"

#include <stdlib.h>
#include <string.h>

/* The moves of a root state, live ones only, sorted by literal; first[l] … first[l + 1]. */
struct root_state {
	struct dpe_move *moves;
	uint32_t *first;
	uint32_t *redundant_first; /* the same for redundant moves, stored behind; NULL: not composed yet */
	bool reduces; /* some moves are redundant */
};

/* Sets of positions that one event takes together: few, and referred to by matches, so they outlive
 * the states. */
struct position_sets {
	struct dpe_arena *arena;
	struct position_set {
		const uint16_t *at;
		unsigned count;
	} * sets;
	unsigned nsets, capsets;
};

struct dpe_automaton {
	const struct dpe_rule *rule;
	const struct dpe_node *tree; /* the rule's, or a part of it */
	struct position_sets *positions;
	struct dpe_arena *arena;
	struct dpe_auto *root;
	unsigned nliterals;
	struct dpe_budget budget;
	bool reduces;                      /* symmetry reduction is on */
	struct dpe_symmetries *symmetries; /* or NULL */
	struct dpe_liveness *liveness;     /* NULL: no dead states, as no operands synchronise, or … */
	bool given_up;                     /* … the search for them was given up */
	unsigned nstates;
	struct root_state *states;
};

/* ---- live states ------------------------------------------------------------------------- */

static bool any_synchronises(const struct dpe_auto *a)
{
	return a && (a->synchronises || any_synchronises(a->left) || any_synchronises(a->right));
}

static void give_up(struct dpe_automaton *automaton)
{
	dpe_liveness_free(automaton->liveness);
	automaton->liveness = NULL;
	automaton->given_up = true;
}

/* Once a search was given up all states count as live. */
static bool is_live(struct dpe_automaton *automaton, dpe_state state)
{
	if (!automaton->liveness)
		return true;
	if (dpe_liveness_is_dead(automaton->liveness, automaton->root, state))
		return false;
	if (dpe_liveness_given_up(automaton->liveness))
		give_up(automaton);
	return true;
}

bool dpe_automaton_given_up(const struct dpe_automaton *automaton)
{
	return automaton->given_up;
}

/* ---- the automaton -------------------------------------------------------------------- */

static const struct dpe_node *find_unsafe(const struct dpe_node *node)
{
	const struct dpe_node *found;

	if (!node)
		return NULL;
	if (node->kind == DPE_NODE_CLOSURE || node->action || node->control)
		return node;
	found = find_unsafe(node->left);
	return found ? found : find_unsafe(node->right);
}

static bool refuse_unsafe(const struct dpe_rule *rule, struct dpe_diags *diags)
{
	const struct dpe_node *unsafe = find_unsafe(rule->tree);

	if (!unsafe)
		return false;
	dpe_diag(diags, DPE_ERROR, unsafe->place, "no predecessor automaton for rule '%s': %s",
		rule->name,
		unsafe->kind == DPE_NODE_CLOSURE  ? "'@' makes it unsafe"
		: unsafe->kind == DPE_NODE_ACTION ? "an operand is an action"
		: unsafe->action                  ? "a parenthesis has an action"
						  : "a control variable counts without bound");
	return true;
}

static struct dpe_automaton *begin(const struct dpe_rule *rule, const struct dpe_node *tree)
{
	struct dpe_automaton *automaton = dpe_xcalloc(1, sizeof(*automaton));

	automaton->rule = rule;
	automaton->tree = tree;
	automaton->arena = dpe_arena_new();
	automaton->nliterals = rule->nliterals;
	automaton->budget.limit = SIZE_MAX;
	automaton->root = dpe_auto_new(automaton->arena, rule,
		dpe_normal_form(automaton->arena, rule, tree), false, &automaton->budget);
	if (any_synchronises(automaton->root))
		automaton->liveness = dpe_liveness_new(rule, automaton->root->node);
	return automaton;
}

static bool has_none(const struct dpe_rule *rule, struct dpe_diags *diags)
{
	if (refuse_unsafe(rule, diags))
		return true;
	if (rule->npositions < DPE_NEW_EVENT)
		return false;
	dpe_diag(diags, DPE_ERROR, rule->place,
		"rule '%s' has %u event positions; at most %u are supported", rule->name,
		rule->npositions, DPE_NEW_EVENT - 1);
	return true;
}

static void report_empty(const struct dpe_rule *rule, struct dpe_diags *diags)
{
	dpe_diag(diags, DPE_ERROR, rule->place,
		"rule '%s' accepts nothing: its operands wait for each other, or for an event that only one "
		"of them can take; s^ is another event of the same name",
		rule->name);
}

struct dpe_automaton *dpe_automaton_of(const struct dpe_rule *rule, const struct dpe_node *tree)
{
	struct dpe_automaton *automaton = begin(rule, tree);

	automaton->positions = dpe_xcalloc(1, sizeof(*automaton->positions));
	automaton->positions->arena = dpe_arena_new();
	if (is_live(automaton, 0))
		return automaton;
	dpe_automaton_free(automaton);
	return NULL;
}

struct dpe_automaton *dpe_automaton_new(const struct dpe_rule *rule, struct dpe_diags *diags)
{
	struct dpe_automaton *automaton;

	if (has_none(rule, diags))
		return NULL;
	automaton = dpe_automaton_of(rule, rule->tree);
	if (!automaton)
		report_empty(rule, diags);
	return automaton;
}

void dpe_automaton_free(struct dpe_automaton *automaton)
{
	if (!automaton)
		return;
	if (automaton->positions) { /* else another has taken them over */
		dpe_arena_free(automaton->positions->arena);
		free(automaton->positions->sets);
		free(automaton->positions);
	}
	for (unsigned i = 0; i < automaton->nstates; i++)
		free(automaton->states[i].moves);
	dpe_symmetries_free(automaton->symmetries);
	dpe_liveness_free(automaton->liveness);
	dpe_auto_free(automaton->root);
	dpe_arena_free(automaton->arena);
	free(automaton->states);
	free(automaton);
}

static int by_literal(const void *a, const void *b)
{
	const struct dpe_move *x = a, *y = b;

	if (x->literal != y->literal)
		return x->literal < y->literal ? -1 : 1;
	return x->positions[0] < y->positions[0] ? -1 : x->positions[0] > y->positions[0];
}

static void grow_states(struct dpe_automaton *automaton, dpe_state state)
{
	unsigned old = automaton->nstates;

	if (state < old)
		return;
	automaton->nstates = state * 2 + 16;
	automaton->states =
		dpe_xrealloc(automaton->states, automaton->nstates * sizeof(*automaton->states));
	memset(automaton->states + old, 0, (automaton->nstates - old) * sizeof(*automaton->states));
}

static const uint16_t *keep_positions(
	struct position_sets *kept, const uint16_t *at, unsigned count)
{
	uint16_t *copy;

	for (unsigned i = 0; i < kept->nsets; i++) {
		const struct position_set *set = &kept->sets[i];

		if (set->count == count && !memcmp(set->at, at, count * sizeof(*at)))
			return set->at;
	}
	copy = dpe_arena_alloc(kept->arena, count * sizeof(*copy));
	memcpy(copy, at, count * sizeof(*copy));
	*DPE_GROW(kept->sets, kept->nsets, kept->capsets) = (struct position_set){copy, count};
	return copy;
}

static void add_move(
	struct dpe_automaton *automaton, struct dpe_move *to, const struct dpe_move *move)
{
	*to = *move;
	to->positions = keep_positions(automaton->positions, move->positions, move->npositions);
}

/* Sorts moves from one number to another; where those of each literal begin. */
static uint32_t *sort_moves(
	struct dpe_automaton *automaton, struct dpe_move *moves, unsigned from, unsigned to)
{
	uint32_t *first =
		dpe_arena_alloc(automaton->arena, (automaton->nliterals + 1) * sizeof(*first));
	unsigned at = from;

	qsort(moves + from, to - from, sizeof(*moves), by_literal);
	for (unsigned literal = 0; literal <= automaton->nliterals; literal++) {
		while (at < to && moves[at].literal < literal)
			at++;
		first[literal] = at;
	}
	return first;
}

/* Adds the live moves of literals whose mark is `marked`. `marks` NULL: no literal is marked. */
static unsigned add_moves(struct dpe_automaton *automaton, struct dpe_move *to,
	const struct dpe_node_state *s, const bool *marks, bool marked)
{
	unsigned count = 0;

	for (unsigned i = 0; i < s->nmoves; i++) {
		if ((marks && marks[s->moves[i].literal]) == marked &&
			is_live(automaton, s->moves[i].to))
			add_move(automaton, &to[count++], &s->moves[i]);
	}
	return count;
}

/* Marks the literals whose moves are redundant in the state. */
static bool find_redundant(const struct dpe_automaton *automaton, dpe_state state, bool *redundant)
{
	return automaton->symmetries &&
	       dpe_symmetries_find_redundant(automaton->symmetries, automaton->root, state, redundant);
}

static void compose_state(struct dpe_automaton *automaton, dpe_state state)
{
	const struct dpe_node_state *s = dpe_auto_expand(automaton->root, state);
	bool redundant[automaton->nliterals + 1];
	struct root_state root = {.moves = dpe_xcalloc(s->nmoves + 1, sizeof(*root.moves))};
	unsigned count;

	dpe_liveness_begin_step(automaton->liveness);
	root.reduces = find_redundant(automaton, state, redundant);
	count = add_moves(automaton, root.moves, s, root.reduces ? redundant : NULL, false);
	root.first = sort_moves(automaton, root.moves, 0, count);
	grow_states(automaton, state);
	automaton->states[state] = root;
}

/* Redundant moves, on demand: only then is it decided which of them lead to live states. */
static void compose_redundant(struct dpe_automaton *automaton, dpe_state state)
{
	const struct dpe_node_state *s = dpe_auto_expand(automaton->root, state);
	struct root_state *root = &automaton->states[state];
	unsigned count = root->first[automaton->nliterals], more;
	bool redundant[automaton->nliterals + 1];

	if (!find_redundant(automaton, state, redundant))
		return;
	dpe_liveness_begin_step(automaton->liveness);
	more = add_moves(automaton, root->moves + count, s, redundant, true);
	root->redundant_first = sort_moves(automaton, root->moves, count, count + more);
}

static const struct root_state *root_state(struct dpe_automaton *automaton, dpe_state state)
{
	if (state >= automaton->nstates || !automaton->states[state].first)
		compose_state(automaton, state);
	return &automaton->states[state];
}

bool dpe_automaton_final(struct dpe_automaton *automaton, dpe_state state)
{
	return automaton->root->states[state]->final;
}

bool dpe_automaton_complete(struct dpe_automaton *automaton, dpe_state state)
{
	return dpe_automaton_final(automaton, state) &&
	       !root_state(automaton, state)->first[automaton->nliterals];
}

const struct dpe_move *dpe_automaton_moves(
	struct dpe_automaton *automaton, dpe_state state, unsigned literal, unsigned *count)
{
	const struct root_state *root = root_state(automaton, state);

	*count = root->first[literal + 1] - root->first[literal];
	return root->moves + root->first[literal];
}

const struct dpe_move *dpe_automaton_all_moves(
	struct dpe_automaton *automaton, dpe_state state, unsigned literal, unsigned *count)
{
	const struct root_state *root = root_state(automaton, state);
	const uint32_t *first = root->first;

	if (root->reduces && !root->redundant_first)
		compose_redundant(automaton, state);
	if (root->redundant_first && first[literal + 1] == first[literal])
		first = root->redundant_first;
	*count = first[literal + 1] - first[literal];
	return root->moves + first[literal];
}

void dpe_automaton_reduce_symmetry(struct dpe_automaton *automaton)
{
	automaton->reduces = true;
	automaton->symmetries = dpe_symmetries_new(automaton->rule, automaton->root->node);
	if (automaton->symmetries)
		dpe_enable_register_pruning(automaton->root);
}

unsigned dpe_automaton_registers(struct dpe_automaton *automaton, dpe_state state)
{
	return automaton->root->states[state]->key->nregs;
}

unsigned dpe_automaton_register_literal(
	struct dpe_automaton *automaton, dpe_state state, unsigned reg)
{
	return automaton->root->states[state]->key->data[reg];
}

unsigned dpe_automaton_built(const struct dpe_automaton *automaton)
{
	return automaton->root->nstates;
}

/* ---- renewing --------------------------------------------------------------------------- */

size_t dpe_automaton_bytes(const struct dpe_automaton *automaton)
{
	return automaton->budget.bytes + automaton->nstates * sizeof(*automaton->states);
}

struct dpe_automaton *dpe_automaton_renew(struct dpe_automaton *old)
{
	struct dpe_automaton *automaton = begin(old->rule, old->tree);

	automaton->positions = old->positions;
	old->positions = NULL;
	if (old->given_up)
		give_up(automaton);
	if (old->reduces)
		dpe_automaton_reduce_symmetry(automaton);
	return automaton;
}

dpe_state dpe_automaton_adopt(
	struct dpe_automaton *automaton, const struct dpe_automaton *old, dpe_state state)
{
	return dpe_auto_adopt(automaton->root, old->root, state);
}
