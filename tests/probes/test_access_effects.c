/* What instructions did to a watched variable, which value they left according to the registers after
 * them, and when updates contradict each other. */
#include "tests/probes/open_target.h"

#include "probes/stream/access_values.h"

enum { RAX = 0, RCX = 1, RDX = 2, RSI = 6, RDI = 7, R9 = 9, ZERO_FLAG = 1 << 6, AT = 0x4000 };

/* The variable has `size` bytes, lies `distance` bytes after the address in rdi, and had the value 7. */
static struct dpe_access_outcome outcome_of(
	const char *name, uint64_t distance, uint64_t size, uint64_t *registers)
{
	struct dpe_module *module = open_target("accesses");
	unsigned count;
	const struct dpe_function *function = dpe_module_find(module, name, &count);
	struct dpe_accessed accessed = {0x1000, AT + distance, size, registers};
	struct dpe_access_effect effect;

	assert_non_null(function);
	effect = dpe_access_before(module, function->address + function->size);
	dpe_module_free(module);
	registers[RDI] = AT;
	return dpe_access_evaluate(&effect, &accessed, 7);
}

static void assert_left(struct dpe_access_outcome outcome, bool computed, uint64_t after)
{
	assert_int_equal(outcome.access, DPE_ACCESS_WRITE);
	assert_int_equal(outcome.computed, computed);
	assert_int_equal(outcome.tells_after, !computed);
	assert_int_equal(outcome.after, after);
}

static void operands_determine_the_value(void **state)
{
	uint64_t registers[DPE_ACCESS_REGISTERS] = {[RCX] = 0x12345678abcd, [RSI] = 2, [R9] = 1ull << 63};

	(void)state;
	assert_left(outcome_of("moves", 8, 4, registers), false, 0x5678abcd);
	assert_left(outcome_of("moves_constant", 8, 4, registers), false, 0xfffffffe);
	assert_left(outcome_of("moves_high_byte", 0, 1, registers), false, 0xab);
	assert_left(outcome_of("moves_relative", 0x1100 - AT, 8, registers), false, 1ull << 63);
	assert_left(outcome_of("adds", 0, 4, registers), true, 10);
	assert_left(outcome_of("subtracts", 0, 1, registers), true, (7 - 0xcd) & 0xff);
	assert_left(outcome_of("increments", 0, 4, registers), true, 8);
}

static void assert_unknown(struct dpe_access_outcome outcome)
{
	assert_int_equal(outcome.access, DPE_ACCESS_WRITE);
	assert_false(outcome.computed || outcome.tells_after);
}

static void nothing_else_does(void **state)
{
	uint64_t registers[DPE_ACCESS_REGISTERS] = {0};

	(void)state;
	assert_unknown(outcome_of("moves", 8, 8, registers));
	assert_unknown(outcome_of("moves", 10, 4, registers));
	assert_unknown(outcome_of("adds", 1, 1, registers));
	assert_unknown(outcome_of("moves_vector", 0, 8, registers));
	assert_unknown(outcome_of("moves_of_thread", 8 - (uint64_t)AT, 4, registers));
	assert_unknown(outcome_of("shifts", 0, 4, registers));
	assert_int_equal(outcome_of("reads", 0, 4, registers).access, DPE_ACCESS_READ);
}

static void a_part_of_what_is_moved_is_known(void **state)
{
	uint64_t registers[DPE_ACCESS_REGISTERS] = {[RCX] = 0x12345678};

	(void)state;
	assert_left(outcome_of("moves", 10, 1, registers), false, 0x34);
}

static void comparisons_may_fail(void **state)
{
	uint64_t registers[DPE_ACCESS_REGISTERS] = {[RAX] = 5, [RCX] = 6};
	struct dpe_access_outcome outcome;

	(void)state;
	assert_int_equal(outcome_of("compares", 0, 4, registers).access, DPE_ACCESS_READ);
	assert_int_equal(outcome_of("compares_pairs", 0, 8, registers).access, DPE_ACCESS_READ);
	registers[DPE_ACCESS_FLAGS] = ZERO_FLAG;
	outcome = outcome_of("compares", 0, 4, registers);
	assert_left(outcome, false, 6);
	assert_true(outcome.tells_before);
	assert_int_equal(outcome.before, 5);
	assert_int_equal(outcome_of("compares_pairs", 0, 8, registers).access, DPE_ACCESS_WRITE);
}

