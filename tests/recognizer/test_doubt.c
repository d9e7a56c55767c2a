/* Verdicts that are conclusive in spite of losses are those of the complete log. Random logs, from which
 * random messages are dropped. */
#include "dpe/dpe-recognizer.h"
#include "dpe-lang/dpe-lang.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#define THREADS 5
#define LONGEST 80
#define KEY 200

struct item {
	const char *event;
	unsigned thread, seq;
	int arg, ret;
	bool dropped;
};

struct log {
	struct item items[LONGEST];
	unsigned count, next[THREADS];
	unsigned dice;
	bool ordered; /* else with times */
	bool unnumbered; /* no gap shows a loss */
};

struct verdict {
	char key[KEY];
	enum dpe_verdict_kind kind;
	bool taken_back;
};

struct story {
	struct dpe_names *names;
	const unsigned *losing; /* of each thread, where losses are known as they happen */
	struct verdict *verdicts;
	unsigned count, cap;
	unsigned taken_back;
	bool lost[THREADS];
	uint64_t noted; /* messages that were lost */
};

static unsigned pick(struct log *log, unsigned below)
{
	return (unsigned)rand_r((unsigned *)&log->dice) / 7 % below;
}

static void add(struct log *log, unsigned thread, const char *event, int arg)
{
	log->items[log->count++] = (struct item){
		.event = event, .thread = thread, .seq = log->next[thread]++, .arg = arg};
}

/* ---- what is reported ------------------------------------------------------------------------ */

static void keep(struct story *story, const struct dpe_text *key, enum dpe_verdict_kind kind,
	bool taken_back)
{
	struct verdict *verdict;

	assert_true(key->len < KEY);
	for (unsigned i = story->count; taken_back && i--;) { /* the last is taken back first */
		verdict = &story->verdicts[i];
		if (verdict->kind == DPE_INCONCLUSIVE || verdict->taken_back ||
			strcmp(verdict->key, key->at))
			continue;
		verdict->taken_back = true;
		story->taken_back++;
		return;
	}
	assert_false(taken_back); /* or it had not been reported */
	verdict = DPE_GROW(story->verdicts, story->count, story->cap);
	*verdict = (struct verdict){.kind = kind};
	strcpy(verdict->key, key->at);
}

static bool takes_back(const char *reason)
{
	return reason && strstr(reason, "reported too early");
}

static void on_verdict(void *context, const struct dpe_verdict *verdict)
{
	struct story *story = context;
	struct dpe_text key = {0};

	dpe_text_printf(&key, "%s ", verdict->rule->name);
	if (verdict->event)
		dpe_message_print_id(&key, story->names, verdict->event);
	for (unsigned i = 0; i < verdict->rule->nvariables; i++) {
		dpe_text_puts(&key, " ");
		if (verdict->params[i].kind != DPE_NONE)
			dpe_value_print(&key, verdict->params[i]);
	}
	keep(story, &key, verdict->kind, takes_back(verdict->reason));
	dpe_text_free(&key);
}

static void on_deadlock(
	void *context, const struct dpe_rule *rule, const struct dpe_deadlock *deadlock)
{
	struct dpe_text key = {0};
	unsigned least = 0;

	dpe_text_printf(&key, "deadlock %s:", rule->name);
	for (unsigned i = 1; i < deadlock->nwaits; i++) {
		if (deadlock->waits[i].thread.num < deadlock->waits[least].thread.num)
			least = i;
	}
	for (unsigned i = 0; i < deadlock->nwaits; i++) {
		const struct dpe_wait *wait = &deadlock->waits[(least + i) % deadlock->nwaits];

		dpe_text_printf(&key, " %d %d", (int)wait->thread.num, (int)wait->object.num);
	}
	keep(context, &key, deadlock->reason ? DPE_INCONCLUSIVE : DPE_VIOLATED,
		takes_back(deadlock->reason));
	dpe_text_free(&key);
}

static void on_held(void *context, const struct dpe_message *message, const char *missing)
{
	(void)context;
	(void)message;
	(void)missing;
}

