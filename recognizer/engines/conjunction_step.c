/* Extends the partial matches of a slice by one event. */
#include "recognizer/actions/actions.h"
#include "recognizer/engines/conjunction.h"
#include "recognizer/verdicts/verdicts.h"
#include "recognizer/engines/engines.h"

#include <stdlib.h>
#include <string.h>

#define FEWEST_PARTIALS 32 /* from which on it is looked for those that can go */
#define FEWEST_EVENTS 64  /* the same of events in the order */
#define SOME 64           /* more partial matches than are kept there may be until the event is over */
/* Pairs of partial matches that are looked at for one event, and once that was too few; and where they are only
 * compared. */
#define MOST_WORK 1000000
#define MOST_AFTER 10000
#define MOST_COMPARED 10000000
#define MOST_COMPARED_AFTER 100000

/* A partial match that the event made. */
struct dpe_fresh {
	struct dpe_conjunction *conjunction;
	unsigned operand;
	struct dpe_partial *partial; /* owned, until it is in a list */
};

struct taking {
	struct dpe_run *run;
	struct dpe_slice *slice;
	struct dpe_occurrence *occurrence;
	struct dpe_pool *pool;
	unsigned literal;
	bool last; /* of those that the event may be read as */
	uint64_t mask; /* variables that the event binds */
	uint64_t work;
	struct dpe_fresh *fresh;
	unsigned nfresh, capfresh;
	unsigned nkept; /* of them, that may become part of a match to come */
};

static void take_in(struct taking *t, struct dpe_conjunction *conjunction);

/* ---- one step ---------------------------------------------------------------------------- */

/* The first events of what all of the operand follows; NULL where it follows nothing. */
static const struct dpe_set *base_of(const struct dpe_conjunction *conjunction)
{
	const struct dpe_set *base = NULL;

	for (; conjunction; conjunction = conjunction->outer) {
		if (conjunction->owner && conjunction->owner->first)
			base = conjunction->owner->first;
	}
	return base;
}

/* What the operands of the conjunction begin after. */
static struct dpe_set *bound_of(const struct dpe_conjunction *conjunction)
{
	return conjunction->owner ? conjunction->owner->bound : NULL;
}

/* The events that the step names are immediate predecessors, and no other predecessor is an event of
 * the partial match, or after one (see detect.c); of events of other operands, choosing takes care. */
static bool fits(const struct taking *t, const struct dpe_set *base,
	const struct dpe_partial *partial, const struct dpe_pred *preds, unsigned npreds)
{
	const struct dpe_preds *all = &t->run->preds;
	const struct dpe_set *first = base ? base : partial->first;

	for (unsigned i = 0; i < npreds; i++) {
		if (!dpe_preds_have(all, preds[i].occurrence))
			return false;
	}
	for (unsigned i = 0; i < all->count; i++) {
		bool named = false;

		for (unsigned j = 0; j < npreds && !named; j++)
			named = preds[j].occurrence == all->at[i];
		if (!named && dpe_set_touches(first, all->at[i]))
			return false;
	}
	return true;
}

static struct dpe_trail *extend_trail(
	struct taking *t, struct dpe_trail *before, const struct dpe_step *step)
{
	struct dpe_trail *trail = dpe_pool_take(t->pool, sizeof(*trail));

	*trail = (struct dpe_trail){
		.refs = 1,
		.positions = step->positions,
		.npositions = step->npositions,
		.occurrence = dpe_occurrence_ref(t->occurrence),
		.before = dpe_trail_ref(before),
	};
	return trail;
}

static struct dpe_partial *make_partial(struct taking *t, const struct dpe_leaf *leaf,
	const struct dpe_partial *from, const struct dpe_config *config,
	const struct dpe_step *step, const struct dpe_pred *preds, unsigned npreds, bool minimal)
{
	struct dpe_partial *partial = dpe_pool_take(t->pool, sizeof(*partial));

	*partial = (struct dpe_partial){
		.refs = 1,
		.operand = from->operand,
		.leaf = leaf,
		.config = dpe_engine_take(config, step, t->occurrence),
		.bound = dpe_set_ref(from->bound),
		.first = minimal ? dpe_set_replace(t->pool, from->first, NULL, 0, t->occurrence)
				 : dpe_set_ref(from->first),
		.last = t->run->shape->compact ? NULL
					       : dpe_set_replace(t->pool, from->last, preds,
							 npreds, t->occurrence),
		.trail = extend_trail(t, from->trail, step),
		.mask = from->mask | t->mask,
	};
	return partial;
}

