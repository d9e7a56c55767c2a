/* frame_steps: from a function's registers to its caller's, by the rule of its code. */
#ifndef DPE_PROBES_KERNEL_BPF_FRAME_STEPS_H
#define DPE_PROBES_KERNEL_BPF_FRAME_STEPS_H

#include "probes/kernel/bpf/frame_rows.h"
#include "probes/limits.h"

#include <stdbool.h>

#ifndef __always_inline
#define __always_inline inline __attribute__((always_inline))
#endif

/* Reads words of the stack; false if it cannot. A constant where this is used. */
typedef bool read_words_fn(__u64 address, __u64 *words, __u32 count);

struct frame {
	__u64 pc, sp, bp;
	__u64 interrupted; /* pc is an instruction, no return address */
};

/* Where a cache of rules has that of the code at `pc`. The callers of an event are near each other and aligned, so their low bits
 * alone would collide. */
static __always_inline __u32 known_rule_slot(__u64 pc)
{
	return (__u32)(pc * 0x9e3779b97f4a7c15ull >> 32) & (DPE_KNOWN_RULES - 1);
}

/* rbp and the return address, as `push %rbp` leaves them. */
static __always_inline bool read_pair(read_words_fn *read, struct frame *frame, __u64 at)
{
	__u64 found[2];

	if (!read(at, found, 2))
		return false;
	frame->bp = found[0];
	frame->pc = found[1];
	return true;
}

/* Most code has no frame pointers, and any value in their register. */
static __always_inline bool is_frame(__u64 at, __u64 from)
{
	return at >= from && at - from < DPE_FRAME_BYTES && !(at & (sizeof(at) - 1));
}

static __always_inline bool step_by_pointer(read_words_fn *read, struct frame *frame)
{
	__u64 at = frame->bp;

	if (!is_frame(at, frame->sp) || !read_pair(read, frame, at))
		return false;
	frame->sp = at + 2 * sizeof(at);
	return true;
}

static __always_inline bool step_over_signal(read_words_fn *read, struct frame *frame)
{
	__u64 at = frame->sp;

	frame->interrupted = 1;
	return read(at + DPE_FRAME_SIGNAL_BP, &frame->bp, 1) && read(at + DPE_FRAME_SIGNAL_PC, &frame->pc, 1) &&
	       read(at + DPE_FRAME_SIGNAL_SP, &frame->sp, 1);
}

static __always_inline bool step_by_cfa(read_words_fn *read, struct frame *frame, __u64 cfa, __u64 saved)
{
	if (cfa <= frame->sp)
		return false;
	frame->sp = cfa;
	if (saved == cfa - 2 * sizeof(cfa))
		return read_pair(read, frame, saved);
	return read(cfa - sizeof(cfa), &frame->pc, 1) && (!saved || read(saved, &frame->bp, 1));
}

/* False if the caller is not known. */
static __always_inline bool step_frame(read_words_fn *read, struct frame *frame, __u32 rule)
{
	__u64 offset = DPE_FRAME_OFFSET(rule) * sizeof(__u64), below = DPE_FRAME_SAVED(rule) * sizeof(__u64), cfa;

	frame->interrupted = 0;
	switch (DPE_FRAME_KIND(rule)) {
	case DPE_FRAME_UNKNOWN:
		return step_by_pointer(read, frame);
	case DPE_FRAME_BY_SP:
		cfa = frame->sp + offset;
		break;
	case DPE_FRAME_BY_BP:
		cfa = frame->bp + offset;
		break;
	case DPE_FRAME_REALIGNED:
		return read(frame->bp - offset, &cfa, 1) && step_by_cfa(read, frame, cfa, frame->bp);
	case DPE_FRAME_PLT:
		cfa = frame->sp + sizeof(__u64);
		cfa += (frame->pc & 15) >= DPE_FRAME_OFFSET(rule) ? sizeof(__u64) : 0;
		break;
	case DPE_FRAME_SIGNAL:
		return step_over_signal(read, frame);
	default:
		return false;
	}
	return step_by_cfa(read, frame, cfa, below ? cfa - below : 0);
}

#endif
