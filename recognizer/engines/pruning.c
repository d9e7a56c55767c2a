/* Configurations that no future event can complete: docs/internals/conjunction.md, "Partial matches
 * without a future". */
#include "recognizer/engines/engines.h"
#include "recognizer/engines/product_state.h"

/* Where a reading stands, and which of its registers nothing can follow any more. */
struct stand {
	dpe_state state;
	uint64_t barred;
};

#define MANY_STANDS 32 /* beyond, it is not known that a reading is dead */

struct search {
	struct dpe_automaton *automaton;
	unsigned nliterals;
	struct stand at[MANY_STANDS];
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

/* False where there is no room. */
static bool add_stand(struct search *search, const struct dpe_move *move, uint64_t barred)
{
	struct stand next = {.state = move->to};

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
	if (search->count == MANY_STANDS)
		return false;
	search->at[search->count++] = next;
	return true;
}

/* True where moves that are not barred lead on to an end, or may. */
static bool leads_on(struct search *search, struct stand from)
{
	for (unsigned literal = 0; literal < search->nliterals; literal++) {
		unsigned count;
		const struct dpe_move *moves = dpe_automaton_moves(
			search->automaton, from.state, literal, &count);

		for (unsigned i = 0; i < count; i++) {
			if (is_barred(&moves[i], from.barred))
				continue;
			if (dpe_automaton_final(search->automaton, moves[i].to) ||
				!add_stand(search, &moves[i], from.barred))
				return true;
		}
	}
	return false;
}

/* Nothing leads on from the state, whose barred registers are a bit each. */
static bool is_stuck(
	struct dpe_automaton *automaton, unsigned nliterals, dpe_state state, uint64_t barred)
{
	struct search search = {
		.automaton = automaton,
		.nliterals = nliterals,
		.at = {{state, barred}},
		.count = 1,
	};

	for (unsigned i = 0; i < search.count; i++) {
		if (leads_on(&search, search.at[i]))
			return false;
	}
	return true;
}

static bool state_is_dead(const struct dpe_run *run, const struct dpe_config *config,
	dpe_barred_fn *barred, void *context)
{
	unsigned count = dpe_automaton_registers(run->automaton, config->state);
	uint64_t mask = 0;

	for (unsigned i = 0; i < count && count <= 64; i++) {
		if (barred(context, config->registers[i]))
			mask |= UINT64_C(1) << i;
	}
	return mask && is_stuck(run->automaton, run->rule->nliterals, config->state, mask);
}

/* Each part that something happened in has to come to its end, unless it is there. */
static bool stand_is_dead(const struct dpe_run *run, const struct dpe_factor *part,
	const struct dpe_product_state *stand, dpe_barred_fn *barred, void *context)
{
	unsigned used = stand ? dpe_product_state_used(part, stand) : 0;
	uint64_t mask = 0;

	if (!stand || dpe_product_state_at_end(part, stand))
		return false;
	for (unsigned i = 0; i < used; i++) {
		if (part->kind != DPE_FACTOR_AUTOMATON) {
			const struct dpe_factor *kid = part->kind == DPE_FACTOR_PAR
							     ? part->kids[i]
							     : dpe_product_state_kid(part, stand);

			if (stand_is_dead(run, kid, stand->slots[i].kid, barred, context))
				return true;
		} else if (used <= 64 && barred(context, stand->slots[i].occurrence)) {
			mask |= UINT64_C(1) << i;
		}
	}
	return mask && part->kind == DPE_FACTOR_AUTOMATON &&
	       is_stuck(part->automaton, run->rule->nliterals, stand->at, mask);
}

bool dpe_config_is_dead(const struct dpe_run *run, const struct dpe_config *config,
	dpe_barred_fn *barred, void *context)
{
	if (run->game)
		return dpe_game_is_stuck(config->marking, barred, context);
	if (run->product)
		return stand_is_dead(run, dpe_product_root(run->product), config->product, barred,
			context);
	return state_is_dead(run, config, barred, context);
}

bool dpe_is_passed_by(void *event, const struct dpe_occurrence *occurrence)
{
	const struct dpe_stamp *stamp = &((const struct dpe_occurrence *)event)->stamp;

	return occurrence->stamp.chain == stamp->chain && occurrence->stamp.index < stamp->index &&
	       occurrence->stamp.index > stamp->exported;
}

bool dpe_order_bars(const struct dpe_order *order, const struct dpe_horizon *horizon,
	const struct dpe_occurrence *occurrence)
{
	const struct dpe_occurrence *next = dpe_order_next(order, occurrence);

	return next && !dpe_horizon_sees(horizon, occurrence->stamp.chain, occurrence->stamp.index,
			       next->stamp.index);
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