static void add_fresh(struct taking *t, struct dpe_conjunction *conjunction, unsigned operand,
	struct dpe_partial *partial)
{
	*DPE_GROW(t->fresh, t->nfresh, t->capfresh) = (struct dpe_fresh){conjunction, operand, partial};
}

/* Each way in which the leaf can take the event from this configuration. */
static void extend(struct taking *t, struct dpe_conjunction *conjunction, unsigned operand,
	const struct dpe_leaf *leaf, const struct dpe_partial *from, const struct dpe_config *config)
{
	struct dpe_run *engine = leaf->run;
	const struct dpe_set *base = base_of(conjunction), *bound = from->bound;
	const struct dpe_step *steps;
	unsigned count = dpe_engine_steps(engine, config, t->literal, t->occurrence, &steps);
	struct dpe_pred entered[(bound ? bound->count : 0) + 1];

	for (unsigned i = 0; bound && i < bound->count; i++)
		entered[i] = (struct dpe_pred){.occurrence = bound->at[i]};
	for (unsigned i = 0; i < count; i++) {
		bool open = !steps[i].npreds; /* after what the leaf was entered after */
		const struct dpe_pred *preds = open ? entered : steps[i].preds;
		unsigned npreds = open ? (bound ? bound->count : 0) : steps[i].npreds;

		if (!fits(t, base, from, preds, npreds))
			continue;
		add_fresh(t, conjunction, operand,
			make_partial(t, leaf, from, config, &steps[i], preds, npreds,
				open && bound == bound_of(conjunction)));
		if (t->run->acts || steps[i].nbefore || steps[i].nafter)
			dpe_detect_act(t->run, t->slice, &steps[i],
				t->fresh[t->nfresh - 1].partial->trail, t->occurrence->message);
	}
}

/* ---- entering leaves --------------------------------------------------------------------- */

static bool is_of(const struct dpe_partial *partial, const struct dpe_leaf *leaf,
	const struct dpe_partial *prefix)
{
	return partial->conjunction && partial->leaf == leaf && partial->mask == prefix->mask &&
	       dpe_set_same(partial->bound, prefix->bound) &&
	       dpe_set_same(partial->first, prefix->first);
}

/* The conjunction of a & that was entered after just that, or NULL. */
static struct dpe_conjunction *find_conjunction(const struct taking *t, const struct dpe_conjunction *conjunction,
	unsigned operand, const struct dpe_leaf *leaf, const struct dpe_partial *prefix)
{
	const struct dpe_partial_list *active = &conjunction->lists[operand].active;

	for (unsigned i = 0; i < active->count; i++) {
		if (active->at[i] && is_of(active->at[i], leaf, prefix))
			return active->at[i]->conjunction;
	}
	for (unsigned i = 0; i < t->nfresh; i++) {
		if (t->fresh[i].conjunction == conjunction && t->fresh[i].operand == operand &&
			is_of(t->fresh[i].partial, leaf, prefix))
			return t->fresh[i].partial->conjunction;
	}
	return NULL;
}

static void enter_conjunction(struct taking *t, struct dpe_conjunction *conjunction, unsigned operand,
	const struct dpe_leaf *leaf, const struct dpe_partial *prefix)
{
	struct dpe_conjunction *known = find_conjunction(t, conjunction, operand, leaf, prefix);
	struct dpe_partial *owner;
	unsigned before;

	if (known) {
		take_in(t, known);
		return;
	}
	owner = dpe_partial_enter(t->pool, leaf, conjunction, operand, prefix);
	add_fresh(t, conjunction, operand, owner);
	before = t->nfresh;
	take_in(t, owner->conjunction);
	if (t->nfresh > before)
		return;
	t->nfresh--;
	dpe_partial_unref(t->pool, owner);
}

/* The event as the first of a leaf, after this prefix. */
static void enter(struct taking *t, struct dpe_conjunction *conjunction, unsigned operand,
	const struct dpe_leaf *leaf, const struct dpe_partial *prefix)
{
	struct dpe_config begin;

	if (!leaf->part->literals[t->literal])
		return;
	if (leaf->part->kind == DPE_FACTOR_PAR) {
		enter_conjunction(t, conjunction, operand, leaf, prefix);
		return;
	}
	begin = dpe_config_begin(leaf->run);
	extend(t, conjunction, operand, leaf, prefix, &begin);
	dpe_config_drop(leaf->run, &begin);
}

static bool can_enter_next(const struct taking *t, const struct dpe_leaf *leaf)
{
	for (unsigned i = 0; i < leaf->nnext; i++) {
		if (leaf->next[i]->part->literals[t->literal])
			return true;
	}
	return false;
}

