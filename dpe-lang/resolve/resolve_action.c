/* Actions: statements, the calls that they may make, and the formats of printf. */
#include "dpe-lang/resolve/resolve.h"

#include <stdlib.h>
#include <string.h>

#define ANY_NUMBER UINT32_MAX

static const struct {
	const char *name;
	enum dpe_call call;
	unsigned min, max;
	const char *usage;
} calls[] = {
	{"print", DPE_CALL_PRINT, 1, ANY_NUMBER, "print(value, …)"},
	{"printf", DPE_CALL_PRINTF, 1, ANY_NUMBER, "printf(\"…\", value, …)"},
	{"break", DPE_CALL_BREAK, 0, 0, "break"},
	{"error", DPE_CALL_ERROR, 0, ANY_NUMBER, "error(value, …)"},
	{"sync_event", DPE_CALL_SYNC_EVENT, 2, 2, "sync_event($1, $2)"},
	{"hold", DPE_CALL_HOLD, 2, 2, "hold(thread, resource)"},
	{"share", DPE_CALL_SHARE, 2, 2, "share(thread, resource)"},
	{"unhold", DPE_CALL_UNHOLD, 2, 2, "unhold(thread, resource)"},
	{"wait_for", DPE_CALL_WAIT_FOR, 2, 2, "wait_for(thread, resource)"},
	{"release", DPE_CALL_RELEASE, 2, 2, "release(thread, resource)"},
	{"forget", DPE_CALL_FORGET, 1, 1, "forget(resource)"},
	{"creates", DPE_CALL_CREATES, 2, 2, "creates(thread, name)"},
	{"begins", DPE_CALL_BEGINS, 2, 2, "begins(thread, name)"},
	{"ended", DPE_CALL_ENDED, 1, 1, "ended(thread)"},
	{"joined", DPE_CALL_JOINED, 2, 2, "joined(thread, name)"},
	{"sends", DPE_CALL_SENDS, 2, 2, "sends(thread, resource)"},
	{"receives", DPE_CALL_RECEIVES, 2, 2, "receives(thread, resource)"},
	{"unordered", DPE_CALL_UNORDERED, 1, 1, "unordered(resource)"},
	{"check_deadlock", DPE_CALL_CHECK_DEADLOCK, 0, 0, "check_deadlock()"},
	{"check_order", DPE_CALL_CHECK_ORDER, 2, 2, "check_order(thread, resource)"},
	{"check_hang", DPE_CALL_CHECK_HANG, 0, 0, "check_hang()"},
	{"progress", DPE_CALL_PROGRESS, 1, ANY_NUMBER, "progress(measure, value, …)"},
	{"count", DPE_CALL_COUNT, 0, ANY_NUMBER, "count(), or count(key, …)"},
	{"sum", DPE_CALL_SUM, 1, ANY_NUMBER, "sum(value), or sum(value, key, …)"},
	{"hist", DPE_CALL_HIST, 1, ANY_NUMBER, "hist(value), or hist(value, key, …)"},
	{"quantiles", DPE_CALL_QUANTILES, 1, ANY_NUMBER, "quantiles(value), or quantiles(value, key, …)"},
};

const char *dpe_call_name(enum dpe_call call)
{
	for (unsigned i = 0; i < DPE_COUNT(calls); i++) {
		if (calls[i].call == call)
			return calls[i].name;
	}
	return "";
}

/* ---- calls that keep the wait-for graph ------------------------------------------------- */

static bool calls_any(const struct dpe_stmt *stmt, enum dpe_call from, enum dpe_call to)
{
	for (; stmt; stmt = stmt->next) {
		if ((stmt->kind == DPE_STMT_CALL && stmt->call >= from && stmt->call <= to) ||
			calls_any(stmt->body, from, to) || calls_any(stmt->otherwise, from, to))
			return true;
	}
	return false;
}

