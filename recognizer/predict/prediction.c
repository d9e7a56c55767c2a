/* A predicted match as a verdict, with the schedule that shows it. */
#include "recognizer/predict/reorder.h"
#include "recognizer/actions/actions.h"
#include "recognizer/verdicts/verdicts.h"

#include <stdlib.h>
#include <string.h>

bool dpe_prediction_reported(
	const struct dpe_prediction_search *search, const struct dpe_assignment *assignment)
{
	for (unsigned i = 0; i < search->nreported; i++) {
		const struct dpe_assignment *other = &search->reported[i];

		if (other->mask == assignment->mask &&
			dpe_values_compatible(
				other->mask, other->values, assignment->mask, assignment->values))
			return true;
	}
	return false;
}

/* The values of all variables of the rule; a variable that is not bound has none. */
static void copy_params(const struct dpe_prediction_search *search,
	const struct dpe_assignment *assignment, struct dpe_value *params)
{
	for (unsigned i = 0; i < search->run->rule->nvariables; i++)
		params[i] = assignment->mask >> i & 1 ? assignment->values[i] : (struct dpe_value){0};
}

bool dpe_prediction_belongs(const struct dpe_prediction_search *search,
	const struct dpe_assignment *assignment, unsigned pattern, uint64_t number)
{
	const struct dpe_run *run = search->run;
	struct dpe_value params[DPE_RULE_VARIABLES];
	const struct dpe_env env = {
		.recognizer = run->recognizer,
		.run = run,
		.variables = params,
		.event = run->late[pattern] ? dpe_history_message(search->history, number) : NULL,
		.text = &run->recognizer->text,
	};
	bool holds;

	if (!env.event)
		return true;
	copy_params(search, assignment, params);
	holds = dpe_pattern_condition_holds(&env, &run->rule->patterns[pattern]);
	dpe_message_unref((struct dpe_message *)env.event);
	return holds;
}

bool dpe_prediction_admits(
	const struct dpe_prediction_search *search, const struct dpe_assignment *assignment)
{
	for (unsigned i = 0; i < assignment->pomset->nevents; i++) {
		unsigned pattern = dpe_pomset_pattern(search->run->rule, assignment->pomset, i);

		if (!dpe_prediction_belongs(search, assignment, pattern, assignment->events[i]))
			return false;
	}
	return true;
}

/* ---- the schedule ---------------------------------------------------------------------------- */

struct dpe_prediction {
	const struct dpe_history *history;
	const struct dpe_closure *run;
	const uint64_t *events; /* of the match, in the order of the observed run … */
	unsigned nevents;
	bool independent;       /* of each other */
	uint32_t *left;         /* of each chain, events that are in no turn yet */
	struct dpe_turn *turns; /* the last one first, then in order */
	unsigned nturns, capturns;
	struct dpe_message **messages; /* that were asked for; counted */
	unsigned nmessages, capmessages;
};

/* Valid as long as the prediction is. */
static const struct dpe_message *message_of(struct dpe_prediction *p, uint64_t number)
{
	return *DPE_GROW(p->messages, p->nmessages, p->capmessages) = dpe_history_message(p->history, number);
}

static void free_prediction(struct dpe_prediction *p)
{
	for (unsigned i = 0; i < p->nmessages; i++)
		dpe_message_unref(p->messages[i]);
	free(p->messages);
	free(p->left);
	free(p->turns);
}

/* The last event of the chain that is in no turn yet, plus 1; 0: none. */
static uint64_t last_of(const struct dpe_prediction *p, unsigned chain)
{
	unsigned left = p->left[chain];

	return left ? p->history->chains[chain].events[left - 1] + 1 : 0;
}

static void add_turn(struct dpe_prediction *p, uint64_t until)
{
	const struct dpe_past_event *event = &p->history->events[until];

	if (!p->nturns || p->turns[p->nturns - 1].chain != event->epoch->chain)
		*DPE_GROW(p->turns, p->nturns, p->capturns) =
			(struct dpe_turn){event->epoch->chain, message_of(p, until)};
}

