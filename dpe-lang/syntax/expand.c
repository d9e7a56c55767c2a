/* Expands definitions: an event that names one becomes its expression, with parameters replaced and
 * carets added. */
#include "dpe-lang/syntax/syntax.h"

#include <string.h>

/* The expansion of one use of a definition; `arguments` are in the order of its parameters. */
struct scope {
	const struct ast_item *definition;
	const struct ast_expr *arguments;
	unsigned carets;
	const struct ast_origin *origin;
};

struct expansion {
	struct ast_spec *spec;
	struct dpe_arena *arena;
	unsigned nodes, depth;
	bool failed;
	bool alone; /* definitions that were checked already are not expanded again */
};

static const struct scope outermost = {0};

static struct ast_dpe *expand(
	struct expansion *x, const struct ast_dpe *node, const struct scope *scope);

static void note_origin(struct dpe_diags *diags, const struct ast_origin *origin)
{
	unsigned shown = 0;

	for (; origin && shown < 5; origin = origin->outer, shown++) {
		if (origin->place.begin != origin->definition->place.begin)
			dpe_diag(diags, DPE_NOTE, origin->place, "in the expansion of '%s' here",
				origin->definition->name);
	}
}

bool dpe_ast_error(struct dpe_diags *diags, const struct ast_origin *origin, struct dpe_place place,
	const char *fmt, ...)
{
	unsigned before = dpe_diags_errors(diags);
	struct dpe_text text = {0};
	va_list args;

	va_start(args, fmt);
	dpe_text_vprintf(&text, fmt, args);
	va_end(args);
	dpe_diag(diags, DPE_ERROR, place, "%s", text.at);
	dpe_text_free(&text);
	if (dpe_diags_errors(diags) == before)
		return false;
	note_origin(diags, origin);
	return true;
}

/* ---- copies with parameters replaced -------------------------------------------------- */

/* Counts a node of the result; false, after one error, if there are too many. */
static bool count_node(struct expansion *x, const struct scope *scope, struct dpe_place place)
{
	if (x->failed)
		return false;
	if (++x->nodes <= DPE_MAX_NODES)
		return true;
	x->failed = true;
	if (scope->definition)
		dpe_diag(x->spec->diags, DPE_ERROR, scope->origin->place,
			"with '%s' expanded here the rule has more than %d nodes",
			scope->definition->name, DPE_MAX_NODES);
	else
		dpe_diag(x->spec->diags, DPE_ERROR, place, "the rule has more than %d nodes",
			DPE_MAX_NODES);
	return false;
}

static const struct ast_expr *argument_for(const struct scope *scope, const char *name)
{
	const struct ast_expr *argument = scope->arguments;
	struct ast_name *param = scope->definition ? scope->definition->params : NULL;

	for (; param && argument; param = param->next, argument = argument->next) {
		if (!strcmp(param->text, name)) {
			param->used = true;
			return argument;
		}
	}
	return NULL;
}

static struct ast_expr *copy_args(
	struct expansion *x, const struct ast_expr *expr, const struct scope *scope, bool event);

static bool is_plain_name(const struct ast_expr *argument)
{
	return argument->kind == AST_NAME && !argument->text && !argument->behind;
}

/* Why the argument cannot replace the parameter; NULL if it can. */
static const char *why_unsuitable(const struct ast_expr *param, const struct ast_expr *argument, bool event)
{
	if (argument->kind == AST_ANY)
		return event ? NULL : "is '_' here, which has no value";
	if (event && param->behind && !is_plain_name(argument))
		return "must be a name here: '&' is followed by the name of what an argument points to";
	if (event && param->text && argument->kind != AST_STRING && (argument->kind != AST_NAME || argument->behind))
		return "must be a name or a string here: it is a text";
	return NULL;
}

static const struct ast_expr *replacement_for(
	struct expansion *x, const struct ast_expr *expr, const struct scope *scope, bool event)
{
	const struct ast_expr *argument = expr->kind == AST_NAME ? argument_for(scope, expr->name) : NULL;
	const char *why = argument ? why_unsuitable(expr, argument, event) : NULL;

	if (!why)
		return argument;
	dpe_ast_error(x->spec->diags, scope->origin, expr->place, "'%s' %s", expr->name, why);
	return event ? argument : NULL;
}

