/* Numbers of all kinds, in order. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "event/event.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct dpe_value number(const char *text)
{
	return (struct dpe_value){.kind = DPE_RAW, .len = (uint32_t)strlen(text), .text = text};
}

static struct dpe_value beyond(uint64_t num)
{
	return (struct dpe_value){.kind = DPE_UINT, .num = (int64_t)num};
}

/* In ascending order; those of one line are equal. */
static void in_order(void **state)
{
	enum { SAME = 6 };
	const struct {
		struct dpe_value same[SAME];
	} lines[] = {
		{{number("-1e30")}},
		{{number("-9223372036854775809")}},
		{{dpe_value_int(INT64_MIN), number("-9223372036854775808")}},
		{{dpe_value_int(-2), number("-2.0")}},
		{{dpe_value_int(-1), number("-1")}},
		{{number("-0.5")}},
		{{number("-1e-1000000000")}},
		{{dpe_value_int(0), dpe_value_pointer(0), number("0.0"), number("-0"),
			number("0e99999999999999999999"), number("false")}},
		{{number("1e-1000000000")}},
		{{number("0.5")}},
		{{dpe_value_int(1), dpe_value_pointer(1), number("1"), number("1.0"),
			number("0.10e+1"), number("true")}},
		{{dpe_value_int(INT64_MAX), dpe_value_pointer(INT64_MAX)}},
		{{beyond(UINT64_C(1) << 63), dpe_value_pointer(UINT64_C(1) << 63)}},
		{{beyond(UINT64_MAX), dpe_value_pointer(UINT64_MAX), number("18446744073709551615")}},
		{{number("18446744073709551616"), number("1.8446744073709551616e19")}},
		{{number("340282366920938463463374607431768211455")}},
		{{number("340282366920938463463374607431768211456")}},
		{{number("340282366920938463463374607431768211457"),
			number("340282366920938463463374607431768211457.0")}},
		{{number("1e999")}},
	};

	(void)state;
	for (unsigned i = 0; i < SAME * DPE_COUNT(lines); i++) {
		for (unsigned j = 0; j < SAME * DPE_COUNT(lines); j++) {
			struct dpe_value a = lines[i / SAME].same[i % SAME], b = lines[j / SAME].same[j % SAME];
			bool numbers = a.kind != DPE_NONE && b.kind != DPE_NONE;
			int order = 2;

			assert_int_equal(dpe_value_compare(a, b, &order), numbers);
			if (numbers)
				assert_int_equal(order, (i / SAME > j / SAME) - (i / SAME < j / SAME));
		}
	}
}

static void no_numbers(void **state)
{
	int order;

	(void)state;
	assert_false(dpe_value_compare(dpe_value_int(1), dpe_value_string("1"), &order));
	assert_false(dpe_value_compare(number("null"), dpe_value_int(0), &order));
	assert_false(dpe_value_compare((struct dpe_value){0}, dpe_value_pointer(0), &order));
	assert_false(dpe_value_compare(number("[1]"), dpe_value_int(1), &order));
	assert_false(dpe_value_compare(number("1e1000000000000000"), dpe_value_int(1), &order));
	assert_true(dpe_value_equal(number("[1]"), number("[1]")));
	assert_false(dpe_value_equal(number("[1]"), number("[1.0]")));
	assert_false(dpe_value_equal(number("1"), dpe_value_string("1")));
	assert_false(dpe_value_equal(number("null"), (struct dpe_value){0}));
}

/* ---- random numbers ---------------------------------------------------------------------- */

/* A number as a fixed-point one of BEFORE digits before and AFTER digits after the point, the
 * reference. Texts are made from it, so nothing is parsed. */
enum { BEFORE = 45, AFTER = 6, DIGITS = BEFORE + AFTER };

struct fixed {
	bool negative;
	char digits[DIGITS];
	char text[2 * DIGITS + 24];
	struct dpe_value value;
};

static unsigned below(unsigned end)
{
	return (unsigned)rand() % end;
}

static bool is_zero(const struct fixed *number)
{
	for (unsigned i = 0; i < DIGITS; i++) {
		if (number->digits[i])
			return false;
	}
	return true;
}

/* The digits of a number near one that needs care. */
static void choose_number(struct fixed *to)
{
	static const char *const near[] = {"0", "1", "5", "10", "9007199254740993",
		"9223372036854775807", "9223372036854775808", "18446744073709551615",
		"18446744073709551616", "170141183460469231731687303715884105728",
		"340282366920938463463374607431768211455",
		"340282366920938463463374607431768211456",
		"340282366920938463463374607431768211457",
		"1000000000000000000000000000000000000000000"};
	const char *text = near[below(DPE_COUNT(near))];
	size_t len = strlen(text);

	memset(to, 0, sizeof(*to));
	for (size_t i = 0; i < len; i++)
		to->digits[BEFORE - len + i] = (char)(text[i] - '0');
	if (!below(3))
		to->digits[BEFORE - 1] = (char)below(10);
	if (!below(3))
		to->digits[BEFORE + below(AFTER)] = (char)below(10);
	to->negative = below(2) && !is_zero(to);
}

/* The number's 64 bits, if it is such an integer. */
static bool find_bits(const struct fixed *number, uint64_t *bits)
{
	dpe_wide size = 0;

	for (unsigned i = 0; i < DIGITS; i++) {
		if (i < BEFORE && size <= UINT64_MAX)
			size = size * 10 + (unsigned)number->digits[i];
		else if (i < BEFORE || number->digits[i])
			return false;
	}
	*bits = number->negative ? 0 - (uint64_t)size : (uint64_t)size;
	return size <= (number->negative ? (dpe_wide)INT64_MAX + 1 : UINT64_MAX);
}

