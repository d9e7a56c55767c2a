/* The order in which messages are released, and what is reported about the others. */
#include "tests/stabilizer/capture.h"

static void paper_example(void **state)
{
	struct capture capture;

	(void)state;
	capture_open(&capture, (enum dpe_sync_pairing[]){DPE_SYNC_FIFO}, 1, false);
	PUSH(&capture, "e1");
	PUSH_AS(&capture, "e2 e3", SEND(0, 0));
	PUSH(&capture, "e3 e1");
	PUSH_AS(&capture, "e4 e1", RECEIVE(0, 0));
	PUSH(&capture, "e5 e4");
	assert_story(&capture, "e1 e3 e2 e4 e5+e2 ");
	dpe_stabilizer_finish(capture.stabilizer);
	assert_story(&capture, "");
	/* e2 and e4 are independent, e5 comes after both. */
	assert_false(dpe_precedes(&capture.got[2].stamp, &capture.got[3].stamp));
	assert_true(dpe_precedes(&capture.got[2].stamp, &capture.got[4].stamp));
	assert_true(dpe_precedes(&capture.got[3].stamp, &capture.got[4].stamp));
	assert_false(dpe_precedes(&capture.got[4].stamp, &capture.got[4].stamp));
	capture_close(&capture);
}

static void ready_together_leave_by_arrival(void **state)
{
	struct capture capture;

	(void)state;
	capture_open(&capture, NULL, 0, false);
	PUSH(&capture, "c a");
	PUSH(&capture, "d b");
	PUSH(&capture, "b a");
	assert_story(&capture, "");
	PUSH(&capture, "a");
	assert_story(&capture, "a c b d ");
	capture_close(&capture);
}

static void threads(void **state)
{
	struct capture capture;

	(void)state;
	capture_open(&capture, NULL, 0, false);
	PUSH(&capture, "c", SEQ(1, 2));
	PUSH(&capture, "b", SEQ(1, 1));
	PUSH(&capture, "x", SEQ(2, 0));
	assert_story(&capture, "x ");
	PUSH(&capture, "a", SEQ(1, 0));
	assert_story(&capture, "a b c ");
	PUSH(&capture, "p q", THREAD(3));
	PUSH(&capture, "r", THREAD(3));
	PUSH(&capture, "s", THREAD(4));
	assert_story(&capture, "s ");
	PUSH(&capture, "q", THREAD(3), HOST(1));
	assert_story(&capture, "q p r ");
	assert_true(dpe_precedes(&capture.got[1].stamp, &capture.got[3].stamp));
	assert_false(dpe_precedes(&capture.got[0].stamp, &capture.got[3].stamp));
	capture_close(&capture);
}

static void missing_predecessor(void **state)
{
	struct capture capture;

	(void)state;
	capture_open(&capture, NULL, 0, false);
	PUSH(&capture, "b z a y");
	PUSH(&capture, "c b");
	PUSH(&capture, "d x");
	PUSH(&capture, "a");
	assert_story(&capture, "a ");
	dpe_stabilizer_finish(capture.stabilizer);
	assert_story(&capture, "held(b: predecessor z, predecessor y) b? c? "
			       "held(d: predecessor x) d? ");
	capture_close(&capture);
}

static void cycles(void **state)
{
	struct capture capture;

	(void)state;
	capture_open(&capture, NULL, 0, false);
	PUSH(&capture, "x b");
	PUSH(&capture, "a b");
	PUSH(&capture, "b a");
	PUSH(&capture, "s s");
	PUSH(&capture, "t s");
	assert_story(&capture, "");
	dpe_stabilizer_finish(capture.stabilizer);
	assert_story(&capture, "held(a: predecessor b, which waits for it in turn) a? b? x? "
			       "held(s: predecessor s, which is itself) s? t? ");
	capture_close(&capture);
}

