/* sched_waits: condition variables, semaphores, barriers and futexes. A wait is two operations: the thread
 * begins to wait, and continues; other threads run in between. */
#include "explore/sched/control.h"

#include "explore/sched/libgomp.h"

#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <semaphore.h>
#include <stdarg.h>
#include <sys/syscall.h>
#include <unistd.h>

#define DESTROYED 0x64657374726f7965ull

static void arrive(enum dpe_sched_kind kind, const void *object, uint64_t pc)
{
	dpe_sched_point(&(struct dpe_sched_op){.kind = kind, .object = (uint64_t)object, .pc = pc});
}

/* ---- condition variables ----------------------------------------------------------------- */

/* The bytes after the flags, which glibc 2.36 does not use in a condition that we manage. */
static uint64_t *state_of(pthread_cond_t *cond)
{
	return (uint64_t *)&cond->__data.__wseq;
}

/* The lowest bits of its last word hold the attributes given to pthread_cond_init. */
static bool is_mine(const pthread_cond_t *cond)
{
	return dpe_sched_self() && !dpe_sched_leaves(cond->__data.__wrefs & 1);
}

static clockid_t clock_of(const pthread_cond_t *cond)
{
	return cond->__data.__wrefs & 2 ? CLOCK_MONOTONIC : CLOCK_REALTIME;
}

static void check_cond(pthread_cond_t *cond)
{
	if (*state_of(cond) == DESTROYED)
		dpe_sched_misuse(DPE_SCHED_DESTROYED);
}

static void arrive_cond(enum dpe_sched_kind kind, pthread_cond_t *cond, uint64_t pc)
{
	arrive(kind, cond, pc);
	check_cond(cond);
}

struct wait {
	pthread_mutex_t *mutex;
	unsigned times;
};

/* A thread that is cancelled in a wait holds its mutex in its cleanup handlers. */
static int end_wait(struct dpe_sched_thread *me, const struct wait *wait)
{
	bool woken = dpe_sched_end_wait(me);
	int error = dpe_sched_mutex_restore(wait->mutex, wait->times);

	if (!woken)
		dpe_sched_test_cancel(me);
	return woken || error ? error : ETIMEDOUT;
}

static int wait_for_cond(pthread_cond_t *cond, pthread_mutex_t *mutex, uint64_t until, uint64_t pc)
{
	struct dpe_sched_thread *me = dpe_sched_self();
	struct wait wait = {.mutex = mutex};
	struct dpe_sched_op op = {
		.kind = until ? DPE_SCHED_COND_TIMEDBLOCK : DPE_SCHED_COND_BLOCK,
		.object = (uint64_t)cond,
		.mutex = (uint64_t)mutex,
		.robust = (mutex->__data.__kind & DPE_SCHED_ROBUST_MUTEX) != 0,
		.until = until,
		.pc = pc,
	};
	int error;

	dpe_sched_point(&(struct dpe_sched_op){
		.kind = until ? DPE_SCHED_COND_TIMEDWAIT : DPE_SCHED_COND_WAIT,
		.object = op.object, .mutex = op.mutex, .robust = op.robust, .pc = pc});
	check_cond(cond);
	dpe_sched_test_cancel(me);
	if (!mutex->__data.__lock)
		dpe_sched_misuse(DPE_SCHED_NOT_LOCKED);
	if (mutex->__data.__owner != (int)dpe_sched_number(me) + 1)
		dpe_sched_misuse(DPE_SCHED_STRANGER);
	wait.times = dpe_sched_mutex_give(mutex);
	op.order = ++dpe_sched->waits;
	dpe_sched_point(&op);
	error = end_wait(me, &wait);
	return error == ETIMEDOUT && !until ? 0 : error;
}

int dpe_sched_cond_wait(pthread_cond_t *cond, pthread_mutex_t *mutex, clockid_t clock, const struct timespec *until, uint64_t pc)
{
	if (!is_mine(cond))
		return until ? REAL(pthread_cond_clockwait)(cond, mutex, clock, until) : REAL(pthread_cond_wait)(cond, mutex);
	if (until && !dpe_sched_is_time(until))
		return EINVAL;
	return wait_for_cond(cond, mutex, until ? dpe_sched_until(clock, until) : 0, pc);
}

int dpe_sched_cond_wake(pthread_cond_t *cond, bool all, uint64_t pc)
{
	if (!is_mine(cond))
		return all ? REAL(pthread_cond_broadcast)(cond) : REAL(pthread_cond_signal)(cond);
	arrive_cond(all ? DPE_SCHED_COND_BROADCAST : DPE_SCHED_COND_SIGNAL, cond, pc);
	if (all)
		dpe_sched_wake_all((uint64_t)cond);
	else
		dpe_sched_wake_one((uint64_t)cond);
	dpe_sched_released(all ? DPE_SCHED_COND_BROADCASTED : DPE_SCHED_COND_SIGNALLED, (uint64_t)cond, pc);
	return 0;
}

