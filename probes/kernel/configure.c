/* configure: what the kernel supports, and constants and sizes of our programs, set before they are loaded. */
#include "probes/kernel/attach.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <fcntl.h>
#include <linux/bpf.h>
#include <linux/btf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "probes/kernel/bpf/programs.skel.h"

/* The inode of the namespace that our process ids belong to; 0 for the initial one. */
static uint32_t pid_namespace(void)
{
	const uint32_t initial = 0xeffffffc;
	struct stat status;

	if (stat("/proc/self/ns/pid", &status) || (uint32_t)status.st_ino == initial)
		return 0;
	return status.st_ino;
}

/* Including sites of files that are loaded later, if variables are read there. */
static unsigned max_sites(const struct dpe_probes *probes)
{
	return probes->nsites + (probes->follows ? DPE_FOLLOWED_SITES : DPE_LATE_SITES);
}

/* One a processor, unless fewer are wanted. */
static unsigned count_rings(const struct dpe_probes *probes)
{
	long processors = sysconf(_SC_NPROCESSORS_ONLN);
	unsigned max = processors > 0 ? (unsigned)processors : 1;

	return probes->wanted_rings && probes->wanted_rings < max ? probes->wanted_rings : max;
}

/* The words of a lock were used just before, so they are in memory. Probes that may sleep would cost more. */
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

static void let_sleep(struct dpe_bpf *bpf)
{
	bpf_program__set_flags(bpf->progs.on_enter, BPF_F_SLEEPABLE);
	bpf_program__set_flags(bpf->progs.on_exit, BPF_F_SLEEPABLE);
	bpf_program__set_flags(bpf->progs.on_ret, BPF_F_SLEEPABLE);
	bpf_program__set_flags(bpf->progs.on_go_enter, BPF_F_SLEEPABLE);
	bpf_program__set_flags(bpf->progs.on_go_ret, BPF_F_SLEEPABLE);
}

/* Programs that may sleep can read memory that is paged out. */
static void configure_reads(struct dpe_probes *probes)
{
	struct dpe_bpf *bpf = probes->bpf;

	bpf->rodata->reads_values = probes->plan->nreads;
	bpf->rodata->reads_usdt = dpe_usdt_is_wanted(probes);
	bpf->rodata->reads_texts = dpe_reads_texts(probes);
	if (bpf->rodata->reads_texts)
		bpf_map__set_max_entries(bpf->maps.wanted_texts, DPE_WANTED_TEXTS);
	if (!bpf->rodata->reads_values && !bpf->rodata->reads_usdt)
		return;
	probes->first_watch = max_sites(probes);
	bpf_map__set_max_entries(bpf->maps.read_where, probes->first_watch + 2 * DPE_WATCHES);
	bpf_map__set_max_entries(bpf->maps.usdt_where, probes->first_watch);
	bpf->rodata->first_watch = probes->first_watch;
	bpf->rodata->lowest_code = dpe_module_lowest_code(dpe_modules_program(&probes->modules));
	probes->max_values = dpe_reads_max(probes);
	bpf->rodata->max_values = probes->max_values;
	bpf->rodata->max_steps = reads_locks_alone(probes) ? 1 : DPE_VALUE_STEPS;
	bpf->rodata->may_sleep = !reads_locks_alone(probes);
	if (bpf->rodata->may_sleep)
		let_sleep(bpf);
}

/* Programs that may sleep can wait until another thread has changed the mappings. */
static void configure_places(struct dpe_probes *probes)
{
	struct dpe_bpf *bpf = probes->bpf;

	bpf->rodata->place_may_sleep = probes->follows;
	if (bpf->rodata->place_may_sleep)
		let_sleep(bpf);
}

/* If the kernel emulates all probed instructions, none of them faults. Nothing is known yet about libraries that may be
 * loaded later. Handlers on stacks of their own concern exits that are observed where functions return. */
static void configure_signals(struct dpe_probes *probes)
{
	bool steps = false;

	for (unsigned i = 0; i < probes->nsites; i++)
		steps |= probes->sites[i].placement.cost != DPE_STEP_EMULATED;
	probes->bpf->rodata->steps = steps;
	bpf_program__set_autoload(probes->bpf->progs.on_signal, steps || (probes->may_unwind && dpe_plan_observes_exits(probes->plan)));
}

/* Verifying them takes the kernel a tenth of a second. */
static void configure_returns(struct dpe_probes *probes)
{
	bool needed = probes->may_unwind && dpe_plan_observes_exits(probes->plan);

	bpf_program__set_autoload(probes->bpf->progs.on_ret, needed);
	bpf_program__set_autoload(probes->bpf->progs.on_landing, needed);
	bpf_program__set_autoload(probes->bpf->progs.on_longjmp, needed);
}

