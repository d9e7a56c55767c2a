/* sched_deadlock: no thread can proceed: a deadlock, unless something that the library does not see can end the wait. */
#include "explore/sched/control.h"

#include <signal.h>
#include <sys/stat.h>

static bool handles(int number)
{
	struct sigaction action;

	if (number == SIGPIPE || dpe_sched_is_fault(number))
		return false;
	return !sigaction(number, NULL, &action) && action.sa_handler != SIG_DFL && action.sa_handler != SIG_IGN;
}

/* sigaction refuses the numbers of the C library's own signals. */
bool dpe_sched_handles_signals(void)
{
	for (int number = 1; number < SIGRTMAX; number++)
		if (handles(number))
			return true;
	return false;
}

static void note_stuck(unsigned number)
{
	struct dpe_sched_thread *thread = &dpe_sched->threads[number];
	unsigned awaited = dpe_sched_awaited(thread);

	thread->stuck = true;
	if (awaited != DPE_SCHED_NOBODY && thread->op.kind != DPE_SCHED_JOIN)
		thread->held_by = (uint16_t)(awaited + 1);
}

static _Noreturn void end_deadlock(void)
{
	for (unsigned i = 0; i < dpe_sched->nthreads; i++)
		if (dpe_sched->threads[i].state == DPE_SCHED_CONTROLLED)
			note_stuck(i);
	dpe_sched_end(dpe_sched_handles_signals() ? DPE_SCHED_STUCK : DPE_SCHED_DEADLOCK);
}

void dpe_sched_find_cycle(unsigned from)
{
	unsigned at = from, length = 0;

	do
		at = dpe_sched_awaited(&dpe_sched->threads[at]);
	while (at != DPE_SCHED_NOBODY && at != from && ++length < dpe_sched->nthreads);
	if (at != from)
		return;
	do {
		note_stuck(at);
		at = dpe_sched_awaited(&dpe_sched->threads[at]);
	} while (at != from);
	dpe_sched_end(DPE_SCHED_DEADLOCK);
}

/* The C library has threads of its own, for timers, and the kernel for io_uring. The links of the folder are two and one for each
 * thread; this one may have finished. */
static bool has_unseen_threads(void)
{
	const struct dpe_sched_thread *me = dpe_sched_mine();
	unsigned known = dpe_sched->live + (me && me->state == DPE_SCHED_FINISHED);
	struct stat tasks;

	return !stat("/proc/self/task", &tasks) && tasks.st_nlink > known + 2;
}

/* A thread that has finished may be counted until it has left. */
static bool are_threads_unseen(void)
{
	for (unsigned ms = 0; ms < DPE_SCHED_HANDLER_MS; ms++) {
		if (!has_unseen_threads())
			return false;
		dpe_sched_pause();
	}
	dpe_sched->unseen++;
	return true;
}

void dpe_sched_nobody_can(void)
{
	if (!dpe_sched->live || dpe_sched_anybody_outside())
		return;
	for (unsigned i = 0; i < dpe_sched->nthreads; i++)
		dpe_sched_find_cycle(i);
	if (!are_threads_unseen())
		end_deadlock();
}
