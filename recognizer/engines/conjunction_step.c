/* An event of a slice that is followed operand by operand. */
#include "recognizer/actions/actions.h"
#include "recognizer/engines/conjunction.h"
#include "recognizer/verdicts/verdicts.h"
#include "recognizer/engines/engines.h"

#include <stdlib.h>
#include <string.h>

#define FEWEST_FIBRES 32 /* from which on it is looked for those that can go */
#define FEWEST_EVENTS 64  /* the same of events in the order */
#define SOME 64           /* more fibres than are kept there may be until the event is over */
/* Pairs of fibres that are looked at for one event, and once that was too few; and where they are only
 * compared. */
#define MOST_WORK 1000000
#define MOST_AFTER 10000
#define MOST_COMPARED 10000000
#define MOST_COMPARED_AFTER 100000

/* A fibre that the event made. */
struct dpe_fresh {
	struct dpe_braid *braid;
	unsigned operand;
	struct dpe_fibre *fibre; /* owned, until it is in a list */
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

static void take_in(struct taking *t, struct dpe_braid *braid);

/* ---- one step ---------------------------------------------------------------------------- */

/* The first events of what all of the operand follows; NULL where it follows nothing. */
static const struct dpe_set *base_of(const struct dpe_braid *braid)
{
	const struct dpe_set *base = NULL;

	for (; braid; braid = braid->outer) {
		if (braid->owner && braid->owner->first)
			base = braid->owner->first;
	}
	return base;
}

/* What the operands of the braid begin after. */
static struct dpe_set *bound_of(const struct dpe_braid *braid)
{
	return braid->owner ? braid->owner->bound : NULL;
}

/* The events that the step names are immediate predecessors, and no other predecessor is an event of
 * the fibre, or after one (see detect.c); of events of other operands, choosing takes care. */
static bool fits(const struct taking *t, const struct dpe_set *base,
	const struct dpe_fibre *fibre, const struct dpe_pred *preds, unsigned npreds)
{
	const struct dpe_preds *all = &t->run->preds;
	const struct dpe_set *first = base ? base : fibre->first;

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

static struct dpe_fibre *make_fibre(struct taking *t, const struct dpe_leaf *leaf,
	const struct dpe_fibre *from, const struct dpe_config *config,
	const struct dpe_step *step, const struct dpe_pred *preds, unsigned npreds, bool minimal)
{
	struct dpe_fibre *fibre = dpe_pool_take(t->pool, sizeof(*fibre));

	*fibre = (struct dpe_fibre){
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
	return fibre;
}

static void add_fresh(struct taking *t, struct dpe_braid *braid, unsigned operand,
	struct dpe_fibre *fibre)
{
	*DPE_GROW(t->fresh, t->nfresh, t->capfresh) = (struct dpe_fresh){braid, operand, fibre};
}

/* Each way in which the leaf can take the event from this configuration. */
static void extend(struct taking *t, struct dpe_braid *braid, unsigned operand,
	const struct dpe_leaf *leaf, const struct dpe_fibre *from, const struct dpe_config *config)
{
	struct dpe_run *engine = leaf->run;
	const struct dpe_set *base = base_of(braid), *bound = from->bound;
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
		add_fresh(t, braid, operand,
			make_fibre(t, leaf, from, config, &steps[i], preds, npreds,
				open && bound == bound_of(braid)));
		if (t->run->acts || steps[i].nbefore || steps[i].nafter)
			dpe_detect_act(t->run, t->slice, &steps[i],
				t->fresh[t->nfresh - 1].fibre->trail, t->occurrence->message);
	}
}

/* ---- entering leaves --------------------------------------------------------------------- */

static bool is_of(const struct dpe_fibre *fibre, const struct dpe_leaf *leaf,
	const struct dpe_fibre *prefix)
{
	return fibre->braid && fibre->leaf == leaf && fibre->mask == prefix->mask &&
	       dpe_set_same(fibre->bound, prefix->bound) &&
	       dpe_set_same(fibre->first, prefix->first);
}

/* The braid of a & that was entered after just that, or NULL. */
static struct dpe_braid *find_braid(const struct taking *t, const struct dpe_braid *braid,
	unsigned operand, const struct dpe_leaf *leaf, const struct dpe_fibre *prefix)
{
	const struct dpe_fibres *active = &braid->lists[operand].active;

	for (unsigned i = 0; i < active->count; i++) {
		if (active->at[i] && is_of(active->at[i], leaf, prefix))
			return active->at[i]->braid;
	}
	for (unsigned i = 0; i < t->nfresh; i++) {
		if (t->fresh[i].braid == braid && t->fresh[i].operand == operand &&
			is_of(t->fresh[i].fibre, leaf, prefix))
			return t->fresh[i].fibre->braid;
	}
	return NULL;
}

static void enter_braid(struct taking *t, struct dpe_braid *braid, unsigned operand,
	const struct dpe_leaf *leaf, const struct dpe_fibre *prefix)
{
	struct dpe_braid *known = find_braid(t, braid, operand, leaf, prefix);
	struct dpe_fibre *owner;
	unsigned before;

	if (known) {
		take_in(t, known);
		return;
	}
	owner = dpe_fibre_enter(t->pool, leaf, braid, operand, prefix);
	add_fresh(t, braid, operand, owner);
	before = t->nfresh;
	take_in(t, owner->braid);
	if (t->nfresh > before)
		return;
	t->nfresh--;
	dpe_fibre_unref(t->pool, owner);
}

/* The event as the first of a leaf, after this prefix. */
static void enter(struct taking *t, struct dpe_braid *braid, unsigned operand,
	const struct dpe_leaf *leaf, const struct dpe_fibre *prefix)
{
	struct dpe_config begin;

	if (!leaf->part->literals[t->literal])
		return;
	if (leaf->part->kind == DPE_FACTOR_PAR) {
		enter_braid(t, braid, operand, leaf, prefix);
		return;
	}
	begin = dpe_config_begin(leaf->run);
	extend(t, braid, operand, leaf, prefix, &begin);
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

static void enter_next(struct taking *t, struct dpe_braid *braid, unsigned operand,
	const struct dpe_leaf *leaf, const struct dpe_fibre *prefix)
{
	for (unsigned i = 0; i < leaf->nnext; i++)
		enter(t, braid, operand, leaf->next[i], prefix);
}

/* ---- what follows a & -------------------------------------------------------------------- */

struct following {
	struct taking *taking;
	struct dpe_braid *braid; /* that the & is in … */
	unsigned operand;
	struct dpe_fibre *owner; /* … where it stands */
};

static bool follow(void *context, const struct dpe_chosen *chosen)
{
	struct following *f = context;
	struct dpe_fibre *sum = dpe_fibre_sum(f->taking->pool, f->owner, chosen);

	enter_next(f->taking, f->braid, f->operand, f->owner->leaf, sum);
	dpe_fibre_unref(f->taking->pool, sum);
	return true;
}

/* ---- in an operand ----------------------------------------------------------------------- */

static void take_in_braid(
	struct taking *t, struct dpe_braid *braid, unsigned operand, struct dpe_fibre *owner)
{
	struct following f = {t, braid, operand, owner};

	take_in(t, owner->braid);
	if (can_enter_next(t, owner->leaf))
		dpe_choose_whole(owner->braid, &t->run->preds, follow, &f, &t->work);
}

static void take_after(
	struct taking *t, struct dpe_braid *braid, unsigned operand, const struct dpe_fibre *fibre)
{
	const struct dpe_leaf *leaf = fibre->leaf;
	struct dpe_fibre prefix = *fibre;

	if (leaf->part->literals[t->literal])
		extend(t, braid, operand, leaf, fibre, &fibre->config);
	if (!can_enter_next(t, leaf) || !dpe_config_final(leaf->run, &fibre->config))
		return;
	prefix.bound = fibre->last;
	enter_next(t, braid, operand, leaf, &prefix);
}

/* The gap is closed later. */
static void drop(struct taking *t, struct dpe_fibres *fibres, unsigned at)
{
	dpe_fibre_unref(t->pool, fibres->at[at]);
	fibres->at[at] = NULL;
	t->slice->weave->count--;
}

/* Fibres that the event passes over for good go at once; unless conditions look at them, which then
 * decide about what belongs to the slice. */
static void drop_passed(struct taking *t, struct dpe_fibres *active)
{
	bool passed = false;

	if (t->run->nnamed)
		return;
	for (unsigned i = 0; i < active->count; i++) {
		if (active->at[i]->braid || !dpe_fibre_is_passed(active->at[i], t->occurrence))
			continue;
		drop(t, active, i);
		passed = true;
	}
	if (passed)
		dpe_fibres_close_gaps(active);
}

static void take_in_operand(struct taking *t, struct dpe_braid *braid, unsigned operand)
{
	const struct dpe_segment *segment = &braid->leaf->operands[operand];
	struct dpe_fibres *active = &braid->lists[operand].active;
	const struct dpe_fibre nothing = {.operand = operand, .bound = bound_of(braid)};

	for (unsigned i = 0; i < active->count; i++) {
		struct dpe_fibre *fibre = active->at[i];

		if (fibre->braid) {
			take_in_braid(t, braid, operand, fibre);
			continue;
		}
		take_after(t, braid, operand, fibre);
	}
	if (t->last)
		drop_passed(t, active);
	for (unsigned i = 0; i < segment->nfirst; i++)
		enter(t, braid, operand, segment->first[i], &nothing);
}

static void take_in(struct taking *t, struct dpe_braid *braid)
{
	uint32_t operand = dpe_leaf_operand(braid->leaf, t->literal);
	uint64_t turn = t->occurrence->number * t->run->rule->nliterals + t->literal + 1;

	if (braid->turn == turn) /* it was found by another way */
		return;
	braid->turn = turn;
	if (operand != DPE_NO_KID)
		take_in_operand(t, braid, operand);
}

/* ---- in a rule that is followed as a whole ----------------------------------------------- */

/* Conditions that look at other events look at those of the partial match. */
static void take_as_any(struct taking *t, struct dpe_braid *top, const struct dpe_fibre *from,
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

static void take_in_whole(struct taking *t, struct dpe_braid *top)
{
	struct dpe_fibres *active = &top->lists[0].active;
	struct dpe_config begin = dpe_config_begin(t->run);
	const struct dpe_fibre nothing = {0};

	for (unsigned i = 0; i < active->count; i++)
		take_as_any(t, top, active->at[i], &active->at[i]->config);
	take_as_any(t, top, &nothing, &begin);
	dpe_config_drop(t->run, &begin);
	drop_passed(t, active);
}

static void take_in_operands(struct taking *t, struct dpe_braid *top)
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

/* Of fibres that nothing tells apart one is enough. False where there is no room. */
static bool keep(struct taking *t, struct dpe_fibres *fibres, struct dpe_fibre *new,
	enum dpe_fibre_role role)
{
	struct dpe_weave *weave = t->slice->weave;
	bool replaced = false;

	if (!spend(t, fibres->count))
		return false;
	for (unsigned i = 0; i < fibres->count; i++) {
		if (dpe_fibre_replaces(t->run, fibres->at[i], new, role))
			return true;
	}
	for (unsigned i = 0; i < fibres->count; i++) {
		if (!dpe_fibre_replaces(t->run, new, fibres->at[i], role))
			continue;
		drop(t, fibres, i);
		replaced = true;
	}
	if (replaced)
		dpe_fibres_close_gaps(fibres);
	if (weave->count >= 2 * (uint64_t)t->run->recognizer->options.max_instances + SOME) {
		t->slice->overflown = true;
		return false;
	}
	*DPE_GROW(fibres->at, fibres->count, fibres->cap) = dpe_fibre_ref(new);
	weave->count++;
	return true;
}

/* A braid for which there is no room goes with all that is in it. */
static void forget_within(struct taking *t, unsigned from, const struct dpe_braid *gone)
{
	for (unsigned i = from; i < t->nfresh; i++) {
		const struct dpe_braid *braid = t->fresh[i].braid;

		while (braid && braid != gone)
			braid = braid->outer;
		if (!braid)
			continue;
		dpe_fibre_unref(t->pool, t->fresh[i].fibre);
		t->fresh[i--] = t->fresh[--t->nfresh];
	}
}

static bool match(struct taking *t, struct dpe_fresh *fresh, struct dpe_chosen *chosen)
{
	if (t->run->shape->whole) {
		chosen->count = 0;
		*DPE_GROW(chosen->at, chosen->count, chosen->cap) =
			(struct dpe_choice){fresh->fibre, fresh->braid};
		return fresh->fibre->mask == t->slice->mask;
	}
	return dpe_choose_match(t->run, t->slice, fresh->braid, fresh->operand, fresh->fibre,
		chosen, &t->work);
}

static bool is_whole(const struct dpe_fibre *fibre)
{
	return fibre->leaf->ends && dpe_config_final(fibre->leaf->run, &fibre->config);
}

/* One match is reported for each event that completes any: of several the most recent one. It is chosen
 * then, with a reference to each. */
static bool find_match(struct taking *t, struct dpe_chosen *chosen)
{
	for (unsigned i = t->nfresh; i--;) {
		struct dpe_fresh *fresh = &t->fresh[i];

		if (fresh->fibre->braid ||
			!fresh->braid->leaf->operands[fresh->operand].ends_all ||
			!is_whole(fresh->fibre) || !match(t, fresh, chosen))
			continue;
		for (unsigned j = 0; j < chosen->count; j++)
			dpe_fibre_ref(chosen->at[j].fibre);
		return true;
	}
	return false;
}

static void settle(struct taking *t, const struct dpe_fresh *fresh)
{
	const struct dpe_segment *segment = &fresh->braid->leaf->operands[fresh->operand];
	struct dpe_lists *lists = &fresh->braid->lists[fresh->operand];
	struct dpe_fibre *fibre = fresh->fibre;
	const struct dpe_leaf *leaf = fibre->leaf;
	bool is_single = !fresh->braid->outer && fresh->braid->leaf->noperands == 1;
	bool goes_on = leaf->nnext || !dpe_config_complete(leaf->run, &fibre->config);
	bool ended = segment->ends_all && !is_single;

	if ((ended || segment->wanted) && is_whole(fibre)) {
		if (ended)
			keep(t, &lists->ended, fibre, DPE_FIBRE_ENDED);
		if (segment->wanted)
			keep(t, &lists->closed, fibre, DPE_FIBRE_CLOSED);
	}
	if (goes_on)
		keep(t, &lists->active, fibre, DPE_FIBRE_ACTIVE);
	t->nkept += goes_on || segment->wanted || !is_single;
}

static void settle_all(struct taking *t)
{
	for (unsigned i = 0; i < t->nfresh; i++) {
		struct dpe_fresh fresh = t->fresh[i];
		struct dpe_lists *lists = &fresh.braid->lists[fresh.operand];

		if (!fresh.fibre->braid)
			settle(t, &fresh);
		else if (!keep(t, &lists->active, fresh.fibre, DPE_FIBRE_ACTIVE))
			forget_within(t, i + 1, fresh.fibre->braid);
		dpe_fibre_unref(t->pool, fresh.fibre);
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
	struct dpe_weave *weave = dpe_weave_of(run, slice);
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

	(run->shape->whole ? take_in_whole : take_in_operands)(&t, weave->top);
	matched = find_match(&t, &chosen);
	settle_all(&t);
	dpe_trace_take(run, slice, occurrence, t.nkept, matched);
	run->fresh = t.fresh;
	run->capfresh = t.capfresh;
	if (!t.work)
		slice->overflown = slice->searched = true;
	if (weave->count > run->recognizer->options.max_instances)
		dpe_weave_make_room(run, slice, occurrence);
	if (matched)
		dpe_detect_tell(run, slice, &chosen, occurrence);
	for (unsigned i = 0; matched && i < chosen.count; i++)
		dpe_fibre_unref(t.pool, chosen.at[i].fibre);
	run->shape->choices = chosen.at;
	run->shape->capchoices = chosen.cap;
}

static bool is_needed(void *context, const struct dpe_occurrence *occurrence)
{
	return dpe_weave_needs(context, occurrence);
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

void dpe_weave_drop_some(struct dpe_run *run, struct dpe_slice *slice)
{
	struct dpe_weave *weave = slice->weave;

	if (weave->count > at_least(weave->tidy_at, FEWEST_FIBRES)) {
		dpe_weave_tidy(run, slice,
			dpe_recognizer_horizon(run->recognizer, newest_horizon(run, slice)));
		weave->tidy_at = 2 * weave->count;
	}
	if (!run->shape->compact && dpe_order_size(&slice->order) <= at_least(weave->trim_at, FEWEST_EVENTS))
		return;
	dpe_order_trim(&slice->order, is_needed, slice);
	weave->trim_at = 2 * dpe_order_size(&slice->order);
}
