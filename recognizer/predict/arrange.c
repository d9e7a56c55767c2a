/* An order of the events of a cut in which locks exclude each other and reads see their writes. Events keep the
 * observed order where possible; one that has to wait follows as soon as it can. If no event can follow, two
 * sections of a lock are swapped, and the arrangement starts again. */
#include "recognizer/predict/reorder.h"

#include <stdlib.h>

static bool is_released(const struct dpe_follower *follower, const struct dpe_lock_section *section)
{
	return !dpe_section_is_open(section, follower->done[section->of->chain]);
}

static bool is_over(const struct dpe_follower *follower, const struct dpe_lock_section *section)
{
	return section->gate_index <= follower->done[section->of->chain] && is_released(follower, section);
}

/* A section that the cut does not end comes after all others of its lock. */
static bool must_wait_for_others(const struct dpe_follower *follower, const struct dpe_lock_section *section)
{
	const struct dpe_reordered_lock *lock = section->of->lock;

	if (!dpe_section_is_open(section, follower->cut[section->of->chain]))
		return false;
	for (unsigned i = 0; i < lock->nchains; i++) {
		const struct dpe_lock_section *other = dpe_section_of_other_chain(section, i, follower->cut);

		if (other && !is_over(follower, other))
			return true;
	}
	return false;
}

static bool must_wait(const struct dpe_arrangement *a, const struct dpe_lock_section *section)
{
	for (unsigned i = 0; i < a->nbefore; i++) {
		if (a->before[i].then == section && !is_over(&a->follower, a->before[i].first))
			return true;
	}
	return must_wait_for_others(&a->follower, section);
}

/* The acquires that are complete at the event: calls until one returns true. */
typedef bool acquire_test(struct dpe_arrangement *a, const struct dpe_lock_section *section);

static bool any_acquire(struct dpe_arrangement *a, const struct dpe_past_event *event, acquire_test *test)
{
	const struct dpe_past_chain *chain = &a->follower.history->chains[event->epoch->chain];

	for (unsigned i = dpe_acquires_after(chain, event->index - 1); i < chain->nacquires; i++) {
		const struct dpe_lock_section *section = &chain->acquires[i].sections->at[chain->acquires[i].section];

		if (section->gate_index != event->index)
			return false;
		if (test(a, section))
			return true;
	}
	return false;
}

static bool waits(struct dpe_arrangement *a, const struct dpe_lock_section *section)
{
	return must_wait(a, section);
}

static bool may_come(struct dpe_arrangement *a, uint64_t number)
{
	return dpe_follower_can(&a->follower, number) &&
	       !any_acquire(a, &a->follower.history->events[number], waits) &&
	       !dpe_data_overwrites(&a->follower.data, number);
}

static void add(struct dpe_arrangement *a, uint64_t number)
{
	dpe_follower_do(&a->follower, number);
	a->looked_at += a->follower.nchains / 4;
	a->order.places[number - a->order.first] = a->order.count;
	a->order.events[a->order.count++] = (uint32_t)number;
}

/* One pass over the events; true if it added some. */
static bool pass(struct dpe_arrangement *a, const uint32_t *limits)
{
	const struct dpe_past_event *events = a->follower.history->events;
	bool some = false;

	for (uint64_t i = a->order.first; i <= a->last; i++) {
		if (events[i].index > limits[events[i].epoch->chain] || !may_come(a, i))
			continue;
		add(a, i);
		some = true;
	}
	a->looked_at += a->last + 1 - a->order.first + a->follower.nchains;
	return some;
}

/* ---- when nothing can proceed ------------------------------------------------------------------ */

bool dpe_arrangement_precede(struct dpe_arrangement *a, const struct dpe_lock_section *first,
	const struct dpe_lock_section *then)
{
	for (unsigned i = 0; i < a->nbefore; i++) {
		if (a->before[i].first->of == then->of && a->before[i].then->of == first->of &&
			a->before[i].first->gate <= then->gate && first->gate <= a->before[i].then->gate)
			return false;
		if (a->before[i].first == first && a->before[i].then == then)
			return false;
	}
	if (a->nbefore == sizeof(a->before) / sizeof(a->before[0]))
		return false;
	a->before[a->nbefore++] = (struct dpe_precedence){first, then};
	return true;
}

/* The acquire that comes next in its thread waits for a section that another one is in: that is to be later. */
static bool must_precede(struct dpe_arrangement *a, const struct dpe_lock_section *section)
{
	const struct dpe_follower *follower = &a->follower;
	const struct dpe_reordered_lock *lock = section->of->lock;

	if (dpe_section_is_open(section, follower->cut[section->of->chain]))
		return false;
	for (unsigned i = 0; i < lock->nchains; i++) {
		const struct dpe_lock_section *other = dpe_section_of_other_chain(section, i, follower->done);

		if (other && !is_released(follower, other) && other->gate >= a->order.first &&
			dpe_arrangement_precede(a, section, other))
			return true;
	}
	return false;
}

static bool repair(struct dpe_arrangement *a)
{
	const struct dpe_history *history = a->follower.history;

	for (unsigned i = 0; i < a->follower.nchains; i++) {
		uint32_t done = a->follower.done[i];

		if (done < a->follower.cut[i] &&
			any_acquire(a, &history->events[history->chains[i].events[done]], must_precede))
			return true;
	}
	return false;
}

/* ---- all of it --------------------------------------------------------------------------------- */

/* What precedes the match comes first, so that no more of it is ordered than has to be. */
static bool go_through(struct dpe_arrangement *a)
{
	a->order.count = 0;
	dpe_follower_reset(&a->follower);
	for (unsigned i = 0; i < DPE_REORDER_PASSES; i++) {
		if (!pass(a, a->limits) && !pass(a, a->follower.cut))
			break;
	}
	return dpe_follower_is_complete(&a->follower);
}

static void make_room(struct dpe_arrangement *a)
{
	const struct dpe_follower *follower = &a->follower;
	unsigned nplaces;

	a->last = a->order.first;
	for (unsigned i = 0; i < follower->nchains; i++) {
		uint32_t count = follower->cut[i];
		uint64_t last = count ? follower->history->chains[i].events[count - 1] : 0;

		if (last > a->last)
			a->last = last;
	}
	nplaces = (unsigned)(a->last + 1 - a->order.first);
	if (a->capplaces >= nplaces)
		return;
	a->capplaces = nplaces;
	a->order.places = dpe_xrealloc(a->order.places, nplaces * sizeof(*a->order.places));
	a->order.events = dpe_xrealloc(a->order.events, nplaces * sizeof(*a->order.events));
}

bool dpe_arrange(struct dpe_arrangement *a, const struct dpe_history *history, const uint32_t *cut,
	unsigned nchains)
{
	dpe_follower_begin(&a->follower, history, a->order.first, cut, nchains);
	make_room(a);
	for (unsigned i = 0; !go_through(a); i++) {
		if (i == DPE_REORDER_REPAIRS || !repair(a))
			return false;
	}
	return dpe_follower_follow(&a->follower, &a->order);
}

void dpe_arrangement_free(struct dpe_arrangement *a)
{
	dpe_follower_free(&a->follower);
	free(a->order.events);
	free(a->order.places);
	free(a->limits);
}
