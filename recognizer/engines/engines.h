/* engines: how a slice of a rule is followed. */
#ifndef DPE_RECOGNIZER_ENGINES_ENGINES_H
#define DPE_RECOGNIZER_ENGINES_ENGINES_H

#include "recognizer/recognizer.h"

struct dpe_product_state;
struct dpe_product;
struct dpe_product_step;

/* Where a reading of events stands: a state with its registers, several, or a marking. */
struct dpe_config {
	dpe_state state;
	struct dpe_occurrence **registers;
	struct dpe_product_state *product;
	struct dpe_marking *marking;
};

/* An event that another one may follow at once, and the literal that it was taken as. */
struct dpe_pred {
	struct dpe_occurrence *occurrence;
	uint64_t literal;
};

/* True where nothing can follow this event any more. */
typedef bool dpe_barred_fn(void *context, const struct dpe_occurrence *occurrence);

/* One way to take the event at hand. */
struct dpe_step {
	const struct dpe_pred *preds; /* what its immediate predecessors must be */
	const uint16_t *positions;    /* the positions that it takes; kept as long as the run */
	const struct dpe_stmt *const *before, *const *after; /* actions around the event's own */
	unsigned npreds, npositions, nbefore, nafter;
	const struct dpe_move *move; /* of an automaton; else … */
	const struct dpe_product_step *way;   /* … of several; else … */
	struct dpe_marking *marking; /* … where it leads */
};

/* An `expect` slice follows every reading of its events at once. */
struct dpe_reading {
	struct dpe_config config;
	struct dpe_occurrence **positions; /* by position; only where actions name them */
};

/* The engine of a rule, with what was made to choose it; the caller frees the latter. */
struct dpe_engine_plan {
	struct dpe_engine engine;
	/* What follows configurations, also beside a pair table or a conjunction. */
	struct dpe_automaton *automaton; /* one of these … */
	struct dpe_factors *factors;     /* … of a product … */
	bool is_game;                    /* … */
	struct dpe_factors *operands;    /* of a conjunction */
};

/* Chooses the engine; false after a diagnostic where there is none. With `traced` each step is reported. */
bool dpe_engine_choose(const struct dpe_rule *rule, enum dpe_engine_choice choice, bool traced,
	struct dpe_engine_plan *plan, struct dpe_diags *diags);

/* True if an action or condition within the rule asks for events that the partial match has so far. */
bool dpe_rule_names_positions(const struct dpe_rule *rule);
/* Gives the run the engine that dpe_engine_choose names; false after a diagnostic. */
bool dpe_engine_new(struct dpe_run *run, struct dpe_diags *diags);
void dpe_engine_free(struct dpe_run *run);
/* Once it is known what actions ask for: readings that differ only in which of several alike operands
 * is which are followed once. */
void dpe_engine_fold(struct dpe_run *run);
/* Why a failure of the slice is in doubt, or NULL. */
const char *dpe_expect_doubt(const struct dpe_run *run, const struct dpe_slice *slice);
/* Between two events, bounds the memory of the automaton: gives the run an empty one where it has become
 * too large, and returns the old one; else NULL. The caller lets each slice adopt states of the new
 * one, and hands the old one back. */
struct dpe_automaton *dpe_engine_renew(struct dpe_run *run);
void dpe_engine_renewed(struct dpe_run *run, struct dpe_automaton *old);
void dpe_slice_adopt(
	const struct dpe_run *run, struct dpe_slice *slice, const struct dpe_automaton *old);
/* Room for the registers of a configuration. */
struct dpe_occurrence **dpe_registers_new(struct dpe_pool *pool, unsigned count);
struct dpe_config dpe_config_begin(const struct dpe_run *run);
struct dpe_config dpe_config_copy(const struct dpe_run *run, const struct dpe_config *from);
void dpe_config_drop(const struct dpe_run *run, struct dpe_config *config);
bool dpe_config_same(
	const struct dpe_run *run, const struct dpe_config *a, const struct dpe_config *b);
bool dpe_config_final(const struct dpe_run *run, const struct dpe_config *config);
/* Nothing can follow. */
bool dpe_config_complete(const struct dpe_run *run, const struct dpe_config *config);
/* All ways to take an event as `literal`, whatever its predecessors are; valid until the next
 * call. Without an occurrence they are for looking at only, and those that need not be followed are
 * among them. */
