/* Rules as text: dpe_rule_print, and --dump=resolved. */
#include "dpe-lang/resolve/resolve.h"

/* ---- the expression of a rule --------------------------------------------------------- */

static void print_operand(
	struct dpe_text *to, const struct dpe_rule *rule, const struct dpe_node *node, bool parens)
{
	dpe_text_puts(to, parens ? "(" : "");
	dpe_print_node(to, rule, node);
	dpe_text_puts(to, parens ? ")" : "");
}

/* Few readers know the precedences, so any two different operators get parentheses. */
static void print_binary(
	struct dpe_text *to, const struct dpe_rule *rule, const struct dpe_node *node)
{
	bool left = node->left->right && node->left->kind != node->kind;

	print_operand(to, rule, node->left, left);
	dpe_text_puts(to, dpe_event_operator(node->kind)->text);
	print_operand(to, rule, node->right, node->right->right != NULL);
}

static void print_node(struct dpe_text *to, const struct dpe_rule *rule, const struct dpe_node *node)
{
	switch (node->kind) {
	case DPE_NODE_EVENT:
		dpe_text_puts(to, rule->literals[dpe_node_literal(rule, node)].text);
		return;
	case DPE_NODE_ACTION:
		dpe_text_puts(to, node->text);
		return;
	case DPE_NODE_STAR:
	case DPE_NODE_CLOSURE:
		print_operand(to, rule, node->left, node->left->right != NULL);
		dpe_text_puts(to, dpe_event_operator(node->kind)->text);
		if (node->control)
			dpe_text_puts(to, node->control);
		return;
	default:
		print_binary(to, rule, node);
		return;
	}
}

/* (P&Q)\\ε is P & Q without its empty behaviour: the mark of N(R). */
void dpe_print_node(struct dpe_text *to, const struct dpe_rule *rule, const struct dpe_node *node)
{
	dpe_text_puts(to, node->nonempty ? "(" : "");
	print_node(to, rule, node);
	dpe_text_puts(to, node->nonempty ? ")\\ε" : "");
}

void dpe_rule_print(struct dpe_text *to, const struct dpe_rule *rule)
{
	dpe_print_node(to, rule, rule->tree);
}

/* ---- expressions and statements ------------------------------------------------------- */

struct dump {
	struct dpe_text *to;
	const struct dpe_spec *spec;
	const struct dpe_rule *rule;
};

static void dump_expr(const struct dump *d, const struct dpe_expr *expr);

static void dump_field(const struct dump *d, const struct dpe_expr *expr)
{
	static const char *const names[] = {
		"tid", "process", "time", "ret", "args", "name", "stack", "comm", "host", "access"};

	if (expr->index)
		dpe_text_printf(d->to, "$%u", expr->index);
	dpe_text_puts(d->to, ".");
	if (expr->field == DPE_FIELD_VARIABLE) {
		dump_expr(d, expr->third);
		return;
	}
	dpe_text_puts(d->to, names[expr->field]);
	if (expr->field == DPE_FIELD_ARG) {
		dpe_text_puts(d->to, "[");
		dump_expr(d, expr->third);
		dpe_text_puts(d->to, "]");
	}
}

static void print_literal(struct dpe_text *to, struct dpe_value value)
{
	if (value.kind == DPE_STRING)
		dpe_ast_print_string(to, value.text);
	else
		dpe_value_print(to, value);
}

static void dump_compound(const struct dump *d, const struct dpe_expr *expr)
{
	dpe_text_puts(d->to, "(");
	if (expr->kind == DPE_EXPR_UNARY)
		dpe_text_puts(d->to, dpe_value_operator(expr->op)->text);
	dump_expr(d, expr->left);
	if (expr->kind == DPE_EXPR_BINARY)
		dpe_text_printf(d->to, " %s ", dpe_value_operator(expr->op)->text);
	if (expr->kind == DPE_EXPR_CONDITIONAL)
		dpe_text_puts(d->to, " ? ");
	if (expr->right)
		dump_expr(d, expr->right);
	if (expr->third) {
		dpe_text_puts(d->to, " : ");
		dump_expr(d, expr->third);
	}
	dpe_text_puts(d->to, ")");
}

