/* What compiles but cannot be observed in a live run. Each such thing is one error at its place. */
#include "dpe-lang/normal/normal.h"

#include <string.h>

struct check {
	const struct dpe_spec *spec;
	struct dpe_diags *diags;
	bool ok;
};

/* ---- expressions and actions ---------------------------------------------------------- */

static void check_expr(struct check *c, const struct dpe_expr *expr)
{
	if (!expr)
		return;
	if (expr->kind == DPE_EXPR_TARGET || expr->kind == DPE_EXPR_PRIOR) {
		dpe_diag(c->diags, DPE_ERROR, expr->place,
			"not yet supported: variables of the running program at events that the "
			"kernel reports (thread::, process::, ipc::)");
		c->ok = false;
	}
	check_expr(c, expr->left);
	check_expr(c, expr->right);
	check_expr(c, expr->third);
}

static void check_action(struct check *c, const struct dpe_stmt *stmt)
{
	for (; stmt; stmt = stmt->next) {
		check_expr(c, stmt->expr);
		for (unsigned i = 0; i < stmt->nargs; i++)
			check_expr(c, stmt->args[i]);
		check_action(c, stmt->body);
		check_action(c, stmt->otherwise);
	}
}

/* ---- events --------------------------------------------------------------------------- */

/* Events that the kernel reports: no uprobe reads the program's variables there. */
static bool is_thread_event(const struct check *c, const struct dpe_pattern *pattern)
{
	const char *module = dpe_name_text(c->spec->names, pattern->module);

	return pattern->kind == DPE_PATTERN_CONTROL &&
	       (!strcmp(module, "thread") || !strcmp(module, "process") ||
		       !strcmp(module, "ipc"));
}

static void check_rule(struct check *c, const struct dpe_rule *rule)
{
	for (unsigned i = 0; i < rule->npatterns; i++) {
		if (is_thread_event(c, &rule->patterns[i]))
			check_expr(c, rule->patterns[i].cond);
	}
	for (unsigned i = 0; i < rule->npositions; i++) {
		unsigned literal = rule->positions[i].literal;

		if (literal < rule->nliterals &&
			is_thread_event(c, &rule->patterns[rule->literals[literal].pattern]))
			check_action(c, rule->positions[i].action);
	}
}

bool dpe_spec_runnable(const struct dpe_spec *spec, bool live, struct dpe_diags *diags)
{
	struct check c = {.spec = spec, .diags = diags, .ok = true};

	for (unsigned i = 0; live && i < spec->nrules; i++)
		check_rule(&c, &spec->rules[i]);
	return c.ok;
}
