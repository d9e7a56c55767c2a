/* The causal order within a slice, compared with all pairs of events: of rounds that fork into many events and join
 * again, whose predecessors are explicit, so that nearly each event begins a chain. */
#include "tests/stabilizer/capture.h"

#include "recognizer/events/events.h"
#include "recognizer/limits.h"

enum { WIDTH = 2 * DPE_FEW_CHAINS, ROUNDS = 12, RUNS = 40, CHECKED = ROUNDS * (WIDTH + 1), MANY = 4000 };

static unsigned dice(uint64_t *seed, unsigned sides)
{
	*seed = *seed * 6364136223846793005ull + 1442695040888963407ull;
	return (unsigned)(*seed >> 33) % sides;
}

static void push(struct capture *capture, unsigned number, const struct dpe_value *preds, unsigned npreds)
{
	const struct dpe_message draft = {
		.name = dpe_intern_string(capture->names, "e"),
		.place = number + 1,
		.id = dpe_value_int(number),
		.preds = preds,
		.npreds = (uint16_t)npreds,
	};

	dpe_stabilizer_push(capture->stabilizer, dpe_message_new(&draft), NULL, 0, capture->diags);
}

/* One of the latest events. */
static struct dpe_value draw_pred(uint64_t *seed, unsigned number)
{
	return dpe_value_int(number - 1 - dice(seed, number < 2 * WIDTH ? number : 2 * WIDTH));
}

/* Some events of a round follow others than the join before it; some joins leave events out. */
static void play(struct capture *capture, uint64_t seed, bool strict)
{
	struct dpe_value preds[WIDTH], last = dpe_value_int(0);
	unsigned number = 0;

	push(capture, number++, NULL, 0);
	for (unsigned round = 1; round < ROUNDS; round++) {
		unsigned left_out = strict ? 0 : dice(&seed, 2);

		for (unsigned i = 0; i < WIDTH; i++) {
			struct dpe_value pred = strict || dice(&seed, 8) ? last : draw_pred(&seed, number);

			preds[i] = dpe_value_int(number);
			push(capture, number++, &pred, 1);
		}
		last = dpe_value_int(number);
		push(capture, number++, preds, WIDTH - left_out);
	}
	dpe_stabilizer_finish(capture->stabilizer);
	assert_int_equal(capture->ngot, number);
}

/* Events follow one or two of the `latest` ones before them; in a sequence of many, hardly one follows all others. */
static void play_without_joins(struct capture *capture, uint64_t seed, unsigned events, unsigned latest)
{
	for (unsigned number = 0; number < events; number++) {
		unsigned count = number ? 1 + dice(&seed, 2) : 0;
		struct dpe_value preds[2];

		for (unsigned i = 0; i < count; i++)
			preds[i] = dpe_value_int(number - 1 - dice(&seed, number < latest ? number : latest));
		push(capture, number, preds, count);
	}
	dpe_stabilizer_finish(capture->stabilizer);
	assert_int_equal(capture->ngot, events);
}

/* By all pairs. */
static bool is_immediate(const struct got *got, unsigned from, unsigned to)
{
	if (!dpe_precedes(&got[from].stamp, &got[to].stamp))
		return false;
	for (unsigned i = 0; i < to; i++) {
		if (dpe_precedes(&got[from].stamp, &got[i].stamp) && dpe_precedes(&got[i].stamp, &got[to].stamp))
			return false;
	}
	return true;
}

static void check(const struct got *got, unsigned at, const struct dpe_preds *preds)
{
	unsigned count = 0;

	for (unsigned i = 0; i < at; i++)
		count += is_immediate(got, i, at);
	assert_int_equal(preds->count, count);
	for (unsigned i = 0; i < preds->count; i++)
		assert_true(is_immediate(got, (unsigned)preds->at[i]->number, at));
}

/* Returns the room that candidates for immediate predecessors took. */
static unsigned follow(const struct capture *capture, bool strict)
{
	unsigned room;

	struct dpe_pool *pool = dpe_pool_new();
	struct dpe_order order = {0};
	struct dpe_preds preds = {0};

	for (unsigned i = 0; i < capture->ngot; i++) {
		const struct dpe_event event = {
			.message = capture->got[i].message, .number = i, .stamp = capture->got[i].stamp};
		struct dpe_occurrence *occurrence = dpe_occurrence_new(pool, &event);

		dpe_order_preds(&order, &event.stamp, &preds);
		if (i < CHECKED)
			check(capture->got, i, &preds);
		dpe_order_add(&order, occurrence, &preds);
		dpe_occurrence_unref(occurrence);
		if (strict && i > WIDTH) /* chains of earlier rounds are not looked at */
			assert_in_range(order.join.nsince, 1, WIDTH + 1);
	}
	room = preds.cap;
	free(preds.at);
	dpe_order_free(&order);
	dpe_pool_free(pool);
	return room;
}

static void immediate_predecessors_are_those_of_all_pairs(void **state)
{
	(void)state;
	for (uint64_t seed = 0; seed < RUNS; seed++) {
		struct capture capture;

		capture_open(&capture, NULL, 0, false);
		play(&capture, seed * 7919, seed % 4 == 0);
		follow(&capture, seed % 4 == 0);
		capture_close(&capture);
	}
}

/* Where an event follows a recent one, what that one follows is not looked at. */
static void without_joins_few_chains_are_candidates(void **state)
{
	(void)state;
	for (uint64_t seed = 0; seed < RUNS; seed++) {
		struct capture capture;
		bool recent = seed < 3;
		unsigned room;

		capture_open(&capture, NULL, 0, false);
		play_without_joins(&capture, seed * 7919, recent ? MANY : CHECKED,
			recent ? DPE_RECENT_EVENTS : 4 * DPE_RECENT_EVENTS);
		room = follow(&capture, false);
		if (recent)
			assert_in_range(room, 1, 8 * DPE_RECENT_EVENTS);
		capture_close(&capture);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(immediate_predecessors_are_those_of_all_pairs),
		cmocka_unit_test(without_joins_few_chains_are_candidates),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
