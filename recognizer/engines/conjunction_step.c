/* Extends the partial matches of a slice by one event. */
#include "recognizer/actions/actions.h"
#include "recognizer/engines/conjunction.h"
#include "recognizer/verdicts/verdicts.h"

#include <string.h>

struct extending {
	struct dpe_run *run;
	struct dpe_slice *slice;
	struct dpe_occurrence *occurrence;
	const unsigned *literals; /* that the event may be */
	unsigned nliterals;
	/* Literals that extend only partial matches of the slice itself, as what they make of others is in the slice
	 * that all share; NULL: none. */
	const bool *shared;
	bool all_shared; /* the event may be no others */
	uint64_t work;
	struct dpe_partial **new; /* the partial matches that the event makes; owned */
	unsigned nnew, capnew;
	unsigned nkept; /* of them, that may become part of a match to come */
};

/* False, and nothing is left, where it is more than is left. */
static bool spend(struct extending *x, uint64_t work)
{
	x->work -= work < x->work ? work : x->work;
	return x->work;
}

/* ---- one step ---------------------------------------------------------------------------- */

/* The events that the step names are immediate predecessors, and no other predecessor is an event
 * of the partial match, or after one; of events of other operands, choosing takes care. */
static bool fits(const struct extending *x, const struct dpe_partial *partial,
	const struct dpe_config_step *step)
{
	const struct dpe_preds *all = &x->run->preds;

	for (unsigned i = 0; i < step->npreds; i++) {
		if (!dpe_preds_have(all, step->preds[i].occurrence))
			return false;
	}
	for (unsigned i = 0; i < all->count; i++) {
		if (!dpe_step_names(step, all->at[i]) &&
			dpe_set_touches(partial->first, all->at[i]))
			return false;
	}
	return true;
}

static bool joins(const struct extending *x, unsigned operand)
{
	return x->run->conjunction->operands[operand].joins;
}

/* With an independent event it is made where one follows both. */
static bool is_left_to_join(const struct extending *x, const struct dpe_partial *from)
{
	return joins(x, from->operand) && dpe_partial_is_independent(from);
}

/* Each step that takes the event as this literal. */
static void take_as(struct extending *x, unsigned literal, const struct dpe_partial *from,
	const struct dpe_config *config)
{
	struct dpe_run *engine = x->run->conjunction->operands[from->operand].run;
	uint64_t mask = x->run->masks[x->run->rule->literals[literal].pattern];
	unsigned count = engine->follow->steps(
		engine, config, literal, x->occurrence, &x->run->preds);

	for (unsigned i = 0; i < count; i++) {
		const struct dpe_config_step *step = &engine->steps[i];
		struct dpe_partial *new;

		if ((!step->npreds && is_left_to_join(x, from)) || !fits(x, from, step))
			continue;
		spend(x, DPE_EXTEND_WORK);
		new = dpe_partial_extend(x->run, from, config, step, x->occurrence, mask);
		*DPE_GROW(x->new, x->nnew, x->capnew) = new;
		if (x->run->acts || step->nbefore || step->nafter)
			dpe_detect_act(x->run, x->slice, step, new->trail, x->occurrence->message);
	}
}

/* Conditions that look at other events look at those of the partial match. `own`: it is one of the slice itself. */
static void take(struct extending *x, const struct dpe_partial *from, const struct dpe_config *config, bool own)
{
	const struct dpe_run *run = x->run;

	for (unsigned i = 0; i < x->nliterals; i++) {
		unsigned pattern = run->rule->literals[x->literals[i]].pattern;

		if (!own && x->shared && x->shared[x->literals[i]])
			continue;
		if (run->conjunction->operand_of[x->literals[i]] == from->operand &&
			(!run->placed[pattern] || dpe_trail_admits(run, x->slice, from->trail,
							  pattern, x->occurrence)))
			take_as(x, x->literals[i], from, config);
	}
}

/* ---- an operand -------------------------------------------------------------------------- */

