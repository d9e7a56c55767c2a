/* The BPF programs: each writes one record to the ring of its processor, or counts one loss. Every event of a thread
 * takes a number, sent or not, so a gap in the numbers is exactly what was lost. The time of a record is taken after
 * its slot is reserved: who reads up to a producer position read after time T has all records before T. */
#include "probes/kernel/bpf/watch_hits.h"
#include "probes/kernel/bpf/watch_requests.h"
#include "probes/kernel/bpf/pending_calls.h"
#include "probes/kernel/bpf/goroutines.h"
#include "probes/kernel/bpf/target_processes.h"
#include "probes/kernel/bpf/guard_checks.h"
#include "probes/kernel/bpf/kernel_layout.h"
#include "probes/kernel/bpf/user_memory.h"
#include "probes/kernel/bpf/process_programs.h"
#include "probes/kernel/bpf/record.h"
#include "probes/kernel/bpf/send.h"
#include "probes/kernel/bpf/transfers.h"
#include <linux/bpf.h>

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>
#include <stdbool.h>

char LICENSE[] SEC("license") = "GPL";

/* ---- guards ------------------------------------------------------------------------------- */

static __always_inline const struct dpe_guard_entry *guard_at(__u32 index)
{
	return bpf_map_lookup_elem(&guards, &index);
}

/* The number is that of the thread's last event, which this was. */
static __always_inline void pass_guard(const struct dpe_guard_entry *guard,
	const struct probe_event *event, const __u64 *words, bool begun, bool sent)
{
	__u32 how = (begun ? GUARD_BEGUN : 0) | (sent ? GUARD_SENT : 0);
	__u64 seq = event->thread ? event->thread->seq - 1 : 0;

	if (guard && guard_end(guard, (const struct call_words *)words, event->tid, seq, how))
		wake_at_once();
}

/* ---- the programs ------------------------------------------------------------------------ */

/* The verifier requires constant offsets for reads of registers. */
static __always_inline __u64 stack_pointer(struct pt_regs *regs)
{
	asm volatile("" : "+r"(regs));
	return regs->sp;
}

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

/* Reads the variables that arguments lead to, wherever the arguments are. */
static __always_inline bool place(struct probe_event *event, __u64 *words, __u64 cookie)
{
	struct thread *thread = event->thread;
	int shared;

	for (int i = 0; thread && i < DPE_WORDS; i++)
		thread->raw[i] = words[i];
	shared = place_words((struct call_words *)words, DPE_COOKIE_ADDRESSES_OF(cookie));
	event->shared = shared;
	for (int i = 0; shared < 0 && thread && i < DPE_WORDS; i++)
		words[i] = thread->raw[i];
	return shared >= 0;
}

/* Whether a rule wants the event of the call's entry or return: its guard is open, and the values that rules
 * ask for are as they want them. */
static __always_inline bool is_event_wanted(struct probe_event *event, __u64 *words,
	__u64 cookie, bool exit, const struct dpe_guard_entry **guard)
{
	if (!observing)
		return false;
	if (cookie & DPE_COOKIE_GUARDED) {
		*guard = guard_at(2 * event->site + exit);
		if (!guard_is_open(*guard))
			return false;
	}
	return !(cookie & DPE_COOKIE_WITH_VALUES) ||
	       read_at_probe(event->site, exit, &event->values, words);
}

static __always_inline void send_or_lose(struct probe_event *event, __u64 *words, bool complete, bool exit,
	const struct dpe_guard_entry *guard)
{
	bool begun = guard && guard_begin(guard), sent = false;

	if (complete && !event->values.lost)
		sent = send(event, words, exit);
	else
		lose_at(event->thread, event->tid, event->site, exit);
	pass_guard(guard, event, words, begun, sent);
}

__u64 unplaced; /* events that are lost, since the mappings of the process were being changed */

static __always_inline void count_unplaced(void)
{
	__sync_fetch_and_add(&unplaced, 1);
}

/* When a call returns: what was not possible when it began. */
static __always_inline bool place_again(struct call *call, __u64 cookie)
{
	int shared;

	if (!call->unplaced)
		return true;
	shared = place_words((struct call_words *)call->words, DPE_COOKIE_ADDRESSES_OF(cookie));
	call->shared = shared;
	if (shared < 0)
		count_unplaced();
	return shared >= 0;
}

