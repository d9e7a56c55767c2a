/* live: what the live half of this room shares: the target, the sites where it is observed, the
 * ring, the maps. Private to probes/.
 *
 * One struct dpe_probes owns everything below; dpe_probes_free takes it apart in any state. */
#ifndef DPE_PROBES_LIVE_H
#define DPE_PROBES_LIVE_H

#include "probes/kernel/object_watch.h"
#include "probes/kernel/bpf/record.h"
#include "probes/kernel/guards.h"
#include "probes/process/credentials.h"
#include "probes/binary/binary.h"
#include "probes/code/code.h"
#include "probes/kernel/nop_support.h"
#include "probes/kernel/watchpoints.h"
#include "probes/stream/backpressure.h"
#include "probes/plan/plan.h"
#include "probes/stream/merge_queue.h"

/* ---- parts --------------------------------------------------------------------------------------
 */

/* The program that is to run, before there is a process. */
struct dpe_program {
	char *path;      /* for exec */
	char *real_path; /* symbolic links followed; of a script, its interpreter's */
};

/* The reader's view of one of the kernel's rings. */
struct dpe_ring {
	int fd;
	size_t size; /* of the data, a power of two */
	size_t page;
	unsigned long *consumer;
	const unsigned long *producer;
	const char *data;   /* mapped twice in a row, so no record is ever split */
	unsigned long seen; /* how far the producer was at the last look */
	uint64_t looked;    /* ns: when that was */
	uint64_t known;     /* ns: every record of a time before it was handed over */
};

/* All of them: each processor has one, or shares it. */
struct dpe_kernel_rings {
	struct dpe_ring *at;
	unsigned count;
	int sleep;         /* the epoll that waits for any of them, and for the target's end */
	__u64 *waiting; /* tells the kernel's side that we sleep */
	bool busy;         /* there was something last time */
	long nap;          /* ns between two looks while there is, at most */
};

/* The child that dpe_launch made. */
struct dpe_child {
	pid_t pid;
	int channel; /* a number lets it exec, closing lets it exit; it sends errno where exec fails
		      */
};

/* The process that continues a stopped target should we die; pid 0: there is none. */
struct dpe_guardian {
	pid_t pid;
	int channel; /* a byte: it is not needed any more; its end: we died */
};

/* Where a process has its files in memory. */
struct dpe_maps {
	struct dpe_map *at; /* by address */
	unsigned count, cap;
	uint64_t read; /* when; 0: never */
	uint64_t known[64]; /* addresses that lie in one of them, each at its own place; or 0 */
	pid_t pid;
};

/* What was taken out of the rings and cannot be delivered yet: something earlier may still come. */
struct dpe_merge {
	struct dpe_queues held; /* a queue for each ring: the kernel's, then the library's */
	unsigned nkernel;       /* of the first */
	/* The threads whose events the library's rings tell of: of the next that leaves, and, behind
	 * those, of the last that arrived. */
	struct dpe_writer {
		uint32_t thread;
		char comm[16];
	} *writers;
	struct dpe_numbers *numbers; /* with a library: how far each thread is */
	struct dpe_numbers *recent;  /* … and the one that was asked for last; or NULL */
	bool refused; /* something was left in a ring, for want of room */
	bool behind;  /* there is something that can be delivered at once */
	uint64_t known; /* … up to there, when the rings were read last */
	uint64_t patience; /* ns for which events may be held while others want all processors */
	struct dpe_pace pace;
};

/* The probes that are in one process. */
struct dpe_process_probes {
	pid_t pid;
	uint32_t serial; /* see struct dpe_process */
	int *links;
	unsigned nlinks, caplinks;
	struct bpf_link **probe_links; /* where the kernel has no requests for many */
	unsigned nprobe_links, capprobe_links;
	bool *modules; /* by number: has its probes */
	unsigned nmodules;
};

struct dpe_bpf;
struct dpe_channels;
struct dpe_follow;

struct dpe_probes {
	const struct dpe_plan *plan;
	struct dpe_names *names;
	const struct dpe_debug *debug;
	unsigned ring_bytes, wanted_rings, stack_depth;
	struct dpe_diags *diags; /* the caller's */
	const char *const *libraries; /* the caller's, until all probes are in place */
	unsigned nlibraries;
	bool once; /* see the options */
	bool follows;
	bool stop_processes; /* that begin, instead of letting them wait in the kernel */
	bool one_by_one; /* attach each site by itself even where the kernel knows better */

