/* The recognizer's fast path compared with the general path, which a traced run takes: after each message
 * the verdicts, their text and the amount of kept state are equal. */
#include "tests/recognizer/programs.h"

static const char *const rules[] = {
	"expect R(x): (r(x) + w(x))*",
	"expect R(x): (r(x)* ; w(x))*",
	"expect R(l): (acq(l) ; rel(l))*",
	"expect R(t): (acq(_) by t ; rel(_) by t)*",
	"expect R(t): ((r(_) by t)* ; (w(_) by t)*)* observing acq(_) by t ends",
	"expect R(t): (r(_) by t ; (r(_) by t + w(_) by t))* observing fork(_) by t",
	"expect R(x, t): (r(x) by t ; w(x) by t)* observing rel(_) by t ends",
	"expect R: (r(_) + w(_) + acq(_) ; rel(_))*",
	"expect R(x): (r(x) ; w(x) + r(x) ; r(x))*",
	"expect R(x): (r(x) [.tid == \"T0\"] + w(x))*",
	"expect R(x): (r(x) ; w(x))* else {error(\"%s\", x)}",
	"expect R(x): (r(x) + w(_))*",
	"expect R(x): (w(_)* ; r(x))*",
	"expect R(x, t): (r(x) by t + w(x))*",
	"expect R(x, t): (r(x) by t + w(_) by t + acq(_) + rel(_))*",
	"expect R(x, t): (r(x) by t + w(_) by t)* observing acq(_) by t ends",
};

/* The same events without what only STD has: so small that a compact slice's cell holds them. */
static struct dpe_text as_json_lines(const char *log)
{
	struct dpe_text to = {0};
	char thread[16], event[16], arg[16];

	for (; *log; log += strcspn(log, "\n") + 1) {
		assert_int_equal(sscanf(log, "%15[^|]|%15[^(](%15[^)])", thread, event, arg), 3);
		dpe_text_printf(&to, "{\"event\":\"%s\",\"thread\":\"%s\",\"args\":[\"%s\"]}\n", event, thread, arg);
	}
	return to;
}

static void follow(const struct dpe_text *log, const char *format, const char *rule, struct transcript *to)
{
	struct dpe_text spec = {0};

	dpe_text_printf(&spec, SYNC "%s\n", rule);
	transcript_run(to, spec.at, format, log->at);
	dpe_text_free(&spec);
}

static void compare_in(const struct dpe_text *log, const char *format, size_t automaton_bytes)
{
	for (unsigned i = 0; i < DPE_COUNT(rules); i++) {
		struct transcript at_once = {.automaton_bytes = automaton_bytes, .at_every_message = true};
		struct transcript general = {.traced = true, .at_every_message = true};

		follow(log, format, rules[i], &at_once);
		follow(log, format, rules[i], &general);
		if (strcmp(at_once.text.at, general.text.at))
			print_error("%s\n%s", rules[i], log->at);
		assert_string_equal(at_once.text.at, general.text.at);
		assert_int_equal(at_once.summary.kept, general.summary.kept);
		assert_int_equal(at_once.ended.slices, general.ended.slices);
		dpe_text_free(&at_once.text);
		dpe_text_free(&general.text);
	}
}

static void compare(const struct dpe_text *log, size_t automaton_bytes)
{
	struct dpe_text lines = as_json_lines(log->at);

	compare_in(log, "std", automaton_bytes);
	compare_in(&lines, "jsonl", automaton_bytes);
	dpe_text_free(&lines);
}

static void the_same_verdicts(void **state)
{
	(void)state;
	for (unsigned seed = 1; seed <= 200; seed++) {
		struct program program = random_program(seed);

		compare(&program.log, 0);
		dpe_text_free(&program.log);
	}
}

static void the_same_with_states_given_up(void **state)
{
	(void)state;
	for (unsigned seed = 201; seed <= 230; seed++) {
		struct program program = random_program(seed);

		compare(&program.log, 1);
		dpe_text_free(&program.log);
	}
}

/* A single thread, which rarely synchronises: nearly all events take the fast path. */
static void a_thread_alone(void **state)
{
	struct dpe_text log = {0};

	(void)state;
	for (unsigned i = 0; i < 3000; i++)
		dpe_text_printf(&log, "T0|%s(V%u)|1\n", i % 7 == 6 || i % 2 ? "w" : "r", i % 5);
	compare(&log, 0);
	dpe_text_free(&log);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_same_verdicts),
		cmocka_unit_test(the_same_with_states_given_up),
		cmocka_unit_test(a_thread_alone),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