/* Notes the call for the event of its return; without a note, that event counts as lost. */
static __always_inline void expect_return(
	struct probe_event *event, const __u64 *words, __u64 cookie, bool complete)
{
	struct thread *thread = event->thread;
	bool lost = !(cookie & DPE_COOKIE_RETURNS) && is_above_callers(event->top.sp);

	if (thread && complete && !lost)
		note_call(thread, event->top.sp, event->top.ip, event, words, cookie);
	else if (lost || cookie & DPE_COOKIE_SHARED || (attached && !thread))
		lose_exit(thread, event->tid, event->site);
	else if (thread)
		thread->unsure = 1;
}

static __always_inline void enter(
	struct pt_regs *regs, struct task_struct *task, __u64 cookie)
{
	__u64 words[DPE_WORDS] = {};
	__u32 tid = thread_id(task), site = DPE_COOKIE_SITE(cookie);
	struct thread *thread = thread_of(task, tid);
	bool complete = cookie & DPE_COOKIE_USDT
				? read_usdt(regs, site, words)
				: read_words(regs, words, DPE_COOKIE_WORDS(cookie));
	const struct dpe_guard_entry *guard = 0;
	struct probe_event event = {
		.top = {.ip = regs->ip, .sp = regs->sp, .bp = regs->bp},
		.thread = thread,
		.tid = tid,
		.site = site,
		.values = {.to = thread ? &thread->read : 0},
		.kind = DPE_RECORD_ENTER,
		.nwords = DPE_COOKIE_WORDS(cookie),
	};
	bool wanted, placed;

	if (thread)
		thread->read.ret = 0;
	if (thread && steps) {
		thread->probed_ip = regs->ip;
		thread->probed_sp = regs->sp;
	}
	wanted = DPE_COOKIE_ENTER(cookie) && is_event_wanted(&event, words, cookie, false, &guard);
	placed = !follow || !complete || place(&event, words, cookie);
	if (wanted && stack_depth && !(cookie & DPE_COOKIE_INSIDE))
		event.extra = return_address(regs->sp);
	if (wanted && !placed)
		count_unplaced();
	if (wanted)
		send_or_lose(&event, words, complete && placed, false, guard);
	if (cookie & DPE_COOKIE_WATCHES_OBJECTS)
		arm(site, 0, words, stack_pointer(regs), 0);
	if (DPE_COOKIE_EXIT(cookie))
		expect_return(&event, words, cookie, complete);
}

const volatile __u32 event_signal; /* 0: none */

/* At an entry, its handler runs after the function's first instruction. A thread that blocks the signal would find it pending. */
static __always_inline void signal_event(struct task_struct *task)
{
	if (event_signal && observing && !(task->blocked.sig[0] >> (event_signal - 1) & 1))
		bpf_send_signal_thread(event_signal);
}

SEC("uprobe")
int on_enter(struct pt_regs *regs)
{
	struct task_struct *task = bpf_get_current_task_btf();
	__u64 cookie;

	KEEP_OWN_STACK();
	if (!is_target(task))
		return 0;
	cookie = bpf_get_attach_cookie(regs);
	enter(regs, task, cookie);
	if (DPE_COOKIE_ENTER(cookie))
		signal_event(task);
	return 0;
}

/* `sp`: where the return address was, `ip`: that address. */
static __always_inline void leave(
	struct pt_regs *regs, struct task_struct *task, __u64 cookie, __u64 sp, __u64 ip)
{
	__u32 tid = thread_id(task), site = DPE_COOKIE_SITE(cookie);
	struct thread *thread = thread_of(task, tid);
	struct call *call = thread ? find_call(thread, sp, site) : 0;
	bool own = !(cookie & DPE_COOKIE_SHARED); /* nothing else returns here */
	bool placed;
	const struct dpe_guard_entry *guard = 0;
	struct probe_event event = {
		.top = {.ip = ip, .sp = sp + sizeof(__u64), .bp = regs->bp},
		.thread = thread,
		.values = {.to = thread ? &thread->read : 0},
		.tid = tid,
		.site = site,
		.kind = DPE_RECORD_EXIT,
		.nwords = DPE_COOKIE_WORDS(cookie),
	};

