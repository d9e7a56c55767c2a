/* Arguments that a rule names only to reach their members. */
#include "probes/plan/plan_passes.h"

#include "probes/binary/binary.h"

struct uses {
	unsigned variable;
	int argument;
	bool value; /* the rule uses the variable's own value */
	bool part;  /* the rule uses a member, or what the argument points to */
};

static void scan_expr(struct uses *uses, const struct dpe_expr *expr)
{
	if (!expr)
		return;
	if (expr->kind == DPE_EXPR_RULEVAR && expr->index == uses->variable)
		uses->value = true;
	if (expr->lvalue && dpe_variable_argument(expr->lvalue) == uses->argument)
		uses->part = true;
	scan_expr(uses, expr->left);
	scan_expr(uses, expr->right);
	scan_expr(uses, expr->third);
}

static void scan_action(struct uses *uses, const struct dpe_stmt *stmt)
{
	for (; stmt; stmt = stmt->next) {
		scan_expr(uses, stmt->expr);
		for (unsigned i = 0; i < stmt->nargs; i++)
			scan_expr(uses, stmt->args[i]);
		scan_action(uses, stmt->body);
		scan_action(uses, stmt->otherwise);
	}
}

static unsigned count_bindings(const struct dpe_rule *rule, unsigned variable)
{
	unsigned count = 0;

	for (unsigned i = 0; i < rule->npatterns; i++) {
		const struct dpe_pattern *pattern = &rule->patterns[i];

		count += pattern->by == variable;
		count += pattern->result && pattern->result->kind == DPE_ARG_VARIABLE &&
			 pattern->result->variable == variable;
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

	if (arg->kind != DPE_ARG_VARIABLE || arg->text || arg->behind || count_bindings(rule, arg->variable) > 1)
		return false;
	for (unsigned i = 0; i < rule->npatterns; i++)
		scan_expr(&uses, rule->patterns[i].cond);
	for (unsigned i = 0; i < rule->npositions; i++)
		scan_action(&uses, rule->positions[i].action);
	scan_action(&uses, rule->action);
	scan_action(&uses, rule->otherwise);
	return uses.part && !uses.value;
}
