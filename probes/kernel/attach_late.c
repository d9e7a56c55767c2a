/* attach_late: changes probes while the target runs: adds them to files that were mapped later, and removes
 * them from children that are not observed. */
#include "probes/kernel/attach.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "probes/kernel/bpf/programs.skel.h"

/* A process that has ended meanwhile needs no probes. */
static void refuse_late(struct dpe_probes *probes, const struct dpe_site *site, int error)
{
	if (error == ESRCH && probes->follow)
		return;
	dpe_attach_refused(probes, site, error, probes->diags);
	dpe_attach_lose(probes);
}

/* One after the other, so that a refused site does not affect the others. No probe may be removed here: the
 * kernel would wait for all threads that wait for us. */
static void attach_each(struct dpe_probes *probes, struct dpe_process_probes *process,
	const struct dpe_group *group)
{
	for (unsigned i = 0; i < group->count; i++) {
		int link = dpe_group_link(probes, process->pid, group, i, 1);

		if (link >= 0)
			*DPE_GROW(process->links, process->nlinks, process->caplinks) = link;
		else
			refuse_late(probes, group->sites[i], errno);
	}
}

static void attach_group_late(struct dpe_probes *probes, struct dpe_process_probes *process,
	const struct dpe_module *module, enum dpe_group_kind kind)
{
	struct dpe_group group = {.module = module, .kind = kind};
	int link;

	dpe_group_collect(probes, &group);
	link = group.count ? dpe_group_link(probes, process->pid, &group, 0, group.count) : -1;
	if (link >= 0)
		*DPE_GROW(process->links, process->nlinks, process->caplinks) = link;
	else
		attach_each(probes, process, &group);
	dpe_group_free(&group);
}

static void attach_many(
	struct dpe_probes *probes, struct dpe_process_probes *process, const bool *wanted)
{
	for (unsigned kind = 0; kind < DPE_GROUPS; kind++) {
		for (unsigned i = 0; i < probes->modules.count; i++) {
			if (wanted[i])
				attach_group_late(probes, process, probes->modules.at[i], kind);
		}
	}
}

static bool is_wanted(
	const struct dpe_probes *probes, const struct dpe_module *module, const bool *wanted)
{
	for (unsigned i = 0; i < probes->modules.count; i++)
		if (probes->modules.at[i] == module)
			return wanted[i];
	return false;
}

static void attach_one_by_one(struct dpe_probes *probes, struct dpe_process_probes *process,
	const bool *wanted, bool exit)
{
	struct dpe_diags *diags = probes->follow ? dpe_diags_new() : probes->diags;

	for (unsigned i = 0; i < probes->nsites; i++) {
		const struct dpe_site *site = &probes->sites[i];

		if ((!exit || site->exit) && !site->preloaded &&
			is_wanted(probes, site->module, wanted) &&
			!dpe_attach_one(probes, process, site, exit, diags) &&
			!(errno == ESRCH && probes->follow))
			dpe_attach_lose(probes);
	}
	if (probes->follow)
		dpe_diags_free(diags);
}

void dpe_attach_configure_sites(struct dpe_probes *probes, unsigned site)
{
	for (unsigned i = site; i < probes->nsites; i++) {
		dpe_reads_configure_site(probes, bpf_map__fd(probes->bpf->maps.read_where), i);
		dpe_usdt_configure_site(probes, bpf_map__fd(probes->bpf->maps.usdt_where), i);
		dpe_guards_configure_site(probes, bpf_map__fd(probes->bpf->maps.guards), i);
	}
}

/* Finds the modules that are mapped and have no probes in the process, and marks them as having probes. */
static bool *take_wanted(const struct dpe_modules *modules, struct dpe_process_probes *process,
	const struct dpe_mapped *mapped)
{
	bool *wanted = dpe_xcalloc(modules->count + 1, sizeof(*wanted));

	if (process->nmodules < modules->count) {
		process->modules =
			dpe_xrealloc(process->modules, modules->count * sizeof(*process->modules));
		memset(&process->modules[process->nmodules], false,
			(modules->count - process->nmodules) * sizeof(*process->modules));
		process->nmodules = modules->count;
	}
	for (unsigned i = 0; i < modules->count && i < mapped->count; i++) {
		wanted[i] = mapped->at[i] && !process->modules[i];
		process->modules[i] |= wanted[i];
	}
	return wanted;
}

void dpe_attach_process(struct dpe_probes *probes, struct dpe_process_probes *process,
	const struct dpe_mapped *mapped)
{
	bool *wanted = take_wanted(&probes->modules, process, mapped);

	for (unsigned i = 0; i < probes->modules.count; i++)
		if (wanted[i])
			dpe_attach_departures(probes, process, probes->modules.at[i]);
	if (probes->multi) {
		attach_many(probes, process, wanted);
	} else {
		attach_one_by_one(probes, process, wanted, false);
		attach_one_by_one(probes, process, wanted, true);
	}
	free(wanted);
}

/* 0, or -1 with errno. */
static int link_place(struct bpf_program *program, struct dpe_process_probes *process,
	const char *path, uint64_t offset, uint64_t cookie)
{
	const uint64_t zero = 0;
	struct dpe_multi_request request = {
		.program = bpf_program__fd(program),
		.type = TRACE_UPROBE_MULTI,
		.path = (uintptr_t)path,
		.offsets = (uintptr_t)&offset,
		.counters = (uintptr_t)&zero,
		.cookies = (uintptr_t)&cookie,
		.count = 1,
		.pid = (uint32_t)process->pid,
	};
	int link = dpe_shielded_link(&request);

	if (link < 0)
		return -1;
	*DPE_GROW(process->links, process->nlinks, process->caplinks) = link;
	return 0;
}

