/* Configurations and the engines that follow them: automaton_engine.c,
 * token_game_engine.c. Private to engines/. */
#ifndef DPE_RECOGNIZER_ENGINES_CONFIGURATION_H
#define DPE_RECOGNIZER_ENGINES_CONFIGURATION_H

#include "recognizer/engines/engines.h"

/* An event that another one may follow at once, and the literal that it was taken as. */
struct dpe_pred {
	struct dpe_occurrence *occurrence;
	uint64_t literal;
};

/* A step that takes the current event. */
struct dpe_config_step {
	const struct dpe_pred *preds; /* what its immediate predecessors must be */
	const uint16_t *positions;    /* the positions that it takes; kept as long as the run */
	const struct dpe_stmt *const *before, *const *after; /* actions around the event's own */
	unsigned npreds, npositions, nbefore, nafter;
	union { /* the engine's */
		const struct dpe_move *move;
		struct dpe_marking *marking;
	};
};

/* True if nothing can follow this event any more. */
typedef bool dpe_barred_fn(void *context, const struct dpe_occurrence *occurrence);

/* What an engine does with configurations of a run. */
struct dpe_config_engine {
	struct dpe_config (*begin)(const struct dpe_run *run);
	struct dpe_config (*copy)(const struct dpe_run *run, const struct dpe_config *from);
	void (*drop)(const struct dpe_run *run, struct dpe_config *config);
	bool (*same)(
		const struct dpe_run *run, const struct dpe_config *a, const struct dpe_config *b);
	/* Equal for configurations that are the same. NULL: not known. */
	uint64_t (*hash)(const struct dpe_run *run, const struct dpe_config *config);
	bool (*final)(const struct dpe_run *run, const struct dpe_config *config);
	/* Nothing can follow. */
	bool (*complete)(const struct dpe_run *run, const struct dpe_config *config);
	/* Nothing can come that leads to a final configuration where such events are barred. */
	bool (*dead)(const struct dpe_run *run, const struct dpe_config *config,
		dpe_barred_fn *barred, void *context);
	/* Fills in run->steps with all steps that take an event as `literal`, and returns how many;
	 * valid until the next call. Some that do not fit its predecessors may be left out (NULL:
	 * none are). Without an occurrence they are for looking at only, and those of symmetric
	 * operands are among them. */
	unsigned (*steps)(struct dpe_run *run, const struct dpe_config *config, unsigned literal,
		struct dpe_occurrence *occurrence, const struct dpe_preds *preds);
	/* The configuration after the step. */
	struct dpe_config (*take)(const struct dpe_run *run, const struct dpe_config *config,
		const struct dpe_config_step *step, struct dpe_occurrence *occurrence);
	/* The actions that are run when the input ends here; valid until the next steps. NULL:
	 * none. */
	unsigned (*ending)(const struct dpe_run *run, const struct dpe_config *config,
		const struct dpe_stmt *const **actions);
	/* From now on follows only one of the operands that differ in carets alone. NULL: cannot be done. */
	void (*reduce_symmetry)(struct dpe_run *run);
	/* The search for dead states was given up. NULL: there is none. */
	bool (*given_up)(const struct dpe_run *run);
	/* Configurations that nothing completes are followed, too. NULL: none are. */
	bool (*may_be_late)(const struct dpe_run *run);
};

extern const struct dpe_config_engine dpe_automaton_engine, dpe_token_game_engine;

/* The engine of a rule, with what was made to choose it; the caller frees the latter. */
struct dpe_engine_plan {
	struct dpe_engine engine;
	const struct dpe_rule *rule; /* what is followed, see dpe_search_form */
	/* What follows configurations, also beside a pair table or a conjunction. */
	const struct dpe_config_engine *follow;
	struct dpe_automaton *automaton; /* NULL: the token game follows them */
	struct dpe_factors *operands;    /* of a conjunction */
};

/* choose.c: false after a diagnostic if there is none. With `traced` each step is reported. */
bool dpe_engine_choose(const struct dpe_rule *rule, enum dpe_engine_choice choice, bool traced,
	struct dpe_engine_plan *plan, struct dpe_diags *diags);

/* Room in run->steps, and for predecessors of all of them. */
void dpe_steps_reserve(struct dpe_run *run, unsigned nsteps, unsigned npreds);
/* True if the step wants that event as a predecessor. */
bool dpe_step_names(const struct dpe_config_step *step, const struct dpe_occurrence *occurrence);

/* ---- slice_states.c ---------------------------------------------------------------------------- */

/* What configurations accept, in words: "c after a and b"; each once. */
struct dpe_expected {
	char **at; /* owned */
	unsigned count, cap;
};

/* Adds what this one accepts; `first`: the slice has no events. */
void dpe_expected_add(struct dpe_run *run, const struct dpe_config *config, bool first, struct dpe_expected *expected);
void dpe_expected_free(struct dpe_expected *expected);

/* ---- traced_steps.c -------------------------------------------------------------------------- */

/* Where the recognizer is traced: a step, with the states of these branches and of the slice's partial matches. */
void dpe_trace_step(struct dpe_run *run, const struct dpe_slice *slice, const struct dpe_branch *branches,
	unsigned nbranches, const struct dpe_occurrence *occurrence, struct dpe_trace step);
/* True if the sink has the rule's automata, which are given to it once. */
bool dpe_gives_automata(struct dpe_run *run);

/* ---- dead_states.c --------------------------------------------------------------------------- */

/* No path of moves leads to a final state without a barred register, a bit each. */
bool dpe_state_is_dead(
	struct dpe_automaton *automaton, unsigned nliterals, dpe_state state, uint64_t barred);
/* True if no event to come can have this one as an immediate predecessor in a slice with the events of both orders; the
 * second may be NULL. */
bool dpe_order_bars(const struct dpe_order *order, const struct dpe_order *shared, const struct dpe_horizon *horizon,
	const struct dpe_occurrence *occurrence);
/* For dpe_barred_fn: true if each successor of the occurrence follows this event after it, too. */
bool dpe_is_passed_by(void *event, const struct dpe_occurrence *occurrence);

#endif
