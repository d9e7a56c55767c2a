/* waiting: which threads can proceed. The objects are modelled in their own bytes, laid out as glibc 2.36 has
 * them, so that a static initialiser, a copy and a debugger see what they expect; waits and wakeups are in the
 * threads' records. */
#include "explore/sched/control.h"

#include "explore/sched/freed.h"

bool dpe_sched_mutex_free(const pthread_mutex_t *mutex, unsigned thread)
{
	const struct __pthread_mutex_s *data = &mutex->__data;
	unsigned kind = (unsigned)data->__kind & 3;

	if (!data->__lock)
		return true;
	if (data->__owner == (int)thread + 1)
		return kind == PTHREAD_MUTEX_RECURSIVE || kind == PTHREAD_MUTEX_ERRORCHECK;
	return (data->__kind & 16) && data->__owner > 0 && data->__owner <= DPE_SCHED_THREADS &&
	       dpe_sched->threads[data->__owner - 1].state == DPE_SCHED_FINISHED;
}

static bool is_woken(const struct dpe_sched_op *op);

static bool is_cancelled(const struct dpe_sched_thread *thread)
{
	return thread->cancelled && !thread->cancel_off;
}

static enum dpe_sched_ready ready_if(bool now, const struct dpe_sched_op *op)
{
	return now ? DPE_SCHED_READY : op->until ? DPE_SCHED_LATE : DPE_SCHED_BLOCKED;
}

/* If a lock prefers writers, readers wait for a writer that waits for other readers. */
bool dpe_sched_is_readable(const pthread_rwlock_t *lock)
{
	bool prefers_writers = lock->__data.__flags == PTHREAD_RWLOCK_PREFER_WRITER_NONRECURSIVE_NP;

	return !lock->__data.__cur_writer && !(prefers_writers && lock->__data.__readers && lock->__data.__writers);
}

static bool is_writable(const pthread_rwlock_t *lock)
{
	return !lock->__data.__cur_writer && !lock->__data.__readers;
}

/* A wait for a condition ends with its mutex locked. */
static enum dpe_sched_ready cond_ready(const struct dpe_sched_thread *thread)
{
	const struct dpe_sched_op *op = &thread->op;
	bool woken = is_woken(op) || is_cancelled(thread);

	if (!dpe_sched_is_freed(op->mutex) &&
		!dpe_sched_mutex_free((const pthread_mutex_t *)op->mutex, dpe_sched_number(thread)))
		return DPE_SCHED_BLOCKED;
	if (!woken && dpe_sched->spurious)
		return DPE_SCHED_LATE;
	return ready_if(woken, op);
}

/* A use of freed memory waits for nothing: it is a finding, and what the object holds means nothing. */
static enum dpe_sched_ready operation_ready(const struct dpe_sched_thread *thread)
{
	const struct dpe_sched_op *op = &thread->op;
	const void *object = (const void *)op->object;

	if (op->interrupted || dpe_sched_uses_freed(op))
		return DPE_SCHED_READY;
	switch (op->kind) {
	case DPE_SCHED_MUTEX_LOCK:
	case DPE_SCHED_MUTEX_TIMEDLOCK:
		return ready_if(dpe_sched_mutex_free(object, dpe_sched_number(thread)), op);
	case DPE_SCHED_COND_BLOCK:
	case DPE_SCHED_COND_TIMEDBLOCK:
		return cond_ready(thread);
	case DPE_SCHED_SEM_WAIT:
	case DPE_SCHED_SEM_TIMEDWAIT:
		return ready_if(*(const uint32_t *)object || is_cancelled(thread), op);
	case DPE_SCHED_RWLOCK_RDLOCK:
	case DPE_SCHED_RWLOCK_TIMEDRDLOCK:
		return ready_if(dpe_sched_is_readable(object), op);
	case DPE_SCHED_RWLOCK_WRLOCK:
	case DPE_SCHED_RWLOCK_TIMEDWRLOCK:
		return ready_if(is_writable(object), op);
	case DPE_SCHED_BARRIER_BLOCK:
	case DPE_SCHED_FUTEX_BLOCK:
	case DPE_SCHED_FUTEX_TIMEDBLOCK:
		return ready_if(is_woken(op), op);
	case DPE_SCHED_SPIN_LOCK:
		return ready_if(*(const int32_t *)object == 1, op);
	case DPE_SCHED_ONCE:
		return ready_if((*(const uint32_t *)object & 3) != 1, op);
	case DPE_SCHED_JOIN:
	case DPE_SCHED_TIMEDJOIN:
		return ready_if(is_cancelled(thread) || dpe_sched->threads[op->object].state ==
								DPE_SCHED_FINISHED,
			op);
	case DPE_SCHED_SLEEP:
		return is_cancelled(thread) ? DPE_SCHED_READY : DPE_SCHED_LATE;
	default:
		return DPE_SCHED_READY;
	}
}

enum dpe_sched_ready dpe_sched_ready(const struct dpe_sched_thread *thread)
{
	if (thread->state != DPE_SCHED_CONTROLLED || thread->repeats)
		return DPE_SCHED_BLOCKED;
	return operation_ready(thread);
}

