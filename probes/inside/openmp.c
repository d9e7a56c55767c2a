/* openmp: which keys are released and acquired. An acquire follows every earlier release of its key, so a key may
 * be reused once its earlier uses precede: the key of a thread's team by its next team of the same level, the key of a
 * barrier by the next barrier but one. */
#include "probes/inside/openmp.h"

#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

__thread struct dpe_omp_task dpe_omp_current;

/* ---- keys ----------------------------------------------------------------------------------
 * 32 bits for the thread that made the key, 24 for the level of its team, or for the number of a task with the highest bit
 * set, 8 for its part. */

enum { CHILDREN = 8, GROUP = 16, PARTS = 256, DEEPEST = PARTS - GROUP - 1 };

static __thread uint64_t thread_keys, tasks;

static uint64_t find_thread_keys(void)
{
	static uint32_t threads;

	if (!thread_keys || tasks >> 23) {
		thread_keys = (uint64_t)__atomic_add_fetch(&threads, 1, __ATOMIC_RELAXED) << 32;
		tasks = 0;
	}
	return thread_keys;
}

static uint64_t level_keys(unsigned level)
{
	return find_thread_keys() | (uint64_t)(level & 0x7fffff) * PARTS;
}

static uint64_t fresh_keys(void)
{
	uint64_t keys = find_thread_keys();

	return keys | 1u << 31 | tasks++ * PARTS;
}

static uint64_t mix(uint64_t hash, uint64_t value)
{
	hash = (hash ^ value) * 0x9e3779b97f4a7c15;
	return hash ^ hash >> 29;
}

/* A thread has a task outside all teams, too. */
static struct dpe_omp_task *find_current(void)
{
	if (!dpe_omp_current.keys)
		dpe_omp_current.keys = level_keys(0);
	return &dpe_omp_current;
}

static void release_key(uint64_t key, struct dpe_memory_place place)
{
	dpe_memory_sync(DPE_PRELOAD_OMP_RELEASE, key, 0, place);
}

static void acquire_key(uint64_t key, struct dpe_memory_place place)
{
	dpe_memory_sync(DPE_PRELOAD_OMP_ACQUIRE, key, 0, place);
}

void dpe_omp_release(enum dpe_omp_part part, struct dpe_memory_place place)
{
	if (dpe_omp_current.team)
		release_key(dpe_omp_current.team + part, place);
}

void dpe_omp_acquire(enum dpe_omp_part part, struct dpe_memory_place place)
{
	if (dpe_omp_current.team)
		acquire_key(dpe_omp_current.team + part, place);
}

/* ---- teams and barriers ------------------------------------------------------------------ */

uint64_t dpe_omp_fork(struct dpe_memory_place place)
{
	uint64_t team = level_keys(find_current()->level + 1);

	release_key(team + DPE_OMP_FORK, place);
	return team;
}

/* Threads may leave a cancelled region after different numbers of barriers. */
void dpe_omp_join(uint64_t team, struct dpe_memory_place place)
{
	acquire_key(team + DPE_OMP_BARRIER, place);
	acquire_key(team + DPE_OMP_ODD_BARRIER, place);
}

struct dpe_omp_task dpe_omp_enter_team(uint64_t team, struct dpe_memory_place place)
{
	struct dpe_omp_task outer = dpe_omp_current;
	unsigned level = (unsigned)(team / PARTS) & 0x7fffff;

	dpe_omp_current = (struct dpe_omp_task){.team = team, .keys = level_keys(level), .level = level};
	dpe_omp_acquire(DPE_OMP_FORK, place);
	return outer;
}

static enum dpe_omp_part this_barrier(void)
{
	return dpe_omp_current.round % 2 ? DPE_OMP_ODD_BARRIER : DPE_OMP_BARRIER;
}

void dpe_omp_leave_team(const struct dpe_omp_task *outer, struct dpe_memory_place place)
{
	dpe_omp_release(this_barrier(), place);
	dpe_omp_current = *outer;
}

void dpe_omp_arrive(struct dpe_memory_place place)
{
	dpe_omp_release(this_barrier(), place);
}

void dpe_omp_depart(struct dpe_memory_place place)
{
	dpe_omp_acquire(this_barrier(), place);
	dpe_omp_current.round++;
}

/* ---- tasks ------------------------------------------------------------------------------- */

static uint64_t innermost_group(const struct dpe_omp_task *task)
{
	if (!task->depth)
		return task->group;
	return task->keys + GROUP + (task->depth < DEEPEST ? task->depth : DEEPEST);
}

