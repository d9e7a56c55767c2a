/* An event of a slice that is followed operand by operand. */
#include "recognizer/actions/actions.h"
#include "recognizer/engines/conjunction.h"
#include "recognizer/engines/engines.h"
#include "recognizer/verdicts/verdicts.h"

#include <stdlib.h>
#include <string.h>

#define FEWEST_FIBRES 32 /* from which on it is looked for those that can go */
#define FEWEST_EVENTS 64  /* the same of events in the order */
#define SOME 64           /* more fibres than are kept there may be until the event is over */
#define MOST_WORK 1000000 /* pairs of fibres that are looked at for one event; … */
#define MOST_AFTER 10000  /* … once that was too few */

/* A fibre that the event made. */
struct dpe_fresh {
	struct dpe_braid *braid;
	unsigned operand;
	struct dpe_fibre *fibre; /* owned, until it is in a list */
};

struct acquisition {
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

static void take_in(struct acquisition *t, struct dpe_braid *braid);

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
static bool fits(const struct acquisition *t, const struct dpe_set *base,
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
	struct acquisition *t, struct dpe_trail *before, const struct dpe_step *step)
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

static struct dpe_fibre *make_fibre(struct acquisition *t, const struct dpe_leaf *leaf,
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
		.last = dpe_set_replace(t->pool, from->last, preds, npreds, t->occurrence),
		.trail = extend_trail(t, from->trail, step),
		.mask = from->mask | t->mask,
	};
	return fibre;
}

static void add_fresh(struct acquisition *t, struct dpe_braid *braid, unsigned operand,
	struct dpe_fibre *fibre)
{
	*DPE_GROW(t->fresh, t->nfresh, t->capfresh) = (struct dpe_fresh){braid, operand, fibre};
}

/* An action that names no position needs nothing of other operands; what takes the event here is a
 * partial match by itself. */
static void act(struct acquisition *t, const struct dpe_step *step)
{
	const struct dpe_rule *rule = t->run->rule;

	for (unsigned i = 0; i < step->npositions; i++) {
		unsigned at = step->positions[i] - 1;
		const struct dpe_message *none[rule->npositions + 1];

		if (!rule->positions[at].action || t->run->acted[at])
			continue;
		t->run->acted[at] = true;
		memset(none, 0, sizeof(none));
		dpe_run_action(t->run, t->slice, rule->positions[at].action, none,
			t->occurrence->message);
	}
}

