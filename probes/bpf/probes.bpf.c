/* probes.bpf: the programs that run inside the kernel when the target passes a probe.
 *
 * Each takes one record from the ring of its processor, or counts one loss: every event of a
 * thread has a number, whether it could be sent or not, so a gap in the numbers is exactly what was
 * lost. The time of a record is taken after its place in the ring, so whoever has read the rings up
 * to producer positions read after the time T has everything before T. */
#include "probes/bpf/kernel.h"
#include "probes/bpf/libraries.h"
#include "probes/bpf/memory.h"
#include "probes/bpf/record.h"
#include "probes/bpf/stack.h"
#include <linux/bpf.h>

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>
#include <stdbool.h>

char LICENSE[] SEC("license") = "GPL";

/* ---- settings and state ------------------------------------------------------------------ */

const volatile __u32 target;      /* process id, in the observer's namespace */
const volatile __u32 namespace;   /* of that id; 0: the initial one */
const volatile __u32 threads;     /* thread events are wanted */
const volatile __u32 nrings = 1;
const volatile __u32 attached;    /* the target ran before: calls may have begun unseen */
const volatile __u32 founds;      /* threads that ran already begin with an event */
const volatile __u32 first_watch; /* in `read_where`: behind all sites */
const volatile __u32 observer;    /* process id, in its own namespace */

__u32 armed;        /* events count from now on */
__u64 armed_at;     /* attached: when that began; 0: just now */
__u32 execs;        /* programs that the target has begun */
__u64 waiting;      /* the reader sleeps until it is woken */
__u64 code;         /* where the program's code begins since its last exec */
__u32 hold_program; /* stop the target once it has begun its program */
__u32 nwatches;
struct dpe_watch_entry watches[DPE_WATCHES];
struct dpe_lost nowhere; /* losses that no entry of `losses` could take */

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

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, 1 << 16);
	__type(key, __u32);
	__type(value, struct dpe_lost);
} losses SEC(".maps");

/* How many events threads had that ended: should the id come again, numbering goes on. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, 1 << 20);
	__type(key, __u32);
	__type(value, __u64);
} ended SEC(".maps");

/* A call whose return is awaited. */
struct call {
	__u64 sp, ip;
	__u32 site, gone;
	__u64 words[DPE_WORDS];
};

struct thread {
	__u64 seq, time; /* time: of the last record */
	__u32 tid, depth;
	__u32 met;    /* its first event was sent */
	__u32 unsure; /* calls were not noted, or forgotten, of which exits may come */
	struct call calls[DPE_CALLS];
};

struct {
	__uint(type, BPF_MAP_TYPE_TASK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct thread);
} storage SEC(".maps");

/* ---- who is it --------------------------------------------------------------------------- */

static __always_inline __u32 id_in_namespace(struct pid *pid)
{
	unsigned long size = bpf_core_type_size(struct upid);
	const char *at = (const char *)pid + bpf_core_field_offset(struct pid, numbers);
	unsigned int level = BPF_CORE_READ(pid, level);

	for (unsigned int i = 0; i < 32 && i <= level; i++, at += size)
		if (BPF_CORE_READ((struct upid *)at, ns, ns.inum) == namespace)
			return BPF_CORE_READ((struct upid *)at, nr);
	return 0;
}

static __always_inline __u32 process_id(struct task_struct *task)
{
	if (!namespace)
		return task->tgid;
	return id_in_namespace(BPF_CORE_READ(task, signal, pids[1]));
}

static __always_inline bool is_target(struct task_struct *task)
{
	return process_id(task) == target;
}

static __always_inline __u32 thread_id(struct task_struct *task)
{
	return namespace ? id_in_namespace(task->thread_pid) : task->pid;
}

/* ---- numbering and losses ---------------------------------------------------------------- */

