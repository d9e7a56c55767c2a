/* Fibres, what they are made of, and their lists. */
#include "recognizer/engines/conjunction.h"
#include "recognizer/engines/engines.h"

#include <stdlib.h>
#include <string.h>

/* ---- sets -------------------------------------------------------------------------------- */

static size_t set_size(unsigned count)
{
	return sizeof(struct dpe_set) + count * sizeof(struct dpe_occurrence *);
}

struct dpe_set *dpe_set_new(struct dpe_pool *pool, unsigned count)
{
	struct dpe_set *set = dpe_pool_take(pool, set_size(count));

	set->refs = 1;
	set->count = count;
	return set;
}

struct dpe_set *dpe_set_one(struct dpe_pool *pool, struct dpe_occurrence *occurrence)
{
	struct dpe_set *set = dpe_set_new(pool, 1);

	set->at[0] = dpe_occurrence_ref(occurrence);
	return set;
}

struct dpe_set *dpe_set_ref(struct dpe_set *set)
{
	if (set)
		set->refs++;
	return set;
}

void dpe_set_unref(struct dpe_pool *pool, struct dpe_set *set)
{
	if (!set || --set->refs)
		return;
	for (unsigned i = 0; i < set->count; i++)
		dpe_occurrence_unref(set->at[i]);
	dpe_pool_give(pool, set, set_size(set->count));
}

bool dpe_set_same(const struct dpe_set *a, const struct dpe_set *b)
{
	if (!a || !b || a == b)
		return a == b;
	return a->count == b->count && !memcmp(a->at, b->at, a->count * sizeof(a->at[0]));
}

bool dpe_set_has(const struct dpe_set *set, const struct dpe_occurrence *occurrence)
{
	for (unsigned i = 0; set && i < set->count; i++) {
		if (set->at[i] == occurrence)
			return true;
	}
	return false;
}

static bool names(const struct dpe_pred *preds, unsigned npreds, const struct dpe_occurrence *event)
{
	for (unsigned i = 0; i < npreds; i++) {
		if (preds[i].occurrence == event)
			return true;
	}
	return false;
}

struct dpe_set *dpe_set_replace(struct dpe_pool *pool, const struct dpe_set *set,
	const struct dpe_pred *without, unsigned nwithout, struct dpe_occurrence *with)
{
	unsigned kept = 0;
	struct dpe_set *new;

	for (unsigned i = 0; set && i < set->count; i++)
		kept += !names(without, nwithout, set->at[i]);
	new = dpe_set_new(pool, kept + 1);
	kept = 0;
	for (unsigned i = 0; set && i < set->count; i++) {
		if (!names(without, nwithout, set->at[i]))
			new->at[kept++] = dpe_occurrence_ref(set->at[i]);
	}
	new->at[kept] = dpe_occurrence_ref(with); /* the newest of all */
	return new;
}

struct dpe_set *dpe_set_union(
	struct dpe_pool *pool, const struct dpe_set *a, const struct dpe_set *b)
{
	unsigned na = a ? a->count : 0, nb = b ? b->count : 0;
	struct dpe_set *all = dpe_set_new(pool, na + nb);

	for (unsigned i = 0, j = 0; i + j < na + nb;) {
		bool left = j == nb || (i < na && a->at[i]->number < b->at[j]->number);

		all->at[i + j] = dpe_occurrence_ref(left ? a->at[i] : b->at[j]);
		i += left;
		j += !left;
	}
	return all;
}

/* ---- trails ------------------------------------------------------------------------------ */

struct dpe_trail *dpe_trail_ref(struct dpe_trail *trail)
{
	if (trail)
		trail->refs++;
	return trail;
}

/* As deep as & stand within each other. */
void dpe_trail_unref(struct dpe_pool *pool, struct dpe_trail *trail)
{
	while (trail && !--trail->refs) {
		struct dpe_trail *before = trail->before;

		dpe_occurrence_unref(trail->occurrence);
		dpe_trail_unref(pool, trail->beside);
		dpe_pool_give(pool, trail, sizeof(*trail));
		trail = before;
	}
}

struct dpe_trail *dpe_trail_join(
	struct dpe_pool *pool, struct dpe_trail *before, struct dpe_trail *beside)
{
	struct dpe_trail *both;

	if (!before || !beside)
		return before ? before : beside;
	both = dpe_pool_take(pool, sizeof(*both));
	*both = (struct dpe_trail){.refs = 1, .before = before, .beside = beside};
	return both;
}

