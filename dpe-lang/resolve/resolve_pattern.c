/* Interns patterns and literals of a rule: two events with the same normal text are one. */
#include "dpe-lang/resolve/resolve.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <uthash.h>

struct dpe_interned {
	char *key;
	unsigned number;
	UT_hash_handle hh;
};

/* ---- normal text ---------------------------------------------------------------------- */

static void key_value(struct dpe_text *key, struct dpe_value value)
{
	if (value.kind == DPE_STRING)
		dpe_ast_print_string(key, value.text);
	else if (value.kind == DPE_RAW)
		dpe_text_printf(key, "r%s", value.text);
	else
		dpe_text_printf(key, "%c%" PRId64, value.kind == DPE_UINT ? 'u' : 'i', value.num);
}

/* Every field that can differ, delimited. */
static void key_expr(struct dpe_text *key, const struct dpe_expr *expr)
{
	if (!expr)
		return;
	dpe_text_printf(key, "(%d %d %d %u ", expr->kind, expr->op, expr->field, expr->index);
	if (expr->kind == DPE_EXPR_LITERAL)
		key_value(key, expr->value);
	if (expr->lvalue)
		dpe_text_puts(key, expr->lvalue);
	key_expr(key, expr->left);
	key_expr(key, expr->right);
	key_expr(key, expr->third);
	dpe_text_puts(key, ")");
}

static void key_arg(struct dpe_text *key, const struct dpe_arg *arg)
{
	if (arg->kind == DPE_ARG_VARIABLE)
		dpe_text_printf(
			key, "%c%u,", arg->text ? 't' : arg->behind ? 'b' : 'v', arg->variable);
	else if (arg->kind == DPE_ARG_ANY)
		dpe_text_puts(key, "_,");
	else
		key_value(key, arg->value);
}

static void key_pattern(struct dpe_text *key, const struct dpe_pattern *p)
{
	dpe_text_printf(key, "%d %u %u %d %u %d(", p->kind, p->module, p->name, p->phase, p->by,
		p->has_args);
	for (unsigned i = 0; i < p->nargs; i++)
		key_arg(key, &p->args[i]);
	dpe_text_puts(key, ")");
	if (p->result)
		key_arg(key, p->result);
	dpe_text_printf(key, "[%s]", p->lvalue ? p->lvalue : "");
	key_expr(key, p->cond);
}

/* The entry for that key, new if there is none (then `next` is its number). */
static unsigned intern(struct dpe_interned **table, struct dpe_text *key, unsigned next)
{
	struct dpe_interned *entry;

	HASH_FIND(hh, *table, key->at, key->len, entry);
	if (entry)
		return entry->number;
	entry = dpe_xcalloc(1, sizeof(*entry));
	entry->key = dpe_xstrdup(key->at);
	entry->number = next;
	HASH_ADD_KEYPTR(hh, *table, entry->key, key->len, entry);
	return next;
}

void dpe_interned_free(struct dpe_interned *table)
{
	struct dpe_interned *entry, *next;

	HASH_ITER (hh, table, entry, next) {
		HASH_DEL(table, entry);
		free(entry->key);
		free(entry);
	}
}

/* ---- patterns ------------------------------------------------------------------------- */

/* What an argument or a result binds, or which value it has to have; `lvalue`: its name in messages. */
static struct dpe_arg resolve_arg(
	struct dpe_resolver *r, const struct ast_expr *expr, const char *lvalue)
{
	int variable = expr->kind == AST_NAME ? dpe_find_variable(r, expr->name) : -1;
	bool text = expr->text || expr->kind == AST_STRING;
	struct dpe_arg arg = {0};

