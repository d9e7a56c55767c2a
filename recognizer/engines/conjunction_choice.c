/* Partial matches of several operands that are independent of each other, one of each.
 *
 * Mostly the latest of each are, or nearly; so these are tried first, and what is hard is for
 * conjunction_search.c. */
#include "recognizer/engines/conjunction_choice.h"

#include <stdlib.h>

#define SOME_WORK 2000 /* pairs */

static bool precedes(const struct dpe_partial *a, const struct dpe_partial *b)
{
	for (unsigned i = 0; b->last && i < b->last->count; i++) {
		if (dpe_set_touches(a->first, b->last->at[i]))
			return true;
	}
	return false;
}

bool dpe_partials_independent(const struct dpe_partial *a, const struct dpe_partial *b)
{
	return !precedes(a, b) && !precedes(b, a);
}

/* The conjunction is the owner's, or within it: then what the owner stands for comes before. */
static bool is_within(const struct dpe_conjunction *conjunction, const struct dpe_partial *owner)
{
	for (; conjunction; conjunction = conjunction->outer) {
		if (conjunction->owner == owner)
			return true;
	}
	return false;
}

static bool goes_with(struct dpe_search *s, const struct dpe_conjunction *conjunction,
	const struct dpe_partial *partial, unsigned nchosen)
{
	for (unsigned i = 0; i < nchosen; i++) {
		const struct dpe_choice *choice = &s->chosen->at[i];

		if (*s->work)
			--*s->work;
		if (choice->partial->conjunction && is_within(conjunction, choice->partial))
			continue;
		if (!dpe_partials_independent(choice->partial, partial))
			return false;
	}
	return true;
}

/* ---- candidates -------------------------------------------------------------------------- */

static bool ends_here(const struct dpe_search *s, const struct dpe_partial *partial)
{
	for (unsigned i = 0; s->preds && i < partial->last->count; i++) {
		if (!dpe_preds_have(s->preds, partial->last->at[i]))
			return false;
	}
	return true;
}

/* The latest are tried first. */
static void add_candidates(struct dpe_search *s, struct dpe_want *want)
{
	const struct dpe_lists *lists = &want->conjunction->lists[want->operand];
	const struct dpe_partial_list *whole = s->preds ? &lists->closed : &lists->ended;

	want->from = s->ncandidates;
	for (unsigned i = 0; i < lists->active.count; i++) {
		struct dpe_partial *partial = lists->active.at[i];

		if (partial->conjunction && partial->leaf->ends &&
			goes_with(s, want->conjunction, partial, s->chosen->count))
			*DPE_GROW(s->candidates, s->ncandidates, s->capcandidates) = partial;
	}
	for (unsigned i = 0; i < whole->count; i++) {
		if (ends_here(s, whole->at[i]) &&
			goes_with(s, want->conjunction, whole->at[i], s->chosen->count))
			*DPE_GROW(s->candidates, s->ncandidates, s->capcandidates) = whole->at[i];
	}
	want->to = want->next = s->ncandidates;
}

/* False where an operand is left that nothing goes with. */
static bool add_wants(struct dpe_search *s, const struct dpe_conjunction *conjunction, unsigned but, bool grouped)
{
	unsigned group = s->nwants;

	for (unsigned i = 0; i < conjunction->leaf->noperands; i++) {
		struct dpe_want *want;

		if (i == but)
			continue;
		want = DPE_GROW(s->wants, s->nwants, s->capwants);
		*want = (struct dpe_want){
			.conjunction = conjunction,
			.operand = i,
			.group = group,
			.grouped = grouped,
			.nullable = conjunction->leaf->operands[i].part->nullable,
		};
		add_candidates(s, want);
		if (want->from == want->to && !want->nullable)
			return false;
	}
	return true;
}

/* ---- searching --------------------------------------------------------------------------- */

static void add_chosen(
	struct dpe_chosen *chosen, struct dpe_partial *partial, const struct dpe_conjunction *in)
{
	*DPE_GROW(chosen->at, chosen->count, chosen->cap) = (struct dpe_choice){partial, in};
}

/* Nothing is chosen for the operand, where all others of its conjunction are not absent as well. */
static bool may_be_absent(const struct dpe_search *s, unsigned level)
{
	const struct dpe_want *want = &s->wants[level];
	unsigned last = want->group + want->conjunction->leaf->noperands - 1;

	if (!want->nullable || want->absent)
		return false;
	if (!want->grouped || level != last)
		return true;
	for (unsigned i = want->group; i < level; i++) {
		if (!s->wants[i].absent)
			return true;
	}
	return false;
}

/* Chooses the next for this operand; false where all were tried. */
static bool choose_next(struct dpe_search *s, unsigned level)
{
	s->chosen->count = s->wants[level].nchosen;
	s->nwants = s->wants[level].nwants;
	s->ncandidates = s->wants[level].ncandidates;
	while (s->wants[level].next > s->wants[level].from && *s->work) {
		struct dpe_want *want = &s->wants[level];
		struct dpe_partial *partial = s->candidates[--want->next];

		if (!goes_with(s, want->conjunction, partial, s->chosen->count))
			continue;
		add_chosen(s->chosen, partial, want->conjunction);
		if (!partial->conjunction || add_wants(s, partial->conjunction, DPE_NO_KID, true))
			return true;
		s->chosen->count = s->wants[level].nchosen;
		s->nwants = s->wants[level].nwants;
		s->ncandidates = s->wants[level].ncandidates;
	}
	if (!*s->work || !may_be_absent(s, level))
		return false;
	return s->wants[level].absent = true;
}

