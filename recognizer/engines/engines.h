/* engines: how a slice of a rule is followed. */
#ifndef DPE_RECOGNIZER_ENGINES_ENGINES_H
#define DPE_RECOGNIZER_ENGINES_ENGINES_H

#include "recognizer/recognizer.h"

/* ---- configurations -------------------------------------------------------------------------- */

/* A state of an automaton with its registers, or a marking: as run->follow says. */
struct dpe_config {
	union {
		struct {
			dpe_state state;
			struct dpe_occurrence **registers;
		};
		struct dpe_marking *marking;
	};
};

/* One branch of the nondeterministic run of an `expect` slice, which follows all at once. */
struct dpe_branch {
	struct dpe_config config;
	struct dpe_occurrence **positions; /* by position; only where actions name them */
};

bool dpe_config_final(const struct dpe_run *run, const struct dpe_config *config);
/* Room for the registers of a configuration. */
struct dpe_occurrence **dpe_registers_new(struct dpe_pool *pool, unsigned count);

/* ---- slices ---------------------------------------------------------------------------------- */

/* What follows slices: all branches of an `expect` rule (expect.c), or partial matches of a
 * `detect` rule (detect.c). Events are read as run->literals says, after run->preds; the order of
 * the slice does not have them yet. */
struct dpe_slice_engine {
	/* A slice without events. */
	void (*begin)(struct dpe_run *run, struct dpe_slice *slice);
	void (*take)(
		struct dpe_run *run, struct dpe_slice *slice, struct dpe_occurrence *occurrence);
	/* Reports the verdict at the end. */
	void (*finish)(struct dpe_run *run, struct dpe_slice *slice);
	/* To a slice without events. */
	void (*copy)(struct dpe_run *run, struct dpe_slice *to, const struct dpe_slice *from);
	/* Keeps the room; and frees it. */
	void (*clear)(struct dpe_run *run, struct dpe_slice *slice);
	void (*free)(struct dpe_run *run, struct dpe_slice *slice);
	/* True if the condition of a placed pattern holds in some branch, some partial match. */
	bool (*admits)(const struct dpe_run *run, const struct dpe_slice *slice, unsigned pattern,
		const struct dpe_occurrence *occurrence);
	/* Translates states of the old automaton to run->automaton. */
	void (*adopt)(const struct dpe_run *run, struct dpe_slice *slice,
		const struct dpe_automaton *old);
};

extern const struct dpe_slice_engine dpe_expect_engine, dpe_detect_engine;

/* Rules `a ; b` (unordered.c): counts how often an event is b and independent of an a of the slice. */
void dpe_unordered_prepare(struct dpe_run *run);
void dpe_unordered_take(
	struct dpe_run *run, const struct dpe_slice *slice, const struct dpe_occurrence *occurrence);
/* Why a failure of the slice is in doubt, or NULL. */
const char *dpe_expect_doubt(const struct dpe_run *run, const struct dpe_slice *slice);
/* Whether the condition of a placed pattern holds where these events are at the positions of the
 * rule. It knows only the events that precede this one, so it does not matter in which order
 * independent ones came. */
bool dpe_placed_condition_holds(const struct dpe_run *run, const struct dpe_slice *slice,
	unsigned pattern, const struct dpe_occurrence *occurrence,
	struct dpe_occurrence *const *positions);

/* ---- the engine of a run --------------------------------------------------------------------- */

/* True if an action or condition within the rule asks for events that the partial match has so far.
 */
bool dpe_rule_names_positions(const struct dpe_rule *rule);
/* The same, or an action is at a position: it matters which events a match consists of. */
bool dpe_rule_looks_at_events(const struct dpe_rule *rule);
/* Gives the run the engine that dpe_engine_choose names; false after a diagnostic. */
bool dpe_engine_new(struct dpe_run *run, struct dpe_diags *diags);
void dpe_engine_free(struct dpe_run *run);
/* The actions within the rule's expression; their number. */
unsigned dpe_engine_actions(const struct dpe_run *run, const struct dpe_stmt *const **actions);
/* True if one of them names a position. */
bool dpe_engine_names_positions(const struct dpe_run *run);
/* Once it is known what actions ask for. */
void dpe_engine_reduce_symmetry(struct dpe_run *run);
/* Between two events, bounds the memory of the automaton: gives the run an empty one where it has
 * become too large, and returns the old one; else NULL. The caller lets each slice adopt states of
 * the new one, and hands the old one back. */
