/* Accesses to memory in pieces, and what is given back. */
#include "probes/stream/memory_accesses.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

struct reported {
	struct dpe_text text;
};

static void tell(void *context, uint64_t address, uint64_t size)
{
	struct reported *reported = context;

	dpe_text_printf(&reported->text, "%llx+%llu ", (unsigned long long)address,
		(unsigned long long)size);
}

static void happens_in(struct dpe_memory *memory, uint32_t thread, unsigned what, uint64_t address, uint64_t size,
	const char *wanted)
{
	struct reported reported = {0};

	dpe_memory_each(memory, &(struct dpe_memory_use){thread, what, address, size}, tell, &reported);
	assert_string_equal(reported.text.at ? reported.text.at : "", wanted);
	dpe_text_free(&reported.text);
}

static void happens(struct dpe_memory *memory, unsigned what, uint64_t address, uint64_t size, const char *wanted)
{
	happens_in(memory, 1, what, address, size, wanted);
}

/* The pieces of the first 128 bytes of a page. */
#define FIRST(page) HALF(page, "0") HALF(page, "1") HALF(page, "2") HALF(page, "3") HALF(page, "4") HALF(page, "5") \
	HALF(page, "6") HALF(page, "7")
#define HALF(page, digit) page digit "0+8 " page digit "8+8 "

static void accesses_come_in_aligned_pieces(void **state)
{
	struct dpe_memory memory = {0};

	(void)state;
	happens(&memory, DPE_PRELOAD_READ, 0x1000, 1, "1000+1 ");
	happens(&memory, DPE_PRELOAD_WRITE, 0x1004, 4, "1004+4 ");
	happens(&memory, DPE_PRELOAD_READ, 0x1000, 16, "1000+8 1008+8 ");
	happens(&memory, DPE_PRELOAD_READ, 0x1003, 8, "1003+1 1004+4 1008+2 100a+1 ");
	happens(&memory, DPE_PRELOAD_WRITE, 0x1ffe, 4, "1ffe+2 2000+2 ");
	happens(&memory, DPE_PRELOAD_WRITE, 0x1000, 0, "");
	happens(&memory, DPE_PRELOAD_ATOMIC_STORE, 0x1003, 16, "1003+16 ");
	dpe_memory_free(&memory);
}

static void accessed_memory_is_freed_once(void **state)
{
	struct dpe_memory memory = {.notes = true};

	(void)state;
	happens(&memory, DPE_PRELOAD_FREED, 0x1000, 256, FIRST("10"));
	happens(&memory, DPE_PRELOAD_READ, 0x1081, 1, "1081+1 ");
	happens(&memory, DPE_PRELOAD_WRITE, 0x1094, 4, "1094+4 ");
	happens(&memory, DPE_PRELOAD_WRITE, 0x2ff8, 16, "2ff8+8 3000+8 ");
	happens(&memory, DPE_PRELOAD_FREED, 0x1000, 256, FIRST("10") "1080+8 1090+8 ");
	happens(&memory, DPE_PRELOAD_FREED, 0x1000, 256, FIRST("10"));
	happens(&memory, DPE_PRELOAD_FREED, 0x2000, 1ull << 40, FIRST("20") "2ff8+8 3000+8 ");
	happens(&memory, DPE_PRELOAD_RENEWED, 0, 1ull << 40, FIRST("10") "1080+8 1090+8 " FIRST("20") "2ff8+8 3000+8 ");
	assert_null(memory.pages);
	dpe_memory_free(&memory);
}

/* Whatever was reported of them before: accessed, allocated, freed. */
static void beginnings_of_objects_are_freed_as_a_whole(void **state)
{
	struct dpe_memory memory = {.notes = true};

	(void)state;
	happens(&memory, DPE_PRELOAD_FREED, 0x1000, 24, "1000+8 1008+8 1010+8 ");
	happens_in(&memory, 2, DPE_PRELOAD_HANDED_OUT, 0x1000, 24, "1000+8 1008+8 1010+8 ");
	happens_in(&memory, 2, DPE_PRELOAD_WRITE, 0x1008, 8, "1008+8 ");
	happens_in(&memory, 2, DPE_PRELOAD_FREED, 0x1000, 24, "1000+8 1008+8 1010+8 ");
	happens_in(&memory, 2, DPE_PRELOAD_HANDED_OUT, 0x1000, 24, "");
	happens(&memory, DPE_PRELOAD_FREED, 0x1000, 24, "1000+8 1008+8 1010+8 ");
	happens(&memory, DPE_PRELOAD_WRITE, 0x2100, 8, "2100+8 ");
	happens(&memory, DPE_PRELOAD_FREED, 0x2000, 4096, FIRST("20") "2100+8 ");
	happens(&memory, DPE_PRELOAD_RENEWED, 0x2000, 4096, FIRST("20") "2100+8 ");
	dpe_memory_free(&memory);
}

