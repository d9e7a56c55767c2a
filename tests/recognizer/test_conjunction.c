/* `detect` rules give the same verdicts whether they are followed operand by operand or as a whole. */
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
	"detect R: (r(_) {print(\"r\");} ; w(_) {print(\"w\");}) & (acq(_) ; rel(_) {print(\"l\");})",
	"detect R: r(_) ; (w(_) {print(\"w\");} & acq(_) {print(\"a\");}) ; rel(_) {print(\"l\");}",
};

/* The verdicts, without the events of matches: engines choose different ones of several. */
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

/* False if nothing could be compared. */
static bool compare(const struct program *program, const char *rule, bool synced)
{
	struct dpe_text whole = follow(program, rule, synced, DPE_ENGINE_PA, 0);
	bool known = !strstr(whole.at, "inconclusive"); /* otherwise following the rule as a whole was too
	 * expensive */

	for (unsigned i = 0; known && i < 2; i++) {
		struct dpe_text woven =
			follow(program, rule, synced, DPE_ENGINE_AUTO, i ? 1 : UINT64_MAX);

		if (strcmp(woven.at, whole.at))
			print_error("%s\n%s", rule, program->log.at);
		assert_string_equal(woven.at, whole.at);
		dpe_text_free(&woven);
	}
	dpe_text_free(&whole);
	return known;
}

static void operands_alone_are_as_the_whole(void **state)
{
	unsigned seeds = getenv("DPE_TEST_LONG") && *getenv("DPE_TEST_LONG") ? 400 : 30;
	unsigned compared = 0;

	(void)state;
	for (unsigned seed = 1; seed <= seeds; seed++) {
		struct program program = random_program(seed);

		for (unsigned i = 0; i < DPE_COUNT(rules); i++)
			compared += compare(&program, rules[i], seed % 4);
		dpe_text_free(&program.log);
	}
	assert_true(compared >= seeds * DPE_COUNT(rules) * 99 / 100);
}

/* ---- sixteen operands -------------------------------------------------------------------- */

enum { WIDE = 16 };

static struct dpe_text wide_rule(const char *more)
{
	struct dpe_text rule = {0};

	dpe_text_puts(&rule, "sync all meet(x): arrive(x) ; leave(x)\ndetect R: ");
	for (unsigned i = 0; i < WIDE; i++)
		dpe_text_printf(&rule, "%s(a%u;b%u;c%u;d%u)", i ? " & " : "", i, i, i, i);
	dpe_text_printf(&rule, "%s\n", more);
	return rule;
}

static void add_line(struct dpe_text *log, unsigned *seq, unsigned thread, const char *event,
	unsigned number, const char *args)
{
	static unsigned time;

	dpe_text_printf(log, "{\"event\":\"%s", event);
	if (!*args)
		dpe_text_printf(log, "%u", number);
	dpe_text_printf(log, "\",\"args\":[%s],\"thread\":%u,\"seq\":%u,\"time\":%u}\n", args,
		thread, seq[thread]++, ++time);
}

/* Each thread does the events of its operand; then all may synchronise. */
static struct dpe_text wide_log(unsigned rounds, bool meet)
{
	static const char *const names[] = {"a", "b", "c", "d"};
	unsigned seq[WIDE] = {0}, dice = 1;
	struct dpe_text log = {0};

	for (unsigned round = 0; round < rounds; round++) {
		unsigned at[WIDE] = {0};

		for (unsigned left = 4 * WIDE; left;) {
			unsigned thread = (unsigned)rand_r(&dice) % WIDE;

			if (at[thread] == 4)
				continue;
			add_line(&log, seq, thread, names[at[thread]++], thread, "");
			left--;
		}
		for (unsigned i = 0; meet && i < 2 * WIDE; i++)
			add_line(&log, seq, i % WIDE, i < WIDE ? "arrive" : "leave", 0, "1");
	}
	return log;
}

static unsigned count_lines(const struct dpe_text *text, const char *what)
{
	unsigned count = 0;

	for (const char *at = text->at; at && (at = strstr(at, what)); at++)
		count++;
	return count;
}

