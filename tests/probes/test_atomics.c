/* Which functions have atomic instructions, and how much code is searched for them. */
#include "probes/code/code.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>

static int counter;

__attribute__((noinline)) int count_atomically(void)
{
	return __atomic_add_fetch(&counter, 1, __ATOMIC_SEQ_CST);
}

static unsigned search(uint64_t *bytes, struct dpe_text *names)
{
	struct dpe_diags *diags = dpe_diags_new();
	struct dpe_module *module = dpe_module_open("/proc/self/exe", "/proc/self/exe", diags);
	unsigned count;

	assert_non_null(module);
	count = dpe_atomics_print(names, module, bytes);
	dpe_module_free(module);
	dpe_diags_free(diags);
	return count;
}

static void functions_are_found(void **state)
{
	struct dpe_text names = {0};
	uint64_t bytes = 64 << 20;

	(void)state;
	assert_int_equal(count_atomically(), 1);
	assert_true(search(&bytes, &names) > 0);
	assert_true(bytes > 0 && bytes < 64 << 20);
	dpe_text_free(&names);
}

/* The caller can say that not all was searched. */
static void an_end_of_the_search_shows(void **state)
{
	(void)state;
	for (uint64_t most = 1; most < 1 << 12; most *= 2) {
		struct dpe_text names = {0};
		uint64_t bytes = most;

		search(&bytes, &names);
		assert_int_equal(bytes, 0);
		dpe_text_free(&names);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(functions_are_found),
		cmocka_unit_test(an_end_of_the_search_shows),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
