/* goroutines: the threads of a Go program are its goroutines, which move between threads of the kernel, and whose stacks move. A
 * call is known by its goroutine and by its distance from the upper end of the stack, which stays. */
#ifndef DPE_PROBES_KERNEL_BPF_GOROUTINES_H
#define DPE_PROBES_KERNEL_BPF_GOROUTINES_H

#include "probes/kernel/bpf/send.h"
#include <linux/bpf.h>

#include <bpf/bpf_helpers.h>
#include <stdbool.h>

const volatile struct dpe_go_layout go;

struct goroutine {
	__u64 seq, time;
	__u64 named; /* see struct thread */
};

HASH_MAP(goroutines, DPE_MAP_GOROUTINES, __u32, struct goroutine);

struct go_call_key {
	__u64 depth;
	__u32 id, site;
};

/* Calls whose return is awaited. One that a panic has left stays, until another one is at its place. */
HASH_MAP(go_calls, DPE_MAP_GO_CALLS, struct go_call_key, struct go_call);

struct go_place {
	__u64 depth;
	__u32 id; /* with DPE_GOROUTINE; of a thread that runs none: its own */
};

#define SYSTEM_STACK (1ull << 63)

static __always_inline bool read_go(__u64 object, __u32 offset, __u64 *to)
{
	return !bpf_probe_read_user(to, sizeof(*to), (void *)(object + offset));
}

/* `g`: the register r14, which points to the goroutine or, on a system stack, to one of the thread's own, as compiled code has
 * it. False in other code. */
__noinline int find_goroutine(__u64 g, __u64 sp, struct go_place *place)
{
	__u64 m = 0, current = 0, system = 0, handler = 0, high = 0, number = 0;

	if (!place || !read_go(g, go.m, &m) || !read_go(g, go.high, &high) || !read_go(m, go.current, &current) ||
		!read_go(m, go.system, &system) || !read_go(m, go.handler, &handler))
		return false;
	if (g != current && g != system && g != handler)
		return false;
	place->depth = (high - sp) | (g == current ? 0 : SYSTEM_STACK);
	place->id = thread_id(bpf_get_current_task_btf());
	if (!current)
		return true;
	if (!read_go(current, go.number, &number) || number >= DPE_GOROUTINE)
		return false;
	place->id = number | DPE_GOROUTINE;
	return true;
}

static __always_inline struct goroutine *goroutine_of(__u32 id)
{
	struct goroutine fresh = {}, *found = bpf_map_lookup_elem(&goroutines, &id);

	if (found)
		return found;
	update(&goroutines, &id, &fresh, BPF_NOEXIST);
	return bpf_map_lookup_elem(&goroutines, &id);
}

/* The state of the kernel's thread, with the numbers of the goroutine until leave_goroutine. NULL: there is none. */
static __always_inline struct thread *enter_goroutine(struct task_struct *task, const struct goroutine *goroutine, __u32 id)
{
	struct thread *thread = goroutine ? thread_of(task, thread_id(task)) : 0;

	if (!thread)
		return 0;
	thread->tid = id;
	thread->seq = goroutine->seq;
	thread->time = goroutine->time;
	thread->named = goroutine->named;
	thread->read.ret = thread->read.ret_high = 0;
	return thread;
}

static __always_inline void leave_goroutine(const struct thread *thread, struct goroutine *goroutine)
{
	goroutine->seq = thread->seq;
	goroutine->time = thread->time;
	goroutine->named = thread->named;
}

/* The registers of integers, in the order of the calling convention. */
static __always_inline void read_go_words(const struct pt_regs *regs, __u64 *words)
{
	words[0] = regs->ax;
	words[1] = regs->bx;
	words[2] = regs->cx;
	words[3] = regs->di;
	words[4] = regs->si;
	words[5] = regs->r8;
	words[6] = regs->r9;
	words[7] = regs->r10;
	words[8] = regs->r11;
}

/* The check that the stack has room fails: the function begins again on a larger one, or later. */
static __always_inline bool begins_again(const struct pt_regs *regs, __u64 cookie)
{
	enum { CARRY = 1, ZERO = 0x40 };

	return cookie & DPE_COOKIE_CHECKS_STACK && regs->flags & (CARRY | ZERO);
}

static __always_inline void note_go_call(struct thread *thread, const struct go_place *place, __u32 site)
{
	struct go_call_key key = {place->depth, place->id, site};

	if (update(&go_calls, &key, &thread->go, BPF_ANY) && observing)
		lose_at(thread, place->id, site, true);
}

#endif
