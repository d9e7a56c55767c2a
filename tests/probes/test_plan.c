/* What to observe for which rules. */
#include "probes/plan/plan.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void check(const char *text, const char *expected)
{
	struct dpe_names *names = dpe_names_new();
	struct dpe_diags *diags = dpe_diags_new();
	struct dpe_compile_options options = {0};
	struct dpe_text printed = {0};
	struct dpe_plan *plan;
	struct dpe_spec *spec;

	spec = dpe_spec_compile_text("test", text, strlen(text), names, &options, diags);
	dpe_diags_print(diags, stderr);
	assert_non_null(spec);
	plan = dpe_plan_new(spec);
	dpe_plan_print(&printed, names, plan);
	assert_string_equal(printed.at, expected);
	dpe_text_free(&printed);
	dpe_plan_free(plan);
	dpe_spec_free(spec);
	dpe_diags_free(diags);
	dpe_names_free(names);
}

static void each_function_once(void **state)
{
	(void)state;
	check("expect R: f.enter;f.exit", "f: enter and exit\n");
	check("expect R: a;b.exit\ndetect S: a;c", "a: enter\nb: exit\nc: enter\n");
	check("expect R: libc::f;f", "libc::f: enter\nf: enter\n");
}

static void arguments_that_are_mentioned(void **state)
{
	(void)state;
	check("expect R(x): f(x, _);g()", "f: enter, 2 arguments\ng: enter\n");
	check("detect R: f.exit [.args[2] == 1]", "f: exit, 3 arguments\n");
	check("detect R: f { print(.args[0]); };g", "f: enter, 1 argument\ng: enter\n");
	check("detect R: f;g { print($1.args[4], $2.tid); }", "f: enter, 5 arguments\ng: enter\n");
}

static void functions_of_sync_rules_are_optional(void **state)
{
	(void)state;
	check("sync last S(m): unlock(m).enter;lock(m).exit\nexpect R: lock.enter",
		"unlock: enter, 1 argument, where the target has it\n"
		"lock: enter and exit, 1 argument\n");
}

static void threads(void **state)
{
	(void)state;
	check("sync once C(T): thread::create(T);thread::start by T",
		"threads: creation, start and exit\n");
	check("expect R: thread::exit;f", "f: enter\nthreads: creation, start and exit\n");
}

static void variables_that_are_read(void **state)
{
	(void)state;
	check("detect R: f [x = 1] ; (g { print(a.b, x); })",
		"f: enter, with x, only where x == 1\ng: enter, with x, a.b\n");
	check("detect R: a ; (b ; c) { print(x); } ; d", "a: enter, with x\nb: enter, with x\n"
							 "c: enter, with x\nd: enter, with x\n");
	check("detect R: [x'] ; f { print(x, y); }",
		"f: enter, with x, y\nx: updates, by a watchpoint, with y\n");
	check("detect R: (f + g) { print(p->q); }\nexpect S: h",
		"f: enter, with p->q\ng: enter, with p->q\nh: enter\n");
}

static void events_left_out_by_the_probe(void **state)
{
	(void)state;
	check("detect R: f [x > 3 && y] + f [-2 >= z]",
		"f: enter, with x, y, z, only where x > 3 or z <= -2\n");
	check("detect R: f [x > 3] ; f", "f: enter, with x\n");
	check("detect R: f.enter [x != 3] ; f.exit [text(s) == \"abc\"]",
		"f: enter and exit, with x, text(s), entries only where x != 3, "
		"exits only where text(s) == \"abc\"\n");
	check("detect R: f(\"abc\")",
		"f: enter, 1 argument, with text(arg@0), only where text(arg@0) == \"abc\"\n");
}

static void lines(void **state)
{
	(void)state;
	check("detect R: \"a/q.c:12\" ; \"q.c:x\"",
		"a/q.c:12: a place in the code\nq.c:x: enter\n");
}

static void a_plan_of_nothing(void **state)
{
	(void)state;
	dpe_plan_free(NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_function_once),
		cmocka_unit_test(arguments_that_are_mentioned),
		cmocka_unit_test(functions_of_sync_rules_are_optional),
		cmocka_unit_test(threads),
		cmocka_unit_test(variables_that_are_read),
		cmocka_unit_test(events_left_out_by_the_probe),
		cmocka_unit_test(lines),
		cmocka_unit_test(a_plan_of_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
