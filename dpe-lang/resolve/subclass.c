/* The smallest of the five subclasses of table 3-2 that a rule belongs to. */
#include "dpe-lang/resolve/resolve.h"

struct classified {
	enum dpe_class class;
	const char *reason;
};

static struct classified larger(struct classified a, struct classified b)
{
	return b.class > a.class ? b : a;
}

/* The class of an operator whose operands have class `below`. */
static struct classified raise(
	struct dpe_arena *arena, const struct dpe_node *node, struct classified below)
{
	const char *op = dpe_event_operator(node->kind)->text;

	if (node->kind == DPE_NODE_CLOSURE && below.class < DPE_GENERAL)
		return (struct classified){DPE_GENERAL, "@: as many in parallel as there are"};
	if (node->kind == DPE_NODE_PAR && below.class == DPE_SEQUENTIAL)
		return (struct classified){DPE_MULTIPLE, "& between sequential expressions"};
	if (node->kind == DPE_NODE_PAR || node->kind == DPE_NODE_CLOSURE)
		return below;
	if (below.class == DPE_MULTIPLE)
		return (struct classified){DPE_SAFE, dpe_arena_printf(arena, "& within an operand of %s", op)};
	if (below.class == DPE_GENERAL && node->kind != DPE_NODE_ALT)
		return (struct classified){DPE_EXTENDED, dpe_arena_printf(arena, "@ within an operand of %s", op)};
	return below;
}

static struct classified classify(struct dpe_arena *arena, const struct dpe_node *node)
{
	struct classified below = {DPE_SEQUENTIAL, "only ; + and *"};

	if (node->left)
		below = classify(arena, node->left);
	if (node->right)
		below = larger(below, classify(arena, node->right));
	if (node->left)
		below = raise(arena, node, below);
	if (node->control && below.class < DPE_EXTENDED)
		return (struct classified){
			DPE_EXTENDED, dpe_arena_printf(arena, "* with the control variable %s", node->control)};
	return below;
}

void dpe_classify(struct dpe_arena *arena, struct dpe_rule *rule)
{
	struct classified result = classify(arena, rule->tree);

	rule->class = result.class;
	rule->class_reason = result.reason;
}