/* ---- fibres ----------------------------------------------------------------------------- */

struct dpe_fibre *dpe_fibre_ref(struct dpe_fibre *fibre)
{
	fibre->refs++;
	return fibre;
}

void dpe_fibre_unref(struct dpe_pool *pool, struct dpe_fibre *fibre)
{
	if (!fibre || --fibre->refs)
		return;
	if (fibre->braid)
		dpe_braid_free(pool, fibre->braid);
	else if (!fibre->leaf->noperands)
		dpe_config_drop(fibre->leaf->run, &fibre->config);
	dpe_set_unref(pool, fibre->bound);
	dpe_set_unref(pool, fibre->first);
	dpe_set_unref(pool, fibre->last);
	dpe_trail_unref(pool, fibre->trail);
	dpe_pool_give(pool, fibre, sizeof(*fibre));
}

struct dpe_fibre *dpe_fibre_enter(struct dpe_pool *pool, const struct dpe_leaf *leaf,
	struct dpe_braid *outer, unsigned operand, const struct dpe_fibre *prefix)
{
	struct dpe_fibre *fibre = dpe_pool_take(pool, sizeof(*fibre));

	*fibre = (struct dpe_fibre){
		.refs = 1,
		.operand = operand,
		.leaf = leaf,
		.braid = dpe_braid_new(leaf),
		.bound = dpe_set_ref(prefix->bound),
		.first = dpe_set_ref(prefix->first),
		.last = dpe_set_ref(prefix->last),
		.trail = dpe_trail_ref(prefix->trail),
		.mask = prefix->mask,
	};
	fibre->braid->outer = outer;
	fibre->braid->operand = operand;
	fibre->braid->owner = fibre;
	return fibre;
}

void dpe_fibres_close_gaps(struct dpe_fibres *fibres)
{
	unsigned kept = 0;

	for (unsigned i = 0; i < fibres->count; i++) {
		if (fibres->at[i])
			fibres->at[kept++] = fibres->at[i];
	}
	fibres->count = kept;
}

/* ---- braids ------------------------------------------------------------------------------ */

struct dpe_braid *dpe_braid_new(const struct dpe_leaf *leaf)
{
	struct dpe_braid *braid = dpe_xcalloc(1, sizeof(*braid));

	braid->leaf = leaf;
	braid->lists = dpe_xcalloc(leaf->noperands, sizeof(*braid->lists));
	return braid;
}

static void free_fibres(struct dpe_pool *pool, struct dpe_fibres *fibres)
{
	for (unsigned i = 0; i < fibres->count; i++)
		dpe_fibre_unref(pool, fibres->at[i]);
	free(fibres->at);
}

void dpe_braid_free(struct dpe_pool *pool, struct dpe_braid *braid)
{
	if (!braid)
		return;
	for (unsigned i = 0; i < braid->leaf->noperands; i++) {
		free_fibres(pool, &braid->lists[i].active);
		free_fibres(pool, &braid->lists[i].ended);
		free_fibres(pool, &braid->lists[i].closed);
		if (braid->front)
			dpe_fibre_unref(pool, braid->front[i]);
	}
	free(braid->front);
	free(braid->lists);
	free(braid);
}

bool dpe_braid_is_empty(const struct dpe_braid *braid)
{
	for (unsigned i = 0; i < braid->leaf->noperands; i++) {
		const struct dpe_lists *lists = &braid->lists[i];

		if (lists->active.count || lists->ended.count || lists->closed.count)
			return false;
	}
	return true;
}

void dpe_braid_each(struct dpe_braid *braid,
	void (*each)(void *context, struct dpe_braid *braid, unsigned operand), void *context)
{
	for (unsigned i = 0; i < braid->leaf->noperands; i++) {
		struct dpe_lists *lists = &braid->lists[i];

		for (unsigned j = 0; j < lists->active.count; j++) {
			if (lists->active.at[j]->braid)
				dpe_braid_each(lists->active.at[j]->braid, each, context);
		}
		each(context, braid, i);
	}
}

static void count_lists(void *context, struct dpe_braid *braid, unsigned operand)
{
	const struct dpe_lists *lists = &braid->lists[operand];

	*(uint64_t *)context += lists->active.count + lists->ended.count + lists->closed.count;
}

uint64_t dpe_braid_count(const struct dpe_braid *braid)
{
	uint64_t count = 0;

	dpe_braid_each((struct dpe_braid *)braid, count_lists, &count);
	return count;
}

