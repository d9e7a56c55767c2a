/* Text of the program: what an argument, result or variable of type `char *` points to. Written as
 * text(s), or implied by a comparison with a string. Logs may hold the text itself instead. */
#include "dpe-lang/resolve/resolve.h"

#include <string.h>

const char *dpe_text_name(struct dpe_resolver *r, const char *lvalue)
{
	return dpe_arena_printf(r->spec->arena, DPE_TEXT "%s)", lvalue);
}

static struct dpe_expr *text_of(struct dpe_resolver *r, const struct dpe_expr *operand,
	const char *lvalue, unsigned position)
{
	struct dpe_expr *new = dpe_arena_alloc(r->spec->arena, sizeof(*new));

	new->kind = DPE_EXPR_TEXT;
	new->place = operand->place;
	new->left = operand;
	new->index = position;
	new->lvalue = dpe_text_name(r, lvalue);
	return new;
}

/* Some event binds the variable to text, so its value is that text. */
static bool is_bound_to_text(const struct dpe_resolver *r, const char *name)
{
	for (unsigned i = 0; i < r->nevents; i++) {
		const struct ast_expr *arg = dpe_event_args(r->events[i]->event);

		for (; arg; arg = arg->next) {
			if (arg->text && !strcmp(arg->name, name))
				return true;
		}
		arg = r->events[i]->event->value;
		if (arg && arg->text && !strcmp(arg->name, name))
			return true;
	}
	return false;
}

/* The position (from 1) of the only event before the current one with that argument, and which argument
 * it is; 0 if there is none or more than one. */
static unsigned only_event_with(const struct dpe_resolver *r, const char *name, int *argument)
{
	unsigned found = 0, count = 0;

	for (unsigned i = 0; i < r->nevents; i++) {
		const struct ast_expr *arg = r->events[i]->event->args;

		for (int number = 0; arg; arg = arg->next, number++) {
			if (arg->kind != AST_NAME || arg->behind || strcmp(arg->name, name))
				continue;
			found = i + 1;
			*argument = number;
			count++;
		}
		arg = r->events[i]->event->value;
		if (arg && arg->kind == AST_NAME && !strcmp(arg->name, name)) {
			found = i + 1;
			*argument = DPE_ARGUMENT_RESULT;
			count++;
		}
	}
	if (count != 1 || r->scope == SCOPE_OBSERVED || r->scope == SCOPE_DATA ||
		(r->scope == SCOPE_CONDITION && found >= r->position))
		return 0;
	return found;
}

static const struct dpe_expr *text_of_variable(
	struct dpe_resolver *r, const struct ast_expr *name, const struct dpe_expr *operand)
{
	int argument = dpe_argument_of(r, name->name);
	unsigned position = 0;

	if (is_bound_to_text(r, name->name))
		return operand;
	if (argument < 0)
		position = only_event_with(r, name->name, &argument);
	if (argument < 0 || (!position && dpe_argument_of(r, name->name) < 0))
		return NULL;
	return text_of(r, operand, dpe_argument_lvalue(r, argument), position);
}

static const struct dpe_expr *text_of_field(struct dpe_resolver *r, const struct dpe_expr *field)
{
	int64_t number;

	if (field->field == DPE_FIELD_RET)
		return text_of(r, field, DPE_RESULT, field->index);
	if (field->field != DPE_FIELD_ARG || !field->third ||
		!dpe_value_as_int(field->third->value, &number))
		return NULL;
	return text_of(r, field, dpe_argument_lvalue(r, (int)number), field->index);
}

/* NULL if the operand cannot point to text. */
static const struct dpe_expr *find_text(
	struct dpe_resolver *r, const struct ast_expr *expr, const struct dpe_expr *operand)
{
	switch (operand->kind) {
	case DPE_EXPR_RULEVAR:
		return expr->kind == AST_NAME ? text_of_variable(r, expr, operand) : NULL;
	case DPE_EXPR_FIELD:
		return text_of_field(r, operand);
	case DPE_EXPR_TARGET:
		return text_of(r, operand, operand->lvalue, 0);
	default:
		return NULL;
	}
}

const struct dpe_expr *dpe_resolve_text(
	struct dpe_resolver *r, const struct ast_expr *call, const struct dpe_expr *operand)
{
	const struct dpe_expr *text = find_text(r, call->right, operand);

	if (text)
		return text;
	if (operand->kind == DPE_EXPR_RULEVAR && call->right->kind == AST_NAME)
		resolve_error(r, call->place,
			"'%s' is not an argument of this event, nor of exactly one event before "
			"it: write "
			"text(%s) where an event binds it, as in f(text(%s))",
			call->right->name, call->right->name, call->right->name);
	else
		resolve_error(r, call->place,
			"text( ) takes an argument, a result or a variable of the program");
	return NULL;
}

static bool is_string(const struct dpe_expr *expr)
{
	return expr->kind == DPE_EXPR_LITERAL && expr->value.kind == DPE_STRING;
}

void dpe_compare_text(
	struct dpe_resolver *r, const struct ast_expr *expr, struct dpe_expr *comparison)
{
	const struct dpe_expr *text;

	if (!dpe_op_compares(comparison->op))
		return;
	if (is_string(comparison->right)) {
		text = find_text(r, expr->left, comparison->left);
		comparison->left = text ? text : comparison->left;
	} else if (is_string(comparison->left)) {
		text = find_text(r, expr->right, comparison->right);
		comparison->right = text ? text : comparison->right;
	}
}