static void identical_ids(void **state)
{
	struct dpe_message other = {.log = 1, .id = dpe_value_string("a")};
	struct capture capture;

	(void)state;
	capture_open(&capture, NULL, 0, false);
	assert_true(PUSH(&capture, "a"));
	assert_false(PUSH(&capture, "a"));
	assert_int_equal(dpe_diags_errors(capture.diags), 1);
	/* What waits has its id as well. */
	assert_true(PUSH(&capture, "b c"));
	assert_false(PUSH(&capture, "b"));
	assert_int_equal(dpe_diags_errors(capture.diags), 2);
	/* Another input may use the same ids. */
	assert_true(push_draft(&capture, &other, NULL, 0));
	assert_int_equal(capture.ngot, 2);
	capture_close(&capture);
}

static void identical_numbers(void **state)
{
	struct capture capture;

	(void)state;
	capture_open(&capture, NULL, 0, false);
	assert_true(PUSH(&capture, "a", SEQ(12, 0)));
	assert_false(PUSH(&capture, "b", SEQ(12, 0)));
	assert_true(PUSH(&capture, "c", SEQ(12, 4)));
	assert_false(PUSH(&capture, "d", SEQ(12, 4)));
	assert_int_equal(dpe_diags_errors(capture.diags), 2);
	/* The refused one has left no trace. */
	assert_true(PUSH(&capture, "d d2"));
	capture_close(&capture);
}

static void places(void **state)
{
	struct dpe_value first = dpe_value_int(1), fourth = dpe_value_int(4);
	struct dpe_message draft = {.npreds = 1, .preds = &fourth};
	struct capture capture;
	dpe_name waits;

	(void)state;
	capture_open(&capture, NULL, 0, false);
	draft.name = waits = dpe_intern_string(capture.names, "waits");
	push_draft(&capture, &draft, NULL, 0);
	draft.name = dpe_intern_string(capture.names, "numbered");
	draft.preds = &first;
	draft.thread = dpe_value_int(1);
	draft.has_seq = true;
	push_draft(&capture, &draft, NULL, 0);
	PUSH(&capture, "named");
	assert_story(&capture, "named ");
	push_draft(&capture, &(struct dpe_message){.name = waits}, NULL, 0);
	assert_story(&capture, "waits waits numbered ");
	capture_close(&capture);
}

static void gap_at_the_end(void **state)
{
	struct capture capture;

	(void)state;
	capture_open(&capture, NULL, 0, false);
	PUSH(&capture, "d", SEQ(1, 4));
	PUSH(&capture, "a", SEQ(1, 0));
	PUSH(&capture, "c", SEQ(1, 2));
	PUSH(&capture, "x", SEQ(2, 3));
	PUSH(&capture, "y nothing");
	assert_story(&capture, "a ");
	dpe_stabilizer_finish(capture.stabilizer);
	assert_story(&capture, "lost(c: 1) c lost(d: 1) d lost(x: 3) x "
			       "held(y: predecessor nothing) y? ");
	capture_close(&capture);
}

static void gap_at_the_watermark(void **state)
{
	struct capture capture;

	(void)state;
	capture_open(&capture, NULL, 0, false);
	PUSH(&capture, "a", SEQ(1, 0), TIME(10));
	PUSH(&capture, "c", SEQ(1, 3), TIME(30));
	PUSH(&capture, "x", SEQ(2, 0), TIME(20));
	dpe_stabilizer_watermark(capture.stabilizer, (struct dpe_value){0}, 30);
	assert_story(&capture, "a x ");
	dpe_stabilizer_watermark(capture.stabilizer, (struct dpe_value){0}, 31);
	assert_story(&capture, "lost(c: 2) c ");
	PUSH(&capture, "d", SEQ(1, 4), TIME(40));
	assert_false(PUSH(&capture, "b", SEQ(1, 1), TIME(15)));
	dpe_stabilizer_finish(capture.stabilizer);
	assert_story(&capture, "d ");
	capture_close(&capture);
}

static void gap_in_ordered_input(void **state)
{
	struct capture capture;

	(void)state;
	capture_open(&capture, NULL, 0, true);
	PUSH(&capture, "a", SEQ(1, 0), TIME(10));
	PUSH(&capture, "x", SEQ(2, 0), TIME(5));
	PUSH(&capture, "c", SEQ(1, 2), TIME(30));
	assert_story(&capture, "a x lost(c: 1) c ");
	capture_close(&capture);
}

