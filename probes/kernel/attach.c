/* attach: BPF programs into the kernel, probes into the target's files. Only this file, attach_late.c,
 * configure.c, detach.c, program_maps.c and the files that fill maps use libbpf. */
#include "probes/kernel/attach.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <linux/bpf.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "probes/kernel/bpf/programs.skel.h"

/* The verifier's last message before its statistics; NULL if it has not refused a program. Cuts the log into lines. */
static const char *verifier_reason(char *log)
{
	char *rest, *last = NULL;

	for (char *line = strtok_r(log, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest))
		if (strncmp(line, "processed ", 10) && strncmp(line, "verification time", 17) &&
			strncmp(line, "stack depth", 11))
			last = line;
	return last;
}

static void report_refused(char *log, int error, struct dpe_diags *diags)
{
	const char *reason = verifier_reason(log);
	struct utsname system;

	if (error == ESRCH) /* of libbpf: it could not read the kernel's BTF, which is there */
		error = ENOMEM;
	/* Where a descriptor or memory was missing, the log is that of a program that was accepted. */
	if (!reason || error == EMFILE || error == ENFILE || error == ENOMEM) {
		dpe_privilege_explain("load our BPF programs", error, diags);
		return;
	}
	dpe_diag_at(diags, DPE_ERROR, "dpe", "the kernel's verifier refuses a BPF program of dpe: %s", reason);
	if (!uname(&system))
		dpe_diag_at(diags, DPE_NOTE, "dpe",
			"more rights do not help: dpe does not fit Linux %s; rules that read fewer values may work",
			system.release);
}

/* Whether a preloaded library reports nearly all, and a later file brings no probes. */
static bool has_few_probes(const struct dpe_probes *probes)
{
	if (!probes->preload || probes->follows || probes->nwatches || probes->plan->channels || probes->awaited)
		return false;
	for (unsigned i = 0; i < probes->nsites; i++) {
		if (!probes->sites[i].preloaded && !probes->sites[i].rare)
			return false;
	}
	return true;
}

/* Each ring has the wanted size. More than eight rings share the memory of eight, but none is smaller than what
 * may arrive between two polls, which is enough where a library reports the events. */
static size_t ring_size(const struct dpe_probes *probes, unsigned count)
{
	const size_t least = 1 << 20, usual = has_few_probes(probes) ? least : 8 << 20;
	const unsigned wanted = probes->ring_bytes;
	size_t size = sysconf(_SC_PAGESIZE);

	if (wanted) {
		while (size < wanted && size < (size_t)1 << 31)
			size *= 2;
		return size;
	}
	for (size = usual; size > least && size * count > 8 * usual;)
		size /= 2;
	return size;
}

/* In one call, because the kernel waits for all running programs at the end of each. */
static int set_rings(int map, uint32_t *numbers, int *files, uint32_t count)
{
	uint32_t done = count;

	return bpf_map_update_batch(map, numbers, files, &done, NULL) ? -errno : 0;
}

static int make_ring(struct dpe_probes *probes, size_t size, int *file)
{
	*file = bpf_map_create(BPF_MAP_TYPE_RINGBUF, "dpe_ring", 0, 0, size, NULL);
	return *file < 0 ? -errno : dpe_kernel_rings_add(probes->rings, *file, size);
}

/* The rings are in place before the first program can run. 0 or a positive error. */
static int make_rings(struct dpe_probes *probes)
{
	const struct dpe_bpf *bpf = probes->bpf;
	uint32_t count = bpf->rodata->nrings, *numbers = dpe_xcalloc(count, sizeof(*numbers));
	int *files = dpe_xcalloc(count, sizeof(*files));
	size_t size = ring_size(probes, count);
	int error = dpe_kernel_rings_open(
		probes->rings, count, &probes->bpf->bss->waiting, probes->pidfd);

	dpe_debug(probes->debug, "probes", 1, "%u ring%s of %zu bytes", count,
		count == 1 ? "" : "s", size);
	for (uint32_t i = 0; !error && i < count; i++) {
		numbers[i] = i;
		error = make_ring(probes, size, &files[i]);
	}
	if (!error)
		error = set_rings(bpf_map__fd(bpf->maps.rings), numbers, files, count);
	free(numbers);
	free(files);
	return -error;
}