/* `event`: it is an argument of an event, which may be `_`. */
static struct ast_expr *copy_expr(
	struct expansion *x, const struct ast_expr *expr, const struct scope *scope, bool event)
{
	const struct ast_expr *argument;
	struct ast_expr *copy;

	if (!expr || !count_node(x, scope, expr->place))
		return NULL;
	argument = replacement_for(x, expr, scope, event);
	copy = dpe_arena_alloc(x->arena, sizeof(*copy));
	*copy = argument ? *argument : *expr;
	copy->place = expr->place;
	copy->text = event && copy->kind == AST_NAME && (copy->text || expr->text);
	copy->behind = event && copy->kind == AST_NAME && (copy->behind || expr->behind);
	copy->next = copy->last = NULL;
	if (argument)
		return copy;
	copy->left = copy_expr(x, expr->left, scope, false);
	copy->right = copy_args(x, expr->right, scope, false);
	copy->third = copy_expr(x, expr->third, scope, false);
	return copy;
}

static struct ast_expr *copy_args(
	struct expansion *x, const struct ast_expr *expr, const struct scope *scope, bool event)
{
	struct ast_expr *first = NULL, **end = &first;

	for (; expr && !x->failed; expr = expr->next) {
		*end = copy_expr(x, expr, scope, event);
		if (*end)
			end = &(*end)->next;
	}
	return first;
}

static struct ast_stmt *copy_stmts(
	struct expansion *x, const struct ast_stmt *stmt, const struct scope *scope)
{
	struct ast_stmt *first = NULL, **end = &first;

	for (; stmt && count_node(x, scope, stmt->place); stmt = stmt->next) {
		struct ast_stmt *copy = dpe_arena_alloc(x->arena, sizeof(*copy));

		*copy = *stmt;
		copy->next = copy->last = NULL;
		copy->expr = copy_expr(x, stmt->expr, scope, false);
		copy->body = copy_stmts(x, stmt->body, scope);
		copy->otherwise = copy_stmts(x, stmt->otherwise, scope);
		*end = copy;
		end = &copy->next;
	}
	return first;
}

static struct ast_block *copy_block(
	struct expansion *x, const struct ast_block *block, const struct scope *scope)
{
	struct ast_block *copy;

	if (!block)
		return NULL;
	copy = dpe_arena_alloc(x->arena, sizeof(*copy));
	copy->place = block->place;
	copy->first = copy_stmts(x, block->first, scope);
	return copy;
}

static struct ast_name *copy_by(
	struct expansion *x, const struct ast_name *by, const struct scope *scope)
{
	const struct ast_expr *argument = by ? argument_for(scope, by->text) : NULL;

	if (!by)
		return NULL;
	if (!argument)
		return dpe_ast_name_new(x->arena, by->text, by->place);
	if (argument->kind != AST_ANY && !is_plain_name(argument))
		dpe_ast_error(x->spec->diags, scope->origin, by->place,
			"'%s' must be a name here: it takes the thread of an event", by->text);
	return argument->kind == AST_NAME ? dpe_ast_name_new(x->arena, argument->name, by->place) : NULL;
}

/* The control variable of `E *n`, or the argument in its place. */
static const char *copy_control(
	struct expansion *x, const struct ast_dpe *repetition, const struct scope *scope)
{
	const struct ast_expr *argument =
		repetition->control ? argument_for(scope, repetition->control) : NULL;

	if (!argument)
		return repetition->control;
	if (is_plain_name(argument))
		return argument->name;
	dpe_ast_error(x->spec->diags, scope->origin, repetition->place,
		"'%s' must be a name here: it counts the rounds of a repetition", repetition->control);
	return NULL;
}

static struct ast_event *copy_event(
	struct expansion *x, const struct ast_event *event, const struct scope *scope)
{
	struct ast_event *copy = dpe_arena_alloc(x->arena, sizeof(*copy));

	*copy = *event;
	copy->args = copy_args(x, event->args, scope, true);
	copy->value = copy_expr(x, event->value, scope, true);
	if (copy->value && copy->value->behind)
		dpe_ast_error(x->spec->diags, scope->origin, copy->value->place,
			"'&' is not for a result: it names what an argument points to");
	copy->expr = copy_expr(x, event->expr, scope, false);
	copy->cond = copy_expr(x, event->cond, scope, false);
	copy->by = copy_by(x, event->by, scope);
	if (!event->data)
		copy->carets += scope->carets;
	else if (scope->carets)
		dpe_ast_error(x->spec->diags, scope->origin, event->place,
			"carets distinguish events of functions; a data event has none");
	if (event->from)
		copy->from = copy_event(x, event->from, scope);
	if (event->to)
		copy->to = copy_event(x, event->to, scope);
	return copy;
}

