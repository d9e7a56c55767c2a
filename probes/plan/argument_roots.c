/* Names that stand for no value: of structures, whose members have some. */
#include "probes/plan/plan_passes.h"

#include "probes/binary/binary.h"

struct uses {
	unsigned variable;
	int argument;
	bool value; /* the variable's own value is asked for */
	bool part;  /* something is that begins at the argument */
};

static void look_at_expr(struct uses *uses, const struct dpe_expr *expr)
{
	if (!expr)
		return;
	if (expr->kind == DPE_EXPR_RULEVAR && expr->index == uses->variable)
		uses->value = true;
	if (expr->lvalue && dpe_variable_argument(expr->lvalue) == uses->argument)
		uses->part = true;
	look_at_expr(uses, expr->left);
	look_at_expr(uses, expr->right);
	look_at_expr(uses, expr->third);
}

static void look_at_action(struct uses *uses, const struct dpe_stmt *stmt)
{
	for (; stmt; stmt = stmt->next) {
		look_at_expr(uses, stmt->expr);
		for (unsigned i = 0; i < stmt->nargs; i++)
			look_at_expr(uses, stmt->args[i]);
		look_at_action(uses, stmt->body);
		look_at_action(uses, stmt->otherwise);
	}
}

static unsigned count_bindings(const struct dpe_rule *rule, unsigned variable)
{
	unsigned count = 0;

	for (unsigned i = 0; i < rule->npatterns; i++) {
		const struct dpe_pattern *pattern = &rule->patterns[i];

		count += pattern->by == variable;
		for (unsigned j = 0; j < pattern->nargs; j++)
			count += pattern->args[j].kind == DPE_ARG_VARIABLE &&
				 pattern->args[j].variable == variable;
	}
	return count;
}

bool dpe_plan_is_root(
	const struct dpe_rule *rule, const struct dpe_pattern *pattern, unsigned argument)
{
	const struct dpe_arg *arg = &pattern->args[argument];
	struct uses uses = {.variable = arg->variable, .argument = (int)argument};

	if (arg->kind != DPE_ARG_VARIABLE || arg->text || count_bindings(rule, arg->variable) > 1)
		return false;
	for (unsigned i = 0; i < rule->npatterns; i++)
		look_at_expr(&uses, rule->patterns[i].cond);
	for (unsigned i = 0; i < rule->npositions; i++)
		look_at_action(&uses, rule->positions[i].action);
	look_at_action(&uses, rule->action);
	look_at_action(&uses, rule->otherwise);
	return uses.part && !uses.value;
}
