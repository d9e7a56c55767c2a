/* On which instruction an entry is observed, and why there. tests/live/placement.sh compares this with
 * what the kernel does. */
#include "tests/probes/open_target.h"

#include "probes/code/code.h"

static struct dpe_placement place_with(
	const char *name, unsigned nwords, bool only_noted)
{
	struct dpe_module *module = open_target("placement");
	struct dpe_placement placement;
	const struct dpe_function *function;
	unsigned count;

	function = dpe_module_find(module, name, &count);
	if (!function)
		print_error("%s\n", name);
	assert_non_null(function);
	dpe_place_entry(module, function,
		&(struct dpe_entry_use){nwords, only_noted}, &placement);
	dpe_module_free(module);
	return placement;
}

static struct dpe_placement place(const char *name, unsigned nwords)
{
	return place_with(name, nwords, false);
}

static void assert_emulated(const char *name, unsigned nwords, unsigned distance)
{
	struct dpe_placement placement = place(name, nwords);

	if (placement.cost != DPE_STEP_EMULATED || placement.distance != distance)
		print_error("%s: +%u %s: %s\n", name, placement.distance, placement.instruction,
			placement.reason);
	assert_int_equal(placement.cost, DPE_STEP_EMULATED);
	assert_int_equal(placement.distance, distance);
}

/* The first instruction it is, for this reason. */
static void assert_first(const char *name, unsigned nwords, const char *reason)
{
	struct dpe_placement placement = place(name, nwords);

	assert_int_not_equal(placement.cost, DPE_STEP_EMULATED);
	assert_int_equal(placement.distance, 0);
	assert_non_null(strstr(placement.reason, reason));
}

static void emulated_instructions(void **state)
{
	(void)state;
	assert_emulated("begins_with_push", 6, 0);
	assert_emulated("begins_with_push_r12", 6, 0);
	assert_emulated("calls_first", 6, 0);
	assert_emulated("moves_then_pushes", 6, 2);
	assert_emulated("begins_with_endbr", 6, 4);
	assert_emulated("tests_then_jumps", 6, 3);
	assert_emulated("tests_then_jumps_far", 6, 3);
	assert_emulated("calls_on", 6, 5);
}

static void reached_exactly_once_by_every_call(void **state)
{
	(void)state;
	assert_first("loops_in_between", 0, "a jump leads in between");
	assert_first("jumped_into", 0, "code elsewhere may jump in between");
	assert_first("has_two_names", 0, "another function begins in between");
	assert_first("jumps_by_table", 0, "jumps by a table");
	assert_first("holds_data", 0, "cannot be decoded");
}

static void registers_unchanged_since_the_call(void **state)
{
	(void)state;
	assert_first("overwrites_second", 2, "arguments or the stack change");
	assert_emulated("overwrites_second", 1, 5);
	assert_first("overwrites_first", 1, "arguments or the stack change");
	assert_emulated("overwrites_first", 0, 4);
	assert_first("moves_the_stack", 0, "arguments or the stack change");
	assert_first("writes_memory", 0, "memory is written");
	assert_first("locks_first", 0, "has side effects");
}

static void floating_point_registers_hold_nothing_wanted(void **state)
{
	struct dpe_placement placement = place_with("overwrites_second_vector", 6, false);

	(void)state;
	assert_int_equal(placement.cost, DPE_STEP_EMULATED);
	assert_int_equal(placement.distance, 3);
}

/* A call that is only noted may be observed after a lock prefix. */
static void calls_whose_values_do_not_matter(void **state)
{
	struct dpe_placement placement;

	(void)state;
	assert_int_equal(place_with("writes_memory", 6, true).distance, 0);
	assert_int_equal(place_with("locks_first", 6, true).distance, 3);
	assert_int_equal(place_with("locks_first", 7, true).distance, 0);
	placement = place_with("locks_and_adds", 6, true);
	assert_int_equal(placement.distance, 7);
	assert_int_equal(placement.cost, DPE_STEP_SINGLE);
	assert_int_equal(place_with("locks_and_adds", 6, false).distance, 0);
	assert_int_equal(place_with("spins", 6, true).distance, 0);
}

static void long_nops_where_nothing_is_surely_emulated(void **state)
{
	struct dpe_placement placement = place("only_long_nop", 6);

	(void)state;
	assert_int_equal(place("begins_with_long_nop", 6).distance, 5);
	assert_int_equal(placement.distance, 0);
	assert_int_equal(placement.cost, DPE_STEP_UNKNOWN);
	assert_non_null(strstr(placement.reason, "from 6.9 on"));
}

static void unknown_names_are_reported(void **state)
{
	(void)state;
	assert_first("never_emulated", 0, "has side effects");
	assert_first("no_size", 0, "does not give the function's size");
	assert_first("empty", 0, "does not give the function's size");
}

/* Any bytes: no function may be read beyond its end, and the place lies within it. */
static void hostile_code(void **state)
{
	enum { SIZE = 300, TRIES = 2000 };
	char path[] = "/tmp/dpe-test-XXXXXX";
	int fd = mkstemp(path);
	unsigned dice = 5;
	struct dpe_module module = {.fd = fd};
	uint8_t bytes[SIZE];

	(void)state;
	assert_true(fd >= 0);
	unlink(path);
	module.has_functions = true;
	for (unsigned i = 0; i < TRIES; i++) {
		struct dpe_function function = {.name = "f", .address = 0x1000};
		struct dpe_placement placement;

		for (unsigned j = 0; j < SIZE; j++)
			bytes[j] = (uint8_t)rand_r(&dice);
		assert_int_equal(pwrite(fd, bytes, SIZE, 0), SIZE);
		function.offset = rand_r(&dice) % (SIZE + 20);
		function.size = rand_r(&dice) % SIZE;
		dpe_place_entry(&module, &function,
			&(struct dpe_entry_use){i % 7, i % 3 == 1}, &placement);
		assert_true(!placement.distance || placement.distance < function.size);
	}
	close(fd);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(emulated_instructions),
		cmocka_unit_test(reached_exactly_once_by_every_call),
		cmocka_unit_test(registers_unchanged_since_the_call),
		cmocka_unit_test(floating_point_registers_hold_nothing_wanted),
		cmocka_unit_test(calls_whose_values_do_not_matter),
		cmocka_unit_test(long_nops_where_nothing_is_surely_emulated),
		cmocka_unit_test(unknown_names_are_reported),
		cmocka_unit_test(hostile_code),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
