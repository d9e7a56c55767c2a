/* The predictor: feeds the history, and begins a search for each event that may be the last of a
 * match. See README.md. */
#include "recognizer/predict/predictor.h"
#include "recognizer/actions/actions.h"
#include "recognizer/verdicts/verdicts.h"

#include <stdlib.h>

struct dpe_predictor {
	struct dpe_history history;
	bool *during; /* the `sync` rules, by number, that may order too much */
};

static bool *find_during(const struct dpe_spec *spec)
{
	bool *during = dpe_xcalloc(spec->nrules + 1, sizeof(*during));
	unsigned count = 0;

	for (unsigned i = 0; i < spec->nrules; i++) {
		if (spec->rules[i].mode == DPE_SYNC)
			during[count++] = spec->rules[i].pairing == DPE_DURING;
	}
	return during;
}

struct dpe_predictor *dpe_predictor_new(struct dpe_recognizer *recognizer)
{
	struct dpe_predictor *predictor;

	if (recognizer->options.stabilize_only ||
		(!dpe_spec_predicts(recognizer->spec) && !dpe_spec_orders_locks(recognizer->spec)))
		return NULL;
	predictor = dpe_xcalloc(1, sizeof(*predictor));
	dpe_history_begin(&predictor->history, recognizer);
	predictor->during = find_during(recognizer->spec);
	return predictor;
}

void dpe_predictor_free(struct dpe_predictor *predictor)
{
	if (!predictor)
		return;
	dpe_history_free(&predictor->history);
	free(predictor->during);
	free(predictor);
}

/* Forgets what refers to events, but for slices that are kept. */
static void forget_events(struct dpe_prediction_search *search, bool keeps)
{
	dpe_sweeps_free(search);
	if (!keeps)
		dpe_candidates_free(search);
	dpe_slice_ends_free(search);
	dpe_reorder_forget(search);
	dpe_closure_free(&search->least);
	dpe_closure_free(&search->past);
	dpe_closure_free(&search->other);
}

static void end(struct dpe_run *run)
{
	struct dpe_prediction_search *search = run->prediction;

	forget_events(search, false);
	dpe_reorder_free(search);
	free(search->partners);
	free(search->by_pattern);
	free(search->ngroups);
	free(search->capgroups);
	free(search->reported);
	free(search);
	run->prediction = NULL;
}

void dpe_predictor_edge(struct dpe_predictor *predictor, uint64_t from, uint64_t to, unsigned rule)
{
	predictor->history.orders_too_much |= rule != DPE_NO_RULE && predictor->during[rule];
	dpe_history_edge(&predictor->history, from, to);
}

/* Before the next event: all rules have seen the one before it. */
static void resume(struct dpe_predictor *predictor)
{
	const struct dpe_recognizer *recognizer = predictor->history.recognizer;

	for (unsigned i = 0; predictor->history.waiting && i < recognizer->spec->nrules; i++) {
		if (recognizer->runs[i].prediction)
			dpe_reorder_resume(recognizer->runs[i].prediction);
	}
}

/* Slices refer to sets of locks, so that all are kept or none. */
static bool keeps_slices(const struct dpe_history *history)
{
	const struct dpe_recognizer *recognizer = history->recognizer;
	unsigned count = 0;

	if (history->nlocks > DPE_PREDICT_KEPT || history->set_bytes > DPE_PREDICT_BYTES / 2)
		return false;
	for (unsigned i = 0; i < recognizer->spec->nrules; i++) {
		const struct dpe_prediction_search *search = recognizer->runs[i].prediction;

		if (search && search->pairwise)
			count += search->nslices;
	}
	return count && count <= DPE_PREDICT_KEPT;
}

/* Where slices are not kept, matches of their events with later ones are missed. */
static void begin_window_of(struct dpe_prediction_search *search, const uint32_t *passed, bool keeps)
{
	search->missed |= !keeps && search->nslices;
	if (keeps)
		dpe_candidates_restart(search, passed);
	forget_events(search, keeps);
}