/* Adds the turn of the thread with the latest event, back to where another one has a later event. */
static bool add_last_turn(struct dpe_prediction *p)
{
	uint64_t latest = 0, second = 0;
	unsigned chain = 0;

	for (unsigned i = 0; i < p->run->nchains; i++) {
		uint64_t last = last_of(p, i);

		if (last > latest) {
			second = latest;
			latest = last;
			chain = i;
		} else if (last > second) {
			second = last;
		}
	}
	if (!latest)
		return false;
	add_turn(p, latest - 1);
	while (last_of(p, chain) > second)
		p->left[chain]--;
	return true;
}

static void reverse(struct dpe_prediction *p)
{
	for (unsigned i = 0; i < p->nturns / 2; i++) {
		struct dpe_turn turn = p->turns[i];

		p->turns[i] = p->turns[p->nturns - 1 - i];
		p->turns[p->nturns - 1 - i] = turn;
	}
}

/* Independent events can come after all that precedes one of them, unless one has to read what that overwrites. */
static bool can_come_last(const struct dpe_prediction *p)
{
	if (!p->independent)
		return false;
	for (unsigned i = 0; i < p->nevents; i++) {
		if (dpe_reads_overwritten(p->history, p->run->before, p->events[i]))
			return false;
	}
	return true;
}

/* Locks are taken as in the observed run. */
static void add_in_order(struct dpe_prediction *p)
{
	bool last = can_come_last(p);
	const uint32_t *cut = last ? p->run->before : p->run->there;

	for (unsigned i = last ? p->nevents : 0; i--;)
		add_turn(p, p->events[i]);
	memcpy(p->left, cut, p->run->nchains * sizeof(*p->left));
}

/* The rearranged events, which come after the others. */
static void add_rearranged(struct dpe_prediction *p, unsigned max)
{
	const struct dpe_rearranged *order = p->run->order;

	for (unsigned i = order->count; i-- && p->nturns < max;)
		add_turn(p, order->events[i]);
	for (unsigned i = 0; i < p->run->nchains; i++)
		p->left[i] = dpe_chain_before(p->history, i, order->first);
}

unsigned dpe_prediction_schedule(
	struct dpe_prediction *p, unsigned max, const struct dpe_turn **turns)
{
	p->nturns = 0;
	p->left = dpe_xrealloc(p->left, (p->run->nchains + 1) * sizeof(*p->left));
	if (p->run->order)
		add_rearranged(p, max);
	else
		add_in_order(p);
	while (p->nturns < max && add_last_turn(p))
		;
	reverse(p);
	*turns = p->turns;
	return p->nturns;
}

/* ---- what it leaves out ------------------------------------------------------------------------ */

/* A section of another thread that the run has, and that began after this one in the observed run. */
static const struct dpe_lock_section *find_later(const struct dpe_prediction *p, const struct dpe_lock_section *section)
{
	const struct dpe_reordered_lock *lock = section->of->lock;

	for (unsigned i = 0; i < lock->nchains; i++) {
		const struct dpe_lock_sections *of = lock->by_chain[i];

		for (unsigned j = of->count; of != section->of && j--;) {
			const struct dpe_lock_section *later = &of->at[j];

			if (later->gate < section->gate)
				break;
			if (of->chain < p->run->nchains && later->gate_index <= p->run->there[of->chain] &&
				(later->exclusive || section->exclusive))
				return later;
		}
	}
	return NULL;
}

/* Looks at the sections of the chain that the run does not have, from the latest on. */
static bool find_left_out(
	struct dpe_prediction *p, uint32_t chain, struct dpe_left_out *found)
{
	const struct dpe_past_chain *of = &p->history->chains[chain];

