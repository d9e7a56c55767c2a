/* Cuts of the history: compared with plain arrays, and what they cost over threads that end. */
#include "recognizer/predict/history.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>

enum { CHAINS = 700, CUTS = 40 };

static unsigned dice;

static unsigned roll(unsigned sides)
{
	dice = dice * 1103515245 + 12345;
	return (dice >> 8) % sides;
}

struct cut {
	const struct dpe_base *base;
	uint32_t at[CHAINS];
};

static void raise_both(struct dpe_history *history, struct cut *cut, uint32_t chain, uint32_t index)
{
	cut->base = dpe_base_raise(history, cut->base, chain, index);
	if (cut->at[chain] < index)
		cut->at[chain] = index;
}

static void join_both(struct dpe_history *history, struct cut *cut, const struct cut *other)
{
	cut->base = dpe_bases_join(history, cut->base, other->base);
	for (unsigned i = 0; i < CHAINS; i++) {
		if (cut->at[i] < other->at[i])
			cut->at[i] = other->at[i];
	}
}

static bool add_each(void *context, uint32_t first, const uint32_t *at, unsigned count)
{
	uint32_t *into = context;

	for (unsigned i = 0; i < count && first + i < CHAINS; i++)
		into[first + i] += at[i];
	return true;
}

static void assert_same(const struct cut *cut)
{
	uint32_t visited[CHAINS] = {0};

	if (cut->base)
		dpe_base_each(cut->base, 0, add_each, visited);
	assert_memory_equal(visited, cut->at, sizeof(visited));
	for (unsigned i = 0; i < CHAINS; i++)
		assert_int_equal(dpe_base_reach(cut->base, i), cut->at[i]);
	assert_int_equal(dpe_base_reach(cut->base, UINT32_MAX), 0);
}

/* Cuts are immutable: all are compared at the end. Chains are of one leaf, of some, or any. */
static void cuts_are_those_of_arrays(void **state)
{
	static const unsigned limits[] = {5, 8, 9, 64, 65, CHAINS};
	static struct cut cuts[CUTS];

	(void)state;
	for (unsigned seed = 0; seed < 60; seed++) {
		struct dpe_history history = {.arena = dpe_arena_new()};

		dice = seed;
		memset(cuts, 0, sizeof(cuts));
		for (unsigned i = 1; i < CUTS; i++) {
			cuts[i] = cuts[roll(i)];
			join_both(&history, &cuts[i], &cuts[roll(i)]);
			for (unsigned n = roll(4); n--;)
				raise_both(&history, &cuts[i], roll(limits[roll(DPE_COUNT(limits))]), 1 + roll(9));
		}
		for (unsigned i = 0; i < CUTS; i++)
			assert_same(&cuts[i]);
		dpe_arena_free(history.arena);
	}
}

static bool stop(void *context, uint32_t first, const uint32_t *at, unsigned count)
{
	(void)first;
	(void)at;
	(void)count;
	return ++*(unsigned *)context < 3;
}

static void a_visit_ends_where_it_is_asked_to(void **state)
{
	struct dpe_history history = {.arena = dpe_arena_new()};
	const struct dpe_base *base = NULL;
	unsigned leaves = 0;

	(void)state;
	for (unsigned i = 0; i < 300; i++)
		base = dpe_base_raise(&history, base, i, 1);
	assert_false(dpe_base_each(base, 0, stop, &leaves));
	assert_int_equal(leaves, 3);
	dpe_arena_free(history.arena);
}

/* What adds nothing makes nothing. */
static void equal_cuts_are_shared(void **state)
{
	struct dpe_history history = {.arena = dpe_arena_new()};
	const struct dpe_base *a = NULL, *b = NULL;
	size_t bytes;

	(void)state;
	for (unsigned i = 0; i < 300; i++) {
		a = dpe_base_raise(&history, a, i, 2);
		b = dpe_base_raise(&history, b, i, 1);
	}
	bytes = history.bytes;
	assert_ptr_equal(dpe_bases_join(&history, a, b), a);
	assert_ptr_equal(dpe_base_raise(&history, a, 299, 1), a);
	assert_ptr_equal(dpe_bases_join(&history, a, NULL), a);
	assert_ptr_equal(dpe_bases_join(&history, NULL, a), a);
	assert_int_equal(history.bytes, bytes);
	dpe_arena_free(history.arena);
}

/* One thread creates and joins others, one after another. */
static size_t bytes_of_joined(unsigned threads)
{
	struct dpe_history history = {.arena = dpe_arena_new()};
	const struct dpe_base *main_thread = NULL, *other;
	size_t bytes;

	for (unsigned i = 1; i <= threads; i++) {
		other = dpe_base_raise(&history, main_thread, 0, 2 * i);
		main_thread = dpe_base_raise(&history, dpe_bases_join(&history, main_thread, other), i, 5);
	}
	bytes = history.bytes;
	dpe_arena_free(history.arena);
	return bytes;
}

static void bytes_of_a_thread_do_not_grow_with_threads(void **state)
{
	(void)state;
	assert_true(bytes_of_joined(16000) < 6 * bytes_of_joined(4000));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(cuts_are_those_of_arrays),
		cmocka_unit_test(a_visit_ends_where_it_is_asked_to),
		cmocka_unit_test(equal_cuts_are_shared),
		cmocka_unit_test(bytes_of_a_thread_do_not_grow_with_threads),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