static void begin_window(struct dpe_predictor *predictor, uint64_t first)
{
	const struct dpe_recognizer *recognizer = predictor->history.recognizer;
	uint32_t *passed = dpe_history_passed(&predictor->history);
	bool keep = keeps_slices(&predictor->history);

	dpe_predictor_decide_cycles(&predictor->history);
	for (unsigned i = 0; i < recognizer->spec->nrules; i++) {
		struct dpe_prediction_search *search = recognizer->runs[i].prediction;

		if (search)
			begin_window_of(search, passed, keep && search->pairwise);
	}
	dpe_history_restart(&predictor->history, first, keep);
	free(passed);
}

void dpe_predictor_event(struct dpe_predictor *predictor, const struct dpe_event *event)
{
	resume(predictor);
	if (dpe_history_is_full(&predictor->history))
		begin_window(predictor, event->number);
	dpe_history_add(&predictor->history, event);
}

void dpe_predictor_finish(struct dpe_predictor *predictor)
{
	if (!predictor)
		return;
	resume(predictor);
	dpe_predictor_decide_cycles(&predictor->history);
}

/* ---- searching ------------------------------------------------------------------------------ */

/* Whether events can be compared one by one, so that a sweep finds all matches. */
static bool is_independent(const struct dpe_run *run, const struct dpe_pomset *pomset)
{
	for (unsigned i = 0; i < pomset->nevents; i++) {
		if (pomset->before[i] || run->late[dpe_pomset_pattern(run->rule, pomset, i)])
			return false;
	}
	return true;
}

/* All matches in which the event is the last, as this event of the behaviour. */
static void search_as(struct dpe_prediction_search *search, const struct dpe_pomset *pomset,
	unsigned last, struct dpe_candidate_group *group, uint64_t number)
{
	struct dpe_assignment assignment; /* large: no more is set than is looked at */

	if (!search->reorders && !dpe_pomset_is_maximal(pomset, last)) {
		search->refused = true;
		return;
	}
	assignment.pomset = pomset;
	assignment.last = last;
	assignment.last_group = group;
	assignment.last_chain = search->history->events[number].epoch->chain;
	assignment.mask = 0;
	dpe_assignment_bind(&assignment, group);
	assignment.events[last] = number;
	if (search->reorders)
		dpe_reorder_search(search, &assignment);
	else if (is_independent(search->run, pomset))
		dpe_sweep_search(search, &assignment);
	else
		dpe_enumerate(search, &assignment);
}

static void search_all(
	struct dpe_prediction_search *search, struct dpe_candidate_group *group, uint64_t number)
{
	const struct dpe_rule *rule = search->run->rule;

	for (unsigned i = 0; i < rule->npomsets; i++) {
		const struct dpe_pomset *pomset = &rule->pomsets[i];

		for (unsigned j = 0; j < pomset->nevents; j++) {
			if (dpe_pomset_pattern(rule, pomset, j) != group->pattern)
				continue;
			search_as(search, pomset, j, group, number);
			if (is_independent(search->run, pomset))
				break; /* others of this pattern are exchangeable with it */
		}
	}
}

/* NULL: the pattern is in no match of a pairwise rule, so that it only ends slices. */
static struct dpe_candidate_group *find_group(struct dpe_prediction_search *search, const struct dpe_binding *binding)
{
	bool observed_only = search->pairwise && !search->partners[binding->pattern];

	return observed_only ? NULL : dpe_candidates_of(search, binding);
}

static void take(
	struct dpe_run *run, const struct dpe_event *event, struct dpe_occurrence **occurrence)
{
	struct dpe_prediction_search *search = run->prediction;
	struct dpe_candidate_group *groups[DPE_RULE_PATTERNS_AT_ONCE];
	unsigned count = run->nbindings;
	uint64_t number = search->history->nevents - 1;

