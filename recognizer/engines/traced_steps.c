/* The result of a step, for traces: states of automata, or places of nets, and the automaton or net that they
 * belong to. */
#include "recognizer/engines/conjunction.h"
#include "recognizer/engines/token_game.h"
#include "recognizer/verdicts/verdicts.h"

#include <stdlib.h>

/* ---- automata ------------------------------------------------------------------------------- */

/* What follows each operand; the rule itself where it is the only one. */
static unsigned noperands(const struct dpe_run *run)
{
	return run->conjunction ? run->conjunction->noperands : 1;
}

static const struct dpe_run *operand(const struct dpe_run *run, unsigned number)
{
	return run->conjunction ? run->conjunction->operands[number].run : run;
}

static bool is_drawn(const struct dpe_run *of)
{
	return of->game || of->follow == &dpe_automaton_engine;
}

/* False if it is too large. */
static bool emit_operand(const struct dpe_run *of, struct dpe_text *to)
{
	struct dpe_diags *diags;
	bool fits;

	if (of->game)
		return dpe_game_emit(of->game, DPE_TRACED_STATES, to);
	if (!is_drawn(of)) {
		dpe_text_puts(to, "null");
		return true;
	}
	diags = dpe_diags_new();
	fits = dpe_automaton_emit(of->automaton, of->rule, DPE_EMIT_TRACED, DPE_TRACED_STATES, to, diags);
	dpe_diags_free(diags);
	return fits;
}

static void give_automata(struct dpe_run *run)
{
	const struct dpe_recognizer_sink *sink = &run->recognizer->sink;
	struct dpe_text text = {0};
	bool any = false, fits = true;

	for (unsigned i = 0; i < noperands(run) && fits; i++) {
		any |= is_drawn(operand(run, i));
		dpe_text_puts(&text, i ? "," : "[");
		fits = emit_operand(operand(run, i), &text);
	}
	dpe_text_puts(&text, "]");
	run->given = any && fits ? DPE_AUTOMATA_GIVEN : DPE_AUTOMATA_WITHHELD;
	if (run->given == DPE_AUTOMATA_GIVEN)
		sink->automata(sink->context, run->rule, text.at);
	dpe_text_free(&text);
}

/* ---- states --------------------------------------------------------------------------------- */

struct states {
	struct dpe_trace_state *at;
	unsigned count, cap;
};

static void add_state(struct states *states, unsigned automaton, dpe_state state)
{
	for (unsigned i = 0; i < states->count; i++) {
		if (states->at[i].automaton == automaton && states->at[i].state == state)
			return;
	}
	*DPE_GROW(states->at, states->count, states->cap) = (struct dpe_trace_state){automaton, state};
}

struct marked {
	struct states *states;
	unsigned net;
};

static void add_place(void *context, unsigned place)
{
	const struct marked *marked = context;

	add_state(marked->states, marked->net, place);
}

static void add_config(struct states *states, const struct dpe_run *run, unsigned number, const struct dpe_config *config)
{
	const struct dpe_run *of = operand(run, number);
	struct marked marked = {states, number};

	if (of->game)
		dpe_game_places(of->game, config->marking, add_place, &marked);
	else if (is_drawn(of))
		add_state(states, number, config->state);
}

static void add_partials(
	struct states *states, const struct dpe_run *run, unsigned number, const struct dpe_partial_list *partials)
{
	for (unsigned i = 0; i < partials->count; i++) {
		if (partials->at[i])
			add_config(states, run, number, &partials->at[i]->config);
	}
}

static void collect_partials(const struct dpe_run *run, const struct dpe_matching *matching, struct states *states)
{
	for (unsigned i = 0; matching && i < matching->noperands; i++) {
		add_partials(states, run, i, &matching->lists[i].active);
		add_partials(states, run, i, &matching->lists[i].ended);
	}
}

/* The states of the match that the event completes: complete partial matches are in no list. */
static void collect_match(const struct dpe_run *run, struct states *states)
{
	for (unsigned i = 0; i < noperands(run); i++) {
		const struct dpe_partial *partial = run->conjunction->match[i];

		if (partial)
			add_config(states, run, i, &partial->config);
	}
}

bool dpe_gives_automata(struct dpe_run *run)
{
	if (!run->recognizer->sink.automata)
		return false;
	if (run->given == DPE_AUTOMATA_NOT_YET)
		give_automata(run);
	return run->given == DPE_AUTOMATA_GIVEN;
}

void dpe_trace_step(struct dpe_run *run, const struct dpe_slice *slice, const struct dpe_branch *branches,
	unsigned nbranches, const struct dpe_occurrence *occurrence, struct dpe_trace step)
{
	struct states states = {0};
	bool given = dpe_gives_automata(run);

	for (unsigned i = 0; given && i < nbranches; i++)
		add_config(&states, run, 0, &branches[i].config);
	if (given)
		collect_partials(run, slice->matching, &states);
	if (given && step.matched)
		collect_match(run, &states);
	step.states = states.at;
	step.nstates = states.count;
	dpe_trace_take(run, slice, occurrence, step);
	free(states.at);
}
