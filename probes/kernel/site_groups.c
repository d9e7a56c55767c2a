/* site_groups: the places of one file that one program is for. */
#include "probes/kernel/attach.h"

#include <bpf/libbpf.h>
#include <errno.h>
#include <stdlib.h>

#include "probes/kernel/bpf/programs.skel.h"

static uint64_t cookie_of(const struct dpe_probes *probes, const struct dpe_site *site)
{
	return DPE_COOKIE((uint64_t)(site - probes->sites), dpe_signature_words(site->signature),
		       site->enter, site->exit) |
	       (site->reads ? DPE_COOKIE_WITH_VALUES : 0) |
	       DPE_COOKIE_ADDRESSES(dpe_signature_addresses(site->signature)) |
	       (site->wanted->kind ? DPE_COOKIE_INSIDE : 0) | (site->usdt ? DPE_COOKIE_USDT : 0) |
	       (dpe_object_watches_at(probes, site) ? DPE_COOKIE_WATCHES_OBJECTS : 0) |
	       (site->returns ? DPE_COOKIE_RETURNS : 0) | (site->placement.checks_stack ? DPE_COOKIE_CHECKS_STACK : 0) |
	       (site->returns && site->returns->nparts > 1 ? DPE_COOKIE_SHARED : 0) | (dpe_guards_has(probes, site) ? DPE_COOKIE_GUARDED : 0);
}

static struct bpf_program *program_for(const struct dpe_probes *probes, enum dpe_group_kind kind)
{
	const struct dpe_bpf *bpf = probes->bpf;
	struct bpf_program *const programs[] = {
		[DPE_AT_ENTRIES] = probes->go ? bpf->progs.on_go_enter : bpf->progs.on_enter,
		[DPE_AT_RETURNS] = bpf->progs.on_exit,
		[DPE_AT_RETS] = probes->go ? bpf->progs.on_go_ret : bpf->progs.on_ret,
	};

	return programs[kind];
}

static bool attach_at(struct dpe_probes *probes, struct dpe_process_probes *process, const struct dpe_site *site,
	enum dpe_group_kind kind, uint64_t offset, struct dpe_diags *diags)
{
	LIBBPF_OPTS(bpf_uprobe_opts, options, .bpf_cookie = cookie_of(probes, site), .retprobe = kind == DPE_AT_RETURNS,
		.ref_ctr_offset = dpe_usdt_counter(site->usdt));
	struct bpf_link *link;
	char path[32];

	snprintf(path, sizeof(path), "/proc/self/fd/%d", site->module->fd);
	link = bpf_program__attach_uprobe_opts(program_for(probes, kind), process->pid, path, offset, &options);
	if (!link)
		return dpe_attach_refused(probes, site, errno, diags);
	*DPE_GROW(process->probe_links, process->nprobe_links, process->capprobe_links) = link;
	return true;
}

bool dpe_attach_one(
	struct dpe_probes *probes, struct dpe_process_probes *process, const struct dpe_site *site,
	bool exit, struct dpe_diags *diags)
{
	bool good = true;

	if (!exit || !site->returns)
		return attach_at(probes, process, site, exit ? DPE_AT_RETURNS : DPE_AT_ENTRIES,
			site->function->offset + site->placement.distance, diags);
	for (unsigned i = 0; i < site->returns->count; i++)
		good &= attach_at(probes, process, site, DPE_AT_RETS, site->returns->offsets[i], diags);
	return good;
}

static void make_room(struct dpe_group *group)
{
	if (group->count < group->cap)
		return;
	group->cap = group->cap ? 2 * group->cap : 16;
	group->offsets = dpe_xrealloc(group->offsets, group->cap * sizeof(*group->offsets));
	group->counters = dpe_xrealloc(group->counters, group->cap * sizeof(*group->counters));
	group->cookies = dpe_xrealloc(group->cookies, group->cap * sizeof(*group->cookies));
	group->sites = dpe_xrealloc(group->sites, group->cap * sizeof(*group->sites));
}

static void add_place(const struct dpe_probes *probes, struct dpe_group *group, const struct dpe_site *site,
	uint64_t offset, uint64_t counter)
{
	make_room(group);
	group->offsets[group->count] = offset;
	group->counters[group->count] = counter;
	group->cookies[group->count] = cookie_of(probes, site);
	group->sites[group->count++] = site;
}

