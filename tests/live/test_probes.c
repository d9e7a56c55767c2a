/* Messages of targets with real probes: calls, stacks, threads, losses. */
#include "tests/live/observe.h"

/* ---- calls
 * ------------------------------------------------------------------------------------------ */

static void check_calls(char *program, bool one_by_one, unsigned stack_depth)
{
	struct run run;

	begin(&run);
	run.options.one_by_one = one_by_one;
	run.options.stack_depth = stack_depth;
	add_site(&run, NULL, "work", 1);
	observe(&run, ARGV(program, "calls", "5"));
	assert_true(WIFEXITED(run.status) && !WEXITSTATUS(run.status));
	assert_int_equal(run.count, 10);
	for (int i = 0; i < 10; i++) {
		const struct dpe_message *message = run.messages[i];

		assert_true(is_event(&run, message, "work", i % 2 ? DPE_EXIT : DPE_ENTER));
		assert_int_equal(message->seq, i);
		assert_int_equal(message->nargs, 1);
		assert_int_equal(number(message->args[0]), i / 2);
		assert_int_equal(number(message->thread), dpe_probes_pid(run.probes));
		assert_int_equal(number(message->process), dpe_probes_pid(run.probes));
		assert_string_equal(message->comm, strrchr(program, '/') + 1);
		assert_string_equal(
			dpe_name_text(run.names, message->module), strrchr(program, '/') + 1);
		assert_true(
			message->has_time && (!i || message->time >= run.messages[i - 1]->time));
		if (i % 2)
			assert_int_equal(number(message->ret), i / 2 + 1);
		assert_int_equal(!message->npcs, !stack_depth);
	}
	assert_no_gaps(&run);
	end(&run);
}

static void calls_of_any_program(void **state)
{
	check_calls(targets_of(state)->plain, false, 0);
	check_calls(targets_of(state)->fixed, false, 0);
	check_calls(targets_of(state)->whole, false, 0);
}

static void calls_one_by_one(void **state)
{
	if (!is_root())
		skip();
	check_calls(targets_of(state)->plain, true, 0);
}

static void calls_with_stacks(void **state)
{
	check_calls(targets_of(state)->plain, false, 32);
	check_calls(targets_of(state)->fixed, is_root(), 3);
}

static void arguments_on_the_stack(void **state)
{
	struct run run;

	begin(&run);
	add_site(&run, NULL, "eight", 8);
	observe(&run, ARGV(targets_of(state)->plain, "eight"));
	assert_int_equal(run.count, 2);
	for (int i = 0; i < 7; i++)
		assert_int_equal(number(run.messages[0]->args[i]), i + 1);
	assert_int_equal(number(run.messages[1]->args[7]), -8);
	assert_int_equal(number(run.messages[1]->ret), 20);
	end(&run);
}

static void library_calls(void **state)
{
	struct run run;

	begin(&run);
	add_site(&run, "libtwice", "library_twice", 1);
	add_site(&run, NULL, "library_twice", 1);
	observe(&run, ARGV(targets_of(state)->plain, "library"));
	assert_int_equal(run.count, 2);
	assert_int_equal(number(run.messages[1]->ret), 42);
	assert_string_equal(dpe_name_text(run.names, run.messages[0]->module), "libtwice.so.1");
	end(&run);
}

static void calls_within_calls(void **state)
{
	struct run run;

	begin(&run);
	add_site(&run, NULL, "tail", 1);
	add_site(&run, NULL, "work", 1);
	observe(&run, ARGV(targets_of(state)->plain, "tail"));
	assert_int_equal(run.count, 4);
	assert_int_equal(count_events(&run, "tail", DPE_EXIT), 1);
	assert_int_equal(count_events(&run, "work", DPE_EXIT), 1);
	assert_no_gaps(&run);
	end(&run);
}

static void returns_that_never_come(void **state)
{
	struct run run;

	begin(&run);
	add_site(&run, NULL, "jumps", 1);
	add_site(&run, NULL, "work", 1);
	observe(&run, ARGV(targets_of(state)->plain, "jumps", "500"));
	assert_true(WIFEXITED(run.status) && !WEXITSTATUS(run.status));
	assert_int_equal(count_events(&run, "jumps", DPE_ENTER), 501);
	assert_int_equal(count_events(&run, "jumps", DPE_EXIT), 1);
	assert_int_equal(count_events(&run, "work", DPE_EXIT), 1);
	assert_no_gaps(&run);
	end(&run);
}

