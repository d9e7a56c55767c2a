/* When reading and delivering wait: only while all processors are wanted, much comes, and not for long. */
#include "probes/stream/backpressure.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#define MS UINT64_C(1000000)

static const struct dpe_pace LIMITS = {.processors = 2, .most = 100000, .longest = 75 * MS};

/* A pace of two processors that is told this, and after the time 1 s has brought so much. */
static struct dpe_pace pace_of(const char *told, uint64_t brought)
{
	char path[] = "/tmp/pace-XXXXXX";
	int file = mkstemp(path);
	struct dpe_pace pace;

	assert_true(file >= 0);
	assert_int_equal(write(file, told, strlen(told)), (ssize_t)strlen(told));
	close(file);
	dpe_pace_open(&pace, path, &LIMITS);
	unlink(path);
	dpe_pace_read(&pace, 998 * MS, 0);
	dpe_pace_read(&pace, 1000 * MS, brought);
	return pace;
}

static bool leaves_room(
	const char *told, uint64_t now, uint64_t unread, unsigned percent, uint64_t room)
{
	const struct dpe_backlog backlog = {unread, percent, room};
	struct dpe_pace pace = pace_of(told, 5000);
	bool left = dpe_pace_leaves(&pace, now, &backlog);

	dpe_pace_close(&pace);
	return left;
}

static bool leaves(const char *told, uint64_t now, uint64_t unread, unsigned percent)
{
	return leaves_room(told, now, unread, percent, 30000);
}

static uint64_t due_of(const char *told, uint64_t brought, uint64_t held, size_t bytes)
{
	struct dpe_pace pace = pace_of(told, brought);
	uint64_t time = dpe_pace_due(&pace, 1001 * MS, held, bytes);

	dpe_pace_close(&pace);
	return time;
}

static uint64_t due(const char *told, uint64_t brought, uint64_t held)
{
	return due_of(told, brought, held, 100 * held);
}

static const char CROWDED[] = "12.50 0.30 0.10 3/345 6789\n", FREE[] = "12.50 0.30 0.10 2/345 6789\n";

static void rings_are_left(void **state)
{
	(void)state;
	assert_true(leaves(CROWDED, 1001 * MS, 5000, 3));
	assert_true(leaves("0.00 0.00 0.00 13/345 6789\n", 1001 * MS, 5000, 3));
	assert_false(leaves(FREE, 1001 * MS, 5000, 3));
	assert_false(leaves(CROWDED, 1001 * MS, 10, 3));    /* few: told at once */
	assert_false(leaves(CROWDED, 1001 * MS, 5000, 30)); /* as much as that may get lost */
	assert_true(leaves_room(CROWDED, 1001 * MS, 5000, 30, 300000));
	assert_true(leaves(CROWDED, 1007 * MS, 5000, 3));
	assert_false(leaves(CROWDED, 1009 * MS, 5000, 3)); /* for too long */
}

static void delivering_waits(void **state)
{
	(void)state;
	assert_int_equal(due(CROWDED, 5000, 900), 1001 * MS - 75 * MS);
	assert_int_equal(due(FREE, 5000, 900), UINT64_MAX);
	assert_int_equal(due(CROWDED, 5, 900), UINT64_MAX);   /* the target has become quiet */
	assert_int_equal(due(CROWDED, 5000, 20), UINT64_MAX); /* few */
	assert_int_equal(due(CROWDED, 5000, 1000), UINT64_MAX); /* no room for more */
}

static void what_cannot_be_told(void **state)
{
	struct dpe_pace pace, none = {0};

	(void)state;
	assert_false(leaves("", 1001 * MS, 5000, 3));
	assert_false(leaves("3", 1001 * MS, 5000, 3));
	assert_false(leaves("/", 1001 * MS, 5000, 3));
	dpe_pace_open(&pace, "/nonexistent/loadavg", &LIMITS);
	dpe_pace_read(&pace, 1000 * MS, 5000);
	assert_int_equal(dpe_pace_due(&pace, 1001 * MS, 900, 90000), UINT64_MAX);
	dpe_pace_close(&pace);
	dpe_pace_close(&none);
	assert_true(lseek(STDIN_FILENO, 0, SEEK_CUR) >= 0 || errno != EBADF);
}

/* Threads that wait for each other want a processor again in a moment; not for ever. */
static void a_moment_of_rest(void **state)
{
	struct dpe_pace pace = pace_of(CROWDED, 5000), rested = pace_of(FREE, 5000);
	int crowded = pace.load;

	(void)state;
	assert_int_equal(dpe_pace_due(&pace, 1001 * MS, 900, 90000), 926 * MS);
	pace.load = rested.load;
	assert_int_equal(dpe_pace_due(&pace, 1011 * MS, 900, 90000), 936 * MS);
	assert_int_equal(dpe_pace_due(&pace, 1021 * MS, 900, 90000), UINT64_MAX);
	dpe_pace_close(&pace);
	close(crowded);
}

static void the_rate(void **state)
{
	struct dpe_pace pace = pace_of(FREE, 5000);

	(void)state;
	assert_int_equal(pace.rate, 2500);
	dpe_pace_read(&pace, 1000 * MS + 10, 70); /* at once again */
	assert_int_equal(pace.rate, 2500);
	assert_int_equal(pace.brought, 5000);
	dpe_pace_read(&pace, 1001 * MS, 200);
	assert_int_equal(pace.rate, 270);
	assert_int_equal(pace.brought, 270);
	dpe_pace_read(&pace, 1003 * MS, 0);
	assert_int_equal(pace.brought, 0);
	dpe_pace_close(&pace);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rings_are_left),
		cmocka_unit_test(delivering_waits),
		cmocka_unit_test(what_cannot_be_told),
		cmocka_unit_test(a_moment_of_rest),
		cmocka_unit_test(the_rate),
	};

	return cmocka_run_group_tests_name("pace", tests, NULL, NULL);
}