	if (call && call->caller && ip && call->caller != ip)
		return;
	if (!call) { /* another observer may know the return of a call that began before we attached */
		if (observing && own && !(attached && thread && !thread->unsure))
			lose_at(thread, tid, site, true);
		return;
	}
	thread->read.ret = regs->ax;
	thread->read.ret_high = regs->dx;
	placed = !follow || place_again(call, cookie);
	event.extra = call->ip;
	event.shared = call->shared;
	if (is_event_wanted(&event, follow ? call->raw : call->words, cookie, true, &guard))
		send_or_lose(&event, call->words, placed, true, guard);
	if (cookie & DPE_COOKIE_WATCHES_OBJECTS)
		arm(site, 1, call->words, sp + sizeof(__u64), regs->ax);
	call->gone = 1;
	pop_gone(thread, sp);
	signal_event(task);
}

/* A call that begins, where a program runs at entries and returns. A function may return to its own first instruction. */
static __always_inline bool is_entry(struct pt_regs *regs, struct task_struct *task)
{
	return regs->ip == bpf_get_func_ip(regs) &&
	       (!bpf_core_field_exists(struct uprobe_task, auprobe) || task->utask->auprobe);
}

SEC("uretprobe")
int on_exit(struct pt_regs *regs)
{
	struct task_struct *task = bpf_get_current_task_btf();
	int refused;

	KEEP_OWN_STACK();
	if (refuses_returns && is_entry(regs, task)) {
		refused = is_above_callers(regs->sp);
		asm volatile("%0 &= 1" : "+r"(refused)); /* the verifier has to see what the compiler may know */
		return refused;
	}
	if (is_target(task))
		leave(regs, task, bpf_get_attach_cookie(regs), regs->sp - sizeof(__u64), regs->ip);
	return 0;
}

/* At an instruction that returns. */
SEC("uprobe")
int on_ret(struct pt_regs *regs)
{
	struct task_struct *task = bpf_get_current_task_btf();
	__u64 sp, ip;

	KEEP_OWN_STACK();
	if (!is_target(task))
		return 0;
	sp = stack_pointer(regs);
	ip = caller_of(sp);
	leave(regs, task, bpf_get_attach_cookie(regs), sp, ip);
	return 0;
}

/* ---- Go ---------------------------------------------------------------------------------- */

/* An event of a goroutine that is not known, or has no room. */
static __always_inline void lose_unplaced(void)
{
	if (observing)
		lose_nowhere(bpf_ktime_get_ns());
}

static __always_inline void enter_go(struct pt_regs *regs, struct task_struct *task, __u64 cookie, const struct go_place *place)
{
	struct goroutine *goroutine = goroutine_of(place->id);
	struct thread *thread = enter_goroutine(task, goroutine, place->id);
	const struct dpe_guard_entry *guard = 0;
	struct probe_event event = {
		.top = {.ip = regs->ip, .sp = regs->sp, .bp = regs->bp},
		.thread = thread,
		.tid = place->id,
		.site = DPE_COOKIE_SITE(cookie),
		.values = {.to = thread ? &thread->read : 0},
		.kind = DPE_RECORD_ENTER,
		.nwords = DPE_COOKIE_WORDS(cookie),
	};

	if (!thread) {
		lose_unplaced();
		return;
	}
	thread->go.ip = regs->ip;
	read_go_words(regs, thread->go.words.at);
	if (stack_depth && !(cookie & DPE_COOKIE_INSIDE))
		event.extra = return_address(stack_pointer(regs));
	if (DPE_COOKIE_ENTER(cookie) && is_event_wanted(&event, thread->go.words.at, cookie, false, &guard))
		send_or_lose(&event, thread->go.words.at, true, false, guard);
	if (DPE_COOKIE_EXIT(cookie))
		note_go_call(thread, place, event.site);
	leave_goroutine(thread, goroutine);
}

SEC("uprobe")
int on_go_enter(struct pt_regs *regs)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct go_place place = {};
	__u64 cookie;

	KEEP_OWN_STACK();
	cookie = bpf_get_attach_cookie(regs);
	if (!is_target(task) || begins_again(regs, cookie))
		return 0;
	if (find_goroutine(regs->r14, stack_pointer(regs), &place))
		enter_go(regs, task, cookie, &place);
	else
		lose_unplaced();
	signal_event(task);
	return 0;
}

