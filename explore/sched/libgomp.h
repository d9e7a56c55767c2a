/* libgomp: waits of libgomp, which are system calls of its own code. */
#ifndef DPE_EXPLORE_SCHED_LIBGOMP_H
#define DPE_EXPLORE_SCHED_LIBGOMP_H

#include "explore/sched/sched_state.h"

/* If libgomp is loaded, its futexes are operations from here on, in this thread and each that calls dpe_sched_libgomp_thread. */
DPE_SCHED_HIDDEN void dpe_sched_libgomp_look(void);
DPE_SCHED_HIDDEN void dpe_sched_libgomp_thread(void);
DPE_SCHED_HIDDEN bool dpe_sched_has_libgomp(void);
/* libgomp_code.c: whether it is loaded by now; whether the code is its own; this thread is observed no longer. */
DPE_SCHED_HIDDEN bool dpe_sched_find_libgomp(void);
DPE_SCHED_HIDDEN bool dpe_sched_is_of_libgomp(uint64_t pc);
DPE_SCHED_HIDDEN void dpe_sched_libgomp_leave(void);
/* sched_waits.c: does the system call, if it is of a futex that is modelled. */
DPE_SCHED_HIDDEN bool dpe_sched_futex(long number, const long *words, uint64_t pc, long *result);

#endif
