/* Partial matches, and the sets and trails of events that they share. */
#include "recognizer/engines/conjunction.h"

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

static struct dpe_set *ref_set(struct dpe_set *set)
{
	if (set)
		set->refs++;
	return set;
}

static void unref_set(struct dpe_pool *pool, struct dpe_set *set)
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

static bool names(const struct dpe_pred *preds, unsigned npreds, const struct dpe_occurrence *event)
{
	for (unsigned i = 0; i < npreds; i++) {
		if (preds[i].occurrence == event)
			return true;
	}
	return false;
}

/* The set (or NULL) without some events, and with one more. */
static struct dpe_set *replace_events(struct dpe_pool *pool, const struct dpe_set *set,
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

/* ---- trails ------------------------------------------------------------------------------ */

static struct dpe_trail *ref_trail(struct dpe_trail *trail)
{
	if (trail)
		trail->refs++;
	return trail;
}

static void unref_trail(struct dpe_pool *pool, struct dpe_trail *trail)
{
	while (trail && !--trail->refs) {
		struct dpe_trail *before = trail->before;

		dpe_occurrence_unref(trail->occurrence);
		dpe_pool_give(pool, trail, sizeof(*trail));
		trail = before;
	}
}

/* ---- partial matches ----------------------------------------------------------------------- */

struct dpe_partial *dpe_partial_ref(struct dpe_partial *partial)
{
	partial->refs++;
	return partial;
}

void dpe_partial_unref(const struct dpe_run *run, struct dpe_partial *partial)
{
	struct dpe_pool *pool = run->recognizer->pool;
	const struct dpe_run *engine;

	if (!partial || --partial->refs)
		return;
	engine = run->conjunction->operands[partial->operand].run;
	engine->follow->drop(engine, &partial->config);
	unref_set(pool, partial->first);
	unref_set(pool, partial->last);
	unref_trail(pool, partial->trail);
	dpe_pool_give(pool, partial, sizeof(*partial));
}

/* ---- one more event -------------------------------------------------------------------------- */

static struct dpe_trail *extend_trail(struct dpe_pool *pool, struct dpe_trail *before,
	const struct dpe_config_step *step, struct dpe_occurrence *occurrence)
{
	struct dpe_trail *trail = dpe_pool_take(pool, sizeof(*trail));

	*trail = (struct dpe_trail){
		.refs = 1,
		.positions = step->positions,
		.npositions = step->npositions,
		.occurrence = dpe_occurrence_ref(occurrence),
		.before = ref_trail(before),
	};
	return trail;
}

/* An event without predecessors in the partial match is a minimal one. */
struct dpe_partial *dpe_partial_extend(struct dpe_run *run, const struct dpe_partial *from,
	const struct dpe_config *config, const struct dpe_config_step *step, struct dpe_occurrence *occurrence,
	uint64_t mask)
{
	const struct dpe_run *engine = run->conjunction->operands[from->operand].run;
	struct dpe_pool *pool = run->recognizer->pool;
	struct dpe_partial *partial = dpe_pool_take(pool, sizeof(*partial));

	*partial = (struct dpe_partial){
		.refs = 1,
		.operand = from->operand,
		.config = engine->follow->take(engine, config, step, occurrence),
		.first = step->npreds ? ref_set(from->first)
				      : replace_events(pool, from->first, NULL, 0, occurrence),
		.last = run->conjunction->compact
				? NULL
				: replace_events(pool, from->last, step->preds, step->npreds, occurrence),
		.trail = extend_trail(pool, from->trail, step, occurrence),
		.mask = from->mask | mask,
	};
	return partial;
}

struct dpe_partial *dpe_partial_adopt(
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
	copy->config = run->follow->copy(run, &copy->config);
	ref_set(copy->first);
	ref_trail(copy->trail);
	partial->refs--;
	return copy;
}

bool dpe_partial_is_independent(const struct dpe_partial *partial)
{
	const struct dpe_trail *trail = partial->trail;
	unsigned left = partial->first ? partial->first->count : 0;

	while (left && trail) {
		trail = trail->before;
		left--;
	}
	return !left && !trail && partial->trail;
}