static bool rule_calls(const struct dpe_rule *rule, enum dpe_call from, enum dpe_call to)
{
	for (unsigned i = 0; i < rule->npositions; i++) {
		if (calls_any(rule->positions[i].action, from, to))
			return true;
	}
	return calls_any(rule->action, from, to) || calls_any(rule->otherwise, from, to);
}

bool dpe_rule_keeps_waits(const struct dpe_rule *rule)
{
	return rule_calls(rule, DPE_CALL_HOLD, DPE_CALL_CHECK_HANG);
}

bool dpe_rule_calls_measure(const struct dpe_rule *rule)
{
	return rule_calls(rule, DPE_CALL_COUNT, DPE_CALL_QUANTILES);
}

bool dpe_rule_checks_order(const struct dpe_rule *rule)
{
	return rule_calls(rule, DPE_CALL_CHECK_ORDER, DPE_CALL_CHECK_ORDER);
}

/* ---- the formats of printf ------------------------------------------------------------ */

struct format {
	struct dpe_resolver *r;
	struct dpe_stmt *stmt;
	struct dpe_place place;
	unsigned next; /* argument */
	bool wrong;    /* in that case the number of values is not checked */
};

static bool is_wide(const char *number)
{
	return strspn(number, "0123456789") && strtoul(number, NULL, 10) > DPE_MAX_WIDTH;
}

/* Checks width and precision of a conversion that begins with '%'. */
static bool check_width(const struct format *f, const char *text)
{
	const char *width = text + 1 + strspn(text + 1, "-+ #0");
	const char *precision = width + strspn(width, "0123456789");

	if (!is_wide(width) && (*precision != '.' || !is_wide(precision + 1)))
		return true;
	resolve_error(f->r, f->place, "a width or precision above %d in the format", DPE_MAX_WIDTH);
	return false;
}

/* The conversion's letter; moves `at` from after the '%' to after the letter. */
static char read_conversion(const char **at)
{
	const char *p = *at;

	p += strspn(p, "-+ #0");
	p += strspn(p, "0123456789");
	if (*p == '.')
		p += 1 + strspn(p + 1, "0123456789");
	p += strspn(p, "hljztq");
	*at = *p ? p + 1 : p;
	return *p;
}

static bool is_text(const struct dpe_expr *expr)
{
	if (expr->kind == DPE_EXPR_LITERAL)
		return expr->value.kind == DPE_STRING;
	return expr->kind == DPE_EXPR_POSITION || expr->kind == DPE_EXPR_TEXT ||
	       (expr->kind == DPE_EXPR_FIELD &&
		       (expr->field == DPE_FIELD_NAME || expr->field == DPE_FIELD_STACK ||
			       expr->field == DPE_FIELD_COMM || expr->field == DPE_FIELD_HOST ||
			       expr->field == DPE_FIELD_ACCESS));
}

static void check_conversion(struct format *f, const char *text, size_t len, char letter)
{
	const struct dpe_expr *arg;

	if (!letter) {
		resolve_error(f->r, f->place,
			"the format ends within '%.*s': write %%%% for a percent sign", (int)len,
			text);
		return;
	}
	if (letter == '%')
		return;
	if (!strchr("diuxXocsp", letter)) {
		resolve_error(f->r, f->place,
			letter == '*'
				? "'%.*s': a width must be a number here"
				: "unknown conversion '%.*s': write one of %%d %%i %%u %%x %%X %%o "
				  "%%c %%s %%p %%%%",
			(int)len, text);
		f->wrong = true;
		return;
	}
	if (!check_width(f, text)) {
		f->wrong = true;
		return;
	}
	if (f->next >= f->stmt->nargs) {
		f->next++;
		return;
	}
	arg = f->stmt->args[f->next++];
	if (letter != 's' && letter != 'p' && is_text(arg))
		resolve_error(f->r, arg->place,
			"'%.*s' prints a number, and this is text: write %%s", (int)len, text);
}

