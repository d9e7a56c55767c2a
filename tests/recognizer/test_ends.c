/* An ended slice is over: the verdicts about an object whose values occur again are those about each of
 * its lives alone. Random logs of a few objects, one or two of which end at a time. */
#include "tests/recognizer/transcript.h"

#define LIVES 400
#define LONGEST 40

struct lives {
	struct dpe_text all, alone[LIVES]; /* logs in the STD format */
	unsigned life[3], count, dice;
};

static unsigned pick(struct lives *lives, unsigned below)
{
	return (unsigned)rand_r(&lives->dice) / 7 % below;
}

static void say(struct lives *lives, unsigned object, const char *line)
{
	dpe_text_puts(&lives->all, line);
	dpe_text_puts(&lives->alone[lives->life[object]], line);
}

static void begin(struct lives *lives, unsigned object)
{
	assert_true(lives->count < LIVES);
	lives->life[object] = lives->count++;
}

/* Events of object x with a partner y, or with none; an end binds x alone. */
static void step(struct lives *lives, unsigned number)
{
	static const char *const events[] = {"a", "b", "b", "d", "c"};
	unsigned object = pick(lives, 3), event = pick(lives, DPE_COUNT(events));
	char line[100];

	if (event == 0 || event == 4)
		snprintf(line, sizeof(line), "{\"event\":\"%s\",\"id\":\"e%u\",\"thread\":1,\"args\":[%u]}\n",
			events[event], number, object);
	else
		snprintf(line, sizeof(line),
			"{\"event\":\"%s\",\"id\":\"e%u\",\"thread\":1,\"args\":[%u,%u]}\n", events[event],
			number, object, pick(lives, 3));
	say(lives, object, line);
	if (event == 4)
		begin(lives, object);
}

static struct lives *random_lives(unsigned seed)
{
	struct lives *lives = dpe_xcalloc(1, sizeof(*lives));
	unsigned count;

	lives->dice = seed;
	count = 1 + pick(lives, LONGEST);
	for (unsigned i = 0; i < 3; i++)
		begin(lives, i);
	dpe_text_puts(&lives->all, "");
	for (unsigned i = 0; i < count; i++)
		step(lives, i);
	return lives;
}

static void free_lives(struct lives *lives)
{
	dpe_text_free(&lives->all);
	for (unsigned i = 0; i < lives->count; i++)
		dpe_text_free(&lives->alone[i]);
	free(lives);
}

static int in_order(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/* The lines of the text, sorted. */
static struct dpe_text sorted(struct dpe_text *text)
{
	char *lines[1000], *rest = text->at;
	struct dpe_text to = {0};
	unsigned count = 0;

	while (rest && *rest) {
		assert_true(count < DPE_COUNT(lines));
		lines[count++] = strsep(&rest, "\n");
	}
	qsort(lines, count, sizeof(*lines), in_order);
	dpe_text_puts(&to, "");
	for (unsigned i = 0; i < count; i++)
		dpe_text_printf(&to, "%s\n", lines[i]);
	dpe_text_free(text);
	return to;
}

static void compare(const struct lives *lives, const char *rule)
{
	struct transcript whole = {0}, alone = {0};
	struct dpe_text is, expected;

	transcript_run(&whole, rule, "jsonl", lives->all.at);
	for (unsigned i = 0; i < lives->count; i++) {
		if (lives->alone[i].len)
			transcript_run(&alone, rule, "jsonl", lives->alone[i].at);
	}
	is = sorted(&whole.text);
	expected = sorted(&alone.text);
	if (strcmp(is.at, expected.at))
		print_error("%s\n%s", rule, lives->all.at);
	assert_string_equal(is.at, expected.at);
	dpe_text_free(&is);
	dpe_text_free(&expected);
}

static void each_life_is_as_alone(void **state)
{
	static const char *const rules[] = {
		"expect R(x, y): a(x) ; b(x, y) observing c(x) ends",
		"expect R(x, y): (a(x) ; (b(x, y) + d(x, y)))* ; c(x) observing c(x) ends",
		"expect R(x, y, z): a(x) ; b(x, y) ; d(x, z) observing c(x) ends",
		"detect R(x, y): a(x) ; b(x, y) ; d(x, y) observing c(x) ends",
		"detect R(x, y, z): b(x, y) ; d(x, z) observing c(x) ends",
	};

	(void)state;
	for (unsigned seed = 1; seed <= 150; seed++) {
		struct lives *lives = random_lives(seed);

		for (unsigned i = 0; i < DPE_COUNT(rules); i++)
			compare(lives, rules[i]);
		free_lives(lives);
	}
}

/* One object, repeatedly, each time with another partner. */
static void ended_slices_leave_nothing(void **state)
{
	struct transcript to = {0};
	struct dpe_text log = {0};

	(void)state;
	for (unsigned i = 0; i < 20000; i++)
		dpe_text_printf(&log,
			"{\"event\":\"a\",\"thread\":1,\"args\":[1]}\n"
			"{\"event\":\"b\",\"thread\":1,\"args\":[1,%u]}\n"
			"{\"event\":\"c\",\"thread\":1,\"args\":[1]}\n"
			"{\"event\":\"a\",\"thread\":1,\"args\":[1]}\n", i);
	transcript_run(&to, "detect C(x, y): a(x) ; b(x, y) observing c(x) ends", "jsonl", log.at);
	assert_true(to.summary.slices < 5000);
	dpe_text_free(&log);
	dpe_text_free(&to.text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_life_is_as_alone),
		cmocka_unit_test(ended_slices_leave_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