/* ---- one use of a definition ---------------------------------------------------------- */

static unsigned count_args(const struct ast_expr *args)
{
	unsigned n = 0;

	for (; args; args = args->next)
		n++;
	return n;
}

static unsigned count_params(const struct ast_name *params)
{
	unsigned n = 0;

	for (; params; params = params->next)
		n++;
	return n;
}

static void use_error(struct expansion *x, const struct scope *scope, struct dpe_place place,
	const struct ast_item *definition, const char *text)
{
	if (dpe_ast_error(x->spec->diags, scope->origin, place, "%s", text))
		dpe_diag(x->spec->diags, DPE_NOTE, definition->place, "'%s' is defined here",
			definition->name);
}

static bool check_use(struct expansion *x, const struct ast_event *event,
	const struct ast_item *definition, const struct scope *scope)
{
	unsigned given = count_args(event->args), taken = count_params(definition->params);

	if (definition->expanding) {
		use_error(x, scope, event->name_place, definition,
			dpe_arena_printf(x->spec->arena,
				"'%s' is defined by itself: definitions cannot be recursive",
				event->name));
		x->failed = true;
		return false;
	}
	if (event->phase != DPE_BARE)
		use_error(x, scope, event->place, definition,
			dpe_arena_printf(x->spec->arena,
				"'%s' is a compound event, which has no .%s", event->name,
				event->phase == DPE_ENTER ? "enter" : "exit"));
	if (given == taken)
		return true;
	use_error(x, scope, event->place, definition,
		dpe_arena_printf(x->spec->arena, "'%s' takes %u argument%s, %u given", event->name,
			taken, taken == 1 ? "" : "s", given));
	return false;
}

static bool has_operands(const struct ast_expr *expr)
{
	return expr->kind == AST_BINARY || expr->kind == AST_CONDITIONAL;
}

/* The conjunction of both conditions. */
static struct ast_expr *both(struct expansion *x, struct ast_expr *inner, struct ast_expr *outer)
{
	struct ast_expr *all;

	if (!inner)
		return outer;
	inner->parens |= has_operands(inner);
	outer->parens |= has_operands(outer);
	all = dpe_ast_expr_new(x->arena, AST_BINARY, outer->place);
	all->op = DPE_OP_LAND;
	all->left = inner;
	all->right = outer;
	return all;
}

/* `compound by T` and `compound [cond]`, where the compound is one event. */
static void qualify(struct expansion *x, const struct ast_event *use, struct ast_dpe *body,
	const struct ast_item *definition, const struct scope *scope)
{
	struct ast_event *event = NULL;

	while (body->kind == DPE_NODE_GROUP)
		body = body->left;
	if (body->kind == DPE_NODE_EVENT)
		event = body->event;
	if (use->by && event && !event->by)
		event->by = use->by;
	else if (use->by && event)
		use_error(x, scope, use->by->place, definition,
			"the thread of this event has a name already, in the definition");
	else if (use->by)
		use_error(x, scope, use->by->place, definition,
			"'by' belongs to one event, and this is a compound of several: write it "
			"in the definition");
	if (use->cond && event)
		event->cond = both(x, event->cond, use->cond);
	else if (use->cond)
		use_error(x, scope, use->cond->place, definition,
			"a condition belongs to one event, and this is a compound of several: "
			"write it in the definition");
}

static struct ast_dpe *expand_use(struct expansion *x, const struct ast_dpe *node,
	const struct ast_event *use, struct ast_item *definition, const struct scope *outer)
{
	struct ast_origin *origin = dpe_arena_alloc(x->arena, sizeof(*origin));
	struct scope scope = {definition, use->args, use->carets, origin};
	struct ast_dpe *body, *group;

	*origin = (struct ast_origin){definition, use->name_place, outer->origin};
	if (!definition->dpe || !check_use(x, use, definition, outer))
		return NULL;
	definition->used = true;
	if (x->alone && definition->checked)
		return NULL;
	definition->expanding = true;
	body = expand(x, definition->dpe, &scope);
	definition->expanding = false;
	definition->checked = true;
	if (!body)
		return NULL;
	qualify(x, use, body, definition, outer);
	if (body->kind == DPE_NODE_EVENT && !(body->action && node->action)) {
		body->action = body->action ? body->action : copy_block(x, node->action, outer);
		return body;
	}
	group = dpe_ast_dpe_new(x->arena, DPE_NODE_GROUP, body, NULL, node->place);
	group->extent = node->extent;
	group->origin = outer->origin;
	group->action = copy_block(x, node->action, outer);
	return group;
}