int dpe_sched_cond_destroy(pthread_cond_t *cond, uint64_t pc)
{
	if (!is_mine(cond))
		return REAL(pthread_cond_destroy)(cond);
	arrive_cond(DPE_SCHED_COND_DESTROY, cond, pc);
	if (dpe_sched_has_waiters((uint64_t)cond))
		dpe_sched_misuse(DPE_SCHED_IN_USE);
	*state_of(cond) = DESTROYED;
	return 0;
}

DPE_SCHED_EXPORTED int pthread_cond_init(pthread_cond_t *cond, const pthread_condattr_t *attr)
{
	if (dpe_sched_self())
		arrive(DPE_SCHED_COND_INIT, cond, DPE_SCHED_HERE);
	return REAL(pthread_cond_init)(cond, attr);
}

DPE_SCHED_EXPORTED int pthread_cond_destroy(pthread_cond_t *cond)
{
	return dpe_sched_cond_destroy(cond, DPE_SCHED_HERE);
}

DPE_SCHED_EXPORTED int pthread_cond_wait(pthread_cond_t *cond, pthread_mutex_t *mutex)
{
	return dpe_sched_cond_wait(cond, mutex, CLOCK_REALTIME, NULL, DPE_SCHED_HERE);
}

DPE_SCHED_EXPORTED int pthread_cond_timedwait(
	pthread_cond_t *cond, pthread_mutex_t *mutex, const struct timespec *until)
{
	return dpe_sched_cond_wait(cond, mutex, clock_of(cond), until, DPE_SCHED_HERE);
}

DPE_SCHED_EXPORTED int pthread_cond_clockwait(pthread_cond_t *cond, pthread_mutex_t *mutex,
	clockid_t clock, const struct timespec *until)
{
	return dpe_sched_cond_wait(cond, mutex, clock, until, DPE_SCHED_HERE);
}

DPE_SCHED_EXPORTED int pthread_cond_signal(pthread_cond_t *cond)
{
	return dpe_sched_cond_wake(cond, false, DPE_SCHED_HERE);
}

DPE_SCHED_EXPORTED int pthread_cond_broadcast(pthread_cond_t *cond)
{
	return dpe_sched_cond_wake(cond, true, DPE_SCHED_HERE);
}

/* ---- semaphores: the value is the first word ---------------------------------------------- */

struct semaphore {
	uint32_t value, waiters;
	int32_t shared, unused;
	uint64_t state;
};
_Static_assert(sizeof(struct semaphore) <= sizeof(sem_t), "it lies in glibc's");

static struct semaphore *semaphore_of(sem_t *sem)
{
	return (struct semaphore *)sem;
}

static bool is_my_semaphore(sem_t *sem)
{
	return dpe_sched_self() && !dpe_sched_leaves(semaphore_of(sem)->shared);
}

static void arrive_semaphore(enum dpe_sched_kind kind, sem_t *sem, uint64_t until, uint64_t pc)
{
	const struct dpe_sched_op op = {
		.kind = kind, .object = (uint64_t)sem, .until = until, .pc = pc};

	dpe_sched_point(&op);
	if (semaphore_of(sem)->state == DESTROYED)
		dpe_sched_misuse(DPE_SCHED_DESTROYED);
}

static int take_one(sem_t *sem, int otherwise)
{
	if (semaphore_of(sem)->value) {
		semaphore_of(sem)->value--;
		dpe_sched_changed();
		return 0;
	}
	errno = otherwise;
	return -1;
}

/* A request for cancellation is followed even if the semaphore could be taken. */
static int wait_for_one(sem_t *sem, int otherwise)
{
	struct dpe_sched_thread *me = dpe_sched_self();

	dpe_sched_test_cancel(me);
	if (!me->op.interrupted)
		return take_one(sem, otherwise);
	errno = EINTR;
	return -1;
}

DPE_SCHED_EXPORTED int sem_init(sem_t *sem, int shared, unsigned value)
{
	if (dpe_sched_self())
		arrive(DPE_SCHED_SEM_INIT, sem, DPE_SCHED_HERE);
	semaphore_of(sem)->state = 0;
	return REAL(sem_init)(sem, shared, value);
}

DPE_SCHED_EXPORTED int sem_destroy(sem_t *sem)
{
	if (!is_my_semaphore(sem))
		return REAL(sem_destroy)(sem);
	arrive_semaphore(DPE_SCHED_SEM_DESTROY, sem, 0, DPE_SCHED_HERE);
	semaphore_of(sem)->state = DESTROYED;
	return 0;
}

