/* stack_walk: the callers of what is observed, as frame pointers lead to them. */
#ifndef DPE_PROBES_KERNEL_BPF_STACK_WALK_H
#define DPE_PROBES_KERNEL_BPF_STACK_WALK_H

#include "probes/kernel/bpf/kernel_layout.h"
#include "probes/kernel/bpf/record.h"
#include "probes/limits.h"
#include <linux/bpf.h>

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>
#include <stdbool.h>

const volatile __u32 stack_depth; /* at most DPE_STACK_MAX */

/* Where a stack begins; ctx: what the program was called with. */
struct stack_top {
	void *ctx;
	__u64 ip, sp, bp;
};

/* Most code keeps no frame pointers, and has anything in their register. The kernel's own walk
 * reads through whatever is there, which costs an exception each time; so what cannot be a frame
 * above the last one is not looked at. */
static __always_inline bool is_frame(__u64 at, __u64 from)
{
	return at >= from && at - from < DPE_FRAME_BYTES && !(at & (sizeof(at) - 1));
}

/* Where the kernel lets observed functions of this process return to; 0: unknown.
 * The verifier looks through all types of the kernel for each pointer that is followed, which takes
 * it milliseconds; a global function it checks once, not on each path to it. */
__noinline __u64 find_trampoline(void)
{
	const struct task_struct *task = bpf_get_current_task_btf();

	if (!bpf_core_field_exists(struct mm_struct, uprobes_state) ||
		!bpf_core_field_exists(struct xol_area, vaddr))
		return 0;
	return task->mm->uprobes_state.xol_area->vaddr;
}

/* Only the kernel knows what the caller is where it has put its own address; it says so since
 * Linux 6.10. */
static __always_inline __u32 ask_kernel(const struct stack_top *top, __u64 *frames)
{
	long got = bpf_get_stack(
		top->ctx, frames, stack_depth * sizeof(*frames), BPF_F_USER_STACK);

	return got > 0 ? got / sizeof(*frames) : 0;
}

#define DPE_SHORT_STACK 2

struct short_stack {
	__u64 frames[DPE_SHORT_STACK];
	__u32 count;
};

/* Whether that is all that walk_stack would find. */
static __always_inline bool is_short(const struct stack_top *top, struct short_stack *stack)
{
	struct {
		__u64 bp, caller;
	} frame = {};

	stack->frames[0] = top->ip;
	stack->count = 1;
	if (!is_frame(top->bp, top->sp) ||
		bpf_probe_read_user(&frame, sizeof(frame), (void *)top->bp) || !frame.caller)
		return true;
	stack->frames[1] = frame.caller;
	stack->count = 2;
	return frame.caller != find_trampoline() && !is_frame(frame.bp, top->bp + sizeof(frame));
}

/* Fills at most stack_depth frames, by frame pointers; returns how many. */
static __always_inline __u32 walk_stack(const struct stack_top *top, __u64 *frames)
{
	struct {
		__u64 bp, caller;
	} frame = {.bp = top->bp};
	__u64 from = top->sp, trampoline = find_trampoline();
	__u32 count;

	frames[0] = top->ip;
	for (count = 1; count < DPE_STACK_MAX && count < stack_depth; count++) {
		__u64 at = frame.bp;

		if (!is_frame(at, from) ||
			bpf_probe_read_user(&frame, sizeof(frame), (void *)at) || !frame.caller)
			break;
		if (frame.caller == trampoline)
			return ask_kernel(top, frames);
		frames[count] = frame.caller;
		from = at + sizeof(frame);
	}
	return count;
}

#endif