/* The kernel follows 64 returns of a thread; the others are lost, and counted. */
static void deep_recursion(void **state)
{
	struct run run;

	begin(&run);
	add_site(&run, NULL, "deep", 1);
	observe(&run, ARGV(targets_of(state)->plain, "deep", "100"));
	assert_true(WIFEXITED(run.status) && !WEXITSTATUS(run.status));
	assert_int_equal(count_events(&run, "deep", DPE_ENTER), 100);
	assert_int_equal(run.nlosses, 1);
	assert_int_equal(run.losses[0].count, 36);
	assert_int_equal(count_events(&run, "deep", DPE_EXIT), 64);
	assert_int_equal(count_gaps(&run, dpe_probes_pid(run.probes)), 36);
	end(&run);
}

/* ---- stacks
 * -------------------------------------------------------------------------------------------- */

static void callers(void **state)
{
	struct run run;
	struct dpe_message *resolved;

	begin(&run);
	run.options.stack_depth = 8;
	add_site(&run, NULL, "work", 1);
	observe(&run, ARGV(targets_of(state)->plain, "outer"));
	assert_int_equal(run.count, 2);
	for (int i = 0; i < 2; i++) {
		resolved = dpe_probes_resolve(run.probes, run.messages[i]);
		assert_true(resolved->nstack >= 2);
		assert_memory_equal(resolved->stack[0], "work", 4);
		assert_memory_equal(resolved->stack[1], "outer+", 6);
		dpe_message_unref(resolved);
	}
	end(&run);
}

/* ---- threads
 * ------------------------------------------------------------------------------------------- */

static bool has_ended(const struct run *run, int64_t handle)
{
	for (unsigned i = 0; i < run->count; i++)
		if (is_event(run, run->messages[i], "thread::exit", DPE_BARE) &&
			number(run->messages[i]->args[1]) == handle)
			return true;
	return false;
}

static void check_threads(char *program, bool one_by_one)
{
	struct run run;

	begin(&run);
	run.options.one_by_one = one_by_one;
	run.plan.threads = true;
	add_site(&run, NULL, "work", 1);
	add_site(&run, "libc", "pthread_join", 2);
	observe(&run, ARGV(program, "threads", "8", "200"));
	assert_int_equal(count_events(&run, "work", DPE_ENTER), 1600);
	assert_int_equal(count_events(&run, "work", DPE_EXIT), 1600);
	assert_int_equal(count_events(&run, "thread::create", DPE_BARE), 8);
	assert_int_equal(count_events(&run, "thread::start", DPE_BARE), 8);
	assert_int_equal(count_events(&run, "thread::exit", DPE_BARE), 9);
	assert_int_equal(count_events(&run, "pthread_join", DPE_EXIT), 8);
	assert_no_gaps(&run);
	for (unsigned i = 0; i < run.count; i++) {
		const struct dpe_message *message = run.messages[i];

		if (is_event(&run, message, "thread::start", DPE_BARE))
			assert_int_equal(message->seq, 0);
		if (is_event(&run, message, "thread::exit", DPE_BARE))
			assert_int_equal(number(message->args[0]), number(message->thread));
		if (is_event(&run, message, "pthread_join", DPE_EXIT))
			assert_true(has_ended(&run, number(message->args[0])));
	}
	end(&run);
}

static void threads_and_their_events(void **state)
{
	check_threads(targets_of(state)->plain, false);
	check_threads(targets_of(state)->fixed, is_root());
}

static void main_thread_ends_first(void **state)
{
	struct run run;

	begin(&run);
	run.plan.threads = true;
	add_site(&run, NULL, "work", 1);
	observe(&run, ARGV(targets_of(state)->plain, "early", "20"));
	assert_true(WIFEXITED(run.status));
	assert_int_equal(WEXITSTATUS(run.status), 7);
	assert_int_equal(count_events(&run, "work", DPE_EXIT), 20);
	assert_int_equal(count_events(&run, "thread::exit", DPE_BARE), 2);
	assert_no_gaps(&run);
	end(&run);
}