static void assert_exchanged(const char *name, uint64_t size, bool tells_after, uint64_t after)
{
	uint64_t registers[DPE_ACCESS_REGISTERS] = {[RCX] = 6, [RDX] = 9};
	struct dpe_access_outcome outcome = outcome_of(name, 0, size, registers);

	assert_int_equal(outcome.access, DPE_ACCESS_WRITE);
	assert_true(outcome.tells_before);
	assert_int_equal(outcome.before, 6);
	assert_int_equal(outcome.tells_after, tells_after);
	if (tells_after)
		assert_int_equal(outcome.after, after);
}

static void exchanges_are_known_by_what_comes_before(void **state)
{
	(void)state;
	assert_exchanged("swaps_constant", 8, true, 0xfffffffb);
	assert_exchanged("swaps_copy", 4, true, 9);
	assert_exchanged("adds_constant", 4, true, 9);
	assert_exchanged("swaps", 4, false, 0);
	assert_exchanged("swaps_and_adds", 4, false, 0);
	assert_exchanged("swaps_overwritten", 4, false, 0);
	assert_exchanged("swaps_joined", 4, false, 0);
	assert_exchanged("swaps_after_call", 4, false, 0);
}

/* ---- updates by threads that take turns, or not ------------------------------------------- */

struct fixture {
	struct dpe_probes probes;
	struct dpe_watch watch;
	struct dpe_last_update last;
	struct dpe_record record;
	uint64_t registers[DPE_ACCESS_REGISTERS];
	bool unread, priors, locked;
};

static struct fixture *begin(void)
{
	struct fixture *fixture = dpe_xcalloc(1, sizeof(*fixture));

	fixture->probes.diags = dpe_diags_new();
	fixture->probes.names = dpe_names_new();
	fixture->watch.name = dpe_intern_string(fixture->probes.names, "x");
	fixture->registers[RDI] = AT;
	return fixture;
}

static uint64_t doubts(struct fixture *fixture)
{
	uint64_t count = fixture->probes.doubted.count;

	dpe_diags_free(fixture->probes.diags);
	dpe_names_free(fixture->probes.names);
	free(fixture);
	return count;
}

/* The value that the instruction left in an int, where the probe saw `before` and `read`. */
static struct dpe_update update(struct fixture *fixture, uint32_t tid, enum dpe_access_value value,
	uint64_t before, uint64_t read)
{
	bool exchanges = value == DPE_VALUE_EXCHANGED;
	struct dpe_update update = {
		.watch = &fixture->watch,
		.effect = {.access = DPE_ACCESS_WRITE, .value = value, .base = RDI, .index = -1,
			.source = value == DPE_VALUE_ADDED ? -1 : RCX, .swapped = exchanges ? RDX : -1,
			.unknown = exchanges, .size = 4, .constant = 1, .locked = fixture->locked},
		.accessed = {0, AT, 4, fixture->registers},
		.all = true,
		.values = !fixture->unread,
		.priors = fixture->priors,
		.before = before,
		.read = read,
	};

	fixture->record.tid = tid;
	fixture->record.time += 10;
	assert_true(dpe_update_values(&fixture->probes, &fixture->record, &fixture->last, &update));
	return update;
}

static void values_in_turn_are_certain(void **state)
{
	struct fixture *fixture = begin();

	(void)state;
	fixture->priors = true;
	assert_int_equal(update(fixture, 1, DPE_VALUE_ADDED, 0, 1).after, 1);
	assert_int_equal(update(fixture, 2, DPE_VALUE_ADDED, 1, 2).before, 1);
	assert_int_equal(update(fixture, 1, DPE_VALUE_UNKNOWN, 2, 9).after, 9);
	assert_int_equal(update(fixture, 2, DPE_VALUE_UNKNOWN, 9, 4).before, 9);
	fixture->registers[RDX] = 4;
	assert_int_equal(update(fixture, 1, DPE_VALUE_EXCHANGED, 4, 6).before, 4);
	assert_int_equal(doubts(fixture), 0);
}