/* One of the spellings of the number: with the point moved by an exponent, and zeros at both ends. */
static void choose_text(struct fixed *to)
{
	int shift = below(2) ? (int)below(DIGITS) - BEFORE : 0, point = BEFORE + shift;
	int first = 0, last = DIGITS;
	char *at = to->text;

	while (first < point - 1 && !to->digits[first])
		first++;
	while (last > point && !to->digits[last - 1])
		last--;
	last += last > point && last < DIGITS && below(2);
	if (to->negative || (is_zero(to) && below(2)))
		*at++ = '-';
	for (int i = first; i < last; i++) {
		if (i == point)
			*at++ = '.';
		*at++ = (char)('0' + to->digits[i]);
	}
	for (; last == point && below(2); last++)
		at += sprintf(at, ".0");
	if (shift || below(4) == 0)
		at += sprintf(at, "%c%s%d", below(2) ? 'e' : 'E', shift <= 0 && below(2) ? "+" : "", -shift);
	*at = 0;
	to->value = number(to->text);
}

static void choose(struct fixed *to)
{
	uint64_t bits;

	choose_number(to);
	if (below(2) || !find_bits(to, &bits))
		choose_text(to);
	else if (to->negative)
		to->value = dpe_value_int((int64_t)bits);
	else if (below(2))
		to->value = dpe_value_pointer(bits);
	else
		to->value = bits > INT64_MAX ? beyond(bits) : dpe_value_int((int64_t)bits);
}

static int compare_fixed(const struct fixed *a, const struct fixed *b)
{
	int sizes = memcmp(a->digits, b->digits, DIGITS);

	if (a->negative != b->negative)
		return a->negative ? -1 : 1;
	sizes = (sizes > 0) - (sizes < 0);
	return a->negative ? -sizes : sizes;
}

static void check_pair(const struct fixed *a, const struct fixed *b)
{
	int order = 2, wanted = compare_fixed(a, b);

	if (!dpe_value_compare(a->value, b->value, &order) || order != wanted ||
		dpe_value_equal(a->value, b->value) != !wanted ||
		(!wanted && dpe_value_hash(a->value) != dpe_value_hash(b->value)))
		fail_msg("%d (%s) and %d (%s) compare as %d, not %d, or equality or hash differ",
			a->value.kind, a->text, b->value.kind, b->text, order, wanted);
}

/* The reference is a total order, so the order of values is one, and equality an equivalence. */
static void random_numbers(void **state)
{
	static struct fixed numbers[400];
	unsigned equal = 0;

	(void)state;
	srand(1);
	for (unsigned i = 0; i < DPE_COUNT(numbers); i++)
		choose(&numbers[i]);
	for (unsigned i = 0; i < DPE_COUNT(numbers); i++) {
		for (unsigned j = 0; j < DPE_COUNT(numbers); j++) {
			check_pair(&numbers[i], &numbers[j]);
			equal += i != j && !compare_fixed(&numbers[i], &numbers[j]);
		}
	}
	assert_true(equal > 1000);
}

/* A floating point number, half of the time a whole one near 2^64. */
static double choose_real(bool single)
{
	double real = ldexp((double)rand() / RAND_MAX + 0.5, (int)below(80) - 12);

	real = below(2) ? -real : real;
	if (below(2))
		real = trunc(real);
	return single ? (double)(float)real : real;
}

/* In the same order as long doubles are, which hold all of them. */
static void check_real(double real, bool single, uint64_t word)
{
	char text[DPE_NUMBER_TEXT];
	struct dpe_value value = dpe_value_real(real, single, text);
	int order = 2;

	assert_true(dpe_value_compare(value, dpe_value_pointer(word), &order));
	if (order != (real > (long double)word) - (real < (long double)word))
		fail_msg("%s and %" PRIu64 " compare as %d", text, word, order);
	assert_true(single ? strtof(text, NULL) == (float)real : strtod(text, NULL) == real);
}

/* Reals below 2^64 and integers compare exactly, also where a double has no place for the last digits. */
static void reals_and_integers(void **state)
{
	(void)state;
	srand(2);
	for (unsigned i = 0; i < 4000; i++) {
		bool single = below(2);
		double real = choose_real(single);
		uint64_t word = real >= 0 && real < 0x1p64 ? (uint64_t)real : below(2) ? 0 : UINT64_MAX;

		check_real(real, single, word);
		if (fabs(real) < 0x1p64) {
			check_real(real, single, word - 1);
			check_real(real, single, word + 1);
		}
	}
}

/* Different numbers rarely have the same hash. */
static void hashes_are_distinct(void **state)
{
	uint64_t hashes[1000];
	unsigned same = 0;
	char text[32];

	(void)state;
	for (unsigned i = 0; i < DPE_COUNT(hashes); i++) {
		snprintf(text, sizeof(text), "%u.%u", i / 10, i % 10);
		hashes[i] = dpe_value_hash(number(text));
		for (unsigned j = 0; j < i; j++)
			same += hashes[i] == hashes[j];
	}
	assert_int_equal(same, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(in_order),
		cmocka_unit_test(no_numbers),
		cmocka_unit_test(random_numbers),
		cmocka_unit_test(reals_and_integers),
		cmocka_unit_test(hashes_are_distinct),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