static void print_global(struct dpe_text *to, const struct dpe_global *global)
{
	dpe_text_puts(to, global->name);
	for (unsigned i = 0; i < global->nkeys; i++)
		dpe_text_printf(to, "%s%s%s", i ? ", " : "(", global->keys[i],
			i + 1 == global->nkeys ? ")" : "");
}

static void dump_expr(const struct dump *d, const struct dpe_expr *expr)
{
	switch (expr->kind) {
	case DPE_EXPR_LITERAL:
		print_literal(d->to, expr->value);
		return;
	case DPE_EXPR_RULEVAR:
		dpe_text_puts(d->to, dpe_name_text(d->spec->names, d->rule->variables[expr->index]));
		return;
	case DPE_EXPR_GLOBAL:
		print_global(d->to, &d->spec->globals[expr->index]);
		return;
	case DPE_EXPR_TARGET:
		dpe_text_puts(d->to, expr->lvalue);
		return;
	case DPE_EXPR_TEXT:
		dpe_text_puts(d->to, DPE_TEXT);
		dump_expr(d, expr->left);
		dpe_text_puts(d->to, ")");
		return;
	case DPE_EXPR_PRIOR:
		dpe_text_printf(d->to, "%s'", expr->lvalue);
		return;
	case DPE_EXPR_POSITION:
		dpe_text_printf(d->to, "$%u", expr->index);
		return;
	case DPE_EXPR_FIELD:
		dump_field(d, expr);
		return;
	default:
		dump_compound(d, expr);
		return;
	}
}

static void dump_stmts(const struct dump *d, const struct dpe_stmt *stmt);

static void dump_call(const struct dump *d, const struct dpe_stmt *stmt)
{
	dpe_text_printf(d->to, "%s(", dpe_call_name(stmt->call));
	for (unsigned i = 0; i < stmt->nargs; i++) {
		dpe_text_puts(d->to, i ? ", " : "");
		dump_expr(d, stmt->args[i]);
	}
	dpe_text_puts(d->to, ");");
}

static void dump_stmt(const struct dump *d, const struct dpe_stmt *stmt)
{
	switch (stmt->kind) {
	case DPE_STMT_ASSIGN:
		dump_expr(d, stmt->args[0]);
		dpe_text_puts(d->to, " = ");
		/* fall through */
	case DPE_STMT_EXPR:
		dump_expr(d, stmt->expr);
		dpe_text_puts(d->to, ";");
		return;
	case DPE_STMT_IF:
		dpe_text_puts(d->to, "if (");
		dump_expr(d, stmt->expr);
		dpe_text_puts(d->to, ") ");
		dump_stmts(d, stmt->body);
		if (stmt->otherwise) {
			dpe_text_puts(d->to, " else ");
			dump_stmts(d, stmt->otherwise);
		}
		return;
	case DPE_STMT_BLOCK:
		dump_stmts(d, stmt->body);
		return;
	case DPE_STMT_CALL:
		dump_call(d, stmt);
		return;
	}
}

static void dump_stmts(const struct dump *d, const struct dpe_stmt *stmt)
{
	dpe_text_puts(d->to, "{");
	for (; stmt; stmt = stmt->next) {
		dpe_text_puts(d->to, " ");
		dump_stmt(d, stmt);
	}
	dpe_text_puts(d->to, " }");
}

/* ---- --dump=resolved ------------------------------------------------------------------ */

static void dump_action(const struct dump *d, const char *what, const struct dpe_stmt *stmt)
{
	if (!stmt)
		return;
	dpe_text_printf(d->to, "  %s ", what);
	dump_stmts(d, stmt);
	dpe_text_puts(d->to, "\n");
}

