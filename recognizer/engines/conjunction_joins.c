/* Partial matches of several independent events that all later ones follow, as of a and b in `(a & b) ; c`, are not kept:
 * with many threads there would be one for each pair. An event that follows them makes them from the partial matches of its
 * immediate predecessors. docs/internals/conjunction.md says why. */
#include "recognizer/engines/conjunction.h"
#include "recognizer/verdicts/verdicts.h"

/* ---- when ---------------------------------------------------------------------------------- */

struct join_walk {
	struct dpe_automaton *automaton;
	unsigned nliterals, count;
	dpe_state at[DPE_JOINED_STATES];
};

/* False if there is no room. */
static bool reach(struct join_walk *walk, dpe_state state)
{
	for (unsigned i = 0; i < walk->count; i++) {
		if (walk->at[i] == state)
			return true;
	}
	if (walk->count == DPE_JOINED_STATES)
		return false;
	walk->at[walk->count++] = state;
	return true;
}

/* An event without predecessors is kept as one that later events follow, and completes a match only if it is the first and
 * nothing can follow it; an event with predecessors follows all events that are kept. */
static bool move_suits(struct join_walk *walk, dpe_state from, const struct dpe_move *move)
{
	unsigned nregisters = dpe_automaton_registers(walk->automaton, from);

	if (move->npreds)
		return move->npreds == nregisters;
	if (!from && dpe_automaton_complete(walk->automaton, move->to))
		return true;
	return move->nregisters == nregisters + 1 && !(from && dpe_automaton_final(walk->automaton, move->to)) &&
	       reach(walk, move->to);
}

static bool moves_suit(struct join_walk *walk, dpe_state from, bool *joins)
{
	for (unsigned literal = 0; literal < walk->nliterals; literal++) {
		unsigned count;
		const struct dpe_move *moves = dpe_automaton_moves(walk->automaton, from, literal, &count);

		for (unsigned i = 0; i < count; i++) {
			if (!move_suits(walk, from, &moves[i]))
				return false;
			*joins |= from && !moves[i].npreds;
		}
	}
	return true;
}

bool dpe_operand_joins(const struct dpe_run *run, const struct dpe_run *engine)
{
	struct join_walk walk = {.automaton = engine->automaton, .nliterals = run->rule->nliterals, .count = 1};
	bool joins = false;

	if (!engine->automaton || run->nnamed || run->acts || run->ninner_actions || dpe_is_traced(run->recognizer))
		return false;
	for (unsigned i = 0; i < walk.count; i++) {
		if (!moves_suit(&walk, walk.at[i], &joins))
			return false;
	}
	return joins;
}

/* ---- joining ------------------------------------------------------------------------------- */

static void extend_by(struct dpe_run *run, const struct dpe_partial *from, const struct dpe_partial *single,
	struct dpe_partials *to, uint64_t *work)
{
	struct dpe_run *engine = run->conjunction->operands[from->operand].run;
	unsigned literal = dpe_automaton_register_literal(engine->automaton, single->config.state, 0);
	struct dpe_occurrence *event = single->trail->occurrence;
	unsigned count = engine->follow->steps(engine, &from->config, literal, event, &run->preds);

	for (unsigned i = 0; i < count && *work; i++) {
		if (engine->steps[i].npreds)
			continue;
		*work -= *work < DPE_EXTEND_WORK ? *work : DPE_EXTEND_WORK;
		*DPE_GROW(to->at, to->count, to->cap) =
			dpe_partial_extend(run, from, &from->config, &engine->steps[i], event, single->mask);
	}
}

static bool reads_alike(const struct dpe_run *run, const struct dpe_partial *a, const struct dpe_partial *b)
{
	struct dpe_automaton *automaton = run->conjunction->operands[a->operand].run->automaton;

	return a->trail->occurrence == b->trail->occurrence &&
	       dpe_automaton_register_literal(automaton, a->config.state, 0) ==
		       dpe_automaton_register_literal(automaton, b->config.state, 0);
}

/* Another one is of the same event, read as the same literal: one of them stands for both. */
static bool is_repeated(const struct dpe_run *run, const struct dpe_partials *singles, unsigned at)
{
	for (unsigned i = at; i-- && singles->at[i]->trail->occurrence == singles->at[at]->trail->occurrence;) {
		if (reads_alike(run, singles->at[i], singles->at[at]))
			return true;
	}
	return false;
}

/* As each literal that it was read as. */
static void extend_by_event(struct dpe_run *run, const struct dpe_partial *from, const struct dpe_partials *singles,
	unsigned at, struct dpe_partials *to, uint64_t *work)
{
	const struct dpe_occurrence *event = singles->at[at]->trail->occurrence;

	for (unsigned i = at; i < singles->count && singles->at[i]->trail->occurrence == event; i++) {
		if (!is_repeated(run, singles, i))
			extend_by(run, from, singles->at[i], to, work);
	}
}

static unsigned end_of_event(const struct dpe_partials *singles, unsigned at)
{
	const struct dpe_occurrence *event = singles->at[at]->trail->occurrence;

	while (at < singles->count && singles->at[at]->trail->occurrence == event)
		at++;
	return at;
}

void dpe_join_singles(
	struct dpe_run *run, const struct dpe_partials *singles, struct dpe_partials *to, uint64_t *work)
{
	for (unsigned at = 0, end; at < singles->count; at = end) {
		unsigned upto = to->count;

		end = end_of_event(singles, at);
		for (unsigned j = 0; j < upto && *work; j++)
			extend_by_event(run, to->at[j], singles, at, to, work);
		for (unsigned i = at; i < end; i++)
			*DPE_GROW(to->at, to->count, to->cap) = dpe_partial_ref(singles->at[i]);
	}
}