static void add_entry(const struct dpe_probes *probes, struct dpe_group *group, const struct dpe_site *site)
{
	if (group->nothing || group->kind == DPE_AT_ENTRIES || (group->kind == DPE_AT_RETURNS && site->exit && !site->returns))
		add_place(probes, group, site, site->function->offset + site->placement.distance, dpe_usdt_counter(site->usdt));
}

static void add_returns(
	const struct dpe_probes *probes, struct dpe_group *group, const struct dpe_site *site, unsigned parts)
{
	for (unsigned i = 0; site->returns && site->returns->nparts == parts && i < site->returns->count; i++)
		add_place(probes, group, site, site->returns->offsets[i], 0);
}

/* At one place the program of the last request runs first. A function that returns for another has fewer parts than that, and
 * ends first. */
void dpe_group_collect(const struct dpe_probes *probes, struct dpe_group *group)
{
	for (unsigned i = 0; i < probes->nsites; i++)
		if (probes->sites[i].module == group->module && !probes->sites[i].preloaded)
			add_entry(probes, group, &probes->sites[i]);
	for (unsigned parts = DPE_RETURN_PARTS; parts && (group->nothing || group->kind == DPE_AT_RETS); parts--)
		for (unsigned i = 0; i < probes->nsites; i++)
			if (probes->sites[i].module == group->module && !probes->sites[i].preloaded)
				add_returns(probes, group, &probes->sites[i], parts);
}

void dpe_group_free(struct dpe_group *group)
{
	free(group->offsets);
	free(group->cookies);
	free(group->counters);
	free(group->sites);
}

int dpe_group_link(
	const struct dpe_probes *probes, pid_t pid, const struct dpe_group *group, unsigned first,
	unsigned count)
{
	const struct dpe_bpf *bpf = probes->bpf;
	bool returns = group->kind == DPE_AT_RETURNS, session = returns && bpf->rodata->refuses_returns;
	char path[32];
	struct dpe_multi_request request = {
		.program = group->nothing ? group->nothing
					  : bpf_program__fd(program_for(probes, group->kind)),
		.type = session ? TRACE_UPROBE_SESSION : TRACE_UPROBE_MULTI,
		.path = (uintptr_t)path,
		.offsets = (uintptr_t)&group->offsets[first],
		.counters = (uintptr_t)&group->counters[first],
		.cookies = (uintptr_t)&group->cookies[first],
		.count = count,
		.multi_flags = returns && !session ? UPROBE_MULTI_RETURN : 0,
		.pid = (uint32_t)pid,
	};

	snprintf(path, sizeof(path), "/proc/self/fd/%d", group->module->fd);
	return dpe_shielded_link(&request);
}

/* ---- refusals ----------------------------------------------------------------------------- */

void dpe_attach_ended(const struct dpe_probes *probes, struct dpe_diags *diags)
{
	char process[32];

	snprintf(process, sizeof(process), "process %d", probes->pid);
	dpe_diag_at(diags, probes->placed ? DPE_WARNING : DPE_ERROR, process,
		"it has ended in the meantime");
}

bool dpe_attach_refused(const struct dpe_probes *probes, const struct dpe_site *site, int error,
	struct dpe_diags *diags)
{
	const char *name = dpe_name_text(probes->names, site->wanted->name);
	enum dpe_severity severity = probes->placed ? DPE_WARNING : DPE_ERROR;

	if (error == ESRCH)
		dpe_attach_ended(probes, diags);
	else if (error == EPERM || error == EACCES)
		dpe_privilege_explain("observe functions", error, diags);
	else if (error == EINVAL || error == EOPNOTSUPP || error == 524 /* ENOTSUPP */)
		dpe_diag(diags, severity, site->wanted->place,
			"'%s' of %s cannot be observed: the kernel cannot put a probe on its first "
			"instruction",
			name, site->module->name);
	else
		dpe_diag(diags, severity, site->wanted->place, "'%s' of %s cannot be observed: %s",
			name, site->module->name, strerror(error));
	return false;
}