	for (unsigned i = of->nacquires; i--;) {
		const struct dpe_lock_section *section = &of->acquires[i].sections->at[of->acquires[i].section], *later;

		if (section->gate_index <= p->run->there[chain])
			return false;
		later = section->release == DPE_NO_EVENT ? NULL : find_later(p, section);
		if (!later)
			continue;
		found->lock = section->of->lock->keyed.value;
		found->release = message_of(p, section->release);
		found->taken = message_of(p, later->gate);
		return true;
	}
	return false;
}

unsigned dpe_prediction_left_out(
	struct dpe_prediction *p, unsigned max, struct dpe_left_out *found)
{
	unsigned count = 0;

	for (unsigned i = 0; !p->run->order && i < p->nevents && count < max; i++)
		count += find_left_out(p, p->history->events[p->events[i]].epoch->chain, &found[count]);
	return count;
}

/* ---- locks in another order -------------------------------------------------------------------- */

static bool is_known(const struct dpe_swapped *swapped, unsigned count,
	 const struct dpe_lock_section *first, const struct dpe_lock_section *then)
{
	for (unsigned i = 0; i < count; i++) {
		if (swapped[i].chains[0] == first->of->chain && swapped[i].chains[1] == then->of->chain &&
			dpe_value_equal(swapped[i].lock, first->of->lock->keyed.value))
			return true;
	}
	return false;
}

/* Acquires that come before this one, and came after it in the observed run. */
static unsigned add_swapped(struct dpe_prediction *p, const struct dpe_lock_section *then, unsigned max,
	struct dpe_swapped *swapped, unsigned count)
{
	const struct dpe_lock_section *first;
	unsigned at = 0;

	while (count < max && (first = dpe_section_swapped(p->run, then, &at))) {
		if (is_known(swapped, count, first, then))
			continue;
		swapped[count++] = (struct dpe_swapped){
			.lock = first->of->lock->keyed.value,
			.first = message_of(p, first->gate),
			.then = message_of(p, then->gate),
			.chains = {first->of->chain, then->of->chain},
		};
	}
	return count;
}

unsigned dpe_prediction_swapped(struct dpe_prediction *p, unsigned max, struct dpe_swapped *swapped)
{
	const struct dpe_rearranged *order = p->run->order;
	unsigned count = 0;

	for (unsigned i = 0; order && i < order->count; i++) {
		const struct dpe_past_event *event = &p->history->events[order->events[i]];
		const struct dpe_past_chain *chain = &p->history->chains[event->epoch->chain];

		for (unsigned j = dpe_acquires_after(chain, event->index - 1); j < chain->nacquires; j++) {
			const struct dpe_lock_section *section = &chain->acquires[j].sections->at[chain->acquires[j].section];

			if (section->gate_index != event->index)
				break;
			count = add_swapped(p, section, max, swapped, count);
		}
	}
	return count;
}

static const char *odds_of_another(bool certain)
{
	return certain ? "certain in another run with the same input"
		       : "possible in another run, unless unobserved data prevents it";
}

const char *dpe_prediction_odds(const struct dpe_verdict *verdict)
{
	if (verdict->happened)
		return "it happened in this run";
	if (!verdict->may_have_happened)
		return odds_of_another(verdict->certain);
	return verdict->certain ? "certain in this run or in another one with the same input"
				: "possible in this run or in another one, unless unobserved data prevents it";
}

const char *dpe_deadlock_odds(const struct dpe_deadlock *deadlock)
{
	return deadlock->predicted ? odds_of_another(deadlock->certain) : NULL;
}

bool dpe_prediction_is_independent(const struct dpe_prediction *prediction)
{
	return prediction->independent;
}

uint64_t dpe_prediction_prefix(const struct dpe_prediction *prediction)
{
	return prediction->history->first;
}

/* ---- the report -------------------------------------------------------------------------------- */

static void remember(struct dpe_prediction_search *search, const struct dpe_assignment *assignment)
{
	*DPE_GROW(search->reported, search->nreported, search->capreported) = *assignment;
}

