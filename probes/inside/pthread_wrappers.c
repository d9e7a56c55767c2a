/* pthread_wrappers: the wrappers. Each reports its call, calls the wrapped function, and reports its return. A
 * call that is left by cancellation, an exception or longjmp has no return, as with a probe; but a condition wait has
 * one, which fails: cleanup handlers run with the mutex locked. */
#include "probes/inside/library.h"
#include "probes/inside/runtime.h"

#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <threads.h>

#define EXPORTED __attribute__((visibility("default")))
#define FRAME ((const uint64_t *)__builtin_frame_address(0))
#define WORD(value) ((uint64_t)(value))
#define CALL(name, ...)                                                                            \
	(struct dpe_preload_call)                                                                  \
	{                                                                                          \
		{__VA_ARGS__}, DPE_PRELOAD_##name                                                  \
	}
#define REAL(name) ((__typeof__(&name))real(DPE_PRELOAD_##name))

static inline void *real(enum dpe_preload_function function)
{
	void *found = dpe_preload_real[function];

	return __builtin_expect(!!found, 1) ? found : dpe_preload_find(function);
}

/* What each function does to its object, how it orders threads, and the lock that the thread holds after it. Numbers of functions
 * are constants: see DPE_PRELOAD_FUNCTIONS. */
enum access { UNSEEN, MADE, USED };
enum order { ACQUIRES, RELEASES };
enum lock { NONE, EXCLUSIVE, SHARED, WAITS };
#define FUNCTION(name, access, order, lock) {access, order, lock},
static const struct {
	enum access access;
	enum order order;
	enum lock lock;
} FUNCTIONS[] = {DPE_PRELOAD_FUNCTIONS(FUNCTION)};

/* A lock is accessed before it is taken: what another holder did earlier does not come before that. It is accessed again before
 * it is released, which is a new access if the thread has waited or released another lock meanwhile. */
static inline void touch(
	unsigned function, const struct dpe_preload_call *call, const uint64_t *frame)
{
	if (!dpe_memory_touch)
		return;
	if (FUNCTIONS[function].access == MADE)
		dpe_memory_touch(DPE_PRELOAD_WRITE, call->words[0], frame);
	if (FUNCTIONS[function].access == USED)
		dpe_memory_touch(DPE_PRELOAD_ATOMIC_READ, call->words[0], frame);
	if (function == DPE_PRELOAD_pthread_create)
		dpe_preload_lose_child();
}

/* The call uses the object until it returns, when threads that it let proceed may have destroyed the object. */
static inline void touch_last(
	unsigned function, const struct dpe_preload_call *call, const uint64_t *frame)
{
	if (dpe_memory_touch &&
		(function == DPE_PRELOAD_pthread_cond_signal ||
			function == DPE_PRELOAD_pthread_cond_broadcast ||
			function == DPE_PRELOAD_pthread_barrier_wait))
		dpe_memory_touch(DPE_PRELOAD_ATOMIC_READ, call->words[0], frame);
}

/* Calls that create, join and end threads, and routines that run once, are events in any case. */
static inline bool is_ignored(unsigned function)
{
	return dpe_memory_ignores_order &&
	       (function <= DPE_PRELOAD_pthread_spin_unlock ||
		       (function >= DPE_PRELOAD_mtx_init && function <= DPE_PRELOAD_cnd_broadcast)) &&
	       dpe_memory_ignores_order();
}

static inline void begin_together(unsigned function, const uint64_t *frame)
{
	if (!dpe_memory_create_thread || dpe_runtime_has(frame[1]))
		return;
	if (function == DPE_PRELOAD_pthread_create)
		dpe_memory_create_thread();
	else if (function != DPE_PRELOAD_thrd_create)
		dpe_memory_end_creation();
}

/* The function is a constant, not an argument of the call. */
static inline void enter(
	unsigned function, const struct dpe_preload_call *call, const uint64_t *frame)
{
	const struct dpe_preload_look *look = dpe_preload_look;

	touch(function, call, frame);
	begin_together(function, frame);
	if (FUNCTIONS[function].order == RELEASES)
		dpe_preload_epoch++;
	if (look->wanted[function] & DPE_PRELOAD_ENTER && !dpe_runtime_has(frame[1]) && !is_ignored(function))
		dpe_preload_write(call, DPE_PRELOAD_ENTER, 0, frame);
}

