/* dpe-waits.h: what the threads of a running process wait for, and who holds it, from the kernel, the memory of
 * glibc's locks and the stacks. A part of libdpe-probes that places no probes and needs no root. */
#ifndef DPE_PUBLIC_WAITS_H
#define DPE_PUBLIC_WAITS_H

#include "dpe-base.h"

#include <sys/types.h>

#ifdef __cplusplus
extern "C" {
#endif

/* What a thread waits for. NONE: for nothing that another thread of the process provides; LIBRARY: for a lock within glibc;
 * STREAM: for the lock of a FILE; FUTEX: for a lock that is not glibc's. */
enum dpe_wait_kind {
	DPE_WAIT_NONE,
	DPE_WAIT_MUTEX,
	DPE_WAIT_READ_LOCK,
	DPE_WAIT_WRITE_LOCK,
	DPE_WAIT_CONDITION,
	DPE_WAIT_SEMAPHORE,
	DPE_WAIT_JOIN,
	DPE_WAIT_BARRIER,
	DPE_WAIT_ONCE,
	DPE_WAIT_LIBRARY,
	DPE_WAIT_STREAM,
	DPE_WAIT_FUTEX,
};

/* Whether a thread can proceed. UNKNOWN: nothing in memory says who will wake it. NEVER: it is in a cycle, waits for
 * a thread in one, or waits for something that an ended thread holds. */
enum dpe_prospect { DPE_PROSPECT_PROCEEDS, DPE_PROSPECT_UNKNOWN, DPE_PROSPECT_NEVER };

struct dpe_waiting_thread {
	pid_t thread;
	char name[16];
	char state;       /* of /proc: 'S' sleeps, 'R' runs, 'T' and 't' are stopped, … */
	enum dpe_wait_kind kind;
	enum dpe_prospect prospect;
	/* For NONE, the system call that it sleeps in; NULL: it runs, or that call has no name here. */
	const char *call;
	char *file;       /* of the call or stream; NULL: none */
	bool timed;       /* the wait has a timeout */
	uint64_t object;  /* the address of what it waits for */
	char *variable;   /* its name; NULL: it has none */
	bool shared;      /* it is in memory that other processes may share */
	uint32_t word;    /* the value of the futex */
	/* The thread that holds it, or whose end is awaited; 0: unknown. holder_process: 0, or another process. */
	pid_t holder, holder_process;
	bool holder_ended;
	/* The kernel refused the wait: a deadlock of mutexes with priority inheritance, or its holder has ended. `object`
	 * is unknown. */
	bool is_refused;
	unsigned readers; /* of a read-write lock, whose memory does not say who they are */
	unsigned missing; /* threads that a barrier awaits */
	uint64_t asleep;  /* ns since it last ran; 0: unknown */
	unsigned cycle;   /* the number of its cycle, from 1; 0: it is in none */
	unsigned next;    /* index of the holder if it is a thread of the process; else UINT_MAX */
	char *stack;      /* a line for each frame, innermost first; inlined calls on lines of their own */
	unsigned nframes;
	bool is_cut;      /* the stack continues */
};

struct dpe_waits {
	pid_t pid;
	char name[16];
	struct dpe_waiting_thread *threads; /* sorted by id */
	unsigned nthreads, capthreads;
	unsigned ncycles;
	bool hang;       /* no thread can proceed, … */
	bool may_end;    /* … unless a signal handler of the program wakes one */
	bool is_stopped; /* by a signal or a debugger */
	/* What memory does not show in a program of this language or library, and what shows it; NULL: nothing. */
	const char *advice;
	/* NEVER: there is a cycle, a hang, or a wait for something that an ended thread holds. */
	enum dpe_prospect prospect;
};

/* If the return of a call is observed, the return address on the stack, at `slot`, belongs to the kernel; `address` is
 * the original one. */
struct dpe_diverted_return {
	uint64_t slot, address;
};

struct dpe_diverted_returns {
	struct dpe_diverted_return *at;
	unsigned count;
};

/* Reads what the threads of a process wait for, with at most `depth` frames of each stack. Threads
 * continue to run; one that sleeps in a futex may be interrupted for some microseconds to read its registers. Stacks end
 * at a call whose return is observed and not in `returns` (NULL: none is known). NULL after an error, as for a
 * process that may not be traced. */
struct dpe_waits *dpe_waits_read(
	pid_t pid, unsigned depth, const struct dpe_diverted_returns *returns, struct dpe_diags *diags);
void dpe_waits_free(struct dpe_waits *waits); /* accepts NULL */

#ifdef __cplusplus
}
#endif

#endif
