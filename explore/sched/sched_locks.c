/* sched_locks: mutexes, read-write locks and spin locks. Their owners are numbers of threads, plus 1,
 * where glibc has the kernel's ids. */
#include "explore/sched/control.h"

#include <errno.h>

#define DESTROYED (-1) /* the kind of a mutex that glibc destroyed */
#define DESTROYED_LOCK 0xdeadul
#define SHARED_MUTEX 128

/* Once there are other processes, they may use process-shared objects. */
bool dpe_sched_leaves(bool is_shared)
{
	return is_shared && (dpe_sched->forks || dpe_sched->opened);
}

static bool is_mine(const pthread_mutex_t *mutex)
{
	return dpe_sched_self() && !dpe_sched_leaves(mutex->__data.__kind & SHARED_MUTEX);
}

static void arrive(enum dpe_sched_kind kind, const void *object, uint64_t until, uint64_t pc)
{
	const struct dpe_sched_op op = {
		.kind = kind, .object = (uint64_t)object, .until = until, .pc = pc};

	dpe_sched_point(&op);
}

static unsigned me(void)
{
	return dpe_sched_number(dpe_sched_self());
}

/* ---- mutexes ----------------------------------------------------------------------------- */

static int kind_of(const pthread_mutex_t *mutex)
{
	return mutex->__data.__kind & 3;
}

static void check_alive(const pthread_mutex_t *mutex)
{
	if (mutex->__data.__kind == DESTROYED)
		dpe_sched_misuse(DPE_SCHED_DESTROYED);
}

static void arrive_mutex(enum dpe_sched_kind kind, const pthread_mutex_t *mutex, uint64_t until, uint64_t pc)
{
	dpe_sched_point(&(struct dpe_sched_op){
		.kind = kind,
		.object = (uint64_t)mutex,
		.robust = (mutex->__data.__kind & DPE_SCHED_ROBUST_MUTEX) != 0,
		.until = until,
		.pc = pc,
	});
}

/* Takes a mutex that is free for this thread. */
static int take(pthread_mutex_t *mutex)
{
	struct __pthread_mutex_s *data = &mutex->__data;
	bool died = data->__lock && data->__owner != (int)me() + 1;

	if (data->__lock && !died) {
		if (kind_of(mutex) == PTHREAD_MUTEX_ERRORCHECK)
			return EDEADLK;
		data->__count++;
		return 0;
	}
	data->__lock = 1;
	data->__owner = (int)me() + 1;
	data->__count = 1;
	return died ? EOWNERDEAD : 0;
}

unsigned dpe_sched_mutex_give(pthread_mutex_t *mutex)
{
	struct __pthread_mutex_s *data = &mutex->__data;
	unsigned times = data->__count;

	data->__lock = 0;
	data->__owner = 0;
	data->__count = 0;
	return times;
}

int dpe_sched_mutex_restore(pthread_mutex_t *mutex, unsigned times)
{
	int error = take(mutex);

	mutex->__data.__count = times;
	return error;
}

int dpe_sched_mutex_lock(pthread_mutex_t *mutex, uint64_t pc)
{
	if (!is_mine(mutex))
		return REAL(pthread_mutex_lock)(mutex);
	check_alive(mutex);
	arrive_mutex(DPE_SCHED_MUTEX_LOCK, mutex, 0, pc);
	check_alive(mutex);
	return take(mutex);
}

int dpe_sched_mutex_trylock(pthread_mutex_t *mutex, uint64_t pc)
{
	int error;

	if (!is_mine(mutex))
		return REAL(pthread_mutex_trylock)(mutex);
	arrive_mutex(DPE_SCHED_MUTEX_TRYLOCK, mutex, 0, pc);
	check_alive(mutex);
	if (!dpe_sched_mutex_free(mutex, me()))
		return EBUSY;
	error = take(mutex);
	if (error == EDEADLK)
		return EBUSY;
	dpe_sched_changed();
	return error;
}

int dpe_sched_mutex_timedlock(
	pthread_mutex_t *mutex, clockid_t clock, const struct timespec *until, uint64_t pc)
{
	if (!is_mine(mutex))
		return REAL(pthread_mutex_clocklock)(mutex, clock, until);
	check_alive(mutex);
	arrive_mutex(DPE_SCHED_MUTEX_TIMEDLOCK, mutex, dpe_sched_until(clock, until), pc);
	check_alive(mutex);
	return dpe_sched_mutex_free(mutex, me()) ? take(mutex) : ETIMEDOUT;
}

