/* probes: rules → what to observe → messages from a live target.
 *
 * The target is sacred: it starts only when every probe is in place, keeps its own standard files,
 * signals and terminal, and runs on unharmed whatever becomes of us. */
#ifndef DPE_PROBES_H
#define DPE_PROBES_H

#include "dpe-lang/dpe-lang.h"
#include <sys/types.h>

/* ---- what to observe --------------------------------------------------------------------- */

enum dpe_site_kind {
	DPE_SITE_FUNCTION,
	DPE_SITE_LINE, /* of the source, "file.c:12" */
	DPE_SITE_USDT, /* module "usdt::provider" */
};

#define DPE_FILTERS 4

/* What the value of a variable must be for an event to be of any use: `read` op number. */
struct dpe_filter {
	unsigned read;
	enum dpe_op op;
	int64_t number;
};

/* Events of a kind are wanted where one of them holds. */
struct dpe_filters {
	bool all; /* some rule wants every event */
	unsigned count; /* 0: the same */
	struct dpe_filter at[DPE_FILTERS];
};

/* One function of the target (or another place in its code), and what of it the rules need. A plan
 * is data. */
struct dpe_site {
	enum dpe_site_kind kind;
	dpe_name name, module; /* module 0: the program and each of its libraries */
	dpe_name event;        /* the name of its messages, where it is another one; else 0 */
	bool enter, exit;
	bool phased;           /* some rule has its .enter or .exit */
	bool optional;         /* only sync rules ask for it: skipped where the target lacks it */
	unsigned nargs;        /* arguments that patterns and conditions mention */
	uint64_t used;         /* the same as bits, of the first 64; what may be any is not in it */
	bool ret;              /* they mention the result */
	uint64_t reads;        /* variables of the program to read there: bits, by their number */
	struct dpe_filters filters[2]; /* of its entry, of its return */
	struct dpe_place place; /* a pattern that asks for it */
};

#define DPE_READS 64

/* A variable of the program whose value rules want at their events. */
struct dpe_read {
	const char *lvalue; /* the specification's */
	dpe_name name;      /* of it, in messages */
	bool spared;        /* rules ask for it as in `x ? a : b` alone, or for a round */
	struct dpe_place place;
};

/* The kernel's own events, which need no function of the target. */
#define DPE_THREAD_CREATE "thread::create" /* in the parent; args: the new thread's id, pthread_t */
#define DPE_THREAD_START "thread::start"   /* first event of every new thread; args: the same */
#define DPE_THREAD_FOUND "thread::found"   /* first of one that ran already; args: the same */
#define DPE_THREAD_EXIT "thread::exit"     /* last event of a thread; args: the same */

/* What a program tells that was compiled for it, with its addresses; see docs/probes.md. Their
 * numbers are the bits of a plan. */
enum dpe_memory_events { DPE_MEMORY_EVENTS = 5 };
const char *dpe_memory_event(unsigned number);

/* A variable of the program whose accesses the rules need. */
struct dpe_watched {
	const char *lvalue; /* the specification's */
	dpe_name event;     /* of its messages: "[X']", "[X]" */
	bool access;        /* reads, too; else updates only */
	uint64_t reads;     /* other variables to read there */
	struct dpe_place place;
};

/* A part of objects whose accesses the rules need, while an object is watched. */
struct dpe_watched_object {
	const struct dpe_object *object; /* the specification's */
	bool access;    /* reads, too; else updates only */
	bool tells;     /* some rule has updates alone */
	uint64_t reads; /* variables of the program to read there */
	struct dpe_place place;
};

struct dpe_plan {
	unsigned nwatched;
	struct dpe_watched *watched;
	unsigned nobjects; /* each of them can have one watchpoint or more */
	struct dpe_watched_object *objects;
	unsigned nreads; /* from DPE_READS on they are too many */
	struct dpe_read *reads;
	unsigned nsites;
	struct dpe_site *sites;
	bool threads; /* some rule names one of the kernel's thread events */
	bool founds;  /* threads that run already begin with an event */
	unsigned memory; /* bits: which events of memory the rules name */
};

/* The smallest plan that serves all patterns of the specification; for dpe_plan_free. */
struct dpe_plan *dpe_plan_new(const struct dpe_spec *spec);
void dpe_plan_free(struct dpe_plan *plan); /* accepts NULL */
void dpe_plan_print(struct dpe_text *to, const struct dpe_names *names, const struct dpe_plan *plan);

/* ---- a target under observation ---------------------------------------------------------- */

struct dpe_probes;

struct dpe_probes_options {
	/* Of each ring buffer, a power of two times the page size; 0: 8 MiB, and less where there are
	 * more than eight of them, down to 1 MiB. */
	unsigned ring_bytes;
	unsigned rings; /* for all processors together; 0, or more than there are: one for each */
	unsigned stack_depth; /* frames kept of each event's user stack, at most 32; 0: none */
	/* Files that the target may load later (dlopen): what they need is observed, too. */
	const char *const *libraries;
	unsigned nlibraries;
	bool one_by_one; /* attach each function by itself, as kernels before 6.6 have it */
	bool once; /* accesses may be left out that make no difference to whether something races */
	const char *preload; /* path of the library to load into a launched target, or NULL */
	const struct dpe_debug *debug;
};

