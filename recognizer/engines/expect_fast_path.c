/* The short way of an `expect` slice whose events come one after another in one thread, as most do:
 * the event's only predecessor is the last one, and where the automaton wants no other, keeps no
 * other and has one way to go, that one's occurrence becomes the event's, and nothing is allocated.
 *
 * It is the long way (slice_order.c, expect.c, configuration.c) with all that happens there for such an event. */
#include "recognizer/engines/engines.h"

#include <stdlib.h>
#include <string.h>

enum { UNKNOWN, NO_WAY, WAYS };

/* By state and literal: what leads on, WAYS and the state. */
struct dpe_sequel {
	uint32_t *to;
	unsigned nstates;
};

void dpe_sequel_new(struct dpe_run *run)
{
	if (run->rule->mode == DPE_EXPECT && run->automaton && !run->wants_positions &&
		!run->acts && !run->recognizer->sink.trace)
		run->sequel = dpe_xcalloc(1, sizeof(*run->sequel));
}

void dpe_sequel_forget(struct dpe_run *run)
{
	if (!run->sequel)
		return;
	free(run->sequel->to);
	*run->sequel = (struct dpe_sequel){0};
}

void dpe_sequel_free(struct dpe_run *run)
{
	dpe_sequel_forget(run);
	free(run->sequel);
	run->sequel = NULL;
}

static __attribute__((noinline)) void make_room(struct dpe_run *run, dpe_state state)
{
	struct dpe_sequel *sequel = run->sequel;
	unsigned nliterals = run->rule->nliterals, old = sequel->nstates;

	sequel->nstates = state * 2 + 16;
	sequel->to = dpe_xrealloc(
		sequel->to, (size_t)sequel->nstates * nliterals * sizeof(*sequel->to));
	memset(sequel->to + (size_t)old * nliterals, 0,
		(size_t)(sequel->nstates - old) * nliterals * sizeof(*sequel->to));
}

/* One register, which the event follows, and whose place it takes. */
static __attribute__((noinline)) uint32_t find_way(struct dpe_run *run, dpe_state state, unsigned literal)
{
	unsigned count;
	const struct dpe_move *move =
		dpe_automaton_moves(run->automaton, state, literal, &count);

	if (count != 1 || dpe_automaton_registers(run->automaton, state) != 1 ||
		move->npreds != 1 || move->nregisters != 1 || move->carry[0] != DPE_NEW_EVENT ||
		move->to > UINT32_MAX - WAYS)
		return NO_WAY;
	return move->to + WAYS;
}

static inline uint32_t way(struct dpe_run *run, dpe_state state, unsigned literal)
{
	uint32_t *to;

	if (state >= run->sequel->nstates)
		make_room(run, state);
	to = &run->sequel->to[(size_t)state * run->rule->nliterals + literal];
	if (*to == UNKNOWN)
		*to = find_way(run, state, literal);
	return *to;
}

bool dpe_sequel_way(struct dpe_run *run, dpe_state state, unsigned literal, dpe_state *to)
{
	uint32_t found = way(run, state, literal);

	*to = found - WAYS;
	return found >= WAYS;
}

bool dpe_sequel_first(struct dpe_run *run, unsigned literal, dpe_state *to)
{
	unsigned count;
	const struct dpe_move *move = dpe_automaton_moves(
		run->automaton, dpe_config_begin(run).state, literal, &count);

	if (count != 1 || move->npreds || move->nregisters != 1)
		return false;
	*to = move->to;
	return true;
}

bool dpe_sequel_take(struct dpe_run *run, struct dpe_slice *slice, unsigned literal,
	const struct dpe_event *event)
{
	struct dpe_occurrence *last = dpe_order_only_chain_end(&slice->order, &event->stamp);
	struct dpe_config *config;
	uint32_t to;

	if (!last || last->refs != 2 || slice->nreadings != 1 || slice->done)
		return false;
	config = &slice->readings[0].config;
	if (!config->registers || config->registers[0] != last)
		return false;
	to = way(run, config->state, literal);
	if (to < WAYS)
		return false;
	dpe_occurrence_replace(last, event);
	config->state = to - WAYS;
	return true;
}
