/* freed: memory that was freed, and is kept from the allocator: freed_blocks.c. */
#ifndef DPE_EXPLORE_SCHED_FREED_H
#define DPE_EXPLORE_SCHED_FREED_H

#include "explore/sched/sched_state.h"

/* Whether the memory there was freed, and is kept. */
DPE_SCHED_HIDDEN bool dpe_sched_is_freed(uint64_t address);
/* Whether the object of the operation lies in such memory. */
DPE_SCHED_HIDDEN bool dpe_sched_uses_freed(const struct dpe_sched_op *op);
/* Ends the run where the operation uses memory that was freed. */
DPE_SCHED_HIDDEN void dpe_sched_check_freed(const struct dpe_sched_op *op);
/* Ends it where the running thread, which is about to do the operation, is found to have written to such memory. */
DPE_SCHED_HIDDEN void dpe_sched_check_written(const struct dpe_sched_op *op);

/* Frees the memory, or keeps it: false if it cannot. */
DPE_SCHED_HIDDEN void dpe_sched_really_free(void *object);
DPE_SCHED_HIDDEN bool dpe_sched_is_keepable(const void *object, size_t size);
DPE_SCHED_HIDDEN bool dpe_sched_keep_freed(void *object, size_t size, uint64_t pc, unsigned thread);

#endif