static void lose_nowhere(__u64 now)
{
	__sync_fetch_and_add(&nowhere.count, 1);
	if (!nowhere.first)
		__sync_val_compare_and_swap(&nowhere.first, 0, now);
	for (int i = 0; i < 16; i++) {
		__u64 last = nowhere.last;

		if (last >= now || __sync_val_compare_and_swap(&nowhere.last, last, now) == last)
			return;
	}
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
		bpf_map_update_elem(&losses, &tid, &fresh, BPF_NOEXIST);
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

static __always_inline struct thread *thread_of(struct task_struct *task, __u32 tid)
{
	struct thread *thread = bpf_task_storage_get(&storage, task, 0, 0);

	if (thread)
		return thread;
	thread = bpf_task_storage_get(&storage, task, 0, BPF_LOCAL_STORAGE_GET_F_CREATE);
	if (thread) {
		thread->tid = tid;
		thread->seq = first_number(tid);
	}
	return thread;
}

/* Keeps the thread's count for the next one with its id. */
static __always_inline void remember(__u32 tid, __u64 seq)
{
	if (bpf_map_update_elem(&ended, &tid, &seq, BPF_ANY))
		lose_nowhere(bpf_ktime_get_ns());
}

/* ---- sending ----------------------------------------------------------------------------- */

struct event {
	struct stack_top top; /* of a uprobe or an access */
	struct thread *thread;
	__u64 ret, extra; /* extra: see struct dpe_record on stacks */
	__u32 tid, site, kind, nwords;
	struct values values;
};

/* Many processors do not fight for one ring: each has its own, or shares it with some. A program
 * stays on its processor while it runs, though other programs may run there in between. */
static __always_inline void *own_ring(void)
{
	__u32 index = nrings ? bpf_get_smp_processor_id() % nrings : 0;

	return bpf_map_lookup_elem(&rings, &index);
}

/* The place in the ring must be visible to the reader before the clock is read: without that a
 * processor keeps it to itself for some hundred nanoseconds. A locked operation is a barrier.
 * The clocks of two processors may differ by nanoseconds while the kernel adjusts them: what a
 * thread did before it came here was earlier all the same. */
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

static __always_inline void fill(struct dpe_record *record, const struct event *event)
{
	record->ret = event->ret;
	record->tid = event->tid;
	record->tgid = target;
	record->site = event->site;
	record->kind = event->kind;
	record->nwords = event->nwords;
	record->nstack = 0;
	record->has_stack = 0;
	record->nvalues = event->values.count;
	record->known = event->values.known;
	bpf_get_current_comm(record->comm, sizeof(record->comm));
	record->seq = event->thread->seq++;
	record->time = time_after_reserve(event->thread);
}

static __always_inline void wake_at_once(void)
{
	void *ring = own_ring(), *nothing;

	if (!ring)
		return;
	nothing = bpf_ringbuf_reserve(ring, sizeof(__u64), 0);
	if (nothing)
		bpf_ringbuf_discard(nothing, BPF_RB_FORCE_WAKEUP);
}

/* Waking the reader for each record would cost more than all the rest: it looks by itself while
 * records come, and says when it goes to sleep. The submit before this is a full barrier, and the
 * reader looks at the ring once more after it said so: no record is slept over. One wakes it, for
 * all that come until it runs. */
static __always_inline void wake_reader(void *ring)
{
	void *nothing;

	if (!*(volatile __u64 *)&waiting)
		return;
	nothing = bpf_ringbuf_reserve(ring, sizeof(__u64), 0);
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

/* Sends with a constant number of words; false where the ring is full. */
static __always_inline bool put(const struct event *event, const __u64 *words, const int count)
{
	struct dpe_record *record;
	void *ring = own_ring();

	if (!ring)
		return false;
	record = bpf_ringbuf_reserve(ring, sizeof(*record) + count * sizeof(__u64), 0);
	if (!record)
		return false;
	fill(record, event);
	for (int i = 0; i < count; i++)
		record->words[i] = words[i];
	submit(ring, record);
	return true;
}

/* ---- records ----------------------------------------------------------------------------- */

static __always_inline bool put_with_stack(const struct event *event, const __u64 *words)
{
	const __u32 room = stack_depth * sizeof(__u64);
	struct dpe_record *record;
	void *ring = own_ring();

	if (!ring)
		return false;
	record = bpf_ringbuf_reserve(
		ring, sizeof(*record) + (DPE_WORDS + 1) * sizeof(__u64) + room, 0);
	if (!record)
		return false;
	fill(record, event);
	for (int i = 0; i < DPE_WORDS; i++)
		record->words[i] = words[i];
	record->words[DPE_WORDS] = event->extra;
	record->nstack = walk_stack(&event->top, &record->words[DPE_WORDS + 1]);
	record->has_stack = 1;
	submit(ring, record);
	return true;
}

static __always_inline bool put_with_values(const struct event *event, const __u64 *words)
{
	const __u32 room = stack_depth * sizeof(__u64);
	struct dpe_record *record;
	void *ring = own_ring();
	__u64 *values;

	if (!ring)
		return false;
	record = bpf_ringbuf_reserve(ring,
		sizeof(*record) + (DPE_WORDS + 1 + DPE_VALUES) * sizeof(__u64) + room, 0);
	if (!record)
		return false;
	fill(record, event);
	for (int i = 0; i < DPE_WORDS; i++)
		record->words[i] = words[i];
	record->words[DPE_WORDS] = event->extra;
	if (stack_depth)
		record->nstack = walk_stack(&event->top, &record->words[DPE_WORDS + 1]);
	record->has_stack = stack_depth > 0;
	values = &record->words[DPE_WORDS + 1 + stack_depth];
	for (int i = 0; i < DPE_VALUES; i++)
		values[i] = event->values.at[i];
	submit(ring, record);
	return true;
}

/* What released a thread that ran already is unknown: its first event says so. */
static __noinline void meet(struct thread *thread)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct event event = {
		.thread = thread, .tid = thread->tid, .kind = DPE_RECORD_FOUND, .nwords = 2};
	__u64 words[2] = {thread->tid, task->thread.fsbase};

	if (thread->met)
		return;
	thread->met = 1;
	if (armed_at && task->start_time >= armed_at)
		return;
	if (!put(&event, words, 2))
		lose(thread, thread->tid);
}

/* `words` has room for DPE_WORDS. */
static __always_inline void send(const struct event *event, const __u64 *words)
{
	bool sent;

	if (founds && event->thread)
		meet(event->thread);
	if (!event->thread)
		sent = false;
	else if (event->values.count)
		sent = put_with_values(event, words);
	else if (stack_depth)
		sent = put_with_stack(event, words);
	else if (event->nwords <= 2)
		sent = put(event, words, 2);
	else if (event->nwords <= DPE_WORD_REGISTERS)
		sent = put(event, words, DPE_WORD_REGISTERS);
	else
		sent = put(event, words, DPE_WORDS);
	if (!sent)
		lose(event->thread, event->tid);
}

/* ---- objects that are watched ------------------------------------------------------------ */

#include "probes/bpf/armed.h"

/* No static function: so the kernel checks it once, not for each way to each call. */
__noinline int arm_one(__u32 kind, __u32 disarm, __u64 object, __u64 sp)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct event event = {.kind = DPE_RECORD_WATCH, .nwords = 2, .site = kind};
	__u64 words[2] = {object, DPE_ARM_NONE};

	if (!arms || !object || is_armed(kind, object) == !disarm)
		return 0;
	words[1] = ask_to_arm(kind, object, disarm, sp);
	if (words[1] == DPE_ARM_KNOWN || *(volatile __u32 *)&observer_gone)
		return 0;
	event.tid = thread_id(task);
	event.thread = thread_of(task, event.tid);
	if (words[1] == DPE_ARM_NONE || !event.thread || !put(&event, words, 2))
		lose_nowhere(bpf_ktime_get_ns()); /* what anybody does to the object is missing */
	return 0;
}