static __always_inline void leave_go(
	struct pt_regs *regs, struct task_struct *task, __u64 cookie, const struct go_place *place, struct go_call *call)
{
	__u64 sp = stack_pointer(regs);
	struct goroutine *goroutine = goroutine_of(place->id);
	struct thread *thread = enter_goroutine(task, goroutine, place->id);
	const struct dpe_guard_entry *guard = 0;
	struct probe_event event = {
		.top = {.ip = return_address(sp), .sp = sp + sizeof(__u64), .bp = regs->bp},
		.thread = thread,
		.extra = call->ip,
		.values = {.to = thread ? &thread->read : 0},
		.tid = place->id,
		.site = DPE_COOKIE_SITE(cookie),
		.kind = DPE_RECORD_EXIT,
		.nwords = DPE_COOKIE_WORDS(cookie),
	};

	if (!thread) {
		lose_unplaced();
		return;
	}
	thread->read.ret = regs->ax;
	thread->read.ret_high = regs->bx;
	if (is_event_wanted(&event, call->words.at, cookie, true, &guard))
		send_or_lose(&event, call->words.at, true, true, guard);
	leave_goroutine(thread, goroutine);
}

/* At an instruction that returns. */
SEC("uprobe")
int on_go_ret(struct pt_regs *regs)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct go_place place = {};
	struct go_call_key key = {};
	struct go_call *call;
	__u64 cookie;

	KEEP_OWN_STACK();
	if (!is_target(task))
		return 0;
	cookie = bpf_get_attach_cookie(regs);
	if (!find_goroutine(regs->r14, stack_pointer(regs), &place)) {
		lose_unplaced();
		return 0;
	}
	key.depth = place.depth;
	key.id = place.id;
	key.site = DPE_COOKIE_SITE(cookie);
	call = bpf_map_lookup_elem(&go_calls, &key);
	if (!call)
		return 0;
	leave_go(regs, task, cookie, &place, call);
	bpf_map_delete_elem(&go_calls, &key);
	signal_event(task);
	return 0;
}

/* ---- departures -------------------------------------------------------------------------- */

/* An exception lands, in a handler or to clean up: what it was thrown through has been left. A stale call must not be taken for one
 * that returns where others do. The cookie is the offset of the stack pointer with which the frame continues. */
SEC("uprobe")
int on_landing(struct pt_regs *regs)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct thread *thread = bpf_task_storage_get(&storage, task, 0, 0);
	__u64 target = 0;

	KEEP_OWN_STACK();
	if (!thread || !is_target(task))
		return 0;
	bpf_probe_read_user(&target, sizeof(target), (void *)(regs->di + bpf_get_attach_cookie(regs)));
	leave_calls(thread, stack_pointer(regs), target);
	return 0;
}

/* Where setjmp's caller had its stack pointer: as such (musl), or, in glibc, with the thread's pointer guard. 0: unknown. */
static __always_inline __u64 jump_target(struct task_struct *task, __u64 buffer)
{
	enum { STACK_POINTER = 6 * 8, POINTER_GUARD = 0x30, ROTATED = 17 };
	__u64 target = 0, guard = 0, plain;

	bpf_probe_read_user(&target, sizeof(target), (void *)(buffer + STACK_POINTER));
	bpf_probe_read_user(&guard, sizeof(guard), (void *)(task->thread.fsbase + POINTER_GUARD));
	plain = (target >> ROTATED | target << (64 - ROTATED)) ^ guard;
	if (plain >> 47 && !(target >> 47))
		plain = target;
	return plain >> 47 || plain % sizeof(plain) ? 0 : plain;
}

SEC("uprobe")
int on_longjmp(struct pt_regs *regs)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct thread *thread = bpf_task_storage_get(&storage, task, 0, 0);

	KEEP_OWN_STACK();
	if (thread && is_target(task))
		leave_calls(thread, stack_pointer(regs), jump_target(task, regs->di));
	return 0;
}

/* ---- data events ------------------------------------------------------------------------- */

#define LONGEST_INSTRUCTION 15

/* The kernel single-steps a copy of a probed instruction: an access of the copy counts as one of the
 * original. */
static __always_inline __u64 place_of(struct task_struct *task, __u64 ip)
{
	struct uprobe_task *stepped = task->utask;

	if (!stepped || !stepped->active_uprobe ||
		ip - stepped->xol_vaddr > LONGEST_INSTRUCTION)
		return ip;
	return stepped->vaddr + (ip - stepped->xol_vaddr);
}