static void drop(struct extending *x, struct dpe_partial_list *partials, unsigned at)
{
	dpe_partial_list_drop(x->run, partials, at);
	x->slice->matching->count--;
}

/* Partial matches that the event passes over forever go at once; unless conditions look at them,
 * which then decide about what belongs to the slice. */
static void drop_passed(struct extending *x, struct dpe_partial_list *active)
{
	struct dpe_places *found = &x->run->conjunction->found;

	if (x->run->nnamed)
		return;
	dpe_partials_passed(active, x->occurrence, &x->run->preds, found);
	for (unsigned i = 0; i < found->count; i++) {
		if (dpe_partial_is_passed(x->run, active->at[found->at[i]], x->occurrence))
			drop(x, active, found->at[i]);
	}
	dpe_partial_list_close_gaps(active);
}

static void take_once(struct extending *x, struct dpe_partial *partial, bool own)
{
	struct dpe_partials *singles = &x->run->conjunction->singles;

	if (!spend(x, 1))
		return;
	take(x, partial, &partial->config, own);
	if (joins(x, partial->operand) && !partial->trail->before &&
		dpe_preds_have(&x->run->preds, partial->trail->occurrence))
		*DPE_GROW(singles->at, singles->count, singles->cap) = partial;
}

/* Whether the first one, in the list or joined, would be older. */
static bool is_older(const struct dpe_partial *a, const struct dpe_partial *b)
{
	const struct dpe_trail *x = a->trail->before, *y = b->trail->before; /* without the current event */

	if (x->occurrence != y->occurrence)
		return x->occurrence->number < y->occurrence->number;
	return x->before && !y->before;
}

/* The match that is reported does not depend on what was joined. */
static void put_by_age(const struct extending *x, unsigned from)
{
	for (unsigned i = from; i < x->nnew; i++) {
		struct dpe_partial *new = x->new[i];
		unsigned at = i;

		for (; at > from && is_older(new, x->new[at - 1]); at--)
			x->new[at] = x->new[at - 1];
		x->new[at] = new;
	}
}

/* Partial matches of several immediate predecessors of the event. `from`: the first that it made of the operand. */
static void take_joined(struct extending *x, unsigned from)
{
	struct dpe_conjunction *conjunction = x->run->conjunction;
	struct dpe_partials *joined = &conjunction->joined;

	if (conjunction->singles.count < 2)
		return;
	joined->count = 0;
	dpe_join_singles(x->run, &conjunction->singles, joined, &x->work);
	for (unsigned i = 0; i < joined->count; i++) {
		if (joined->at[i]->trail->before && spend(x, 1))
			take(x, joined->at[i], &joined->at[i]->config, true);
		dpe_partial_unref(x->run, joined->at[i]);
	}
	put_by_age(x, from);
}

/* Partial matches of events that all slices have: the next one to be extended, and their number. */
struct shared_partials {
	struct dpe_partial *const *at;
	unsigned next, count;
};

static struct shared_partials shared_partials(const struct extending *x)
{
	struct shared_partials shared = {0};

	if (x->run->shared && x->shared && !x->all_shared)
		shared.at = dpe_detect_partials(x->run->shared, &shared.count);
	return shared;
}

/* Those with no event from this one on; so that partial matches are taken by age. */
static void take_shared(struct extending *x, struct shared_partials *shared, uint64_t number)
{
	for (; shared->next < shared->count; shared->next++) {
		struct dpe_partial *partial = shared->at[shared->next];

		if (partial && partial->trail->occurrence->number >= number)
			return;
		if (partial)
			take_once(x, partial, false);
	}
}

/* As the first event of a partial match. */
static void take_first(struct extending *x, unsigned operand)
{
	struct dpe_run *engine = x->run->conjunction->operands[operand].run;
	const struct dpe_partial nothing = {.operand = operand};
	struct dpe_config begin = engine->follow->begin(engine);

	take(x, &nothing, &begin, false);
	engine->follow->drop(engine, &begin);
}

