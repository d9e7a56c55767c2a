/* inside: what the preloaded library and its reader share: the wrapped functions and the memory of the rings,
 * one for each thread. A thread takes a slot (`reserved`), reads the clock, fills the slot and stamps it; a
 * slot whose stamp is not its number plus one is incomplete. The reader frees slots by `tail`; a thread that
 * finds no room waits as long as the reader reads. */
#ifndef DPE_PROBES_INSIDE_INSIDE_H
#define DPE_PROBES_INSIDE_INSIDE_H

#include "probes/kernel/bpf/frame_rows.h"
#include "probes/limits.h"

#include <stdint.h>

/* The environment variable that names the memory, as a path to open, which ends in the number of the descriptor
 * that the target inherits. */
#define DPE_PRELOAD_VARIABLE "DPE_PRELOAD"
#define DPE_PRELOAD_MAGIC 0x6470652d72696e68
#define DPE_PRELOAD_LIBRARY "libdpe-pthread.so"
#define DPE_PRELOAD_MEMORY_LIBRARY "libdpe-mem.so"
/* The program calls its thread functions. */
#define DPE_PRELOAD_SCHEDULER "libdpe-sched.so"

/* Every function that the library wraps; what its call does to its first argument, an object: plain accesses where it is
 * initialised or destroyed (MADE), atomic ones of all other functions (USED); whether it releases before its return: other
 * threads may follow what this thread did before; and what the thread holds after it: the lock that is its first argument, if it
 * succeeds, or the mutex that is its second one (WAITS). */
#define DPE_PRELOAD_FUNCTIONS(X)                                                                   \
	X(pthread_mutex_init, MADE, RELEASES, NONE)                                                \
	X(pthread_mutex_destroy, MADE, RELEASES, NONE)                                             \
	X(pthread_mutex_lock, USED, ACQUIRES, EXCLUSIVE)                                           \
	X(pthread_mutex_trylock, USED, ACQUIRES, EXCLUSIVE)                                        \
	X(pthread_mutex_timedlock, USED, ACQUIRES, EXCLUSIVE)                                      \
	X(pthread_mutex_clocklock, USED, ACQUIRES, EXCLUSIVE)                                      \
	X(pthread_mutex_unlock, USED, RELEASES, NONE)                                              \
	X(pthread_mutex_consistent, UNSEEN, RELEASES, NONE)                                        \
	X(pthread_rwlock_init, MADE, RELEASES, NONE)                                               \
	X(pthread_rwlock_destroy, MADE, RELEASES, NONE)                                            \
	X(pthread_rwlock_rdlock, USED, ACQUIRES, SHARED)                                           \
	X(pthread_rwlock_wrlock, USED, ACQUIRES, EXCLUSIVE)                                        \
	X(pthread_rwlock_tryrdlock, USED, RELEASES, SHARED)                                        \
	X(pthread_rwlock_trywrlock, USED, RELEASES, EXCLUSIVE)                                     \
	X(pthread_rwlock_timedrdlock, USED, RELEASES, SHARED)                                      \
	X(pthread_rwlock_timedwrlock, USED, RELEASES, EXCLUSIVE)                                   \
	X(pthread_rwlock_clockrdlock, USED, RELEASES, SHARED)                                      \
	X(pthread_rwlock_clockwrlock, USED, RELEASES, EXCLUSIVE)                                   \
	X(pthread_rwlock_unlock, USED, RELEASES, NONE)                                             \
	X(pthread_cond_init, MADE, RELEASES, NONE)                                                 \
	X(pthread_cond_destroy, MADE, RELEASES, NONE)                                              \
	X(pthread_cond_wait, USED, RELEASES, WAITS)                                                \
	X(pthread_cond_timedwait, USED, RELEASES, WAITS)                                           \
	X(pthread_cond_clockwait, USED, RELEASES, WAITS)                                           \
	X(pthread_cond_signal, UNSEEN, RELEASES, NONE)                                             \
	X(pthread_cond_broadcast, UNSEEN, RELEASES, NONE)                                          \
	X(sem_init, MADE, RELEASES, NONE)                                                          \
	X(sem_destroy, MADE, RELEASES, NONE)                                                       \
	X(sem_wait, USED, ACQUIRES, NONE)                                                          \
	X(sem_trywait, USED, RELEASES, NONE)                                                       \
	X(sem_timedwait, USED, RELEASES, NONE)                                                     \
	X(sem_clockwait, USED, RELEASES, NONE)                                                     \
	X(sem_post, USED, RELEASES, NONE)                                                          \
	X(pthread_barrier_init, MADE, RELEASES, NONE)                                              \
	X(pthread_barrier_destroy, MADE, RELEASES, NONE)                                           \
	X(pthread_barrier_wait, USED, RELEASES, NONE)                                              \
	X(pthread_spin_init, MADE, RELEASES, NONE)                                                 \
	X(pthread_spin_destroy, MADE, RELEASES, NONE)                                              \
	X(pthread_spin_lock, USED, ACQUIRES, EXCLUSIVE)                                            \
	X(pthread_spin_trylock, USED, ACQUIRES, EXCLUSIVE)                                         \
	X(pthread_spin_unlock, USED, RELEASES, NONE)                                               \
	X(pthread_once, UNSEEN, RELEASES, NONE)                                                    \
	X(pthread_create, UNSEEN, RELEASES, NONE)                                                  \
	X(pthread_join, UNSEEN, ACQUIRES, NONE)                                                    \
	X(pthread_tryjoin_np, UNSEEN, RELEASES, NONE)                                              \
	X(pthread_timedjoin_np, UNSEEN, RELEASES, NONE)                                            \
	X(pthread_clockjoin_np, UNSEEN, RELEASES, NONE)                                            \
	X(pthread_detach, UNSEEN, RELEASES, NONE)                                                  \
	X(pthread_exit, UNSEEN, RELEASES, NONE)                                                    \
	X(mtx_init, UNSEEN, RELEASES, NONE)                                                        \
	X(mtx_destroy, UNSEEN, RELEASES, NONE)                                                     \
	X(mtx_lock, UNSEEN, ACQUIRES, NONE)                                                        \
	X(mtx_trylock, UNSEEN, RELEASES, NONE)                                                     \
	X(mtx_timedlock, UNSEEN, RELEASES, NONE)                                                   \
	X(mtx_unlock, UNSEEN, RELEASES, NONE)                                                      \
	X(cnd_init, UNSEEN, RELEASES, NONE)                                                        \
	X(cnd_destroy, UNSEEN, RELEASES, NONE)                                                     \
	X(cnd_wait, UNSEEN, RELEASES, NONE)                                                        \
	X(cnd_timedwait, UNSEEN, RELEASES, NONE)                                                   \
	X(cnd_signal, UNSEEN, RELEASES, NONE)                                                      \
	X(cnd_broadcast, UNSEEN, RELEASES, NONE)                                                   \
	X(call_once, UNSEEN, RELEASES, NONE)                                                       \
	X(thrd_create, UNSEEN, RELEASES, NONE)                                                     \
	X(thrd_join, UNSEEN, RELEASES, NONE)                                                       \
	X(thrd_detach, UNSEEN, RELEASES, NONE)                                                     \
	X(thrd_exit, UNSEEN, RELEASES, NONE)

