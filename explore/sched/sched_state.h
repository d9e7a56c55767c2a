/* sched_state: what all files of libdpe-sched.so use. Nothing here chooses, or waits for a turn. */
#ifndef DPE_EXPLORE_SCHED_SCHED_STATE_H
#define DPE_EXPLORE_SCHED_SCHED_STATE_H

#include "explore/sched/sched.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdint.h>
#include <time.h>

#define DPE_SCHED_HIDDEN __attribute__((visibility("hidden")))
#define DPE_SCHED_EXPORTED __attribute__((visibility("default")))
#define DPE_SCHED_ROBUST_MUTEX 16 /* in the kind of a mutex of glibc */
#define DPE_SCHED_PAGE 4096 /* there are no objects before it */
#define DPE_SCHED_HERE ((uint64_t)__builtin_return_address(0))

/* A wrapped function. All are found when the library is loaded, since dlsym waits for a thread that loads a library. */
struct dpe_sched_real {
	const char *name;
	void *at;
};
#define DPE_SCHED_REAL(name)                                                                       \
	static struct dpe_sched_real real __attribute__((section("dpe_sched_reals"), used, aligned(16))) = {#name, NULL}
#define REAL(name)                                                                                 \
	({                                                                                         \
		DPE_SCHED_REAL(name);                                                              \
		if (!real.at)                                                                      \
			real.at = dlsym(RTLD_NEXT, #name);                                         \
		(__typeof__(&name))real.at;                                                        \
	})

/* ---- sched_state.c ----------------------------------------------------------------------- */

/* NULL: nothing is controlled, every wrapper calls its function. */
extern DPE_SCHED_HIDDEN struct dpe_sched_header *dpe_sched;
DPE_SCHED_HIDDEN void dpe_sched_lock(void);
DPE_SCHED_HIDDEN void dpe_sched_unlock(void);
/* A system call by the C library's function: see sched_libgomp.c. Keeps errno. */
DPE_SCHED_HIDDEN long dpe_sched_kernel(long number, long first, long second, long third);
/* Without a timeout; the C library's function would be a scheduling point. */
DPE_SCHED_HIDDEN void dpe_sched_futex_wait(uint32_t *word, uint32_t value);
DPE_SCHED_HIDDEN void dpe_sched_futex_wake(uint32_t *word);
DPE_SCHED_HIDDEN bool dpe_sched_anybody_outside(void);
/* Lets threads outside run briefly. */
DPE_SCHED_HIDDEN void dpe_sched_pause(void);
/* Ends the run here. */
DPE_SCHED_HIDDEN _Noreturn void dpe_sched_end(enum dpe_sched_end end);
DPE_SCHED_HIDDEN void dpe_sched_misuse(enum dpe_sched_misuse misuse);
/* A function at which a debugger stops: before the library ends the run. */
DPE_SCHED_EXPORTED __attribute__((noinline)) void dpe_sched_ended(const char *how);

/* ---- sched_self.c ------------------------------------------------------------------------ */

/* The calling thread, which is adopted if the library did not see its creation. NULL if it is not controlled. */
DPE_SCHED_HIDDEN struct dpe_sched_thread *dpe_sched_self(void);
/* The same, but it is not adopted. */
DPE_SCHED_HIDDEN struct dpe_sched_thread *dpe_sched_mine(void);
static inline unsigned dpe_sched_number(const struct dpe_sched_thread *thread)
{
	return (unsigned)(thread - dpe_sched->threads);
}
/* The thread with this handle, which may be reused by a later one; NULL if it is not controlled, or joined. */
DPE_SCHED_HIDDEN struct dpe_sched_thread *dpe_sched_find(pthread_t handle);
/* The calling thread is this one; it has ended. */
DPE_SCHED_HIDDEN void dpe_sched_set_self(struct dpe_sched_thread *me);
DPE_SCHED_HIDDEN void dpe_sched_leave(void);
/* Calls `round` with the number when a thread has ended that has called dpe_sched_watch_end with that. */
DPE_SCHED_HIDDEN void dpe_sched_watch_ends(void (*round)(void *number));
DPE_SCHED_HIDDEN void dpe_sched_watch_end(intptr_t round);

/* ---- operations.c ------------------------------------------------------------------------ */

/* Whether the operation may change nothing. */
DPE_SCHED_HIDDEN bool dpe_sched_looks(const struct dpe_sched_op *op);
/* The same, and it is neither a pause nor a fence. */
DPE_SCHED_HIDDEN bool dpe_sched_is_idle(const struct dpe_sched_op *op);

/* ---- shared_memory.c --------------------------------------------------------------------- */

#define DPE_SCHED_SHARED 255 /* in a granule: several threads have used it */
#define DPE_SCHED_GRANULE 8
/* Whether several threads have used the granule, including this use. */
DPE_SCHED_HIDDEN bool dpe_sched_is_shared(uint64_t address, unsigned thread);
/* The same of what was used of these bytes before. */
DPE_SCHED_HIDDEN bool dpe_sched_block_is_shared(uint64_t address, size_t size, unsigned thread);

/* ---- virtual_time.c ---------------------------------------------------------------------- */

#define DPE_SCHED_SECOND UINT64_C(1000000000)
/* ns of virtual time since the start of the run. */
DPE_SCHED_HIDDEN uint64_t dpe_sched_now(void);
/* Its nanoseconds are less than a second: waits for another refuse it. */
DPE_SCHED_HIDDEN bool dpe_sched_is_time(const struct timespec *at);
/* A time of that clock as virtual time, at least 1. */
DPE_SCHED_HIDDEN uint64_t dpe_sched_until(clockid_t clock, const struct timespec *at);
DPE_SCHED_HIDDEN uint64_t dpe_sched_ns_of(const struct timespec *time);
/* Reading a clock advances time, so a loop that waits for a time ends. */
DPE_SCHED_HIDDEN uint64_t dpe_sched_read_clock(clockid_t clock);

#endif