static void enter_next(struct taking *t, struct dpe_conjunction *conjunction, unsigned operand,
	const struct dpe_leaf *leaf, const struct dpe_partial *prefix)
{
	for (unsigned i = 0; i < leaf->nnext; i++)
		enter(t, conjunction, operand, leaf->next[i], prefix);
}

/* ---- what follows a & -------------------------------------------------------------------- */

struct following {
	struct taking *taking;
	struct dpe_conjunction *conjunction; /* that the & is in … */
	unsigned operand;
	struct dpe_partial *owner; /* … where it stands */
};

static bool follow(void *context, const struct dpe_chosen *chosen)
{
	struct following *f = context;
	struct dpe_partial *sum = dpe_partial_sum(f->taking->pool, f->owner, chosen);

	enter_next(f->taking, f->conjunction, f->operand, f->owner->leaf, sum);
	dpe_partial_unref(f->taking->pool, sum);
	return true;
}

/* ---- in an operand ----------------------------------------------------------------------- */

static void take_in_conjunction(
	struct taking *t, struct dpe_conjunction *conjunction, unsigned operand, struct dpe_partial *owner)
{
	struct following f = {t, conjunction, operand, owner};

	take_in(t, owner->conjunction);
	if (can_enter_next(t, owner->leaf))
		dpe_choose_whole(owner->conjunction, &t->run->preds, follow, &f, &t->work);
}

static void take_after(
	struct taking *t, struct dpe_conjunction *conjunction, unsigned operand, const struct dpe_partial *partial)
{
	const struct dpe_leaf *leaf = partial->leaf;
	struct dpe_partial prefix = *partial;

	if (leaf->part->literals[t->literal])
		extend(t, conjunction, operand, leaf, partial, &partial->config);
	if (!can_enter_next(t, leaf) || !dpe_config_final(leaf->run, &partial->config))
		return;
	prefix.bound = partial->last;
	enter_next(t, conjunction, operand, leaf, &prefix);
}

/* The gap is closed later. */
static void drop(struct taking *t, struct dpe_partial_list *partials, unsigned at)
{
	dpe_partial_unref(t->pool, partials->at[at]);
	partials->at[at] = NULL;
	t->slice->matching->count--;
}

/* Partial matches that the event passes over for good go at once; unless conditions look at them, which then
 * decide about what belongs to the slice. */
static void drop_passed(struct taking *t, struct dpe_partial_list *active)
{
	bool passed = false;

	if (t->run->nnamed)
		return;
	for (unsigned i = 0; i < active->count; i++) {
		if (active->at[i]->conjunction || !dpe_partial_is_passed(active->at[i], t->occurrence))
			continue;
		drop(t, active, i);
		passed = true;
	}
	if (passed)
		dpe_partial_list_close_gaps(active);
}

static void take_in_operand(struct taking *t, struct dpe_conjunction *conjunction, unsigned operand)
{
	const struct dpe_segment *segment = &conjunction->leaf->operands[operand];
	struct dpe_partial_list *active = &conjunction->lists[operand].active;
	const struct dpe_partial nothing = {.operand = operand, .bound = bound_of(conjunction)};

	for (unsigned i = 0; i < active->count; i++) {
		struct dpe_partial *partial = active->at[i];

		if (partial->conjunction) {
			take_in_conjunction(t, conjunction, operand, partial);
			continue;
		}
		take_after(t, conjunction, operand, partial);
	}
	if (t->last)
		drop_passed(t, active);
	for (unsigned i = 0; i < segment->nfirst; i++)
		enter(t, conjunction, operand, segment->first[i], &nothing);
}

static void take_in(struct taking *t, struct dpe_conjunction *conjunction)
{
	uint32_t operand = dpe_leaf_operand(conjunction->leaf, t->literal);
	uint64_t turn = t->occurrence->number * t->run->rule->nliterals + t->literal + 1;

	if (conjunction->turn == turn) /* it was found by another way */
		return;
	conjunction->turn = turn;
	if (operand != DPE_NO_KID)
		take_in_operand(t, conjunction, operand);
}

/* ---- in a rule that is followed as a whole ----------------------------------------------- */

/* Conditions that look at other events look at those of the partial match. */
static void take_as_any(struct taking *t, struct dpe_conjunction *top, const struct dpe_partial *from,
	const struct dpe_config *config)
{
	const struct dpe_run *run = t->run;

	for (t->literal = 0; t->literal < run->rule->nliterals; t->literal++) {
		unsigned pattern = run->rule->literals[t->literal].pattern;

		if (!run->literals[t->literal] ||
			(run->placed[pattern] && !dpe_trail_admits(run, t->slice, from->trail,
							 pattern, t->occurrence)))
			continue;
		t->mask = run->masks[pattern];
		extend(t, top, 0, top->leaf->operands[0].first[0], from, config);
	}
}