	struct dpe_arena *arena;
	struct dpe_pool *pool; /* of messages */
	struct dpe_modules modules;
	unsigned nsearched; /* modules that were searched for sites of the plan */
	unsigned nlinker_modules; /* modules that were searched for the dynamic linker */
	bool *awaited;      /* sites of the plan that were not found yet: a library may have them */
	struct dpe_site *sites;
	unsigned nsites, capsites;
	unsigned first_watch; /* behind all sites that may ever be, for the kernel's side */
	struct dpe_watch watches[DPE_WATCHES];
	unsigned nwatches;
	struct dpe_arms arms; /* armed.c's */
	struct dpe_variable *reads; /* those of the plan, by their number */
	unsigned most_values;       /* that our programs read at one event */
	struct dpe_place_accessed *accesses; /* access.c's, by instruction */
	dpe_name create, start, found, end, waited; /* names of the kernel's events */
	dpe_name memory_names[DPE_MEMORY_EVENTS];

	pid_t pid;
	int pidfd;
	struct dpe_child child; /* pid 0: attached */
	struct dpe_user user;   /* who is to run the target; no name: who runs us */
	bool started, exited, stopped;
	struct dpe_nop_trial nop_trial;
	bool nops;   /* the kernel emulates nops */
	bool placed; /* all probes are in place but those of libraries that are loaded later */
	int status;
	struct dpe_guardian guardian;
	bool stop, dynamic; /* see the options */
	struct dpe_gates gates;

	struct dpe_bpf *bpf;
	bool multi; /* all places of a file in one call */
	struct dpe_process_probes first; /* of the first process; of others see dpe_follow */
	struct dpe_linker {
		const struct dpe_module *module;
		const struct dpe_function *function;
	} *linkers; /* dynamic linkers among the modules */
	unsigned nlinkers, caplinkers;
	struct bpf_link **begin_links; /* see dpe_attach_hold_linker */
	unsigned nbegin_links, capbegin_links;
	uint64_t spared, spared_at; /* children that are rid of our breakpoints; when, ns */
	struct dpe_kernel_rings rings;
	struct dpe_comms {
		struct dpe_comm *all;
		struct dpe_comm *recent[64]; /* by the lowest bits of a thread's id */
	} comms;
	bool points; /* returns may be observed at other places than a return probe */
	unsigned npoints, most_points; /* of them; the kernel's side has room for so many */
	struct dpe_merge merge;
	uint64_t place; /* of the last message */
	uint64_t loads; /* see dpe_attach_loads: when we looked last */

	uint64_t drained; /* every message of a time before it was delivered */
	uint64_t telling; /* time of the last one that was */
	/* Threads that were asleep when they were looked at last. */
	struct dpe_sleeper {
		pid_t thread;
		uint64_t futex, times; /* in which, and how often it has slept */
		uint64_t seen;         /* when first */
	} *sleepers;
	unsigned nsleepers, capsleepers;
	struct dpe_preload *preload; /* or NULL */

	struct dpe_channels *channels; /* or NULL */
	struct dpe_maps maps; /* the first process's */
	struct dpe_follow *follow; /* or NULL: the first process only */
};

/* ---- privilege.c
 * ---------------------------------------------------------------------------------- */

/* Whether we may observe at all. False after one error that names what is missing and what to do.
 */
bool dpe_privilege_check(struct dpe_diags *diags);
/* One error for a step of ours that the kernel refused with `error` (positive). */
void dpe_privilege_explain(const char *step, int error, struct dpe_diags *diags);
/* Whether we may look at what the process has mapped. False after one error. */
bool dpe_privilege_check_process(pid_t pid, struct dpe_diags *diags);

/* ---- launch.c
 * ---------------------------------------------------------------------------------------- */

/* Finds a program as a shell would. False after one error. For dpe_program_free. */
bool dpe_program_find(struct dpe_program *program, const char *name, struct dpe_diags *diags);
void dpe_program_free(struct dpe_program *program);
/* 0, or the reason why it cannot be run. */
int dpe_program_check(const char *path);
/* The program that interprets the script, or the path itself where it is none; the caller's. NULL after
 * an error. */
char *dpe_script_interpreter(const char *path, struct dpe_diags *diags);
/* Makes the child, which maps the modules' code (so that the kernel tells of sites that it cannot
 * observe) and waits. It has our standard files, signal mask, process group and terminal, and the
 * file `inherited`, unless that is -1. Its program is run by `user`, unless that is NULL. */
bool dpe_launch(struct dpe_child *child, const struct dpe_program *program, char *const argv[],
	char *const *environment, int inherited, const struct dpe_user *user,
	const struct dpe_modules *modules, struct dpe_diags *diags);