static void on_lost(void *context, const struct dpe_gap *gap)
{
	struct story *story = context;

	assert_true(gap->count > 0);
	assert_true(story->lost[gap->after->thread.num]);
}

static uint64_t on_losing(void *context, struct dpe_value thread)
{
	const struct story *story = context;
	uint64_t sum = 0;

	for (unsigned i = 0; i < THREADS; i++) {
		if (thread.kind == DPE_NONE || thread.num == (int)i)
			sum += story->losing[i];
	}
	return sum;
}

static void on_loss(void *context, const struct dpe_thread_loss *loss)
{
	struct story *story = context;

	assert_true(story->lost[loss->thread.num]);
	story->noted += loss->count;
}

/* ---- a run ------------------------------------------------------------------------------- */

static struct dpe_message *message_of(
	struct dpe_names *names, const struct item *item, unsigned place, const struct log *log)
{
	struct dpe_value arg = dpe_value_int(item->arg);
	struct dpe_message draft = {
		.place = place + 1,
		.thread = dpe_value_int((int)item->thread),
		.has_seq = !log->unnumbered,
		.seq = item->seq,
		.has_time = !log->ordered,
		.time = place + 1,
		.args = &arg,
		.nargs = 1,
		.ret = dpe_value_int(item->ret),
	};

	dpe_event_parse(names, item->event, strlen(item->event), &draft.name, &draft.phase);
	return dpe_message_new(&draft);
}

/* Losses at the ends of threads, which no gap shows, are reported as in a recorded log. */
static void lose(struct dpe_recognizer *recognizer, const struct log *log)
{
	for (unsigned thread = 0; thread < THREADS; thread++) {
		struct dpe_thread_loss loss = {.thread = dpe_value_int((int)thread)};

		for (unsigned i = 0; i < log->count; i++)
			loss.count += log->items[i].dropped && log->items[i].thread == thread;
		if (!loss.count)
			continue;
		dpe_recognizer_lose(recognizer, &loss);
	}
}

static void feed(struct dpe_recognizer *recognizer, const struct log *log, struct story *story,
	bool whole, struct dpe_diags *diags)
{
	for (unsigned i = 0; i < log->count; i++) {
		if (log->items[i].dropped && !whole) {
			story->lost[log->items[i].thread] = true;
			continue;
		}
		assert_true(dpe_recognizer_feed(recognizer,
			message_of(story->names, &log->items[i], i, log), diags));
		if (!log->ordered)
			dpe_recognizer_watermark(recognizer, (struct dpe_value){0}, i + 1);
	}
	if (!whole)
		lose(recognizer, log);
}

static void run(struct story *story, const char *rules, const struct log *log, bool whole)
{
	const struct dpe_compile_options compile = {0};
	const struct dpe_recognizer_options options = {.ordered = log->ordered};
	const struct dpe_recognizer_sink sink = {
		.context = story,
		.losing = story->losing ? on_losing : NULL,
		.verdict = on_verdict,
		.deadlock = on_deadlock,
		.held = on_held,
		.lost = on_lost,
	};
	struct dpe_diags *diags = dpe_diags_new();
	struct dpe_recognizer *recognizer = NULL;
	struct dpe_spec *spec;

	*story = (struct story){.names = dpe_names_new(), .losing = story->losing};
	spec = dpe_spec_compile_text(
		"doubt.dpe", rules, strlen(rules), story->names, &compile, diags);
	if (spec)
		recognizer = dpe_recognizer_new(spec, &options, &sink, diags);
	dpe_diags_print(diags, stderr);
	assert_non_null(recognizer);
	feed(recognizer, log, story, whole, diags);
	dpe_recognizer_finish(recognizer);
	dpe_recognizer_losses(recognizer, on_loss, story);
	dpe_recognizer_free(recognizer);
	dpe_spec_free(spec);
	dpe_names_free(story->names);
	dpe_diags_free(diags);
}

/* ---- the comparison ---------------------------------------------------------------------- */

struct tally {
	unsigned certain, doubtful, taken_back, deadlocks;
};

