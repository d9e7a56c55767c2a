/* Variables: where they lie, and which one lies at an address. */
#include "tests/probes/open_target.h"

#include "probes/binary/variable.h"

static void variables_by_name(void **state)
{
	struct dpe_module *module = open_target("variables");
	struct dpe_variable variable, inner;

	(void)state;
	assert_null(dpe_variable_find(module, "counter", &variable));
	assert_int_equal(variable.size, sizeof(int));
	assert_true(variable.is_signed);
	assert_null(dpe_variable_find(module, "flags", &variable));
	assert_int_equal(variable.size, 1);
	assert_false(variable.is_signed);
	assert_null(dpe_variable_find(module, "table", &variable));
	assert_null(dpe_variable_find(module, "table[2].inner.value", &inner));
	assert_int_equal(inner.size, sizeof(short));
	assert_int_equal(inner.address - variable.address, 2 * 24 + 10);
	dpe_module_free(module);
}

static void assert_wrong(struct dpe_module *module, const char *lvalue, const char *why)
{
	struct dpe_variable variable;
	char *said = dpe_variable_find(module, lvalue, &variable);

	assert_non_null(said);
	assert_non_null(strstr(said, why));
	free(said);
}

static void missing_names_are_reported(void **state)
{
	struct dpe_module *module = open_target("variables");

	(void)state;
	assert_wrong(module, "nowhere", "no variable 'nowhere'");
	assert_wrong(module, "table[3]", "its last element is [2]");
	assert_wrong(module, "table[x]", "must be a number");
	assert_wrong(module, "table[0].gone", "no member 'gone'");
	assert_wrong(module, "counter[0]", "it is not an array");
	assert_wrong(module, "*counter", "it is not a pointer");
	assert_wrong(module, "**pointer", "it is not a pointer");
	assert_wrong(module, "pointer->x", "no member 'x'");
	assert_wrong(module, "table->first", "it is not a pointer");
	assert_wrong(module, "list->next->next->next->next->next", "more than 4 pointers");
	assert_wrong(module, "list->", "no member ''");
	assert_wrong(module, "(", "no variable ''");
	assert_wrong(module, "table[0].bits", "bit field");
	assert_wrong(module, "main", "it is a function");
	assert_wrong(module, "", "no variable ''");
	assert_wrong(module, "table[", "must be a number");
	dpe_module_free(module);
}

static void variables_behind_pointers(void **state)
{
	struct dpe_module *module = open_target("variables");
	struct dpe_variable variable, same;

	(void)state;
	assert_null(dpe_variable_find(module, "*pointer", &variable));
	assert_int_equal(variable.nsteps, 1);
	assert_int_equal(variable.steps[0], 0);
	assert_int_equal(variable.size, sizeof(int));
	assert_null(dpe_variable_find(module, "pointer[3]", &variable));
	assert_int_equal(variable.steps[0], 3 * sizeof(int));
	assert_null(dpe_variable_find(module, "list->next->value", &variable));
	assert_int_equal(variable.nsteps, 2);
	assert_int_equal(variable.steps[0], 0);
	assert_int_equal(variable.steps[1], 8);
	assert_int_equal(variable.size, sizeof(short));
	assert_null(dpe_variable_find(module, "(*(*list).next).value", &same));
	assert_memory_equal(&same, &variable, sizeof(same));
	assert_null(dpe_variable_find(module, "*list->next", &variable));
	assert_int_equal(variable.nsteps, 2);
	assert_int_equal(variable.size, 16);
	dpe_module_free(module);
}

