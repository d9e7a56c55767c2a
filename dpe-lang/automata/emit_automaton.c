/* A whole automaton as text: the paper's notation, JSON, or a graph for dot. */
#include "dpe-lang/automata/automata.h"

#include <stdlib.h>
#include <string.h>

#define UNNUMBERED UINT32_MAX

struct emitter {
	struct dpe_automaton *automaton;
	const struct dpe_rule *rule;
	struct dpe_text *to;
	bool ids; /* states with their dpe_state */
	unsigned nstates, capstates, nnumbers;
	dpe_state *states; /* in the order in which they are numbered */
	uint32_t *numbers; /* of the automaton's states */
	/* The moves of one state in the order of the text. */
	const struct dpe_move **moves;
	unsigned nmoves, capmoves;
};

static uint32_t number_of(struct emitter *e, dpe_state state)
{
	unsigned old = e->nnumbers;

	if (state >= old) {
		e->nnumbers = state * 2 + 16;
		e->numbers = dpe_xrealloc(e->numbers, e->nnumbers * sizeof(*e->numbers));
		for (unsigned i = old; i < e->nnumbers; i++)
			e->numbers[i] = UNNUMBERED;
	}
	if (e->numbers[state] == UNNUMBERED) {
		e->numbers[state] = e->nstates;
		*DPE_GROW(e->states, e->nstates, e->capstates) = state;
	}
	return e->numbers[state];
}

static int by_position(const void *a, const void *b)
{
	const struct dpe_move *x = *(const struct dpe_move *const *) a;
	const struct dpe_move *y = *(const struct dpe_move *const *) b;

	if (x->positions[0] != y->positions[0])
		return x->positions[0] < y->positions[0] ? -1 : 1;
	return x->to < y->to ? -1 : x->to > y->to;
}

static void collect_moves(struct emitter *e, dpe_state state)
{
	e->nmoves = 0;
	for (unsigned literal = 0; literal < e->rule->nliterals; literal++) {
		unsigned count;
		const struct dpe_move *moves =
			dpe_automaton_moves(e->automaton, state, literal, &count);

		for (unsigned i = 0; i < count; i++)
			*DPE_GROW(e->moves, e->nmoves, e->capmoves) = &moves[i];
	}
	qsort(e->moves, e->nmoves, sizeof(e->moves[0]), by_position);
}

/* Breadth first, each state's moves in the order of the text. */
static bool number_states(struct emitter *e, unsigned max_states)
{
	number_of(e, 0);
	for (unsigned at = 0; at < e->nstates; at++) {
		collect_moves(e, e->states[at]);
		for (unsigned i = 0; i < e->nmoves; i++)
			number_of(e, e->moves[i]->to);
		if (e->nstates > max_states)
			return false;
	}
	return true;
}

static const char *literal_text(const struct emitter *e, unsigned literal)
{
	return e->rule->literals[literal].text;
}

static const char *pred_text(
	const struct emitter *e, dpe_state from, const struct dpe_move *move, unsigned pred)
{
	return literal_text(e,
		dpe_automaton_register_literal(e->automaton, from, move->preds[pred]));
}

/* ---- the paper's notation ------------------------------------------------------------- */

static void print_input(const struct emitter *e, dpe_state from, const struct dpe_move *move)
{
	dpe_text_printf(e->to, "(%s", literal_text(e, move->literal));
	for (unsigned i = 0; i < move->npreds; i++)
		dpe_text_printf(e->to, " %s", pred_text(e, from, move, i));
	dpe_text_puts(e->to, move->npreds ? ")" : " .)");
}

/* The paper's notation gives the labels of predecessors; registers of the state say which events with these labels.
 * `next`: what each register of the new state holds. */
static void print_registers(const struct emitter *e, const struct dpe_move *move)
{
	dpe_text_puts(e->to, " | at");
	for (unsigned i = 0; i < move->npositions; i++)
		dpe_text_printf(e->to, " $%u", move->positions[i]);
	dpe_text_puts(e->to, move->npreds ? " | pred" : "");
	for (unsigned i = 0; i < move->npreds; i++)
		dpe_text_printf(e->to, " r%u", move->preds[i]);
	dpe_text_puts(e->to, move->nregisters ? " | next" : "");
	for (unsigned i = 0; i < move->nregisters; i++) {
		if (move->carry[i] == DPE_NEW_EVENT)
			dpe_text_printf(e->to, " r%u=new", i);
		else
			dpe_text_printf(e->to, " r%u=r%u", i, move->carry[i]);
	}
}

static void emit_pa(struct emitter *e)
{
	dpe_text_printf(e->to, "%s: ", e->rule->name);
	dpe_rule_print(e->to, e->rule);
	dpe_text_printf(e->to, "\nstates %u, start 0, final", e->nstates);
	for (unsigned at = 0; at < e->nstates; at++) {
		if (dpe_automaton_final(e->automaton, e->states[at]))
			dpe_text_printf(e->to, " %u", at);
	}
	dpe_text_puts(e->to, "\n");
	for (unsigned at = 0; at < e->nstates; at++) {
		collect_moves(e, e->states[at]);
		for (unsigned i = 0; i < e->nmoves; i++) {
			dpe_text_printf(e->to, "%u --> %u  ", at, number_of(e, e->moves[i]->to));
			print_input(e, e->states[at], e->moves[i]);
			print_registers(e, e->moves[i]);
			dpe_text_puts(e->to, "\n");
		}
	}
}