/* A thread need not be informed of its own frees; others must be, also if several freed adjacent memory. */
static void memory_is_handed_out_to_others(void **state)
{
	struct dpe_memory memory = {.notes = true};

	(void)state;
	happens(&memory, DPE_PRELOAD_WRITE, 0x1000, 16, "1000+8 1008+8 ");
	happens(&memory, DPE_PRELOAD_FREED, 0x1000, 8, "1000+8 ");
	happens(&memory, DPE_PRELOAD_HANDED_OUT, 0x1000, 8, "");
	happens(&memory, DPE_PRELOAD_WRITE, 0x1000, 8, "1000+8 ");
	happens(&memory, DPE_PRELOAD_FREED, 0x1000, 8, "1000+8 ");
	happens_in(&memory, 2, DPE_PRELOAD_HANDED_OUT, 0x1000, 8, "1000+8 ");
	happens(&memory, DPE_PRELOAD_FREED, 0x1008, 8, "1008+8 ");
	happens_in(&memory, 2, DPE_PRELOAD_WRITE, 0x1000, 8, "1000+8 ");
	happens_in(&memory, 2, DPE_PRELOAD_FREED, 0x1000, 8, "1000+8 ");
	happens(&memory, DPE_PRELOAD_HANDED_OUT, 0x1008, 8, "1008+8 ");
	happens_in(&memory, 2, DPE_PRELOAD_RENEWED, 0x1000, 8, "1000+8 ");
	dpe_memory_free(&memory);
}

enum { THREADS = 3, OBJECTS = 4, GRANULES = 4 };

struct granule {
	bool used;               /* since it was last freed, which is reported then only */
	bool unordered[THREADS]; /* others used or freed it since the thread freed it, or it was reported to it */
};

static struct granule granules[OBJECTS * GRANULES];

static void hand_over(void *context, uint64_t address, uint64_t size)
{
	(void)context;
	(void)size;
	granules[(address - 0x1000) / 8] = (struct granule){0};
}

static void ignore(void *context, uint64_t address, uint64_t size)
{
	(void)context;
	(void)address;
	(void)size;
}

static void others_did(struct granule *granule, unsigned thread)
{
	for (unsigned i = 0; i < THREADS; i++)
		granule->unordered[i] |= i != thread;
}

/* Objects that threads allocate, use and free at random: a thread that gets one has to renew each part
 * that another thread used, or freed after its use, except for what it freed itself since. */
static void accesses_of_others_before_reuse(void **state)
{
	struct dpe_memory memory = {.notes = true};
	unsigned random = 1, reported = 0;

	(void)state;
	for (unsigned step = 0; step < 20000; step++) {
		unsigned object = (random = random * 1103515245 + 12345) >> 16 & 3, thread = (random >> 20) % THREADS;
		unsigned at = object * GRANULES + (random >> 24) % GRANULES, end = (object + 1) * GRANULES;
		uint64_t begin = 0x1000 + object * GRANULES * 8ull;

		if (random >> 30) {
			dpe_memory_each(&memory, &(struct dpe_memory_use){thread + 1, DPE_PRELOAD_WRITE, 0x1000 + 8ull * at, 8}, ignore, NULL);
			granules[at].used = true;
			others_did(&granules[at], thread);
			continue;
		}
		dpe_memory_each(&memory, &(struct dpe_memory_use){thread + 1, DPE_PRELOAD_FREED, begin, GRANULES * 8}, ignore, NULL);
		for (unsigned i = object * GRANULES; i < end; i++) {
			if (!granules[i].used)
				continue;
			others_did(&granules[i], thread);
			granules[i].used = granules[i].unordered[thread] = false;
		}
		thread = (thread + (random >> 27) % 2) % THREADS;
		for (unsigned i = object * GRANULES; i < end; i++)
			reported += granules[i].unordered[thread];
		dpe_memory_each(&memory, &(struct dpe_memory_use){thread + 1, DPE_PRELOAD_HANDED_OUT, begin, GRANULES * 8}, hand_over, NULL);
		for (unsigned i = object * GRANULES; i < end; i++)
			assert_false(granules[i].unordered[thread]);
	}
	assert_true(reported > 1000);
	dpe_memory_free(&memory);
}

static void accesses_without_bound_are_refused(void **state)
{
	static const uint64_t sizes[] = {1ull << 32, 1ull << 62, UINT64_MAX};
	struct dpe_memory memory = {.notes = true};
	struct reported reported = {0};

	(void)state;
	for (unsigned i = 0; i < DPE_COUNT(sizes); i++) {
		assert_false(dpe_memory_each(
			&memory, &(struct dpe_memory_use){1, DPE_PRELOAD_WRITE, 0x1000, sizes[i]}, tell, &reported));
	}
	assert_int_equal(reported.text.len, 0);
	assert_null(memory.pages);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(accesses_come_in_aligned_pieces),
		cmocka_unit_test(accessed_memory_is_freed_once),
		cmocka_unit_test(beginnings_of_objects_are_freed_as_a_whole),
		cmocka_unit_test(memory_is_handed_out_to_others),
		cmocka_unit_test(accesses_of_others_before_reuse),
		cmocka_unit_test(accesses_without_bound_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
