/* A check of a run whose thread has ended since the check before, as all do when a signal ends the process. */
#include "explore/runs.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

enum { NO_PROCESS = 1 << 30 }; /* more than any number of a process */

static void test_ended_thread(void **state)
{
	struct dpe_sched_header *memory = dpe_xcalloc(1, sizeof(*memory));
	struct dpe_server server = {.memory = memory};
	struct dpe_run_watch watch = {.known = true, .running = 0, .steps = 7, .cpu = 1};

	(void)state;
	memory->pid = NO_PROCESS;
	memory->nthreads = 2;
	memory->steps = 7;
	memory->threads[0].tid = NO_PROCESS;
	memory->threads[0].state = memory->threads[1].state = DPE_SCHED_CONTROLLED;
	dpe_watch_run(&server, &watch);
	assert_int_equal(memory->kicked, 0);
	assert_null(server.outside.at);
	dpe_text_free(&server.outside);
	free(memory);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_ended_thread)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
