/* What grammar.y calls: one function for each production makes a node of the AST. */
#include "dpe-lang/syntax/ast_build.h"

#include <inttypes.h>
#include <string.h>

struct dpe_place dpe_build_place(const struct dpe_place *first, const struct dpe_place *last)
{
	if (first)
		return dpe_place_join(*first, *last);
	return (struct dpe_place){last->source, last->end, last->end};
}

/* ---- lists and limits ----------------------------------------------------------------- */

#define APPEND(list, element)                                                                      \
	do {                                                                                       \
		((list)->last ? (list)->last : (list))->next = (element);                          \
		(list)->last = (element);                                                          \
	} while (0)

static unsigned max(unsigned a, unsigned b)
{
	return a > b ? a : b;
}

/* Deeper nodes are dropped after one error, so that no later pass can run out of stack. */
static bool too_deep(
	struct dpe_parser *parser, struct dpe_place place, unsigned depth, unsigned limit)
{
	if (depth <= limit)
		return false;
	if (!parser->too_deep)
		dpe_diag(parser->spec->diags, DPE_ERROR, place,
			"more than %u levels of nesting: write a part of it as a definition "
			"or a rule of its own",
			limit);
	parser->too_deep = true;
	return true;
}

struct ast_name *dpe_build_name_list(struct ast_name *list, struct ast_name *name)
{
	APPEND(list, name);
	return list;
}

struct ast_expr *dpe_build_arg_list(struct ast_expr *list, struct ast_expr *arg)
{
	APPEND(list, arg);
	return list;
}

struct ast_stmt *dpe_build_stmt_list(struct ast_stmt *list, struct ast_stmt *stmt)
{
	if (!list)
		return stmt;
	APPEND(list, stmt);
	return list;
}

struct ast_dpe *dpe_build_observed(
	struct dpe_parser *parser, struct ast_dpe *list, struct ast_event *event, bool ends)
{
	struct ast_dpe *node = dpe_build_event_node(parser, event, NULL);

	node->ends = ends;
	if (!list)
		return node;
	APPEND(list, node);
	return list;
}

/* ---- items ---------------------------------------------------------------------------- */

static struct ast_item *new_item(struct dpe_parser *parser, enum ast_item_kind kind)
{
	struct ast_item *item = dpe_arena_alloc(parser->arena, sizeof(*item));

	item->kind = kind;
	item->included = parser->included;
	return item;
}

static void add_item(struct dpe_parser *parser, struct ast_item *item, struct dpe_place all)
{
	item->begin = all;
	*parser->last = item;
	parser->last = &item->next;
}

struct ast_item *dpe_build_item(struct dpe_parser *parser, enum ast_item_kind kind,
	const char *name, struct dpe_place place, struct dpe_place all)
{
	struct ast_item *item = new_item(parser, kind);

	item->name = name;
	item->place = place;
	add_item(parser, item, all);
	return item;
}

void dpe_build_spec_variable(struct dpe_parser *parser, const char *name, struct dpe_place place,
	struct dpe_place all, struct ast_name *keys, struct ast_expr *initial)
{
	struct ast_item *item = dpe_build_item(parser, AST_VARIABLE, name, place, all);

	item->params = keys;
	item->initial = initial;
}

void dpe_build_definition(struct dpe_parser *parser, const char *name, struct dpe_place place,
	struct dpe_place all, struct ast_name *params, struct ast_dpe *dpe)
{
	struct ast_item *item = dpe_build_item(parser, AST_DEFINITION, name, place, all);

	item->params = params;
	item->dpe = dpe;
}

struct ast_item *dpe_build_mode(
	struct dpe_parser *parser, enum ast_mode mode, enum dpe_pairing pairing)
{
	struct ast_item *item = new_item(parser, AST_RULE);

	item->mode = mode;
	item->pairing = pairing;
	return item;
}

struct ast_item *dpe_build_head(struct dpe_parser *parser, const char *name, struct dpe_place place,
	struct ast_name *params)
{
	struct ast_item *item = new_item(parser, AST_RULE);

