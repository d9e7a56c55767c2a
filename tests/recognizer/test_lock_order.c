/* The order of locks: which cycles could close, and which could not. */
#include "tests/recognizer/transcript.h"

static const char rules[] =
	"expect locks(x, T): (lock(x).enter by T { wait_for(T, x); check_order(T, x); "
	"check_deadlock(); }\n"
	" + lock(x).exit by T { release(T, x); hold(T, x); }\n"
	" + trylock(x) by T { hold(T, x); }\n"
	" + unlock(x) by T { unhold(T, x); }\n"
	" + destroy(x) by T { forget(x); })*\n"
	"expect rwlocks(x, y, T): (rdlock(x, y) by T { check_order(T, x); share(T, y); }\n"
	" + wrlock(x, y) by T { check_order(T, x); check_order(T, y); hold(T, x); hold(T, y); }\n"
	" + rwunlock(x, y) by T { unhold(T, x); unhold(T, y); })*\n"
	"expect threads(p, T): (create(p) by T { creates(T, p); } + start(p) by T { begins(T, p); "
	"}\n"
	" + quit(p) by T { ended(T); } + join(p) by T { joined(T, p); })*";

struct log {
	struct dpe_text text;
	unsigned time, next[256];
};

static void add(struct log *log, const char *event, char thread, const char *args)
{
	dpe_text_printf(&log->text,
		"{\"event\":\"%s\",\"thread\":%d,\"seq\":%u,\"time\":%u,\"args\":[%s]}\n", event,
		thread - '0', log->next[(unsigned char)thread]++, ++log->time, args);
}

/* One event a word, its thread first: "1+a" takes, "1>a" only waits, "1?a" takes if it is free,
 * "1-a" gives back, "1!a" destroys; "1ra" and "1wa" take to read and to write, "1ua" gives that
 * back; "1*2" creates thread 2, "1.2" ends, 2 being its name, and "1j2" awaited that. "1~a" gives
 * back, and that is lost. */
static void add_word(struct log *log, const char *word)
{
	char thread = word[0], object[] = {'"', word[2], '"', '\0'};
	char both[] = {'"', word[2], '"', ',', '"', word[2], '\'', '"', '\0'};

	switch (word[1]) {
	case '+':
		add(log, "lock.enter", thread, object);
		add(log, "lock.exit", thread, object);
		return;
	case '>':
		add(log, "lock.enter", thread, object);
		return;
	case '~':
		log->next[(unsigned char)thread]++;
		return;
	case '*':
		add(log, "create", thread, object);
		add(log, "start", word[2], object);
		return;
	default:
		add(log,
			word[1] == '?'   ? "trylock"
			: word[1] == '-' ? "unlock"
			: word[1] == '!' ? "destroy"
			: word[1] == 'r' ? "rdlock"
			: word[1] == 'w' ? "wrlock"
			: word[1] == 'u' ? "rwunlock"
			: word[1] == '.' ? "quit"
					 : "join",
			thread, strchr("rwu", word[1]) ? both : object);
	}
}

/* Only deadlocks are examined, including inconclusive ones. */
static void assert_log(struct log *log, const char *expected)
{
	struct transcript to = {0};
	struct dpe_text found = {0};
	const char *at = transcript_run(&to, rules, "jsonl", log->text.at);

	dpe_text_puts(&found, "");
	for (unsigned len; *at; at += len) {
		len = strcspn(at, "\n") + 1;
		if (strstr(at, "deadlock") && strstr(at, "deadlock") < at + len)
			dpe_text_add(&found, at, len);
	}
	assert_string_equal(found.at, expected);
	dpe_text_free(&found);
	dpe_text_free(&to.text);
	dpe_text_free(&log->text);
}

static void assert_order(const char *events, const char *expected)
{
	struct log log = {0};

	for (; *events; events += strspn(events, " ")) {
		add_word(&log, events);
		events += 3;
	}
	assert_log(&log, expected);
}

#define A_B "potential deadlock: 1 waits for b held by 2, 2 waits for a held by 1\n"
#define A_B_AGAIN "potential deadlock: 2 waits for a held by 1, 1 waits for b held by 2\n"
#define A_B_OF_3 "potential deadlock: 2 waits for a held by 3, 3 waits for b held by 2\n"