/* The verifier wants registers read at constant offsets, each time anew. */
static __always_inline __u64 stack_pointer(struct pt_regs *regs)
{
	asm volatile("" : "+r"(regs));
	return regs->sp;
}

/* The probe's event is sent already: so what it does to watchpoints comes behind it. */
static __noinline void arm(__u32 site, __u32 phase, const __u64 *words, __u64 sp)
{
	const struct dpe_armings *armings;

	if (!arms || !words || !armed || replaced)
		return;
	armings = bpf_map_lookup_elem(&arm_where, &site);
	if (!armings)
		return;
	for (__u32 i = 0; i < DPE_ARMINGS; i++) {
		__u32 word = armings->at[i].word;

		if (i >= armings->count)
			break;
		if (armings->at[i].phase == phase && word < DPE_WORDS)
			arm_one(armings->at[i].kind, armings->at[i].disarm, words[word], sp);
	}
}

/* ---- calls whose return is awaited ------------------------------------------------------- */

/* True where the function was reached by a jump from another observed one (a tail call): the
 * return address is already the kernel's. */
static __always_inline bool is_chained(struct task_struct *task, __u64 sp)
{
	__u64 address = 0;

	find_trampoline(task);
	if (!trampoline)
		return false;
	bpf_probe_read_user(&address, sizeof(address), (void *)sp);
	return address == trampoline;
}

