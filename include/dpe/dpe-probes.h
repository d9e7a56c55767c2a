/* dpe-probes.h: from rules to probes to messages of a live target, for dpe_recognizer_feed.
 * Declares libdpe-probes; DPE_API_VERSION of dpe.h holds for it, too. A target starts only when
 * every probe is in place, keeps its own standard files, signals and terminal, and runs on unharmed
 * if the observer dies. */
#ifndef DPE_PUBLIC_PROBES_H
#define DPE_PUBLIC_PROBES_H

#include "dpe-spec.h"
#include "dpe-waits.h"

#include <sys/types.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- what to observe --------------------------------------------------------------------- */

/* The kernel's own events, which need no function of the target. A process that is followed begins
 * with a thread like any other. */
#define DPE_THREAD_CREATE                                                                          \
	"thread::create" /* in the parent; args: the new thread's id, pthread_t, process */
#define DPE_THREAD_START "thread::start"   /* first event of every new thread; args: the same */
#define DPE_THREAD_FOUND "thread::found"   /* first event of a thread that was already running; args: the same */
#define DPE_THREAD_EXIT "thread::exit"     /* last event of a thread; args: the same */

/* Transfers from one thread to another through pipes, sockets and queues, and waits for the end of
 * a process. */
#define DPE_IPC_SEND "ipc::send"          /* args: the channel, the number of the message in it */
#define DPE_IPC_RECEIVE "ipc::receive"    /* args: the same */
#define DPE_PROCESS_WAIT "process::wait"  /* args: the process */

struct dpe_plan;
/* The smallest plan that serves all patterns of the specification; for dpe_plan_free. */
struct dpe_plan *dpe_plan_new(const struct dpe_spec *spec);
void dpe_plan_free(struct dpe_plan *plan); /* accepts NULL */
/* True if the rules are about all memory, whose accesses libdpe-mem.so reports: the program has to be compiled for it, see
 * docs/memory-accesses.md. */
bool dpe_plan_has_memory(const struct dpe_plan *plan);
/* A flag, which is set once an event of one of these patterns of the rule has occurred, until no rule needs it any more. */
struct dpe_event_flag {
	unsigned rule;
	uint64_t patterns;
	bool whole; /* it is needed as long as the rule has any partial match */
};
/* The plan's flags; returns their number, at most 64. */
unsigned dpe_plan_flags(const struct dpe_plan *plan, const struct dpe_event_flag **flags);
/* Prints the plan, one line for each probe. */
void dpe_plan_print(
	struct dpe_text *to, const struct dpe_names *names, const struct dpe_plan *plan);

/* ---- a target under observation ---------------------------------------------------------- */

struct dpe_probes;

struct dpe_probes_options {
	/* Bytes of each ring buffer, a power of two times the page size; 0: 8 MiB, and less if
	 * there are more than eight of them, down to 1 MiB. */
	unsigned ring_bytes;
	unsigned rings; /* for all processors together; 0, or more than there are: one for each */
	unsigned stack_depth; /* frames kept of each event's user stack, at most 32; 0: none */
	/* Libraries that the target may load later (dlopen): they, and the libraries that they need, are observed, too. */
	const char *const *libraries;
	unsigned nlibraries;
	/* New processes are stopped until they have their probes, as is necessary on kernels before 6.18. */
	bool stop_processes;
	bool one_by_one; /* attach each function by a call of its own, as is necessary on kernels before 6.6 */
	bool follow; /* also child processes, and programs that are executed */
	bool children_wait; /* with `follow`: what the target forks waits by itself, until a later call of dpe_probes_poll has returned */
	bool once; /* accesses that do not change whether there is a race may be left out */
	unsigned stay; /* ms that the exit of an instrumented program waits for its other threads */
	int signal;    /* that a thread gets at the entry of each function that is an event; 0: none */
	bool stop;    /* events that could complete a match of a rule with `break` stop the target at once */
	bool dynamic; /* events that cannot be part of a match yet are dropped in the probe */
	const char *user; /* the user to run a launched target as; NULL: the caller's */
	const char *preload; /* path of the library to load into a launched target, or NULL */
	const struct dpe_debug *debug;
};

/* Creates the target, which waits before its exec, and places all probes: in the program and in the
 * libraries that it will load. It inherits the caller's signal mask and ignored signals. NULL after
 * one diagnostic for each error: no such program, no privilege (which one), no BPF, a function that
 * the program does not have (with the nearest names that it has). If a library that the program
 * loads later may have the function, that is a warning. `plan`, `names` and `diags`, which also
 * gets diagnostics while the target runs, must outlive it. */
