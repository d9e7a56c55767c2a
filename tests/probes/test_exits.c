/* Where returns are observed, and why not elsewhere. tests/live/exits.sh holds it against what functions
 * really return. */
#include "tests/probes/open_target.h"

#include "probes/kernel/bpf/kernel_layout.h"
#include "probes/code/code.h"

#define AT(member) offsetof(struct pt_regs, member)

struct found {
	struct dpe_exits exits;
	struct dpe_arena *arena;
};

static struct found find_with(const char *name, struct dpe_exit_use use)
{
	struct dpe_module *module = open_target("exits");
	struct found found = {.arena = dpe_arena_new()};
	const struct dpe_function *function;
	unsigned count;

	function = dpe_module_find(module, name, &count);
	assert_non_null(function);
	found.exits = dpe_place_exits(module, function, &use, true, found.arena);
	if (found.exits.reason)
		print_message("%s: %s\n", name, found.exits.reason);
	dpe_module_free(module);
	return found;
}

static struct found find(const char *name)
{
	return find_with(name, (struct dpe_exit_use){.nwords = 1, .nresult = 1});
}

static void end(struct found *found)
{
	dpe_arena_free(found->arena);
}

static void assert_none_with(const char *name, struct dpe_exit_use use, const char *reason)
{
	struct found found = find_with(name, use);

	assert_int_equal(found.exits.count, 0);
	assert_non_null(strstr(found.exits.reason, reason));
	end(&found);
}

static void assert_none(const char *name, const char *reason)
{
	assert_none_with(name, (struct dpe_exit_use){.nwords = 1, .nresult = 1}, reason);
}

static const struct dpe_point_entry *only(const struct found *found)
{
	assert_int_equal(found->exits.count, 1);
	assert_false(found->exits.points[0].leaves);
	return &found->exits.points[0].entry;
}

/* Both ways of a jump are points, with results of their own. */
static void both_ways(void **state)
{
	static const char *const names[] = {"branches", "branches_far"};
	static const uint64_t constants[][2] = {{0, 1}, {6, 5}};

	(void)state;
	for (unsigned i = 0; i < DPE_COUNT(names); i++) {
		struct found found = find(names[i]);
		const struct dpe_exit_point *points = found.exits.points;

		assert_int_equal(found.exits.count, 2);
		assert_int_equal(points[0].entry.distance, 4);
		assert_int_equal(points[1].entry.distance, 4);
		assert_int_equal(points[0].entry.condition, 4); /* je */
		assert_int_equal(points[1].entry.condition, 5);
		assert_int_equal(points[0].entry.result, DPE_POINT_NO_REGISTER);
		assert_int_equal(points[0].entry.constant, constants[i][0]);
		assert_int_equal(points[1].entry.constant, constants[i][1]);
		assert_int_equal(points[0].entry.words[0].base, AT(di));
		assert_int_equal(points[0].entry.above, 0);
		assert_string_equal(points[0].when, "where it jumps");
		end(&found);
	}
}

static void what_is_saved_in_registers(void **state)
{
	struct found found = find("saves");
	const struct dpe_exit_point *points = found.exits.points;

	(void)state;
	assert_int_equal(found.exits.count, 2);
	for (unsigned i = 0; i < 2; i++) {
		assert_int_equal(points[i].entry.words[0].base, AT(bx));
		assert_false(points[i].entry.words[0].in_memory);
		assert_int_equal(points[i].entry.above, 8);
		assert_false(points[i].entry.own_frame);
	}
	assert_int_equal(points[0].entry.result, AT(bx)); /* where it does not jump */
	assert_int_equal(points[0].entry.mask, UINT32_MAX);
	assert_int_equal(points[1].entry.result, AT(ax));
	assert_int_equal(points[1].entry.mask, UINT64_MAX);
	end(&found);
}

static void what_is_saved_on_the_stack(void **state)
{
	struct found found = find("spills");
	const struct dpe_point_entry *entry = only(&found);

	(void)state;
	assert_int_equal(entry->condition, DPE_POINT_ALWAYS);
	assert_int_equal(entry->words[0].base, AT(sp));
	assert_true(entry->words[0].in_memory);
	assert_int_equal(entry->words[0].distance, 8);
	assert_int_equal(entry->above, 24);
	end(&found);
	found = find("has_frame");
	entry = only(&found);
	assert_true(entry->own_frame);
	assert_int_equal(entry->above, 24);
	assert_int_equal(entry->words[0].distance, 8);
	end(&found);
}

static void ways_out_to_another_function(void **state)
{
	struct found found = find("leaves");
	const struct dpe_exit_point *points = found.exits.points;

	(void)state;
	assert_int_equal(found.exits.count, 2);
	assert_true(points[0].leaves);
	assert_false(points[1].leaves);
	assert_int_equal(points[1].entry.result, AT(ax));
	end(&found);
	assert_none("leaves_with_others", "arguments are gone");
	found = find_with("leaves_with_others", (struct dpe_exit_use){.nresult = 1});
	assert_int_equal(found.exits.count, 1);
	end(&found);
}

static void what_must_not_come_between(void **state)
{
	const struct dpe_exit_use writes = {.nwords = 1, .nresult = 1, .may_write = true};
	struct found found;

	(void)state;
	assert_none("halves", "the kernel emulates nothing close");
	assert_none("loops", "a loop comes before");
	assert_none("calls_last", "a call comes right before");
	assert_none("writes_last", "effects right before it returns");
	found = find_with("writes_last", writes);
	assert_int_equal(found.exits.count, 1);
	end(&found);
	assert_none_with("locks_last", writes, "effects right before it returns");
	assert_none_with("exchanges_last", writes, "effects right before it returns");
}

static void what_must_be_known(void **state)
{
	struct found found;

	(void)state;
	assert_none("computes_last", "the result is made right before");
	found = find_with("computes_last", (struct dpe_exit_use){.nwords = 1});
	assert_int_equal(found.exits.count, 1);
	end(&found);
	assert_none("forgets", "arguments are gone");
	assert_none("forgets_on_one_way", "arguments are gone");
	assert_none("lets_others_write", "arguments are gone");
	assert_none("keeps_a_frame", "rbp is not the frame pointer");
	assert_none("jumps_by_table", "jumps by a table");
	assert_none("aligns", "stack is not understood");
	assert_none("loops_to_itself", "jumps to its beginning");
	assert_none_with("branches", (struct dpe_exit_use){.nwords = 7}, "arguments are on the stack");
	assert_none_with("branches", (struct dpe_exit_use){.nresult = 2}, "in two registers");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(both_ways),
		cmocka_unit_test(what_is_saved_in_registers),
		cmocka_unit_test(what_is_saved_on_the_stack),
		cmocka_unit_test(ways_out_to_another_function),
		cmocka_unit_test(what_must_not_come_between),
		cmocka_unit_test(what_must_be_known),
	};

	return cmocka_run_group_tests_name("exits", tests, NULL, NULL);
}
