/* Compact slices: encoding and decoding them changes no verdict, and they take little memory. */
#include "recognizer/limits.h"
#include "tests/recognizer/programs.h"

#include <stdio.h>

static void follow(struct transcript *to, const struct dpe_text *log, const char *rule)
{
	struct dpe_text spec = {0};

	dpe_text_printf(&spec, SYNC "%s\n", rule);
	transcript_run(to, spec.at, "std", log->at);
	dpe_text_free(&spec);
}

/* Both texts are equal. Frees both. */
static void assert_alike(
	const char *rule, const struct dpe_text *log, struct transcript *one, struct transcript *other)
{
	if (strcmp(one->text.at, other->text.at))
		print_error("%s\n%.5000s", rule, log->at);
	assert_string_equal(one->text.at, other->text.at);
	dpe_text_free(&one->text);
	dpe_text_free(&other->text);
}

/* ---- at each event -------------------------------------------------------------------------- */

/* Everything that slices can hold: several readings, positions, registers of several events, partial
 * matches with common events, smaller slices that they begin with, ends, deferred conditions. */
static const char *const rules[] = {
	"expect R(x): (w(x) ; (r(x) & r^(x)))*",
	"expect R(x): (r(x) ; w(x) + r(x) ; r(x))*",
	"expect R(x): (w(x) {printf(\"%s then %s\", $1, $2);} ; r(x) {printf(\"%s\", $2);})*",
	"expect R(x): (w(x) ; r(x) [.tid == $1.tid])* else {error(\"%s\", x);}",
	"expect R(x, t): (r(x) by t ; w(x) by t)* observing rel(_) by t ends",
	"expect R(x, l): (acq(l) ; w(x))* observing rel(l) ends",
	"expect R(x): (r(x) + w(_))*",
	"expect R(x, t): (r(x) by t + w(x) + acq(_))*",
	"detect R(x): w(x) ; r(x)* ; w(x)",
	"detect R(x): w(x) ; r(x) ; r(x) {printf(\"%s %s %s\", $1, $2, $3);}",
	"detect R(x): w(x) ; (r(x) & r^(x)) ; w(x)",
	"detect R(x, y): r(x) ; w(y) [x != y]",
	"detect R(x): (w(x) ; r(x)) & w^(x) ; r^(x)",
	"detect R(x, l): acq(l) ; w(x) ; rel(l)",
	"detect R(x): acq(_) ; w(x)",
	"detect R(x): (acq(_) & w(_)) ; r(x) ; w(x)",
	"detect R(x, y): w(_) ; r(x) ; w(y)",
	"detect R(x, t): w(x) by t ; r(x) by t observing rel(_) by t ends",
};

static void compact_slices_change_no_verdict(void **state)
{
	(void)state;
	for (unsigned seed = 1; seed <= 40; seed++) {
		struct program program = random_program(seed);

		for (unsigned i = 0; i < DPE_COUNT(rules); i++) {
			struct transcript never = {.forget_from = UINT64_MAX};
			struct transcript always = {.forget_from = 1};

			follow(&never, &program.log, rules[i]);
			follow(&always, &program.log, rules[i]);
			assert_alike(rules[i], &program.log, &never, &always);
		}
		dpe_text_free(&program.log);
	}
}

/* The automaton is renewed while slices are compact. */
static void compact_slices_and_renewed_automata(void **state)
{
	(void)state;
	for (unsigned seed = 41; seed <= 50; seed++) {
		struct program program = random_program(seed);

		for (unsigned i = 0; i < DPE_COUNT(rules); i++) {
			struct transcript never = {.forget_from = UINT64_MAX};
			struct transcript always = {.forget_from = 1, .automaton_bytes = 1};

			follow(&never, &program.log, rules[i]);
			follow(&always, &program.log, rules[i]);
			assert_alike(rules[i], &program.log, &never, &always);
		}
		dpe_text_free(&program.log);
	}
}

/* ---- states ---------------------------------------------------------------------------------- */

/* After each message, the sum of the counts is the reported number of slices. */
static void assert_all_counted(const char *states)
{
	unsigned long long sum = 0, looked;

	for (; *states; states = strchr(states, '\n') + 1) {
		const char *end = strchr(states, '\n'), *colon = memrchr(states, ':', (size_t)(end - states));

		if (sscanf(states, "of %llu", &looked) == 1) {
			assert_int_equal(sum, looked);
			assert_true(looked <= DPE_LOOKED_SLICES);
			sum = 0;
		} else {
			sum += strtoull(colon + 1, NULL, 10);
		}
	}
}

