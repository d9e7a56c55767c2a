/* follow: the processes that the target creates, and the programs that they execute. A new process, and one that has
 * begun an unknown program, waits in the kernel until it has its probes (process_probes.c); where the kernel cannot let
 * it wait, or we are slow, it is stopped and continued here, by the watchdog if we die. What it maps later:
 * late_mappings.c. */
#include "probes/target/target.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/pidfd.h>
#include <time.h>
#include <unistd.h>

/* ---- the last descriptor ----------------------------------------------------------------- */

/* Probes of many processes may take all descriptors. One is kept for what must not fail: a process would stay stopped, or a
 * translator would get probes. */

static void lend_descriptor(struct dpe_follow_files *files)
{
	if (files->spare >= 0)
		close(files->spare);
	files->spare = -1;
}

static void take_descriptor_back(struct dpe_follow_files *files)
{
	if (files->spare < 0)
		files->spare = fcntl(files->held, F_DUPFD_CLOEXEC, 0);
}

/* ---- programs ---------------------------------------------------------------------------- */

/* Whether this is true of the program of a process. */
static bool is_program(pid_t pid, bool (*is)(int file))
{
	char *path = dpe_xasprintf("/proc/%d/exe", pid);
	int file = open(path, O_RDONLY | O_CLOEXEC);
	bool so = file >= 0 && is(file);

	if (file >= 0)
		close(file);
	free(path);
	return so;
}

/* True if its program is to run without our probes. */
static bool is_translator(pid_t pid)
{
	return is_program(pid, dpe_translates_code);
}

/* ---- what is stopped --------------------------------------------------------------------- */

static bool is_pending(const struct dpe_follow_files *files, uint32_t pid, struct dpe_newcomer *entry)
{
	uint64_t serial = 0;

	if (bpf_map_lookup_elem(files->held, &pid, entry))
		return false;
	bpf_map_lookup_elem(files->released, &pid, &serial);
	return serial != entry->serial;
}

/* A process leaves the maps before its id can be reused: if the id is in them after its pidfd was opened, the pidfd is that
 * of this process. */
static void send_signal(struct dpe_follow_files *files, uint32_t pid, int signal)
{
	struct dpe_process process;
	uint64_t stopped;
	int held;

	lend_descriptor(files);
	held = pidfd_open((pid_t)pid, 0);
	if (held >= 0 && (!bpf_map_lookup_elem(files->followed, &pid, &process) ||
				 !bpf_map_lookup_elem(files->stopped, &pid, &stopped)))
		pidfd_send_signal(held, signal, NULL, 0);
	if (held >= 0)
		close(held);
	take_descriptor_back(files);
}

/* It may be stopped again at once, with another serial number. */
static void release(struct dpe_follow_files *files, uint32_t pid, const struct dpe_newcomer *entry)
{
	send_signal(files, pid, SIGCONT);
	bpf_map_update_elem(files->released, &pid, &entry->serial, BPF_ANY);
}

static bool release_held(struct dpe_follow_files *files)
{
	uint32_t pid, *previous = NULL;
	struct dpe_newcomer entry;
	bool any = false;

	for (; !bpf_map_get_next_key(files->held, previous, &pid); previous = &pid) {
		if (!is_pending(files, pid, &entry))
			continue;
		release(files, pid, &entry);
		any = true;
	}
	return any;
}

static bool release_stopped(struct dpe_follow_files *files)
{
	bool any = false;
	uint32_t pid;

	while (!bpf_map_get_next_key(files->stopped, NULL, &pid)) {
		send_signal(files, pid, SIGCONT);
		bpf_map_delete_elem(files->stopped, &pid);
		any = true;
	}
	return any;
}

static bool is_stopped(const struct dpe_follow_files *files, uint32_t pid)
{
	struct dpe_newcomer entry;
	uint64_t stopped;

	return is_pending(files, pid, &entry) || !bpf_map_lookup_elem(files->stopped, &pid, &stopped);
}

