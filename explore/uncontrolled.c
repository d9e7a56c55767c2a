/* uncontrolled: threads that the library does not see: they block in the kernel, or compute for long without calling
 * it. They run uncontrolled while the others continue. */
#include "explore/runs.h"

#include <linux/futex.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define LONG_COMPUTATION 100000000 /* ns */

/* The system call that it sleeps in; -1: none. A thread that waits uninterruptibly, for a page, a disk or the exec of its
 * vfork child, continues whatever other threads do, so it does not count as asleep. */
static int blocking_call(const struct dpe_server *server, uint32_t tid)
{
	struct dpe_thread_state state;

	return dpe_thread_look((pid_t)server->memory->pid, (pid_t)tid, &state) && state.stat.state == 'S' ? (int)state.call : -1;
}

/* 0: it has ended. */
static uint64_t computed(const struct dpe_server *server, uint32_t tid)
{
	char path[64], text[128];

	snprintf(path, sizeof(path), "/proc/%u/task/%u/schedstat", server->memory->pid, tid);
	return dpe_proc_text(text, sizeof(text), path) ? strtoull(text, NULL, 10) : 0;
}

/* ---- what is said of it ------------------------------------------------------------------- */

static void print_call(int number, struct dpe_text *to)
{
	int file;
	const char *name = number == SYS_futex ? "futex" : dpe_blocking_call(number, &file);

	if (name)
		dpe_text_printf(to, "blocked in %s", name);
	else
		dpe_text_printf(to, "blocked in system call %d", number);
}

static void note(struct dpe_server *server, const struct dpe_sched_op *last, int call)
{
	struct dpe_text line = {0};

	if (call >= 0)
		print_call(call, &line);
	else
		dpe_text_puts(&line, "computed for a long time without a call that dpe controls");
	dpe_text_printf(&line, ", after %s at ", dpe_sched_kind_name(last->kind));
	dpe_place_print(&server->symbols, last->pc, &line);
	dpe_text_puts(&line, "\n");
	if (!server->outside.at || !strstr(server->outside.at, line.at))
		dpe_text_puts(&server->outside, line.at);
	dpe_text_free(&line);
}

/* ---- handing over -------------------------------------------------------------------------- */

/* Lets a thread that waits for its baton make the choice instead: the value 2 of a baton. */
static bool kick(struct dpe_sched_header *memory, uint32_t running, uint32_t step)
{
	for (uint32_t i = 0; i < memory->nthreads && i < DPE_SCHED_THREADS; i++) {
		struct dpe_sched_thread *thread = &memory->threads[i];
		uint32_t waits = 0;

		if (i == running || thread->state != DPE_SCHED_CONTROLLED)
			continue;
		memory->kicked_at = step;
		memory->kicked = running + 1;
		if (!__atomic_compare_exchange_n(&thread->baton, &waits, 2, false,
			    __ATOMIC_RELEASE, __ATOMIC_RELAXED))
			continue;
		syscall(SYS_futex, &thread->baton, FUTEX_WAKE, 1, NULL, NULL, 0);
		return true;
	}
	return false;
}

static bool is_new(
	const struct dpe_sched_header *memory, uint32_t running, struct dpe_run_watch *watch)
{
	bool same = watch->known && watch->running == running && watch->steps == memory->steps;

	watch->known = true;
	watch->running = running;
	watch->steps = memory->steps;
	return !same;
}

void dpe_watch_run(struct dpe_server *server, struct dpe_run_watch *watch)
{
	struct dpe_sched_header *memory = server->memory;
	uint32_t running = __atomic_load_n(&memory->running, __ATOMIC_RELAXED);
	const struct dpe_sched_thread *thread;
	struct dpe_sched_op last; /* copied before the kick, as is the call: afterwards others run, or gdb stops
				   * all */
	uint64_t cpu;
	uint32_t step;
	bool asleep;
	int call;

	if (running >= DPE_SCHED_THREADS || !memory->pid)
		return;
	thread = &memory->threads[running];
	if (thread->inside) {
		watch->known = false;
		return;
	}
	step = __atomic_load_n(&thread->steps, __ATOMIC_RELAXED);
	call = blocking_call(server, thread->tid);
	asleep = call >= 0;
	cpu = computed(server, thread->tid);
	if (is_new(memory, running, watch)) {
		watch->cpu = cpu;
		watch->asleep = asleep;
		return;
	}
	if (asleep ? !watch->asleep : cpu < watch->cpu + LONG_COMPUTATION) {
		watch->asleep = asleep;
		return;
	}
	last = thread->op;
	if (kick(memory, watch->running, step)) {
		note(server, &last, call);
		watch->known = false;
	}
}

/* ---- the time of a run --------------------------------------------------------------------- */

/* The time of all threads of the process, including ended ones; 0: the process has ended. */
static uint64_t cpu_of(pid_t pid)
{
	clockid_t clock;

	return pid > 0 && !clock_getcpuclockid(pid, &clock) ? dpe_clock(clock) : 0;
}

/* Whether the thread whose turn it is could run if it had a processor. */
static bool is_runnable(const struct dpe_sched_header *memory)
{
	uint32_t running = __atomic_load_n(&memory->running, __ATOMIC_RELAXED);
	struct dpe_thread_state state;

	return running < DPE_SCHED_THREADS &&
		dpe_thread_look((pid_t)memory->pid, (pid_t)memory->threads[running].tid, &state) && state.stat.state == 'R';
}

void dpe_run_time_add(const struct dpe_server *server, struct dpe_run_time *time)
{
	struct dpe_run_time last = *time;
	uint64_t ran, waited, max = UINT64_C(2000000) * DPE_EXPLORE_LOOK;

	time->looked = dpe_clock(CLOCK_MONOTONIC);
	time->cpu = cpu_of((pid_t)server->memory->pid);
	if (!last.looked)
		return;
	ran = time->cpu > last.cpu ? time->cpu - last.cpu : 0;
	waited = time->looked - last.looked;
	time->had += ran;
	if (!is_runnable(server->memory))
		time->had += waited < ran ? 0 : waited - ran < max ? waited - ran : max;
}