/* Lets the child exec; 0, or the error of exec as a positive number. */
int dpe_launch_go(struct dpe_child *child);
/* Closes the channel: a child that still waits exits. */
void dpe_launch_close(struct dpe_child *child);

/* ---- translator.c ------------------------------------------------------------------------ */

/* Whether the program translates the code that it runs instead of letting the processor do so, as Valgrind and
 * QEMU do. Our breakpoints would be in what it reads. */
bool dpe_translates_code(int file);

/* ---- process_probes.c -------------------------------------------------------------------- */

/* Those of a process that is observed, where they are missing with those of dynamic linkers; NULL where it
 * has ended, or is not followed. */
struct dpe_process_probes *dpe_process_probes_of(struct dpe_probes *probes, pid_t pid);
/* Puts a probe on a linker that was found late into all processes. False after an error. */
bool dpe_process_probes_add_linker(struct dpe_probes *probes, const struct dpe_linker *linker,
	struct dpe_diags *diags);
/* Takes them out of a process at once; accepts that there are none. */
void dpe_process_probes_end(struct dpe_probes *probes, pid_t pid);
/* Frees those of processes that have ended, without waiting for that. */
void dpe_process_probes_sweep(struct dpe_probes *probes);
void dpe_process_probes_free(struct dpe_probes *probes);

/* ---- libraries.c
 * --------------------------------------------------------------------------------------- */

/* The program and the libraries that it will load, by asking its ELF interpreter. */
bool dpe_libraries_of_program(struct dpe_modules *modules, const struct dpe_program *program,
	char *const *environment, struct dpe_diags *diags);
/* Which of the modules a process has mapped, by number. */
struct dpe_mapped {
	bool *at; /* for free */
	unsigned count;
};
/* The files from which a process has mapped code; `mapped` may be NULL. */
bool dpe_libraries_of_process(struct dpe_modules *modules, pid_t pid, struct dpe_mapped *mapped,
	struct dpe_diags *diags);

/* Files that are to be loaded later, and the libraries that these need. False after an error for each
 * that is no library. */
bool dpe_libraries_add(struct dpe_modules *modules, const char *const *paths, unsigned count,
	struct dpe_diags *diags);

/* One line of /proc/PID/maps that is code from a file. */
struct dpe_mapping {
	uint64_t start, end, offset, inode;
	char *path; /* without " (deleted)"; valid during the call */
};
/* The module of a mapping, opened and added where it is new; NULL where it is no library. */
struct dpe_module *dpe_libraries_open(
	struct dpe_modules *modules, pid_t pid, const struct dpe_mapping *mapping);
/* -1 with errno where the process's maps cannot be read. */
int dpe_mappings_each(
	pid_t pid, void (*each)(void *context, const struct dpe_mapping *mapping), void *context);

/* ---- late.c
 * ----------------------------------------------------------------------------------------------
 */

/* Puts a probe on the dynamic linkers among the modules, which tells of what they load. False after
 * one error. */
bool dpe_late_begin(struct dpe_probes *probes, struct dpe_diags *diags);
/* Looks for files that a process of the target has mapped since, and observes them. */
void dpe_late_look(struct dpe_probes *probes, pid_t pid);
/* The same where threads of the target wait for that, which go on then. */
void dpe_late_answer(struct dpe_probes *probes);

/* ---- watch.c
 * ---------------------------------------------------------------------------------------------- */

/* Finds the variables of the plan in the program. False after an error for each that cannot be
 * watched. */
bool dpe_watches_find(struct dpe_probes *probes, struct dpe_diags *diags);
/* Sets the watchpoints, of variables whose place is known and that have none yet, in all threads of
 * the target, which is stopped. */
bool dpe_watches_set(struct dpe_probes *probes, struct dpe_diags *diags);

/* Opens a watchpoint in one thread; -1 with errno. */
int dpe_watch_open(const struct dpe_probes *probes, const struct dpe_watch *watch, pid_t thread);
/* The bytes at its address, in the target. */
bool dpe_watch_read(
	const struct dpe_probes *probes, const struct dpe_watch *watch, uint64_t *value);

/* The function of the dynamic linker, of glibc and of musl, that is called when it has mapped something. */
#define DPE_LINKER_FUNCTION "_dl_debug_state"

/* ---- bases.c
 * ---------------------------------------------------------------------------------------------- */

/* Whether any variable that is wanted is a library's; and of these, whether any is in one whose place
 * is not known. */
