/* program_maps: counts and maps that the programs in the kernel share with us, beside the rings. */
#include "probes/kernel/kernel.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <unistd.h>

#include "probes/kernel/bpf/programs.skel.h"

uint64_t dpe_attach_code(const struct dpe_probes *probes)
{
	return probes->bpf->bss->code;
}

struct dpe_follow_files dpe_attach_follow(struct dpe_probes *probes)
{
	const struct dpe_bpf *bpf = probes->bpf;

	bpf->bss->living = 1; /* the first process */
	return (struct dpe_follow_files){
		.followed = bpf_map__fd(bpf->maps.followed),
		.held = bpf_map__fd(bpf->maps.held),
		.released = bpf_map__fd(bpf->maps.released),
		.stopped = bpf_map__fd(bpf->maps.stopped),
		.stopped_parents = bpf_map__fd(bpf->maps.stopped_parents),
		.spare = -1,
	};
}

int dpe_attach_asking(const struct dpe_probes *probes)
{
	return bpf_map__fd(probes->bpf->maps.asking);
}

int dpe_attach_programs(const struct dpe_probes *probes)
{
	return bpf_map__fd(probes->bpf->maps.programs);
}

void dpe_attach_leave(struct dpe_probes *probes)
{
	__atomic_store_n(&probes->bpf->bss->left, 1, __ATOMIC_RELEASE);
}

uint64_t dpe_attach_endings(const struct dpe_probes *probes)
{
	return __atomic_load_n(&probes->bpf->bss->endings, __ATOMIC_ACQUIRE);
}

uint64_t dpe_attach_living(const struct dpe_probes *probes)
{
	return __atomic_load_n(&probes->bpf->bss->living, __ATOMIC_ACQUIRE);
}

void dpe_attach_one_less(struct dpe_probes *probes)
{
	__atomic_fetch_sub(&probes->bpf->bss->living, 1, __ATOMIC_ACQ_REL);
}

uint64_t dpe_attach_children(const struct dpe_probes *probes)
{
	return probes->bpf->bss->children;
}

uint64_t dpe_attach_cut_texts(const struct dpe_probes *probes)
{
	return probes->bpf ? probes->bpf->bss->cut_texts : 0;
}

uint64_t dpe_attach_unplaced(const struct dpe_probes *probes)
{
	return probes->bpf ? probes->bpf->bss->unplaced : 0;
}

bool dpe_attach_replaced(const struct dpe_probes *probes)
{
	return probes->bpf && probes->bpf->bss->replaced;
}

uint64_t dpe_attach_untraceable(const struct dpe_probes *probes)
{
	return probes->bpf ? probes->bpf->bss->untraceable : 0;
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

/* Runs that the kernel skipped because the program was already running on the same processor. */
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

uint64_t dpe_attach_lost_at(const struct dpe_probes *probes, unsigned site, bool exit)
{
	uint32_t number = 2 * site + exit;
	uint64_t count = 0;

	if (bpf_map_lookup_elem(bpf_map__fd(probes->bpf->maps.lost_at), &number, &count))
		return 0;
	return count;
}

struct dpe_diverted_returns dpe_attach_returns(const struct dpe_probes *probes, pid_t process)
{
	struct dpe_diverted_returns returns = {0};
	struct dpe_diverted_return read_now[64];
	unsigned capacity = 0;
	ssize_t size;
	int file;

	probes->bpf->bss->returns_of = (uint32_t)process;
	file = bpf_iter_create(bpf_link__fd(probes->bpf->links.on_returns));
	while (file >= 0 && (size = read(file, read_now, sizeof(read_now))) > 0) {
		for (size_t i = 0; i < (size_t)size / sizeof(*read_now); i++)
			*DPE_GROW(returns.at, returns.count, capacity) = read_now[i];
	}
	if (file >= 0)
		close(file);
	return returns;
}

/* ---- losses, and the progress of a thread that waits -------------------------------------- */

void dpe_attach_lose(const struct dpe_probes *probes)
{
	struct dpe_lost *lost = &probes->bpf->bss->nowhere;
	uint64_t now = dpe_ring_now();

	__atomic_fetch_add(&lost->count, 1, __ATOMIC_RELAXED);
	if (!lost->first)
		lost->first = now;
	lost->last = now;
}

void dpe_attach_put(const struct dpe_probes *probes, int map, const void *key, const void *value)
{
	if (bpf_map_update_elem(map, key, value, BPF_ANY))
		dpe_attach_lose(probes);
}

void dpe_attach_count_progress(struct dpe_probes *probes)
{
	__atomic_fetch_add(&probes->bpf->bss->progress, 1, __ATOMIC_RELEASE);
}

uint64_t dpe_attach_progress(const struct dpe_probes *probes)
{
	return __atomic_load_n(&probes->bpf->bss->progress, __ATOMIC_ACQUIRE) +
	       __atomic_load_n(&probes->bpf->bss->answered, __ATOMIC_ACQUIRE);
}

void dpe_attach_answer(struct dpe_probes *probes, uint64_t number)
{
	__atomic_store_n(&probes->bpf->bss->answered, number, __ATOMIC_RELEASE);
}

/* ---- data events -------------------------------------------------------------------------- */

void dpe_attach_watch(
	struct dpe_probes *probes, unsigned index, uint64_t address, unsigned size, uint64_t value)
{
	probes->bpf->bss->watches[index] =
		(struct dpe_watch_entry){.address = address, .last = value, .size = size};
	__atomic_store_n(&probes->bpf->bss->nwatches, index + 1, __ATOMIC_RELEASE);
}

void dpe_watch_skip_reads(const struct dpe_probes *probes, uint64_t ip)
{
	const uint8_t known = 1;

	/* Without room in the map it is read as before. */
	bpf_map_update_elem(bpf_map__fd(probes->bpf->maps.known_accesses), &ip, &known, BPF_ANY);
}

uint64_t dpe_attach_loads(const struct dpe_probes *probes)
{
	return __atomic_load_n(&probes->bpf->bss->loads, __ATOMIC_ACQUIRE);
}

/* A non-zero address means that the rest is valid. */
void dpe_attach_object_watch(
	struct dpe_probes *probes, unsigned slot, const struct dpe_object_watch_entry *entry)
{
	struct dpe_object_watch_entry *to = &probes->bpf->bss->object_watches[slot];

	__atomic_store_n(&to->address, 0, __ATOMIC_SEQ_CST);
	to->object = entry->object;
	to->last = entry->last;
	to->size = entry->size;
	to->kind = entry->kind;
	__atomic_store_n(&to->address, entry->address, __ATOMIC_RELEASE);
}

struct dpe_watch_request *dpe_attach_watch_requests(const struct dpe_probes *probes)
{
	return probes->bpf->bss->watch_requests;
}

int dpe_attach_watch_requests_map(const struct dpe_probes *probes)
{
	return bpf_map__fd(probes->bpf->maps.watch_changes);
}

int dpe_attach_on_access(const struct dpe_probes *probes)
{
	return bpf_program__fd(probes->bpf->progs.on_access);
}

void dpe_attach_hold(struct dpe_probes *probes)
{
	__atomic_store_n(&probes->bpf->bss->hold_program, 1, __ATOMIC_RELEASE);
}