	item->name = name;
	item->place = place;
	item->params = params;
	return item;
}

struct ast_item *dpe_build_rule_parts(struct ast_item *mode, struct ast_item *head,
	struct ast_dpe *dpe, struct ast_dpe *observing, struct ast_block *action,
	struct ast_block *otherwise)
{
	if (head) {
		mode->name = head->name;
		mode->place = head->place;
		mode->params = head->params;
	}
	mode->dpe = dpe;
	mode->observing = observing;
	mode->action = action;
	mode->otherwise = otherwise;
	return mode;
}

/* An action right after the last event, or after the one group that is the whole expression, is parsed as the
 * action of that event or group, but belongs to the rule. */
static struct ast_dpe *last_operand(struct ast_dpe *dpe)
{
	bool whole = true;

	while (dpe->kind == DPE_NODE_SEQ || dpe->kind == DPE_NODE_PAR || dpe->kind == DPE_NODE_ALT) {
		dpe = dpe->right;
		whole = false;
	}
	if (dpe->kind == DPE_NODE_EVENT || (whole && dpe->kind == DPE_NODE_GROUP))
		return dpe;
	return NULL;
}

void dpe_build_rule(struct dpe_parser *parser, struct ast_item *rule, struct dpe_place all)
{
	struct ast_dpe *last = last_operand(rule->dpe);

	rule->ends_with_brace = rule->action || rule->otherwise ||
				(!rule->observing && last && last->action) ||
				rule->dpe->kind == DPE_NODE_ACTION;
	if (!rule->action && last) {
		rule->action = last->action;
		last->action = NULL;
	}
	if (!rule->name)
		rule->place = rule->dpe->extent;
	if (rule->mode == AST_NO_MODE) /* an empty mode has no location */
		all.begin = rule->place.begin;
	add_item(parser, rule, all);
}

/* ---- expressions of events ------------------------------------------------------------ */

struct ast_dpe *dpe_build_dpe(struct dpe_parser *parser, enum dpe_node_kind kind,
	struct ast_dpe *left, struct ast_dpe *right, struct dpe_place op, struct dpe_place all)
{
	struct ast_dpe *node = dpe_ast_dpe_new(parser->arena, kind, left, right, op);

	node->extent = all;
	if (too_deep(parser, op, node->depth, DPE_MAX_OPERATORS))
		return left;
	return node;
}

struct ast_dpe *dpe_build_event_node(
	struct dpe_parser *parser, struct ast_event *event, struct ast_block *action)
{
	struct ast_dpe *node = dpe_ast_dpe_new(parser->arena, DPE_NODE_EVENT, NULL, NULL, event->place);

	node->extent = event->place;
	node->event = event;
	node->action = action;
	return node;
}

struct ast_dpe *dpe_build_wrong(struct dpe_parser *parser, struct dpe_place place)
{
	return dpe_build_event_node(parser, dpe_build_name(parser, NULL, "wrong", place), NULL);
}

struct ast_event *dpe_build_event(struct dpe_parser *parser, struct ast_event *core,
	struct ast_name *by, struct ast_expr *cond, struct ast_name *by_last, struct dpe_place all)
{
	if (by && by_last)
		dpe_diag(parser->spec->diags, DPE_ERROR, by_last->place,
			"'by' occurs twice: an event has one thread");
	core->by = by ? by : by_last;
	core->cond = cond;
	core->place = all;
	return core;
}

struct ast_event *dpe_build_name(
	struct dpe_parser *parser, const char *module, const char *name, struct dpe_place place)
{
	struct ast_event *event = dpe_arena_alloc(parser->arena, sizeof(*event));

	event->module = module;
	event->name = name;
	event->name_place = place;
	event->place = place;
	return event;
}

const char *dpe_build_scope(struct dpe_parser *parser, const char *outer, const char *inner)
{
	return dpe_arena_printf(parser->arena, "%s::%s", outer, inner);
}

const char *dpe_build_destructor(struct dpe_parser *parser, const char *name)
{
	return dpe_arena_printf(parser->arena, "~%s", name);
}