/* Creates the target, which waits before its exec, and puts all probes in place: the program's
 * functions and those of the libraries that it will load. It gets our signal mask and the signals
 * that we ignore, as they are now. NULL after one clear diagnostic for each
 * thing that is wrong: no such program, no privilege (which one), no BPF, a function that the
 * program does not have (with the nearest names that it has). Where a library that the program loads later may have the function,
 * that is a warning. `plan`, `names` and `diags`, which also gets what becomes known while the target
 * runs, must outlive it. */
struct dpe_probes *dpe_probes_launch(const struct dpe_plan *plan, struct dpe_names *names,
	char *const argv[], const struct dpe_probes_options *options, struct dpe_diags *diags);
/* The same for a process that runs already, with all its threads. */
struct dpe_probes *dpe_probes_attach(const struct dpe_plan *plan, struct dpe_names *names, pid_t pid,
	const struct dpe_probes_options *options, struct dpe_diags *diags);
/* Lets a launched target go. -1 and a diagnostic where its exec fails. */
int dpe_probes_start(struct dpe_probes *probes, struct dpe_diags *diags);
pid_t dpe_probes_pid(const struct dpe_probes *probes);

/* Where messages go. Each call of dpe_probes_poll makes any number of `message` calls (the
 * reference is the callee's), then one `watermark`: every message of a time before it was given. */
struct dpe_probes_sink {
	void *context;
	void (*message)(void *context, struct dpe_message *message);
	void (*watermark)(void *context, uint64_t time);
};
/* Waits at most `timeout` ms for messages and hands over what there is. 1 while the target lives
 * (or messages remain), 0 when it has exited and all was handed over, -1 with errno (EINTR where
 * a signal came). */
int dpe_probes_poll(struct dpe_probes *probes, int timeout, const struct dpe_probes_sink *sink);
/* After poll returned 0: the wait status; -1 where it is unknown (attached). */
int dpe_probes_status(const struct dpe_probes *probes);

/* What was lost, exactly: counted where it happened. */
struct dpe_loss {
	pid_t thread;
	uint64_t count;       /* messages */
	uint64_t first, last; /* ns: times of the first and last of them */
};
/* The number of threads that lost messages so far; fills at most `max`. */
unsigned dpe_probes_losses(struct dpe_probes *probes, struct dpe_loss *losses, unsigned max);

/* A warning for each function (or other place) that rules name and that was never found. */
void dpe_probes_tell_missing(const struct dpe_probes *probes, struct dpe_diags *diags);

/* A copy of the message with the text of its stack (ELF and DWARF), the caller's; where there is
 * nothing to add, the same message with one more reference. */
struct dpe_message *dpe_probes_resolve(struct dpe_probes *probes, struct dpe_message *message);

/* The name of the variable of the program, or of one of its libraries, that lies at an address:
 * "mutex", "forks[2]". NULL where there is none (the heap, a stack); else the caller's to free. */
char *dpe_probes_variable_at(struct dpe_probes *probes, uint64_t address);

/* PERHAPS: so it seems; the next look, once what was sent meanwhile has been handed over, tells.
 * UNKNOWN: /proc does not tell, as to whoever may not trace the target, or after its end. */
enum dpe_stuck { DPE_STUCK_NOT, DPE_STUCK_PERHAPS, DPE_STUCK_UNKNOWN, DPE_STUCK };
/* Whether each of these threads sleeps until another one wakes it: in a futex, without a time limit.
 * Of `all`, there must be no others in the target, and the futexes in memory of its own. */
enum dpe_stuck dpe_probes_stuck(
	struct dpe_probes *probes, const pid_t *threads, unsigned count, bool all);
/* True where a handler of the target may run although no thread of it does anything. */
bool dpe_probes_handles_signals(const struct dpe_probes *probes);

/* Stops all threads of the target; should we die meanwhile, it is continued. 0 or -errno. */
int dpe_probes_stop(struct dpe_probes *probes);
int dpe_probes_continue(struct dpe_probes *probes);
int dpe_probes_kill(struct dpe_probes *probes);
/* Takes all probes out and forgets the target, which stays stopped if it is: for a debugger that
 * takes over. */
void dpe_probes_leave(struct dpe_probes *probes);
/* Takes all probes out; the target, if it lives, goes on. Accepts NULL. */
void dpe_probes_free(struct dpe_probes *probes);

/* ---- what can be observed ---------------------------------------------------------------- */

/* The name that the source has for a symbol of C++ or Rust, "ns::queue::push(int)", or without
 * `parameters` "ns::queue::push". NULL where the symbol is not mangled; else the caller's. */
char *dpe_demangle(const char *symbol, bool parameters);

/* Lists functions (with arguments where DWARF tells them) and USDT probes of a program or process
 * and its libraries whose names match `pattern` (a glob; NULL: all), one `line` call each, as
 * "module::function(type name, …)", for C++ and Rust followed by the name in the source, which the
 * pattern may be for as well, and "usdt::provider::name(type, …)"; of a pattern like "file.c:*" lines
 * of the source, as "\"file.c:12\" in module::function". With `placement` each function is followed
 * by a line on where its entry would be observed and why there. Of `options` (or NULL) only the
 * libraries count. -1 after a diagnostic. */
int dpe_probes_list(const char *program, pid_t pid, const char *pattern, bool placement,
	const struct dpe_probes_options *options, void (*line)(void *context, const char *text), void *context, struct dpe_diags *diags);

#endif
