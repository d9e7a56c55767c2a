/* Forgetting events in slices changes no verdict: random executions, followed with and without it. */
#include "tests/recognizer/programs.h"

/* Rules over the reads and writes of a variable, and over those of all. */
static const char *const rules[] = {
	"detect R(x): w(x) & w^(x)",
	"detect R(x): r(x) & w(x)",
	"detect R(x): r(x) ; w(x)",
	"detect R: r(_) ; w(_) ; r^(_)",
	"detect R: (r(_) ; w(_)) & acq(_)",
	"detect R(x): r(x) ; (w(x) & r^(x))",
	"detect R: (r(_) + w(_))* ; rel(_)",
	"detect R(x): r(x) ; w(y)",
	"detect R(x): acq(_) ; w(x)* ; rel(_)",
	"detect R(x): w(_) ; r(x)",
	"detect R(x): (acq(_) & r(_)) ; w(x)",
	"detect R(x): acq(_) ; (w(x) & r(x))",
	"detect R(x): w(x) ; r(x) observing acq(_)",
	"expect R(x): (r(x) + w(x))*",
	"expect R(x): (r(x)* ; w(x))*",
	"expect R(x): ((r(x) & r^(x)) + w(x) + r^^(x))*",
	"expect R(l): (acq(l) ; rel(l))*",
	"expect R: (r(_) + w(_) + r^(_) ; w^(_))*",
	"expect R(t): (acq(_) by t ; rel(_) by t)* observing w(_) by t",
};

/* How many random executions a test has: all in the long suite, half of them each day. */
static unsigned some_of(unsigned most)
{
	const char *is_long = getenv("DPE_TEST_LONG");

	return is_long && *is_long ? most : most / 2;
}

/* The same as messages under one clock, in any order: all are held until the end. */
static struct dpe_text shuffled(struct program *program)
{
	char *lines[MOST * 2 + 100];
	unsigned count = 0, seq[THREADS] = {0};
	char *copy = dpe_xstrdup(program->log.at), *rest = copy, *line;
	struct dpe_text log = {0};

	while ((line = strsep(&rest, "\n")) && *line) {
		char op[8], object[8];
		int thread;

		assert_int_equal(sscanf(line, "T%d|%7[a-z](%7[A-Z0-9])", &thread, op, object), 3);
		lines[count] = dpe_xasprintf("{\"event\":\"%s\",\"args\":[\"%s\"],\"thread\":%d,"
					     "\"seq\":%u,\"time\":%u}\n",
			op, object, thread, seq[thread]++, count / 2);
		count++;
	}
	for (unsigned left = count; left; left--) {
		unsigned at = roll(program, left);

		dpe_text_puts(&log, lines[at]);
		free(lines[at]);
		lines[at] = lines[left - 1];
	}
	free(copy);
	return log;
}

static uint64_t follow(const char *sync, const char *format, const struct dpe_text *log, const char *rule,
	uint64_t forget_from, struct dpe_text *text)
{
	struct transcript to = {.forget_from = forget_from, .ordered = strstr(log->at, "\"ordered\"")};
	struct dpe_text spec = {0};

	dpe_text_printf(&spec, "%s%s\n", sync, rule);
	transcript_run(&to, spec.at, format, log->at);
	dpe_text_free(&spec);
	*text = to.text;
	return to.summary.kept;
}

static void compare(const char *sync, const char *format, const struct dpe_text *log, uint64_t *kept)
{
	for (unsigned i = 0; i < DPE_COUNT(rules); i++) {
		struct dpe_text with, without;

		kept[0] += follow(sync, format, log, rules[i], UINT64_MAX, &without);
		kept[1] += follow(sync, format, log, rules[i], 1, &with);
		if (strcmp(with.at, without.at))
			print_error("%s\n%s", rules[i], log->at);
		assert_string_equal(with.at, without.at);
		dpe_text_free(&with);
		dpe_text_free(&without);
	}
}

