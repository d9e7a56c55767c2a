/* probes: one observation: the target, what is observed of it, and the parts that do so. Vocabulary of all folders
 * above binary/, each of which defines its parts in its own header. dpe_probes_free ends it in any state. */
#ifndef DPE_PROBES_PROBES_H
#define DPE_PROBES_PROBES_H

#include "dpe/dpe-probes.h"
#include "event/event.h"
#include "probes/binary/binary.h"

#include <sys/types.h>

struct dpe_object_watches;
struct dpe_bpf;
struct dpe_channels;
struct dpe_child;
struct dpe_extra_messages;
struct dpe_thread_names;
struct dpe_follow;
struct dpe_guards;
struct dpe_watchdog;
struct dpe_kernel_rings;
struct dpe_linker;
struct dpe_maps;
struct dpe_merge;
struct dpe_place_accessed;
struct dpe_plan;
struct dpe_preload;
struct dpe_process_probes;
struct dpe_site;
struct dpe_sleeper;
struct dpe_user;
struct dpe_variable;
struct dpe_watch;
struct bpf_link;

struct dpe_probes {
	const struct dpe_plan *plan;
	struct dpe_names *names;
	const struct dpe_debug *debug;
	bool children_wait; /* as in the options */
	int signal; /* where functions begin and return, or 0 */
	unsigned ring_bytes, wanted_rings, stack_depth;
	struct dpe_diags *diags; /* the caller's */
	const char *const *libraries; /* the caller's, until all probes are in place */
	unsigned nlibraries;
	bool once; /* see the options */
	unsigned stay;
	bool follows;
	bool stop_processes; /* that begin, instead of letting them wait in the kernel */
	bool one_by_one; /* attach each site by itself even where the kernel knows better */

	struct dpe_arena *arena;
	struct dpe_pool *pool; /* of messages */
	struct dpe_modules modules;
	struct dpe_module *go; /* the program, if its threads are goroutines; or NULL */
	struct dpe_go_layout go_layout;
	unsigned nsearched; /* modules that were searched for sites of the plan */
	unsigned nframe_tables; /* modules whose call frame information the kernel's side has */
	unsigned nlinker_modules; /* modules that were searched for the dynamic linker */
	bool *awaited;      /* sites of the plan that were not found yet: a library may have them */
	struct dpe_site *sites;
	unsigned nsites, capsites;
	unsigned first_watch; /* behind all sites that may ever be, for the kernel's side */
	struct dpe_watch *watches; /* DPE_WATCHES of them */
	unsigned nwatches;
	struct dpe_object_watches *object_watches;
	struct dpe_variable *reads; /* those of the plan, by their number */
	unsigned max_values;       /* that our programs read at one event */
	struct dpe_place_accessed *accesses; /* by instruction, see access_cache.c */
	bool knows_order; /* `unobserved_order` is known */
	const char *unobserved_order; /* see dpe_probes_unobserved_order */
	struct dpe_lost doubted; /* updates whose values are not known */
	struct dpe_known_losses *losses; /* see losses.c; or NULL */
	dpe_name create, start, found, end, waited; /* names of the kernel's events */
	dpe_name go_status; /* the function by which a goroutine ends; or 0 */
	dpe_name *memory_names; /* DPE_MEMORY_EVENTS of them */

	pid_t pid;
	int pidfd;
	struct dpe_child *child; /* where launched */
	struct dpe_user *user;   /* who is to run the target; no name: who runs us */
	bool launched, started, exited, stopped;
	bool placed; /* all probes are in place but those of libraries that are loaded later */
	int status;
	struct dpe_watchdog *watchdog;
	bool stop, dynamic; /* see the options */
	struct dpe_guards *guards;

	struct dpe_bpf *bpf;
	bool unwinds; /* see dpe_sites_unwind */
	bool may_unwind; /* if not yet, with what is loaded later */
	bool multi; /* all places of a file in one call */
	struct dpe_process_probes *first; /* of the first process; of others see dpe_follow */
	struct dpe_linker *linkers; /* dynamic linkers among the modules */
	unsigned nlinkers, caplinkers;
	struct bpf_link **begin_links; /* see dpe_attach_hold_linker */
	unsigned nbegin_links, capbegin_links;
	uint64_t spared, spared_at; /* children that are rid of our breakpoints; when, ns */
	struct dpe_removal *sparing; /* what frees them */
	struct dpe_kernel_rings *rings;
	struct dpe_thread_names *thread_names;
	struct dpe_merge *merge;
	uint64_t loads; /* see dpe_attach_loads: when we looked last */

	uint64_t drained; /* every message of a time before it was delivered */
	uint64_t delivering; /* time of the last one that was */
	struct dpe_sleeper *sleepers; /* threads that were asleep at the last scan */
	unsigned nsleepers, capsleepers;
	struct dpe_preload *preload; /* or NULL */
	uint64_t preloadable, preloadable_since; /* calls that it would report, and when the first one came */
	/* What else wants the call frame information of modules; or NULL. */
	void (*keep_rows)(struct dpe_probes *probes, const struct dpe_module *module, const struct dpe_frame_row *rows, unsigned count);

	struct dpe_channels *channels; /* or NULL */
	struct dpe_extra_messages *extra_messages; /* by thread */
	struct dpe_maps *maps; /* the first process's */
	struct dpe_follow *follow; /* or NULL: the first process only */
};

/* Nanoseconds of the clock that records carry. */
uint64_t dpe_ring_now(void);

#endif