static unsigned owner(int number)
{
	return number > 0 && number <= (int)dpe_sched->nthreads ? (unsigned)number - 1
								 : DPE_SCHED_NOBODY;
}

unsigned dpe_sched_awaited(const struct dpe_sched_thread *thread)
{
	const struct dpe_sched_op *op = &thread->op;

	if (thread->state != DPE_SCHED_CONTROLLED || dpe_sched_ready(thread))
		return DPE_SCHED_NOBODY;
	switch (op->kind) {
	case DPE_SCHED_MUTEX_LOCK:
		return owner(((const pthread_mutex_t *)op->object)->__data.__owner);
	case DPE_SCHED_RWLOCK_RDLOCK:
	case DPE_SCHED_RWLOCK_WRLOCK:
		return owner(((const pthread_rwlock_t *)op->object)->__data.__cur_writer);
	case DPE_SCHED_SPIN_LOCK:
		return owner(-*(const int32_t *)op->object);
	case DPE_SCHED_JOIN:
		return (unsigned)op->object;
	default:
		return DPE_SCHED_NOBODY;
	}
}

/* ---- wakeups ----------------------------------------------------------------------------- */

static bool is_wait(const struct dpe_sched_op *op, uint64_t object)
{
	switch (op->kind) {
	case DPE_SCHED_COND_BLOCK:
	case DPE_SCHED_COND_TIMEDBLOCK:
	case DPE_SCHED_FUTEX_BLOCK:
	case DPE_SCHED_FUTEX_TIMEDBLOCK:
	case DPE_SCHED_BARRIER_BLOCK:
		return op->object == object && !op->interrupted;
	default:
		return false;
	}
}

/* The thread's wait for the object, also beneath a signal handler; NULL if it does not wait. */
static struct dpe_sched_op *wait_for(struct dpe_sched_thread *thread, uint64_t object)
{
	if (thread->state != DPE_SCHED_CONTROLLED)
		return NULL;
	if (is_wait(&thread->op, object))
		return &thread->op;
	for (unsigned i = 0; i < thread->nested; i++)
		if (is_wait(&thread->beneath[i], object))
			return &thread->beneath[i];
	return NULL;
}

static void forget(unsigned index)
{
	struct dpe_sched_wakeup *at = dpe_sched->wakeups;

	dpe_sched->nwakeups--;
	for (unsigned i = index; i < dpe_sched->nwakeups; i++)
		at[i] = at[i + 1];
}

static unsigned count_waiters(uint64_t object)
{
	unsigned count = 0;

	for (unsigned i = 0; i < dpe_sched->nthreads; i++) {
		const struct dpe_sched_op *wait = wait_for(&dpe_sched->threads[i], object);

		count += wait && !wait->wake;
	}
	return count;
}

static unsigned count_wakeups(uint64_t object)
{
	unsigned count = 0;

	for (unsigned i = 0; i < dpe_sched->nwakeups; i++)
		count += dpe_sched->wakeups[i].object == object;
	return count;
}

/* Forgets the first wakeups of objects without waiters. */
static void forget_surplus(uint64_t object)
{
	unsigned waiters = count_waiters(object), wakeups = count_wakeups(object);

	for (unsigned i = 0; i < dpe_sched->nwakeups && wakeups > waiters;) {
		if (dpe_sched->wakeups[i].object != object) {
			i++;
			continue;
		}
		forget(i);
		wakeups--;
	}
}

void dpe_sched_wake_all(uint64_t object)
{
	for (unsigned i = 0; i < dpe_sched->nthreads; i++) {
		struct dpe_sched_op *wait = wait_for(&dpe_sched->threads[i], object);

		if (wait)
			wait->wake = true;
	}
	forget_surplus(object);
}

/* Which of several waiters a signal wakes is not defined: the first to proceed of the threads that wait
 * now takes it, and none that comes later. */
bool dpe_sched_wake_one(uint64_t object)
{
	if (count_wakeups(object) >= count_waiters(object))
		return false;
	dpe_sched->wakeups[dpe_sched->nwakeups++] =
		(struct dpe_sched_wakeup){object, ++dpe_sched->waits};
	return true;
}

/* The index of the first wakeup that the thread may take; nwakeups: there is none. */
static unsigned find_wakeup(const struct dpe_sched_op *op)
{
	unsigned i = 0;

	while (i < dpe_sched->nwakeups && (dpe_sched->wakeups[i].object != op->object ||
						  dpe_sched->wakeups[i].order < op->order))
		i++;
	return i;
}

static bool is_woken(const struct dpe_sched_op *op)
{
	return op->wake || find_wakeup(op) < dpe_sched->nwakeups;
}

bool dpe_sched_end_wait(struct dpe_sched_thread *me)
{
	uint64_t object = me->op.object;
	unsigned wakeup = find_wakeup(&me->op);
	bool woken = is_woken(&me->op);

	if (!me->op.wake && woken)
		forget(wakeup);
	me->op.kind = DPE_SCHED_NONE;
	forget_surplus(object);
	return woken;
}

bool dpe_sched_has_waiters(uint64_t object)
{
	return count_waiters(object) > count_wakeups(object);
}
