/* Searches: the partial matches of a `detect` rule, of each operand of its & by itself. Private to
 * conjunction_*.c, partial_*.c, matching.c, detect*.c and live_patterns.c. docs/internals/conjunction.md
 * proves that this finds all matches. */
#ifndef DPE_RECOGNIZER_ENGINES_CONJUNCTION_H
#define DPE_RECOGNIZER_ENGINES_CONJUNCTION_H

#include "recognizer/engines/configuration.h"

#include <limits.h>

/* ---- the rule: conjunction.c -------------------------------------------------------------- */

/* An operand of the rule's &, or the whole rule. */
struct dpe_conjunct {
	bool optional; /* it can be empty */
	bool joins;    /* partial matches of independent events are made when one follows them: conjunction_joins.c */
	/* What its engine works on: the rule's, where the operand is all of it, or its own. */
	struct dpe_run *run;
	struct dpe_run own;
	struct dpe_rule rule;
};

/* The candidates of an operand while a match is searched for. */
struct dpe_domain {
	struct dpe_partial *const *at;
	/* By candidate: the depth of the search at which it was removed; 0: it was not, DPE_NO_CANDIDATE:
	 * it is NULL. */
	unsigned *removed;
	unsigned count, left; /* left: not removed */
	bool assigned;
};

#define DPE_NO_CANDIDATE UINT_MAX

/* Entries of a list. */
struct dpe_places {
	unsigned *at, count, cap;
};

/* An event of a match, and the positions that it takes. */
struct dpe_entry {
	const struct dpe_occurrence *occurrence;
	const uint16_t *positions;
	unsigned npositions;
};

/* Some of them, each counted or borrowed. */
struct dpe_partials {
	struct dpe_partial **at;
	unsigned count, cap;
};

struct dpe_conjunction {
	struct dpe_factors *factors; /* NULL: of a single operand, the rule itself */
	struct dpe_conjunct *operands;
	unsigned noperands;
	uint32_t *operand_of; /* by literal; DPE_NO_CHILD: none has it */
	bool whole;           /* the only operand is the rule, as its engine follows it */
	bool compact;         /* its slices are kept in compact form */
	/* Scratch space. */
	struct dpe_partial **match; /* by operand */
	struct dpe_domain *domains; /* by operand */
	unsigned *removed;
	struct dpe_peer *peers; /* of conjunction_pruning.c */
	bool *independent;
	struct dpe_entry *entries; /* of detect.c */
	struct dpe_places found;   /* of conjunction_step.c */
	struct dpe_partials singles, joined;
	unsigned capremoved, cappeers, capindependent, capentries;
};

/* ---- partial matches: partial_matches.c ---------------------------------------------------- */

/* What it is kept for: to be extended, or for matches. */
enum dpe_partial_role { DPE_PARTIAL_ACTIVE, DPE_PARTIAL_ENDED };

struct dpe_partial_list {
	struct dpe_partial **at; /* by age; NULL: a gap */
	unsigned count, cap, gaps;
	struct dpe_partial_index *index; /* NULL: there are few */
};

/* The partial matches of one operand. */
struct dpe_partial_lists {
	struct dpe_partial_list active; /* that can be extended */
	struct dpe_partial_list ended;  /* in a final state; not of a single operand */
	uint64_t taken; /* the number of the last event that was looked at, plus 1 */
};

/* All of a slice. */
struct dpe_matching {
	struct dpe_partial_lists *lists; /* by operand */
	unsigned noperands;
	uint64_t count;    /* partial matches in lists */
	uint64_t prune_at; /* … at which they are pruned next, … */
	uint64_t full;     /* … the last pruning left too many at the event before this number */
	uint64_t trim_at;  /* events in the order of the slice */
};

bool dpe_set_same(const struct dpe_set *a, const struct dpe_set *b); /* accepts NULL */

struct dpe_partial *dpe_partial_ref(struct dpe_partial *partial);
void dpe_partial_unref(const struct dpe_run *run, struct dpe_partial *partial); /* accepts NULL */
/* Its events are independent of each other. */
bool dpe_partial_is_independent(const struct dpe_partial *partial);
/* The partial match in the state of the new automaton; other slices may share the old one. Takes over the reference. */
struct dpe_partial *dpe_partial_adopt(
	const struct dpe_run *run, struct dpe_partial *partial, const struct dpe_automaton *old);

/* The partial match after a step from its configuration, which takes the event; its pattern binds these variables. */
struct dpe_partial *dpe_partial_extend(struct dpe_run *run, const struct dpe_partial *from,
	const struct dpe_config *config, const struct dpe_config_step *step, struct dpe_occurrence *occurrence,
	uint64_t mask);

/* ---- several at once: conjunction_joins.c ---------------------------------------------------- */

/* Whether partial matches of several independent events need not be kept. `engine`: of the operand. */
bool dpe_operand_joins(const struct dpe_run *run, const struct dpe_run *engine);
/* Adds the partial matches of one or more of these events, which are independent of each other; by age, as the given
 * ones of one event are. Counts down the work, and gives up at 0. */
void dpe_join_singles(
	struct dpe_run *run, const struct dpe_partials *singles, struct dpe_partials *to, uint64_t *work);

/* ---- lists of them: partial_lists.c --------------------------------------------------------- */

/* Adds a reference. */
void dpe_partial_list_add(const struct dpe_run *run, struct dpe_partial_list *partials,
	struct dpe_partial *partial, enum dpe_partial_role role);
