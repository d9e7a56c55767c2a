/* Folds arithmetic on literals, such as constant indices; what C leaves undefined is an error. */
#include "dpe-lang/resolve/resolve.h"

#include <inttypes.h>
#include <string.h>

struct dpe_value dpe_real_value(const char *text)
{
	return (struct dpe_value){.kind = DPE_RAW, .len = (uint32_t)strlen(text), .text = text};
}

static bool is_number(const struct dpe_expr *expr)
{
	return expr->kind == DPE_EXPR_LITERAL &&
	       (expr->value.kind == DPE_INT || expr->value.kind == DPE_UINT);
}

static bool is_int(const struct dpe_expr *expr)
{
	return is_number(expr) && expr->value.kind == DPE_INT;
}

/* A number that is not a 64-bit integer. */
static bool is_real(const struct dpe_expr *expr)
{
	return expr->kind == DPE_EXPR_LITERAL && expr->value.kind == DPE_RAW;
}

static bool is_string(const struct dpe_expr *expr)
{
	return expr->kind == DPE_EXPR_TEXT ||
	       (expr->kind == DPE_EXPR_LITERAL && expr->value.kind == DPE_STRING);
}

/* False if it overflows; b is known not to divide by zero. */
static bool fold_arithmetic(enum dpe_op op, int64_t a, int64_t b, int64_t *result)
{
	switch (op) {
	case DPE_OP_ADD:
		return !__builtin_add_overflow(a, b, result);
	case DPE_OP_SUB:
		return !__builtin_sub_overflow(a, b, result);
	case DPE_OP_MUL:
		return !__builtin_mul_overflow(a, b, result);
	case DPE_OP_DIV:
		*result = a == INT64_MIN && b == -1 ? a : a / b;
		return a != INT64_MIN || b != -1;
	case DPE_OP_MOD:
		*result = b == -1 ? 0 : a % b;
		return true;
	case DPE_OP_SHL:
		*result = (int64_t)((uint64_t)a << b);
		return *result >> b == a;
	default:
		*result = a >> b;
		return true;
	}
}

static void fold_numbers(struct dpe_resolver *r, struct dpe_expr *new)
{
	int64_t a, b, result;

	if (new->op < DPE_OP_MUL || new->op > DPE_OP_SHR || !is_int(new->left) || !is_int(new->right))
		return;
	a = new->left->value.num;
	b = new->right->value.num;
	if (!fold_arithmetic(new->op, a, b, &result)) {
		resolve_error(r, new->place, "integer overflow in a constant expression");
		result = 0;
	}
	new->kind = DPE_EXPR_LITERAL;
	new->value = dpe_value_int(result);
	new->left = new->right = NULL;
}

/* What C would leave undefined. */
static bool check_right(struct dpe_resolver *r, const struct dpe_expr *new)
{
	bool shift = new->op == DPE_OP_SHL || new->op == DPE_OP_SHR;
	int64_t num = new->right->value.num;

	if (!is_number(new->right))
		return true;
	if ((new->op == DPE_OP_DIV || new->op == DPE_OP_MOD) && !num) {
		resolve_error(r, new->right->place, "division by zero");
		return false;
	}
	if (shift && (num < 0 || num > 63)) {
		resolve_error(r, new->right->place, "a shift is by 0 to 63 bits");
		return false;
	}
	return true;
}

static bool check_strings(struct dpe_resolver *r, const struct dpe_expr *new)
{
	const struct dpe_expr *a = new->left, *b = new->right;

	if (!is_string(a) && !is_string(b))
		return true;
	if (!dpe_op_compares(new->op)) {
		resolve_error(r, is_string(a) ? a->place : b->place,
			"a string can only be compared and printed");
		return false;
	}
	if (is_number(a) || is_number(b) || is_real(a) || is_real(b)) {
		resolve_error(r, new->place, "this compares a string with a number");
		return false;
	}
	return true;
}

/* Arithmetic on reals is not supported. */
static bool check_reals(struct dpe_resolver *r, const struct dpe_expr *new)
{
	const struct dpe_expr *real = is_real(new->left) ? new->left : new->right;

	if (!is_real(real) || !dpe_op_computes(new->op))
		return true;
	resolve_error(r, real->place,
		"a number that is not a 64-bit integer can only be compared and printed");
	return false;
}

/* Only the sign can change. */
static void fold_real(struct dpe_resolver *r, struct dpe_expr *new)
{
	const char *text = new->left->value.text;

	if (new->op != DPE_OP_NEG && new->op != DPE_OP_PLUS) {
		resolve_error(r, new->left->place,
			"a number that is not a 64-bit integer can only be compared and printed");
		return;
	}
	if (new->op == DPE_OP_NEG)
		text = *text == '-' ? text + 1 : dpe_arena_printf(r->spec->arena, "-%s", text);
	new->kind = DPE_EXPR_LITERAL;
	new->value = dpe_real_value(text);
	new->left = NULL;
}

static void fold_number(struct dpe_resolver *r, struct dpe_expr *new)
{
	struct dpe_value value = new->left->value;
	int64_t result = value.num;

	if (new->op == DPE_OP_NEG && value.kind == DPE_UINT && result != INT64_MIN) {
		new->kind = DPE_EXPR_LITERAL;
		new->value = dpe_real_value(
			dpe_arena_printf(r->spec->arena, "-%" PRIu64, (uint64_t)result));
		new->left = NULL;
		return;
	}
	if (new->op == DPE_OP_NOT)
		result = !value.num;
	else if (new->op == DPE_OP_COMPL)
		result = ~value.num;
	else if (new->op == DPE_OP_NEG && value.kind == DPE_INT &&result == INT64_MIN)
		resolve_error(r, new->place, "integer overflow in a constant expression");
	else if (new->op == DPE_OP_NEG)
		result = (int64_t)(0 - (uint64_t)result);
	else if (value.kind == DPE_UINT)
		return;
	new->kind = DPE_EXPR_LITERAL;
	new->value = dpe_value_int(result);
	new->left = NULL;
}

void dpe_fold_binary(struct dpe_resolver *r, struct dpe_expr *new)
{
	if (check_strings(r, new) && check_reals(r, new) && check_right(r, new))
		fold_numbers(r, new);
}

void dpe_fold_unary(struct dpe_resolver *r, struct dpe_expr *new)
{
	if (is_string(new->left))
		resolve_error(
			r, new->left->place, "a string can only be compared and printed");
	else if (is_real(new->left))
		fold_real(r, new);
	else if (is_number(new->left))
		fold_number(r, new);
}
