/* Matches in runs that take locks in another order (as OSR: Shi, Mathur, Pavlogiannis, "Optimistic Prediction of
 * Synchronization-Reversal Data Races", ICSE 2024). What the match needs is closed under all but locks; of two sections
 * of a lock that stay open one is ended; an order of all that is searched for, followed, and only then compared with the
 * match. A step that fails may miss a match, but never makes one. */
#include "recognizer/predict/reorder.h"

#include <stdlib.h>
#include <string.h>

/* A match that can be looked for once the section is over. */
struct waiting_match {
	struct dpe_assignment assignment;
	const struct dpe_lock_sections *sections;
	unsigned section;
};

struct dpe_reorder {
	struct dpe_arrangement arrangement;
	struct dpe_closure cut; /* of the last try */
	uint8_t tries[DPE_REORDER_PLACES]; /* by a hash of the places */
	struct waiting_match waiting[DPE_REORDER_WAITING];
	unsigned nwaiting;
};

static struct dpe_reorder *reorder_of(struct dpe_prediction_search *search)
{
	if (!search->reorder)
		search->reorder = dpe_xcalloc(1, sizeof(*search->reorder));
	return search->reorder;
}

/* The events that are reordered begin with those of the sections in which the match's earliest one is, and a few
 * more. 0: it is too long ago. Adds to `*work` the threads and locks that were looked at. */
static uint64_t find_first(
	const struct dpe_history *history, const struct dpe_assignment *assignment, uint64_t *work)
{
	uint64_t known = dpe_accesses_known(&history->accesses), earliest = UINT64_MAX, first;
	uint64_t low = history->nevents > DPE_REORDER_EVENTS ? history->nevents - DPE_REORDER_EVENTS : 1;

	low = low > known ? low : known;
	for (unsigned i = 0; i < assignment->pomset->nevents; i++)
		earliest = assignment->events[i] < earliest ? assignment->events[i] : earliest;
	if (earliest < low)
		return 0;
	first = earliest;
	for (unsigned i = 0; i < history->nchains; i++) {
		uint32_t index = dpe_chain_before(history, i, earliest);

		*work += 1 + history->chains[i].nlocks;
		for (unsigned j = 0; j < history->chains[i].nlocks; j++) {
			const struct dpe_lock_section *section = dpe_sections_last(history->chains[i].locks[j], index, true);

			if (section && section->gate < first && dpe_section_is_open(section, index))
				first = section->gate;
		}
	}
	first = first > DPE_REORDER_EVENTS / 64 ? first - DPE_REORDER_EVENTS / 64 : 0;
	return first > low ? first : low;
}

/* ---- what happens in the run ------------------------------------------------------------------ */

/* A section of the lock by the thread of `b`, that it is in at `b` or was in last, and that conflicts with `section`. */
static const struct dpe_lock_section *find_later(
	const struct dpe_lock_section *section, const struct dpe_past_event *b)
{
	const struct dpe_reordered_lock *lock = section->of->lock;

	for (unsigned i = 0; i < lock->nchains; i++) {
		if (lock->by_chain[i]->chain == b->epoch->chain)
			return dpe_sections_last(lock->by_chain[i], b->index, section->exclusive);
	}
	return NULL;
}

/* The first section of the lock that ends at `a` or after it. */
static const struct dpe_lock_section *find_earlier(const struct dpe_lock_sections *sections, const struct dpe_past_event *a)
{
	const struct dpe_lock_section *found = NULL;

	for (unsigned i = sections->count; i--;) {
		const struct dpe_lock_section *section = &sections->at[i];

		if (section->release_index < a->index)
			break;
		found = section;
	}
	return found;
}

/* `a` is to precede `b`: the section around it, or the next one, comes before the section around `b` or the last one
 * before. False if there are no such sections; `*open`: but one of them is not over yet. */
static bool order_pair(struct dpe_prediction_search *search, const struct dpe_past_event *a,
	const struct dpe_past_event *b, const struct dpe_lock_section **open)
{
	const struct dpe_history *history = search->history;
	const struct dpe_past_chain *chain = &history->chains[a->epoch->chain];
	const struct dpe_lock_section *first = NULL, *then = NULL;
	uint32_t least = UINT32_MAX;

	for (unsigned i = 0; i < chain->nlocks; i++) {
		const struct dpe_lock_section *earlier = find_earlier(chain->locks[i], a);
		const struct dpe_lock_section *later = earlier ? find_later(earlier, b) : NULL;
		uint32_t cost;

		if (!later)
			continue;
		if (earlier->release == DPE_NO_EVENT) {
			*open = earlier;
			continue;
		}
		cost = earlier->release_index - a->index + b->index - later->gate_index;
		if (cost >= least)
			continue;
		least = cost;
		first = earlier;
		then = later;
	}
	if (!first)
		return false;
	*open = NULL;
	dpe_closure_release(&search->least, history, first);
	return dpe_arrangement_precede(&search->reorder->arrangement, first, then);
}

