/* object_watch: watchpoints on objects, set and taken away while the target runs.
 *
 * The thread that comes to such an event waits in the kernel (bpf/armed.h) until we have done it:
 * nothing that it does to the object later is missed. Other threads run on meanwhile; from the
 * message `watch::begin` on nothing of theirs is missed either. */
#include "probes/kernel/kernel.h"
#include "probes/limits.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- setting one ------------------------------------------------------------------------- */

struct threads {
	pid_t *at;
	unsigned count, cap;
};

static bool list_threads(pid_t pid, struct threads *threads)
{
	char path[32];
	struct dirent *entry;
	DIR *tasks;

	threads->count = 0;
	snprintf(path, sizeof(path), "/proc/%d/task", pid);
	tasks = opendir(path);
	while (tasks && (entry = readdir(tasks))) {
		if (entry->d_name[0] != '.')
			*DPE_GROW(threads->at, threads->count, threads->cap) =
				(pid_t)atoi(entry->d_name);
	}
	if (tasks)
		closedir(tasks);
	return tasks;
}

static bool has_thread(const struct threads *threads, pid_t thread)
{
	for (unsigned i = 0; i < threads->count; i++) {
		if (threads->at[i] == thread)
			return true;
	}
	return false;
}

static void close_files(struct dpe_armed *armed)
{
	while (armed->nfiles)
		close(armed->files[--armed->nfiles]);
}

static enum dpe_arm_result watch_each(struct dpe_probes *probes, struct dpe_armed *armed,
	const struct dpe_watch *watch, const struct threads *threads)
{
	for (unsigned i = 0; i < threads->count; i++) {
		int fd = dpe_watch_open(probes, watch, threads->at[i]);

		if (fd >= 0)
			*DPE_GROW(armed->files, armed->nfiles, armed->capfiles) = fd;
		else if (errno == ENOSPC)
			return DPE_ARM_NO_REGISTER;
		else if (errno != ESRCH) /* it has ended */
			return DPE_ARM_FAILED;
	}
	return DPE_ARM_BEGUN;
}

/* Threads inherit watchpoints from the one that makes them. One that was made while we were at it
 * may have done so, or not: then all is done again, as two of them would tell everything twice. */
static enum dpe_arm_result watch_all(
	struct dpe_probes *probes, struct dpe_armed *armed, const struct dpe_watch *watch)
{
	struct threads before = {0}, after = {0};
	enum dpe_arm_result result = DPE_ARM_FAILED;
	bool settled = false;

	for (unsigned try = 0; try < DPE_WATCH_TRIES && !settled; try++) {
		close_files(armed);
		result = DPE_ARM_FAILED;
		if (!list_threads(probes->pid, &before))
			break;
		result = watch_each(probes, armed, watch, &before);
		settled = result != DPE_ARM_BEGUN || !list_threads(probes->pid, &after);
		if (settled)
			break;
		settled = true;
		for (unsigned i = 0; i < after.count; i++)
			settled &= has_thread(&before, after.at[i]);
	}
	free(before.at);
	free(after.at);
	if (!settled)
		result = DPE_ARM_FAILED;
	if (result != DPE_ARM_BEGUN)
		close_files(armed);
	return result;
}

static bool overlap(uint64_t a, uint64_t a_size, uint64_t b, uint64_t b_size)
{
	return a < b + b_size && b < a + a_size;
}

static bool is_taken(const struct dpe_probes *probes, uint64_t address, uint64_t size)
{
	for (unsigned i = 0; i < probes->nwatches; i++) {
		if (overlap(address, size, probes->watches[i].address,
			    probes->watches[i].variable.size))
			return true;
	}
	for (unsigned i = 0; i < DPE_WATCHES; i++) {
		const struct dpe_armed *armed = &probes->arms->slots[i];
		const struct dpe_watch *watch = &probes->arms->kinds[armed->kind].watch;

		if (armed->used && overlap(address, size, armed->object + watch->address,
					   watch->variable.size))
			return true;
	}
	return false;
}

static struct dpe_armed *slot_of(struct dpe_probes *probes, unsigned kind, uint64_t object)
{
	for (unsigned i = 0; i < DPE_WATCHES; i++) {
		struct dpe_armed *armed = &probes->arms->slots[i];

		if (armed->used && armed->kind == kind && armed->object == object)
			return armed;
	}
	return NULL;
}

static struct dpe_armed *free_slot(struct dpe_probes *probes)
{
	for (unsigned i = 0; i + probes->nwatches < DPE_WATCHES; i++) {
		if (!probes->arms->slots[i].used)
			return &probes->arms->slots[i];
	}
	return NULL;
}

