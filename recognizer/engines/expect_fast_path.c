/* The fast path of an `expect` slice whose events follow each other in one thread: if the only
 * predecessor is the last event, held by the only register, and one move takes the event, that
 * register is changed in place and nothing is allocated. Otherwise the general path (expect.c)
 * decides, with the same result. */
#include "recognizer/engines/engines.h"

#include <stdlib.h>
#include <string.h>

enum { UNKNOWN, NO_MOVE, STATES };

/* By state and literal: STATES plus the state that the only move leads to. */
struct dpe_fast_path {
	uint32_t *to;
	unsigned nstates;
};

void dpe_fast_path_new(struct dpe_run *run)
{
	if (run->rule->mode == DPE_EXPECT && run->automaton && !run->wants_positions &&
		!run->acts && !run->recognizer->sink.trace)
		run->fast_path = dpe_xcalloc(1, sizeof(*run->fast_path));
}

void dpe_fast_path_forget(struct dpe_run *run)
{
	if (!run->fast_path)
		return;
	free(run->fast_path->to);
	*run->fast_path = (struct dpe_fast_path){0};
}

void dpe_fast_path_free(struct dpe_run *run)
{
	dpe_fast_path_forget(run);
	free(run->fast_path);
	run->fast_path = NULL;
}

static __attribute__((noinline)) void make_room(struct dpe_run *run, dpe_state state)
{
	struct dpe_fast_path *fast_path = run->fast_path;
	unsigned nliterals = run->rule->nliterals, old = fast_path->nstates;

	fast_path->nstates = state * 2 + 16;
	fast_path->to = dpe_xrealloc(
		fast_path->to, (size_t)fast_path->nstates * nliterals * sizeof(*fast_path->to));
	memset(fast_path->to + (size_t)old * nliterals, 0,
		(size_t)(fast_path->nstates - old) * nliterals * sizeof(*fast_path->to));
}

/* One register, which the event follows, and whose place it takes. */
static __attribute__((noinline)) uint32_t find_target(
	struct dpe_run *run, dpe_state state, unsigned literal)
{
	unsigned count;
	const struct dpe_move *move = dpe_automaton_moves(run->automaton, state, literal, &count);

	if (count != 1 || dpe_automaton_registers(run->automaton, state) != 1 ||
		move->npreds != 1 || move->nregisters != 1 || move->carry[0] != DPE_NEW_EVENT ||
		move->to > UINT32_MAX - STATES)
		return NO_MOVE;
	return move->to + STATES;
}

static inline uint32_t target(struct dpe_run *run, dpe_state state, unsigned literal)
{
	uint32_t *to;

	if (state >= run->fast_path->nstates)
		make_room(run, state);
	to = &run->fast_path->to[(size_t)state * run->rule->nliterals + literal];
	if (*to == UNKNOWN)
		*to = find_target(run, state, literal);
	return *to;
}

bool dpe_fast_path_next(struct dpe_run *run, dpe_state state, unsigned literal, dpe_state *to)
{
	uint32_t found = target(run, state, literal);

	*to = found - STATES;
	return found >= STATES;
}

bool dpe_fast_path_first(struct dpe_run *run, unsigned literal, dpe_state *to)
{
	unsigned count;
	const struct dpe_move *move = dpe_automaton_moves(run->automaton, 0, literal, &count);

	if (count != 1 || move->npreds || move->nregisters != 1)
		return false;
	*to = move->to;
	return true;
}

bool dpe_fast_path_take(struct dpe_run *run, struct dpe_slice *slice, unsigned literal,
	const struct dpe_event *event)
{
	struct dpe_occurrence *last = dpe_order_only_chain_end(&slice->order, &event->stamp);
	struct dpe_config *config;
	uint32_t to;

	if (!last || last->refs != 2 || slice->nbranches != 1 || slice->done)
		return false;
	config = &slice->branches[0].config;
	if (!config->registers || config->registers[0] != last)
		return false;
	to = target(run, config->state, literal);
	if (to < STATES)
		return false;
	dpe_occurrence_replace(last, event);
	config->state = to - STATES;
	return true;
}
