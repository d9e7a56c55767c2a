/* The wait-for graph: which cycles are reported, and when. */
#include "tests/recognizer/transcript.h"

static const char rules[] =
	"expect locks(x, T): (lock(x).enter by T { wait_for(T, x); check_deadlock(); }\n"
	" + lock(x).exit by T { release(T, x); hold(T, x); }\n"
	" + unlock(x) by T { unhold(T, x); })*\n"
	"expect ends(T): (quit by T { ended(T); })*";

/* One event a word: "1>a" waits, "1=a" has it now, "1<a" gives it back, "1.a" ends; "1?a" was lost.
 */
static char *log_of(const char *text)
{
	struct dpe_text log = {0};
	unsigned time = 0, next[10] = {0};

	for (; *text; text += strspn(text, " ")) {
		unsigned seq = next[text[0] - '0']++;
		const char *event = text[1] == '>'   ? "lock.enter"
				    : text[1] == '=' ? "lock.exit"
				    : text[1] == '.' ? "quit"
						     : "unlock";

		if (text[1] != '?')
			dpe_text_printf(&log,
				"{\"event\":\"%s\",\"thread\":%c,\"seq\":%u,\"time\":%u,"
				"\"args\":[\"%c\"]}\n",
				event, text[0], seq, ++time, text[2]);
		text += 3;
	}
	return log.at;
}

/* Only the deadlocks of the transcript are looked at. */
static void assert_deadlocks(const char *events, const char *expected)
{
	char *log = log_of(events);

	transcript_assert(rules, log, "deadlock:", "possible deadlock:", expected);
	free(log);
}

static void cycle_of_two_threads(void **state)
{
	(void)state;
	assert_deadlocks("1>a 1=a 2>b 2=b 1>b 2>a",
		"deadlock: 1 waits for b held by 2, 2 waits for a held by 1\n");
}

static void waiting_is_no_deadlock(void **state)
{
	(void)state;
	assert_deadlocks("1>a 1=a 2>a 3>a 1<a 2=a 2<a 3=a 3<a", "");
	assert_deadlocks("1>a 1=a 2>b 2=b 1>b 2<b 1=b 1<b 1<a", "");
}

static void the_shortest_cycle_is_reported(void **state)
{
	(void)state;
	assert_deadlocks("1>a 1=a 2>b 2=b 3>c 3=c 1>b 2>c 3>a",
		"deadlock: 2 waits for c held by 3, 1 waits for b held by 2, "
		"3 waits for a held by 1\n");
}

static void a_thread_that_waits_for_itself(void **state)
{
	(void)state;
	assert_deadlocks("1>a 1=a 1>a", "deadlock: 1 waits for a held by 1\n");
}

static void a_recursive_lock_is_no_deadlock(void **state)
{
	(void)state;
	assert_deadlocks("1>a 1=a 1>a 1=a 1<a 1<a 2>a 2=a", "");
	/* Held twice, so given back once it is still held. */
	assert_deadlocks("1>a 1=a 1>a 1=a 1<a 2>b 2=b 2>a 1>b",
		"deadlock: 2 waits for a held by 1, 1 waits for b held by 2\n");
}

static void locks_taken_before_are_ignored(void **state)
{
	(void)state;
	assert_deadlocks("1<a 2>a 2=a 2<a", "");
}

static void a_cycle_is_reported_once(void **state)
{
	(void)state;
	assert_deadlocks("1>a 1=a 2>b 2=b 1>b 2>a 3>c 3=c 3<c 4>a",
		"deadlock: 1 waits for b held by 2, 2 waits for a held by 1\n");
}

static void locks_held_by_an_ended_thread(void **state)
{
	(void)state;
	assert_deadlocks("1>a 1=a 1.x 2>a", "deadlock: 2 waits for a held by 1\n");
	assert_deadlocks("1>a 1=a 2>a 3>a 1.x",
		"deadlock: 2 waits for a held by 1\ndeadlock: 3 waits for a held by 1\n");
	/* A robust mutex passes to the next thread; one that nobody waits for does not matter. */
	assert_deadlocks("1>a 1=a 2>a 1.x 2=a", "");
	assert_deadlocks("1>a 1=a 1.x", "");
	assert_deadlocks("1>a 1=a 1<a 1.x 2>a", "");
	/* All end, as when the process does. */
	assert_deadlocks("1>a 1=a 2>a 1.x 2.x", "");
}

/* A later thread with the same id is another one. */
static void a_reused_id(void **state)
{
	(void)state;
	assert_deadlocks("1>a 1=a 1.x 1>b 1=b 1>a 2>b", "deadlock: 1 waits for a held by 1\n");
	assert_deadlocks("1>a 1=a 1<a 1.x 1>b 1=b 2>b 1<b 2=b", "");
}

