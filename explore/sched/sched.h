/* sched: the memory shared by the command and the preloaded library that schedules threads: operations, states
 * of threads, the schedule to follow and the one taken. The command writes the first part before a run and
 * reads the rest after it. */
#ifndef DPE_EXPLORE_SCHED_SCHED_H
#define DPE_EXPLORE_SCHED_SCHED_H

#include "explore/limits.h"

#include <stdbool.h>
#include <stdint.h>

#define DPE_SCHED_LIBRARY "libdpe-sched.so"
/* The environment variable that holds the numbers of two inherited files: the memory and the socket
 * of commands; and the one that holds what LD_PRELOAD was before. */
#define DPE_SCHED_VARIABLE "DPE_SCHED"
#define DPE_SCHED_OTHERS "DPE_SCHED_PRELOAD"
/* At events of rules: SIGURG, which is ignored by default. */
#define DPE_SCHED_SIGNAL 23
#define DPE_SCHED_MAGIC 0x6470652d73636864
#define DPE_SCHED_PROCESSORS 1024 /* as in a cpu_set_t */

/* The class of events of rules; other objects are in classes by address. */
#define DPE_SCHED_RULE_EVENTS 0

/* Every operation before which another thread may be chosen. */
#define DPE_SCHED_OPERATIONS(X)                                                                    \
	X(NONE, "none")                                                                            \
	X(START, "thread::start")                                                            \
	X(END, "thread::exit")                                                                \
	X(RETURN, "main.exit")                                                                \
	X(PROCESS_END, "exit")                                                                     \
	X(CREATE, "pthread_create")                                                                \
	X(CREATED, "pthread_create.exit")                                                           \
	X(JOIN, "pthread_join")                                                                    \
	X(TIMEDJOIN, "pthread_timedjoin_np")                                                       \
	X(DETACH, "pthread_detach")                                                                \
	X(CANCEL, "pthread_cancel")                                                                \
	X(CANCELLED, "pthread_cancel.exit")                                                         \
	X(KILL, "pthread_kill")                                                                    \
	X(KILLED, "pthread_kill.exit")                                                              \
	X(HANDLER, "signal::handler")                                                              \
	X(YIELD, "sched_yield")                                                                    \
	X(SLEEP, "sleep")                                                                          \
	X(FORK, "fork")                                                                            \
	X(ONCE, "pthread_once")                                                                    \
	X(ONCE_DONE, "pthread_once.exit")                                                          \
	X(MUTEX_INIT, "pthread_mutex_init")                                                        \
	X(MUTEX_DESTROY, "pthread_mutex_destroy")                                                  \
	X(MUTEX_LOCK, "pthread_mutex_lock")                                                        \
	X(MUTEX_TRYLOCK, "pthread_mutex_trylock")                                                  \
	X(MUTEX_TIMEDLOCK, "pthread_mutex_timedlock")                                              \
	X(MUTEX_UNLOCK, "pthread_mutex_unlock")                                                    \
	X(MUTEX_UNLOCKED, "pthread_mutex_unlock.exit")                                              \
	X(COND_INIT, "pthread_cond_init")                                                          \
	X(COND_DESTROY, "pthread_cond_destroy")                                                    \
	X(COND_WAIT, "pthread_cond_wait")                                                          \
	X(COND_TIMEDWAIT, "pthread_cond_timedwait")                                                \
	X(COND_BLOCK, "pthread_cond_wait.exit")                                                         \
	X(COND_TIMEDBLOCK, "pthread_cond_timedwait.exit")                                               \
	X(COND_SIGNAL, "pthread_cond_signal")                                                      \
	X(COND_SIGNALLED, "pthread_cond_signal.exit")                                               \
	X(COND_BROADCAST, "pthread_cond_broadcast")                                                \
	X(COND_BROADCASTED, "pthread_cond_broadcast.exit")                                          \
	X(SEM_INIT, "sem_init")                                                                    \
	X(SEM_DESTROY, "sem_destroy")                                                              \
	X(SEM_WAIT, "sem_wait")                                                                    \
	X(SEM_TRYWAIT, "sem_trywait")                                                              \
	X(SEM_TIMEDWAIT, "sem_timedwait")                                                          \
	X(SEM_POST, "sem_post")                                                                    \
	X(SEM_POSTED, "sem_post.exit")                                                              \
	X(SEM_GETVALUE, "sem_getvalue")                                                            \
	X(RWLOCK_INIT, "pthread_rwlock_init")                                                      \
	X(RWLOCK_DESTROY, "pthread_rwlock_destroy")                                                \
	X(RWLOCK_RDLOCK, "pthread_rwlock_rdlock")                                                  \
	X(RWLOCK_TRYRDLOCK, "pthread_rwlock_tryrdlock")                                            \
	X(RWLOCK_TIMEDRDLOCK, "pthread_rwlock_timedrdlock")                                        \
	X(RWLOCK_QUEUE, "pthread_rwlock_wrlock.enter")                                             \
	X(RWLOCK_WRLOCK, "pthread_rwlock_wrlock")                                                  \
	X(RWLOCK_TRYWRLOCK, "pthread_rwlock_trywrlock")                                            \
	X(RWLOCK_TIMEDWRLOCK, "pthread_rwlock_timedwrlock")                                        \
	X(RWLOCK_UNLOCK, "pthread_rwlock_unlock")                                                  \
	X(RWLOCK_UNLOCKED, "pthread_rwlock_unlock.exit")                                            \
	X(BARRIER_INIT, "pthread_barrier_init")                                                    \
	X(BARRIER_DESTROY, "pthread_barrier_destroy")                                              \
	X(BARRIER_WAIT, "pthread_barrier_wait")                                                    \
	X(BARRIER_BLOCK, "pthread_barrier_wait.exit")                                                   \
	X(SPIN_LOCK, "pthread_spin_lock")                                                          \
	X(SPIN_TRYLOCK, "pthread_spin_trylock")                                                    \
	X(SPIN_UNLOCK, "pthread_spin_unlock")                                                      \
	X(SPIN_UNLOCKED, "pthread_spin_unlock.exit")                                                \
	X(FUTEX_WAIT, "futex_wait")                                                                \
	X(FUTEX_TIMEDWAIT, "futex_timedwait")                                                           \
	X(FUTEX_BLOCK, "futex_wait.exit")                                                               \
	X(FUTEX_TIMEDBLOCK, "futex_timedwait.exit")                                                          \
	X(FUTEX_WAKE, "futex_wake")                                                                \
	X(FUTEX_WOKEN, "futex_wake.exit")                                                           \
	X(OMP_SET_LOCK, "omp_set_lock")                                                             \
	X(OMP_TEST_LOCK, "omp_test_lock")                                                           \
	X(OMP_UNSET_LOCK, "omp_unset_lock")                                                         \
	X(OMP_SET_NEST_LOCK, "omp_set_nest_lock")                                                   \
	X(OMP_TEST_NEST_LOCK, "omp_test_nest_lock")                                                 \
	X(OMP_UNSET_NEST_LOCK, "omp_unset_nest_lock")                                               \
	X(OMP_CRITICAL, "GOMP_critical_start")                                                      \
	X(OMP_CRITICAL_END, "GOMP_critical_end")                                                    \
	X(OMP_CRITICAL_NAME, "GOMP_critical_name_start")                                            \
	X(OMP_CRITICAL_NAME_END, "GOMP_critical_name_end")                                          \
	X(OMP_BARRIER, "GOMP_barrier")                                                              \
	X(READ, "read")                                                                            \
	X(WRITE, "write")                                                                          \
	X(ATOMIC_LOAD, "atomic_load")                                                              \
	X(ATOMIC_STORE, "atomic_store")                                                            \
	X(ATOMIC_CHANGE, "atomic_change")                                                  \
	X(FENCE, "fence")                                                                          \
	X(EVENT, "event")                                                                          \
	X(HEAP_FREE, "free")