static bool has(const struct story *story, const struct verdict *wanted)
{
	for (unsigned i = 0; i < story->count; i++) {
		const struct verdict *verdict = &story->verdicts[i];

		if (verdict->kind == wanted->kind && !strcmp(verdict->key, wanted->key))
			return true;
	}
	return false;
}

static void print_log(const struct log *log)
{
	for (unsigned i = 0; i < log->count; i++)
		print_error("%s%s@%u:%u(%d)%s", i ? " " : "", log->items[i].dropped ? "-" : "",
			log->items[i].thread, log->items[i].seq, log->items[i].arg,
			log->items[i].event);
	print_error("\n");
}

static void compare(const struct log *log, const struct story *whole, const struct story *lossy,
	struct tally *tally)
{
	unsigned dropped = 0;

	for (unsigned i = 0; i < log->count; i++)
		dropped += log->items[i].dropped;
	assert_int_equal(lossy->noted, dropped);
	assert_int_equal(whole->taken_back, 0);
	tally->taken_back += lossy->taken_back;
	for (unsigned i = 0; i < lossy->count; i++) {
		const struct verdict *verdict = &lossy->verdicts[i];

		if (verdict->taken_back || verdict->kind == DPE_INCONCLUSIVE) {
			tally->doubtful++;
			continue;
		}
		tally->certain++;
		tally->deadlocks += !strncmp(verdict->key, "deadlock", 8);
		if (has(whole, verdict))
			continue;
		print_log(log);
		fail_msg("reported as certain, and wrong: %s, kind %d", verdict->key, verdict->kind);
	}
}

/* Losses come in runs, as when a ring is full. */
static void drop_some(struct log *log)
{
	unsigned victim = pick(log, THREADS), other = pick(log, THREADS);
	bool full[THREADS] = {false};

	for (unsigned i = 0; i < log->count; i++) {
		struct item *item = &log->items[i];

		if (item->thread != victim && item->thread != other)
			continue;
		full[item->thread] = !pick(log, full[item->thread] ? 2 : 12) != full[item->thread];
		item->dropped = full[item->thread];
	}
}

static void check(const char *rules, struct log *log, struct tally *tally)
{
	struct story whole = {0}, lossy = {0};

	drop_some(log);
	run(&whole, rules, log, true);
	run(&lossy, rules, log, false);
	compare(log, &whole, &lossy, tally);
	free(whole.verdicts);
	free(lossy.verdicts);
}

static void fill(struct log *log, const char *const *events, unsigned nevents)
{
	unsigned length = 10 + pick(log, LONGEST - 10);

	while (log->count < length)
		add(log, pick(log, THREADS), events[pick(log, nevents)], (int)pick(log, 3));
}

static struct tally check_logs(const char *rules, const char *const *events, unsigned nevents,
	unsigned cases, bool unnumbered)
{
	struct tally tally = {0};

	for (unsigned i = 0; i < cases; i++) {
		struct log log = {.dice = i * 7919 + 1, .ordered = i % 2, .unnumbered = unnumbered};

		fill(&log, events, nevents);
		check(rules, &log, &tally);
	}
	return tally;
}

static struct tally check_all(
	const char *rules, const char *const *events, unsigned nevents, unsigned cases)
{
	return check_logs(rules, events, nevents, cases, false);
}

/* ---- rules ------------------------------------------------------------------------------- */

#define OWNED                                                                                      \
	"expect owned(T): (a(_) by T ; b(_) by T + c(_) by T)*\n"                                  \
	"expect pairs(x, T): (a(x) by T ; b(x) by T)*\n"                                           \
	"detect runs(T): a(_) by T ; a(_) by T\n"
#define SHARED                                                                                     \
	"expect order(x): (a(x) ; b(x))*\n"                                                        \
	"expect rounds(x): a(x) ; b(x)* observing c(x) ends\n"                                     \
	"detect race(x): a(x) & b(x)\n"                                                            \
	"detect race2(T, U): a(_) by T & b(_) by U\n"                                              \
	"detect sequence: a(_) ; c(_) ; b(_)\n"                                                    \
	"expect any(T, U): (a(_) by T + b(_) by U)*\n"
