/* process_wait: a process that was made, or begins a program, waits before it runs until the observer has put
 * its probes into it. Since Linux 6.18 it waits in the kernel; before, it is stopped. */
#ifndef DPE_PROBES_KERNEL_BPF_PROCESS_WAIT_H
#define DPE_PROBES_KERNEL_BPF_PROCESS_WAIT_H

#include "probes/kernel/bpf/linker_wait.h"
#include "probes/kernel/bpf/send.h"
#include "probes/kernel/bpf/target_processes.h"

struct bpf_map {
	__u32 id;
};

typedef int (*process_wait_callback)(struct bpf_map *map, void *key, void *value);

extern int bpf_task_work_schedule_resume_impl(struct task_struct *task, struct bpf_task_work *work,
	void *map, process_wait_callback callback, void *nothing) __ksym __weak;

/* The number of the request to wait for, or 0 if the observer cannot be asked. */
static __always_inline __u64 ask_about(__u32 process, const struct dpe_question *question)
{
	struct dpe_question *asked_now;
	__u64 number;

	if (update(&asking, &process, question, BPF_ANY))
		return 0;
	number = __sync_fetch_and_add(&asked, 1) + 1;
	asked_now = bpf_map_lookup_elem(&asking, &process);
	if (asked_now)
		asked_now->number = number;
	wake_at_once();
	return number;
}

/* A program that the observer has not examined may be one that our probes would harm. */
static __always_inline bool is_unknown(const struct dpe_question *question)
{
	return question->program.inode;
}

/* False if it cannot be stopped, or the observer does not serve stopped processes. */
static __always_inline bool hold_process(struct task_struct *task, struct dpe_newcomer *entry)
{
	if ((is_unanswered() && !is_unknown(&entry->question)) || !hold(task, entry))
		return false;
	/* Makes the observer look for it. */
	__sync_fetch_and_add(&asked, 1);
	wake_at_once();
	return true;
}

/* Waits for an answer. If other processes are followed, it waits a short time only; after that the process is stopped.
 * A single observed process is never stopped, as nothing would continue it: an unknown program does not begin while the
 * observer lives. False if the observer does not answer. */
static __always_inline bool await_or_hold(
	struct task_struct *task, __u64 number, __u64 address, const struct dpe_question *question)
{
	bool alone = follow && is_alone(task);
	__u64 longest = alone                             ? DPE_WAIT_SHORT
			: !follow && is_unknown(question) ? DPE_WAIT_EVER
							  : DPE_WAIT_TIME;
	struct dpe_newcomer entry = {.question = *question};

	if (number && await_answer(number, address, longest))
		return true;
	return alone && hold_process(task, &entry);
}

/* Runs in the process before it returns to user mode. A new process that has already run, because the kernel
 * was late, may have passed probes unobserved. */
static int wait_in_process(struct bpf_map *map, void *key, void *value)
{
	const struct process_wait *wait = value;
	struct dpe_question question = wait->question;
	struct task_struct *task = bpf_get_current_task_btf();
	struct pt_regs *regs = (struct pt_regs *)bpf_task_pt_regs(task);
	__u64 ip = BPF_CORE_READ(regs, ip), sp = BPF_CORE_READ(regs, sp);

	(void)map;
	(void)key;
	if (!observing)
		return 0;
	if ((wait->ip && wait->ip != ip) || !await_or_hold(task, wait->number, sp, &question))
		lose_nowhere(bpf_ktime_get_ns());
	return 0;
}

/* False if it does not wait. */
static __always_inline bool wait_before_return(
	struct task_struct *task, __u64 number, __u64 ip, const struct dpe_question *question)
{
	struct process_wait fresh = {.number = number, .ip = ip, .question = *question}, *wait;
	__u32 process = process_id(task);

	if (!has_task_work || update(&process_waits, &process, &fresh, BPF_ANY))
		return false;
	wait = bpf_map_lookup_elem(&process_waits, &process);
	return wait && !bpf_task_work_schedule_resume_impl(
			       task, &wait->work, &process_waits, wait_in_process, 0);
}

/* ---- a stop that others see -------------------------------------------------------------- */

static __always_inline void note_child_stop(struct task_struct *child)
{
	struct child_stop seen = {bpf_ktime_get_ns(), process_id(child)};
	__u32 parent = process_id(child->real_parent);

	if (bpf_map_lookup_elem(&followed, &parent))
		update(&child_stops, &parent, &seen, BPF_ANY);
}

/* It may stop itself for a reason of its own: the observer checks that it has not waited for the child's end. */
static __always_inline void note_stopped_parent(struct task_struct *task)
{
	__u32 id = process_id(task), child;
	struct child_stop *seen = bpf_map_lookup_elem(&child_stops, &id);

	if (!seen || bpf_ktime_get_ns() - seen->time > DPE_PARENT_STOP_TIME)
		return;
	child = seen->child;
	bpf_map_delete_elem(&child_stops, &id);
	if (update(&stopped_parents, &id, &child, BPF_ANY))
		return;
	__sync_fetch_and_add(&asked, 1);
	wake_at_once();
}

/* `sent`: what is known about the signal; 1: the kernel sends it for a BPF program, 0: for itself. */
static __always_inline void note_stop_signal(struct task_struct *task, __u64 sent)
{
	struct task_struct *sender = bpf_get_current_task_btf();
	bool own = sender->tgid == task->tgid;

	if ((own && sent == 1) || process_id(sender) == observer)
		note_child_stop(task);
	else if (own && sent)
		note_stopped_parent(task);
}

/* ---- a process is made ------------------------------------------------------------------- */

const volatile __u32 children_wait; /* those of the target wait in user mode, which takes no processor time */

/* Runs in the parent. */
static __always_inline void await_probes_of_child(struct task_struct *parent, struct task_struct *child)
{
	struct pt_regs *regs = (struct pt_regs *)bpf_task_pt_regs(parent);
	struct dpe_question question = {};
	__u64 number;

	if (!has_task_work || !observing)
		return;
	number = ask_about(process_id(child), &question);
	if (number && children_wait && process_id(parent) == target)
		return;
	if (!number || !wait_before_return(child, number, regs->ip, &question))
		lose_nowhere(bpf_ktime_get_ns());
}

/* ---- a program is begun ------------------------------------------------------------------ */

/* `moved`: a thread other than the main one called exec and becomes the main thread; the kernel knows the
 * probes by the old main thread. */
static __always_inline void await_probes_of_program(struct task_struct *task, bool moved)
{
	struct dpe_newcomer entry = {};
	struct dpe_process *process = follow ? process_of(task) : 0;
	__u64 number;

	identify_program(task, &entry.question.program);
	if (process && moved)
		process->serial = next_number(&process_serials);
	if (bpf_map_lookup_elem(&programs, &entry.question.program)) {
		if (!follow || (!moved && has_known_linker(task)))
			return;
		entry.question.program.inode = 0;
	}
	if (has_task_work) {
		number = ask_about(process_id(task), &entry.question);
		if (number && wait_before_return(task, number, 0, &entry.question))
			return;
	} else if (!follow) {
		return; /* nothing would continue a stopped process */
	}
	if (!follow || !hold_process(task, &entry))
		lose_nowhere(bpf_ktime_get_ns());
}

#endif
