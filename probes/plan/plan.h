/* plan: what to observe, by the rules (struct dpe_plan), and where that is in the files of a target
 * (struct dpe_site and the reads). What neighbours use of this folder. */
#ifndef DPE_PROBES_PLAN_PLAN_H
#define DPE_PROBES_PLAN_PLAN_H

#include "probes/binary/binary.h"
#include "probes/code/code.h"
#include "probes/plan/plan_data.h"
#include "probes/plan/watches.h"
#include "probes/probes.h"

/* One place in one file where something that the plan names is observed. Records carry its number. What is a
 * pointer belongs to the plan, the module or the arena of the probes. */
struct dpe_site {
	const struct dpe_plan_site *wanted;
	struct dpe_module *module;
	const struct dpe_function *function;
	const struct dpe_usdt *usdt; /* or NULL */
	const struct dpe_signature *signature;
	dpe_name module_name, event; /* event: the name of its messages */
	struct dpe_placement placement;
	bool enter, exit;
	const struct dpe_returns *returns; /* its exit is observed there; NULL: the kernel diverts the return address */
	unsigned nargs;
	/* The union of what all plan sites at this place need. */
	uint64_t used, reads;
	bool ret;
	struct dpe_filters filters[2];
	struct dpe_guard guards[2];
	struct dpe_variable *reached; /* reads that start at an argument, by number of the read; or NULL */
	bool preloaded;   /* the preloaded library reports it, so there is no probe */
	bool preloadable; /* it would, but is not there */
	bool known;       /* the library wraps it, but a probe is needed nevertheless */
	bool rare;        /* each of its calls waits for other threads, so events are few */
	unsigned wrapped; /* which of the library's functions */
};

/* The phase of messages of calls (`exit`: of returns) at the site. */
static inline enum dpe_phase dpe_site_phase(const struct dpe_site *site, bool exit)
{
	return site->wanted->kind ? DPE_BARE : exit ? DPE_EXIT : DPE_ENTER;
}

/* ---- sites ------------------------------------------------------------------------------- */

/* Finds all sites of the plan in the modules, with their signatures and probe points. False after an error for each
 * plan site that is missing or cannot be observed. */
bool dpe_sites_find(struct dpe_probes *probes, struct dpe_diags *diags);
/* Finds those in the modules that were added since. Returns how many sites of the plan cannot be observed
 * there, after a warning for each. */
unsigned dpe_sites_find_late(struct dpe_probes *probes);
/* A note, if the compiler inlined the missing function everywhere, or left only a clone of it. */
void dpe_sites_note_optimised(struct dpe_modules *modules, const struct dpe_plan_site *site, const struct dpe_names *names,
	struct dpe_diags *diags);
/* A note, if a variable that the program lacks may be one of a program that it starts. */
void dpe_late_note_watched(const struct dpe_modules *modules, struct dpe_place place, struct dpe_diags *diags);
/* The same, if the program does not report its accesses. */
void dpe_late_note_accesses(const struct dpe_modules *modules, struct dpe_diags *diags);
/* A warning if the target has ended as a probed return may end it: on a stack that a handler left, or before a caller
 * that catches an exception. */
void dpe_sites_report_fatal_return(const struct dpe_probes *probes, struct dpe_diags *diags);
/* Two plan sites are one site: adds what the other needs. */
void dpe_guard_merge(struct dpe_guard *to, const struct dpe_guard *from);

/* ---- variables that are read at events ---------------------------------------------------- */

/* Finds the variables in the modules. False after an error for each that cannot be read. */
bool dpe_reads_find(struct dpe_probes *probes, struct dpe_diags *diags);
/* The variable that read number `read` of the plan is at the site; `site` NULL: at a data event. */
const struct dpe_variable *dpe_read_variable(
	const struct dpe_probes *probes, const struct dpe_site *site, unsigned read);
/* How many values of a record it takes: two for an integer of 16 bytes. */
unsigned dpe_read_slots(const struct dpe_variable *variable);
/* How many values one event carries at most. */
unsigned dpe_reads_max(const struct dpe_probes *probes);
/* Whether the rules read any text of the program. */
bool dpe_reads_texts(const struct dpe_probes *probes);
/* Whether the rules have exits of functions, anywhere. */
bool dpe_plan_observes_exits(const struct dpe_plan *plan);
/* Whether the rules name USDT probes. */
bool dpe_usdt_is_wanted(const struct dpe_probes *probes);

/* ---- functions that the preloaded library wraps ------------------------------------------- */

/* True of the libraries that dpe preloads: nothing in them is observed. */
bool dpe_preload_is_library(const struct dpe_module *module);
/* Whether another module has the function that the program calls instead. */
bool dpe_preload_replaces(const struct dpe_probes *probes, const struct dpe_module *module, const char *function);
/* The number of a wrapped thread function; DPE_PRELOAD_COUNT: it is not one. */
unsigned dpe_preload_function(const char *name);
bool dpe_preload_knows(const char *function);
/* Marks the site as preloaded where the library reports all that is wanted of it. */
void dpe_preload_take(struct dpe_probes *probes, struct dpe_site *site);

#endif