struct ast_event *dpe_build_quoted(
	struct dpe_parser *parser, const char *name, struct dpe_place place)
{
	struct ast_event *event = dpe_build_name(parser, NULL, name, place);

	if (!*name)
		dpe_diag(parser->spec->diags, DPE_ERROR, place,
			"an event has a name: write \"file.c:12\" for a line of the program");
	event->quoted = true;
	return event;
}

struct ast_event *dpe_build_control(struct ast_event *event, uint64_t carets,
	struct dpe_place parens, struct ast_expr *args, enum dpe_phase phase, struct dpe_place all)
{
	event->carets = (unsigned)carets;
	event->parens = parens.end > parens.begin;
	event->args = args;
	event->phase = phase;
	event->place = all;
	return event;
}

struct ast_event *dpe_build_result(
	struct dpe_parser *parser, struct ast_event *event, struct ast_expr *value)
{
	event->value = value;
	if (event->phase != DPE_EXIT)
		dpe_diag(parser->spec->diags, DPE_ERROR, value->place,
			"a result is known when the function returns: write %s.exit = …", event->name);
	return event;
}

struct ast_event *dpe_build_data(
	struct dpe_parser *parser, struct ast_expr *expr, struct dpe_place all)
{
	struct ast_event *event;

	event = dpe_build_name(parser, NULL, expr ? NULL : "wrong", all);
	event->wrong = !expr;
	if (!expr)
		return event;
	event->data = true;
	event->expr = expr;
	return event;
}

struct ast_event *dpe_build_object(struct dpe_parser *parser, struct ast_expr *expr,
	struct ast_event *from, struct ast_event *to, struct dpe_place all)
{
	struct ast_event *event = dpe_build_data(parser, expr, all);

	event->from = from;
	event->to = to;
	return event;
}

/* ---- statements ----------------------------------------------------------------------- */

struct ast_block *dpe_build_block(
	struct dpe_parser *parser, struct ast_stmt *first, struct dpe_place place)
{
	struct ast_block *block = dpe_arena_alloc(parser->arena, sizeof(*block));

	block->first = first;
	block->place = place;
	return block;
}

static unsigned stmts_depth(const struct ast_stmt *stmt)
{
	unsigned depth = 0;

	for (; stmt; stmt = stmt->next)
		depth = max(depth, stmt->depth);
	return depth;
}

struct ast_stmt *dpe_build_stmt(struct dpe_parser *parser, enum ast_stmt_kind kind,
	struct ast_expr *expr, struct ast_stmt *body, struct ast_stmt *otherwise,
	struct dpe_place place)
{
	struct ast_stmt *stmt = dpe_arena_alloc(parser->arena, sizeof(*stmt));

	stmt->kind = kind;
	stmt->expr = expr;
	stmt->body = body;
	stmt->otherwise = otherwise;
	stmt->place = place;
	stmt->depth = 1 + max(stmts_depth(body), stmts_depth(otherwise));
	if (too_deep(parser, place, stmt->depth, DPE_MAX_DEPTH)) {
		stmt->body = stmt->otherwise = NULL;
		stmt->kind = AST_STMT_EMPTY;
		stmt->depth = 1;
	}
	return stmt;
}

/* ---- expressions ---------------------------------------------------------------------- */

static struct ast_expr *new_expr(
	struct dpe_parser *parser, enum ast_expr_kind kind, struct dpe_place place)
{
	return dpe_ast_expr_new(parser->arena, kind, place);
}

static unsigned args_depth(const struct ast_expr *expr)
{
	unsigned depth = 0;

	for (; expr; expr = expr->next)
		depth = max(depth, expr->depth);
	return depth;
}

static struct ast_expr *parent(struct dpe_parser *parser, struct ast_expr *expr)
{
	expr->depth = 1 + max(args_depth(expr->left),
				  max(args_depth(expr->right), args_depth(expr->third)));
	return too_deep(parser, expr->place, expr->depth, DPE_MAX_DEPTH) ? expr->left : expr;
}