static void check_format(struct dpe_resolver *r, struct dpe_stmt *stmt)
{
	struct format f = {r, stmt, stmt->args[0]->place, 1, false};
	const char *at, *begin;

	if (stmt->args[0]->kind != DPE_EXPR_LITERAL || stmt->args[0]->value.kind != DPE_STRING) {
		resolve_error(
			r, f.place, "printf begins with its format, a string: printf(\"%%d\", x)");
		return;
	}
	for (at = stmt->args[0]->value.text; (begin = strchr(at, '%'));) {
		at = begin + 1;
		char letter = read_conversion(&at);

		check_conversion(&f, begin, (size_t)(at - begin), letter);
	}
	if (f.next != stmt->nargs && !f.wrong)
		resolve_error(r, f.place, "the format takes %u value%s, %u given", f.next - 1,
			f.next == 2 ? "" : "s", stmt->nargs - 1);
}

/* ---- calls ---------------------------------------------------------------------------- */

static struct dpe_stmt *new_stmt(
	struct dpe_resolver *r, enum dpe_stmt_kind kind, struct dpe_place place)
{
	struct dpe_stmt *stmt = dpe_arena_alloc(r->spec->arena, sizeof(*stmt));

	stmt->kind = kind;
	stmt->place = place;
	return stmt;
}

static int find_call(const char *name)
{
	for (unsigned i = 0; i < DPE_COUNT(calls); i++) {
		if (!strcmp(calls[i].name, name))
			return (int)i;
	}
	return -1;
}

static const char *nearest_call(const char *name)
{
	const char *names[DPE_COUNT(calls)], *best;

	for (unsigned i = 0; i < DPE_COUNT(calls); i++)
		names[i] = calls[i].name;
	return dpe_nearest(name, names, DPE_COUNT(calls), &best, 1) ? best : NULL;
}

/* What other tools have calls for; NULL: something else. */
static const char *instead_of(const char *name)
{
	static const char *const of_sum[] = {"avg", "average", "mean", "min", "max", "stats"},
		*const of_hist[] = {"lhist", "histogram", "quantize", "lquantize"};

	for (unsigned i = 0; i < DPE_COUNT(of_sum); i++)
		if (!strcmp(name, of_sum[i]))
			return "sum(value) also prints the mean, the least and the greatest value";
	for (unsigned i = 0; i < DPE_COUNT(of_hist); i++)
		if (!strcmp(name, of_hist[i]))
			return "hist(value) prints a histogram, quantiles(value) the quantiles";
	return NULL;
}

static void unknown_call(struct dpe_resolver *r, const struct ast_expr *name)
{
	const char *best = nearest_call(name->name), *instead = instead_of(name->name);

	r->unknown_call = true;
	if (instead)
		resolve_error(r, name->place, "unknown call '%s': %s", name->name, instead);
	else if (best)
		resolve_error(
			r, name->place, "unknown call '%s'; did you mean '%s'?", name->name, best);
	else
		resolve_error(r, name->place,
			"unknown call '%s': the calls are print, printf, break, error, sync_event, "
			"hold, share, unhold, wait_for, release, forget, creates, begins, ended, "
			"joined, sends, receives, unordered, check_deadlock, check_order, check_hang, "
			"progress, count, sum, hist and quantiles",
			name->name);
}

static void resolve_args(struct dpe_resolver *r, struct dpe_stmt *stmt, const struct ast_expr *args)
{
	const struct dpe_expr **list;
	unsigned n = 0;

	for (const struct ast_expr *arg = args; arg; arg = arg->next)
		n++;
	list = dpe_arena_alloc(r->spec->arena, (n + 1) * sizeof(*list));
	for (; args; args = args->next)
		list[stmt->nargs++] = dpe_resolve_expr(r, args);
	stmt->args = list;
}

static void check_sync_event(struct dpe_resolver *r, const struct dpe_stmt *stmt)
{
	for (unsigned i = 0; i < stmt->nargs; i++) {
		if (stmt->args[i]->kind != DPE_EXPR_POSITION)
			resolve_error(r, stmt->args[i]->place,
				"sync_event takes two events: sync_event($1, $2)");
	}
	if (r->scope == SCOPE_EVENT)
		resolve_error(r, stmt->place,
			"sync_event belongs to the action of the rule: write it after the last "
			"event, without parentheses around it");
}

