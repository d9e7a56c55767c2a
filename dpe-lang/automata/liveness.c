/* Live and dead states: can a final state be reached? Searched in an automaton without registers, one
 * row of operand states for each group of operands that synchronise, best first.
 * Why registers do not matter, and what is given up: docs/internals/liveness.md. */
#include "dpe-lang/automata/attributes.h"

#include <stdlib.h>
#include <string.h>

/* Of an operand within a & that is at its end as a whole: nothing follows. */
#define OVER UINT32_MAX

enum liveness { UNKNOWN, LIVE, DEAD };

struct row {
	UT_hash_handle hh;
	enum liveness liveness;
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

struct dpe_ends {
	const struct dpe_rule *rule;
	const struct dpe_node *tree;
	struct dpe_room room;
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

static void collect_operands(struct dpe_ends *ends, struct dpe_auto *a)
{
	if (!is_outer(a)) {
		*DPE_GROW(ends->operands, ends->noperands, ends->capoperands) = a;
		return;
	}
	collect_operands(ends, a->left);
	collect_operands(ends, a->right);
}

static void join_groups(struct dpe_ends *ends, unsigned one, unsigned other)
{
	unsigned low = one < other ? one : other, high = one < other ? other : one;

	for (unsigned i = 0; low != high && i < ends->noperands; i++) {
		if (ends->group_of[i] == high)
			ends->group_of[i] = low;
	}
}

static void find_owners(struct dpe_ends *ends, unsigned literal)
{
	ends->first[literal] = ends->noperands;
	for (unsigned i = 0; i < ends->noperands; i++) {
		if (!ends->operands[i]->literals[literal])
			continue;
		if (ends->first[literal] == ends->noperands)
			ends->first[literal] = i;
		else
			join_groups(ends, ends->group_of[ends->first[literal]], ends->group_of[i]);
	}
}

static void *array_of(struct dpe_ends *ends, unsigned count, size_t size)
{
	return dpe_arena_alloc(ends->arena, (count + 1) * size);
}

static void make_groups(struct dpe_ends *ends)
{
	collect_operands(ends, ends->root);
	ends->states = array_of(ends, ends->noperands, sizeof(*ends->states));
	ends->group_of = array_of(ends, ends->noperands, sizeof(*ends->group_of));
	ends->groups = array_of(ends, ends->noperands, sizeof(*ends->groups));
	ends->first = array_of(ends, ends->rule->nliterals, sizeof(*ends->first));
	ends->ngroups = ends->noperands;
	for (unsigned i = 0; i < ends->noperands; i++)
		ends->group_of[i] = i;
	for (unsigned literal = 0; literal < ends->rule->nliterals; literal++)
		find_owners(ends, literal);
	for (unsigned i = 0; i < ends->noperands; i++) {
		struct group *group = &ends->groups[ends->group_of[i]];

		if (!group->members)
			group->members =
				array_of(ends, ends->noperands - i, sizeof(struct dpe_auto *));
		group->members[group->count++] = ends->operands[i];
	}
}

/* ---- the beginning and the end ----------------------------------------------------------- */

static void begin(struct dpe_ends *ends)
{
	ends->arena = dpe_arena_new();
	ends->room.bytes = 0;
	ends->room.full = false;
	ends->generation++;
	ends->root = dpe_auto_new_bare(ends->arena, ends->rule, ends->tree, &ends->room);
	make_groups(ends);
}

static void clear(struct dpe_ends *ends)
{
	for (unsigned i = 0; i < ends->ngroups; i++)
		HASH_CLEAR(hh, ends->groups[i].rows);
	free(ends->operands);
	dpe_auto_free(ends->root);
	dpe_arena_free(ends->arena);
	ends->operands = NULL;
	ends->root = NULL;
	ends->arena = NULL;
	ends->noperands = ends->capoperands = ends->ngroups = 0;
}

struct dpe_ends *dpe_ends_new(const struct dpe_rule *rule, const struct dpe_node *tree)
{
	struct dpe_ends *ends = dpe_xcalloc(1, sizeof(*ends));

	ends->rule = rule;
	ends->tree = tree;
	ends->room.most = DPE_SEARCH_BYTES;
	begin(ends);
	return ends;
}

void dpe_ends_free(struct dpe_ends *ends)
{
	if (!ends)
		return;
	clear(ends);
	free(ends);
}

bool dpe_ends_given_up(const struct dpe_ends *ends)
{
	return ends->given_up;
}

/* ---- rows -------------------------------------------------------------------------------- */

/* Fills in the states of operands from one on; the next one. */
static unsigned strip(struct dpe_ends *ends, struct dpe_auto *bare, const struct dpe_auto *a,
	dpe_state state, unsigned at)
{
	const struct dpe_key *key = state == OVER ? NULL : a->states[state]->key;
	bool over = !key || (is_outer(bare) && key->form == DPE_FORM_DONE);

	if (is_outer(bare)) {
		at = strip(ends, bare->left, a->left, over ? OVER : key->left, at);
		return strip(ends, bare->right, a->right, over ? OVER : key->right, at);
	}
	ends->states[at] = over ? OVER : dpe_auto_strip(bare, a, state, ends->generation);
	return at + 1;
}

static struct row *find_row(struct dpe_ends *ends, struct group *group, const dpe_state *at)
{
	size_t size = group->count * sizeof(*at);
	struct row *row;

