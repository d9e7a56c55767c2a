/* send: the target's threads and the numbers of their events; sends records to the ring, or counts them as
 * lost. */
#ifndef DPE_PROBES_KERNEL_BPF_SEND_H
#define DPE_PROBES_KERNEL_BPF_SEND_H

#include "probes/kernel/bpf/target_processes.h"
#include "probes/kernel/bpf/channel_bytes.h"
#include "probes/kernel/bpf/map_access.h"
#include "probes/kernel/bpf/kernel_layout.h"
#include "probes/kernel/bpf/user_memory.h"
#include "probes/kernel/bpf/record.h"
#include "probes/kernel/bpf/stack_walk.h"
#include <linux/bpf.h>

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>
#include <stdbool.h>

/* ---- settings and state ------------------------------------------------------------------ */

const volatile __u32 threads;     /* thread events are wanted */
const volatile __u32 nrings = 1;
const volatile __u32 channels;    /* transfers through channels are wanted */
const volatile __u32 waits;       /* waits for processes are wanted */
const volatile __u32 attached;    /* the target ran before: calls may have begun unseen */
const volatile __u32 steps;     /* some probed instructions are single-stepped: these may fault */
const volatile __u32 founds;      /* threads that ran already begin with an event */
const volatile __u32 first_watch; /* in `read_where`: after all sites */
const volatile __u32 observer;    /* process id, in its own namespace */
const volatile __u32 first_guard;  /* in `guards`: of watched variables */

__u32 observing;        /* events are sent from now on */
__u64 observing_since;     /* attached: when; 0: now */
__u32 execs;        /* number of programs that the target has begun */
__u64 waiting;      /* the reader sleeps and has to be woken */
__u64 code;         /* where the program's code begins since its last exec */
__u32 hold_program; /* stop the target once it has begun its program */
__u32 nwatches;
struct dpe_watch_entry watches[DPE_WATCHES];
struct dpe_lost nowhere; /* losses for which `losses` had no room */

struct ring {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 1 << 12);
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY_OF_MAPS);
	__uint(max_entries, 1);
	__type(key, __u32);
	__array(values, struct ring);
} rings SEC(".maps");

HASH_MAP(losses, DPE_MAP_LOSSES, __u32, struct dpe_lost);
/* Losses of each site, for reports only: 2 * site for calls, 2 * site + 1 for returns. */
ARRAY_MAP(lost_at, __u64);

/* How many events each ended thread had: numbering continues if its id is reused. */
HASH_MAP(ended, DPE_MAP_ENDED, __u32, __u64);

/* A call whose return is awaited. */
struct call {
	__u64 sp, ip;
	__u32 site;
	__u8 gone, unplaced; /* unplaced: it is not known yet which words are in shared memory */
	__u16 shared;
	__u64 caller; /* to which it returns, if other functions return where it does; 0: unknown */
	__u64 words[DPE_WORDS];
	__u64 raw[DPE_WORDS]; /* the same with untranslated addresses, if they may be needed */
};

/* In a Go program. */
struct go_call {
	__u64 ip;
	struct call_words words;
};

struct thread {
	__u64 seq, time; /* time: of the last record */
	__u32 tid, depth;
	__u32 process, space;
	__u32 met;    /* its first event was sent */
	__u32 unsure; /* some calls were not noted, or were forgotten, and may still return */
	__u32 hidden; /* a handler ran on a stack that the kernel no longer knows (SS_AUTODISARM) */
	__u64 named;  /* `comm` is the name that was sent last */
	__u64 comm[DPE_COMM_WORDS];
	struct dpe_channel transfer; /* of the current system call */
	__u64 probed_ip, probed_sp;  /* of its last call, if probed instructions may fault */
	struct readings read;        /* for the current event */
	struct stack_memory stack;
	struct go_call go;           /* that begins */
	__u64 raw[DPE_WORDS];        /* of the call that begins: see struct call */
	struct call calls[DPE_CALLS];
};

struct {
	__uint(type, BPF_MAP_TYPE_TASK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct thread);
} storage SEC(".maps");

/* ---- numbering and losses ---------------------------------------------------------------- */

