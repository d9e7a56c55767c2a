/* Clocks of the kernel. */
#include "base/base.h"

uint64_t dpe_clock(int clock)
{
	struct timespec now;

	return clock_gettime(clock, &now) ? 0 : (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}