struct dpe_probes *dpe_probes_launch(const struct dpe_plan *plan, struct dpe_names *names,
	char *const argv[], const struct dpe_probes_options *options, struct dpe_diags *diags);
/* The same for a process that runs already, with all its threads. */
struct dpe_probes *dpe_probes_attach(const struct dpe_plan *plan, struct dpe_names *names,
	pid_t pid, const struct dpe_probes_options *options, struct dpe_diags *diags);
/* Starts a launched target. -1 and a diagnostic if its exec fails. */
int dpe_probes_start(struct dpe_probes *probes, struct dpe_diags *diags);
/* The target's process id. */
pid_t dpe_probes_pid(const struct dpe_probes *probes);
/* What the target's threads wait for, as dpe_waits_read, with their whole stacks. NULL without a diagnostic if the
 * target has ended or is about to. */
struct dpe_waits *dpe_probes_waits(const struct dpe_probes *probes, unsigned depth, struct dpe_diags *diags);

/* Once the target runs: gives up all privileges that are no longer needed. Under sudo, continues as
 * the user who called it. */
void dpe_probes_drop_privileges(struct dpe_probes *probes, struct dpe_diags *diags);
/* Just before starting a debugger for the target: passes on the privilege to trace it. */
void dpe_probes_lend_privileges(void);
/* At the very beginning: a set-uid program keeps only the privileges that observing needs. 0 or
 * -errno. */
int dpe_probes_begin_privileged(void);

/* The receiver of messages. Each call of dpe_probes_poll makes any number of `message` calls (the
 * reference is the callee's), in order of time, so that a recognizer may be opened with `ordered`;
 * then one `watermark`: every message of an earlier time was delivered. */
struct dpe_probes_sink {
	void *context;
	void (*message)(void *context, struct dpe_message *message);
	void (*watermark)(void *context, uint64_t time);
	/* After that: true if all messages delivered so far have been processed; then `live` gets a
	 * bit for each of the plan's flags that is still needed. May be NULL: never. */
	bool (*settled)(void *context, uint64_t *live);
};
/* Waits at most `timeout` ms for messages and delivers them. 1 while the target lives (or messages
 * remain), 0 when it has exited and all were delivered, -1 with errno (EINTR after a signal). */
int dpe_probes_poll(struct dpe_probes *probes, int timeout, const struct dpe_probes_sink *sink);
/* After poll returned 0: the wait status; -1 if it is unknown (attached). */
int dpe_probes_status(const struct dpe_probes *probes);
/* The number of living processes that are followed, besides the first; without `follow`, of child processes so far. */
uint64_t dpe_probes_others(const struct dpe_probes *probes);
/* Whether the rules can be followed in several processes: not those with watchpoints or accesses to memory. */
bool dpe_probes_can_follow(const struct dpe_probes *probes);
/* The number of stacks that are incomplete, as another thread was changing the mappings of the process. */
uint64_t dpe_probes_cut_stacks(const struct dpe_probes *probes);
/* Lost messages of a thread, counted where they were lost. */
struct dpe_loss {
	pid_t thread;         /* 0: unknown */
	uint64_t count;       /* messages */
	uint64_t doubts;      /* watched variables whose values are not certain; in the entry of no thread */
	uint64_t first, last; /* ns: times of the first and last of them */
};
/* The number of threads that lost messages so far; fills at most `max`. */
unsigned dpe_probes_losses(struct dpe_probes *probes, struct dpe_loss *losses, unsigned max);
/* The same, and cheaper; losses later than the last delivered message may be missing. Borrowed until the next call. */
const struct dpe_loss *dpe_probes_losses_delivered(struct dpe_probes *probes, unsigned *count);
/* Calls `event` for each probe that lost messages, with the name of their event: several times if several functions have
 * that name. Losses of the preloaded library, and of events of threads and of the kernel, are in dpe_probes_losses only. */
void dpe_probes_lost_events(struct dpe_probes *probes,
	void (*event)(void *context, dpe_name name, enum dpe_phase phase, uint64_t count), void *context);
/* How many events were lost so far since the memory mappings of their process were being changed. */
uint64_t dpe_probes_unplaced(const struct dpe_probes *probes);
/* The time of the latest delivered message, in ns. Later losses do not affect verdicts given so far. */
uint64_t dpe_probes_delivered(const struct dpe_probes *probes);

/* At the end: a warning for each function or line that rules name and that was never found; an error if child processes
 * were followed. */
void dpe_probes_report_missing(struct dpe_probes *probes, struct dpe_diags *diags);
/* Whether rules name functions, and neither the target nor its libraries have any of them. */
bool dpe_probes_have_no_function(const struct dpe_probes *probes);
/* Where events were found to be unordered: a warning for each file of the target whose code has atomic instructions, or calls
 * eventfd, sigwait, syscall and the like, as what these order is not observed. */
