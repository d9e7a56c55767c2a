/* event_flags: see event_flags.h. */
#include "probes/kernel/event_flags.h"

#include <bpf/libbpf.h>
#include <errno.h>
#include <stdbool.h>
#include <sys/mman.h>

/* ---- what is shared ---------------------------------------------------------------------- */

unsigned dpe_event_flags_shares(void)
{
	int processors = libbpf_num_possible_cpus();
	unsigned shares = 1;

	while (processors > 0 && shares < (unsigned)processors)
		shares *= 2;
	return shares;
}

int dpe_event_flags_open(struct dpe_event_flags *flags, uint32_t *states, unsigned count, int map)
{
	const unsigned shares = dpe_event_flags_shares();
	void *counts = mmap(NULL, shares * sizeof(*flags->counts), PROT_READ, MAP_SHARED, map, 0);

	if (counts == MAP_FAILED)
		return errno;
	flags->states = states;
	flags->counts = counts;
	flags->shares = shares;
	flags->count = count;
	return 0;
}

void dpe_event_flags_close(struct dpe_event_flags *flags)
{
	if (flags->counts)
		munmap(flags->counts, flags->shares * sizeof(*flags->counts));
	flags->counts = NULL;
	flags->states = NULL;
}

static uint64_t load(const __u64 *from)
{
	return __atomic_load_n((const uint64_t *)from, __ATOMIC_SEQ_CST);
}

static uint64_t count_begun(const struct dpe_event_flags *flags, unsigned flag)
{
	uint64_t sum = 0;

	for (unsigned i = 0; i < flags->shares; i++)
		sum += load(&flags->counts[i].at[flag].begun);
	return sum;
}

static uint64_t count_done(const struct dpe_event_flags *flags, unsigned flag)
{
	uint64_t sum = 0;

	for (unsigned i = 0; i < flags->shares; i++)
		sum += load(&flags->counts[i].at[flag].done);
	return sum;
}

/* ---- setting and unsetting --------------------------------------------------------------- */

void dpe_event_flags_keep(struct dpe_event_flags *flags, uint64_t set)
{
	flags->forever |= set;
	for (set = flags->states ? flags->forever : 0; set; set &= set - 1)
		__atomic_store_n(
			&flags->states[__builtin_ctzll(set)], DPE_FLAG_SET, __ATOMIC_SEQ_CST);
}

/* In this order: an event that had not begun when we read `begun` cannot have been counted as done before. So
 * if the numbers are equal, no event was in between. */
void dpe_event_flags_look(struct dpe_event_flags *flags)
{
	flags->quiet = 0;
	for (unsigned i = 0; i < flags->count; i++) {
		uint64_t done = count_done(flags, i);

		flags->begun[i] = count_begun(flags, i);
		if (done == flags->begun[i])
			flags->quiet |= UINT64_C(1) << i;
	}
	flags->quiet &= ~flags->forever;
}

static void unset(struct dpe_event_flags *flags, unsigned flag)
{
	uint32_t closing = DPE_FLAG_CLOSING;

	if (__atomic_load_n(&flags->states[flag], __ATOMIC_RELAXED) == DPE_FLAG_UNSET)
		return;
	__atomic_exchange_n(&flags->states[flag], DPE_FLAG_CLOSING, __ATOMIC_SEQ_CST);
	if (count_begun(flags, flag) == flags->begun[flag])
		__atomic_compare_exchange_n(&flags->states[flag], &closing, DPE_FLAG_UNSET, false,
			__ATOMIC_SEQ_CST, __ATOMIC_RELAXED);
}

void dpe_event_flags_unset(struct dpe_event_flags *flags, uint64_t set)
{
	for (set &= flags->quiet; set; set &= set - 1)
		unset(flags, (unsigned)__builtin_ctzll(set));
}