struct dpe_automaton *dpe_engine_renew(struct dpe_run *run);
void dpe_engine_renewed(struct dpe_run *run, struct dpe_automaton *old);

/* ---- partial matches ------------------------------------------------------------------------- */

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
	struct dpe_set *first; /* its minimal events */
	struct dpe_set *last;  /* its maximal ones; NULL in compact slices */
	struct dpe_trail *trail;
	uint64_t mask; /* variables bound */
};

/* The operands of a `detect` rule where its engine is the conjunction, else the whole rule as one.
 */
struct dpe_conjunction *dpe_conjunction_new(struct dpe_run *run);
void dpe_conjunction_free(struct dpe_conjunction *conjunction); /* accepts NULL */
bool dpe_conjunction_is_whole(const struct dpe_conjunction *conjunction);
/* With room for `count` events, which the caller fills in; one reference, the caller's. */
struct dpe_set *dpe_set_new(struct dpe_pool *pool, unsigned count);
/* The number of partial matches. */
uint64_t dpe_matching_size(const struct dpe_slice *slice);
/* The partial matches of a rule that is followed as a whole; and one more, of these events: takes
 * over what is counted. */
struct dpe_partial *const *dpe_detect_partials(const struct dpe_slice *slice, unsigned *count);
void dpe_detect_restore(struct dpe_run *run, struct dpe_slice *slice, struct dpe_config config,
	struct dpe_set *first, struct dpe_trail *trail, uint64_t mask);
/* Drops partial matches that no event to come can extend. */
void dpe_detect_forget(
	struct dpe_run *run, struct dpe_slice *slice, const struct dpe_horizon *horizon);
/* Adds the patterns, one bit each, that events in partial matches of the slice look like. False
 * if it is not known, or would take too long to find out; `looks` counts what was looked at, of all slices.
 */
bool dpe_slice_live_patterns(const struct dpe_run *run, const struct dpe_slice *slice,
	uint64_t *patterns, unsigned *looks);

/* Writes the state of a slice without a verdict in words, as struct dpe_slice_state has it. */
void dpe_slice_describe(struct dpe_run *run, const struct dpe_slice *slice, struct dpe_text *to);

/* Number of events and partial matches that the slice keeps. */
static inline uint64_t dpe_slice_size(const struct dpe_slice *slice)
{
	return slice->order.size + dpe_matching_size(slice);
}

/* What lies in the past of events to come, as of `newer` events ago at most, or as many as a look
 * costs unless that is 0; NULL if anything may. */
const struct dpe_horizon *dpe_recognizer_horizon(struct dpe_recognizer *recognizer, uint64_t newer);

/* ---- deferred_violations.c ------------------------------------------------------------------- *

 * A slice whose values are part of those of another is not judged: its events are the other's, too,
 * and it is there for slices that are still to come. These were violated where it was. */

/* True if the violated slice is a part of a larger one: it is done, and slices that begin with
 * its events report the violation. */
bool dpe_violation_defer(struct dpe_run *run, struct dpe_slice *slice,
	struct dpe_occurrence *occurrence, const char *reason);
/* The events that the new slice begins with were violated, and that was not reported. */
void dpe_deferred_copy(struct dpe_run *run, uint64_t to, uint64_t from);
/* Whether a violation of the slice with this number is to be reported; reports it. */
bool dpe_deferred_has(const struct dpe_run *run, uint64_t number);
void dpe_deferred_report(struct dpe_run *run, struct dpe_slice *slice);
void dpe_deferred_drop(struct dpe_run *run, uint64_t number);
void dpe_deferred_free(struct dpe_run *run);

#endif