static void take_in_whole(struct taking *t, struct dpe_conjunction *top)
{
	struct dpe_partial_list *active = &top->lists[0].active;
	struct dpe_config begin = dpe_config_begin(t->run);
	const struct dpe_partial nothing = {0};

	for (unsigned i = 0; i < active->count; i++)
		take_as_any(t, top, active->at[i], &active->at[i]->config);
	take_as_any(t, top, &nothing, &begin);
	dpe_config_drop(t->run, &begin);
	drop_passed(t, active);
}

static void take_in_operands(struct taking *t, struct dpe_conjunction *top)
{
	const bool *literals = t->run->literals;
	unsigned count = t->run->rule->nliterals;

	for (t->literal = 0; t->literal < count; t->literal++) {
		if (!literals[t->literal])
			continue;
		t->last = !memchr(literals + t->literal + 1, true, count - t->literal - 1);
		t->mask = t->run->masks[t->run->rule->literals[t->literal].pattern];
		take_in(t, top);
	}
}

/* ---- keeping what came of it ------------------------------------------------------------- */

/* False, and nothing is left, where it is more than is left. */
static bool spend(struct taking *t, uint64_t work)
{
	t->work -= work < t->work ? work : t->work;
	return t->work;
}

/* Of partial matches that nothing tells apart one is enough. False where there is no room. */
static bool keep(struct taking *t, struct dpe_partial_list *partials, struct dpe_partial *new,
	enum dpe_partial_role role)
{
	struct dpe_matching *matching = t->slice->matching;
	bool replaced = false;

	if (!spend(t, partials->count))
		return false;
	for (unsigned i = 0; i < partials->count; i++) {
		if (dpe_partial_replaces(t->run, partials->at[i], new, role))
			return true;
	}
	for (unsigned i = 0; i < partials->count; i++) {
		if (!dpe_partial_replaces(t->run, new, partials->at[i], role))
			continue;
		drop(t, partials, i);
		replaced = true;
	}
	if (replaced)
		dpe_partial_list_close_gaps(partials);
	if (matching->count >= 2 * (uint64_t)t->run->recognizer->options.max_instances + SOME) {
		t->slice->overflown = true;
		return false;
	}
	*DPE_GROW(partials->at, partials->count, partials->cap) = dpe_partial_ref(new);
	matching->count++;
	return true;
}

/* A conjunction for which there is no room goes with all that is in it. */
static void forget_within(struct taking *t, unsigned from, const struct dpe_conjunction *gone)
{
	for (unsigned i = from; i < t->nfresh; i++) {
		const struct dpe_conjunction *conjunction = t->fresh[i].conjunction;

		while (conjunction && conjunction != gone)
			conjunction = conjunction->outer;
		if (!conjunction)
			continue;
		dpe_partial_unref(t->pool, t->fresh[i].partial);
		t->fresh[i--] = t->fresh[--t->nfresh];
	}
}

static bool match(struct taking *t, struct dpe_fresh *fresh, struct dpe_chosen *chosen)
{
	if (t->run->shape->whole) {
		chosen->count = 0;
		*DPE_GROW(chosen->at, chosen->count, chosen->cap) =
			(struct dpe_choice){fresh->partial, fresh->conjunction};
		return fresh->partial->mask == t->slice->mask;
	}
	return dpe_choose_match(t->run, t->slice, fresh->conjunction, fresh->operand, fresh->partial,
		chosen, &t->work);
}

static bool is_whole(const struct dpe_partial *partial)
{
	return partial->leaf->ends && dpe_config_final(partial->leaf->run, &partial->config);
}

/* One match is reported for each event that completes any: of several the most recent one. It is chosen
 * then, with a reference to each. */
static bool find_match(struct taking *t, struct dpe_chosen *chosen)
{
	for (unsigned i = t->nfresh; i--;) {
		struct dpe_fresh *fresh = &t->fresh[i];

		if (fresh->partial->conjunction ||
			!fresh->conjunction->leaf->operands[fresh->operand].ends_all ||
			!is_whole(fresh->partial) || !match(t, fresh, chosen))
			continue;
		for (unsigned j = 0; j < chosen->count; j++)
			dpe_partial_ref(chosen->at[j].partial);
		return true;
	}
	return false;
}

