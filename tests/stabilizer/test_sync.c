/* Which sends a receive is paired with, and where the edges enter. */
#include "tests/stabilizer/capture.h"

#include "stabilizer/nodes.h"

static const enum dpe_sync_pairing all_kinds[] = {
	DPE_SYNC_FIFO, DPE_SYNC_LAST, DPE_SYNC_ALL, DPE_SYNC_ONCE,
	DPE_SYNC_ROUNDS};

#define FIFO 0
#define LAST 1
#define ALL 2
#define ONCE 3
#define ROUNDS 4

static void open_all(struct capture *capture)
{
	capture_open(capture, all_kinds, DPE_COUNT(all_kinds), false);
}

static void each_kind(unsigned kind, const char *expected)
{
	struct capture capture;

	open_all(&capture);
	PUSH_AS(&capture, "r0.exit", RECEIVE(kind, 1), THREAD(1));
	PUSH_AS(&capture, "s1", SEND(kind, 1), THREAD(2));
	PUSH_AS(&capture, "s2", SEND(kind, 1), THREAD(3));
	PUSH_AS(&capture, "other", SEND(kind, 2), THREAD(2));
	PUSH_AS(&capture, "r1.exit", RECEIVE(kind, 1), THREAD(4));
	PUSH_AS(&capture, "r2.exit", RECEIVE(kind, 1), THREAD(4));
	PUSH_AS(&capture, "s3", SEND(kind, 1), THREAD(2));
	PUSH_AS(&capture, "r3.exit", RECEIVE(kind, 1), THREAD(5));
	dpe_stabilizer_finish(capture.stabilizer);
	assert_story(&capture, expected);
	capture_close(&capture);
}

static void fifo(void **state)
{
	(void)state;
	each_kind(FIFO, "r0 s1 s2 other r1+s1 r2+s2 s3 r3+s3 ");
}

static void last(void **state)
{
	(void)state;
	each_kind(LAST, "r0 s1 s2 other r1+s2 r2 s3 r3+s3 ");
}

static void all(void **state)
{
	(void)state;
	/* s3 comes after s1 in its thread. */
	each_kind(ALL, "r0 s1 s2 other r1+s1+s2 r2 s3 r3+s2+s3 ");
}

static void once(void **state)
{
	(void)state;
	each_kind(ONCE, "s1 r0+s1 s2 other r1+s2 r2 s3 r3+s3 ");
}

#define ARRIVE(round) ROLE(ROUNDS, true, 1, round)
#define DEPART(round) ROLE(ROUNDS, false, 1, round)

/* Thread 1 leaves a round after 2 has arrived for the next one. */
static void rounds(void **state)
{
	struct capture capture;

	(void)state;
	open_all(&capture);
	PUSH_AS(&capture, "a1", ARRIVE(0), THREAD(1));
	PUSH_AS(&capture, "a2", ARRIVE(0), THREAD(2));
	PUSH_AS(&capture, "d2.exit", DEPART(0), THREAD(2));
	PUSH_AS(&capture, "b2", ARRIVE(1), THREAD(2));
	PUSH_AS(&capture, "d1.exit", DEPART(0), THREAD(1));
	PUSH_AS(&capture, "b1", ARRIVE(1), THREAD(1));
	PUSH_AS(&capture, "e1.exit", DEPART(1), THREAD(1));
	PUSH_AS(&capture, "e2.exit", DEPART(1), THREAD(2));
	assert_story(&capture, "a1 a2 d2+a1 b2 d1+a2 b1 e1+b2 e2+b1 ");
	capture_close(&capture);
}

/* In order of time, the latest first. */
static void rounds_by_time(void **state)
{
	struct capture capture;

	(void)state;
	open_all(&capture);
	PUSH_AS(&capture, "d1.exit", DEPART(0), THREAD(1), TIME(50));
	PUSH_AS(&capture, "b2", ARRIVE(1), THREAD(2), TIME(40));
	PUSH_AS(&capture, "a3", ARRIVE(0), THREAD(3), TIME(60));
	PUSH_AS(&capture, "a2", ARRIVE(0), THREAD(4), TIME(10));
	dpe_stabilizer_finish(capture.stabilizer);
	assert_story(&capture, "a2 b2 d1+a2 a3 ");
	capture_close(&capture);
}