	if (expr->kind != AST_ANY && expr->kind != AST_NAME) {
		arg.kind = DPE_ARG_LITERAL;
		arg.value = dpe_literal_value(expr);
	} else if (variable >= 0) {
		arg.kind = DPE_ARG_VARIABLE;
		arg.variable = (unsigned)variable;
	}
	if (arg.kind == DPE_ARG_ANY)
		return arg;
	if (text)
		arg.text = dpe_intern_string(r->names, dpe_text_name(r, lvalue));
	if (expr->behind)
		arg.behind = dpe_intern_string(
			r->names, dpe_arena_printf(r->spec->arena, "*%s", lvalue));
	return arg;
}

static const struct dpe_arg *resolve_args(
	struct dpe_resolver *r, const struct ast_event *event, unsigned *count)
{
	const struct ast_expr *arg;
	struct dpe_arg *args;
	unsigned n = 0;

	for (arg = event->args; arg; arg = arg->next)
		n++;
	if (n > DPE_MAX_ARGS) {
		resolve_error(r, event->place, "an event has at most %d arguments", DPE_MAX_ARGS);
		n = DPE_MAX_ARGS;
	}
	args = dpe_arena_alloc(r->spec->arena, (n + 1) * sizeof(*args));
	*count = n;
	arg = event->args;
	for (unsigned i = 0; i < n; i++, arg = arg->next)
		args[i] = resolve_arg(r, arg, dpe_argument_lvalue(r, (int)i));
	return args;
}

static void resolve_control(
	struct dpe_resolver *r, const struct ast_event *event, struct dpe_pattern *p)
{
	p->kind = DPE_PATTERN_CONTROL;
	p->name = dpe_intern_string(r->names, event->name);
	if (event->module) {
		p->module = dpe_intern_string(r->names, event->module);
		p->qualified = dpe_intern_string(r->names,
			dpe_arena_printf(r->spec->arena, "%s::%s", event->module, event->name));
	}
	p->phase = event->phase;
	p->has_args = event->args != NULL;
	p->args = resolve_args(r, event, &p->nargs);
	if (event->value) {
		struct dpe_arg *result = dpe_arena_alloc(r->spec->arena, sizeof(*result));

		*result = resolve_arg(r, event->value, DPE_RESULT);
		p->result = result;
	}
}

static bool names_target(const struct dpe_expr *expr)
{
	if (!expr)
		return false;
	return expr->kind == DPE_EXPR_TARGET || expr->kind == DPE_EXPR_PRIOR ||
	       names_target(expr->left) || names_target(expr->right) ||
	       names_target(expr->third);
}

static dpe_name update_name(struct dpe_resolver *r, const char *lvalue)
{
	return dpe_intern_string(r->names, dpe_arena_printf(r->spec->arena, "[%s']%s", lvalue,
						   dpe_object_suffix(r, r->object)));
}

/* The updates of the variables that an expression names, each once. */
static void collect_updates(
	struct dpe_resolver *r, const struct dpe_expr *expr, dpe_name *updates, unsigned *count)
{
	unsigned i = 0;
	dpe_name name;

	if (!expr)
		return;
	if (expr->kind == DPE_EXPR_TARGET || expr->kind == DPE_EXPR_PRIOR) {
		name = update_name(r, expr->lvalue);
		while (i < *count && updates[i] != name)
			i++;
		if (i == *count)
			updates[(*count)++] = name;
	}
	collect_updates(r, expr->left, updates, count);
	collect_updates(r, expr->right, updates, count);
	collect_updates(r, expr->third, updates, count);
}

static unsigned count_targets(const struct dpe_expr *expr)
{
	if (!expr)
		return 0;
	return (expr->kind == DPE_EXPR_TARGET || expr->kind == DPE_EXPR_PRIOR) +
	       count_targets(expr->left) + count_targets(expr->right) + count_targets(expr->third);
}

static void resolve_becoming_true(
	struct dpe_resolver *r, const struct ast_event *event, struct dpe_pattern *p)
{
	dpe_name *updates;