static void take_in_operand(struct extending *x, unsigned operand)
{
	struct dpe_partial_lists *lists = &x->slice->matching->lists[operand];
	struct dpe_places *found = &x->run->conjunction->found;
	struct shared_partials shared = shared_partials(x);
	unsigned from = x->nnew;

	if (lists->taken == x->occurrence->number + 1)
		return;
	lists->taken = x->occurrence->number + 1;
	x->run->conjunction->singles.count = 0;
	dpe_partials_asked(&lists->active, &x->run->preds, found);
	for (unsigned i = 0; i < found->count && x->work; i++) {
		struct dpe_partial *partial = lists->active.at[found->at[i]];

		take_shared(x, &shared, partial->trail->occurrence->number);
		take_once(x, partial, true);
	}
	take_shared(x, &shared, UINT64_MAX);
	take_joined(x, from);
	take_first(x, operand);
	drop_passed(x, &lists->active);
}

/* ---- keeping new partial matches --------------------------------------------------------- */

/* Keeps only one of several partial matches that can replace each other. False if there is no room. */
static bool keep(struct extending *x, struct dpe_partial_list *partials, struct dpe_partial *new,
	enum dpe_partial_role role)
{
	struct dpe_matching *matching = x->slice->matching;
	struct dpe_places *found = &x->run->conjunction->found;

	dpe_partials_alike(x->run, partials, new, role, found);
	if (!spend(x, found->count))
		return false;
	for (unsigned i = 0; i < found->count; i++) {
		if (dpe_partial_replaces(x->run, partials->at[found->at[i]], new, role))
			return true;
	}
	for (unsigned i = 0; i < found->count; i++) {
		if (dpe_partial_replaces(x->run, new, partials->at[found->at[i]], role))
			drop(x, partials, found->at[i]);
	}
	dpe_partial_list_close_gaps(partials);
	if (matching->count >= 2 * (uint64_t)x->run->recognizer->options.max_instances + DPE_INSTANCES_BEYOND) {
		x->slice->overflown = true;
		return false;
	}
	dpe_partial_list_add(x->run, partials, new, role);
	matching->count++;
	return true;
}

static bool is_final(const struct extending *x, const struct dpe_partial *partial)
{
	const struct dpe_run *engine = x->run->conjunction->operands[partial->operand].run;

	return engine->follow->final(engine, &partial->config);
}

static bool match(struct extending *x, struct dpe_partial *partial)
{
	if (!x->run->conjunction->whole)
		return dpe_choose_match(x->run, x->slice, partial, &x->work);
	x->run->conjunction->match[0] = partial;
	return partial->mask == x->slice->mask;
}

/* One match is reported for each event that completes any: of several the most recent one. It is
 * chosen then, with a reference to each. */
static bool find_match(struct extending *x)
{
	const struct dpe_conjunction *conjunction = x->run->conjunction;

	for (unsigned i = x->nnew; i--;) {
		if (!is_final(x, x->new[i]) || !match(x, x->new[i]))
			continue;
		for (unsigned j = 0; j < conjunction->noperands; j++) {
			if (conjunction->match[j])
				dpe_partial_ref(conjunction->match[j]);
		}
		return true;
	}
	return false;
}

static void keep_new(struct extending *x, struct dpe_partial *partial)
{
	const struct dpe_conjunction *conjunction = x->run->conjunction;
	struct dpe_partial_lists *lists = &x->slice->matching->lists[partial->operand];
	bool single = conjunction->noperands == 1;
	const struct dpe_run *engine = conjunction->operands[partial->operand].run;
	bool active = !engine->follow->complete(engine, &partial->config);

	if (!single && is_final(x, partial))
		keep(x, &lists->ended, partial, DPE_PARTIAL_ENDED);
	if (active)
		keep(x, &lists->active, partial, DPE_PARTIAL_ACTIVE);
	x->nkept += active || !single;
	dpe_partial_unref(x->run, partial);
}

/* ---- an event ---------------------------------------------------------------------------- */