static void unknown_rounds(void **state)
{
	struct capture capture;

	(void)state;
	open_all(&capture);
	PUSH_AS(&capture, "a1", ARRIVE(7), THREAD(1));
	PUSH_AS(&capture, "a2", ARRIVE(INT64_MIN), THREAD(2));
	PUSH_AS(&capture, "d3.exit", DEPART(0), THREAD(3));
	PUSH_AS(&capture, "d4.exit", DEPART(INT64_MAX), THREAD(4));
	assert_story(&capture, "a1 a2 d3+a2 d4+a1+a2 ");
	capture_close(&capture);
}

/* Nothing is kept of finished rounds; otherwise this would take minutes. New ones may begin. */
static void many_rounds(void **state)
{
	struct capture capture;

	(void)state;
	open_all(&capture);
	for (int i = 0; i < 100000; i++) {
		int64_t round = i % 60000;

		for (int thread = 1; thread <= 2; thread++)
			PUSH_AS(&capture, "-", ARRIVE(round), THREAD(thread));
		for (int thread = 1; thread <= 2; thread++)
			PUSH_AS(&capture, "-.exit", DEPART(round), THREAD(thread));
	}
	for (unsigned i = 2; i < capture.ngot; i += 4) {
		assert_int_equal(capture.got[i].nadded, 1);
		assert_ptr_equal(capture.got[i].added[0], capture.got[i - 1].message);
		assert_int_equal(capture.got[i + 1].nadded, 1);
		assert_ptr_equal(capture.got[i + 1].added[0], capture.got[i - 2].message);
	}
	capture_close(&capture);
}

static void once_without_send(void **state)
{
	struct capture capture;

	(void)state;
	open_all(&capture);
	PUSH_AS(&capture, "r.exit", RECEIVE(ONCE, 5), THREAD(1));
	PUSH(&capture, "after", THREAD(1));
	PUSH_AS(&capture, "b", RECEIVE(ONCE, 6), THREAD(2));
	PUSH(&capture, "next", THREAD(2));
	assert_story(&capture, "b ");
	dpe_stabilizer_finish(capture.stabilizer);
	assert_story(&capture, "held(r: its send (synchronisation 4, 5)) r? after? "
			       "held(b: its send (synchronisation 4, 6)) next? ");
	capture_close(&capture);
}

/* What was sent to one thread alone goes with it, but not what was sent to the next one with its id. */
static void for_a_thread(void **state)
{
	const unsigned rule = ONCE;
	struct capture capture;

	(void)state;
	capture_open_with(&capture, (struct dpe_stabilizer_options){
		.pairings = all_kinds, .npairings = DPE_COUNT(all_kinds), .for_thread = &rule, .nfor_thread = 1}, "exits");
	PUSH_AS(&capture, "s1", SEND(ONCE, 7), THREAD(1));
	PUSH_AS(&capture, "r1.exit", RECEIVE(ONCE, 7), THREAD(7));
	PUSH_AS(&capture, "kept", SEND(ONCE, 8), THREAD(1));
	assert_int_equal(capture.stabilizer->queues.count, 2);
	PUSH(&capture, "exits", THREAD(7));
	assert_int_equal(capture.stabilizer->queues.count, 1);
	PUSH_AS(&capture, "r2.exit", RECEIVE(ONCE, 7), THREAD(7));
	assert_story(&capture, "s1 r1+s1 kept exits ");
	PUSH_AS(&capture, "s2", SEND(ONCE, 7), THREAD(1));
	assert_story(&capture, "s2 r2+s2 ");
	PUSH_AS(&capture, "s3", SEND(ONCE, 7), THREAD(1)); /* known before the end of thread 7 is */
	PUSH(&capture, "exits", THREAD(7));
	assert_int_equal(capture.stabilizer->queues.count, 2);
	capture_close(&capture);
}

enum { LOCKERS = 70, LOCKS = 9, LOCKED = 30000 };

struct lockers {
	uint32_t of[LOCKERS][LOCKERS], in[LOCKS][LOCKERS]; /* clocks of threads, and of releases */
	uint32_t seq[LOCKERS];
	unsigned held[LOCKERS], owner[LOCKS]; /* plus 1; 0: none */
};

