/* No thread can proceed: when that is reported, and when not. */
#include "tests/recognizer/transcript.h"

static const char rules[] =
	"expect waits(x, T): (wait(x).enter by T { wait_for(T, x); check_deadlock(); check_hang(); "
	"}\n"
	" + wait(x).exit by T { release(T, x); } + hold(x) by T { hold(T, x); })*\n"
	"expect threads(p, T): (create(p) by T { creates(T, p); } + start(p) by T { begins(T, p); "
	"}\n"
	" + quit(p) by T { ended(T); })*";

/* One event a word, its thread first, each 1 ms after the one before: "1>a" waits for a, "1<a" no longer
 * waits, "1=a" has a, "1*2" creates thread 2, "1.1" ends; "..." lets 200 ms pass, "~~~" 20 s. */
static char *log_of(const char *text)
{
	struct dpe_text log = {0};
	unsigned time = 0;

	for (; *text; text += 3, text += strspn(text, " ")) {
		char thread = text[1] == '*' ? text[2] : text[0];

		time += *text == '.' ? 200 : *text == '~' ? 20000 : 1;
		if (*text == '.' || *text == '~')
			continue;
		if (text[1] == '*')
			dpe_text_printf(&log,
				"{\"event\":\"create\",\"thread\":%c,\"time\":%u000000,\"args\":["
				"\"%c\"]}\n",
				text[0], time++, text[2]);
		dpe_text_printf(&log,
			"{\"event\":\"%s\",\"thread\":%c,\"time\":%u000000,\"args\":[\"%c\"]}\n",
			text[1] == '>'   ? "wait.enter"
			: text[1] == '<' ? "wait.exit"
			: text[1] == '=' ? "hold"
			: text[1] == '*' ? "start"
					 : "quit",
			thread, time, text[2]);
	}
	return log.at;
}

static void assert_hangs(const char *events, const char *expected)
{
	char *log = log_of(events);

	transcript_assert(rules, log, "hang", "deadlock", expected);
	free(log);
}

static void all_wait(void **state)
{
	(void)state;
	assert_hangs("0>a", "hang: 0 waits for a\n");
	assert_hangs("0*1 1>a 0>1", "hang: 0 waits for 1 held by 1, 1 waits for a\n");
}

static void one_does_not(void **state)
{
	(void)state;
	assert_hangs("0*1 1>a", "");
	assert_hangs("0*1 0*2 1>a 2>a 0>1 2<a", "");
	/* It has done nothing yet. */
	assert_hangs("0*1 0>1", "");
}

static void ended_threads_do_not_count(void **state)
{
	(void)state;
	assert_hangs("0*1 0*2 1>a 2.2 0>1", "hang: 0 waits for 1 held by 1, 1 waits for a\n");
	assert_hangs("0*1 1>a 0.0", "hang: 1 waits for a\n");
}

static void killed_while_it_hangs(void **state)
{
	(void)state;
	assert_hangs("0*1 1>a 0>1 ... 1.1 0.0", "hang: 0 waits for 1 held by 1, 1 waits for a\n");
	assert_hangs("0*1 1>a 0>1 ... 0.0 1.1", "hang: 0 waits for 1 held by 1, 1 waits for a\n");
	/* It had no time to hang. */
	assert_hangs("0*1 1>a 0>1 0.0 1.1", "");
}

/* As when the first thread returns from main. */
static void waits_at_the_end(void **state)
{
	(void)state;
	assert_hangs("0*1 1>a ... 0.0 1.1", "");
	assert_hangs("0*1 0*2 1>a 2>a ... 0.0 2.2 1.1", "");
}

static void a_cycle_explains_it(void **state)
{
	(void)state;
	assert_hangs("0*1 0*2 1=a 2=b 1>b 2>a 0>1 ... 0.0 1.1 2.2",
		"deadlock: 1 waits for b held by 2, 2 waits for a held by 1\n");
}