unsigned dpe_engine_steps(struct dpe_run *run, const struct dpe_config *config, unsigned literal,
	struct dpe_occurrence *occurrence, const struct dpe_step **steps);
struct dpe_config dpe_engine_take(const struct dpe_config *config, const struct dpe_step *step,
	struct dpe_occurrence *occurrence);
/* The same in place, for a move of the automaton. */
void dpe_engine_move(const struct dpe_run *run, struct dpe_config *config,
	const struct dpe_move *move, struct dpe_occurrence *occurrence);
/* The actions that the reading runs through when it ends here; valid until the next steps. */
unsigned dpe_engine_ending(const struct dpe_run *run, const struct dpe_config *config,
	const struct dpe_stmt *const **actions);
/* The actions within the rule's expression; their number. */
unsigned dpe_engine_actions(const struct dpe_run *run, const struct dpe_stmt *const **actions);
/* True where one of them names a position. */
bool dpe_engine_names_positions(const struct dpe_run *run);
/* True where the step wants that event as a predecessor. */
bool dpe_step_names(const struct dpe_step *step, const struct dpe_occurrence *occurrence);

/* Whether the condition of a placed pattern holds where these events are at the positions of the
 * rule. It knows those that precede the event only, so it does not matter in which order
 * independent ones came. */
bool dpe_placed_condition_holds(const struct dpe_run *run, const struct dpe_slice *slice,
	unsigned pattern, const struct dpe_occurrence *occurrence,
	struct dpe_occurrence *const *positions);

/* True where the condition of a placed pattern holds in some reading, some partial match. */
bool dpe_expect_admits(const struct dpe_run *run, const struct dpe_slice *slice, unsigned pattern,
	const struct dpe_occurrence *occurrence);
bool dpe_detect_admits(const struct dpe_run *run, const struct dpe_slice *slice, unsigned pattern,
	const struct dpe_occurrence *occurrence);

/* Both read the event as run->literals says, after run->preds; the order has it not yet. */
void dpe_expect_begin(struct dpe_run *run, struct dpe_slice *slice);
void dpe_expect_take(
	struct dpe_run *run, struct dpe_slice *slice, struct dpe_occurrence *occurrence);
void dpe_expect_finish(struct dpe_run *run, struct dpe_slice *slice);
void dpe_expect_copy(struct dpe_run *run, struct dpe_slice *to, const struct dpe_slice *from);
/* Keep the room for readings, for partial matches. */
void dpe_expect_clear(struct dpe_run *run, struct dpe_slice *slice);

/* Gives an `expect` run its short way, where nobody looks at single events. */
void dpe_fast_path_new(struct dpe_run *run);
void dpe_fast_path_free(struct dpe_run *run); /* accepts a run without */
/* The automaton has other states now. */
void dpe_fast_path_forget(struct dpe_run *run);
/* Takes the event into a slice as the next of a sequence; false where nothing was done. */
bool dpe_fast_path_take(struct dpe_run *run, struct dpe_slice *slice, unsigned literal,
	const struct dpe_event *event);
/* The state after the next event of a sequence, which only the last one stands in a register of, and
 * after the first of a slice; false where there is none, or a choice. */
bool dpe_fast_path_next(struct dpe_run *run, dpe_state state, unsigned literal, dpe_state *to);
bool dpe_fast_path_first(struct dpe_run *run, unsigned literal, dpe_state *to);

/* ---- partial matches ------------------------------------------------------------------------ */

/* Events, in the order of their numbers. Counted, and never changed. */
struct dpe_set {
	uint32_t refs, count;
	struct dpe_occurrence *at[];
};

/* The events that were taken, newest first. Counted. */
struct dpe_trail {
	uint32_t refs;
	uint16_t npositions;
	const uint16_t *positions;
	struct dpe_occurrence *occurrence;
	struct dpe_trail *before;
};

/* A partial match of an operand of &, or of the whole rule. Counted, and never changed. */
struct dpe_partial {
	uint32_t refs;
	uint32_t operand;
	struct dpe_config config;
	struct dpe_set *first;   /* its minimal events */
	struct dpe_set *last;    /* its maximal ones; NULL in compact slices */
	struct dpe_trail *trail;
	uint64_t mask;           /* variables bound */
};

/* With room for so many events, which the caller fills in; one reference, the caller's. */
struct dpe_set *dpe_set_new(struct dpe_pool *pool, unsigned count);

