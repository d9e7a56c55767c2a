/* loops: threads that wait by polling. A thread that returns to an operation with the same registers and stack, and has
 * only read since, waits until another thread changes what it read. If no other thread can proceed, it polls some more times
 * and then counts as waiting for ever, unless it makes system calls. */
#include "explore/sched/control.h"

#include "explore/sched/libgomp.h"

#include <linux/prctl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <ucontext.h>

struct looked_at {
	uint64_t begin, end;
};

/* By thread: what it did since an operation to which it may return. */
struct loop {
	struct dpe_sched_op first;
	uint64_t state; /* at `first`, when it returned there; 0: unknown */
	uint32_t calm;  /* operations since the last that changed something */
	uint32_t next;  /* from this count on, the next operation with an object is a new `first` */
	uint32_t count; /* of `looked_at` */
	int held; /* locks taken since `first`; operations between lock and unlock count as reads, too */
	uint32_t rounds; /* while no other thread can proceed */
	bool over; /* it waits for ever */
	bool asks; /* it makes system calls, so it never counts as waiting */
	struct looked_at looked_at[DPE_SCHED_LOOP_OBJECTS];
};

static struct loop loops[DPE_SCHED_THREADS];
static unsigned polling = DPE_SCHED_NOBODY; /* this one polls some more times */
static char calls = SYSCALL_DISPATCH_FILTER_ALLOW; /* whether system calls of the thread are noticed */
static bool called;

/* ---- its state --------------------------------------------------------------------------- */

static uint64_t mix(uint64_t hash, uint64_t value)
{
	hash = (hash ^ value) * UINT64_C(0x9e3779b97f4a7c15);
	return hash ^ hash >> 29;
}

/* A hash of the registers that calls preserve and of the stack from here on; other registers are dead after a call. 0: too
 * large. */
__attribute__((noinline, no_sanitize_address)) static uint64_t state_of(const struct dpe_sched_thread *me)
{
	const uint64_t *at, *end = (const uint64_t *)(me->stack & ~UINT64_C(7));
	uint64_t kept[6], hash = 1;

	__asm__ volatile("movq %%rbx, %0\n\tmovq %%rbp, %1\n\tmovq %%r12, %2\n\tmovq %%r13, %3\n\tmovq %%r14, %4\n\t"
			 "movq %%r15, %5\n\tmovq %%rsp, %6"
			 : "=m"(kept[0]), "=m"(kept[1]), "=m"(kept[2]), "=m"(kept[3]), "=m"(kept[4]), "=m"(kept[5]), "=r"(at));
	if (at >= end || (size_t)(end - at) > DPE_SCHED_LOOP_STACK / sizeof(*at))
		return 0;
	for (unsigned i = 0; i < 6; i++)
		hash = mix(hash, kept[i]);
	for (; at < end; at++)
		hash = mix(hash, *at);
	return hash | 1;
}

/* ---- system calls ------------------------------------------------------------------------ */

static struct sigaction before;

/* It is made after all. */
static void note_call(int number, siginfo_t *info, void *context)
{
	(void)number, (void)info;
	calls = SYSCALL_DISPATCH_FILTER_ALLOW;
	called = true;
	((ucontext_t *)context)->uc_mcontext.gregs[REG_RIP] -= 2;
}

/* If they cannot be noticed, there may have been some. */
static void begin_listening(void)
{
	const struct sigaction action = {.sa_sigaction = note_call, .sa_flags = SA_SIGINFO};
	sigset_t blocked;

	called = dpe_sched_has_libgomp() || pthread_sigmask(SIG_SETMASK, NULL, &blocked) || sigismember(&blocked, SIGSYS) ||
		 sigaction(SIGSYS, NULL, &before) || before.sa_handler != SIG_DFL || sigaction(SIGSYS, &action, NULL);
	if (called)
		return;
	called = prctl(PR_SET_SYSCALL_USER_DISPATCH, PR_SYS_DISPATCH_ON, 0, 0, &calls) != 0;
	if (called)
		sigaction(SIGSYS, &before, NULL);
}

static void stop_listening(void)
{
	struct sigaction now;

	polling = DPE_SCHED_NOBODY;
	calls = SYSCALL_DISPATCH_FILTER_ALLOW;
	if (dpe_sched_has_libgomp())
		return;
	prctl(PR_SET_SYSCALL_USER_DISPATCH, PR_SYS_DISPATCH_OFF, 0, 0, 0);
	if (!sigaction(SIGSYS, NULL, &now) && now.sa_sigaction == note_call)
		sigaction(SIGSYS, &before, NULL);
}

/* ---- what changes ------------------------------------------------------------------------ */

static bool is_in(uint64_t object, uint64_t size, const struct looked_at *at)
{
	return object && object < at->end && at->begin < object + (size ? size : 1);
}

static bool looked_at(const struct loop *loop, const struct dpe_sched_op *op)
{
	for (uint32_t i = 0; i < loop->count; i++)
		if (is_in(op->object, op->size, &loop->looked_at[i]) || is_in(op->mutex, 1, &loop->looked_at[i]))
			return true;
	return false;
}

/* The thread no longer waits; its analysis begins again. */
static void restart_analysis(unsigned thread)
{
	loops[thread].calm = loops[thread].next = loops[thread].count = loops[thread].rounds = 0;
	loops[thread].held = 0;
	loops[thread].over = false;
	dpe_sched->threads[thread].repeats = false;
	if (polling == thread)
		stop_listening();
}

static void wake_others(const struct dpe_sched_thread *me, const struct dpe_sched_op *op)
{
	for (unsigned i = 0; i < dpe_sched->nthreads; i++)
		if (loops[i].count && i != dpe_sched_number(me) && looked_at(&loops[i], op))
			restart_analysis(i);
}

