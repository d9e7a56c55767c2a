/* watch_support: whether the processor's watchpoints fire, found out by trying. Some virtual machines take them and
 * deliver none, with perf_event_open and ptrace alike. */
#include "probes/features/features.h"

#include <linux/hw_breakpoint.h>
#include <linux/perf_event.h>
#include <sys/syscall.h>
#include <unistd.h>

bool dpe_watchpoints_fire(void)
{
	volatile uint64_t watched = 0;
	struct perf_event_attr attr = {
		.type = PERF_TYPE_BREAKPOINT,
		.size = sizeof(attr),
		.bp_type = HW_BREAKPOINT_W,
		.bp_addr = (uintptr_t)&watched,
		.bp_len = sizeof(watched),
		.exclude_kernel = 1,
		.exclude_hv = 1,
	};
	uint64_t count = 0;
	int event = (int)syscall(SYS_perf_event_open, &attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);

	if (event < 0)
		return true;
	watched = 1;
	if (read(event, &count, sizeof(count)) != sizeof(count))
		count = 1;
	close(event);
	return count;
}
