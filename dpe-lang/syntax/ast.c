/* The nodes of the AST, and the AST as text: for --dump=ast, and for the texts of events and actions. */
#include "dpe-lang/syntax/syntax.h"

#include <inttypes.h>

struct ast_expr *dpe_ast_expr_new(
	struct dpe_arena *arena, enum ast_expr_kind kind, struct dpe_place place)
{
	struct ast_expr *expr = dpe_arena_alloc(arena, sizeof(*expr));

	expr->kind = kind;
	expr->place = place;
	expr->depth = 1;
	return expr;
}

struct ast_name *dpe_ast_name_new(struct dpe_arena *arena, const char *text, struct dpe_place place)
{
	struct ast_name *name = dpe_arena_alloc(arena, sizeof(*name));

	name->text = text;
	name->place = place;
	return name;
}

struct ast_dpe *dpe_ast_dpe_new(struct dpe_arena *arena, enum dpe_node_kind kind,
	struct ast_dpe *left, struct ast_dpe *right, struct dpe_place place)
{
	struct ast_dpe *node = dpe_arena_alloc(arena, sizeof(*node));
	unsigned l = left ? left->depth : 0, r = right ? right->depth : 0;

	node->kind = kind;
	node->left = left;
	node->right = right;
	node->place = place;
	node->depth = 1 + (l > r ? l : r);
	return node;
}

/* ---- expressions ---------------------------------------------------------------------- */

void dpe_ast_print_string(struct dpe_text *to, const char *text)
{
	dpe_text_puts(to, "\"");
	for (; *text; text++) {
		unsigned char c = (unsigned char)*text;

		if (c == '"' || c == '\\')
			dpe_text_printf(to, "\\%c", c);
		else if (c == '\n')
			dpe_text_puts(to, "\\n");
		else if (c == '\t')
			dpe_text_puts(to, "\\t");
		else if (c < 0x20 || c == 0x7f)
			dpe_text_printf(to, "\\%03o", c);
		else
			dpe_text_add(to, text, 1);
	}
	dpe_text_puts(to, "\"");
}

static void print_expr(struct dpe_text *to, const struct ast_expr *expr);

static void print_args(struct dpe_text *to, const struct ast_expr *arg)
{
	dpe_text_puts(to, "(");
	for (; arg; arg = arg->next) {
		dpe_text_puts(to, arg->behind ? "&" : "");
		print_expr(to, arg);
		if (arg->next)
			dpe_text_puts(to, ", ");
	}
	dpe_text_puts(to, ")");
}

/* Postfix operators and calls. */
static void print_postfix(struct dpe_text *to, const struct ast_expr *expr)
{
	if (expr->left)
		print_expr(to, expr->left);
	switch (expr->kind) {
	case AST_FIELD:
		dpe_text_printf(to, ".%s", expr->name);
		return;
	case AST_ARROW:
		dpe_text_printf(to, "->%s", expr->name);
		return;
	case AST_INDEX:
		dpe_text_puts(to, "[");
		print_expr(to, expr->right);
		dpe_text_puts(to, "]");
		return;
	case AST_PRIOR:
		dpe_text_puts(to, "'");
		return;
	default:
		print_args(to, expr->right);
		return;
	}
}

static void print_infix(struct dpe_text *to, const struct ast_expr *expr, const char *op)
{
	print_expr(to, expr->left);
	dpe_text_printf(to, " %s ", op);
	print_expr(to, expr->right);
}

/* -(-x) must not come out as --x */
static void print_prefix(struct dpe_text *to, const struct ast_expr *expr, const char *op)
{
	bool parens =
		!expr->left->parens && (expr->left->kind == AST_UNARY || expr->left->negative);

	dpe_text_puts(to, op);
	dpe_text_puts(to, parens ? "(" : "");
	print_expr(to, expr->left);
	dpe_text_puts(to, parens ? ")" : "");
}