static bool is_child(struct dpe_follow_files *files, pid_t pid, pid_t parent)
{
	struct dpe_proc_stat stat;
	bool so;

	lend_descriptor(files);
	so = dpe_proc_stat(pid, pid, &stat) && stat.parent == parent;
	take_descriptor_back(files);
	return so;
}

/* Processes that stopped themselves because a child was stopped, once it is not. It comes first, since they will
 * continue it. What stops itself when its child is gone has its own reasons. */
static bool release_parents(struct dpe_follow_files *files)
{
	uint32_t pid, child, *previous = NULL, last;
	bool any = false;

	while (!bpf_map_get_next_key(files->stopped_parents, previous, &pid)) {
		last = pid;
		previous = &last;
		if (bpf_map_lookup_elem(files->stopped_parents, &pid, &child) || is_stopped(files, child))
			continue;
		bpf_map_delete_elem(files->stopped_parents, &pid); /* it may do so again once it is continued */
		if (is_child(files, (pid_t)child, (pid_t)pid)) /* which has not waited for its end */
			send_signal(files, pid, SIGCONT);
		any = true;
	}
	return any;
}

/* The BPF programs may be about to stop another process while they are being removed. */
static void release_last(struct dpe_follow_files *files)
{
	struct timespec pause = {.tv_nsec = DPE_RELEASE_PAUSE};

	for (int quiet = 0; quiet < DPE_RELEASE_TRIES; quiet++) {
		bool held = release_held(files), stopped = release_stopped(files), stopped_parents = release_parents(files);

		if (held || stopped || stopped_parents)
			quiet = 0;
		nanosleep(&pause, NULL);
	}
}

/* ---- the watchdog ------------------------------------------------------------------------ */

/* The state of the watchdog, which lives in its process. */
struct watch {
	struct dpe_probes *probes;
	struct dpe_paced observer; /* its thread that serves what waits */
	bool known;                /* a process waited at the last check, … */
	uint64_t progress;         /* … when this was dpe_attach_progress */
	uint64_t idle;             /* ns for which the observer let processes wait since it served one */
};

static void act(const void *context)
{
	const struct watch *watch = context;

	release_last(&watch->probes->follow->files);
}

/* Our probes would harm it. */
static bool has_to_wait(uint32_t pid, const struct dpe_newcomer *entry)
{
	return entry->question.program.inode && is_translator((pid_t)pid);
}

static bool anybody_waits(const struct dpe_probes *probes)
{
	const struct dpe_follow_files *files = &probes->follow->files;
	uint32_t pid, *previous = NULL;
	struct dpe_newcomer entry;
	uint64_t number;

	if (dpe_attach_asked(probes, &number))
		return true;
	for (; !bpf_map_get_next_key(files->held, previous, &pid); previous = &pid)
		if (is_pending(files, pid, &entry))
			return true;
	return false;
}

/* Processes that wait are continued, which counts as a loss, and others do not wait until the observer serves again. */
static void give_up(struct dpe_probes *probes)
{
	struct dpe_follow_files *files = &probes->follow->files;
	bool any = dpe_attach_stop_waiting(probes);
	uint32_t pid, *previous = NULL;
	struct dpe_newcomer entry;

	for (; !bpf_map_get_next_key(files->held, previous, &pid); previous = &pid) {
		if (!is_pending(files, pid, &entry) || has_to_wait(pid, &entry))
			continue;
		release(files, pid, &entry);
		any = true;
	}
	if (any)
		dpe_attach_lose(probes);
}

/* We may be unable to serve processes, for example if nobody reads our output. On a loaded machine we are only late: so
 * what counts is the processor time that was available to us. The watchdog's own checks are as late as we are. */