void dpe_probes_report_unobserved_order(struct dpe_probes *probes, struct dpe_diags *diags);

/* Why the order of the target's threads is not observed: its language's synchronisation is inlined, or is that of a run-time
 * library such as libgomp. NULL: it is observed. The text lives as long as the probes. */
const char *dpe_probes_unobserved_order(struct dpe_probes *probes);
/* The shipped specification of what orders the target's threads, or its goroutines. */
const char *dpe_probes_order_spec(const struct dpe_probes *probes);

/* True if the target, compiled to report its accesses, may leave out reads: see dpe_recognizer_expect_updates. */
bool dpe_probes_omits_reads(const struct dpe_probes *probes);

/* A copy of the message with the text of its stack (ELF and DWARF), the caller's; where there is
 * nothing to add, the same message with one more reference. */
struct dpe_message *dpe_probes_resolve(struct dpe_probes *probes, struct dpe_message *message);

/* The name of the variable of the program, or of one of its libraries, that lies at an address:
 * "mutex", "forks[2]". NULL if there is none (the heap, a stack); else the caller's to free.
 * `object`: at the beginning of a structure, the name of the structure and not of its first member, unless that is a lock. */
char *dpe_probes_variable_at(struct dpe_probes *probes, uint64_t address, bool object);

/* DPE_NOT_STUCK: also after the target's end. UNDECIDED: to be confirmed by the next call, once messages sent in between are delivered.
 * UNKNOWN: /proc cannot be read without the right to trace the target. */
enum dpe_stuck { DPE_NOT_STUCK, DPE_STUCK_UNDECIDED, DPE_STUCK_UNKNOWN, DPE_STUCK_CERTAIN };
/* Whether each of these threads sleeps until another one wakes it: in a futex, without timeout.
 * `all`: the target must have no other threads, and the futexes must be in its private memory. */
enum dpe_stuck dpe_probes_stuck(
	struct dpe_probes *probes, const pid_t *threads, unsigned count, bool all);
/* True if a signal handler of the target may run although all its threads sleep. */
bool dpe_probes_handles_signals(const struct dpe_probes *probes);

/* Stops all threads of the target; if the observer dies, it is continued. 0 or -errno. */
int dpe_probes_stop(struct dpe_probes *probes);
/* True if the thread's event with this number stopped the target, and the target has not continued since. */
bool dpe_probes_stopped_at(const struct dpe_probes *probes, pid_t thread, uint64_t seq);
/* How often an event stopped the target so far. */
uint64_t dpe_probes_stops(const struct dpe_probes *probes);
/* Continues a target that dpe_probes_stop stopped. 0 or -errno. */
int dpe_probes_continue(struct dpe_probes *probes);
/* Kills the target. 0 or -errno. */
int dpe_probes_kill(struct dpe_probes *probes);
/* Removes all probes and detaches; a stopped target stays stopped, for a debugger that takes over. */
void dpe_probes_leave(struct dpe_probes *probes);
/* Removes all probes; the target, if it lives, continues. Accepts NULL. */
void dpe_probes_free(struct dpe_probes *probes);

/* ---- what can be observed ---------------------------------------------------------------- */

/* The name that the source has for a symbol of C++ or Rust, "ns::queue::push(int)", or without
 * `parameters` "ns::queue::push". NULL if the symbol is not mangled; else the caller's. */
char *dpe_demangle(const char *symbol, bool parameters);
/* The length of `operator<<` and the like, of C++, at `at` in a name; of the keyword, where a type or `new` follows; 0: none begins
 * there. */
size_t dpe_operator_length(const char *name, const char *at);

/* What to list, and who gets the lines. */
struct dpe_listing {
	const char *program; /* or NULL, and a process: */
	pid_t pid;
	const char *pattern; /* a glob for names; NULL: all */
	bool placement;      /* each function is followed by a line on where its entry would be observed, and why there */
	const char *const *libraries; /* besides what the program or process maps */
	unsigned nlibraries;
	void (*line)(void *context, const char *text);
	void *context;
};

/* Lists functions (with arguments where DWARF has them) and USDT probes of a program or process and its
 * libraries, as "module::function(type name, …)", for C++ and Rust followed by the name in the source, which
 * the pattern may be for as well, and "usdt::provider::name(type, …)"; of a pattern like "file.c:*" lines of
 * the source, as "\"file.c:12\" in module::function". -1 after a diagnostic. */
int dpe_probes_list(const struct dpe_listing *listing, struct dpe_diags *diags);

#ifdef __cplusplus
}
#endif

#endif
