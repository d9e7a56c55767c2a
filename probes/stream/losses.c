/* losses: the events that were lost, of all sources, by thread. */
#include "probes/stream/library_reader.h"

#include <stdlib.h>
#include <string.h>

struct losses {
	struct dpe_loss *at;
	unsigned count, cap;
};

/* The kernel's counters, which cost dozens of system calls to read. */
struct dpe_known_losses {
	struct losses kernel; /* when they were read last */
	uint64_t read;        /* ns: when that began; 0: never */
	struct losses all;    /* that were asked for last */
};

static struct dpe_loss *loss_of(struct losses *losses, pid_t thread)
{
	struct dpe_loss *loss;

	for (unsigned i = 0; i < losses->count; i++)
		if (losses->at[i].thread == thread)
			return &losses->at[i];
	loss = DPE_GROW(losses->at, losses->count, losses->cap);
	*loss = (struct dpe_loss){.thread = thread, .first = UINT64_MAX};
	return loss;
}

static void add_loss(void *context, const struct dpe_ring_loss *lost)
{
	struct dpe_loss *loss = loss_of(context, (pid_t)lost->thread);

	loss->count += lost->count;
	if (lost->first < loss->first)
		loss->first = lost->first;
	if (lost->last > loss->last)
		loss->last = lost->last;
}

/* Programs executed by the target that do not load the library: their events are lost. */
static void add_images(const struct dpe_probes *probes, struct losses *losses)
{
	uint32_t begun = dpe_attach_execs(probes);
	uint32_t known = __atomic_load_n(&probes->preload->rings.header->images, __ATOMIC_ACQUIRE);
	struct dpe_ring_loss lost = {.count = begun - known, .first = probes->drained};

	lost.last = lost.first;
	if (begun > known)
		add_loss(losses, &lost);
}

/* Lost on this side, of unknown threads. */
static void add_own(struct losses *losses, struct dpe_lost lost)
{
	const struct dpe_ring_loss loss = {
		.count = lost.count, .first = lost.first, .last = lost.last};

	if (lost.count)
		add_loss(losses, &loss);
}

static void add_doubts(struct losses *losses, struct dpe_lost doubted)
{
	const struct dpe_ring_loss times = {.first = doubted.first, .last = doubted.last};

	if (!doubted.count)
		return;
	add_loss(losses, &times);
	loss_of(losses, 0)->doubts = doubted.count;
}

static void make_room(struct losses *losses, unsigned count)
{
	if (count <= losses->cap)
		return;
	losses->cap = count;
	losses->at = dpe_xrealloc(losses->at, losses->cap * sizeof(*losses->at));
}

/* Goroutines are known by their numbers; what other threads of a Go program lost is nobody's. */
static void name_goroutines(struct losses *losses)
{
	struct losses all = {0};

	for (unsigned i = 0; i < losses->count; i++) {
		const struct dpe_loss *loss = &losses->at[i];
		uint32_t id = (uint32_t)loss->thread;
		const struct dpe_ring_loss named = {.thread = id & DPE_GOROUTINE ? id & ~DPE_GOROUTINE : 0,
			.count = loss->count, .first = loss->first, .last = loss->last};

		add_loss(&all, &named);
	}
	free(losses->at);
	*losses = all;
}

static void read_kernel(struct dpe_probes *probes, struct dpe_known_losses *known)
{
	struct losses *kernel = &known->kernel;

	known->read = dpe_ring_now();
	make_room(kernel, 1);
	kernel->count = dpe_attach_losses(probes, kernel->at, kernel->cap);
	while (kernel->count > kernel->cap) {
		make_room(kernel, kernel->count);
		kernel->count = dpe_attach_losses(probes, kernel->at, kernel->cap);
	}
	if (probes->go)
		name_goroutines(kernel);
}

/* What was lost before an event is counted when that has been over for some time. */
static bool knows_kernel(const struct dpe_probes *probes, const struct dpe_known_losses *known)
{
	return known->read > dpe_probes_delivered(probes) + DPE_LOSSES_COUNTED;
}

static void copy_losses(struct losses *to, const struct losses *from)
{
	make_room(to, from->count + 1);
	memcpy(to->at, from->at, from->count * sizeof(*to->at));
	to->count = from->count;
}

static const struct losses *find_losses(struct dpe_probes *probes, bool all)
{
	struct dpe_known_losses *known = probes->losses;
	struct losses *losses;

	if (!known)
		known = probes->losses = dpe_xcalloc(1, sizeof(*known));
	losses = &known->all;
	if (all || !knows_kernel(probes, known))
		read_kernel(probes, known);
	copy_losses(losses, &known->kernel);
	add_own(losses, dpe_addresses_lost(probes));
	add_own(losses, dpe_channels_lost(probes));
	add_doubts(losses, probes->doubted);
	if (probes->preload) {
		dpe_rings_each_loss(&probes->preload->rings, add_loss, losses);
		add_images(probes, losses);
	}
	return losses;
}

unsigned dpe_probes_losses(struct dpe_probes *probes, struct dpe_loss *to, unsigned max)
{
	const struct losses *losses = find_losses(probes, true);

	if (max)
		memcpy(to, losses->at, (losses->count < max ? losses->count : max) * sizeof(*to));
	return losses->count;
}

const struct dpe_loss *dpe_probes_losses_delivered(struct dpe_probes *probes, unsigned *count)
{
	const struct losses *losses = find_losses(probes, false);

	*count = losses->count;
	return losses->at;
}

void dpe_losses_free(struct dpe_known_losses *losses)
{
	if (!losses)
		return;
	free(losses->kernel.at);
	free(losses->all.at);
	free(losses);
}

void dpe_probes_lost_events(struct dpe_probes *probes,
	void (*event)(void *context, dpe_name name, enum dpe_phase phase, uint64_t count), void *context)
{
	for (unsigned i = 0; i < 2 * probes->nsites; i++) {
		const struct dpe_site *site = &probes->sites[i / 2];
		bool exit = i % 2;
		uint64_t count = dpe_attach_lost_at(probes, i / 2, exit);

		if (count)
			event(context, site->event, dpe_site_phase(site, exit), count);
	}
}
