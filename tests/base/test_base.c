/* Memory, text, near words, and trace domains. */
#include "base/base.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

static void arrays_grow(void **state)
{
	unsigned count = 0, cap = 0;
	int *numbers = NULL;

	(void)state;
	for (int i = 0; i < 1000; i++)
		*DPE_GROW(numbers, count, cap) = i;
	assert_int_equal(count, 1000);
	for (int i = 0; i < 1000; i++)
		assert_int_equal(numbers[i], i);
	free(numbers);
}

static void arenas_give_zeroed_memory_also_after_a_reset(void **state)
{
	struct dpe_arena *arena = dpe_arena_new();

	(void)state;
	for (unsigned round = 0; round < 3; round++) {
		for (size_t size = 1; size < 100000; size *= 3) {
			char *memory = dpe_arena_alloc(arena, size);

			assert_int_equal((uintptr_t)memory % _Alignof(max_align_t), 0);
			for (size_t i = 0; i < size; i++)
				assert_int_equal(memory[i], 0);
			memset(memory, 0xff, size);
		}
		dpe_arena_reset(arena);
	}
	assert_string_equal(dpe_arena_strndup(arena, "abcdef", 3), "abc");
	assert_string_equal(dpe_arena_printf(arena, "%d-%s", 7, "x"), "7-x");
	dpe_arena_free(arena);
}

static void text_is_terminated_and_limited(void **state)
{
	struct dpe_text text = {0};
	char *line = dpe_xasprintf("%05000d", 1);

	(void)state;
	dpe_text_puts(&text, "");
	assert_string_equal(text.at, "");
	dpe_text_add(&text, "a\0b", 3);
	assert_int_equal(text.len, 3);
	assert_memory_equal(text.at, "a\0b", 4);
	dpe_text_printf(&text, "%s!", line);
	assert_int_equal(text.len, 3 + 5000 + 1);
	assert_int_equal(strlen(text.at + 3), 5001);
	dpe_text_free(&text);
	free(line);
}

static void near_words(void **state)
{
	static const char *const words[] = {"enqueue", "dequeue", "queue", "main", "enqueue"};
	const char *best[3];

	(void)state;
	assert_int_equal(dpe_nearest("enqeue", words, 5, best, 3), 1);
	assert_string_equal(best[0], "enqueue");
	assert_int_equal(dpe_nearest("deque", words, 5, best, 3), 1);
	assert_string_equal(best[0], "dequeue");
	assert_int_equal(dpe_nearest("denqueue", words, 5, best, 3), 3);
	assert_int_equal(dpe_nearest("denqueue", words, 5, best, 1), 1);
	assert_int_equal(dpe_nearest("mian", words, 5, best, 3), 1);
	assert_int_equal(dpe_nearest("nothing", words, 5, best, 3), 0);
	assert_int_equal(dpe_nearest("", words, 5, best, 3), 0);
	assert_int_equal(dpe_nearest("x", words, 5, best, 3), 0);
}

static void trace_domains(void **state)
{
	struct dpe_diags *diags = dpe_diags_new();
	struct dpe_debug *debug = dpe_debug_parse("stabilizer:2,probes", stderr, diags);

	(void)state;
	assert_non_null(debug);
	assert_true(dpe_debug_on(debug, "stabilizer", 2));
	assert_false(dpe_debug_on(debug, "stabilizer", 3));
	assert_true(dpe_debug_on(debug, "probes", 1));
	assert_false(dpe_debug_on(debug, "lang", 1));
	assert_false(dpe_debug_on(NULL, "probes", 1));
	dpe_debug_free(debug);
	assert_null(dpe_debug_parse("stabiliser", stderr, diags));
	assert_null(dpe_debug_parse("probes:x", stderr, diags));
	assert_null(dpe_debug_parse("", stderr, diags));
	assert_int_equal(dpe_diags_errors(diags), 3);
	dpe_diags_free(diags);
}

static void places_join(void **state)
{
	struct dpe_arena *arena = dpe_arena_new();
	struct dpe_source *source = dpe_source_new(arena, "n", "ab\ncd", 5);
	struct dpe_place joined =
		dpe_place_join((struct dpe_place){source, 3, 4}, (struct dpe_place){source, 0, 1});
	unsigned line, column;

	(void)state;
	assert_int_equal(joined.begin, 0);
	assert_int_equal(joined.end, 4);
	dpe_place_line((struct dpe_place){source, 4, 5}, &line, &column);
	assert_int_equal(line, 2);
	assert_int_equal(column, 2);
	assert_null(dpe_source_read(arena, "/no/such/file"));
	assert_null(dpe_source_read(arena, "/"));
	dpe_arena_free(arena);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(arrays_grow),
		cmocka_unit_test(arenas_give_zeroed_memory_also_after_a_reset),
		cmocka_unit_test(text_is_terminated_and_limited),
		cmocka_unit_test(near_words),
		cmocka_unit_test(trace_domains),
		cmocka_unit_test(places_join),
	};

	return cmocka_run_group_tests_name("base", tests, NULL, NULL);
}
