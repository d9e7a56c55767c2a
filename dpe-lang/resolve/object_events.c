/* Data events of objects: `[p->x] from f(p) to g(p)`. The events between which the object is watched determine
 * the object, so the data event binds p, too. */
#include "dpe-lang/resolve/resolve.h"

#include <string.h>

const struct ast_expr *dpe_event_args(const struct ast_event *event)
{
	if (event->from && event->from->result)
		return event->from->pointer;
	return event->from ? event->from->args : event->args;
}

/* ---- which object ------------------------------------------------------------------------ */

/* The name that an lvalue begins with; NULL if it is not one. */
static const char *root_of(const struct ast_expr *expr)
{
	while (expr && expr->kind != AST_NAME)
		expr = expr->left;
	return expr ? expr->name : NULL;
}

/* The first rule variable through which a part of the program's data is reached. */
static const char *pointer_in(const struct dpe_resolver *r, const struct ast_expr *expr)
{
	const char *found = NULL;

	if (!expr)
		return NULL;
	if (expr->kind == AST_ARROW || expr->kind == AST_DEREF || expr->kind == AST_INDEX)
		found = root_of(expr->left);
	if (found && dpe_find_variable(r, found) >= 0)
		return found;
	found = pointer_in(r, expr->left);
	if (!found)
		found = pointer_in(r, expr->right);
	return found ? found : pointer_in(r, expr->third);
}

static bool has_argument(const struct ast_event *event, const char *name)
{
	for (const struct ast_expr *arg = event ? event->args : NULL; arg; arg = arg->next) {
		if (arg->kind == AST_NAME && !strcmp(arg->name, name))
			return true;
	}
	return false;
}

/* The name through which a part is reached. `known`: only names of the rule or of the event after `to`; else
 * the first one. */
static const struct ast_expr *likely_pointer(struct dpe_resolver *r, const struct ast_event *event,
	const struct ast_expr *expr, bool known)
{
	const struct ast_expr *found = NULL;

	if (!expr)
		return NULL;
	if (expr->kind == AST_ARROW || expr->kind == AST_DEREF || expr->kind == AST_INDEX)
		for (found = expr->left; found && found->kind != AST_NAME;)
			found = found->left;
	if (found && (!known || dpe_find_variable(r, found->name) >= 0 ||
			     has_argument(event->to, found->name)))
		return found;
	found = likely_pointer(r, event, expr->left, known);
	if (!found)
		found = likely_pointer(r, event, expr->right, known);
	return found ? found : likely_pointer(r, event, expr->third, known);
}

void dpe_find_result_pointer(struct dpe_resolver *r, struct ast_event *event)
{
	const struct ast_expr *pointer = likely_pointer(r, event, event->expr, true);

	if (!pointer)
		pointer = likely_pointer(r, event, event->expr, false);
	if (!pointer)
		return; /* reported later */
	event->from->pointer = dpe_ast_expr_new(r->spec->arena, AST_NAME, pointer->place);
	event->from->pointer->name = pointer->name;
}

/* ---- when -------------------------------------------------------------------------------- */

static void check_others(struct dpe_resolver *r, const struct ast_event *event,
	const struct ast_expr *arg, const char *pointer)
{
	for (const struct ast_expr *other = event->args; other; other = other->next) {
		if (other != arg && other->kind != AST_ANY)
			resolve_error(r, other->place,
				arg ? "here '%s' is the only argument that counts: write _ for others"
				    : "here only the result counts, which is '%s': write _ for "
				      "arguments",
				pointer);
	}
}

/* Which argument points to the object. */
static void find_argument(struct dpe_resolver *r, const struct ast_event *event,
	const char *pointer, struct dpe_object_moment *moment)
{
	const struct ast_expr *arg = event->args;
	unsigned number = 0;

	while (arg && (arg->kind != AST_NAME || strcmp(arg->name, pointer))) {
		arg = arg->next;
		number++;
	}
	if (!arg) {
		resolve_error(r, event->place,
			"'%s' must be an argument here: it says which object is meant", pointer);
		return;
	}
	if (arg->text)
		resolve_error(r, arg->place,
			"an object is identified by its address: write '%s' without text( )", pointer);
	moment->arg = number;
	check_others(r, event, arg, pointer);
}