__noinline int lose_nowhere(__u64 now)
{
	__sync_fetch_and_add(&nowhere.count, 1);
	if (!nowhere.first)
		__sync_val_compare_and_swap(&nowhere.first, 0, now);
	for (int i = 0; i < 16; i++) {
		__u64 last = nowhere.last;

		if (last >= now || __sync_val_compare_and_swap(&nowhere.last, last, now) == last)
			break;
	}
	return 0;
}

/* Counts one event that cannot be sent. Only the thread itself (or its parent, before it runs)
 * writes its entry. */
static __always_inline void lose(struct thread *thread, __u32 tid)
{
	struct dpe_lost fresh = {.first = bpf_ktime_get_ns()};
	struct dpe_lost *lost = bpf_map_lookup_elem(&losses, &tid);

	if (thread)
		thread->seq++;
	if (!lost) {
		update(&losses, &tid, &fresh, BPF_NOEXIST);
		lost = bpf_map_lookup_elem(&losses, &tid);
	}
	if (!lost) {
		lose_nowhere(fresh.first);
		return;
	}
	lost->count++;
	lost->last = fresh.first;
	if (!thread)
		lost->unnumbered++;
}

static __always_inline void count_lost_at(__u32 site, bool exit)
{
	__u32 number = 2 * site + exit;
	__u64 *count = bpf_map_lookup_elem(&lost_at, &number);

	if (count)
		__sync_fetch_and_add(count, 1);
}

static __always_inline void lose_at(struct thread *thread, __u32 tid, __u32 site, bool exit)
{
	count_lost_at(site, exit);
	lose(thread, tid);
}

static __always_inline __u64 first_number(__u32 tid)
{
	struct dpe_lost *lost = bpf_map_lookup_elem(&losses, &tid);
	__u64 *before = bpf_map_lookup_elem(&ended, &tid);
	__u64 seq = before ? *before : 0;

	if (lost) {
		seq += lost->unnumbered;
		lost->unnumbered = 0;
	}
	return seq;
}

static __always_inline void place_thread(struct thread *thread, struct task_struct *task)
{
	struct dpe_process *process = follow ? process_of(task) : 0;

	thread->process = follow ? process_id(task) : target;
	thread->space = process ? process->space : 0;
}

static __always_inline struct thread *thread_of(struct task_struct *task, __u32 tid)
{
	struct thread *thread = bpf_task_storage_get(&storage, task, 0, 0);

	if (thread)
		return thread;
	thread = bpf_task_storage_get(&storage, task, 0, BPF_LOCAL_STORAGE_GET_F_CREATE);
	if (thread) {
		thread->tid = tid;
		thread->seq = first_number(tid);
		place_thread(thread, task);
	}
	return thread;
}

/* Keeps the thread's count for the next one with its id. */
static __always_inline void remember(__u32 tid, __u64 seq)
{
	if (update(&ended, &tid, &seq, BPF_ANY))
		lose_nowhere(bpf_ktime_get_ns());
}

/* ---- sending ----------------------------------------------------------------------------- */

struct probe_event {
	struct stack_top top; /* of a uprobe or an access */
	struct thread *thread;
	__u64 extra; /* see struct dpe_record on stacks */
	__u32 tid, site, kind, nwords, shared; /* shared: ~0u while it is not known, see struct call */
	__u32 nstack; /* frames in the thread's memory */
	struct values values;
};

/* Processors do not contend for one ring: each has its own, or shares it with a few. A program stays on its
 * processor while it runs, though other programs may run there meanwhile. */
static __always_inline void *own_ring(void)
{
	__u32 index = nrings ? bpf_get_smp_processor_id() % nrings : 0;

	return bpf_map_lookup_elem(&rings, &index);
}

/* The reservation must be visible to the reader before the clock is read; otherwise it may stay in the
 * processor's store buffer for some hundred nanoseconds. A locked operation is a barrier. The clocks of two
 * processors may differ by nanoseconds while the kernel adjusts them; what a thread did before it came here is
 * earlier nevertheless. */