static void join(uint32_t *to, const uint32_t *from)
{
	for (unsigned i = 0; i < LOCKERS; i++)
		to[i] = to[i] > from[i] ? to[i] : from[i];
}

/* One step of a thread: it takes a lock, releases the one that it has, or does something. */
static void lock_step(struct capture *capture, struct lockers *lockers, unsigned thread, unsigned lock, bool work)
{
	struct dpe_message draft = {SEQ(thread, lockers->seq[thread]++), .unreferenced = true};
	const struct dpe_role role = lockers->held[thread] ? SEND(LAST, lockers->held[thread] - 1) : RECEIVE(LAST, lock);
	bool roleless = work || (!lockers->held[thread] && lockers->owner[lock]);

	draft.name = dpe_intern_string(capture->names, roleless ? "work" : role.send ? "release" : "acquire");
	draft.phase = roleless || role.send ? DPE_BARE : DPE_EXIT;
	lockers->of[thread][thread]++;
	if (!roleless && !role.send) {
		join(lockers->of[thread], lockers->in[lock]);
		lockers->owner[lock] = thread + 1;
		lockers->held[thread] = lock + 1;
	} else if (!roleless) {
		memcpy(lockers->in[lockers->held[thread] - 1], lockers->of[thread], sizeof(lockers->of[thread]));
		lockers->owner[lockers->held[thread] - 1] = 0;
		lockers->held[thread] = 0;
	}
	push_draft(capture, &draft, &role, roleless ? 0 : 1);
}

/* Clocks of many threads that take locks, against arrays of numbers; on the fast path, too. */
static void locks_of_many_threads(void **state)
{
	static struct lockers lockers;
	uint32_t chains[LOCKERS];
	unsigned dice = 4711;

	(void)state;
	for (unsigned edges_unused = 0; edges_unused < 2; edges_unused++) {
		struct capture capture;

		memset(&lockers, 0, sizeof(lockers));
		memset(chains, 0xff, sizeof(chains));
		capture_open_with(&capture, (struct dpe_stabilizer_options){.pairings = all_kinds,
			.npairings = DPE_COUNT(all_kinds), .ordered = true, .edges_unused = edges_unused}, NULL);
		capture.quiet = true;
		for (unsigned i = 0; i < LOCKED; i++) {
			unsigned thread = rand_r(&dice) % (i % 1000 < 500 ? LOCKERS : 20);
			const struct dpe_stamp *stamp;

			lock_step(&capture, &lockers, thread, rand_r(&dice) % LOCKS, rand_r(&dice) % 4 == 0);
			assert_int_equal(capture.ngot, i + 1);
			stamp = &capture.got[i].stamp;
			chains[thread] = stamp->chain;
			for (unsigned j = 0; j < LOCKERS; j++) {
				if (chains[j] != UINT32_MAX)
					assert_int_equal(dpe_stamp_reach(stamp, chains[j]),
						lockers.of[thread][j] - (j == thread));
			}
		}
		capture_close(&capture);
	}
}

/* The edge of a receive that is no .exit enters what follows it. */
static void deferred(void **state)
{
	struct capture capture;

	(void)state;
	open_all(&capture);
	PUSH_AS(&capture, "s", SEND(LAST, 1), THREAD(1));
	PUSH_AS(&capture, "r.enter", RECEIVE(LAST, 1), THREAD(2));
	PUSH(&capture, "next", THREAD(2));
	PUSH(&capture, "named r.enter", THREAD(3));
	PUSH(&capture, "knows s r.enter", THREAD(4));
	PUSH(&capture, "later", THREAD(2));
	assert_story(&capture, "s r next+s named+s knows later ");
	assert_false(dpe_precedes(&capture.got[0].stamp, &capture.got[1].stamp));
	assert_true(dpe_precedes(&capture.got[0].stamp, &capture.got[2].stamp));
	assert_true(dpe_precedes(&capture.got[0].stamp, &capture.got[3].stamp));
	assert_true(dpe_precedes(&capture.got[0].stamp, &capture.got[5].stamp));
	capture_close(&capture);
}

