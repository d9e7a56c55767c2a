/* The normal text of lvalues: program variables, and what arguments and results point to. */
#include "dpe-lang/resolve/resolve.h"

#include <inttypes.h>
#include <string.h>

bool dpe_is_result(const struct ast_expr *expr)
{
	return expr->kind == AST_FIELD && !expr->left && !strcmp(expr->name, "ret");
}

bool dpe_is_scoped(const struct ast_expr *expr)
{
	return expr->kind == AST_NAME && strchr(expr->name, ':');
}

bool dpe_is_lvalue(const struct ast_expr *expr)
{
	switch (expr->kind) {
	case AST_NAME:
		return true;
	case AST_FIELD:
	case AST_ARROW:
	case AST_DEREF:
	case AST_INDEX:
		return expr->left && (dpe_is_lvalue(expr->left) || dpe_is_result(expr->left));
	default:
		return false;
	}
}

static bool print_lvalue(struct dpe_resolver *r, struct dpe_text *to, const struct ast_expr *expr);

static bool print_index(struct dpe_resolver *r, struct dpe_text *to, const struct ast_expr *expr)
{
	const struct ast_expr *index = expr->right;

	dpe_text_puts(to, "[");
	if (index->kind == AST_NUMBER) {
		dpe_text_printf(to, "%" PRIu64, index->num);
	} else if (!dpe_is_lvalue(index)) {
		resolve_error(r, index->place,
			"an index in a variable of the program is a number or such a variable");
		return false;
	} else if (!print_lvalue(r, to, index)) {
		return false;
	}
	dpe_text_puts(to, "]");
	return true;
}

/* The event that an expression refers to: the one at its position, the only one of the rule, or a
 * data event of an object; or NULL. */
static const struct ast_event *current_event(const struct dpe_resolver *r)
{
	unsigned position = 0;

	if (r->scope == SCOPE_RULE && r->nevents == 1)
		position = 1;
	else if (r->scope == SCOPE_CONDITION || r->scope == SCOPE_EVENT)
		position = r->position;
	if (r->object || !position)
		return r->object;
	return r->events[position - 1]->event;
}

int dpe_argument_of(const struct dpe_resolver *r, const char *name)
{
	const struct ast_event *event = current_event(r);
	const struct ast_expr *arg;
	int number = 0;

	if (!event)
		return -1;
	for (arg = dpe_event_args(event); arg; arg = arg->next, number++) {
		if (arg->kind == AST_NAME && !arg->behind && !strcmp(arg->name, name))
			return event->from && event->from->result ? DPE_ARGUMENT_RESULT : number;
	}
	return event->value && event->value->kind == AST_NAME && !strcmp(event->value->name, name)
		       ? DPE_ARGUMENT_RESULT
		       : -1;
}

const char *dpe_argument_lvalue(struct dpe_resolver *r, int argument)
{
	if (argument == DPE_ARGUMENT_RESULT)
		return DPE_RESULT;
	return dpe_arena_printf(r->spec->arena, DPE_ARGUMENT "%d", argument);
}

/* The current event is a data event without `from`. */
static bool lacks_from(const struct dpe_resolver *r)
{
	return !r->object &&
	       (r->scope == SCOPE_DATA ||
		       (r->scope == SCOPE_CONDITION && r->events[r->position - 1]->event->data));
}

static bool print_root(struct dpe_resolver *r, struct dpe_text *to, const struct ast_expr *expr)
{
	int argument = dpe_argument_of(r, expr->name);

	if (argument >= 0) {
		dpe_text_puts(to, dpe_argument_lvalue(r, argument));
		return true;
	}
	if (dpe_find_variable(r, expr->name) >= 0 || dpe_find_global(r->globals, expr->name) >= 0) {
		resolve_error(r, expr->place,
			dpe_find_variable(r, expr->name) >= 0
				? lacks_from(r)
					  ? "'%s' is a variable of the rule: write after the "
					    "brackets "
					    "which event has the pointer, as in [p->x] from f(p)"
					  : "'%s' is a variable of the rule, and no argument of "
					    "this event: it has no parts"
				: "'%s' is a variable of the specification, not of the program: it "
				  "has no parts",
			expr->name);
		return false;
	}
	dpe_text_puts(to, expr->name);
	return true;
}

static bool print_result(struct dpe_resolver *r, struct dpe_text *to, const struct ast_expr *expr)
{
	const struct ast_event *event = current_event(r);

	if (r->object || !event || event->data || event->phase != DPE_EXIT) {
		resolve_error(r, expr->place,
			"what a result points to can be read only in the condition or the action of an "
			".exit event");
		return false;
	}
	dpe_text_puts(to, DPE_RESULT);
	return true;
}

static bool print_lvalue(struct dpe_resolver *r, struct dpe_text *to, const struct ast_expr *expr)
{
	bool parens = expr->left && expr->left->kind == AST_DEREF && expr->kind != AST_DEREF;

	if (expr->kind == AST_NAME)
		return print_root(r, to, expr);
	if (dpe_is_result(expr))
		return print_result(r, to, expr);
	dpe_text_puts(to, expr->kind == AST_DEREF ? "*" : parens ? "(" : "");
	if (!print_lvalue(r, to, expr->left))
		return false;
	dpe_text_puts(to, parens ? ")" : "");
	if (expr->kind == AST_FIELD || expr->kind == AST_ARROW)
		dpe_text_printf(to, "%s%s", expr->kind == AST_FIELD ? "." : "->", expr->name);
	return expr->kind != AST_INDEX || print_index(r, to, expr);
}

const char *dpe_lvalue_text(struct dpe_resolver *r, const struct ast_expr *expr)
{
	struct dpe_text text = {0};
	const char *result = NULL;

	if (print_lvalue(r, &text, expr))
		result = dpe_arena_strndup(r->spec->arena, text.at, text.len);
	dpe_text_free(&text);
	return result;
}
