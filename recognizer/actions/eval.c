/* Evaluating expressions. Integers are C's, 64 bits wide, and wrap; an operand without a value (an
 * unbound variable, x / 0) leaves the expression without one. Arithmetic on other numbers has no
 * value either, and makes verdicts inconclusive. */
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
	case DPE_FIELD_ACCESS: /* a data event has no other result */
		return message->ret;
	case DPE_FIELD_NAME:
		return text_value(dpe_name_text(env->recognizer->spec->names, message->name));
	case DPE_FIELD_STACK:
		return text_value(message->nstack ? message->stack[0] : NULL);
	case DPE_FIELD_COMM:
		return text_value(message->comm);
	case DPE_FIELD_HOST:
		return message->host;
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

struct dpe_value dpe_variable_in(const struct dpe_message *message, dpe_name name)
{
	for (unsigned i = 0; i < message->nvars; i++) {
		if (message->vars[i].name == name)
			return message->vars[i].value;
	}
	return none;
}

struct dpe_value dpe_text_in(
	const struct dpe_message *message, struct dpe_value direct, dpe_name name)
{
	if (direct.kind == DPE_STRING || !message)
		return direct.kind == DPE_STRING ? direct : none;
	return dpe_variable_in(message, name);
}

static struct dpe_value eval_text(const struct dpe_env *env, const struct dpe_expr *expr)
{
	const struct dpe_names *names = env->recognizer->spec->names;
	dpe_name name = dpe_names_find(names, expr->lvalue, strlen(expr->lvalue));

	return dpe_text_in(event_at(env, expr->index), dpe_eval(env, expr->left), name);
}

/* ---- numbers ----------------------------------------------------------------------------- */

struct dpe_value dpe_eval_number(const struct dpe_env *env, const struct dpe_expr *expr)
{
	struct dpe_value value = dpe_eval(env, expr);

	if (value.kind != DPE_RAW)
		return value;
	if (!strcmp(value.text, "true"))
		return dpe_value_int(1);
	if (!strcmp(value.text, "false"))
		return dpe_value_int(0);
	return strcmp(value.text, "null") ? value : none;
}

static bool is_bound_to_text(const struct dpe_rule *rule, unsigned variable)
{
	for (unsigned i = 0; i < rule->npatterns; i++) {
		for (unsigned j = 0; j < rule->patterns[i].nargs; j++) {
			const struct dpe_arg *arg = &rule->patterns[i].args[j];

			if (arg->kind == DPE_ARG_VARIABLE && arg->variable == variable && arg->text)
				return true;
		}
	}
	return false;
}

/* True if a string that the expression has as its value is certainly no number. */
static bool is_text(const struct dpe_env *env, const struct dpe_expr *expr)
{
	switch (expr->kind) {
	case DPE_EXPR_LITERAL:
	case DPE_EXPR_TEXT:
		return true;
	case DPE_EXPR_FIELD:
		return expr->field == DPE_FIELD_NAME || expr->field == DPE_FIELD_COMM ||
		       expr->field == DPE_FIELD_STACK || expr->field == DPE_FIELD_ACCESS;
	case DPE_EXPR_RULEVAR:
		return env->run && is_bound_to_text(env->run->rule, expr->index);
	default:
		return false;
	}
}

static bool is_called_nan(struct dpe_value value)
{
	return value.kind == DPE_STRING && !strcmp(value.text, "nan");
}

/* NaN is a string in logs, see dpe_value_real. */
static bool is_nan(
	const struct dpe_env *env, const struct dpe_expr *expr, struct dpe_value value)
{
	return is_called_nan(value) && !is_text(env, expr);
}

/* *order is <0, 0, >0 like strcmp's; false if the values are not comparable. */
static bool compare(struct dpe_value a, struct dpe_value b, int *order)
{
	if (a.kind != DPE_STRING || b.kind != DPE_STRING)
		return dpe_value_compare(a, b, order);
	*order = strcmp(a.text, b.text);
	return true;
}

