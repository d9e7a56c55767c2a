/* N(R): no repetition of what may be empty (paper 4.3). How the fourth case differs from the paper's,
 * and why: docs/internals/normal-form.md. */
#include "dpe-lang/normal/normal.h"

bool dpe_nullable(const struct dpe_node *node)
{
	switch (node->kind) {
	case DPE_NODE_EVENT:
		return false;
	case DPE_NODE_STAR:
	case DPE_NODE_CLOSURE:
	case DPE_NODE_ACTION:
		return true;
	case DPE_NODE_ALT:
		return dpe_nullable(node->left) || dpe_nullable(node->right);
	case DPE_NODE_PAR:
		return !node->nonempty && dpe_nullable(node->left) && dpe_nullable(node->right);
	case DPE_NODE_SEQ:
		return dpe_nullable(node->left) && dpe_nullable(node->right);
	case DPE_NODE_GROUP:
		break;
	}
	return false;
}

/* R* = (N(R))* and ε ∉ N(R), for an R whose own repetitions are normal already. */
static const struct dpe_node *without_empty(struct dpe_arena *arena, const struct dpe_node *node)
{
	struct dpe_node *new;

	if (!dpe_nullable(node))
		return node;
	switch (node->kind) {
	case DPE_NODE_STAR:
		return node->left;
	case DPE_NODE_ALT:
	case DPE_NODE_SEQ:
		new = dpe_node_copy(arena, node);
		new->kind = DPE_NODE_ALT;
		new->left = without_empty(arena, node->left);
		new->right = without_empty(arena, node->right);
		return new;
	case DPE_NODE_PAR:
		new = dpe_node_copy(arena, node);
		new->nonempty = true;
		return new;
	default: /* lone actions and @, which have no automaton */
		return node;
	}
}

static const struct dpe_node *normalise(struct dpe_arena *arena, const struct dpe_node *node)
{
	struct dpe_node *new;

	if (!node->left)
		return node;
	new = dpe_node_copy(arena, node);
	new->left = normalise(arena, node->left);
	if (node->right)
		new->right = normalise(arena, node->right);
	if (node->kind == DPE_NODE_STAR)
		new->left = without_empty(arena, new->left);
	return new;
}

const struct dpe_node *dpe_normal_form(
	struct dpe_arena *arena, const struct dpe_rule *rule, const struct dpe_node *node)
{
	return normalise(arena, dpe_balance(arena, rule, node));
}

static bool is_safe(const struct dpe_node *node)
{
	if (!node)
		return true;
	return node->kind != DPE_NODE_CLOSURE && !node->control && !node->action &&
	       is_safe(node->left) && is_safe(node->right);
}

bool dpe_rule_is_safe(const struct dpe_rule *rule)
{
	return is_safe(rule->tree);
}
