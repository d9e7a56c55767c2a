/* process_programs: the programs at what happens to processes and threads: mappings that change, a program that begins, creation,
 * and the end. */
#ifndef DPE_PROBES_KERNEL_BPF_PROCESS_PROGRAMS_H
#define DPE_PROBES_KERNEL_BPF_PROCESS_PROGRAMS_H

#include "probes/kernel/bpf/linker_wait.h"
#include "probes/kernel/bpf/pending_calls.h"
#include "probes/kernel/bpf/process_wait.h"
#include "probes/kernel/bpf/send.h"
#include "probes/kernel/bpf/target_processes.h"
#include "probes/kernel/bpf/trace_rights.h"
#include "probes/kernel/bpf/user_memory.h"
#include "probes/kernel/bpf/watch_hits.h"
#include <linux/bpf.h>

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>
#include <stdbool.h>

/* ---- mappings, and programs that begin ---------------------------------------------------- */

static __always_inline void forget_mappings(struct task_struct *task)
{
	__u32 process = process_id(task);

	__sync_fetch_and_add(&mapping_changes, 1);
	bpf_map_delete_elem(&known_mappings, &process);
}

/* If processes are followed, the owner of a number must be known before the number is used. */
static __always_inline bool ask(struct task_struct *task, __u64 address)
{
	struct dpe_question question = {};
	__u64 number;

	__sync_fetch_and_add(&loads, 1);
	forget_mappings(task);
	if (follow) {
		number = ask_about(process_id(task), &question);
	} else {
		number = __sync_fetch_and_add(&asked, 1) + 1;
		wake_at_once();
	}
	return await_or_hold(task, number, address, &question);
}

__u32 hold_begin; /* the target stops where its libraries are mapped, and where it begins … */
__u32 begins;     /* … as it did */

/* The dynamic linker calls this when it has mapped a file of which nothing has run yet (and at some other
 * times). */
SEC("uprobe")
int on_libraries(struct pt_regs *regs)
{
	struct task_struct *task = bpf_get_current_task_btf();

	KEEP_OWN_STACK();
	if (!observing || hold_begin || !is_target(task)) /* a stopped target need not ask */
		return 0;
	if (follow)
		note_linker(task, regs->ip);
	if (!ask(task, regs->sp) && awaits)
		lose_nowhere(bpf_ktime_get_ns());
	return 0;
}

/* At the dynamic linker's function and, with a cookie, at the program's first instruction. */
SEC("uprobe")
int on_begin(struct pt_regs *regs)
{
	struct task_struct *task = bpf_get_current_task_btf();

	KEEP_OWN_STACK();
	if (!hold_begin || !observing || !is_target(task))
		return 0;
	if (bpf_get_attach_cookie(regs)) {
		hold_begin = 0;
		begins = 1;
	}
	bpf_send_signal(SIGNAL_STOP);
	return 0;
}

/* From here on, addresses are those of another program. */
static __always_inline void replace_program(struct task_struct *task)
{
	struct dpe_process *process = process_of(task);

	if (!process || !observing)
		return;
	process->space = next_number(&spaces);
	process->replaced = 1;
	if (!process->space)
		lose_nowhere(bpf_ktime_get_ns());
}

/* A process begins a program that the user may not trace: from here on neither it nor its children are read. */
static __always_inline void stop_observing(struct task_struct *task)
{
	__sync_fetch_and_add(&untraceable, 1);
	lose_nowhere(bpf_ktime_get_ns());
	if (follow)
		unfollow_process(task);
	else
		left = 1;
	if (hold_program) { /* the observer waits for this stop */
		hold_program = 0;
		bpf_send_signal(SIGNAL_STOP);
	}
	wake_at_once();
}

/* The target's program starts (again): earlier calls will never return. A thread that calls exec takes over the
 * id of the main thread, by which the kernel knows our probes; the main thread is gone, so all further events
 * are lost, which counts as one loss. Data events are lost too, since the variables are gone. */
