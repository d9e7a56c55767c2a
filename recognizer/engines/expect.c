/* A slice of an `expect` rule: all of it must be a behaviour of R.
 *
 * Where the text leaves open which position an event takes (`a;b + a;c`), the automaton has
 * several moves for it, and the slice follows each branch until it fails. No branch left is a
 * violation: dead states are not in the automaton, so it is noticed at once. */
#include "recognizer/actions/actions.h"
#include "recognizer/engines/configuration.h"
#include "recognizer/verdicts/verdicts.h"

#include <stdlib.h>
#include <string.h>

static void drop_branch(const struct dpe_run *run, struct dpe_branch *branch)
{
	run->follow->drop(run, &branch->config);
	for (unsigned i = 0; branch->positions && i < run->rule->npositions; i++)
		dpe_occurrence_unref(branch->positions[i]);
	free(branch->positions);
}

static void expect_begin(struct dpe_run *run, struct dpe_slice *slice)
{
	struct dpe_branch *branch = DPE_GROW(slice->branches, slice->nbranches, slice->capbranches);

	*branch = (struct dpe_branch){.config = run->follow->begin(run)};
	if (run->wants_positions)
		branch->positions = dpe_xcalloc(run->rule->npositions, sizeof(*branch->positions));
}

static void expect_clear(struct dpe_run *run, struct dpe_slice *slice)
{
	for (unsigned i = 0; i < slice->nbranches; i++)
		drop_branch(run, &slice->branches[i]);
	slice->nbranches = 0;
}

static struct dpe_occurrence **copy_occurrences(struct dpe_occurrence **from, unsigned count)
{
	struct dpe_occurrence **to = dpe_xcalloc(count + 1, sizeof(struct dpe_occurrence *));

	for (unsigned i = 0; i < count; i++)
		to[i] = from[i] ? dpe_occurrence_ref(from[i]) : NULL;
	return to;
}

static void expect_copy(struct dpe_run *run, struct dpe_slice *to, const struct dpe_slice *from)
{
	for (unsigned i = 0; i < from->nbranches; i++) {
		const struct dpe_branch *old = &from->branches[i];
		struct dpe_branch *new = DPE_GROW(to->branches, to->nbranches, to->capbranches);

		new->config = run->follow->copy(run, &old->config);
		new->positions = old->positions
					 ? copy_occurrences(old->positions, run->rule->npositions)
					 : NULL;
	}
}

/* ---- actions ----------------------------------------------------------------------------- */

static void run_action(struct dpe_run *run, const struct dpe_slice *slice,
	const struct dpe_stmt *action, const struct dpe_branch *branch,
	const struct dpe_message *event)
{
	unsigned npositions = run->rule->npositions;
	const struct dpe_message *positions[npositions + 1];

	for (unsigned i = 0; i < npositions; i++) {
		bool taken = branch && branch->positions && branch->positions[i];

		positions[i] = taken ? branch->positions[i]->message : NULL;
	}
	dpe_run_action(run, slice, action, positions, event);
}

static void run_actions(struct dpe_run *run, const struct dpe_slice *slice,
	const struct dpe_stmt *const *actions, unsigned count, const struct dpe_branch *branch,
	const struct dpe_message *event)
{
	for (unsigned i = 0; i < count; i++) {
		if (dpe_run_may_act(run, actions[i]))
			run_action(run, slice, actions[i], branch, event);
	}
}

static void run_event_actions(struct dpe_run *run, const struct dpe_slice *slice,
	const struct dpe_config_step *taken, const struct dpe_branch *branch,
	const struct dpe_message *event)
{
	run_actions(run, slice, taken->before, taken->nbefore, branch, event);
	for (unsigned i = 0; i < taken->npositions; i++) {
		unsigned at = taken->positions[i] - 1;
		const struct dpe_stmt *action = run->rule->positions[at].action;

		if (!action || run->acted[at])
			continue;
		run->acted[at] = true;
		run_action(run, slice, action, branch, event);
	}
	run_actions(run, slice, taken->after, taken->nafter, branch, event);
}

/* ---- steps ------------------------------------------------------------------------------- */