void dpe_detect_take(
	struct dpe_run *run, struct dpe_slice *slice, struct dpe_occurrence *occurrence);
void dpe_detect_copy(const struct dpe_run *run, struct dpe_slice *to, const struct dpe_slice *from);
/* The partial matches of a rule that is followed as a whole; and one more, of these events: takes over
 * what is counted. */
struct dpe_partial *const *dpe_detect_partials(const struct dpe_slice *slice, unsigned *count);
void dpe_detect_restore(struct dpe_run *run, struct dpe_slice *slice, struct dpe_config config,
	struct dpe_set *first, struct dpe_trail *trail, uint64_t mask);
/* Lets partial matches stand in the states that they stand in in the old automaton. */
void dpe_detect_adopt(
	const struct dpe_run *run, struct dpe_slice *slice, const struct dpe_automaton *old);
/* Keeps the room, and gives it up. */
void dpe_detect_clear(struct dpe_run *run, struct dpe_slice *slice);
void dpe_detect_free(struct dpe_run *run, struct dpe_slice *slice);
/* Drops partial matches that no event to come can extend. */
void dpe_detect_forget(
	struct dpe_run *run, struct dpe_slice *slice, const struct dpe_horizon *horizon);
/* An event of a match, and the positions that it takes. */
struct dpe_entry {
	const struct dpe_occurrence *occurrence;
	const uint16_t *positions;
	unsigned npositions;
};

/* Adds the patterns, one bit each, that events in partial matches of the slice look like. False where
 * nobody knows, or it would take too long; `looks` counts what was looked at, of all slices. */
bool dpe_slice_live_patterns(
	const struct dpe_run *run, const struct dpe_slice *slice, uint64_t *patterns, unsigned *looks);

/* What lies in the past of events to come, as of `newer` events ago at most, or as many as a look
 * costs unless that is 0; NULL where anything may. */
const struct dpe_horizon *dpe_recognizer_horizon(struct dpe_recognizer *recognizer, uint64_t newer);
#define DPE_OLD_HORIZON 1024 /* events: looking for a newer one costs as much as a few hundred */
/* True where no event to come can have this one as an immediate predecessor in the slice. */
bool dpe_order_bars(const struct dpe_order *order, const struct dpe_horizon *horizon,
	const struct dpe_occurrence *occurrence);
/* For the same: true where whoever follows the occurrence follows this event after it, too. */
bool dpe_is_passed_by(void *event, const struct dpe_occurrence *occurrence);
/* True where nothing can come that leads on to an end where such events are barred. */
bool dpe_config_is_dead(const struct dpe_run *run, const struct dpe_config *config,
	dpe_barred_fn *barred, void *context);
/* ---- deferred_violations.c ------------------------------------------------------------------ *

 * A slice whose values are part of those of another is not judged: its events are the other's, too,
 * and it is there for slices that are still to come. These were violated where it was. */

/* True where the violated slice is a part of a larger one, and is told of no more than that it is
 * done; slices that begin with what it saw will tell. */
bool dpe_violation_defer(struct dpe_run *run, struct dpe_slice *slice,
	struct dpe_occurrence *occurrence, const char *reason);
/* What the new slice begins with was violated, and nothing was said. */
void dpe_deferred_copy(struct dpe_run *run, uint64_t to, uint64_t from);
/* Whether something is to be said of the slice with this number; says it. */
bool dpe_deferred_has(const struct dpe_run *run, uint64_t number);
void dpe_deferred_report(struct dpe_run *run, struct dpe_slice *slice);
void dpe_deferred_drop(struct dpe_run *run, uint64_t number);
void dpe_deferred_free(struct dpe_run *run);

/* ---- conjunctions --------------------------------------------------------------------------- */

/* The rule operand by operand where its engine is the conjunction, else as a whole. */
struct dpe_conjunction *dpe_conjunction_new(struct dpe_run *run);
void dpe_conjunction_free(struct dpe_conjunction *conjunction); /* accepts NULL */
/* After an event: what is not needed any more, of partial matches and of events, if there is much. */
void dpe_matching_prune_if_large(struct dpe_run *run, struct dpe_slice *slice);
uint64_t dpe_matching_size(const struct dpe_slice *slice);
bool dpe_conjunction_is_whole(const struct dpe_conjunction *conjunction);

#endif