/* False: it has operands. */
static bool print_leaf(struct dpe_text *to, const struct ast_expr *expr)
{
	if (expr->time) {
		dpe_text_printf(to, "%s%s", expr->negative ? "-" : "", expr->time);
		return true;
	}
	switch (expr->kind) {
	case AST_NUMBER:
		dpe_text_printf(to, "%s%" PRIu64, expr->negative ? "-" : "", expr->num);
		return true;
	case AST_STRING:
		dpe_ast_print_string(to, expr->name);
		return true;
	case AST_REAL:
	case AST_NAME:
		dpe_text_printf(to, expr->text ? "text(%s)" : "%s", expr->name);
		return true;
	case AST_ANY:
		dpe_text_puts(to, "_");
		return true;
	case AST_POSITION:
		dpe_text_printf(to, "$%" PRIu64, expr->num);
		return true;
	default:
		return false;
	}
}

static void print_operation(struct dpe_text *to, const struct ast_expr *expr)
{
	if (print_leaf(to, expr))
		return;
	switch (expr->kind) {
	case AST_DEREF:
		print_prefix(to, expr, "*");
		return;
	case AST_UNARY:
		print_prefix(to, expr, dpe_value_operator(expr->op)->text);
		return;
	case AST_BINARY:
		print_infix(to, expr, expr->single ? "=" : dpe_value_operator(expr->op)->text);
		return;
	case AST_CONDITIONAL:
		print_infix(to, expr, "?");
		dpe_text_puts(to, " : ");
		print_expr(to, expr->third);
		return;
	case AST_ASSIGN:
		print_infix(to, expr, "=");
		return;
	case AST_UPDATE:
		print_expr(to, expr->left);
		dpe_text_printf(to, " %s= ", dpe_value_operator(expr->op)->text);
		print_expr(to, expr->right);
		return;
	default:
		print_postfix(to, expr);
		return;
	}
}

/* Parentheses are printed where they were written, so where they are needed. */
static void print_expr(struct dpe_text *to, const struct ast_expr *expr)
{
	dpe_text_puts(to, expr->parens ? "(" : "");
	print_operation(to, expr);
	dpe_text_puts(to, expr->parens ? ")" : "");
}

/* ---- statements ----------------------------------------------------------------------- */

static void print_stmt(struct dpe_text *to, const struct ast_stmt *stmt)
{
	switch (stmt->kind) {
	case AST_STMT_EMPTY:
		dpe_text_puts(to, ";");
		return;
	case AST_STMT_EXPR:
		print_expr(to, stmt->expr);
		dpe_text_puts(to, ";");
		return;
	case AST_STMT_BLOCK:
		dpe_ast_print_block(to, stmt->body);
		return;
	case AST_STMT_IF:
		dpe_text_puts(to, "if (");
		print_expr(to, stmt->expr);
		dpe_text_puts(to, ") ");
		/* always a block, so that an inner `if` does not take the `else` */
		dpe_ast_print_block(
			to, stmt->body->kind == AST_STMT_BLOCK ? stmt->body->body : stmt->body);
		if (stmt->otherwise) {
			dpe_text_puts(to, " else ");
			print_stmt(to, stmt->otherwise);
		}
		return;
	}
}

void dpe_ast_print_block(struct dpe_text *to, const struct ast_stmt *first)
{
	dpe_text_puts(to, "{");
	for (; first; first = first->next) {
		dpe_text_puts(to, " ");
		print_stmt(to, first);
	}
	dpe_text_puts(to, " }");
}

/* ---- events, expressions of events, items --------------------------------------------- */

void dpe_ast_print_event(struct dpe_text *to, const struct ast_event *event)
{
	if (event->data) {
		dpe_text_puts(to, "[");
		print_expr(to, event->expr);
		dpe_text_puts(to, "]");
	} else {
		if (event->module)
			dpe_text_printf(to, "%s::", event->module);
		if (event->quoted)
			dpe_ast_print_string(to, event->name);
		else
			dpe_text_puts(to, event->name);
		for (unsigned i = 0; i < event->carets; i++)
			dpe_text_puts(to, "^");
		if (event->parens)
			print_args(to, event->args);
	}
	if (event->result)
		dpe_text_puts(to, ".ret");
	else if (event->phase != DPE_BARE)
		dpe_text_puts(to, event->phase == DPE_ENTER ? ".enter" : ".exit");
	if (event->value) {
		dpe_text_puts(to, " = ");
		print_expr(to, event->value);
	}
	if (event->from) {
		dpe_text_puts(to, " from ");
		dpe_ast_print_event(to, event->from);
	}
	if (event->to) {
		dpe_text_puts(to, " to ");
		dpe_ast_print_event(to, event->to);
	}
	if (event->by)
		dpe_text_printf(to, " by %s", event->by->text);
	if (event->cond) {
		dpe_text_puts(to, " [");
		print_expr(to, event->cond);
		dpe_text_puts(to, "]");
	}
}