/* Nothing of the behaviour is between the two. */
static bool is_next(const struct dpe_pomset *pomset, unsigned a, unsigned b)
{
	for (unsigned i = 0; i < pomset->nevents; i++) {
		if (pomset->before[b] >> i & 1 && pomset->before[i] >> a & 1)
			return false;
	}
	return pomset->before[b] >> a & 1;
}

static bool order_pairs(struct dpe_prediction_search *search, const struct dpe_assignment *assignment,
	const struct dpe_lock_section **open)
{
	for (unsigned i = 0; i < assignment->pomset->nevents; i++) {
		for (unsigned j = 0; j < assignment->pomset->nevents; j++) {
			const struct dpe_past_event *a = dpe_event_of(search, assignment, i);
			const struct dpe_past_event *b = dpe_event_of(search, assignment, j);

			if (is_next(assignment->pomset, i, j) && !dpe_precedes_always(a, b) &&
				!order_pair(search, a, b, open))
				return false;
		}
	}
	return true;
}

/* The section cannot end: an event that the match ends with is in it. */
static bool stays_open(const struct dpe_prediction_search *search,
	const struct dpe_assignment *assignment, const struct dpe_lock_section *section)
{
	if (section->release == DPE_NO_EVENT)
		return true;
	for (unsigned i = 0; i < assignment->pomset->nevents; i++) {
		const struct dpe_past_event *event = dpe_event_of(search, assignment, i);

		if (event->epoch->chain == section->of->chain && event->index >= section->gate_index &&
			dpe_pomset_is_maximal(assignment->pomset, i))
			return true;
	}
	return false;
}

/* Ends one of two sections of a lock, if the run ends neither; true if there were two. */
static bool end_one(struct dpe_prediction_search *search, const struct dpe_assignment *assignment)
{
	const struct dpe_history *history = search->history;
	struct dpe_closure *run = &search->least;

	for (unsigned i = 0; i < history->nchains; i++) {
		for (unsigned j = 0; run->there[i] && j < history->chains[i].nlocks; j++) {
			const struct dpe_lock_section *section =
				dpe_sections_last(history->chains[i].locks[j], run->there[i], true);
			const struct dpe_lock_section *rival =
				section && dpe_section_is_open(section, run->there[i])
					? dpe_section_rival(section, run->there)
					: NULL;

			if (!rival)
				continue;
			if (stays_open(search, assignment, section) ||
				(rival->gate < section->gate && !stays_open(search, assignment, rival)))
				section = rival;
			run->refused = stays_open(search, assignment, section);
			dpe_closure_release(run, history, section);
			return true;
		}
	}
	return false;
}

/* Independent events come after all that precedes one of them. */
static bool are_last(const struct dpe_prediction_search *search, const struct dpe_assignment *assignment)
{
	for (unsigned i = 0; i < assignment->pomset->nevents; i++) {
		if (dpe_closure_has(&search->least, dpe_event_of(search, assignment, i)))
			return false;
	}
	return true;
}

/* In search->least: all that happens in the run. */
static bool find_cut(struct dpe_prediction_search *search, const struct dpe_assignment *assignment,
	uint64_t first, const struct dpe_lock_section **open)
{
	const struct dpe_history *history = search->history;

	dpe_closure_clear(&search->least);
	for (unsigned i = 0; i < history->nchains; i++)
		dpe_closure_raise(&search->least, history, i, dpe_chain_before(history, i, first));
	for (unsigned i = 0; i < assignment->pomset->nevents; i++)
		dpe_closure_add(&search->least, history, assignment->events[i]);
	if (!order_pairs(search, assignment, open))
		return false;
	while (!search->least.refused && end_one(search, assignment))
		;
	return !search->least.refused &&
	       (dpe_pomset_has_order(assignment->pomset) || are_last(search, assignment));
}

/* ---- one try ----------------------------------------------------------------------------------- */

