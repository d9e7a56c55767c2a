/* A slice of an `expect` rule: all of it must be a behaviour of R.
 *
 * Where the text leaves open which position an event takes (`a;b + a;c`), the automaton has
 * several moves for it, and the slice follows each reading until it fails. No reading left is a
 * violation: dead states are not in the automaton, so it is noticed at once. */
#include "recognizer/actions/actions.h"
#include "recognizer/engines/engines.h"
#include "recognizer/engines/product.h"
#include "recognizer/verdicts/verdicts.h"

#include <stdlib.h>
#include <string.h>

static void drop_reading(const struct dpe_run *run, struct dpe_reading *reading)
{
	dpe_config_drop(run, &reading->config);
	for (unsigned i = 0; reading->positions && i < run->rule->npositions; i++)
		dpe_occurrence_unref(reading->positions[i]);
	free(reading->positions);
}

void dpe_expect_begin(struct dpe_run *run, struct dpe_slice *slice)
{
	struct dpe_reading *reading =
		DPE_GROW(slice->readings, slice->nreadings, slice->capreadings);

	*reading = (struct dpe_reading){.config = dpe_config_begin(run)};
	if (run->wants_positions)
		reading->positions =
			dpe_xcalloc(run->rule->npositions, sizeof(*reading->positions));
}

void dpe_expect_clear(struct dpe_run *run, struct dpe_slice *slice)
{
	for (unsigned i = 0; i < slice->nreadings; i++)
		drop_reading(run, &slice->readings[i]);
	slice->nreadings = 0;
}

static struct dpe_occurrence **copy_occurrences(struct dpe_occurrence **from, unsigned count)
{
	struct dpe_occurrence **to = dpe_xcalloc(count + 1, sizeof(struct dpe_occurrence *));

	for (unsigned i = 0; i < count; i++)
		to[i] = from[i] ? dpe_occurrence_ref(from[i]) : NULL;
	return to;
}

void dpe_expect_copy(struct dpe_run *run, struct dpe_slice *to, const struct dpe_slice *from)
{
	for (unsigned i = 0; i < from->nreadings; i++) {
		const struct dpe_reading *old = &from->readings[i];
		struct dpe_reading *new = DPE_GROW(to->readings, to->nreadings, to->capreadings);

		new->config = dpe_config_copy(run, &old->config);
		new->positions = old->positions
					 ? copy_occurrences(old->positions, run->rule->npositions)
					 : NULL;
	}
}

/* ---- actions ----------------------------------------------------------------------------- */

static void run_action(struct dpe_run *run, const struct dpe_slice *slice,
	const struct dpe_stmt *action, const struct dpe_reading *reading,
	const struct dpe_message *event)
{
	unsigned npositions = run->rule->npositions;
	const struct dpe_message *positions[npositions + 1];

	for (unsigned i = 0; i < npositions; i++) {
		bool taken = reading && reading->positions && reading->positions[i];

		positions[i] = taken ? reading->positions[i]->message : NULL;
	}
	dpe_run_action(run, slice, action, positions, event);
}

static void run_actions(struct dpe_run *run, const struct dpe_slice *slice,
	const struct dpe_stmt *const *actions, unsigned count, const struct dpe_reading *reading,
	const struct dpe_message *event)
{
	for (unsigned i = 0; i < count; i++) {
		if (dpe_run_may_act(run, actions[i]))
			run_action(run, slice, actions[i], reading, event);
	}
}

static void run_event_actions(struct dpe_run *run, const struct dpe_slice *slice,
	const struct dpe_step *taken, const struct dpe_reading *reading,
	const struct dpe_message *event)
{
	run_actions(run, slice, taken->before, taken->nbefore, reading, event);
	for (unsigned i = 0; i < taken->npositions; i++) {
		unsigned at = taken->positions[i] - 1;
		const struct dpe_stmt *action = run->rule->positions[at].action;

		if (!action || run->acted[at])
			continue;
		run->acted[at] = true;
		run_action(run, slice, action, reading, event);
	}
	run_actions(run, slice, taken->after, taken->nafter, reading, event);
}

/* ---- steps ------------------------------------------------------------------------------- */

/* The predecessors are exactly those that the step wants. */
static bool fits(const struct dpe_run *run, const struct dpe_step *step)
{
	if (step->npreds != run->preds.count)
		return false;
	for (unsigned i = 0; i < step->npreds; i++) {
		if (!dpe_preds_have(&run->preds, step->preds[i].occurrence))
			return false;
	}
	return true;
}