static void resolve_moment(struct dpe_resolver *r, const struct ast_event *event,
	const char *pointer, struct dpe_object_moment *moment)
{
	moment->result = event->result;
	if (event->result)
		check_others(r, event, NULL, pointer);
	else
		find_argument(r, event, pointer, moment);
	moment->name = dpe_intern_string(r->names, event->name);
	if (event->module)
		moment->module = dpe_intern_string(r->names, event->module);
	moment->phase = event->phase == DPE_EXIT ? DPE_EXIT : DPE_ENTER;
	moment->place = event->place;
}

static void print_moment(struct dpe_text *to, const char *word, const struct ast_event *event)
{
	dpe_text_printf(to, " %s %s%s%s.%s", word, event->module ? event->module : "",
		event->module ? "::" : "", event->name,
		event->phase == DPE_EXIT ? "exit" : "enter");
}

const char *dpe_object_suffix(struct dpe_resolver *r, const struct ast_event *event)
{
	struct dpe_text text = {0};
	const char *suffix;

	if (!event || !event->from)
		return "";
	print_moment(&text, "from", event->from);
	if (event->to)
		print_moment(&text, "to", event->to);
	suffix = dpe_arena_strndup(r->spec->arena, text.at, text.len);
	dpe_text_free(&text);
	return suffix;
}

/* ---- all --------------------------------------------------------------------------------- */

static const struct dpe_arg *bound_argument(struct dpe_resolver *r, const char *pointer)
{
	struct dpe_arg *arg = dpe_arena_alloc(r->spec->arena, sizeof(*arg));
	int variable = dpe_find_variable(r, pointer);

	arg->kind = variable < 0 ? DPE_ARG_ANY : DPE_ARG_VARIABLE;
	arg->variable = variable < 0 ? 0 : (unsigned)variable;
	return arg;
}

static bool is_reached(const char *lvalue)
{
	lvalue += strspn(lvalue, "*(");
	return !strncmp(lvalue, DPE_ARGUMENT, sizeof(DPE_ARGUMENT) - 1) ||
	       !strncmp(lvalue, DPE_RESULT, sizeof(DPE_RESULT) - 1);
}

/* The one lvalue of the object that the expression reads; a diagnostic for a second one. */
static const char *only_part(
	struct dpe_resolver *r, const struct dpe_expr *expr, const char *known)
{
	if (!expr)
		return known;
	if ((expr->kind == DPE_EXPR_TARGET || expr->kind == DPE_EXPR_PRIOR) &&
		is_reached(expr->lvalue)) {
		if (known && strcmp(known, expr->lvalue))
			resolve_error(r, expr->place,
				"at an access to a watched object only the watched part is "
				"known");
		known = expr->lvalue;
	}
	known = only_part(r, expr->left, known);
	known = only_part(r, expr->right, known);
	return only_part(r, expr->third, known);
}

static dpe_name name_of(struct dpe_resolver *r, const struct ast_event *event, const char *lvalue,
	const char *prime)
{
	return dpe_intern_string(r->names, dpe_arena_printf(r->spec->arena, "[%s%s]%s", lvalue,
						   prime, dpe_object_suffix(r, event)));
}

void dpe_resolve_object(
	struct dpe_resolver *r, const struct ast_event *event, struct dpe_pattern *pattern)
{
	struct dpe_object *object = dpe_arena_alloc(r->spec->arena, sizeof(*object));
	const char *pointer = pointer_in(r, event->expr);
	unsigned errors = dpe_diags_errors(r->spec->diags);

	if (!pointer) {
		resolve_error(r, event->place,
			"'from' says where a pointer comes from, as in [p->x] from f(p): nothing in "
			"the brackets is reached by a variable of the rule");
		return;
	}
	resolve_moment(r, event->from, pointer, &object->from);
	if (event->to && event->to->result)
		resolve_error(r, event->to->place,
			"an object is watched to an event that has its address as an argument");
	else if (event->to)
		resolve_moment(r, event->to, pointer, &object->to);
	object->ends = event->to;
	object->lvalue = only_part(r, pattern->cond, pattern->lvalue);
	if (!object->lvalue)
		return;
	if (pattern->nupdates > 1 && dpe_diags_errors(r->spec->diags) == errors)
		resolve_error(r, event->place,
			"only one part of an object is watched: the condition names other variables, "
			"too");
	object->access = name_of(r, event, object->lvalue, "");
	object->update = name_of(r, event, object->lvalue, "'");
	pattern->object = object;
	pattern->has_args = true;
	pattern->nargs = 1;
	pattern->args = bound_argument(r, pointer);
}
