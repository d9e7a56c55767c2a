/* Which variables patterns bind, and conditions that use variables which other events bind. */
#include "dpe-lang/resolve/resolve.h"

uint64_t dpe_pattern_mask(const struct dpe_pattern *pattern)
{
	uint64_t mask = 0;

	for (unsigned i = 0; i < pattern->nargs; i++) {
		if (pattern->args[i].kind == DPE_ARG_VARIABLE)
			mask |= 1ull << pattern->args[i].variable;
	}
	if (pattern->result && pattern->result->kind == DPE_ARG_VARIABLE)
		mask |= 1ull << pattern->result->variable;
	if (pattern->by != DPE_NO_VARIABLE)
		mask |= 1ull << pattern->by;
	return mask;
}

/* The first place in the expression where a variable outside of the mask is named, or NULL. */
static const struct dpe_expr *find_outside(const struct dpe_expr *expr, uint64_t mask)
{
	const struct dpe_expr *found;

	if (!expr)
		return NULL;
	if (expr->kind == DPE_EXPR_RULEVAR && !(mask >> expr->index & 1))
		return expr;
	found = find_outside(expr->left, mask);
	if (!found)
		found = find_outside(expr->right, mask);
	return found ? found : find_outside(expr->third, mask);
}

bool dpe_expr_needs(const struct dpe_expr *expr, uint64_t mask)
{
	return find_outside(expr, mask);
}

bool dpe_expr_names_positions(const struct dpe_expr *expr)
{
	if (!expr)
		return false;
	if (expr->kind == DPE_EXPR_POSITION ||
		((expr->kind == DPE_EXPR_FIELD || expr->kind == DPE_EXPR_TEXT) && expr->index))
		return true;
	return dpe_expr_names_positions(expr->left) || dpe_expr_names_positions(expr->right) ||
	       dpe_expr_names_positions(expr->third);
}

/* Each side of a sync rule is one event, which cannot wait for what the other side binds. */
static void check_alone(struct dpe_resolver *r, const struct dpe_pattern *pattern)
{
	if (!dpe_expr_needs(pattern->cond, dpe_pattern_mask(pattern)) &&
		!dpe_expr_names_positions(pattern->cond))
		return;
	resolve_error(r, pattern->cond->place,
		"a condition in a sync rule can only name variables that its own event binds");
}

static uint64_t bound_within(const struct dpe_rule *rule, const struct dpe_node *node)
{
	if (!node || node->kind == DPE_NODE_ACTION)
		return 0;
	if (node->kind == DPE_NODE_EVENT)
		return dpe_pattern_mask(dpe_node_pattern(rule, node));
	return bound_within(rule, node->left) | bound_within(rule, node->right);
}

/* A condition of a slice cannot use what is bound later, or by an independent event: the order of arrival would
 * decide. `before`: what the events bind that precede the node by ';'. */
static void warn_of_unbound(struct dpe_resolver *r, const struct dpe_node *node, uint64_t before)
{
	const struct dpe_rule *rule = r->rule;
	const struct dpe_expr *unbound;

	if (!node || node->kind == DPE_NODE_ACTION)
		return;
	if (node->kind != DPE_NODE_EVENT) {
		warn_of_unbound(r, node->left, before);
		if (node->kind == DPE_NODE_SEQ)
			before |= bound_within(rule, node->left);
		warn_of_unbound(r, node->right, before);
		return;
	}
	unbound = find_outside(dpe_node_pattern(rule, node)->cond,
		before | dpe_pattern_mask(dpe_node_pattern(rule, node)));
	if (!unbound)
		return;
	dpe_diag(r->spec->diags, DPE_WARNING, unbound->place,
		"no event that precedes this one by ';' binds '%s': until another event has bound it, the "
		"condition does not hold",
		dpe_name_text(r->names, rule->variables[unbound->index]));
}

void dpe_check_conditions(struct dpe_resolver *r)
{
	const struct dpe_rule *rule = r->rule;

	if (rule->mode == DPE_PREDICT)
		return; /* a match has all its values before the condition is looked at */
	if (rule->mode != DPE_SYNC) {
		warn_of_unbound(r, rule->tree, 0);
		return;
	}
	for (unsigned i = 0; i < rule->npatterns; i++)
		check_alone(r, &rule->patterns[i]);
}