/* ---- sums -------------------------------------------------------------------------------- */

/* Another owner between the braid and the outer one says what came first. */
static bool is_first_told(const struct dpe_braid *in, const struct dpe_braid *outer)
{
	for (; in != outer; in = in->outer) {
		if (in->owner->first)
			return true;
	}
	return false;
}

static void add_set(struct dpe_pool *pool, struct dpe_set **set, const struct dpe_set *more)
{
	struct dpe_set *all = more ? dpe_set_union(pool, *set, more) : dpe_set_ref(*set);

	dpe_set_unref(pool, *set);
	*set = all;
}

struct dpe_fibre *dpe_fibre_sum(struct dpe_pool *pool, const struct dpe_fibre *owner,
	const struct dpe_chosen *chosen)
{
	struct dpe_fibre *sum = dpe_pool_take(pool, sizeof(*sum));

	*sum = (struct dpe_fibre){
		.refs = 1,
		.leaf = owner->leaf,
		.operand = owner->operand,
		.mask = owner->mask,
		.first = dpe_set_ref(owner->first),
		.trail = dpe_trail_ref(owner->trail),
	};
	for (unsigned i = 0; i < chosen->count; i++) {
		const struct dpe_choice *choice = &chosen->at[i];
		struct dpe_fibre *fibre = choice->fibre;

		sum->mask |= fibre->mask;
		sum->trail = dpe_trail_join(pool, sum->trail, dpe_trail_ref(fibre->trail));
		if (!owner->first && !is_first_told(choice->in, owner->braid))
			add_set(pool, &sum->first, fibre->first);
		if (!fibre->braid)
			add_set(pool, &sum->last, fibre->last);
	}
	sum->bound = dpe_set_ref(sum->last);
	return sum;
}

/* ---- in a slice -------------------------------------------------------------------------- */

static struct dpe_braid *copy_braid(const struct dpe_run *run, const struct dpe_braid *from);

/* What changes is copied; the rest is shared. */
static struct dpe_fibre *copy_fibre(const struct dpe_run *run, struct dpe_fibre *from,
	struct dpe_braid *outer, unsigned operand)
{
	struct dpe_fibre *to;

	if (!from->braid)
		return dpe_fibre_ref(from);
	to = dpe_fibre_enter(run->recognizer->pool, from->leaf, outer, operand, from);
	dpe_braid_free(run->recognizer->pool, to->braid);
	to->braid = copy_braid(run, from->braid);
	to->braid->outer = outer;
	to->braid->operand = operand;
	to->braid->owner = to;
	return to;
}

static void copy_fibres(const struct dpe_run *run, struct dpe_fibres *to,
	const struct dpe_fibres *from, struct dpe_braid *outer, unsigned operand)
{
	for (unsigned i = 0; i < from->count; i++)
		*DPE_GROW(to->at, to->count, to->cap) =
			copy_fibre(run, from->at[i], outer, operand);
}

static struct dpe_braid *copy_braid(const struct dpe_run *run, const struct dpe_braid *from)
{
	struct dpe_braid *to = dpe_braid_new(from->leaf);

	for (unsigned i = 0; i < from->leaf->noperands; i++) {
		const struct dpe_lists *lists = &from->lists[i];

		copy_fibres(run, &to->lists[i].active, &lists->active, to, i);
		copy_fibres(run, &to->lists[i].ended, &lists->ended, to, i);
		copy_fibres(run, &to->lists[i].closed, &lists->closed, to, i);
	}
	return to;
}

struct dpe_weave *dpe_weave_of(const struct dpe_run *run, struct dpe_slice *slice)
{
	if (slice->weave)
		return slice->weave;
	slice->weave = dpe_xcalloc(1, sizeof(*slice->weave));
	slice->weave->top = dpe_braid_new(run->shape->top);
	return slice->weave;
}

void dpe_detect_copy(const struct dpe_run *run, struct dpe_slice *to, const struct dpe_slice *from)
{
	if (!from->weave)
		return;
	dpe_detect_free((struct dpe_run *)run, to);
	to->weave = dpe_xcalloc(1, sizeof(*to->weave));
	*to->weave = *from->weave;
	to->weave->top = copy_braid(run, from->weave->top);
}

static void clear_fibres(struct dpe_pool *pool, struct dpe_fibres *fibres)
{
	for (unsigned i = 0; i < fibres->count; i++)
		dpe_fibre_unref(pool, fibres->at[i]);
	fibres->count = 0;
}