static uint64_t max_work(const struct dpe_run *run, const struct dpe_slice *slice)
{
	bool whole = run->conjunction->whole;
	uint64_t after = whole ? DPE_COMPARE_WORK_AFTER : DPE_MATCH_WORK_AFTER;
	uint64_t max = run->recognizer->options.search_work;

	if (!max)
		max = whole ? DPE_COMPARE_WORK : DPE_MATCH_WORK;
	return slice->searched && max > after ? after : max;
}

static void take_in_operands(struct extending *x)
{
	const uint32_t *operand_of = x->run->conjunction->operand_of;

	for (unsigned i = 0; i < x->nliterals; i++) {
		if (operand_of[x->literals[i]] != DPE_NO_FACTOR)
			take_in_operand(x, operand_of[x->literals[i]]);
	}
}

static void report_match(struct extending *x)
{
	struct dpe_conjunction *conjunction = x->run->conjunction;

	dpe_detect_report(x->run, x->slice, x->occurrence);
	for (unsigned i = 0; i < conjunction->noperands; i++)
		dpe_partial_unref(x->run, conjunction->match[i]);
}

static void find_literals(struct extending *x, unsigned *literals)
{
	x->all_shared = x->shared;
	for (unsigned i = 0; i < x->run->rule->nliterals; i++) {
		if (!x->run->literals[i])
			continue;
		literals[x->nliterals++] = i;
		x->all_shared = x->all_shared && x->shared[i];
	}
}

void dpe_detect_take(
	struct dpe_run *run, struct dpe_slice *slice, struct dpe_occurrence *occurrence)
{
	struct dpe_matching *matching = dpe_matching_of(run, slice);
	unsigned literals[run->rule->nliterals + 1];
	struct extending x = {
		.run = run,
		.slice = slice,
		.occurrence = occurrence,
		.literals = literals,
		.shared = slice->mask ? run->shared_literals : NULL,
		.work = max_work(run, slice),
		.new = run->new_partials,
		.capnew = run->capnew_partials,
	};
	bool matched;

	find_literals(&x, literals);
	take_in_operands(&x);
	for (unsigned i = 0; i < matching->noperands; i++) {
		if (matching->lists[i].active.index && matching->lists[i].taken != occurrence->number + 1)
			drop_passed(&x, &matching->lists[i].active);
	}
	matched = find_match(&x);
	for (unsigned i = 0; i < x.nnew; i++)
		keep_new(&x, x.new[i]);
	if (dpe_is_traced(run->recognizer))
		dpe_trace_step(run, slice, NULL, 0, occurrence, (struct dpe_trace){.count = x.nkept, .matched = matched});
	run->new_partials = x.new;
	run->capnew_partials = x.capnew;
	if (!x.work)
		slice->overflown = slice->searched = true;
	if (matching->count > run->recognizer->options.max_instances)
		dpe_matching_make_room(run, slice, occurrence);
	if (matched)
		report_match(&x);
}

static uint64_t at_least(uint64_t count, uint64_t least)
{
	return count < least ? least : count;
}

/* Looking for the horizon must not cost more than the events: less often where slices are many. */
static uint64_t newest_horizon(const struct dpe_run *run, const struct dpe_slice *slice)
{
	return run->rule->nvariables ? DPE_OLD_HORIZON
				     : DPE_TRIM_FROM + 4 * (uint64_t)slice->order.nchains;
}

void dpe_matching_prune_if_large(struct dpe_run *run, struct dpe_slice *slice)
{
	struct dpe_matching *matching = slice->matching;

	if (matching->count > at_least(matching->prune_at, DPE_PRUNE_FROM)) {
		dpe_matching_prune(run, slice,
			dpe_recognizer_horizon(run->recognizer, newest_horizon(run, slice)));
		matching->prune_at = 2 * matching->count;
	}
	if (slice == run->shared) /* other slices need its events after theirs */
		return;
	if (slice->order.size <= at_least(matching->trim_at, DPE_TRIM_FROM) &&
		!(run->conjunction->compact && slice->order.size <= DPE_TRIM_FROM))
		return;
	dpe_matching_trim(run, slice);
	matching->trim_at = 2 * slice->order.size;
}
