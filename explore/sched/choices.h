/* choices: what the files that choose the next thread share. Private to choices.c, sched_strategies.c and sleep_sets.c. */
#ifndef DPE_EXPLORE_SCHED_CHOICES_H
#define DPE_EXPLORE_SCHED_CHOICES_H

#include "explore/sched/control.h"

/* Threads that can continue. */
struct dpe_sched_choosable {
	uint16_t at[DPE_SCHED_THREADS];
	unsigned count;
};

static inline bool dpe_sched_is_among(const struct dpe_sched_choosable *all, unsigned thread)
{
	for (unsigned i = 0; i < all->count; i++)
		if (all->at[i] == thread)
			return true;
	return false;
}

/* ---- sched_strategies.c ------------------------------------------------------------------ */

DPE_SCHED_HIDDEN void dpe_sched_strategy_begin(void);
/* The thread reached an operation that is a point. */
DPE_SCHED_HIDDEN void dpe_sched_strategy_count(struct dpe_sched_thread *me);
/* The thread reached an operation, and `gives_way` is known. */
DPE_SCHED_HIDDEN void dpe_sched_strategy_arrive(struct dpe_sched_thread *me);
/* The choice of a strategy other than DFS and FIRST. Moves the threads that should let others run first to `later`. */
DPE_SCHED_HIDDEN unsigned dpe_sched_by_strategy(
	struct dpe_sched_choosable *ready, struct dpe_sched_choosable *later, unsigned current, unsigned by_default);

/* ---- sleep_sets.c ------------------------------------------------------------------------ */

/* Records a choice of another strategy than DFS. */
DPE_SCHED_HIDDEN void dpe_sched_trace(const struct dpe_sched_choosable *ready, const struct dpe_sched_choosable *later, unsigned chosen);

/* The choice of DFS: the path to follow, and after it the default choice unless that thread sleeps. */
DPE_SCHED_HIDDEN unsigned dpe_sched_by_path(
	const struct dpe_sched_choosable *ready, const struct dpe_sched_choosable *later, unsigned by_default, unsigned current);

#endif
