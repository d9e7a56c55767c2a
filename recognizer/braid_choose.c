/* Fibres of several operands that are independent of each other, one of each.
 *
 * In general that is a hard problem: to find events of n kinds that are pairwise independent is as
 * hard as satisfying formulas. Where the events of each operand are of one thread, it is not: of two
 * fibres of different operands that are not independent, one is too early for the other and for
 * all that come after it. So once fibres are left out that no fibre of some other operand goes
 * with (until none is left out any more), the latest of each operand go together, and the search
 * below never turns back. In the other cases it may; its steps are counted. */
#include "recognizer/braid.h"

#include <stdlib.h>
#include <string.h>

/* An operand for which a fibre is to be chosen. */
struct dpe_want {
	const struct dpe_braid *braid;
	unsigned operand;
	unsigned from, to; /* its candidates */
	unsigned next;     /* those from here on were tried */
	bool nullable, absent;
	unsigned group;    /* the first want of its braid, one of which must not be absent; … */
	bool grouped;      /* … if so */
	/* What there was before it. */
	unsigned nchosen, nwants, ncandidates;
};

struct search {
	struct dpe_chosen *chosen;
	const struct dpe_preds *preds; /* closed fibres are looked for that end there; or NULL */
	struct dpe_want *wants;
	unsigned nwants, capwants;
	struct dpe_fibre **candidates;
	unsigned ncandidates, capcandidates;
	uint64_t *work;
};

static bool precedes(const struct dpe_fibre *a, const struct dpe_fibre *b)
{
	for (unsigned i = 0; b->last && i < b->last->count; i++) {
		if (dpe_set_touches(a->first, b->last->at[i]))
			return true;
	}
	return false;
}

bool dpe_fibres_apart(const struct dpe_fibre *a, const struct dpe_fibre *b)
{
	return !precedes(a, b) && !precedes(b, a);
}

/* The braid is the owner's, or within it: then what the owner stands for comes before. */
static bool is_within(const struct dpe_braid *braid, const struct dpe_fibre *owner)
{
	for (; braid; braid = braid->outer) {
		if (braid->owner == owner)
			return true;
	}
	return false;
}

static bool goes_with(struct search *s, const struct dpe_braid *braid,
	const struct dpe_fibre *fibre, unsigned nchosen)
{
	for (unsigned i = 0; i < nchosen; i++) {
		const struct dpe_choice *choice = &s->chosen->at[i];

		if (*s->work)
			--*s->work;
		if (choice->fibre->braid && is_within(braid, choice->fibre))
			continue;
		if (!dpe_fibres_apart(choice->fibre, fibre))
			return false;
	}
	return true;
}

/* ---- candidates -------------------------------------------------------------------------- */

static bool ends_here(const struct search *s, const struct dpe_fibre *fibre)
{
	for (unsigned i = 0; s->preds && i < fibre->last->count; i++) {
		if (!dpe_preds_have(s->preds, fibre->last->at[i]))
			return false;
	}
	return true;
}

/* The latest are tried first. */
static void add_candidates(struct search *s, struct dpe_want *want)
{
	const struct dpe_lists *lists = &want->braid->lists[want->operand];
	const struct dpe_fibres *whole = s->preds ? &lists->closed : &lists->ended;

	want->from = s->ncandidates;
	for (unsigned i = 0; i < lists->active.count; i++) {
		struct dpe_fibre *fibre = lists->active.at[i];

		if (fibre->braid && fibre->leaf->ends &&
			goes_with(s, want->braid, fibre, s->chosen->count))
			*DPE_GROW(s->candidates, s->ncandidates, s->capcandidates) = fibre;
	}
	for (unsigned i = 0; i < whole->count; i++) {
		if (ends_here(s, whole->at[i]) &&
			goes_with(s, want->braid, whole->at[i], s->chosen->count))
			*DPE_GROW(s->candidates, s->ncandidates, s->capcandidates) = whole->at[i];
	}
	want->to = want->next = s->ncandidates;
}

