/* control: one thread runs; at each operation (a point) the next one to run is chosen and handed its baton. */
#ifndef DPE_EXPLORE_SCHED_CONTROL_H
#define DPE_EXPLORE_SCHED_CONTROL_H

#include "explore/sched/sched_state.h"

#include <pthread.h>
#include <signal.h>
#include <time.h>

/* ---- control.c --------------------------------------------------------------------------- */

/* A scheduling point: returns when the thread may do the operation. False if it is not controlled. */
DPE_SCHED_HIDDEN bool dpe_sched_point(const struct dpe_sched_op *op);
/* A point behind a release, unless the program reports its accesses, which are points. */
DPE_SCHED_HIDDEN void dpe_sched_released(enum dpe_sched_kind kind, uint64_t object, uint64_t pc);
/* An access to memory; no choice is made if other threads cannot see it. */
DPE_SCHED_HIDDEN void dpe_sched_access(const struct dpe_sched_op *op, bool visible);
/* A function at which a debugger stops: when `from` is about to hand over to `to`, which is not the default choice. */
DPE_SCHED_EXPORTED __attribute__((noinline)) void dpe_sched_switching(unsigned from, unsigned to);
/* A signal handler begins, as the thread's next operation; false: the thread was not waiting for its baton. */
DPE_SCHED_HIDDEN bool dpe_sched_interrupt(uint64_t pc, bool restarts);
DPE_SCHED_HIDDEN void dpe_sched_resume(void);
/* Waits for the baton. */
DPE_SCHED_HIDDEN void dpe_sched_park(struct dpe_sched_thread *me);
/* The calling thread has ended: another one continues. */
DPE_SCHED_HIDDEN void dpe_sched_finish(void);

/* ---- sched_memory.c ---------------------------------------------------------------------- */

/* An access to `size` bytes by a function that was called at `pc`. */
DPE_SCHED_HIDDEN void dpe_sched_touch(enum dpe_sched_kind kind, const void *address, size_t size, uint64_t pc);

/* ---- loops.c ----------------------------------------------------------------------------- */

/* The thread is about to do its operation, and may begin to wait for others in a loop: `repeats`. True if it
 * does not wait, since no other thread can proceed; then no choice is made. */
DPE_SCHED_HIDDEN bool dpe_sched_loop_arrive(struct dpe_sched_thread *me);
/* It does the operation now: others that wait for that continue. */
DPE_SCHED_HIDDEN void dpe_sched_loop_do(struct dpe_sched_thread *me, const struct dpe_sched_op *op, bool visible);
/* The same of a signal handler, within the library. */
DPE_SCHED_HIDDEN void dpe_sched_loop_interrupted(const struct dpe_sched_op *op);
/* The operation, which might have been a mere read, has changed its object. */
DPE_SCHED_HIDDEN void dpe_sched_changed(void);
/* The thread must not wait in its loop. */
DPE_SCHED_HIDDEN void dpe_sched_loop_wake(const struct dpe_sched_thread *thread);
/* No thread can proceed: chooses one that polls in its loop once more. DPE_SCHED_NOBODY: all have done so, and nothing
 * will change. */
DPE_SCHED_HIDDEN unsigned dpe_sched_loop_poll(void);

/* ---- rule_events.c ----------------------------------------------------------------------- */
/* In the process of a run: from here on events of rules are scheduling points. */
DPE_SCHED_HIDDEN void dpe_sched_events_begin(void);

/* ---- asking.c ---------------------------------------------------------------------------- */

/* The thread that the command chooses among all that can proceed. With the lock held. */
DPE_SCHED_HIDDEN unsigned dpe_sched_ask(unsigned current, unsigned by_default);
/* The same of a debugger, which may stop in dpe_sched_asking and change the answer. */
DPE_SCHED_HIDDEN unsigned dpe_sched_offer(unsigned current, unsigned by_default);
DPE_SCHED_EXPORTED __attribute__((noinline)) void dpe_sched_asking(void);

/* ---- steering.c -------------------------------------------------------------------------- */

/* Records when the thread reached its operation. */
DPE_SCHED_HIDDEN void dpe_sched_stamp(const struct dpe_sched_thread *me);
DPE_SCHED_HIDDEN void dpe_sched_steer_begin(void);
/* The one of these threads that the turns want; `by_default` if they want none. */
DPE_SCHED_HIDDEN unsigned dpe_sched_steer(const uint16_t *possible, unsigned count, unsigned by_default);
/* Whether the turns hold the thread where it is. */
DPE_SCHED_HIDDEN bool dpe_sched_is_held(unsigned thread);

/* ---- choices.c ---------------------------------------------------------------------------- */

/* Begins a run, in its process. */
DPE_SCHED_HIDDEN void dpe_sched_choose_begin(void);
/* A thread was created. */
DPE_SCHED_HIDDEN void dpe_sched_choose_created(unsigned creator, unsigned created);
/* The thread that continues when `current` is at a point, or cannot; DPE_SCHED_NOBODY. */
DPE_SCHED_HIDDEN unsigned dpe_sched_choose(unsigned current);
/* For each operation that a thread reaches; false: no choice is made here. */
DPE_SCHED_HIDDEN bool dpe_sched_arrive(struct dpe_sched_thread *me, bool visible);

/* ---- waiting.c --------------------------------------------------------------------------- */