/* NaN is not equal to itself. A text that reads "nan" is. */
static bool compares_nan(const struct dpe_env *env, const struct dpe_expr *expr,
	struct dpe_value left, struct dpe_value right)
{
	if (left.kind != DPE_STRING && right.kind != DPE_STRING)
		return false;
	if (left.kind != DPE_STRING || right.kind != DPE_STRING)
		return is_nan(env, expr->left, left) || is_nan(env, expr->right, right);
	return is_nan(env, expr->left, left) && is_nan(env, expr->right, right);
}

static struct dpe_value eval_comparison(enum dpe_op op, struct dpe_value a, struct dpe_value b)
{
	int order;

	if (op == DPE_OP_EQ || op == DPE_OP_NE)
		return dpe_value_int(dpe_value_equal(a, b) == (op == DPE_OP_EQ));
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

/* ---- arithmetic -------------------------------------------------------------------------- */

__extension__ typedef __int128 int128;

static int128 integer_of(struct dpe_value value)
{
	return value.kind == DPE_INT ? (int128)value.num : (int128)(uint64_t)value.num;
}

/* Unsigned integers of 2^63 and more make the result unsigned. */
static bool is_large(struct dpe_value value)
{
	return value.kind != DPE_INT && value.num < 0;
}

static struct dpe_value from_bits(uint64_t bits, bool is_unsigned)
{
	if (is_unsigned && bits > INT64_MAX)
		return (struct dpe_value){.kind = DPE_UINT, .num = (int64_t)bits};
	return dpe_value_int((int64_t)bits);
}

/* The integer itself where 64 bits hold it, else wrapped. */
static struct dpe_value wrap(int128 integer, bool is_unsigned)
{
	if (integer >= INT64_MIN && integer <= INT64_MAX)
		return dpe_value_int((int64_t)integer);
	return from_bits((uint64_t)integer, is_unsigned);
}

static struct dpe_value multiply(int128 a, int128 b, bool is_unsigned)
{
	int128 product;

	if (__builtin_mul_overflow(a, b, &product))
		return from_bits((uint64_t)a * (uint64_t)b, is_unsigned);
	return wrap(product, is_unsigned);
}

static struct dpe_value divide(enum dpe_op op, int128 a, int128 b, bool is_unsigned)
{
	if (!b)
		return none;
	return wrap(op == DPE_OP_DIV ? a / b : a % b, is_unsigned);
}

static struct dpe_value shift(enum dpe_op op, struct dpe_value left, int128 count)
{
	bool is_unsigned = is_large(left);
	int128 a = integer_of(left);

	if (count < 0)
		return none;
	if (op == DPE_OP_SHR)
		return wrap(a >> (count > 64 ? 64 : (int)count), is_unsigned);
	return from_bits(count > 63 ? 0 : (uint64_t)left.num << (int)count, is_unsigned);
}

static struct dpe_value eval_arithmetic(
	enum dpe_op op, struct dpe_value left, struct dpe_value right)
{
	bool is_unsigned = is_large(left) || is_large(right);
	uint64_t x = (uint64_t)left.num, y = (uint64_t)right.num;
	int128 a = integer_of(left), b = integer_of(right);

	switch (op) {
	case DPE_OP_MUL:
		return multiply(a, b, is_unsigned);
	case DPE_OP_ADD:
		return wrap(a + b, is_unsigned);
	case DPE_OP_SUB:
		return wrap(a - b, is_unsigned);
	case DPE_OP_AND:
		return from_bits(x & y, is_unsigned);
	case DPE_OP_XOR:
		return from_bits(x ^ y, is_unsigned);
	case DPE_OP_OR:
		return from_bits(x | y, is_unsigned);
	case DPE_OP_SHL:
	case DPE_OP_SHR:
		return shift(op, left, b);
	default:
		return divide(op, a, b, is_unsigned);
	}
}

/* ---- operators --------------------------------------------------------------------------- */

/* True if there is arithmetic on the operand. If it is a number for which there is none, nobody knows
 * whether the expression holds. */
static bool can_compute(
	const struct dpe_env *env, const struct dpe_expr *operand, struct dpe_value value)
{
	struct dpe_text reason = {0};

	if (dpe_value_is_word(value))
		return true;
	if (!dpe_value_is_number(value) && !is_nan(env, operand, value))
		return false;
	dpe_text_puts(&reason, "there is no arithmetic on the number ");
	dpe_value_print(&reason, value);
	dpe_text_puts(&reason, ", which is not a 64-bit integer");
	dpe_recognizer_doubt(env->recognizer, reason.at);
	dpe_text_free(&reason);
	return false;
}

/* As in C, NaN is not 0. */
static bool is_true(
	const struct dpe_env *env, const struct dpe_expr *expr, struct dpe_value value)
{
	int order;

	if (dpe_value_is_word(value))
		return value.num;
	return is_nan(env, expr, value) ||
	       (dpe_value_compare(value, dpe_value_int(0), &order) && order);
}

static bool holds(const struct dpe_env *env, const struct dpe_expr *expr)
{
	return is_true(env, expr, dpe_eval(env, expr));
}

static struct dpe_value eval_unary(const struct dpe_env *env, const struct dpe_expr *expr)
{
	struct dpe_value value = dpe_eval_number(env, expr->left);

