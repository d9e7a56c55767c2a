/* linker_wait: a thread whose dynamic linker has changed the mappings sleeps here, without a signal, until the observer
 * has put probes into what is new. It continues if the observer dies, or stands still, which counts as a loss: after a time limit,
 * or where many processes are followed, when the watchdog says so. There a process with a single thread sleeps for a short time
 * only and is stopped then. */
#ifndef DPE_PROBES_KERNEL_BPF_LINKER_WAIT_H
#define DPE_PROBES_KERNEL_BPF_LINKER_WAIT_H

#include "probes/kernel/bpf/map_access.h"
#include "probes/kernel/bpf/kernel_layout.h"
#include "probes/kernel/bpf/record.h"
#include "probes/kernel/bpf/target_processes.h"
#include "probes/limits.h"
#include <linux/bpf.h>

#include <bpf/bpf_helpers.h>
#include <stdbool.h>

const volatile __u32 awaits; /* libraries mapped later may have events; if not, nothing can be missed in them */

__u64 loads;         /* how often libraries were the reason */
__u64 asked;         /* the number of requests so far */
__u64 answered;      /* the last request that the observer has served */
__u64 unanswered;    /* the last request that no thread waited for any longer */
__u64 progress;      /* processes that the observer has continued, for its watchdog */
__u32 observer_gone;

/* Processes in which a thread waits, if several are followed, or a program begins. */
HASH_MAP(asking, DPE_MAP_PROCESSES, __u32, struct dpe_question);

struct await {
	__u64 number, until, address;
	__u64 pause; /* the end of the current one */
	__u32 done, watched; /* `watched`: until the watchdog gives it up */
};

/* Reading the thread's own memory in this way lets other threads run, which a plain loop does not on kernels
 * without preemption; and it fails if the thread is being killed. It takes the lock of the mappings, which the observer needs for
 * each probe: so there are pauses in between. */
static long await_step(__u32 step, struct await *await)
{
	__u64 now = bpf_ktime_get_ns();
	char byte;

	await->done = *(volatile __u64 *)&answered >= await->number;
	if (await->done || *(volatile __u32 *)&observer_gone || now > await->until ||
		(await->watched && *(volatile __u64 *)&unanswered >= await->number))
		return 1;
	if (now < await->pause)
		return 0;
	await->pause = now + DPE_WAIT_PAUSE;
	if (!bpf_copy_from_user_task(&byte, sizeof(byte), (const void *)await->address,
		    bpf_get_current_task_btf(), 0))
		return 0;
	await->done = 1; /* the thread will not return to user mode */
	return 1;
}

/* The kernel allows no more iterations of a loop. */
static long await_round(__u32 round, struct await *await)
{
	return bpf_loop(DPE_WAIT_STEPS, await_step, await, 0) < DPE_WAIT_STEPS;
}

/* The observer did not answer the last request: it may be stopped. */
static __always_inline bool is_unanswered(void)
{
	return *(volatile __u64 *)&unanswered > *(volatile __u64 *)&answered;
}

/* False if the observer, which lives, has not answered in that time. `address`: any that can be
 * read. */
static __noinline bool await_answer(__u64 number, __u64 address, __u64 longest)
{
	struct await await = {
		.number = number,
		.until = longest == DPE_WAIT_EVER ? longest : bpf_ktime_get_ns() + longest,
		.address = address,
	};

	if (follow && longest == DPE_WAIT_TIME) {
		await.until = DPE_WAIT_EVER;
		await.watched = 1;
	}
	if (longest != DPE_WAIT_EVER && is_unanswered())
		return false;
	bpf_loop(DPE_WAIT_STEPS, await_round, &await, 0);
	if (await.done || observer_gone)
		return true;
	if (longest == DPE_WAIT_TIME && unanswered < number)
		unanswered = number;
	return false;
}

#endif
