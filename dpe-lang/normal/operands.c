/* Nodes of expressions: copies, literals, and the operands of chains of one operator. */
#include "dpe-lang/normal/normal.h"

#include <string.h>

struct dpe_node *dpe_node_copy(struct dpe_arena *arena, const struct dpe_node *node)
{
	struct dpe_node *new = dpe_arena_alloc(arena, sizeof(*new));

	*new = *node;
	return new;
}

unsigned dpe_node_literal(const struct dpe_rule *rule, const struct dpe_node *event)
{
	return rule->positions[event->position - 1].literal;
}

const struct dpe_pattern *dpe_node_pattern(const struct dpe_rule *rule, const struct dpe_node *event)
{
	return &rule->patterns[rule->literals[dpe_node_literal(rule, event)].pattern];
}

void dpe_mark_literals(const struct dpe_rule *rule, const struct dpe_node *node, bool *literals)
{
	if (!node)
		return;
	if (node->kind == DPE_NODE_EVENT)
		literals[dpe_node_literal(rule, node)] = true;
	dpe_mark_literals(rule, node->left, literals);
	dpe_mark_literals(rule, node->right, literals);
}

bool dpe_continues_chain(const struct dpe_node *node, enum dpe_node_kind kind)
{
	return node->kind == kind && !node->nonempty && !node->action && !node->control;
}

void dpe_collect_operands(struct dpe_operands *operands, const struct dpe_node *node,
	enum dpe_node_kind kind, bool top)
{
	if (!(top && node->kind == kind) && !dpe_continues_chain(node, kind)) {
		*DPE_GROW(operands->at, operands->count, operands->cap) = node;
		return;
	}
	dpe_collect_operands(operands, node->left, kind, false);
	dpe_collect_operands(operands, node->right, kind, false);
}

bool dpe_has_side_effects(const struct dpe_node *node)
{
	return node && (node->action || node->control || node->kind == DPE_NODE_ACTION ||
			       dpe_has_side_effects(node->left) || dpe_has_side_effects(node->right));
}

bool dpe_shares_events(const struct dpe_rule *rule, const struct dpe_node *node)
{
	bool left[rule->nliterals + 1], right[rule->nliterals + 1], shared = false;

	if (!node)
		return false;
	memset(left, 0, sizeof(left));
	memset(right, 0, sizeof(right));
	if (node->kind == DPE_NODE_PAR) {
		dpe_mark_literals(rule, node->left, left);
		dpe_mark_literals(rule, node->right, right);
	}
	for (unsigned i = 0; i < rule->nliterals; i++)
		shared |= left[i] && right[i];
	return shared || dpe_shares_events(rule, node->left) || dpe_shares_events(rule, node->right);
}
