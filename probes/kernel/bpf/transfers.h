/* transfers: the programs at system calls: transfers through channels, and waits for the end of a process. */
#ifndef DPE_PROBES_KERNEL_BPF_TRANSFERS_H
#define DPE_PROBES_KERNEL_BPF_TRANSFERS_H

#include "probes/kernel/bpf/channel_bytes.h"
#include "probes/kernel/bpf/send.h"
#include <linux/bpf.h>

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>

static __always_inline void send_transfer(struct task_struct *task, struct thread *thread,
	__u32 kind, __u64 amount, __u64 last)
{
	__u64 words[DPE_WORD_REGISTERS] = {thread->transfer.kind, thread->transfer.id,
		thread->transfer.check, thread->transfer.priority, amount, last};
	struct probe_event event = {.thread = thread,
		.tid = thread->tid,
		.kind = kind,
		.nwords = DPE_WORD_REGISTERS};

	if (send_name(thread) && put(&event, words, DPE_WORD_REGISTERS))
		return;
	if (kind == DPE_RECORD_STEP)
		lose_nowhere(bpf_ktime_get_ns());
	else
		lose(thread, thread->tid);
}

static __always_inline void begin_transfer(
	struct task_struct *task, struct thread *thread, long call, const struct pt_regs *regs)
{
	struct dpe_channel channel = {.transfer = transfer_of(call, regs)};

	if (!find_channel(task, call, regs, &channel))
		return;
	thread->transfer = channel;
	if (channel.transfer == TRANSFER_UNSUPPORTED) {
		thread->transfer.transfer = TRANSFER_NONE;
		lose(thread, thread->tid);
	} else if (channel.transfer == TRANSFER_SEND) {
		send_transfer(task, thread, DPE_RECORD_SEND, 0, 0);
	} else {
		send_transfer(task, thread, DPE_RECORD_STEP, 0, DPE_STEP_RECEIVES);
	}
}

SEC("tp_btf/sys_enter")
int BPF_PROG(on_call, struct pt_regs *regs, long call)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct thread *thread;
	__u32 tid;

	if (!channels || !observing || !transfer_of(call, regs) || !is_target(task))
		return 0;
	tid = thread_id(task);
	thread = thread_of(task, tid);
	if (thread)
		begin_transfer(task, thread, call, regs);
	else
		lose(thread, tid);
	return 0;
}

static __always_inline void end_transfer(
	struct task_struct *task, const struct pt_regs *regs, long result)
{
	struct thread *thread = bpf_task_storage_get(&storage, task, 0, 0);
	__u32 transfer;
	__u64 amount;

	if (!thread || !thread->transfer.transfer)
		return;
	transfer = thread->transfer.transfer;
	amount = amount_of(&thread->transfer, regs, result);
	if (transfer == TRANSFER_SEND)
		send_transfer(task, thread, DPE_RECORD_STEP, amount, DPE_STEP_SENT);
	else if (amount)
		send_transfer(task, thread, DPE_RECORD_RECEIVE, amount, transfer == TRANSFER_PEEK);
	else
		send_transfer(task, thread, DPE_RECORD_STEP, 0, DPE_STEP_RECEIVED_NOTHING);
	thread->transfer.transfer = TRANSFER_NONE;
}

SEC("tp_btf/sys_exit")
int BPF_PROG(on_return, struct pt_regs *regs, long result)
{
	struct task_struct *task = bpf_get_current_task_btf();
	__u64 words[DPE_WORD_REGISTERS] = {};
	long call = regs->orig_ax;
	__u32 pid;

	if (channels && observing && transfer_of(call, regs))
		end_transfer(task, regs, result);
	if (!waits || !observing || (call != CALL_WAIT4 && call != CALL_WAITID) || !is_target(task))
		return 0;
	pid = awaited(call, regs);
	if (!pid || bpf_map_lookup_elem(&followed, &pid))
		return 0;
	words[0] = pid;
	send_kernel_event(task, DPE_RECORD_WAITED, words);
	return 0;
}

#endif
