/* The fast path of `expect` rules: an event that continues a sequence of one thread in a slice. The slice's
 * last event is the only predecessor and the only register, and one move takes the event: so that register is changed
 * in place, in the active slice or in the cell of a compact one, and nothing is allocated. applies() says when; where a
 * step cannot be taken nothing was changed, and the general path (slices.c) decides, with the same result. */
#include "recognizer/engines/engines.h"
#include "recognizer/patterns/patterns.h"
#include "recognizer/slices/cells.h"

#include <stdlib.h>
#include <string.h>

enum { UNKNOWN, NO_MOVE, STATES };

/* By state and literal: STATES plus the state that the only move leads to. */
struct dpe_fast_path {
	uint32_t *to;
	unsigned nstates;
};

/* ---- when ---------------------------------------------------------------------------------- */

/* No condition or action needs single events. */
void dpe_fast_path_new(struct dpe_run *run)
{
	if (run->rule->mode == DPE_EXPECT && run->automaton && !run->wants_positions &&
		!run->acts && !run->recognizer->sink.trace)
		run->slices->fast_path = dpe_xcalloc(1, sizeof(*run->slices->fast_path));
}

/* The event matches one pattern, and can be only one literal of the rule. */
static inline bool applies(const struct dpe_run *run)
{
	return run->slices->fast_path && run->nbindings == 1 && run->reads[run->bindings->pattern].only >= 0;
}

/* ---- where the move leads ------------------------------------------------------------------- */

void dpe_fast_path_forget(struct dpe_run *run)
{
	if (!run->slices->fast_path)
		return;
	free(run->slices->fast_path->to);
	*run->slices->fast_path = (struct dpe_fast_path){0};
}

void dpe_fast_path_free(struct dpe_run *run)
{
	dpe_fast_path_forget(run);
	free(run->slices->fast_path);
	run->slices->fast_path = NULL;
}

static __attribute__((noinline)) void make_room(struct dpe_run *run, dpe_state state)
{
	struct dpe_fast_path *fast_path = run->slices->fast_path;
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

	if (state >= run->slices->fast_path->nstates)
		make_room(run, state);
	to = &run->slices->fast_path->to[(size_t)state * run->rule->nliterals + literal];
	if (*to == UNKNOWN)
		*to = find_target(run, state, literal);
	return *to;
}

/* The state after the first event of a slice. */
static bool find_first(struct dpe_run *run, unsigned literal, dpe_state *to)
{
	unsigned count;
	const struct dpe_move *move = dpe_automaton_moves(run->automaton, 0, literal, &count);

	if (count != 1 || move->npreds || move->nregisters != 1)
		return false;
	*to = move->to;
	return true;
}

/* ---- steps ---------------------------------------------------------------------------------- */

static bool take_in_active(struct dpe_run *run, struct dpe_slice *slice, unsigned literal,
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

static bool take_in_compact(struct dpe_run *run, struct dpe_cell *cell, unsigned literal,
	const struct dpe_event *event)
{
	const struct dpe_single_event *one = &dpe_cell_content_of(run->slices, cell)->one;
	const struct dpe_stamp *stamp = &event->stamp, old = {.past = one->past};
	struct dpe_message *whole;
	uint32_t to;

	if (cell->form != DPE_CELL_SINGLE || one->chain != stamp->chain || one->index <= stamp->exported)
		return false;
	to = target(run, cell->state, literal);
	if (to < STATES)
		return false;
	whole = dpe_single_message(one);
	if (!dpe_single_write(run, cell, event->message, event->number, stamp))
		return false;
	dpe_stamp_unref(&old);
	dpe_message_unref(whole);
	cell->state = to - STATES;
	return true;
}

/* The first event of a new slice that starts from no other one. Where the event does not fit, the cell stays new. */
static bool begin_compact(struct dpe_run *run, unsigned literal, const struct dpe_event *event)
{
	struct dpe_slices *slices = run->slices;
	struct dpe_cell *cell;
	dpe_state to;

	if (slices->npattern_masks != 1 || !slices->compacts || !find_first(run, literal, &to))
		return false;
	cell = dpe_slice_new_cell(run, run->bindings->mask, run->bindings->values);
	if (!dpe_single_write(run, cell, event->message, event->number, &event->stamp))
		return false;
	cell->form = DPE_CELL_SINGLE;
	cell->state = to;
	run->recognizer->kept++;
	return true;
}

static inline bool take_in_cell(struct dpe_run *run, struct dpe_cell *cell, unsigned literal, const struct dpe_event *event)
{
	return cell->form == DPE_CELL_ACTIVE
		       ? take_in_active(run, dpe_cell_content_of(run->slices, cell)->slice, literal, event)
		       : take_in_compact(run, cell, literal, event);
}

bool dpe_fast_path_take_shared(struct dpe_run *run, struct dpe_cell *cell, const struct dpe_event *event)
{
	if (!applies(run) || run->slices->some_ended || run->deferred)
		return false;
	return take_in_cell(run, cell, (unsigned)run->reads[run->bindings->pattern].only, event);
}

bool dpe_fast_path_take(struct dpe_run *run, const struct dpe_event *event)
{
	struct dpe_slices *slices = run->slices;
	unsigned literal;
	struct dpe_cell *cell;

	if (!applies(run) || run->bindings->mask != slices->full)
		return false;
	literal = (unsigned)run->reads[run->bindings->pattern].only;
	cell = run->rule->nvariables ? dpe_cell_find(slices, run->bindings->mask, run->bindings->values)
				     : dpe_cell_at(slices, 0);
	if (!cell)
		return begin_compact(run, literal, event);
	if (cell->retired)
		return false;
	if (dpe_cell_is_done(slices, cell) && !run->rule->nobserving && !run->deferred)
		return true;
	return take_in_cell(run, cell, literal, event);
}