/* The same, on kernels that cannot attach many at once. */
static int link_place_alone(struct bpf_program *program, struct dpe_process_probes *process,
	const char *path, uint64_t offset, uint64_t cookie)
{
	LIBBPF_OPTS(bpf_uprobe_opts, options, .bpf_cookie = cookie);
	struct bpf_link *link = bpf_program__attach_uprobe_opts(
		program, process->pid, path, offset, &options);

	if (!link)
		return -1;
	*DPE_GROW(process->probe_links, process->nprobe_links, process->capprobe_links) = link;
	return 0;
}

static int link_function(const struct dpe_probes *probes, struct bpf_program *program, struct dpe_process_probes *process,
	const struct dpe_module *module, const struct dpe_function *function, uint64_t cookie)
{
	char path[32];

	snprintf(path, sizeof(path), "/proc/self/fd/%d", module->fd);
	return (probes->multi ? link_place : link_place_alone)(program, process, path, function->offset, cookie);
}

static void attach_departure(struct dpe_probes *probes, struct dpe_process_probes *process, struct bpf_program *program,
	struct dpe_module *module, const char *name, uint64_t cookie)
{
	unsigned count;
	const struct dpe_function *function = dpe_module_find(module, name, &count);

	if (!function || !link_function(probes, program, process, module, function, cookie) || errno == ESRCH)
		return;
	dpe_diag_at(probes->diags, DPE_WARNING, module->path, "%s cannot be observed (%s), which counts as a loss", name,
		strerror(errno));
	dpe_attach_lose(probes);
}

/* Exits that are found later may need them, too. */
void dpe_attach_departures(struct dpe_probes *probes, struct dpe_process_probes *process, struct dpe_module *module)
{
	static const char *const jumps[] = {"longjmp", "__longjmp_chk"};
	uint64_t offset;

	if (!bpf_program__autoload(probes->bpf->progs.on_landing))
		return;
	if (dpe_unwinder_of(module, &offset) == DPE_UNWINDER_KNOWN)
		attach_departure(probes, process, probes->bpf->progs.on_landing, module, DPE_LANDING_FUNCTION, offset);
	for (unsigned i = 0; i < DPE_COUNT(jumps); i++)
		attach_departure(probes, process, probes->bpf->progs.on_longjmp, module, jumps[i], 0);
}

bool dpe_attach_linker(struct dpe_probes *probes, struct dpe_process_probes *process,
	const struct dpe_linker *linker, struct dpe_diags *diags)
{
	int error;

	if (!bpf_program__autoload(probes->bpf->progs.on_libraries))
		return true;
	error = link_function(probes, probes->bpf->progs.on_libraries, process, linker->module, linker->function, 0);
	if (!error || (errno == ESRCH && probes->follow))
		return true;
	if (errno == ESRCH)
		dpe_attach_ended(probes, diags);
	else
		dpe_privilege_explain("observe what the target loads", errno, diags);
	return false;
}

bool dpe_attach_asked(const struct dpe_probes *probes, uint64_t *number)
{
	*number = __atomic_load_n(&probes->bpf->bss->asked, __ATOMIC_ACQUIRE);
	return *number > probes->bpf->bss->answered;
}

bool dpe_attach_stop_waiting(struct dpe_probes *probes)
{
	uint64_t asked = __atomic_load_n(&probes->bpf->bss->asked, __ATOMIC_ACQUIRE);

	return __atomic_exchange_n(&probes->bpf->bss->unanswered, asked, __ATOMIC_ACQ_REL) != asked;
}

/* A link that attaches a program that does nothing to each of our sites in the file, or -1. A failure costs
 * only other processes' time. */
static int link_nothing(const struct dpe_probes *probes, const struct dpe_module *module)
{
	struct dpe_group group = {.module = module, .nothing = dpe_load_nothing(TRACE_UPROBE_MULTI, 0)};
	int link = -1;

	dpe_group_collect(probes, &group);
	if (group.count && group.nothing >= 0)
		link = dpe_group_link(probes, probes->pid, &group, 0, group.count);
	if (group.nothing >= 0)
		close(group.nothing);
	dpe_group_free(&group);
	return link;
}

static void spare_children(struct dpe_probes *probes)
{
	struct dpe_process_probes *nothing = dpe_xcalloc(1, sizeof(*nothing));

	for (unsigned i = 0; i < probes->modules.count; i++) {
		int link = link_nothing(probes, probes->modules.at[i]);

		if (link >= 0)
			*DPE_GROW(nothing->links, nothing->nlinks, nothing->caplinks) = link;
	}
	if (dpe_removal_begin(probes->sparing, nothing, 1))
		return;
	dpe_detach_process(nothing);
	free(nothing);
}

/* A forked child has a copy of our breakpoints and would trap at each for nothing. When a uprobe is removed,
 * the kernel removes the breakpoint from every process that no longer needs it. So we attach a probe that does
 * nothing at the same place and remove it. */
void dpe_attach_spare_children(struct dpe_probes *probes)
{
	const uint64_t not_oftener = 20000000;
	uint64_t children = dpe_attach_children(probes), now;

	if (children == probes->spared || !probes->multi || !dpe_removal_is_over(probes->sparing))
		return;
	now = dpe_ring_now();
	if (now - probes->spared_at < not_oftener)
		return;
	probes->spared = children;
	probes->spared_at = now;
	spare_children(probes);
}
