/* Partial matches of a `detect` rule: non-empty convex sets of a slice's events that are in ⟦R⟧.
 *
 * Convex: no event of the slice lies strictly between two of the match. So a partial match M may
 * take the new event e exactly when each immediate predecessor p of e in the slice is one that
 * the automaton's move names, or has no event of M at or before it: an event that was passed over
 * and follows one of M would come to lie between. The predecessors of e within M are then its
 * immediate predecessors in the slice that are in M, and nothing else of M precedes e.
 *
 * Redundant partial matches are dropped. Let M and N stand in the same state with the same
 * registers, and let each minimal event of M be, or come after, one of N. Then whatever completes
 * N completes M: suppose e can be added to N. Its predecessors named by the move are in both, as
 * the registers are. Any other immediate predecessor p is neither in N nor after one of N; if p
 * were in M, or after an event of M, then a minimal event of M would be at or before p, and with
 * it one of N: a contradiction. And what N passes over only grows alike for both. So only M is
 * kept: for `a*` its last event alone, for `a & b` at most one a in each thread.
 *
 * Partial matches that nothing can extend are dropped, too (see pruning.c): at once where the event at hand
 * is why, and others from time to time.
 *
 * Of the slice's order, an event is looked at only as a predecessor of a new one: by a partial
 * match that names it, which has taken it, or by one whose events it follows. So what is neither
 * one of the events of a partial match nor after one can be forgotten. */
#include "recognizer/actions/actions.h"
#include "recognizer/engines/conjunction.h"
#include "recognizer/engines/engines.h"
#include "recognizer/verdicts/verdicts.h"

#include <stdlib.h>
#include <string.h>

#define MOST_COMPARED 10000000 /* partial matches, new ones with old ones, for one event; … */
#define MOST_AFTER 100000      /* … once that was too few */

static struct dpe_taken *ref_taken(struct dpe_taken *taken)
{
	if (taken)
		taken->refs++;
	return taken;
}

static void unref_taken(struct dpe_taken *taken)
{
	while (taken && !--taken->refs) {
		struct dpe_taken *before = taken->before;
		struct dpe_pool *pool = taken->occurrence->pool;

		dpe_occurrence_unref(taken->occurrence);
		dpe_pool_give(pool, taken, sizeof(*taken));
		taken = before;
	}
}

/* The minimal events of another partial match, and one more unless that is NULL. */
static void copy_firsts(
	struct dpe_partial *to, const struct dpe_partial *from, struct dpe_occurrence *more)
{
	struct dpe_occurrence *const *old = dpe_partial_firsts(from), **new = to->few;

	to->nfirst = from->nfirst + !!more;
	if (to->nfirst > DPE_FEW_FIRST)
		to->many = new = dpe_xmalloc(to->nfirst * sizeof(struct dpe_occurrence *));
	for (unsigned i = 0; i < from->nfirst; i++)
		new[i] = dpe_occurrence_ref(old[i]);
	if (more)
		new[from->nfirst] = dpe_occurrence_ref(more);
}

static void drop_partial(const struct dpe_run *run, struct dpe_partial *partial)
{
	struct dpe_occurrence *const *first = dpe_partial_firsts(partial);

	dpe_config_drop(run, &partial->config);
	for (unsigned i = 0; i < partial->nfirst; i++)
		dpe_occurrence_unref(first[i]);
	if (partial->nfirst > DPE_FEW_FIRST)
		free(partial->many);
	unref_taken(partial->taken);
}

void dpe_detect_clear(struct dpe_run *run, struct dpe_slice *slice)
{
	for (unsigned i = 0; i < slice->npartials; i++)
		drop_partial(run, &slice->partials[i]);
	slice->npartials = 0;
	dpe_weave_clear(run, slice);
}

void dpe_detect_copy(const struct dpe_run *run, struct dpe_slice *to, const struct dpe_slice *from)
{
	dpe_weave_copy(run, to, from);
	for (unsigned i = 0; i < from->npartials; i++) {
		const struct dpe_partial *old = &from->partials[i];
		struct dpe_partial *new = DPE_GROW(to->partials, to->npartials, to->cappartials);

		*new = *old;
		ref_taken(new->taken);
		new->config = dpe_config_copy(run, &old->config);
		copy_firsts(new, old, NULL);
	}
}

/* ---- one step ---------------------------------------------------------------------------- */

static bool at_or_before(const struct dpe_occurrence *a, const struct dpe_occurrence *b)
{
	return a == b || dpe_precedes(&a->stamp, &b->stamp);
}

