/* Pairs of independent events, followed in pair tables, compared with the general path, which a traced run
 * takes (with small rules followed as a whole): the same matches with the same events. */
#include "tests/recognizer/programs.h"

static const char *const rules[] = {
	"detect R(x): w(x) & w^(x)",
	"detect R(x): r(x) & w(x)",
	"detect R(x): (r(x) & w(x)) {print(\"%s\", $1.tid)}",
	"detect R(x): w(x) & r(x) {print(\"%s\", $2.tid)} {error(\"race\")}",
	"detect R: r(_) & w(_)",
	"detect R: w(_) & w^(_)",
	"detect R(x, t): r(x) by t & w(x) by t",
	"detect R(x): r(x) [.tid == \"T1\"] & w(x)",
	"detect R: r(V) & r^(V)",
	"detect R(x): acq(x) & rel(x)",
	"detect R(x): w(x) & (w^(x) + r(x))",
	"detect R(x): w(x) & (w^(x) + r(x)) + acq(x) & r^(x)",
	"detect R: r(V) & (w(_) + r^(_)) + acq(_) & (rel(_) + acq^(_))",
	"detect R(x): w(x) & w^(x) observing acq(x), rel(_)",
	"detect R(x): (w(x) + r(x)) & w^(x) observing rel(x) ends",
	"detect R: (w(_) + r(_)) & w^(_) observing rel(_) ends",
	"detect R(x): w(x) & r(x) observing w(x) ends",
	"detect R(x): w(x) & w^(x) + r(x) & w^^(x)",
};

/* Several rules that share their slices, or some of which do not. */
static const char *const specs[] = {
	"detect R(x): w(x) & w^(x)\ndetect S(y): r(y) & w(y)",
	"detect R(x): r(x) & w(x)\ndetect S(x): w(x) & w^(x)\ndetect T(x): acq(x) & rel(x) + r(x) & r^(x)",
	"detect R(x): w(x) & w^(x)\nsync last extra(x): w(x) ; w(x)\ndetect S(y): r(y) & w(y)",
	"detect R(x): w(x) & w^(x)\ndetect S(x, t): r(x) by t & w(x) by t\ndetect T(x): r(x) & w(x)",
	"detect R(x): w(x) & w^(x)\ndetect S(x): r(x) ; w(x)\ndetect T(x): r(x) & w(x)",
	"detect R(x): (w(x) & w^(x)) {print(\"%s\", $1.tid)}\ndetect S(x): (r(x) & w(x)) {error(\"race\")}",
	"detect R(x): (r(x) & w(x)) {break}\ndetect S(x): w(x) & w^(x)",
	"detect R(x): r(x) & w(x)\ndetect S(x): (w(x) & w^(x)) {break}",
	"detect R(x): w(x) & w^(x) observing acq(x) ends\ndetect S(x): r(x) & w(x) observing w(x) ends",
	"detect R(x): (r(x) & w(x)) {break} observing w(x) ends\ndetect S(x): w(x) & w^(x) observing w(x) ends",
	"detect R: r(_) & w(_)\ndetect S(x): r(x) & w(x)\ndetect T(x): w(x) & (w^(x) + r(x))",
};

/* Too long to be shared in the table of names. */
#define LONG_TEXT "_0123456789_0123456789_0123456789_0123456789_0123456789_0123456789"

static void follow(const struct dpe_text *log, const char *rule, struct transcript *to)
{
	struct dpe_text spec = {0};

	dpe_text_printf(&spec, SYNC "%s\n", rule);
	transcript_run(to, spec.at, *log->at == '{' ? "dpel" : "std", log->at);
	dpe_text_free(&spec);
}

/* Engines give up different partial matches if there are too many. */
static void drop_doubtful(struct dpe_text *text)
{
	char *copy = dpe_xstrdup(text->at ? text->at : ""), *rest = copy, *line;
	bool doubtful = false;

	text->len = 0;
	while ((line = strsep(&rest, "\n")) && *line) {
		if (!strstr(line, "inconclusive"))
			dpe_text_printf(text, "%s\n", line);
		else
			doubtful = true;
	}
	dpe_text_puts(text, doubtful ? "doubt\n" : "certain\n");
	free(copy);
}

static void compare(const char *const *rules, unsigned count, const struct dpe_text *log,
	unsigned max_instances)
{
	for (unsigned i = 0; i < count; i++) {
		struct transcript pairs = {.max_instances = max_instances,
			.end_at_break = true,
			.engine = DPE_ENGINE_PA};
		struct transcript general = {.max_instances = max_instances,
			.traced = true,
			.end_at_break = true,
			.engine = DPE_ENGINE_PA};

		follow(log, rules[i], &pairs);
		follow(log, rules[i], &general);
		if (max_instances) {
			drop_doubtful(&pairs.text);
			drop_doubtful(&general.text);
		}
		if (strcmp(pairs.text.at, general.text.at))
			print_error("%s\n%s", rules[i], log->at);
		assert_string_equal(pairs.text.at, general.text.at);
		/* An event that is only observed begins no slice, and does not revive one that has ended. */
		if (!strstr(rules[i], "observing"))
			assert_int_equal(pairs.ended.slices, general.ended.slices);
		dpe_text_free(&pairs.text);
		dpe_text_free(&general.text);
	}
}

