/* early_returns: returns that are told before them, where a function only returns. See exits.c. */
#ifndef DPE_PROBES_KERNEL_BPF_EARLY_RETURNS_H
#define DPE_PROBES_KERNEL_BPF_EARLY_RETURNS_H

#include "probes/kernel/bpf/pending_calls.h"
#include "probes/kernel/bpf/user_memory.h"
#include "probes/kernel/bpf/send.h"
#include <linux/bpf.h>

#include <bpf/bpf_helpers.h>
#include <stdbool.h>

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct dpe_point_entry);
} points SEC(".maps");

enum { CARRY = 1 << 0, PARITY = 1 << 2, ZERO = 1 << 6, SIGN = 1 << 7, OVERFLOW = 1 << 11 };

/* A condition as conditional jumps have it; every second one is the one before, negated. */
static __always_inline bool flags_hold(__u64 flags, __u8 condition)
{
	bool holds, less = !(flags & SIGN) != !(flags & OVERFLOW);

	switch (condition >> 1) {
	case 0:
		holds = flags & OVERFLOW;
		break;
	case 1:
		holds = flags & CARRY;
		break;
	case 2:
		holds = flags & ZERO;
		break;
	case 3:
		holds = flags & (CARRY | ZERO);
		break;
	case 4:
		holds = flags & SIGN;
		break;
	case 5:
		holds = flags & PARITY;
		break;
	case 6:
		holds = less;
		break;
	case 7:
		holds = less || flags & ZERO;
		break;
	default:
		return true;
	}
	return holds != (condition & 1);
}

static __always_inline bool read_point_word(
	struct pt_regs *regs, const struct dpe_point_word *from, __u64 *word)
{
	*word = read_register(regs, from->base);
	if (!from->in_memory)
		return true;
	return !bpf_probe_read_user(word, sizeof(*word), (void *)(*word + from->distance));
}

static __always_inline bool read_point_words(
	struct pt_regs *regs, const struct dpe_point_entry *point, __u64 *words)
{
	bool complete = true;

	for (__u32 i = 0; i < DPE_WORD_REGISTERS && i < point->nwords; i++)
		complete &= read_point_word(regs, &point->words[i], &words[i]);
	return complete;
}

/* The stack as it is at the return. */
static __always_inline void find_return(
	struct pt_regs *regs, const struct dpe_point_entry *point, struct stack_top *top)
{
	__u64 at = regs->sp + point->above;

	top->sp = at + sizeof(at);
	bpf_probe_read_user(&top->ip, sizeof(top->ip), (void *)at);
	if (point->own_frame)
		bpf_probe_read_user(&top->bp, sizeof(top->bp), (void *)(at - sizeof(at)));
	top->inside = 1 + point->own_frame;
}

#endif