enum dpe_sched_kind {
#define DPE_SCHED_NAME(name, text) DPE_SCHED_##name,
	DPE_SCHED_OPERATIONS(DPE_SCHED_NAME)
#undef DPE_SCHED_NAME
		DPE_SCHED_KINDS
};

/* Its object is the number of a thread. */
static inline bool dpe_sched_names_thread(uint32_t kind)
{
	switch (kind) {
	case DPE_SCHED_CREATED:
	case DPE_SCHED_JOIN:
	case DPE_SCHED_TIMEDJOIN:
	case DPE_SCHED_DETACH:
	case DPE_SCHED_CANCEL:
	case DPE_SCHED_CANCELLED:
	case DPE_SCHED_KILL:
	case DPE_SCHED_KILLED:
		return true;
	default:
		return false;
	}
}

/* The thread has let others proceed, and they may run before it does more. They may destroy and free the object. */
static inline bool dpe_sched_follows_release(uint32_t kind)
{
	switch (kind) {
	case DPE_SCHED_CREATED:
	case DPE_SCHED_CANCELLED:
	case DPE_SCHED_KILLED:
	case DPE_SCHED_MUTEX_UNLOCKED:
	case DPE_SCHED_COND_SIGNALLED:
	case DPE_SCHED_COND_BROADCASTED:
	case DPE_SCHED_SEM_POSTED:
	case DPE_SCHED_RWLOCK_UNLOCKED:
	case DPE_SCHED_SPIN_UNLOCKED:
	case DPE_SCHED_FUTEX_WOKEN:
		return true;
	default:
		return false;
	}
}