bool dpe_bases_in_libraries(const struct dpe_probes *probes);
/* Whether it is so of any variable that is watched or read at events. */
bool dpe_any_variable(
	const struct dpe_probes *probes, bool (*is)(const struct dpe_variable *variable));
bool dpe_bases_missing(const struct dpe_probes *probes);
/* Finds where the target has the program and what of its libraries it has mapped. False after an
 * error. */
bool dpe_bases_find(struct dpe_probes *probes, struct dpe_diags *diags);
/* False after an error where some is missing. */
bool dpe_bases_check(const struct dpe_probes *probes, struct dpe_diags *diags);

/* ---- armed_find.c
 * ---------------------------------------------------------------------------------------------- */

/* Finds the parts of objects that the plan watches. False after an error for each that cannot be. */
bool dpe_armed_find(struct dpe_probes *probes, struct dpe_diags *diags);
/* Looks at the sites from that number on, which came while the target runs. */
void dpe_armed_find_late(struct dpe_probes *probes, unsigned first_site);
/* Whether watching an object begins or ends at the site. */
bool dpe_armed_at(const struct dpe_probes *probes, const struct dpe_site *site);
/* Tells the kernel's side where, by a map of struct dpe_armings. */
void dpe_armed_tell(const struct dpe_probes *probes, int map);

/* ---- armed.c
 * ---------------------------------------------------------------------------------------------- */

/* Does what threads of the target wait for. */
void dpe_armed_answer(struct dpe_probes *probes);
/* Takes all of these watchpoints away. */
void dpe_armed_release(struct dpe_probes *probes);
/* The messages of the records; `args` has room for three, `vars` and `texts` for two. */
void dpe_armed_fill_watch(struct dpe_probes *probes, const struct dpe_record *record,
	struct dpe_message *draft, struct dpe_value *args);
void dpe_armed_fill_access(struct dpe_probes *probes, const struct dpe_record *record,
	struct dpe_message *draft, struct dpe_value *args, struct dpe_var *vars,
	char (*texts)[DPE_NUMBER_TEXT]);
/* Warns, at the end, where objects were not watched. */
void dpe_armed_tell_refused(const struct dpe_probes *probes, struct dpe_diags *diags);

/* ---- site_maps.c ------------------------------------------------------------------------- */

/* Each fills a map of the programs for all sites, or for one site: the points of returns (struct dpe_point_entry), the
 * variables to read (struct dpe_value_entries), the texts that filters compare with. */
void dpe_points_tell(const struct dpe_probes *probes, int map);
void dpe_points_tell_site(const struct dpe_probes *probes, int map, unsigned site);
void dpe_reads_tell(const struct dpe_probes *probes, int map);
void dpe_reads_tell_site(const struct dpe_probes *probes, int map, unsigned site);
void dpe_wanted_texts_tell(const struct dpe_probes *probes, int map);

/* ---- usdt.c
 * ---------------------------------------------------------------------------------------------- */

/* Tells the kernel's side by a map of struct dpe_usdt_args where arguments of USDT probes are. */
void dpe_usdt_tell(const struct dpe_probes *probes, int map);
/* The same of one site only. */
void dpe_usdt_tell_site(const struct dpe_probes *probes, int map, unsigned site);
/* Whether the rules name any. */
bool dpe_usdt_is_wanted(const struct dpe_probes *probes);

/* ---- attach.c
 * -----------------------------------------------------------------------------------------------
 */

/* Attaching takes three steps, in this order: the BPF programs with their maps and rings; the tracepoints that
 * follow the target's threads; the probes at all sites. Events count from exec on, or from now where `armed`.
 * Each is false after one error for each thing that is wrong. */
bool dpe_attach_load(struct dpe_probes *probes, struct dpe_diags *diags);
bool dpe_attach_tracepoints(struct dpe_probes *probes, struct dpe_diags *diags);
bool dpe_attach_sites(struct dpe_probes *probes, bool armed, struct dpe_diags *diags);
/* Tells the programs of the sites from number `site` on, which came while the target runs. */
void dpe_attach_tell_sites(struct dpe_probes *probes, unsigned site);
/* Puts probes on the sites of modules that a process has mapped and that have none in it yet, while it runs.
 * What cannot be observed counts as lost, after a warning. */
void dpe_attach_process(struct dpe_probes *probes, struct dpe_process_probes *process,
	const struct dpe_mapped *mapped);