	if (expr->op == DPE_OP_NOT && value.kind != DPE_NONE)
		return dpe_value_int(!is_true(env, expr->left, value));
	if (!can_compute(env, expr->left, value))
		return none;
	switch (expr->op) {
	case DPE_OP_NEG:
		return wrap(-integer_of(value), is_large(value));
	case DPE_OP_COMPL:
		return from_bits(~(uint64_t)value.num, false);
	default:
		return value;
	}
}

/* If one operand has no value, the other one may still decide. */
static struct dpe_value eval_logic(const struct dpe_env *env, const struct dpe_expr *expr)
{
	bool deciding = expr->op == DPE_OP_LOR;
	struct dpe_value left = dpe_eval_number(env, expr->left), right;

	if (left.kind != DPE_NONE && is_true(env, expr->left, left) == deciding)
		return dpe_value_int(deciding);
	right = dpe_eval_number(env, expr->right);
	if (right.kind != DPE_NONE && is_true(env, expr->right, right) == deciding)
		return dpe_value_int(deciding);
	return left.kind == DPE_NONE || right.kind == DPE_NONE ? none : dpe_value_int(!deciding);
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

	if (expr->op == DPE_OP_LAND || expr->op == DPE_OP_LOR)
		return eval_logic(env, expr);
	left = dpe_eval_number(env, expr->left);
	right = dpe_eval_number(env, expr->right);
	if (left.kind == DPE_NONE || right.kind == DPE_NONE)
		return none;
	if (dpe_op_compares(expr->op))
		return compares_nan(env, expr, left, right)
			       ? dpe_value_int(expr->op == DPE_OP_NE)
			       : eval_comparison(expr->op, left, right);
	if (!can_compute(env, expr->left, left) || !can_compute(env, expr->right, right))
		return none;
	if (makes_address(expr->op, left, right))
		return dpe_value_pointer((uint64_t)eval_arithmetic(expr->op, left, right).num);
	return eval_arithmetic(expr->op, left, right);
}

bool dpe_eval_keys(const struct dpe_env *env, const struct dpe_expr *name, struct dpe_value keys[DPE_MAX_KEYS])
{
	const struct dpe_expr *const named[DPE_MAX_KEYS] = {name->left, name->right, name->third};
	unsigned nkeys = env->recognizer->spec->globals[name->index].nkeys;

	for (unsigned i = 0; i < nkeys; i++) {
		keys[i] = dpe_eval(env, named[i]);
		if (keys[i].kind == DPE_NONE)
			return false;
	}
	return true;
}

static struct dpe_value eval_global(const struct dpe_env *env, const struct dpe_expr *expr)
{
	struct dpe_value keys[DPE_MAX_KEYS];

	return dpe_eval_keys(env, expr, keys) ? dpe_spec_variable_get(env->recognizer->variables, expr->index, keys) : none;
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
		return eval_global(env, expr);
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
			env, holds(env, expr->left) ? expr->right : expr->third);
	}
	return none;
}

bool dpe_eval_condition(const struct dpe_env *env, const struct dpe_expr *expr)
{
	return holds(env, expr);
}
