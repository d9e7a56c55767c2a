/* thread_starts: who creates a thread waits until it reports its first event. Otherwise one thread may have done everything
 * before the next one begins, and what it did may hide races that differ in the data, so that no prediction finds them. */
#include "probes/inside/memory_hooks.h"
#include "probes/limits.h"

#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static __thread uint64_t before;

void dpe_memory_expect_thread(void)
{
	before = dpe_preload_writers();
}

static bool has_begun(void)
{
	const struct timespec pause = {.tv_nsec = DPE_START_PAUSE};

	for (unsigned i = 0; i < DPE_START_PAUSES; i++) {
		if (dpe_preload_writers() != before)
			return true;
		syscall(SYS_nanosleep, &pause, NULL);
	}
	return false;
}

/* Some threads report nothing. */
void dpe_memory_await_thread(void)
{
	static unsigned in_vain;

	if (!dpe_preload_look->once || dpe_preload_filtered || __atomic_load_n(&in_vain, __ATOMIC_RELAXED) >= DPE_STARTS_IN_VAIN)
		return;
	if (!has_begun())
		__atomic_add_fetch(&in_vain, 1, __ATOMIC_RELAXED);
}
