/* ignored_memory: accesses that are to be ignored, as the program says (annotations.c). */
#include "probes/inside/memory_hooks.h"
#include "probes/limits.h"

/* Ranges whose races are benign, as the program says; a free one ends at 0. */
static struct {
	uint64_t begin, end;
} benign[DPE_PRELOAD_BENIGN];
bool dpe_memory_any_benign;
__thread struct dpe_memory_ignored dpe_memory_ignored;

static bool is_benign(uint64_t address, uint64_t size)
{
	for (unsigned i = 0; i < DPE_PRELOAD_BENIGN; i++) {
		if (address < __atomic_load_n(&benign[i].end, __ATOMIC_ACQUIRE) && benign[i].begin < address + size)
			return true;
	}
	return false;
}

bool dpe_memory_ignores(enum dpe_preload_memory what, uint64_t address, uint64_t size)
{
	bool reads = what == DPE_PRELOAD_READ || what == DPE_PRELOAD_ATOMIC_READ;

	return (reads ? dpe_memory_ignored.reads : dpe_memory_ignored.writes) || is_benign(address, size);
}

bool dpe_memory_ignores_order(void)
{
	return dpe_memory_ignored.order;
}

void dpe_memory_forget_benign(uint64_t address, uint64_t size)
{
	for (unsigned i = 0; i < DPE_PRELOAD_BENIGN; i++) {
		if (benign[i].begin >= address && benign[i].begin < address + size)
			__atomic_store_n(&benign[i].end, 0, __ATOMIC_RELEASE);
	}
}

void dpe_memory_add_benign(const volatile void *address, uint64_t size)
{
	const uint64_t end = (uint64_t)address + size;

	for (unsigned i = 0; i < DPE_PRELOAD_BENIGN; i++) {
		uint64_t free = 0;

		if (benign[i].begin == (uint64_t)address && benign[i].end == end)
			return;
		if (!__atomic_compare_exchange_n(&benign[i].end, &free, 1, false, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED))
			continue;
		benign[i].begin = (uint64_t)address;
		__atomic_store_n(&benign[i].end, end, __ATOMIC_RELEASE);
		dpe_memory_any_benign = true;
		return;
	}
	dpe_preload_lose_one(); /* their races will be reported */
}
