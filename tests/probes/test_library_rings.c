/* The rings of the preload library, written here as it writes them. */
#include "probes/inside/ring_slots.h"
#include "probes/stream/library_rings.h"

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

struct seen {
	uint64_t count, sum, gaps, time;
	uint64_t last_word;
	uint64_t room; /* 0: for all */
};

static bool see(void *context, const struct dpe_ring_event *event)
{
	struct seen *seen = context;

	if (seen->room && seen->count == seen->room)
		return false;
	assert_true(event->time >= seen->time);
	seen->time = event->time;
	seen->count++;
	seen->gaps += event->gap;
	seen->last_word = event->slot->words[0];
	seen->sum += event->slot->words[0];
	return true;
}

static void count_loss(void *context, const struct dpe_ring_loss *loss)
{
	uint64_t *count = context;

	assert_true(loss->first && loss->first <= loss->last);
	*count += loss->count;
}

static uint64_t lost(const struct dpe_rings *rings)
{
	uint64_t count = 0;

	dpe_rings_each_loss(rings, count_loss, &count);
	return count;
}

static void open_rings(struct dpe_rings *rings, size_t bytes)
{
	assert_int_equal(dpe_rings_open(rings, bytes, 0), 0);
	rings->header->pid = (uint32_t)getpid();
	rings->header->fences = 1; /* nothing registers this process for membarrier */
}

static struct dpe_preload_writer writer_of(struct dpe_rings *rings, unsigned index)
{
	struct dpe_preload_header *header = rings->header;
	struct dpe_preload_writer writer = {.ring = &header->rings[index]};

	writer.ring->state = DPE_PRELOAD_CLAIMED;
	writer.ring->thread = header->pid;
	writer.slots = (char *)header + header->slots_begin +
		       (size_t)header->slots * header->slot_bytes * index;
	if (header->used <= index)
		header->used = index + 1;
	return writer;
}

int (*dpe_preload_clock)(clockid_t clock, struct timespec *now) = clock_gettime;

/* A slot that is taken, and filled but for its stamp. */
static struct dpe_preload_slot *begin_slot(
	struct dpe_rings *rings, struct dpe_preload_writer *writer, uint64_t word, uint64_t *number)
{
	struct dpe_preload_slot *slot = dpe_preload_reserve(rings->header, writer, number);

	if (!slot) {
		dpe_preload_lose(writer->ring);
		return NULL;
	}
	slot->time = dpe_preload_now();
	slot->words[0] = word;
	slot->lost = (uint32_t)writer->ring->lost.count;
	return slot;
}

static void put(struct dpe_rings *rings, struct dpe_preload_writer *writer, uint64_t word)
{
	uint64_t number;
	struct dpe_preload_slot *slot = begin_slot(rings, writer, word, &number);

	if (slot)
		dpe_preload_commit(slot, number);
}

static void advances_around_the_ring(void **state)
{
	struct dpe_rings rings;
	struct dpe_preload_writer writer;
	struct seen seen = {0};
	uint64_t sum = 0;

	(void)state;
	open_rings(&rings, 0);
	writer = writer_of(&rings, 0);
	for (uint64_t i = 0; i < 10 * rings.header->slots; i++) {
		put(&rings, &writer, i);
		sum += i;
		if (i % 50 == 49)
			dpe_rings_drain(&rings, false, see, &seen);
	}
	dpe_rings_drain(&rings, true, see, &seen);
	assert_int_equal(seen.count, 10 * rings.header->slots);
	assert_int_equal(seen.sum, sum);
	assert_int_equal(seen.gaps + lost(&rings), 0);
	dpe_rings_close(&rings);
}

static void counts_events_without_room(void **state)
{
	struct dpe_rings rings;
	struct dpe_preload_writer writer;
	struct seen seen = {0};
	uint64_t room;

	(void)state;
	open_rings(&rings, 0);
	room = rings.header->slots - DPE_PRELOAD_SLACK;
	writer = writer_of(&rings, 3);
	for (uint64_t i = 0; i < room + 7; i++)
		put(&rings, &writer, i);
	dpe_rings_drain(&rings, false, see, &seen);
	assert_int_equal(seen.count, room);
	assert_int_equal(seen.gaps, 0); /* they come after it */
	assert_int_equal(lost(&rings), 7);
	put(&rings, &writer, 1);
	dpe_rings_drain(&rings, false, see, &seen);
	assert_int_equal(seen.count, room + 1);
	assert_int_equal(seen.gaps, 7);
	dpe_rings_close(&rings);
}