/* Leaves a gap, which dpe_partial_list_close_gaps closes; of a long list when there are many. */
void dpe_partial_list_drop(const struct dpe_run *run, struct dpe_partial_list *partials, unsigned at);
void dpe_partial_list_close_gaps(struct dpe_partial_list *partials);
/* Before its partial matches change otherwise; it has an index again when one is added. */
void dpe_partial_list_drop_index(struct dpe_partial_list *partials);
void dpe_partial_list_clear(const struct dpe_run *run, struct dpe_partial_list *partials);

/* Each fills in `found` with entries, by age: what an event with these predecessors may extend, */
void dpe_partials_asked(
	const struct dpe_partial_list *partials, const struct dpe_preds *preds, struct dpe_places *found);
/* what may be passed over by the event forever, */
void dpe_partials_passed(const struct dpe_partial_list *partials, const struct dpe_occurrence *event,
	const struct dpe_preds *preds, struct dpe_places *found);
/* and what may replace the partial match, or be replaced by it. Others may be among them. */
void dpe_partials_alike(const struct dpe_run *run, const struct dpe_partial_list *partials,
	const struct dpe_partial *partial, enum dpe_partial_role role, struct dpe_places *found);

/* ---- choosing: conjunction_choice.c -------------------------------------------------------- */

/* An event of the one is, or precedes, one of the other. */
bool dpe_partial_precedes(const struct dpe_partial *a, const struct dpe_partial *b);
/* Neither precedes the other. */
bool dpe_partials_independent(const struct dpe_partial *a, const struct dpe_partial *b);

/* Finds what makes a match of the whole rule with this partial match of an operand, in a final
 * state: fills in the conjunction's `match`, NULL if an operand is empty. Counts down how many
 * pairs are looked at, and gives up at 0. */
bool dpe_choose_match(struct dpe_run *run, const struct dpe_slice *slice,
	struct dpe_partial *partial, uint64_t *work);

/* ---- events: matching.c, conjunction_step.c, detect.c -------------------------------------------------- */

/* The partial matches of the slice; created if there are none. */
struct dpe_matching *dpe_matching_of(const struct dpe_run *run, struct dpe_slice *slice);
/* Drops events that no partial match has, or precedes with one of its own. */
void dpe_matching_trim(const struct dpe_run *run, struct dpe_slice *slice);

/* Extends the partial matches of the slice by the event, and reports a match. */
void dpe_detect_take(
	struct dpe_run *run, struct dpe_slice *slice, struct dpe_occurrence *occurrence);
void dpe_detect_copy(struct dpe_run *run, struct dpe_slice *to, const struct dpe_slice *from);
void dpe_detect_clear(struct dpe_run *run, struct dpe_slice *slice); /* keeps the room */
void dpe_detect_free(struct dpe_run *run, struct dpe_slice *slice);
void dpe_detect_adopt(
	const struct dpe_run *run, struct dpe_slice *slice, const struct dpe_automaton *old);
/* After an event: drops what is not needed any more, of partial matches and of events, if there is
 * much. */
void dpe_matching_prune_if_large(struct dpe_run *run, struct dpe_slice *slice);
/* Runs the actions that go with a step, after which this was taken. */
void dpe_detect_act(struct dpe_run *run, const struct dpe_slice *slice,
	const struct dpe_config_step *step, const struct dpe_trail *trail,
	const struct dpe_message *event);
/* Reports the conjunction's `match`, which the event completes, and runs its actions. */
void dpe_detect_report(struct dpe_run *run, const struct dpe_slice *slice,
	const struct dpe_occurrence *occurrence);
/* Whether the condition of a placed pattern holds after these events. */
bool dpe_trail_admits(const struct dpe_run *run, const struct dpe_slice *slice,
	const struct dpe_trail *trail, unsigned pattern, const struct dpe_occurrence *occurrence);
/* Conditions find the same events. */
bool dpe_trail_same_named(
	const struct dpe_run *run, const struct dpe_trail *a, const struct dpe_trail *b);

static inline bool dpe_at_or_before(const struct dpe_occurrence *a, const struct dpe_occurrence *b)
{
	if (a == b)
		return true;
	if (!b->stamp.past && a->stamp.chain != b->stamp.chain)
		return false;
	return dpe_precedes(&a->stamp, &b->stamp);
}

/* One of the events, or one after it. Accepts no set. */
static inline bool dpe_set_touches(const struct dpe_set *first, const struct dpe_occurrence *event)
{
	for (unsigned i = 0; first && i < first->count; i++) {
		if (dpe_at_or_before(first->at[i], event))
			return true;
	}
	return false;
}

/* ---- pruning: conjunction_pruning.c -------------------------------------------------------- */

/* True if the one can be used in place of the other: see there. Accepts no old one. */
bool dpe_partial_replaces(const struct dpe_run *run, const struct dpe_partial *new,
	const struct dpe_partial *old, enum dpe_partial_role role);
/* No event to come can extend the partial match, as it is passed over by this one. */
bool dpe_partial_is_passed(const struct dpe_run *run, const struct dpe_partial *partial,
	const struct dpe_occurrence *event);
/* Drops what is dead, and what others can replace. */
void dpe_matching_prune(
	struct dpe_run *run, struct dpe_slice *slice, const struct dpe_horizon *horizon);
/* The same if there is no room, and drops what the event made if there is still none. */
void dpe_matching_make_room(
	struct dpe_run *run, struct dpe_slice *slice, const struct dpe_occurrence *event);

#endif
