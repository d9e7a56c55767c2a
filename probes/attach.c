/* attach: BPF programs into the kernel, probes into the target's files. The one file that knows
 * libbpf. */
#include "probes/layouts.h"
#include "probes/live.h"
#include "probes/usdt.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <linux/bpf.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "probes/bpf/probes.skel.h"

/* ---- many sites in one call: what installed headers may be too old to name
 * ------------------------- */

enum { TRACE_UPROBE_MULTI = 48, UPROBE_MULTI_RETURN = 1 };

struct multi_request {
	uint32_t program, target, type, flags;
	uint64_t path, offsets, counters, cookies;
	uint32_t count, multi_flags, pid, padding;
};

static int multi_link(struct multi_request *request)
{
	return syscall(SYS_bpf, BPF_LINK_CREATE, request, sizeof(*request));
}

/* A program that does nothing, or -1. */
static int load_nothing(uint32_t type, uint32_t flags)
{
	struct bpf_insn code[] = {
		{.code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_0},
		{.code = BPF_JMP | BPF_EXIT},
	};
	LIBBPF_OPTS(bpf_prog_load_opts, options, .expected_attach_type = (enum bpf_attach_type)type,
		.prog_flags = flags);

	return bpf_prog_load(BPF_PROG_TYPE_KPROBE, NULL, "GPL", code, DPE_COUNT(code), &options);
}

static bool kernel_has_sleep(bool multi)
{
	int program = load_nothing(multi ? TRACE_UPROBE_MULTI : 0, BPF_F_SLEEPABLE);

	if (program >= 0)
		close(program);
	return program >= 0;
}

/* True where the kernel knows the request (Linux 6.6): then a wrong file is what it finds wrong. */
static bool kernel_has_multi(void)
{
	uint64_t offset = 0;
	int link, error, program = load_nothing(TRACE_UPROBE_MULTI, 0);
	struct multi_request request = {
		.program = program,
		.type = TRACE_UPROBE_MULTI,
		.path = (uintptr_t) "/",
		.offsets = (uintptr_t)&offset,
		.count = 1,
	};

	if (program < 0)
		return false;
	link = multi_link(&request);
	error = errno;
	if (link >= 0)
		close(link);
	close(program);
	return link < 0 && error == EBADF;
}

/* ---- programs
 * ----------------------------------------------------------------------------------------- */

/* The inode of the namespace that our process ids are of; 0 for the initial one. */
static uint32_t pid_namespace(void)
{
	const uint32_t initial = 0xeffffffc;
	struct stat status;

	if (stat("/proc/self/ns/pid", &status) || (uint32_t)status.st_ino == initial)
		return 0;
	return status.st_ino;
}

/* Spots of libraries that are loaded later, as far as variables are read there. */
#define LATE_SPOTS 1024

bool dpe_attach_can_wait(void)
{
	return kernel_has_sleep(kernel_has_multi()) || errno == EPERM || errno == EACCES;
}

/* One a processor, unless fewer are wanted. */
static unsigned count_rings(const struct dpe_probes *probes)
{
	long processors = sysconf(_SC_NPROCESSORS_ONLN);
	unsigned most = processors > 0 ? (unsigned)processors : 1;

	return probes->wanted_rings && probes->wanted_rings < most ? probes->wanted_rings : most;
}

/* Each as large as one for all would be; from eight on, these together have so much as eight, but
 * none less than room for what comes between two looks. */
