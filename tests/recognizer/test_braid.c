/* `detect` rules followed operand by operand say what they say followed as a whole. */
#include "tests/recognizer/programs.h"

#define OF_FOUR "(r(_);w(_);r^(_);w^(_)) & (acq(_);rel(_);acq^(_);rel^(_)) & (r^^(_);w^^(_))"

static const char *const rules[] = {
	"detect R: r(_) & w(_) & acq(_)",
	"detect R: (r(_);w(_)) & (acq(_);rel(_))",
	"detect R: (r(_);w(_)) & (r^(_);w^(_))",
	"detect R: (r(_);w(_)) & (r^(_);w^(_)) & acq(_)",
	"detect R: r(_) & r^(_) & r^^(_)",
	"detect R: (r(_);w(_))* & (acq(_);rel(_))*",
	"detect R: (r(_) & w(_)) ; acq(_)",
	"detect R: r(_) ; (w(_) & acq(_) & r^(_)) ; rel(_)",
	"detect R: (r(_) + acq(_)) ; (w(_) & rel(_))",
	"detect R: (r(_) & w(_))* ; acq(_)",
	"detect R: ((r(_) & w(_))* ; acq(_)*) & rel(_)*",
	"detect R: ((r(_) ; (w(_) & acq(_))) & rel(_))",
	"detect R: ((r(_) & w(_)) ; (r^(_) & w^(_))) & acq(_)",
	"detect R: (((r(_) & w(_)) ; (r^(_) & w^(_)))* & acq(_)) ; rel(_)",
	"detect R: (r(_) ; ((w(_) ; (acq(_) & r^(_))) & rel(_))) + (w^(_) & r^^(_))",
	"detect R: (s(_) ; (r(_) & w(_))*) + ((acq(_)* & rel(_)*) ; (r^(_) + w^(_)))*",
	"detect R: ((r(_);w(_)) & (r(_);acq(_))) & rel(_)",
	"detect R: (r(_);w(_);r^(_)) & (acq(_);rel(_)) observing fork(_), w(_)",
	"detect R: w(_) & acq(_) & r(_) observing rel(_)",
	"detect R(x): r(x) & w(x) & r^(x)",
	"detect R(x): (r(x) ; w(x)) & (r^(x) ; w^(x))",
	"detect R(x): r(x) & w(y) & acq(_)",
	"detect R(x): (r(x) ; acq(_)) & w(y)*",
	"detect R(x): r(x) ; (w(x)* & rel(_)*)",
	"detect R(t): (r(_) by t ; w(_) by t) & (acq(_) by u ; rel(_) by u)",
	"detect R(x): (r(x) ; w(x)) & acq(_) observing fork(_) ends",
};

/* What is told, without which events a match has: of several, engines take different ones. */
static struct dpe_text follow(const struct program *program, const char *rule, bool synced,
	enum dpe_engine_choice engine, uint64_t forget_from)
{
	struct transcript to = {.engine = engine, .forget_from = forget_from};
	struct dpe_text spec = {0}, verdicts = {0};
	char *rest, *line;

	dpe_text_printf(&spec, "%s%s\n", synced ? SYNC : "", rule);
	transcript_run(&to, spec.at, "std", program->log.at);
	rest = to.text.at;
	while (rest && (line = strsep(&rest, "\n"))) {
		const char *events = strstr(line, ": "), *values = strstr(line, " [");

		dpe_text_printf(&verdicts, "%.*s%s\n",
			(int)(events ? (size_t)(events - line) : strlen(line)), line,
			events && values ? values : "");
	}
	dpe_text_free(&to.text);
	dpe_text_free(&spec);
	return verdicts;
}

static void compare(const struct program *program, const char *rule, bool synced)
{
	struct dpe_text whole = follow(program, rule, synced, DPE_ENGINE_PA, 0);

	for (unsigned i = 0; i < 2; i++) {
		struct dpe_text woven =
			follow(program, rule, synced, DPE_ENGINE_AUTO, i ? 1 : UINT64_MAX);

		if (strcmp(woven.at, whole.at))
			print_error("%s\n%s", rule, program->log.at);
		assert_string_equal(woven.at, whole.at);
		dpe_text_free(&woven);
	}
	dpe_text_free(&whole);
}

static void operands_alone_are_as_the_whole(void **state)
{
	unsigned seeds = getenv("DPE_TEST_LONG") && *getenv("DPE_TEST_LONG") ? 400 : 30;

	(void)state;
	for (unsigned seed = 1; seed <= seeds; seed++) {
		struct program program = random_program(seed);

		for (unsigned i = 0; i < DPE_COUNT(rules); i++)
			compare(&program, rules[i], seed % 4);
		dpe_text_free(&program.log);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(operands_alone_are_as_the_whole),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
