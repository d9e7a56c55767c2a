/* Which threads can proceed: each waits for one other at most, so following the holders finds all cycles. */
#include "probes/waits/waits.h"

#include <limits.h>

/* Whether the thread waits until another one wakes it. */
static bool is_blocked(const struct dpe_waiting_thread *thread)
{
	return thread->kind != DPE_WAIT_NONE && !thread->timed;
}

/* The thread that this one needs to proceed first; UINT_MAX: none is known. */
static unsigned next_of(const struct dpe_waits *waits, unsigned at)
{
	const struct dpe_waiting_thread *thread = &waits->threads[at];

	return is_blocked(thread) && !thread->holder_ended ? thread->next : UINT_MAX;
}

/* A thread that is met again within as many steps as there are threads is in a cycle. */
static void find_cycle(struct dpe_waits *waits, unsigned from)
{
	unsigned at = from;

	for (unsigned step = 0; step < waits->nthreads; step++) {
		at = next_of(waits, at);
		if (at == UINT_MAX || waits->threads[at].cycle)
			return;
		if (at == from)
			break;
	}
	if (at != from)
		return;
	waits->ncycles++;
	do {
		waits->threads[at].cycle = waits->ncycles;
		waits->threads[at].prospect = DPE_PROSPECT_NEVER;
		at = next_of(waits, at);
	} while (at != from);
}

/* The kernel wakes those who wait for a robust mutex: its word says so before they sleep. */
static enum dpe_prospect by_itself(const struct dpe_waiting_thread *thread)
{
	if (!is_blocked(thread))
		return DPE_PROSPECT_PROCEEDS;
	return thread->holder_ended || thread->is_refused ? DPE_PROSPECT_NEVER : DPE_PROSPECT_UNKNOWN;
}

/* That of the thread at the end of the chain of holders. */
static enum dpe_prospect follow(const struct dpe_waits *waits, unsigned at)
{
	for (unsigned step = 0; step < waits->nthreads; step++) {
		unsigned next = next_of(waits, at);

		if (waits->threads[at].cycle || next == UINT_MAX)
			break;
		at = next;
	}
	return waits->threads[at].cycle ? DPE_PROSPECT_NEVER : by_itself(&waits->threads[at]);
}

/* Whether nothing can wake any thread: all are blocked, on what no other process has. */
static bool is_hang(const struct dpe_waits *waits)
{
	for (unsigned i = 0; i < waits->nthreads; i++) {
		if (!is_blocked(&waits->threads[i]) || waits->threads[i].shared ||
			waits->threads[i].holder_process)
			return false;
	}
	return waits->nthreads;
}

static enum dpe_prospect worst_of(const struct dpe_waits *waits)
{
	enum dpe_prospect worst = DPE_PROSPECT_PROCEEDS;

	for (unsigned i = 0; i < waits->nthreads; i++) {
		if (waits->threads[i].prospect > worst)
			worst = waits->threads[i].prospect;
	}
	return worst;
}

void dpe_prospects_find(struct dpe_waits *waits)
{
	for (unsigned i = 0; i < waits->nthreads; i++) {
		if (!waits->threads[i].cycle)
			find_cycle(waits, i);
	}
	for (unsigned i = 0; i < waits->nthreads; i++)
		waits->threads[i].prospect = follow(waits, i);
	waits->hang = is_hang(waits);
	for (unsigned i = 0; waits->hang && !waits->may_end && i < waits->nthreads; i++)
		waits->threads[i].prospect = DPE_PROSPECT_NEVER;
	waits->prospect = worst_of(waits);
}
