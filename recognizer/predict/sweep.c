/* Matches of pairwise independent events. An event that must precede the others of a match must also precede later
 * events in their place, which only add to the run. So one pointer for each thread of a match moves forward
 * through its events, and never back (weak conjunctive predicates: Garg and Waldecker 1994, with the closure as
 * the causal order). */
#include "recognizer/predict/predictor.h"

#include <stdlib.h>
#include <string.h>

struct sweep_key {
	const struct dpe_pomset *pomset;
	const struct dpe_candidates *of[DPE_POMSET_EVENTS];
	uint64_t last;
};

/* For one choice of threads and values, and of the last event. */
struct dpe_sweep {
	UT_hash_handle hh;
	struct sweep_key key;
	unsigned at[DPE_POMSET_EVENTS]; /* pointers into the candidates */
	struct dpe_closure closure;
};

static bool precedes_always(const struct dpe_past_event *a, const struct dpe_past_event *b)
{
	return a->index <= dpe_base_reach(b->epoch->base, a->epoch->chain);
}

static unsigned hash_key(const struct sweep_key *key)
{
	uint64_t hash = (uintptr_t)key->pomset ^ key->last;

	for (unsigned i = 0; i < key->pomset->nevents; i++)
		hash = dpe_value_mix(hash ^ (uintptr_t)key->of[i]);
	return (unsigned)(hash >> 32);
}

static struct dpe_sweep *find_sweep(
	struct dpe_prediction_search *search, const struct dpe_assignment *assignment)
{
	struct sweep_key key = {.pomset = assignment->pomset, .last = assignment->last};
	struct dpe_sweep *sweep;
	unsigned hash;

	for (unsigned i = 0; i < key.pomset->nevents; i++)
		key.of[i] = i == key.last ? dpe_candidates_of_chain(assignment->last_group, assignment->last_chain)
					  : assignment->of[i];
	hash = hash_key(&key);
	HASH_FIND_BYHASHVALUE(hh, search->sweeps, &key, sizeof(key), hash, sweep);
	if (sweep)
		return sweep;
	sweep = dpe_xcalloc(1, sizeof(*sweep));
	sweep->key = key;
	search->history->bytes += sizeof(*sweep);
	HASH_ADD_BYHASHVALUE(hh, search->sweeps, key, sizeof(sweep->key), hash, sweep);
	return sweep;
}

/* Events of an ended slice, and those in a section of a lock that the last event's section excludes: the
 * release of their section precedes it, and all later ones of its thread. */
static bool is_passed(const struct dpe_prediction_search *search,
	const struct dpe_assignment *assignment, uint64_t number)
{
	const struct dpe_past_event *events = search->history->events;

	return number < assignment->first ||
	       dpe_sections_conflict(
		       events[number].epoch->held, events[assignment->events[assignment->last]].epoch->held);
}

/* Moves pointers to the events that are to be looked at next; false if a thread has none left. */
static bool find_heads(struct dpe_prediction_search *search, struct dpe_sweep *sweep,
	struct dpe_assignment *assignment)
{
	for (unsigned i = 0; i < assignment->pomset->nevents; i++) {
		const struct dpe_candidates *of = assignment->of[i];

		if (i == assignment->last)
			continue;
		while (sweep->at[i] < of->count &&
			is_passed(search, assignment, of->events[sweep->at[i]]))
			sweep->at[i]++;
		if (sweep->at[i] == of->count)
			return false;
		assignment->events[i] = of->events[sweep->at[i]];
	}
	return true;
}

/* Moves the pointers whose events precede another one of the match; false if none does. */
static bool advance(struct dpe_prediction_search *search, struct dpe_sweep *sweep,
	const struct dpe_assignment *assignment)
{
	const struct dpe_past_event *events = search->history->events, *last = &events[assignment->events[assignment->last]];
	bool moved = false;

	for (unsigned i = 0; i < assignment->pomset->nevents; i++) {
		if (i == assignment->last || !dpe_closure_has(&sweep->closure, &events[assignment->events[i]]))
			continue;
		search->missed |= sweep->closure.leans && !precedes_always(&events[assignment->events[i]], last);
		sweep->at[i]++;
		moved = true;
	}
	return moved;
}

