/* A predicted match as a verdict, with the schedule that shows it. */
#include "recognizer/predict/predictor.h"
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

bool dpe_prediction_admits(
	const struct dpe_prediction_search *search, const struct dpe_assignment *assignment)
{
	const struct dpe_run *run = search->run;

	for (unsigned i = 0; i < assignment->pomset->nevents; i++) {
		unsigned pattern = dpe_pomset_pattern(run->rule, assignment->pomset, i);
		const struct dpe_env env = {
			.recognizer = run->recognizer,
			.run = run,
			.variables = assignment->values,
			.event = search->history->events[assignment->events[i]].message,
			.text = &run->recognizer->text,
		};

		if (run->late[pattern] &&
			!dpe_pattern_condition_holds(&env, &run->rule->patterns[pattern]))
			return false;
	}
	return true;
}

/* ---- the schedule ---------------------------------------------------------------------------- */

struct dpe_prediction {
	const struct dpe_history *history;
	const struct dpe_closure *run;
	const uint64_t *events; /* of the match, in the order of the observed run … */
	unsigned nevents;       /* … 0: the cut has them; else they come after it */
	uint32_t *done;         /* of each chain */
	struct dpe_turn *turns;
	unsigned nturns, capturns;
};

/* The next event of the chain within the cut, or DPE_NO_EVENT. */
static uint64_t next_of(const struct dpe_prediction *p, const uint32_t *cut, unsigned chain)
{
	const struct dpe_past_chain *of = &p->history->chains[chain];

	return p->done[chain] < cut[chain] ? of->events[p->done[chain]] : DPE_NO_EVENT;
}

static void add_turn(struct dpe_prediction *p, uint64_t until)
{
	const struct dpe_past_event *event = &p->history->events[until];
	struct dpe_turn *last = p->nturns ? &p->turns[p->nturns - 1] : NULL;

	if (!last || last->chain != event->chain)
		last = DPE_GROW(p->turns, p->nturns, p->capturns);
	*last = (struct dpe_turn){event->chain, event->message};
}

/* Runs the chain with the earliest event until another one has an earlier one. */
static bool run_one(struct dpe_prediction *p, const uint32_t *cut)
{
	uint64_t first = DPE_NO_EVENT, second = DPE_NO_EVENT, until = DPE_NO_EVENT;
	unsigned chain = 0;

	for (unsigned i = 0; i < p->run->nchains; i++) {
		uint64_t next = next_of(p, cut, i);

		if (next < first) {
			second = first;
			first = next;
			chain = i;
		} else if (next < second) {
			second = next;
		}
	}
	if (first == DPE_NO_EVENT)
		return false;
	for (uint64_t next = first; next < second; next = next_of(p, cut, chain)) {
		until = next;
		p->done[chain]++;
	}
	add_turn(p, until);
	return true;
}

unsigned dpe_prediction_schedule(struct dpe_prediction *p, const struct dpe_turn **turns)
{
	const uint32_t *cut = p->nevents ? p->run->before : p->run->there;

	if (!p->nturns) {
		p->done = dpe_xcalloc(p->run->nchains + 1, sizeof(*p->done));
		while (run_one(p, cut))
			;
		for (unsigned i = 0; i < p->nevents; i++)
			add_turn(p, p->events[i]);
	}
	*turns = p->turns;
	return p->nturns;
}

/* ---- the report -------------------------------------------------------------------------------- */

static void remember(struct dpe_prediction_search *search, const struct dpe_assignment *assignment)
{
	*DPE_GROW(search->reported, search->nreported, search->capreported) = *assignment;
}

/* The events in the order of the observed run, with their places in the behaviour. */
static unsigned sort_events(const struct dpe_assignment *assignment, unsigned *order)
{
	unsigned count = assignment->pomset->nevents;

	for (unsigned i = 0; i < count; i++) {
		unsigned at = i;

		for (; at && assignment->events[order[at - 1]] > assignment->events[i]; at--)
			order[at] = order[at - 1];
		order[at] = i;
	}
	return count;
}

static bool has_order(const struct dpe_pomset *pomset)
{
	for (unsigned i = 0; i < pomset->nevents; i++) {
		if (pomset->before[i])
			return true;
	}
	return false;
}

static void run_action(const struct dpe_run *run, const struct dpe_slice *slice,
	const struct dpe_assignment *assignment, const struct dpe_message *const *messages,
	const unsigned *order)
{
	const struct dpe_message **positions =
		dpe_xcalloc(run->rule->npositions + 1, sizeof(*positions));

	for (unsigned i = 0; i < assignment->pomset->nevents; i++)
		positions[assignment->pomset->positions[order[i]]] = messages[i];
	dpe_run_action((struct dpe_run *)run, slice, run->rule->action, positions,
		messages[assignment->pomset->nevents - 1]);
	free(positions);
}

void dpe_prediction_report(struct dpe_prediction_search *search,
	const struct dpe_assignment *assignment, const struct dpe_closure *closed)
{
	struct dpe_run *run = search->run;
	unsigned order[DPE_POMSET_EVENTS], count = sort_events(assignment, order);
	const struct dpe_message *messages[DPE_POMSET_EVENTS];
	uint64_t events[DPE_POMSET_EVENTS];
	uint16_t positions[DPE_POMSET_EVENTS];
	struct dpe_value params[DPE_RULE_VARIABLES];
	const struct dpe_slice slice = {.params = params, .mask = assignment->mask};
	struct dpe_prediction prediction = {.history = search->history,
		.run = closed,
		.events = events,
		.nevents = has_order(assignment->pomset) ? 0 : count};
	struct dpe_verdict verdict = {
		.kind = DPE_MATCH,
		.events = messages,
		.positions = positions,
		.nevents = count,
		.prediction = &prediction,
		.reason = dpe_slice_doubt(run, &slice),
	};

	for (unsigned i = 0; i < run->rule->nvariables; i++)
		params[i] = assignment->mask >> i & 1 ? assignment->values[i] : (struct dpe_value){0};
	for (unsigned i = 0; i < count; i++) {
		events[i] = assignment->events[order[i]];
		messages[i] = search->history->events[events[i]].message;
		positions[i] = assignment->pomset->positions[order[i]] + 1;
	}
	verdict.event = messages[count - 1];
	if (verdict.reason)
		verdict.kind = DPE_INCONCLUSIVE;
	remember(search, assignment);
	dpe_verdict_report(run, &slice, &verdict);
	if (verdict.kind == DPE_MATCH && run->rule->action)
		run_action(run, &slice, assignment, messages, order);
	run->recognizer->suppressing = false;
	free(prediction.done);
	free(prediction.turns);
}
