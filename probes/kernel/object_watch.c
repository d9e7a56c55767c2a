/* object_watch: watchpoints on objects, set and taken away while the target runs.
 *
 * The thread that comes to such an event waits in the kernel (bpf/watch_requests.h) until we have done it:
 * nothing that it does to the object later is missed. Other threads run on meanwhile; from the
 * message `watch::begin` on nothing of theirs is missed either. */
#include "probes/kernel/kernel.h"
#include "probes/process/process.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- setting one ------------------------------------------------------------------------- */

struct threads {
	pid_t *at;
	unsigned count, cap;
};

static bool add_thread(void *context, pid_t thread)
{
	struct threads *threads = context;

	*DPE_GROW(threads->at, threads->count, threads->cap) = thread;
	return true;
}

static bool list_threads(pid_t pid, struct threads *threads)
{
	threads->count = 0;
	return !dpe_threads_each(pid, add_thread, threads);
}

static bool has_thread(const struct threads *threads, pid_t thread)
{
	for (unsigned i = 0; i < threads->count; i++) {
		if (threads->at[i] == thread)
			return true;
	}
	return false;
}

static void close_files(struct dpe_object_watch *slot)
{
	while (slot->nfiles)
		close(slot->files[--slot->nfiles]);
}

static enum dpe_watch_result watch_each(struct dpe_probes *probes, struct dpe_object_watch *slot,
	const struct dpe_watch *watch, const struct threads *threads)
{
	unsigned number = DPE_WATCHES + (unsigned)(slot - probes->object_watches->slots);

	for (unsigned i = 0; i < threads->count; i++) {
		int fd = dpe_watch_open(probes, watch, number, threads->at[i]);

		if (fd >= 0)
			*DPE_GROW(slot->files, slot->nfiles, slot->capfiles) = fd;
		else if (errno == ENOSPC)
			return DPE_WATCH_NO_REGISTER;
		else if (errno != ESRCH) /* it has ended */
			return DPE_WATCH_FAILED;
	}
	return DPE_WATCH_BEGUN;
}

/* A thread inherits the watchpoints of its creator. A thread created while we were setting them may have
 * inherited one or not, so all are set again: two would report every access twice. */
static enum dpe_watch_result watch_all(
	struct dpe_probes *probes, struct dpe_object_watch *slot, const struct dpe_watch *watch)
{
	struct threads before = {0}, after = {0};
	enum dpe_watch_result result = DPE_WATCH_FAILED;
	bool settled = false;

	for (unsigned try = 0; try < DPE_WATCH_TRIES && !settled; try++) {
		close_files(slot);
		result = DPE_WATCH_FAILED;
		if (!list_threads(probes->pid, &before))
			break;
		result = watch_each(probes, slot, watch, &before);
		settled = result != DPE_WATCH_BEGUN || !list_threads(probes->pid, &after);
		if (settled)
			break;
		settled = true;
		for (unsigned i = 0; i < after.count; i++)
			settled &= has_thread(&before, after.at[i]);
	}
	free(before.at);
	free(after.at);
	if (!settled)
		result = DPE_WATCH_FAILED;
	if (result != DPE_WATCH_BEGUN)
		close_files(slot);
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
		const struct dpe_object_watch *slot = &probes->object_watches->slots[i];
		const struct dpe_watch *watch = &probes->object_watches->kinds[slot->kind].watch;

		if (slot->used && overlap(address, size, slot->object + watch->address,
					   watch->variable.size))
			return true;
	}
	return false;
}

static struct dpe_object_watch *slot_of(struct dpe_probes *probes, unsigned kind, uint64_t object)
{
	for (unsigned i = 0; i < DPE_WATCHES; i++) {
		struct dpe_object_watch *slot = &probes->object_watches->slots[i];

		if (slot->used && slot->kind == kind && slot->object == object)
			return slot;
	}
	return NULL;
}

static struct dpe_object_watch *free_slot(struct dpe_probes *probes)
{
	for (unsigned i = 0; i + probes->nwatches < DPE_WATCHES; i++) {
		if (!probes->object_watches->slots[i].used)
			return &probes->object_watches->slots[i];
	}
	return NULL;
}

static enum dpe_watch_result begin(struct dpe_probes *probes, unsigned kind, uint64_t object)
{
	struct dpe_watch watch = probes->object_watches->kinds[kind].watch;
	struct dpe_object_watch *slot = free_slot(probes);
	enum dpe_watch_result result;
	uint64_t value = 0;