struct dpe_omp_created dpe_omp_create(struct dpe_memory_place place)
{
	const struct dpe_omp_task *parent = find_current();
	struct dpe_omp_created created = {
		.keys = fresh_keys(), .parent = parent->keys, .group = innermost_group(parent), .team = parent->team};

	release_key(created.keys, place);
	return created;
}

void dpe_omp_publish(const struct dpe_omp_created *created, struct dpe_memory_place place)
{
	release_key(created->keys, place);
}

/* The team waits for the task at its next barrier at the latest. The creating thread may have left the region: threads
 * that wait at the end of a region run the remaining tasks. */
struct dpe_omp_task dpe_omp_start(const struct dpe_omp_created *created, struct dpe_memory_place place)
{
	struct dpe_omp_task outer = dpe_omp_current;

	acquire_key(created->keys, place);
	dpe_omp_await(created->parent, created->dependences, created->ndependences, place);
	dpe_omp_current.keys = created->keys;
	dpe_omp_current.team = created->team;
	dpe_omp_current.group = created->group;
	dpe_omp_current.depth = 0;
	return outer;
}

void dpe_omp_complete(const struct dpe_omp_created *created, struct dpe_memory_place place)
{
	dpe_omp_fulfil(created->parent, created->dependences, created->ndependences, place);
	release_key(created->parent + CHILDREN, place);
	if (created->group)
		release_key(created->group, place);
	dpe_omp_release(this_barrier(), place);
}

void dpe_omp_taskwait(struct dpe_memory_place place)
{
	acquire_key(find_current()->keys + CHILDREN, place);
}

void dpe_omp_begin_group(void)
{
	find_current()->depth++;
}

void dpe_omp_await_group(struct dpe_memory_place place)
{
	acquire_key(innermost_group(&dpe_omp_current), place);
}

void dpe_omp_end_group(struct dpe_memory_place place)
{
	dpe_omp_await_group(place);
	dpe_omp_current.depth--;
}

/* ---- dependences: writing tasks follow all before them, others follow writing ones ---- */

static uint64_t dependence_key(uint64_t parent, uint64_t address, bool writes)
{
	return mix(mix(parent, address), writes) | 1ull << 63;
}

void dpe_omp_await(uint64_t parent, const struct dpe_omp_dependence *dependences, unsigned count,
	struct dpe_memory_place place)
{
	for (unsigned i = 0; i < count; i++) {
		acquire_key(dependence_key(parent, dependences[i].address, true), place);
		if (dependences[i].writes)
			acquire_key(dependence_key(parent, dependences[i].address, false), place);
	}
}

void dpe_omp_fulfil(uint64_t parent, const struct dpe_omp_dependence *dependences, unsigned count,
	struct dpe_memory_place place)
{
	for (unsigned i = 0; i < count; i++)
		release_key(dependence_key(parent, dependences[i].address, dependences[i].writes), place);
}

void dpe_omp_iteration(
	enum dpe_preload_memory what, const uint64_t *counts, unsigned count, struct dpe_memory_place place)
{
	uint64_t key = dpe_omp_current.team;

	for (unsigned i = 0; i < count; i++)
		key = mix(key, counts[i]);
	dpe_memory_sync(what, key | 1ull << 63, 0, place);
}

/* ---- turns: idle threads take a moment to wake, in which a busy one would run everything by itself ---------------- */

uint32_t dpe_omp_begun;

static bool may_wait(uint64_t site)
{
	static __thread struct {
		uint64_t site;
		unsigned waits;
	} sites[DPE_OMP_SITES];
	__typeof__(&sites[0]) own = &sites[mix(0, site) % DPE_OMP_SITES];

	if (own->site != site) {
		own->site = site;
		own->waits = 0;
	}
	return own->waits++ < DPE_OMP_WAITS;
}

void dpe_omp_let_begin(uint32_t begun, unsigned pauses, uint64_t site)
{
	const struct timespec pause = {.tv_nsec = DPE_OMP_PAUSE};

	if (!dpe_omp_is_wanted() || dpe_preload_filtered || !may_wait(site))
		return;
	while (pauses-- && __atomic_load_n(&dpe_omp_begun, __ATOMIC_RELAXED) == begun)
		syscall(SYS_nanosleep, &pause, NULL);
}

static bool has_forked_team(void)
{
	return dpe_omp_current.team && dpe_omp_current.team >> 32 == thread_keys >> 32;
}

void dpe_omp_come_first(uint64_t site)
{
	uint32_t begun = __atomic_add_fetch(&dpe_omp_begun, 1, __ATOMIC_RELAXED);

	if (has_forked_team())
		dpe_omp_let_begin(begun, 3 * DPE_OMP_PAUSES, site);
}
