/* What the index finds, compared with a look at all events of random runs; and that it finds little more. */
#include "explore/race_index.h"

#include "explore/sched/dependence.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define EVENTS 300
#define THREADS 5

static unsigned below(unsigned limit)
{
	static uint64_t dice = 1;

	dice = dice * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return (unsigned)(dice >> 33) % limit;
}

static struct dpe_sched_event random_event(void)
{
	static const uint8_t kinds[] = {DPE_SCHED_READ, DPE_SCHED_READ, DPE_SCHED_WRITE, DPE_SCHED_WRITE, DPE_SCHED_ATOMIC_LOAD,
		DPE_SCHED_MUTEX_LOCK, DPE_SCHED_MUTEX_UNLOCK, DPE_SCHED_COND_WAIT, DPE_SCHED_RWLOCK_RDLOCK, DPE_SCHED_HEAP_FREE,
		DPE_SCHED_SEM_POST, DPE_SCHED_CREATE, DPE_SCHED_END, DPE_SCHED_KILL, DPE_SCHED_JOIN, DPE_SCHED_PROCESS_END};
	static const unsigned sizes[] = {0, 1, 8, 100, 100000};
	struct dpe_sched_event event = {.thread = (uint16_t)below(THREADS), .kind = kinds[below(sizeof(kinds))]};

	event.object = 4096 + 8 * below(200);
	if (dpe_event_names_thread(&event))
		event.object = below(THREADS);
	if (event.kind == DPE_SCHED_COND_WAIT)
		event.mutex = 4096 + 8 * below(200);
	event.size = sizes[below(5)];
	event.robust = event.kind == DPE_SCHED_MUTEX_LOCK && !below(2);
	return event;
}

static bool is_found(const struct dpe_race_index *index, uint32_t event)
{
	for (unsigned i = 0; i < index->nfound; i++)
		if (index->found[i] == event)
			return true;
	return false;
}

static void compare(struct dpe_race_index *index, const struct dpe_sched_event *events, uint32_t end)
{
	const struct dpe_sched_event event = random_event();
	uint32_t known[THREADS];

	for (unsigned i = 0; i < THREADS; i++)
		known[i] = below(end + 1);
	dpe_race_index_find(index, events, end, &event, known);
	for (unsigned i = 0; i < index->nfound; i++) {
		assert_true(index->found[i] < end);
		assert_true(index->found[i] >= known[events[index->found[i]].thread]);
		assert_true(!i || index->found[i] < index->found[i - 1]);
	}
	for (uint32_t i = 0; i < end; i++)
		if (i >= known[events[i].thread] && events[i].thread != event.thread && dpe_events_dependent(&events[i], &event))
			assert_true(is_found(index, i));
}

static void finds_all_that_depend(void **state)
{
	struct dpe_sched_event events[EVENTS];

	(void)state;
	for (unsigned run = 0; run < 100; run++) {
		struct dpe_race_index index;

		dpe_race_index_begin(&index, run % 2 ? EVENTS : 1, THREADS);
		for (uint32_t i = 0; i < EVENTS; i++) {
			compare(&index, events, i);
			events[i] = random_event();
			dpe_race_index_add(&index, &events[i], i);
		}
		dpe_race_index_free(&index);
	}
}

/* So that a long run takes time in proportion to its events: what uses other memory is not found, nor what only reads what the
 * event reads. */
static void finds_little_more(void **state)
{
	struct dpe_sched_event events[EVENTS];
	struct dpe_race_index index;
	const uint32_t known[2] = {0, 0};

	(void)state;
	dpe_race_index_begin(&index, EVENTS, 2);
	for (uint32_t i = 0; i < EVENTS; i++) {
		events[i] = (struct dpe_sched_event){.thread = i % 2, .kind = i % 3 ? DPE_SCHED_READ : DPE_SCHED_MUTEX_LOCK,
			.object = i % 3 ? 4096 : 8192, .size = 8};
		dpe_race_index_find(&index, events, i, &events[i], known);
		assert_int_equal(index.nfound, i % 3 ? 0 : i / 3);
		dpe_race_index_add(&index, &events[i], i);
	}
	dpe_race_index_free(&index);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(finds_all_that_depend),
		cmocka_unit_test(finds_little_more),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