/* One operation that a thread is about to do. */
struct dpe_sched_op {
	uint64_t pc;     /* where it was called */
	uint64_t object; /* an address, or the number of a thread */
	uint64_t mutex;  /* of a wait for a condition */
	uint64_t until;  /* ns of virtual time since the start; 0: no timeout */
	uint32_t order;  /* of a wait: its place among all; of a barrier: its round */
	uint32_t size;   /* of an access, in bytes */
	uint8_t kind;
	uint8_t robust;  /* the mutex is */
	uint8_t wake;    /* the thread of a wait without a count of wakeups was woken */
	uint8_t interrupted; /* a signal handler did, and the wait ends with EINTR */
};

enum dpe_sched_state {
	DPE_SCHED_FREE,
	DPE_SCHED_CONTROLLED, /* runs if it is `running`, else waits for its baton */
	DPE_SCHED_OUTSIDE,    /* blocked, or computing, unseen by the library */
	DPE_SCHED_FINISHED,
};

struct dpe_sched_thread {
	uint32_t baton; /* a futex: 1: continue, 2: the running thread is outside */
	uint32_t tid;   /* the kernel's */
	uint32_t steps; /* operations so far, which number them from 1 */
	/* Those of its operations before which another thread may be chosen: by the class of their object, and all. */
	uint32_t visible[DPE_SCHED_CLASSES + 1];
	uint32_t idle;  /* of these, the last ones that changed nothing */
	uint32_t alone; /* of these, the last ones in a row without another thread */
	uint16_t parent;
	uint8_t state;
	uint8_t detached, joined;
	uint8_t cancelled, cancel_off;
	uint8_t inside; /* in the library, where a signal handler may interrupt it */
	uint8_t parked; /* … while it waits for its baton: then the handler is an operation */
	uint32_t handlers; /* signal handlers that interrupted it while it was parked */
	uint8_t yields; /* others should run first */
	uint8_t gives_way; /* … or may, as the strategy heeds that it yielded */
	uint8_t repeats; /* waits in a loop for a change of what it reads: see loops.c */
	uint8_t stuck;  /* in the deadlock or race that ended the run */
	uint16_t held_by; /* the number, from 1, of the thread that it waits for, where known */
	uint64_t handle; /* its pthread_t */
	uint64_t stack; /* its end; 0: not known */
	uint64_t priority;
	struct dpe_sched_op op;
	struct dpe_sched_op beneath[DPE_SCHED_NESTED]; /* signal handlers, which are not over, the first first */
	uint8_t nested; /* their number */
};

/* A choice that differs from the default (see choices.c): at operation number `step` of `from`, `to`
 * continues. */
struct dpe_sched_switch {
	uint32_t step;
	uint16_t from, to;
	uint32_t kind; /* of the operation that `from` is about to do */
	uint32_t unused;
	uint64_t pc, object; /* of that operation */
};

/* Two accesses that threads were about to make at the same time, which is a data race. */
struct dpe_sched_race {
	struct dpe_sched_op op[2];
	uint16_t thread[2];
	uint32_t nswitches; /* before it, in the first run that came there */
	uint32_t runs; /* that did */
};

enum dpe_sched_strategy {
	DPE_SCHED_FIRST, /* continues the same thread, except for the requested switches */
	DPE_SCHED_RANDOM,
	DPE_SCHED_PCT,
	DPE_SCHED_POS,
	DPE_SCHED_SURW,
	DPE_SCHED_DELAY,
	DPE_SCHED_ROUNDS,
	DPE_SCHED_PLACES,
	DPE_SCHED_STEER, /* by `turns` */
	DPE_SCHED_DFS, /* by `path`, then threads that are not asleep */
};

