/* One rule: its variables, positions, literals, actions and expression, from the expanded AST. */
#include "dpe-lang/resolve/resolve.h"

#include <stdlib.h>
#include <string.h>

/* ---- the variables of the specification ----------------------------------------------- */

static bool add_global(struct ast_spec *spec, struct dpe_globals *globals, const char *name,
	struct dpe_place place)
{
	if (globals->n == DPE_MAX_GLOBALS) {
		dpe_diag(spec->diags, DPE_ERROR, place,
			"more than %d variables in the specification", DPE_MAX_GLOBALS);
		return false;
	}
	*DPE_GROW(globals->at, globals->n, globals->cap) =
		(struct dpe_global){.name = name, .initial = dpe_value_int(0), .place = place};
	return true;
}

/* The variables of rules for whose values the `var` is kept. */
static void declare_keys(
	struct ast_spec *spec, struct dpe_global *global, const struct ast_item *item)
{
	for (const struct ast_name *key = item->params; key; key = key->next) {
		if (global->nkeys == DPE_MAX_KEYS) {
			dpe_diag(spec->diags, DPE_ERROR, key->place,
				"a `var` has at most %d variables of a rule", DPE_MAX_KEYS);
			return;
		}
		global->keys[global->nkeys++] = key->text;
	}
}

static void declare_global(
	struct ast_spec *spec, struct dpe_globals *globals, const struct ast_item *item)
{
	if (dpe_find_global(globals, item->name) >= 0) {
		dpe_diag(spec->diags, DPE_ERROR, item->place, "'%s' is declared already",
			item->name);
		return;
	}
	if (!add_global(spec, globals, item->name, item->place))
		return;
	declare_keys(spec, &globals->at[globals->n - 1], item);
	if (item->initial)
		globals->at[globals->n - 1].initial = dpe_literal_value(item->initial);
}

static bool is_param(const struct ast_item *item, const char *name)
{
	for (const struct ast_name *p = item->params; p; p = p->next) {
		if (!strcmp(p->text, name))
			return true;
	}
	return false;
}

/* A name that an action assigns to is a `var`, declared or not. */
static void imply_global(struct ast_spec *spec, struct dpe_globals *globals,
	const struct ast_item *item, const struct ast_expr *left)
{
	const char **declared, *best;

	if (left->kind != AST_NAME || dpe_is_scoped(left) || is_param(item, left->name) ||
		dpe_find_global(globals, left->name) >= 0 ||
		!add_global(spec, globals, left->name, left->place))
		return;
	declared = dpe_xcalloc(globals->ndeclared + 1, sizeof(*declared));
	for (unsigned i = 0; i < globals->ndeclared; i++)
		declared[i] = globals->at[i].name;
	if (dpe_nearest(left->name, declared, globals->ndeclared, &best, 1))
		dpe_diag(spec->diags, DPE_WARNING, left->place,
			"'%s' is not declared and becomes a variable of its own; did you mean "
			"'%s'?",
			left->name, best);
	free(declared);
}

static void imply_by_stmts(struct ast_spec *spec, struct dpe_globals *globals,
	const struct ast_item *item, const struct ast_stmt *stmt)
{
	for (; stmt; stmt = stmt->next) {
		const struct ast_expr *expr = stmt->expr;

		if (expr && (expr->kind == AST_ASSIGN || expr->kind == AST_UPDATE))
			imply_global(spec, globals, item, expr->left);
		imply_by_stmts(spec, globals, item, stmt->body);
		imply_by_stmts(spec, globals, item, stmt->otherwise);
	}
}

static void imply_by_dpe(struct ast_spec *spec, struct dpe_globals *globals,
	const struct ast_item *item, const struct ast_dpe *dpe)
{
	if (!dpe)
		return;
	imply_by_dpe(spec, globals, item, dpe->left);
	imply_by_dpe(spec, globals, item, dpe->right);
	if (dpe->action)
		imply_by_stmts(spec, globals, item, dpe->action->first);
}