static struct dpe_stmt *resolve_call(struct dpe_resolver *r, const struct ast_expr *name,
	const struct ast_expr *args, struct dpe_place place)
{
	struct dpe_stmt *stmt = new_stmt(r, DPE_STMT_CALL, place);
	int call = name->kind == AST_NAME ? find_call(name->name) : -1;

	resolve_args(r, stmt, args);
	if (name->kind != AST_NAME) {
		resolve_error(r, name->place, "only the calls of actions can be made here");
		return NULL;
	}
	if (call < 0) {
		unknown_call(r, name);
		return NULL;
	}
	stmt->call = calls[call].call;
	if (stmt->nargs < calls[call].min || stmt->nargs > calls[call].max) {
		resolve_error(r, place, "%u value%s given to '%s': write %s", stmt->nargs,
			stmt->nargs == 1 ? "" : "s", name->name, calls[call].usage);
		return NULL;
	}
	if (stmt->call == DPE_CALL_PRINTF)
		check_format(r, stmt);
	if (stmt->call == DPE_CALL_SYNC_EVENT)
		check_sync_event(r, stmt);
	return stmt;
}

/* ---- statements ----------------------------------------------------------------------- */

static const struct dpe_stmt *resolve_list(
	struct dpe_resolver *r, const struct ast_stmt *stmt, struct dpe_place place);

/* The `var` that is assigned to, or -1 after a diagnostic. */
static int assigned_global(struct dpe_resolver *r, const struct ast_expr *left)
{
	if (left->kind != AST_NAME || dpe_is_scoped(left)) {
		resolve_error(r, left->place,
			"only a `var` of the specification can be assigned to: the program is "
			"watched, not changed");
		return -1;
	}
	if (dpe_find_variable(r, left->name) >= 0) {
		resolve_error(r, left->place,
			"'%s' is bound by an event of the rule and cannot be assigned to",
			left->name);
		return -1;
	}
	return dpe_find_global(r->globals, left->name);
}

/* x += e is x = x + e */
static const struct dpe_expr *resolve_assigned(struct dpe_resolver *r, const struct ast_expr *expr)
{
	struct ast_expr sum = *expr;

	if (expr->kind == AST_ASSIGN)
		return dpe_resolve_expr(r, expr->right);
	sum.kind = AST_BINARY;
	return dpe_resolve_expr(r, &sum);
}

static struct dpe_stmt *resolve_assignment(struct dpe_resolver *r, const struct ast_expr *expr)
{
	struct dpe_stmt *stmt = new_stmt(r, DPE_STMT_ASSIGN, expr->place);
	const struct dpe_expr **args = dpe_arena_alloc(r->spec->arena, sizeof(*args));
	int global = assigned_global(r, expr->left);

	if (global < 0)
		return NULL;
	args[0] = dpe_resolve_global(r, (unsigned)global, expr->left->place);
	stmt->args = args;
	stmt->nargs = 1;
	stmt->expr = resolve_assigned(r, expr);
	if (stmt->expr->kind == DPE_EXPR_POSITION)
		resolve_error(r, stmt->expr->place,
			"an event has no value: write a field, such as $1.tid");
	return stmt;
}

/* `break` and `error` need no parentheses; any other name alone does nothing. */
static struct dpe_stmt *resolve_bare(struct dpe_resolver *r, const struct ast_expr *expr)
{
	struct dpe_stmt *stmt;
	const char *best = NULL;
	bool known = true;

