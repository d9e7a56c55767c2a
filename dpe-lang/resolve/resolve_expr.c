/* Expressions in conditions and actions: names by their scope, fields of events, target lvalues. */
#include "dpe-lang/resolve/resolve.h"

#include <string.h>

static struct dpe_expr *new_expr(
	struct dpe_resolver *r, enum dpe_expr_kind kind, struct dpe_place place)
{
	struct dpe_expr *expr = dpe_arena_alloc(r->spec->arena, sizeof(*expr));

	expr->kind = kind;
	expr->place = place;
	return expr;
}

/* In place of an invalid expression, so that one mistake is one diagnostic. */
static struct dpe_expr *wrong(struct dpe_resolver *r, const struct ast_expr *expr)
{
	struct dpe_expr *new = new_expr(r, DPE_EXPR_TARGET, expr->place);

	new->lvalue = "?";
	return new;
}

static bool in_condition(const struct dpe_resolver *r)
{
	return r->scope == SCOPE_CONDITION || r->scope == SCOPE_DATA || r->scope == SCOPE_OBSERVED;
}

/* ---- target lvalues ------------------------------------------------------------------- */

static struct dpe_expr *resolve_target(
	struct dpe_resolver *r, const struct ast_expr *expr, enum dpe_expr_kind kind)
{
	struct dpe_expr *new = new_expr(r, kind, expr->place);

	new->lvalue = dpe_lvalue_text(r, expr);
	return new->lvalue ? new : wrong(r, expr);
}

static struct dpe_expr *resolve_prior(struct dpe_resolver *r, const struct ast_expr *expr)
{
	if (!dpe_is_lvalue(expr->left)) {
		resolve_error(r, expr->place,
			"X' is the value before an update: X must be a variable of the program");
		return wrong(r, expr);
	}
	struct dpe_expr *new = resolve_target(r, expr->left, DPE_EXPR_PRIOR);

	new->place = expr->place;
	return new;
}

/* In a condition the name may be meant as a variable of the program, which a `var` hides. */
static bool is_ambiguous(struct dpe_resolver *r, const struct ast_expr *expr, int global)
{
	if (global < 0 || (unsigned)global < r->globals->ndeclared || !in_condition(r))
		return false;
	if (resolve_error(r, expr->place,
		    "an action assigns '%s', which is not declared, so here it may be a variable of the "
		    "program: write 'var %s;' if it is one of the specification, else use another name in "
		    "the action",
		    expr->name, expr->name))
		dpe_diag(r->spec->diags, DPE_NOTE, r->globals->at[global].place, "it is assigned here");
	return true;
}

/* A variable of the rule by whose value the `var` is kept; NULL after a diagnostic. */
static const struct dpe_expr *resolve_key(
	struct dpe_resolver *r, const struct dpe_global *global, unsigned number, struct dpe_place place)
{
	int variable = dpe_find_variable(r, global->keys[number]);
	struct dpe_expr *key;

	if (variable < 0) {
		resolve_error(r, place,
			"'%s' has a value for each '%s', and this rule has no variable of that name: "
			"name it as an argument of an event",
			global->name, global->keys[number]);
		return NULL;
	}
	key = new_expr(r, DPE_EXPR_RULEVAR, place);
	key->index = (unsigned)variable;
	return key;
}

const struct dpe_expr *dpe_resolve_global(struct dpe_resolver *r, unsigned number, struct dpe_place place)
{
	const struct dpe_global *global = &r->globals->at[number];
	struct dpe_expr *new = new_expr(r, DPE_EXPR_GLOBAL, place);
	const struct dpe_expr **const keys[DPE_MAX_KEYS] = {&new->left, &new->right, &new->third};

	new->index = number;
	for (unsigned i = 0; i < global->nkeys; i++)
		*keys[i] = resolve_key(r, global, i, place);
	return new;
}

static const struct dpe_expr *resolve_name(struct dpe_resolver *r, const struct ast_expr *expr)
{
	int variable = dpe_find_variable(r, expr->name);
	int global = dpe_find_global(r->globals, expr->name);
	struct dpe_expr *new;

	if (!strcmp(expr->name, "_")) {
		resolve_error(r, expr->place, "'_' matches any value: it has none here");
		return wrong(r, expr);
	}
	if (variable < 0 && global < 0 && dpe_constant_instead(expr->name)) {
		resolve_error(r, expr->place, "'%s' would be a variable of the program here: write %s", expr->name,
			dpe_constant_instead(expr->name));
		return wrong(r, expr);
	}
	if (variable < 0 && global < 0)
		return resolve_target(r, expr, DPE_EXPR_TARGET);
	if (variable < 0 && is_ambiguous(r, expr, global))
		return wrong(r, expr);
	if (variable < 0)
		return dpe_resolve_global(r, (unsigned)global, expr->place);
	new = new_expr(r, DPE_EXPR_RULEVAR, expr->place);
	new->index = (unsigned)variable;
	return new;
}