static void deferred_waits(void **state)
{
	struct capture capture;

	(void)state;
	open_all(&capture);
	PUSH_AS(&capture, "r", RECEIVE(ONCE, 1), THREAD(2));
	PUSH(&capture, "next", THREAD(2));
	PUSH(&capture, "named r");
	PUSH(&capture, "free", THREAD(3));
	assert_story(&capture, "r free ");
	PUSH_AS(&capture, "s x", SEND(ONCE, 1), THREAD(1));
	assert_story(&capture, "");
	PUSH(&capture, "x");
	assert_story(&capture, "x s next+s named+s ");
	capture_close(&capture);
}

/* A message that is a receive and a send: whatever receives from it follows both sends. */
static void relay(void **state)
{
	struct dpe_role both[2] = {RECEIVE(FIFO, 1), SEND(FIFO, 2)};
	struct dpe_message draft = {.thread = dpe_value_int(2)};
	struct capture capture;

	(void)state;
	open_all(&capture);
	PUSH_AS(&capture, "s", SEND(FIFO, 1), THREAD(1));
	draft.name = dpe_intern_string(capture.names, "m");
	push_draft(&capture, &draft, both, 2);
	PUSH_AS(&capture, "r.exit", RECEIVE(FIFO, 2), THREAD(3));
	assert_story(&capture, "s m r+s+m ");
	assert_false(dpe_precedes(&capture.got[0].stamp, &capture.got[1].stamp));
	capture_close(&capture);
}

/* A send that has come but not left counts; one that waits for the receive does not. */
static void held_sends(void **state)
{
	struct capture capture;

	(void)state;
	open_all(&capture);
	PUSH_AS(&capture, "s1 x", SEND(FIFO, 1), THREAD(1));
	PUSH_AS(&capture, "r1.exit", RECEIVE(FIFO, 1), THREAD(2));
	assert_story(&capture, "");
	PUSH(&capture, "x");
	assert_story(&capture, "x s1 r1+s1 ");
	PUSH_AS(&capture, "s2", SEND(LAST, 1), SEQ(3, 1));
	PUSH_AS(&capture, "r2.exit", RECEIVE(LAST, 1), SEQ(3, 0));
	assert_story(&capture, "r2 s2 ");
	capture_close(&capture);
}

static void by_time(void **state)
{
	struct capture capture;

	(void)state;
	open_all(&capture);
	PUSH_AS(&capture, "r2.exit", RECEIVE(FIFO, 1), THREAD(1), TIME(40));
	PUSH_AS(&capture, "r1.exit", RECEIVE(FIFO, 1), THREAD(2), TIME(15));
	PUSH_AS(&capture, "s2", SEND(FIFO, 1), THREAD(3), TIME(30));
	PUSH_AS(&capture, "s1", SEND(FIFO, 1), THREAD(4), TIME(10));
	PUSH_AS(&capture, "r0.exit", RECEIVE(FIFO, 1), THREAD(5), TIME(5));
	dpe_stabilizer_watermark(capture.stabilizer, (struct dpe_value){0}, 20);
	assert_story(&capture, "r0 s1 r1+s1 ");
	dpe_stabilizer_finish(capture.stabilizer);
	assert_story(&capture, "s2 r2+s2 ");
	capture_close(&capture);
}

/* Times of different hosts cannot be compared: arrival decides, and that is reported. */
static void across_hosts(void **state)
{
	struct capture capture;

	(void)state;
	open_all(&capture);
	PUSH_AS(&capture, "s1", SEND(LAST, 1), HOST(1), THREAD(1), TIME(900));
	PUSH_AS(&capture, "r1.exit", RECEIVE(LAST, 1), HOST(2), THREAD(1), TIME(5));
	PUSH_AS(&capture, "s2", SEND(LAST, 1), HOST(1), THREAD(2), TIME(1000));
	dpe_stabilizer_watermark(capture.stabilizer, dpe_value_int(2), 100);
	assert_story(&capture, "");
	dpe_stabilizer_finish(capture.stabilizer);
	assert_story(&capture, "s1 unsure(s1) r1+s1 s2 ");
	capture_close(&capture);
}