static void set_limits(struct dpe_prediction_search *search, const struct dpe_assignment *assignment)
{
	struct dpe_arrangement *a = &search->reorder->arrangement;
	unsigned nchains = search->least.nchains;

	if (a->caplimits < nchains) {
		a->caplimits = nchains;
		a->limits = dpe_xrealloc(a->limits, nchains * sizeof(*a->limits));
	}
	memcpy(a->limits, search->least.there, nchains * sizeof(*a->limits));
	for (unsigned i = 0; i < assignment->pomset->nevents; i++) {
		const struct dpe_past_event *event = dpe_event_of(search, assignment, i);

		if (a->limits[event->epoch->chain] >= event->index)
			a->limits[event->epoch->chain] = event->index - 1;
	}
}

static void spend(struct dpe_prediction_search *search, uint64_t work)
{
	search->reorder_work -= work < search->reorder_work ? work : search->reorder_work;
}

/* In search->least: the cut with locks in the observed order, if that shows the match. */
static bool keeps_order(struct dpe_prediction_search *search, const struct dpe_assignment *assignment)
{
	if (!dpe_pomset_has_order(assignment->pomset))
		return false;
	dpe_closure_copy(&search->reorder->cut, &search->least);
	dpe_closure_close(&search->least, search->history);
	if (!search->least.refused && dpe_match_is_shown(search, assignment))
		return true;
	dpe_closure_copy(&search->least, &search->reorder->cut);
	return false;
}

/* In search->least: a run that shows the match, with locks in the observed order or in another one. */
static bool find_run(struct dpe_prediction_search *search, const struct dpe_assignment *assignment,
	const struct dpe_lock_section **open)
{
	struct dpe_arrangement *a = &search->reorder->arrangement;
	uint64_t first;

	a->looked_at = 0;
	first = find_first(search->history, assignment, &a->looked_at);
	if (!first)
		return false;
	a->nbefore = 0;
	if (!find_cut(search, assignment, first, open))
		return false;
	if (keeps_order(search, assignment))
		return true;
	a->order.first = first;
	a->looked_at += search->history->nevents - first;
	set_limits(search, assignment);
	if (!dpe_arrange(a, search->history, search->least.there, search->least.nchains))
		return false;
	search->least.order = &a->order;
	return dpe_match_is_shown(search, assignment);
}

/* In search->least: the observed run up to the last event of the match, if that shows it. */
static bool find_more(struct dpe_prediction_search *search, const struct dpe_assignment *assignment)
{
	const struct dpe_history *history = search->history;
	uint64_t last = 0;

	if (!dpe_pomset_has_order(assignment->pomset))
		return false;
	dpe_closure_clear(&search->least);
	for (unsigned i = 0; i < assignment->pomset->nevents; i++)
		last = assignment->events[i] > last ? assignment->events[i] : last;
	for (unsigned i = 0; i < history->nchains; i++)
		dpe_closure_raise(&search->least, history, i, dpe_chain_before(history, i, last + 1));
	return dpe_match_is_shown(search, assignment);
}

static bool is_same(const struct dpe_assignment *a, const struct dpe_assignment *b)
{
	return a->events[a->last] == b->events[b->last] && a->mask == b->mask &&
	       dpe_values_compatible(a->mask, a->values, b->mask, b->values);
}

static void drop_waiting(struct dpe_prediction_search *search, unsigned i)
{
	struct dpe_reorder *reorder = search->reorder;

	reorder->waiting[i] = reorder->waiting[--reorder->nwaiting];
	search->history->waiting--;
}

/* One report suffices for the last event. */
static void report(struct dpe_prediction_search *search, const struct dpe_assignment *assignment)
{
	for (unsigned i = search->reorder->nwaiting; i--;) {
		if (is_same(&search->reorder->waiting[i].assignment, assignment))
			drop_waiting(search, i);
	}
	dpe_prediction_report(search, assignment, &search->least);
}

static void wait_for(struct dpe_prediction_search *search, const struct dpe_assignment *assignment,
	const struct dpe_lock_section *section)
{
	struct dpe_reorder *reorder = search->reorder;

	if (reorder->nwaiting == DPE_REORDER_WAITING)
		drop_waiting(search, 0);
	reorder->waiting[reorder->nwaiting++] = (struct waiting_match){
		*assignment, section->of, (unsigned)(section - section->of->at)};
	search->history->waiting++;
}

static void look(struct dpe_prediction_search *search, const struct dpe_assignment *assignment)
{
	const struct dpe_lock_section *open = NULL;
	bool found = find_run(search, assignment, &open);

	spend(search, search->reorder->arrangement.looked_at);
	if (found)
		report(search, assignment);
	else if (open)
		wait_for(search, assignment, open);
}