static void an_inversion_that_never_met(void **state)
{
	(void)state;
	assert_order("1+a 1+b 1-b 1-a 2+b 2+a 2-a 2-b", A_B);
	/* Not given back in the reverse order. */
	assert_order("1+a 1+b 1-a 1-b 2+b 2+a 2-b 2-a", A_B);
	assert_order("1+a 1+b 1-b 1-a 2+a 2+b 2-b 2-a", "");
	assert_order("1+a 1-a 1+b 1-b 2+b 2-b 2+a 2-a", "");
}

static void it_is_reported_once(void **state)
{
	(void)state;
	assert_order(
		"1+a 1+b 1-b 1-a 2+b 2+a 2-a 2-b 1+a 1+b 1-b 1-a 3+b 3+a 3-a 3-b 2+b 2+a", A_B);
}

static void one_that_closed_is_reported_as_such(void **state)
{
	(void)state;
	assert_order("1+a 1+b 1-b 1-a 2+b 2+a 2-a 2-b 1+a 2+b 1>b 2>a",
		"deadlock: 1 waits for b held by 2, 2 waits for a held by 1\n");
}

static void a_cycle_of_three(void **state)
{
	(void)state;
	assert_order("1+a 1+b 1-b 1-a 2+b 2+c 2-c 2-b 3+c 3+a 3-a 3-c",
		"potential deadlock: 2 waits for c held by 3, 1 waits for b held by 2, "
		"3 waits for a held by 1\n");
	/* Two are not enough for it. */
	assert_order("1+a 1+b 1-b 1-a 2+b 2+c 2-c 2-b 1+c 1+a 1-a 1-c", "");
}

static void a_longer_cycle_beside_a_short_one(void **state)
{
	(void)state;
	assert_order("1+b 1+a 1-a 1+d 1-d 1-b 2+d 2+a 2-a 2-d 3+a 3+b 3-b 3-a",
		"potential deadlock: 1 waits for a held by 3, 3 waits for b held by 1\n"
		"potential deadlock: 2 waits for a held by 3, 1 waits for d held by 2, "
		"3 waits for b held by 1\n");
}

static void a_gate_keeps_apart(void **state)
{
	(void)state;
	assert_order("1+g 1+a 1+b 1-b 1-a 1-g 2+g 2+b 2+a 2-a 2-b 2-g", "");
	assert_order("1+g 1+a 1+b 1-b 1-a 1-g 2+h 2+b 2+a 2-a 2-b 2-h", A_B);
	/* Given back before the second is taken. */
	assert_order("1+g 1+a 1-g 1+b 1-b 1-a 2+g 2+b 2+a 2-a 2-b 2-g", A_B);
	/* Taken without waiting, it is a gate all the same. */
	assert_order("1?g 1+a 1+b 1-b 1-a 1-g 2?g 2+b 2+a 2-a 2-b 2-g", "");
	/* Two of three. */
	assert_order("1+g 1+a 1+b 1-b 1-a 1-g 2+g 2+b 2+c 2-c 2-b 2-g 3+c 3+a 3-a 3-c", "");
}

/* dpe came while it was held: known once it is given back. */
static void a_gate_that_was_taken_before(void **state)
{
	(void)state;
	assert_order("1+a 1+b 1-b 1-a 1-g 2+g 2+b 2+a 2-a 2-b 2-g", "");
	assert_order("2+b 2+a 2-a 2-b 2-g 1+g 1+a 1+b 1-b 1-a 1-g", "");
	/* The cycle is found first, and then known to be none. */
	assert_order("1+a 1+b 1-b 1-a 2+g 2+b 2+a 2-a 2-b 2-g 1-g", "");
	/* But a third thread, or the same one later, does it without the gate. */
	assert_order("1+a 1+b 1-b 1-a 2+g 2+b 2+a 2-a 2-b 2-g 1-g 1+a 1+b 1-b 1-a", A_B_AGAIN);
	assert_order("1+a 1+b 1-b 1-a 3+a 3+b 3-b 3-a 2+g 2+b 2+a 2-a 2-b 2-g 1-g", A_B_OF_3);
	/* Read locks are two objects, of which readers hold one. */
	assert_order("1rx 1+a 1+b 1-b 1-a 1ux 2+b 2+a 2-a 2-b", A_B);
	/* A thread whose beginning was seen holds nothing else, nor does who gives back another's. */
	assert_order("9*1 9*2 1+a 1+b 1-b 1-a 1-g 2+b 2+a 2-a 2-b", A_B);
	assert_order("3+g 1+a 1+b 1-b 1-a 1-g 2+b 2+a 2-a 2-b", A_B);
}

