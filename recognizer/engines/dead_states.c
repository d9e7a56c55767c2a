/* Configurations that no future event can complete: docs/internals/conjunction.md, "Partial matches
 * without a future". */
#include "recognizer/engines/configuration.h"

/* A state, and which of its registers nothing can follow any more. */
struct barred_state {
	dpe_state state;
	uint64_t barred;
};

struct state_search {
	struct dpe_automaton *automaton;
	unsigned nliterals;
	struct barred_state at[DPE_DEAD_STATES];
	unsigned count;
};

static bool is_barred(const struct dpe_move *move, uint64_t barred)
{
	for (unsigned i = 0; i < move->npreds; i++) {
		if (barred >> move->preds[i] & 1)
			return true;
	}
	return false;
}

/* False if there is no room. */
static bool add_state(struct state_search *search, const struct dpe_move *move, uint64_t barred)
{
	struct barred_state next = {.state = move->to};

	if (move->nregisters > 64)
		return false;
	for (unsigned i = 0; i < move->nregisters; i++) {
		if (move->carry[i] != DPE_NEW_EVENT && barred >> move->carry[i] & 1)
			next.barred |= UINT64_C(1) << i;
	}
	for (unsigned i = 0; i < search->count; i++) {
		if (search->at[i].state == next.state && search->at[i].barred == next.barred)
			return true;
	}
	if (search->count == DPE_DEAD_STATES)
		return false;
	search->at[search->count++] = next;
	return true;
}

/* True if moves that are not barred lead to a final state, or may. */
static bool leads_to_end(struct state_search *search, struct barred_state from)
{
	for (unsigned literal = 0; literal < search->nliterals; literal++) {
		unsigned count;
		const struct dpe_move *moves =
			dpe_automaton_moves(search->automaton, from.state, literal, &count);

		for (unsigned i = 0; i < count; i++) {
			if (is_barred(&moves[i], from.barred))
				continue;
			if (dpe_automaton_final(search->automaton, moves[i].to) ||
				!add_state(search, &moves[i], from.barred))
				return true;
		}
	}
	return false;
}

bool dpe_state_is_dead(
	struct dpe_automaton *automaton, unsigned nliterals, dpe_state state, uint64_t barred)
{
	struct state_search search = {
		.automaton = automaton,
		.nliterals = nliterals,
		.at = {{state, barred}},
		.count = 1,
	};

	for (unsigned i = 0; i < search.count; i++) {
		if (leads_to_end(&search, search.at[i]))
			return false;
	}
	return true;
}

bool dpe_is_passed_by(void *event, const struct dpe_occurrence *occurrence)
{
	const struct dpe_stamp *stamp = &((const struct dpe_occurrence *)event)->stamp;

	return occurrence->stamp.chain == stamp->chain && occurrence->stamp.index < stamp->index &&
	       occurrence->stamp.index > stamp->exported;
}

static bool is_before_unseen(const struct dpe_horizon *horizon, const struct dpe_occurrence *occurrence,
	const struct dpe_occurrence *next)
{
	return next && !dpe_horizon_sees(horizon, occurrence->stamp.chain, occurrence->stamp.index, next->stamp.index);
}

bool dpe_order_bars(const struct dpe_order *order, const struct dpe_order *shared, const struct dpe_horizon *horizon,
	const struct dpe_occurrence *occurrence)
{
	const struct dpe_occurrence *next = dpe_order_next(order, occurrence);
	const struct dpe_occurrence *other = shared ? dpe_order_next(shared, occurrence) : NULL;

	if (next || other)
		return is_before_unseen(horizon, occurrence, next) || is_before_unseen(horizon, occurrence, other);
	return dpe_horizon_ended(horizon, occurrence->stamp.chain) && dpe_order_forgot(order, occurrence) &&
	       (!shared || dpe_order_forgot(shared, occurrence));
}

const struct dpe_horizon *dpe_recognizer_horizon(struct dpe_recognizer *recognizer, uint64_t newer)
{
	uint64_t now = recognizer->summary.events, cost = dpe_horizon_cost(recognizer->horizon);

	if (newer && newer < cost) /* many objects that threads synchronise on */
		newer = cost;
	if (recognizer->horizon_at && now - recognizer->horizon_at <= newer)
		return recognizer->horizon;
	if (!dpe_horizon_update(recognizer->horizon, recognizer->stabilizer))
		return NULL;
	recognizer->horizon_at = now;
	return recognizer->horizon;
}
