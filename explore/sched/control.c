/* control: one thread runs, the others wait for their baton. The lock is held only during a choice; only
 * threads that return from outside contend for it. */
#include "explore/sched/control.h"

#include "explore/sched/freed.h"
#include "explore/sched/sched_races.h"

#include <errno.h>
#include <sys/syscall.h>

enum { WAITS, GO, TAKE_OVER };

/* ---- turns ------------------------------------------------------------------------------- */

/* A pending signal may run a handler that lets a thread proceed. */
static unsigned choose_after_handlers(unsigned current)
{
	unsigned next = DPE_SCHED_NOBODY;

	if (!dpe_sched->live || dpe_sched_anybody_outside() || !dpe_sched_handles_signals())
		return next;
	for (unsigned ms = 0; ms < DPE_SCHED_HANDLER_MS && next == DPE_SCHED_NOBODY; ms++) {
		dpe_sched_unlock();
		dpe_sched_pause();
		dpe_sched_lock();
		next = dpe_sched_choose(current);
	}
	return next;
}

/* Who is outside waits for what happens in real time: of that, at least a little passes, too. */
static void pass_time(uint64_t ns)
{
	dpe_sched->now += ns;
	if (dpe_sched_anybody_outside())
		dpe_sched_pause();
}

/* With the lock held. */
static void hand_over(unsigned current)
{
	unsigned next = dpe_sched_choose(current);
	struct dpe_sched_thread *thread;

	if (next == DPE_SCHED_NOBODY)
		next = dpe_sched_loop_poll();
	if (next == DPE_SCHED_NOBODY)
		next = choose_after_handlers(current);
	dpe_sched->running = next;
	if (next == DPE_SCHED_NOBODY) {
		dpe_sched_nobody_can();
		return;
	}
	thread = &dpe_sched->threads[next];
	if (next != current)
		thread->alone = 0;
	if (thread->op.until && dpe_sched_ready(thread) == DPE_SCHED_LATE &&
		thread->op.until > dpe_sched_now())
		pass_time(thread->op.until - dpe_sched_now());
	if (thread != dpe_sched_mine()) {
		__atomic_store_n(&thread->baton, GO, __ATOMIC_RELEASE);
		dpe_sched_futex_wake(&thread->baton);
	}
}

/* The thread that had the baton is blocked, or computes, outside: this one chooses instead. */
static bool take_over(struct dpe_sched_thread *me)
{
	unsigned running;
	bool go;

	dpe_sched_lock();
	running = dpe_sched->running;
	if (running != DPE_SCHED_NOBODY && dpe_sched->kicked == running + 1 &&
		dpe_sched->threads[running].steps == dpe_sched->kicked_at) {
		dpe_sched->threads[running].state = DPE_SCHED_OUTSIDE;
		dpe_sched->kicks++;
		hand_over(running);
	}
	go = dpe_sched->running == dpe_sched_number(me);
	dpe_sched_unlock();
	return go;
}

/* The last action of a thread is to return its memory to malloc, which affects others: they wait for it. */
static void await_gone(void)
{
	uint32_t leaving = dpe_sched->leaving;

	dpe_sched->leaving = 0;
	for (unsigned i = 0; leaving && i < DPE_SCHED_LEAVING; i++) {
		if (dpe_sched_kernel(SYS_tgkill, (long)dpe_sched->pid, (long)leaving, 0))
			return;
		dpe_sched_kernel(SYS_sched_yield, 0, 0, 0);
	}
}

/* The compiler must not move this: a signal handler looks at it. */
static void be_parked(struct dpe_sched_thread *me, bool parked)
{
	__atomic_store_n(&me->parked, parked, __ATOMIC_SEQ_CST);
}

void dpe_sched_park(struct dpe_sched_thread *me)
{
	for (;;) {
		uint32_t baton;

		be_parked(me, true);
		baton = __atomic_load_n(&me->baton, __ATOMIC_ACQUIRE);
		if (baton == WAITS)
			dpe_sched_futex_wait(&me->baton, WAITS);
		be_parked(me, false);
		baton = __atomic_exchange_n(&me->baton, WAITS, __ATOMIC_ACQUIRE);
		if (baton == GO || (baton == TAKE_OVER && take_over(me))) {
			await_gone();
			return;
		}
	}
}

/* With the lock held, which it releases. */
static void take_turn(struct dpe_sched_thread *me)
{
	unsigned number = dpe_sched_number(me);

	if (me->state == DPE_SCHED_OUTSIDE) {
		me->state = DPE_SCHED_CONTROLLED;
		if (dpe_sched->running == DPE_SCHED_NOBODY)
			hand_over(number);
	} else if (dpe_sched->running == number) {
		if (dpe_sched->strategy != DPE_SCHED_DFS) /* the operations of others may matter to other
							   * runs */
			dpe_sched_find_cycle(number);
		hand_over(number);
	}
	if (dpe_sched->running == number) {
		dpe_sched_unlock();
		return;
	}
	dpe_sched_unlock();
	dpe_sched_park(me);
}

/* ---- signal handlers --------------------------------------------------------------------- */

static void replace_op(struct dpe_sched_thread *me, const struct dpe_sched_op *op)
{
	me->op = *op;
	me->steps++;
	dpe_sched_loop_wake(me);
	if (dpe_sched->stamps)
		dpe_sched_stamp(me);
}

/* Whether the wait is the kernel's and has begun, so that a signal ends it: see signal(7). */
static bool is_to_end(const struct dpe_sched_thread *me, bool restarts)
{
	switch (me->op.kind) {
	case DPE_SCHED_SLEEP:
		return true;
	case DPE_SCHED_SEM_WAIT:
	case DPE_SCHED_SEM_TIMEDWAIT:
	case DPE_SCHED_FUTEX_BLOCK:
	case DPE_SCHED_FUTEX_TIMEDBLOCK:
		return !restarts && dpe_sched_ready(me) != DPE_SCHED_READY;
	default:
		return false;
	}
}

