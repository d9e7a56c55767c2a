/* channel_bytes: the transfers of system calls through pipes, sockets and queues: which channel, and how many
 * bytes. User space derives the order from them. */
#ifndef DPE_PROBES_KERNEL_BPF_CHANNEL_BYTES_H
#define DPE_PROBES_KERNEL_BPF_CHANNEL_BYTES_H

#include "probes/kernel/bpf/kernel_layout.h"
#include "probes/kernel/bpf/record.h"
#include <linux/bpf.h>

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>
#include <stdbool.h>

/* What the system call that a thread is in transfers. */
enum dpe_transfer {
	TRANSFER_NONE,
	TRANSFER_SEND,
	TRANSFER_RECEIVE,
	TRANSFER_PEEK,
	TRANSFER_BY_MODE, /* the one for which the file is open */
	TRANSFER_UNSUPPORTED
};

struct dpe_channel {
	__u64 id, check;
	__u32 kind, transfer;
	__u64 priority;
	__u64 amount; /* of the messages of a call */
};

/* System call numbers of x86-64. */
enum {
	CALL_READ = 0,
	CALL_WRITE = 1,
	CALL_READV = 19,
	CALL_WRITEV = 20,
	CALL_SENDFILE = 40,
	CALL_SENDTO = 44,
	CALL_RECVFROM = 45,
	CALL_SENDMSG = 46,
	CALL_RECVMSG = 47,
	CALL_WAIT4 = 61,
	CALL_MSGSND = 69,
	CALL_MSGRCV = 70,
	CALL_MQ_SEND = 242,
	CALL_MQ_RECEIVE = 243,
	CALL_WAITID = 247,
	CALL_SPLICE = 275,
	CALL_TEE = 276,
	CALL_VMSPLICE = 278,
	CALL_PREADV2 = 327,
	CALL_PWRITEV2 = 328,
	CALL_RECVMMSG = 299,
	CALL_SENDMMSG = 307,
};

#define IS_FIFO(mode) (((mode)&0170000) == 0010000)
#define IS_SOCKET(mode) (((mode)&0170000) == 0140000)
#define FAMILY_UNIX 1
#define STREAM 1 /* SOCK_STREAM */
#define PEEK 2   /* MSG_PEEK */
#define WRITABLE 2 /* FMODE_WRITE */

/* What a call does with its file; TRANSFER_NONE: nothing of interest. */
static __always_inline __u32 transfer_of(long call, const struct pt_regs *regs)
{
	switch (call) {
	case CALL_WRITE:
	case CALL_WRITEV:
	case CALL_SENDTO:
	case CALL_SENDMSG:
	case CALL_SENDMMSG:
	case CALL_SENDFILE:
	case CALL_PWRITEV2:
	case CALL_MSGSND:
	case CALL_MQ_SEND:
		return TRANSFER_SEND;
	case CALL_READ:
	case CALL_READV:
	case CALL_PREADV2:
	case CALL_MSGRCV:
	case CALL_MQ_RECEIVE:
		return TRANSFER_RECEIVE;
	case CALL_RECVFROM:
	case CALL_RECVMMSG:
		return regs->r10 & PEEK ? TRANSFER_PEEK : TRANSFER_RECEIVE;
	case CALL_RECVMSG:
		return regs->dx & PEEK ? TRANSFER_PEEK : TRANSFER_RECEIVE;
	case CALL_SPLICE:
	case CALL_TEE:
	case CALL_VMSPLICE:
		return TRANSFER_BY_MODE;
	default:
		return TRANSFER_NONE;
	}
}

static __always_inline struct file *file_of(struct task_struct *task, __u64 descriptor)
{
	struct fdtable *table = BPF_CORE_READ(task, files, fdt);
	struct file **files = BPF_CORE_READ(table, fd), *file = 0;

	if (descriptor >= BPF_CORE_READ(table, max_fds))
		return 0;
	bpf_probe_read_kernel(&file, sizeof(file), &files[descriptor]);
	return file;
}

/* A direction of a connection is identified by the sending socket, since the other one may not exist yet, or no
 * longer. The receiver keeps the sender's socket alive. */
static __always_inline bool find_socket(
	struct file *file, struct inode *inode, struct dpe_channel *channel)
{
	struct socket *socket = BPF_CORE_READ(file, private_data);
	struct sock *sock = BPF_CORE_READ(socket, sk);

	if (BPF_CORE_READ(sock, __sk_common.skc_family) != FAMILY_UNIX)
		return false;
	channel->kind = BPF_CORE_READ(socket, type) == STREAM ? DPE_CHANNEL_SOCKET
							      : DPE_CHANNEL_DATAGRAMS;
	channel->id = (__u64)sock;
	if (channel->transfer == TRANSFER_SEND)
		channel->check = BPF_CORE_READ(inode, i_ino);
	else
		channel->id = (__u64)BPF_CORE_READ((struct unix_sock *)sock, peer);
	return true;
}