/* Written out for the verifier: the compiler would drop a mask that it finds needless. */
static __always_inline struct call *call_at(struct thread *thread, __u32 index)
{
	asm volatile("%0 &= %1" : "+r"(index) : "i"(DPE_CALLS - 1));
	return &thread->calls[index];
}

/* Forgets calls that were left without a return: longjmp, exceptions. The stack grows down. */
static __always_inline void drop_stale(
	struct thread *thread, struct task_struct *task, __u64 sp, __u32 site)
{
	for (int i = 0; i < DPE_CALLS && thread->depth; i++) {
		struct call *top = call_at(thread, thread->depth - 1);

		if (top->sp > sp)
			return;
		if (top->sp == sp && !top->gone && (top->site != site || is_chained(task, sp)))
			return;
		thread->unsure |= !top->gone;
		thread->depth--;
	}
}

static __always_inline bool kernel_follows(struct task_struct *task)
{
	if (!bpf_core_field_exists(struct uprobe_task, depth))
		return true;
	return task->utask->depth < DPE_CALLS;
}

/* Notes the call for its exit. Where the kernel will not follow its return, the exit is lost
 * here and now; where only our own stack is full, when it comes. */
static __always_inline void note_call(struct thread *thread, struct task_struct *task, __u64 sp,
	__u64 ip, __u32 site, const __u64 *words)
{
	struct call *call;

	if (!kernel_follows(task)) {
		if (armed)
			lose(thread, thread->tid);
		return;
	}
	drop_stale(thread, task, sp, site);
	if (thread->depth >= DPE_CALLS) {
		thread->unsure = 1;
		return;
	}
	call = call_at(thread, thread->depth);
	call->sp = sp;
	call->ip = ip;
	call->site = site;
	call->gone = 0;
	for (int i = 0; i < DPE_WORDS; i++)
		call->words[i] = words[i];
	thread->depth++;
}

/* The call that returns now, with the stack pointer that it was entered with. */
static __always_inline struct call *find_call(struct thread *thread, __u64 sp, __u32 site)
{
	__u32 depth = thread->depth;

	for (int i = 0; i < DPE_CALLS && depth; i++) {
		struct call *call = call_at(thread, --depth);

		if (call->sp > sp)
			return 0;
		if (call->sp == sp && call->site == site && !call->gone)
			return call;
	}
	return 0;
}

static __always_inline void pop_gone(struct thread *thread, __u64 sp)
{
	for (int i = 0; i < DPE_CALLS && thread->depth; i++) {
		struct call *top = call_at(thread, thread->depth - 1);

		if (!top->gone && top->sp >= sp)
			return;
		thread->depth--;
	}
}

/* ---- the programs ------------------------------------------------------------------------ */

static __always_inline bool read_words(struct pt_regs *regs, __u64 *words, __u32 count)
{
	__u32 more;

	words[0] = regs->di;
	words[1] = regs->si;
	words[2] = regs->dx;
	words[3] = regs->cx;
	words[4] = regs->r8;
	words[5] = regs->r9;
	if (count <= DPE_WORD_REGISTERS)
		return true;
	more = (count - DPE_WORD_REGISTERS) * sizeof(__u64);
	if (more > (DPE_WORDS - DPE_WORD_REGISTERS) * sizeof(__u64))
		return false;
	return !bpf_probe_read_user(
		&words[DPE_WORD_REGISTERS], more, (void *)(regs->sp + sizeof(__u64)));
}

static __always_inline void enter(struct pt_regs *regs, struct task_struct *task, __u64 cookie)
{
	__u64 words[DPE_WORDS] = {};
	__u32 tid = thread_id(task), site = DPE_COOKIE_SITE(cookie);
	struct thread *thread = thread_of(task, tid);
	bool complete = cookie & DPE_COOKIE_USDT
				? read_usdt(regs, site, words)
				: read_words(regs, words, DPE_COOKIE_WORDS(cookie));
	struct event event = {
		.top = {regs, regs->ip, regs->sp, regs->bp},
		.thread = thread,
		.tid = tid,
		.site = site,
		.kind = DPE_RECORD_ENTER,
		.nwords = DPE_COOKIE_WORDS(cookie),
	};

	bool wanted = DPE_COOKIE_ENTER(cookie) && armed;

	if (wanted && cookie & DPE_COOKIE_WITH_VALUES)
		wanted = read_at_probe(task, site, 0, &event.values, words);
	if (wanted) {
		if (stack_depth && !(cookie & DPE_COOKIE_INSIDE))
			bpf_probe_read_user(&event.extra, sizeof(event.extra), (void *)regs->sp);
		if (complete)
			send(&event, words);
		else
			lose(thread, tid);
	}
	if (cookie & DPE_COOKIE_ARMS)
		arm(site, 0, words, stack_pointer(regs));
	if (!DPE_COOKIE_EXIT(cookie))
		return;
	if (thread && complete)
		note_call(thread, task, regs->sp, regs->ip, site, words);
	else if (thread)
		thread->unsure = 1;
	else if (attached && armed)
		lose(thread, tid); /* its exit, which nobody would miss */
}