static bool touches(const struct dpe_partial *partial, const struct dpe_occurrence *occurrence)
{
	struct dpe_occurrence *const *first = dpe_partial_firsts(partial);

	for (unsigned i = 0; i < partial->nfirst; i++) {
		if (at_or_before(first[i], occurrence))
			return true;
	}
	return false;
}

static bool fits(
	const struct dpe_run *run, const struct dpe_partial *partial, const struct dpe_step *step)
{
	for (unsigned i = 0; i < step->npreds; i++) {
		if (!dpe_preds_have(&run->preds, step->preds[i].occurrence))
			return false;
	}
	for (unsigned i = 0; i < run->preds.count; i++) {
		const struct dpe_occurrence *pred = run->preds.at[i];

		if (!dpe_step_names(step, pred) && touches(partial, pred))
			return false;
	}
	return true;
}

/* Whether the condition of a placed pattern holds after the partial match. */
static bool admits(const struct dpe_run *run, const struct dpe_slice *slice,
	const struct dpe_partial *partial, unsigned pattern,
	const struct dpe_occurrence *occurrence)
{
	memset(run->at_positions, 0, run->rule->npositions * sizeof(*run->at_positions));
	for (const struct dpe_taken *taken = partial->taken; taken; taken = taken->before) {
		for (unsigned i = 0; i < taken->npositions; i++) {
			struct dpe_occurrence **at = &run->at_positions[taken->positions[i] - 1];

			if (!*at)
				*at = taken->occurrence;
		}
	}
	return dpe_placed_condition_holds(run, slice, pattern, occurrence, run->at_positions);
}

bool dpe_detect_admits(const struct dpe_run *run, const struct dpe_slice *slice, unsigned pattern,
	const struct dpe_occurrence *occurrence)
{
	for (unsigned i = 0; i < slice->npartials; i++) {
		if (admits(run, slice, &slice->partials[i], pattern, occurrence))
			return true;
	}
	return false;
}

static struct dpe_partial take_step(const struct dpe_partial *partial, const struct dpe_step *step,
	struct dpe_occurrence *occurrence, uint64_t mask)
{
	struct dpe_partial next = {
		.config = dpe_engine_take(&partial->config, step, occurrence),
	};

	copy_firsts(&next, partial, step->npreds ? NULL : occurrence);
	next.taken = dpe_pool_take(occurrence->pool, sizeof(*next.taken));
	*next.taken = (struct dpe_taken){
		.refs = 1,
		.positions = step->positions,
		.npositions = step->npositions,
		.mask = mask | (partial->taken ? partial->taken->mask : 0),
		.occurrence = dpe_occurrence_ref(occurrence),
		.before = ref_taken(partial->taken),
	};
	return next;
}

/* ---- redundancy -------------------------------------------------------------------------- */

/* What the partial match has at a position, the latest. */
static const struct dpe_occurrence *at_position(const struct dpe_taken *taken, unsigned position)
{
	for (; taken; taken = taken->before) {
		for (unsigned i = 0; i < taken->npositions; i++) {
			if (taken->positions[i] == position + 1)
				return taken->occurrence;
		}
	}
	return NULL;
}

/* Conditions will find the same events. */
static bool same_named(
	const struct dpe_run *run, const struct dpe_partial *a, const struct dpe_partial *b)
{
	for (unsigned i = 0; i < run->nnamed; i++) {
		if (at_position(a->taken, run->named[i]) != at_position(b->taken, run->named[i]))
			return false;
	}
	return true;
}

static bool same_place(
	const struct dpe_run *run, const struct dpe_partial *a, const struct dpe_partial *b)
{
	return a->taken->mask == b->taken->mask && dpe_config_same(run, &a->config, &b->config) &&
	       same_named(run, a, b);
}

/* Each minimal event of `a` is, or comes after, one of `b`. */
static bool supersedes(const struct dpe_partial *a, const struct dpe_partial *b)
{
	struct dpe_occurrence *const *first = dpe_partial_firsts(a);

	for (unsigned i = 0; i < a->nfirst; i++) {
		if (!touches(b, first[i]))
			return false;
	}
	return true;
}

static void add_partial(struct dpe_run *run, struct dpe_slice *slice, struct dpe_partial new)
{
	unsigned kept = 0;

	for (unsigned i = 0; i < slice->npartials; i++) {
		if (same_place(run, &slice->partials[i], &new) &&
			supersedes(&slice->partials[i], &new)) {
			drop_partial(run, &new);
			return;
		}
	}
	for (unsigned i = 0; i < slice->npartials; i++) {
		if (same_place(run, &slice->partials[i], &new) &&
			supersedes(&new, &slice->partials[i]))
			drop_partial(run, &slice->partials[i]);
		else
			slice->partials[kept++] = slice->partials[i];
	}
	slice->npartials = kept;
	if (kept >= run->recognizer->options.max_instances) {
		slice->overflown = true;
		drop_partial(run, &new);
		return;
	}
	*DPE_GROW(slice->partials, slice->npartials, slice->cappartials) = new;
}

