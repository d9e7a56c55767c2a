/* kernel_layout: the members of the kernel's structures that the programs read. */
#ifndef DPE_PROBES_KERNEL_BPF_KERNEL_LAYOUT_H
#define DPE_PROBES_KERNEL_BPF_KERNEL_LAYOUT_H

#include <linux/types.h>
#include <stdbool.h>

/* The loader relocates each access to the running kernel's layout (CO-RE). */
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

typedef struct {
	int counter;
} dpe_atomic;

struct signal_struct {
	struct pid *pids[4];
	dpe_atomic live;
} RELOCATED;

struct super_block {
	unsigned int s_dev;
} RELOCATED;

struct inode {
	unsigned short i_mode;
	unsigned int i_generation;
	unsigned long i_ino;
	long long i_size;
	struct super_block *i_sb;
} RELOCATED;

struct file {
	unsigned int f_mode;
	struct inode *f_inode;
	void *private_data;
} RELOCATED;

struct vm_area_struct {
	unsigned long vm_start, vm_pgoff, vm_flags;
	struct file *vm_file;
} RELOCATED;

struct thread_struct {
	unsigned long fsbase;
} RELOCATED;

struct uprobe;
struct arch_uprobe;

/* A function whose return is probed: where on the stack its return address was, and that address. */
struct return_instance {
	unsigned long stack, orig_ret_vaddr;
	struct return_instance *next;
} RELOCATED;

struct uprobe_task {
	struct return_instance *return_instances; /* the innermost */
	unsigned int depth;
	unsigned long vaddr;           /* of the instruction that is probed … */
	struct uprobe *active_uprobe;  /* … by this, while a copy of it is stepped … */
	unsigned long xol_vaddr;       /* … here */
	struct arch_uprobe *auprobe;   /* while programs run at an entry (since Linux 6.12) */
} RELOCATED;

struct seq_file;

struct bpf_iter_meta {
	struct seq_file *seq;
} RELOCATED;

struct bpf_iter__task {
	struct bpf_iter_meta *meta;
	struct task_struct *task;
} RELOCATED;

struct xol_area {
	unsigned long vaddr;
} RELOCATED;

struct uprobes_state {
	struct xol_area *xol_area;
} RELOCATED;

typedef struct {
	unsigned int val;
} dpe_id;

struct user_namespace {
	struct user_namespace *parent;
	int level;
	dpe_id owner;
} RELOCATED;

struct cred {
	dpe_id uid, gid, suid, sgid, euid, egid;
	struct {
	} cap_permitted; /* 64 bits, in types that differ among kernels */
	struct user_namespace *user_ns;
} RELOCATED;

struct mm_struct {
	unsigned long start_code;
	struct {
	} flags; /* a bitmap; before Linux 6.18 a number */
	struct user_namespace *user_ns;
	struct file *exe_file;
	struct uprobes_state uprobes_state;
} RELOCATED;

struct mm_struct___with_number {
	unsigned long flags;
} RELOCATED;

struct fdtable {
	unsigned int max_fds;
	struct file **fd;
} RELOCATED;

struct files_struct {
	struct fdtable *fdt;
} RELOCATED;

struct sock_common {
	unsigned short skc_family;
} RELOCATED;

struct sock {
	struct sock_common __sk_common;
} RELOCATED;

struct socket {
	short type;
	struct sock *sk;
} RELOCATED;

struct unix_sock {
	struct sock *peer;
} RELOCATED;

typedef struct {
	unsigned long sig[1];
} dpe_signals;

struct task_struct {
	struct files_struct *files;
	int pid;
	int tgid;
	char comm[16];
	struct task_struct *real_parent;
	struct pid *thread_pid;
	const struct cred *real_cred;
	struct signal_struct *signal;
	dpe_signals blocked;
	struct mm_struct *mm;
	struct uprobe_task *utask;
	struct thread_struct thread;
	unsigned long sas_ss_sp, sas_ss_size; /* of sigaltstack */
	unsigned int sas_ss_flags;
	__u64 start_time; /* as bpf_ktime_get_ns */
} RELOCATED;

struct linux_binprm;

/* The registers as the x86-64 kernel hands them to a probe. */
struct pt_regs {
	__u64 r15, r14, r13, r12, bp, bx, r11, r10, r9, r8, ax, cx, dx, si, di, orig_ax, ip, cs,
		flags, sp, ss;
};

struct kernel_siginfo {
	int si_code;
} RELOCATED;

struct sigaction {
	void *sa_handler;
	unsigned long sa_flags;
} RELOCATED;

struct k_sigaction {
	struct sigaction sa;
} RELOCATED;

/* What a watchpoint hands to its program, … */
struct bpf_perf_event_data {
	struct pt_regs regs;
	__u64 sample_period;
	__u64 addr;
};

/* … and what that really is. */
struct perf_event_attr {
	__u64 config;
} RELOCATED;

struct perf_event {
	struct perf_event_attr attr;
} RELOCATED;

struct bpf_perf_event_data_kern {
	struct perf_event *event;
} RELOCATED;

/* Since Linux 6.13 a program at a uprobe may get a private stack per processor, which is wrong if it sleeps or
 * is preempted: it may run there for another thread. A program with a tail call, even one that is never made,
 * gets no private stack. */
#ifdef __bpf__
static const volatile bool makes_tail_calls = false;
#define KEEP_OWN_STACK()                                                                           \
	do {                                                                                       \
		if (makes_tail_calls)                                                              \
			asm volatile("call 12" ::: "r0", "r1", "r2", "r3", "r4", "r5");            \
	} while (0)
#endif

#define SIGNAL_KILL 9
#define SIGNAL_STOP 19
#define SIGNAL_TERMINAL_STOP 20
#define SIGNAL_CONTINUE 18
#define SIGNAL_DELIVERED 0 /* the result in the signal's tracepoint */

#endif