/* Slices have the same state whether they are active or compact, and reading it changes no verdict. */
static void states_of_slices(void **state)
{
	(void)state;
	for (unsigned seed = 51; seed <= 60; seed++) {
		struct program program = random_program(seed);

		for (unsigned i = 0; i < DPE_COUNT(rules); i++) {
			struct dpe_text of_active = {0}, of_compact = {0};
			struct transcript nobody_asks = {.forget_from = UINT64_MAX};
			struct transcript active = {.forget_from = UINT64_MAX, .states = &of_active};
			struct transcript compact = {.forget_from = 1, .states = &of_compact};
			struct dpe_text verdicts = {0};

			follow(&nobody_asks, &program.log, rules[i]);
			follow(&active, &program.log, rules[i]);
			follow(&compact, &program.log, rules[i]);
			dpe_text_puts(&verdicts, active.text.at);
			assert_alike(rules[i], &program.log, &nobody_asks, &active);
			active.text = verdicts;
			assert_alike(rules[i], &program.log, &active, &compact);
			assert_all_counted(of_active.at);
			assert_all_counted(of_compact.at);
			if (transcript_begins(rules[i], "expect"))
				assert_string_equal(of_active.at, of_compact.at);
			dpe_text_free(&of_active);
			dpe_text_free(&of_compact);
		}
		dpe_text_free(&program.log);
	}
}

/* Compared with a count by hand: of 300 locks, a third was never released, a third was released once, and
 * a third is held again. */
static void states_by_hand(void **state)
{
	struct dpe_text log = {0}, states = {0};
	struct transcript to = {.states = &states};
	const char *expected = DPE_LOOKED_SLICES < 300
		? "R has 1: 1\nof 3\n"
		: "R next r(x) after w(x): 200\nR may end; next w(x) after r(x): 100\nof 300\n";

	(void)state;
	for (unsigned i = 0; i < 300; i++) {
		dpe_text_printf(&log, "T1|w(V%u)|1\n", i);
		if (i % 3)
			dpe_text_printf(&log, "T1|r(V%u)|1\n", i);
		if (i % 3 == 2)
			dpe_text_printf(&log, "T1|w(V%u)|1\n", i);
	}
	follow(&to, &log, "expect R(x): (w(x) ; r(x))*");
	assert_non_null(strstr(states.at, expected));
	dpe_text_free(&log);
	dpe_text_free(&to.text);
	dpe_text_free(&states);
}

/* ---- many objects --------------------------------------------------------------------------- */

enum { OBJECTS = 3000, EVENTS = 20000 };

/* One thread after the other, so that there is something to find and something to forget. */
static struct dpe_text work_on_many(unsigned dice)
{
	struct dpe_text log = {0};

	for (unsigned i = 0; i < EVENTS / 40; i++) {
		unsigned thread = i % 3;

		dpe_text_printf(&log, "T%u|acq(L0)|1\n", thread);
		for (unsigned j = 0; j < 40; j++)
			dpe_text_printf(&log, "T%u|%c(V%d)|1\n", thread, "rw"[rand_r(&dice) % 2],
				rand_r(&dice) % OBJECTS);
		dpe_text_printf(&log, "T%u|rel(L0)|1\n", thread);
	}
	return log;
}

/* Compared with the token game, whose slices are always active. */
static void many_objects(void **state)
{
	static const char *const of_many[] = {
		"expect R(x): (r(x) + w(x))*",
		"expect R(x): (r(x)* ; w(x))*",
		"expect R(x): (w(x) ; r(x))*",
		"expect R(x): (r(x) [.tid != \"T1\"] + w(x))*",
		"detect R(x): w(x) ; w(x) ; w(x)",
		"detect R(x): r(x) [.tid == \"T0\"] ; w(x) [.tid == \"T2\"]",
	};
	struct dpe_text log = work_on_many(1);

	(void)state;
	for (unsigned i = 0; i < DPE_COUNT(of_many); i++) {
		struct transcript automaton = {.engine = DPE_ENGINE_PA};
		struct transcript net = {.engine = DPE_ENGINE_NET};

		follow(&automaton, &log, of_many[i]);
		follow(&net, &log, of_many[i]);
		assert_true(automaton.ended.slices > OBJECTS * 3 / 4);
		assert_alike(of_many[i], &log, &automaton, &net);
	}
	dpe_text_free(&log);
}

/* Events that all slices have are kept, and taken, once: here by eight threads, before and after the slices begin. */
static void shared_events_are_kept_once(void **state)
{
	enum { SLICES = 300 };
	static const char *const rules[] = {
		"detect R(x): w(_) ; r(x)",
		"detect R(x): r(x) ; w(_) ; r(x)",
		"detect R(x): (r(x) & r^(x)) ; (w(_) + w^(_))* ; r(x)",
	};
	struct dpe_text log = {0};

	(void)state;
	for (unsigned i = 0; i < SLICES + 16; i++) {
		if (i < 8 || i >= SLICES + 8)
			dpe_text_printf(&log, "T%u|w(A)|1\n", i % 8);
		else
			dpe_text_printf(&log, "T0|r(V%u)|1\n", i);
	}
	for (unsigned i = 0; i < DPE_COUNT(rules); i++) {
		struct transcript once = {.engine = DPE_ENGINE_AUTO, .forget_from = UINT64_MAX};
		struct transcript in_each = {.engine = DPE_ENGINE_NET, .forget_from = UINT64_MAX};

		follow(&once, &log, rules[i]);
		follow(&in_each, &log, rules[i]);
		assert_true(in_each.summary.kept > (i ? 2 : 8) * SLICES);
		assert_true(once.summary.kept < 3 * SLICES);
		assert_alike(rules[i], &log, &once, &in_each);
	}
	dpe_text_free(&log);
}