/* ---- positions and their fields ------------------------------------------------------- */

static const struct {
	const char *name;
	enum dpe_field field;
} fields[] = {
	{"tid", DPE_FIELD_TID},
	{"pid", DPE_FIELD_TID},
	{"process", DPE_FIELD_PROCESS},
	{"time", DPE_FIELD_TIME},
	{"ret", DPE_FIELD_RET},
	{"args", DPE_FIELD_ARG},
	{"name", DPE_FIELD_NAME},
	{"stack", DPE_FIELD_STACK},
	{"comm", DPE_FIELD_COMM},
	{"host", DPE_FIELD_HOST},
	{"access", DPE_FIELD_ACCESS},
};

/* $i as a number from 1, where 0 is the event itself; -1 after a diagnostic. */
static int resolve_position(struct dpe_resolver *r, const struct ast_expr *expr)
{
	if (!expr->num || expr->num > r->nevents) {
		resolve_error(r, expr->place,
			"no event has this number: the rule has %u event position%s, $1%s",
			r->nevents, r->nevents == 1 ? "" : "s",
			r->nevents == 1 ? ""
					: dpe_arena_printf(r->spec->arena, " to $%u", r->nevents));
		return -1;
	}
	if (r->scope == SCOPE_OBSERVED) {
		resolve_error(r, expr->place,
			"the condition of an observed event cannot refer to other events");
		return -1;
	}
	if (in_condition(r) && expr->num == r->position)
		return 0;
	if (in_condition(r) && expr->num > r->position) {
		resolve_error(r, expr->place,
			"$%llu does not precede this event in the text, which is $%u",
			(unsigned long long)expr->num, r->position);
		return -1;
	}
	return (int)expr->num;
}

static enum dpe_phase phase_of(const struct dpe_resolver *r, unsigned position)
{
	return position ? r->events[position - 1]->event->phase : r->phase;
}

/* The event of the position, or the one that the expression belongs to; NULL: none. */
static const struct ast_event *event_at(const struct dpe_resolver *r, unsigned position)
{
	if (!position && (r->scope == SCOPE_CONDITION || r->scope == SCOPE_EVENT))
		position = r->position;
	return position ? r->events[position - 1]->event : NULL;
}

static bool is_data(const struct dpe_resolver *r, unsigned position)
{
	const struct ast_event *event = event_at(r, position);

	return event ? event->data : r->scope == SCOPE_DATA;
}

static bool is_wrong(const struct dpe_resolver *r, unsigned position)
{
	const struct ast_event *event = event_at(r, position);

	return event && event->wrong;
}

/* True if the event has such an argument, or has its thread in place of it. */
static bool binds(const struct dpe_resolver *r, unsigned position, const char *name)
{
	const struct ast_event *event;

	if (!position)
		return true;
	event = r->events[position - 1]->event;
	if (event->by && !strcmp(event->by->text, name))
		return true;
	for (const struct ast_expr *arg = dpe_event_args(event); arg; arg = arg->next) {
		if (arg->kind == AST_NAME && !strcmp(arg->name, name))
			return true;
	}
	return event->value && event->value->kind == AST_NAME &&
	       !strcmp(event->value->name, name);
}

static void unknown_field(struct dpe_resolver *r, const struct ast_expr *expr)
{
	const char *candidates[DPE_COUNT(fields) + DPE_MAX_VARIABLES], *best;
	unsigned n = 0;

	for (unsigned i = 0; i < DPE_COUNT(fields); i++)
		candidates[n++] = fields[i].name;
	for (unsigned i = 0; i < r->nvariables; i++)
		candidates[n++] = r->variables[i].name;
	if (dpe_nearest(expr->name, candidates, n, &best, 1))
		resolve_error(r, expr->place, "unknown field '.%s'; did you mean '.%s'?",
			expr->name, best);
	else
		resolve_error(r, expr->place,
			"unknown field '.%s': an event has .tid, .process, .time, .ret, .args[i], "
			".name, .stack, .comm and its variables",
			expr->name);
}

