/* freed: memory that was freed, and is kept from the allocator: sched_heap.c. */
#ifndef DPE_EXPLORE_SCHED_FREED_H
#define DPE_EXPLORE_SCHED_FREED_H

#include "explore/sched/control.h"

/* Whether the memory there was freed, and is kept. */
DPE_SCHED_HIDDEN bool dpe_sched_is_freed(uint64_t address);
/* Whether the object of the operation lies in such memory. */
DPE_SCHED_HIDDEN bool dpe_sched_uses_freed(const struct dpe_sched_op *op);
/* Ends the run where the operation uses memory that was freed. */
DPE_SCHED_HIDDEN void dpe_sched_check_freed(const struct dpe_sched_op *op);
/* Ends it where the running thread, which is about to do the operation, is found to have written to such memory. */
DPE_SCHED_HIDDEN void dpe_sched_check_written(const struct dpe_sched_op *op);

#endif