static __always_inline __u64 time_after_reserve(struct thread *thread)
{
	__u64 barrier = 0, now;

	__sync_fetch_and_add(&barrier, 1);
	now = bpf_ktime_get_ns();
	if (now <= thread->time)
		now = thread->time + 1;
	thread->time = now;
	return now;
}

static __always_inline void fill(struct dpe_record *record, const struct probe_event *event)
{
	record->tid = event->tid;
	record->tgid = event->thread->process;
	record->space = event->thread->space;
	record->shared = event->shared;
	record->site = event->site;
	record->kind = event->kind;
	record->nwords = event->nwords;
	record->nstack = 0;
	record->has_stack = DPE_STACK_NONE;
	record->nvalues = event->values.count;
	record->ntexts = event->values.ntexts;
	record->known = event->values.known;
	record->seq = event->thread->seq;
	event->thread->seq += event->kind != DPE_RECORD_STEP && event->kind != DPE_RECORD_NAME;
	record->time = time_after_reserve(event->thread);
}

static __always_inline void wake_at_once(void)
{
	void *ring = own_ring(), *nothing;

	if (!ring)
		return;
	nothing = reserve(ring, sizeof(__u64));
	if (nothing)
		bpf_ringbuf_discard(nothing, BPF_RB_FORCE_WAKEUP);
}

/* Waking the reader for each record would cost more than everything else: it polls while records arrive, and
 * announces when it goes to sleep. The submit before this is a full barrier, and the reader checks the ring
 * once more after the announcement, so no record is missed. One wakeup serves all records until the reader
 * runs. */
static __always_inline void wake_reader(void *ring)
{
	void *nothing;

	if (!*(volatile __u64 *)&waiting)
		return;
	nothing = reserve(ring, sizeof(__u64));
	if (!nothing)
		return;
	if (__sync_val_compare_and_swap(&waiting, 1, 0))
		bpf_ringbuf_discard(nothing, BPF_RB_FORCE_WAKEUP);
	else
		bpf_ringbuf_discard(nothing, BPF_RB_NO_WAKEUP);
}

static __always_inline void submit(void *ring, struct dpe_record *record)
{
	bpf_ringbuf_submit(record, BPF_RB_NO_WAKEUP);
	wake_reader(ring);
}

/* Where the words of the call begin; with `exit`, after its result. */
static __always_inline __u64 *begin_words(
	struct dpe_record *record, const struct probe_event *event, const bool exit)
{
	if (!exit)
		return record->words;
	record->words[0] = event->thread->read.ret;
	record->words[1] = event->thread->read.ret_high;
	return record->words + DPE_RESULT_WORDS;
}

/* A record of the event and its words, `room` bytes longer than these; NULL if the ring is full. `behind`: where that
 * room begins. */
static __always_inline struct dpe_record *begin_record(void *ring, const struct probe_event *event,
	const __u64 *words, const int count, const __u32 room, const bool exit, __u64 **behind)
{
	const int before = exit ? DPE_RESULT_WORDS : 0;
	struct dpe_record *record;
	__u64 *to;

	if (!ring)
		return 0;
	record = reserve(ring, sizeof(*record) + (before + count) * sizeof(__u64) + room);
	if (!record)
		return 0;
	fill(record, event);
	to = begin_words(record, event, exit);
	for (int i = 0; i < count; i++)
		to[i] = words[i];
	*behind = to + count;
	return record;
}

/* Sends with a constant number of words; false if the ring is full. */
static __always_inline bool put_words(
	const struct probe_event *event, const __u64 *words, const int count, const bool exit)
{
	void *ring = own_ring();
	__u64 *behind;
	struct dpe_record *record = begin_record(ring, event, words, count, 0, exit, &behind);

	if (!record)
		return false;
	submit(ring, record);
	return true;
}

static __always_inline bool put(const struct probe_event *event, const __u64 *words, const int count)
{
	return put_words(event, words, count, false);
}

/* ---- records ----------------------------------------------------------------------------- */

static __always_inline void copy_stack(
	struct dpe_record *record, const struct probe_event *event, __u64 *to, const __u32 max)
{
	record->nstack = event->nstack;
	for (__u32 i = 0; i < DPE_STACK_MAX && i < max; i++)
		to[i] = event->thread->stack.frames[i];
}

