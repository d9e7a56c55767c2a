/* thread_starts: threads that are created one after the other begin together. Otherwise one may have done everything before the
 * next one exists, and what orders them then may hide races that no prediction finds, as they depend on other values. */
#include "probes/inside/memory_hooks.h"
#include "probes/inside/ring_slots.h"
#include "probes/limits.h"

#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/* New threads wait until this time; 0: they do not. */
static uint64_t waits_until;
static uint32_t came, begun;
static __thread bool creates;

void dpe_memory_create_thread(void)
{
	if (!dpe_preload_look->once || dpe_preload_filtered)
		return;
	creates = true;
	__atomic_store_n(&waits_until, dpe_preload_now() + DPE_START_TIME, __ATOMIC_RELAXED);
}

void dpe_memory_end_creation(void)
{
	if (creates)
		__atomic_store_n(&waits_until, 0, __ATOMIC_RELAXED);
	creates = false;
}

static bool may_begin(uint32_t place, uint64_t now)
{
	return now >= __atomic_load_n(&waits_until, __ATOMIC_RELAXED) && __atomic_load_n(&begun, __ATOMIC_RELAXED) >= place;
}

/* In the order in which they come. */
void dpe_memory_begin_thread(void)
{
	const struct timespec pause = {.tv_nsec = DPE_START_PAUSE};
	uint32_t place = __atomic_fetch_add(&came, 1, __ATOMIC_RELAXED);
	uint64_t now = dpe_preload_now(), latest = now + 2 * DPE_START_TIME;

	for (; !dpe_preload_filtered && now < latest && !may_begin(place, now); now = dpe_preload_now())
		syscall(SYS_nanosleep, &pause, NULL);
	__atomic_store_n(&begun, place + 1, __ATOMIC_RELAXED);
}