void dpe_sched_changed(void)
{
	const struct dpe_sched_thread *me = dpe_sched_self();

	if (!me || me->inside || !dpe_sched_looks(&me->op))
		return;
	wake_others(me, &me->op);
	restart_analysis(dpe_sched_number(me));
}

void dpe_sched_loop_interrupted(const struct dpe_sched_op *op)
{
	for (unsigned i = 0; i < dpe_sched->nthreads; i++)
		if (looked_at(&loops[i], op))
			restart_analysis(i);
}

void dpe_sched_loop_wake(const struct dpe_sched_thread *thread)
{
	restart_analysis(dpe_sched_number(thread));
}

/* 1: a lock is taken, -1: given back. Others see nothing of it but that they wait for a while, as they did for the
 * first round, which may come at any time. */
static int takes(const struct dpe_sched_op *op)
{
	switch (op->kind) {
	case DPE_SCHED_MUTEX_LOCK:
	case DPE_SCHED_RWLOCK_RDLOCK:
	case DPE_SCHED_RWLOCK_WRLOCK:
	case DPE_SCHED_SPIN_LOCK:
		return 1;
	case DPE_SCHED_MUTEX_UNLOCK:
	case DPE_SCHED_RWLOCK_UNLOCK:
	case DPE_SCHED_SPIN_UNLOCK:
		return -1;
	default:
		return 0;
	}
}

/* Neither a look nor a change: a round of a loop is the same with it. */
static bool is_nothing(const struct dpe_sched_op *op)
{
	return dpe_sched_follows_release(op->kind);
}

/* Its own stack is a part of its state. */
static bool is_own_stack(const struct dpe_sched_thread *me, const struct dpe_sched_op *op)
{
	return op->kind == DPE_SCHED_WRITE && op->object < me->stack &&
	       op->object > (uint64_t)__builtin_frame_address(0);
}

/* ---- points ------------------------------------------------------------------------------ */

static bool polls_again(const struct dpe_sched_thread *me)
{
	return polling == dpe_sched_number(me);
}

/* It repeated everything, and is where it was. */
static void on_repeated_state(struct dpe_sched_thread *me, struct loop *loop)
{
	if (loop->asks)
		return;
	if (!polls_again(me)) {
		me->repeats = true;
		dpe_sched->loops++;
		return;
	}
	if (loop->rounds < DPE_SCHED_LOOP_ROUNDS)
		return;
	stop_listening();
	loop->asks = called;
	me->repeats = !called;
	if (me->repeats && dpe_sched_anybody_outside())
		dpe_sched_pause();
	else
		loop->over = me->repeats;
}

/* It has no place to return to from there on, unless it reaches another one. */
static void look_at(struct loop *loop, const struct dpe_sched_op *op)
{
	const struct looked_at at = {op->object, op->object + (op->size ? op->size : 1)};

	for (uint32_t i = 0; i < loop->count; i++)
		if (loop->looked_at[i].begin == at.begin && loop->looked_at[i].end == at.end)
			return;
	if (loop->count < DPE_SCHED_LOOP_OBJECTS)
		loop->looked_at[loop->count++] = at;
	else
		loop->first.pc = 0;
}

/* A place to which it may return is searched at growing distances (R. Brent, 1980). */
static bool is_due(struct loop *loop)
{
	if (loop->calm < loop->next)
		return loop->held < 0;
	loop->next = 2 * loop->calm;
	return true;
}

static void look(struct dpe_sched_thread *me, struct loop *loop, const struct dpe_sched_op *op)
{
	uint64_t state;

	if (!loop->held && loop->first.pc == op->pc && loop->first.object == op->object && loop->first.kind == op->kind) {
		state = state_of(me);
		if (state && state == loop->state)
			on_repeated_state(me, loop);
		else if (polls_again(me) && loop->state)
			stop_listening();
		loop->state = state;
	} else if (op->object && is_due(loop)) {
		loop->first = *op;
		loop->state = 0;
		loop->count = 0;
		loop->held = 0;
	}
	if (op->object && !takes(op))
		look_at(loop, op);
}

bool dpe_sched_loop_arrive(struct dpe_sched_thread *me)
{
	struct loop *loop = &loops[dpe_sched_number(me)];

	calls = SYSCALL_DISPATCH_FILTER_ALLOW;
	me->repeats = false;
	if (me->stack && (dpe_sched_looks(&me->op) || takes(&me->op))) {
		loop->calm++;
		look(me, loop, &me->op);
	}
	if (polls_again(me) && (++loop->rounds > 2 * DPE_SCHED_LOOP_ROUNDS || !dpe_sched_ready(me)))
		stop_listening();
	return polls_again(me);
}

void dpe_sched_loop_do(struct dpe_sched_thread *me, const struct dpe_sched_op *op, bool visible)
{
	struct loop *loop = &loops[dpe_sched_number(me)];

	if (!dpe_sched_looks(op) && !is_nothing(op)) {
		if (visible)
			wake_others(me, op);
		if (loop->calm && !takes(op) && !is_own_stack(me, op))
			restart_analysis(dpe_sched_number(me));
		loop->held += takes(op);
	}
	if (!polls_again(me))
		return;
	if (!loop->rounds)
		begin_listening();
	if (!called)
		calls = SYSCALL_DISPATCH_FILTER_BLOCK;
}

unsigned dpe_sched_loop_poll(void)
{
	for (unsigned i = 0; i < dpe_sched->nthreads; i++) {
		struct dpe_sched_thread *thread = &dpe_sched->threads[i];

		if (!thread->repeats || loops[i].over)
			continue;
		thread->repeats = false;
		loops[i].rounds = 0;
		return polling = i;
	}
	return DPE_SCHED_NOBODY;
}
