/* Numbers of all kinds, in order. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "event/event.h"

#include <string.h>

static struct dpe_value number(const char *text)
{
	return (struct dpe_value){.kind = DPE_RAW, .len = (uint32_t)strlen(text), .text = text};
}

static struct dpe_value beyond(uint64_t num)
{
	return (struct dpe_value){.kind = DPE_UINT, .num = (int64_t)num};
}

/* From the least to the greatest; those of one line are equal. */
static void in_order(void **state)
{
	const struct {
		struct dpe_value same[3];
	} lines[] = {
		{{number("-1e30")}},
		{{number("-9223372036854775809")}},
		{{dpe_value_int(INT64_MIN), number("-9223372036854775808")}},
		{{dpe_value_int(-2), number("-2.0")}},
		{{dpe_value_int(-1), number("-1")}},
		{{number("-0.5")}},
		{{dpe_value_int(0), dpe_value_pointer(0), number("0.0")}},
		{{number("0.5")}},
		{{dpe_value_int(1), dpe_value_pointer(1), number("1")}},
		{{dpe_value_int(INT64_MAX), dpe_value_pointer(INT64_MAX)}},
		{{beyond(UINT64_C(1) << 63), dpe_value_pointer(UINT64_C(1) << 63)}},
		{{beyond(UINT64_MAX), dpe_value_pointer(UINT64_MAX), number("18446744073709551615")}},
		{{number("18446744073709551616")}},
	};

	(void)state;
	for (unsigned i = 0; i < 3 * DPE_COUNT(lines); i++) {
		for (unsigned j = 0; j < 3 * DPE_COUNT(lines); j++) {
			struct dpe_value a = lines[i / 3].same[i % 3], b = lines[j / 3].same[j % 3];
			bool numbers = a.kind != DPE_NONE && b.kind != DPE_NONE;
			int order = 2;

			assert_int_equal(dpe_value_compare(a, b, &order), numbers);
			if (numbers)
				assert_int_equal(order, (i / 3 > j / 3) - (i / 3 < j / 3));
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
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(in_order),
		cmocka_unit_test(no_numbers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