static bool move_fits(
	const struct dpe_run *run, const struct dpe_config *config, const struct dpe_move *move)
{
	if (move->npreds != run->preds.count)
		return false;
	for (unsigned i = 0; i < move->npreds; i++) {
		if (!dpe_preds_have(&run->preds, config->registers[move->preds[i]]))
			return false;
	}
	return true;
}

static void take_positions(const struct dpe_reading *reading, const struct dpe_step *step,
	struct dpe_occurrence *occurrence)
{
	for (unsigned i = 0; reading->positions && i < step->npositions; i++) {
		struct dpe_occurrence **at = &reading->positions[step->positions[i] - 1];

		dpe_occurrence_unref(*at);
		*at = dpe_occurrence_ref(occurrence);
	}
}

static struct dpe_reading take_step(const struct dpe_run *run, const struct dpe_reading *reading,
	const struct dpe_step *step, struct dpe_occurrence *occurrence)
{
	struct dpe_reading next = {
		.config = dpe_engine_take(&reading->config, step, occurrence),
	};

	if (reading->positions)
		next.positions = copy_occurrences(reading->positions, run->rule->npositions);
	take_positions(&next, step, occurrence);
	return next;
}

/* Conditions will find the same events. */
static bool same_named(
	const struct dpe_run *run, const struct dpe_reading *a, const struct dpe_reading *b)
{
	for (unsigned i = 0; i < run->nnamed; i++) {
		if (a->positions[run->named[i]] != b->positions[run->named[i]])
			return false;
	}
	return true;
}

static bool have_reading(
	const struct dpe_run *run, const struct dpe_slice *slice, const struct dpe_reading *new)
{
	for (unsigned i = 0; i < slice->nreadings; i++) {
		if (dpe_config_same(run, &slice->readings[i].config, &new->config) &&
			same_named(run, &slice->readings[i], new))
			return true;
	}
	return false;
}

static void add_reading(struct dpe_run *run, struct dpe_slice *slice, struct dpe_reading next)
{
	if (have_reading(run, slice, &next)) {
		drop_reading(run, &next);
		return;
	}
	*DPE_GROW(slice->readings, slice->nreadings, slice->capreadings) = next;
}

bool dpe_expect_admits(const struct dpe_run *run, const struct dpe_slice *slice, unsigned pattern,
	const struct dpe_occurrence *occurrence)
{
	for (unsigned i = 0; i < slice->nreadings; i++) {
		if (dpe_placed_condition_holds(
			    run, slice, pattern, occurrence, slice->readings[i].positions))
			return true;
	}
	return false;
}

/* All that one reading can make of the event as `literal` becomes the slice's readings. */
static void follow(struct dpe_run *run, struct dpe_slice *slice, const struct dpe_reading *from,
	unsigned literal, struct dpe_occurrence *occurrence)
{
	unsigned pattern = run->rule->literals[literal].pattern, count;
	const struct dpe_step *steps;

	if (run->placed[pattern] &&
		!dpe_placed_condition_holds(run, slice, pattern, occurrence, from->positions))
		return;
	count = dpe_engine_steps(run, &from->config, literal, occurrence, &steps);
	for (unsigned i = 0; i < count; i++) {
		struct dpe_reading next;

		if (!fits(run, &steps[i]))
			continue;
		next = take_step(run, from, &steps[i], occurrence);
		run_event_actions(run, slice, &steps[i], &next, occurrence->message);
		add_reading(run, slice, next);
	}
}

