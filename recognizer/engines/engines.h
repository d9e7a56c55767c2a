/* engines: how a slice of a rule is followed. */
#ifndef DPE_RECOGNIZER_ENGINES_ENGINES_H
#define DPE_RECOGNIZER_ENGINES_ENGINES_H

#include "recognizer/recognizer.h"

/* Gives the run its automaton or its game; false after a diagnostic. */
bool dpe_engine_new(struct dpe_run *run, enum dpe_engine_choice choice, struct dpe_diags *diags);
void dpe_engine_free(struct dpe_run *run);
/* Once it is known what actions ask for: readings that differ only in which of several alike operands
 * is which are followed once. */
void dpe_engine_fold(struct dpe_run *run);
/* Why a slice that is not at an end may have been violated before, or NULL. */
const char *dpe_engine_doubt(const struct dpe_run *run);
/* Between two events: bounds the memory of the automaton. */
void dpe_engine_tidy(struct dpe_run *run);
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

/* Whether the pattern's condition holds; of [cond] it is that it becomes true with the update. */
struct dpe_env;
bool dpe_pattern_condition_holds(const struct dpe_env *env, const struct dpe_pattern *pattern);
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
void dpe_sequel_new(struct dpe_run *run);
void dpe_sequel_free(struct dpe_run *run); /* accepts a run without */
/* The automaton has other states now. */
void dpe_sequel_forget(struct dpe_run *run);
/* Takes the event into a slice as the next of a sequence; false where nothing was done. */
bool dpe_sequel_take(struct dpe_run *run, struct dpe_slice *slice, unsigned literal,
	const struct dpe_event *event);
/* The state after the next event of a sequence, which only the last one stands in a register of, and
 * after the first of a slice; false where there is none, or a choice. */
bool dpe_sequel_way(struct dpe_run *run, dpe_state state, unsigned literal, dpe_state *to);
bool dpe_sequel_first(struct dpe_run *run, unsigned literal, dpe_state *to);

void dpe_detect_take(
	struct dpe_run *run, struct dpe_slice *slice, struct dpe_occurrence *occurrence);
void dpe_detect_copy(const struct dpe_run *run, struct dpe_slice *to, const struct dpe_slice *from);
/* True where a partial match may be refused an event because of this one. */
bool dpe_detect_needs(const struct dpe_slice *slice, const struct dpe_occurrence *occurrence);
/* An event of a match, and the positions that it takes. */
struct dpe_entry {
	const struct dpe_occurrence *occurrence;
	const uint16_t *positions;
	unsigned npositions;
};

/* Tells of a match, whose events are in the order of their release, and runs the rule's action. */
void dpe_detect_tell(struct dpe_run *run, const struct dpe_slice *slice,
	const struct dpe_entry *entries, unsigned nentries,
	const struct dpe_occurrence *occurrence);

/* True where no event to come can have this one as an immediate predecessor in the slice. */
bool dpe_order_bars(const struct dpe_order *order, const struct dpe_horizon *horizon,
	const struct dpe_occurrence *occurrence);
/* For the same: true where whoever follows the occurrence follows this event after it, too. */
bool dpe_is_passed_by(void *event, const struct dpe_occurrence *occurrence);
/* True where nothing can come that leads on to an end where such events are barred. */
bool dpe_config_is_dead(const struct dpe_run *run, const struct dpe_config *config,
	dpe_barred_fn *barred, void *context);
/* True where no event to come can extend the partial match. */
bool dpe_partial_is_dead(const struct dpe_run *run, const struct dpe_slice *slice,
	const struct dpe_partial *partial, const struct dpe_horizon *horizon);
/* Drops those, and what others stand for. */
void dpe_detect_forget(
	struct dpe_run *run, struct dpe_slice *slice, const struct dpe_horizon *horizon);
void dpe_detect_clear(struct dpe_run *run, struct dpe_slice *slice);
/* The minimal events of a partial match. */
static inline struct dpe_occurrence *const *dpe_partial_firsts(const struct dpe_partial *partial)
{
	return partial->nfirst <= DPE_FEW_FIRST ? partial->few : partial->many;
}

/* ---- conjunctions --------------------------------------------------------------------------- */

/* NULL where the rule cannot be divided, or actions have to know more than its matches; then
 * detect.c follows it as a whole, and where the caller wants an engine and the rule is small. */
struct dpe_shape *dpe_shape_new(struct dpe_run *run);
void dpe_shape_free(struct dpe_shape *shape); /* accepts NULL */
/* After an event: what is not needed any more, of fibres and of events, if there is much. */
void dpe_weave_drop_some(struct dpe_run *run, struct dpe_slice *slice);
uint64_t dpe_weave_size(const struct dpe_slice *slice);

#endif
