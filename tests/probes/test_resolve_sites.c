/* Sites in the files of a target, and what is reported about the ones that are not there. */
#include "tests/probes/open_target.h"

#include "probes/plan/resolve_sites.h"

struct target {
	struct dpe_modules modules;
	struct dpe_names *names;
	struct dpe_module *program, *libc;
};

static int set_up(void **state)
{
	struct target *target = dpe_xcalloc(1, sizeof(*target));
	char *path = libc_path();

	target->names = dpe_names_new();
	if (path)
		target->libc = dpe_modules_add(&target->modules, open_path(path));
	free(path);
	target->program = dpe_modules_add(&target->modules, open_target("functions"));
	*state = target;
	return 0;
}

static int tear_down(void **state)
{
	struct target *target = *state;

	dpe_modules_free(&target->modules);
	dpe_names_free(target->names);
	free(target);
	return 0;
}

static struct dpe_plan_site site_of(struct target *target, const char *module, const char *name)
{
	return (struct dpe_plan_site){
		.name = dpe_intern_string(target->names, name),
		.module = *module ? dpe_intern_string(target->names, module) : 0,
		.enter = true,
	};
}

static unsigned find(struct target *target, const struct dpe_plan_site *site,
	struct dpe_target_function **found, char **text)
{
	struct dpe_diags *diags = dpe_diags_new();
	unsigned count = dpe_resolve_site(&target->modules, site, target->names, diags, found);

	*text = reported(diags);
	return count;
}

static void check_found(void **state, const char *module, const char *name, unsigned expected)
{
	struct target *target = *state;
	struct dpe_target_function *found;
	struct dpe_plan_site site = site_of(target, module, name);
	char *text;

	assert_int_equal(find(target, &site, &found, &text), expected);
	for (unsigned i = 0; i < expected; i++)
		assert_string_equal(found[i].function->name, name);
	assert_string_equal(text, "");
	free(found);
	free(text);
}

static void check_missing(
	void **state, const char *module, const char *name, const char *const parts[])
{
	struct target *target = *state;
	struct dpe_target_function *found;
	struct dpe_plan_site site = site_of(target, module, name);
	char *text;

	assert_int_equal(find(target, &site, &found, &text), 0);
	assert_null(found);
	for (; *parts; parts++)
		if (!strstr(text, *parts))
			fail_msg("no \"%s\" in:\n%s", *parts, text);
	free(text);
	site.optional = true;
	assert_int_equal(find(target, &site, &found, &text), 0);
	assert_string_equal(text, "");
	free(text);
}

#define MISSING(module, name, ...)                                                                 \
	check_missing(state, module, name, (const char *const[]){__VA_ARGS__, NULL})

static void functions_of_the_program(void **state)
{
	check_found(state, "", "enqueue", 1);
	check_found(state, "functions", "enqueue", 1);
	check_found(state, "", "quiet", 1);
}

static void functions_of_libraries(void **state)
{
	const struct target *target = *state;

	if (!target->libc)
		skip();
	check_found(state, "", "sem_post", 1);
	check_found(state, "libc", "sem_post", 1);
	check_found(state, "libc", "pthread_cond_wait", 2);
}

/* The same target with "functions" as one of its libraries. */
static void static_functions_of_libraries(void **state)
{
	struct target *target = *state;

	target->program->program = false;
	check_found(state, "", "enqueue", 1);
	check_found(state, "functions", "quiet", 1);
	MISSING("", "quiet", "no function 'quiet'",
		"functions has a static 'quiet': to observe it, write functions::quiet");
	target->program->program = true;
}

static void nearest_names(void **state)
{
	MISSING("", "enqueu", "no function 'enqueu' in functions or its libraries",
		"did you mean 'enqueue'?");
	MISSING("functions", "main_", "no function 'main_' in functions\n", "did you mean 'main'?");
}

static void missing_modules(void **state)
{
	MISSING("libfoo", "enqueue",
		"no function 'libfoo::enqueue' in functions or its libraries\n",
		"no class, namespace, program or library there is called 'libfoo'; the files are ", "functions");
	MISSING("libc", "enqueue", "no function 'enqueue' in libc\n", "functions has a 'enqueue'");
}

static void functions_that_were_inlined(void **state)
{
	MISSING("", "melted", "no function 'melted'", "inlined it everywhere in functions");
}

/* Some have code of their own, too: that calls are missing must not look as if there were none. */
static void functions_that_were_inlined_somewhere(void **state)
{
	struct dpe_modules modules = {0};
	struct target *target = *state;
	struct dpe_plan_site site = site_of(target, "", "withdraw");
	struct dpe_diags *diags = dpe_diags_new();
	struct dpe_target_function *found;
	char *text;

	dpe_modules_add(&modules, open_target("inlined"));
	assert_int_equal(dpe_resolve_site(&modules, &site, target->names, diags, &found), 1);
	text = reported(diags);
	assert_non_null(strstr(text, "warning: the compiler inlined 'withdraw', in 'withdraw_all' for one"));
	free(text);
	free(found);
	diags = dpe_diags_new();
	site = site_of(target, "", "deposit");
	assert_int_equal(dpe_resolve_site(&modules, &site, target->names, diags, &found), 1);
	text = reported(diags);
	assert_string_equal(text, "");
	free(text);
	free(found);
	dpe_modules_free(&modules);
}

static void functions_selected_at_load(void **state)
{
	const struct target *target = *state;

	if (!target->libc)
		skip();
	check_found(state, "libc", "strlen", 1);
	MISSING("libc", "gettimeofday",
		"'gettimeofday' in libc.so.6 is selected when the program loads (IFUNC)",
		"a function of the kernel");
	MISSING("functions", "chosen", "selected when the program loads (IFUNC)",
		"its choice is not known in advance");
}

static void stripped_programs(void **state)
{
	struct dpe_modules modules = {0};
	struct dpe_diags *diags = dpe_diags_new();
	struct target *target = *state;
	struct dpe_plan_site site = site_of(target, "", "enqueue");
	struct dpe_target_function *found;
	char *text;

	dpe_modules_add(&modules, open_changed("functions", "strip"));
	assert_int_equal(dpe_resolve_site(&modules, &site, target->names, diags, &found), 0);
	text = reported(diags);
	assert_non_null(strstr(text, "has no symbols"));
	free(text);
	dpe_modules_free(&modules);
}

static void more_arguments_than_there_are(void **state)
{
	struct target *target = *state;
	struct dpe_plan_site site = site_of(target, "", "enqueue");
	struct dpe_target_function *found;
	char *text;

	site.nargs = 2;
	assert_int_equal(find(target, &site, &found, &text), 1);
	assert_non_null(strstr(text, "'enqueue' has 1 argument, and the rules ask for 2"));
	free(found);
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(functions_of_the_program),
		cmocka_unit_test(functions_of_libraries),
		cmocka_unit_test(static_functions_of_libraries),
		cmocka_unit_test(nearest_names),
		cmocka_unit_test(missing_modules),
		cmocka_unit_test(functions_that_were_inlined),
		cmocka_unit_test(functions_that_were_inlined_somewhere),
		cmocka_unit_test(functions_selected_at_load),
		cmocka_unit_test(stripped_programs),
		cmocka_unit_test(more_arguments_than_there_are),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
