/* shared_memory: which memory several threads have used, in this run or an earlier one. */
#include "explore/sched/sched_state.h"

_Static_assert(DPE_SCHED_THREADS < DPE_SCHED_SHARED - 1, "a granule holds the number of a thread, plus 1");

/* Two granules in one entry, which is rare, only make for more choices. */
static uint8_t *granule_of(uint64_t address)
{
	uint64_t hash = (address >> 3) * UINT64_C(0x9e3779b97f4a7c15);

	return &dpe_sched->granules[hash >> 44 & (DPE_SCHED_GRANULES - 1)];
}

bool dpe_sched_is_shared(uint64_t address, unsigned thread)
{
	uint8_t *granule = granule_of(address);

	if (*granule == thread + 1)
		return false;
	if (!*granule) {
		*granule = (uint8_t)(thread + 1);
		return false;
	}
	if (*granule != DPE_SCHED_SHARED)
		dpe_sched->learned++;
	*granule = DPE_SCHED_SHARED;
	return true;
}

bool dpe_sched_block_is_shared(uint64_t address, size_t size, unsigned thread)
{
	bool shared = false;

	for (uint64_t at = address; at < address + size; at += DPE_SCHED_GRANULE)
		if (*granule_of(at))
			shared |= dpe_sched_is_shared(at, thread);
	return shared;
}