static void a_single_thread_is_no_cycle(void **state)
{
	(void)state;
	assert_order("1+a 1+b 1-b 1-a 1+b 1+a 1-a 1-b", "");
	assert_order("1+a 1+b 1+a 1-a 1-b 1-a 2+a 2+b 2-b 2-a", "");
	/* But the same with another one that did both. */
	assert_order("1+a 1+b 1-b 1-a 1+b 1+a 1-a 1-b 2+a 2+b 2-b 2-a",
		"potential deadlock: 1 waits for a held by 2, 2 waits for b held by 1\n");
}

static void calls_that_cannot_block(void **state)
{
	(void)state;
	assert_order("1+a 1?b 1-b 1-a 2+b 2+a 2-a 2-b", "");
	/* It is held, however it was taken. */
	assert_order("1?a 1+b 1-b 1-a 2+b 2+a 2-a 2-b", A_B);
}

static void readers(void **state)
{
	(void)state;
	assert_order("1ra 1rb 1ub 1ua 2rb 2ra 2ua 2ub", "");
	assert_order("1ra 1wb 1ub 1ua 2rb 2ra 2ua 2ub", "");
	assert_order("1ra 1wb 1ub 1ua 2rb 2wa 2ua 2ub",
		"potential deadlock: 1 waits for b' held by 2, 2 waits for a' held by 1\n");
	assert_order("1wa 1rb 1ub 1ua 2wb 2ra 2ua 2ub", A_B);
	/* A writer takes both objects of a lock; that is one cycle all the same. */
	assert_order("1wa 1wb 1ub 1ua 2wb 2wa 2ua 2ub", A_B);
	/* Readers are no gate for readers, but for who writes. */
	assert_order("1rg 1+a 1+b 1-b 1-a 1ug 2rg 2+b 2+a 2-a 2-b 2ug", A_B);
	assert_order("1rg 1+a 1+b 1-b 1-a 1ug 2wg 2+b 2+a 2-a 2-b 2ug", "");
}

static void ordered_by_start_and_join(void **state)
{
	(void)state;
	assert_order("0*1 1+a 1+b 1-b 1-a 1.1 0j1 0*2 2+b 2+a 2-a 2-b 2.2 0j2", "");
	assert_order("0*1 1+a 1+b 1-b 1-a 1.1 0j1 0+b 0+a 0-a 0-b", "");
	assert_order("0+b 0+a 0-a 0-b 0*1 1+a 1+b 1-b 1-a 1.1", "");
	/* Through another one. */
	assert_order("0*1 1*2 2+a 2+b 2-b 2-a 2.2 1j2 1.1 0j1 0*3 3+b 3+a 3-a 3-b", "");
	/* One that ended, but was not awaited. */
	assert_order("0*1 1+a 1+b 1-b 1-a 1.1 0*2 2+b 2+a 2-a 2-b 2.2 0j1 0j2", A_B);
	/* One that began before. */
	assert_order("0*1 0*2 1+a 1+b 1-b 1-a 1.1 0j1 2+b 2+a 2-a 2-b 2.2 0j2", A_B);
	assert_order("0*1 0+b 0+a 0-a 0-b 1+a 1+b 1-b 1-a 1.1 0j1",
		"potential deadlock: 0 waits for a held by 1, 1 waits for b held by 0\n");
	/* An end that is seen after it was awaited, and a name that comes again. */
	assert_order("0*1 1+a 1+b 1-b 1-a 0j1 1.1 0*2 2+b 2+a 2-a 2-b 2.2 0j2", "");
}

static void locks_make_no_order(void **state)
{
	(void)state;
	assert_order(
		"0*1 0*2 1+a 1+b 1-b 1-a 1+m 1-m 2+m 2-m 2+b 2+a 2-a 2-b 1.1 2.2 0j1 0j2", A_B);
}

