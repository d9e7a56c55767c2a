/* Queues of several streams, compared with sorting everything. */
#include "probes/stream/merge_queue.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

struct item {
	struct dpe_queued held;
	uint64_t number;
};

static void add(struct dpe_queues *queues, unsigned queue, uint64_t time, uint64_t number)
{
	struct item *item = (void *)dpe_queues_add(queues, queue, sizeof(*item), time);

	item->held.gap = 0;
	item->number = number;
}

static uint64_t take(struct dpe_queues *queues, unsigned *queue)
{
	const struct item *item = (const void *)dpe_queues_first(queues, queue);
	uint64_t number;

	assert_non_null(item);
	number = item->number;
	dpe_queues_drop(queues);
	return number;
}

static void the_earliest_first(void **state)
{
	struct dpe_queues queues;
	unsigned queue;

	(void)state;
	dpe_queues_open(&queues, 3);
	assert_null(dpe_queues_first(&queues, &queue));
	add(&queues, 0, 20, 1);
	add(&queues, 2, 10, 2);
	add(&queues, 2, 30, 3);
	add(&queues, 2, 5, 4); /* out of order within its stream */
	add(&queues, 2, 10, 5);
	assert_int_equal(queues.held, 5);
	assert_int_equal(take(&queues, &queue), 4);
	assert_int_equal(queue, 2);
	assert_int_equal(take(&queues, &queue), 2);
	assert_int_equal(take(&queues, &queue), 5);
	assert_int_equal(take(&queues, &queue), 1);
	assert_int_equal(queue, 0);
	assert_int_equal(take(&queues, &queue), 3);
	assert_null(dpe_queues_first(&queues, &queue));
	dpe_queues_close(&queues);
}

/* Random streams, added and taken in turns: times never go back, and nothing is left over. */
static void many_streams(void **state)
{
	struct dpe_queues queues;
	uint64_t times[40] = {0}, last = 0, added = 0, taken = 0;
	unsigned queue;

	(void)state;
	srandom(1);
	dpe_queues_open(&queues, 40);
	for (int round = 0; round < 200; round++) {
		for (int i = 0; i < 500; i++) {
			unsigned stream = (unsigned)random() % 40;

			times[stream] = (times[stream] > last ? times[stream] : last) +
					(uint64_t)random() % 100;
			add(&queues, stream, times[stream], added++);
		}
		for (int i = round % 2 ? 900 : 100; i && queues.held; i--, taken++) {
			uint64_t time = dpe_queues_first(&queues, &queue)->time;

			assert_true(time >= last);
			last = time;
			dpe_queues_drop(&queues);
		}
	}
	assert_int_equal(added - taken, queues.held);
	dpe_queues_close(&queues);
}

/* Records of all sizes, so far out of order that one stream needs several lanes. Memory is reused: a
 * second round needs no more. */
static void any_size_in_any_order(void **state)
{
	struct dpe_queues queues;
	unsigned queue, blocks = 0;

	(void)state;
	srandom(2);
	dpe_queues_open(&queues, 2);
	for (int round = 0; round < 3; round++) {
		uint64_t last = 0, sum = 0;

		for (int i = 0; i < 20000; i++) {
			size_t bytes = sizeof(struct item) + (size_t)random() % 400;
			uint64_t time = (uint64_t)i + (uint64_t)random() % 50;
			struct item *item = (void *)dpe_queues_add(&queues, 1, bytes, time);

			assert_true(item->held.bytes >= bytes);
			memset(&item->number, (int)time, bytes - offsetof(struct item, number));
			sum += time;
		}
		assert_int_equal(queues.counts[0], 0);
		assert_int_equal(queues.counts[1], 20000);
		while (queues.held) {
			const struct item *item = (const void *)dpe_queues_first(&queues, &queue);
			const unsigned char *data = (const void *)&item->number;

			assert_int_equal(queue, 1);
			assert_true(item->held.time >= last);
			last = item->held.time;
			sum -= last;
			for (unsigned at = 0; at < 8; at++)
				assert_int_equal(data[at], last & 0xff);
			dpe_queues_drop(&queues);
		}
		assert_int_equal(sum, 0);
		assert_int_equal(queues.counts[1], 0);
		assert_true(!round || queues.nblocks == blocks);
		blocks = queues.nblocks;
	}
	dpe_queues_close(&queues);
}

/* The largest records, so that no two fit in one chunk. */
static void the_largest(void **state)
{
	struct dpe_queues queues;
	unsigned queue;

	(void)state;
	dpe_queues_open(&queues, 1);
	for (uint64_t time = 1; time <= 5; time++) {
		struct dpe_queued *held = dpe_queues_add(&queues, 0, DPE_QUEUED_MAX, time);

		memset(held + 1, (int)time, DPE_QUEUED_MAX - sizeof(*held));
	}
	for (uint64_t time = 1; time <= 5; time++) {
		const struct dpe_queued *held = dpe_queues_first(&queues, &queue);

		assert_int_equal(held->time, time);
		assert_int_equal(held->bytes, DPE_QUEUED_MAX);
		assert_int_equal(((const char *)held)[DPE_QUEUED_MAX - 1], (int)time);
		dpe_queues_drop(&queues);
	}
	assert_null(dpe_queues_first(&queues, &queue));
	dpe_queues_close(&queues);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_earliest_first),
		cmocka_unit_test(many_streams),
		cmocka_unit_test(any_size_in_any_order),
		cmocka_unit_test(the_largest),
	};

	return cmocka_run_group_tests_name("queue", tests, NULL, NULL);
}