static void enter(struct dpe_search *s, unsigned level)
{
	struct dpe_want *want = &s->wants[level];

	want->next = want->to;
	want->absent = false;
	want->nchosen = s->chosen->count;
	want->nwants = s->nwants;
	want->ncandidates = s->ncandidates;
}

/* True where it was enough for the callback. */
static bool search(struct dpe_search *s, dpe_chosen_fn *each, void *context)
{
	unsigned level = 0;

	if (!s->nwants)
		return !each(context, s->chosen);
	enter(s, 0);
	while (*s->work) {
		if (!choose_next(s, level)) {
			if (!level--)
				return false;
			continue;
		}
		if (level + 1 < s->nwants)
			enter(s, ++level);
		else if (!each(context, s->chosen))
			return true;
	}
	return false;
}

static void free_search(struct dpe_search *s)
{
	free(s->wants);
	free(s->candidates);
}

/* ---- matches ----------------------------------------------------------------------------- */

static bool binds_all(void *context, const struct dpe_chosen *chosen)
{
	const struct dpe_slice *slice = context;
	uint64_t mask = 0;

	for (unsigned i = 0; i < chosen->count; i++)
		mask |= chosen->at[i].partial->mask;
	return mask != slice->mask;
}

/* It would be the first candidate. */
static bool is_latest(const struct dpe_lists *lists, const struct dpe_partial *partial)
{
	const struct dpe_partial_list *ended = &lists->ended;

	return (ended->count ? ended->at[ended->count - 1] : NULL) == partial;
}

/* What the last match had of the other operands, where nothing came since: most often it still goes. */
static bool try_front(const struct dpe_slice *slice, struct dpe_conjunction *conjunction, unsigned operand,
	struct dpe_partial *partial, struct dpe_chosen *chosen)
{
	if (!conjunction->front || conjunction->outer)
		return false;
	for (unsigned i = 0; i < conjunction->leaf->noperands; i++) {
		struct dpe_partial *other = i == operand ? partial : conjunction->front[i];

		if (i != operand && !is_latest(&conjunction->lists[i], other))
			return false;
		if (!other)
			continue;
		if (i != operand && !dpe_partials_independent(other, partial))
			return false;
		add_chosen(chosen, other, conjunction);
	}
	return !binds_all((void *)slice, chosen);
}

static void keep_front(struct dpe_run *run, struct dpe_conjunction *top, const struct dpe_chosen *chosen)
{
	unsigned count = top->leaf->noperands;

	for (unsigned i = 0; i < chosen->count; i++) {
		if (chosen->at[i].in != top || chosen->at[i].partial->conjunction)
			return;
	}
	if (!top->front)
		top->front = dpe_xcalloc(count, sizeof(struct dpe_partial *));
	for (unsigned i = 0; i < count; i++) {
		dpe_partial_unref(run->recognizer->pool, top->front[i]);
		top->front[i] = NULL;
	}
	for (unsigned i = 0; i < chosen->count; i++)
		top->front[chosen->at[i].partial->operand] = dpe_partial_ref(chosen->at[i].partial);
}

static void replace_in_front(struct dpe_run *run, struct dpe_conjunction *top, struct dpe_partial *partial)
{
	struct dpe_partial **at = &top->front[partial->operand];

	dpe_partial_unref(run->recognizer->pool, *at);
	*at = dpe_partial_ref(partial);
}

/* Most often there is little to choose. */
static bool search_all(struct dpe_search *s, const struct dpe_slice *slice)
{
	uint64_t *work = s->work, first = *work < SOME_WORK ? *work : SOME_WORK, some = first;
	bool found;

	if (!dpe_search_is_plain(s))
		return search(s, binds_all, (void *)slice);
	s->work = &some;
	found = search(s, binds_all, (void *)slice);
	s->work = work;
	*work -= first - some;
	if (found || some)
		return found;
	s->chosen->count = 1;
	return dpe_search_hard(s, binds_all, (void *)slice);
}

bool dpe_choose_match(struct dpe_run *run, const struct dpe_slice *slice, struct dpe_conjunction *conjunction,
	unsigned operand, struct dpe_partial *partial, struct dpe_chosen *chosen, uint64_t *work)
{
	struct dpe_shape *shape = run->shape;
	struct dpe_search s = {
		.chosen = chosen,
		.work = work,
		.wants = shape->wants,
		.capwants = shape->capwants,
		.candidates = shape->candidates,
		.capcandidates = shape->capcandidates,
	};
	struct dpe_conjunction *top = conjunction;
	bool found = true;

	chosen->count = 0;
	if (try_front(slice, conjunction, operand, partial, chosen)) {
		replace_in_front(run, conjunction, partial);
		return true;
	}
	chosen->count = 0;
	add_chosen(chosen, partial, conjunction);
	for (; top->outer; top = top->outer)
		add_chosen(chosen, (struct dpe_partial *)top->owner, top->outer);
	for (struct dpe_conjunction *at = conjunction; at && found; operand = at->operand, at = at->outer)
		found = add_wants(&s, at, operand, false);
	found = found && search_all(&s, slice);
	if (found)
		keep_front(run, top, chosen);
	shape->wants = s.wants;
	shape->capwants = s.capwants;
	shape->candidates = s.candidates;
	shape->capcandidates = s.capcandidates;
	return found;
}

/* ---- what is whole ------------------------------------------------------------------ */

void dpe_choose_whole(const struct dpe_conjunction *conjunction, const struct dpe_preds *preds,
	dpe_chosen_fn *each, void *context, uint64_t *work)
{
	struct dpe_chosen chosen = {0};
	struct dpe_search s = {.chosen = &chosen, .preds = preds, .work = work};

	if (add_wants(&s, conjunction, DPE_NO_KID, true))
		search(&s, each, context);
	free(chosen.at);
	free_search(&s);
}
