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
__noinline int is_chained(__u64 sp)
{
	__u64 address = 0, trampoline = find_trampoline();

	if (!trampoline)
		return false;
	bpf_probe_read_user(&address, sizeof(address), (void *)sp);
	return address == trampoline;
}

/* 0 if the kernel has put its own address there. */
static __always_inline __u64 return_address(__u64 sp)
{
	__u64 address = 0;

	bpf_probe_read_user(&address, sizeof(address), (void *)sp);
	return address == find_trampoline() ? 0 : address;
}

/* The same, known by the kernel where it has. */
__noinline __u64 caller_of(__u64 sp)
{
	__u64 address = return_address(sp);

	return address ? address : find_return(sp);
}

/* Written out for the verifier: the compiler would drop a redundant mask. */
static __always_inline struct call *call_at(struct thread *thread, __u32 index)
{
	asm volatile("%0 &= %1" : "+r"(index) : "i"(DPE_CALLS - 1));
	return &thread->calls[index];
}

/* `thread` may be NULL. */
__noinline int lose_exit(struct thread *thread, __u32 tid, __u32 site)
{
	if (observing)
		lose_at(thread, tid, site, true);
	return 0;
}

/* True if the call continues below: a signal handler runs on its own stack above. */
static __always_inline bool is_interrupted(const struct thread *thread, __u64 call, __u64 sp)
{
	struct task_struct *task = bpf_get_current_task_btf();
	__u64 stack = task->sas_ss_sp, size = task->sas_ss_size;

	return thread->hidden || (sp - stack <= size && call - stack > size);
}

/* True if the call on the top, with the same stack pointer, continues: it has jumped to the function at `ip` that begins now, or
 * another rule is about that. */
static __always_inline bool continues_as_tail_call(const struct call *top, __u64 sp, __u64 ip)
{
	return top->ip == ip || is_chained(sp) ||
	       (top->caller && top->caller == caller_of(sp));
}

/* Calls of a thread that are looked at, from the innermost on. */
struct call_search {
	struct thread *thread;
	__u64 sp, ip, target;
	__u32 site, depth;
	int found;
};

static long drop_stale_call(__u32 round, struct call_search *search)
{
	struct thread *thread = search->thread;
	__u64 sp = search->sp;
	struct call *top;

	if (!thread->depth)
		return 1;
	top = call_at(thread, thread->depth - 1);
	if (top->sp > sp)
		return 1;
	if (top->sp == sp && !top->gone &&
		(top->site == search->site ? is_chained(sp) : continues_as_tail_call(top, sp, search->ip)))
		return 1;
	thread->unsure |= !top->gone;
	if (!top->gone && top->caller && is_interrupted(thread, top->sp, sp))
		lose_exit(thread, thread->tid, top->site);
	thread->depth--;
	return 0;
}

/* Forgets calls that were left without returning, by longjmp or an exception. The stack grows down. */
__noinline int drop_stale(struct thread *thread, __u64 sp, __u64 ip, __u32 site)
{
	struct call_search search = {.thread = thread, .sp = sp, .ip = ip, .site = site};

	if (thread)
		bpf_loop(DPE_CALLS, drop_stale_call, &search, 0);
	return 0;
}

static long lose_shared_call(__u32 round, struct call_search *search)
{
	struct thread *thread = search->thread;
	struct call *call;

	if (round >= thread->depth)
		return 1;
	call = call_at(thread, round);
	if (call->caller && !call->gone)
		lose_exit(thread, thread->tid, call->site);
	call->gone |= !!call->caller;
	return 0;
}

/* It is not known which calls continue. Those that return where others do would be taken for others. */
__noinline int lose_shared(struct thread *thread)
{
	struct call_search search = {.thread = thread};

	if (thread)
		bpf_loop(DPE_CALLS, lose_shared_call, &search, 0);
	return 0;
}

static long drop_left_call(__u32 round, struct call_search *search)
{
	struct thread *thread = search->thread;
	struct call *top;

	if (!thread->depth)
		return 1;
	top = call_at(thread, thread->depth - 1);
	if (top->sp >= search->target ||
		(top->sp < search->sp && !top->gone && is_interrupted(thread, top->sp, search->sp)))
		return 1;
	thread->depth--;
	return 0;
}

/* Forgets the calls that are left from stack pointer `sp` to `target`, which is higher. A handler on its own stack above leaves
 * none of those below. */
__noinline int drop_left(struct thread *thread, __u64 sp, __u64 target)
{
	struct call_search search = {.thread = thread, .sp = sp, .target = target};

	if (thread)
		bpf_loop(DPE_CALLS, drop_left_call, &search, 0);
	return 0;
}

