/* sched_races: two threads that are about to access the same memory. */
#ifndef DPE_EXPLORE_SCHED_SCHED_RACES_H
#define DPE_EXPLORE_SCHED_SCHED_RACES_H

#include "explore/sched/control.h"

/* The thread has come to an operation: ends the run if that is one access of `race`, and another thread is at the other; or records it
 * as one of any race. `visible`: others may access the same memory. */
DPE_SCHED_HIDDEN void dpe_sched_meet(struct dpe_sched_thread *me, bool visible);
/* Whether the thread is at that access of `race`. */
DPE_SCHED_HIDDEN bool dpe_sched_is_at(const struct dpe_sched_thread *thread, unsigned which);

#endif