enum dpe_preload_function {
#define DPE_PRELOAD_NAME(name, ...) DPE_PRELOAD_##name,
	DPE_PRELOAD_FUNCTIONS(DPE_PRELOAD_NAME)
#undef DPE_PRELOAD_NAME
		DPE_PRELOAD_COUNT
};

/* What the larger library, libdpe-mem.so, reports besides calls: an address and a number of bytes. They are
 * numbered after the functions. */
enum dpe_preload_memory {
	DPE_PRELOAD_READ = DPE_PRELOAD_COUNT,
	DPE_PRELOAD_WRITE,
	DPE_PRELOAD_FREED,        /* memory from malloc is freed */
	DPE_PRELOAD_ATOMIC_LOAD,  /* an atomic operation that acquires */
	DPE_PRELOAD_ATOMIC_STORE, /* an atomic operation that releases */
	DPE_PRELOAD_RENEWED,      /* memory belongs to a new object from now on, and was unused before */
	DPE_PRELOAD_ATOMIC_READ,  /* an access that is not atomic */
	DPE_PRELOAD_ATOMIC_WRITE,
	DPE_PRELOAD_FILE_USED,    /* a descriptor instead of an address */
	DPE_PRELOAD_FILE_CLOSED,
	DPE_PRELOAD_OMP_RELEASE,  /* OpenMP: a release of a key */
	DPE_PRELOAD_OMP_ACQUIRE,  /* an acquire: follows all releases of the key */
	DPE_PRELOAD_OMP_LOCK,     /* an OpenMP lock was acquired */
	DPE_PRELOAD_OMP_UNLOCK,   /* … and is about to be released */
	DPE_PRELOAD_TBB_RELEASE,  /* oneTBB: the same as for OpenMP */
	DPE_PRELOAD_TBB_ACQUIRE,
	DPE_PRELOAD_ALLOCATED,    /* an object on the heap: the bytes that were asked for */
	DPE_PRELOAD_HANDED_OUT,   /* the same as RENEWED, by malloc and the like */
	DPE_PRELOAD_EVENTS
};