static void follow_all(struct dpe_run *run, struct dpe_slice *slice, const struct dpe_reading *from,
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

struct texts {
	char **at;
	unsigned count, cap;
};

static void add_text(struct texts *texts, struct dpe_text *text)
{
	for (unsigned i = 0; i < texts->count; i++) {
		if (!strcmp(texts->at[i], text->at)) {
			dpe_text_free(text);
			return;
		}
	}
	*DPE_GROW(texts->at, texts->count, texts->cap) = text->at;
}

/* "c after a and b": a step in words. */
static void describe_step(const struct dpe_run *run, const struct dpe_step *step, unsigned literal,
	bool first, struct dpe_text *to)
{
	const struct dpe_literal *literals = run->rule->literals;

	dpe_text_puts(to, literals[literal].text);
	if (!step->npreds)
		dpe_text_puts(to, first ? " first" : " independent of all before");
	for (unsigned i = 0; i < step->npreds; i++)
		dpe_text_printf(
			to, "%s %s", i ? " and" : " after", literals[step->preds[i].literal].text);
}

static void list_expected(struct dpe_run *run, const struct dpe_slice *slice,
	const struct dpe_reading *readings, unsigned nreadings, struct texts *expected)
{
	bool first = !slice->order.nchains;

	for (unsigned i = 0; i < nreadings; i++) {
		for (unsigned literal = 0; literal < run->rule->nliterals; literal++) {
			const struct dpe_step *steps;
			unsigned count =
				dpe_engine_steps(run, &readings[i].config, literal, NULL, &steps);

			for (unsigned j = 0; j < count; j++) {
				struct dpe_text text = {0};

				describe_step(run, &steps[j], literal, first, &text);
				add_text(expected, &text);
			}
		}
	}
}

/* "c came independent of a1": what happened instead. */
static void describe_event(
	struct dpe_run *run, const struct dpe_occurrence *occurrence, struct dpe_text *to)
{
	const struct dpe_names *names = run->recognizer->spec->names;

	dpe_message_print_id(to, names, occurrence->message);
	if (!run->preds.count)
		dpe_text_puts(to, " came with nothing of the slice before it");
	for (unsigned i = 0; i < run->preds.count; i++) {
		dpe_text_puts(to, i ? " and " : " came right after ");
		dpe_message_print_id(to, names, run->preds.at[i]->message);
	}
}

static void tell_with_predecessors(struct dpe_run *run, const struct dpe_slice *slice,
	const struct dpe_occurrence *occurrence, struct dpe_verdict *verdict)
{
	const struct dpe_message *around[run->preds.count + 1];
	const struct dpe_stamp *stamps[run->preds.count + 1];

	for (unsigned i = 0; i < run->preds.count; i++) {
		around[i] = run->preds.at[i]->message;
		stamps[i] = &run->preds.at[i]->stamp;
	}
	around[run->preds.count] = occurrence->message;
	stamps[run->preds.count] = &occurrence->stamp;
	verdict->around = around;
	verdict->stamps = stamps;
	verdict->naround = run->preds.count + 1;
	dpe_verdict_report(run, slice, verdict);
}

static void tell_violation(struct dpe_run *run, struct dpe_slice *slice,
	const struct dpe_reading *before, unsigned nbefore, struct dpe_occurrence *occurrence)
{
	const struct dpe_message *event = occurrence->message;
	const char *doubt = dpe_expect_doubt(run, slice);
	struct texts expected = {0};
	struct dpe_text reason = {0};
	struct dpe_verdict verdict = {
		.kind = doubt ? DPE_INCONCLUSIVE : DPE_VIOLATED,
		.event = event,
	};

	describe_event(run, occurrence, &reason);
	if (dpe_violation_defer(run, slice, occurrence, reason.at)) {
		dpe_text_free(&reason);
		return;
	}
	list_expected(run, slice, before, nbefore, &expected);
	verdict.reason = doubt ? doubt : reason.at;
	verdict.expected = (const char *const *)expected.at;
	verdict.nexpected = expected.count;
	slice->done = true;
	tell_with_predecessors(run, slice, occurrence, &verdict);
	if (!doubt && run->rule->otherwise)
		run_action(run, slice, run->rule->otherwise, nbefore ? &before[0] : NULL, event);
	run->recognizer->suppressing = false;
	for (unsigned i = 0; i < expected.count; i++)
		free(expected.at[i]);
	free(expected.at);
	dpe_text_free(&reason);
}

/* The only move of the reading that the event can be; NULL where there is none or a choice. */
static const struct dpe_move *find_only_move(struct dpe_run *run, const struct dpe_config *config)
{
	const struct dpe_move *only = NULL;

	for (unsigned literal = 0; literal < run->rule->nliterals; literal++) {
		const struct dpe_move *moves;
		unsigned count = 0;

		if (!run->literals[literal])
			continue;
		moves = dpe_automaton_moves(run->automaton, config->state, literal, &count);
		for (unsigned i = 0; i < count; i++) {
			if (!move_fits(run, config, &moves[i]))
				continue;
			if (only)
				return NULL;
			only = &moves[i];
		}
	}
	return only;
}

/* The literal that the event is; as many as there are where it may be several. */
static unsigned find_only_literal(const struct dpe_run *run)
{
	unsigned count = run->rule->nliterals, only = count;

	for (unsigned literal = 0; literal < count; literal++) {
		if (!run->literals[literal])
			continue;
		if (only != count)
			return count;
		only = literal;
	}
	return only;
}

/* The same as find_only_move, of one literal, with what actions have to know. */
static const struct dpe_step *find_only_step(struct dpe_run *run, const struct dpe_slice *slice,
	const struct dpe_reading *reading, struct dpe_occurrence *occurrence)
{
	unsigned literal = find_only_literal(run), count, pattern;
	const struct dpe_step *steps, *only = NULL;

	if (literal == run->rule->nliterals)
		return NULL;
	pattern = run->rule->literals[literal].pattern;
	if (run->placed[pattern] && !dpe_placed_condition_holds(run, slice, pattern, occurrence,
					    reading->positions))
		return NULL;
	count = dpe_engine_steps(run, &reading->config, literal, occurrence, &steps);
	for (unsigned i = 0; i < count; i++) {
		if (!fits(run, &steps[i]))
			continue;
		if (only)
			return NULL;
		only = &steps[i];
	}
	return only;
}

/* Where the event is one thing only, nobody needs the reading as it was, which is what makes a copy dear:
 * it has what is at each position. */
static bool act_alone(
	struct dpe_run *run, struct dpe_slice *slice, struct dpe_occurrence *occurrence)
{
	struct dpe_reading *reading = slice->readings;
	const struct dpe_step *step;

	if (!run->automaton)
		return false;
	step = find_only_step(run, slice, reading, occurrence);
	if (!step)
		return false;
	take_positions(reading, step, occurrence);
	dpe_engine_move(run, &reading->config, step->move, occurrence);
	run_event_actions(run, slice, step, reading, occurrence->message);
	return true;
}

/* One reading that goes on in one way does so in place. False where nothing was done. */
static bool take_alone(
	struct dpe_run *run, struct dpe_slice *slice, struct dpe_occurrence *occurrence)
{
	const struct dpe_move *move;

	if (run->game || slice->nreadings != 1 || run->recognizer->sink.trace)
		return false;
	if (run->wants_positions || run->acts)
		return act_alone(run, slice, occurrence);
	if (run->product)
		return dpe_product_take_only(run->product, &slice->readings[0].config.product, run->literals,
			run->rule->nliterals, &run->preds, occurrence);
	move = find_only_move(run, &slice->readings[0].config);
	if (move)
		dpe_engine_move(run, &slice->readings[0].config, move, occurrence);
	return move;
}

void dpe_expect_take(
	struct dpe_run *run, struct dpe_slice *slice, struct dpe_occurrence *occurrence)
{
	struct dpe_reading *before = slice->readings;
	unsigned nbefore = slice->nreadings, capbefore = slice->capreadings;

	if (take_alone(run, slice, occurrence))
		return;
	slice->readings = run->spare;
	slice->capreadings = run->capspare;
	slice->nreadings = 0;
	run->spare = NULL;
	run->capspare = 0;
	follow_all(run, slice, before, nbefore, occurrence);
	dpe_trace_take(run, slice, occurrence, slice->nreadings, false);
	if (!slice->nreadings)
		tell_violation(run, slice, before, nbefore, occurrence);
	for (unsigned i = 0; i < nbefore; i++)
		drop_reading(run, &before[i]);
	free(run->spare);
	run->spare = before;
	run->capspare = capbefore;
}

static const struct dpe_reading *find_final(
	const struct dpe_run *run, const struct dpe_slice *slice)
{
	for (unsigned i = 0; i < slice->nreadings; i++) {
		if (dpe_config_final(run, &slice->readings[i].config))
			return &slice->readings[i];
	}
	return NULL;
}

void dpe_expect_finish(struct dpe_run *run, struct dpe_slice *slice)
{
	const struct dpe_reading *final = find_final(run, slice);
	const struct dpe_stmt *action = final ? run->rule->action : run->rule->otherwise;
	const char *doubt = final ? dpe_slice_doubt(run, slice) : dpe_expect_doubt(run, slice);
	struct dpe_verdict verdict = {.kind = final ? DPE_SATISFIED : DPE_INCOMPLETE};
	struct texts expected = {0};

	if (doubt) {
		verdict.kind = DPE_INCONCLUSIVE;
		verdict.reason = doubt;
	} else if (!final) {
		list_expected(run, slice, slice->readings, slice->nreadings, &expected);
		verdict.expected = (const char *const *)expected.at;
		verdict.nexpected = expected.count;
	}
	slice->done = true;
	run->nran = 0;
	if (!doubt && final) {
		const struct dpe_stmt *const *ending = NULL;
		unsigned count = dpe_engine_ending(run, &final->config, &ending);

		run_actions(run, slice, ending, count, final, NULL);
	}
	dpe_verdict_report(run, slice, &verdict);
	if (!doubt && action)
		run_action(run, slice, action, final ? final : &slice->readings[0], NULL);
	run->recognizer->suppressing = false;
	for (unsigned i = 0; i < expected.count; i++)
		free(expected.at[i]);
	free(expected.at);
}
