/* Matches with order, by trying events: the least run of each choice is computed, and the order within it compared
 * with that of the behaviour. Order that exists only because of a forced release depends on the other events of
 * the match, so events cannot be skipped as in a sweep. */
#include "recognizer/predict/predictor.h"

#include <string.h>

struct event_choice {
	struct dpe_prediction_search *search;
	struct dpe_assignment *assignment;
	dpe_judge_fn *judge;
	unsigned event; /* of the behaviour, chosen next */
};

/* False if no run can have the event together with those chosen before it, in this order. */
static bool fits(const struct event_choice *choice)
{
	const struct dpe_assignment *assignment = choice->assignment;
	const struct dpe_past_event *event = dpe_event_of(choice->search, assignment, choice->event);
	const uint8_t *before = assignment->pomset->before;

	for (unsigned i = 0; i < assignment->pomset->nevents; i++) {
		const struct dpe_past_event *other;

		if (i == choice->event || (i > choice->event && i != assignment->last))
			continue;
		if (assignment->events[i] == assignment->events[choice->event])
			return false;
		other = dpe_event_of(choice->search, assignment, i);
		if (!(before[choice->event] >> i & 1) && dpe_precedes_always(other, event))
			return false;
		if (!(before[i] >> choice->event & 1) && dpe_precedes_always(event, other))
			return false;
	}
	return true;
}

/* ---- the order of a match ------------------------------------------------------------------ */

/* True if those events of the match that should precede this one do. Its past is in search->past. */
static bool keeps_order_before(
	struct dpe_prediction_search *search, const struct dpe_assignment *assignment, unsigned event)
{
	dpe_closure_past(&search->least, search->history, assignment->events[event], &search->past);
	for (unsigned i = 0; i < assignment->pomset->nevents; i++) {
		bool before = i != event && dpe_closure_has(&search->past, dpe_event_of(search, assignment, i));

		if (before != (assignment->pomset->before[event] >> i & 1))
			return false;
	}
	return true;
}

static bool keeps_other_order(struct dpe_prediction_search *search, const struct dpe_assignment *assignment)
{
	for (unsigned i = 0; i < assignment->pomset->nevents; i++) {
		if (i != assignment->last && !keeps_order_before(search, assignment, i))
			return false;
	}
	return true;
}

struct between {
	struct dpe_prediction_search *search;
	const struct dpe_assignment *assignment;
	uint64_t first; /* the earliest event of the match */
	bool found;
};

static bool is_of_match(const struct dpe_assignment *assignment, uint64_t number)
{
	for (unsigned i = 0; i < assignment->pomset->nevents; i++) {
		if (assignment->events[i] == number)
			return true;
	}
	return false;
}

/* True if some event of the match precedes this one; search->past precedes an event of the match. */
static bool lies_between(struct between *between, unsigned pattern, uint64_t number)
{
	struct dpe_prediction_search *search = between->search;

	if (!dpe_closure_has(&search->past, &search->history->events[number]) ||
		is_of_match(between->assignment, number) ||
		!dpe_prediction_belongs(search, between->assignment, pattern, number))
		return false;
	dpe_closure_past(&search->least, search->history, number, &search->other);
	for (unsigned i = 0; i < between->assignment->pomset->nevents; i++) {
		if (dpe_closure_has(&search->other, dpe_event_of(search, between->assignment, i)))
			return true;
	}
	return false;
}

static void look_between(void *context, struct dpe_candidate_group *group)
{
	struct between *between = context;

	dpe_candidates_divide(between->search, group);
	for (unsigned i = 0; i < group->nchains && !between->found; i++) {
		const struct dpe_candidates *of = group->by_chain[i];

		for (unsigned j = of->count; j-- && !between->found;) {
			if (of->events[j] < between->first)
				break;
			between->found = lies_between(between, group->pattern, of->events[j]);
		}
	}
}

/* No event of the slice lies between two of the match. */
static bool is_convex(struct dpe_prediction_search *search, const struct dpe_assignment *assignment)
{
	struct between between = {.search = search, .assignment = assignment, .first = UINT64_MAX};

	if (search->least.order)
		between.first = search->least.order->first;
	for (unsigned i = 0; i < assignment->pomset->nevents; i++) {
		if (assignment->events[i] < between.first)
			between.first = assignment->events[i];
	}
	for (unsigned i = 0; i < assignment->pomset->nevents && !between.found; i++) {
		if (!assignment->pomset->before[i])
			continue;
		dpe_closure_past(
			&search->least, search->history, assignment->events[i], &search->past);
		for (unsigned p = 0; p < search->run->rule->npatterns; p++) {
			if (!(search->run->masks[p] & ~assignment->mask)) /* else of slices with more variables */
				dpe_candidates_each(search, assignment, p, look_between, &between);
		}
	}
	return !between.found;
}

bool dpe_match_is_shown(struct dpe_prediction_search *search, const struct dpe_assignment *assignment)
{
	return keeps_order_before(search, assignment, assignment->last) && keeps_other_order(search, assignment) &&
	       is_convex(search, assignment);
}

