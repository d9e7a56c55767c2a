/* dfs: every behaviour once; see dfs.c. */
#ifndef DPE_EXPLORE_DFS_H
#define DPE_EXPLORE_DFS_H

#include "explore/sched/sched.h"

#include <stdbool.h>

/* An operation of the last run, and the threads to be tried (backtrack set), tried, and asleep in its place. */
struct dpe_dfs_node {
	struct dpe_sched_set possible, asleep, todo, done;
	struct dpe_sched_set ended; /* of those tried: the process ended with it */
	uint64_t object;
	uint16_t thread;
	uint32_t preempted; /* preemptions before it */
	uint16_t current; /* could have continued; DPE_SCHED_THREADS: none */
	uint8_t kind;
};
struct dpe_dfs {
	struct dpe_dfs_node *nodes;
	unsigned count, cap;
	unsigned behaviours; /* whole runs */
	uint32_t learned; /* the input of the tree; another input makes another tree */
	unsigned bound; /* the bound on preemptions (switches away from a thread that could proceed); UINT_MAX:
			 * none */
	bool full; /* all schedules, without reduction */
	bool begun;
	bool strayed; /* a run did not follow the requested path */
	bool cut; /* a run had too many operations */
	bool starved; /* a run was left with threads that only yield */
};
/* Like those of delays.c. */
bool dpe_dfs_give(struct dpe_dfs *dfs, struct dpe_sched_header *memory);
void dpe_dfs_take(struct dpe_dfs *dfs, struct dpe_sched_header *memory);
void dpe_dfs_free(struct dpe_dfs *dfs);
/* For each event of the last run and each thread, the number, from 1, of the latest event of that thread that happened before, or is the
 * event itself; 0: none. The caller's. */
uint32_t *dpe_dfs_clocks(const struct dpe_sched_header *memory);

#endif