static void clear_braid(struct dpe_pool *pool, struct dpe_braid *braid)
{
	for (unsigned i = 0; i < braid->leaf->noperands; i++) {
		clear_fibres(pool, &braid->lists[i].active);
		clear_fibres(pool, &braid->lists[i].ended);
		clear_fibres(pool, &braid->lists[i].closed);
		if (!braid->front)
			continue;
		dpe_fibre_unref(pool, braid->front[i]);
		braid->front[i] = NULL;
	}
	braid->turn = 0;
}

void dpe_detect_clear(struct dpe_run *run, struct dpe_slice *slice)
{
	struct dpe_weave *weave = slice->weave;

	if (!weave)
		return;
	clear_braid(run->recognizer->pool, weave->top);
	*weave = (struct dpe_weave){.top = weave->top};
}

void dpe_detect_free(struct dpe_run *run, struct dpe_slice *slice)
{
	if (!slice->weave)
		return;
	dpe_braid_free(run->recognizer->pool, slice->weave->top);
	free(slice->weave);
	slice->weave = NULL;
}

struct dpe_fibre *const *dpe_detect_partials(const struct dpe_slice *slice, unsigned *count)
{
	const struct dpe_fibres *active;

	*count = 0;
	if (!slice->weave)
		return NULL;
	active = &slice->weave->top->lists[0].active;
	*count = active->count;
	return active->at;
}

void dpe_detect_restore(struct dpe_run *run, struct dpe_slice *slice, struct dpe_config config,
	struct dpe_set *first, struct dpe_trail *trail, uint64_t mask)
{
	struct dpe_weave *weave = dpe_weave_of(run, slice);
	struct dpe_fibres *active = &weave->top->lists[0].active;
	struct dpe_fibre *fibre = dpe_pool_take(run->recognizer->pool, sizeof(*fibre));

	*fibre = (struct dpe_fibre){
		.refs = 1,
		.leaf = weave->top->leaf->operands[0].first[0],
		.config = config,
		.first = first,
		.trail = trail,
		.mask = mask,
	};
	*DPE_GROW(active->at, active->count, active->cap) = fibre;
	weave->count++;
}

/* In the state of the new automaton; other slices may share it. */
static struct dpe_fibre *adopt(
	const struct dpe_run *run, struct dpe_fibre *fibre, const struct dpe_automaton *old)
{
	dpe_state state = dpe_automaton_adopt(run->automaton, old, fibre->config.state);
	struct dpe_fibre *copy;

	if (fibre->refs == 1) {
		fibre->config.state = state;
		return fibre;
	}
	copy = dpe_pool_take(run->recognizer->pool, sizeof(*copy));
	*copy = *fibre;
	copy->refs = 1;
	copy->config.state = state;
	copy->config = dpe_config_copy(run, &copy->config);
	dpe_set_ref(copy->first);
	dpe_trail_ref(copy->trail);
	fibre->refs--;
	return copy;
}

void dpe_detect_adopt(
	const struct dpe_run *run, struct dpe_slice *slice, const struct dpe_automaton *old)
{
	struct dpe_fibres *active;

	if (!slice->weave || !run->shape->whole)
		return;
	active = &slice->weave->top->lists[0].active;
	for (unsigned i = 0; i < active->count; i++)
		active->at[i] = adopt(run, active->at[i], old);
}

uint64_t dpe_weave_size(const struct dpe_slice *slice)
{
	return slice->weave ? slice->weave->count : 0;
}

struct need {
	const struct dpe_occurrence *occurrence;
	bool needed;
};

static bool any_touches(const struct dpe_fibres *fibres, const struct dpe_occurrence *occurrence)
{
	for (unsigned i = 0; i < fibres->count; i++) {
		if (dpe_set_touches(fibres->at[i]->first, occurrence))
			return true;
	}
	return false;
}

static void look_for_need(void *context, struct dpe_braid *braid, unsigned operand)
{
	const struct dpe_lists *lists = &braid->lists[operand];
	struct need *need = context;

	need->needed = need->needed || any_touches(&lists->active, need->occurrence) ||
		       any_touches(&lists->ended, need->occurrence) ||
		       any_touches(&lists->closed, need->occurrence);
}

bool dpe_weave_needs(const struct dpe_slice *slice, const struct dpe_occurrence *occurrence)
{
	struct need need = {.occurrence = occurrence};

	if (slice->weave)
		dpe_braid_each(slice->weave->top, look_for_need, &need);
	return need.needed;
}