static void dump_patterns(const struct dump *d)
{
	static const char *const kinds[] = {"control", "condition", "access", "update"};

	for (unsigned i = 0; i < d->rule->npatterns; i++) {
		const struct dpe_pattern *p = &d->rule->patterns[i];

		dpe_text_printf(d->to, "  pattern %u: %s %s", i, kinds[p->kind], p->text);
		if (p->cond) {
			dpe_text_puts(d->to, ", condition ");
			dump_expr(d, p->cond);
		}
		dpe_text_puts(d->to, "\n");
	}
	for (unsigned i = 0; i < d->rule->nliterals; i++) {
		const struct dpe_literal *l = &d->rule->literals[i];

		dpe_text_printf(
			d->to, "  literal %u: pattern %u, carets %u\n", i, l->pattern, l->carets);
	}
}

/* The actions of groups, each with its group. */
static void dump_group_actions(const struct dump *d, const struct dpe_node *node)
{
	if (!node)
		return;
	dump_group_actions(d, node->left);
	dump_group_actions(d, node->right);
	if (!node->action || node->kind == DPE_NODE_ACTION)
		return;
	dpe_text_puts(d->to, "  group ");
	dpe_print_node(d->to, d->rule, node);
	dpe_text_puts(d->to, " action ");
	dump_stmts(d, node->action);
	dpe_text_puts(d->to, "\n");
}

static void dump_side(const struct dump *d, const char *what, const bool *patterns)
{
	dpe_text_printf(d->to, ", %s", what);
	for (unsigned i = 0; i < d->rule->npatterns; i++) {
		if (patterns[i])
			dpe_text_printf(d->to, " %u", i);
	}
}

/* The two sides of a sync rule. */
static void dump_sides(const struct dump *d)
{
	const struct dpe_rule *rule = d->rule;

	dpe_text_printf(d->to, " %s", dpe_pairing_name(rule->pairing));
	dump_side(d, "sends", rule->sends);
	dump_side(d, "receives", rule->receives);
	for (unsigned i = 0; i < rule->nvariables; i++) {
		if (rule->keys >> i & 1)
			dpe_text_printf(d->to, ", key %s",
				dpe_name_text(d->spec->names, rule->variables[i]));
	}
}

static void dump_rule(const struct dump *d)
{
	const struct dpe_rule *rule = d->rule;

	dpe_text_printf(d->to, "rule %s\n  mode %s", rule->name, dpe_rule_mode_name(rule));
	if (rule->mode == DPE_SYNC)
		dump_sides(d);
	dpe_text_printf(
		d->to, "\n  class %s: %s\n", dpe_class_name(rule->class), rule->class_reason);
	for (unsigned i = 0; i < rule->nvariables; i++)
		dpe_text_printf(d->to, "  variable %u: %s\n", i,
			dpe_name_text(d->spec->names, rule->variables[i]));
	dump_patterns(d);
	for (unsigned i = 0; i < rule->npositions; i++) {
		dpe_text_printf(d->to, "  $%u: literal %u\n", i + 1, rule->positions[i].literal);
		dump_action(d, "  action", rule->positions[i].action);
	}
	for (unsigned i = 0; i < rule->nobserving; i++)
		dpe_text_printf(d->to, "  observing pattern %u%s\n", rule->observing[i],
			rule->ends[i] ? " ends" : "");
	dpe_text_puts(d->to, "  tree ");
	dpe_rule_print(d->to, rule);
	dpe_text_puts(d->to, "\n");
	dump_group_actions(d, rule->tree);
	dump_action(d, "action", rule->action);
	dump_action(d, "else", rule->otherwise);
}

void dpe_print_resolved(struct dpe_text *to, const struct dpe_spec *spec)
{
	for (unsigned i = 0; i < spec->nglobals; i++) {
		dpe_text_puts(to, "var ");
		print_global(to, &spec->globals[i]);
		dpe_text_puts(to, " = ");
		print_literal(to, spec->globals[i].initial);
		dpe_text_puts(to, "\n");
	}
	for (unsigned i = 0; i < spec->nrules; i++)
		dump_rule(&(struct dump){to, spec, &spec->rules[i]});
}