/* True if there is a match with the assignment's last event. */
static bool sweep_to_match(struct dpe_prediction_search *search, struct dpe_sweep *sweep,
	struct dpe_assignment *assignment)
{
	const struct dpe_past_event *last =
		&search->history->events[assignment->events[assignment->last]];

	if (sweep->closure.refused)
		return false;
	while (find_heads(search, sweep, assignment)) {
		for (unsigned i = 0; i < assignment->pomset->nevents; i++)
			dpe_closure_add(&sweep->closure, search->history, assignment->events[i]);
		dpe_closure_close(&sweep->closure, search->history);
		if (sweep->closure.refused || dpe_closure_has(&sweep->closure, last)) {
			search->missed |= sweep->closure.leans;
			return false;
		}
		if (!advance(search, sweep, assignment))
			return true;
	}
	return false;
}

/* ---- choosing threads and values ---------------------------------------------------------- */

struct thread_choice {
	struct dpe_prediction_search *search;
	struct dpe_assignment *assignment;
	const struct dpe_sections_set *held; /* by the thread of the last event */
	unsigned event; /* of the behaviour, whose group is chosen next */
};

/* True if no run has an event of this thread and the last one independent. */
static bool is_excluded(const struct thread_choice *choice, const struct dpe_candidates *of)
{
	const struct dpe_past_event *events = choice->search->history->events;
	uint64_t last = choice->assignment->events[choice->assignment->last];

	return dpe_sections_conflict(of->common, choice->held) ||
	       precedes_always(&events[of->events[of->count - 1]], &events[last]);
}

static void choose(struct thread_choice *choice);

static bool has_chain(const struct dpe_assignment *assignment, unsigned chosen, uint32_t chain)
{
	if (assignment->last_chain == chain)
		return true;
	for (unsigned i = 0; i < chosen; i++) {
		if (i != assignment->last && assignment->of[i]->chain == chain)
			return true;
	}
	return false;
}

static void choose_group(void *context, struct dpe_candidate_group *group)
{
	struct thread_choice *choice = context;
	struct dpe_assignment *assignment = choice->assignment;
	uint64_t mask;

	if (dpe_sections_conflict(group->all.common, choice->held))
		return;
	dpe_candidates_divide(choice->search, group);
	mask = dpe_assignment_bind(assignment, group);
	for (unsigned i = 0; i < group->nchains; i++) {
		struct thread_choice next = *choice;
		struct dpe_candidates *of = group->by_chain[i];

		if (!of->count || has_chain(assignment, choice->event, of->chain) || is_excluded(choice, of))
			continue;
		assignment->of[choice->event] = of;
		next.event++;
		choose(&next);
	}
	assignment->mask = mask;
}

static void choose(struct thread_choice *choice)
{
	struct dpe_prediction_search *search = choice->search;
	struct dpe_assignment *assignment = choice->assignment;
	struct dpe_sweep *sweep;
	bool found;

	if (choice->event == assignment->last)
		choice->event++;
	if (choice->event < assignment->pomset->nevents) {
		dpe_candidates_each(search, assignment,
			dpe_pomset_pattern(search->run->rule, assignment->pomset, choice->event),
			choose_group, choice);
		return;
	}
	if (dpe_prediction_reported(search, assignment))
		return;
	assignment->first = dpe_slice_begins(search, assignment);
	sweep = find_sweep(search, assignment);
	search->history->bytes -= dpe_closure_bytes(&sweep->closure);
	found = sweep_to_match(search, sweep, assignment);
	search->history->bytes += dpe_closure_bytes(&sweep->closure);
	if (found)
		dpe_prediction_report(search, assignment, &sweep->closure);
	else
		search->refused = true;
}

void dpe_sweep_search(struct dpe_prediction_search *search, struct dpe_assignment *assignment)
{
	struct thread_choice choice = {
		.search = search,
		.assignment = assignment,
		.held = search->history->events[assignment->events[assignment->last]].epoch->held,
	};

	choose(&choice);
}

void dpe_sweeps_free(struct dpe_prediction_search *search)
{
	struct dpe_sweep *sweep, *next;

	HASH_ITER (hh, search->sweeps, sweep, next) {
		HASH_DEL(search->sweeps, sweep);
		dpe_closure_free(&sweep->closure);
		free(sweep);
	}
}