static void highest_number(void **state)
{
	struct capture capture;

	(void)state;
	capture_open(&capture, NULL, 0, true);
	PUSH(&capture, "a", SEQ(1, UINT64_MAX));
	assert_story(&capture, "lost(a: 18446744073709551615) a ");
	assert_false(PUSH(&capture, "b", SEQ(1, 0)));
	capture_close(&capture);
}

static void times(void **state)
{
	struct dpe_value none = {0}, one = dpe_value_int(1);
	struct capture capture;

	(void)state;
	capture_open(&capture, NULL, 0, false);
	PUSH(&capture, "b", TIME(20));
	PUSH(&capture, "a", TIME(10));
	PUSH(&capture, "z", TIME(1), HOST(1));
	PUSH(&capture, "u");
	assert_story(&capture, "u ");
	dpe_stabilizer_watermark(capture.stabilizer, none, 11);
	assert_story(&capture, "a ");
	dpe_stabilizer_watermark(capture.stabilizer, one, 100);
	assert_story(&capture, "z ");
	/* Lower marks change nothing. */
	dpe_stabilizer_watermark(capture.stabilizer, none, 5);
	PUSH(&capture, "c", TIME(15));
	dpe_stabilizer_watermark(capture.stabilizer, none, 100);
	assert_story(&capture, "c b ");
	/* Too late: it is released, and its order is in doubt. */
	assert_true(PUSH(&capture, "late", TIME(12)));
	assert_story(&capture, "late? ");
	capture_close(&capture);
}

/* The first of a host's messages waits for another input: all later ones wait with it. */
static void times_and_predecessors(void **state)
{
	struct capture capture;

	(void)state;
	capture_open(&capture, NULL, 0, false);
	PUSH(&capture, "a x", TIME(10));
	PUSH(&capture, "b", TIME(20));
	dpe_stabilizer_watermark(capture.stabilizer, (struct dpe_value){0}, 100);
	assert_story(&capture, "");
	PUSH(&capture, "x", HOST(1));
	assert_story(&capture, "x a b ");
	/* Among messages of equal times, a named one is released first. */
	PUSH(&capture, "d e", TIME(200));
	PUSH(&capture, "e", TIME(200));
	PUSH(&capture, "f", TIME(200));
	dpe_stabilizer_finish(capture.stabilizer);
	assert_story(&capture, "e d f ");
	capture_close(&capture);
}

static void times_against_predecessors(void **state)
{
	struct capture capture;

	(void)state;
	capture_open(&capture, NULL, 0, false);
	PUSH(&capture, "a c", TIME(10));
	PUSH(&capture, "b", TIME(20));
	PUSH(&capture, "c", TIME(30));
	dpe_stabilizer_finish(capture.stabilizer);
	assert_story(&capture,
		"held(c: earlier messages of its host, which wait for it in turn) c? a? b? ");
	capture_close(&capture);
}

static void ordered_input(void **state)
{
	struct capture capture;

	(void)state;
	capture_open(&capture, NULL, 0, true);
	PUSH(&capture, "b", TIME(20));
	PUSH(&capture, "a", TIME(10));
	dpe_stabilizer_watermark(capture.stabilizer, (struct dpe_value){0}, 15);
	assert_story(&capture, "b a ");
	capture_close(&capture);
}

static void freed_while_holding(void **state)
{
	struct capture capture;

	(void)state;
	capture_open(&capture, (enum dpe_sync_pairing[]){DPE_SYNC_ONCE}, 1, false);
	PUSH(&capture, "a b");
	PUSH(&capture, "b c");
	PUSH(&capture, "d d");
	PUSH(&capture, "e", SEQ(1, 7));
	PUSH(&capture, "f", TIME(7));
	PUSH_AS(&capture, "g", RECEIVE(0, 1), THREAD(2));
	PUSH_AS(&capture, "h.exit", RECEIVE(0, 1), THREAD(2));
	PUSH_AS(&capture, "i j", SEND(0, 2), THREAD(3));
	PUSH_AS(&capture, "k", SEND(0, 3), TIME(4));
	capture_close(&capture);
	dpe_stabilizer_free(NULL);
}

#define MANY 1500u

