/* thread_blocks: the events of a run in another order, in which each thread does as many in a row as possible. Source: N. Jalbert, K. Sen, A Trace
 * Simplification Technique for Effective Debugging of Concurrent Programs, FSE 2010. */
#include "explore/thread_blocks.h"

#include "explore/dfs.h"

#include <stdlib.h>

/* Events are taken one by one, each after all that happened before it. */
struct ordering {
	struct dpe_sched_header *memory;
	const uint32_t *clocks; /* of dpe_dfs_clocks */
	uint32_t next[DPE_SCHED_THREADS]; /* of each thread: its first event that was not taken; UINT32_MAX: none */
};

static void advance(struct ordering *ordering, unsigned thread, uint32_t from)
{
	const struct dpe_sched_header *memory = ordering->memory;

	while (from < memory->nevents && memory->events[from].thread != thread)
		from++;
	ordering->next[thread] = from < memory->nevents ? from : UINT32_MAX;
}

static bool is_free(const struct ordering *ordering, unsigned thread)
{
	const unsigned threads = ordering->memory->nthreads;
	const uint32_t next = ordering->next[thread];

	if (next == UINT32_MAX)
		return false;
	for (unsigned i = 0; i < threads; i++)
		if (i != thread && ordering->clocks[(size_t)next * threads + i] > ordering->next[i])
			return false;
	return true;
}

/* The default choice among the threads whose next event is free: the same one, or else the next one by number. */
static unsigned choose(const struct ordering *ordering, unsigned current)
{
	const unsigned threads = ordering->memory->nthreads;

	for (unsigned i = 0; i < threads; i++)
		if (is_free(ordering, (current + i) % threads))
			return (current + i) % threads;
	return DPE_SCHED_NOBODY;
}

void dpe_blocks_give(struct dpe_sched_header *memory)
{
	uint32_t *clocks = dpe_dfs_clocks(memory);
	struct ordering ordering = {.memory = memory, .clocks = clocks};
	unsigned current = 0;

	for (unsigned i = 0; i < memory->nthreads; i++)
		advance(&ordering, i, 0);
	memory->npath = 0;
	while ((current = choose(&ordering, current)) != DPE_SCHED_NOBODY) {
		memory->path[memory->npath++] = (uint16_t)current;
		advance(&ordering, current, ordering.next[current] + 1);
	}
	free(clocks);
	memory->strategy = DPE_SCHED_DFS;
	memory->asleep = (struct dpe_sched_set){{0}};
}