/* The verdicts, and how much was kept. */
static struct transcript follow_wide(struct transcript to, const char *more, struct dpe_text log)
{
	struct dpe_text rule = wide_rule(more);

	transcript_run(&to, rule.at, "jsonl", log.at);
	dpe_text_free(&rule);
	dpe_text_free(&log);
	return to;
}

/* Without meeting each end of an operand but the first fifteen completes a match; else each round one. */
static void many_operands_on_each_engine(void **state)
{
	static const enum dpe_engine_choice engines[] = {DPE_ENGINE_AUTO, DPE_ENGINE_PA, DPE_ENGINE_NET};

	(void)state;
	for (unsigned i = 0; i < 2 * DPE_COUNT(engines); i++) {
		bool meet = i % 2;
		struct transcript to = follow_wide(
			(struct transcript){.engine = engines[i / 2]}, "", wide_log(20, meet));

		assert_int_equal(count_lines(&to.text, "R match"), meet ? 20 : 19 * WIDE + 1);
		assert_int_equal(count_lines(&to.text, "inconclusive"), 0);
		assert_true(to.summary.kept < 300);
		dpe_text_free(&to.text);
	}
}

static void memory_of_many_operands_is_flat(void **state)
{
	(void)state;
	for (unsigned i = 0; i < 2; i++) {
		struct transcript to = follow_wide(
			(struct transcript){0}, " & never", wide_log(200, i));

		assert_int_equal(to.text.len, 0);
		assert_true(to.summary.kept < 500);
		dpe_text_free(&to.text);
	}
}

/* Threads that never synchronise have as many pairs of a and b as half their number squared. None is kept, but the
 * one that the rule needs is found. */
static void pairs_are_made_when_something_follows_both(void **state)
{
	enum { BESIDE = 100 };
	struct transcript to = {.ordered = true};
	struct dpe_text log = {0};

	(void)state;
	dpe_text_puts(&log, "{\"dpe_log\":1,\"ordered\":true}\n");
	for (unsigned i = 0; i < BESIDE; i++)
		dpe_text_printf(&log, "{\"event\":\"%c\",\"thread\":%u,\"seq\":0}\n", "ab"[i % 2], 100 + i);
	dpe_text_puts(&log, "{\"event\":\"a\",\"thread\":1,\"seq\":0}\n{\"event\":\"b\",\"thread\":2,\"seq\":0}\n"
			    "{\"event\":\"up\",\"thread\":1,\"seq\":1}\n{\"event\":\"down\",\"thread\":2,\"seq\":1}\n"
			    "{\"event\":\"c\",\"thread\":2,\"seq\":2}\n{\"event\":\"c\",\"thread\":1,\"seq\":2}\n");
	transcript_run(&to, "sync last s: up ; down\ndetect R: (a & b) ; c\n", "jsonl", log.at);
	assert_string_equal(to.text.at, "R match at c@2:2: a@1:0=$1 b@2:0=$2 c@2:2=$3\n");
	assert_true(to.summary.kept < 3 * BESIDE);
	dpe_text_free(&to.text);
	dpe_text_free(&log);
}

static void too_many_partial_matches_are_reported(void **state)
{
	struct transcript to = follow_wide(
		(struct transcript){.max_instances = 10}, "", wide_log(3, false));

	(void)state;
	assert_int_equal(count_lines(&to.text, "R match"), 0);
	assert_int_equal(count_lines(&to.text, "more than --max-instances at a time"), 1);
	dpe_text_free(&to.text);
}

static void too_much_work_is_reported(void **state)
{
	struct transcript to = follow_wide(
		(struct transcript){.search_work = 20}, "", wide_log(3, false));

	(void)state;
	assert_true(count_lines(&to.text, "too many combinations at one event") > 0);
	assert_int_equal(count_lines(&to.text, "R match"), 0);
	dpe_text_free(&to.text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(operands_alone_are_as_the_whole),
		cmocka_unit_test(many_operands_on_each_engine),
		cmocka_unit_test(memory_of_many_operands_is_flat),
		cmocka_unit_test(pairs_are_made_when_something_follows_both),
		cmocka_unit_test(too_many_partial_matches_are_reported),
		cmocka_unit_test(too_much_work_is_reported),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
