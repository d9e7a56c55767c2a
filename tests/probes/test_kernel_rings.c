/* The kernel's rings, as a thread leaves them that is interrupted while writing. */
#include "probes/kernel/kernel.h"

#include <linux/bpf.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define BYTES 4096
#define MOST 16

/* Rings in our own memory, to which this test writes as the kernel does. */
struct fake {
	struct dpe_ring rings[2];
	struct dpe_kernel_rings all;
	unsigned long consumers[2], producers[2];
	_Alignas(8) char data[2][2 * BYTES];
	unsigned full; /* bits: of these rings nothing is wanted */
	uint64_t seen[2][MOST];
	unsigned nseen[2];
	bool complete;
};

static void open_fake(struct fake *fake)
{
	uint64_t now = dpe_ring_now();

	memset(fake, 0, sizeof(*fake));
	fake->all = (struct dpe_kernel_rings){.at = fake->rings, .count = 2};
	for (unsigned i = 0; i < 2; i++)
		fake->rings[i] = (struct dpe_ring){
			.size = BYTES,
			.consumer = &fake->consumers[i],
			.producer = &fake->producers[i],
			.data = fake->data[i],
			.looked = now,
			.known = now,
		};
}

/* Takes a place; for finish. */
static struct dpe_record *begin(struct fake *fake, unsigned ring)
{
	const uint32_t size = sizeof(struct dpe_record);
	char *header = &fake->data[ring][fake->producers[ring]];

	*(uint32_t *)header = size | BPF_RINGBUF_BUSY_BIT;
	fake->producers[ring] += size + BPF_RINGBUF_HDR_SZ;
	return (void *)(header + BPF_RINGBUF_HDR_SZ);
}

static uint64_t finish(struct dpe_record *record)
{
	record->time = dpe_ring_now();
	*(uint32_t *)((char *)record - BPF_RINGBUF_HDR_SZ) = sizeof(*record);
	return record->time;
}

static bool wants(void *context, unsigned ring)
{
	const struct fake *fake = context;

	return !(fake->full >> ring & 1);
}

static void see(void *context, unsigned ring, const struct dpe_record *record, size_t size)
{
	struct fake *fake = context;

	assert_int_equal(size, sizeof(*record));
	assert_true(fake->nseen[ring] < MOST);
	fake->seen[ring][fake->nseen[ring]++] = record->time;
}

static uint64_t drain(struct fake *fake)
{
	const struct dpe_kernel_sink sink = {fake, wants, see};

	return dpe_kernel_rings_drain(&fake->all, &sink, &fake->complete);
}

static void known_up_to_the_scan(void **state)
{
	struct fake fake;
	uint64_t before, time;

	(void)state;
	open_fake(&fake);
	time = finish(begin(&fake, 1));
	before = dpe_ring_now();
	assert_true(drain(&fake) >= before);
	assert_true(fake.complete);
	assert_int_equal(fake.nseen[0], 0);
	assert_int_equal(fake.nseen[1], 1);
	assert_true(fake.seen[1][0] == time);
}

/* A thread that has reserved its slot is interrupted: the time that it will store is after the last scan
 * that did not see the slot, however often the ring is scanned meanwhile. */
static void interrupted(void **state)
{
	struct dpe_record *late;
	struct fake fake;
	uint64_t known, time;

	(void)state;
	open_fake(&fake);
	known = drain(&fake);
	late = begin(&fake, 0);
	finish(begin(&fake, 0)); /* another thread, on the same processor */
	finish(begin(&fake, 1));
	for (int i = 0; i < 3; i++) {
		assert_true(drain(&fake) == known);
		assert_false(fake.complete);
	}
	assert_int_equal(fake.nseen[0], 0);
	assert_int_equal(fake.nseen[1], 1);
	time = finish(late);
	assert_true(time >= known);
	assert_true(drain(&fake) > time);
	assert_true(fake.complete);
	assert_int_equal(fake.nseen[0], 2);
}

/* A ring that was full at a scan is known no further for that scan, even if it ends within a record. */
static void not_wanted(void **state)
{
	struct dpe_record *late;
	struct fake fake;
	uint64_t first, second, time;

	(void)state;
	open_fake(&fake);
	first = drain(&fake);
	begin(&fake, 0); /* so ring 0 stays behind, and all wait for it */
	assert_true(drain(&fake) == first);
	fake.full = 2;
	late = begin(&fake, 1);
	assert_true(drain(&fake) == first);
	assert_int_equal(fake.nseen[1], 0);
	fake.full = 0;
	second = fake.rings[1].known;
	drain(&fake);
	assert_true(fake.rings[1].known == second);
	time = finish(late);
	assert_true(time >= second);
	drain(&fake);
	assert_int_equal(fake.nseen[1], 1);
}

/* The ring that all others wait for is read although it is full; otherwise nothing would proceed. */
static void the_last_is_read(void **state)
{
	struct fake fake;
	uint64_t first;

	(void)state;
	open_fake(&fake);
	fake.full = 3;
	first = finish(begin(&fake, 0));
	finish(begin(&fake, 1));
	assert_true(drain(&fake) > first);
	assert_int_equal(fake.nseen[0] + fake.nseen[1], 2);
}

/* Space of delivered records is returned to the producer, also where a record stops the reading. */
static void space_is_returned_to_the_producer(void **state)
{
	struct fake fake;
	struct dpe_record *late;

	(void)state;
	open_fake(&fake);
	finish(begin(&fake, 0));
	finish(begin(&fake, 0));
	late = begin(&fake, 0);
	finish(begin(&fake, 0));
	drain(&fake);
	assert_int_equal(
		fake.consumers[0], 2 * (sizeof(struct dpe_record) + BPF_RINGBUF_HDR_SZ));
	finish(late);
	drain(&fake);
	assert_int_equal(fake.consumers[0], fake.producers[0]);
	assert_int_equal(fake.nseen[0], 4);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(known_up_to_the_scan),
		cmocka_unit_test(interrupted),
		cmocka_unit_test(not_wanted),
		cmocka_unit_test(the_last_is_read),
		cmocka_unit_test(space_is_returned_to_the_producer),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
