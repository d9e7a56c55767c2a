/* kernel: the kernel's structures, as far as the programs here read them. */
#ifndef DPE_PROBES_KERNEL_H
#define DPE_PROBES_KERNEL_H

#include <linux/types.h>
#include <stdbool.h>

/* The loader finds out where the running kernel has each member. */
#ifdef __bpf__
#define RELOCATED __attribute__((preserve_access_index))
#else
#define RELOCATED
#endif

struct ns_common {
	unsigned int inum;
} RELOCATED;

struct pid_namespace {
	struct ns_common ns;
} RELOCATED;

struct upid {
	int nr;
	struct pid_namespace *ns;
} RELOCATED;

struct pid {
	unsigned int level;
	struct upid numbers[1];
} RELOCATED;

struct signal_struct {
	struct pid *pids[4];
} RELOCATED;

struct thread_struct {
	unsigned long fsbase;
} RELOCATED;

struct uprobe_task {
	unsigned int depth;
} RELOCATED;

struct xol_area {
	unsigned long vaddr;
} RELOCATED;

struct uprobes_state {
	struct xol_area *xol_area;
} RELOCATED;

struct mm_struct {
	unsigned long start_code;
	struct uprobes_state uprobes_state;
} RELOCATED;

struct task_struct {
	int pid;
	int tgid;
	struct pid *thread_pid;
	struct signal_struct *signal;
	struct mm_struct *mm;
	struct uprobe_task *utask;
	struct thread_struct thread;
	__u64 start_time; /* as bpf_ktime_get_ns */
} RELOCATED;

struct linux_binprm;

/* The registers as the x86-64 kernel hands them to a probe. */
struct pt_regs {
	__u64 r15, r14, r13, r12, bp, bx, r11, r10, r9, r8, ax, cx, dx, si, di, orig_ax, ip, cs,
		flags, sp, ss;
};

/* What a watchpoint hands to its program. */
struct bpf_perf_event_data {
	struct pt_regs regs;
	__u64 sample_period;
	__u64 addr;
};

#define SIGNAL_STOP 19

/* Since Linux 6.13 a program at a uprobe may get a stack that its processor has for it, which is wrong:
 * where it waits, or is preempted, it may run there for another thread. It gets none where it has a
 * tail call, be it one that is never made. */
#ifdef __bpf__
static const volatile bool makes_tail_calls = false;
#define KEEP_OWN_STACK()                                                                           \
	do {                                                                                       \
		if (makes_tail_calls)                                                              \
			asm volatile("call 12" ::: "r0", "r1", "r2", "r3", "r4", "r5");            \
	} while (0)
#endif

#endif