static size_t ring_size(unsigned wanted, unsigned count)
{
	const size_t usual = 8 << 20, least = 1 << 20;
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

/* What is read of locks was used just before, so it is in memory: probes that may sleep cost more. */
static bool reads_locks_alone(const struct dpe_probes *probes)
{
	const struct dpe_plan *plan = probes->plan;

	for (unsigned i = 0; i < plan->nwatched; i++) {
		if (plan->watched[i].reads)
			return false;
	}
	for (unsigned i = 0; i < plan->nsites; i++) {
		const char *name = dpe_name_text(probes->names, plan->sites[i].name);

		for (unsigned j = 0; j < plan->nreads && j < DPE_READS; j++) {
			if (plan->sites[i].reads >> j & 1 &&
				!dpe_layout_has(name, plan->reads[j].lvalue))
				return false;
		}
	}
	return !dpe_usdt_is_wanted(probes);
}

/* Programs that may sleep (Linux 6.0) can read what is not in memory at the moment. */
static void configure_reads(struct dpe_probes *probes, bool multi)
{
	struct dpe_bpf *bpf = probes->bpf;

	bpf->rodata->reads_values = probes->plan->nreads;
	bpf->rodata->reads_usdt = dpe_usdt_is_wanted(probes);
	if (!bpf->rodata->reads_values && !bpf->rodata->reads_usdt)
		return;
	probes->first_watch = probes->nspots + LATE_SPOTS;
	bpf_map__set_max_entries(bpf->maps.read_where, probes->first_watch + 2 * DPE_WATCHES);
	bpf_map__set_max_entries(bpf->maps.usdt_where, probes->first_watch);
	bpf->rodata->first_watch = probes->first_watch;
	bpf->rodata->lowest_code = dpe_reads_lowest_code(probes);
	bpf->rodata->most_values =
		probes->plan->nreads < DPE_VALUES ? probes->plan->nreads : DPE_VALUES;
	bpf->rodata->most_steps = reads_locks_alone(probes) ? 1 : DPE_VALUE_STEPS;
	bpf->rodata->may_sleep = !reads_locks_alone(probes) && kernel_has_sleep(multi);
	if (!bpf->rodata->may_sleep)
		return;
	bpf_program__set_flags(bpf->progs.on_enter, BPF_F_SLEEPABLE);
	bpf_program__set_flags(bpf->progs.on_exit, BPF_F_SLEEPABLE);
}

/* Behind the spots there is room for those of libraries that are loaded later. */
static void configure_arms(struct dpe_probes *probes)
{
	struct dpe_bpf *bpf = probes->bpf;

	bpf->rodata->arms = probes->arms.nkinds;
	if (!probes->arms.nkinds)
		return;
	bpf_map__set_max_entries(bpf->maps.arm_where, probes->nspots + LATE_SPOTS);
	bpf_program__set_flags(bpf->progs.on_enter, BPF_F_SLEEPABLE);
	bpf_program__set_flags(bpf->progs.on_exit, BPF_F_SLEEPABLE);
}

static void configure_linker(struct dpe_probes *probes, bool multi)
{
	struct bpf_program *program = probes->bpf->progs.on_libraries;

	probes->bpf->rodata->observer = getpid();
	if (!kernel_has_sleep(multi)) {
		bpf_program__set_autoload(program, false);
		return;
	}
	bpf_program__set_flags(program, BPF_F_SLEEPABLE);
	if (multi)
		bpf_program__set_expected_attach_type(
			program, (enum bpf_attach_type)TRACE_UPROBE_MULTI);
}

static void configure(struct dpe_probes *probes, bool multi)
{
	struct dpe_bpf *bpf = probes->bpf;

	configure_linker(probes, multi);
	bpf->rodata->target = probes->pid;
	bpf->rodata->namespace = pid_namespace();
	bpf->rodata->stack_depth =
		probes->stack_depth > DPE_STACK_MAX ? DPE_STACK_MAX : probes->stack_depth;
	bpf->rodata->threads = probes->plan->threads;
	bpf->rodata->nrings = count_rings(probes);
	bpf_map__set_max_entries(bpf->maps.rings, bpf->rodata->nrings);
	bpf->rodata->attached = !probes->child.pid;
	bpf->rodata->founds = probes->plan->founds && !probes->child.pid;
	configure_reads(probes, multi);
	configure_arms(probes);
	bpf_program__set_autoload(bpf->progs.on_fork, probes->plan->threads);
	bpf_program__set_autoload(bpf->progs.on_access, probes->nwatches + probes->arms.nkinds);
	if (!multi)
		return;
	bpf_program__set_expected_attach_type(
		bpf->progs.on_enter, (enum bpf_attach_type)TRACE_UPROBE_MULTI);
	bpf_program__set_expected_attach_type(
		bpf->progs.on_exit, (enum bpf_attach_type)TRACE_UPROBE_MULTI);
}

/* The last thing that the verifier said before its statistics. */
static void say_log(char *log, struct dpe_diags *diags)
{
	char *rest, *last = NULL;

	for (char *line = strtok_r(log, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest))
		if (strncmp(line, "processed ", 10) && strncmp(line, "verification time", 17) &&
			strncmp(line, "stack depth", 11))
			last = line;
	if (last)
		dpe_diag_at(diags, DPE_NOTE, "dpe", "the kernel says: %s", last);
}

/* The rings are in place before the first program can run. 0 or a positive error. */
static int make_rings(struct dpe_probes *probes)
{
	const struct dpe_bpf *bpf = probes->bpf;
	size_t size = ring_size(probes->ring_bytes, bpf->rodata->nrings);
	int error = dpe_kernel_rings_open(
		&probes->rings, bpf->rodata->nrings, &probes->bpf->bss->waiting, probes->pidfd);

	dpe_debug(probes->debug, "probes", 1, "%u ring%s of %zu bytes", bpf->rodata->nrings,
		bpf->rodata->nrings == 1 ? "" : "s", size);
	for (uint32_t i = 0; !error && i < bpf->rodata->nrings; i++) {
		int fd = bpf_map_create(BPF_MAP_TYPE_RINGBUF, "dpe_ring", 0, 0, size, NULL);

		if (fd < 0)
			return errno;
		error = dpe_kernel_rings_add(&probes->rings, fd, size);
		if (!error && bpf_map_update_elem(bpf_map__fd(bpf->maps.rings), &i, &fd, BPF_ANY))
			error = -errno;
	}
	return -error;
}

static bool load_programs(struct dpe_probes *probes, bool multi, struct dpe_diags *diags)
{
	const size_t size = 1 << 20;
	char *log = dpe_xcalloc(1, size);
	LIBBPF_OPTS(bpf_object_open_opts, options, .kernel_log_buf = log, .kernel_log_size = size);
	int error;

	libbpf_set_print(NULL);
	probes->bpf = dpe_bpf__open_opts(&options);
	error = probes->bpf ? 0 : errno;
	if (!error) {
		configure(probes, multi);
		error = -dpe_bpf__load(probes->bpf);
	}
	if (!error)
		error = make_rings(probes);
	if (error) {
		dpe_privilege_explain("load our BPF programs", error, diags);
		say_log(log, diags);
	} else {
		dpe_reads_tell(probes, bpf_map__fd(probes->bpf->maps.read_where));
		dpe_armed_tell(probes, bpf_map__fd(probes->bpf->maps.arm_where));
		dpe_usdt_tell(probes, bpf_map__fd(probes->bpf->maps.usdt_where));
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

static bool attach_tracepoints(struct dpe_probes *probes, struct dpe_diags *diags)
{
	struct dpe_bpf *bpf = probes->bpf;

	if (probes->plan->threads &&
		!attach_tracepoint(bpf->progs.on_fork, &bpf->links.on_fork, diags))
		return false;
	return attach_tracepoint(bpf->progs.on_exec, &bpf->links.on_exec, diags) &&
	       attach_tracepoint(bpf->progs.on_end, &bpf->links.on_end, diags);
}

/* ---- probes
 * ------------------------------------------------------------------------------------------- */

static uint64_t cookie_of(const struct dpe_probes *probes, const struct dpe_spot *spot)
{
	return DPE_COOKIE((uint64_t)(spot - probes->spots), dpe_signature_words(spot->signature),
		       spot->enter, spot->exit) |
	       (spot->reads ? DPE_COOKIE_WITH_VALUES : 0) |
	       (dpe_armed_at(probes, spot) ? DPE_COOKIE_ARMS : 0) |
	       (spot->site->kind ? DPE_COOKIE_INSIDE : 0) | (spot->usdt ? DPE_COOKIE_USDT : 0);
}

static void say_ended(const struct dpe_probes *probes, struct dpe_diags *diags)
{
	char process[32];

	snprintf(process, sizeof(process), "process %d", probes->pid);
	dpe_diag_at(diags, probes->placed ? DPE_WARNING : DPE_ERROR, process,
		"it has ended in the meantime");
}

static bool say_refused(const struct dpe_probes *probes, const struct dpe_spot *spot, int error,
	struct dpe_diags *diags)
{
	const char *name = dpe_name_text(probes->names, spot->site->name);
	enum dpe_severity severity = probes->placed ? DPE_WARNING : DPE_ERROR;

	if (error == ESRCH)
		say_ended(probes, diags);
	else if (error == EPERM || error == EACCES)
		dpe_privilege_explain("observe functions", error, diags);
	else if (error == EINVAL || error == EOPNOTSUPP || error == 524 /* ENOTSUPP */)
		dpe_diag(diags, severity, spot->site->place,
			"'%s' of %s cannot be observed: the kernel cannot put a probe on its first "
			"instruction",
			name, spot->module->name);
	else
		dpe_diag(diags, severity, spot->site->place, "'%s' of %s cannot be observed: %s",
			name, spot->module->name, strerror(error));
	return false;
}

static bool attach_one(
	struct dpe_probes *probes, const struct dpe_spot *spot, bool exit, struct dpe_diags *diags)
{
	LIBBPF_OPTS(bpf_uprobe_opts, options, .bpf_cookie = cookie_of(probes, spot),
		.retprobe = exit, .ref_ctr_offset = dpe_usdt_counter(spot->usdt));
	struct bpf_program *program =
		exit ? probes->bpf->progs.on_exit : probes->bpf->progs.on_enter;
	struct bpf_link *link;
	char path[32];

	snprintf(path, sizeof(path), "/proc/self/fd/%d", spot->module->fd);
	link = bpf_program__attach_uprobe_opts(program, probes->pid, path,
		spot->function->offset + spot->placement.distance, &options);
	if (!link)
		return say_refused(probes, spot, errno, diags);
	*DPE_GROW(probes->probe_links, probes->nprobe_links, probes->capprobe_links) = link;
	return true;
}

/* A group is all spots of one module that are probed at their entries or at their returns. */
struct group {
	const struct dpe_module *module;
	bool exit;
	uint64_t *offsets, *cookies, *counters;
	const struct dpe_spot **spots;
	unsigned count;
};

static void collect_group(const struct dpe_probes *probes, struct group *group)
{
	group->offsets = dpe_xcalloc(probes->nspots, sizeof(*group->offsets));
	group->counters = dpe_xcalloc(probes->nspots, sizeof(*group->counters));
	group->cookies = dpe_xcalloc(probes->nspots, sizeof(*group->cookies));
	group->spots = dpe_xcalloc(probes->nspots, sizeof(*group->spots));
	group->count = 0;
	for (unsigned i = 0; i < probes->nspots; i++) {
		const struct dpe_spot *spot = &probes->spots[i];

		if (spot->module != group->module || spot->preloaded ||
			(group->exit && !spot->exit))
			continue;
		group->offsets[group->count] = spot->function->offset + spot->placement.distance;
		group->counters[group->count] = dpe_usdt_counter(spot->usdt);
		group->cookies[group->count] = cookie_of(probes, spot);
		group->spots[group->count++] = spot;
	}
}

static void free_group(struct group *group)
{
	free(group->offsets);
	free(group->cookies);
	free(group->counters);
	free(group->spots);
}

static int link_spots(
	const struct dpe_probes *probes, const struct group *group, unsigned first, unsigned count)
{
	const struct dpe_bpf *bpf = probes->bpf;
	char path[32];
	struct multi_request request = {
		.program = bpf_program__fd(group->exit ? bpf->progs.on_exit : bpf->progs.on_enter),
		.type = TRACE_UPROBE_MULTI,
		.path = (uintptr_t)path,
		.offsets = (uintptr_t)&group->offsets[first],
		.counters = (uintptr_t)&group->counters[first],
		.cookies = (uintptr_t)&group->cookies[first],
		.count = count,
		.multi_flags = group->exit ? UPROBE_MULTI_RETURN : 0,
		.pid = probes->pid,
	};

	snprintf(path, sizeof(path), "/proc/self/fd/%d", group->module->fd);
	return multi_link(&request);
}

/* The kernel does not say which of the spots it refused. */
static bool find_refused(
	const struct dpe_probes *probes, const struct group *group, struct dpe_diags *diags)
{
	bool found = false;
	int error = errno;

	for (unsigned i = 0; i < group->count; i++) {
		int link = link_spots(probes, group, i, 1);

		if (link >= 0) {
			close(link);
			continue;
		}
		say_refused(probes, group->spots[i], errno, diags);
		found = true;
	}
	return found || say_refused(probes, group->spots[0], error, diags);
}

static bool attach_group(struct dpe_probes *probes, const struct dpe_module *module, bool exit,
	struct dpe_diags *diags)
{
	struct group group = {.module = module, .exit = exit};
	int link = -1;

	collect_group(probes, &group);
	if (group.count) {
		link = link_spots(probes, &group, 0, group.count);
		if (link >= 0)
			*DPE_GROW(probes->links, probes->nlinks, probes->caplinks) = link;
		else
			find_refused(probes, &group, diags);
	}
	free_group(&group);
	return link >= 0 || !group.count;
}

/* Entries before returns: a call that is not seen to begin must not be seen to return. */
static bool attach_probes(struct dpe_probes *probes, bool multi, bool exit, struct dpe_diags *diags)
{
	bool complete = true;

	if (multi) {
		for (unsigned i = 0; i < probes->modules.count; i++)
			complete &= attach_group(probes, probes->modules.at[i], exit, diags);
		return complete;
	}
	for (unsigned i = 0; i < probes->nspots; i++)
		if (!probes->spots[i].preloaded && (!exit || probes->spots[i].exit))
			complete &= attach_one(probes, &probes->spots[i], exit, diags);
	return complete;
}

bool dpe_attach(struct dpe_probes *probes, bool armed, struct dpe_diags *diags)
{
	bool multi = !probes->one_by_one && kernel_has_multi();

	probes->multi = multi;
	dpe_debug(probes->debug, "probes", 1, "%u places, %s", probes->nspots,
		multi ? "all of a file in one call" : "one by one");
	if (!load_programs(probes, multi, diags) || !attach_tracepoints(probes, diags) ||
		!dpe_late_begin(probes, diags) || !attach_probes(probes, multi, false, diags) ||
		!attach_probes(probes, multi, true, diags))
		return false;
	if (armed) {
		__atomic_store_n(&probes->bpf->bss->armed, 1, __ATOMIC_RELEASE);
		__atomic_store_n(&probes->bpf->bss->armed_at, dpe_ring_now(), __ATOMIC_RELEASE);
	}
	probes->placed = true;
	return true;
}

/* ---- while the target runs
 * -------------------------------------------------------------------------------- */

void dpe_attach_lose(struct dpe_probes *probes)
{
	struct dpe_lost *lost = &probes->bpf->bss->nowhere;
	uint64_t now = dpe_ring_now();

	__atomic_fetch_add(&lost->count, 1, __ATOMIC_RELAXED);
	if (!lost->first)
		lost->first = now;
	lost->last = now;
}

/* One after the other: what the kernel refuses shall not keep the others from being seen. Nothing
 * may be taken out again here: the kernel waits then for all that wait for us. */
static void attach_each(struct dpe_probes *probes, const struct group *group)
{
	for (unsigned i = 0; i < group->count; i++) {
		int link = link_spots(probes, group, i, 1);

		if (link >= 0) {
			*DPE_GROW(probes->links, probes->nlinks, probes->caplinks) = link;
			continue;
		}
		say_refused(probes, group->spots[i], errno, probes->diags);
		dpe_attach_lose(probes);
	}
}

static void attach_group_late(
	struct dpe_probes *probes, const struct dpe_module *module, bool exit)
{
	struct group group = {.module = module, .exit = exit};
	int link;

	collect_group(probes, &group);
	link = group.count ? link_spots(probes, &group, 0, group.count) : -1;
	if (link >= 0)
		*DPE_GROW(probes->links, probes->nlinks, probes->caplinks) = link;
	else
		attach_each(probes, &group);
	free_group(&group);
}

static void attach_late(struct dpe_probes *probes, unsigned module, unsigned spot, bool exit)
{
	if (probes->multi) {
		for (unsigned i = module; i < probes->modules.count; i++)
			attach_group_late(probes, probes->modules.at[i], exit);
		return;
	}
	for (unsigned i = spot; i < probes->nspots; i++) {
		if ((!exit || probes->spots[i].exit) &&
			!attach_one(probes, &probes->spots[i], exit, probes->diags))
			dpe_attach_lose(probes);
	}
}

void dpe_attach_late(struct dpe_probes *probes, unsigned module, unsigned spot)
{
	for (unsigned i = spot; i < probes->nspots; i++) {
		dpe_reads_tell_spot(probes, bpf_map__fd(probes->bpf->maps.read_where), i);
		dpe_usdt_tell_spot(probes, bpf_map__fd(probes->bpf->maps.usdt_where), i);
	}
	attach_late(probes, module, spot, false);
	attach_late(probes, module, spot, true);
}

bool dpe_attach_linker(struct dpe_probes *probes, const struct dpe_module *module,
	const struct dpe_function *function, struct dpe_diags *diags)
{
	struct bpf_program *program = probes->bpf->progs.on_libraries;
	LIBBPF_OPTS(bpf_uprobe_opts, options, 0);
	uint64_t offset = function->offset, zero = 0;
	char path[32];
	struct multi_request request = {
		.program = bpf_program__fd(program),
		.type = TRACE_UPROBE_MULTI,
		.path = (uintptr_t)path,
		.offsets = (uintptr_t)&offset,
		.counters = (uintptr_t)&zero,
		.cookies = (uintptr_t)&zero,
		.count = 1,
		.pid = probes->pid,
	};
	struct bpf_link *link = NULL;
	int fd = -1;

	if (!bpf_program__autoload(program))
		return true;
	snprintf(path, sizeof(path), "/proc/self/fd/%d", module->fd);
	if (probes->multi) {
		fd = multi_link(&request);
		if (fd >= 0)
			*DPE_GROW(probes->links, probes->nlinks, probes->caplinks) = fd;
	} else {
		link = bpf_program__attach_uprobe_opts(
			program, probes->pid, path, offset, &options);
		if (link)
			*DPE_GROW(probes->probe_links, probes->nprobe_links,
				probes->capprobe_links) = link;
	}
	if (fd >= 0 || link)
		return true;
	if (errno == ESRCH)
		say_ended(probes, diags);
	else
		dpe_privilege_explain("observe what the target loads", errno, diags);
	return false;
}

bool dpe_attach_asked(const struct dpe_probes *probes, uint64_t *number)
{
	*number = __atomic_load_n(&probes->bpf->bss->asked, __ATOMIC_ACQUIRE);
	return *number > probes->bpf->bss->answered;
}

void dpe_attach_answer(struct dpe_probes *probes, uint64_t number)
{
	__atomic_store_n(&probes->bpf->bss->answered, number, __ATOMIC_RELEASE);
}

void dpe_detach(struct dpe_probes *probes)
{
	if (probes->bpf && probes->bpf->bss)
		dpe_attach_answer(probes, UINT64_MAX);
	dpe_preload_shut(probes);
	dpe_armed_release(probes);
	while (probes->nlinks)
		close(probes->links[--probes->nlinks]);
	while (probes->nprobe_links)
		bpf_link__destroy(probes->probe_links[--probes->nprobe_links]);
	if (probes->bpf)
		dpe_bpf__detach(probes->bpf);
}

void dpe_attach_free(struct dpe_probes *probes)
{
	dpe_detach(probes);
	free(probes->links);
	free(probes->probe_links);
	if (probes->bpf)
		dpe_bpf__destroy(probes->bpf);
	probes->bpf = NULL;
}

/* ---- data events
 * ---------------------------------------------------------------------------------------- */

void dpe_attach_watch(
	struct dpe_probes *probes, unsigned index, uint64_t address, unsigned size, uint64_t value)
{
	probes->bpf->bss->watches[index] =
		(struct dpe_watch_entry){.address = address, .last = value, .size = size};
	__atomic_store_n(&probes->bpf->bss->nwatches, index + 1, __ATOMIC_RELEASE);
}

uint64_t dpe_attach_loads(const struct dpe_probes *probes)
{
	return __atomic_load_n(&probes->bpf->bss->loads, __ATOMIC_ACQUIRE);
}

/* The address says that the rest is valid. */
void dpe_attach_arm(
	struct dpe_probes *probes, unsigned slot, const struct dpe_armed_entry *entry)
{
	struct dpe_armed_entry *to = &probes->bpf->bss->armed_objects[slot];

	__atomic_store_n(&to->address, 0, __ATOMIC_SEQ_CST);
	to->object = entry->object;
	to->last = entry->last;
	to->size = entry->size;
	to->kind = entry->kind;
	__atomic_store_n(&to->address, entry->address, __ATOMIC_RELEASE);
}

struct dpe_arm_request *dpe_attach_arm_requests(const struct dpe_probes *probes)
{
	return probes->bpf->bss->arm_requests;
}

int dpe_attach_arm_map(const struct dpe_probes *probes)
{
	return bpf_map__fd(probes->bpf->maps.arm_where);
}

int dpe_attach_on_access(const struct dpe_probes *probes)
{
	return bpf_program__fd(probes->bpf->progs.on_access);
}

void dpe_attach_hold(struct dpe_probes *probes)
{
	__atomic_store_n(&probes->bpf->bss->hold_program, 1, __ATOMIC_RELEASE);
}

/* ---- what the programs tell
 * ----------------------------------------------------------------------------- */

uint64_t dpe_attach_trampoline(const struct dpe_probes *probes)
{
	return probes->bpf->bss->trampoline;
}

uint64_t dpe_attach_code(const struct dpe_probes *probes)
{
	return probes->bpf->bss->code;
}

unsigned dpe_attach_execs(const struct dpe_probes *probes)
{
	return probes->bpf->bss->execs;
}

static void add_loss(struct dpe_loss *losses, unsigned max, unsigned *count, uint32_t thread,
	const struct dpe_lost *lost)
{
	if (!lost->count)
		return;
	if (*count < max)
		losses[*count] = (struct dpe_loss){
			.thread = thread,
			.count = lost->count,
			.first = lost->first,
			.last = lost->last,
		};
	++*count;
}

/* Runs of a program that the kernel left out, because it ran already on the same processor. */
static uint64_t count_left_out(const struct bpf_program *program)
{
	struct bpf_prog_info info = {0};
	uint32_t size = sizeof(info);
	int fd = bpf_program__fd(program);

	return fd >= 0 && !bpf_obj_get_info_by_fd(fd, &info, &size) ? info.recursion_misses : 0;
}

static struct dpe_lost lost_by_nobody(const struct dpe_probes *probes)
{
	struct dpe_lost lost = probes->bpf->bss->nowhere;
	struct bpf_program *program;
	uint64_t left_out = 0;

	bpf_object__for_each_program(program, probes->bpf->obj) left_out += count_left_out(program);
	if (left_out)
		lost.last = dpe_ring_now();
	lost.count += left_out;
	return lost;
}

unsigned dpe_attach_losses(struct dpe_probes *probes, struct dpe_loss *losses, unsigned max)
{
	int map = bpf_map__fd(probes->bpf->maps.losses);
	struct dpe_lost lost = lost_by_nobody(probes);
	uint32_t thread, *previous = NULL;
	unsigned count = 0;

	add_loss(losses, max, &count, 0, &lost);
	while (!bpf_map_get_next_key(map, previous, &thread)) {
		previous = &thread;
		if (!bpf_map_lookup_elem(map, &thread, &lost))
			add_loss(losses, max, &count, thread, &lost);
	}
	return count;
}