static void text_and_wide_numbers(void **state)
{
	struct dpe_module *module = open_target("variables");
	struct dpe_variable variable;

	(void)state;
	assert_null(dpe_variable_find(module, "text(name)", &variable));
	assert_true(variable.is_text);
	assert_int_equal(variable.nsteps, 1);
	assert_null(dpe_variable_find(module, "text(tag)", &variable));
	assert_true(variable.is_text);
	assert_int_equal(variable.nsteps, 0);
	assert_int_equal(variable.size, sizeof(char[8]) + 1);
	assert_null(dpe_variable_find(module, "text(bytes)", &variable));
	assert_wrong(module, "text(counter)", "it is not text");
	assert_wrong(module, "text(pointer)", "it is not text");
	assert_wrong(module, "text(table[0])", "it is not text");
	assert_wrong(module, "text(none)", "no variable 'none'");
	assert_wrong(module, "text(", "no variable ''");
	assert_null(dpe_variable_find(module, "wide", &variable));
	assert_true(variable.is_wide);
	assert_null(dpe_variable_check(&variable));
	dpe_module_free(module);
}

static void numbers_by_size_and_sign(void **state)
{
	const struct dpe_variable byte = {.size = 1, .is_signed = true}, word = {.size = 2},
				  all = {.size = 8, .is_signed = true};

	(void)state;
	assert_int_equal(dpe_variable_number(&byte, 0xff), -1);
	assert_int_equal(dpe_variable_number(&byte, 0xff7f), 127);
	assert_int_equal(dpe_variable_number(&word, 0xffff), 65535);
	assert_int_equal(dpe_variable_number(&all, UINT64_MAX), -1);
}

static void assert_name_of(struct dpe_module *module, const char *of, uint64_t more, bool object, const char *name)
{
	struct dpe_variable variable;
	char *said;

	assert_null(dpe_variable_find(module, of, &variable));
	said = dpe_variable_at(module, variable.address + more, object);
	assert_non_null(said);
	assert_string_equal(said, name);
	free(said);
}

static void assert_name(struct dpe_module *module, const char *of, uint64_t more, const char *name)
{
	assert_name_of(module, of, more, false, name);
}

static void what_lies_at_an_address(void **state)
{
	struct dpe_module *module = open_target("variables");

	(void)state;
	assert_name(module, "counter", 0, "counter");
	assert_name(module, "counter", 1, "counter+0x1");
	assert_name(module, "mutex", 0, "mutex");
	assert_name(module, "mutexes", 2 * 40, "mutexes[2]");
	assert_name(module, "accounts", 48, "accounts[1].lock");
	assert_name(module, "table", 24 + 10, "table[1].inner.value");
	assert_name(module, "table", 24, "table[1].first");
	assert_name_of(module, "table", 24, true, "table[1]");
	assert_name_of(module, "table", 24 + 8, true, "table[1].inner");
	assert_name_of(module, "table", 24 + 10, true, "table[1].inner.value");
	assert_name_of(module, "accounts", 48, true, "accounts[1].lock");
	assert_name_of(module, "counter", 0, true, "counter");
	assert_null(dpe_variable_at(module, 0, false));
	assert_null(dpe_variable_at(module, UINT64_MAX, false));
	dpe_module_free(module);
}

/* Symbols alone tell where and how large, not what is inside. */
static void without_debug_information(void **state)
{
	struct dpe_module *module = open_changed("variables", "strip -g");
	struct dpe_variable variable;

	(void)state;
	assert_null(dpe_variable_find(module, "counter", &variable));
	assert_int_equal(variable.size, sizeof(int));
	assert_wrong(module, "table[1]", "no debug information on what is in 'table'");
	assert_name(module, "mutexes", 2 * 40, "mutexes+0x50");
	dpe_module_free(module);
	module = open_changed("variables", "strip");
	assert_wrong(module, "counter", "stripped of its symbols");
	dpe_module_free(module);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(variables_by_name),
		cmocka_unit_test(missing_names_are_reported),
		cmocka_unit_test(variables_behind_pointers),
		cmocka_unit_test(text_and_wide_numbers),
		cmocka_unit_test(numbers_by_size_and_sign),
		cmocka_unit_test(what_lies_at_an_address),
		cmocka_unit_test(without_debug_information),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
