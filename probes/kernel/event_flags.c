/* event_flags: see marks.h. */
#include "probes/kernel/event_flags.h"

#include <bpf/libbpf.h>
#include <errno.h>
#include <stdbool.h>
#include <sys/mman.h>

/* ---- what is shared ---------------------------------------------------------------------- */

unsigned dpe_marks_shares(void)
{
	int processors = libbpf_num_possible_cpus();
	unsigned shares = 1;

	while (processors > 0 && shares < (unsigned)processors)
		shares *= 2;
	return shares;
}

int dpe_marks_open(struct dpe_marks *marks, uint32_t *states, unsigned count, int map)
{
	const unsigned shares = dpe_marks_shares();
	void *counts = mmap(NULL, shares * sizeof(*marks->counts), PROT_READ, MAP_SHARED, map, 0);

	if (counts == MAP_FAILED)
		return errno;
	marks->states = states;
	marks->counts = counts;
	marks->shares = shares;
	marks->count = count;
	return 0;
}

void dpe_marks_close(struct dpe_marks *marks)
{
	if (marks->counts)
		munmap(marks->counts, marks->shares * sizeof(*marks->counts));
	marks->counts = NULL;
	marks->states = NULL;
}

static uint64_t load(const __u64 *from)
{
	return __atomic_load_n((const uint64_t *)from, __ATOMIC_SEQ_CST);
}

static uint64_t count_begun(const struct dpe_marks *marks, unsigned mark)
{
	uint64_t sum = 0;

	for (unsigned i = 0; i < marks->shares; i++)
		sum += load(&marks->counts[i].at[mark].begun);
	return sum;
}

static uint64_t count_done(const struct dpe_marks *marks, unsigned mark)
{
	uint64_t sum = 0;

	for (unsigned i = 0; i < marks->shares; i++)
		sum += load(&marks->counts[i].at[mark].done);
	return sum;
}

/* ---- setting and unsetting --------------------------------------------------------------- */

void dpe_marks_keep(struct dpe_marks *marks, uint64_t set)
{
	marks->forever |= set;
	for (set = marks->states ? marks->forever : 0; set; set &= set - 1)
		__atomic_store_n(
			&marks->states[__builtin_ctzll(set)], DPE_MARK_SET, __ATOMIC_SEQ_CST);
}

/* In this order: what had not begun when we count those cannot have been done before. So where the
 * numbers are the same, none was between the two in the meantime. */
void dpe_marks_look(struct dpe_marks *marks)
{
	marks->quiet = 0;
	for (unsigned i = 0; i < marks->count; i++) {
		uint64_t done = count_done(marks, i);

		marks->begun[i] = count_begun(marks, i);
		if (done == marks->begun[i])
			marks->quiet |= UINT64_C(1) << i;
	}
	marks->quiet &= ~marks->forever;
}

static void unset(struct dpe_marks *marks, unsigned mark)
{
	uint32_t closing = DPE_MARK_CLOSING;

	if (__atomic_load_n(&marks->states[mark], __ATOMIC_RELAXED) == DPE_MARK_UNSET)
		return;
	__atomic_exchange_n(&marks->states[mark], DPE_MARK_CLOSING, __ATOMIC_SEQ_CST);
	if (count_begun(marks, mark) == marks->begun[mark])
		__atomic_compare_exchange_n(&marks->states[mark], &closing, DPE_MARK_UNSET, false,
			__ATOMIC_SEQ_CST, __ATOMIC_RELAXED);
}

void dpe_marks_unset(struct dpe_marks *marks, uint64_t set)
{
	for (set &= marks->quiet; set; set &= set - 1)
		unset(marks, (unsigned)__builtin_ctzll(set));
}