/* A mutex under load: nothing of the past may be kept, and each acquisition follows the last release only. */
static void long_run(void **state)
{
	struct dpe_role roles[2] = {SEND(LAST, 1), RECEIVE(LAST, 1)};
	struct capture capture;

	(void)state;
	open_all(&capture);
	capture.quiet = true;
	for (unsigned i = 0; i < 100000; i++) {
		struct dpe_message draft = {
			.thread = dpe_value_int(i / 2 % 7),
			.has_time = true,
			.time = 10 * i,
			.phase = i % 2 ? DPE_ENTER : DPE_EXIT,
		};

		push_draft(&capture, &draft, &roles[i % 2 ? 0 : 1], 1);
		if (i % 1000 == 999)
			dpe_stabilizer_watermark(capture.stabilizer, (struct dpe_value){0}, 10 * i);
	}
	dpe_stabilizer_finish(capture.stabilizer);
	for (unsigned i = 2; i < 100000; i += 2) {
		assert_int_equal(capture.got[i].nadded, 1);
		assert_ptr_equal(capture.got[i].added[0], capture.got[i - 1].message);
	}
	capture_close(&capture);
}

/* ---- objects that end --------------------------------------------------------------------- */

#define STEPS 64
#define THREADS 4
#define OBJECTS 3

/* What precedes each event, as bits; and the sends that a receive may still be paired with. */
struct past_model {
	uint64_t pasts[STEPS], thread[THREADS], sends[OBJECTS];
};

static uint64_t received(const struct past_model *model, unsigned kind, unsigned object)
{
	uint64_t sends = model->sends[object], past = 0;

	if (kind == FIFO)
		sends &= -sends;
	else if (kind == LAST && sends)
		sends = UINT64_C(1) << (63 - __builtin_clzll(sends));
	for (unsigned i = 0; i < STEPS; i++)
		past |= sends >> i & 1 ? model->pasts[i] | UINT64_C(1) << i : 0;
	return past;
}

static void end_objects(unsigned kind, uint64_t dice)
{
	struct past_model model = {0};
	struct capture capture;

	open_all(&capture);
	for (unsigned i = 0; i < STEPS; i++) {
		unsigned thread, object, what;
		struct dpe_message draft;
		struct dpe_role role;

		dice = dice * 6364136223846793005ull + 1442695040888963407ull;
		thread = (dice >> 33) % THREADS, object = (dice >> 40) % OBJECTS, what = (dice >> 50) % 8;
		draft = (struct dpe_message){
			.name = dpe_intern_string(capture.names, "e"), .phase = DPE_EXIT, THREAD(thread)};
		role = what < 3 ? SEND(kind, object) : RECEIVE(kind, object);
		push_draft(&capture, &draft, &role, what < 6);
		model.pasts[i] = model.thread[thread];
		if (what >= 3 && what < 6)
			model.pasts[i] |= received(&model, kind, object);
		if (what >= 3 && what < 6 && kind == FIFO)
			model.sends[object] &= model.sends[object] - 1;
		if (what < 3)
			model.sends[object] = (kind == LAST ? 0 : model.sends[object]) | UINT64_C(1) << i;
		if (what == 7)
			model.sends[object] &= ~model.pasts[i];
		if (what == 7)
			dpe_stabilizer_end_object(capture.stabilizer, &role, &capture.got[i].stamp);
		model.thread[thread] = model.pasts[i] | UINT64_C(1) << i;
		for (unsigned j = 0; j < i; j++)
			assert_int_equal(dpe_precedes(&capture.got[j].stamp, &capture.got[i].stamp),
				model.pasts[i] >> j & 1);
	}
	capture_close(&capture);
}

/* Events before the end of an object are forgotten, and no others. */
static void objects_that_end(void **state)
{
	(void)state;
	for (unsigned seed = 1; seed <= 600; seed++)
		end_objects(seed % 3, seed);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(fifo),
		cmocka_unit_test(last),
		cmocka_unit_test(all),
		cmocka_unit_test(once),
		cmocka_unit_test(once_without_send),
		cmocka_unit_test(for_a_thread),
		cmocka_unit_test(locks_of_many_threads),
		cmocka_unit_test(rounds),
		cmocka_unit_test(rounds_by_time),
		cmocka_unit_test(unknown_rounds),
		cmocka_unit_test(many_rounds),
		cmocka_unit_test(deferred),
		cmocka_unit_test(deferred_waits),
		cmocka_unit_test(relay),
		cmocka_unit_test(held_sends),
		cmocka_unit_test(by_time),
		cmocka_unit_test(across_hosts),
		cmocka_unit_test(long_run),
		cmocka_unit_test(objects_that_end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