SEC("uprobe")
int on_enter(struct pt_regs *regs)
{
	struct task_struct *task = bpf_get_current_task_btf();

	KEEP_OWN_STACK();
	if (is_target(task))
		enter(regs, task, bpf_get_attach_cookie(regs));
	return 0;
}

static __always_inline void leave(struct pt_regs *regs, struct task_struct *task, __u64 cookie)
{
	__u32 tid = thread_id(task), site = DPE_COOKIE_SITE(cookie);
	struct thread *thread = thread_of(task, tid);
	__u64 sp = regs->sp - sizeof(__u64); /* before the return address was taken */
	struct call *call = thread ? find_call(thread, sp, site) : 0;
	bool wanted;
	struct event event = {
		.top = {regs, regs->ip, regs->sp, regs->bp},
		.thread = thread,
		.ret = regs->ax,
		.tid = tid,
		.site = site,
		.kind = DPE_RECORD_EXIT,
		.nwords = DPE_COOKIE_WORDS(cookie),
	};

	if (!call) { /* of a call that began before we came another observer may know */
		if (armed && !(attached && thread && !thread->unsure))
			lose(thread, tid);
		return;
	}
	event.extra = call->ip;
	wanted = armed;
	if (wanted && cookie & DPE_COOKIE_WITH_VALUES)
		wanted = read_at_probe(task, site, 1, &event.values, call->words);
	if (wanted)
		send(&event, call->words);
	if (cookie & DPE_COOKIE_ARMS)
		arm(site, 1, call->words, sp + sizeof(__u64));
	call->gone = 1;
	pop_gone(thread, sp);
}

SEC("uretprobe")
int on_exit(struct pt_regs *regs)
{
	struct task_struct *task = bpf_get_current_task_btf();

	KEEP_OWN_STACK();
	if (is_target(task))
		leave(regs, task, bpf_get_attach_cookie(regs));
	return 0;
}

/* The dynamic linker calls this when it has mapped something and nothing of it has run yet (and at
 * some other times). */
SEC("uprobe")
int on_libraries(struct pt_regs *regs)
{
	struct task_struct *task = bpf_get_current_task_btf();
	__u64 number;

	KEEP_OWN_STACK();
	if (!armed || !is_target(task))
		return 0;
	__sync_fetch_and_add(&loads, 1);
	number = __sync_fetch_and_add(&asked, 1) + 1;
	wake_at_once();
	if (!await_answer(number, regs->sp))
		lose_nowhere(bpf_ktime_get_ns());
	return 0;
}

/* The target's program starts (again): what was called before will never return. A thread that
 * was not the first takes over the first one's id; the kernel knows our probes by the first one,
 * which is gone: whatever comes now is lost, which counts as one. So are data events, as the variables are. */
SEC("tp_btf/sched_process_exec")
int BPF_PROG(on_exec, struct task_struct *task, int old_pid, struct linux_binprm *program)
{
	struct thread *thread;
	__u32 tid;

	if (!is_target(task))
		return 0;
	tid = thread_id(task);
	thread = bpf_task_storage_get(&storage, task, 0, 0);
	if (thread) {
		thread->depth = 0;
		if (thread->tid != tid) {
			remember(thread->tid, thread->seq);
			thread->tid = tid;
			thread->seq = first_number(tid);
		}
	}
	if (armed && (old_pid != task->pid || nwatches))
		lose(thread, tid);
	nwatches = 0;
	execs++;
	replaced |= armed;
	code = task->mm->start_code;
	if (hold_program) { /* variables are to be watched: nothing runs before they are */
		hold_program = 0;
		bpf_send_signal(SIGNAL_STOP);
	}
	armed = 1;
	return 0;
}

/* ---- data events ------------------------------------------------------------------------- */

