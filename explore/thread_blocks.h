/* thread_blocks: fewer switches for the same behaviour; see thread_blocks.c. */
#ifndef DPE_EXPLORE_THREAD_BLOCKS_H
#define DPE_EXPLORE_THREAD_BLOCKS_H

#include "explore/sched/sched.h"

/* The next run does the events of the last one, which was recorded, in blocks of a thread. */
void dpe_blocks_give(struct dpe_sched_header *memory);

#endif