/* How the library ended a run. */
enum dpe_sched_end {
	DPE_SCHED_RAN,      /* it did not */
	DPE_SCHED_DEADLOCK, /* no thread can proceed */
	DPE_SCHED_STUCK,    /* the same, but a signal handler may change that */
	DPE_SCHED_MISUSE,   /* see `misuse` */
	DPE_SCHED_CUT,      /* too many steps */
	DPE_SCHED_TOO_MANY, /* threads */
	DPE_SCHED_RACE,   /* two threads are at the accesses of `race` */
	DPE_SCHED_PRUNED, /* all threads that can proceed are asleep: an equivalent run was made */
};

enum dpe_sched_misuse {
	DPE_SCHED_PROPER,
	DPE_SCHED_NOT_LOCKED, /* unlocked though no thread holds it */
	DPE_SCHED_STRANGER,   /* unlocked by another thread than its owner */
	DPE_SCHED_DESTROYED,  /* used after it was destroyed */
	DPE_SCHED_IN_USE,     /* destroyed while it is held or waited for */
	DPE_SCHED_FREED,      /* memory, used after it was freed, or freed again */
	DPE_SCHED_FREED_WRITTEN, /* memory, written after it was freed, by code that does not report it */
};

/* At this choice, counted from 1, `skip` threads are passed over, or thread `to`, counted from 1, continues if it can. */
struct dpe_sched_delay {
	uint32_t choice, skip;
	uint32_t to; /* 0: as `skip` says */
};

/* A wakeup of one thread, for any that waited before it. */
struct dpe_sched_wakeup {
	uint64_t object;
	uint32_t order;
};

/* The thread runs until it reaches its operation number `step`, and is held there until its next turn or the
 * last turn is over. With `may_wait` it also counts as there while it waits in the operation before. */
struct dpe_sched_turn {
	uint32_t step;
	uint16_t thread;
	uint16_t may_wait;
};

/* When a thread came to an operation, in ns of CLOCK_MONOTONIC. */
struct dpe_sched_stamp {
	uint64_t time, pc;
	uint32_t step;
	uint16_t thread;
	uint16_t kind; /* of the operation */
};

struct dpe_sched_set {
	uint64_t words[DPE_SCHED_THREADS / 64];
};

/* A choice: the chosen operation, the alternatives, and the sleep set. */
struct dpe_sched_event {
	uint64_t object, mutex;
	struct dpe_sched_set possible, asleep;
	uint32_t size;
	uint16_t thread, nthreads;
	uint16_t current; /* the thread before, if it could proceed; DPE_SCHED_THREADS: it could not, or was to yield */
	uint8_t kind, robust;
	uint8_t ends; /* the process, in this run */
};

enum dpe_sched_asked { DPE_SCHED_NO_QUESTION, DPE_SCHED_ASKED };

/* A choice that the command makes, while the run waits. */
struct dpe_sched_question {
	uint32_t state; /* a futex */
	uint16_t current; /* is at a point, or over */
	uint16_t by_default; /* the choice without an answer */
	uint16_t answer;  /* the command's */
	uint16_t count;   /* of `possible`: threads that can proceed */
	uint16_t possible[DPE_SCHED_THREADS];
};

/* Where a signal ended the program: registers in DWARF's order, and the stack from there on, as far as it is known. */
struct dpe_sched_crash {
	uint64_t pc, sp, bp;
	uint32_t size; /* of the stack */
	uint8_t stack[DPE_SCHED_CRASH_STACK];
};

