/* pending_calls: those of observed functions whose return is awaited. */
#ifndef DPE_PROBES_KERNEL_BPF_PENDING_CALLS_H
#define DPE_PROBES_KERNEL_BPF_PENDING_CALLS_H

#include "probes/kernel/bpf/send.h"
#include <linux/bpf.h>

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>
#include <stdbool.h>

/* True if the function was reached by a jump from another observed one (a tail call): the return address on the
 * stack is already that of the kernel's trampoline. */
static __always_inline bool is_chained(__u64 sp)
{
	__u64 address = 0, trampoline = find_trampoline();

	if (!trampoline)
		return false;
	bpf_probe_read_user(&address, sizeof(address), (void *)sp);
	return address == trampoline;
}

/* Written out for the verifier: the compiler would drop a redundant mask. */
static __always_inline struct call *call_at(struct thread *thread, __u32 index)
{
	asm volatile("%0 &= %1" : "+r"(index) : "i"(DPE_CALLS - 1));
	return &thread->calls[index];
}

/* The verifier follows each iteration of a loop on each path that leads to it, but verifies a global function
 * once. A global function cannot return pointers and has to check its pointer arguments. */

/* Forgets calls that were left without returning, by longjmp or an exception. The stack grows down. */
__noinline int drop_stale(struct thread *thread, __u64 sp, __u32 site)
{
	if (!thread)
		return 0;
	for (int i = 0; i < DPE_CALLS && thread->depth; i++) {
		struct call *top = call_at(thread, thread->depth - 1);

		if (top->sp > sp)
			return 0;
		if (top->sp == sp && !top->gone && (top->site != site || is_chained(sp)))
			return 0;
		thread->unsure |= !top->gone;
		thread->depth--;
	}
	return 0;
}

static __always_inline bool kernel_follows(struct task_struct *task)
{
	if (!bpf_core_field_exists(struct uprobe_task, depth))
		return true;
	return task->utask->depth < DPE_CALLS;
}

const volatile bool refuses_returns; /* the program of an exit runs at the entry as well, and decides */

/* True if the kernel, were it to probe the return of a call at `sp`, would take the calls on lower addresses for left by
 * longjmp, and end the program when they return; but they are open: this is a signal handler on its own stack above. */
static __always_inline bool is_above_callers(struct task_struct *task, __u64 sp)
{
	const struct return_instance *caller;
	__u64 stack;

	if (!refuses_returns || !task->utask)
		return false;
	caller = task->utask->return_instances;
	if (!caller || sp <= caller->stack)
		return false;
	stack = task->sas_ss_sp;
	return caller->stack <= stack && sp > stack && sp - stack <= task->sas_ss_size;
}

/* Notes the call for its exit. If the kernel will not trace its return, the exit counts as lost now; if only
 * our own stack is full, when the call returns. */
static __always_inline void note_call(struct thread *thread, struct task_struct *task, __u64 sp,
	__u64 ip, const struct probe_event *event, const __u64 *words)
{
	struct call *call;

	if (!kernel_follows(task)) {
		if (observing)
			lose(thread, thread->tid);
		return;
	}
	drop_stale(thread, sp, event->site);
	if (thread->depth >= DPE_CALLS) {
		thread->unsure = 1;
		return;
	}
	call = call_at(thread, thread->depth);
	call->sp = sp;
	call->ip = ip;
	call->site = event->site;
	call->gone = 0;
	call->shared = event->shared;
	for (int i = 0; i < DPE_WORDS; i++)
		call->words[i] = words[i];
	for (int i = 0; follow && reads_values && i < DPE_WORDS; i++)
		call->raw[i] = thread->raw[i];
	thread->depth++;
}

/* The depth of the call that returns now, with the stack pointer that it was entered with; or -1. */
__noinline int depth_of_call(struct thread *thread, __u64 sp, __u32 site)
{
	__u32 depth = thread ? thread->depth : 0;

	for (int i = 0; i < DPE_CALLS && depth; i++) {
		struct call *call = call_at(thread, --depth);

		if (call->sp > sp)
			return -1;
		if (call->sp == sp && call->site == site && !call->gone)
			return (int)depth;
	}
	return -1;
}

static __always_inline struct call *find_call(struct thread *thread, __u64 sp, __u32 site)
{
	int depth = depth_of_call(thread, sp, site);

	return depth < 0 ? 0 : call_at(thread, (__u32)depth);
}

__noinline int pop_gone(struct thread *thread, __u64 sp)
{
	if (!thread)
		return 0;
	for (int i = 0; i < DPE_CALLS && thread->depth; i++) {
		struct call *top = call_at(thread, thread->depth - 1);

		if (!top->gone && top->sp >= sp)
			return 0;
		thread->depth--;
	}
	return 0;
}

#endif
