/* The operands of the outermost & as factors; operands that share an event are one factor. And which rules an automaton suits.
 * Why a search by factors changes no verdict: docs/internals/automata.md, "Factors". */
#include "dpe-lang/automata/attributes.h"

#include <stdlib.h>
#include <string.h>

/* ---- operands that share events -------------------------------------------------------- */

/* The operands of a &, and for each the first one that it is linked with by shared events. */
struct linked_operands {
	struct dpe_operands list;
	unsigned *first;
};

static void join(struct linked_operands *operands, unsigned a, unsigned b)
{
	unsigned low = a < b ? a : b, high = a < b ? b : a;

	for (unsigned i = 0; low != high && i < operands->list.count; i++) {
		if (operands->first[i] == high)
			operands->first[i] = low;
	}
}

/* Enters the owners of the literals; links the operand with the owner of a literal that has one. */
static void claim(struct linked_operands *operands, const struct dpe_rule *rule,
	const struct dpe_node *node, unsigned operand, unsigned *owner)
{
	unsigned literal;

	if (node->left)
		claim(operands, rule, node->left, operand, owner);
	if (node->right)
		claim(operands, rule, node->right, operand, owner);
	if (node->kind != DPE_NODE_EVENT)
		return;
	literal = dpe_node_literal(rule, node);
	if (owner[literal])
		join(operands, operands->first[operand], operands->first[owner[literal] - 1]);
	else
		owner[literal] = operand + 1;
}

/* For free_operands. */
static struct linked_operands operands_of(const struct dpe_rule *rule, const struct dpe_node *par)
{
	unsigned *owner = dpe_xcalloc(rule->nliterals + 1, sizeof(*owner));
	struct linked_operands operands = {0};

	dpe_collect_operands(&operands.list, par, DPE_NODE_PAR, true);
	operands.first = dpe_xcalloc(operands.list.count, sizeof(*operands.first));
	for (unsigned i = 0; i < operands.list.count; i++)
		operands.first[i] = i;
	for (unsigned i = 0; i < operands.list.count; i++)
		claim(&operands, rule, operands.list.at[i], i, owner);
	free(owner);
	return operands;
}

static void free_operands(struct linked_operands *operands)
{
	free(operands->list.at);
	free(operands->first);
}

/* ---- divisibility -------------------------------------------------------------------- */

/* An upper bound of the number of states, without registers. */
static double count_states(const struct dpe_node *node)
{
	switch (node->kind) {
	case DPE_NODE_EVENT:
		return 2;
	case DPE_NODE_SEQ:
	case DPE_NODE_ALT:
		return count_states(node->left) + count_states(node->right);
	case DPE_NODE_PAR:
		return count_states(node->left) * count_states(node->right);
	case DPE_NODE_ACTION:
		return 1;
	case DPE_NODE_STAR:
	case DPE_NODE_CLOSURE:
	case DPE_NODE_GROUP:
		break;
	}
	return count_states(node->left);
}

static bool is_moderate(const struct dpe_node *node)
{
	return count_states(node) <= DPE_MODERATE_STATES;
}

/* ---- factors ------------------------------------------------------------------------ */

/* Linked operands as one operand. */
static const struct dpe_node *join_operands(struct dpe_factors *factors, const struct linked_operands *operands,
	unsigned first, const struct dpe_node *par)
{
	const struct dpe_node *all = operands->list.at[first];

	for (unsigned i = first + 1; i < operands->list.count; i++) {
		struct dpe_node *both;

		if (operands->first[i] != first)
			continue;
		both = dpe_arena_alloc(factors->arena, sizeof(*both));
		*both = (struct dpe_node){
			.kind = DPE_NODE_PAR, .left = all, .right = operands->list.at[i], .place = par->place};
		all = both;
	}
	return all;
}

/* False if its language is empty, or it has too many states. */
static bool add_factor(struct dpe_factors *factors, const struct dpe_rule *rule, const struct dpe_node *node, bool automata)
{
	unsigned number = factors->count;
	struct dpe_factor *factor = &factors->at[number];
	bool *literals;

	*factor = (struct dpe_factor){.node = node, .nullable = dpe_nullable(node)};
	if (automata) {
		factor->automaton = is_moderate(node) ? dpe_automaton_of(rule, node) : NULL;
		if (!factor->automaton)
			return false;
	}
	literals = dpe_arena_alloc(factors->arena, (rule->nliterals + 1) * sizeof(*literals));
	dpe_mark_literals(rule, node, literals);
	for (unsigned i = 0; i < rule->nliterals; i++) {
		if (literals[i])
			factors->factor_of[i] = number;
	}
	factors->count++;
	return true;
}

static bool add_factors(
	struct dpe_factors *factors, const struct dpe_rule *rule, const struct dpe_node *par, bool automata)
{
	struct linked_operands operands = operands_of(rule, par);
	bool whole = true;

	factors->at = dpe_arena_alloc(factors->arena, operands.list.count * sizeof(*factors->at));
	factors->factor_of = dpe_arena_alloc(factors->arena, (rule->nliterals + 1) * sizeof(*factors->factor_of));
	memset(factors->factor_of, 0xff, rule->nliterals * sizeof(*factors->factor_of));
	for (unsigned i = 0; i < operands.list.count && whole; i++) {
		if (operands.first[i] == i)
			whole = add_factor(factors, rule, join_operands(factors, &operands, i, par), automata);
	}
	free_operands(&operands);
	return whole;
}

/* True if some operands of the & share no event. */
static bool divides(const struct dpe_rule *rule, const struct dpe_node *par)
{
	struct linked_operands operands = operands_of(rule, par);
	bool apart = false;

	for (unsigned i = 1; i < operands.list.count && !apart; i++)
		apart = operands.first[i] != operands.first[0];
	free_operands(&operands);
	return apart;
}

struct dpe_factors *dpe_factors_new(const struct dpe_rule *rule, bool automata)
{
	const struct dpe_node *root = rule->tree;
	struct dpe_factors *factors;

	if (root->kind != DPE_NODE_PAR || dpe_has_side_effects(root) || !divides(rule, root) ||
		(automata && rule->npositions >= DPE_NEW_EVENT))
		return NULL;
	factors = dpe_xcalloc(1, sizeof(*factors));
	factors->arena = dpe_arena_new();
	if (automata)
		root = dpe_normal_form(factors->arena, rule, root);
	if (root->kind == DPE_NODE_PAR && add_factors(factors, rule, root, automata))
		return factors;
	dpe_factors_free(factors);
	return NULL;
}

void dpe_factors_free(struct dpe_factors *factors)
{
	if (!factors)
		return;
	for (unsigned i = 0; i < factors->count; i++)
		dpe_automaton_free(factors->at[i].automaton);
	dpe_arena_free(factors->arena);
	free(factors);
}

/* ---- what suits a rule ------------------------------------------------------------------ */

bool dpe_rule_is_small(const struct dpe_rule *rule)
{
	return count_states(rule->tree) <= DPE_SMALL_STATES;
}

bool dpe_rule_is_moderate(const struct dpe_rule *rule)
{
	return is_moderate(rule->tree);
}

/* Literals of one pattern that differ in carets. */
static bool has_carets(const struct dpe_rule *rule)
{
	return rule->nliterals > rule->npatterns;
}

bool dpe_rule_suits_automaton(const struct dpe_rule *rule)
{
	return dpe_rule_is_safe(rule) && (is_moderate(rule->tree) || has_carets(rule) ||
						 dpe_shares_events(rule, rule->tree));
}
