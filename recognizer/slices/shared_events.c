/* Events without a slice's variables belong to all slices. Where they can complete nothing they are taken once, in the
 * slice without values; the others look at its events and partial matches beside their own, when an event of their own
 * comes. docs/internals/shared-events.md says why that is enough. */
#include "recognizer/slices/cells.h"
#include "recognizer/verdicts/verdicts.h"

/* ---- when ---------------------------------------------------------------------------------- */

/* A state, and whether only shared events led there. */
struct reached {
	dpe_state state;
	bool shared;
};

struct shared_walk {
	struct dpe_run *run;
	struct reached at[DPE_SHARED_STATES];
	unsigned count;
	bool may_follow; /* events of a slice; … */
	bool follow;     /* … and they do */
};

static bool is_shared(const struct dpe_run *run, unsigned literal)
{
	return !run->masks[run->rule->literals[literal].pattern];
}

/* False if there is no room. */
static bool reach(struct shared_walk *walk, dpe_state state, bool shared)
{
	for (unsigned i = 0; i < walk->count; i++) {
		if (walk->at[i].state == state && walk->at[i].shared == shared)
			return true;
	}
	if (walk->count == DPE_SHARED_STATES)
		return false;
	walk->at[walk->count++] = (struct reached){state, shared};
	return true;
}

/* A shared event follows some event of a partial match that has events of the slice. With shared events alone it follows
 * none, and completes no match. */
static bool move_suits(struct shared_walk *walk, struct reached from, const struct dpe_move *move, bool shared)
{
	if (!shared)
		return reach(walk, move->to, false);
	if (from.shared)
		return !move->npreds && !dpe_automaton_final(walk->run->automaton, move->to) &&
		       reach(walk, move->to, true);
	walk->follow = true;
	return walk->may_follow && move->npreds && reach(walk, move->to, false);
}

static bool moves_suit(struct shared_walk *walk, struct reached from)
{
	for (unsigned literal = 0; literal < walk->run->rule->nliterals; literal++) {
		unsigned count;
		const struct dpe_move *moves =
			dpe_automaton_moves(walk->run->automaton, from.state, literal, &count);

		for (unsigned i = 0; i < count; i++) {
			if (!move_suits(walk, from, &moves[i], is_shared(walk->run, literal)))
				return false;
		}
	}
	return true;
}

/* Partial matches of shared events alone are independent events. */
static bool automaton_suits(struct shared_walk *walk)
{
	for (unsigned i = 0; i < walk->count; i++) {
		if (!moves_suit(walk, walk->at[i]))
			return false;
	}
	return true;
}

/* No slice begins with the partial matches of another one but the shared one. And each that an event belongs to is
 * not looked at to count how often both events of `a(x) ; c` occur independently. */
static bool may_follow(const struct dpe_run *run)
{
	for (unsigned i = 0; i < run->rule->npatterns; i++) {
		if (run->masks[i] && run->masks[i] != run->slices->full)
			return false;
	}
	return !run->second;
}

static bool any_pattern_shared(const struct dpe_run *run)
{
	for (unsigned i = 0; i < run->rule->npatterns; i++) {
		if (!run->masks[i])
			return true;
	}
	return false;
}

/* Such an event is in all slices or in none, and ends none. */
static bool patterns_suit(const struct dpe_run *run)
{
	for (unsigned i = 0; i < run->rule->npatterns; i++) {
		if (!run->masks[i] && (run->late[i] || run->reads[i].ends))
			return false;
	}
	return true;
}

static bool rule_suits(const struct dpe_run *run)
{
	return run->rule->mode == DPE_DETECT && run->slices->compacts && !run->nnamed && !run->acts &&
	       !run->ninner_actions && !dpe_is_traced(run->recognizer) && any_pattern_shared(run) &&
	       patterns_suit(run);
}

void dpe_slices_share(struct dpe_run *run)
{
	struct shared_walk walk = {
		.run = run, .at = {{0, true}}, .count = 1, .may_follow = may_follow(run)};

	if (!rule_suits(run) || !automaton_suits(&walk))
		return;
	run->slices->shares = true;
	run->shared_literals = dpe_xcalloc(run->rule->nliterals + 1, sizeof(*run->shared_literals));
	for (unsigned i = 0; i < run->rule->nliterals; i++)
		run->shared_literals[i] = is_shared(run, i);
	if (walk.follow)
		run->slices->awaited = dpe_awaited_new();
}

/* ---- beside those of a slice --------------------------------------------------------------- */

void dpe_shared_inherit(const struct dpe_run *run, struct dpe_slice *slice)
{
	if (!run->shared)
		return;
	slice->overflown |= run->shared->overflown;
	slice->searched |= run->shared->searched;
}

void dpe_shared_preds(struct dpe_run *run, const struct dpe_slice *slice, const struct dpe_stamp *stamp)
{
	if (!run->shared || slice == run->shared)
		return;
	dpe_order_preds(&run->shared->order, stamp, &run->slices->shared_preds);
	dpe_preds_join(&run->preds, &run->slices->shared_preds);
}