struct ast_expr *dpe_build_number(
	struct dpe_parser *parser, struct ast_number number, bool negative, struct dpe_place place)
{
	bool wide = negative && number.num > (uint64_t)INT64_MAX + 1;
	struct ast_expr *expr =
		new_expr(parser, number.real || wide ? AST_REAL : AST_NUMBER, place);

	expr->num = number.num;
	expr->time = number.time;
	expr->negative = negative;
	if (number.real)
		expr->name = negative ? dpe_arena_printf(parser->arena, "-%s", number.real)
				      : number.real;
	else if (wide)
		expr->name = dpe_arena_printf(parser->arena, "-%" PRIu64, number.num);
	return expr;
}

struct ast_expr *dpe_build_string(
	struct dpe_parser *parser, const char *text, struct dpe_place place)
{
	struct ast_expr *expr = new_expr(parser, AST_STRING, place);

	expr->name = text;
	return expr;
}

struct ast_expr *dpe_build_variable(
	struct dpe_parser *parser, const char *name, struct dpe_place place)
{
	struct ast_expr *expr = new_expr(parser, AST_NAME, place);

	expr->name = name;
	return expr;
}

struct ast_expr *dpe_build_argument_name(
	struct dpe_parser *parser, const char *name, struct dpe_place place)
{
	struct ast_expr *expr = dpe_build_variable(parser, name, place);

	if (!strcmp(name, "_"))
		expr->kind = AST_ANY;
	return expr;
}

struct ast_expr *dpe_build_text_argument(struct dpe_parser *parser, const char *word,
	struct dpe_place word_place, const char *name, struct dpe_place place)
{
	struct ast_expr *expr = dpe_build_argument_name(parser, name, place);

	if (strcmp(word, "text"))
		dpe_diag(parser->spec->diags, DPE_ERROR, word_place,
			"an argument of an event is a name, a literal, _, &name or text(name)");
	expr->text = expr->kind == AST_NAME;
	return expr;
}

struct ast_expr *dpe_build_position(struct dpe_parser *parser, uint64_t num, struct dpe_place place)
{
	struct ast_expr *expr = new_expr(parser, AST_POSITION, place);

	expr->num = num;
	return expr;
}

struct ast_expr *dpe_build_parens(struct ast_expr *expr, struct dpe_place place)
{
	expr->parens = true;
	expr->place = place;
	return expr;
}

struct ast_expr *dpe_build_field(struct dpe_parser *parser, enum ast_expr_kind kind,
	struct ast_expr *left, const char *name, struct dpe_place place)
{
	struct ast_expr *expr = new_expr(parser, kind, place);

	expr->left = left;
	expr->name = name;
	return parent(parser, expr);
}

struct ast_expr *dpe_build_binary(struct dpe_parser *parser, enum ast_expr_kind kind,
	enum dpe_op op, struct ast_expr *left, struct ast_expr *right, struct dpe_place place)
{
	struct ast_expr *expr = new_expr(parser, kind, place);

	expr->op = op;
	expr->left = left;
	expr->right = right;
	return parent(parser, expr);
}

struct ast_expr *dpe_build_conditional(struct dpe_parser *parser, struct ast_expr *test,
	struct ast_expr *yes, struct ast_expr *no, struct dpe_place place)
{
	struct ast_expr *expr = new_expr(parser, AST_CONDITIONAL, place);

	expr->left = test;
	expr->right = yes;
	expr->third = no;
	return parent(parser, expr);
}

struct ast_expr *dpe_build_step(
	struct dpe_parser *parser, enum dpe_op op, struct ast_expr *left, struct dpe_place place)
{
	struct ast_expr *one =
		dpe_build_number(parser, (struct ast_number){.num = 1}, false, place);

	return dpe_build_binary(parser, AST_UPDATE, op, left, one, place);
}

struct ast_expr *dpe_build_call(struct dpe_parser *parser, struct ast_expr *called,
	struct ast_expr *args, struct dpe_place place)
{
	return dpe_build_binary(parser, AST_CALL, DPE_OP_ADD, called, args, place);
}