/* With a constant number of words, and room for `frames`. */
static __always_inline bool put_with_stack(const struct probe_event *event, const __u64 *words,
	const int count, const __u32 frames, const bool exit)
{
	void *ring = own_ring();
	__u64 *behind;
	struct dpe_record *record =
		begin_record(ring, event, words, count, (1 + frames) * sizeof(__u64), exit, &behind);

	if (!record)
		return false;
	behind[0] = event->extra;
	copy_stack(record, event, &behind[1], frames);
	record->has_stack = count == 2 ? DPE_STACK_BRIEF : DPE_STACK_WHOLE;
	submit(ring, record);
	return true;
}

/* Unused space is not written, so it costs nothing. */
static __always_inline bool put_stack(
	const struct probe_event *event, const __u64 *words, const bool exit)
{
	if (event->nwords > 2)
		return put_with_stack(event, words, DPE_WORDS, stack_depth, exit);
	if (event->nstack <= DPE_SHORT_STACK && stack_depth > DPE_SHORT_STACK)
		return put_with_stack(event, words, 2, DPE_SHORT_STACK, exit);
	if (event->nstack <= DPE_USUAL_STACK && stack_depth > DPE_USUAL_STACK)
		return put_with_stack(event, words, 2, DPE_USUAL_STACK, exit);
	return put_with_stack(event, words, 2, stack_depth, exit);
}

static __always_inline bool put_with_values(const struct probe_event *event, const __u64 *words,
	const int count, const bool with_texts, const bool exit)
{
	const __u32 room = (1 + stack_depth + DPE_VALUES) * sizeof(__u64) + (with_texts ? DPE_TEXTS * DPE_TEXT_SIZE : 0);
	void *ring = own_ring();
	__u64 *behind, *values;
	struct dpe_record *record = begin_record(ring, event, words, count, room, exit, &behind);

	if (!record)
		return false;
	behind[0] = event->extra;
	copy_stack(record, event, &behind[1], stack_depth);
	record->has_stack = stack_depth ? DPE_STACK_WHOLE : DPE_STACK_NONE;
	values = &behind[1 + stack_depth];
	for (int i = 0; i < DPE_VALUES; i++)
		values[i] = event->thread->read.values[i];
	for (__u32 i = 0; with_texts && i < DPE_TEXTS; i++)
		for (__u32 j = 0; j < DPE_TEXT_WORDS; j++)
			values[DPE_VALUES + i * DPE_TEXT_WORDS + j] =
				event->thread->read.texts[i][j];
	submit(ring, record);
	return true;
}

static __always_inline void describe(struct task_struct *task, __u64 *words)
{
	struct dpe_process *process = follow ? process_of(task) : 0;

	words[0] = thread_id(task);
	words[1] = task->thread.fsbase;
	words[2] = process_id(task);
	words[3] = process ? process->space : 0;
}

/* Few threads change their names, so a name is sent once, before the first event that has it, through the same
 * ring. False if the ring is full: an event without its name is lost. */
static __noinline bool send_new_name(struct thread *thread, __u64 first, __u64 second)
{
	struct probe_event event = {.thread = thread,
		.tid = thread->tid,
		.kind = DPE_RECORD_NAME,
		.nwords = DPE_COMM_WORDS};
	__u64 words[DPE_COMM_WORDS] = {first, second};

	if (!put(&event, words, DPE_COMM_WORDS))
		return false;
	thread->comm[0] = first;
	thread->comm[1] = second;
	thread->named = 1;
	return true;
}

/* Two loads; the kernel's helper would search for the end of the name. */
static __always_inline bool send_name(struct thread *thread)
{
	const struct task_struct *task = bpf_get_current_task_btf();
	const __u64 *comm = (const void *)task->comm;

	_Static_assert(sizeof(thread->comm) == sizeof(task->comm), "as the kernel has it");
	if (thread->named && thread->comm[0] == comm[0] && thread->comm[1] == comm[1])
		return true;
	return send_new_name(thread, comm[0], comm[1]);
}