static int load_once(struct dpe_probes *probes, bool multi, const struct bpf_object_open_opts *options,
	struct dpe_frame_reading **reading)
{
	probes->bpf = dpe_bpf__open_opts(options);
	if (!probes->bpf)
		return errno;
	dpe_configure(probes, multi);
	if (!*reading)
		*reading = dpe_frame_tables_begin(probes, true);
	return -dpe_bpf__load(probes->bpf);
}

/* The verifier gives up (EAGAIN) if we are stopped, frozen or signalled meanwhile, and libbpf gives up after
 * some retries. We retry until it succeeds. */
static int load_with_retries(struct dpe_probes *probes, bool multi, const struct bpf_object_open_opts *options,
	struct dpe_frame_reading **reading)
{
	uint64_t until = dpe_ring_now() + DPE_LOAD_TIME;
	int error = load_once(probes, multi, options, reading);

	while (error == EAGAIN && dpe_ring_now() < until) {
		dpe_bpf__destroy(probes->bpf);
		error = load_once(probes, multi, options, reading);
	}
	return error;
}

static int configure_site_guards(struct dpe_probes *probes)
{
	const struct dpe_bpf *bpf = probes->bpf;

	return dpe_guards_configure(probes, bpf_map__fd(bpf->maps.guards),
		bpf_map__fd(bpf->maps.flag_counts), &bpf->bss->guard_state);
}

static void print_verified(const struct dpe_probes *probes)
{
	struct bpf_program *program;
	struct bpf_prog_info info;

	bpf_object__for_each_program(program, probes->bpf->obj) {
		uint32_t size = sizeof(info);

		memset(&info, 0, sizeof(info));
		if (bpf_program__fd(program) >= 0 && !bpf_obj_get_info_by_fd(bpf_program__fd(program), &info, &size))
			dpe_debug(probes->debug, "probes", 2, "%s: %zu instructions, %u verified",
				bpf_program__name(program), bpf_program__insn_cnt(program), info.verified_insns);
	}
}

static bool load_programs(struct dpe_probes *probes, bool multi, struct dpe_diags *diags)
{
	const size_t size = 1 << 20;
	char *log = dpe_xcalloc(1, size);
	LIBBPF_OPTS(bpf_object_open_opts, options, .kernel_log_buf = log, .kernel_log_size = size);
	struct dpe_frame_reading *reading = NULL;
	int error;

	libbpf_set_print(NULL);
	error = load_with_retries(probes, multi, &options, &reading);
	if (!error)
		error = make_rings(probes);
	if (error)
		dpe_frame_tables_drop(reading);
	else
		dpe_frame_tables_fill(probes, reading);
	if (!error)
		error = configure_site_guards(probes);
	if (error) {
		report_refused(log, error, diags);
	} else {
		print_verified(probes);
		dpe_reads_configure(probes, bpf_map__fd(probes->bpf->maps.read_where));
		dpe_wanted_texts_configure(probes, bpf_map__fd(probes->bpf->maps.wanted_texts));
		dpe_object_watches_configure(probes, bpf_map__fd(probes->bpf->maps.watch_changes));
		dpe_usdt_configure(probes, bpf_map__fd(probes->bpf->maps.usdt_where));
	}
	free(log);
	return !error;
}

static bool attach_tracepoint(
	struct bpf_program *program, struct bpf_link **link, struct dpe_diags *diags)
{
	*link = bpf_program__attach(program);
	if (!*link)
		dpe_privilege_explain("follow the target's threads", errno, diags);
	return *link;
}