static void a_reused_address(void **state)
{
	(void)state;
	assert_order("1+a 1+b 1-b 1-a 1!a 2+b 2+a 2-a 2-b", "");
	assert_order("1+a 1+b 1-b 1-a 1!b 2+b 2+a 2-a 2-b", "");
	assert_order("1+a 1+b 1-b 1-a 1!c 2+b 2+a 2-a 2-b", A_B);
	/* What was found stays found. */
	assert_order("1+a 1+b 1-b 1-a 2+b 2+a 2-a 2-b 1!a 1!b", A_B);
	/* One held beside goes; the rest of the order stays. */
	assert_order("1+g 1+a 1+b 1-b 1-a 1-g 1!g 2+b 2+a 2-a 2-b", A_B);
	/* A gate for what came before it was destroyed, is none for what comes after. */
	assert_order("1+g 1+a 1+b 1-b 1-a 1-g 2+g 2+b 2+a 2-a 2-b 2-g 1!g", "");
	assert_order("1+g 1+a 1+b 1-b 1-a 1-g 1!g 2+g 2+b 2+a 2-a 2-b 2-g", A_B);
	/* It keeps apart what it did, when a third one comes. */
	assert_order("1+g 1+a 1+b 1-b 1-a 1-g 2+g 2+b 2+c 2-c 2-b 2-g 1!g 3+c 3+a 3-a 3-c", "");
	/* Destroyed while it is held. */
	assert_order("1+a 1!a 1+b 1-b 2+b 2+a 2-a 2-b", "");
}

static void losses(void **state)
{
	(void)state;
	/* Whether 1 still holds a is not known. */
	assert_order("1+a 1~a 1+b 1-b 2+b 2+a 2-a 2-b", "");
}

/* What 1 did is kept beside what 2 did later in the same way: the third could meet that of 1 alone.
 */
static void an_earlier_one_that_matters(void **state)
{
	(void)state;
	assert_order("0*9 0*1 1+a 1+b 1-b 1-a 0+b 0+c 0-c 0-b 1.1 0j1 0*2 2+a 2+b 2-b 2-a "
		     "9+c 9+a 9-a 9-c",
		"potential deadlock: 0 waits for c held by 9, 1 waits for b held by 0, "
		"9 waits for a held by 1\n");
	/* Thread 2 has ended when 1 takes d in the same way, but 1 itself is in the cycle already. */
	assert_order("1*2 2+c 2+d 2-d 2-c 1+b 1+c 1-b 2.2 1j2 3+d 3+a 3-a 3-d 1+d 1-d 1-c 4+a 4+b",
		"potential deadlock: 3 waits for a held by 4, 2 waits for d held by 3, "
		"1 waits for c held by 2, 4 waits for b held by 1\n");
}

/* The thread takes both, one while it holds the other, and gives them back, all in `function`. */
static void add_pair(struct dpe_text *log, unsigned thread, const char *first, const char *second,
	const char *function)
{
	static const char *const events[] = {
		"lock.enter", "lock.exit", "lock.enter", "lock.exit", "unlock", "unlock"};

	for (unsigned i = 0; i < 6; i++)
		dpe_text_printf(log,
			"{\"event\":\"%s\",\"thread\":%u,\"args\":[\"%s\"],"
			"\"stack\":[\"%s+0x%u\"]}\n",
			events[i], thread, i / 2 == 0 || i == 5 ? first : second, function, i);
}

static void add_begin(struct dpe_text *log, unsigned thread)
{
	dpe_text_printf(log,
		"{\"event\":\"create\",\"thread\":0,\"args\":[%u]}\n"
		"{\"event\":\"start\",\"thread\":%u,\"args\":[%u]}\n",
		thread, thread, thread);
}

static void add_end(struct dpe_text *log, unsigned thread)
{
	dpe_text_printf(log,
		"{\"event\":\"quit\",\"thread\":%u,\"args\":[%u]}\n"
		"{\"event\":\"join\",\"thread\":0,\"args\":[%u]}\n",
		thread, thread, thread);
}

