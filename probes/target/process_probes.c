/* process_probes: each followed process has its own probes, so that no other process that maps the same files sees a
 * changed byte. A child has copies of its parent's breakpoints and gets its own probes while it waits. A thread
 * removes those of processes that have ended: the kernel waits for all of our programs that wait for us. */
#include "probes/target/target.h"

#include <bpf/bpf.h>
#include <stdlib.h>
#include <string.h>

static bool find_serial(const struct dpe_follow *follow, pid_t pid, uint32_t *serial)
{
	struct dpe_process process;
	uint32_t id = (uint32_t)pid;

	if (bpf_map_lookup_elem(follow->files.followed, &id, &process))
		return false;
	*serial = process.serial;
	return true;
}

static struct dpe_process_probes *find(const struct dpe_follow *follow, pid_t pid)
{
	for (unsigned i = 0; i < follow->nprocesses; i++)
		if (follow->processes[i]->pid == pid)
			return follow->processes[i];
	return NULL;
}

/* ---- taking out -------------------------------------------------------------------------- */

/* If no thread can be created now, they are kept for later. */
static void take_out_ended(struct dpe_follow *follow)
{
	if (!follow->nended || !dpe_removal_is_over(&follow->taking_out) ||
		!dpe_removal_begin(&follow->taking_out, follow->ended, follow->nended))
		return;
	follow->ended = NULL;
	follow->nended = follow->capended = 0;
}

/* Those of the first process are part of struct dpe_probes. */
static void retire(struct dpe_probes *probes, unsigned index)
{
	struct dpe_follow *follow = probes->follow;
	struct dpe_process_probes *process = follow->processes[index];

	*DPE_GROW(follow->ended, follow->nended, follow->capended) = *process;
	if (process == probes->first)
		*process = (struct dpe_process_probes){.pid = process->pid};
	else
		free(process);
	follow->processes[index] = follow->processes[--follow->nprocesses];
}

void dpe_process_probes_sweep(struct dpe_probes *probes)
{
	struct dpe_follow *follow = probes->follow;
	uint64_t endings;
	uint32_t serial;

	if (!follow)
		return;
	endings = dpe_attach_endings(probes);
	for (unsigned i = 0; follow->endings != endings && i < follow->nprocesses;) {
		if (find_serial(follow, follow->processes[i]->pid, &serial) &&
			serial == follow->processes[i]->serial)
			i++;
		else
			retire(probes, i);
	}
	follow->endings = endings;
	take_out_ended(follow);
}

void dpe_process_probes_end(struct dpe_probes *probes, pid_t pid)
{
	struct dpe_follow *follow = probes->follow;
	struct dpe_process_probes *process = follow ? find(follow, pid) : probes->first;

	if (process)
		dpe_detach_process(process);
}

void dpe_process_probes_free(struct dpe_probes *probes)
{
	struct dpe_follow *follow = probes->follow;

	if (!follow)
		return;
	while (follow->nprocesses)
		retire(probes, 0);
	dpe_removal_end(&follow->taking_out);
	for (unsigned i = 0; i < follow->nended; i++)
		dpe_detach_process(&follow->ended[i]);
	free(follow->ended);
	free(follow->processes);
	follow->ended = NULL;
	follow->processes = NULL;
	follow->nended = 0;
}

/* ---- putting in -------------------------------------------------------------------------- */

static struct dpe_process_probes *add(struct dpe_probes *probes, pid_t pid, uint32_t serial)
{
	struct dpe_follow *follow = probes->follow;
	struct dpe_process_probes *process = probes->first;

	if (pid != probes->pid || serial)
		process = dpe_xcalloc(1, sizeof(*process));
	process->pid = pid;
	process->serial = serial;
	*DPE_GROW(follow->processes, follow->nprocesses, follow->capprocesses) = process;
	return process;
}

static struct dpe_process_probes *begin(struct dpe_probes *probes, pid_t pid, uint32_t serial)
{
	struct dpe_process_probes *process = add(probes, pid, serial);

	for (unsigned i = 0; i < probes->nlinkers && process != probes->first; i++)
		if (!dpe_attach_linker(probes, process, &probes->linkers[i], probes->diags))
			dpe_attach_lose(probes);
	return process;
}

struct dpe_process_probes *dpe_process_probes_of(struct dpe_probes *probes, pid_t pid)
{
	struct dpe_follow *follow = probes->follow;
	struct dpe_process_probes *process;
	uint32_t serial;

	if (!follow)
		return pid == probes->pid ? probes->first : NULL;
	if (!find_serial(follow, pid, &serial))
		return NULL;
	process = find(follow, pid);
	if (process && process->serial == serial)
		return process;
	for (unsigned i = 0; process && i < follow->nprocesses; i++) {
		if (follow->processes[i] == process) {
			retire(probes, i);
			process = NULL;
		}
	}
	return begin(probes, pid, serial);
}

bool dpe_process_probes_add_linker(
	struct dpe_probes *probes, const struct dpe_linker *linker, struct dpe_diags *diags)
{
	const struct dpe_follow *follow = probes->follow;
	bool good = true;

	if (!follow)
		return dpe_attach_linker(probes, probes->first, linker, diags);
	for (unsigned i = 0; i < follow->nprocesses; i++)
		good &= dpe_attach_linker(probes, follow->processes[i], linker, diags);
	return good;
}
