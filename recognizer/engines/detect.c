/* Actions and reports of matches of a `detect` rule; conditions on the events of partial matches.
 */
#include "recognizer/actions/actions.h"
#include "recognizer/engines/conjunction.h"
#include "recognizer/verdicts/verdicts.h"

#include <stdlib.h>
#include <string.h>

/* ---- actions ----------------------------------------------------------------------------- */

/* In a rule that is followed as a whole, $i is the latest event at position i. Actions of other rules
 * name no positions. */
static void run_action(struct dpe_run *run, const struct dpe_slice *slice,
	const struct dpe_stmt *action, const struct dpe_trail *trail,
	const struct dpe_message *event)
{
	const struct dpe_message *positions[run->rule->npositions + 1];

	memset(positions, 0, sizeof(positions));
	for (; run->conjunction->whole && trail; trail = trail->before) {
		for (unsigned i = 0; i < trail->npositions; i++) {
			const struct dpe_message **at = &positions[trail->positions[i] - 1];

			if (!*at)
				*at = trail->occurrence->message;
		}
	}
	dpe_run_action(run, slice, action, positions, event);
}

static void run_actions(struct dpe_run *run, const struct dpe_slice *slice,
	const struct dpe_stmt *const *actions, unsigned count, const struct dpe_trail *trail,
	const struct dpe_message *event)
{
	for (unsigned i = 0; i < count; i++) {
		if (dpe_run_may_act(run, actions[i]))
			run_action(run, slice, actions[i], trail, event);
	}
}

void dpe_detect_act(struct dpe_run *run, const struct dpe_slice *slice,
	const struct dpe_config_step *step, const struct dpe_trail *trail,
	const struct dpe_message *event)
{
	run_actions(run, slice, step->before, step->nbefore, trail, event);
	for (unsigned i = 0; run->acts && i < step->npositions; i++) {
		unsigned at = step->positions[i] - 1;
		const struct dpe_stmt *action = run->rule->positions[at].action;

		if (!action || run->acted[at])
			continue;
		run->acted[at] = true;
		run_action(run, slice, action, trail, event);
	}
	run_actions(run, slice, step->after, step->nafter, trail, event);
}

static void run_ending(struct dpe_run *run, const struct dpe_slice *slice,
	const struct dpe_partial *match, const struct dpe_message *event)
{
	const struct dpe_stmt *const *ending = NULL;
	unsigned count =
		run->follow->ending ? run->follow->ending(run, &match->config, &ending) : 0;

	run_actions(run, slice, ending, count, match->trail, event);
}

static void run_rule_action(struct dpe_run *run, const struct dpe_slice *slice,
	const struct dpe_entry *entries, unsigned nentries, const struct dpe_message *event)
{
	const struct dpe_message *positions[run->rule->npositions + 1];

	memset(positions, 0, sizeof(positions));
	for (unsigned i = 0; i < nentries; i++) { /* the latest at each */
		for (unsigned j = 0; j < entries[i].npositions; j++)
			positions[entries[i].positions[j] - 1] = entries[i].occurrence->message;
	}
	dpe_run_action(run, slice, run->rule->action, positions, event);
}

/* ---- the report -------------------------------------------------------------------------- */

struct entry_list {
	struct dpe_entry *at;
	unsigned count, cap;
};

static void add_entries(struct entry_list *entries, const struct dpe_trail *trail)
{
	for (; trail; trail = trail->before)
		*DPE_GROW(entries->at, entries->count, entries->cap) =
			(struct dpe_entry){trail->occurrence, trail->positions, trail->npositions};
}

static int by_number(const void *a, const void *b)
{
	const struct dpe_entry *x = a, *y = b;

	return x->occurrence->number < y->occurrence->number ? -1 : 1;
}

static void report(struct dpe_run *run, const struct dpe_slice *slice,
	const struct dpe_entry *entries, unsigned nentries, const struct dpe_occurrence *occurrence)
{
	const char *doubt = dpe_slice_doubt(run, slice);
	struct dpe_verdict verdict = {
		.kind = doubt ? DPE_INCONCLUSIVE : DPE_MATCH,
		.event = occurrence->message,
		.reason = doubt,
		.nevents = nentries,
	};
	const struct dpe_message **events = dpe_xcalloc(nentries, sizeof(struct dpe_message *));
	const struct dpe_stamp **stamps = dpe_xcalloc(nentries, sizeof(const struct dpe_stamp *));
	uint16_t *positions = dpe_xcalloc(nentries, sizeof(*positions));

	for (unsigned i = 0; i < nentries; i++) {
		events[i] = entries[i].occurrence->message;
		stamps[i] = &entries[i].occurrence->stamp;
		positions[i] = entries[i].positions[0];
	}
	dpe_match_sort(nentries, events, stamps, positions);
	verdict.events = verdict.around = events;
	verdict.naround = verdict.nevents;
	verdict.stamps = stamps;
	verdict.positions = positions;
	dpe_verdict_report(run, slice, &verdict);
	if (verdict.kind == DPE_MATCH && run->rule->action)
		run_rule_action(run, slice, entries, nentries, occurrence->message);
	run->recognizer->suppressing = false;
	free(events);
	free(stamps);
	free(positions);
}

void dpe_detect_report(
	struct dpe_run *run, const struct dpe_slice *slice, const struct dpe_occurrence *occurrence)
{
	struct dpe_conjunction *conjunction = run->conjunction;
	struct entry_list all = {conjunction->entries, 0, conjunction->capentries};

	if (conjunction->whole)
		run_ending(run, slice, conjunction->match[0], occurrence->message);
	for (unsigned i = 0; i < conjunction->noperands; i++) {
		if (conjunction->match[i])
			add_entries(&all, conjunction->match[i]->trail);
	}
	qsort(all.at, all.count, sizeof(*all.at), by_number);
	report(run, slice, all.at, all.count, occurrence);
	conjunction->entries = all.at;
	conjunction->capentries = all.cap;
}

/* ---- conditions on events at other positions ---------------------------------------------- */

bool dpe_trail_admits(const struct dpe_run *run, const struct dpe_slice *slice,
	const struct dpe_trail *trail, unsigned pattern, const struct dpe_occurrence *occurrence)
{
	memset(run->at_positions, 0, run->rule->npositions * sizeof(*run->at_positions));
	for (; trail; trail = trail->before) {
		for (unsigned i = 0; i < trail->npositions; i++) {
			struct dpe_occurrence **at = &run->at_positions[trail->positions[i] - 1];

			if (!*at)
				*at = trail->occurrence;
		}
	}
	return dpe_placed_condition_holds(run, slice, pattern, occurrence, run->at_positions);
}

static const struct dpe_occurrence *at_position(const struct dpe_trail *trail, unsigned position)
{
	for (; trail; trail = trail->before) {
		for (unsigned i = 0; i < trail->npositions; i++) {
			if (trail->positions[i] == position + 1)
				return trail->occurrence;
		}
	}
	return NULL;
}

bool dpe_trail_same_named(
	const struct dpe_run *run, const struct dpe_trail *a, const struct dpe_trail *b)
{
	for (unsigned i = 0; i < run->nnamed; i++) {
		if (at_position(a, run->named[i]) != at_position(b, run->named[i]))
			return false;
	}
	return true;
}
