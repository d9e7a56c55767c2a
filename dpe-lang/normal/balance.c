/* Balances chains of operators: a + b + c + d becomes (a + b) + (c + d), and the same for operands of
 * & that share no event, so that a step passes through few nodes. Others stay as written. */
#include "dpe-lang/normal/normal.h"

#include <stdlib.h>
#include <string.h>

struct operand_chain {
	const struct dpe_rule *rule;
	struct dpe_arena *arena;
	enum dpe_node_kind kind; /* of the operator between them */
	struct dpe_operands operands;
};

/* Enters the owner of each literal; false if another operand owns one of them. */
static bool claim(
	const struct dpe_rule *rule, const struct dpe_node *node, unsigned operand, unsigned *owner)
{
	unsigned literal;

	if (!node)
		return true;
	if (node->kind != DPE_NODE_EVENT)
		return claim(rule, node->left, operand, owner) &&
		       claim(rule, node->right, operand, owner);
	literal = dpe_node_literal(rule, node);
	if (owner[literal] && owner[literal] != operand)
		return false;
	owner[literal] = operand;
	return true;
}

static bool share_nothing(const struct operand_chain *chain)
{
	unsigned *owner = dpe_xcalloc(chain->rule->nliterals + 1, sizeof(*owner));
	bool nothing = true;

	for (unsigned i = 0; i < chain->operands.count && nothing; i++)
		nothing = claim(chain->rule, chain->operands.at[i], i + 1, owner);
	free(owner);
	return nothing;
}

static bool may_halve(const struct operand_chain *chain)
{
	if (chain->operands.count < 3)
		return false;
	return chain->kind == DPE_NODE_ALT || share_nothing(chain);
}

static const struct dpe_node *halve(const struct operand_chain *chain, const struct dpe_node *operator,
	unsigned from, unsigned count)
{
	struct dpe_node *new;

	if (count == 1)
		return dpe_balance(chain->arena, chain->rule, chain->operands.at[from]);
	new = dpe_node_copy(chain->arena, operator);
	new->left = halve(chain, operator, from, count / 2);
	new->right = halve(chain, operator, from + count / 2, count - count / 2);
	return new;
}

static const struct dpe_node *balance_children(
	struct dpe_arena *arena, const struct dpe_rule *rule, const struct dpe_node *node)
{
	struct dpe_node *new;

	if (!node->left)
		return node;
	new = dpe_node_copy(arena, node);
	new->left = dpe_balance(arena, rule, node->left);
	if (node->right)
		new->right = dpe_balance(arena, rule, node->right);
	return new;
}

const struct dpe_node *dpe_balance(
	struct dpe_arena *arena, const struct dpe_rule *rule, const struct dpe_node *node)
{
	struct operand_chain chain = {.rule = rule, .arena = arena, .kind = node->kind};
	const struct dpe_node *balanced;

	if (node->kind != DPE_NODE_PAR && node->kind != DPE_NODE_ALT)
		return balance_children(arena, rule, node);
	dpe_collect_operands(&chain.operands, node, node->kind, false);
	if (may_halve(&chain))
		balanced = halve(&chain, node, 0, chain.operands.count);
	else
		balanced = balance_children(arena, rule, node);
	free(chain.operands.at);
	return balanced;
}