/* ---- what is tried ----------------------------------------------------------------------------- */

/* Where the event happened; 0: unknown. */
static uint64_t place_of(const struct dpe_history *history, uint64_t number)
{
	struct dpe_message *message = dpe_history_message(history, number);
	uint64_t hash = message->npcs + message->nstack ? message->name + 1 : 0;

	for (unsigned i = 0; i < message->npcs && i < DPE_SITE_FRAMES; i++)
		hash = dpe_value_mix(hash ^ message->pcs[i]);
	for (unsigned i = 0; !message->npcs && i < message->nstack && i < DPE_SITE_FRAMES; i++)
		hash = dpe_value_mix(hash ^ dpe_value_hash(dpe_value_string(message->stack[i])));
	dpe_message_unref(message);
	return hash;
}

/* False if events at these places, or with these values if the places are unknown, were tried often enough. */
static bool count_try(struct dpe_prediction_search *search, const struct dpe_assignment *assignment)
{
	const struct dpe_rule *rule = search->run->rule;
	bool known = true;
	uint64_t hash = dpe_value_mix((uint64_t)(assignment->pomset - rule->pomsets));
	uint8_t *tries;

	for (unsigned i = 0; i < assignment->pomset->nevents; i++) {
		uint64_t place = place_of(search->history, assignment->events[i]);

		known &= place != 0;
		hash = dpe_value_mix(hash ^ place);
	}
	if (!known)
		hash = dpe_value_mix(hash ^ dpe_bound_values_hash(rule, assignment->mask, assignment->values));
	tries = &search->reorder->tries[(hash >> 32) % DPE_REORDER_PLACES];
	if (*tries == DPE_REORDER_TRIES)
		return false;
	++*tries;
	return true;
}

/* Two events that no run has at once are in sections that exclude each other, and are to be independent. */
static bool exclude_each_other(
	const struct dpe_prediction_search *search, const struct dpe_assignment *assignment)
{
	const uint8_t *before = assignment->pomset->before;

	for (unsigned i = 1; i < assignment->pomset->nevents; i++) {
		for (unsigned j = 0; j < i; j++) {
			if (!(before[i] >> j & 1) && !(before[j] >> i & 1) &&
				dpe_sections_conflict(dpe_event_of(search, assignment, i)->epoch->held,
					dpe_event_of(search, assignment, j)->epoch->held))
				return true;
		}
	}
	return false;
}

static void judge(struct dpe_prediction_search *search, struct dpe_assignment *assignment)
{
	if (exclude_each_other(search, assignment) || !dpe_prediction_admits(search, assignment) ||
		!count_try(search, assignment))
		return;
	if (find_more(search, assignment))
		report(search, assignment);
	else
		look(search, assignment);
	if (!search->reorder_work)
		search->work = 0;
}

void dpe_reorder_search(struct dpe_prediction_search *search, struct dpe_assignment *assignment)
{
	if (search->reorder_work < DPE_REORDER_SEARCH_COST)
		return;
	reorder_of(search);
	search->work = DPE_REORDER_CHOICES;
	dpe_enumerate_each(search, assignment, judge);
	spend(search, DPE_REORDER_SEARCH_COST);
}

void dpe_reorder_resume(struct dpe_prediction_search *search)
{
	struct dpe_reorder *reorder = search->reorder;

	search->nreported = 0;
	for (unsigned i = reorder ? reorder->nwaiting : 0; i--;) {
		struct waiting_match match;
		uint64_t work = 0;

		if (i >= reorder->nwaiting)
			continue;
		match = reorder->waiting[i];
		if (match.sections->at[match.section].release == DPE_NO_EVENT &&
			find_first(search->history, &match.assignment, &work))
			continue;
		drop_waiting(search, i);
		look(search, &match.assignment);
	}
}

void dpe_reorder_earn(struct dpe_prediction_search *search)
{
	search->reorder_work += DPE_REORDER_EARNED;
	if (search->reorder_work > DPE_REORDER_SAVED)
		search->reorder_work = DPE_REORDER_SAVED;
}

void dpe_reorder_forget(struct dpe_prediction_search *search)
{
	if (!search->reorder)
		return;
	search->history->waiting -= search->reorder->nwaiting;
	search->reorder->nwaiting = 0;
}

void dpe_reorder_free(struct dpe_prediction_search *search)
{
	if (!search->reorder)
		return;
	dpe_arrangement_free(&search->reorder->arrangement);
	dpe_closure_free(&search->reorder->cut);
	free(search->reorder);
}