/* Events in the order of the observed run. */
struct predicted_match {
	const struct dpe_message *messages[DPE_POMSET_EVENTS];
	uint64_t events[DPE_POMSET_EVENTS];
	uint16_t positions[DPE_POMSET_EVENTS];
};

static void find_match(struct dpe_prediction *prediction, const struct dpe_assignment *assignment, struct predicted_match *match)
{
	unsigned order[DPE_POMSET_EVENTS]; /* places in the behaviour */

	for (unsigned i = 0; i < prediction->nevents; i++) {
		unsigned at = i;

		for (; at && assignment->events[order[at - 1]] > assignment->events[i]; at--)
			order[at] = order[at - 1];
		order[at] = i;
	}
	for (unsigned i = 0; i < prediction->nevents; i++) {
		match->events[i] = assignment->events[order[i]];
		match->messages[i] = message_of(prediction, match->events[i]);
		match->positions[i] = assignment->pomset->positions[order[i]] + 1;
	}
}

static bool is_independent_pair(const struct dpe_assignment *assignment)
{
	return assignment->pomset->nevents == 2 && !dpe_pomset_has_order(assignment->pomset);
}

/* Whether the observed run shows the match: one event, or two events that were independent in it. The current event is the
 * later one. */
static bool has_happened(const struct dpe_prediction_search *search,
	const struct dpe_assignment *assignment, const struct dpe_closure *run)
{
	const struct dpe_past_event *other;

	if (assignment->pomset->nevents == 1)
		return true;
	if (!is_independent_pair(assignment) || run->order)
		return false;
	other = &search->history->events[assignment->events[!assignment->last]];
	return dpe_stamp_reach(search->stamp, other->epoch->chain) <
	       other->index + search->history->chains[other->epoch->chain].earlier;
}

static void run_action(const struct dpe_run *run, const struct dpe_slice *slice, const struct dpe_verdict *verdict)
{
	const struct dpe_message **positions =
		dpe_xcalloc(run->rule->npositions + 1, sizeof(*positions));

	for (unsigned i = 0; i < verdict->nevents; i++)
		positions[verdict->positions[i] - 1] = verdict->events[i];
	dpe_run_action((struct dpe_run *)run, slice, run->rule->action, positions, verdict->event);
	free(positions);
}

void dpe_prediction_report(struct dpe_prediction_search *search,
	const struct dpe_assignment *assignment, const struct dpe_closure *closed)
{
	struct dpe_run *run = search->run;
	struct predicted_match match;
	struct dpe_value params[DPE_RULE_VARIABLES];
	const struct dpe_slice slice = {.params = params, .mask = assignment->mask};
	struct dpe_prediction prediction = {.history = search->history,
		.run = closed,
		.events = match.events,
		.nevents = assignment->pomset->nevents,
		.independent = !dpe_pomset_has_order(assignment->pomset)};
	struct dpe_verdict verdict = {
		.kind = DPE_MATCH,
		.events = match.messages,
		.positions = match.positions,
		.nevents = prediction.nevents,
		.prediction = &prediction,
		.happened = has_happened(search, assignment, closed),
		.certain = dpe_recognizer_knows_data(run->recognizer),
		.reason = dpe_slice_doubt(run, &slice),
	};

	verdict.may_have_happened = !verdict.happened && !is_independent_pair(assignment) && !closed->order;
	remember(search, assignment);
	if (verdict.happened && dpe_rule_skips_happened(run->recognizer, run->rule))
		return;
	copy_params(search, assignment, params);
	find_match(&prediction, assignment, &match);
	verdict.event = match.messages[verdict.nevents - 1];
	if (prediction.independent)
		dpe_match_sort(verdict.nevents, match.messages, NULL, match.positions);
	if (verdict.reason)
		verdict.kind = DPE_INCONCLUSIVE;
	dpe_verdict_report(run, &slice, &verdict);
	if (verdict.kind == DPE_MATCH && run->rule->action)
		run_action(run, &slice, &verdict);
	run->recognizer->suppressing = false;
	free_prediction(&prediction);
}