static void a_moved_value_is_certain(void **state)
{
	struct fixture *fixture = begin();

	(void)state;
	fixture->registers[RCX] = 3;
	assert_int_equal(update(fixture, 1, DPE_VALUE_MOVED, 0, 8).after, 3);
	fixture->registers[RCX] = 8;
	assert_int_equal(update(fixture, 2, DPE_VALUE_MOVED, 8, 8).before, 3);
	assert_int_equal(doubts(fixture), 0);
}

static void but_not_what_it_replaced(void **state)
{
	struct fixture *fixture = begin();

	(void)state;
	fixture->priors = true;
	fixture->registers[RCX] = 3;
	update(fixture, 1, DPE_VALUE_MOVED, 0, 8);
	assert_int_equal(fixture->probes.doubted.first, 10);
	assert_int_equal(doubts(fixture), 1);
}

static void contradicting_values_are_uncertain(void **state)
{
	struct fixture *fixture = begin();

	(void)state;
	update(fixture, 1, DPE_VALUE_ADDED, 0, 2); /* the other thread's is in it, or one is lost */
	update(fixture, 2, DPE_VALUE_ADDED, 2, 2);
	assert_int_equal(fixture->probes.doubted.first, 10);
	assert_int_equal(doubts(fixture), 1);
	fixture = begin();
	update(fixture, 1, DPE_VALUE_UNKNOWN, 0, 5);
	update(fixture, 2, DPE_VALUE_UNKNOWN, 5, 5); /* one of them wrote 5 */
	assert_int_equal(fixture->probes.doubted.first, 10);
	assert_int_equal(doubts(fixture), 1);
	fixture = begin();
	update(fixture, 1, DPE_VALUE_UNKNOWN, 0, 5);
	fixture->registers[RDX] = 4; /* what the first one left */
	update(fixture, 2, DPE_VALUE_EXCHANGED, 5, 6);
	assert_int_equal(doubts(fixture), 1);
	fixture = begin();
	update(fixture, 1, DPE_VALUE_UNKNOWN, 0, 5);
	update(fixture, 2, DPE_VALUE_UNKNOWN, 0, 6); /* a third was reported before them, or comes */
	assert_int_equal(doubts(fixture), 1);
}

static void unwanted_values_are_not_checked(void **state)
{
	struct fixture *fixture = begin();

	(void)state;
	fixture->unread = true;
	update(fixture, 1, DPE_VALUE_ADDED, 0, 2);
	update(fixture, 2, DPE_VALUE_ADDED, 2, 2);
	assert_int_equal(doubts(fixture), 0);
}

static void atomic_counts_are_certain_in_any_order(void **state)
{
	struct fixture *fixture = begin();

	(void)state;
	fixture->priors = fixture->locked = true;
	assert_int_equal(update(fixture, 1, DPE_VALUE_ADDED, 0, 2).after, 1);
	assert_int_equal(update(fixture, 2, DPE_VALUE_ADDED, 2, 2).after, 2);
	assert_int_equal(update(fixture, 3, DPE_VALUE_ADDED, 0, 1).after, 3);
	assert_int_equal(fixture->probes.doubted.count, 0);
	update(fixture, 3, DPE_VALUE_ADDED, 1, 1000); /* by the kernel */
	assert_int_equal(doubts(fixture), 1);
	fixture = begin();
	fixture->priors = fixture->locked = true;
	update(fixture, 1, DPE_VALUE_ADDED, 0, 2);
	fixture->registers[RCX] = 1;
	update(fixture, 2, DPE_VALUE_SUBTRACTED, 2, 1); /* which was first? */
	assert_int_equal(doubts(fixture), 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(operands_determine_the_value),
		cmocka_unit_test(nothing_else_does),
		cmocka_unit_test(a_part_of_what_is_moved_is_known),
		cmocka_unit_test(comparisons_may_fail),
		cmocka_unit_test(exchanges_are_known_by_what_comes_before),
		cmocka_unit_test(values_in_turn_are_certain),
		cmocka_unit_test(a_moved_value_is_certain),
		cmocka_unit_test(but_not_what_it_replaced),
		cmocka_unit_test(contradicting_values_are_uncertain),
		cmocka_unit_test(unwanted_values_are_not_checked),
		cmocka_unit_test(atomic_counts_are_certain_in_any_order),
	};

	return cmocka_run_group_tests_name("access effects", tests, NULL, NULL);
}