/* For an error-checking mutex these are errors of the call; for others, of the program. */
static int check_owner(const pthread_mutex_t *mutex)
{
	const struct __pthread_mutex_s *data = &mutex->__data;
	bool checks = kind_of(mutex) == PTHREAD_MUTEX_RECURSIVE ||
		      kind_of(mutex) == PTHREAD_MUTEX_ERRORCHECK;

	if (data->__lock && data->__owner == (int)me() + 1)
		return 0;
	if (!checks)
		dpe_sched_misuse(data->__lock ? DPE_SCHED_STRANGER : DPE_SCHED_NOT_LOCKED);
	return EPERM;
}

int dpe_sched_mutex_unlock(pthread_mutex_t *mutex, uint64_t pc)
{
	int error;

	if (!is_mine(mutex))
		return REAL(pthread_mutex_unlock)(mutex);
	arrive(DPE_SCHED_MUTEX_UNLOCK, mutex, 0, pc);
	check_alive(mutex);
	error = check_owner(mutex);
	if (error)
		return error;
	if (--mutex->__data.__count)
		return 0;
	dpe_sched_mutex_give(mutex);
	dpe_sched_released(DPE_SCHED_MUTEX_UNLOCKED, (uint64_t)mutex, pc);
	return 0;
}

/* Whether a thread waits to lock it. */
static bool is_awaited(const void *object)
{
	for (unsigned i = 0; i < dpe_sched->nthreads; i++) {
		const struct dpe_sched_thread *thread = &dpe_sched->threads[i];

		if (thread->state == DPE_SCHED_CONTROLLED && i != me() &&
			thread->op.object == (uint64_t)object &&
			dpe_sched_awaited(thread) != DPE_SCHED_NOBODY)
			return true;
	}
	return false;
}

int dpe_sched_mutex_destroy(pthread_mutex_t *mutex, uint64_t pc)
{
	if (!is_mine(mutex))
		return REAL(pthread_mutex_destroy)(mutex);
	arrive(DPE_SCHED_MUTEX_DESTROY, mutex, 0, pc);
	check_alive(mutex);
	if (mutex->__data.__lock || is_awaited(mutex))
		dpe_sched_misuse(DPE_SCHED_IN_USE);
	mutex->__data.__kind = DESTROYED;
	return 0;
}

DPE_SCHED_EXPORTED int pthread_mutex_init(pthread_mutex_t *mutex, const pthread_mutexattr_t *attr)
{
	if (dpe_sched_self())
		arrive(DPE_SCHED_MUTEX_INIT, mutex, 0, DPE_SCHED_HERE);
	return REAL(pthread_mutex_init)(mutex, attr);
}

DPE_SCHED_EXPORTED int pthread_mutex_destroy(pthread_mutex_t *mutex)
{
	return dpe_sched_mutex_destroy(mutex, DPE_SCHED_HERE);
}

DPE_SCHED_EXPORTED int pthread_mutex_lock(pthread_mutex_t *mutex)
{
	return dpe_sched_mutex_lock(mutex, DPE_SCHED_HERE);
}

DPE_SCHED_EXPORTED int pthread_mutex_trylock(pthread_mutex_t *mutex)
{
	return dpe_sched_mutex_trylock(mutex, DPE_SCHED_HERE);
}

DPE_SCHED_EXPORTED int pthread_mutex_timedlock(pthread_mutex_t *mutex, const struct timespec *until)
{
	return dpe_sched_mutex_timedlock(mutex, CLOCK_REALTIME, until, DPE_SCHED_HERE);
}

DPE_SCHED_EXPORTED int pthread_mutex_clocklock(
	pthread_mutex_t *mutex, clockid_t clock, const struct timespec *until)
{
	return dpe_sched_mutex_timedlock(mutex, clock, until, DPE_SCHED_HERE);
}

DPE_SCHED_EXPORTED int pthread_mutex_unlock(pthread_mutex_t *mutex)
{
	return dpe_sched_mutex_unlock(mutex, DPE_SCHED_HERE);
}