static int watch_observer(const void *context)
{
	struct watch *watch = (struct watch *)context;
	uint64_t progress = dpe_attach_progress(watch->probes), spent;

	if (!anybody_waits(watch->probes)) {
		watch->known = false;
		return DPE_WATCH_PAUSE_LONG;
	}
	spent = dpe_watchdog_pace(&watch->observer, DPE_WATCH_PAUSE * UINT64_C(1000000));
	watch->idle = watch->known && progress == watch->progress ? watch->idle + spent : 0;
	watch->known = true;
	watch->progress = progress;
	if (watch->idle >= DPE_WATCH_PATIENCE)
		give_up(watch->probes);
	return DPE_WATCH_PAUSE;
}

static int start_watchdog(struct dpe_probes *probes)
{
	struct dpe_follow *follow = probes->follow;
	const struct watch watch = {.probes = probes, .observer = {getpid(), gettid(), 0, 0}};
	struct dpe_watchdog_task duty = {.act = act, .watch = watch_observer, .context = &watch, .nfiles = 6};
	int ends[2];

	if (pipe2(ends, O_CLOEXEC))
		return -errno;
	dpe_keep_process_group(probes->child->pid, ends[0]);
	close(ends[0]);
	follow->keeping = duty.files[0] = ends[1];
	duty.files[1] = follow->files.held;
	duty.files[2] = follow->files.released;
	duty.files[3] = follow->files.stopped;
	duty.files[4] = follow->files.followed;
	duty.files[5] = follow->files.stopped_parents;
	return dpe_watchdog_make(&follow->watchdog, &duty);
}

/* ---- beginning --------------------------------------------------------------------------- */

bool dpe_probes_can_follow(const struct dpe_probes *probes)
{
	const struct dpe_plan *plan = probes->plan;

	return !plan->nwatched && !plan->nobjects && !plan->memory;
}

bool dpe_follow_check(const struct dpe_probes *probes, struct dpe_diags *diags)
{
	const struct dpe_plan *plan = probes->plan;

	if (!probes->follows)
		return true;
	for (unsigned i = 0; i < plan->nwatched; i++)
		dpe_diag(diags, DPE_ERROR, plan->watched[i].place,
			"'%s' cannot be watched in several processes: watchpoints are for one "
			"process (without --follow or dpe explore)",
			plan->watched[i].lvalue);
	for (unsigned i = 0; i < plan->nobjects; i++)
		dpe_diag(diags, DPE_ERROR, plan->objects[i].place,
			"objects cannot be watched in several processes: watchpoints are for one "
			"process (without --follow or dpe explore)");
	if (plan->memory)
		dpe_diag_at(diags, DPE_ERROR, "dpe",
			"events of memory can be observed in one process only (without --follow or dpe explore)");
	return dpe_probes_can_follow(probes);
}

bool dpe_follow_begin(struct dpe_probes *probes, struct dpe_diags *diags)
{
	struct dpe_process first = {0};
	uint32_t pid = (uint32_t)probes->pid;
	struct dpe_follow *follow;
	int error;

	if (!probes->follows)
		return true;
	probes->follow = follow = dpe_xcalloc(1, sizeof(*follow));
	follow->keeping = -1;
	follow->files = dpe_attach_follow(probes);
	error = -start_watchdog(probes);
	if (!error && bpf_map_update_elem(follow->files.followed, &pid, &first, BPF_ANY))
		error = errno;
	if (!error)
		dpe_process_probes_of(probes, probes->pid);
	take_descriptor_back(&follow->files);
	if (error)
		dpe_privilege_explain("follow processes", error, diags);
	return !error;
}

void dpe_follow_first_ended(struct dpe_probes *probes)
{
	uint32_t pid = (uint32_t)probes->pid;

	if (probes->follow && !bpf_map_delete_elem(probes->follow->files.followed, &pid))
		dpe_attach_one_less(probes);
}

bool dpe_follow_is_alive(const struct dpe_probes *probes)
{
	return probes->follow && dpe_attach_living(probes);
}