/* Ended threads are not kept, unless they can still be part of a cycle with later events. */
static void many_threads(void **state)
{
	struct log log = {0};

	(void)state;
	for (unsigned thread = 1; thread <= 1000; thread++) {
		add_begin(&log.text, thread);
		add_pair(&log.text, thread, "a", "b", "f");
		add_end(&log.text, thread);
	}
	add_pair(&log.text, 0, "b", "a", "g");
	assert_log(&log, "");
}

/* More at the same time than are kept; that none of them could meet what comes is not known. */
static void too_many_threads(void **state)
{
	struct log log = {0};

	(void)state;
	for (unsigned thread = 1; thread <= 300; thread++)
		add_begin(&log.text, thread);
	for (unsigned thread = 1; thread <= 300; thread++)
		add_pair(&log.text, thread, "a", "b", "f");
	for (unsigned thread = 1; thread <= 300; thread++)
		add_end(&log.text, thread);
	add_pair(&log.text, 0, "b", "a", "g");
	assert_log(&log,
		"locks inconclusive (potential deadlocks may be missing: too many threads took the same "
		"locks at the same places)\n");
}

/* Eight at a time take b while they hold a; thread 0 takes c while it holds b beside the first ones. */
static void add_batches(struct dpe_text *log)
{
	for (unsigned batch = 1; batch <= 60; batch++) {
		for (unsigned i = 0; i < 8; i++)
			add_begin(log, 10 * batch + i);
		for (unsigned i = 0; i < 8; i++)
			add_pair(log, 10 * batch + i, "a", "b", "f");
		if (batch == 1)
			add_pair(log, 0, "b", "c", "g");
		for (unsigned i = 0; i < 8; i++)
			add_end(log, 10 * batch + i);
	}
}

/* All that ended precedes what comes, however many ran at the same time. */
static void many_threads_in_batches(void **state)
{
	struct log log = {0};

	(void)state;
	add_batches(&log.text);
	add_begin(&log.text, 1);
	add_pair(&log.text, 1, "c", "a", "h");
	assert_log(&log, "");
}

#define TOO_LATE                                                                                  \
	"locks inconclusive (potential deadlocks may be missing: a thread whose creation was " \
	"not observed cannot be compared with threads that had ended)\n"

/* It is concurrent with all that ended, and so is one that it creates. */
static void a_thread_that_nobody_created(void **state)
{
	struct log log = {0};

	(void)state;
	add_batches(&log.text);
	add_pair(&log.text, 1, "c", "a", "h");
	assert_log(&log, TOO_LATE);
	log = (struct log){0};
	add_batches(&log.text);
	dpe_text_puts(&log.text,
		"{\"event\":\"create\",\"thread\":1,\"args\":[2]}\n"
		"{\"event\":\"start\",\"thread\":2,\"args\":[2]}\n");
	add_pair(&log.text, 2, "c", "a", "h");
	assert_log(&log, TOO_LATE);
}

/* Thread 0 turns out to have held a lock all the time, so a cycle with it is none; whether others made the same is not known
 * any more. A cycle without it stays. */
static void what_is_dropped_after_threads_ended(void **state)
{
	struct log log = {0};

	(void)state;
	add_begin(&log.text, 1);
	add_begin(&log.text, 2);
	add_begin(&log.text, 3);
	add_pair(&log.text, 0, "b", "a", "g");
	add_pair(&log.text, 1, "a", "b", "f");
	add_pair(&log.text, 2, "x", "y", "h");
	add_pair(&log.text, 3, "y", "x", "i");
	for (unsigned thread = 1; thread <= 3; thread++)
		add_end(&log.text, thread);
	add_batches(&log.text);
	dpe_text_puts(&log.text, "{\"event\":\"unlock\",\"thread\":0,\"args\":[\"z\"]}\n");
	assert_log(&log, "potential deadlock: 2 waits for y held by 3, 3 waits for x held by 2\n" TOO_LATE);
}

static void add_link(struct dpe_text *log, unsigned thread, unsigned from, unsigned to)
{
	char first[8], second[8];

	snprintf(first, sizeof(first), "l%u", from);
	snprintf(second, sizeof(second), "l%u", to);
	add_pair(log, thread, first, second, "f");
}