/* Without this, each of 50,000 events visits up to 50,000 slices. */
static void shared_events_visit_few_slices(void **state)
{
	enum { SLICES = 50000 };
	struct transcript transcript = {0};
	struct dpe_text log = {0};

	(void)state;
	for (unsigned i = 0; i < SLICES; i++)
		dpe_text_printf(&log, "T0|r(V%u)|1\nT0|acq(L)|1\n", i);
	for (unsigned i = 0; i < SLICES; i++)
		dpe_text_printf(&log, "T0|w(V%u)|1\n", i);
	follow(&transcript, &log, "detect R(x): r(x) ; acq(_) ; w(x)");
	assert_int_equal(transcript.ended.slices, SLICES + 1);
	assert_int_equal(transcript.summary.matches, 1); /* of the last r */
	dpe_text_free(&transcript.text);
	dpe_text_free(&log);
}

/* ---- memory --------------------------------------------------------------------------------- */

#ifndef __SANITIZE_ADDRESS__
struct bench {
	struct dpe_names *names;
	struct dpe_pool *pool;
	struct dpe_diags *diags;
	struct dpe_recognizer *recognizer;
	uint64_t place;
};

static void no_verdict(void *context, const struct dpe_verdict *verdict)
{
	(void)context;
	(void)verdict;
}

static void feed(struct bench *bench, const char *name, unsigned object)
{
	const struct dpe_value arg = dpe_value_pointer(0x7f0000000000 + UINT64_C(64) * object);
	const struct dpe_message draft = {
		.name = dpe_intern(bench->names, name, strlen(name)),
		.thread = dpe_value_int(1),
		.has_seq = true,
		.seq = bench->place,
		.has_time = true,
		.time = 1000000000000 + 100 * bench->place,
		.place = ++bench->place,
		.unreferenced = true,
		.args = &arg,
		.nargs = 1,
	};

	dpe_recognizer_feed(
		bench->recognizer, dpe_message_new_in(bench->pool, &draft), bench->diags);
}

/* Bytes of memory that the process has. */
static size_t in_use(void)
{
	FILE *statm = fopen("/proc/self/statm", "r");
	size_t size, resident;

	assert_non_null(statm);
	assert_int_equal(fscanf(statm, "%zu %zu", &size, &resident), 2);
	fclose(statm);
	return resident * (size_t)sysconf(_SC_PAGESIZE);
}

/* Bytes of an idle slice, after these events of each object. */
static size_t measure(const char *rule, const char *const *events, unsigned nevents)
{
	enum { MANY = 300000 };
	const struct dpe_recognizer_sink sink = {.verdict = no_verdict};
	const struct dpe_recognizer_options options = {.ordered = true};
	struct bench bench = {.names = dpe_names_new(), .pool = dpe_pool_new(), .diags = dpe_diags_new()};
	struct dpe_spec *spec = dpe_spec_compile_text("compact", rule, strlen(rule), bench.names,
		&(struct dpe_compile_options){0}, bench.diags);
	size_t before, after;

	bench.recognizer = dpe_recognizer_new(spec, &options, &sink, bench.diags);
	assert_non_null(bench.recognizer);
	before = in_use();
	for (unsigned event = 0; event < nevents; event++) {
		for (unsigned i = 0; i < MANY; i++)
			feed(&bench, events[event], i);
	}
	after = in_use();
	dpe_recognizer_free(bench.recognizer);
	dpe_spec_free(spec);
	dpe_pool_free(bench.pool);
	dpe_diags_free(bench.diags);
	dpe_names_free(bench.names);
	return (after - before) / MANY;
}

static void an_idle_slice_is_small(void **state)
{
	static const struct {
		const char *rule;
		const char *events[4];
		unsigned nevents;
	} cases[] = {
		{"expect R(m): (lock(m) ; unlock(m))*\n", {"lock", "unlock"}, 2},
		{"expect R(f): open(f) ; (read(f) + write(f))* ; close(f)\n", {"open", "read"}, 2},
		{"expect R(o): a(o) ; (b(o) & c(o)) ; d(o)\n", {"a"}, 1},
		{"detect R(p): a(p) ; b(p)\n", {"a"}, 1},
	};

	(void)state;
	for (unsigned i = 0; i < DPE_COUNT(cases); i++) {
		size_t bytes = measure(cases[i].rule, cases[i].events, cases[i].nevents);

		if (bytes >= 200)
			print_error("%zu bytes: %s", bytes, cases[i].rule);
		assert_true(bytes > 50 && bytes < 200);
	}
}
#endif

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(compact_slices_change_no_verdict),
		cmocka_unit_test(compact_slices_and_renewed_automata),
		cmocka_unit_test(states_of_slices),
		cmocka_unit_test(states_by_hand),
		cmocka_unit_test(many_objects),
		cmocka_unit_test(shared_events_are_kept_once),
		cmocka_unit_test(shared_events_visit_few_slices),
#ifndef __SANITIZE_ADDRESS__
		cmocka_unit_test(an_idle_slice_is_small),
#endif
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
