/* Live and dead states: can a final state be reached? Searched in an automaton without registers, one
 * row of operand states for each group of operands that synchronise, best first.
 * Why registers do not matter, and what is given up: docs/internals/liveness.md. */
#include "dpe-lang/automata/attributes.h"

#include <stdlib.h>
#include <string.h>

/* Of an operand within a & that is at its end as a whole: nothing follows. */
#define OVER UINT32_MAX

enum row_status { UNKNOWN, LIVE, DEAD };

struct row {
	UT_hash_handle hh;
	enum row_status status;
	/* In the search at hand: */
	unsigned events;     /* that led here, … */
	struct row *from;    /* … the last of them from here */
	struct row *next;    /* what to go on with after this one, of what is as promising */
	struct row *earlier; /* what was seen before it */
	dpe_state at[];      /* by member of the group */
};

/* Operands that share events with each other, and with no others. */
struct group {
	struct dpe_auto **members;
	unsigned count;
	struct row *rows;
};

struct dpe_liveness {
	const struct dpe_rule *rule;
	const struct dpe_node *tree;
	struct dpe_budget budget;
	struct dpe_arena *arena;
	struct dpe_auto *root;
	uint32_t generation; /* of the automaton: the so many-th */
	unsigned noperands, capoperands, ngroups;
	struct dpe_auto **operands;
	dpe_state *states; /* by operand, of what is asked for */
	unsigned *group_of;
	struct group *groups;
	unsigned *first; /* by literal: the first operand that has it */
	uint64_t work;   /* rows seen since the last step began */
	bool given_up;
};

/* ---- operands ---------------------------------------------------------------------------- */

static bool is_outer(const struct dpe_auto *a)
{
	return a->node->kind == DPE_NODE_PAR && !a->node->nonempty;
}

static void collect_operands(struct dpe_liveness *liveness, struct dpe_auto *a)
{
	if (!is_outer(a)) {
		*DPE_GROW(liveness->operands, liveness->noperands, liveness->capoperands) = a;
		return;
	}
	collect_operands(liveness, a->left);
	collect_operands(liveness, a->right);
}

static void join_groups(struct dpe_liveness *liveness, unsigned one, unsigned other)
{
	unsigned low = one < other ? one : other, high = one < other ? other : one;

	for (unsigned i = 0; low != high && i < liveness->noperands; i++) {
		if (liveness->group_of[i] == high)
			liveness->group_of[i] = low;
	}
}

static void find_owners(struct dpe_liveness *liveness, unsigned literal)
{
	liveness->first[literal] = liveness->noperands;
	for (unsigned i = 0; i < liveness->noperands; i++) {
		if (!liveness->operands[i]->literals[literal])
			continue;
		if (liveness->first[literal] == liveness->noperands)
			liveness->first[literal] = i;
		else
			join_groups(liveness, liveness->group_of[liveness->first[literal]], liveness->group_of[i]);
	}
}

static void *array_of(struct dpe_liveness *liveness, unsigned count, size_t size)
{
	return dpe_arena_alloc(liveness->arena, (count + 1) * size);
}

static void make_groups(struct dpe_liveness *liveness)
{
	collect_operands(liveness, liveness->root);
	liveness->states = array_of(liveness, liveness->noperands, sizeof(*liveness->states));
	liveness->group_of = array_of(liveness, liveness->noperands, sizeof(*liveness->group_of));
	liveness->groups = array_of(liveness, liveness->noperands, sizeof(*liveness->groups));
	liveness->first = array_of(liveness, liveness->rule->nliterals, sizeof(*liveness->first));
	liveness->ngroups = liveness->noperands;
	for (unsigned i = 0; i < liveness->noperands; i++)
		liveness->group_of[i] = i;
	for (unsigned literal = 0; literal < liveness->rule->nliterals; literal++)
		find_owners(liveness, literal);
	for (unsigned i = 0; i < liveness->noperands; i++) {
		struct group *group = &liveness->groups[liveness->group_of[i]];

		if (!group->members)
			group->members =
				array_of(liveness, liveness->noperands - i, sizeof(struct dpe_auto *));
		group->members[group->count++] = liveness->operands[i];
	}
}

/* ---- the beginning and the end ----------------------------------------------------------- */

static void begin(struct dpe_liveness *liveness)
{
	liveness->arena = dpe_arena_new();
	liveness->budget.bytes = 0;
	liveness->budget.exceeded = false;
	liveness->generation++;
	liveness->root = dpe_auto_new_skeleton(liveness->arena, liveness->rule, liveness->tree, &liveness->budget);
	make_groups(liveness);
}

