/* openmp: the order that OpenMP makes, as releases and acquires of keys: for the wrappers of libgomp's
 * functions and the tool that libomp calls. Program order by thread is kept: two tasks that one thread runs are
 * ordered. */
#ifndef DPE_PROBES_INSIDE_OPENMP_H
#define DPE_PROBES_INSIDE_OPENMP_H

#include "probes/inside/memory_hooks.h"
#include "probes/limits.h"

/* What a thread runs: an implicit or explicit task in a team. */
struct dpe_omp_task {
	uint64_t team;  /* the keys of the team; 0: no team */
	uint64_t keys;  /* its own key */
	uint64_t group; /* key of the taskgroup that it was created in; 0: none */
	unsigned depth; /* taskgroups that it has begun */
	unsigned round; /* barriers of the team that its thread has passed */
	unsigned level; /* teams around it */
	unsigned ncounts; /* dimensions of its doacross loop */
};

struct dpe_omp_dependence {
	uint64_t address;
	bool writes; /* out, inout and the like */
};

/* A task that another thread may run. On completion, the thread continues what it ran before. */
struct dpe_omp_created {
	uint64_t keys, parent, group, team;
	const struct dpe_omp_dependence *dependences;
	unsigned ndependences;
};

static inline bool dpe_omp_is_wanted(void)
{
	return dpe_memory_is_wanted(DPE_PRELOAD_OMP_RELEASE);
}

extern DPE_PRELOAD_HIDDEN __thread struct dpe_omp_task dpe_omp_current;

/* A parallel region: its beginning, which returns the keys of its team, and its end, for the thread that forks;
 * then the same for each thread of the team. */
DPE_PRELOAD_HIDDEN uint64_t dpe_omp_fork(struct dpe_memory_place place);
DPE_PRELOAD_HIDDEN void dpe_omp_join(uint64_t team, struct dpe_memory_place place);
DPE_PRELOAD_HIDDEN struct dpe_omp_task dpe_omp_enter_team(uint64_t team, struct dpe_memory_place place);
DPE_PRELOAD_HIDDEN void dpe_omp_leave_team(const struct dpe_omp_task *outer, struct dpe_memory_place place);

DPE_PRELOAD_HIDDEN void dpe_omp_arrive(struct dpe_memory_place place);
DPE_PRELOAD_HIDDEN void dpe_omp_depart(struct dpe_memory_place place);

DPE_PRELOAD_HIDDEN struct dpe_omp_created dpe_omp_create(struct dpe_memory_place place);
/* What was done since it was created precedes the task as well. */
DPE_PRELOAD_HIDDEN void dpe_omp_publish(const struct dpe_omp_created *created, struct dpe_memory_place place);
DPE_PRELOAD_HIDDEN struct dpe_omp_task dpe_omp_start(
	const struct dpe_omp_created *created, struct dpe_memory_place place);
DPE_PRELOAD_HIDDEN void dpe_omp_complete(
	const struct dpe_omp_created *created, struct dpe_memory_place place);
/* The keys released by the current task's children, or by the other tasks of its taskgroup. */
DPE_PRELOAD_HIDDEN void dpe_omp_taskwait(struct dpe_memory_place place);
DPE_PRELOAD_HIDDEN void dpe_omp_begin_group(void);
DPE_PRELOAD_HIDDEN void dpe_omp_await_group(struct dpe_memory_place place);
DPE_PRELOAD_HIDDEN void dpe_omp_end_group(struct dpe_memory_place place);
/* Called before and after a task with dependences on other children of `parent`. */
DPE_PRELOAD_HIDDEN void dpe_omp_await(uint64_t parent, const struct dpe_omp_dependence *dependences,
	unsigned count, struct dpe_memory_place place);
DPE_PRELOAD_HIDDEN void dpe_omp_fulfil(uint64_t parent, const struct dpe_omp_dependence *dependences,
	unsigned count, struct dpe_memory_place place);

/* Parts of the keys of a team. */
enum dpe_omp_part { DPE_OMP_FORK, DPE_OMP_BARRIER, DPE_OMP_ODD_BARRIER, DPE_OMP_ORDERED, DPE_OMP_COPY, DPE_OMP_REDUCTION };

/* The part of the current team, if there is one. */
DPE_PRELOAD_HIDDEN void dpe_omp_release(enum dpe_omp_part part, struct dpe_memory_place place);
DPE_PRELOAD_HIDDEN void dpe_omp_acquire(enum dpe_omp_part part, struct dpe_memory_place place);
/* The iteration of the team's doacross loop with these counts is done, or was waited for. */
DPE_PRELOAD_HIDDEN void dpe_omp_iteration(
	enum dpe_preload_memory what, const uint64_t *counts, unsigned count, struct dpe_memory_place place);

/* The number of tasks and chunks that threads have begun. */
extern DPE_PRELOAD_HIDDEN uint32_t dpe_omp_begun;
/* Waits briefly until another thread has begun more than `begun`, at most a few times at each site. */
DPE_PRELOAD_HIDDEN void dpe_omp_let_begin(uint32_t begun, unsigned pauses, uint64_t site);

/* The thread comes to a `single`, which the first one executes. That is mostly the one that began the region, which lets
 * another one come. */
DPE_PRELOAD_HIDDEN void dpe_omp_come_first(uint64_t site);

/* The thread begins one. It waits longer than the thread that creates tasks, which may be the only other
 * thread. */
static inline void dpe_omp_begin(uint64_t site)
{
	dpe_omp_let_begin(__atomic_add_fetch(&dpe_omp_begun, 1, __ATOMIC_RELAXED), 3 * DPE_OMP_PAUSES, site);
}

static inline void dpe_omp_lock(
	enum dpe_preload_memory what, const void *lock, struct dpe_memory_place place)
{
	if (dpe_memory_is_wanted(what))
		dpe_memory_sync(what, (uint64_t)lock, 0, place);
}

#endif
