/* sleep_sets: DFS. A thread that sleeps is not chosen until an operation is done that depends on its next one: another run makes
 * that choice. Source: P. Godefroid, Partial-Order Methods for the Verification of Concurrent Systems, 1996. */
#include "explore/sched/choices.h"

#include "explore/sched/dependence.h"

static struct dpe_sched_set asleep;

/* A sleeping thread wakes when an operation is done that depends on its own next operation. */
static void wake_dependent(const struct dpe_sched_event *done)
{
	for (unsigned i = 0; i < dpe_sched->nthreads; i++) {
		const struct dpe_sched_event next = dpe_event_of(dpe_sched, i);

		if (dpe_set_has(&asleep, i) && dpe_events_dependent(done, &next))
			dpe_set_remove(&asleep, i);
	}
}

static void keep_event(const struct dpe_sched_choosable *all, unsigned chosen, unsigned current)
{
	struct dpe_sched_event event = dpe_event_of(dpe_sched, chosen);

	event.current = (uint16_t)current;
	for (unsigned i = 0; i < all->count; i++)
		dpe_set_add(&event.possible, all->at[i]);
	event.asleep = asleep;
	event.nthreads = (uint16_t)dpe_sched->nthreads;
	if (dpe_sched->nevents == DPE_SCHED_EVENTS)
		dpe_sched->events_lost++;
	else
		dpe_sched->events[dpe_sched->nevents++] = event;
	wake_dependent(&event);
}

void dpe_sched_trace(const struct dpe_sched_choosable *ready, const struct dpe_sched_choosable *later, unsigned chosen)
{
	struct dpe_sched_choosable all = *ready;

	for (unsigned i = 0; i < later->count; i++)
		all.at[all.count++] = later->at[i];
	keep_event(&all, chosen, DPE_SCHED_THREADS);
}

/* It has yielded or looked many times, and lets the default thread, which is asleep, run first. */
static bool is_starved(unsigned thread, unsigned by_default)
{
	const struct dpe_sched_thread *waits = &dpe_sched->threads[thread];

	return waits->yields && waits->op.kind == DPE_SCHED_YIELD && !dpe_sched->threads[by_default].yields;
}

/* A thread that waits by yielding for one that is asleep would do so without end. */
static unsigned awake(const struct dpe_sched_choosable *all, unsigned by_default)
{
	if (!dpe_set_has(&asleep, by_default))
		return by_default;
	for (unsigned i = 0; i < all->count; i++) {
		if (dpe_set_has(&asleep, all->at[i]))
			continue;
		if (!is_starved(all->at[i], by_default))
			return all->at[i];
		dpe_sched->starved = true;
	}
	dpe_sched->left_asleep = asleep;
	dpe_sched_end(DPE_SCHED_PRUNED);
}

unsigned dpe_sched_by_path(
	const struct dpe_sched_choosable *ready, const struct dpe_sched_choosable *later, unsigned by_default, unsigned current)
{
	uint32_t at = dpe_sched->nevents;
	struct dpe_sched_choosable all = *ready;
	unsigned chosen;

	for (unsigned i = 0; i < later->count; i++)
		all.at[all.count++] = later->at[i];
	if (at + 1 == dpe_sched->npath)
		asleep = dpe_sched->asleep;
	if (at < dpe_sched->npath && !dpe_sched_is_among(&all, dpe_sched->path[at]))
		dpe_sched->strayed = true;
	if (at < dpe_sched->npath && !dpe_sched->strayed)
		chosen = dpe_sched->path[at];
	else
		chosen = awake(&all, by_default);
	keep_event(&all, chosen, dpe_sched_is_among(ready, current) ? current : DPE_SCHED_THREADS);
	return chosen;
}