static void print_action(struct dpe_text *to, const struct ast_block *action)
{
	if (!action)
		return;
	dpe_text_puts(to, " ");
	dpe_ast_print_block(to, action->first);
}

static void print_dpe(struct dpe_text *to, const struct ast_dpe *dpe);

static void print_binary(struct dpe_text *to, const struct ast_dpe *dpe, const char *name)
{
	dpe_text_printf(to, "(%s ", name);
	print_dpe(to, dpe->left);
	if (dpe->right) {
		dpe_text_puts(to, " ");
		print_dpe(to, dpe->right);
	}
	if (dpe->control)
		dpe_text_printf(to, " %s", dpe->control);
	print_action(to, dpe->action);
	dpe_text_puts(to, ")");
}

static void print_dpe(struct dpe_text *to, const struct ast_dpe *dpe)
{
	if (dpe->kind == DPE_NODE_EVENT) {
		dpe_ast_print_event(to, dpe->event);
		print_action(to, dpe->action);
	} else if (dpe->kind == DPE_NODE_ACTION) {
		dpe_ast_print_block(to, dpe->action->first);
	} else {
		print_binary(to, dpe, dpe_event_operator(dpe->kind)->text);
	}
}

static void print_params(struct dpe_text *to, const struct ast_name *name)
{
	if (!name)
		return;
	dpe_text_puts(to, "(");
	for (; name; name = name->next)
		dpe_text_printf(to, "%s%s", name->text, name->next ? ", " : ")");
}

static void print_rule(struct dpe_text *to, const struct ast_item *item)
{
	static const char *const modes[] = {"rule", "expect", "detect", "predict", "measure", "sync"};

	dpe_text_puts(to, modes[item->mode]);
	if (item->mode == AST_SYNC)
		dpe_text_printf(to, "%s %s", item->keep ? " keep" : "", dpe_pairing_name(item->pairing));
	if (item->name)
		dpe_text_printf(to, " %s", item->name);
	print_params(to, item->params);
	dpe_text_puts(to, "\n\t");
	print_dpe(to, item->dpe);
	for (const struct ast_dpe *o = item->observing; o; o = o->next) {
		dpe_text_puts(to, "\n\tobserving ");
		print_dpe(to, o);
		dpe_text_puts(to, o->ends ? " ends" : "");
	}
	if (item->action) {
		dpe_text_puts(to, "\n\taction ");
		dpe_ast_print_block(to, item->action->first);
	}
	if (item->otherwise) {
		dpe_text_puts(to, "\n\telse ");
		dpe_ast_print_block(to, item->otherwise->first);
	}
}

void dpe_ast_print_item(struct dpe_text *to, const struct ast_item *item)
{
	switch (item->kind) {
	case AST_INCLUDE:
		dpe_text_printf(to, "include %s", item->name);
		break;
	case AST_VARIABLE:
		dpe_text_printf(to, "var %s", item->name);
		print_params(to, item->params);
		if (item->initial) {
			dpe_text_puts(to, " = ");
			print_expr(to, item->initial);
		}
		break;
	case AST_DEFINITION:
		dpe_text_printf(to, "definition %s", item->name);
		print_params(to, item->params);
		dpe_text_puts(to, "\n\t");
		if (item->dpe)
			print_dpe(to, item->dpe);
		break;
	case AST_RULE:
		print_rule(to, item);
		break;
	}
	dpe_text_puts(to, "\n");
}