bool dpe_sched_interrupt(uint64_t pc, bool restarts)
{
	struct dpe_sched_thread *me = dpe_sched ? dpe_sched_mine() : NULL;
	bool has_turn;

	if (!me || !me->parked)
		return false;
	if (me->nested == DPE_SCHED_NESTED) {
		__atomic_store_n(&dpe_sched->too_nested, 1, __ATOMIC_RELAXED);
		return false;
	}
	be_parked(me, false);
	dpe_sched_lock();
	me->op.interrupted |= is_to_end(me, restarts);
	me->beneath[me->nested++] = me->op;
	replace_op(me, &(struct dpe_sched_op){.kind = DPE_SCHED_HANDLER, .pc = pc});
	has_turn = dpe_sched->running == dpe_sched_number(me);
	if (has_turn)
		me->baton = WAITS;
	__atomic_add_fetch(&me->handlers, 1, __ATOMIC_RELEASE);
	dpe_sched_unlock();
	if (!has_turn)
		dpe_sched_park(me);
	me->inside = false;
	return true;
}

void dpe_sched_resume(void)
{
	struct dpe_sched_thread *me = dpe_sched_mine();

	me->inside = true;
	dpe_sched_lock();
	replace_op(me, &me->beneath[--me->nested]);
	dpe_sched_meet(me, true);
	dpe_sched_check_written(&me->op);
	take_turn(me);
	__atomic_store_n(&me->baton, GO, __ATOMIC_RELEASE); /* for the wait beneath */
	be_parked(me, true);
}

/* ---- points ------------------------------------------------------------------------------ */

/* Clears what a choice, or other functions of the library, left on the stack: it would be part of the state of
 * a loop. */
__attribute__((noinline)) static void wipe_stack(void)
{
	volatile uint64_t left[DPE_SCHED_WIPED / sizeof(uint64_t)];

	for (unsigned i = 0; i < sizeof(left) / sizeof(left[0]); i++)
		left[i] = 0;
}

__attribute__((noinline)) static void wipe_little(void)
{
	volatile uint64_t left[DPE_SCHED_WIPED_LITTLE / sizeof(uint64_t)];

	for (unsigned i = 0; i < sizeof(left) / sizeof(left[0]); i++)
		left[i] = 0;
}

static void point(struct dpe_sched_thread *me, const struct dpe_sched_op *op, bool visible)
{
	int error = errno;
	bool polls_again;

	me->inside = true;
	me->op = *op;
	me->steps++;
	if (dpe_sched->stamps)
		dpe_sched_stamp(me);
	if (++dpe_sched->steps > dpe_sched->max_steps)
		dpe_sched_end(DPE_SCHED_CUT);
	dpe_sched_meet(me, visible);
	polls_again = dpe_sched_loop_arrive(me);
	if (!polls_again && (dpe_sched_arrive(me, visible || me->repeats) || me->state == DPE_SCHED_OUTSIDE)) {
		if (me->state == DPE_SCHED_CONTROLLED)
			dpe_sched_check_written(op);
		dpe_sched_lock();
		take_turn(me);
		visible = true; /* others may have read it meanwhile */
	}
	dpe_sched_check_freed(op);
	dpe_sched_loop_do(me, op, visible);
	if (visible || me->repeats)
		wipe_stack();
	else
		wipe_little();
	me->inside = false;
	errno = error;
}

/* Records that a free of the object's memory matters to others; small numbers are threads. */
static void note_use(const struct dpe_sched_thread *me, const struct dpe_sched_op *op)
{
	if (op->object >= DPE_SCHED_PAGE)
		dpe_sched_is_shared(op->object, dpe_sched_number(me));
}

/* Calls of a signal handler that interrupts the library are executed at once. */
bool dpe_sched_point(const struct dpe_sched_op *op)
{
	struct dpe_sched_thread *me = dpe_sched_self();

	if (me && me->inside)
		dpe_sched_loop_interrupted(op);
	if (!me || me->inside)
		return me;
	note_use(me, op);
	point(me, op, true);
	return true;
}

void dpe_sched_released(enum dpe_sched_kind kind, uint64_t object, uint64_t pc)
{
	if (dpe_sched && !dpe_sched->reports)
		dpe_sched_point(&(struct dpe_sched_op){.kind = kind, .object = object, .pc = pc});
}

void dpe_sched_access(const struct dpe_sched_op *op, bool visible)
{
	struct dpe_sched_thread *me = dpe_sched_self();

	if (me && me->inside)
		dpe_sched_loop_interrupted(op);
	else if (me)
		point(me, op, visible);
}

void dpe_sched_finish(void)
{
	struct dpe_sched_thread *me = dpe_sched_self();
	unsigned number;

	if (!me)
		return;
	dpe_sched_point(&(struct dpe_sched_op){.kind = DPE_SCHED_END});
	number = dpe_sched_number(me);
	me->inside = true;
	dpe_sched_lock();
	me->state = DPE_SCHED_FINISHED;
	me->nested = 0;
	me->steps++; /* which thread then continues is a separate choice */
	dpe_sched->live--;
	if (me->tid != dpe_sched->pid)
		dpe_sched->leaving = me->tid;
	if (dpe_sched->running == number || dpe_sched->running == DPE_SCHED_NOBODY)
		hand_over(number);
	dpe_sched_leave();
	dpe_sched_unlock();
}