void dpe_collect_globals(
	struct ast_spec *spec, struct dpe_names *names, struct dpe_globals *globals)
{
	(void)names;
	for (const struct ast_item *item = spec->first; item; item = item->next) {
		if (item->kind == AST_VARIABLE)
			declare_global(spec, globals, item);
	}
	globals->ndeclared = globals->n;
	for (unsigned i = 0; i < globals->n; i++)
		globals->at[i].declared = true;
	for (const struct ast_item *item = spec->first; item; item = item->next) {
		if (item->kind != AST_RULE && item->kind != AST_DEFINITION)
			continue;
		imply_by_dpe(spec, globals, item, item->dpe);
		if (item->action)
			imply_by_stmts(spec, globals, item, item->action->first);
		if (item->otherwise)
			imply_by_stmts(spec, globals, item, item->otherwise->first);
	}
}

/* ---- the variables of the rule -------------------------------------------------------- */

static struct rule_variable *add_variable(
	struct dpe_resolver *r, const char *name, struct dpe_place place)
{
	int known = dpe_find_variable(r, name), global = dpe_find_global(r->globals, name);

	if (known >= 0)
		return &r->variables[known];
	if (dpe_constant_instead(name)) {
		resolve_error(r, place, "'%s' would be a variable here: write %s", name, dpe_constant_instead(name));
		return NULL;
	}
	if (global >= 0 && (unsigned)global < r->globals->ndeclared) {
		resolve_error(r, place,
			"'%s' is a `var` of the specification, which no event can bind: use "
			"another name, or compare in a condition: [.args[0] = %s]",
			name, name);
		return NULL;
	}
	if (r->nvariables == DPE_MAX_VARIABLES) {
		if (!r->too_many_variables)
			resolve_error(
				r, place, "more than %d variables in one rule", DPE_MAX_VARIABLES);
		r->too_many_variables = true;
		return NULL;
	}
	r->variables[r->nvariables] = (struct rule_variable){name, false, place};
	return &r->variables[r->nvariables++];
}

static void declare_variables(struct dpe_resolver *r)
{
	for (const struct ast_name *p = r->item->params; p; p = p->next) {
		if (!strcmp(p->text, "_"))
			continue; /* reported already */
		if (dpe_find_variable(r, p->text) >= 0)
			resolve_error(
				r, p->place, "'%s' is a variable of the rule already", p->text);
		else
			add_variable(r, p->text, p->place);
	}
}

static void bind(struct dpe_resolver *r, const char *name, struct dpe_place place)
{
	struct rule_variable *variable = add_variable(r, name, place);

	if (variable)
		variable->bound = true;
}

static void bind_by_event(struct dpe_resolver *r, const struct ast_dpe *node)
{
	const struct ast_event *event = node->event;

	r->origin = node->origin;
	if (event->from && event->from->result)
		dpe_find_result_pointer(r, node->event);
	for (const struct ast_expr *arg = dpe_event_args(event); arg; arg = arg->next) {
		if (arg->kind == AST_NAME)
			bind(r, arg->name, arg->place);
	}
	if (event->value && event->value->kind == AST_NAME)
		bind(r, event->value->name, event->value->place);
	if (event->by && !strcmp(event->by->text, "_"))
		resolve_error(r, event->by->place, "'by _' has no effect: remove it");
	else if (event->by)
		bind(r, event->by->text, event->by->place);
	r->origin = NULL;
}

static void check_bound(struct dpe_resolver *r)
{
	for (unsigned i = 0; i < r->nvariables; i++) {
		if (!r->variables[i].bound)
			resolve_error(r, r->variables[i].place,
				"no event binds '%s': write it as an argument of an event, as "
				"f(%s), or after 'by'",
				r->variables[i].name, r->variables[i].name);
	}
}

static void keep_variables(struct dpe_resolver *r)
{
	dpe_name *names = dpe_arena_alloc(r->spec->arena, (r->nvariables + 1) * sizeof(*names));

	for (unsigned i = 0; i < r->nvariables; i++)
		names[i] = dpe_intern_string(r->names, r->variables[i].name);
	r->rule->variables = names;
	r->rule->nvariables = r->nvariables;
}