/* False where an operand is left that nothing goes with. */
static bool add_wants(struct search *s, const struct dpe_braid *braid, unsigned but, bool grouped)
{
	unsigned group = s->nwants;

	for (unsigned i = 0; i < braid->leaf->noperands; i++) {
		struct dpe_want *want;

		if (i == but)
			continue;
		want = DPE_GROW(s->wants, s->nwants, s->capwants);
		*want = (struct dpe_want){
			.braid = braid,
			.operand = i,
			.group = group,
			.grouped = grouped,
			.nullable = braid->leaf->operands[i].part->nullable,
		};
		add_candidates(s, want);
		if (want->from == want->to && !want->nullable)
			return false;
	}
	return true;
}

/* ---- leaving out ------------------------------------------------------------------------- */

static bool has_partner(
	const struct search *s, const struct dpe_fibre *fibre, const struct dpe_want *other)
{
	for (unsigned i = other->from; i < other->to; i++) {
		if (*s->work)
			--*s->work;
		if (dpe_fibres_apart(fibre, s->candidates[i]))
			return true;
	}
	return other->nullable;
}

/* True where a candidate was left out. */
static bool leave_out(struct search *s, struct dpe_want *want, const struct dpe_want *other)
{
	unsigned kept = want->from, before = want->to;

	for (unsigned i = want->from; i < want->to; i++) {
		if (has_partner(s, s->candidates[i], other))
			s->candidates[kept++] = s->candidates[i];
	}
	want->to = want->next = kept;
	return kept != before;
}

static bool is_open(const struct search *s)
{
	for (unsigned i = 0; i < s->nwants; i++) {
		if (s->wants[i].to - s->wants[i].from > 1)
			return true;
	}
	return false;
}

/* Until each candidate has one to go with of every other operand. False: an operand has none left. */
static bool leave_out_all(struct search *s)
{
	bool changed = is_open(s);

	while (changed && *s->work) {
		changed = false;
		for (unsigned i = 0; i < s->nwants; i++) {
			for (unsigned j = 0; j < s->nwants; j++) {
				if (i != j)
					changed |= leave_out(s, &s->wants[i], &s->wants[j]);
			}
			if (s->wants[i].from == s->wants[i].to && !s->wants[i].nullable)
				return false;
		}
	}
	return true;
}

/* ---- searching --------------------------------------------------------------------------- */

static void add_chosen(
	struct dpe_chosen *chosen, struct dpe_fibre *fibre, const struct dpe_braid *in)
{
	*DPE_GROW(chosen->at, chosen->count, chosen->cap) = (struct dpe_choice){fibre, in};
}

/* Nothing is chosen for the operand, where all others of its braid are not absent as well. */
static bool may_be_absent(const struct search *s, unsigned level)
{
	const struct dpe_want *want = &s->wants[level];
	unsigned last = want->group + want->braid->leaf->noperands - 1;

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
static bool choose_next(struct search *s, unsigned level)
{
	s->chosen->count = s->wants[level].nchosen;
	s->nwants = s->wants[level].nwants;
	s->ncandidates = s->wants[level].ncandidates;
	while (s->wants[level].next > s->wants[level].from && *s->work) {
		struct dpe_want *want = &s->wants[level];
		struct dpe_fibre *fibre = s->candidates[--want->next];

		if (!goes_with(s, want->braid, fibre, s->chosen->count))
			continue;
		add_chosen(s->chosen, fibre, want->braid);
		if (!fibre->braid || add_wants(s, fibre->braid, DPE_NO_KID, true))
			return true;
		s->chosen->count = s->wants[level].nchosen;
		s->nwants = s->wants[level].nwants;
		s->ncandidates = s->wants[level].ncandidates;
	}
	if (!*s->work || !may_be_absent(s, level))
		return false;
	return s->wants[level].absent = true;
}

static void enter(struct search *s, unsigned level)
{
	struct dpe_want *want = &s->wants[level];

	want->next = want->to;
	want->absent = false;
	want->nchosen = s->chosen->count;
	want->nwants = s->nwants;
	want->ncandidates = s->ncandidates;
}

/* True where it was enough for the callback. */
static bool search(struct search *s, dpe_chosen_fn *each, void *context)
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

static void free_search(struct search *s)
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
		mask |= chosen->at[i].fibre->mask;
	return mask != slice->mask;
}