static inline void begin_section(unsigned function, const struct dpe_preload_call *call, int ret, const uint64_t *frame)
{
	enum lock lock = FUNCTIONS[function].lock;
	bool waits = lock == WAITS; /* for a condition: its mutex is held after a timeout, too */

	if (dpe_memory_begin_section && lock && (waits || !ret || ret == EOWNERDEAD))
		dpe_memory_begin_section(call->words[waits], lock == SHARED, frame);
}

static inline void leave(
	unsigned function, const struct dpe_preload_call *call, int ret, const uint64_t *frame)
{
	const struct dpe_preload_look *look = dpe_preload_look;

	if (function == DPE_PRELOAD_pthread_once || function == DPE_PRELOAD_call_once) /* what the routine did */
		dpe_preload_epoch++;
	if (look->wanted[function] & DPE_PRELOAD_EXIT && !dpe_runtime_has(frame[1]) && !is_ignored(function))
		dpe_preload_write(call, DPE_PRELOAD_EXIT, ret, frame);
	touch_last(function, call, frame);
	begin_section(function, call, ret, frame);
}

/* ---- POSIX ------------------------------------------------------------------------------- */

struct condition_wait {
	const struct dpe_preload_call *call;
	const uint64_t *frame;
	bool returned;
};

static void end_wait(const struct condition_wait *wait)
{
	if (!wait->returned)
		leave(wait->call->function, wait->call, ECANCELED, wait->frame);
}

/* The C library has locked the mutex again when the unwinder comes to the wrapper. */
#define WAIT(wait, of)                                                                             \
	__attribute__((cleanup(end_wait))) struct condition_wait wait = {.call = &(of), .frame = FRAME}