	if (slot_of(probes, kind, object))
		return DPE_WATCH_KNOWN;
	watch.address += object;
	if (watch.address % watch.variable.size)
		return DPE_WATCH_UNALIGNED;
	if (is_taken(probes, watch.address, watch.variable.size))
		return DPE_WATCH_OVERLAP;
	if (!slot)
		return DPE_WATCH_NO_REGISTER;
	result = watch_all(probes, slot, &watch);
	if (result == DPE_WATCH_BEGUN && !dpe_watch_read(probes, &watch, &value)) {
		close_files(slot);
		result = DPE_WATCH_FAILED;
	}
	if (result != DPE_WATCH_BEGUN)
		return result;
	slot->used = true;
	slot->kind = kind;
	slot->object = object;
	dpe_attach_object_watch(probes, (unsigned)(slot - probes->object_watches->slots),
		&(struct dpe_object_watch_entry){.address = watch.address,
			.object = object,
			.last = value,
			.size = (uint32_t)watch.variable.size,
			.kind = kind});
	return result;
}

static void end(struct dpe_probes *probes, struct dpe_object_watch *slot)
{
	dpe_attach_object_watch(probes, (unsigned)(slot - probes->object_watches->slots),
		&(struct dpe_object_watch_entry){0});
	close_files(slot);
	slot->used = false;
}

/* ---- what threads ask for ---------------------------------------------------------------- */

static enum dpe_watch_result serve(struct dpe_probes *probes, const struct dpe_watch_request *request)
{
	struct dpe_object_watch *slot;

	if (request->kind >= probes->object_watches->nkinds)
		return DPE_WATCH_FAILED;
	if (!request->ends)
		return begin(probes, request->kind, request->object);
	slot = slot_of(probes, request->kind, request->object);
	if (!slot)
		return DPE_WATCH_KNOWN;
	end(probes, slot);
	return DPE_WATCH_ENDED;
}

static void take_back(struct dpe_probes *probes, const struct dpe_watch_request *request)
{
	struct dpe_object_watch *slot = slot_of(probes, request->kind, request->object);

	if (slot && request->result == DPE_WATCH_BEGUN)
		end(probes, slot);
}

static bool change_state(struct dpe_watch_request *request, uint64_t from, uint64_t to)
{
	__u64 *state = &request->state, expected = from;

	return __atomic_compare_exchange_n(
		state, &expected, to, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE);
}

static void answer(struct dpe_probes *probes, struct dpe_watch_request *request)
{
	if (!change_state(request, DPE_WATCH_READY, DPE_WATCH_TAKEN))
		return;
	request->result = serve(probes, request);
	dpe_debug(probes->debug, "probes", 2, "object 0x%llx, part %u: %s, result %u",
		(unsigned long long)request->object, request->kind,
		request->ends ? "end" : "begin", request->result);
	if (change_state(request, DPE_WATCH_TAKEN, DPE_WATCH_DONE))
		return;
	take_back(probes, request); /* the thread no longer waited, which counts as a loss */
	change_state(request, DPE_WATCH_ABANDONED, DPE_WATCH_FREE);
}

/* Ends come before begins, which need their watchpoints. */
void dpe_object_watches_answer(struct dpe_probes *probes)
{
	struct dpe_watch_request *requests;

	if (!probes->object_watches->nkinds)
		return;
	requests = dpe_attach_watch_requests(probes);
	for (unsigned ends = 2; ends--;) {
		for (unsigned i = 0; i < DPE_WATCH_REQUESTS; i++) {
			if (requests[i].ends == ends)
				answer(probes, &requests[i]);
		}
	}
}

void dpe_object_watches_release(struct dpe_probes *probes)
{
	for (unsigned i = 0; i < DPE_WATCHES; i++) {
		close_files(&probes->object_watches->slots[i]);
		free(probes->object_watches->slots[i].files);
		probes->object_watches->slots[i] = (struct dpe_object_watch){0};
	}
}

void dpe_object_watches_report_refused(const struct dpe_probes *probes, struct dpe_diags *diags)
{
	if (probes->object_watches->refused)
		dpe_diag_at(diags, DPE_WARNING, "dpe",
			"%llu time%s an object was not watched: the processor has %d watchpoints",
			(unsigned long long)probes->object_watches->refused,
			probes->object_watches->refused == 1 ? "" : "s", DPE_WATCHES);
}
