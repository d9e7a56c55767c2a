/* What parses but does not run yet. Every such thing is one error at its place. */
#include "dpe-lang/tree.h"

struct check {
	const struct dpe_rule *rule;
	struct dpe_diags *diags;
	bool live, ok;
	bool data; /* the rule has data events, whose messages carry variables */
};

static void unsupported(struct check *c, struct dpe_place place, const char *what)
{
	dpe_diag(c->diags, DPE_ERROR, place, "not yet supported: %s", what);
	c->ok = false;
}

/* ---- expressions and actions ---------------------------------------------------------- */

static void check_expr(struct check *c, const struct dpe_expr *expr)
{
	if (!expr)
		return;
	if ((expr->kind == DPE_EXPR_TARGET || expr->kind == DPE_EXPR_PRIOR) && c->live)
		unsupported(c, expr->place,
			"variables of the running program, except in data events ([X = 0], [X']) "
			"and "
			"the actions of their rules");
	check_expr(c, expr->left);
	check_expr(c, expr->right);
	check_expr(c, expr->third);
}

static void check_action(struct check *c, const struct dpe_stmt *stmt)
{
	if (c->data)
		return;
	for (; stmt; stmt = stmt->next) {
		check_expr(c, stmt->expr);
		for (unsigned i = 0; i < stmt->nargs; i++)
			check_expr(c, stmt->args[i]);
		check_action(c, stmt->body);
		check_action(c, stmt->otherwise);
	}
}

/* ---- events and operators ------------------------------------------------------------- */

static bool has_data_events(const struct dpe_rule *rule)
{
	for (unsigned i = 0; i < rule->npatterns; i++) {
		if (rule->patterns[i].kind != DPE_PATTERN_CONTROL)
			return true;
	}
	return false;
}

static void check_node(struct check *c, const struct dpe_node *node)
{
	if (!node)
		return;
	check_action(c, node->action);
	check_node(c, node->left);
	check_node(c, node->right);
}

bool dpe_spec_runnable(const struct dpe_spec *spec, bool live, struct dpe_diags *diags)
{
	struct check c = {.diags = diags, .live = live, .ok = true};

	for (unsigned i = 0; i < spec->nrules; i++) {
		c.rule = &spec->rules[i];
		c.data = has_data_events(c.rule);
		for (unsigned p = 0; p < c.rule->npatterns; p++) {
			if (c.rule->patterns[p].kind == DPE_PATTERN_CONTROL)
				check_expr(&c, c.rule->patterns[p].cond);
		}
		for (unsigned p = 0; p < c.rule->npositions; p++)
			check_action(&c, c.rule->positions[p].action);
		check_node(&c, c.rule->tree);
		check_action(&c, c.rule->action);
		check_action(&c, c.rule->otherwise);
	}
	return c.ok;
}