static void children_are_not_observed(void **state)
{
	struct run run;

	begin(&run);
	run.plan.threads = true;
	add_site(&run, NULL, "work", 1);
	observe(&run, ARGV(targets_of(state)->plain, "fork", "20"));
	assert_int_equal(count_events(&run, "work", DPE_ENTER), 20);
	assert_int_equal(count_events(&run, "thread::create", DPE_BARE), 0);
	assert_no_gaps(&run);
	end(&run);
}

static void check_children(char *program, bool one_by_one, bool stop_processes)
{
	struct run run;

	begin(&run);
	run.options.follow = true;
	run.options.one_by_one = one_by_one;
	run.options.stop_processes = stop_processes;
	add_site(&run, NULL, "work", 1);
	observe(&run, ARGV(program, "fork", "20"));
	assert_true(WIFEXITED(run.status) && !WEXITSTATUS(run.status));
	assert_int_equal(count_events(&run, "work", DPE_ENTER), 40);
	assert_int_equal(count_events(&run, "work", DPE_EXIT), 40);
	assert_int_equal(count_events(&run, "thread::create", DPE_BARE), 1);
	assert_int_equal(run.nlosses, 0);
	end(&run);
}

static void children_are_followed(void **state)
{
	check_children(targets_of(state)->plain, false, false);
	check_children(targets_of(state)->whole, false, false);
}

static void children_are_stopped_until_they_have_probes(void **state)
{
	check_children(targets_of(state)->plain, false, true);
	check_children(targets_of(state)->whole, false, true);
}

/* It would never continue itself. */
static void parents_that_stop_with_their_child_are_continued(void **state)
{
	struct run run;

	begin(&run);
	run.options.follow = run.options.stop_processes = true;
	add_site(&run, NULL, "work", 1);
	observe(&run, ARGV(targets_of(state)->plain, "imitator", "30"));
	assert_true(WIFEXITED(run.status) && WEXITSTATUS(run.status) == 1); /* which says that it saw a stop */
	assert_int_equal(count_events(&run, "work", DPE_ENTER), 30);
	assert_int_equal(run.nlosses, 0);
	end(&run);
}

static void children_one_by_one(void **state)
{
	if (!is_root())
		skip();
	check_children(targets_of(state)->plain, true, false);
	check_children(targets_of(state)->plain, true, true);
}

/* ---- losses
 * -----------------------------------------------------------------------------------------------
 */

static void losses_are_exact(void **state)
{
	uint64_t lost = 0;
	struct run run;

	begin(&run);
	run.options.ring_bytes = 4096;
	run.plan.threads = true;
	add_site(&run, NULL, "work", 1);
	observe(&run, ARGV(targets_of(state)->plain, "threads", "4", "20000"));
	assert_true(WIFEXITED(run.status) && !WEXITSTATUS(run.status));
	for (unsigned i = 0; i < run.nlosses; i++) {
		lost += run.losses[i].count;
		assert_true(count_gaps(&run, run.losses[i].thread) <= run.losses[i].count);
		assert_true(run.losses[i].first <= run.losses[i].last);
	}
	assert_true(lost > 0);
	assert_int_equal(run.count + lost, 4 * 20000 * 2 + 4 + 4 + 5);
	end(&run);
}

/* ---- all --------------------------------------------------------------------------------------
 */

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(calls_of_any_program),
		cmocka_unit_test(calls_one_by_one),
		cmocka_unit_test(calls_with_stacks),
		cmocka_unit_test(arguments_on_the_stack),
		cmocka_unit_test(library_calls),
		cmocka_unit_test(calls_within_calls),
		cmocka_unit_test(returns_that_never_come),
		cmocka_unit_test(deep_recursion),
		cmocka_unit_test(callers),
		cmocka_unit_test(threads_and_their_events),
		cmocka_unit_test(main_thread_ends_first),
		cmocka_unit_test(children_are_not_observed),
		cmocka_unit_test(children_are_followed),
		cmocka_unit_test(children_are_stopped_until_they_have_probes),
		cmocka_unit_test(parents_that_stop_with_their_child_are_continued),
		cmocka_unit_test(children_one_by_one),
		cmocka_unit_test(losses_are_exact),
	};

	return may_run() ? cmocka_run_group_tests(tests, make_all, remove_all) : 0;
}