/* Each way in which the leaf can take the event from this configuration. */
static void extend(struct acquisition *t, struct dpe_braid *braid, unsigned operand,
	const struct dpe_leaf *leaf, const struct dpe_fibre *from, const struct dpe_config *config)
{
	struct dpe_run *engine = (struct dpe_run *)&leaf->run;
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
		if (t->run->acts)
			act(t, &steps[i]);
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
static struct dpe_braid *find_braid(const struct acquisition *t, const struct dpe_braid *braid,
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

static void enter_braid(struct acquisition *t, struct dpe_braid *braid, unsigned operand,
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
static void enter(struct acquisition *t, struct dpe_braid *braid, unsigned operand,
	const struct dpe_leaf *leaf, const struct dpe_fibre *prefix)
{
	struct dpe_config begin;

	if (!leaf->part->literals[t->literal])
		return;
	if (leaf->part->kind == DPE_FACTOR_PAR) {
		enter_braid(t, braid, operand, leaf, prefix);
		return;
	}
	begin = dpe_config_begin(&leaf->run);
	extend(t, braid, operand, leaf, prefix, &begin);
	dpe_config_drop(&leaf->run, &begin);
}

static bool can_enter_next(const struct acquisition *t, const struct dpe_leaf *leaf)
{
	for (unsigned i = 0; i < leaf->nnext; i++) {
		if (leaf->next[i]->part->literals[t->literal])
			return true;
	}
	return false;
}

static void enter_next(struct acquisition *t, struct dpe_braid *braid, unsigned operand,
	const struct dpe_leaf *leaf, const struct dpe_fibre *prefix)
{
	for (unsigned i = 0; i < leaf->nnext; i++)
		enter(t, braid, operand, leaf->next[i], prefix);
}

/* ---- what follows a & -------------------------------------------------------------------- */

struct following {
	struct acquisition *acquisition;
	struct dpe_braid *braid; /* that the & is in … */
	unsigned operand;
	struct dpe_fibre *owner; /* … where it stands */
};

static bool follow(void *context, const struct dpe_chosen *chosen)
{
	struct following *f = context;
	struct dpe_fibre *sum = dpe_fibre_sum(f->acquisition->pool, f->owner, chosen);

	enter_next(f->acquisition, f->braid, f->operand, f->owner->leaf, sum);
	dpe_fibre_unref(f->acquisition->pool, sum);
	return true;
}

/* ---- in an operand ----------------------------------------------------------------------- */

static void take_in_braid(
	struct acquisition *t, struct dpe_braid *braid, unsigned operand, struct dpe_fibre *owner)
{
	struct following f = {t, braid, operand, owner};

	take_in(t, owner->braid);
	if (can_enter_next(t, owner->leaf))
		dpe_choose_whole(owner->braid, &t->run->preds, follow, &f, &t->work);
}

static void take_after(
	struct acquisition *t, struct dpe_braid *braid, unsigned operand, const struct dpe_fibre *fibre)
{
	const struct dpe_leaf *leaf = fibre->leaf;
	struct dpe_fibre prefix = *fibre;

	if (leaf->part->literals[t->literal])
		extend(t, braid, operand, leaf, fibre, &fibre->config);
	if (!can_enter_next(t, leaf) || !dpe_config_final(&leaf->run, &fibre->config))
		return;
	prefix.bound = fibre->last;
	enter_next(t, braid, operand, leaf, &prefix);
}

/* The gap is closed later. */
static void drop(struct acquisition *t, struct dpe_fibres *fibres, unsigned at)
{
	dpe_fibre_unref(t->pool, fibres->at[at]);
	fibres->at[at] = NULL;
	t->slice->weave->count--;
}

/* Fibres that the event passes over for good go at once. */
static void take_in_operand(struct acquisition *t, struct dpe_braid *braid, unsigned operand)
{
	const struct dpe_segment *segment = &braid->leaf->operands[operand];
	struct dpe_fibres *active = &braid->lists[operand].active;
	const struct dpe_fibre nothing = {.operand = operand, .bound = bound_of(braid)};
	bool passed = false;

	for (unsigned i = 0; i < active->count; i++) {
		struct dpe_fibre *fibre = active->at[i];

		if (fibre->braid) {
			take_in_braid(t, braid, operand, fibre);
			continue;
		}
		take_after(t, braid, operand, fibre);
		if (t->last && dpe_fibre_is_passed(fibre, t->occurrence)) {
			drop(t, active, i);
			passed = true;
		}
	}
	if (passed)
		dpe_fibres_close_gaps(active);
	for (unsigned i = 0; i < segment->nfirst; i++)
		enter(t, braid, operand, segment->first[i], &nothing);
}

static void take_in(struct acquisition *t, struct dpe_braid *braid)
{
	uint32_t operand = dpe_leaf_operand(braid->leaf, t->literal);
	uint64_t turn = t->occurrence->number * t->run->rule->nliterals + t->literal + 1;

	if (braid->turn == turn) /* it was found by another way */
		return;
	braid->turn = turn;
	if (operand != DPE_NO_KID)
		take_in_operand(t, braid, operand);
}

/* ---- keeping what came of it ------------------------------------------------------------- */

/* False, and nothing is left, where it is more than is left. */
static bool spend(struct acquisition *t, uint64_t work)
{
	t->work -= work < t->work ? work : t->work;
	return t->work;
}

/* Of fibres that nothing tells apart one is enough. False where there is no room. */
static bool keep(struct acquisition *t, struct dpe_fibres *fibres, struct dpe_fibre *new,
	enum dpe_fibre_role role)
{
	struct dpe_weave *weave = t->slice->weave;
	bool replaced = false;

	if (!spend(t, fibres->count))
		return false;
	for (unsigned i = 0; i < fibres->count; i++) {
		if (dpe_fibre_replaces(fibres->at[i], new, role))
			return true;
	}
	for (unsigned i = 0; i < fibres->count; i++) {
		if (!dpe_fibre_replaces(new, fibres->at[i], role))
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
static void forget_within(struct acquisition *t, unsigned from, const struct dpe_braid *gone)
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

static bool match(struct acquisition *t, struct dpe_fresh *fresh, struct dpe_chosen *chosen)
{
	return dpe_choose_match(t->run, t->slice, fresh->braid, fresh->operand, fresh->fibre,
		chosen, &t->work);
}

/* True where the fibre is the last of a match, which is then chosen, with a reference to each. */
static bool settle(struct acquisition *t, struct dpe_fresh *fresh, bool matched, struct dpe_chosen *chosen)
{
	const struct dpe_segment *segment = &fresh->braid->leaf->operands[fresh->operand];
	struct dpe_lists *lists = &fresh->braid->lists[fresh->operand];
	struct dpe_fibre *fibre = fresh->fibre;
	const struct dpe_leaf *leaf = fibre->leaf;
	bool whole = leaf->ends && dpe_config_final(&leaf->run, &fibre->config);
	bool is_single = !fresh->braid->outer && fresh->braid->leaf->noperands == 1;
	bool found = whole && segment->ends_all && !matched && match(t, fresh, chosen);
	bool goes_on = leaf->nnext || !dpe_config_complete(&leaf->run, &fibre->config);

	for (unsigned i = 0; found && i < chosen->count; i++)
		dpe_fibre_ref(chosen->at[i].fibre);
	if (whole && segment->ends_all && !is_single)
		keep(t, &lists->ended, fibre, DPE_FIBRE_ENDED);
	if (whole && segment->wanted)
		keep(t, &lists->closed, fibre, DPE_FIBRE_CLOSED);
	if (goes_on)
		keep(t, &lists->active, fibre, DPE_FIBRE_ACTIVE);
	t->nkept += goes_on || segment->wanted || !is_single;
	return found;
}

static bool settle_all(struct acquisition *t, struct dpe_chosen *chosen)
{
	bool matched = false;

	for (unsigned i = 0; i < t->nfresh; i++) {
		struct dpe_fresh fresh = t->fresh[i];
		struct dpe_lists *lists = &fresh.braid->lists[fresh.operand];

		if (!fresh.fibre->braid)
			matched |= settle(t, &fresh, matched, chosen);
		else if (!keep(t, &lists->active, fresh.fibre, DPE_FIBRE_ACTIVE))
			forget_within(t, i + 1, fresh.fibre->braid);
		dpe_fibre_unref(t->pool, fresh.fibre);
	}
	return matched;
}

/* ---- matches ----------------------------------------------------------------------------- */

struct told {
	struct dpe_entry *at;
	unsigned count, cap;
};

static void collect(struct told *told, const struct dpe_trail *trail)
{
	for (; trail; trail = trail->before) {
		if (trail->occurrence)
			*DPE_GROW(told->at, told->count, told->cap) = (struct dpe_entry){
				trail->occurrence, trail->positions, trail->npositions};
		else
			collect(told, trail->beside);
	}
}

static int by_number(const void *a, const void *b)
{
	const struct dpe_entry *x = a, *y = b;

	return x->occurrence->number < y->occurrence->number ? -1 : 1;
}

static void tell(struct acquisition *t, const struct dpe_chosen *chosen)
{
	struct dpe_shape *shape = t->run->shape;
	struct told told = {shape->entries, 0, shape->capentries};

	for (unsigned i = 0; i < chosen->count; i++)
		collect(&told, chosen->at[i].fibre->trail);
	qsort(told.at, told.count, sizeof(*told.at), by_number);
	dpe_detect_tell(t->run, t->slice, told.at, told.count, t->occurrence);
	for (unsigned i = 0; i < chosen->count; i++)
		dpe_fibre_unref(t->pool, chosen->at[i].fibre);
	shape->entries = told.at;
	shape->capentries = told.cap;
}

/* ---- an event ---------------------------------------------------------------------------- */

static struct dpe_weave *weave_of(const struct dpe_run *run, struct dpe_slice *slice)
{
	if (slice->weave)
		return slice->weave;
	slice->weave = dpe_xcalloc(1, sizeof(*slice->weave));
	slice->weave->top = dpe_braid_new(run->shape->top);
	slice->weave->tidy_at = FEWEST_FIBRES;
	slice->weave->trim_at = FEWEST_EVENTS;
	return slice->weave;
}

static uint64_t most_work(const struct dpe_run *run, const struct dpe_slice *slice)
{
	uint64_t most = run->recognizer->options.search_work;

	if (!most)
		most = MOST_WORK;
	return slice->searched && most > MOST_AFTER ? MOST_AFTER : most;
}

void dpe_weave_take(struct dpe_run *run, struct dpe_slice *slice, struct dpe_occurrence *occurrence)
{
	struct dpe_weave *weave = weave_of(run, slice);
	struct acquisition t = {
		.run = run,
		.slice = slice,
		.occurrence = occurrence,
		.pool = run->recognizer->pool,
		.work = most_work(run, slice),
		.fresh = run->fresh_fibres,
		.capfresh = run->capfresh_fibres,
	};
	struct dpe_chosen chosen = {run->shape->choices, 0, run->shape->capchoices};
	bool matched;

	for (t.literal = 0; t.literal < run->rule->nliterals; t.literal++) {
		if (!run->literals[t.literal])
			continue;
		t.last = !memchr(run->literals + t.literal + 1, true,
			run->rule->nliterals - t.literal - 1);
		t.mask = run->masks[run->rule->literals[t.literal].pattern];
		take_in(&t, weave->top);
	}
	matched = settle_all(&t, &chosen);
	dpe_trace_take(run, slice, occurrence, t.nkept, matched);
	run->fresh_fibres = t.fresh;
	run->capfresh_fibres = t.capfresh;
	if (!t.work)
		slice->overflown = slice->searched = true;
	if (weave->count > run->recognizer->options.max_instances)
		dpe_weave_make_room(run, slice, occurrence);
	if (matched)
		tell(&t, &chosen);
	run->shape->choices = chosen.at;
	run->shape->capchoices = chosen.cap;
}

static bool is_needed(void *context, const struct dpe_occurrence *occurrence)
{
	return dpe_weave_needs(context, occurrence);
}

void dpe_weave_drop_some(struct dpe_run *run, struct dpe_slice *slice)
{
	struct dpe_weave *weave = slice->weave;
	uint64_t events = dpe_order_size(&slice->order);

	if (weave->count > weave->tidy_at) {
		dpe_weave_tidy(run, slice,
			dpe_recognizer_horizon(run->recognizer,
				FEWEST_EVENTS + 4 * (uint64_t)slice->order.nchains));
		weave->tidy_at = weave->count < FEWEST_FIBRES / 2 ? FEWEST_FIBRES
								   : 2 * weave->count;
	}
	if (events <= weave->trim_at)
		return;
	dpe_order_trim(&slice->order, is_needed, slice);
	events = dpe_order_size(&slice->order);
	weave->trim_at = events < FEWEST_EVENTS / 2 ? FEWEST_EVENTS : 2 * events;
}