static void resolve_variable_field(
	struct dpe_resolver *r, const struct ast_expr *expr, struct dpe_expr *new)
{
	int variable = dpe_find_variable(r, expr->name);
	struct dpe_expr *third;

	if (variable < 0) {
		unknown_field(r, expr);
		return;
	}
	if (!binds(r, new->index, expr->name))
		resolve_error(
			r, expr->place, "the event $%u does not bind '%s'", new->index, expr->name);
	third = new_expr(r, DPE_EXPR_RULEVAR, expr->place);
	third->index = (unsigned)variable;
	new->field = DPE_FIELD_VARIABLE;
	new->third = third;
}

static void resolve_args(struct dpe_resolver *r, const struct ast_expr *field,
	const struct ast_expr *index, struct dpe_expr *new)
{
	const struct dpe_expr *number = index ? dpe_resolve_expr(r, index) : NULL;

	new->third = number;
	if (!index)
		resolve_error(r, field->place, "which argument? .args[0] is the first");
	else if (number->kind != DPE_EXPR_LITERAL || number->value.kind != DPE_INT)
		resolve_error(r, index->place, "the index of .args[ ] must be a number");
	else if (number->value.num < 0 || number->value.num >= DPE_MAX_ARGS)
		resolve_error(r, index->place,
			"an event has at most %d arguments, .args[0] to "
			".args[%d]",
			DPE_MAX_ARGS, DPE_MAX_ARGS - 1);
}

static void check_field(
	struct dpe_resolver *r, const struct ast_expr *expr, const struct dpe_expr *new)
{
	bool call_only = new->field == DPE_FIELD_RET || new->field == DPE_FIELD_ARG;

	if (is_wrong(r, new->index))
		return;
	if (call_only && is_data(r, new->index))
		resolve_error(r, expr->place, "a data event has no .%s", expr->name);
	else if (new->field == DPE_FIELD_ACCESS && !is_data(r, new->index))
		resolve_error(r, expr->place, "only a data event has .access");
	else if (new->field == DPE_FIELD_RET && phase_of(r, new->index) == DPE_ENTER)
		resolve_error(r, expr->place,
			"there is no result yet when a function is entered: .ret belongs to an "
			".exit event");
}

/* `index` is that of .args[index], or NULL. */
static struct dpe_expr *resolve_field(
	struct dpe_resolver *r, const struct ast_expr *expr, const struct ast_expr *index)
{
	struct dpe_expr *new = new_expr(r, DPE_EXPR_FIELD, expr->place);
	int position = 0;
	unsigned i = 0;

	if (expr->left)
		position = resolve_position(r, expr->left);
	else if (r->scope == SCOPE_EVENT)
		position = (int)r->position;
	else if (r->scope == SCOPE_RULE)
		resolve_error(r, expr->place, "of which event? Write $1.%s", expr->name);
	if (position < 0 || (!expr->left && r->scope == SCOPE_RULE))
		return wrong(r, expr);
	new->index = (unsigned)position;
	while (i < DPE_COUNT(fields) && strcmp(fields[i].name, expr->name))
		i++;
	if (i == DPE_COUNT(fields)) {
		resolve_variable_field(r, expr, new);
		return new;
	}
	new->field = fields[i].field;
	check_field(r, expr, new);
	if (new->field == DPE_FIELD_ARG)
		resolve_args(r, expr, index, new);
	else if (index)
		resolve_error(r, index->place, ".%s has no index", expr->name);
	return new;
}

static bool is_text(const struct ast_expr *expr)
{
	return expr->left->kind == AST_NAME && !strcmp(expr->left->name, "text");
}

static bool is_event_field(const struct ast_expr *expr)
{
	return expr->kind == AST_FIELD && (!expr->left || expr->left->kind == AST_POSITION);
}

/* ---- literals and constants ----------------------------------------------------------- */

struct dpe_value dpe_literal_value(const struct ast_expr *expr)
{
	struct dpe_value value = {.kind = DPE_INT, .num = (int64_t)expr->num};

	if (expr->kind == AST_STRING)
		return dpe_value_string(expr->name);
	if (expr->kind == AST_REAL)
		return dpe_real_value(expr->name);
	if (expr->negative)
		value.num = (int64_t)(0 - expr->num);
	else if (expr->num > INT64_MAX)
		value.kind = DPE_UINT;
	return value;
}

