/* Text of the target as values. */
#include "probes/stream/read_values.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>

static void check(const char *bytes, uint64_t length, const char *expected)
{
	char room[DPE_TEXT_ROOM], all[DPE_TEXT_SIZE] = "";
	struct dpe_value value;

	memcpy(all, bytes, strlen(bytes));
	value = dpe_text_value(all, length, room);
	assert_int_equal(value.kind, DPE_STRING);
	assert_string_equal(value.text, expected);
	assert_int_equal(value.len, strlen(expected));
}

static void characters_and_other_bytes(void **state)
{
	(void)state;
	check("", 1, "");
	check("abc", 4, "abc");
	check("caf\xc3\xa9", 6, "caf\xc3\xa9");
	check("caf\xe9", 5,
		"caf\xef\xbf\xbd"
		"e9");
	check("\xef\xbf\xbd", 4,
		"\xef\xbf\xbd"
		"ef\xef\xbf\xbd"
		"bf\xef\xbf\xbd"
		"bd");
	check("abc", 2, "a");
	check("abc", UINT64_MAX, "abc");
}

static void unreadable_variables(void **state)
{
	char room[DPE_TEXT_ROOM];
	struct dpe_value value = dpe_text_value("", 0, room);

	(void)state;
	assert_int_equal(value.kind, DPE_RAW);
	assert_string_equal(value.text, "null");
}

static void truncated_text(void **state)
{
	char bytes[DPE_TEXT_SIZE], room[DPE_TEXT_ROOM];
	struct dpe_value value;

	(void)state;
	memset(bytes, 0xff, sizeof(bytes)); /* each byte takes the most that one can */
	value = dpe_text_value(bytes, DPE_TEXT_CUT, room);
	assert_true(value.len < sizeof(room));
	assert_int_equal(value.len, (DPE_TEXT_SIZE - 1) * 5 + 3);
	assert_string_equal(value.text + value.len - 3, "\xe2\x80\xa6");
	memset(bytes, 'x', sizeof(bytes));
	value = dpe_text_value(bytes, DPE_TEXT_SIZE, room);
	assert_int_equal(value.len, DPE_TEXT_SIZE - 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(characters_and_other_bytes),
		cmocka_unit_test(unreadable_variables),
		cmocka_unit_test(truncated_text),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