static void judge(struct dpe_prediction_search *search, struct dpe_assignment *assignment)
{
	if (!dpe_prediction_admits(search, assignment))
		return;
	dpe_closure_clear(&search->least);
	for (unsigned i = 0; i < assignment->pomset->nevents; i++)
		dpe_closure_add(&search->least, search->history, assignment->events[i]);
	dpe_closure_close(&search->least, search->history);
	search->disordered = !search->least.refused && !keeps_order_before(search, assignment, assignment->last);
	if (search->least.refused || search->disordered || !keeps_other_order(search, assignment) ||
		!is_convex(search, assignment))
		search->refused = true;
	else
		dpe_prediction_report(search, assignment, &search->least);
}

/* ---- choosing ------------------------------------------------------------------------------ */

static void choose(struct event_choice *choice);

/* True if an event still to be chosen binds variables: the match belongs to another slice. */
static bool binds_more(const struct event_choice *choice)
{
	const struct dpe_run *run = choice->search->run;
	const struct dpe_assignment *assignment = choice->assignment;

	for (unsigned i = choice->event; i < assignment->pomset->nevents; i++) {
		if (run->masks[dpe_pomset_pattern(run->rule, assignment->pomset, i)] & ~assignment->mask)
			return true;
	}
	return false;
}

/* True if the slice of the events chosen so far needs no other match with this last event. */
static bool is_done(const struct event_choice *choice)
{
	return dpe_prediction_reported(choice->search, choice->assignment) && !binds_more(choice);
}

/* True if the candidate precedes, in every run, an event of the match that it has to precede. */
static bool always_leads(const struct event_choice *choice, const struct dpe_past_event *candidate)
{
	const struct dpe_assignment *assignment = choice->assignment;

	for (unsigned i = 0; i < assignment->pomset->nevents; i++) {
		if ((i < choice->event || i == assignment->last) && assignment->pomset->before[i] >> choice->event & 1 &&
			dpe_precedes_always(candidate, dpe_event_of(choice->search, assignment, i)))
			return true;
	}
	return false;
}

/* How many of the first `count` candidates of a thread may make a match, where the next one had another order with the
 * same other events: their least runs are parts of the one of the next one, and so are the pasts of the last event there. */
static unsigned count_left(const struct event_choice *choice, const struct dpe_candidates *of, unsigned count)
{
	struct dpe_prediction_search *search = choice->search;
	const struct dpe_assignment *assignment = choice->assignment;
	const struct dpe_past_event *events = search->history->events;
	uint32_t reach;

	if (!search->disordered || choice->judge != judge || !(assignment->pomset->before[assignment->last] >> choice->event & 1))
		return count;
	reach = of->chain < search->past.nchains ? search->past.before[of->chain] : 0;
	return DPE_PARTITION_POINT(i, 0, count, events[of->events[i]].index <= reach);
}

/* True if no other event of the match is chosen after this one. */
static bool is_last_choice(const struct event_choice *choice)
{
	unsigned next = choice->event + 1;

	return next + (next == choice->assignment->last) == choice->assignment->pomset->nevents;
}

/* The candidates of a thread, the latest first. Those that always lead to the match lie between it and each earlier one,
 * and all but one of the other events of the match may be among them. */
static void choose_of_chain(struct event_choice *choice, const struct dpe_candidates *of, unsigned pattern, uint64_t first)
{
	struct dpe_prediction_search *search = choice->search;
	struct dpe_assignment *assignment = choice->assignment;
	struct event_choice next = *choice;
	unsigned leading = 0;

	next.event++;
	for (unsigned j = of->count; j-- && search->work && of->events[j] >= first && !is_done(&next);) {
		search->work--;
		assignment->events[choice->event] = of->events[j];
		search->disordered = false;
		if (fits(choice))
			choose(&(struct event_choice){search, assignment, choice->judge, next.event});
		leading += !search->run->late[pattern] && always_leads(choice, dpe_event_of(search, assignment, choice->event));
		if (leading + 1 >= assignment->pomset->nevents)
			break;
		if (is_last_choice(choice))
			j = count_left(choice, of, j);
	}
}

static void choose_group(void *context, struct dpe_candidate_group *group)
{
	struct event_choice *choice = context;
	struct dpe_prediction_search *search = choice->search;
	struct dpe_assignment *assignment = choice->assignment;
	uint64_t mask = dpe_assignment_bind(assignment, group);
	uint64_t first = dpe_slice_begins(search, assignment);

	dpe_candidates_divide(search, group);
	for (unsigned i = 0; i < group->nchains; i++)
		choose_of_chain(choice, group->by_chain[i], group->pattern, first);
	assignment->mask = mask;
}

static void choose(struct event_choice *choice)
{
	struct dpe_assignment *assignment = choice->assignment;

	if (choice->event == assignment->last)
		choice->event++;
	if (is_done(choice))
		return;
	if (choice->event == assignment->pomset->nevents) {
		choice->judge(choice->search, assignment);
		return;
	}
	dpe_candidates_each(choice->search, assignment,
		dpe_pomset_pattern(choice->search->run->rule, assignment->pomset, choice->event),
		choose_group, choice);
}

void dpe_enumerate_each(struct dpe_prediction_search *search, struct dpe_assignment *assignment, dpe_judge_fn *judge)
{
	struct event_choice choice = {.search = search, .assignment = assignment, .judge = judge};

	choose(&choice);
}

void dpe_enumerate(struct dpe_prediction_search *search, struct dpe_assignment *assignment)
{
	dpe_enumerate_each(search, assignment, judge);
	search->cut_short |= !search->work;
}