static void settle(struct taking *t, const struct dpe_fresh *fresh)
{
	const struct dpe_segment *segment = &fresh->conjunction->leaf->operands[fresh->operand];
	struct dpe_lists *lists = &fresh->conjunction->lists[fresh->operand];
	struct dpe_partial *partial = fresh->partial;
	const struct dpe_leaf *leaf = partial->leaf;
	bool is_single = !fresh->conjunction->outer && fresh->conjunction->leaf->noperands == 1;
	bool goes_on = leaf->nnext || !dpe_config_complete(leaf->run, &partial->config);
	bool ended = segment->ends_all && !is_single;

	if ((ended || segment->wanted) && is_whole(partial)) {
		if (ended)
			keep(t, &lists->ended, partial, DPE_PARTIAL_ENDED);
		if (segment->wanted)
			keep(t, &lists->closed, partial, DPE_PARTIAL_CLOSED);
	}
	if (goes_on)
		keep(t, &lists->active, partial, DPE_PARTIAL_ACTIVE);
	t->nkept += goes_on || segment->wanted || !is_single;
}

static void settle_all(struct taking *t)
{
	for (unsigned i = 0; i < t->nfresh; i++) {
		struct dpe_fresh fresh = t->fresh[i];
		struct dpe_lists *lists = &fresh.conjunction->lists[fresh.operand];

		if (!fresh.partial->conjunction)
			settle(t, &fresh);
		else if (!keep(t, &lists->active, fresh.partial, DPE_PARTIAL_ACTIVE))
			forget_within(t, i + 1, fresh.partial->conjunction);
		dpe_partial_unref(t->pool, fresh.partial);
	}
}

/* ---- an event ---------------------------------------------------------------------------- */

static uint64_t most_work(const struct dpe_run *run, const struct dpe_slice *slice)
{
	bool whole = run->shape->whole;
	uint64_t after = whole ? MOST_COMPARED_AFTER : MOST_AFTER;
	uint64_t most = run->recognizer->options.search_work;

	if (!most)
		most = whole ? MOST_COMPARED : MOST_WORK;
	return slice->searched && most > after ? after : most;
}

void dpe_detect_take(struct dpe_run *run, struct dpe_slice *slice, struct dpe_occurrence *occurrence)
{
	struct dpe_matching *matching = dpe_matching_of(run, slice);
	struct taking t = {
		.run = run,
		.slice = slice,
		.occurrence = occurrence,
		.pool = run->recognizer->pool,
		.work = most_work(run, slice),
		.fresh = run->fresh,
		.capfresh = run->capfresh,
	};
	struct dpe_chosen chosen = {run->shape->choices, 0, run->shape->capchoices};
	bool matched;

	(run->shape->whole ? take_in_whole : take_in_operands)(&t, matching->top);
	matched = find_match(&t, &chosen);
	settle_all(&t);
	dpe_trace_take(run, slice, occurrence, t.nkept, matched);
	run->fresh = t.fresh;
	run->capfresh = t.capfresh;
	if (!t.work)
		slice->overflown = slice->searched = true;
	if (matching->count > run->recognizer->options.max_instances)
		dpe_matching_make_room(run, slice, occurrence);
	if (matched)
		dpe_detect_tell(run, slice, &chosen, occurrence);
	for (unsigned i = 0; matched && i < chosen.count; i++)
		dpe_partial_unref(t.pool, chosen.at[i].partial);
	run->shape->choices = chosen.at;
	run->shape->capchoices = chosen.cap;
}

static bool is_needed(void *context, const struct dpe_occurrence *occurrence)
{
	return dpe_matching_needs(context, occurrence);
}

static uint64_t at_least(uint64_t count, uint64_t least)
{
	return count < least ? least : count;
}

/* Looking for the horizon must not cost more than the events: less often where slices are many. */
static uint64_t newest_horizon(const struct dpe_run *run, const struct dpe_slice *slice)
{
	return run->rule->nvariables ? DPE_OLD_HORIZON
				     : FEWEST_EVENTS + 4 * (uint64_t)slice->order.nchains;
}

void dpe_matching_prune_if_large(struct dpe_run *run, struct dpe_slice *slice)
{
	struct dpe_matching *matching = slice->matching;

	if (matching->count > at_least(matching->tidy_at, FEWEST_PARTIALS)) {
		dpe_matching_prune(run, slice,
			dpe_recognizer_horizon(run->recognizer, newest_horizon(run, slice)));
		matching->tidy_at = 2 * matching->count;
	}
	if (!run->shape->compact && dpe_order_size(&slice->order) <= at_least(matching->trim_at, FEWEST_EVENTS))
		return;
	dpe_order_trim(&slice->order, is_needed, slice);
	matching->trim_at = 2 * dpe_order_size(&slice->order);
}
