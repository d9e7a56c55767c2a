/* Addresses as text. */
#include "tests/probes/open_target.h"

#include "probes/binary/stack_text.h"

#define BASE 0x7f0000000000

static void check(struct dpe_module *module, uint64_t pc, bool is_return, const char *expected)
{
	struct dpe_map maps[2] = {
		{0x1000, 0x2000, 0, NULL},
		{BASE, BASE + 0x100000, 0, module},
	};
	struct dpe_text text = {0};

	dpe_stack_print(maps, 2, pc, is_return, &text);
	if (strncmp(text.at, expected, strlen(expected)))
		fail_msg("%s instead of %s", text.at, expected);
	dpe_text_free(&text);
}

static void check_line(struct dpe_module *module, uint64_t pc, bool is_return, const char *expected,
	const char *line)
{
	struct dpe_map map = {BASE, BASE + 0x100000, 0, module};
	struct dpe_text text = {0};

	dpe_stack_print(&map, 1, pc, is_return, &text);
	if (strncmp(text.at, expected, strlen(expected)) || !strstr(text.at, line))
		fail_msg("%s instead of %s…%s", text.at, expected, line);
	dpe_text_free(&text);
}

static const struct dpe_function *function_of(struct dpe_module *module, const char *name)
{
	unsigned count;
	const struct dpe_function *function = dpe_module_find(module, name, &count);

	assert_non_null(function);
	return function;
}

static void function_and_line(void **state)
{
	struct dpe_module *module = open_target("functions");
	const struct dpe_function *enqueue = function_of(module, "enqueue");

	(void)state;
	check_line(module, BASE + enqueue->offset, false, "enqueue+0x0 (", "functions.c:");
	check_line(module, BASE + enqueue->offset + enqueue->size - 1, false, "enqueue+0x",
		"functions.c:1");
	dpe_module_free(module);
}

static void the_line_of_a_call_is_that_before_its_return(void **state)
{
	struct dpe_module *module = open_target("functions");
	const struct dpe_function *leaves = function_of(module, "leaves");
	char *expected = dpe_xasprintf("leaves+0x%lx (", (unsigned long)leaves->size);

	(void)state;
	check_line(module, BASE + leaves->offset + leaves->size, true, expected, "functions.c:26)");
	free(expected);
	dpe_module_free(module);
}

/* True if some return address within the function gives that text. */
static bool some_return_is(const char *function, const char *expected)
{
	struct dpe_module *module = open_target("inlined");
	const struct dpe_function *caller = function_of(module, function);
	struct dpe_map map = {BASE, BASE + 0x100000, 0, module};
	bool found = false;

	for (uint64_t at = 1; at <= caller->size; at++) {
		struct dpe_text text = {0};

		dpe_stack_print(&map, 1, BASE + caller->offset + at, true, &text);
		for (char *plus; (plus = strstr(text.at, "+0x"));) /* the compiler's choice */
			memmove(plus, strchr(plus, ' '), strlen(strchr(plus, ' ')) + 1);
		found |= !strcmp(text.at, expected);
		dpe_text_free(&text);
	}
	dpe_module_free(module);
	return found;
}

static void inlined_calls(void **state)
{
	struct dpe_module *module = open_target("inlined");

	(void)state;
	assert_true(some_return_is("work",
		"deposit_both (inlined) (tests/probes/targets/inlined.c:13)\n"
		"work (tests/probes/targets/inlined.c:19)"));
	assert_true(some_return_is("work",
		"deposit_twice (inlined) (tests/probes/targets/inlined.h:9)\n"
		"deposit_both (inlined) (tests/probes/targets/inlined.c:14)\n"
		"work (tests/probes/targets/inlined.c:19)"));
	/* A call of the function itself is no call of what it begins with. */
	check(module, BASE + function_of(module, "begins")->offset, false, "begins+0x0 (");
	dpe_module_free(module);
}

static void names_of_cplusplus(void **state)
{
	struct dpe_module *module = open_target("cplusplus");
	const struct dpe_function *take = function_of(module, "_ZN4shop5queue4takeEi");

	(void)state;
	check_line(module, BASE + take->offset, false, "shop::queue::take(int)+0x0 (",
		"cplusplus.cc:35)");
	dpe_module_free(module);
}

static void without_lines(void **state)
{
	struct dpe_module *module = open_changed("functions", "strip --strip-debug");
	const struct dpe_function *enqueue = function_of(module, "enqueue");

	(void)state;
	check(module, BASE + enqueue->offset, false, "enqueue+0x0 (dpe-test-");
	dpe_module_free(module);
}

static void without_functions(void **state)
{
	struct dpe_module *module = open_target("functions");
	uint64_t offset = function_of(module, "enqueue")->offset;
	char *expected = dpe_xasprintf("0x%lx (dpe-test-", (unsigned long)(BASE + offset));

	(void)state;
	dpe_module_free(module);
	module = open_changed("functions", "strip");
	check(module, BASE + offset, false, expected);
	free(expected);
	dpe_module_free(module);
}

static void without_anything(void **state)
{
	struct dpe_module *module = open_target("functions");

	(void)state;
	check(module, 0, false, "0x0");
	check(module, 0, true, "0x0");
	check(module, 0x1000, false, "0x1000");
	check(module, 0xabc, false, "0xabc");
	check(module, UINT64_MAX, false, "0xffffffffffffffff");
	check(module, BASE + 0xff000, true, "0x7f00000ff000");
	dpe_module_free(module);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(function_and_line),
		cmocka_unit_test(the_line_of_a_call_is_that_before_its_return),
		cmocka_unit_test(inlined_calls),
		cmocka_unit_test(names_of_cplusplus),
		cmocka_unit_test(without_lines),
		cmocka_unit_test(without_functions),
		cmocka_unit_test(without_anything),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