static void clear(struct dpe_liveness *liveness)
{
	for (unsigned i = 0; i < liveness->ngroups; i++)
		HASH_CLEAR(hh, liveness->groups[i].rows);
	free(liveness->operands);
	dpe_auto_free(liveness->root);
	dpe_arena_free(liveness->arena);
	liveness->operands = NULL;
	liveness->root = NULL;
	liveness->arena = NULL;
	liveness->noperands = liveness->capoperands = liveness->ngroups = 0;
}

struct dpe_liveness *dpe_liveness_new(const struct dpe_rule *rule, const struct dpe_node *tree)
{
	struct dpe_liveness *liveness = dpe_xcalloc(1, sizeof(*liveness));

	liveness->rule = rule;
	liveness->tree = tree;
	liveness->budget.limit = DPE_SEARCH_BYTES;
	begin(liveness);
	return liveness;
}

void dpe_liveness_free(struct dpe_liveness *liveness)
{
	if (!liveness)
		return;
	clear(liveness);
	free(liveness);
}

bool dpe_liveness_given_up(const struct dpe_liveness *liveness)
{
	return liveness->given_up;
}

/* ---- rows -------------------------------------------------------------------------------- */

/* Fills in the states of operands from one on; the next one. */
static unsigned strip(struct dpe_liveness *liveness, struct dpe_auto *skeleton, const struct dpe_auto *a,
	dpe_state state, unsigned at)
{
	const struct dpe_key *key = state == OVER ? NULL : a->states[state]->key;
	bool over = !key || (is_outer(skeleton) && key->form == DPE_FORM_DONE);

	if (is_outer(skeleton)) {
		at = strip(liveness, skeleton->left, a->left, over ? OVER : key->left, at);
		return strip(liveness, skeleton->right, a->right, over ? OVER : key->right, at);
	}
	liveness->states[at] = over ? OVER : dpe_auto_skeleton_state(skeleton, a, state, liveness->generation);
	return at + 1;
}

static struct row *find_row(struct dpe_liveness *liveness, struct group *group, const dpe_state *at)
{
	size_t size = group->count * sizeof(*at);
	struct row *row;

	HASH_FIND(hh, group->rows, at, size, row);
	if (row)
		return row;
	row = dpe_arena_alloc(liveness->arena, sizeof(*row) + size);
	memcpy(row->at, at, size);
	HASH_ADD_KEYPTR(hh, group->rows, row->at, size, row);
	dpe_budget_take(&liveness->budget, sizeof(*row) + size + sizeof(UT_hash_bucket));
	return row;
}

static unsigned count_distance(const struct group *group, const struct row *row)
{
	unsigned distance = 0;

	for (unsigned i = 0; i < group->count; i++) {
		if (row->at[i] != OVER)
			distance += group->members[i]->states[row->at[i]]->distance;
	}
	return distance;
}

static bool is_final(const struct group *group, const struct row *row)
{
	for (unsigned i = 0; i < group->count; i++) {
		if (row->at[i] != OVER && !group->members[i]->states[row->at[i]]->final)
			return false;
	}
	return true;
}

/* ---- searching --------------------------------------------------------------------------- */

/* Rows that were seen are gone on from in this order: those first that are the fewest events away
 * from an end, if operands did not wait for each other, and among these those that were come to
 * soon: else one would look at all ways round a place where they do wait. */
#define DISTANCE_WEIGHT 5

struct row_search {
	struct dpe_liveness *liveness;
	struct group *group;
	struct row **pending; /* by what that comes to; the newest */
	unsigned npending, lowest;
	struct row *newest;
	/* The step at hand: */
	struct row *from;
	unsigned literal;
	dpe_state *to;
};

static struct row **pending_at(struct row_search *search, unsigned cost)
{
	unsigned old = search->npending;

	if (cost >= old) {
		search->npending = cost * 2 + 16;
		search->pending = dpe_xrealloc(
			search->pending, search->npending * sizeof(*search->pending));
		for (unsigned i = old; i < search->npending; i++)
			search->pending[i] = NULL;
	}
	if (cost < search->lowest)
		search->lowest = cost;
	return &search->pending[cost];
}

static void see(struct row_search *search, struct row *row, struct row *from)
{
	struct row **pending;

	search->liveness->work++;
	row->events = from ? from->events + 1 : 0;
	pending = pending_at(search, count_distance(search->group, row) * DISTANCE_WEIGHT + row->events);
	row->status = DEAD;
	row->from = from;
	row->next = *pending;
	row->earlier = search->newest;
	search->newest = *pending = row;
}

/* NULL: none is left. */
static struct row *take_next(struct row_search *search)
{
	for (; search->lowest < search->npending; search->lowest++) {
		struct row **pending = &search->pending[search->lowest], *row = *pending;

		if (!row)
			continue;
		*pending = row->next;
		return row;
	}
	return NULL;
}

/* The event moves all members that have it, from this one on. True where what it leads to is known to
 * lead to an end. */
