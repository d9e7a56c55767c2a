/* Predecessor automata of rules (paper 4.1), built lazily: states are composed when first asked for. */
#ifndef DPE_LANG_AUTOMATA_H
#define DPE_LANG_AUTOMATA_H

#include "dpe-lang/dpe-lang.h"
#include "dpe-lang/limits.h"

/* ---- one automaton ------------------------------------------------------------------------ */

struct dpe_automaton;
typedef uint32_t dpe_state; /* the initial state is 0 */

#define DPE_NEW_EVENT UINT16_MAX

/* A move on (e, P): an event and its immediate predecessors. Which earlier event a predecessor is
 * is exact: a state has registers, each of which holds one event that a later one may follow
 * immediately. One input may have several moves (`a;b + a;c`): a run follows all of them. */
struct dpe_move {
	unsigned literal; /* the event */
	dpe_state to;
	uint16_t npreds;     /* the exact set of immediate predecessors: registers of `from` */
	uint16_t nregisters; /* registers of `to`, and what each holds: */
	uint16_t npositions;
	const uint16_t *preds;
	const uint16_t *carry;     /* … a register of `from`, or DPE_NEW_EVENT */
	const uint16_t *positions; /* (from 1) of the event; valid longer than states */
};

/* The rule must outlive the automaton. NULL and a diagnostic where the rule is not a safe DPE, or its
 * language is empty. */
struct dpe_automaton *dpe_automaton_new(const struct dpe_rule *rule, struct dpe_diags *diags);
void dpe_automaton_free(struct dpe_automaton *automaton); /* accepts NULL */
bool dpe_automaton_final(struct dpe_automaton *automaton, dpe_state state);
/* True for a final state without moves. */
bool dpe_automaton_complete(struct dpe_automaton *automaton, dpe_state state);
/* The moves out of a state that take `literal`, valid until the automaton is freed. They lead to
 * live states: those from which a final state can be reached. */
const struct dpe_move *dpe_automaton_moves(
	struct dpe_automaton *automaton, dpe_state state, unsigned literal, unsigned *count);
unsigned dpe_automaton_registers(struct dpe_automaton *automaton, dpe_state state);
/* The literal of the event in a register. */
unsigned dpe_automaton_register_literal(
	struct dpe_automaton *automaton, dpe_state state, unsigned reg);
/* True once a search for a final state exceeded DPE_SEARCH_BYTES or DPE_SEARCH_WORK (limits.h); stays
 * true when the automaton is renewed. From then on moves may lead to dead states. */
bool dpe_automaton_given_up(const struct dpe_automaton *automaton);

/* Symmetry reduction: leaves out moves of operands of & that differ from others in carets alone and
 * are in the same situation; only positions differ. To be called before states are asked for. */
void dpe_automaton_reduce_symmetry(struct dpe_automaton *automaton);
/* As dpe_automaton_moves, with the moves that the reduction leaves out. */
const struct dpe_move *dpe_automaton_all_moves(
	struct dpe_automaton *automaton, dpe_state state, unsigned literal, unsigned *count);

/* How many states, and how many bytes for them, were composed so far. */
unsigned dpe_automaton_built(const struct dpe_automaton *automaton);
size_t dpe_automaton_bytes(const struct dpe_automaton *automaton);
/* An automaton of the same rule with its initial state only, for a caller that finds the old one too
 * large; `adopt` gives a state of the old one, with the same registers, its number in the new one. */
struct dpe_automaton *dpe_automaton_renew(struct dpe_automaton *old);
dpe_state dpe_automaton_adopt(
	struct dpe_automaton *automaton, const struct dpe_automaton *old, dpe_state state);

/* DPE_EMIT_PA, _JSON, _TRACED or _DOT, with states numbered breadth first as in figures 4-6 and 4-7. False and
 * a diagnostic where there are more than `max_states`, or the dead states are not known. */
bool dpe_automaton_emit(struct dpe_automaton *automaton, const struct dpe_rule *rule,
	enum dpe_emit emit, unsigned max_states, struct dpe_text *to, struct dpe_diags *diags);

/* ---- operands of & that share no event ------------------------------------------------------ */

/* Operands of & that share events with each other, and with no other operand. Factors are not composed: an event moves
 * the one that it belongs to. */
struct dpe_factor {
	const struct dpe_node *node;
	bool nullable;
	struct dpe_automaton *automaton; /* or NULL */
};

#define DPE_NO_FACTOR UINT32_MAX

struct dpe_factors {
	struct dpe_arena *arena;
	struct dpe_factor *at;
	unsigned count;
	uint32_t *factor_of; /* by literal, or DPE_NO_FACTOR */
};

/* The factors of the outermost &, with automata or without. The rule must outlive the result. NULL if there are fewer
 * than two, or control variables or actions inside, or an automaton would have too many states or accept nothing. */
struct dpe_factors *dpe_factors_new(const struct dpe_rule *rule, bool automata);
void dpe_factors_free(struct dpe_factors *factors); /* accepts NULL */

/* True if the composed rule has too few states for a division to pay. */
bool dpe_rule_is_small(const struct dpe_rule *rule);
/* True if the composed rule has at most DPE_MODERATE_STATES. */
bool dpe_rule_is_moderate(const struct dpe_rule *rule);
/* True if a run should follow the automaton rather than the net: because the automaton is of moderate size, detects at once
 * that synchronised operands cannot proceed, or reduces the symmetry of operands that differ in carets. */
bool dpe_rule_suits_automaton(const struct dpe_rule *rule);

/* ---- prerequisites of events --------------------------------------------------------------- */

/* Prerequisites of the matches of a `detect` rule, as sets of patterns, one bit each. */
struct dpe_prerequisites {
	uint64_t first;    /* whose events may be the first of a match in time */
	uint64_t breaking; /* whose events may run an action with `break` */
	uint64_t needed[DPE_PREREQUISITE_PATTERNS]; /* by breaking pattern: the patterns that must have occurred before it */
};

/* False if nothing is known: the rule is not a `detect` rule, or has more than DPE_PREREQUISITE_PATTERNS patterns. */
bool dpe_rule_prerequisites(const struct dpe_rule *rule, struct dpe_prerequisites *needs);

#endif