/* Takes all probes out of the process. */
void dpe_detach_process(struct dpe_process_probes *process);
/* Counts one event as lost, nobody knows whose. */
void dpe_attach_lose(struct dpe_probes *probes);
/* Whether threads of the target can wait until what they loaded is observed. */
bool dpe_attach_can_wait(void);
/* Whether the kernel takes many places in one call. */
bool dpe_attach_takes_many(void);
/* Lets each thread of the process that calls the linker's function wait for an answer. False after one
 * error. */
bool dpe_attach_linker(struct dpe_probes *probes, struct dpe_process_probes *process,
	const struct dpe_linker *linker, struct dpe_diags *diags);
/* Whether a thread waits; the number is for dpe_attach_answer. */
bool dpe_attach_asked(const struct dpe_probes *probes, uint64_t *number);
/* Nobody waits any longer until all that was asked so far is answered. */
void dpe_attach_stop_waiting(struct dpe_probes *probes);
void dpe_attach_answer(struct dpe_probes *probes, uint64_t number);
/* Frees programs and maps; accepts that there are none. */
void dpe_attach_free(struct dpe_probes *probes);
/* Tells the programs of a watched variable and its value. */
void dpe_attach_watch(struct dpe_probes *probes, unsigned index, uint64_t address, unsigned size,
	uint64_t value);
/* What libraries are waited for: changes with each time that the target maps some. */
uint64_t dpe_attach_loads(const struct dpe_probes *probes);
/* Tells the programs which part of which object is under watchpoint number `slot`. */
void dpe_attach_arm(
	struct dpe_probes *probes, unsigned slot, const struct dpe_armed_entry *entry);
/* What threads wait for, DPE_ARM_REQUESTS of them. */
struct dpe_arm_request *dpe_attach_arm_requests(const struct dpe_probes *probes);
int dpe_attach_arm_map(const struct dpe_probes *probes);
/* The program for watchpoints, a file descriptor of it. */
int dpe_attach_on_access(const struct dpe_probes *probes);
/* Lets the kernel stop the target when it begins its program, once. */
void dpe_attach_hold(struct dpe_probes *probes);
/* Stops it again whenever its dynamic linker has mapped something, until its program begins, there
 * for the last time. False after an error. */
bool dpe_attach_hold_linker(struct dpe_probes *probes, struct dpe_diags *diags);
/* True where that was the last time. */
bool dpe_attach_begins(const struct dpe_probes *probes);
/* No more of that. */
void dpe_attach_unhold(struct dpe_probes *probes);
/* The places of variables have become known: tells the programs of those that they read. */
void dpe_attach_tell_reads(struct dpe_probes *probes);
/* Where observed functions return to, once known, else 0. */
uint64_t dpe_attach_trampoline(const struct dpe_probes *probes);
/* Where the program's code begins since its last exec; 0 where that is not known. */
uint64_t dpe_attach_code(const struct dpe_probes *probes);
/* Whether probes may still be put in place: the dynamic linker is watched. */
bool dpe_attach_goes_on(const struct dpe_probes *probes);
/* Whether the kernel lets us read the map of losses as we are now. */
bool dpe_attach_can_read_losses(const struct dpe_probes *probes);
unsigned dpe_attach_losses(struct dpe_probes *probes, struct dpe_loss *losses, unsigned max);
/* Texts that stood for something as a whole and were too long: their events are lost. */
uint64_t dpe_attach_cut_texts(const struct dpe_probes *probes);
/* Whether the program replaced itself (exec) while it was observed. */
bool dpe_attach_replaced(const struct dpe_probes *probes);
/* How many programs were begun that the user may not trace: they are not observed. */
uint64_t dpe_attach_untraceable(const struct dpe_probes *probes);
/* How many programs the target has begun, by exec, of those that are observed. */
unsigned dpe_attach_execs(const struct dpe_probes *probes);
/* Lets children that are not followed go on without our breakpoints. */
void dpe_attach_spare_children(struct dpe_probes *probes);
/* Maps of the loaded programs, file descriptors of them (see bpf/follow.h). */
struct dpe_follow_files {
	int followed, held, released, stopped;
};
/* Maps of struct dpe_question by process id, and of programs that were looked at. */
int dpe_attach_asking(const struct dpe_probes *probes);
int dpe_attach_programs(const struct dpe_probes *probes);
/* The only process is not observed any more. */
void dpe_attach_leave(struct dpe_probes *probes);
/* How many processes are no longer followed. */
uint64_t dpe_attach_endings(const struct dpe_probes *probes);
/* Once, before anything is attached: the first process counts as living from now on. */
struct dpe_follow_files dpe_attach_follow(struct dpe_probes *probes);
/* How many processes that are followed live, and how many were made and are not followed. */
uint64_t dpe_attach_living(const struct dpe_probes *probes);
uint64_t dpe_attach_children(const struct dpe_probes *probes);
/* One of these that live is gone, and the kernel's side does not know. */
void dpe_attach_one_less(struct dpe_probes *probes);

