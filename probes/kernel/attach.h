/* attach: what attach.c, attach_late.c, detach.c, site_groups.c and configure.c share. */
#ifndef DPE_PROBES_KERNEL_ATTACH_H
#define DPE_PROBES_KERNEL_ATTACH_H

#include "probes/features/features.h"
#include "probes/process/process.h"
#include "probes/kernel/kernel.h"

struct bpf_link;

/* ---- configure.c ------------------------------------------------------------------------- */

/* Says what the programs, which are open, are to do. */
void dpe_configure(struct dpe_probes *probes, bool multi);

/* ---- site_groups.c ----------------------------------------------------------------------- */

/* One of our programs, by what it is for. */
enum dpe_group_kind {
	DPE_AT_ENTRIES,
	DPE_AT_RETURNS,
	DPE_GROUPS,
};

/* A group is all places in one module that one program is for. */
struct dpe_group {
	const struct dpe_module *module;
	enum dpe_group_kind kind;
	int nothing; /* 0, or a program that does nothing, instead of ours, for all places */
	uint64_t *offsets, *cookies, *counters;
	const struct dpe_site **sites;
	unsigned count, cap;
};

void dpe_group_collect(const struct dpe_probes *probes, struct dpe_group *group);
void dpe_group_free(struct dpe_group *group);
/* Puts probes on some of its sites: a link, or -1 with errno. */
int dpe_group_link(const struct dpe_probes *probes, pid_t pid, const struct dpe_group *group,
	unsigned first, unsigned count);
/* One site where the kernel has no requests for many. False after an error. */
bool dpe_attach_one(struct dpe_probes *probes, struct dpe_process_probes *process,
	const struct dpe_site *site, bool exit, struct dpe_diags *diags);
/* ---- detach.c ---------------------------------------------------------------------------- */

/* Ends links, each but NULL, and returns when none of their programs runs any more. */
void dpe_links_end(struct bpf_link **links, unsigned count);

/* ---- attach.c ---------------------------------------------------------------------------- */

/* Says that the kernel refused a site. False. */
bool dpe_attach_refused(const struct dpe_probes *probes, const struct dpe_site *site, int error,
	struct dpe_diags *diags);
/* Says that the target has ended. */
void dpe_attach_ended(const struct dpe_probes *probes, struct dpe_diags *diags);

#endif
