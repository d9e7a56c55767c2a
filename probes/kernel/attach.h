/* attach: what attach.c, attach_late.c, detach.c, site_groups.c and configure.c share. */
#ifndef DPE_PROBES_KERNEL_ATTACH_H
#define DPE_PROBES_KERNEL_ATTACH_H

#include "probes/features/features.h"
#include "probes/process/process.h"
#include "probes/kernel/kernel.h"

struct bpf_link;

/* ---- configure.c ------------------------------------------------------------------------- */

/* Sets the constants of the programs, which are open and not loaded yet. */
void dpe_configure(struct dpe_probes *probes, bool multi);

/* ---- site_groups.c ----------------------------------------------------------------------- */

/* The purpose of each of our programs. */
enum dpe_group_kind {
	DPE_AT_ENTRIES,
	DPE_AT_RETURNS, /* by return probes … */
	DPE_AT_RETS,    /* … and by probes on the instructions that return */
	DPE_GROUPS,
};

/* A group is all sites of one program in one module. */
struct dpe_group {
	const struct dpe_module *module;
	enum dpe_group_kind kind;
	int nothing; /* if not 0, attach this program, which does nothing, to all sites instead of ours */
	uint64_t *offsets, *cookies, *counters;
	const struct dpe_site **sites;
	unsigned count, cap;
};

void dpe_group_collect(const struct dpe_probes *probes, struct dpe_group *group);
void dpe_group_free(struct dpe_group *group);
/* Puts probes on some of its sites: a link, or -1 with errno. */
int dpe_group_link(const struct dpe_probes *probes, pid_t pid, const struct dpe_group *group,
	unsigned first, unsigned count);
/* Attaches one site, on kernels that cannot attach many at once. False after an error. */
bool dpe_attach_one(struct dpe_probes *probes, struct dpe_process_probes *process,
	const struct dpe_site *site, bool exit, struct dpe_diags *diags);
/* Reports that the kernel refused a site. Returns false. */
bool dpe_attach_refused(const struct dpe_probes *probes, const struct dpe_site *site, int error,
	struct dpe_diags *diags);
/* Reports that the target has ended. */
void dpe_attach_ended(const struct dpe_probes *probes, struct dpe_diags *diags);

/* ---- attach_late.c ----------------------------------------------------------------------- */

/* If exits are observed: observes those functions of the module by which calls are left without returning, in exceptions and
 * longjmp. */
void dpe_attach_departures(struct dpe_probes *probes, struct dpe_process_probes *process, struct dpe_module *module);

/* ---- frame_tables.c ---------------------------------------------------------------------- */

/* Begins to read call frame information, in threads, during which the modules are not used otherwise. _fill waits for them and
 * gives the programs the tables; _drop only waits. NULL if there is none to read. */
struct dpe_frame_reading *dpe_frame_tables_begin(struct dpe_probes *probes, bool in_threads);
void dpe_frame_tables_fill(struct dpe_probes *probes, struct dpe_frame_reading *reading);
void dpe_frame_tables_drop(struct dpe_frame_reading *reading);

/* ---- shield.c ---------------------------------------------------------------------------- */

/* Acts where no signal for us, not even SIGKILL, interrupts the kernel. */
void dpe_shielded(void (*act)(void *context), void *context);
/* dpe_multi_link. */
int dpe_shielded_link(struct dpe_multi_request *request);

/* ---- detach.c ---------------------------------------------------------------------------- */

/* Destroys the links that are not NULL, and returns when none of their programs runs any more. */
void dpe_links_end(struct bpf_link **links, unsigned count);

#endif