/* ---- positions ------------------------------------------------------------------------ */

static void collect_events(struct dpe_resolver *r, struct ast_dpe *dpe)
{
	if (!dpe)
		return;
	if (dpe->kind == DPE_NODE_EVENT)
		*DPE_GROW(r->events, r->nevents, r->capevents) = dpe;
	collect_events(r, dpe->left);
	collect_events(r, dpe->right);
}

static bool check_events(struct dpe_resolver *r)
{
	if (!r->nevents)
		resolve_error(r, r->item->place, "the rule '%s' has no event", r->rule->name);
	else if (r->nevents > DPE_MAX_POSITIONS)
		resolve_error(r, r->item->place,
			"the rule has %u event positions, at most %d are "
			"possible",
			r->nevents, DPE_MAX_POSITIONS);
	return r->nevents && r->nevents <= DPE_MAX_POSITIONS;
}

static void resolve_positions(struct dpe_resolver *r)
{
	struct dpe_position *positions =
		dpe_arena_alloc(r->spec->arena, r->nevents * sizeof(*positions));

	for (unsigned i = 0; i < r->nevents; i++) {
		const struct ast_dpe *node = r->events[i];

		r->position = i + 1;
		r->scope = SCOPE_CONDITION;
		positions[i].literal = dpe_intern_literal(r, node);
		positions[i].place = node->place;
	}
	for (unsigned i = 0; i < r->nevents; i++) {
		r->position = i + 1;
		r->scope = SCOPE_EVENT;
		r->origin = r->events[i]->origin;
		positions[i].action = dpe_resolve_block(r, r->events[i]->action);
		r->origin = NULL;
	}
	r->rule->positions = positions;
	r->rule->npositions = r->nevents;
}

/* The events after `observing`, expanded; `count` of them. */
static struct ast_dpe **expand_observed(struct dpe_resolver *r, unsigned *count)
{
	struct ast_dpe **observed = NULL, *node;
	unsigned n = 0, cap = 0;

	for (const struct ast_dpe *o = r->item->observing; o; o = o->next) {
		node = dpe_expand_observed(r->spec, o);
		if (!node)
			continue;
		node->ends = o->ends;
		if (node->event->carets)
			resolve_error(r, node->place, "an observed event has no carets");
		*DPE_GROW(observed, n, cap) = node;
	}
	*count = n;
	return observed;
}

static void resolve_observed(struct dpe_resolver *r, struct ast_dpe **observed, unsigned count)
{
	unsigned *patterns = dpe_arena_alloc(r->spec->arena, (count + 1) * sizeof(*patterns));
	bool *ends = dpe_arena_alloc(r->spec->arena, (count + 1) * sizeof(*ends));

	r->scope = SCOPE_OBSERVED;
	for (unsigned i = 0; i < count; i++)
		patterns[i] = dpe_intern_pattern(r, observed[i]);
	for (unsigned i = 0; i < count; i++)
		ends[i] = observed[i]->ends;
	r->rule->observing = patterns;
	r->rule->ends = ends;
	r->rule->nobserving = count;
}

/* ---- the tree ------------------------------------------------------------------------- */

static const struct dpe_stmt *both(
	struct dpe_resolver *r, const struct dpe_stmt *first, const struct dpe_stmt *second)
{
	struct dpe_stmt *blocks;

	if (!first || !second)
		return first ? first : second;
	blocks = dpe_arena_alloc(r->spec->arena, 2 * sizeof(*blocks));
	for (unsigned i = 0; i < 2; i++) {
		blocks[i].kind = DPE_STMT_BLOCK;
		blocks[i].body = i ? second : first;
		blocks[i].place = blocks[i].body->place;
	}
	blocks[0].next = &blocks[1];
	return blocks;
}

