/* Live and dead states: can a final state be reached? Searched in an automaton without registers, one
 * row of operand states for each group of operands that synchronise, best first.
 * Why registers do not matter, and what is given up: docs/internals/liveness.md. */
#include "dpe-lang/automata/attributes.h"

#include <stdlib.h>
#include <string.h>

/* An operand of a & that has ended as a whole. */
#define OVER UINT32_MAX

enum row_status { UNKNOWN, LIVE, DEAD };

struct row {
	UT_hash_handle hh;
	enum row_status status;
	/* In the current search: */
	unsigned events;     /* on the path to this row */
	struct row *from;    /* the row before it on that path */
	struct row *next;    /* in the list of pending rows of one cost */
	struct row *earlier; /* the row visited before this one */
	dpe_state at[];      /* by member of the group */
};

/* Operands that share events, directly or through each other. */
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
	uint32_t generation; /* counts the skeletons that were built */
	unsigned noperands, capoperands, ngroups;
	struct dpe_auto **operands;
	dpe_state *states; /* by operand, of the state in question */
	unsigned *group_of;
	struct group *groups;
	unsigned *first; /* by literal: the first operand that has it */
	uint64_t work;   /* rows visited since the last step began */
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

/* Enters the skeleton states of the operands from number `at` on; returns the number after them. */
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

/* Pending rows are expanded by cost: their distance to a final row, if operands did not wait for each
 * other, and, weighing less, the events that led to them: otherwise the search would explore all
 * interleavings around a point where operands do wait. */
#define DISTANCE_WEIGHT 5

struct row_search {
	struct dpe_liveness *liveness;
	struct group *group;
	struct row **pending; /* by cost, the newest first */
	unsigned npending, lowest;
	struct row *newest;
	/* The current step: */
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

static void visit(struct row_search *search, struct row *row, struct row *from)
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

/* The cheapest pending row, or NULL. */
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

/* Moves member `at` and all later ones that have the event. True if the row that results is known to be
 * live. */
static bool move_members(struct row_search *search, unsigned at)
{
	const struct group *group = search->group;
	const struct dpe_node_state *s;
	struct row *row;

	while (at < group->count && !group->members[at]->literals[search->literal])
		at++;
	if (at == group->count) {
		row = find_row(search->liveness, search->group, search->to);
		if (row->status == UNKNOWN)
			visit(search, row, search->from);
		return row->status == LIVE;
	}
	if (search->from->at[at] == OVER)
		return false;
	s = dpe_auto_expand(group->members[at], search->from->at[at]);
	for (unsigned i = 0; i < s->nmoves && !search->liveness->budget.exceeded; i++) {
		if (s->moves[i].literal != search->literal)
			continue;
		search->to[at] = s->moves[i].to;
		if (move_members(search, at + 1))
			return true;
	}
	search->to[at] = search->from->at[at];
	return false;
}

/* Visits the successors of a row; true if it is final or one of them is known to be live. */
static bool visit_successors(struct row_search *search, struct row *row)
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
				move_members(search, m + 1))
				return true;
		}
		search->to[m] = row->at[m];
	}
	return false;
}

/* The rows on the path to a live row are live; a successful search proves nothing about the others. */
static void note_live(struct row_search *search, struct row *row)
{
	for (; row && row->status != LIVE; row = row->from)
		row->status = LIVE;
	for (row = search->newest; row; row = row->earlier) {
		if (row->status == DEAD)
			row->status = UNKNOWN;
	}
}

static bool exceeds_limits(const struct dpe_liveness *liveness)
{
	return liveness->budget.exceeded || liveness->work > DPE_SEARCH_WORK;
}

/* Searches for a final row. Rows are marked DEAD when first visited; success resets that. */
static bool find_final(struct dpe_liveness *liveness, struct group *group, struct row *start)
{
	struct row_search search = {.liveness = liveness, .group = group};
	struct row *row;
	bool found = false;

	search.to = dpe_xcalloc(group->count, sizeof(*search.to));
	visit(&search, start, NULL);
	while (!found && !exceeds_limits(liveness) && (row = take_next(&search)))
		found = visit_successors(&search, row);
	if (found)
		note_live(&search, row);
	free(search.pending);
	free(search.to);
	return found;
}

/* True if the group is dead in the current states, or the search is given up. */
static bool group_is_dead(struct dpe_liveness *liveness, struct group *group, unsigned number)
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

/* False also if the search is given up. */
static bool is_dead(struct dpe_liveness *liveness, const struct dpe_auto *a, dpe_state state)
{
	bool dead = false;

	strip(liveness, liveness->root, a, state, 0);
	for (unsigned i = 0; i < liveness->ngroups && !dead; i++)
		dead = liveness->groups[i].count && group_is_dead(liveness, &liveness->groups[i], i);
	return dead && !exceeds_limits(liveness);
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
	answer = is_dead(liveness, a, state);
	if (liveness->budget.exceeded) {
		/* Results of earlier searches occupy the budget: retry without them. */
		clear(liveness);
		begin(liveness);
		answer = is_dead(liveness, a, state);
	}
	if (!exceeds_limits(liveness))
		return answer;
	liveness->given_up = true;
	clear(liveness);
	return false;
}