static void forgetting_changes_no_verdict(void **state)
{
	uint64_t kept[2] = {0};

	(void)state;
	for (unsigned seed = 1; seed <= some_of(100); seed++) {
		struct program program = random_program(seed);

		compare(SYNC, "std", &program.log, kept);
		dpe_text_free(&program.log);
	}
	assert_true(kept[1] < kept[0]);
}

static void forgetting_what_was_held_changes_no_verdict(void **state)
{
	uint64_t kept[2] = {0};

	(void)state;
	for (unsigned seed = 1; seed <= some_of(40); seed++) {
		struct program program = random_program(seed);
		struct dpe_text log = shuffled(&program);

		compare(SYNC, "jsonl", &log, kept);
		dpe_text_free(&log);
		dpe_text_free(&program.log);
	}
}

/* ---- threads that end -------------------------------------------------------------------------- */

#define ENDING_SYNC                                                                                  \
	"sync last lock(l): rel(l) ; acq(l).exit\nsync once created(T): thread::create(T) ; thread::start by T\n" \
	"sync last joined(p): thread::exit(_, p) ; join(p).exit observing join(p).exit ends\n"

static void put(struct dpe_text *log, unsigned *seq, unsigned thread, const char *name, const char *args)
{
	dpe_text_printf(log, "{\"event\":\"%s\",\"thread\":%u,\"seq\":%u,\"args\":[%s]}\n", name, thread, seq[thread]++, args);
}

/* Threads that read and write under a lock or without, end, and are joined by thread 0, or are not. */
static struct dpe_text ending_threads(unsigned seed)
{
	enum { ALL = 120, ALIVE = 5 };
	struct program dice = {.dice = seed};
	struct dpe_text log = {0};
	unsigned seq[ALL] = {0}, alive[ALIVE] = {0}, next = 1;
	char *args = NULL;

	dpe_text_puts(&log, "{\"dpe_log\":1,\"ordered\":true}\n");
	while (next < ALL) {
		unsigned *at = &alive[roll(&dice, ALIVE)];

		free(args);
		if (!*at && !roll(&dice, 3)) {
			args = dpe_xasprintf("%u", *at = next++);
			put(&log, seq, 0, "thread::create", args);
			put(&log, seq, *at, "thread::start", "");
		} else if (*at && !roll(&dice, 4)) {
			args = dpe_xasprintf("0,%u", 1000 + *at);
			put(&log, seq, *at, "thread::exit", args);
			if (roll(&dice, 5))
				put(&log, seq, 0, "join.exit", args + 2);
			*at = 0;
		} else {
			const char *lock = roll(&dice, 2) ? "1" : "2";

			args = dpe_xasprintf("%u", roll(&dice, VARIABLES));
			if (roll(&dice, 2)) {
				put(&log, seq, *at, "acq.exit", lock);
				put(&log, seq, *at, "rel", lock);
			} else if (*at || !roll(&dice, 4)) {
				put(&log, seq, *at, roll(&dice, 2) ? "r" : "w", args);
			}
		}
	}
	free(args);
	return log;
}

static void forgetting_ended_threads_changes_no_verdict(void **state)
{
	uint64_t kept[2] = {0};

	(void)state;
	for (unsigned seed = 1; seed <= some_of(15); seed++) {
		struct dpe_text log = ending_threads(seed);

		compare(ENDING_SYNC, "jsonl", &log, kept);
		dpe_text_free(&log);
	}
	assert_true(kept[1] * 3 < kept[0] * 2);
}

