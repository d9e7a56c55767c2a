/* Partial matches, the sets and trails of events that they share, and their lists. */
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

/* ---- partial matches ----------------------------------------------------------------------------- */

struct dpe_partial *dpe_partial_ref(struct dpe_partial *partial)
{
	partial->refs++;
	return partial;
}

void dpe_partial_unref(struct dpe_pool *pool, struct dpe_partial *partial)
{
	if (!partial || --partial->refs)
		return;
	if (partial->conjunction)
		dpe_conjunction_free(pool, partial->conjunction);
	else if (!partial->leaf->noperands)
		dpe_config_drop(partial->leaf->run, &partial->config);
	dpe_set_unref(pool, partial->bound);
	dpe_set_unref(pool, partial->first);
	dpe_set_unref(pool, partial->last);
	dpe_trail_unref(pool, partial->trail);
	dpe_pool_give(pool, partial, sizeof(*partial));
}

struct dpe_partial *dpe_partial_enter(struct dpe_pool *pool, const struct dpe_leaf *leaf,
	struct dpe_conjunction *outer, unsigned operand, const struct dpe_partial *prefix)
{
	struct dpe_partial *partial = dpe_pool_take(pool, sizeof(*partial));

	*partial = (struct dpe_partial){
		.refs = 1,
		.operand = operand,
		.leaf = leaf,
		.conjunction = dpe_conjunction_new(leaf),
		.bound = dpe_set_ref(prefix->bound),
		.first = dpe_set_ref(prefix->first),
		.last = dpe_set_ref(prefix->last),
		.trail = dpe_trail_ref(prefix->trail),
		.mask = prefix->mask,
	};
	partial->conjunction->outer = outer;
	partial->conjunction->operand = operand;
	partial->conjunction->owner = partial;
	return partial;
}

void dpe_partial_list_close_gaps(struct dpe_partial_list *partials)
{
	unsigned kept = 0;

	for (unsigned i = 0; i < partials->count; i++) {
		if (partials->at[i])
			partials->at[kept++] = partials->at[i];
	}
	partials->count = kept;
}

/* ---- conjunctions ------------------------------------------------------------------------------ */

struct dpe_conjunction *dpe_conjunction_new(const struct dpe_leaf *leaf)
{
	struct dpe_conjunction *conjunction = dpe_xcalloc(1, sizeof(*conjunction));

	conjunction->leaf = leaf;
	conjunction->lists = dpe_xcalloc(leaf->noperands, sizeof(*conjunction->lists));
	return conjunction;
}

static void free_partials(struct dpe_pool *pool, struct dpe_partial_list *partials)
{
	for (unsigned i = 0; i < partials->count; i++)
		dpe_partial_unref(pool, partials->at[i]);
	free(partials->at);
}

void dpe_conjunction_free(struct dpe_pool *pool, struct dpe_conjunction *conjunction)
{
	if (!conjunction)
		return;
	for (unsigned i = 0; i < conjunction->leaf->noperands; i++) {
		free_partials(pool, &conjunction->lists[i].active);
		free_partials(pool, &conjunction->lists[i].ended);
		free_partials(pool, &conjunction->lists[i].closed);
		if (conjunction->front)
			dpe_partial_unref(pool, conjunction->front[i]);
	}
	free(conjunction->front);
	free(conjunction->lists);
	free(conjunction);
}

bool dpe_conjunction_is_empty(const struct dpe_conjunction *conjunction)
{
	for (unsigned i = 0; i < conjunction->leaf->noperands; i++) {
		const struct dpe_lists *lists = &conjunction->lists[i];

		if (lists->active.count || lists->ended.count || lists->closed.count)
			return false;
	}
	return true;
}

void dpe_conjunction_each(struct dpe_conjunction *conjunction,
	void (*each)(void *context, struct dpe_conjunction *conjunction, unsigned operand), void *context)
{
	for (unsigned i = 0; i < conjunction->leaf->noperands; i++) {
		struct dpe_lists *lists = &conjunction->lists[i];

		for (unsigned j = 0; j < lists->active.count; j++) {
			if (lists->active.at[j]->conjunction)
				dpe_conjunction_each(lists->active.at[j]->conjunction, each, context);
		}
		each(context, conjunction, i);
	}
}

static void count_lists(void *context, struct dpe_conjunction *conjunction, unsigned operand)
{
	const struct dpe_lists *lists = &conjunction->lists[operand];

	*(uint64_t *)context += lists->active.count + lists->ended.count + lists->closed.count;
}