/* A lost event may have released it. */
static void lost_events_are_no_deadlock(void **state)
{
	(void)state;
	assert_deadlocks("1>a 1=a 1?a 1>b 1=b 2>c 2=c 2>a 1>c", "");
	assert_deadlocks("1>a 1=a 2>b 2=b 2>a 2?a 2>c 1>b", "");
	assert_deadlocks("1>a 1=a 1?a 1>c 1=c 1.x 2>a", "");
	assert_deadlocks("1>a 1=a 1>a 1?a 1>b", "");
}

/* A thread with a loss has no part in a cycle, except by its later events. */
static void a_loss_of_others(void **state)
{
	(void)state;
	assert_deadlocks("3>c 3?c 3<c 1>a 1=a 2>b 2=b 1>b 2>a",
		"deadlock: 1 waits for b held by 2, 2 waits for a held by 1\n");
	assert_deadlocks("3>c 3?c 3<c 1>a 1=a 1>a", "deadlock: 1 waits for a held by 1\n");
	assert_deadlocks("1>a 1?a 1<a 1>a 1=a 2>b 2=b 1>b 2>a",
		"deadlock: 1 waits for b held by 2, 2 waits for a held by 1\n");
}

/* It got the lock meanwhile, and gave it back: that shows with its next event. */
static void a_deadlock_that_was_reported_too_early(void **state)
{
	const char *reported = "deadlock: 1 waits for b held by 2, 2 waits for a held by 1\n";
	char *both = dpe_xasprintf(
		"%spossible deadlock: 1 waits for b held by 2, 2 waits for a held by 1 (reported too "
		"early as a deadlock: 2 messages of thread 1 were lost before unlock@1:5)\n",
		reported);

	(void)state;
	assert_deadlocks("1>a 1=a 1>b 1?b 1?b 2>b 2=b 2>a 1<a", both);
	/* Those of thread 3 say nothing about it. */
	assert_deadlocks("3>c 1>a 1=a 2>b 2=b 1>b 2>a 3?c 3?c 3<c", reported);
	free(both);
}

static void many_threads_in_one_line(void **state)
{
	struct dpe_text log = {0};
	struct transcript to = {0};

	(void)state;
	for (unsigned i = 0; i < 20000; i++)
		dpe_text_printf(&log,
			"{\"event\":\"lock.exit\",\"thread\":%u,\"args\":[%u]}\n"
			"{\"event\":\"lock.enter\",\"thread\":%u,\"args\":[%u]}\n",
			i, i, i, i + 1);
	assert_null(strstr(transcript_run(&to, rules, "jsonl", log.at), "deadlock:"));
	dpe_text_free(&log);
	dpe_text_free(&to.text);
}

/* Objects that they held, few or many, are free when the next threads come. */
static void short_lived_locks(void **state)
{
	const char *cycle = "deadlock: 1 waits for 3 held by 2, 2 waits for 2 held by 1\n";
	struct dpe_text log = {0};
	struct transcript to = {0};

	(void)state;
	for (unsigned round = 0; round < 3; round++) {
		for (unsigned i = 0; i < 3 * 40; i++)
			dpe_text_printf(&log,
				"{\"event\":\"%s\",\"thread\":%u,\"args\":[%u]}\n",
				i < 40	 ? "lock.enter"
				: i < 80 ? "lock.exit"
					 : "unlock",
				i % 40, round % 2 ? i % 5 : i % 40);
	}
	for (unsigned i = 0; i < 4; i++)
		dpe_text_printf(&log, "{\"event\":\"lock.%s\",\"thread\":%u,\"args\":[%u]}\n",
			i < 2 ? "exit" : "enter", 1 + i % 2, i < 2 ? 2 + i : 5 - i);
	transcript_run(&to, rules, "jsonl", log.at);
	assert_non_null(strstr(to.text.at, cycle));
	assert_ptr_equal(strstr(to.text.at, "deadlock: "), strstr(to.text.at, cycle));
	dpe_text_free(&log);
	dpe_text_free(&to.text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(cycle_of_two_threads),
		cmocka_unit_test(waiting_is_no_deadlock),
		cmocka_unit_test(the_shortest_cycle_is_reported),
		cmocka_unit_test(a_thread_that_waits_for_itself),
		cmocka_unit_test(a_recursive_lock_is_no_deadlock),
		cmocka_unit_test(locks_taken_before_are_ignored),
		cmocka_unit_test(a_cycle_is_reported_once),
		cmocka_unit_test(locks_held_by_an_ended_thread),
		cmocka_unit_test(a_reused_id),
		cmocka_unit_test(lost_events_are_no_deadlock),
		cmocka_unit_test(a_loss_of_others),
		cmocka_unit_test(a_deadlock_that_was_reported_too_early),
		cmocka_unit_test(many_threads_in_one_line),
		cmocka_unit_test(short_lived_locks),
	};

	return cmocka_run_group_tests_name("waits", tests, NULL, NULL);
}