DPE_SCHED_EXPORTED int sem_wait(sem_t *sem)
{
	if (!is_my_semaphore(sem))
		return REAL(sem_wait)(sem);
	arrive_semaphore(DPE_SCHED_SEM_WAIT, sem, 0, DPE_SCHED_HERE);
	return wait_for_one(sem, EINTR);
}

DPE_SCHED_EXPORTED int sem_trywait(sem_t *sem)
{
	if (!is_my_semaphore(sem))
		return REAL(sem_trywait)(sem);
	arrive_semaphore(DPE_SCHED_SEM_TRYWAIT, sem, 0, DPE_SCHED_HERE);
	return take_one(sem, EAGAIN);
}

static int wait_until(sem_t *sem, clockid_t clock, const struct timespec *until, uint64_t pc)
{
	if (!is_my_semaphore(sem))
		return REAL(sem_clockwait)(sem, clock, until);
	arrive_semaphore(DPE_SCHED_SEM_TIMEDWAIT, sem, dpe_sched_until(clock, until), pc);
	return wait_for_one(sem, ETIMEDOUT);
}

DPE_SCHED_EXPORTED int sem_clockwait(sem_t *sem, clockid_t clock, const struct timespec *until)
{
	return wait_until(sem, clock, until, DPE_SCHED_HERE);
}

DPE_SCHED_EXPORTED int sem_timedwait(sem_t *sem, const struct timespec *until)
{
	return wait_until(sem, CLOCK_REALTIME, until, DPE_SCHED_HERE);
}

DPE_SCHED_EXPORTED int sem_post(sem_t *sem)
{
	if (!is_my_semaphore(sem))
		return REAL(sem_post)(sem);
	arrive_semaphore(DPE_SCHED_SEM_POST, sem, 0, DPE_SCHED_HERE);
	if (semaphore_of(sem)->value == INT_MAX) {
		errno = EOVERFLOW;
		return -1;
	}
	__atomic_add_fetch(&semaphore_of(sem)->value, 1, __ATOMIC_SEQ_CST);
	dpe_sched_released(DPE_SCHED_SEM_POSTED, (uint64_t)sem, DPE_SCHED_HERE);
	return 0;
}

DPE_SCHED_EXPORTED int sem_getvalue(sem_t *sem, int *value)
{
	if (is_my_semaphore(sem))
		arrive_semaphore(DPE_SCHED_SEM_GETVALUE, sem, 0, DPE_SCHED_HERE);
	return REAL(sem_getvalue)(sem, value);
}

/* Other processes may share its memory. */
DPE_SCHED_EXPORTED sem_t *sem_open(const char *name, int flags, ...)
{
	va_list rest;
	mode_t mode;
	unsigned value;

	va_start(rest, flags);
	mode = va_arg(rest, mode_t);
	value = va_arg(rest, unsigned);
	va_end(rest);
	if (dpe_sched_self())
		dpe_sched->opened++;
	return REAL(sem_open)(name, flags, mode, value);
}

/* ---- barriers ---------------------------------------------------------------------------- */

/* As in glibc: arrivals so far, and those of rounds that are over. */
struct barrier {
	uint32_t in, current_round, count;
	int32_t shared;
	uint64_t state;
};
_Static_assert(sizeof(struct barrier) <= sizeof(pthread_barrier_t), "it lies in glibc's");

static struct barrier *barrier_of(pthread_barrier_t *barrier)
{
	return (struct barrier *)barrier;
}

static bool is_in_round(const struct barrier *barrier)
{
	return barrier->count && barrier->in % barrier->count;
}

DPE_SCHED_EXPORTED int pthread_barrier_init(
	pthread_barrier_t *barrier, const pthread_barrierattr_t *attr, unsigned count)
{
	int error = REAL(pthread_barrier_init)(barrier, attr, count);

	if (error || !dpe_sched_self())
		return error;
	arrive(DPE_SCHED_BARRIER_INIT, barrier, DPE_SCHED_HERE);
	*barrier_of(barrier) = (struct barrier){.count = count};
	return 0;
}

static void arrive_barrier(enum dpe_sched_kind kind, pthread_barrier_t *barrier, uint64_t pc)
{
	arrive(kind, barrier, pc);
	if (barrier_of(barrier)->state == DESTROYED)
		dpe_sched_misuse(DPE_SCHED_DESTROYED);
}

DPE_SCHED_EXPORTED int pthread_barrier_destroy(pthread_barrier_t *barrier)
{
	if (!dpe_sched_self())
		return REAL(pthread_barrier_destroy)(barrier);
	arrive_barrier(DPE_SCHED_BARRIER_DESTROY, barrier, DPE_SCHED_HERE);
	if (is_in_round(barrier_of(barrier)))
		dpe_sched_misuse(DPE_SCHED_IN_USE);
	barrier_of(barrier)->state = DESTROYED;
	return 0;
}

