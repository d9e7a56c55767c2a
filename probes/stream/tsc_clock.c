/* tsc_clock: what the preload library reads its time from costs half of what a call of
 * clock_gettime(2) costs; here is where it becomes comparable with the kernel's events. */
#include "probes/stream/tsc_clock.h"

#include "probes/stream/stream.h"

#include <string.h>

bool dpe_counter_is_reliable(void)
{
	FILE *file =
		fopen("/sys/devices/system/clocksource/clocksource0/current_clocksource", "re");
	char name[32] = "";
	bool read;

	if (!file)
		return false;
	read = fgets(name, sizeof(name), file);
	fclose(file);
	return read && !strcmp(name, "tsc\n");
}

/* The closest of a few looks: in others something came in between. */
static struct dpe_moment look_closely(void)
{
	struct dpe_moment best = {0};
	uint64_t closest = UINT64_MAX;

	for (int i = 0; i < 8; i++) {
		uint64_t before = __builtin_ia32_rdtsc(), ns = dpe_ring_now();
		uint64_t after = __builtin_ia32_rdtsc();

		if (after - before >= closest)
			continue;
		closest = after - before;
		best = (struct dpe_moment){before + closest / 2, ns};
	}
	return best;
}

static const struct dpe_moment *moment(const struct dpe_counter *counter, uint64_t number)
{
	return &counter->at[number % DPE_COUNTER_POINTS];
}

struct dpe_moment dpe_counter_look(struct dpe_counter *counter)
{
	struct dpe_moment now = {0};

	if (counter->is_ns) {
		now.count = now.ns = dpe_ring_now();
		return now;
	}
	do
		now = look_closely();
	while (counter->count && (now.ns <= moment(counter, counter->count - 1)->ns ||
					 now.count <= moment(counter, counter->count - 1)->count));
	counter->at[counter->count++ % DPE_COUNTER_POINTS] = now;
	return now;
}

/* The last moment that is not after the count, but never the very last one: mostly one of the latest. */
static uint64_t find_moment(const struct dpe_counter *counter, uint64_t count)
{
	uint64_t high = counter->count - 1;
	uint64_t low = high < DPE_COUNTER_POINTS ? 0 : high - DPE_COUNTER_POINTS + 1;

	for (uint64_t back = 1; high - low > back; back *= 2) {
		if (moment(counter, high - back)->count <= count) {
			low = high - back;
			break;
		}
		high -= back;
	}
	while (high - low > 1) {
		uint64_t middle = low + (high - low) / 2;

		if (moment(counter, middle)->count <= count)
			low = middle;
		else
			high = middle;
	}
	return low;
}

uint64_t dpe_counter_ns(const struct dpe_counter *counter, uint64_t count)
{
	const struct dpe_moment *from, *to;
	uint64_t number, after, between, time;

	if (counter->is_ns)
		return count;
	if (counter->count < 2)
		return counter->count ? counter->at[0].ns : 0;
	number = find_moment(counter, count);
	from = moment(counter, number);
	to = moment(counter, number + 1);
	after = count - from->count;
	between = to->count - from->count;
	time = to->ns - from->ns;
	if ((after | between | time) <= INT32_MAX)
		return from->ns + after * time / between;
	return from->ns +
	       (uint64_t)((__int128)(int64_t)after * (int64_t)time / (int64_t)between);
}