static void it_is_reported_again_after_it_was_over(void **state)
{
	(void)state;
	assert_hangs("0>a ... 0<a 0>a ... 0.0", "hang: 0 waits for a\n");
}

static void assert_long_waits(const char *events, const char *expected)
{
	char *log = log_of(events);

	transcript_assert(rules, log, "long", "possible", expected);
	free(log);
}

static void long_waits(void **state)
{
	(void)state;
	assert_long_waits("0*1 1>a ~~~ 0=b", "long wait: 1 waits for a\n");
	assert_long_waits("0*1 1>a ... 0=b", "");
	assert_long_waits("0*1 0*2 0*3 1>a 2>a 3>b ~~~ 0=c",
		"long wait: 1+1 waits for a, 3 waits for b\n");
	/* They are over. */
	assert_long_waits("0*1 1>a ~~~ 1<a 0=c", "");
	assert_long_waits("0*1 0*2 1>a 1<a ~~~ 1.1 0=c", "");
	/* Not before it was ended. */
	assert_long_waits("0*1 0*2 1>a ~~~ 1.1 0=c", "long wait: 1 waits for a\n");
	/* A running thread holds what they wait for. */
	assert_long_waits("0*1 0=a 1>a ~~~ 0=b", "long wait: 1 waits for a held by 0\n");
}

static void joins_are_long_if_the_joined_thread_waits_long(void **state)
{
	(void)state;
	assert_long_waits("0*1 0*2 0>1 ~~~ 2=a 1=b", "");
	assert_long_waits("0*1 0*2 0>1 ~~~ 1>a 2=b", "");
	assert_long_waits("0*1 0*2 0*3 0>1 1>2 2>a ~~~ 3=b",
		"long wait: 0 waits for 1 held by 1, 1 waits for 2 held by 2, 2 waits for a\n");
}

static void long_waits_of_holders(void **state)
{
	(void)state;
	assert_long_waits("0*1 0*2 1=a 1>b 2>a ~~~ 0=c",
		"possible long wait: 1 waits for b, 2 waits for a held by 1 (a thread that holds what others "
		"wait for waits as well)\n");
}

static void deadlocks_explain_long_waits(void **state)
{
	(void)state;
	assert_long_waits("0*1 0*2 0*3 1=a 2=b 1>b 2>a 3>b ~~~ 0=c", "");
	assert_long_waits("0*1 0*2 0*3 0*4 1=a 2=b 1>b 2>a 3>b 4>c ~~~ 0=d",
		"long wait: 4 waits for c\n");
	assert_long_waits("0*1 1>a 0>1 ~~~ 1.1 0.0", "");
}

/* Reported once for each object, as these events have no stacks. */
static void long_waits_are_reported_once(void **state)
{
	(void)state;
	assert_long_waits("0*1 0*2 1>a ~~~ 2.2 1<a 1>a ~~~ 0=b", "long wait: 1 waits for a\n");
	assert_long_waits("0*1 0*2 0*3 1>a ~~~ 2.2 3>b ~~~ 0=c",
		"long wait: 1 waits for a\nlong wait: 3 waits for b\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(all_wait),
		cmocka_unit_test(one_does_not),
		cmocka_unit_test(ended_threads_do_not_count),
		cmocka_unit_test(killed_while_it_hangs),
		cmocka_unit_test(waits_at_the_end),
		cmocka_unit_test(a_cycle_explains_it),
		cmocka_unit_test(it_is_reported_again_after_it_was_over),
		cmocka_unit_test(long_waits),
		cmocka_unit_test(joins_are_long_if_the_joined_thread_waits_long),
		cmocka_unit_test(long_waits_of_holders),
		cmocka_unit_test(deadlocks_explain_long_waits),
		cmocka_unit_test(long_waits_are_reported_once),
	};

	return cmocka_run_group_tests_name("hang", tests, NULL, NULL);
}