#define COUNTED                                                                                    \
	"var n;\n"                                                                                 \
	"detect counts(T): a(_) by T { n = n + 1; }\n"                                             \
	"detect odd(T): b(_) by T [n % 2 = 1]\n"

static const char *const events[] = {"a", "b", "c"};
static const char *const sync_events[] = {"a", "b", "c", "s", "r", "s", "r"};

static void slices_of_threads_stay_certain(void **state)
{
	struct tally tally = check_all(OWNED, events, 3, 400);

	(void)state;
	print_message("# of threads: %u certain, %u in doubt\n", tally.certain, tally.doubtful);
	assert_true(tally.certain > tally.doubtful);
	assert_int_equal(tally.taken_back, 0);
}

static void slices_of_all_are_in_doubt(void **state)
{
	struct tally tally = check_all(SHARED, events, 3, 400);

	(void)state;
	print_message("# of all: %u certain, %u in doubt, %u of them taken back\n", tally.certain,
		tally.doubtful, tally.taken_back);
	assert_true(tally.certain > 100);
	assert_true(tally.taken_back > 100);
}

static void order_is_in_doubt(void **state)
{
	static const char *const pairings[] = {"", "last ", "all "};

	(void)state;
	for (unsigned i = 0; i < DPE_COUNT(pairings); i++) {
		char *rules = dpe_xasprintf("sync %sS(x): s(x) ; r(x)\n" OWNED SHARED, pairings[i]);
		struct tally tally = check_all(rules, sync_events, 7, 200);

		print_message("# %ssynchronised: %u certain, %u in doubt\n", pairings[i],
			tally.certain, tally.doubtful);
		assert_true(tally.certain > 100);
		free(rules);
	}
}

/* The places of losses are not known: only slices of threads without a loss stay conclusive. */
static void losses_of_unnumbered_messages_may_lie_anywhere(void **state)
{
	struct tally tally = check_logs("sync last S(x): s(x) ; r(x)\n" OWNED SHARED, sync_events, 7, 400, true);

	(void)state;
	print_message("# unnumbered: %u certain, %u in doubt, %u of them taken back\n", tally.certain,
		tally.doubtful, tally.taken_back);
	assert_true(tally.certain > 100);
	assert_true(tally.taken_back > 100);
}

static void variables_are_everybodys(void **state)
{
	struct tally tally = check_all(COUNTED, events, 3, 400);

	(void)state;
	assert_true(tally.doubtful > 100);
}

/* ---- deadlocks --------------------------------------------------------------------------- */

#define LOCKS 4
#define NOBODY THREADS
#define WAITS                                                                                      \
	"expect locks(T): ( lock.enter by T { wait_for(T, .args[0]); check_deadlock(); }"          \
	" + lock.exit by T { release(T, .args[0]); hold(T, .args[0]); }"                           \
	" + unlock.enter by T { unhold(T, .args[0]); })*\n"

struct locks {
	unsigned holder[LOCKS], waits[THREADS]; /* LOCKS: for none */
};

static void step(struct log *log, struct locks *locks)
{
	unsigned thread = pick(log, THREADS), lock = pick(log, LOCKS);

	if (locks->waits[thread] < LOCKS) {
		lock = locks->waits[thread];
		if (locks->holder[lock] != NOBODY)
			return;
		locks->holder[lock] = thread;
		locks->waits[thread] = LOCKS;
		add(log, thread, "lock.exit", (int)lock);
	} else if (locks->holder[lock] == thread) {
		locks->holder[lock] = NOBODY;
		add(log, thread, "unlock.enter", (int)lock);
	} else {
		locks->waits[thread] = lock;
		add(log, thread, "lock.enter", (int)lock);
	}
}

static void lock_some(struct log *log)
{
	struct locks locks;

	for (unsigned i = 0; i < LOCKS; i++)
		locks.holder[i] = NOBODY;
	for (unsigned i = 0; i < THREADS; i++)
		locks.waits[i] = LOCKS;
	for (unsigned i = 0; i < 4 * LONGEST && log->count < LONGEST; i++)
		step(log, &locks);
}

