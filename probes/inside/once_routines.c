/* once_routines: a routine of pthread_once, call_once or std::call_once that is left by an exception, cancellation or
 * pthread_exit has not run, and the next call runs it again. The C library then stores to the control word, and the next
 * call loads it: these are no calls, so they are reported here, as atomic operations on that word. */
#include "probes/inside/memory_hooks.h"

struct run {
	struct dpe_once_call *call;
	struct dpe_memory_place place;
};

/* The thread's innermost call whose routine may begin. */
static __thread struct dpe_once_call *innermost;

static void end(const struct run *run)
{
	if (!run->call->returned && dpe_memory_is_wanted(DPE_PRELOAD_ATOMIC_STORE))
		dpe_memory_sync(DPE_PRELOAD_ATOMIC_STORE, (uint64_t)run->call->control, sizeof(int), run->place);
}

static void run_routine(void)
{
	__attribute__((cleanup(end))) struct run run = {innermost, DPE_MEMORY_HERE};

	if (dpe_memory_is_wanted(DPE_PRELOAD_ATOMIC_LOAD))
		dpe_memory_sync(DPE_PRELOAD_ATOMIC_LOAD, (uint64_t)run.call->control, sizeof(int), run.place);
	run.call->routine();
	run.call->returned = true;
}

void (*dpe_once_begin(struct dpe_once_call *call))(void)
{
	call->outer = innermost;
	innermost = call;
	return run_routine;
}

void dpe_once_end(struct dpe_once_call *call)
{
	innermost = call->outer;
}