static void emit_dot(struct emitter *e)
{
	dpe_text_puts(e->to, "digraph ");
	dpe_json_string(e->to, e->rule->name, strlen(e->rule->name));
	dpe_text_puts(e->to, " {\n\trankdir=LR;\n\tnode [shape=circle];\n");
	for (unsigned at = 0; at < e->nstates; at++) {
		if (dpe_automaton_final(e->automaton, e->states[at]))
			dpe_text_printf(e->to, "\t%u [shape=doublecircle];\n", at);
	}
	for (unsigned at = 0; at < e->nstates; at++) {
		collect_moves(e, e->states[at]);
		for (unsigned i = 0; i < e->nmoves; i++) {
			struct dpe_text label = {0};
			struct dpe_text *to = e->to;

			e->to = &label;
			print_input(e, e->states[at], e->moves[i]);
			e->to = to;
			dpe_text_printf(
				to, "\t%u -> %u [label=", at, number_of(e, e->moves[i]->to));
			dpe_json_string(to, label.at, label.len);
			dpe_text_puts(to, "];\n");
			dpe_text_free(&label);
		}
	}
	dpe_text_puts(e->to, "}\n");
}

/* ---- JSON ----------------------------------------------------------------------------- */

static void json_string(struct dpe_text *to, const char *text)
{
	dpe_json_string(to, text, strlen(text));
}

static void json_numbers(struct dpe_text *to, const char *key, const uint16_t *numbers, unsigned count)
{
	dpe_text_printf(to, ",\"%s\":[", key);
	for (unsigned i = 0; i < count; i++) {
		if (numbers[i] == DPE_NEW_EVENT)
			dpe_text_printf(to, "%s\"new\"", i ? "," : "");
		else
			dpe_text_printf(to, "%s%u", i ? "," : "", numbers[i]);
	}
	dpe_text_puts(to, "]");
}

static void json_transition(struct emitter *e, unsigned at, const struct dpe_move *move)
{
	dpe_text_printf(e->to, "{\"from\":%u,\"event\":", at);
	json_string(e->to, literal_text(e, move->literal));
	json_numbers(e->to, "positions", move->positions, move->npositions);
	json_numbers(e->to, "pred", move->preds, move->npreds);
	dpe_text_printf(e->to, ",\"to\":%u", number_of(e, move->to));
	json_numbers(e->to, "next", move->carry, move->nregisters);
	dpe_text_puts(e->to, "}");
}

/* Events that differ in carets alone have one pattern. */
static void json_events(const struct emitter *e)
{
	dpe_text_puts(e->to, ",\"events\":{");
	for (unsigned i = 0; i < e->rule->nliterals; i++) {
		dpe_text_puts(e->to, i ? "," : "");
		json_string(e->to, literal_text(e, i));
		dpe_text_puts(e->to, ":");
		json_string(e->to, e->rule->patterns[e->rule->literals[i].pattern].text);
	}
	dpe_text_puts(e->to, "}");
}

static void json_state(const struct emitter *e, dpe_state state)
{
	unsigned count = dpe_automaton_registers(e->automaton, state);

	dpe_text_puts(e->to, "{");
	if (e->ids)
		dpe_text_printf(e->to, "\"id\":%u,", state);
	dpe_text_printf(e->to, "\"final\":%s,\"registers\":[",
		dpe_automaton_final(e->automaton, state) ? "true" : "false");
	for (unsigned i = 0; i < count; i++) {
		dpe_text_puts(e->to, i ? "," : "");
		json_string(e->to, literal_text(e,
			dpe_automaton_register_literal(e->automaton, state, i)));
	}
	dpe_text_puts(e->to, "]}");
}

static void emit_json(struct emitter *e)
{
	const char *comma = "";

	dpe_text_puts(e->to, "{\"rule\":");
	json_string(e->to, e->rule->name);
	dpe_text_printf(e->to, ",\"class\":\"%s\"", dpe_class_name(e->rule->class));
	json_events(e);
	dpe_text_puts(e->to, ",\"start\":0,\"states\":[");
	for (unsigned at = 0; at < e->nstates; at++) {
		dpe_text_puts(e->to, at ? "," : "");
		json_state(e, e->states[at]);
	}
	dpe_text_puts(e->to, "],\"transitions\":[");
	for (unsigned at = 0; at < e->nstates; at++) {
		collect_moves(e, e->states[at]);
		for (unsigned i = 0; i < e->nmoves; i++, comma = ",") {
			dpe_text_puts(e->to, comma);
			json_transition(e, at, e->moves[i]);
		}
	}
	dpe_text_puts(e->to, "]}\n");
}

bool dpe_automaton_emit(struct dpe_automaton *automaton, const struct dpe_rule *rule,
	enum dpe_emit emit, unsigned max_states, struct dpe_text *to, struct dpe_diags *diags)
{
	struct emitter e = {.automaton = automaton, .rule = rule, .to = to, .ids = emit == DPE_EMIT_TRACED};
	bool fits = dpe_automaton_given_up(automaton) || number_states(&e, max_states);
	bool known = !dpe_automaton_given_up(automaton);

	if (!known)
		dpe_diag(diags, DPE_ERROR, rule->place,
			"the search for the dead states of rule '%s' exceeds its limits",
			rule->name);
	else if (!fits)
		dpe_diag(diags, DPE_ERROR, rule->place,
			"the automaton of rule '%s' has more than %u states", rule->name,
			max_states);
	else if (emit == DPE_EMIT_PA)
		emit_pa(&e);
	else if (emit == DPE_EMIT_DOT)
		emit_dot(&e);
	else
		emit_json(&e);
	free(e.states);
	free(e.numbers);
	free(e.moves);
	return fits && known;
}