static void the_same_matches(void **state)
{
	(void)state;
	for (unsigned seed = 1; seed <= 200; seed++) {
		struct program program = random_program(seed);

		compare(rules, DPE_COUNT(rules), &program.log, 0);
		if (seed % 4 == 0)
			compare(specs, DPE_COUNT(specs), &program.log, 0);
		dpe_text_free(&program.log);
	}
}

/* So many objects that their table grows, and that ending slices moves others; values are names by number
 * or by text. */
static void the_same_of_many_objects(void **state)
{
	static const char *const many[] = {
		"detect R(x): w(x) & w^(x) observing acq(x) ends\ndetect S(x): r(x) & w(x) observing acq(x) ends",
		"detect R(x): w(x) & w^(x)\ndetect S(x): r(x) & w(x) observing rel(x) ends",
	};
	static const char *const ops[] = {"r", "w", "w", "acq", "rel"};

	(void)state;
	for (unsigned seed = 1; seed <= 2; seed++) {
		struct dpe_text log = {0};
		unsigned dice = seed;

		for (unsigned i = 0; i < 1500; i++) {
			unsigned op = rand_r(&dice) % DPE_COUNT(ops);
			unsigned object = rand_r(&dice) % (1 + i / 4);

			dpe_text_printf(&log, "T%d|%s(%c%u%s)|1\n", rand_r(&dice) % 3, ops[op],
				"VW"[object % 2], object, object % 5 ? "" : LONG_TEXT);
		}
		compare(many, DPE_COUNT(many), &log, 0);
		dpe_text_free(&log);
	}
}

struct numbers {
	struct dpe_text log;
	unsigned dice, seqs[3];
};

static void add_event(struct numbers *numbers, const char *name, unsigned thread, const char *arg)
{
	dpe_text_printf(&numbers->log,
		"{\"event\":\"%s\",\"thread\":%u,\"seq\":%u,\"args\":[%s]}\n", name, thread,
		numbers->seqs[thread]++, arg);
}

/* An access to one of a few objects, two of which are different numbers with the same bits; mostly under a
 * lock. */
static void add_access(struct numbers *numbers)
{
	static const char *const objects[] = {"-1", "\"0xffffffffffffffff\"", "7", "\"0x8\""};
	unsigned thread = rand_r(&numbers->dice) % DPE_COUNT(numbers->seqs);
	bool locked = rand_r(&numbers->dice) % 20;

	if (locked)
		add_event(numbers, "acq", thread, "1000");
	add_event(numbers, rand_r(&numbers->dice) % 3 ? "r" : "w", thread,
		objects[rand_r(&numbers->dice) % DPE_COUNT(objects)]);
	if (locked)
		add_event(numbers, "rel", thread, "1000");
}

static void the_same_of_numbers(void **state)
{
	(void)state;
	for (unsigned seed = 1; seed <= 4; seed++) {
		struct numbers numbers = {.dice = seed};

		for (unsigned i = 0; i < 300; i++)
			add_access(&numbers);
		compare(specs, DPE_COUNT(specs), &numbers.log, 0);
		dpe_text_free(&numbers.log);
	}
}

/* More than one look at a past reports. */
static void the_same_of_many_threads(void **state)
{
	(void)state;
	for (unsigned seed = 1; seed <= 3; seed++) {
		struct dpe_text log = {0};
		unsigned dice = seed;

		for (unsigned i = 0; i < 500; i++) {
			unsigned thread = rand_r(&dice) % (i / 10 + 1), op = rand_r(&dice) % 8;

			if (op < 4)
				dpe_text_printf(&log, "T%u|%s(V%u)|1\n", thread,
					op ? "r" : "w", rand_r(&dice) % 3);
			else
				dpe_text_printf(&log, "T%u|%s(L)|1\n", thread,
					op % 2 ? "acq" : "rel");
		}
		compare(specs, 4, &log, 0);
		dpe_text_free(&log);
	}
}

static void the_same_bounds(void **state)
{
	(void)state;
	for (unsigned seed = 1; seed <= 100; seed++) {
		struct program program = random_program(seed);

		compare(rules, DPE_COUNT(rules), &program.log, 1 + seed % 5);
		if (seed % 4 == 0)
			compare(specs, DPE_COUNT(specs), &program.log, 1 + seed % 5);
		dpe_text_free(&program.log);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_same_matches),
		cmocka_unit_test(the_same_of_many_objects),
		cmocka_unit_test(the_same_of_numbers),
		cmocka_unit_test(the_same_of_many_threads),
		cmocka_unit_test(the_same_bounds),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