void dpe_follow_free(struct dpe_probes *probes)
{
	struct dpe_follow *follow = probes->follow;

	if (!follow)
		return;
	dpe_process_probes_free(probes);
	release_last(&follow->files);
	lend_descriptor(&follow->files);
	dpe_watchdog_dismiss(&follow->watchdog);
	if (follow->keeping >= 0)
		close(follow->keeping);
	dpe_address_spaces_free(follow);
	dpe_thread_ids_free(follow);
	free(follow);
	probes->follow = NULL;
}

/* ---- a program begins -------------------------------------------------------------------- */

static void report_unobserved(struct dpe_probes *probes, pid_t pid, const char *why)
{
	char *path = dpe_xasprintf("/proc/%d/exe", pid), name[4096];
	ssize_t len = readlink(path, name, sizeof(name) - 1);

	name[len > 0 ? len : 0] = '\0';
	free(path);
	dpe_diag_at(probes->diags, DPE_WARNING, name, "process %d is not observed %s", (int)pid, why);
	dpe_attach_lose(probes);
}

/* Its children are not followed either. */
static void unfollow(struct dpe_probes *probes, pid_t pid)
{
	uint32_t id = (uint32_t)pid;

	if (!probes->follow)
		dpe_attach_leave(probes);
	else if (!bpf_map_delete_elem(probes->follow->files.followed, &id))
		dpe_attach_one_less(probes);
}

static bool examine(struct dpe_probes *probes, pid_t pid, const struct dpe_question *question)
{
	uint32_t known = 1;

	if (!question->program.inode)
		return false;
	if (!is_translator(pid)) {
		if (is_program(pid, dpe_is_for_other_machine))
			report_unobserved(probes, pid,
				"while it runs this program, which counts as a loss: it is for another machine than x86-64");
		bpf_map_update_elem(
			dpe_attach_programs(probes), &question->program, &known, BPF_ANY);
		return false;
	}
	report_unobserved(probes, pid,
		"from here on, which counts as a loss: this program translates the code that it runs, as Valgrind and QEMU do");
	unfollow(probes, pid);
	return true;
}

/* True if the process has begun a program that is to run without our probes. */
static bool leaves(struct dpe_probes *probes, pid_t pid, const struct dpe_question *question)
{
	bool so;

	if (probes->follow)
		lend_descriptor(&probes->follow->files);
	so = examine(probes, pid, question);
	if (probes->follow)
		take_descriptor_back(&probes->follow->files);
	return so;
}

/* A process that is no longer followed. The kernel removes probes only when none of our programs waits, so the process is
 * stopped instead, before it continues. */
struct left {
	pid_t pid;
	int held; /* a pidfd */
};

static struct left stop_left(struct dpe_probes *probes, pid_t pid)
{
	struct left left = {.pid = pid};
	uint32_t id = (uint32_t)pid;
	uint64_t yes = 1;

	if (probes->follow)
		lend_descriptor(&probes->follow->files);
	left.held = pidfd_open(pid, 0);
	if (probes->follow)
		bpf_map_update_elem(probes->follow->files.stopped, &id, &yes, BPF_ANY);
	else
		dpe_probes_expect_stop(probes);
	if (left.held >= 0)
		pidfd_send_signal(left.held, SIGSTOP, NULL, 0);
	return left;
}

/* It may have been stopped meanwhile because we were slow; the kernel removed the probes after that. */
static void take_out(struct dpe_probes *probes, const struct left *left)
{
	uint32_t id = (uint32_t)left->pid;
	struct dpe_newcomer entry;

	dpe_process_probes_end(probes, left->pid);
	if (probes->follow && is_pending(&probes->follow->files, id, &entry))
		bpf_map_update_elem(probes->follow->files.released, &id, &entry.serial, BPF_ANY);
	if (left->held >= 0) {
		pidfd_send_signal(left->held, SIGCONT, NULL, 0);
		close(left->held);
	}
	if (probes->follow) {
		take_descriptor_back(&probes->follow->files);
		bpf_map_delete_elem(probes->follow->files.stopped, &id);
	}
}