/* ---- detach.c ---------------------------------------------------------------------------- */

/* Takes all probes out; the maps (the ring, the losses) stay. */
void dpe_detach(struct dpe_probes *probes);

/* ---- ring.c
 * ----------------------------------------------------------------------------------------------------
 */

/* Rings for at most `count` files yet to be added, and the target's `pidfd` (or -1), which like
 * `waiting` stays the caller's. 0 or -errno. */
int dpe_kernel_rings_open(
	struct dpe_kernel_rings *rings, unsigned count, __u64 *waiting, int pidfd);
/* The target has ended: others may go on. */
void dpe_kernel_rings_ended(struct dpe_kernel_rings *rings, int pidfd);
/* One more; takes over the file, whatever comes of it. 0 or -errno. */
int dpe_kernel_rings_add(struct dpe_kernel_rings *rings, int fd, size_t size);
void dpe_kernel_rings_close(struct dpe_kernel_rings *rings); /* accepts one that is zeroed */
/* Waits until there is something, at most `timeout` ms (-1: for ever), or the target ends. 1 where
 * it has ended, 0 where not, -1 with errno. */
int dpe_kernel_rings_wait(struct dpe_kernel_rings *rings, int pidfd, int timeout);

struct dpe_kernel_sink {
	void *context;
	/* False where nothing more of that ring is wanted now. */
	bool (*wants)(void *context, unsigned ring);
	void (*record)(
		void *context, unsigned ring, const struct dpe_record *record, size_t size);
};
struct dpe_backlog dpe_kernel_rings_backlog(const struct dpe_kernel_rings *rings);
/* Hands over every record that was there when the call began, ring by ring, but of the rings that
 * are not wanted. Returns the time before which every record was handed over; `complete`: nothing
 * was left, and none was still being written. */
uint64_t dpe_kernel_rings_drain(
	struct dpe_kernel_rings *rings, const struct dpe_kernel_sink *sink, bool *complete);
/* Nanoseconds of the clock that records carry. */
uint64_t dpe_ring_now(void);

/* ---- message.c
 * ---------------------------------------------------------------------------------------------------
 */

/* The message of a record of a thread called `comm`, in DPE_COMM_SIZE bytes, the caller's; NULL where the
 * record is none of ours. */
struct dpe_message *dpe_message_of_record(struct dpe_probes *probes,
	const struct dpe_record *record, size_t size, const char *comm);

/* ---- lives.c
 * ------------------------------------------------------------------------------------------------------
 */

/* Of a record of a thread's creation, beginning or end, before its message is made. */
void dpe_lives_note(struct dpe_probes *probes, const struct dpe_record *record);
/* What messages call a thread; the text lies in `name`. */
struct dpe_life_name {
	char text[32];
};
struct dpe_value dpe_lives_thread(
	const struct dpe_probes *probes, uint32_t thread, struct dpe_life_name *name);
/* The number of a message of the thread, whose record has the number `seq`. */
uint64_t dpe_lives_seq(const struct dpe_probes *probes, uint32_t thread, uint64_t seq);

/* ---- comms.c
 * ------------------------------------------------------------------------------------------------------
 */

/* Takes a record that says what its thread is called; false where it is another. */
bool dpe_comms_take(struct dpe_probes *probes, const struct dpe_record *record, size_t size);
/* What the thread is called, in DPE_COMM_SIZE bytes, until the next record is taken; "" where nobody has
 * said. */
const char *dpe_comms_of(struct dpe_probes *probes, uint32_t thread);
void dpe_comms_free(struct dpe_probes *probes);

/* ---- channels.c
 * ---------------------------------------------------------------------------------------------------
 */

/* Where rules want what passes through channels. */
void dpe_channels_open(struct dpe_probes *probes);
void dpe_channels_free(struct dpe_channels *channels); /* accepts NULL */
/* True of records that are for dpe_channels_deliver. */
bool dpe_channels_is_theirs(const struct dpe_record *record);
/* Hands over the messages of a record, of which there may be any number. */
void dpe_channels_deliver(struct dpe_probes *probes, const struct dpe_record *record, size_t size,
	const struct dpe_probes_sink *sink);
