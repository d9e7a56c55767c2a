/* Between two windows of a long run events are forgotten. Of a slice of independent events there remains what its
 * events have in common; so it is known of a later event whether a match with one of them may be missed: not where
 * both are of one thread, under one lock, or where the later one follows the thread of the earlier one. */
#include "recognizer/predict/predictor.h"

struct passing {
	const struct dpe_prediction_search *search;
	const uint32_t *passed; /* of each chain, the events that precede all later ones of other chains */
};

static bool has_passed(const struct passing *passing, uint32_t number)
{
	const struct dpe_past_event *event = &passing->search->history->events[number];

	return event->index <= passing->passed[event->epoch->chain];
}

static bool all_have_passed(const struct passing *passing, const uint32_t *events, unsigned count)
{
	for (unsigned i = 0; i < count; i++) {
		if (!has_passed(passing, events[i]))
			return false;
	}
	return true;
}

/* The events of earlier windows: a chain has passed where its first event of this window has. */
static bool earlier_has_passed(const struct passing *passing, const struct dpe_candidate_span *earlier)
{
	const struct dpe_history *history = passing->search->history;

	if (!earlier->any)
		return true;
	if (earlier->chain != DPE_MANY_CHAINS)
		return passing->passed[earlier->chain];
	for (unsigned i = 0; i < history->nchains; i++) {
		if (history->chains[i].earlier && !passing->passed[i])
			return false;
	}
	return true;
}

static bool group_has_passed(const struct passing *passing, const struct dpe_candidate_group *group)
{
	const struct dpe_waiting_event *waiting = passing->search->waiting;

	if (!earlier_has_passed(passing, &group->earlier))
		return false;
	for (uint32_t at = group->waiting; at; at = waiting[at].before) {
		if (!has_passed(passing, waiting[at].event))
			return false;
	}
	for (unsigned i = 0; i < group->nchains; i++) {
		if (!all_have_passed(passing, group->by_chain[i]->events, group->by_chain[i]->count))
			return false;
	}
	return true;
}

/* True if later events may match one of the slice. */
static bool keep(void *context, struct dpe_candidate_slice *slice)
{
	const struct passing *passing = context;
	bool kept = false;

	for (unsigned i = 0; i < passing->search->run->rule->npatterns; i++) {
		struct dpe_candidate_group *group = &slice->groups[i];

		if (group->all.any && group_has_passed(passing, group))
			group->all = (struct dpe_candidate_span){0};
		group->earlier = group->all;
		kept |= group->all.any;
		dpe_candidates_forget(group);
	}
	slice->quiet_in = NULL;
	return kept;
}

void dpe_candidates_restart(struct dpe_prediction_search *search, const uint32_t *passed)
{
	dpe_candidates_keep(search, keep, &(struct passing){search, passed});
}

/* True if something of the chain's events in this window precedes the event, and so all of its earlier ones. */
static bool follows(const struct dpe_epoch *epoch, uint32_t chain)
{
	return dpe_base_reach(epoch->base, chain);
}

static bool follows_all(
	const struct dpe_history *history, const struct dpe_epoch *epoch, const struct dpe_candidate_span *earlier)
{
	if (earlier->chain != DPE_MANY_CHAINS)
		return follows(epoch, earlier->chain);
	for (unsigned i = 0; i < history->nchains; i++) {
		if (i != epoch->chain && history->chains[i].earlier && !follows(epoch, i))
			return false;
	}
	return true;
}

bool dpe_candidates_miss(const struct dpe_prediction_search *search,
	const struct dpe_candidate_group *group, uint64_t number)
{
	const struct dpe_epoch *epoch = search->history->events[number].epoch;
	uint64_t partners = search->partners[group->pattern];

	for (; partners; partners &= partners - 1) {
		const struct dpe_candidate_span *earlier = &group->slice->groups[__builtin_ctzll(partners)].earlier;

		if (!dpe_span_excludes(earlier, epoch) && !follows_all(search->history, epoch, earlier))
			return true;
	}
	return false;
}

void dpe_candidates_end(struct dpe_candidate_slice *slice, const struct dpe_rule *rule)
{
	for (unsigned i = 0; i < rule->npatterns; i++)
		slice->groups[i].earlier.any = false;
}