/* It is stopped, so the kernel does not wait for it. */
static void serve(struct dpe_probes *probes, uint32_t pid, const struct dpe_newcomer *entry)
{
	struct left left;

	dpe_debug(probes->debug, "probes", 1, "process %u begins", pid);
	bpf_map_delete_elem(dpe_attach_asking(probes), &pid);
	if (leaves(probes, (pid_t)pid, &entry->question)) {
		left = stop_left(probes, (pid_t)pid);
		take_out(probes, &left);
		return;
	}
	dpe_late_mappings_scan(probes, (pid_t)pid);
	release(&probes->follow->files, pid, entry);
	dpe_attach_count_progress(probes);
}

void dpe_follow_serve(struct dpe_probes *probes)
{
	struct dpe_follow *follow = probes->follow;
	uint32_t pid, *previous = NULL;
	struct dpe_newcomer entry;

	if (!follow || probes->stopped)
		return;
	for (; !bpf_map_get_next_key(follow->files.held, previous, &pid); previous = &pid)
		if (is_pending(&follow->files, pid, &entry))
			serve(probes, pid, &entry);
	release_parents(&follow->files);
}

struct all_left {
	struct left *at;
	unsigned count, cap;
};

static void answer_one(struct dpe_probes *probes, uint32_t pid, const struct dpe_question *question, struct all_left *left)
{
	bpf_map_delete_elem(dpe_attach_asking(probes), &pid);
	if (leaves(probes, (pid_t)pid, question))
		*DPE_GROW(left->at, left->count, left->cap) = stop_left(probes, (pid_t)pid);
	else if (probes->follow || question->program.inode)
		dpe_late_mappings_scan(probes, (pid_t)pid);
	dpe_attach_count_progress(probes);
}

/* A request that arrives during the scan is served in the next round. So is a program with a greater number: its process
 * would still wait while we wait for the kernel to remove its probes. */
static void answer_each(struct dpe_probes *probes, uint64_t number, struct all_left *left)
{
	int asking = dpe_attach_asking(probes);
	struct dpe_question question;
	uint32_t pid, next;
	bool more = !bpf_map_get_next_key(asking, NULL, &pid);

	for (; more; pid = next) {
		more = !bpf_map_get_next_key(asking, &pid, &next);
		if (bpf_map_lookup_elem(asking, &pid, &question))
			question = (struct dpe_question){0};
		if (!question.program.inode || (question.number && question.number <= number))
			answer_one(probes, pid, &question, left);
	}
}

static void answer(struct dpe_probes *probes, uint64_t number)
{
	struct all_left left = {0};

	answer_each(probes, number, &left);
	dpe_attach_answer(probes, number);
	for (unsigned i = 0; i < left.count; i++)
		take_out(probes, &left.at[i]);
	free(left.at);
}

void dpe_requests_answer(struct dpe_probes *probes)
{
	uint64_t number, loads;

	if (!dpe_attach_asked(probes, &number))
		return;
	dpe_object_watches_answer(probes);
	loads = dpe_attach_loads(probes);
	if (!probes->follow && loads != probes->loads)
		dpe_late_mappings_scan(probes, probes->pid);
	probes->loads = loads;
	answer(probes, number);
}

/* ---- all of them ------------------------------------------------------------------------- */

void dpe_follow_signal(struct dpe_probes *probes, int signal)
{
	uint32_t pid, *previous = NULL;
	uint64_t yes = 1;

	if (!probes->follow)
		return;
	if (signal == SIGCONT) {
		release_stopped(&probes->follow->files);
		return;
	}
	for (; !bpf_map_get_next_key(probes->follow->files.followed, previous, &pid);
		previous = &pid) {
		if (pid == (uint32_t)probes->pid)
			continue;
		if (signal == SIGSTOP)
			bpf_map_update_elem(probes->follow->files.stopped, &pid, &yes, BPF_ANY);
		send_signal(&probes->follow->files, pid, signal);
	}
}
