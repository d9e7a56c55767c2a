/* Flags are cleared while threads set them as the programs in the kernel do. */
#include "probes/kernel/event_flags.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

#define WRITERS 2
#define EVENTS 200000

struct shared {
	uint32_t states[DPE_EVENT_FLAGS];
	struct dpe_flag_counts *counts;
	unsigned shares;
	atomic_uint missed, running;
};

struct writer {
	struct shared *shared;
	pthread_t thread;
	unsigned number;
};

/* The map of the programs, as a file that both sides map. */
static void open_shared(struct shared *shared, struct dpe_event_flags *flags)
{
	const size_t size = dpe_event_flags_shares() * sizeof(*shared->counts);
	int file = memfd_create("counts", MFD_CLOEXEC);

	assert_true(file >= 0);
	assert_int_equal(ftruncate(file, (off_t)size), 0);
	assert_int_equal(dpe_event_flags_open(flags, shared->states, 3, file), 0);
	shared->shares = flags->shares;
	shared->counts = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
	assert_true(shared->counts != MAP_FAILED);
	close(file);
}

static void close_shared(struct shared *shared, struct dpe_event_flags *flags)
{
	munmap(shared->counts, shared->shares * sizeof(*shared->counts));
	dpe_event_flags_close(flags);
}

static struct dpe_flag_count *count_of(struct shared *shared, unsigned writer, unsigned flag)
{
	return &shared->counts[writer & (shared->shares - 1)].at[flag];
}

/* As probes/kernel/bpf/guard_checks.h does it. */
static void begin(struct shared *shared, unsigned writer, unsigned flag)
{
	__atomic_fetch_add(&count_of(shared, writer, flag)->begun, 1, __ATOMIC_SEQ_CST);
	if (__atomic_load_n(&shared->states[flag], __ATOMIC_SEQ_CST) != DPE_FLAG_SET)
		__atomic_store_n(&shared->states[flag], DPE_FLAG_SET, __ATOMIC_SEQ_CST);
}

static void end(struct shared *shared, unsigned writer, unsigned flag)
{
	__atomic_fetch_add(&count_of(shared, writer, flag)->done, 1, __ATOMIC_SEQ_CST);
}

static bool is_set(const struct shared *shared, unsigned flag)
{
	return __atomic_load_n(&shared->states[flag], __ATOMIC_SEQ_CST) != DPE_FLAG_UNSET;
}

/* An event that has begun and is not finished cannot have been read: its flag stays. */
static void *write_events(void *context)
{
	const struct writer *writer = context;
	struct shared *shared = writer->shared;

	for (unsigned i = 0; i < EVENTS; i++) {
		unsigned flag = i % 7 ? 1 : 2;

		begin(shared, writer->number, flag);
		for (unsigned looks = 0; looks < 4; looks++)
			shared->missed += !is_set(shared, flag);
		end(shared, writer->number, flag);
		for (volatile unsigned rest = i % 64 * 8; rest; rest--)
			;
	}
	shared->running--;
	return NULL;
}

static unsigned unset_and_count(struct dpe_event_flags *flags, struct shared *shared)
{
	bool before = is_set(shared, 1);

	dpe_event_flags_look(flags);
	dpe_event_flags_unset(flags, UINT64_MAX);
	return before && !is_set(shared, 1);
}

static void the_current_event_keeps_its_mark(void **state)
{
	struct shared shared = {.running = WRITERS};
	struct writer writers[WRITERS];
	struct dpe_event_flags flags = {0};
	unsigned unset = 0;

	(void)state;
	open_shared(&shared, &flags);
	for (unsigned i = 0; i < WRITERS; i++) {
		writers[i] = (struct writer){.shared = &shared, .number = i};
		assert_int_equal(
			pthread_create(&writers[i].thread, NULL, write_events, &writers[i]), 0);
	}
	while (shared.running)
		unset += unset_and_count(&flags, &shared);
	for (unsigned i = 0; i < WRITERS; i++)
		pthread_join(writers[i].thread, NULL);
	unset_and_count(&flags, &shared);
	assert_int_equal(shared.missed, 0);
	assert_false(is_set(&shared, 1));
	assert_false(is_set(&shared, 2));
	assert_true(unset > 0);
	close_shared(&shared, &flags);
}

static void what_clears_a_flag(void **state)
{
	struct shared shared = {0};
	struct dpe_event_flags flags = {0};

	(void)state;
	open_shared(&shared, &flags);
	begin(&shared, 0, 1);
	begin(&shared, 1, 1);
	end(&shared, 0, 1);
	unset_and_count(&flags, &shared);
	assert_true(is_set(&shared, 1)); /* the other is not finished */

	end(&shared, 1, 1);
	dpe_event_flags_look(&flags);
	begin(&shared, 0, 1);
	end(&shared, 0, 1);
	dpe_event_flags_unset(&flags, UINT64_MAX);
	assert_true(is_set(&shared, 1)); /* one came after the look */

	dpe_event_flags_look(&flags);
	dpe_event_flags_unset(&flags, ~(UINT64_C(1) << 1));
	assert_true(is_set(&shared, 1)); /* it is still needed */
	dpe_event_flags_unset(&flags, UINT64_MAX);
	assert_false(is_set(&shared, 1));

	dpe_event_flags_keep(&flags, UINT64_C(1) << 2);
	dpe_event_flags_look(&flags);
	dpe_event_flags_unset(&flags, UINT64_MAX);
	assert_true(is_set(&shared, 2));
	close_shared(&shared, &flags);
}

static void unavailable_counts(void **state)
{
	uint32_t states[DPE_EVENT_FLAGS] = {0};
	struct dpe_event_flags flags = {0};

	(void)state;
	assert_int_not_equal(dpe_event_flags_open(&flags, states, 1, -1), 0);
	dpe_event_flags_look(&flags);
	dpe_event_flags_close(&flags);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_current_event_keeps_its_mark),
		cmocka_unit_test(what_clears_a_flag),
		cmocka_unit_test(unavailable_counts),
	};

	return cmocka_run_group_tests_name("flags", tests, NULL, NULL);
}