/* The predecessors are exactly the step's. */
static bool fits(const struct dpe_run *run, const struct dpe_config_step *step)
{
	if (step->npreds != run->preds.count)
		return false;
	for (unsigned i = 0; i < step->npreds; i++) {
		if (!dpe_preds_have(&run->preds, step->preds[i].occurrence))
			return false;
	}
	return true;
}

static void take_positions(const struct dpe_branch *branch, const struct dpe_config_step *step,
	struct dpe_occurrence *occurrence)
{
	for (unsigned i = 0; branch->positions && i < step->npositions; i++) {
		struct dpe_occurrence **at = &branch->positions[step->positions[i] - 1];

		dpe_occurrence_unref(*at);
		*at = dpe_occurrence_ref(occurrence);
	}
}

static struct dpe_branch take_step(const struct dpe_run *run, const struct dpe_branch *branch,
	const struct dpe_config_step *step, struct dpe_occurrence *occurrence)
{
	struct dpe_branch next = {
		.config = run->follow->take(run, &branch->config, step, occurrence),
	};

	if (branch->positions)
		next.positions = copy_occurrences(branch->positions, run->rule->npositions);
	take_positions(&next, step, occurrence);
	return next;
}

/* Conditions will find the same events. */
static bool same_named(
	const struct dpe_run *run, const struct dpe_branch *a, const struct dpe_branch *b)
{
	for (unsigned i = 0; i < run->nnamed; i++) {
		if (a->positions[run->named[i]] != b->positions[run->named[i]])
			return false;
	}
	return true;
}

static bool have_branch(
	const struct dpe_run *run, const struct dpe_slice *slice, const struct dpe_branch *new)
{
	for (unsigned i = 0; i < slice->nbranches; i++) {
		if (run->follow->same(run, &slice->branches[i].config, &new->config) &&
			same_named(run, &slice->branches[i], new))
			return true;
	}
	return false;
}

static bool has_room(struct dpe_slice *slice)
{
	unsigned max = slice->overflown ? DPE_MAX_BRANCHES_AFTER : DPE_MAX_BRANCHES;

	if (slice->nbranches < max)
		return true;
	slice->overflown = true;
	return false;
}

static void add_branch(struct dpe_run *run, struct dpe_slice *slice, struct dpe_branch next)
{
	if (have_branch(run, slice, &next) || !has_room(slice)) {
		drop_branch(run, &next);
		return;
	}
	*DPE_GROW(slice->branches, slice->nbranches, slice->capbranches) = next;
}

static bool expect_admits(const struct dpe_run *run, const struct dpe_slice *slice,
	unsigned pattern, const struct dpe_occurrence *occurrence)
{
	for (unsigned i = 0; i < slice->nbranches; i++) {
		if (dpe_placed_condition_holds(
			    run, slice, pattern, occurrence, slice->branches[i].positions))
			return true;
	}
	return false;
}

/* All that one branch can make of the event as `literal` becomes the slice's branches. */
static void follow(struct dpe_run *run, struct dpe_slice *slice, const struct dpe_branch *from,
	unsigned literal, struct dpe_occurrence *occurrence)
{
	unsigned pattern = run->rule->literals[literal].pattern, count;

	if (run->placed[pattern] &&
		!dpe_placed_condition_holds(run, slice, pattern, occurrence, from->positions))
		return;
	count = run->follow->steps(run, &from->config, literal, occurrence, &run->preds);
	for (unsigned i = 0; i < count; i++) {
		struct dpe_branch next;

		if (!fits(run, &run->steps[i]))
			continue;
		next = take_step(run, from, &run->steps[i], occurrence);
		run_event_actions(run, slice, &run->steps[i], &next, occurrence->message);
		add_branch(run, slice, next);
	}
}

static void follow_all(struct dpe_run *run, struct dpe_slice *slice, const struct dpe_branch *from,
	unsigned nfrom, struct dpe_occurrence *occurrence)
{
	for (unsigned i = 0; i < nfrom; i++) {
		for (unsigned literal = 0; literal < run->rule->nliterals; literal++) {
			if (run->literals[literal])
				follow(run, slice, &from[i], literal, occurrence);
		}
	}
}

/* ---- verdicts ---------------------------------------------------------------------------- */