/* It would be the first candidate. */
static bool is_latest(const struct dpe_lists *lists, const struct dpe_fibre *fibre)
{
	const struct dpe_fibres *ended = &lists->ended;

	return (ended->count ? ended->at[ended->count - 1] : NULL) == fibre;
}

/* What the last match had of the other operands, where nothing came since: most often it still goes. */
static bool try_front(const struct dpe_slice *slice, struct dpe_braid *braid, unsigned operand,
	struct dpe_fibre *fibre, struct dpe_chosen *chosen)
{
	if (!braid->front || braid->outer)
		return false;
	for (unsigned i = 0; i < braid->leaf->noperands; i++) {
		struct dpe_fibre *other = i == operand ? fibre : braid->front[i];

		if (i != operand && !is_latest(&braid->lists[i], other))
			return false;
		if (!other)
			continue;
		if (i != operand && !dpe_fibres_apart(other, fibre))
			return false;
		add_chosen(chosen, other, braid);
	}
	return !binds_all((void *)slice, chosen);
}

static void keep_front(struct dpe_run *run, struct dpe_braid *top, const struct dpe_chosen *chosen)
{
	unsigned count = top->leaf->noperands;
	for (unsigned i = 0; i < chosen->count; i++) {
		if (chosen->at[i].in != top || chosen->at[i].fibre->braid)
			return;
	}
	if (!top->front)
		top->front = dpe_xcalloc(count, sizeof(struct dpe_fibre *));
	for (unsigned i = 0; i < count; i++) {
		dpe_fibre_unref(run->recognizer->pool, top->front[i]);
		top->front[i] = NULL;
	}
	for (unsigned i = 0; i < chosen->count; i++)
		top->front[chosen->at[i].fibre->operand] = dpe_fibre_ref(chosen->at[i].fibre);
}

static void replace_in_front(struct dpe_run *run, struct dpe_braid *top, struct dpe_fibre *fibre)
{
	struct dpe_fibre **at = &top->front[fibre->operand];

	dpe_fibre_unref(run->recognizer->pool, *at);
	*at = dpe_fibre_ref(fibre);
}

bool dpe_choose_match(struct dpe_run *run, const struct dpe_slice *slice, struct dpe_braid *braid,
	unsigned operand, struct dpe_fibre *fibre, struct dpe_chosen *chosen, uint64_t *work)
{
	struct dpe_shape *shape = run->shape;
	struct search s = {
		.chosen = chosen,
		.work = work,
		.wants = shape->wants,
		.capwants = shape->capwants,
		.candidates = shape->candidates,
		.capcandidates = shape->capcandidates,
	};
	struct dpe_braid *top = braid;
	bool found = true;

	chosen->count = 0;
	if (try_front(slice, braid, operand, fibre, chosen)) {
		replace_in_front(run, braid, fibre);
		return true;
	}
	chosen->count = 0;
	add_chosen(chosen, fibre, braid);
	for (; top->outer; top = top->outer)
		add_chosen(chosen, (struct dpe_fibre *)top->owner, top->outer);
	for (struct dpe_braid *at = braid; at && found; operand = at->operand, at = at->outer)
		found = add_wants(&s, at, operand, false);
	found = found && leave_out_all(&s) && search(&s, binds_all, (void *)slice);
	if (found)
		keep_front(run, top, chosen);
	shape->wants = s.wants;
	shape->capwants = s.capwants;
	shape->candidates = s.candidates;
	shape->capcandidates = s.capcandidates;
	return found;
}

/* ---- what is whole ------------------------------------------------------------------ */

void dpe_choose_whole(const struct dpe_braid *braid, const struct dpe_preds *preds,
	dpe_chosen_fn *each, void *context, uint64_t *work)
{
	struct dpe_chosen chosen = {0};
	struct search s = {.chosen = &chosen, .preds = preds, .work = work};

	if (add_wants(&s, braid, DPE_NO_KID, true))
		search(&s, each, context);
	free(chosen.at);
	free_search(&s);
}