/* Cycles of any length are found: any number of philosophers. */
static void a_cycle_of_many(void **state)
{
	struct transcript to = {0};
	struct dpe_text log = {0};
	const char *reported;

	(void)state;
	for (unsigned i = 0; i < 100; i++)
		add_link(&log, i, i, (i + 1) % 100);
	reported = transcript_run(&to, rules, "jsonl", log.at);
	assert_non_null(strstr(reported, ", 99 waits for l0 held by 0"));
	assert_int_equal(to.ended.potential, 1);
	assert_int_equal(to.ended.inconclusive, 0);
	dpe_text_free(&to.text);
	dpe_text_free(&log);
}

/* Longer than the limit of searches. */
static void a_cycle_of_too_many(void **state)
{
	struct log log = {0};

	(void)state;
	for (unsigned i = 0; i < 1001; i++)
		add_link(&log.text, i, i, (i + 1) % 1001);
	assert_log(&log,
		"locks inconclusive (potential deadlocks may be missing: a search for a cycle was "
		"too long)\n");
}

/* One of them would have to be in two places; others have nothing to do with it. */
static void a_cycle_of_many_that_needs_one_twice(void **state)
{
	struct log log = {0};

	(void)state;
	for (unsigned i = 0; i < 20; i++)
		add_link(&log.text, 100 + i, 100 + i, 101 + i);
	for (unsigned i = 0; i < 40; i++)
		add_link(&log.text, i == 39 ? 20 : i, i, (i + 1) % 40);
	assert_log(&log, "");
}

/* Any of them could be anywhere, which makes very many ways, and one is too few. */
static void a_search_that_is_too_long(void **state)
{
	struct log log = {0};

	(void)state;
	for (unsigned i = 0; i < 5; i++)
		add_link(&log.text, 100 + i, 100 + i, 101 + i);
	for (unsigned i = 0; i < 20; i++)
		for (unsigned thread = 0; thread < 19; thread++)
			add_link(&log.text, thread, i, (i + 1) % 20);
	assert_log(&log,
		"locks inconclusive (potential deadlocks may be missing: a search for a cycle was "
		"too long)\n");
}

/* Each pair of them is inverted: four are reported, and that there are more. */
static void many_equal_locks(void **state)
{
	struct transcript to = {0};
	struct dpe_text log = {0};

	(void)state;
	for (unsigned i = 0; i < 60; i++) {
		char first[8], second[8];

		snprintf(first, sizeof(first), "a%u", i);
		snprintf(second, sizeof(second), "b%u", i);
		add_pair(&log, 1, first, second, "f");
		add_pair(&log, 2, second, first, "g");
	}
	assert_non_null(strstr(transcript_run(&to, rules, "jsonl", log.at),
		"potential deadlock: 1 waits for b0 held by 2, 2 waits for a0 held by 1, and "
		"others\n"));
	assert_int_equal(to.ended.potential, 4);
	dpe_text_free(&to.text);
	dpe_text_free(&log);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_inversion_that_never_met),
		cmocka_unit_test(it_is_reported_once),
		cmocka_unit_test(one_that_closed_is_reported_as_such),
		cmocka_unit_test(a_cycle_of_three),
		cmocka_unit_test(a_longer_cycle_beside_a_short_one),
		cmocka_unit_test(a_gate_keeps_apart),
		cmocka_unit_test(a_gate_that_was_taken_before),
		cmocka_unit_test(a_single_thread_is_no_cycle),
		cmocka_unit_test(calls_that_cannot_block),
		cmocka_unit_test(readers),
		cmocka_unit_test(ordered_by_start_and_join),
		cmocka_unit_test(locks_make_no_order),
		cmocka_unit_test(a_reused_address),
		cmocka_unit_test(losses),
		cmocka_unit_test(an_earlier_one_that_matters),
		cmocka_unit_test(many_threads),
		cmocka_unit_test(too_many_threads),
		cmocka_unit_test(many_threads_in_batches),
		cmocka_unit_test(a_thread_that_nobody_created),
		cmocka_unit_test(what_is_dropped_after_threads_ended),
		cmocka_unit_test(a_cycle_of_many),
		cmocka_unit_test(a_cycle_of_too_many),
		cmocka_unit_test(a_cycle_of_many_that_needs_one_twice),
		cmocka_unit_test(a_search_that_is_too_long),
		cmocka_unit_test(many_equal_locks),
	};

	return cmocka_run_group_tests_name("lock_order", tests, NULL, NULL);
}
