/* Once made, the watchdog holds none of our files: a probe that we close is gone, although the new process
 * got a copy of everything. And it distinguishes a thread that is stopped from one that is late. */
#include "probes/process/process.h"

#include <poll.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

static void nothing(const void *context)
{
	(void)context;
}

static void test_holds_no_file_of_the_observer(void **state)
{
	static const struct dpe_watchdog_task task = {.act = nothing};

	(void)state;
	for (unsigned i = 0; i < 200; i++) {
		struct dpe_watchdog watchdog = {0};
		int ends[2];

		assert_int_equal(pipe(ends), 0);
		assert_int_equal(dpe_watchdog_make(&watchdog, &task), 0);
		close(ends[1]);
		struct pollfd end = {.fd = ends[0], .events = POLLIN};
		assert_int_equal(poll(&end, 1, 0), 1);
		assert_true(end.revents & POLLHUP);
		close(ends[0]);
		dpe_watchdog_dismiss(&watchdog);
	}
}

/* ---- who is late, and who stands still --------------------------------------------------- */

enum { PAUSE = 100000000 };

static pid_t begin(void (*what)(void))
{
	pid_t child = fork();

	if (!child) {
		setpgid(0, 0);
		what();
		_exit(0);
	}
	return child;
}

static void end(pid_t child)
{
	kill(-child, SIGKILL);
	waitpid(child, NULL, 0);
}

static char state_of(pid_t child)
{
	struct dpe_thread_state state;

	assert_true(dpe_thread_look(child, child, &state));
	return state.stat.state;
}

/* Returns when it stays in this state. */
static struct dpe_paced paced_in(pid_t child, char state)
{
	struct dpe_paced paced = {child, child, 0, 0};

	while (state_of(child) != state)
		sched_yield();
	dpe_watchdog_pace(&paced, PAUSE);
	return paced;
}

static void sleep_for_ever(void)
{
	for (;;)
		pause();
}

static void stop_itself(void)
{
	raise(SIGSTOP);
}

static void wait_for_its_child(void)
{
	if (!vfork())
		sleep_for_ever();
}

/* It shares a processor with another one, and gets the smaller share. */
static void run_for_ever(void)
{
	const struct sched_param none = {0};

	sched_setscheduler(0, SCHED_IDLE, &none);
	for (;;)
		continue;
}

static void test_who_sleeps_stands_still(void **state)
{
	pid_t sleeper = begin(sleep_for_ever), stopped = begin(stop_itself);
	struct dpe_paced paced = paced_in(sleeper, 'S');

	(void)state;
	assert_int_equal(dpe_watchdog_pace(&paced, PAUSE), PAUSE);
	paced = paced_in(stopped, 'T');
	assert_int_equal(dpe_watchdog_pace(&paced, PAUSE), PAUSE);
	end(sleeper);
	end(stopped);
	assert_int_equal(dpe_watchdog_pace(&paced, PAUSE), PAUSE);
}

static void test_who_waits_for_a_processor_is_late(void **state)
{
	pid_t runner = begin(run_for_ever);
	struct dpe_paced paced = paced_in(runner, 'R');
	uint64_t before = paced.ran, counted = 0;

	(void)state;
	for (unsigned i = 0; i < 1000; i++)
		counted += dpe_watchdog_pace(&paced, PAUSE);
	assert_int_equal(counted, paced.ran - before);
	end(runner);
}

static void test_who_waits_in_the_kernel_is_late_for_a_time(void **state)
{
	pid_t parent = begin(wait_for_its_child);
	struct dpe_paced paced = paced_in(parent, 'D');

	(void)state;
	assert_int_equal(dpe_watchdog_pace(&paced, PAUSE), PAUSE / DPE_WATCH_SLOWNESS);
	end(parent);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_holds_no_file_of_the_observer),
		cmocka_unit_test(test_who_sleeps_stands_still),
		cmocka_unit_test(test_who_waits_for_a_processor_is_late),
		cmocka_unit_test(test_who_waits_in_the_kernel_is_late_for_a_time),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
