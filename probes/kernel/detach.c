/* detach: removes our probes. For each, the kernel waits tens of milliseconds until no processor can still be
 * in the program; in parallel, all take hardly longer than one. */
#include "probes/kernel/attach.h"

#include <bpf/libbpf.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#include "probes/kernel/bpf/programs.skel.h"

/* One of the two is set. */
struct end {
	struct bpf_link *link;
	int file;
};

struct ends {
	struct end *at;
	unsigned count, cap;
	unsigned next; /* the first that no thread has begun to remove */
};

static void take_out(void *context)
{
	const struct end *end = context;

	if (end->link)
		bpf_link__destroy(end->link);
	else
		close(end->file);
}

static void *take_out_some(void *context)
{
	struct ends *ends = context;
	unsigned i;

	while ((i = __atomic_fetch_add(&ends->next, 1, __ATOMIC_RELAXED)) < ends->count)
		dpe_shielded(take_out, &ends->at[i]);
	return NULL;
}

/* If no more threads can be created, the existing ones do all the work. */
static void take_out_all(struct ends *ends)
{
	pthread_t threads[DPE_DETACH_THREADS];
	unsigned count = 0;
	sigset_t all, before;

	sigfillset(&all); /* signals are for the threads of the library's user */
	pthread_sigmask(SIG_SETMASK, &all, &before);
	while (count < DPE_DETACH_THREADS && count + 1 < ends->count &&
		!pthread_create(&threads[count], NULL, take_out_some, ends))
		count++;
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	take_out_some(ends);
	while (count)
		pthread_join(threads[--count], NULL);
	free(ends->at);
}

static void add_link(struct ends *ends, struct bpf_link *link)
{
	if (link)
		*DPE_GROW(ends->at, ends->count, ends->cap) = (struct end){.link = link};
}

static void add_tracepoints(struct ends *ends, struct dpe_bpf *bpf)
{
	struct bpf_link **links[] = {&bpf->links.on_call, &bpf->links.on_return, &bpf->links.on_fork,
		&bpf->links.on_exec, &bpf->links.on_end, &bpf->links.on_begin_process, &bpf->links.on_sent_signal};

	for (unsigned i = 0; i < DPE_COUNT(links); i++) {
		add_link(ends, *links[i]);
		*links[i] = NULL;
	}
}

static void add_file(struct ends *ends, int file)
{
	*DPE_GROW(ends->at, ends->count, ends->cap) = (struct end){.file = file};
}

void dpe_links_end(struct bpf_link **links, unsigned count)
{
	struct ends ends = {0};

	for (unsigned i = 0; i < count; i++)
		add_link(&ends, links[i]);
	take_out_all(&ends);
}

static void add_process(struct ends *ends, struct dpe_process_probes *process)
{
	for (unsigned i = 0; i < process->nlinks; i++)
		add_file(ends, process->links[i]);
	for (unsigned i = 0; i < process->nprobe_links; i++)
		add_link(ends, process->probe_links[i]);
	free(process->links);
	free(process->probe_links);
	free(process->modules);
	*process = (struct dpe_process_probes){.pid = process->pid, .serial = process->serial};
}

void dpe_detach_process(struct dpe_process_probes *process)
{
	struct ends ends = {0};

	add_process(&ends, process);
	take_out_all(&ends);
}

/* ---- beside the reader ------------------------------------------------------------------- */

static void *remove_all(void *context)
{
	struct dpe_removal *removal = context;

	for (unsigned i = 0; i < removal->count; i++)
		dpe_detach_process(&removal->at[i]);
	__atomic_store_n(&removal->done, true, __ATOMIC_RELEASE);
	return NULL;
}

bool dpe_removal_is_over(const struct dpe_removal *removal)
{
	return !removal->running || __atomic_load_n(&removal->done, __ATOMIC_ACQUIRE);
}

bool dpe_removal_begin(
	struct dpe_removal *removal, struct dpe_process_probes *at, unsigned count)
{
	sigset_t all, before;

	dpe_removal_end(removal);
	removal->at = at;
	removal->count = count;
	sigfillset(&all); /* signals are for the threads of the library's user */
	pthread_sigmask(SIG_SETMASK, &all, &before);
	removal->running = !pthread_create(&removal->thread, NULL, remove_all, removal);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	if (!removal->running)
		*removal = (struct dpe_removal){0};
	return removal->running;
}

void dpe_removal_end(struct dpe_removal *removal)
{
	if (!removal->running)
		return;
	pthread_join(removal->thread, NULL);
	free(removal->at);
	*removal = (struct dpe_removal){0};
}

/* ---- at the end -------------------------------------------------------------------------- */

void dpe_detach(struct dpe_probes *probes)
{
	struct ends ends = {0};

	if (probes->bpf && probes->bpf->bss) {
		/* Since calls are no longer observed, a return without its call must not count as a loss. */
		__atomic_store_n(&probes->bpf->bss->observing, 0, __ATOMIC_SEQ_CST);
		dpe_attach_answer(probes, UINT64_MAX);
	}
	dpe_removal_end(probes->sparing);
	dpe_object_watches_release(probes);
	add_process(&ends, probes->first);
	if (probes->bpf)
		add_tracepoints(&ends, probes->bpf);
	take_out_all(&ends);
}