bool dpe_attach_tracepoints(struct dpe_probes *probes, struct dpe_diags *diags)
{
	struct dpe_bpf *bpf = probes->bpf;

	if (bpf_program__autoload(bpf->progs.on_begin_process) &&
		!attach_tracepoint(bpf->progs.on_begin_process, &bpf->links.on_begin_process, diags))
		return false;
	if (bpf_program__autoload(bpf->progs.on_signal) &&
		!attach_tracepoint(bpf->progs.on_signal, &bpf->links.on_signal, diags))
		return false;
	if (probes->plan->channels &&
		!attach_tracepoint(bpf->progs.on_call, &bpf->links.on_call, diags))
		return false;
	if ((probes->plan->channels || probes->plan->waits) &&
		!attach_tracepoint(bpf->progs.on_return, &bpf->links.on_return, diags))
		return false;
	return attach_tracepoint(bpf->progs.on_sent_signal, &bpf->links.on_sent_signal, diags) &&
	       attach_tracepoint(bpf->progs.on_returns, &bpf->links.on_returns, diags) &&
	       attach_tracepoint(bpf->progs.on_fork, &bpf->links.on_fork, diags) &&
	       attach_tracepoint(bpf->progs.on_exec, &bpf->links.on_exec, diags) &&
	       attach_tracepoint(bpf->progs.on_end, &bpf->links.on_end, diags);
}

/* ---- probes ------------------------------------------------------------------------------- */

/* The kernel does not report which of the sites it refused. */
static bool find_refused(
	const struct dpe_probes *probes, const struct dpe_group *group, struct dpe_diags *diags)
{
	bool found = false;
	int error = errno;

	for (unsigned i = 0; i < group->count; i++) {
		int link = dpe_group_link(probes, probes->pid, group, i, 1);

		if (link >= 0) {
			close(link);
			continue;
		}
		dpe_attach_refused(probes, group->sites[i], errno, diags);
		found = true;
	}
	return found || dpe_attach_refused(probes, group->sites[0], error, diags);
}

static bool attach_group(struct dpe_probes *probes, const struct dpe_module *module,
	enum dpe_group_kind kind, struct dpe_diags *diags)
{
	struct dpe_process_probes *first = probes->first;
	struct dpe_group group = {.module = module, .kind = kind};
	int link = -1;

	dpe_group_collect(probes, &group);
	if (group.count) {
		link = dpe_group_link(probes, probes->pid, &group, 0, group.count);
		if (link >= 0)
			*DPE_GROW(first->links, first->nlinks, first->caplinks) = link;
		else
			find_refused(probes, &group, diags);
	}
	dpe_group_free(&group);
	return link >= 0 || !group.count;
}

static bool attach_many(struct dpe_probes *probes, struct dpe_diags *diags)
{
	bool complete = true;

	for (unsigned kind = 0; kind < DPE_GROUPS; kind++) {
		for (unsigned i = 0; i < probes->modules.count; i++)
			complete &= attach_group(probes, probes->modules.at[i], kind, diags);
	}
	return complete;
}

static bool attach_each(struct dpe_probes *probes, bool exit, struct dpe_diags *diags)
{
	bool complete = true;

	for (unsigned i = 0; i < probes->nsites; i++)
		if (!probes->sites[i].preloaded && (!exit || probes->sites[i].exit))
			complete &= dpe_attach_one(
				probes, probes->first, &probes->sites[i], exit, diags);
	return complete;
}

/* Entries before returns: a return must not be observed without its call. */
static bool attach_probes(struct dpe_probes *probes, bool multi, struct dpe_diags *diags)
{
	struct dpe_process_probes *first = probes->first;

	first->nmodules = probes->modules.count;
	first->modules = dpe_xrealloc(first->modules, first->nmodules * sizeof(*first->modules));
	memset(first->modules, true, first->nmodules * sizeof(*first->modules));
	for (unsigned i = 0; i < probes->modules.count; i++)
		dpe_attach_departures(probes, first, probes->modules.at[i]);
	if (multi)
		return attach_many(probes, diags);
	return attach_each(probes, false, diags) && attach_each(probes, true, diags);
}

