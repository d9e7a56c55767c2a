/* fpregs_read: the registers for floating point numbers (xmm0 …), of the thread at a probe.
 *
 * The kernel shows a probe none of them, and itself does not touch them: while a thread is in the
 * kernel they are still in the processor, until the thread gives way to another one. Then the kernel
 * saves them, and they stay in memory until the thread is back in its program. So the thread gives way
 * here, to one of ours that waits on each processor, comes before all others and does nothing: where
 * the thread's own count says that it has given way since the probe, what is in memory is what it
 * had; and where not, nothing is read. */
#ifndef DPE_PROBES_KERNEL_BPF_FPREGS_READ_H
#define DPE_PROBES_KERNEL_BPF_FPREGS_READ_H

#include "probes/kernel/bpf/kernel_layout.h"
#include "probes/kernel/bpf/record.h"
#include "probes/kernel/bpf/send.h"
#include <linux/bpf.h>

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>
#include <stdbool.h>

/* A thread of real time may have to pause for a twentieth of a second. Where it does not come at all,
 * it is not waited for again until it comes at once: meanwhile it may be another one that the thread
 * gives way to, which takes long. */
#define GIVE_WAY_LONGEST 100000000ull /* ns */
#define GIVE_WAY_SHORT 50000ull
#define GIVE_WAY_STEPS (1 << 23)
#define GIVE_WAY_USUAL 3 /* steps */
#define IN_USE_VECTORS 2 /* else all are zero, and nothing was saved */

__u64 unread_vectors; /* events that are lost as these registers could not be read */
__u64 trial[2 * DPE_VECTORS];
__u32 trials;

/* By site. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct dpe_vector_words);
} vector_where SEC(".maps");

/* By processor: wakes the thread that waits there. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY_OF_MAPS);
	__uint(max_entries, 1);
	__type(key, __u32);
	__array(values, struct ring);
} wakers SEC(".maps");

/* Of the processor: whether the last time took more than usual. */
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, __u32);
} waited SEC(".maps");

static __always_inline __u64 ways_given(void)
{
	struct task_struct *task = bpf_get_current_task_btf();

	return task->nvcsw + task->nivcsw;
}

struct giving {
	__u64 before, until, address;
};

/* Whoever is woken by this takes the processor at the next occasion, and on kernels that preempt
 * nobody reading the thread's own memory in this way is one. */
static long give_way(__u32 step, struct giving *giving)
{
	__u32 processor = bpf_get_smp_processor_id();
	void *ring = bpf_map_lookup_elem(&wakers, &processor), *nothing;
	char byte;

	if (!ring || ways_given() != giving->before || bpf_ktime_get_ns() > giving->until)
		return 1;
	nothing = bpf_ringbuf_reserve(ring, sizeof(__u64), 0);
	if (nothing)
		bpf_ringbuf_discard(nothing, BPF_RB_FORCE_WAKEUP);
	/* That fails where the thread is being killed: nobody gets the processor then. */
	return bpf_copy_from_user_task(&byte, sizeof(byte), (void *)giving->address,
		       bpf_get_current_task_btf(), 0) != 0;
}

static __always_inline struct fpstate *saved_state(struct task_struct *task)
{
	const char *fpu;

	if (bpf_core_field_exists(struct thread_struct___with_fpu, fpu))
		fpu = (const char *)&task->thread +
		      bpf_core_field_offset(struct thread_struct___with_fpu, fpu);
	else
		fpu = (const char *)task + bpf_core_type_size(struct task_struct);
	return BPF_CORE_READ((struct fpu *)fpu, fpstate);
}

/* Whether the thread has given way. `address`: any that can be read. */
static __noinline bool gives_way(__u64 address)
{
	struct giving giving = {.before = ways_given(), .address = address};
	__u32 zero = 0, *long_before = bpf_map_lookup_elem(&waited, &zero);

	if (!long_before)
		return false;
	giving.until = bpf_ktime_get_ns() + (*long_before ? GIVE_WAY_SHORT : GIVE_WAY_LONGEST);
	*long_before = bpf_loop(GIVE_WAY_STEPS, give_way, &giving, 0) > GIVE_WAY_USUAL;
	return ways_given() != giving.before;
}

/* All of them, 16 bytes each. False where they cannot be had. */
static __noinline bool read_vectors(__u64 sp, __u64 *vectors)
{
	struct fpstate *state;
	__u64 in_use = 0;

	if (!gives_way(sp))
		return false;
	state = saved_state(bpf_get_current_task_btf());
	if (bpf_core_read(&in_use, sizeof(in_use), &state->regs.xsave.header.xfeatures))
		return false;
	if (in_use & IN_USE_VECTORS)
		return !bpf_probe_read_kernel(vectors, 2 * DPE_VECTORS * sizeof(*vectors),
			__builtin_preserve_access_index(&state->regs.xsave.i387.xmm_space));
	__builtin_memset(vectors, 0, 2 * DPE_VECTORS * sizeof(*vectors));
	return true;
}

static __always_inline bool read_vectors_of(struct thread *thread, __u64 sp)
{
	if (thread && read_vectors(sp, thread->read.vectors))
		return true;
	__sync_fetch_and_add(&unread_vectors, armed);
	return false;
}

/* Those of a call go into its words. */
static __noinline bool take_vectors(struct thread *thread, __u32 site, __u64 sp, __u64 *words)
{
	const struct dpe_vector_words *where = bpf_map_lookup_elem(&vector_where, &site);

	if (!where || !read_vectors_of(thread, sp))
		return false;
	for (__u32 i = 0; i < DPE_WORDS; i++) {
		__u32 from = where->from[i];

		if (from)
			words[i] = thread->read.vectors[2 * ((from - 1) & (DPE_VECTORS - 1))];
	}
	return true;
}

/* The result of a call. */
static __noinline bool take_vector_ret(struct thread *thread, __u64 sp)
{
	if (!read_vectors_of(thread, sp))
		return false;
	thread->read.ret = thread->read.vectors[0];
	return true;
}

#endif