static void waits_for_incomplete_slots(void **state)
{
	struct dpe_rings rings;
	struct dpe_preload_writer writer;
	struct dpe_preload_slot *slot;
	struct seen seen = {0};
	uint64_t number, before, stuck, after;

	(void)state;
	open_rings(&rings, 0);
	writer = writer_of(&rings, 0);
	put(&rings, &writer, 1);
	before = dpe_rings_drain(&rings, false, see, &seen);
	slot = begin_slot(&rings, &writer, 2, &number);
	put(&rings, &writer, 3); /* a signal's handler */
	stuck = dpe_rings_drain(&rings, false, see, &seen);
	assert_int_equal(seen.count, 1);
	assert_int_equal(stuck, before);
	assert_int_equal(dpe_rings_drain(&rings, false, see, &seen), stuck);
	dpe_preload_commit(slot, number);
	after = dpe_rings_drain(&rings, false, see, &seen);
	assert_int_equal(seen.count, 3);
	assert_int_equal(seen.last_word, 3);
	assert_true(after > stuck);
	dpe_rings_close(&rings);
}

/* What a thread had written when it was killed is read; what it was about to write is lost. */
static void reads_slots_of_dead_threads(void **state)
{
	struct dpe_rings rings;
	struct seen seen = {0};
	pid_t child;
	int status;

	(void)state;
	open_rings(&rings, 0);
	child = fork();
	if (!child) {
		struct dpe_preload_writer writer = writer_of(&rings, 0);
		uint64_t number;

		for (uint64_t i = 0; i < 20; i++)
			put(&rings, &writer, i);
		begin_slot(&rings, &writer, 99, &number);
		put(&rings, &writer, 20);
		kill(getpid(), SIGKILL);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	dpe_rings_drain(&rings, false, see, &seen);
	assert_int_equal(seen.count, 20);
	dpe_rings_drain(&rings, true, see, &seen);
	assert_int_equal(seen.count, 21);
	assert_int_equal(seen.last_word, 20);
	assert_int_equal(seen.gaps, 1);
	assert_int_equal(lost(&rings), 1);
	dpe_rings_close(&rings);
}

/* The end of the process comes before an event that it cut off: that is no loss. */
static void events_cut_off_by_the_end(void **state)
{
	struct dpe_preload_writer writer;
	struct dpe_rings rings;
	struct seen seen = {0};
	uint64_t number;

	(void)state;
	open_rings(&rings, 0);
	writer = writer_of(&rings, 0);
	put(&rings, &writer, 1);
	begin_slot(&rings, &writer, 2, &number);
	begin_slot(&rings, &writer, 3, &number);
	for (int i = 0; i < 2; i++)
		dpe_rings_drain(&rings, true, see, &seen);
	assert_int_equal(seen.count, 1);
	assert_int_equal(lost(&rings), 0);
	dpe_rings_close(&rings);
}

/* A signal handler left them by longjmp: they are lost, and the thread continues. */
static void abandoned_slots(void **state)
{
	struct dpe_preload_writer writer;
	struct dpe_rings rings;
	struct seen seen = {0};
	uint64_t number;

	(void)state;
	open_rings(&rings, 0);
	writer = writer_of(&rings, 0);
	for (uint64_t round = 0; round < 2 * rings.header->slots; round++) {
		begin_slot(&rings, &writer, 2, &number);
		writer.from = number;
		put(&rings, &writer, 3);
		begin_slot(&rings, &writer, 4, &number);
		dpe_preload_leave(rings.header, &writer);
		put(&rings, &writer, 5);
		dpe_rings_drain(&rings, false, see, &seen);
		assert_int_equal(seen.last_word, 5);
	}
	assert_int_equal(seen.count, 4 * rings.header->slots);
	assert_int_equal(seen.gaps, seen.count);
	assert_int_equal(lost(&rings), seen.count);
	dpe_rings_close(&rings);
}

/* Its ring is reused, its losses are kept, and the next thread begins where it stopped. An event that its end cut off had not
 * happened. */
static void a_dead_threads_ring_is_reused(void **state)
{
	struct dpe_rings rings;
	struct dpe_preload_writer writer;
	struct seen seen = {0};
	uint64_t number;

	(void)state;
	open_rings(&rings, 0);
	for (unsigned round = 0; round < 3; round++) {
		writer = writer_of(&rings, 0);
		for (unsigned i = 0; i < round; i++)
			begin_slot(&rings, &writer, 1, &number);
		put(&rings, &writer, 2);
		begin_slot(&rings, &writer, 3, &number);
		writer.ring->state = DPE_PRELOAD_DEAD;
		dpe_rings_drain(&rings, false, see, &seen);
		assert_int_equal(writer.ring->state, DPE_PRELOAD_FREE);
		assert_int_equal(seen.count, round + 1);
	}
	assert_int_equal(seen.gaps, 3);
	assert_int_equal(lost(&rings), 3);
	writer = writer_of(&rings, 0);
	put(&rings, &writer, 4);
	dpe_rings_drain(&rings, false, see, &seen);
	assert_int_equal(seen.count, 4);
	assert_int_equal(seen.last_word, 4);
	assert_int_equal(seen.gaps, 3);
	dpe_rings_close(&rings);
}

/* Rejected events stay, and the ring is known up to them. */
static void keeps_rejected_events(void **state)
{
	struct dpe_rings rings;
	struct dpe_preload_writer writer;
	struct seen seen = {.room = 5};
	uint64_t bound;

	(void)state;
	open_rings(&rings, 0);
	writer = writer_of(&rings, 0);
	for (uint64_t i = 0; i < 10; i++)
		put(&rings, &writer, i);
	bound = dpe_rings_drain(&rings, false, see, &seen);
	assert_int_equal(seen.count, 5);
	assert_true(bound >= seen.time);
	seen.room = 6;
	dpe_rings_drain(&rings, true, see, &seen);
	assert_int_equal(seen.last_word, 5);
	assert_true(bound <= seen.time);
	seen.room = 0;
	dpe_rings_drain(&rings, true, see, &seen);
	assert_int_equal(seen.count, 10);
	assert_int_equal(seen.gaps + lost(&rings), 0);
	dpe_rings_close(&rings);
}

/* Another process writes as fast as it can: each event is seen once or counted, in its order. */
static void keeps_up_with_another_process(void **state)
{
	const uint64_t events = 300000;
	struct dpe_rings rings;
	struct seen seen = {0};
	pid_t child;

	(void)state;
	open_rings(&rings, 1 << 15);
	writer_of(&rings, 0);
	child = fork();
	if (!child) {
		struct dpe_preload_writer writer = writer_of(&rings, 0);

		for (uint64_t i = 0; i < events; i++)
			put(&rings, &writer, i);
		_exit(0);
	}
	while (!waitpid(child, NULL, WNOHANG))
		dpe_rings_drain(&rings, false, see, &seen);
	dpe_rings_drain(&rings, true, see, &seen);
	assert_int_equal(seen.count + lost(&rings), events);
	assert_true(seen.gaps <= lost(&rings));
	assert_true(seen.count > rings.header->slots / 2);
	dpe_rings_close(&rings);
}

/* A page that is touched for the first time costs more than all that is written to it. */
static void the_first_rings_have_pages(void **state)
{
	struct dpe_rings rings;
	struct stat status;
	uint64_t ring;

	(void)state;
	assert_int_equal(dpe_rings_open(&rings, 1 << 20, 16), 0);
	ring = (uint64_t)rings.slots * rings.slot_bytes;
	assert_int_equal(fstat(rings.fd, &status), 0);
	if (!rings.header->prepared) /* before Linux 5.14 */
		skip();
	assert_in_range(rings.header->prepared, 2, DPE_PRELOAD_RINGS);
	assert_in_range((uint64_t)status.st_blocks * 512, rings.header->prepared * ring,
		(rings.header->prepared + 1) * ring);
	dpe_rings_close(&rings);
	assert_int_equal(dpe_rings_open(&rings, 64 << 20, 16), 0);
	assert_int_equal(rings.header->prepared, 2); /* the fewest, as these rings are large */
	dpe_rings_close(&rings);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_first_rings_have_pages),
		cmocka_unit_test(advances_around_the_ring),
		cmocka_unit_test(counts_events_without_room),
		cmocka_unit_test(waits_for_incomplete_slots),
		cmocka_unit_test(reads_slots_of_dead_threads),
		cmocka_unit_test(events_cut_off_by_the_end),
		cmocka_unit_test(abandoned_slots),
		cmocka_unit_test(a_dead_threads_ring_is_reused),
		cmocka_unit_test(keeps_rejected_events),
		cmocka_unit_test(keeps_up_with_another_process),
	};

	return cmocka_run_group_tests_name("rings", tests, NULL, NULL);
}