uint64_t dpe_conjunction_count(const struct dpe_conjunction *conjunction)
{
	uint64_t count = 0;

	dpe_conjunction_each((struct dpe_conjunction *)conjunction, count_lists, &count);
	return count;
}

/* ---- sums -------------------------------------------------------------------------------- */

/* Another owner between the conjunction and the outer one says what came first. */
static bool is_first_told(const struct dpe_conjunction *in, const struct dpe_conjunction *outer)
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

struct dpe_partial *dpe_partial_sum(struct dpe_pool *pool, const struct dpe_partial *owner,
	const struct dpe_chosen *chosen)
{
	struct dpe_partial *sum = dpe_pool_take(pool, sizeof(*sum));

	*sum = (struct dpe_partial){
		.refs = 1,
		.leaf = owner->leaf,
		.operand = owner->operand,
		.mask = owner->mask,
		.first = dpe_set_ref(owner->first),
		.trail = dpe_trail_ref(owner->trail),
	};
	for (unsigned i = 0; i < chosen->count; i++) {
		const struct dpe_choice *choice = &chosen->at[i];
		struct dpe_partial *partial = choice->partial;

		sum->mask |= partial->mask;
		sum->trail = dpe_trail_join(pool, sum->trail, dpe_trail_ref(partial->trail));
		if (!owner->first && !is_first_told(choice->in, owner->conjunction))
			add_set(pool, &sum->first, partial->first);
		if (!partial->conjunction)
			add_set(pool, &sum->last, partial->last);
	}
	sum->bound = dpe_set_ref(sum->last);
	return sum;
}

/* ---- in a slice -------------------------------------------------------------------------- */

static struct dpe_conjunction *copy_conjunction(const struct dpe_run *run, const struct dpe_conjunction *from);

/* What changes is copied; the rest is shared. */
static struct dpe_partial *copy_partial(const struct dpe_run *run, struct dpe_partial *from,
	struct dpe_conjunction *outer, unsigned operand)
{
	struct dpe_partial *to;

	if (!from->conjunction)
		return dpe_partial_ref(from);
	to = dpe_partial_enter(run->recognizer->pool, from->leaf, outer, operand, from);
	dpe_conjunction_free(run->recognizer->pool, to->conjunction);
	to->conjunction = copy_conjunction(run, from->conjunction);
	to->conjunction->outer = outer;
	to->conjunction->operand = operand;
	to->conjunction->owner = to;
	return to;
}

static void copy_partials(const struct dpe_run *run, struct dpe_partial_list *to,
	const struct dpe_partial_list *from, struct dpe_conjunction *outer, unsigned operand)
{
	for (unsigned i = 0; i < from->count; i++)
		*DPE_GROW(to->at, to->count, to->cap) =
			copy_partial(run, from->at[i], outer, operand);
}

static struct dpe_conjunction *copy_conjunction(const struct dpe_run *run, const struct dpe_conjunction *from)
{
	struct dpe_conjunction *to = dpe_conjunction_new(from->leaf);

	for (unsigned i = 0; i < from->leaf->noperands; i++) {
		const struct dpe_lists *lists = &from->lists[i];

		copy_partials(run, &to->lists[i].active, &lists->active, to, i);
		copy_partials(run, &to->lists[i].ended, &lists->ended, to, i);
		copy_partials(run, &to->lists[i].closed, &lists->closed, to, i);
	}
	return to;
}

struct dpe_matching *dpe_matching_of(const struct dpe_run *run, struct dpe_slice *slice)
{
	if (slice->matching)
		return slice->matching;
	slice->matching = dpe_xcalloc(1, sizeof(*slice->matching));
	slice->matching->top = dpe_conjunction_new(run->shape->top);
	return slice->matching;
}

void dpe_detect_copy(const struct dpe_run *run, struct dpe_slice *to, const struct dpe_slice *from)
{
	if (!from->matching)
		return;
	dpe_detect_free((struct dpe_run *)run, to);
	to->matching = dpe_xcalloc(1, sizeof(*to->matching));
	*to->matching = *from->matching;
	to->matching->top = copy_conjunction(run, from->matching->top);
}

static void clear_partials(struct dpe_pool *pool, struct dpe_partial_list *partials)
{
	for (unsigned i = 0; i < partials->count; i++)
		dpe_partial_unref(pool, partials->at[i]);
	partials->count = 0;
}