static __always_inline void leave_calls(struct thread *thread, __u64 sp, __u64 target)
{
	if (target > sp)
		drop_left(thread, sp, target);
	else
		lose_shared(thread);
}

static long compare_call(__u32 round, struct call_search *search)
{
	struct call *call;

	if (!search->depth)
		return 1;
	call = call_at(search->thread, --search->depth);
	if (call->sp > search->sp)
		return 1;
	if (call->sp != search->sp || call->site != search->site || call->gone)
		return 0;
	search->found = (int)search->depth;
	return 1;
}

/* The depth of the call that returns now, with the stack pointer that it was entered with; or -1. */
__noinline int depth_of_call(struct thread *thread, __u64 sp, __u32 site)
{
	struct call_search search = {.thread = thread, .sp = sp, .site = site, .found = -1};

	if (!thread)
		return -1;
	search.depth = thread->depth;
	bpf_loop(DPE_CALLS, compare_call, &search, 0);
	return search.found;
}

/* A global function, as each pointer that is followed takes the verifier long: see find_trampoline. */
__noinline int kernel_follows(void)
{
	struct task_struct *task = bpf_get_current_task_btf();

	if (!bpf_core_field_exists(struct uprobe_task, depth))
		return true;
	return task->utask->depth < DPE_CALLS;
}

const volatile bool refuses_returns; /* the program of an exit runs at the entry as well, and decides */

/* True if the kernel, were it to probe the return of a call at `sp`, would take the calls on lower addresses for left by
 * longjmp, and end the program when they return; but they are open: this is a signal handler on its own stack above. */
__noinline int is_above_callers(__u64 sp)
{
	struct task_struct *task = bpf_get_current_task_btf();
	const struct return_instance *caller;
	const struct uprobe_task *utask;
	__u64 stack;

	if (!refuses_returns)
		return false;
	utask = task->utask;
	if (!utask)
		return false;
	caller = utask->return_instances;
	if (!caller || sp <= caller->stack)
		return false;
	stack = task->sas_ss_sp;
	return caller->stack <= stack && sp > stack && sp - stack <= task->sas_ss_size;
}

/* Notes the call for its exit. If the kernel will not trace its return, the exit counts as lost now; if only
 * our own stack is full, when the call returns. */
static __always_inline void note_call(struct thread *thread, __u64 sp, __u64 ip,
	const struct probe_event *event, const __u64 *words, __u64 cookie)
{
	struct call *call;
	int again;

	if (!(cookie & DPE_COOKIE_RETURNS) && !kernel_follows()) {
		if (observing)
			lose(thread, thread->tid);
		return;
	}
	drop_stale(thread, sp, ip, event->site);
	again = cookie & DPE_COOKIE_RETURNS ? depth_of_call(thread, sp, event->site) : -1;
	if (again >= 0) /* no such function calls itself by a jump */
		thread->depth = again;
	if (thread->depth >= DPE_CALLS) {
		thread->unsure = 1;
		if (cookie & DPE_COOKIE_SHARED)
			lose_exit(thread, thread->tid, event->site); /* its return would not tell */
		return;
	}
	call = call_at(thread, thread->depth);
	call->sp = sp;
	call->ip = ip;
	call->site = event->site;
	call->gone = 0;
	call->unplaced = event->shared == ~0u;
	call->shared = event->shared;
	call->caller = cookie & DPE_COOKIE_SHARED ? caller_of(sp) : 0;
	for (int i = 0; i < DPE_WORDS; i++)
		call->words[i] = words[i];
	for (int i = 0; follow && reads_values && i < DPE_WORDS; i++)
		call->raw[i] = thread->raw[i];
	thread->depth++;
}

static __always_inline struct call *find_call(struct thread *thread, __u64 sp, __u32 site)
{
	int depth = depth_of_call(thread, sp, site);

	return depth < 0 ? 0 : call_at(thread, (__u32)depth);
}

static long pop_call(__u32 round, struct call_search *search)
{
	struct thread *thread = search->thread;
	struct call *top;

	if (!thread->depth)
		return 1;
	top = call_at(thread, thread->depth - 1);
	if (!top->gone && top->sp >= search->sp)
		return 1;
	thread->depth--;
	return 0;
}

__noinline int pop_gone(struct thread *thread, __u64 sp)
{
	struct call_search search = {.thread = thread, .sp = sp};

	if (thread)
		bpf_loop(DPE_CALLS, pop_call, &search, 0);
	return 0;
}

#endif