DPE_SCHED_EXPORTED int pthread_barrier_wait(pthread_barrier_t *barrier)
{
	struct barrier *state = barrier_of(barrier);
	struct dpe_sched_op op = {
		.kind = DPE_SCHED_BARRIER_BLOCK, .object = (uint64_t)barrier, .pc = DPE_SCHED_HERE};

	if (!dpe_sched_self())
		return REAL(pthread_barrier_wait)(barrier);
	arrive_barrier(DPE_SCHED_BARRIER_WAIT, barrier, op.pc);
	state->in++;
	if (is_in_round(state)) {
		dpe_sched_point(&op);
		return 0;
	}
	state->current_round += state->count;
	dpe_sched_wake_all((uint64_t)barrier);
	op.wake = true;
	if (!dpe_sched->reports)
		dpe_sched_point(&op);
	return PTHREAD_BARRIER_SERIAL_THREAD;
}

/* ---- futexes of the program's own, by syscall(2) ------------------------------------------ */

static long wait_for_futex(const long *words, uint64_t until, uint64_t pc)
{
	struct dpe_sched_thread *me = dpe_sched_self();
	struct dpe_sched_op op = {
		.kind = until ? DPE_SCHED_FUTEX_TIMEDBLOCK : DPE_SCHED_FUTEX_BLOCK,
		.object = (uint64_t)words[0],
		.until = until,
		.pc = pc,
	};

	arrive(until ? DPE_SCHED_FUTEX_TIMEDWAIT : DPE_SCHED_FUTEX_WAIT, (void *)words[0], pc);
	if (*(const uint32_t *)words[0] != (uint32_t)words[2]) {
		errno = EAGAIN;
		return -1;
	}
	op.order = ++dpe_sched->waits;
	dpe_sched_point(&op);
	if (me->op.interrupted) {
		me->op.kind = DPE_SCHED_NONE;
		errno = EINTR;
		return -1;
	}
	if (dpe_sched_end_wait(me))
		return 0;
	errno = ETIMEDOUT;
	return -1;
}

static long wake_futex(const long *words, uint64_t pc)
{
	long woken = 0;

	arrive(DPE_SCHED_FUTEX_WAKE, (void *)words[0], pc);
	while (woken < (int)words[2] && dpe_sched_wake_one((uint64_t)words[0]))
		woken++;
	dpe_sched_released(DPE_SCHED_FUTEX_WOKEN, (uint64_t)words[0], pc);
	return woken;
}

/* A timeout of FUTEX_WAIT is relative, one of FUTEX_WAIT_BITSET is a time. */
static uint64_t futex_until(const long *words)
{
	const struct timespec *timeout = (const struct timespec *)words[3];
	clockid_t clock = words[1] & FUTEX_CLOCK_REALTIME ? CLOCK_REALTIME : CLOCK_MONOTONIC;

	if (!timeout)
		return 0;
	if ((words[1] & FUTEX_CMD_MASK) == FUTEX_WAIT_BITSET)
		return dpe_sched_until(clock, timeout);
	return dpe_sched_now() + (uint64_t)timeout->tv_sec * 1000000000 +
	       (uint64_t)timeout->tv_nsec + 1;
}

/* Other operations are left to the kernel. libstdc++ does not mark its futexes as private. */
static bool is_futex_of_mine(long number, const long *words)
{
	int command = (int)words[1] & FUTEX_CMD_MASK;

	return number == SYS_futex && (command == FUTEX_WAIT || command == FUTEX_WAKE || command == FUTEX_WAIT_BITSET ||
		       command == FUTEX_WAKE_BITSET) &&
	       dpe_sched_self() && !dpe_sched_leaves(!(words[1] & FUTEX_PRIVATE_FLAG));
}

bool dpe_sched_futex(long number, const long *words, uint64_t pc, long *result)
{
	int command = (int)words[1] & FUTEX_CMD_MASK;

	if (!is_futex_of_mine(number, words))
		return false;
	if (command == FUTEX_WAKE || command == FUTEX_WAKE_BITSET)
		*result = wake_futex(words, pc);
	else
		*result = wait_for_futex(words, futex_until(words), pc);
	return true;
}

DPE_SCHED_EXPORTED long syscall(long number, ...)
{
	long words[6], result;
	va_list rest;

	va_start(rest, number);
	for (unsigned i = 0; i < 6; i++)
		words[i] = va_arg(rest, long);
	va_end(rest);
	if (dpe_sched_futex(number, words, DPE_SCHED_HERE, &result))
		return result;
	return REAL(syscall)(number, words[0], words[1], words[2], words[3], words[4], words[5]);
}