static bool step_on(struct row_search *search, unsigned at)
{
	const struct group *group = search->group;
	const struct dpe_node_state *s;
	struct row *row;

	while (at < group->count && !group->members[at]->literals[search->literal])
		at++;
	if (at == group->count) {
		row = find_row(search->liveness, search->group, search->to);
		if (row->status == UNKNOWN)
			see(search, row, search->from);
		return row->status == LIVE;
	}
	if (search->from->at[at] == OVER)
		return false;
	s = dpe_auto_expand(group->members[at], search->from->at[at]);
	for (unsigned i = 0; i < s->nmoves && !search->liveness->budget.exceeded; i++) {
		if (s->moves[i].literal != search->literal)
			continue;
		search->to[at] = s->moves[i].to;
		if (step_on(search, at + 1))
			return true;
	}
	search->to[at] = search->from->at[at];
	return false;
}

/* Sees what the row leads to; true where that is an end, or known to lead to one. */
static bool look_on(struct row_search *search, struct row *row)
{
	const struct dpe_liveness *liveness = search->liveness;
	const struct group *group = search->group;

	if (is_final(group, row))
		return true;
	search->from = row;
	memcpy(search->to, row->at, group->count * sizeof(*row->at));
	for (unsigned m = 0; m < group->count && !liveness->budget.exceeded; m++) {
		const struct dpe_node_state *s;

		if (row->at[m] == OVER)
			continue;
		s = dpe_auto_expand(group->members[m], row->at[m]);
		for (unsigned i = 0; i < s->nmoves && !liveness->budget.exceeded; i++) {
			search->literal = s->moves[i].literal;
			search->to[m] = s->moves[i].to;
			if (liveness->operands[liveness->first[search->literal]] == group->members[m] &&
				step_on(search, m + 1))
				return true;
		}
		search->to[m] = row->at[m];
	}
	return false;
}

/* What led to the row is live, as it is; a search that succeeded says nothing about what it did not
 * come to. */
static void note_live(struct row_search *search, struct row *row)
{
	for (; row && row->status != LIVE; row = row->from)
		row->status = LIVE;
	for (row = search->newest; row; row = row->earlier) {
		if (row->status == DEAD)
			row->status = UNKNOWN;
	}
}

static bool is_too_much(const struct dpe_liveness *liveness)
{
	return liveness->budget.exceeded || liveness->work > DPE_SEARCH_WORK;
}

/* From a row on, towards an end, until one is found, which is soon where there is one. What was visited
 * in vain is dead. Rows are marked DEAD when first seen and LIVE on success. */
static bool find_final(struct dpe_liveness *liveness, struct group *group, struct row *start)
{
	struct row_search search = {.liveness = liveness, .group = group};
	struct row *row;
	bool found = false;

	search.to = dpe_xcalloc(group->count, sizeof(*search.to));
	see(&search, start, NULL);
	while (!found && !is_too_much(liveness) && (row = take_next(&search)))
		found = look_on(&search, row);
	if (found)
		note_live(&search, row);
	free(search.pending);
	free(search.to);
	return found;
}

/* True where the group cannot be completed from the states at hand, or that is too much to find out. */
static bool group_never(struct dpe_liveness *liveness, struct group *group, unsigned number)
{
	dpe_state at[group->count];
	unsigned count = 0;
	struct row *row;

	for (unsigned i = 0; i < liveness->noperands; i++) {
		if (liveness->group_of[i] == number)
			at[count++] = liveness->states[i];
	}
	row = find_row(liveness, group, at);
	if (row->status != UNKNOWN)
		return row->status == DEAD;
	return !find_final(liveness, group, row);
}

/* False also where that is too much to find out. */
static bool never(struct dpe_liveness *liveness, const struct dpe_auto *a, dpe_state state)
{
	bool never = false;

	strip(liveness, liveness->root, a, state, 0);
	for (unsigned i = 0; i < liveness->ngroups && !never; i++)
		never = liveness->groups[i].count && group_never(liveness, &liveness->groups[i], i);
	return never && !is_too_much(liveness);
}

void dpe_liveness_begin_step(struct dpe_liveness *liveness)
{
	if (liveness)
		liveness->work = 0;
}

bool dpe_liveness_is_dead(struct dpe_liveness *liveness, const struct dpe_auto *a, dpe_state state)
{
	bool answer;

	if (liveness->given_up)
		return false;
	answer = never(liveness, a, state);
	if (liveness->budget.exceeded) {
		/* What was found out before takes room that this search may do with. */
		clear(liveness);
		begin(liveness);
		answer = never(liveness, a, state);
	}
	if (!is_too_much(liveness))
		return answer;
	liveness->given_up = true;
	clear(liveness);
	return false;
}