static struct ast_dpe *expand_event(
	struct expansion *x, const struct ast_dpe *node, const struct scope *scope)
{
	struct ast_event *event = copy_event(x, node->event, scope);
	struct ast_item *definition = NULL;
	struct ast_dpe *copy;

	if (!event->data && !event->module && !event->quoted)
		definition = dpe_find_definition(x->spec, event->name);
	if (definition) {
		copy = expand_use(x, node, event, definition, scope);
		if (copy || x->failed)
			return copy;
		/* after an error: an event of that name, so that its variables are bound */
	}
	copy = dpe_ast_dpe_new(x->arena, DPE_NODE_EVENT, NULL, NULL, node->place);
	copy->extent = node->extent;
	copy->origin = scope->origin;
	copy->event = event;
	copy->action = copy_block(x, node->action, scope);
	return copy;
}

static bool enter(struct expansion *x, const struct ast_dpe *node, const struct scope *scope)
{
	if (!count_node(x, scope, node->place))
		return false;
	if (++x->depth <= DPE_MAX_OPERATORS)
		return true;
	dpe_ast_error(x->spec->diags, scope->origin, node->place,
		"with its definitions expanded the rule has more than %d nested operators",
		DPE_MAX_OPERATORS);
	x->failed = true;
	return false;
}

static struct ast_dpe *expand(
	struct expansion *x, const struct ast_dpe *node, const struct scope *scope)
{
	struct ast_dpe *left = NULL, *right = NULL, *copy = NULL;

	if (!enter(x, node, scope))
		return NULL;
	if (node->kind == DPE_NODE_EVENT) {
		copy = expand_event(x, node, scope);
		x->depth--;
		return copy;
	}
	if (node->left)
		left = expand(x, node->left, scope);
	if (node->right && !x->failed)
		right = expand(x, node->right, scope);
	x->depth--;
	if (x->failed)
		return NULL;
	copy = dpe_ast_dpe_new(x->arena, node->kind, left, right, node->place);
	copy->extent = node->extent;
	copy->origin = scope->origin;
	copy->control = copy_control(x, node, scope);
	copy->action = copy_block(x, node->action, scope);
	return copy;
}

/* ---- entry points -------------------------------------------------------------------- */

struct ast_dpe *dpe_expand(struct ast_spec *spec, const struct ast_item *rule)
{
	struct expansion x = {.spec = spec, .arena = spec->arena};

	struct ast_dpe *tree;

	tree = expand(&x, rule->dpe, &outermost);
	return x.failed ? NULL : tree;
}

struct ast_dpe *dpe_expand_observed(struct ast_spec *spec, const struct ast_dpe *event)
{
	struct expansion x = {.spec = spec, .arena = spec->arena};
	struct ast_dpe *node = expand(&x, event, &outermost);

	if (x.failed)
		return NULL;
	while (node && node->kind == DPE_NODE_GROUP)
		node = node->left;
	if (node && node->kind == DPE_NODE_EVENT)
		return node;
	if (node)
		dpe_diag(spec->diags, DPE_ERROR, event->place,
			"'%s' is a compound event: list its events one by one to observe them",
			event->event->name);
	return NULL;
}

void dpe_expand_alone(struct ast_spec *spec, struct ast_item *definition)
{
	struct expansion x = {.spec = spec, .arena = dpe_arena_new(), .alone = true};
	struct ast_expr *first = NULL, **end = &first;
	struct ast_origin origin = {definition, definition->place, NULL};
	struct scope scope = {definition, NULL, 0, &origin};

	for (const struct ast_name *p = definition->params; p; p = p->next) {
		*end = dpe_ast_expr_new(x.arena, AST_NAME, p->place);
		(*end)->name = p->text;
		end = &(*end)->next;
	}
	scope.arguments = first;
	definition->expanding = true;
	if (definition->dpe)
		expand(&x, definition->dpe, &scope);
	definition->expanding = false;
	definition->checked = true;
	dpe_arena_free(x.arena);
}