static void list_expected(struct dpe_run *run, const struct dpe_branch *branches, unsigned nbranches, bool first,
	struct dpe_expected *expected)
{
	for (unsigned i = 0; i < nbranches; i++)
		dpe_expected_add(run, &branches[i].config, first, expected);
}

/* "c came right after a1": what happened instead. */
static void describe_event(
	struct dpe_run *run, const struct dpe_occurrence *occurrence, struct dpe_text *to)
{
	const struct dpe_names *names = run->recognizer->spec->names;

	dpe_message_print_id(to, names, occurrence->message);
	if (!run->preds.count)
		dpe_text_puts(to, " follows no event of the rule");
	for (unsigned i = 0; i < run->preds.count; i++) {
		dpe_text_puts(to, i ? " and " : " came right after ");
		dpe_message_print_id(to, names, run->preds.at[i]->message);
	}
}

/* Dead configurations are followed, too: the rule may have been violated before. */
static bool may_be_late(const struct dpe_run *run)
{
	return run->follow->may_be_late && run->follow->may_be_late(run);
}

static void put_around(struct dpe_verdict *verdict, const struct dpe_message **messages,
	const struct dpe_stamp **stamps, const struct dpe_occurrence *occurrence)
{
	messages[verdict->naround] = occurrence->message;
	stamps[verdict->naround++] = &occurrence->stamp;
}

/* With the events that the verdict's event came after and beside; or, without one, where the slice ends. */
static void report_with_events(struct dpe_run *run, const struct dpe_slice *slice,
	const struct dpe_occurrence *occurrence, struct dpe_verdict *verdict)
{
	struct dpe_preds ends = {0};
	const struct dpe_message **messages;
	const struct dpe_stamp **stamps;
	unsigned npreds = occurrence ? run->preds.count : 0;

	dpe_order_ends(&slice->order, occurrence ? &occurrence->stamp : NULL, &ends);
	messages = dpe_xcalloc(npreds + ends.count + 1, sizeof(struct dpe_message *));
	stamps = dpe_xcalloc(npreds + ends.count + 1, sizeof(struct dpe_stamp *));
	for (unsigned i = 0; i < npreds; i++)
		put_around(verdict, messages, stamps, run->preds.at[i]);
	for (unsigned i = 0; i < ends.count; i++)
		put_around(verdict, messages, stamps, ends.at[i]);
	verdict->nbeside = occurrence ? ends.count : 0;
	if (occurrence)
		put_around(verdict, messages, stamps, occurrence);
	verdict->around = messages;
	verdict->stamps = stamps;
	dpe_verdict_report(run, slice, verdict);
	free(messages);
	free(stamps);
	free(ends.at);
}

static void report_violation(struct dpe_run *run, struct dpe_slice *slice,
	const struct dpe_branch *before, unsigned nbefore, struct dpe_occurrence *occurrence)
{
	const struct dpe_message *event = occurrence->message;
	const char *doubt = dpe_expect_doubt(run, slice);
	struct dpe_expected expected = {0};
	struct dpe_text reason = {0};
	struct dpe_verdict verdict = {
		.kind = doubt ? DPE_INCONCLUSIVE : DPE_VIOLATED,
		.event = event,
	};

	describe_event(run, occurrence, &reason);
	if (may_be_late(run))
		dpe_text_puts(&reason, " (an earlier event may have violated the rule: "
				       "the token game sees some violations late)");
	if (dpe_violation_defer(run, slice, occurrence, reason.at)) {
		dpe_text_free(&reason);
		return;
	}
	list_expected(run, before, nbefore, !slice->order.nchains, &expected);
	verdict.reason = doubt ? doubt : reason.at;
	verdict.expected = (const char *const *)expected.at;
	verdict.nexpected = expected.count;
	slice->done = true;
	report_with_events(run, slice, occurrence, &verdict);
	if (verdict.kind == DPE_VIOLATED && run->rule->otherwise)
		run_action(run, slice, run->rule->otherwise, nbefore ? &before[0] : NULL, event);
	run->recognizer->suppressing = false;
	dpe_expected_free(&expected);
	dpe_text_free(&reason);
}

