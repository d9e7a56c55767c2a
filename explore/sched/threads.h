/* threads: what control.c and the wrappers of thread functions share. */
#ifndef DPE_EXPLORE_SCHED_THREADS_H
#define DPE_EXPLORE_SCHED_THREADS_H

#include "explore/sched/control.h"

/* The end of the calling thread will be seen. */
DPE_SCHED_HIDDEN void dpe_sched_watch_end(void);
/* sched_processors.c: of the process. */
DPE_SCHED_HIDDEN void dpe_sched_stay_on_one_processor(struct dpe_sched_header *header);

#endif