enum dpe_sched_ready { DPE_SCHED_BLOCKED, DPE_SCHED_LATE, DPE_SCHED_READY };
/* Whether the thread can do its operation now; LATE: by its timeout. */
DPE_SCHED_HIDDEN enum dpe_sched_ready dpe_sched_ready(const struct dpe_sched_thread *thread);
/* The only thread that can let this one proceed; DPE_SCHED_NOBODY: unknown or none. */
DPE_SCHED_HIDDEN unsigned dpe_sched_awaited(const struct dpe_sched_thread *thread);
/* Whether the mutex can be locked by the thread with this number, or tells it why not. */
DPE_SCHED_HIDDEN bool dpe_sched_mutex_free(const pthread_mutex_t *mutex, unsigned thread);
/* Whether the lock can be locked for reading. */
DPE_SCHED_HIDDEN bool dpe_sched_is_readable(const pthread_rwlock_t *lock);
/* Lets one waiter for the condition, if there is one, or all proceed. */
DPE_SCHED_HIDDEN bool dpe_sched_wake_one(uint64_t object);
DPE_SCHED_HIDDEN void dpe_sched_wake_all(uint64_t object);
/* The calling thread's wait is over: true if it was woken, false after its time. */
DPE_SCHED_HIDDEN bool dpe_sched_end_wait(struct dpe_sched_thread *me);
/* Whether a thread waits for the object and was not woken. */
DPE_SCHED_HIDDEN bool dpe_sched_has_waiters(uint64_t object);

/* ---- sched_processors.c ------------------------------------------------------------------ */

/* The process stays on one of them. */
DPE_SCHED_HIDDEN void dpe_sched_stay_on_one_processor(struct dpe_sched_header *header);

/* ---- sched_deadlock.c -------------------------------------------------------------------- */

/* Whether the program has handlers, which may let a thread proceed. */
DPE_SCHED_HIDDEN bool dpe_sched_handles_signals(void);
/* A cycle of threads that each wait for the next one, although others may still run: ends the run. */
DPE_SCHED_HIDDEN void dpe_sched_find_cycle(unsigned from);
/* No thread can proceed; one outside may return and let others proceed. */
DPE_SCHED_HIDDEN void dpe_sched_nobody_can(void);

/* ---- sched_cancel.c ---------------------------------------------------------------------- */

/* The calling thread is at a cancellation point. */
DPE_SCHED_HIDDEN void dpe_sched_test_cancel(struct dpe_sched_thread *me);

/* ---- sched_threads.c --------------------------------------------------------------------- */

DPE_SCHED_HIDDEN void dpe_sched_threads_begin(void);

/* ---- sched_signals.c --------------------------------------------------------------------- */

/* Calls the program's own handler, if there is one. */
DPE_SCHED_HIDDEN void dpe_sched_call_handler(int number, siginfo_t *info, void *context);

/* ---- sched_crash.c ----------------------------------------------------------------------- */

/* Whether a thread raises the signal by its own fault: an invalid access or instruction, or abort(). */
DPE_SCHED_HIDDEN bool dpe_sched_is_fault(int number);
/* From here on, the registers and the stack are saved when such a signal ends the program. */
DPE_SCHED_HIDDEN void dpe_sched_crashes_begin(void);
/* Whether they are saved at this signal. */
DPE_SCHED_HIDDEN bool dpe_sched_is_crash(int number);
/* The program has no handler of such a signal. */
DPE_SCHED_HIDDEN void dpe_sched_note_crash(int number);

/* ---- operations -------------------------------------------------------------------------- */

/* What POSIX and C11 functions have in common. `pc` is where they were called. */
DPE_SCHED_HIDDEN int dpe_sched_mutex_lock(pthread_mutex_t *mutex, uint64_t pc);
DPE_SCHED_HIDDEN int dpe_sched_mutex_trylock(pthread_mutex_t *mutex, uint64_t pc);
DPE_SCHED_HIDDEN int dpe_sched_mutex_timedlock(
	pthread_mutex_t *mutex, clockid_t clock, const struct timespec *until, uint64_t pc);
DPE_SCHED_HIDDEN int dpe_sched_mutex_unlock(pthread_mutex_t *mutex, uint64_t pc);
DPE_SCHED_HIDDEN int dpe_sched_mutex_destroy(pthread_mutex_t *mutex, uint64_t pc);
/* Unlocks the mutex for a wait, and returns how often it was locked; and locks it again. */
DPE_SCHED_HIDDEN unsigned dpe_sched_mutex_give(pthread_mutex_t *mutex);
DPE_SCHED_HIDDEN int dpe_sched_mutex_restore(pthread_mutex_t *mutex, unsigned times);
DPE_SCHED_HIDDEN int dpe_sched_cond_wait(
	pthread_cond_t *cond, pthread_mutex_t *mutex, clockid_t clock, const struct timespec *until, uint64_t pc);
DPE_SCHED_HIDDEN int dpe_sched_cond_wake(pthread_cond_t *cond, bool all, uint64_t pc);
DPE_SCHED_HIDDEN int dpe_sched_cond_destroy(pthread_cond_t *cond, uint64_t pc);
DPE_SCHED_HIDDEN int dpe_sched_create(pthread_t *thread, const pthread_attr_t *attr,
	void *(*routine)(void *), void *with, uint64_t pc);
DPE_SCHED_HIDDEN int dpe_sched_join(pthread_t thread, void **result, uint64_t pc);
DPE_SCHED_HIDDEN int dpe_sched_detach(pthread_t thread, uint64_t pc);
DPE_SCHED_HIDDEN int dpe_sched_once(int *once, void (*routine)(void), uint64_t pc);
/* Whether an object is left to the C library because processes may share it. */
DPE_SCHED_HIDDEN bool dpe_sched_leaves(bool is_shared);

#endif