/* With the branches after the event, or the ones that refuse it. */
static void trace_step(struct dpe_run *run, const struct dpe_slice *slice, const struct dpe_branch *before,
	unsigned nbefore, const struct dpe_occurrence *occurrence)
{
	const struct dpe_branch *branches = slice->nbranches ? slice->branches : before;
	unsigned nbranches = slice->nbranches ? slice->nbranches : nbefore;
	struct dpe_expected expected = {0};

	if (run->recognizer->sink.automata && (run->game || !dpe_gives_automata(run)))
		list_expected(run, branches, nbranches, false, &expected);
	dpe_trace_step(run, slice, branches, nbranches, occurrence, (struct dpe_trace){
		.count = slice->nbranches,
		.expected = (const char *const *)expected.at,
		.nexpected = expected.count,
	});
	dpe_expected_free(&expected);
}

static void expect_take(
	struct dpe_run *run, struct dpe_slice *slice, struct dpe_occurrence *occurrence)
{
	struct dpe_branch *before = slice->branches;
	unsigned nbefore = slice->nbranches, capbefore = slice->capbranches;

	slice->branches = run->spare;
	slice->capbranches = run->capspare;
	slice->nbranches = 0;
	run->spare = NULL;
	run->capspare = 0;
	follow_all(run, slice, before, nbefore, occurrence);
	if (dpe_is_traced(run->recognizer))
		trace_step(run, slice, before, nbefore, occurrence);
	if (!slice->nbranches)
		report_violation(run, slice, before, nbefore, occurrence);
	for (unsigned i = 0; i < nbefore; i++)
		drop_branch(run, &before[i]);
	free(run->spare);
	run->spare = before;
	run->capspare = capbefore;
}

static const struct dpe_branch *find_final(const struct dpe_run *run, const struct dpe_slice *slice)
{
	for (unsigned i = 0; i < slice->nbranches; i++) {
		if (run->follow->final(run, &slice->branches[i].config))
			return &slice->branches[i];
	}
	return NULL;
}

static void expect_finish(struct dpe_run *run, struct dpe_slice *slice)
{
	const struct dpe_branch *final = find_final(run, slice);
	const struct dpe_stmt *action = final ? run->rule->action : run->rule->otherwise;
	const char *doubt = final ? dpe_slice_doubt(run, slice) : dpe_expect_doubt(run, slice);
	struct dpe_verdict verdict = {.kind = final ? DPE_SATISFIED : DPE_INCOMPLETE};
	struct dpe_expected expected = {0};

	if (doubt) {
		verdict.kind = DPE_INCONCLUSIVE;
		verdict.reason = doubt;
	} else if (!final) {
		if (may_be_late(run))
			verdict.reason = "an event may have violated the rule: "
					 "the token game sees some violations late";
		list_expected(run, slice->branches, slice->nbranches, !slice->order.nchains, &expected);
		verdict.expected = (const char *const *)expected.at;
		verdict.nexpected = expected.count;
	}
	slice->done = true;
	run->nran = 0;
	if (!doubt && final) {
		const struct dpe_stmt *const *ending = NULL;
		unsigned count =
			run->follow->ending ? run->follow->ending(run, &final->config, &ending) : 0;

		run_actions(run, slice, ending, count, final, NULL);
	}
	if (verdict.kind == DPE_INCOMPLETE)
		report_with_events(run, slice, NULL, &verdict);
	else
		dpe_verdict_report(run, slice, &verdict);
	if (!doubt && action)
		run_action(run, slice, action, final ? final : &slice->branches[0], NULL);
	run->recognizer->suppressing = false;
	dpe_expected_free(&expected);
}

static void expect_free(struct dpe_run *run, struct dpe_slice *slice)
{
	expect_clear(run, slice);
	free(slice->branches);
	slice->branches = NULL;
}

static void expect_adopt(
	const struct dpe_run *run, struct dpe_slice *slice, const struct dpe_automaton *old)
{
	for (unsigned i = 0; i < slice->nbranches; i++) {
		dpe_state *state = &slice->branches[i].config.state;

		*state = dpe_automaton_adopt(run->automaton, old, *state);
	}
}

const struct dpe_slice_engine dpe_expect_engine = {
	.begin = expect_begin,
	.take = expect_take,
	.finish = expect_finish,
	.copy = expect_copy,
	.clear = expect_clear,
	.free = expect_free,
	.admits = expect_admits,
	.adopt = expect_adopt,
};