static enum dpe_arm_result begin(struct dpe_probes *probes, unsigned kind, uint64_t object)
{
	struct dpe_watch watch = probes->arms->kinds[kind].watch;
	struct dpe_armed *armed = free_slot(probes);
	enum dpe_arm_result result;
	uint64_t value = 0;

	if (slot_of(probes, kind, object))
		return DPE_ARM_KNOWN;
	watch.address += object;
	if (watch.address % watch.variable.size)
		return DPE_ARM_UNALIGNED;
	if (is_taken(probes, watch.address, watch.variable.size))
		return DPE_ARM_OVERLAP;
	if (!armed)
		return DPE_ARM_NO_REGISTER;
	result = watch_all(probes, armed, &watch);
	if (result == DPE_ARM_BEGUN && !dpe_watch_read(probes, &watch, &value)) {
		close_files(armed);
		result = DPE_ARM_FAILED;
	}
	if (result != DPE_ARM_BEGUN)
		return result;
	armed->used = true;
	armed->kind = kind;
	armed->object = object;
	dpe_attach_arm(probes, (unsigned)(armed - probes->arms->slots),
		&(struct dpe_armed_entry){.address = watch.address,
			.object = object,
			.last = value,
			.size = (uint32_t)watch.variable.size,
			.kind = kind});
	return result;
}

static void end(struct dpe_probes *probes, struct dpe_armed *armed)
{
	dpe_attach_arm(probes, (unsigned)(armed - probes->arms->slots),
		&(struct dpe_armed_entry){0});
	close_files(armed);
	armed->used = false;
}

/* ---- what threads ask for ---------------------------------------------------------------- */

static enum dpe_arm_result serve(struct dpe_probes *probes, const struct dpe_arm_request *request)
{
	struct dpe_armed *armed;

	if (request->kind >= probes->arms->nkinds)
		return DPE_ARM_FAILED;
	if (!request->disarm)
		return begin(probes, request->kind, request->object);
	armed = slot_of(probes, request->kind, request->object);
	if (!armed)
		return DPE_ARM_KNOWN;
	end(probes, armed);
	return DPE_ARM_ENDED;
}

static void take_back(struct dpe_probes *probes, const struct dpe_arm_request *request)
{
	struct dpe_armed *armed = slot_of(probes, request->kind, request->object);

	if (armed && request->result == DPE_ARM_BEGUN)
		end(probes, armed);
}

static bool change_state(struct dpe_arm_request *request, uint64_t from, uint64_t to)
{
	__u64 *state = &request->state, expected = from;

	return __atomic_compare_exchange_n(
		state, &expected, to, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE);
}

static void answer(struct dpe_probes *probes, struct dpe_arm_request *request)
{
	if (!change_state(request, DPE_ARM_READY, DPE_ARM_TAKEN))
		return;
	request->result = serve(probes, request);
	dpe_debug(probes->debug, "probes", 2, "object 0x%llx, part %u: %s, result %u",
		(unsigned long long)request->object, request->kind,
		request->disarm ? "end" : "begin", request->result);
	if (change_state(request, DPE_ARM_TAKEN, DPE_ARM_DONE))
		return;
	take_back(probes, request); /* nobody waited any longer, which is counted as a loss */
	change_state(request, DPE_ARM_ABANDONED, DPE_ARM_FREE);
}

/* What was disarmed first leaves its watchpoint to what is armed now. */
void dpe_armed_answer(struct dpe_probes *probes)
{
	struct dpe_arm_request *requests;

	if (!probes->arms->nkinds)
		return;
	requests = dpe_attach_arm_requests(probes);
	for (unsigned disarm = 2; disarm--;) {
		for (unsigned i = 0; i < DPE_ARM_REQUESTS; i++) {
			if (requests[i].disarm == disarm)
				answer(probes, &requests[i]);
		}
	}
}

void dpe_armed_release(struct dpe_probes *probes)
{
	for (unsigned i = 0; i < DPE_WATCHES; i++) {
		close_files(&probes->arms->slots[i]);
		free(probes->arms->slots[i].files);
		probes->arms->slots[i] = (struct dpe_armed){0};
	}
}

void dpe_armed_tell_refused(const struct dpe_probes *probes, struct dpe_diags *diags)
{
	if (probes->arms->refused)
		dpe_diag_at(diags, DPE_WARNING, "dpe",
			"%llu time%s an object was not watched: the processor has %d watchpoints",
			(unsigned long long)probes->arms->refused,
			probes->arms->refused == 1 ? "" : "s", DPE_WATCHES);
}