static __always_inline bool find_channel_of(struct task_struct *task, __u64 descriptor, struct dpe_channel *channel)
{
	struct file *file = file_of(task, (__u32)descriptor);
	struct inode *inode = BPF_CORE_READ(file, f_inode);
	__u16 mode;

	if (!file || !inode)
		return false;
	if (channel->transfer == TRANSFER_BY_MODE)
		channel->transfer = BPF_CORE_READ(file, f_mode) & WRITABLE ? TRANSFER_SEND : TRANSFER_RECEIVE;
	channel->id = BPF_CORE_READ(inode, i_ino);
	mode = BPF_CORE_READ(inode, i_mode);
	channel->kind = DPE_CHANNEL_PIPE;
	return IS_FIFO(mode) || (IS_SOCKET(mode) && find_socket(file, inode, channel));
}

/* From a descriptor to another. A thread is in one transfer at a time. */
static __always_inline bool find_either_channel(
	struct task_struct *task, __u64 from, __u64 to, struct dpe_channel *channel)
{
	struct dpe_channel received = {.transfer = TRANSFER_RECEIVE}, sent = {.transfer = TRANSFER_SEND};
	bool receives = find_channel_of(task, from, &received);
	bool sends = find_channel_of(task, to, &sent);

	*channel = sends ? sent : received;
	if (receives && sends)
		channel->transfer = TRANSFER_UNSUPPORTED;
	return receives || sends;
}

static __always_inline bool find_channel(struct task_struct *task, long call,
	const struct pt_regs *regs, struct dpe_channel *channel)
{
	struct file *file;

	switch (call) {
	case CALL_MSGSND:
	case CALL_MSGRCV:
		channel->kind = DPE_CHANNEL_SYSV;
		channel->id = (__u32)regs->di;
		channel->priority = call == CALL_MSGRCV ? regs->r10 : 0;
		return true;
	case CALL_MQ_SEND:
	case CALL_MQ_RECEIVE:
		file = file_of(task, (__u32)regs->di);
		channel->kind = DPE_CHANNEL_MQUEUE;
		channel->id = BPF_CORE_READ(file, f_inode, i_ino);
		channel->priority = call == CALL_MQ_SEND ? regs->r10 : 0;
		return file;
	case CALL_SPLICE:
		return find_either_channel(task, regs->di, regs->dx, channel);
	case CALL_TEE:
		return find_either_channel(task, regs->di, regs->si, channel);
	default:
		return find_channel_of(task, regs->di, channel);
	}
}

/* The messages of one call (struct mmsghdr). MESSAGES is the kernel's own limit. */
struct dpe_message_vector {
	__u64 at;
	long count;
	struct dpe_channel *channel; /* its amount is the sum */
};

#define MESSAGES 1024
#define MESSAGE_SIZE 64
#define MESSAGE_LENGTH 56

static long add_message(__u32 i, struct dpe_message_vector *messages)
{
	__u32 length = 0;

	if (i >= messages->count)
		return 1;
	bpf_probe_read_user(&length, sizeof(length), (void *)(messages->at + i * MESSAGE_SIZE + MESSAGE_LENGTH));
	messages->channel->amount += messages->channel->kind == DPE_CHANNEL_DATAGRAMS ? length > 0 : length;
	return 0;
}

/* The bytes of the messages, or the number of datagrams that are not empty. */
static __always_inline __u64 amount_of_messages(struct dpe_channel *channel, __u64 at, long count)
{
	struct dpe_message_vector messages = {.at = at, .count = count, .channel = channel};

	channel->amount = 0;
	bpf_loop(MESSAGES, add_message, &messages, 0);
	return channel->amount;
}

/* How much passed: bytes, or one message. */
static __always_inline __u64 amount_of(
	struct dpe_channel *channel, const struct pt_regs *regs, long result)
{
	if ((regs->orig_ax == CALL_SENDMMSG || regs->orig_ax == CALL_RECVMMSG) && channel->kind <= DPE_CHANNEL_DATAGRAMS)
		return amount_of_messages(channel, regs->si, result);
	if (channel->kind <= DPE_CHANNEL_SOCKET)
		return result > 0 ? result : 0;
	if (channel->kind == DPE_CHANNEL_DATAGRAMS)
		return result > 0;
	return result >= 0;
}

/* The process for whose end a call has waited; 0: none. */
static __always_inline __u32 awaited(long call, const struct pt_regs *regs)
{
	long result = regs->ax;
	int status = 0, info[5] = {};

	if (call == CALL_WAIT4) {
		if (result <= 0)
			return 0;
		if (regs->si)
			bpf_probe_read_user(&status, sizeof(status), (void *)regs->si);
		return (status & 0x7f) == 0x7f ? 0 : result; /* stopped or continued */
	}
	if (result || !regs->dx)
		return 0;
	bpf_probe_read_user(info, sizeof(info), (void *)regs->dx);
	return info[2] >= 1 && info[2] <= 3 ? info[4] : 0; /* CLD_EXITED to CLD_DUMPED; si_pid */
}

#endif