/* It is unknown what released a thread that was already running: its first event says so. */
static __noinline void meet(struct thread *thread)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct probe_event event = {.thread = thread,
		.tid = thread->tid,
		.kind = DPE_RECORD_FOUND,
		.nwords = DPE_WORD_REGISTERS};
	__u64 words[DPE_WORD_REGISTERS] = {};

	if (thread->met)
		return;
	thread->met = 1;
	if (observing_since && task->start_time >= observing_since)
		return;
	describe(task, words);
	if (!send_name(thread) || !put(&event, words, DPE_WORD_REGISTERS))
		lose(thread, thread->tid);
}

/* `words` has room for `max`. */
static __always_inline bool put_event(
	const struct probe_event *event, const __u64 *words, const int max, const bool exit)
{
	if (reads_texts && event->values.ntexts)
		return put_with_values(event, words, max, true, exit);
	if (event->values.count)
		return put_with_values(event, words, max, false, exit);
	if (max > DPE_WORDS)
		return stack_depth ? put_with_stack(event, words, max, stack_depth, exit)
				   : put_words(event, words, max, exit);
	if (stack_depth)
		return put_stack(event, words, exit);
	if (event->nwords <= 2)
		return put_words(event, words, 2, exit);
	if (event->nwords <= DPE_WORD_REGISTERS)
		return put_words(event, words, DPE_WORD_REGISTERS, exit);
	return put_words(event, words, max, exit);
}

/* False if it is counted as lost. */
static __always_inline bool send_words(
	struct probe_event *event, const __u64 *words, const int max, const bool exit)
{
	struct thread *thread = event->thread;

	if (founds && thread)
		meet(thread);
	if (stack_depth && thread)
		event->nstack = walk_stack(&thread->stack, &event->top);
	if (thread && send_name(thread) && put_event(event, words, max, exit))
		return true;
	if (event->kind == DPE_RECORD_ENTER || event->kind == DPE_RECORD_EXIT)
		count_lost_at(event->site, event->kind == DPE_RECORD_EXIT);
	lose(thread, event->tid);
	return false;
}

/* `exit`: with the result that is among the thread's readings. */
static __always_inline bool send(struct probe_event *event, const __u64 *words, const bool exit)
{
	return send_words(event, words, DPE_WORDS, exit);
}

static __always_inline void send_kernel_event(
	struct task_struct *task, __u32 kind, const __u64 *words)
{
	struct probe_event event = {.tid = thread_id(task), .kind = kind, .nwords = DPE_WORD_REGISTERS};

	event.thread = thread_of(task, event.tid);
	if (founds && event.thread && kind == DPE_RECORD_START)
		event.thread->met = 1;
	else if (founds && event.thread)
		meet(event.thread);
	if (!event.thread || !send_name(event.thread) || !put(&event, words, DPE_WORD_REGISTERS))
		lose(event.thread, event.tid);
}

/* The C library's function that creates a thread has no call frame information where it calls the kernel, since
 * the new thread returns from there, too; its return address is at the stack pointer. */
static __always_inline void leave_system_call(struct thread *thread, struct stack_top *top)
{
	__u64 caller;

	if (rule_at(&thread->stack, top->ip) != DPE_FRAME_UNKNOWN || !read_words_at(top->sp, &caller, 1))
		return;
	top->ip = caller;
	top->sp += sizeof(caller);
}

/* By the current thread. `words` has room for DPE_WORDS. */
static __always_inline void send_creation(
	struct task_struct *parent, struct task_struct *child, const __u64 *words)
{
	const struct pt_regs *regs = (struct pt_regs *)bpf_task_pt_regs(parent);
	struct probe_event event = {
		.top = {.ip = regs->ip, .sp = regs->sp, .bp = regs->bp},
		.tid = thread_id(parent),
		.kind = DPE_RECORD_CREATE,
		.nwords = DPE_WORD_REGISTERS,
	};

	event.thread = thread_of(parent, event.tid);
	if (stack_depth && event.thread && child->tgid == parent->tgid)
		leave_system_call(event.thread, &event.top);
	send(&event, words, false);
}

#endif
