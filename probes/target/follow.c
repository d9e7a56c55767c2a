/* follow: the processes that the target makes, and the programs that they become.
 *
 * Probes sit on files and are there for every process, so a child is observed from its first
 * instruction on. What a program that is begun has is looked for when its dynamic linker has mapped
 * it (late.c). Where no probe is on that linker, or the program has none, the kernel's side stops the
 * process before its first instruction, once for each such file, and it is let go here when all
 * probes are in place; should we die meanwhile, by a guardian. */
#include "probes/stream/processes.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* ---- what is stopped --------------------------------------------------------------------- */

static bool is_pending(const struct dpe_follow_files *files, uint32_t pid, struct dpe_newcomer *entry)
{
	uint64_t serial = 0;

	if (bpf_map_lookup_elem(files->held, &pid, entry))
		return false;
	bpf_map_lookup_elem(files->released, &pid, &serial);
	return serial != entry->serial;
}

/* It may be stopped again at once: that is another serial. */
static void release(const struct dpe_follow_files *files, uint32_t pid, const struct dpe_newcomer *entry)
{
	kill((pid_t)pid, SIGCONT);
	bpf_map_update_elem(files->released, &pid, &entry->serial, BPF_ANY);
}

static bool release_held(const struct dpe_follow_files *files)
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

static bool release_stopped(const struct dpe_follow_files *files)
{
	bool any = false;
	uint32_t pid;

	while (!bpf_map_get_next_key(files->stopped, NULL, &pid)) {
		kill((pid_t)pid, SIGCONT);
		bpf_map_delete_elem(files->stopped, &pid);
		any = true;
	}
	return any;
}

/* The kernel's side may be about to stop another one while its programs are taken out. */
static void release_last(const struct dpe_follow_files *files)
{
	struct timespec pause = {.tv_nsec = 2000000};

	for (int quiet = 0; quiet < 10; quiet++) {
		if (release_held(files) | release_stopped(files))
			quiet = 0;
		nanosleep(&pause, NULL);
	}
}

/* ---- the guardian ------------------------------------------------------------------------ */

static void act(const void *context)
{
	release_last(context);
}

static int start_guardian(const struct dpe_probes *probes)
{
	struct dpe_follow *follow = probes->follow;
	struct dpe_duty duty = {.act = act, .context = &follow->files, .nfiles = 4};
	int ends[2];

	if (pipe2(ends, O_CLOEXEC))
		return -errno;
	dpe_keepers_leave(probes->child.pid, ends[0]);
	close(ends[0]);
	follow->keeping = duty.files[0] = ends[1];
	duty.files[1] = follow->files.held;
	duty.files[2] = follow->files.released;
	duty.files[3] = follow->files.stopped;
	return dpe_guardian_make(&follow->guardian, &duty);
}

/* ---- beginning --------------------------------------------------------------------------- */

bool dpe_follow_check(const struct dpe_probes *probes, struct dpe_diags *diags)
{
	const struct dpe_plan *plan = probes->plan;

	if (!probes->follows)
		return true;
	if (!dpe_attach_can_wait()) {
		dpe_diag_at(diags, DPE_ERROR, "dpe", "following processes needs Linux 6.0");
		return false;
	}
	for (unsigned i = 0; i < plan->nwatched; i++)
		dpe_diag(diags, DPE_ERROR, plan->watched[i].place,
			"'%s' cannot be watched in several processes: watchpoints are for one "
			"process (without --follow)",
			plan->watched[i].lvalue);
	for (unsigned i = 0; i < plan->nobjects; i++)
		dpe_diag(diags, DPE_ERROR, plan->objects[i].place,
			"objects cannot be watched in several processes: watchpoints are for one "
			"process (without --follow)");
	if (plan->memory)
		dpe_diag_at(diags, DPE_ERROR, "dpe",
			"events of memory are told by one process only (without --follow)");
	return !plan->nwatched && !plan->nobjects && !plan->memory;
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
	follow->diags = diags;
	follow->keeping = -1;
	follow->files = dpe_attach_follow(probes);
	error = -start_guardian(probes);
	if (!error && bpf_map_update_elem(follow->files.followed, &pid, &first, BPF_ANY))
		error = errno;
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

bool dpe_follow_goes_on(const struct dpe_probes *probes)
{
	return probes->follow && dpe_attach_living(probes);
}

void dpe_follow_free(struct dpe_probes *probes)
{
	struct dpe_follow *follow = probes->follow;

	if (!follow)
		return;
	release_last(&follow->files);
	dpe_guardian_dismiss(&follow->guardian);
	if (follow->keeping >= 0)
		close(follow->keeping);
	dpe_spaces_free(follow);
	dpe_lives_free(follow);
	free(follow);
	probes->follow = NULL;
}

/* ---- a program begins -------------------------------------------------------------------- */

/* That it is known counts where its probes are in place, whatever becomes of this process. */
static void serve(struct dpe_probes *probes, uint32_t pid, const struct dpe_newcomer *entry)
{
	const struct dpe_follow *follow = probes->follow;
	uint32_t known = 1;

	dpe_debug(probes->debug, "probes", 1, "process %u begins a program", pid);
	dpe_late_look(probes, (pid_t)pid);
	if (entry->beginning.inode)
		bpf_map_update_elem(
			follow->files.beginnings, &entry->beginning, &known, BPF_ANY);
	release(&follow->files, pid, entry);
}

void dpe_follow_serve(struct dpe_probes *probes)
{
	const struct dpe_follow *follow = probes->follow;
	uint32_t pid, *previous = NULL;
	struct dpe_newcomer entry;

	if (!follow || probes->stopped)
		return;
	for (; !bpf_map_get_next_key(follow->files.held, previous, &pid); previous = &pid)
		if (is_pending(&follow->files, pid, &entry))
			serve(probes, pid, &entry);
}

/* Who asks again while we look is there again. */
void dpe_follow_look(struct dpe_probes *probes)
{
	int asking = probes->follow->files.asking;
	uint32_t pid;

	while (!bpf_map_get_next_key(asking, NULL, &pid)) {
		bpf_map_delete_elem(asking, &pid);
		dpe_late_look(probes, (pid_t)pid);
	}
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
		kill((pid_t)pid, signal);
	}
}
