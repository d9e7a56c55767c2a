/* libraries: a thread whose dynamic linker has mapped or unmapped something waits until the
 * observer has put its probes into what is new.
 *
 * It waits here, in the kernel, and gives way to others meanwhile: no signal is sent and no other
 * thread waits. It goes on by itself where the observer has died, and after a while where that does
 * not answer, which is counted as a loss. */
#ifndef DPE_PROBES_LIBRARIES_H
#define DPE_PROBES_LIBRARIES_H

#include "probes/bpf/kernel.h"
#include <linux/bpf.h>

#include <bpf/bpf_helpers.h>
#include <stdbool.h>

#define WAIT_STEPS (1 << 23)
#define WAIT_LONGEST 2000000000ull /* ns */

__u64 loads;         /* how often libraries were the reason */
__u64 asked;         /* how often the observer was to look */
__u64 answered;      /* the last of these that it has done */
__u64 unanswered;    /* the last of these that nobody waited for any longer */
__u32 observer_gone;

struct await {
	__u64 number, until, address;
	__u32 done;
};

/* Reading the thread's own memory in this way lets others run, which a mere loop does not on kernels
 * that preempt nobody; and it fails where the thread is being killed. */
static long await_step(__u32 step, struct await *await)
{
	char byte;

	await->done = *(volatile __u64 *)&answered >= await->number;
	if (await->done || *(volatile __u32 *)&observer_gone || bpf_ktime_get_ns() > await->until)
		return 1;
	return bpf_copy_from_user_task(&byte, sizeof(byte), (const void *)await->address,
		       bpf_get_current_task_btf(), 0) != 0;
}

/* False where the observer, which lives, has not answered in time. `address`: any that can be read. */
static __noinline bool await_answer(__u64 number, __u64 address)
{
	struct await await = {
		.number = number,
		.until = bpf_ktime_get_ns() + WAIT_LONGEST,
		.address = address,
	};

	/* It did not answer the last time: it is stopped, say. */
	if (*(volatile __u64 *)&unanswered > *(volatile __u64 *)&answered)
		return false;
	bpf_loop(WAIT_STEPS, await_step, &await, 0);
	if (await.done || observer_gone)
		return true;
	unanswered = number;
	return false;
}

#endif