/* The processor traps after the access: the value before it is the one seen last. */
SEC("perf_event")
int on_access(struct bpf_perf_event_data *access)
{
	struct task_struct *task = bpf_get_current_task_btf();
	__u64 words[DPE_ACCESS_WORDS] = {};
	struct probe_event event = {
		.top = {.ip = place_of(task, access->regs.ip),
			.sp = access->regs.sp,
			.bp = access->regs.bp},
		.kind = DPE_RECORD_DATA,
		.nwords = DPE_ACCESS_WORDS,
	};
	const struct dpe_guard_entry *guard = 0;
	__u32 number = watch_number(access), where;
	bool begun;

	if (!observing || !is_target(task))
		return 0;
	event.tid = thread_id(task);
	if (watches_objects && object_accessed(number - DPE_WATCHES, &event, words))
		where = first_watch + DPE_WATCHES + event.site;
	else if (variable_accessed(number, &event, words))
		where = first_watch + event.site;
	else
		return 0;
	read_registers(access, &words[DPE_ACCESS_WORDS - DPE_ACCESS_REGISTERS]);
	if (first_guard && event.kind == DPE_RECORD_DATA)
		guard = guard_at(first_guard + event.site);
	event.thread = thread_of(task, event.tid);
	if (event.thread)
		event.values.to = &event.thread->read;
	read_at_access(where, &event.values);
	if (!guard_is_open(guard))
		return 0;
	begun = guard && guard_begin(guard);
	pass_guard(guard, &event, words, begun, send_words(&event, words, DPE_ACCESS_WORDS, false));
	return 0;
}

/* ---- signals ------------------------------------------------------------------------------- */

static __always_inline bool is_handled_fault(
	int signal, const struct kernel_siginfo *info, const struct k_sigaction *action)
{
	enum { ILL = 4, BUS = 7, FPE = 8, SEGV = 11 };

	if (signal != ILL && signal != BUS && signal != FPE && signal != SEGV)
		return false;
	return BPF_CORE_READ(info, si_code) > 0 && /* sent by the kernel, not by a process */
	       BPF_CORE_READ(action, sa.sa_handler);
}

/* While such a handler runs, the kernel forgets the stack on which it does. */
static __always_inline bool hides_stack(const struct task_struct *task, const struct k_sigaction *action)
{
	const __u64 on_stack = 0x08000000, autodisarm = 1u << 31;

	return task->sas_ss_flags & autodisarm && BPF_CORE_READ(action, sa.sa_flags) & on_stack;
}

/* A probed instruction faults. If a handler repairs that, the instruction runs again and its probe is hit twice; if the
 * handler leaves by longjmp, a second hit is a new call. The two cannot be distinguished, so it counts as a loss. */
SEC("tp_btf/signal_deliver")
int BPF_PROG(on_signal, int signal, struct kernel_siginfo *info, struct k_sigaction *action)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct thread *thread;
	struct pt_regs *regs;

	if (!observing || !is_target(task))
		return 0;
	thread = bpf_task_storage_get(&storage, task, 0, 0);
	if (!thread)
		return 0;
	thread->hidden |= hides_stack(task, action);
	regs = (struct pt_regs *)bpf_task_pt_regs(task);
	if (is_handled_fault(signal, info, action) && regs->ip == thread->probed_ip && regs->sp == thread->probed_sp)
		lose(thread, thread->tid);
	return 0;
}

/* ---- returns that the kernel diverts -------------------------------------------------------- */

__u32 returns_of; /* the process whose diverted returns are asked for */

/* Writes a struct dpe_diverted_return for each call of the thread whose return is probed, innermost first. */
SEC("iter/task")
int on_returns(struct bpf_iter__task *context)
{
	struct task_struct *task = context->task;
	const struct return_instance *instance;
	__u64 found[2];

	if (!task || process_id(task) != returns_of)
		return 0;
	instance = BPF_CORE_READ(task, utask, return_instances);
	for (int i = 0; i < DPE_CALLS && instance; i++) {
		found[0] = BPF_CORE_READ(instance, stack);
		found[1] = BPF_CORE_READ(instance, orig_ret_vaddr);
		bpf_seq_write(context->meta->seq, found, sizeof(found));
		instance = BPF_CORE_READ(instance, next);
	}
	return 0;
}