static void cycles_of_others_are_certain(void **state)
{
	struct tally tally = {0};

	(void)state;
	for (unsigned i = 0; i < 1000; i++) {
		struct log log = {.dice = i * 104729 + 3, .ordered = i % 2, .unnumbered = i % 3 == 2};

		lock_some(&log);
		check(WAITS, &log, &tally);
	}
	print_message("# deadlocks: %u certain; in all %u in doubt, %u taken back\n",
		tally.deadlocks, tally.doubtful, tally.taken_back);
	assert_true(tally.deadlocks > 100);
}

/* ---- losses that are known as they happen ------------------------------------------------ */

/* The numbers of conclusive and inconclusive verdicts of a run in which so many messages of each thread
 * are lost, with no gap yet. */
static void assert_reported(const char *rules, const struct log *log, const unsigned *losing,
	unsigned certain, unsigned doubtful)
{
	struct story story = {.losing = losing};

	run(&story, rules, log, true);
	for (unsigned i = 0; i < story.count; i++) {
		if (story.verdicts[i].kind == DPE_INCONCLUSIVE)
			doubtful--;
		else
			certain--;
	}
	assert_int_equal(certain, 0);
	assert_int_equal(doubtful, 0);
	free(story.verdicts);
}

static void losses_in_progress(void **state)
{
	const unsigned none[THREADS] = {0}, first[THREADS] = {1}, third[THREADS] = {0, 0, 1};
	struct log cycle = {.ordered = true}, fault = {.ordered = true};

	(void)state;
	add(&cycle, 0, "lock.exit", 0);
	add(&cycle, 1, "lock.exit", 1);
	add(&cycle, 0, "lock.enter", 1);
	add(&cycle, 1, "lock.enter", 0);
	assert_reported(WAITS, &cycle, none, 3, 0); /* a deadlock, and a slice for each thread */
	assert_reported(WAITS, &cycle, first, 1, 2);
	/* A slice of thread 2 may be missing altogether. */
	assert_reported(WAITS, &cycle, third, 3, 1);
	add(&fault, 1, "b", 0);
	assert_reported("expect own(T): a(_) by T ; b(_) by T\n", &fault, third, 1, 1);
	assert_reported("expect all(x): a(x) ; b(x)\n", &fault, none, 1, 0);
	assert_reported("expect all(x): a(x) ; b(x)\n", &fault, third, 0, 1);
}

/* ---- threads that ran already ------------------------------------------------------------ */

static void calls_that_began_before(void **state)
{
	const char *own = "expect own(T): (a(_) by T ; b(_) by T)*\n";
	const char *all = "expect all(x): (a(x) ; b(x))*\n";
	const char *ended = "expect all(x): (a(x) ; b(x))* observing c(x) ends\n";
	struct log log = {.ordered = true};

	(void)state;
	add(&log, 2, "b", 1);
	add(&log, 0, "thread::found", 0);
	add(&log, 0, "b", 0);
	add(&log, 1, "b", 0);
	assert_reported(own, &log, NULL, 2, 1); /* threads 1 and 2 are new */
	/* The first is taken back. */
	assert_reported(all, &log, NULL, 1, 1);
	add(&log, 1, "c", 0);
	add(&log, 1, "b", 0);
	/* After the end of a slice everything is known. */
	assert_reported(ended, &log, NULL, 2, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(slices_of_threads_stay_certain),
		cmocka_unit_test(slices_of_all_are_in_doubt),
		cmocka_unit_test(order_is_in_doubt),
		cmocka_unit_test(losses_of_unnumbered_messages_may_lie_anywhere),
		cmocka_unit_test(variables_are_everybodys),
		cmocka_unit_test(cycles_of_others_are_certain),
		cmocka_unit_test(losses_in_progress),
		cmocka_unit_test(calls_that_began_before),
	};

	return cmocka_run_group_tests_name("doubt", tests, NULL, NULL);
}
