/* tsc_clock: the processor's time stamp counter as nanoseconds of CLOCK_MONOTONIC. */
#ifndef DPE_PROBES_STREAM_TSC_CLOCK_H
#define DPE_PROBES_STREAM_TSC_CLOCK_H

#include "base/base.h"

/* One each millisecond: for events that waited in their rings longer than there are points, times
 * would change with each look. */
#define DPE_COUNTER_POINTS 65536

/* The same moment on both clocks. */
struct dpe_moment {
	uint64_t count, ns;
};

/* The latest moments that were looked at; between two of them time is a straight line, so what is
 * later on one clock is later on the other. */
struct dpe_counter {
	struct dpe_moment at[DPE_COUNTER_POINTS]; /* number n at n modulo their number */
	uint64_t count;
	bool is_ns; /* there is no counter to rely on: its values are nanoseconds already */
};

/* Whether the kernel relies on the counter, so that all processors have the same. */
bool dpe_counter_is_reliable(void);
/* Looks at both clocks now, and remembers the moment. */
struct dpe_moment dpe_counter_look(struct dpe_counter *counter);
/* A count between the first moment and the last. */
uint64_t dpe_counter_ns(const struct dpe_counter *counter, uint64_t count);

#endif