bool dpe_detect_needs(const struct dpe_slice *slice, const struct dpe_occurrence *occurrence)
{
	for (unsigned i = 0; i < slice->npartials; i++) {
		if (touches(&slice->partials[i], occurrence))
			return true;
	}
	return false;
}

/* ---- what nothing can extend --------------------------------------------------------------- */

void dpe_detect_forget(
	struct dpe_run *run, struct dpe_slice *slice, const struct dpe_horizon *horizon)
{
	unsigned kept = 0;

	if (slice->weave)
		dpe_weave_tidy(run, slice, horizon);
	for (unsigned i = 0; i < slice->npartials; i++) {
		if (dpe_partial_is_dead(run, slice, &slice->partials[i], horizon))
			drop_partial(run, &slice->partials[i]);
		else
			slice->partials[kept++] = slice->partials[i];
	}
	slice->npartials = kept;
}

/* ---- matches ----------------------------------------------------------------------------- */

static void run_action(struct dpe_run *run, const struct dpe_slice *slice,
	const struct dpe_stmt *action, const struct dpe_taken *taken,
	const struct dpe_message *event)
{
	const struct dpe_message *positions[run->rule->npositions + 1];

	memset(positions, 0, sizeof(positions));
	for (; taken; taken = taken->before) {
		for (unsigned i = 0; i < taken->npositions; i++) {
			const struct dpe_message **at = &positions[taken->positions[i] - 1];

			if (!*at)
				*at = taken->occurrence->message;
		}
	}
	dpe_run_action(run, slice, action, positions, event);
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

void dpe_detect_tell(struct dpe_run *run, const struct dpe_slice *slice,
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
	verdict.events = verdict.around = events;
	verdict.naround = verdict.nevents;
	verdict.stamps = stamps;
	verdict.positions = positions;
	dpe_verdict_report(run, slice, &verdict);
	if (!doubt && run->rule->action)
		run_rule_action(run, slice, entries, nentries, occurrence->message);
	run->recognizer->suppressing = false;
	free(events);
	free(stamps);
	free(positions);
}

static void tell_match(struct dpe_run *run, const struct dpe_slice *slice,
	const struct dpe_partial *match, const struct dpe_occurrence *occurrence)
{
	struct dpe_entry *entries;
	unsigned count = 0, at;

	for (const struct dpe_taken *taken = match->taken; taken; taken = taken->before)
		count++;
	entries = dpe_xcalloc(count, sizeof(*entries));
	at = count;
	for (const struct dpe_taken *taken = match->taken; taken; taken = taken->before)
		entries[--at] = (struct dpe_entry){
			taken->occurrence, taken->positions, taken->npositions};
	dpe_detect_tell(run, slice, entries, count, occurrence);
	free(entries);
}

/* ---- an event ---------------------------------------------------------------------------- */

/* What taking one event leads to: new partial matches, and the match to report. */
struct harvest {
	struct dpe_partial *partials, match;
	unsigned npartials, cappartials;
	bool matched;
	const struct dpe_stmt **ending; /* actions that the match runs through at its end */
	unsigned nending;
};

static void keep_ending(
	const struct dpe_run *run, const struct dpe_config *config, struct harvest *harvest)
{
	const struct dpe_stmt *const *ending = NULL;

	harvest->nending = dpe_engine_ending(run, config, &ending);
	harvest->ending =
		dpe_xrealloc(harvest->ending, harvest->nending * sizeof(*harvest->ending));
	for (unsigned i = 0; i < harvest->nending; i++)
		harvest->ending[i] = ending[i];
}

static void run_actions(struct dpe_run *run, const struct dpe_slice *slice,
	const struct dpe_stmt *const *actions, unsigned count, const struct dpe_taken *taken,
	const struct dpe_message *event)
{
	for (unsigned i = 0; i < count; i++) {
		if (dpe_run_may_act(run, actions[i]))
			run_action(run, slice, actions[i], taken, event);
	}
}

static void run_event_actions(struct dpe_run *run, const struct dpe_slice *slice,
	const struct dpe_step *step, const struct dpe_partial *next,
	const struct dpe_message *event)
{
	run_actions(run, slice, step->before, step->nbefore, next->taken, event);
	for (unsigned i = 0; i < step->npositions; i++) {
		unsigned at = step->positions[i] - 1;
		const struct dpe_stmt *action = run->rule->positions[at].action;

		if (!action || run->acted[at])
			continue;
		run->acted[at] = true;
		run_action(run, slice, action, next->taken, event);
	}
	run_actions(run, slice, step->after, step->nafter, next->taken, event);
}

/* One match is reported for each event that completes any: of several the most recent one, which
 * is found last. A match belongs to the slice whose variables it binds. */
static void reap(struct dpe_run *run, const struct dpe_slice *slice, struct dpe_partial next,
	struct harvest *harvest)
{
	bool matched = dpe_config_final(run, &next.config) && next.taken->mask == slice->mask;

	if (matched) {
		keep_ending(run, &next.config, harvest);
		unref_taken(harvest->match.taken);
		harvest->match.taken = ref_taken(next.taken);
		harvest->matched = true;
	}
	if (dpe_config_complete(run, &next.config)) {
		drop_partial(run, &next);
		return;
	}
	*DPE_GROW(harvest->partials, harvest->npartials, harvest->cappartials) = next;
}

static void extend(struct dpe_run *run, const struct dpe_slice *slice,
	const struct dpe_partial *partial, struct dpe_occurrence *occurrence,
	struct harvest *harvest)
{
	for (unsigned literal = 0; literal < run->rule->nliterals; literal++) {
		unsigned pattern = run->rule->literals[literal].pattern, count;
		const struct dpe_step *steps;

		if (!run->literals[literal])
			continue;
		if (run->placed[pattern] && !admits(run, slice, partial, pattern, occurrence))
			continue;
		count = dpe_engine_steps(run, &partial->config, literal, occurrence, &steps);
		for (unsigned i = 0; i < count; i++) {
			struct dpe_partial next;

			if (!fits(run, partial, &steps[i]))
				continue;
			next = take_step(partial, &steps[i], occurrence, run->masks[pattern]);
			run_event_actions(run, slice, &steps[i], &next, occurrence->message);
			reap(run, slice, next, harvest);
		}
	}
}

/* What the event passed over for good; unless conditions look at partial matches, whose events then
 * belong to the slice or not. */
static void drop_passed(
	struct dpe_run *run, struct dpe_slice *slice, struct dpe_occurrence *occurrence)
{
	unsigned kept = 0;

	if (run->nnamed)
		return;
	for (unsigned i = 0; i < slice->npartials; i++) {
		struct dpe_partial *partial = &slice->partials[i];

		if (dpe_config_is_dead(run, &partial->config, dpe_is_passed_by, occurrence))
			drop_partial(run, partial);
		else
			slice->partials[kept++] = *partial;
	}
	slice->npartials = kept;
}

/* Each is compared with all that there are: beyond so many the others are given up. */
static void add_partials(
	struct dpe_run *run, struct dpe_slice *slice, const struct harvest *harvest)
{
	uint64_t most = slice->searched ? MOST_AFTER : MOST_COMPARED;

	for (unsigned i = 0; i < harvest->npartials; i++) {
		if (slice->npartials < most) {
			most -= slice->npartials;
			add_partial(run, slice, harvest->partials[i]);
			continue;
		}
		drop_partial(run, &harvest->partials[i]);
		slice->overflown = slice->searched = true;
	}
}

void dpe_detect_take(
	struct dpe_run *run, struct dpe_slice *slice, struct dpe_occurrence *occurrence)
{
	struct harvest harvest = {.partials = run->fresh, .cappartials = run->capfresh};
	struct dpe_partial nothing = {0};

	if (run->shape) {
		dpe_weave_take(run, slice, occurrence);
		return;
	}
	nothing.config = dpe_config_begin(run);
	for (unsigned i = 0; i < slice->npartials; i++)
		extend(run, slice, &slice->partials[i], occurrence, &harvest);
	extend(run, slice, &nothing, occurrence, &harvest);
	dpe_config_drop(run, &nothing.config);
	dpe_trace_take(run, slice, occurrence, harvest.npartials, harvest.matched);
	drop_passed(run, slice, occurrence);
	add_partials(run, slice, &harvest);
	run->fresh = harvest.partials;
	run->capfresh = harvest.cappartials;
	if (!harvest.matched)
		return;
	run_actions(run, slice, harvest.ending, harvest.nending, harvest.match.taken,
		occurrence->message);
	free(harvest.ending);
	tell_match(run, slice, &harvest.match, occurrence);
	unref_taken(harvest.match.taken);
}
