/* Evaluating expressions. Integers are C's, 64 bits wide, and wrap; an operand without a value (an
 * unbound variable, x / 0) leaves the expression without one. */
#include "recognizer/actions/actions.h"

#include <string.h>

static const struct dpe_value none = {.kind = DPE_NONE};

/* ---- where values come from -------------------------------------------------------------- */

static struct dpe_value time_of(const struct dpe_message *message)
{
	if (!message->has_time)
		return none;
	if (message->time > INT64_MAX)
		return (struct dpe_value){.kind = DPE_UINT, .num = (int64_t)message->time};
	return dpe_value_int((int64_t)message->time);
}

static struct dpe_value text_value(const char *text)
{
	return text ? dpe_value_string(text) : none;
}

static struct dpe_value eval_field(
	const struct dpe_env *env, const struct dpe_expr *expr, const struct dpe_message *message)
{
	struct dpe_value index;

	switch (expr->field) {
	case DPE_FIELD_TID:
		return message->thread;
	case DPE_FIELD_PROCESS:
		return message->process;
	case DPE_FIELD_TIME:
		return time_of(message);
	case DPE_FIELD_RET:
		return message->ret;
	case DPE_FIELD_NAME:
		return text_value(dpe_name_text(env->recognizer->spec->names, message->name));
	case DPE_FIELD_STACK:
		return text_value(message->nstack ? message->stack[0] : NULL);
	case DPE_FIELD_COMM:
		return text_value(message->comm);
	case DPE_FIELD_VARIABLE:
		return dpe_eval(env, expr->third);
	case DPE_FIELD_ARG:
		index = dpe_eval(env, expr->third);
		if (index.kind != DPE_INT || index.num < 0 || index.num >= message->nargs)
			return none;
		return message->args[index.num];
	}
	return none;
}

static const struct dpe_message *event_at(const struct dpe_env *env, unsigned position)
{
	if (!position)
		return env->event;
	return env->positions ? env->positions[position - 1] : NULL;
}

static struct dpe_value find_var(
	const struct dpe_env *env, const char *name, size_t len, bool prior)
{
	const struct dpe_names *names = env->recognizer->spec->names;

	for (unsigned i = 0; i < env->event->nvars; i++) {
		const char *text = dpe_name_text(names, env->event->vars[i].name);

		if (!strncmp(text, name, len) && !strcmp(text + len, prior ? "'" : ""))
			return env->event->vars[i].value;
	}
	return none;
}

/* Only the update of a variable has another value before the event. */
static struct dpe_value eval_target(const struct dpe_env *env, const char *lvalue, bool prior)
{
	const char *event;
	size_t len = strlen(lvalue);

	if (!env->event)
		return none;
	event = dpe_name_text(env->recognizer->spec->names, env->event->name);
	if (*event != '[' || strncmp(event + 1, lvalue, len) ||
		strncmp(event + 1 + len, "']", strlen("']")))
		prior = false;
	return find_var(env, lvalue, len, prior);
}

struct dpe_value dpe_text_in(
	const struct dpe_message *message, struct dpe_value direct, dpe_name name)
{
	if (direct.kind == DPE_STRING || !message)
		return direct.kind == DPE_STRING ? direct : none;
	for (unsigned i = 0; i < message->nvars; i++) {
		if (message->vars[i].name == name)
			return message->vars[i].value;
	}
	return none;
}

static struct dpe_value eval_text(const struct dpe_env *env, const struct dpe_expr *expr)
{
	const struct dpe_names *names = env->recognizer->spec->names;
	dpe_name name = dpe_names_find(names, expr->lvalue, strlen(expr->lvalue));

	return dpe_text_in(event_at(env, expr->index), dpe_eval(env, expr->left), name);
}

/* ---- numbers ----------------------------------------------------------------------------- */

static bool is_number(struct dpe_value value)
{
	return value.kind == DPE_INT || value.kind == DPE_UINT || value.kind == DPE_POINTER;
}

/* true, false and null in a log are 1, 0 and no value. */
static struct dpe_value plain(struct dpe_value value)
{
	if (value.kind != DPE_RAW)
		return value;
	if (!strcmp(value.text, "true"))
		return dpe_value_int(1);
	if (!strcmp(value.text, "false"))
		return dpe_value_int(0);
	return strcmp(value.text, "null") ? value : none;
}

/* *order is <0, 0, >0 like strcmp's; false where the values are not comparable. */
static bool compare(struct dpe_value a, struct dpe_value b, int *order)
{
	if (a.kind != DPE_STRING || b.kind != DPE_STRING)
		return dpe_value_compare(a, b, order);
	*order = strcmp(a.text, b.text);
	return true;
}

/* Numbers other than 64-bit integers have several spellings. */
static bool is_equal(struct dpe_value a, struct dpe_value b)
{
	int order;

	if (dpe_value_equal(a, b))
		return true;
	return !(is_number(a) && is_number(b)) && compare(a, b, &order) && !order;
}

static struct dpe_value eval_comparison(enum dpe_op op, struct dpe_value a, struct dpe_value b)
{
	int order;

	if (op == DPE_OP_EQ || op == DPE_OP_NE)
		return dpe_value_int(is_equal(a, b) == (op == DPE_OP_EQ));
	if (!compare(a, b, &order))
		return none;
	switch (op) {
	case DPE_OP_LT:
		return dpe_value_int(order < 0);
	case DPE_OP_GT:
		return dpe_value_int(order > 0);
	case DPE_OP_LE:
		return dpe_value_int(order <= 0);
	default:
		return dpe_value_int(order >= 0);
	}
}