/* The inconsistent state after a dead owner is not modelled: each mutex counts as made consistent. */
DPE_SCHED_EXPORTED int pthread_mutex_consistent(pthread_mutex_t *mutex)
{
	if (!is_mine(mutex))
		return REAL(pthread_mutex_consistent)(mutex);
	return mutex->__data.__kind & DPE_SCHED_ROBUST_MUTEX ? 0 : EINVAL;
}

/* ---- read-write locks -------------------------------------------------------------------- */

static bool is_my_lock(const pthread_rwlock_t *lock)
{
	return dpe_sched_self() && !dpe_sched_leaves(lock->__data.__shared);
}

static void arrive_lock(enum dpe_sched_kind kind, pthread_rwlock_t *lock, uint64_t until, uint64_t pc)
{
	arrive(kind, lock, until, pc);
	if (lock->__data.__pad4 == DESTROYED_LOCK)
		dpe_sched_misuse(DPE_SCHED_DESTROYED);
}

static int read_lock(pthread_rwlock_t *lock, int otherwise)
{
	if (!dpe_sched_is_readable(lock))
		return otherwise;
	lock->__data.__readers++;
	dpe_sched_changed();
	return 0;
}

static int write_lock(pthread_rwlock_t *lock, int otherwise)
{
	if (lock->__data.__cur_writer || lock->__data.__readers)
		return otherwise;
	lock->__data.__cur_writer = (int)me() + 1;
	dpe_sched_changed();
	return 0;
}

DPE_SCHED_EXPORTED int pthread_rwlock_init(pthread_rwlock_t *lock, const pthread_rwlockattr_t *attr)
{
	if (dpe_sched_self())
		arrive(DPE_SCHED_RWLOCK_INIT, lock, 0, DPE_SCHED_HERE);
	return REAL(pthread_rwlock_init)(lock, attr);
}

DPE_SCHED_EXPORTED int pthread_rwlock_destroy(pthread_rwlock_t *lock)
{
	if (!is_my_lock(lock))
		return REAL(pthread_rwlock_destroy)(lock);
	arrive_lock(DPE_SCHED_RWLOCK_DESTROY, lock, 0, DPE_SCHED_HERE);
	if (lock->__data.__cur_writer || lock->__data.__readers || is_awaited(lock))
		dpe_sched_misuse(DPE_SCHED_IN_USE);
	lock->__data.__pad4 = DESTROYED_LOCK;
	return 0;
}

static bool is_own(const pthread_rwlock_t *lock)
{
	return lock->__data.__cur_writer == (int)me() + 1;
}

/* Whether a thread waits to write matters to the readers of a lock that prefers writers. */
static void wait_to_write(enum dpe_sched_kind kind, pthread_rwlock_t *lock, uint64_t until, uint64_t pc)
{
	bool matters = lock->__data.__flags == PTHREAD_RWLOCK_PREFER_WRITER_NONRECURSIVE_NP;

	if (matters) {
		arrive_lock(DPE_SCHED_RWLOCK_QUEUE, lock, 0, pc);
		lock->__data.__writers++;
	}
	arrive_lock(kind, lock, until, pc);
	if (matters)
		lock->__data.__writers--;
}

