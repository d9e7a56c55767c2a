/* Every mistake in diagnostics/NAME.dpe is reported as NAME.expected says. The folder of tests is the
 * first argument, or DPE_TESTS; with DPE_UPDATE set the expected files are written instead. */
#include "dpe-lang/dpe-lang.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <glob.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The diagnostics of one run for the file: errors, or else what is not supported yet. */
static char *say(const char *path)
{
	static const struct dpe_compile_options options;
	struct dpe_names *names = dpe_names_new();
	struct dpe_diags *diags = dpe_diags_new();
	struct dpe_spec *spec = dpe_spec_compile(&path, 1, names, &options, diags);
	char *said = NULL;
	size_t size = 0;
	FILE *to = open_memstream(&said, &size);

	assert_true(spec || dpe_diags_errors(diags));
	if (spec) {
		bool runs = dpe_spec_runnable(spec, true, diags);

		assert_int_equal(runs, !dpe_diags_errors(diags));
	}
	dpe_diags_print(diags, to);
	fclose(to);
	dpe_spec_free(spec);
	dpe_diags_free(diags);
	dpe_names_free(names);
	return said;
}

static void write_expected(const char *path, const char *text)
{
	FILE *to = fopen(path, "w");

	assert_non_null(to);
	fputs(text, to);
	fclose(to);
}

static char *read_expected(const char *path)
{
	struct dpe_arena *arena = dpe_arena_new();
	struct dpe_source *source = dpe_source_read(arena, path);
	char *text;
	size_t len;

	if (!source)
		print_message("%s is missing\n", path);
	assert_non_null(source);
	text = dpe_xstrdup(dpe_source_text(source, &len));
	dpe_arena_free(arena);
	return text;
}

static void check(const char *path)
{
	char *said = say(path), *wanted;
	char *expected = dpe_xasprintf("%.*s.expected", (int)strlen(path) - 4, path);

	if (getenv("DPE_UPDATE"))
		write_expected(expected, said);
	wanted = read_expected(expected);
	if (strcmp(said, wanted))
		print_message("%s\n", path);
	assert_string_equal(said, wanted);
	free(said);
	free(wanted);
	free(expected);
}

static void every_mistake_is_reported(void **state)
{
	glob_t found = {0};

	(void)state;
	assert_int_equal(glob("*.dpe", 0, NULL, &found), 0);
	assert_true(found.gl_pathc > 40);
	for (size_t i = 0; i < found.gl_pathc; i++)
		check(found.gl_pathv[i]);
	globfree(&found);
}

static unsigned count(const char *text, const char *part)
{
	unsigned n = 0;

	for (; (text = strstr(text, part)); text++)
		n++;
	return n;
}

static void three_mistakes_are_three_errors(void **state)
{
	char *said = say("three-mistakes.dpe");

	(void)state;
	assert_int_equal(count(said, ": error: "), 3);
	assert_non_null(strstr(said, "three-mistakes.dpe:1:14: error: "));
	assert_non_null(strstr(said, "three-mistakes.dpe:2:16: error: "));
	assert_non_null(strstr(said, "three-mistakes.dpe:3:16: error: "));
	free(said);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_mistake_is_reported),
		cmocka_unit_test(three_mistakes_are_three_errors),
	};
	const char *folder = argc > 1 ? argv[1] : getenv("DPE_TESTS");
	char *path = dpe_xasprintf("%s/dpe-lang/diagnostics", folder ? folder : "tests");

	if (chdir(path)) {
		perror(path);
		return 1;
	}
	free(path);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