static void configure_go(struct dpe_probes *probes)
{
	struct dpe_bpf *bpf = probes->bpf;

	bpf_program__set_autoload(bpf->progs.on_go_enter, probes->go);
	bpf_program__set_autoload(bpf->progs.on_go_ret, probes->go && dpe_plan_observes_exits(probes->plan));
	if (probes->go) {
		bpf->rodata->go = probes->go_layout;
		return;
	}
	bpf_map__set_max_entries(bpf->maps.goroutines, 1);
	bpf_map__set_max_entries(bpf->maps.go_calls, 1);
}

/* After the sites there is room for those of libraries that are loaded later. */
static void configure_object_watches(struct dpe_probes *probes)
{
	struct dpe_bpf *bpf = probes->bpf;

	bpf->rodata->watches_objects = probes->object_watches->nkinds;
	if (!probes->object_watches->nkinds)
		return;
	bpf_map__set_max_entries(bpf->maps.watch_changes, max_sites(probes));
	let_sleep(bpf);
}

static void configure_guards(struct dpe_probes *probes)
{
	struct dpe_bpf *bpf = probes->bpf;

	if (!dpe_guards_are_wanted(probes))
		return;
	probes->guards->max_sites = max_sites(probes);
	bpf->rodata->first_guard = 2 * probes->guards->max_sites;
	bpf_map__set_max_entries(
		bpf->maps.guards, 2 * probes->guards->max_sites + probes->nwatches + 1);
	bpf->rodata->flag_shares = dpe_event_flags_shares() - 1;
	bpf_map__set_max_entries(bpf->maps.flag_counts, dpe_event_flags_shares());
}

/* A number from a file of the kernel, or `otherwise`. */
static unsigned read_number(const char *path, unsigned otherwise)
{
	FILE *file = fopen(path, "re");
	unsigned number;

	if (!file || fscanf(file, "%u", &number) != 1 || !number)
		number = otherwise;
	if (file)
		fclose(file);
	return number;
}

/* The kernel allocates the maximum, which takes time: so there are no more threads than it has ids for, and no
 * processes unless they are followed. */
static void configure_room(struct dpe_probes *probes)
{
	const struct dpe_bpf *bpf = probes->bpf;
	struct bpf_map *of_processes[] = {bpf->maps.followed, bpf->maps.held, bpf->maps.released,
		bpf->maps.stopped, bpf->maps.child_stops, bpf->maps.stopped_parents, bpf->maps.beginnings,
		bpf->maps.backings, bpf->maps.asking, bpf->maps.process_waits, bpf->maps.known_mappings};
	unsigned max = bpf_map__max_entries(bpf->maps.ended);
	unsigned threads = read_number("/proc/sys/kernel/pid_max", max);

	bpf_map__set_max_entries(bpf->maps.ended, threads < max ? threads : max);
	for (unsigned i = 0; !probes->follows && i < DPE_COUNT(of_processes); i++)
		bpf_map__set_max_entries(of_processes[i], 1);
}

static void configure_linker(struct dpe_probes *probes, bool multi)
{
	struct bpf_program *program = probes->bpf->progs.on_libraries;

	probes->bpf->rodata->observer = getpid();
	bpf_program__set_flags(program, BPF_F_SLEEPABLE);
	if (multi)
		bpf_program__set_expected_attach_type(
			program, (enum bpf_attach_type)TRACE_UPROBE_MULTI);
}

static uint32_t read_all(int file, char *to, uint32_t size, off_t from)
{
	uint32_t done = 0;
	ssize_t got;

	while (done < size && (got = pread(file, to + done, size - done, from + done)) > 0)
		done += (uint32_t)got;
	return done;
}

/* Since Linux 6.18; found by the names of the kernel's functions. */
static bool kernel_has_task_work(void)
{
	static const char name[] = "bpf_task_work_schedule_resume_impl";
	int file = open("/sys/kernel/btf/vmlinux", O_RDONLY | O_CLOEXEC);
	struct btf_header header;
	uint32_t size = 0;
	char *strings = NULL;
	bool found;

	if (file >= 0 && pread(file, &header, sizeof(header), 0) == sizeof(header) && header.magic == BTF_MAGIC &&
		header.str_len <= DPE_KERNEL_NAMES) {
		strings = dpe_xmalloc(header.str_len);
		size = read_all(file, strings, header.str_len, (off_t)header.hdr_len + header.str_off);
	}
	if (file >= 0)
		close(file);
	found = strings && memmem(strings, size, name, sizeof(name));
	free(strings);
	return found;
}

static void configure_rights(const struct dpe_probes *probes)
{
	const struct dpe_tracer tracer = dpe_tracer_find();
	struct dpe_bpf *bpf = probes->bpf;

	bpf->rodata->traces_all = tracer.all;
	bpf->rodata->tracer_uid = tracer.uid;
	bpf->rodata->tracer_gid = tracer.gid;
	bpf->rodata->tracer_permitted = tracer.permitted;
}

