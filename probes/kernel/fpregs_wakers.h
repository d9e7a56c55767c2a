/* fpregs_wakers: threads that wait, one on each processor, come before all others there, and do nothing when
 * they are woken: so whoever wakes one gives way to it (see bpf/vectors.h). They are in a small
 * process next to us, which has no rights and ends with us. */
#ifndef DPE_PROBES_KERNEL_FPREGS_WAKERS_H
#define DPE_PROBES_KERNEL_FPREGS_WAKERS_H

#include "base/base.h"

#include <sys/types.h>

struct dpe_wakers {
	pid_t pid; /* 0: there are none */
	int channel;
};

/* How many processors there may be: so many entries the map needs. */
unsigned dpe_wakers_most(void);
/* Begins them; the map gets a ring for each processor, which wakes its thread. 0 or -errno: -EPERM where
 * threads may not come before others. */
int dpe_wakers_begin(struct dpe_wakers *wakers, int map);
void dpe_wakers_end(struct dpe_wakers *wakers); /* accepts one that is zeroed */

#endif