static const char *action_text(struct dpe_resolver *r, const struct ast_block *block)
{
	struct dpe_text text = {0};
	const char *result;

	dpe_ast_print_block(&text, block->first);
	result = dpe_arena_strndup(r->spec->arena, text.at, text.len);
	dpe_text_free(&text);
	return result;
}

static struct dpe_node *build_tree(struct dpe_resolver *r, const struct ast_dpe *dpe);

/* A group becomes its content, with the action of the group. */
static struct dpe_node *build_group(struct dpe_resolver *r, const struct ast_dpe *dpe)
{
	struct dpe_node *node = build_tree(r, dpe->left);

	r->scope = SCOPE_RULE;
	r->origin = dpe->origin;
	node->action = both(r, node->action, dpe_resolve_block(r, dpe->action));
	r->origin = NULL;
	return node;
}

static struct dpe_node *build_tree(struct dpe_resolver *r, const struct ast_dpe *dpe)
{
	struct dpe_node *node;

	if (dpe->kind == DPE_NODE_GROUP)
		return build_group(r, dpe);
	node = dpe_arena_alloc(r->spec->arena, sizeof(*node));
	node->kind = dpe->kind;
	node->place = dpe->place;
	node->control = dpe->control;
	if (dpe->kind == DPE_NODE_EVENT)
		node->position = ++r->next;
	if (dpe->kind == DPE_NODE_ACTION) {
		r->scope = SCOPE_RULE;
		r->origin = dpe->origin;
		node->action = dpe_resolve_block(r, dpe->action);
		node->text = action_text(r, dpe->action);
		r->origin = NULL;
	}
	if (dpe->left)
		node->left = build_tree(r, dpe->left);
	if (dpe->right)
		node->right = build_tree(r, dpe->right);
	return node;
}

/* ---- the rule ------------------------------------------------------------------------- */

static void *keep(struct dpe_resolver *r, const void *array, unsigned n, size_t size)
{
	void *copy = dpe_arena_alloc(r->spec->arena, (n + 1) * size);

	if (n)
		memcpy(copy, array, n * size);
	return copy;
}

static void resolve_parts(struct dpe_resolver *r, const struct ast_dpe *tree)
{
	struct dpe_rule *rule = r->rule;
	unsigned nobserved;
	struct ast_dpe **observed = expand_observed(r, &nobserved);

	for (unsigned i = 0; i < r->nevents; i++)
		bind_by_event(r, r->events[i]);
	for (unsigned i = 0; i < nobserved; i++)
		bind_by_event(r, observed[i]);
	check_bound(r);
	keep_variables(r);
	resolve_positions(r);
	resolve_observed(r, observed, nobserved);
	free(observed);
	rule->tree = build_tree(r, tree);
	r->scope = SCOPE_RULE;
	rule->action = dpe_resolve_block(r, r->item->action);
	rule->otherwise = dpe_resolve_block(r, r->item->otherwise);
	rule->patterns = keep(r, r->patterns, r->npatterns, sizeof(*r->patterns));
	rule->npatterns = r->npatterns;
	rule->literals = keep(r, r->literals, r->nliterals, sizeof(*r->literals));
	rule->nliterals = r->nliterals;
	dpe_resolve_mode(r);
	dpe_classify(r->spec->arena, rule);
	dpe_lint(r);
	dpe_check_conditions(r);
	dpe_lint_product(r);
}

void dpe_resolve_rule(struct ast_spec *spec, struct dpe_names *names, struct dpe_globals *globals,
	const struct ast_item *item, struct dpe_rule *rule)
{
	struct dpe_resolver r = {
		.spec = spec, .names = names, .globals = globals, .item = item, .rule = rule};
	struct ast_dpe *tree = dpe_expand(spec, item);

	dpe_check_params(spec, item);
	rule->place = item->place;
	if (!tree)
		return;
	declare_variables(&r);
	collect_events(&r, tree);
	if (check_events(&r))
		resolve_parts(&r, tree);
	dpe_interned_free(r.interned);
	free(r.events);
	free(r.patterns);
	free(r.literals);
}
