/* What a search looks for: an expression that fewer matches have, and that each event completes which completes
 * a match. Proof in docs/internals/conjunction.md. */
#include "dpe-lang/normal/normal.h"

/* Where in a match the events of a node are. */
struct context {
	bool preceded; /* others may come before them */
	bool followed; /* others come after them, certainly */
	bool nonempty; /* there are any, certainly */
	uint64_t bound; /* variables that the others bind, certainly */
};

struct binding {
	uint64_t any, all; /* variables that some, that each of the behaviours with an event binds */
};

static struct binding binding_of(const struct dpe_rule *rule, const struct dpe_node *node)
{
	bool left, right;
	struct binding l, r;

	if (node->kind == DPE_NODE_ACTION)
		return (struct binding){0};
	if (node->kind == DPE_NODE_EVENT) {
		uint64_t mask = dpe_pattern_mask(dpe_node_pattern(rule, node));

		return (struct binding){mask, mask};
	}
	l = binding_of(rule, node->left);
	if (!node->right)
		return l;
	r = binding_of(rule, node->right);
	left = node->kind != DPE_NODE_ALT && !dpe_nullable(node->left);
	right = node->kind != DPE_NODE_ALT && !dpe_nullable(node->right);
	if (left || right)
		return (struct binding){l.any | r.any, (left ? l.all : 0) | (right ? r.all : 0)};
	return (struct binding){l.any | r.any, l.all & r.all};
}

static uint64_t bound_by(const struct dpe_rule *rule, const struct dpe_node *node)
{
	return node && !dpe_nullable(node) ? binding_of(rule, node).all : 0;
}

bool dpe_binds_alike(const struct dpe_rule *rule, const struct dpe_node *node)
{
	struct binding binding = binding_of(rule, node);

	return binding.any == binding.all;
}

static const struct dpe_node *reduce(
	struct dpe_arena *arena, const struct dpe_rule *rule, const struct dpe_node *node, struct context at);

static const struct dpe_node *with_operands(struct dpe_arena *arena, const struct dpe_node *node,
	const struct dpe_node *left, const struct dpe_node *right)
{
	struct dpe_node *new;

	if (!left || !right)
		return left ? left : right;
	if (left == node->left && right == node->right)
		return node;
	new = dpe_arena_alloc(arena, sizeof(*new));
	*new = *node;
	new->left = left;
	new->right = right;
	return new;
}

static const struct dpe_node *reduce_operands(
	struct dpe_arena *arena, const struct dpe_rule *rule, const struct dpe_node *node, struct context at)
{
	bool sequence = node->kind == DPE_NODE_SEQ;
	struct context first = at, second = at;
	const struct dpe_node *left, *right;

	first.nonempty = false;
	first.followed |= sequence && !dpe_nullable(node->right);
	first.bound |= bound_by(rule, node->right);
	left = reduce(arena, rule, node->left, first);
	second.nonempty &= !left;
	second.preceded |= sequence && left;
	second.bound |= bound_by(rule, left);
	right = reduce(arena, rule, node->right, second);
	return with_operands(arena, node, left, right);
}

static const struct dpe_node *reduce_alternatives(
	struct dpe_arena *arena, const struct dpe_rule *rule, const struct dpe_node *node, struct context at)
{
	const struct dpe_node *left = reduce(arena, rule, node->left, at);
	const struct dpe_node *right = reduce(arena, rule, node->right, at);

	return with_operands(arena, node, left ? left : node->left, right ? right : node->right);
}

/* NULL: nothing, ε. */
static const struct dpe_node *reduce(
	struct dpe_arena *arena, const struct dpe_rule *rule, const struct dpe_node *node, struct context at)
{
	if (at.preceded || node->kind == DPE_NODE_EVENT)
		return node;
	if (at.followed && dpe_nullable(node) && !(binding_of(rule, node).any & ~at.bound))
		return NULL;
	switch (node->kind) {
	case DPE_NODE_SEQ:
	case DPE_NODE_PAR:
		return reduce_operands(arena, rule, node, at);
	case DPE_NODE_ALT:
		return reduce_alternatives(arena, rule, node, at);
	case DPE_NODE_STAR:
	case DPE_NODE_CLOSURE:
		return at.nonempty && dpe_binds_alike(rule, node) ? reduce(arena, rule, node->left, at) : node;
	default:
		return node;
	}
}

const struct dpe_node *dpe_search_form(struct dpe_arena *arena, const struct dpe_rule *rule)
{
	if (rule->mode != DPE_DETECT || dpe_has_side_effects(rule->tree) || dpe_shares_events(rule, rule->tree))
		return rule->tree;
	return reduce(arena, rule, rule->tree, (struct context){.nonempty = true});
}