	if (expr->kind == AST_NAME && find_call(expr->name) >= 0)
		return resolve_call(r, expr, NULL, expr->place);
	if (expr->kind == AST_NAME) {
		known = dpe_find_variable(r, expr->name) >= 0 ||
			dpe_find_global(r->globals, expr->name) >= 0;
		best = known ? NULL : nearest_call(expr->name);
	}
	if (best) {
		resolve_error(
			r, expr->place, "'%s' does nothing; did you mean '%s'?", expr->name, best);
		return NULL;
	}
	stmt = new_stmt(r, DPE_STMT_EXPR, expr->place);
	stmt->expr = dpe_resolve_expr(r, expr);
	dpe_diag(r->spec->diags, DPE_WARNING, expr->place, "this statement does nothing");
	return stmt;
}

static struct dpe_stmt *resolve_simple(struct dpe_resolver *r, const struct ast_expr *expr)
{
	switch (expr->kind) {
	case AST_CALL:
		return resolve_call(r, expr->left, expr->right, expr->place);
	case AST_ASSIGN:
	case AST_UPDATE:
		return resolve_assignment(r, expr);
	default:
		return resolve_bare(r, expr);
	}
}

static struct dpe_stmt *resolve_if(struct dpe_resolver *r, const struct ast_stmt *from)
{
	struct dpe_stmt *stmt = new_stmt(r, DPE_STMT_IF, from->place);

	stmt->expr = dpe_resolve_expr(r, from->expr);
	stmt->body = resolve_list(r, from->body, from->place);
	if (from->otherwise)
		stmt->otherwise = resolve_list(r, from->otherwise, from->place);
	return stmt;
}

static struct dpe_stmt *resolve_stmt(struct dpe_resolver *r, const struct ast_stmt *from)
{
	struct dpe_stmt *stmt;

	switch (from->kind) {
	case AST_STMT_EMPTY:
		return NULL;
	case AST_STMT_EXPR:
		return resolve_simple(r, from->expr);
	case AST_STMT_BLOCK:
		stmt = new_stmt(r, DPE_STMT_BLOCK, from->place);
		stmt->body = resolve_list(r, from->body, from->place);
		return stmt;
	case AST_STMT_IF:
		return resolve_if(r, from);
	}
	return NULL;
}

/* Never NULL: an empty list becomes an empty block. */
static const struct dpe_stmt *resolve_list(
	struct dpe_resolver *r, const struct ast_stmt *stmt, struct dpe_place place)
{
	const struct dpe_stmt *first = NULL;
	struct dpe_stmt *last = NULL, *new;

	for (; stmt; stmt = stmt->next) {
		new = resolve_stmt(r, stmt);
		if (!new)
			continue;
		if (last)
			last->next = new;
		else
			first = new;
		last = new;
	}
	return first ? first : new_stmt(r, DPE_STMT_BLOCK, place);
}

const struct dpe_stmt *dpe_resolve_block(struct dpe_resolver *r, const struct ast_block *block)
{
	return block ? resolve_list(r, block->first, block->place) : NULL;
}

/* ---- looking for calls ---------------------------------------------------------------- */

const struct dpe_stmt *dpe_find_call(const struct dpe_stmt *stmt, enum dpe_call call)
{
	const struct dpe_stmt *found = NULL;

	for (; stmt && !found; stmt = stmt->next) {
		if (stmt->kind == DPE_STMT_CALL && stmt->call == call)
			return stmt;
		found = dpe_find_call(stmt->body, call);
		if (!found)
			found = dpe_find_call(stmt->otherwise, call);
	}
	return found;
}

static bool list_calls(const struct ast_stmt *stmt, const char *name)
{
	for (; stmt; stmt = stmt->next) {
		const struct ast_expr *expr = stmt->expr;

		if (stmt->kind == AST_STMT_EXPR && expr->kind == AST_CALL &&
			expr->left->kind == AST_NAME && !strcmp(expr->left->name, name))
			return true;
		if (list_calls(stmt->body, name) || list_calls(stmt->otherwise, name))
			return true;
	}
	return false;
}

bool dpe_block_calls(const struct ast_block *block, const char *name)
{
	return block && list_calls(block->first, name);
}