bool dpe_attach_load(struct dpe_probes *probes, struct dpe_diags *diags)
{
	if (dpe_kernel_is_old()) {
		dpe_diag_at(diags, DPE_ERROR, "dpe", "observing a program needs Linux 6.1 or newer");
		return false;
	}
	probes->multi = !probes->one_by_one && dpe_kernel_has_multi();
	dpe_debug(probes->debug, "probes", 1, "%u sites, %s", probes->nsites,
		probes->multi ? "all of a file in one call" : "one by one");
	return load_programs(probes, probes->multi, diags);
}

bool dpe_attach_sites(struct dpe_probes *probes, bool observing, struct dpe_diags *diags)
{
	if (!attach_probes(probes, probes->multi, diags))
		return false;
	if (observing) {
		__atomic_store_n(&probes->bpf->bss->observing, 1, __ATOMIC_RELEASE);
		__atomic_store_n(&probes->bpf->bss->observing_since, dpe_ring_now(), __ATOMIC_RELEASE);
	}
	probes->placed = true;
	return true;
}

void dpe_attach_free(struct dpe_probes *probes)
{
	dpe_detach(probes);
	dpe_attach_unhold(probes);
	if (probes->bpf)
		dpe_bpf__destroy(probes->bpf);
	probes->bpf = NULL;
}

/* ---- the stop before the program's first instruction -------------------------------------- */

static bool hold_at(struct dpe_probes *probes, const struct dpe_module *module, uint64_t offset,
	uint64_t cookie, struct dpe_diags *diags)
{
	LIBBPF_OPTS(bpf_uprobe_opts, options, .bpf_cookie = cookie);
	struct bpf_link *link;
	char path[32];

	snprintf(path, sizeof(path), "/proc/self/fd/%d", module->fd);
	link = bpf_program__attach_uprobe_opts(
		probes->bpf->progs.on_begin, probes->pid, path, offset, &options);
	if (link)
		*DPE_GROW(probes->begin_links, probes->nbegin_links, probes->capbegin_links) = link;
	else
		dpe_privilege_explain("wait for the program's libraries", errno, diags);
	return link;
}

static bool hold_in_linker(
	struct dpe_probes *probes, struct dpe_module *module, struct dpe_diags *diags)
{
	unsigned count;
	const struct dpe_function *function = dpe_module_find(module, DPE_LINKER_FUNCTION, &count);

	return !function || hold_at(probes, module, function->offset, 0, diags);
}

bool dpe_attach_hold_linker(struct dpe_probes *probes, struct dpe_diags *diags)
{
	const struct dpe_module *program = dpe_modules_program(&probes->modules);
	uint64_t offset;

	if (!dpe_module_entry_point(program, &offset)) {
		dpe_diag_at(diags, DPE_ERROR, program->path, "it has no entry point");
		return false;
	}
	for (unsigned i = 0; i < probes->modules.count; i++) {
		if (!hold_in_linker(probes, probes->modules.at[i], diags))
			return false;
	}
	__atomic_store_n(&probes->bpf->bss->hold_begin, 1, __ATOMIC_RELEASE);
	return hold_at(probes, program, offset, 1, diags);
}

bool dpe_attach_begins(const struct dpe_probes *probes)
{
	return __atomic_load_n(&probes->bpf->bss->begins, __ATOMIC_ACQUIRE);
}

void dpe_attach_unhold(struct dpe_probes *probes)
{
	if (probes->bpf)
		__atomic_store_n(&probes->bpf->bss->hold_begin, 0, __ATOMIC_RELEASE);
	dpe_links_end(probes->begin_links, probes->nbegin_links);
	free(probes->begin_links);
	probes->begin_links = NULL;
	probes->nbegin_links = probes->capbegin_links = 0;
}

void dpe_attach_configure_reads(struct dpe_probes *probes)
{
	dpe_reads_configure(probes, bpf_map__fd(probes->bpf->maps.read_where));
}