static void clear_conjunction(struct dpe_pool *pool, struct dpe_conjunction *conjunction)
{
	for (unsigned i = 0; i < conjunction->leaf->noperands; i++) {
		clear_partials(pool, &conjunction->lists[i].active);
		clear_partials(pool, &conjunction->lists[i].ended);
		clear_partials(pool, &conjunction->lists[i].closed);
		if (!conjunction->front)
			continue;
		dpe_partial_unref(pool, conjunction->front[i]);
		conjunction->front[i] = NULL;
	}
	conjunction->turn = 0;
}

void dpe_detect_clear(struct dpe_run *run, struct dpe_slice *slice)
{
	struct dpe_matching *matching = slice->matching;

	if (!matching)
		return;
	clear_conjunction(run->recognizer->pool, matching->top);
	*matching = (struct dpe_matching){.top = matching->top};
}

void dpe_detect_free(struct dpe_run *run, struct dpe_slice *slice)
{
	if (!slice->matching)
		return;
	dpe_conjunction_free(run->recognizer->pool, slice->matching->top);
	free(slice->matching);
	slice->matching = NULL;
}

struct dpe_partial *const *dpe_detect_partials(const struct dpe_slice *slice, unsigned *count)
{
	const struct dpe_partial_list *active;

	*count = 0;
	if (!slice->matching)
		return NULL;
	active = &slice->matching->top->lists[0].active;
	*count = active->count;
	return active->at;
}

void dpe_detect_restore(struct dpe_run *run, struct dpe_slice *slice, struct dpe_config config,
	struct dpe_set *first, struct dpe_trail *trail, uint64_t mask)
{
	struct dpe_matching *matching = dpe_matching_of(run, slice);
	struct dpe_partial_list *active = &matching->top->lists[0].active;
	struct dpe_partial *partial = dpe_pool_take(run->recognizer->pool, sizeof(*partial));

	*partial = (struct dpe_partial){
		.refs = 1,
		.leaf = matching->top->leaf->operands[0].first[0],
		.config = config,
		.first = first,
		.trail = trail,
		.mask = mask,
	};
	*DPE_GROW(active->at, active->count, active->cap) = partial;
	matching->count++;
}

/* In the state of the new automaton; other slices may share it. */
static struct dpe_partial *adopt(
	const struct dpe_run *run, struct dpe_partial *partial, const struct dpe_automaton *old)
{
	dpe_state state = dpe_automaton_adopt(run->automaton, old, partial->config.state);
	struct dpe_partial *copy;

	if (partial->refs == 1) {
		partial->config.state = state;
		return partial;
	}
	copy = dpe_pool_take(run->recognizer->pool, sizeof(*copy));
	*copy = *partial;
	copy->refs = 1;
	copy->config.state = state;
	copy->config = dpe_config_copy(run, &copy->config);
	dpe_set_ref(copy->first);
	dpe_trail_ref(copy->trail);
	partial->refs--;
	return copy;
}

void dpe_detect_adopt(
	const struct dpe_run *run, struct dpe_slice *slice, const struct dpe_automaton *old)
{
	struct dpe_partial_list *active;

	if (!slice->matching || !run->shape->whole)
		return;
	active = &slice->matching->top->lists[0].active;
	for (unsigned i = 0; i < active->count; i++)
		active->at[i] = adopt(run, active->at[i], old);
}

uint64_t dpe_matching_size(const struct dpe_slice *slice)
{
	return slice->matching ? slice->matching->count : 0;
}

struct need {
	const struct dpe_occurrence *occurrence;
	bool needed;
};

static bool any_touches(const struct dpe_partial_list *partials, const struct dpe_occurrence *occurrence)
{
	for (unsigned i = 0; i < partials->count; i++) {
		if (dpe_set_touches(partials->at[i]->first, occurrence))
			return true;
	}
	return false;
}

static void look_for_need(void *context, struct dpe_conjunction *conjunction, unsigned operand)
{
	const struct dpe_lists *lists = &conjunction->lists[operand];
	struct need *need = context;

	need->needed = need->needed || any_touches(&lists->active, need->occurrence) ||
		       any_touches(&lists->ended, need->occurrence) ||
		       any_touches(&lists->closed, need->occurrence);
}

bool dpe_matching_needs(const struct dpe_slice *slice, const struct dpe_occurrence *occurrence)
{
	struct need need = {.occurrence = occurrence};

	if (slice->matching)
		dpe_conjunction_each(slice->matching->top, look_for_need, &need);
	return need.needed;
}