/* What is wanted of a function: bits. Also the kind of a slot. */
enum { DPE_PRELOAD_ENTER = 1, DPE_PRELOAD_EXIT = 2 };

#define DPE_PRELOAD_WORDS 4    /* arguments of the longest function */
#define DPE_PRELOAD_HELD 1     /* of pthread_mutex_unlock and destroy: 0 if nobody holds the mutex */
#define DPE_PRELOAD_WRITER 1   /* of pthread_rwlock_unlock: the word with the writing thread, or 0 */
#define DPE_PRELOAD_STATE 2    /* of pthread_once: the word with its state */
/* A signal handler may take slots after the interrupted code has checked for room and before it takes its slot:
 * so many are kept free for that. */
#define DPE_PRELOAD_SLACK 64

/* One event. With stacks, a slot has room for `frames`; the frames in use are counted before
 * them, so if there are none nobody touches that part of it. */
struct dpe_preload_slot {
	uint32_t stamp; /* dpe_preload_stamp of its number, once it is whole */
	int32_t ret;
	uint64_t time; /* ns of CLOCK_MONOTONIC */
	uint16_t function;
	uint8_t kind;
	uint8_t nframes;
	uint32_t lost; /* events of its thread so far, modulo 2^32 */
	uint64_t caller;
	uint64_t words[DPE_PRELOAD_WORDS];
	uint64_t frames[];
};

/* The stamps of the slot with this number: it is complete, or was abandoned by longjmp. They differ from the
 * stamps of every other slot in the same place. */
static inline uint32_t dpe_preload_stamp(uint64_t number)
{
	return (uint32_t)number + 1;
}

static inline uint32_t dpe_preload_left(uint64_t number)
{
	return (uint32_t)number + 2;
}

#define DPE_PRELOAD_LINE 64 /* bytes of a slot without frames; slots with frames are a multiple of it */

struct dpe_preload_loss {
	uint64_t count, first, last; /* events, and the times of the first and last of them */
};

enum dpe_preload_state {
	DPE_PRELOAD_FREE,
	DPE_PRELOAD_CLAIMED,
	DPE_PRELOAD_DEAD, /* its thread is gone: incomplete slots stay incomplete */
};

struct dpe_preload_ring {
	/* written by its thread; a cache line for each side */
	_Alignas(64) uint32_t state;
	uint32_t thread;
	uint64_t reserved;
	struct dpe_preload_loss lost;
	char comm[16];
	uint64_t unused;
	/* written by the reader */
	uint64_t tail;
	uint64_t unused_either[7];
};

/* A mapped range of code, and the position of its rows of call frame information. */
struct dpe_preload_code {
	uint64_t begin, end; /* addresses */
	uint64_t offset;     /* of `begin` in the file */
	uint32_t first, count; /* rows */
};

struct dpe_preload_header {
	/* written by the observer before the target starts */
	uint64_t magic;
	uint32_t pid;   /* of the target: no other process may write */
	uint32_t slots; /* of each ring, a power of two */
	uint32_t slot_bytes;
	uint32_t frames;      /* number of return addresses wanted beyond the caller's */
	uint32_t closed;      /* it is no longer read */
	uint64_t bytes;       /* of all the memory */
	uint64_t slots_begin; /* where the first ring's slots are */
	uint32_t observer; /* its process */
	uint32_t filters; /* that the kernel applies to the observer's system calls, and so to the target's */
	uint32_t waits; /* a thread that finds its ring full waits for the reader; 0 once the reader has
			 * stopped */
	uint32_t once;  /* redundant accesses may be left out */
	uint32_t prepared; /* number of rings, from the first, whose pages are already allocated */
	uint32_t stay; /* ms that exit() waits for threads that continue */
	uint8_t wanted[DPE_PRELOAD_EVENTS];
	/* written by the observer, also while the target runs; rows never change once written */
	uint64_t rows_begin; /* where the rows are: DPE_PRELOAD_ROWS */
	uint32_t code_version; /* odd while the following is being changed */
	uint32_t ncode;
	struct dpe_preload_code code[DPE_FRAME_TABLES];
	/* written by the library */
	uint32_t fences; /* written by either: taking a slot needs a fence, since membarrier(2) is not
			  * available */
	uint32_t images; /* number of the target's programs that loaded the library */
	uint32_t used;   /* rings from this one on were never claimed */
	uint32_t mapped_twice; /* a file may have been mapped at two addresses */
	struct dpe_preload_loss nowhere;     /* lost by threads that have no ring */
	uint64_t address[DPE_PRELOAD_COUNT]; /* of the functions that are wrapped */
	struct dpe_preload_ring rings[DPE_PRELOAD_RINGS];
};

#endif