	HASH_FIND(hh, group->rows, at, size, row);
	if (row)
		return row;
	row = dpe_arena_alloc(ends->arena, sizeof(*row) + size);
	memcpy(row->at, at, size);
	HASH_ADD_KEYPTR(hh, group->rows, row->at, size, row);
	dpe_room_take(&ends->room, sizeof(*row) + size + sizeof(UT_hash_bucket));
	return row;
}

static unsigned count_away(const struct group *group, const struct row *row)
{
	unsigned away = 0;

	for (unsigned i = 0; i < group->count; i++) {
		if (row->at[i] != OVER)
			away += group->members[i]->states[row->at[i]]->away;
	}
	return away;
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
#define AWAY_WEIGHS 5

struct row_search {
	struct dpe_ends *ends;
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

	search->ends->work++;
	row->events = from ? from->events + 1 : 0;
	pending = pending_at(search, count_away(search->group, row) * AWAY_WEIGHS + row->events);
	row->liveness = DEAD;
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
		row = find_row(search->ends, search->group, search->to);
		if (row->liveness == UNKNOWN)
			see(search, row, search->from);
		return row->liveness == LIVE;
	}
	if (search->from->at[at] == OVER)
		return false;
	s = dpe_auto_expand(group->members[at], search->from->at[at]);
	for (unsigned i = 0; i < s->nmoves && !search->ends->room.full; i++) {
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
	const struct dpe_ends *ends = search->ends;
	const struct group *group = search->group;

	if (is_final(group, row))
		return true;
	search->from = row;
	memcpy(search->to, row->at, group->count * sizeof(*row->at));
	for (unsigned m = 0; m < group->count && !ends->room.full; m++) {
		const struct dpe_node_state *s;

		if (row->at[m] == OVER)
			continue;
		s = dpe_auto_expand(group->members[m], row->at[m]);
		for (unsigned i = 0; i < s->nmoves && !ends->room.full; i++) {
			search->literal = s->moves[i].literal;
			search->to[m] = s->moves[i].to;
			if (ends->operands[ends->first[search->literal]] == group->members[m] &&
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
	for (; row && row->liveness != LIVE; row = row->from)
		row->liveness = LIVE;
	for (row = search->newest; row; row = row->earlier) {
		if (row->liveness == DEAD)
			row->liveness = UNKNOWN;
	}
}

static bool is_too_much(const struct dpe_ends *ends)
{
	return ends->room.full || ends->work > DPE_SEARCH_WORK;
}

/* From a row on, towards an end, until one is found, which is soon where there is one. What was visited
 * in vain is dead. Rows are marked DEAD when first seen and LIVE on success. */
static bool find_final(struct dpe_ends *ends, struct group *group, struct row *start)
{
	struct row_search search = {.ends = ends, .group = group};
	struct row *row;
	bool found = false;

	search.to = dpe_xcalloc(group->count, sizeof(*search.to));
	see(&search, start, NULL);
	while (!found && !is_too_much(ends) && (row = take_next(&search)))
		found = look_on(&search, row);
	if (found)
		note_live(&search, row);
	free(search.pending);
	free(search.to);
	return found;
}

/* True where the group cannot be completed from the states at hand, or that is too much to find out. */
static bool group_never(struct dpe_ends *ends, struct group *group, unsigned number)
{
	dpe_state at[group->count];
	unsigned count = 0;
	struct row *row;

	for (unsigned i = 0; i < ends->noperands; i++) {
		if (ends->group_of[i] == number)
			at[count++] = ends->states[i];
	}
	row = find_row(ends, group, at);
	if (row->liveness != UNKNOWN)
		return row->liveness == DEAD;
	return !find_final(ends, group, row);
}

/* False also where that is too much to find out. */
static bool never(struct dpe_ends *ends, const struct dpe_auto *a, dpe_state state)
{
	bool never = false;

	strip(ends, ends->root, a, state, 0);
	for (unsigned i = 0; i < ends->ngroups && !never; i++)
		never = ends->groups[i].count && group_never(ends, &ends->groups[i], i);
	return never && !is_too_much(ends);
}

void dpe_ends_step(struct dpe_ends *ends)
{
	if (ends)
		ends->work = 0;
}

bool dpe_ends_never(struct dpe_ends *ends, const struct dpe_auto *a, dpe_state state)
{
	bool answer;

	if (ends->given_up)
		return false;
	answer = never(ends, a, state);
	if (ends->room.full) {
		/* What was found out before takes room that this search may do with. */
		clear(ends);
		begin(ends);
		answer = never(ends, a, state);
	}
	if (!is_too_much(ends))
		return answer;
	ends->given_up = true;
	clear(ends);
	return false;
}