static struct dpe_value divide(enum dpe_op op, int64_t a, int64_t b)
{
	if (!b)
		return none;
	if (b == -1) /* INT64_MIN / -1 would trap */
		return dpe_value_int(op == DPE_OP_DIV ? (int64_t) - (uint64_t)a : 0);
	return dpe_value_int(op == DPE_OP_DIV ? a / b : a % b);
}

static struct dpe_value shift(enum dpe_op op, int64_t a, int64_t b)
{
	if (b < 0)
		return none;
	if (op == DPE_OP_SHL)
		return dpe_value_int(b > 63 ? 0 : (int64_t)((uint64_t)a << b));
	return dpe_value_int(a >> (b > 63 ? 63 : b));
}

static struct dpe_value eval_arithmetic(enum dpe_op op, int64_t a, int64_t b)
{
	uint64_t x = (uint64_t)a, y = (uint64_t)b;

	switch (op) {
	case DPE_OP_MUL:
		return dpe_value_int((int64_t)(x * y));
	case DPE_OP_ADD:
		return dpe_value_int((int64_t)(x + y));
	case DPE_OP_SUB:
		return dpe_value_int((int64_t)(x - y));
	case DPE_OP_AND:
		return dpe_value_int(a & b);
	case DPE_OP_XOR:
		return dpe_value_int(a ^ b);
	case DPE_OP_OR:
		return dpe_value_int(a | b);
	case DPE_OP_SHL:
	case DPE_OP_SHR:
		return shift(op, a, b);
	default:
		return divide(op, a, b);
	}
}

/* ---- operators --------------------------------------------------------------------------- */

/* The 64 bits of a number, as C's conversions have them. */
static bool bits_of(struct dpe_value value, int64_t *bits)
{
	*bits = value.num;
	return is_number(value);
}

static bool is_true(struct dpe_value value)
{
	int order;

	if (is_number(value))
		return value.num;
	return dpe_value_compare(plain(value), dpe_value_int(0), &order) && order;
}

static struct dpe_value eval_unary(const struct dpe_env *env, const struct dpe_expr *expr)
{
	struct dpe_value value = plain(dpe_eval(env, expr->left));
	int64_t bits;

	if (expr->op == DPE_OP_NOT && value.kind != DPE_NONE)
		return dpe_value_int(!is_true(value));
	if (!bits_of(value, &bits))
		return none;
	switch (expr->op) {
	case DPE_OP_NEG:
		return dpe_value_int((int64_t) - (uint64_t)bits);
	case DPE_OP_COMPL:
		return dpe_value_int(~bits);
	default:
		return value;
	}
}

static struct dpe_value eval_logic(const struct dpe_env *env, const struct dpe_expr *expr)
{
	bool left = is_true(dpe_eval(env, expr->left));

	if (left == (expr->op == DPE_OP_LOR))
		return dpe_value_int(left);
	return dpe_value_int(is_true(dpe_eval(env, expr->right)));
}

/* An address plus or minus an integer is an address. */
static bool makes_address(enum dpe_op op, struct dpe_value left, struct dpe_value right)
{
	bool address = left.kind == DPE_POINTER, other = right.kind == DPE_POINTER;

	return op == DPE_OP_ADD ? address != other : op == DPE_OP_SUB && address && !other;
}

static struct dpe_value eval_binary(const struct dpe_env *env, const struct dpe_expr *expr)
{
	struct dpe_value left, right;
	int64_t a, b;

	if (expr->op == DPE_OP_LAND || expr->op == DPE_OP_LOR)
		return eval_logic(env, expr);
	left = plain(dpe_eval(env, expr->left));
	right = plain(dpe_eval(env, expr->right));
	if (left.kind == DPE_NONE || right.kind == DPE_NONE)
		return none;
	if (expr->op >= DPE_OP_LT && expr->op <= DPE_OP_NE)
		return eval_comparison(expr->op, left, right);
	if (!bits_of(left, &a) || !bits_of(right, &b))
		return none;
	if (makes_address(expr->op, left, right))
		return dpe_value_pointer((uint64_t)eval_arithmetic(expr->op, a, b).num);
	return eval_arithmetic(expr->op, a, b);
}

struct dpe_value dpe_eval(const struct dpe_env *env, const struct dpe_expr *expr)
{
	const struct dpe_message *event;

	switch (expr->kind) {
	case DPE_EXPR_LITERAL:
		return expr->value;
	case DPE_EXPR_RULEVAR:
		return env->variables ? env->variables[expr->index] : none;
	case DPE_EXPR_GLOBAL:
		return env->recognizer->globals[expr->index];
	case DPE_EXPR_TARGET:
		return eval_target(env, expr->lvalue, env->before);
	case DPE_EXPR_PRIOR:
		return eval_target(env, expr->lvalue, true);
	case DPE_EXPR_TEXT:
		return eval_text(env, expr);
	case DPE_EXPR_POSITION:
		event = event_at(env, expr->index);
		return event ? dpe_message_id(event) : none;
	case DPE_EXPR_FIELD:
		event = event_at(env, expr->index);
		return event ? eval_field(env, expr, event) : none;
	case DPE_EXPR_UNARY:
		return eval_unary(env, expr);
	case DPE_EXPR_BINARY:
		return eval_binary(env, expr);
	case DPE_EXPR_CONDITIONAL:
		return dpe_eval(
			env, is_true(dpe_eval(env, expr->left)) ? expr->right : expr->third);
	}
	return none;
}

bool dpe_eval_condition(const struct dpe_env *env, const struct dpe_expr *expr)
{
	return is_true(dpe_eval(env, expr));
}
