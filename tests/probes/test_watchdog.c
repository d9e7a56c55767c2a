/* The watchdog holds none of our files once it was made: a probe that we close then is gone, although a copy of
 * everything went to the new process. */
#include "probes/process/process.h"

#include <poll.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
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

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_holds_no_file_of_the_observer)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