struct dpe_sched_header {
	/* the command's, before a run */
	uint64_t magic;
	uint64_t seed;
	uint64_t epoch; /* ns of CLOCK_REALTIME at the start */
	uint32_t strategy;
	uint32_t depth;     /* of PCT */
	uint32_t expected;  /* choices of the longest run so far */
	uint32_t max_steps;
	uint32_t nforced;
	uint32_t spurious; /* condition variables may wake spuriously */
	uint32_t stamps; /* times are recorded */
	uint32_t traces; /* choices are recorded in `events`, as for DFS */
	uint32_t nturns;
	struct dpe_sched_turn turns[DPE_SCHED_TURNS];
	uint64_t race[2]; /* the places of two accesses: the run ends where both are next, by two threads; 0: none */
	uint32_t seeks_races; /* of any two places: they are recorded in `races`, and the run continues */
	uint32_t asks; /* the command makes each choice */
	uint32_t held; /* the run waits before main for a debugger, as long as this is set */
	uint32_t rules; /* are followed: threads get signals at their events */
	uint32_t once; /* … which cannot ask for another run, since rules follow this one */
	uint32_t again; /* set by the debugger: another run has to be made, which … */
	uint32_t nfollow; /* … repeats this number of choices from `answers` before it asks */
	uint16_t answers[DPE_SCHED_CHOICES]; /* to the debugger's questions in the last run */
	uint32_t selected; /* of SURW and PLACES: a class of objects; DPE_SCHED_CLASSES: all operations */
	uint32_t processor; /* on which the program runs, … */
	uint64_t processors[DPE_SCHED_PROCESSORS / 64]; /* … and all that it sees */
	uint32_t weights[DPE_SCHED_THREADS]; /* of SURW: selected operations, and those of the threads
					      that it creates, in an earlier run */
	uint32_t npath;
	uint16_t path[DPE_SCHED_EVENTS];
	struct dpe_sched_set asleep; /* at the last choice of the path */
	uint32_t ndelays;
	struct dpe_sched_delay delays[DPE_SCHED_DELAYS]; /* in the order of choices */
	struct dpe_sched_switch forced[DPE_SCHED_SWITCHES];
	/* the library's, during a run */
	_Alignas(64) uint32_t lock;
	uint32_t running; /* the number of the thread, or DPE_SCHED_NOBODY */
	uint32_t pid;
	uint32_t observed; /* set by the command once the probes of the run are in place; a run with rules waits for it */
	uint32_t end;
	uint32_t misuse;
	uint32_t written_by_running; /* of FREED_WRITTEN: `running` did, since its last operation */
	uint32_t freed_by; /* of both: the number of the thread, from 1, that freed it first, … */
	uint64_t freed_pc; /* … and where */
	uint32_t nthreads;
	uint32_t live; /* threads that did not finish */
	uint32_t leaving; /* the kernel's number of a thread that has finished, and may not have left */
	uint32_t steps, choices, nswitches;
	uint32_t switches_lost;
	uint32_t diverged; /* the number, from 1, of the first switch that was not possible */
	uint32_t forks;
	uint32_t waits; /* numbers waits and wakeups */
	uint32_t nwakeups;
	uint32_t kicked; /* the command: the number of the thread, plus 1, that is outside, … */
	uint32_t kicked_at; /* … if this is still the number of its last operation */
	uint32_t kicks; /* threads that went outside */
	uint32_t too_nested; /* handlers came that are not controlled */
	uint32_t unseen; /* threads whose creation the library did not see, as far as it knows of them */
	uint32_t reports; /* objects of the program that report their accesses */
	uint32_t opened; /* semaphores with names */
	uint32_t nevents, events_lost;
	uint32_t strayed; /* the path was not possible */
	struct dpe_sched_set left_asleep; /* of PRUNED: the threads that can proceed */
	uint32_t starved; /* of PRUNED: threads only yield, and may wait for one that is asleep */
	uint32_t nstamps;
	uint32_t stamps_lost;
	uint32_t asked; /* questions to the debugger */
	uint32_t loops; /* in which threads waited */
	uint32_t crashed; /* the number, from 1, of the thread that a signal ended, at `crash` */
	uint32_t turns_done;
	uint64_t now;   /* ns of virtual time since the start */
	uint64_t dice;
	struct dpe_sched_question question;
	struct dpe_sched_thread threads[DPE_SCHED_THREADS];
	struct dpe_sched_crash crash;
	struct dpe_sched_wakeup wakeups[DPE_SCHED_THREADS]; /* in their order */
	struct dpe_sched_switch switches[DPE_SCHED_SWITCHES];
	struct dpe_sched_stamp stamped[DPE_SCHED_STAMPS];
	struct dpe_sched_event events[DPE_SCHED_EVENTS]; /* of DFS, and with `traces` */
	uint8_t widths[DPE_SCHED_CHOICES]; /* of each choice: how many threads could proceed */
	/* Each pair of places once, over all runs. */
	uint32_t nraces, races_lost;
	struct dpe_sched_race races[DPE_SCHED_RACES];
	uint32_t learned; /* granules that are known to be shared, over all runs */
	/* Which thread used each eight bytes of memory, over all runs: see sched_memory.c. */
	uint8_t granules[DPE_SCHED_GRANULES];
};

#define DPE_SCHED_NOBODY UINT32_MAX

#endif
