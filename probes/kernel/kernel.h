/* kernel: what the kernel does for us: BPF programs and their maps and rings, probes, watchpoints. */
#ifndef DPE_PROBES_KERNEL_KERNEL_H
#define DPE_PROBES_KERNEL_KERNEL_H

#include "probes/kernel/bpf/record.h"
#include "probes/kernel/guards.h"
#include "probes/plan/plan.h"
#include "probes/probes.h"

#include <pthread.h>

struct bpf_link;
struct dpe_mapped;

/* The function of the dynamic linker, of glibc and of musl, that is called when it has mapped something. */
#define DPE_LINKER_FUNCTION "_dl_debug_state"

/* The function of a dynamic linker among the modules that is called when it has mapped something. */
struct dpe_linker {
	const struct dpe_module *module;
	const struct dpe_function *function;
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

/* ---- attach.c, attach_late.c, program_maps.c ----------------------------------------- */

/* Attaching takes three steps, in this order: the BPF programs with their maps and rings; the tracepoints that
 * follow the target's threads; the probes at all sites. Events count from exec on, or from now where `observing`.
 * Each is false after one error for each thing that is wrong. */
bool dpe_attach_load(struct dpe_probes *probes, struct dpe_diags *diags);
bool dpe_attach_tracepoints(struct dpe_probes *probes, struct dpe_diags *diags);
bool dpe_attach_sites(struct dpe_probes *probes, bool observing, struct dpe_diags *diags);
/* Configures the programs for the sites from number `site` on, which were added while the target was
 * running. */
void dpe_attach_configure_sites(struct dpe_probes *probes, unsigned site);
/* Attaches the sites of modules that a running process has mapped and that have no probes in it yet. What
 * cannot be observed counts as lost, after a warning. */
void dpe_attach_process(struct dpe_probes *probes, struct dpe_process_probes *process,
	const struct dpe_mapped *mapped);
/* Removes all probes from the process. */
void dpe_detach_process(struct dpe_process_probes *process);
/* Counts one event of an unknown thread as lost. */
void dpe_attach_lose(const struct dpe_probes *probes);
/* Sets an element of a map of the programs; a failure counts as one lost event. */
void dpe_attach_put(const struct dpe_probes *probes, int map, const void *key, const void *value);
/* From now on each thread of the process that calls the linker's function waits for an answer. False after one
 * error. */
bool dpe_attach_linker(struct dpe_probes *probes, struct dpe_process_probes *process,
	const struct dpe_linker *linker, struct dpe_diags *diags);
/* Whether a thread waits; `number` is for dpe_attach_answer. */
bool dpe_attach_asked(const struct dpe_probes *probes, uint64_t *number);
/* Releases the threads whose requests were made so far. */
void dpe_attach_answer(struct dpe_probes *probes, uint64_t number);
/* The same without an answer; later requests are not waited for until one is answered. False if nothing changes. */
bool dpe_attach_stop_waiting(struct dpe_probes *probes);
/* A process that waited is continued; and a number that changes whenever one is. */
void dpe_attach_count_progress(struct dpe_probes *probes);
uint64_t dpe_attach_progress(const struct dpe_probes *probes);
/* Frees programs and maps; accepts a state without any. */
void dpe_attach_free(struct dpe_probes *probes);
/* Configures the programs for a watched variable with this value. */
void dpe_attach_watch(struct dpe_probes *probes, unsigned index, uint64_t address, unsigned size,
	uint64_t value);
/* A counter that changes whenever the target maps libraries. */
uint64_t dpe_attach_loads(const struct dpe_probes *probes);
/* Configures the programs for watchpoint number `slot`: a part of an object. */
void dpe_attach_object_watch(
	struct dpe_probes *probes, unsigned slot, const struct dpe_object_watch_entry *entry);
/* The requests of threads that wait, DPE_WATCH_REQUESTS of them. */
struct dpe_watch_request *dpe_attach_watch_requests(const struct dpe_probes *probes);
int dpe_attach_watch_requests_map(const struct dpe_probes *probes);
/* A file descriptor of the program for watchpoints. */
int dpe_attach_on_access(const struct dpe_probes *probes);
/* Makes the kernel stop the target once, when it begins its program. */
void dpe_attach_hold(struct dpe_probes *probes);
/* Stops it again whenever its dynamic linker has mapped something, for the last time where its program begins.
 * False after an error. */
bool dpe_attach_hold_linker(struct dpe_probes *probes, struct dpe_diags *diags);
/* True once it has stopped where its program begins. */
bool dpe_attach_begins(const struct dpe_probes *probes);
/* Ends stopping it so. */
void dpe_attach_unhold(struct dpe_probes *probes);
/* The addresses of variables have become known: configures the programs' reads. */
void dpe_attach_configure_reads(struct dpe_probes *probes);
/* Where the program's code begins since its last exec; 0: unknown. */
uint64_t dpe_attach_code(const struct dpe_probes *probes);
unsigned dpe_attach_losses(struct dpe_probes *probes, struct dpe_loss *losses, unsigned max);
/* How many calls, or returns, at the site the BPF programs lost. */
uint64_t dpe_attach_lost_at(const struct dpe_probes *probes, unsigned site, bool exit);
/* The number of texts that are compared as a whole and were too long: their events are lost. */
uint64_t dpe_attach_cut_texts(const struct dpe_probes *probes);
/* The number of events that are lost since the mappings of their process were being changed. */
uint64_t dpe_attach_unplaced(const struct dpe_probes *probes);
/* Whether the program replaced itself (exec) while it was observed. */
bool dpe_attach_replaced(const struct dpe_probes *probes);
/* The number of programs that were started and not observed, as the user may not trace them. */
uint64_t dpe_attach_untraceable(const struct dpe_probes *probes);
/* The number of observed programs that the target has started by exec. */
unsigned dpe_attach_execs(const struct dpe_probes *probes);
/* Removes our breakpoints from children that are not followed. Does not wait for the kernel. */
void dpe_attach_spare_children(struct dpe_probes *probes);
/* Maps of the loaded programs, file descriptors of them (see bpf/target_processes.h). */
struct dpe_follow_files {
	int followed, held, released, stopped, stopped_parents;
	int spare; /* kept for what must not fail for want of a descriptor (target/follow.c); -1: lent, or none */
};
/* Maps of struct dpe_question by process id, and of programs that were looked at. */
int dpe_attach_asking(const struct dpe_probes *probes);
int dpe_attach_programs(const struct dpe_probes *probes);
/* The only process is not observed any more. */
void dpe_attach_leave(struct dpe_probes *probes);
/* How many processes are no longer followed. */
uint64_t dpe_attach_endings(const struct dpe_probes *probes);
/* Called once, before anything is attached: the first process counts as living from now on. */
struct dpe_follow_files dpe_attach_follow(struct dpe_probes *probes);
/* The number of followed processes that live, and of processes that were created and are not followed. */
uint64_t dpe_attach_living(const struct dpe_probes *probes);
uint64_t dpe_attach_children(const struct dpe_probes *probes);
/* One of the living processes is gone, which the BPF programs did not observe. */
void dpe_attach_one_less(struct dpe_probes *probes);

/* The returns of a process's calls that were diverted, for the caller to free; none where the kernel refuses. */
struct dpe_diverted_returns dpe_attach_returns(const struct dpe_probes *probes, pid_t process);

/* ---- detach.c ------------------------------------------------------------------------ */

/* Removes all probes; the maps (the rings, the losses) stay. */
void dpe_detach(struct dpe_probes *probes);

/* Probes that a thread of ours removes: the kernel waits meanwhile for all of our programs, and these may wait for us. Zeroed at
 * first. */
struct dpe_removal {
	struct dpe_process_probes *at;
	unsigned count;
	pthread_t thread;
	bool running, done;
};
/* Whether the last removal is over. */
bool dpe_removal_is_over(const struct dpe_removal *removal);
/* Takes over the array and the probes. False if no thread can be created now: they stay the caller's. Only when the
 * last removal is over. */
bool dpe_removal_begin(
	struct dpe_removal *removal, struct dpe_process_probes *at, unsigned count);
/* Waits until the removal is over. */
void dpe_removal_end(struct dpe_removal *removal);

/* ---- site_maps.c --------------------------------------------------------------------- */

/* Each fills a map of the programs for all sites, or for one site: the variables to read (struct dpe_value_entries), the
 * texts that filters compare with. */
void dpe_reads_configure(const struct dpe_probes *probes, int map);
void dpe_reads_configure_site(const struct dpe_probes *probes, int map, unsigned site);
void dpe_wanted_texts_configure(const struct dpe_probes *probes, int map);
/* Fills a map of struct dpe_usdt_args: where the arguments of USDT probes are. */
void dpe_usdt_configure(const struct dpe_probes *probes, int map);
/* The same of one site only. */
void dpe_usdt_configure_site(const struct dpe_probes *probes, int map, unsigned site);

/* ---- frame_tables.c ------------------------------------------------------------------ */

/* Gives them the call frame information of modules that were added since the last call. */
void dpe_frame_tables_add(struct dpe_probes *probes);
/* Where the process has mapped code, when it has mapped more and waits. */
void dpe_known_mappings_fill(struct dpe_probes *probes, pid_t pid);
/* Stacks that ended early, as a thread was changing the mappings. */
uint64_t dpe_attach_cut_stacks(const struct dpe_probes *probes);

/* ---- watchpoints.c ------------------------------------------------------------------- */

/* False, after an error at this place of a rule, if watchpoints do not fire. */
bool dpe_watches_check(struct dpe_place place, struct dpe_diags *diags);
/* Finds the variables of the plan in the program. False after an error for each that cannot be
 * watched. */
bool dpe_watches_find(struct dpe_probes *probes, struct dpe_diags *diags);
/* Sets the watchpoints of variables whose address is known and that have none yet, in all threads of the
 * target, which is stopped. */
bool dpe_watches_set(struct dpe_probes *probes, struct dpe_diags *diags);

/* Opens a watchpoint in one thread; -1 with errno. `number`: of a variable, or DPE_WATCHES + that of an object's slot. */
int dpe_watch_open(
	const struct dpe_probes *probes, const struct dpe_watch *watch, unsigned number, pid_t thread);
/* From now on, no variable is read at accesses by that instruction. */
void dpe_watch_skip_reads(const struct dpe_probes *probes, uint64_t ip);
/* The bytes at its address, in the target. */
bool dpe_watch_read(
	const struct dpe_probes *probes, const struct dpe_watch *watch, uint64_t *value);
/* Whether any wanted variable belongs to a library; and whether any of these belongs to one that is not loaded
 * yet. */
bool dpe_bases_in_libraries(const struct dpe_probes *probes);
/* Whether that holds for any variable that is watched or read at events. */
bool dpe_any_variable(
	const struct dpe_probes *probes, bool (*is)(const struct dpe_variable *variable));

/* ---- object_watch.c, object_watch_sites.c -------------------------------------------- */

/* Finds the parts of objects that the plan watches. False after an error for each that cannot be watched. */
bool dpe_object_watches_find(struct dpe_probes *probes, struct dpe_diags *diags);
/* The same at the sites from that number on, which were added while the target runs. */
void dpe_object_watches_find_late(struct dpe_probes *probes, unsigned first_site);
/* Whether watching an object begins or ends at the site. */
bool dpe_object_watches_at(const struct dpe_probes *probes, const struct dpe_site *site);
/* Fills a map of struct dpe_watch_changes with these sites. */
void dpe_object_watches_configure(const struct dpe_probes *probes, int map);
/* Serves the requests that threads of the target wait for. */
void dpe_object_watches_answer(struct dpe_probes *probes);
/* Removes all of these watchpoints. */
void dpe_object_watches_release(struct dpe_probes *probes);
/* Warns, at the end, of objects that were not watched. */
void dpe_object_watches_report_refused(const struct dpe_probes *probes, struct dpe_diags *diags);

/* ---- guard_entries.c ----------------------------------------------------------------- */

/* Whether any event depends on others, or may stop the target. */
bool dpe_guards_are_wanted(const struct dpe_probes *probes);
/* Whether the site has such an event, or one that others depend on. */
bool dpe_guards_has(const struct dpe_probes *probes, const struct dpe_site *site);
/* Fills a map of struct dpe_guard_entry; `state`, and the map of struct dpe_flag_counts, are shared with the
 * BPF programs. 0 or a positive error. */
int dpe_guards_configure(
	struct dpe_probes *probes, int map, int flag_counts, struct dpe_guard_state *state);
/* The same for one site, which may be in a library that was loaded later. */
void dpe_guards_configure_site(struct dpe_probes *probes, int map, unsigned number);
/* Whether some event could stop the target. */
bool dpe_guards_can_stop(const struct dpe_probes *probes);
/* Waits a limited time for events that are about to stop the target. */
void dpe_guards_await(const struct dpe_probes *probes);

/* ---- kernel_rings.c ------------------------------------------------------------------ */

/* The reader's view of one of the kernel's rings. */
struct dpe_ring {
	int fd;
	size_t size; /* of the data, a power of two */
	size_t page;
	unsigned long *consumer;
	const unsigned long *producer;
	const char *data;   /* mapped twice in a row, so no record is ever split */
	unsigned long seen; /* the producer's position when last read */
	uint64_t looked;    /* ns: when that was */
	uint64_t known;     /* ns: every record of a time before it was handed over */
};

/* All of them: each processor has one, or shares it. */
struct dpe_kernel_rings {
	struct dpe_ring *at;
	unsigned count;
	int sleep;         /* the epoll that waits for any of them, and for the target's end */
	__u64 *waiting; /* shared with the programs: we sleep */
	bool busy;         /* the last poll found records */
	long pause;          /* the longest time between two polls while it does, in ns */
};

/* Rings for at most `count` files yet to be added, and the target's `pidfd` (or -1), which like
 * `waiting` stays the caller's. 0 or -errno. */
int dpe_kernel_rings_open(
	struct dpe_kernel_rings *rings, unsigned count, __u64 *waiting, int pidfd);
/* The target has ended; other processes may proceed. */
void dpe_kernel_rings_ended(struct dpe_kernel_rings *rings, int pidfd);
/* Adds a ring; takes over the file, also on failure. 0 or -errno. */
int dpe_kernel_rings_add(struct dpe_kernel_rings *rings, int fd, size_t size);
void dpe_kernel_rings_close(struct dpe_kernel_rings *rings); /* accepts a zeroed one */
/* Waits until there is something, at most `timeout` ms (-1: for ever), or the target ends. 1 if it has ended, 0
 * if not, -1 with errno. */
int dpe_kernel_rings_wait(struct dpe_kernel_rings *rings, int pidfd, int timeout);

struct dpe_kernel_sink {
	void *context;
	/* False if no more records of that ring are wanted now. */
	bool (*wants)(void *context, unsigned ring);
	void (*record)(
		void *context, unsigned ring, const struct dpe_record *record, size_t size);
};
/* Hands over, ring by ring, every record that was there when the call began, except those of unwanted rings.
 * Returns the time before which every record was handed over; `complete`: nothing was left, and none was still
 * being written. */
uint64_t dpe_kernel_rings_drain(
	struct dpe_kernel_rings *rings, const struct dpe_kernel_sink *sink, bool *complete);

#endif
