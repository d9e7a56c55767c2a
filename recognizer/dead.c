/* Which partial matches of a `detect` rule no event to come can extend.
 *
 * Let p be an event of M and q, not of M, the next event of the slice in p's chain that is known.
 * Where no event to come can have p in its past without q (dpe_horizon_sees), none can be taken that
 * needs p: p, q and it would make M not convex. So M is dead once every way from its state to an end
 * needs such a p: for `a ; b` an a that everybody knows of, together with the next. */
#include "recognizer/run.h"

static bool has_taken(const struct dpe_partial *partial, const struct dpe_occurrence *occurrence)
{
	for (const struct dpe_taken *taken = partial->taken; taken; taken = taken->before) {
		if (taken->occurrence == occurrence)
			return true;
	}
	return false;
}

/* True where an event to come may follow this one of the partial match without more between. */
static bool can_be_followed(const struct dpe_slice *slice, const struct dpe_partial *partial,
	const struct dpe_occurrence *pred, const struct dpe_horizon *horizon)
{
	const struct dpe_occurrence *next = dpe_order_next(&slice->order, pred);

	return !next || has_taken(partial, next) ||
	       dpe_horizon_sees(horizon, pred->stamp.chain, pred->stamp.index, next->stamp.index);
}

/* Where a reading stands, and which of its registers nothing can follow any more. */
struct stand {
	dpe_state state;
	uint64_t barred;
};

#define MANY_STANDS 32 /* beyond, it is not known that a partial match is dead */

struct search {
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
static bool leads_on(struct dpe_run *run, struct search *search, struct stand from)
{
	for (unsigned literal = 0; literal < run->rule->nliterals; literal++) {
		unsigned count;
		const struct dpe_move *moves =
			dpe_automaton_moves(run->automaton, from.state, literal, &count);

		for (unsigned i = 0; i < count; i++) {
			if (is_barred(&moves[i], from.barred))
				continue;
			if (dpe_automaton_final(run->automaton, moves[i].to) ||
				!add_stand(search, &moves[i], from.barred))
				return true;
		}
	}
	return false;
}

bool dpe_partial_is_dead(struct dpe_run *run, const struct dpe_slice *slice,
	const struct dpe_partial *partial, const struct dpe_horizon *horizon)
{
	unsigned count = dpe_automaton_registers(run->automaton, partial->config.state);
	struct search search = {.count = 1};
	struct stand *first = &search.at[0];

	first->state = partial->config.state;
	for (unsigned i = 0; i < count && i < 64; i++) {
		if (!can_be_followed(slice, partial, partial->config.registers[i], horizon))
			first->barred |= UINT64_C(1) << i;
	}
	if (!first->barred || count > 64)
		return false;
	for (unsigned i = 0; i < search.count; i++) {
		if (leads_on(run, &search, search.at[i]))
			return false;
	}
	return true;
}