static __always_inline __u64 read_bytes(__u64 address, __u32 size)
{
	__u64 value = 0;

	switch (size) {
	case 1:
		bpf_probe_read_user(&value, 1, (void *)address);
		break;
	case 2:
		bpf_probe_read_user(&value, 2, (void *)address);
		break;
	case 4:
		bpf_probe_read_user(&value, 4, (void *)address);
		break;
	default:
		bpf_probe_read_user(&value, 8, (void *)address);
	}
	return value;
}

/* False where it is of no object. */
static __always_inline bool object_accessed(
	const struct bpf_perf_event_data *access, struct event *event, __u64 *words)
{
	for (__u32 i = 0; i < DPE_WATCHES; i++) {
		struct dpe_armed_entry *entry = &armed_objects[i];

		if (!access->addr || entry->address != access->addr)
			continue;
		words[0] = entry->object;
		words[1] = entry->last;
		words[2] = entry->last = read_bytes(entry->address, entry->size);
		words[3] = access->regs.ip;
		event->kind = DPE_RECORD_OBJECT;
		event->nwords = 4;
		event->site = entry->kind;
		return true;
	}
	return false;
}

/* False where it is of no variable: its watchpoint was taken away in the meantime, say. */
static __always_inline bool variable_accessed(
	const struct bpf_perf_event_data *access, struct event *event, __u64 *words)
{
	bool found = false;

	for (__u32 i = 0; i < DPE_WATCHES; i++) {
		if (i >= nwatches)
			break;
		words[1 + i] = read_bytes(watches[i].address, watches[i].size);
		if (watches[i].address != access->addr)
			continue;
		found = true;
		event->site = i;
		words[0] = watches[i].last;
		watches[i].last = words[1 + i];
	}
	words[1 + DPE_WATCHES] = access->regs.ip;
	return found;
}

/* The processor tells after the access: what a variable was before is what was seen last. */
SEC("perf_event")
int on_access(struct bpf_perf_event_data *access)
{
	struct task_struct *task = bpf_get_current_task_btf();
	__u64 words[DPE_WORDS] = {};
	struct event event = {
		.top = {access, access->regs.ip, access->regs.sp, access->regs.bp},
		.kind = DPE_RECORD_DATA,
		.nwords = 6,
	};
	__u32 where;

	if (!armed || !is_target(task))
		return 0;
	event.tid = thread_id(task);
	if (arms && object_accessed(access, &event, words))
		where = first_watch + DPE_WATCHES + event.site;
	else if (variable_accessed(access, &event, words))
		where = first_watch + event.site;
	else
		return 0;
	event.thread = thread_of(task, event.tid);
	read_at_access(task, where, &event.values);
	send(&event, words);
	return 0;
}

static __always_inline void send_kernel_event(
	struct task_struct *task, __u32 kind, __u32 nwords, const __u64 *words)
{
	struct event event = {.tid = thread_id(task), .kind = kind, .nwords = nwords};
	bool sent;

	event.thread = thread_of(task, event.tid);
	if (founds && event.thread && kind == DPE_RECORD_START)
		event.thread->met = 1;
	else if (founds && event.thread)
		meet(event.thread);
	sent = event.thread && put(&event, words, 2);
	if (!sent)
		lose(event.thread, event.tid);
}

/* In the parent, before the new thread runs. */
SEC("tp_btf/sched_process_fork")
int BPF_PROG(on_fork, struct task_struct *parent, struct task_struct *child)
{
	__u64 words[2] = {};

	if (!armed || !is_target(parent) || child->tgid != parent->tgid)
		return 0;
	words[0] = thread_id(child);
	words[1] = child->thread.fsbase;
	send_kernel_event(parent, DPE_RECORD_CREATE, 2, words);
	send_kernel_event(child, DPE_RECORD_START, 2, words);
	return 0;
}

SEC("tp_btf/sched_process_exit")
int BPF_PROG(on_end, struct task_struct *task)
{
	struct thread *thread;
	__u64 words[2];

	if (task->pid == task->tgid && process_id(task) == observer)
		observer_gone = 1;
	if (!is_target(task))
		return 0;
	if (threads && armed) {
		words[0] = thread_id(task);
		words[1] = task->thread.fsbase;
		send_kernel_event(task, DPE_RECORD_END, 2, words);
	}
	thread = bpf_task_storage_get(&storage, task, 0, 0);
	if (thread)
		remember(thread->tid, thread->seq);
	return 0;
}
