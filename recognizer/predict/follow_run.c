/* Follows a run of the observed threads event by event, by the definition of a reordering: docs/predict.md. */
#include "recognizer/predict/reorder.h"

#include <stdlib.h>

uint32_t dpe_chain_before(const struct dpe_history *history, uint32_t chain, uint64_t number)
{
	const struct dpe_past_chain *of = &history->chains[chain];
	return DPE_PARTITION_POINT(i, 0, of->nevents, of->events[i] < number);
}

const struct dpe_lock_section *dpe_section_of_other_chain(
	const struct dpe_lock_section *section, unsigned i, const uint32_t *counts)
{
	const struct dpe_lock_sections *of = section->of->lock->by_chain[i];

	return of == section->of ? NULL : dpe_sections_last(of, counts[of->chain], section->exclusive);
}

void dpe_follower_reset(struct dpe_follower *follower)
{
	for (unsigned i = 0; i < follower->nchains; i++)
		follower->done[i] = dpe_chain_before(follower->history, i, follower->first);
	dpe_data_reset(&follower->data);
}

void dpe_follower_begin(struct dpe_follower *follower, const struct dpe_history *history,
	uint64_t first, const uint32_t *cut, unsigned nchains)
{
	follower->history = history;
	follower->first = first;
	follower->cut = cut;
	follower->nchains = nchains;
	if (follower->capchains < nchains) {
		follower->capchains = nchains;
		follower->done = dpe_xrealloc(follower->done, nchains * sizeof(*follower->done));
	}
	dpe_data_begin(&follower->data, history, first, cut);
	dpe_follower_reset(follower);
}

const struct dpe_lock_section *dpe_section_rival(const struct dpe_lock_section *section, const uint32_t *counts)
{
	const struct dpe_reordered_lock *lock = section->of->lock;

	for (unsigned i = 0; i < lock->nchains; i++) {
		const struct dpe_lock_section *other = dpe_section_of_other_chain(section, i, counts);

		if (other && dpe_section_is_open(other, counts[other->of->chain]))
			return other;
	}
	return NULL;
}

static bool locks_are_free(const struct dpe_follower *follower, const struct dpe_past_event *event)
{
	const struct dpe_past_chain *chain = &follower->history->chains[event->epoch->chain];

	for (unsigned i = dpe_acquires_after(chain, event->index - 1); i < chain->nacquires; i++) {
		const struct dpe_lock_section *section = &chain->acquires[i].sections->at[chain->acquires[i].section];

		if (section->gate_index != event->index)
			break;
		if (dpe_section_rival(section, follower->done))
			return false;
	}
	return true;
}

static bool are_done(void *context, uint32_t first, const uint32_t *at, unsigned count)
{
	const struct dpe_follower *follower = context;
	unsigned i = 0;

	while (i < count && at[i] <= follower->done[first + i])
		i++;
	return i == count;
}

bool dpe_follower_can(const struct dpe_follower *follower, uint64_t number)
{
	const struct dpe_past_event *event = &follower->history->events[number];

	if (event->index != follower->done[event->epoch->chain] + 1 || event->index > follower->cut[event->epoch->chain])
		return false;
	return (!event->epoch->base || dpe_base_each(event->epoch->base, 0, are_done, (void *)follower)) && locks_are_free(follower, event) && dpe_data_can(&follower->data, number);
}

void dpe_follower_do(struct dpe_follower *follower, uint64_t number)
{
	follower->done[follower->history->events[number].epoch->chain]++;
	dpe_data_do(&follower->data, number);
}

bool dpe_follower_is_complete(const struct dpe_follower *follower)
{
	for (unsigned i = 0; i < follower->nchains; i++) {
		if (follower->done[i] != follower->cut[i])
			return false;
	}
	return true;
}

bool dpe_follower_follow(struct dpe_follower *follower, const struct dpe_rearranged *order)
{
	dpe_follower_reset(follower);
	for (unsigned i = 0; i < order->count; i++) {
		if (!dpe_follower_can(follower, order->events[i]))
			return false;
		dpe_follower_do(follower, order->events[i]);
	}
	return dpe_follower_is_complete(follower);
}

void dpe_follower_free(struct dpe_follower *follower)
{
	free(follower->done);
	dpe_data_free(&follower->data);
}
