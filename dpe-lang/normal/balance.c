/* a & b & c & d → (a & b) & (c & d), where the operands share no event; a + b + c + d → (a + b) +
 * (c + d).
 *
 * How operands of the same operator are put in parentheses says nothing, but a step of the first
 * of many would go through all that stand to its right. Operands of & that synchronise stay as
 * they are. */
#include "dpe-lang/normal/normal.h"

#include <stdlib.h>
#include <string.h>

struct operands {
	const struct dpe_rule *rule;
	struct dpe_arena *arena;
	enum dpe_node_kind kind; /* of the operator between them */
	const struct dpe_node **at;
	unsigned count, cap;
};

static bool is_plain(const struct dpe_node *node, enum dpe_node_kind kind)
{
	return node->kind == kind && !node->action && !node->control && !node->nonempty;
}

static void collect(struct operands *operands, const struct dpe_node *node)
{
	if (!is_plain(node, operands->kind)) {
		*DPE_GROW(operands->at, operands->count, operands->cap) = node;
		return;
	}
	collect(operands, node->left);
	collect(operands, node->right);
}

/* Notes the operand's literals; false where another operand has one of them. */
static bool claim(
	const struct dpe_rule *rule, const struct dpe_node *node, unsigned operand, unsigned *owner)
{
	unsigned literal;

	if (!node)
		return true;
	if (node->kind != DPE_NODE_EVENT)
		return claim(rule, node->left, operand, owner) &&
		       claim(rule, node->right, operand, owner);
	literal = rule->positions[node->position - 1].literal;
	if (owner[literal] && owner[literal] != operand)
		return false;
	owner[literal] = operand;
	return true;
}

static bool share_nothing(const struct operands *operands)
{
	unsigned *owner = dpe_xcalloc(operands->rule->nliterals + 1, sizeof(*owner));
	bool nothing = true;

	for (unsigned i = 0; i < operands->count && nothing; i++)
		nothing = claim(operands->rule, operands->at[i], i + 1, owner);
	free(owner);
	return nothing;
}

static struct dpe_node *copy(struct dpe_arena *arena, const struct dpe_node *node)
{
	struct dpe_node *new = dpe_arena_alloc(arena, sizeof(*new));

	*new = *node;
	return new;
}

static bool may_halve(const struct operands *operands)
{
	if (operands->count < 3)
		return false;
	return operands->kind == DPE_NODE_ALT || share_nothing(operands);
}

static const struct dpe_node *halve(const struct operands *operands,
	const struct dpe_node *operator, unsigned from, unsigned count)
{
	struct dpe_node *new;

	if (count == 1)
		return dpe_balance(operands->arena, operands->rule, operands->at[from]);
	new = copy(operands->arena, operator);
	new->left = halve(operands, operator, from, count / 2);
	new->right = halve(operands, operator, from + count / 2, count - count / 2);
	return new;
}

static const struct dpe_node *balance_kids(
	struct dpe_arena *arena, const struct dpe_rule *rule, const struct dpe_node *node)
{
	struct dpe_node *new;

	if (!node->left)
		return node;
	new = copy(arena, node);
	new->left = dpe_balance(arena, rule, node->left);
	if (node->right)
		new->right = dpe_balance(arena, rule, node->right);
	return new;
}

const struct dpe_node *dpe_balance(
	struct dpe_arena *arena, const struct dpe_rule *rule, const struct dpe_node *node)
{
	struct operands operands = {.rule = rule, .arena = arena, .kind = node->kind};
	const struct dpe_node *balanced;

	if (node->kind != DPE_NODE_PAR && node->kind != DPE_NODE_ALT)
		return balance_kids(arena, rule, node);
	collect(&operands, node);
	if (may_halve(&operands))
		balanced = halve(&operands, node, 0, operands.count);
	else
		balanced = balance_kids(arena, rule, node);
	free(operands.at);
	return balanced;
}
