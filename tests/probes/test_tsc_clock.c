/* Counts of the time stamp counter as nanoseconds: the straight line between the two moments around
 * each, however long ago they were and however far apart they are. */
#include "probes/stream/tsc_clock.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdlib.h>

static uint64_t dice(uint64_t *seed, uint64_t sides)
{
	*seed = *seed * 6364136223846793005ull + 1442695040888963407ull;
	return (*seed >> 20) % sides;
}

static void note(struct dpe_counter *counter, uint64_t count, uint64_t ns)
{
	counter->at[counter->count++ % DPE_COUNTER_POINTS] = (struct dpe_moment){count, ns};
}

/* Looks at all moments that are still there. */
static uint64_t slowly(const struct dpe_counter *counter, uint64_t count)
{
	uint64_t oldest = counter->count > DPE_COUNTER_POINTS ? counter->count - DPE_COUNTER_POINTS : 0;
	const struct dpe_moment *from = NULL, *to = NULL;

	for (uint64_t i = oldest; i + 1 < counter->count; i++) {
		const struct dpe_moment *at = &counter->at[i % DPE_COUNTER_POINTS];

		if (!from || at->count <= count)
			from = at, to = &counter->at[(i + 1) % DPE_COUNTER_POINTS];
	}
	return from->ns + (uint64_t)((__int128)(int64_t)(count - from->count) *
				     (int64_t)(to->ns - from->ns) / (int64_t)(to->count - from->count));
}

static void on_the_line(void **state)
{
	struct dpe_counter *counter = calloc(1, sizeof(*counter));
	uint64_t seed = 1, count = 1000000, ns = 500;

	(void)state;
	for (unsigned i = 0; i < DPE_COUNTER_POINTS + 5000; i++) {
		bool far = !dice(&seed, 1000);

		note(counter, count, ns);
		count += 1 + dice(&seed, far ? UINT64_C(1) << 40 : 6000000);
		ns += 1 + dice(&seed, far ? UINT64_C(1) << 39 : 2000000);
		if (i < 3 || i % 500)
			continue;
		for (unsigned j = 0; j < 40; j++) {
			uint64_t newest = counter->at[(counter->count - 1) % DPE_COUNTER_POINTS].count;
			uint64_t back = dice(&seed, j % 2 ? 5000000 : newest);

			assert_int_equal(dpe_counter_ns(counter, newest - back),
				slowly(counter, newest - back));
		}
	}
	free(counter);
}

static void with_few_moments(void **state)
{
	struct dpe_counter *counter = calloc(1, sizeof(*counter));

	(void)state;
	assert_int_equal(dpe_counter_ns(counter, 5), 0);
	note(counter, 100, 7);
	assert_int_equal(dpe_counter_ns(counter, 150), 7);
	note(counter, 200, 57);
	assert_int_equal(dpe_counter_ns(counter, 150), 32);
	assert_int_equal(dpe_counter_ns(counter, 200), 57);
	assert_int_equal(dpe_counter_ns(counter, 300), 107);
	counter->is_ns = true;
	assert_int_equal(dpe_counter_ns(counter, 300), 300);
	free(counter);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(on_the_line),
		cmocka_unit_test(with_few_moments),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