	p->kind = DPE_PATTERN_CONDITION;
	r->scope = r->scope == SCOPE_OBSERVED ? SCOPE_OBSERVED : SCOPE_DATA;
	p->cond = dpe_resolve_expr(r, event->expr);
	if (!names_target(p->cond))
		resolve_error(r, event->place,
			"this condition names no variable of the program, so it can never become true");
	if (event->cond)
		resolve_error(r, event->cond->place, "one condition is enough: write [a && b]");
	updates = dpe_arena_alloc(r->spec->arena, (count_targets(p->cond) + 1) * sizeof(*updates));
	collect_updates(r, p->cond, updates, &p->nupdates);
	p->updates = updates;
}

static void resolve_data(
	struct dpe_resolver *r, const struct ast_event *event, struct dpe_pattern *p)
{
	const struct ast_expr *expr = event->expr;
	bool update = expr->kind == AST_PRIOR && dpe_is_lvalue(expr->left);

	if (!update && !dpe_is_lvalue(expr)) {
		resolve_becoming_true(r, event, p);
		return;
	}
	p->kind = update ? DPE_PATTERN_UPDATE : DPE_PATTERN_ACCESS;
	p->lvalue = dpe_lvalue_text(r, update ? expr->left : expr);
	p->name = update_name(r, p->lvalue);
	if (update)
		return;
	p->qualified = p->name;
	p->name = dpe_intern_string(r->names, dpe_arena_printf(r->spec->arena, "[%s]%s", p->lvalue,
						      dpe_object_suffix(r, event)));
}

static const char *text_of(struct dpe_resolver *r, const struct ast_event *event, unsigned carets)
{
	struct ast_event copy = *event;
	struct dpe_text text = {0};
	const char *result;

	copy.carets = carets;
	dpe_ast_print_event(&text, &copy);
	result = dpe_arena_strndup(r->spec->arena, text.at, text.len);
	dpe_text_free(&text);
	return result;
}

static struct dpe_pattern resolve_pattern(struct dpe_resolver *r, const struct ast_event *event)
{
	struct dpe_pattern p = {.by = DPE_NO_VARIABLE, .place = event->place};
	enum scope_kind scope = r->scope;
	int by = event->by ? dpe_find_variable(r, event->by->text) : -1;

	r->phase = event->phase;
	r->object = event->from ? event : NULL;
	if (event->data)
		resolve_data(r, event, &p);
	else
		resolve_control(r, event, &p);
	r->scope = scope;
	if (by >= 0)
		p.by = (unsigned)by;
	if (event->cond && !p.cond)
		p.cond = dpe_resolve_expr(r, event->cond);
	if (event->from)
		dpe_resolve_object(r, event, &p);
	r->object = NULL;
	p.text = text_of(r, event, 0);
	return p;
}

unsigned dpe_intern_pattern(struct dpe_resolver *r, const struct ast_dpe *node)
{
	struct dpe_pattern pattern;
	struct dpe_text key = {0};
	unsigned number;

	r->origin = node->origin;
	pattern = resolve_pattern(r, node->event);
	r->origin = NULL;
	key_pattern(&key, &pattern);
	number = intern(&r->interned, &key, r->npatterns);
	if (number == r->npatterns)
		*DPE_GROW(r->patterns, r->npatterns, r->cappatterns) = pattern;
	dpe_text_free(&key);
	return number;
}

unsigned dpe_intern_literal(struct dpe_resolver *r, const struct ast_dpe *node)
{
	unsigned carets = node->event->carets, number;
	unsigned pattern = dpe_intern_pattern(r, node);
	struct dpe_text key = {0};

	dpe_text_printf(&key, "literal %u ^ %u", pattern, carets);
	number = intern(&r->interned, &key, r->nliterals);
	if (number == r->nliterals)
		*DPE_GROW(r->literals, r->nliterals, r->capliterals) =
			(struct dpe_literal){pattern, carets, text_of(r, node->event, carets)};
	dpe_text_free(&key);
	return number;
}