/* Events of threads that were already running when they were found, and may end. Each follows those before it in its
 * thread; the first of a thread follows all that was released. */
static void found_threads(void **state)
{
	static bool past[MANY][MANY];
	static struct {
		unsigned last; /* its latest event, + 1 */
		bool over;
	} threads[MANY];
	struct capture capture;
	unsigned nthreads = 0;

	(void)state;
	srand(1);
	capture_open_with(&capture, (struct dpe_stabilizer_options){.ordered = true}, "end");
	capture.quiet = true;
	for (unsigned i = 0; i < MANY; i++) {
		unsigned of = rand() % (nthreads + 1 + nthreads / 8);
		bool begins = of >= nthreads || threads[of].over, ends = !begins && !(rand() % 8);

		of = begins ? nthreads++ : of;
		threads[of].over = ends;
		for (unsigned j = 0; j < i; j++)
			past[i][j] = begins || past[threads[of].last - 1][j] || j == threads[of].last - 1;
		threads[of].last = i + 1;
		push_draft(&capture, &(struct dpe_message){
			.name = dpe_intern_string(capture.names, begins ? "found" : ends ? "end" : "a"), THREAD(of)}, NULL, 0);
	}
	assert_int_equal(capture.ngot, MANY);
	for (unsigned i = 0; i < MANY; i++) {
		for (unsigned j = 0; j < i; j++)
			assert_int_equal(dpe_precedes(&capture.got[j].stamp, &capture.got[i].stamp), past[i][j]);
	}
	capture_close(&capture);
}

#define DEEP 200000u

static void deep_thread(void **state)
{
	struct capture capture;

	(void)state;
	capture_open(&capture, NULL, 0, false);
	capture.quiet = true;
	for (unsigned i = DEEP; i--;) {
		struct dpe_message draft = {.thread = dpe_value_int(1), .has_seq = true, .seq = i};

		push_draft(&capture, &draft, NULL, 0);
	}
	assert_int_equal(capture.ngot, DEEP);
	for (unsigned i = 0; i < DEEP; i++)
		assert_int_equal(capture.got[i].message->seq, i);
	capture_close(&capture);
}

/* Each names the next to come; all are receives that wait for one send as well. */
static void deep_predecessors(void **state)
{
	struct dpe_role role = RECEIVE(0, 0);
	struct capture capture;

	(void)state;
	capture_open(&capture, (enum dpe_sync_pairing[]){DPE_SYNC_ONCE}, 1, false);
	capture.quiet = true;
	for (unsigned i = 0; i <= DEEP; i++) {
		struct dpe_value pred = dpe_value_int(i + 1);
		struct dpe_message draft = {
			.id = dpe_value_int(i), .npreds = i < DEEP, .preds = &pred};

		push_draft(&capture, &draft, &role, 1);
	}
	assert_int_equal(capture.ngot, 1);
	push_draft(&capture, &(struct dpe_message){0}, &SEND(0, 0), 1);
	assert_int_equal(capture.ngot, DEEP + 2);
	for (unsigned i = 3; i < DEEP; i++) {
		assert_int_equal(capture.got[i].nadded, 0);
		assert_true(dpe_precedes(&capture.got[i - 1].stamp, &capture.got[i].stamp));
	}
	capture_close(&capture);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(paper_example),
		cmocka_unit_test(ready_together_leave_by_arrival),
		cmocka_unit_test(threads),
		cmocka_unit_test(missing_predecessor),
		cmocka_unit_test(cycles),
		cmocka_unit_test(identical_ids),
		cmocka_unit_test(identical_numbers),
		cmocka_unit_test(places),
		cmocka_unit_test(gap_at_the_end),
		cmocka_unit_test(gap_at_the_watermark),
		cmocka_unit_test(gap_in_ordered_input),
		cmocka_unit_test(highest_number),
		cmocka_unit_test(times),
		cmocka_unit_test(times_and_predecessors),
		cmocka_unit_test(times_against_predecessors),
		cmocka_unit_test(ordered_input),
		cmocka_unit_test(freed_while_holding),
		cmocka_unit_test(found_threads),
		cmocka_unit_test(deep_thread),
		cmocka_unit_test(deep_predecessors),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