SEC("tp_btf/sched_process_exec")
int BPF_PROG(on_exec, struct task_struct *task, int old_pid, struct linux_binprm *program)
{
	struct thread *thread;
	__u32 tid;

	if (!is_target(task))
		return 0;
	if (!may_trace(task)) {
		stop_observing(task);
		return 0;
	}
	if (follow)
		replace_program(task);
	tid = thread_id(task);
	thread = bpf_task_storage_get(&storage, task, 0, 0);
	if (thread) {
		place_thread(thread, task);
		thread->depth = 0;
		if (thread->tid != tid) {
			remember(thread->tid, thread->seq);
			thread->named = 0;
			thread->tid = tid;
			thread->seq = first_number(tid);
		}
	}
	if (observing && ((old_pid != task->pid && !follow) || nwatches || watches_objects))
		lose(thread, tid);
	nwatches = 0;
	execs++;
	replaced |= observing;
	forget_mappings(task);
	if (process_id(task) == target)
		code = task->mm->start_code;
	if (hold_program) { /* variables are to be watched: nothing runs before they are */
		hold_program = 0;
		bpf_send_signal(SIGNAL_STOP);
	}
	if (observing)
		await_probes_of_program(task, old_pid != task->pid);
	observing = 1;
	return 0;
}

/* ---- creation and end ---------------------------------------------------------------------- */

/* A child continues inside the calls that its parent is in. */
static __always_inline void inherit_calls(struct task_struct *parent, struct task_struct *child)
{
	struct thread *from = bpf_task_storage_get(&storage, parent, 0, 0);
	struct thread *to = from ? thread_of(child, thread_id(child)) : 0;

	if (!to)
		return;
	bpf_probe_read_kernel(to->calls, sizeof(to->calls), from->calls);
	to->depth = from->depth;
	to->unsure = from->unsure;
	to->hidden = from->hidden;
}

/* True if the child is not a process of the target. */
static __always_inline bool is_stranger(struct task_struct *parent, struct task_struct *child)
{
	if (child->tgid == parent->tgid)
		return false;
	if (!follow) {
		__sync_fetch_and_add(&children, observing);
		return true;
	}
	if (!follow_child(parent, child)) {
		lose_nowhere(bpf_ktime_get_ns());
		return true;
	}
	inherit_calls(parent, child);
	await_probes_of_child(parent, child);
	return false;
}

/* Runs in the parent, before the new thread does. */
SEC("tp_btf/sched_process_fork")
int BPF_PROG(on_fork, struct task_struct *parent, struct task_struct *child)
{
	__u64 words[DPE_WORDS] = {};

	if (!is_target(parent) || is_stranger(parent, child) || !observing || !threads)
		return 0;
	describe(child, words);
	send_creation(parent, child, words);
	send_kernel_event(child, DPE_RECORD_START, words);
	return 0;
}

/* For kernels in which processes cannot wait: a new one passes here before it runs. */
SEC("tp_btf/sys_exit")
int BPF_PROG(on_begin_process, struct pt_regs *regs, long result)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct dpe_process *process = process_of(task);
	struct dpe_newcomer entry = {};

	if (!process || !process->stops)
		return 0;
	process->stops = 0;
	if (!observing)
		return 0;
	if (!hold_process(task, &entry))
		lose_nowhere(bpf_ktime_get_ns());
	return 0;
}

/* Runs in the sender. An observer that is killed while it puts a probe in cannot end before the kernel has taken that out, for
 * which the kernel waits until no program runs: so nothing may wait for the observer from the signal on, rather than from its
 * end. */
SEC("tp_btf/signal_generate")
int BPF_PROG(on_sent_signal, int signal, struct kernel_siginfo *info, struct task_struct *task, int group, int result)
{
	if (signal == SIGNAL_KILL && result == SIGNAL_DELIVERED && process_id(task) == observer)
		observer_gone = 1;
	if (follow && observing && (signal == SIGNAL_STOP || signal == SIGNAL_TERMINAL_STOP) && process_of(task))
		note_stop_signal(task, (__u64)info);
	return 0;
}

/* If two threads end at once, one may find that the other has already removed the process. */
static __always_inline bool was_target(struct task_struct *task)
{
	return is_target(task) || (follow && bpf_task_storage_get(&storage, task, 0, 0));
}

SEC("tp_btf/sched_process_exit")
int BPF_PROG(on_end, struct task_struct *task)
{
	__u64 words[DPE_WORD_REGISTERS] = {};
	struct thread *thread;

	if (task->pid == task->tgid && process_id(task) == observer)
		observer_gone = 1;
	if (!was_target(task))
		return 0;
	if (threads && observing) {
		describe(task, words);
		thread = bpf_task_storage_get(&storage, task, 0, 0);
		if (thread)
			words[3] = thread->space;
		send_kernel_event(task, DPE_RECORD_END, words);
	}
	thread = bpf_task_storage_get(&storage, task, 0, 0);
	if (thread)
		remember(thread->tid, thread->seq);
	if (follow) {
		unfollow(task);
		wake_at_once();
	}
	return 0;
}

#endif