#ifdef DPE_TINY
static unsigned long read_variable(const char *name)
{
	const char *value = getenv(name);

	return value ? strtoul(value, NULL, 10) : 0;
}

static void configure_failures(struct dpe_bpf *bpf)
{
	bpf->rodata->failing_reservation = read_variable("DPE_FAIL_RESERVATION");
	bpf->rodata->failing_update = read_variable("DPE_FAIL_UPDATE");
	bpf->rodata->failing_place = read_variable("DPE_FAIL_PLACE");
}
#endif

static void configure_process(struct dpe_probes *probes)
{
	struct dpe_bpf *bpf = probes->bpf;

	bpf->rodata->target = probes->pid;
	bpf->rodata->follow = probes->follows;
	bpf->rodata->has_task_work = !probes->stop_processes && kernel_has_task_work();
	bpf_program__set_autoload(bpf->progs.on_begin_process,
		probes->follows && !bpf->rodata->has_task_work);
	bpf->rodata->namespace = pid_namespace();
	bpf->rodata->children_wait = probes->children_wait;
	bpf->rodata->event_signal = (__u32)probes->signal;
	bpf->rodata->attached = !probes->launched;
}

static void configure_stacks(struct dpe_probes *probes)
{
	struct dpe_bpf *bpf = probes->bpf;

	bpf->rodata->stack_depth =
		probes->stack_depth > DPE_STACK_MAX ? DPE_STACK_MAX : probes->stack_depth;
	if (bpf->rodata->stack_depth < 2)
		bpf_map__set_max_entries(bpf->maps.frame_tables, 1);
}

/* What is observed beside the calls of functions. */
static void configure_system_events(struct dpe_probes *probes)
{
	const struct dpe_plan *plan = probes->plan;
	struct dpe_bpf *bpf = probes->bpf;

	bpf->rodata->threads = plan->threads || probes->follows;
	bpf->rodata->channels = plan->channels;
	bpf->rodata->waits = plan->waits;
	bpf->rodata->founds = plan->founds && !probes->launched;
	bpf->rodata->awaits = plan->nsites || probes->follows;
	bpf_program__set_autoload(bpf->progs.on_call, plan->channels);
	bpf_program__set_autoload(bpf->progs.on_return, plan->channels || plan->waits);
	bpf_program__set_autoload(bpf->progs.on_begin, dpe_bases_in_libraries(probes));
	bpf_program__set_autoload(bpf->progs.on_access, probes->nwatches + probes->object_watches->nkinds);
}

/* The kernel attaches many probes at once. */
static void configure_multi(struct dpe_bpf *bpf)
{
	bpf->rodata->refuses_returns = dpe_kernel_has_sessions();
	bpf_program__set_expected_attach_type(
		bpf->progs.on_enter, (enum bpf_attach_type)TRACE_UPROBE_MULTI);
	bpf_program__set_expected_attach_type(bpf->progs.on_landing, (enum bpf_attach_type)TRACE_UPROBE_MULTI);
	bpf_program__set_expected_attach_type(bpf->progs.on_longjmp, (enum bpf_attach_type)TRACE_UPROBE_MULTI);
	bpf_program__set_expected_attach_type(bpf->progs.on_ret, (enum bpf_attach_type)TRACE_UPROBE_MULTI);
	bpf_program__set_expected_attach_type(bpf->progs.on_go_enter, (enum bpf_attach_type)TRACE_UPROBE_MULTI);
	bpf_program__set_expected_attach_type(bpf->progs.on_go_ret, (enum bpf_attach_type)TRACE_UPROBE_MULTI);
	bpf_program__set_expected_attach_type(
		bpf->progs.on_exit, (enum bpf_attach_type)(bpf->rodata->refuses_returns ? TRACE_UPROBE_SESSION : TRACE_UPROBE_MULTI));
}

void dpe_configure(struct dpe_probes *probes, bool multi)
{
	struct dpe_bpf *bpf = probes->bpf;

#ifdef DPE_TINY
	configure_failures(bpf);
#endif
	configure_linker(probes, multi);
	configure_rights(probes);
	configure_process(probes);
	configure_stacks(probes);
	configure_system_events(probes);
	bpf->rodata->nrings = count_rings(probes);
	bpf_map__set_max_entries(bpf->maps.rings, bpf->rodata->nrings);
	bpf_map__set_max_entries(bpf->maps.lost_at, 2 * max_sites(probes));
	configure_room(probes);
	configure_guards(probes);
	configure_reads(probes);
	configure_object_watches(probes);
	configure_places(probes);
	configure_signals(probes);
	configure_returns(probes);
	configure_go(probes);
	if (multi)
		configure_multi(bpf);
}