	(void)occurrence;
	if (search->history->reason)
		return;
	search->nreported = 0;
	search->work = DPE_PREDICT_WORK;
	search->stamp = &event->stamp;
	if (count > DPE_RULE_PATTERNS_AT_ONCE) {
		search->cut_short = true;
		count = DPE_RULE_PATTERNS_AT_ONCE;
	}
	for (unsigned i = 0; i < count; i++)
		groups[i] = find_group(search, &run->bindings[i]);
	search->refused = search->reorders = false;
	for (unsigned i = 0; i < count; i++) {
		unsigned before = search->nreported;

		if (!groups[i] || dpe_candidates_rule_out(search, groups[i], number))
			continue;
		search->missed |= search->history->first && dpe_candidates_miss(search, groups[i], number);
		search_all(search, groups[i], number);
		if (search->nreported == before)
			dpe_candidates_note_quiet(search, groups[i], number);
	}
	dpe_reorder_earn(search);
	search->reorders = search->refused && search->reorder_work >= DPE_REORDER_SEARCH_COST;
	for (unsigned i = 0; search->reorders && i < count; i++) {
		if (groups[i])
			search_all(search, groups[i], number);
	}
	for (unsigned i = 0; i < count; i++) {
		if (groups[i])
			dpe_candidates_add(search, groups[i], number);
		dpe_slice_ends_add(search, &run->bindings[i], number);
	}
}

static void finish(struct dpe_run *run)
{
	const struct dpe_prediction_search *search = run->prediction;
	struct dpe_verdict verdict = {.kind = DPE_INCONCLUSIVE, .reason = search->history->reason};

	if (!verdict.reason && search->cut_short)
		verdict.reason = "some events have too many possible partners: not all were tried";
	if (!verdict.reason && (search->missed || search->history->stranger))
		verdict.reason = "the run is long: events of one part of it were not compared with those of another";
	if (verdict.reason)
		dpe_verdict_report(run, NULL, &verdict);
}

static void prefetch(
	const struct dpe_run *run, unsigned pattern, struct dpe_value value, bool soon)
{
	uint64_t mask = run->masks[pattern];
	struct dpe_value values[DPE_RULE_VARIABLES];

	if (!mask)
		return;
	values[__builtin_ctzll(mask)] = value;
	dpe_candidates_prefetch(run->prediction, mask, values, soon);
}

static const struct dpe_rule_engine by_prediction = {
	.take = take,
	.prefetch = prefetch,
	.finish = finish,
	.free = end,
};

/* The patterns of the other events of matches. */
static uint64_t partners_of(const struct dpe_rule *rule, unsigned pattern)
{
	uint64_t partners = 0;

	for (unsigned i = 0; i < rule->npomsets; i++) {
		const struct dpe_pomset *pomset = &rule->pomsets[i];

		for (unsigned j = 0; j < pomset->nevents; j++) {
			for (unsigned k = 0; dpe_pomset_pattern(rule, pomset, j) == pattern && k < pomset->nevents; k++)
				partners |= k == j ? 0 : UINT64_C(1) << dpe_pomset_pattern(rule, pomset, k);
		}
	}
	return partners;
}

static bool is_pairwise(const struct dpe_run *run)
{
	const struct dpe_rule *rule = run->rule;

	for (unsigned i = 0; i < rule->npomsets; i++) {
		if (rule->pomsets[i].nevents < 2 || !is_independent(run, &rule->pomsets[i]))
			return false;
	}
	for (unsigned i = 1; i < rule->npatterns; i++) {
		if (run->masks[i] != run->masks[0])
			return false;
	}
	return rule->npatterns <= 64;
}

void dpe_predictor_begin(struct dpe_run *run)
{
	struct dpe_prediction_search *search = dpe_xcalloc(1, sizeof(*search));
	size_t npatterns = run->rule->npatterns + 1;

	search->run = run;
	search->reorder_work = DPE_REORDER_SAVED;
	search->history = &run->recognizer->predictor->history;
	search->pairwise = is_pairwise(run);
	search->partners = dpe_xcalloc(npatterns, sizeof(*search->partners));
	for (unsigned i = 0; search->pairwise && i < run->rule->npatterns; i++)
		search->partners[i] = partners_of(run->rule, i);
	search->by_pattern = dpe_xcalloc(npatterns, sizeof(*search->by_pattern));
	search->ngroups = dpe_xcalloc(npatterns, sizeof(*search->ngroups));
	search->capgroups = dpe_xcalloc(npatterns, sizeof(*search->capgroups));
	run->prediction = search;
	run->rule_engine = &by_prediction;
}