#define WRAP(name, parameters, arguments, ...)                                                     \
	EXPORTED int name parameters                                                               \
	{                                                                                          \
		const struct dpe_preload_call call = CALL(name, __VA_ARGS__);                      \
		int ret;                                                                           \
                                                                                                   \
		enter(DPE_PRELOAD_##name, &call, FRAME);                                           \
		ret = REAL(name) arguments;                                                        \
		leave(DPE_PRELOAD_##name, &call, ret, FRAME);                                      \
		return ret;                                                                        \
	}

#define WRAP_WAIT(name, parameters, arguments, ...)                                                \
	EXPORTED int name parameters                                                               \
	{                                                                                          \
		const struct dpe_preload_call call = CALL(name, __VA_ARGS__);                      \
		WAIT(wait, call);                                                                  \
		int ret;                                                                           \
                                                                                                   \
		enter(DPE_PRELOAD_##name, &call, FRAME);                                           \
		ret = REAL(name) arguments;                                                        \
		wait.returned = true;                                                              \
		leave(DPE_PRELOAD_##name, &call, ret, FRAME);                                      \
		return ret;                                                                        \
	}

/* Functions of one pointer, and of a pointer and a deadline. */
#define WRAP_ONE(name, type) WRAP(name, (type * object), (object), WORD(object))
#define WRAP_TIMED(name, type)                                                                     \
	WRAP(name, (type * object, const struct timespec *until), (object, until), WORD(object),   \
		WORD(until))
#define WRAP_CLOCK(name, type)                                                                     \
	WRAP(name, (type * object, clockid_t clock, const struct timespec *until),                 \
		(object, clock, until), WORD(object), WORD(clock), WORD(until))

/* The mutex itself knows whether a thread holds it. Other threads may be about to take it. */
#define HELD(mutex) WORD(__atomic_load_n(&((const pthread_mutex_t *)(mutex))->__data.__lock, __ATOMIC_RELAXED))

WRAP(pthread_mutex_init, (pthread_mutex_t * mutex, const pthread_mutexattr_t *attr), (mutex, attr),
	WORD(mutex), WORD(attr))
WRAP(pthread_mutex_destroy, (pthread_mutex_t * mutex), (mutex), WORD(mutex), [DPE_PRELOAD_HELD] = HELD(mutex))
WRAP_ONE(pthread_mutex_lock, pthread_mutex_t)
WRAP_ONE(pthread_mutex_trylock, pthread_mutex_t)
WRAP_TIMED(pthread_mutex_timedlock, pthread_mutex_t)
WRAP_CLOCK(pthread_mutex_clocklock, pthread_mutex_t)
WRAP(pthread_mutex_unlock, (pthread_mutex_t * mutex), (mutex), WORD(mutex), [DPE_PRELOAD_HELD] = HELD(mutex))
WRAP_ONE(pthread_mutex_consistent, pthread_mutex_t)

WRAP(pthread_rwlock_init, (pthread_rwlock_t * lock, const pthread_rwlockattr_t *attr), (lock, attr),
	WORD(lock), WORD(attr))
WRAP_ONE(pthread_rwlock_destroy, pthread_rwlock_t)
WRAP_ONE(pthread_rwlock_rdlock, pthread_rwlock_t)
WRAP_ONE(pthread_rwlock_wrlock, pthread_rwlock_t)
WRAP_ONE(pthread_rwlock_tryrdlock, pthread_rwlock_t)
WRAP_ONE(pthread_rwlock_trywrlock, pthread_rwlock_t)
WRAP_TIMED(pthread_rwlock_timedrdlock, pthread_rwlock_t)
WRAP_TIMED(pthread_rwlock_timedwrlock, pthread_rwlock_t)
WRAP_CLOCK(pthread_rwlock_clockrdlock, pthread_rwlock_t)
WRAP_CLOCK(pthread_rwlock_clockwrlock, pthread_rwlock_t)
/* Only the lock knows whether a reader or the writer releases it. */
WRAP(pthread_rwlock_unlock, (pthread_rwlock_t * lock), (lock), WORD(lock),
	[DPE_PRELOAD_WRITER] = WORD(lock->__data.__cur_writer))

WRAP(pthread_cond_init, (pthread_cond_t * cond, const pthread_condattr_t *attr), (cond, attr),
	WORD(cond), WORD(attr))
WRAP_ONE(pthread_cond_destroy, pthread_cond_t)
WRAP_WAIT(pthread_cond_wait, (pthread_cond_t * cond, pthread_mutex_t *mutex), (cond, mutex), WORD(cond),
	WORD(mutex))
WRAP_WAIT(pthread_cond_timedwait,
	(pthread_cond_t * cond, pthread_mutex_t *mutex, const struct timespec *until),
	(cond, mutex, until), WORD(cond), WORD(mutex), WORD(until))
WRAP_WAIT(pthread_cond_clockwait,
	(pthread_cond_t * cond, pthread_mutex_t *mutex, clockid_t clock,
		const struct timespec *until),
	(cond, mutex, clock, until), WORD(cond), WORD(mutex), WORD(clock), WORD(until))
WRAP_ONE(pthread_cond_signal, pthread_cond_t)
WRAP_ONE(pthread_cond_broadcast, pthread_cond_t)

WRAP(sem_init, (sem_t * semaphore, int shared, unsigned value), (semaphore, shared, value),
	WORD(semaphore), WORD(shared), WORD(value))
WRAP_ONE(sem_destroy, sem_t)
WRAP_ONE(sem_wait, sem_t)
WRAP_ONE(sem_trywait, sem_t)
WRAP_TIMED(sem_timedwait, sem_t)
WRAP_CLOCK(sem_clockwait, sem_t)
WRAP_ONE(sem_post, sem_t)

WRAP(pthread_barrier_init,
	(pthread_barrier_t * barrier, const pthread_barrierattr_t *attr, unsigned count),
	(barrier, attr, count), WORD(barrier), WORD(attr), WORD(count))
WRAP_ONE(pthread_barrier_destroy, pthread_barrier_t)
WRAP_ONE(pthread_barrier_wait, pthread_barrier_t)

WRAP(pthread_spin_init, (pthread_spinlock_t * lock, int shared), (lock, shared), WORD(lock),
	WORD(shared))
WRAP_ONE(pthread_spin_destroy, pthread_spinlock_t)
WRAP_ONE(pthread_spin_lock, pthread_spinlock_t)
WRAP_ONE(pthread_spin_trylock, pthread_spinlock_t)
WRAP_ONE(pthread_spin_unlock, pthread_spinlock_t)

/* Only libdpe-mem.so has these functions. Also called if the routine is left otherwise than by its return. */
static void end_once(struct dpe_once_call *once)
{
	if (dpe_once_end)
		dpe_once_end(once);
}

#define ONCE(word, function)                                                                    \
	__attribute__((cleanup(end_once))) struct dpe_once_call once_call = {.control = word, .routine = function}
#define STATE(once) WORD(__atomic_load_n((const int *)(once), __ATOMIC_ACQUIRE))
#define ROUTINE (dpe_once_begin ? dpe_once_begin(&once_call) : once_call.routine)

EXPORTED int pthread_once(pthread_once_t *once, void (*routine)(void))
{
	const struct dpe_preload_call call =
		CALL(pthread_once, WORD(once), WORD(routine), [DPE_PRELOAD_STATE] = STATE(once));
	ONCE(once, routine);
	int ret;

	enter(DPE_PRELOAD_pthread_once, &call, FRAME);
	ret = REAL(pthread_once)(once, ROUTINE);
	leave(DPE_PRELOAD_pthread_once, &call, ret, FRAME);
	return ret;
}

WRAP(pthread_create,
	(pthread_t * thread, const pthread_attr_t *attr, void *(*start)(void *), void *argument),
	(thread, attr, start, argument), WORD(thread), WORD(attr), WORD(start), WORD(argument))
WRAP(pthread_join, (pthread_t thread, void **result), (thread, result), WORD(thread), WORD(result))
WRAP(pthread_tryjoin_np, (pthread_t thread, void **result), (thread, result), WORD(thread),
	WORD(result))
WRAP(pthread_timedjoin_np, (pthread_t thread, void **result, const struct timespec *until),
	(thread, result, until), WORD(thread), WORD(result), WORD(until))
WRAP(pthread_clockjoin_np,
	(pthread_t thread, void **result, clockid_t clock, const struct timespec *until),
	(thread, result, clock, until), WORD(thread), WORD(result), WORD(clock), WORD(until))
WRAP(pthread_detach, (pthread_t thread), (thread), WORD(thread))

EXPORTED void pthread_exit(void *result)
{
	const struct dpe_preload_call call = CALL(pthread_exit, WORD(result));

	enter(DPE_PRELOAD_pthread_exit, &call, FRAME);
	REAL(pthread_exit)(result);
	__builtin_unreachable();
}

/* ---- C11: wraps functions that call those of POSIX within the C library, unseen ---------- */

static int posix_error(int c11)
{
	switch (c11) {
	case thrd_success:
		return 0;
	case thrd_busy:
		return EBUSY;
	case thrd_timedout:
		return ETIMEDOUT;
	case thrd_nomem:
		return ENOMEM;
	default:
		return EINVAL;
	}
}

#define UNPACK(...) __VA_ARGS__
#define WRAP_C11_DOING(name, parameters, arguments, words, posix, posix_words, before, after)      \
	EXPORTED int name parameters                                                               \
	{                                                                                          \
		const struct dpe_preload_call call = CALL(name, UNPACK words);                     \
		const struct dpe_preload_call inner = CALL(posix, UNPACK posix_words);             \
		before                                                                             \
		int ret;                                                                           \
                                                                                                   \
		enter(DPE_PRELOAD_##name, &call, FRAME);                                           \
		enter(DPE_PRELOAD_##posix, &inner, FRAME);                                         \
		ret = REAL(name) arguments;                                                        \
		after                                                                              \
		leave(DPE_PRELOAD_##posix, &inner, posix_error(ret), FRAME);                       \
		leave(DPE_PRELOAD_##name, &call, ret, FRAME);                                      \
		return ret;                                                                        \
	}
#define WRAP_C11(name, parameters, arguments, words, posix, posix_words)                           \
	WRAP_C11_DOING(name, parameters, arguments, words, posix, posix_words, , )
#define WRAP_C11_WAIT(name, parameters, arguments, words, posix, posix_words)                      \
	WRAP_C11_DOING(name, parameters, arguments, words, posix, posix_words,                     \
		WAIT(wait, call); WAIT(inner_wait, inner);, wait.returned = inner_wait.returned = true;)
#define WRAP_C11_VOID(name, parameters, arguments, words, posix, ...)                              \
	EXPORTED void name parameters                                                              \
	{                                                                                          \
		__VA_ARGS__                                                                        \
		const struct dpe_preload_call call = CALL(name, UNPACK words);                     \
		const struct dpe_preload_call inner = CALL(posix, UNPACK words);                   \
                                                                                                   \
		enter(DPE_PRELOAD_##name, &call, FRAME);                                           \
		enter(DPE_PRELOAD_##posix, &inner, FRAME);                                         \
		REAL(name) arguments;                                                              \
		leave(DPE_PRELOAD_##posix, &inner, 0, FRAME);                                      \
		leave(DPE_PRELOAD_##name, &call, 0, FRAME);                                        \
	}
#define WRAP_C11_ONE(name, type, posix)                                                            \
	WRAP_C11(name, (type * object), (object), (WORD(object)), posix, (WORD(object)))

/* The C library derives attributes from the type itself. */
WRAP_C11(mtx_init, (mtx_t * mutex, int type), (mutex, type), (WORD(mutex), WORD(type)),
	pthread_mutex_init, (WORD(mutex)))
WRAP_C11_VOID(mtx_destroy, (mtx_t * mutex), (mutex), (WORD(mutex), [DPE_PRELOAD_HELD] = HELD(mutex)), pthread_mutex_destroy)
WRAP_C11_ONE(mtx_lock, mtx_t, pthread_mutex_lock)
WRAP_C11_ONE(mtx_trylock, mtx_t, pthread_mutex_trylock)
WRAP_C11(mtx_timedlock, (mtx_t * restrict mutex, const struct timespec *restrict until),
	(mutex, until), (WORD(mutex), WORD(until)), pthread_mutex_timedlock,
	(WORD(mutex), WORD(until)))
WRAP_C11(mtx_unlock, (mtx_t * mutex), (mutex), (WORD(mutex)), pthread_mutex_unlock,
	(WORD(mutex), [DPE_PRELOAD_HELD] = HELD(mutex)))

WRAP_C11_ONE(cnd_init, cnd_t, pthread_cond_init)
WRAP_C11_VOID(cnd_destroy, (cnd_t * cond), (cond), (WORD(cond)), pthread_cond_destroy)
WRAP_C11_ONE(cnd_signal, cnd_t, pthread_cond_signal)
WRAP_C11_ONE(cnd_broadcast, cnd_t, pthread_cond_broadcast)
WRAP_C11_WAIT(cnd_wait, (cnd_t * cond, mtx_t *mutex), (cond, mutex), (WORD(cond), WORD(mutex)),
	pthread_cond_wait, (WORD(cond), WORD(mutex)))
WRAP_C11_WAIT(cnd_timedwait,
	(cnd_t * restrict cond, mtx_t *restrict mutex, const struct timespec *restrict until),
	(cond, mutex, until), (WORD(cond), WORD(mutex), WORD(until)), pthread_cond_timedwait,
	(WORD(cond), WORD(mutex), WORD(until)))

WRAP_C11_VOID(call_once, (once_flag * once, void (*routine)(void)), (once, ROUTINE),
	(WORD(once), WORD(routine), [DPE_PRELOAD_STATE] = STATE(once)), pthread_once, ONCE(once, routine);)

WRAP_C11(thrd_create, (thrd_t * thread, thrd_start_t start, void *argument),
	(thread, start, argument), (WORD(thread), WORD(start), WORD(argument)), pthread_create,
	(WORD(thread), WORD(-1), WORD(start), WORD(argument)))
WRAP_C11(thrd_join, (thrd_t thread, int *result), (thread, result), (WORD(thread), WORD(result)),
	pthread_join, (WORD(thread)))
WRAP_C11(thrd_detach, (thrd_t thread), (thread), (WORD(thread)), pthread_detach, (WORD(thread)))

EXPORTED void thrd_exit(int result)
{
	const struct dpe_preload_call call = CALL(thrd_exit, WORD(result));
	const struct dpe_preload_call inner = CALL(pthread_exit, WORD(result));

	enter(DPE_PRELOAD_thrd_exit, &call, FRAME);
	enter(DPE_PRELOAD_pthread_exit, &inner, FRAME);
	REAL(thrd_exit)(result);
	__builtin_unreachable();
}