/* How many messages of the thread there were beyond its records. */
uint64_t dpe_channels_extra(const struct dpe_probes *probes, uint32_t thread);
/* Receives of which nobody can tell whom they are from. */
struct dpe_lost dpe_channels_lost(const struct dpe_probes *probes);

/* ---- access.c
 * -----------------------------------------------------------------------------------------------
 */

/* What the instruction before `ip` did to the watched variable that it accessed. */
enum dpe_access dpe_access_at(struct dpe_probes *probes, uint64_t ip);
void dpe_access_free(struct dpe_probes *probes);

/* ---- maps.c
 * ---------------------------------------------------------------------------------------------------------
 */

/* Looks at the first process's, which may be gone when its first event is delivered. */
void dpe_maps_begin(struct dpe_probes *probes);
/* Notes where the files of the stack `pcs` are mapped, while the process can still tell; pcs[0] is
 * the beginning of the site's function; no site: it lies anywhere. */
void dpe_maps_note(struct dpe_probes *probes, pid_t pid, const struct dpe_site *site,
	const uint64_t *pcs, unsigned npcs);

/* What is mapped at an address, as far as was looked; NULL where nothing is. */
const struct dpe_map *dpe_maps_find(const struct dpe_probes *probes, uint64_t pc);

/* ---- follow.c, spaces.c
 * -------------------------------------------------------------------------------------------------
 */

/* Whether what is to be observed can be in more than one process. False after an error for each
 * thing that cannot. */
bool dpe_follow_check(const struct dpe_probes *probes, struct dpe_diags *diags);
/* Begins to follow, once the programs are loaded and before a process can be stopped. `diags` must
 * outlive it. False after one error. */
bool dpe_follow_begin(struct dpe_probes *probes, struct dpe_diags *diags);
/* Puts probes into programs that processes have begun, and lets them go on. */
void dpe_follow_serve(struct dpe_probes *probes);
/* Puts probes into processes that wait for it, or leaves them; `number`: see dpe_attach_asked. */
void dpe_follow_answer(struct dpe_probes *probes, uint64_t number);
/* The first process has ended, maybe before the kernel's side was there to see it. */
void dpe_follow_first_ended(struct dpe_probes *probes);
/* True while a process that is followed lives. */
bool dpe_follow_goes_on(const struct dpe_probes *probes);
/* SIGSTOP, SIGCONT, SIGKILL to all but the first process; should we die, what is stopped goes on. */
void dpe_follow_signal(struct dpe_probes *probes, int signal);
/* Lets go what is still stopped; accepts that nothing is followed. */
void dpe_follow_free(struct dpe_probes *probes);

/* Makes addresses of several processes different, in a record's words or in a result. False where
 * there are too many: the event is counted as lost. */
bool dpe_spaces_place(struct dpe_probes *probes, const struct dpe_record *record,
	unsigned addresses, uint64_t *words);
bool dpe_spaces_place_one(
	struct dpe_probes *probes, uint32_t space, pid_t pid, uint64_t *address);
/* Losses of dpe_spaces_place. */
struct dpe_lost dpe_spaces_lost(const struct dpe_probes *probes);
/* A process begins: what was known of one with its id is forgotten. */
void dpe_spaces_fork(struct dpe_probes *probes, pid_t pid);

/* What an address that dpe_spaces_place made stands for. */
struct dpe_whereabouts {
	uint32_t shared; /* number of the shared memory, from 1; 0: none */
	pid_t pid;
	uint64_t address;
};
/* False where it is the first process's. */
bool dpe_follow_find(
	const struct dpe_probes *probes, uint64_t address, struct dpe_whereabouts *where);
struct dpe_maps *dpe_follow_maps(struct dpe_probes *probes, pid_t pid);

/* ---- preload.c
 * -------------------------------------------------------------------------------------------------
 */

/* Makes the memory that the preloaded library will write to. False after one error. */
bool dpe_preload_open(struct dpe_probes *probes, const char *library, struct dpe_diags *diags);
/* What the target is to have as its environment; ours where nothing is preloaded. */
char *const *dpe_preload_environment(const struct dpe_probes *probes);
/* The file that it is to inherit, or -1. */
int dpe_preload_file(const struct dpe_probes *probes);
/* Whether the program, whose libraries are known, will load the library. False after one error. */
bool dpe_preload_check(const struct dpe_probes *probes, struct dpe_diags *diags);
/* Asks the library for the site's events, if it has them: the site is preloaded then. */
void dpe_preload_take(struct dpe_probes *probes, struct dpe_site *site);
/* The sites have moved. */
void dpe_preload_forget_sites(struct dpe_probes *probes);
/* Says which process is to write. */
void dpe_preload_begin(struct dpe_probes *probes);
/* The library is to write no more. */
void dpe_preload_shut(struct dpe_probes *probes);
void dpe_preload_free(struct dpe_probes *probes); /* accepts that there is none */