static struct dpe_expr *resolve_binary(struct dpe_resolver *r, const struct ast_expr *expr)
{
	struct dpe_expr *new = new_expr(r, DPE_EXPR_BINARY, expr->place);

	new->op = expr->op;
	new->left = dpe_resolve_expr(r, expr->left);
	new->right = dpe_resolve_expr(r, expr->right);
	dpe_compare_text(r, expr, new);
	dpe_fold_binary(r, new);
	return new;
}

static struct dpe_expr *resolve_unary(struct dpe_resolver *r, const struct ast_expr *expr)
{
	struct dpe_expr *new = new_expr(r, DPE_EXPR_UNARY, expr->place);

	new->op = expr->op;
	new->left = dpe_resolve_expr(r, expr->left);
	dpe_fold_unary(r, new);
	return new;
}

static struct dpe_expr *resolve_conditional(struct dpe_resolver *r, const struct ast_expr *expr)
{
	struct dpe_expr *new = new_expr(r, DPE_EXPR_CONDITIONAL, expr->place);

	new->left = dpe_resolve_expr(r, expr->left);
	new->right = dpe_resolve_expr(r, expr->right);
	new->third = dpe_resolve_expr(r, expr->third);
	return new;
}

/* ---- all of them ---------------------------------------------------------------------- */

static struct dpe_expr *resolve_part(struct dpe_resolver *r, const struct ast_expr *expr)
{
	if (is_event_field(expr))
		return resolve_field(r, expr, NULL);
	if (expr->kind == AST_INDEX && is_event_field(expr->left) && !dpe_is_result(expr->left))
		return resolve_field(r, expr->left, expr->right);
	if (dpe_is_lvalue(expr))
		return resolve_target(r, expr, DPE_EXPR_TARGET);
	resolve_error(r, expr->place,
		"only variables of the program (x.f, p->f, a[3], *p), results (.ret->f) and events ($1.tid) have parts");
	return wrong(r, expr);
}

static struct dpe_expr *resolve_whole_position(struct dpe_resolver *r, const struct ast_expr *expr)
{
	struct dpe_expr *new = new_expr(r, DPE_EXPR_POSITION, expr->place);
	int position = resolve_position(r, expr);

	if (position < 0)
		return wrong(r, expr);
	if (in_condition(r))
		resolve_error(r, expr->place,
			"an event has no value: write a field, such as $%llu.tid",
			(unsigned long long)expr->num);
	new->index = (unsigned)position;
	return new;
}

static struct dpe_expr *resolve_literal(struct dpe_resolver *r, const struct ast_expr *expr)
{
	struct dpe_expr *new = new_expr(r, DPE_EXPR_LITERAL, expr->place);

	new->value = dpe_literal_value(expr);
	return new;
}

/* NULL after a diagnostic. */
static const struct dpe_expr *resolve_text_call(struct dpe_resolver *r, const struct ast_expr *call)
{
	if (call->right && !call->right->next)
		return dpe_resolve_text(r, call, dpe_resolve_expr(r, call->right));
	resolve_error(r, call->place, "text( ) takes one argument: text(s)");
	return NULL;
}

static const struct dpe_expr *resolve_called(struct dpe_resolver *r, const struct ast_expr *expr)
{
	const struct dpe_expr *text = is_text(expr) ? resolve_text_call(r, expr) : NULL;

	if (!is_text(expr))
		resolve_error(r, expr->place,
			"a call has no value: write it as a statement of an action");
	return text ? text : wrong(r, expr);
}

const struct dpe_expr *dpe_resolve_expr(struct dpe_resolver *r, const struct ast_expr *expr)
{
	switch (expr->kind) {
	case AST_NUMBER:
	case AST_REAL:
	case AST_STRING:
		return resolve_literal(r, expr);
	case AST_NAME:
		return resolve_name(r, expr);
	case AST_POSITION:
		return resolve_whole_position(r, expr);
	case AST_PRIOR:
		return resolve_prior(r, expr);
	case AST_UNARY:
		return resolve_unary(r, expr);
	case AST_BINARY:
		return resolve_binary(r, expr);
	case AST_CONDITIONAL:
		return resolve_conditional(r, expr);
	case AST_CALL:
		return resolve_called(r, expr);
	case AST_ANY:
	case AST_ASSIGN:
	case AST_UPDATE:
		resolve_error(r, expr->place, "this has no value: write it as a statement");
		return wrong(r, expr);
	default:
		return resolve_part(r, expr);
	}
}