/* glibc returns EDEADLK if the writer of a lock waits for it. */
#define RWLOCK(name, kind, wait, lock_it)                                                          \
	DPE_SCHED_EXPORTED int pthread_rwlock_##name##lock(pthread_rwlock_t *lock)                 \
	{                                                                                          \
		if (!is_my_lock(lock))                                                             \
			return REAL(pthread_rwlock_##name##lock)(lock);                            \
		if (is_own(lock))                                                                  \
			return EDEADLK;                                                            \
		wait(DPE_SCHED_RWLOCK_##kind##LOCK, lock, 0, DPE_SCHED_HERE);                      \
		return lock_it(lock, EDEADLK);                                                     \
	}                                                                                          \
	DPE_SCHED_EXPORTED int pthread_rwlock_try##name##lock(pthread_rwlock_t *lock)              \
	{                                                                                          \
		if (!is_my_lock(lock))                                                             \
			return REAL(pthread_rwlock_try##name##lock)(lock);                         \
		arrive_lock(DPE_SCHED_RWLOCK_TRY##kind##LOCK, lock, 0, DPE_SCHED_HERE);            \
		return lock_it(lock, EBUSY);                                                       \
	}                                                                                          \
	static int name##_lock_until(                                                              \
		pthread_rwlock_t *lock, clockid_t clock, const struct timespec *until, uint64_t pc) \
	{                                                                                          \
		if (!is_my_lock(lock))                                                             \
			return REAL(pthread_rwlock_clock##name##lock)(lock, clock, until);         \
		if (is_own(lock))                                                                  \
			return EDEADLK;                                                            \
		wait(DPE_SCHED_RWLOCK_TIMED##kind##LOCK, lock, dpe_sched_until(clock, until), pc); \
		return lock_it(lock, ETIMEDOUT);                                                   \
	}                                                                                          \
	DPE_SCHED_EXPORTED int pthread_rwlock_clock##name##lock(                                   \
		pthread_rwlock_t *lock, clockid_t clock, const struct timespec *until)             \
	{                                                                                          \
		return name##_lock_until(lock, clock, until, DPE_SCHED_HERE);                      \
	}                                                                                          \
	DPE_SCHED_EXPORTED int pthread_rwlock_timed##name##lock(                                   \
		pthread_rwlock_t *lock, const struct timespec *until)                              \
	{                                                                                          \
		return name##_lock_until(lock, CLOCK_REALTIME, until, DPE_SCHED_HERE);             \
	}

RWLOCK(rd, RD, arrive_lock, read_lock)
RWLOCK(wr, WR, wait_to_write, write_lock)

DPE_SCHED_EXPORTED int pthread_rwlock_unlock(pthread_rwlock_t *lock)
{
	if (!is_my_lock(lock))
		return REAL(pthread_rwlock_unlock)(lock);
	arrive_lock(DPE_SCHED_RWLOCK_UNLOCK, lock, 0, DPE_SCHED_HERE);
	if (lock->__data.__cur_writer && !is_own(lock))
		dpe_sched_misuse(DPE_SCHED_STRANGER);
	if (!lock->__data.__cur_writer && !lock->__data.__readers)
		dpe_sched_misuse(DPE_SCHED_NOT_LOCKED);
	if (lock->__data.__cur_writer)
		lock->__data.__cur_writer = 0;
	else
		lock->__data.__readers--;
	dpe_sched_released(DPE_SCHED_RWLOCK_UNLOCKED, (uint64_t)lock, DPE_SCHED_HERE);
	return 0;
}

/* ---- spin locks: 1 is free ---------------------------------------------------------------- */

DPE_SCHED_EXPORTED int pthread_spin_lock(pthread_spinlock_t *lock)
{
	if (!dpe_sched_self())
		return REAL(pthread_spin_lock)(lock);
	arrive(DPE_SCHED_SPIN_LOCK, (const void *)lock, 0, DPE_SCHED_HERE);
	*lock = -((int)me() + 1);
	return 0;
}

DPE_SCHED_EXPORTED int pthread_spin_trylock(pthread_spinlock_t *lock)
{
	if (!dpe_sched_self())
		return REAL(pthread_spin_trylock)(lock);
	arrive(DPE_SCHED_SPIN_TRYLOCK, (const void *)lock, 0, DPE_SCHED_HERE);
	if (*lock != 1)
		return EBUSY;
	*lock = -((int)me() + 1);
	dpe_sched_changed();
	return 0;
}

DPE_SCHED_EXPORTED int pthread_spin_unlock(pthread_spinlock_t *lock)
{
	if (!dpe_sched_self())
		return REAL(pthread_spin_unlock)(lock);
	arrive(DPE_SCHED_SPIN_UNLOCK, (const void *)lock, 0, DPE_SCHED_HERE);
	if (*lock == 1)
		dpe_sched_misuse(DPE_SCHED_NOT_LOCKED);
	if (*lock != -((int)me() + 1))
		dpe_sched_misuse(DPE_SCHED_STRANGER);
	*lock = 1;
	dpe_sched_released(DPE_SCHED_SPIN_UNLOCKED, (uint64_t)lock, DPE_SCHED_HERE);
	return 0;
}
