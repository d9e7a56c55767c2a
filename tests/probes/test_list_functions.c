/* What can be observed, as a user reads it. */
#include "tests/probes/open_target.h"

#include "probes/plan/plan.h"

static void add_line(void *context, const char *text)
{
	dpe_text_printf(context, "%s\n", text);
}

static void check(const char *target, const char *pattern, int status, const char *expected)
{
	struct dpe_diags *diags = dpe_diags_new();
	struct dpe_text lines = {0};
	char *path = target_path(target), *text;

	assert_int_equal(dpe_probes_list(&(struct dpe_listing){.program = path, .pattern = pattern, .line = add_line, .context = &lines},
				 diags),
		status);
	text = reported(diags);
	if (!strstr(status ? text : lines.at, expected))
		fail_msg("no \"%s\" in:\n%s%s", expected, lines.at ? lines.at : "", text);
	free(text);
	free(path);
	dpe_text_free(&lines);
}

static void arguments_by_type_and_name(void **state)
{
	(void)state;
	check("signatures", "plain", 0, "signatures::plain(int a, unsigned char b, long ");
	check("signatures", "thread", 0,
		"signatures::thread(pthread_t a, void (*b)(), struct big * const *c)\n");
	check("signatures", "nothing", 0, "signatures::nothing()\n");
	check("signatures", "variadic", 0, "signatures::variadic(const char *a, ...)\n");
	check("signatures", "mixed", 0, "signatures::mixed(struct mixed a, int b)\n");
}

static void patterns_for_names_and_whole_names(void **state)
{
	(void)state;
	check("functions", "enq*", 0, "functions::enqueue(int item)\n");
	check("functions", "functions::qu?et", 0, "functions::quiet(const char *text)\n");
	check("functions", NULL, 0, "functions::main(int argc, char **argv)\n");
	check("functions", "libc.so.6::sem_post", 0, "libc.so.6::sem_post(");
}

static void names_of_cplusplus(void **state)
{
	(void)state;
	check("cplusplus", "_Z5twicei", 0, "cplusplus::_Z5twicei(int number)  twice(int)\n");
	check("cplusplus", "twice", 0, "cplusplus::_Z5twicei(int number)  twice(int)\n");
	check("cplusplus", "push", 0,
		"cplusplus::_ZN4shop5queue4pushEi(queue * const this, int item)  "
		"shop::queue::push(int)\n");
	check("cplusplus", "*::take(int)", 0, "  shop::queue::take(int)\n");
	check("cplusplus", "queue::push", 0, "  shop::queue::push(int)\n");
	check("cplusplus", "shop::box::open", 0, "  shop::box<char, char>::open()\n");
	check("cplusplus", "hidden", 0, "  (anonymous namespace)::hidden(char const*)\n");
}

static void missing_functions(void **state)
{
	(void)state;
	check("functions", "enqueu", -1, "no function matches 'enqueu'");
	check("nowhere", NULL, -1, "nowhere");
}

static void of_a_process(void **state)
{
	struct dpe_diags *diags = dpe_diags_new();
	struct dpe_text lines = {0};

	(void)state;
	assert_int_equal(dpe_probes_list(&(struct dpe_listing){.pid = getpid(), .pattern = "of_a_process", .line = add_line, .context = &lines},
				 diags),
		0);
	assert_non_null(strstr(lines.at, "test_list_functions::of_a_process"));
	dpe_text_free(&lines);
	free(reported(diags));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(arguments_by_type_and_name),
		cmocka_unit_test(patterns_for_names_and_whole_names),
		cmocka_unit_test(names_of_cplusplus),
		cmocka_unit_test(missing_functions),
		cmocka_unit_test(of_a_process),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