/* Each thread reads one variable, and is joined. */
static void memory_is_flat_over_ended_threads(void **state)
{
	struct transcript to = {.forget_from = 64, .ordered = true};
	struct dpe_text log = {0};

	(void)state;
	dpe_text_puts(&log, "{\"dpe_log\":1,\"ordered\":true}\n");
	for (unsigned i = 0; i < 5000; i++)
		dpe_text_printf(&log,
			"{\"event\":\"thread::create\",\"thread\":1,\"seq\":%u,\"args\":[%u]}\n"
			"{\"event\":\"thread::start\",\"thread\":%u,\"seq\":0}\n"
			"{\"event\":\"r\",\"thread\":%u,\"seq\":1,\"args\":[0]}\n"
			"{\"event\":\"thread::exit\",\"thread\":%u,\"seq\":2,\"args\":[0,%u]}\n"
			"{\"event\":\"join.exit\",\"thread\":1,\"seq\":%u,\"args\":[%u]}\n",
			2 * i, i + 2, i + 2, i + 2, i + 2, i + 9000, 2 * i + 1, i + 9000);
	transcript_run(&to, ENDING_SYNC "detect R(x): r(x) ; w(x)\nexpect S(x): r(x)*\ndetect T: r(_) & w(_)", "jsonl", log.at);
	assert_true(to.summary.kept <= 2500);
	dpe_text_free(&to.text);
	dpe_text_free(&log);
}

/* A thread that never synchronises with the others, and one whose lock nobody else takes: both may refer
 * to old events, but only to some. */
static void memory_is_flat_beside_an_idle_thread(void **state)
{
	struct dpe_text log = {0};
	struct transcript to = {.forget_from = 64};

	(void)state;
	dpe_text_puts(&log, "T0|w(V0)|1\nT3|acq(L9)|1\nT3|rel(L9)|1\n");
	for (unsigned i = 0; i < 20000; i++)
		dpe_text_printf(&log, "T%u|acq(L1)|1\nT%u|w(V1)|1\nT%u|rel(L1)|1\n", i % 2 + 1,
			i % 2 + 1, i % 2 + 1);
	transcript_run(&to, SYNC "detect R: w(_) & w^(_)\ndetect S: w(V) ; w(V)", "std", log.at);
	assert_true(to.summary.kept <= 130);
	dpe_text_free(&to.text);
	dpe_text_free(&log);
}

/* ---- states of automata ------------------------------------------------------------------ */

static void giving_up_states_changes_no_verdict(void **state)
{
	static const char *const more[] = {
		"detect R: (r(_) ; w(_))* & (acq(_) ; rel(_))*",
		"expect R: (r(_) + w(_))* & (acq(_) ; rel(_))* & (fork(_) + join(_))*",
		"expect R(x): ((r(x) ; w(x))* & (w(x) ; r(x))*) + (r^(x) + w^(x))*",
		"detect R: ((r(_) & w(_)) ; (acq(_) & r^(_)))*",
	};

	(void)state;
	for (unsigned seed = 1; seed <= some_of(40); seed++) {
		struct program program = random_program(seed);

		for (unsigned i = 0; i < DPE_COUNT(rules) + DPE_COUNT(more); i++) {
			const char *rule =
				i < DPE_COUNT(rules) ? rules[i] : more[i - DPE_COUNT(rules)];
			struct transcript to = {.engine = DPE_ENGINE_PA, .automaton_bytes = 1};
			struct transcript all = {
				.engine = DPE_ENGINE_PA, .automaton_bytes = SIZE_MAX};

			assert_string_equal(transcript_run(&to, rule, "std", program.log.at),
				transcript_run(&all, rule, "std", program.log.at));
			dpe_text_free(&to.text);
			dpe_text_free(&all.text);
		}
		dpe_text_free(&program.log);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(forgetting_changes_no_verdict),
		cmocka_unit_test(forgetting_what_was_held_changes_no_verdict),
		cmocka_unit_test(forgetting_ended_threads_changes_no_verdict),
		cmocka_unit_test(memory_is_flat_over_ended_threads),
		cmocka_unit_test(giving_up_states_changes_no_verdict),
		cmocka_unit_test(memory_is_flat_beside_an_idle_thread),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