/* ---- merge.c
 * ----------------------------------------------------------------------------------------------------
 */

/* Once all rings are there. */
void dpe_merge_open(struct dpe_probes *probes);
void dpe_merge_free(struct dpe_probes *probes); /* accepts one that is zeroed */
/* Reads all rings and delivers what is known of all of them, in order of time; sets `drained`.
 * `over`: nothing more can come. False where something is left that can be delivered later. */
bool dpe_merge_deliver(struct dpe_probes *probes, bool over, uint64_t slack,
	const struct dpe_probes_sink *sink);

/* ---- control.c, guardian.c
 * ---------------------------------------------------------------------------------------------------------
 */

/* The target is about to be stopped: should we die then, it is continued. */
void dpe_probes_expect_stop(struct dpe_probes *probes);
/* Waits until all threads stand still, for some time at most. */
void dpe_control_wait_stopped(const struct dpe_probes *probes);
/* Lets the target go on, whoever stopped it. 0 or -errno. */
int dpe_control_continue(struct dpe_probes *probes);
/* What a guardian does should we die, in a process that has only these files of ours. */
#define DPE_DUTY_FILES 8
struct dpe_duty {
	void (*act)(const void *context);
	/* Or NULL: once a second as long as we live, with the number that it returned the last time (0 at first). */
	uint64_t (*watch)(const void *context, uint64_t before);
	const void *context;
	int files[DPE_DUTY_FILES];
	unsigned nfiles;
};
/* Makes a guardian, unless it is there already. 0 or -errno. */
int dpe_guardian_make(struct dpe_guardian *guardian, const struct dpe_duty *duty);
/* Makes the one that continues the target; where `state` is given, only if we or an event stopped it.
 * 0 or -errno. */
int dpe_guardian_start(struct dpe_guardian *guardian, int pidfd, struct dpe_gate_state *state);
/* Should something in the group of the target, if we started that, stand still when we are gone, the
 * kernel does not end it for that: processes of ours stay until something can be read from a file,
 * or that ends. */
void dpe_keepers_leave(pid_t target, int until);
/* In a process of ours that stays: closes all files but these, in any order (-1: none). */
void dpe_guardian_close_others(const int *files, unsigned count);
/* The same: keeps these capabilities at most, and no signal reaches it. */
void dpe_guardian_shed(uint64_t capabilities);
/* Ends the guardian without waking the target. */
void dpe_guardian_dismiss(struct dpe_guardian *guardian);

/* ---- gates.c
 * ---------------------------------------------------------------------------------------------------------
 */

/* Whether any event is to wait for others, or may stop the target. */
bool dpe_gates_are_wanted(const struct dpe_probes *probes);
/* Whether the site has anything to do with that. */
bool dpe_gates_has(const struct dpe_probes *probes, const struct dpe_site *site);
/* Tells the kernel's side by a map of struct dpe_gate_entry; `state`, and the map of struct
 * dpe_mark_counts, are shared with it. 0 or a positive error. */
int dpe_gates_tell(
	struct dpe_probes *probes, int map, int mark_counts, struct dpe_gate_state *state);
/* The same of one site, which may be one of a library that came late. */
void dpe_gates_tell_site(struct dpe_probes *probes, int map, unsigned number);
/* Whether some event could stop the target. */
bool dpe_gates_can_stop(const struct dpe_probes *probes);
/* From now on events may. False after an error. */
bool dpe_gates_arm(struct dpe_probes *probes, struct dpe_diags *diags);
/* Whether an event has stopped the target that we have not continued since. */
bool dpe_gates_stopped(const struct dpe_probes *probes);
/* Waits, for some time at most, for events that are about to stop the target. */
void dpe_gates_await(const struct dpe_probes *probes);
/* Before the ring is read, and after all that was in it was handed over (`complete`). */
void dpe_gates_look(struct dpe_probes *probes);
void dpe_gates_settle(struct dpe_probes *probes, bool complete, const struct dpe_probes_sink *sink);
/* No event stops the target any more, and if one has, it goes on. The programs must still be there. */
void dpe_gates_release(struct dpe_probes *probes);

#endif
