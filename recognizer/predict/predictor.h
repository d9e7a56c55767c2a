/* predictor: the search for matches of one rule. Private to predict. */
#ifndef DPE_RECOGNIZER_PREDICT_PREDICTOR_H
#define DPE_RECOGNIZER_PREDICT_PREDICTOR_H

#include "recognizer/patterns/patterns.h"
#include "recognizer/predict/closure.h"

/* The events of one chain that match a pattern with the same values, in order. */
struct dpe_candidates {
	uint32_t chain;
	unsigned count, cap;
	uint32_t *events; /* numbers */
	const struct dpe_sections_set *common; /* the locks under which all of them are; NULL: none */
};

#define DPE_MANY_CHAINS UINT32_MAX

/* What several events have in common. */
struct dpe_candidate_span {
	bool any;
	uint32_t chain; /* of all of them; DPE_MANY_CHAINS: of several */
	const struct dpe_sections_set *common; /* the locks under which all of them are; NULL: none */
};

/* The events that match a pattern with the same values. Most are only compared by the locks that they
 * have in common: they wait to be divided by chain until somebody asks for that. */
struct dpe_candidate_group {
	struct dpe_candidate_slice *slice;
	struct dpe_candidate_span all, earlier; /* all its events, and those of earlier windows */
	unsigned pattern;
	uint32_t waiting; /* the last one: in the search's `waiting`; 0: none */
	struct dpe_candidates **by_chain;
	unsigned nchains, capchains;
};

/* What binds the same variables to the same values. With one variable, this is a line of the cache, and so is a group. */
struct dpe_candidate_slice {
	uint64_t mask; /* variables bound */
	const struct dpe_epoch *quiet_in; /* no event of another chain came since … */
	uint64_t quiet; /* … events of these patterns, a bit each, were the last of no match in that epoch */
	struct dpe_candidate_span all; /* all its events */
	struct dpe_candidate_group *groups; /* by pattern; behind the values */
	struct dpe_value values[]; /* one a variable of the rule */
};

struct dpe_sweep;
struct dpe_slice_end;
struct dpe_reorder;

/* A match under construction: an event for each event of a behaviour. */
struct dpe_assignment {
	const struct dpe_pomset *pomset;
	unsigned last; /* the event of the behaviour that is the latest in the observed run, … */
	struct dpe_candidate_group *last_group; /* … its group, … */
	uint32_t last_chain;                    /* … and its chain; `of` has those of the others */
	struct dpe_candidates *of[DPE_POMSET_EVENTS];
	uint64_t events[DPE_POMSET_EVENTS];
	struct dpe_value values[DPE_RULE_VARIABLES]; /* borrowed */
	uint64_t mask;
	uint64_t first; /* of independent events: the slice begins with this one or a later one */
};

/* A `predict` rule at work. */
struct dpe_prediction_search {
	struct dpe_run *run;
	struct dpe_history *history;
	struct dpe_slice_entry {
		uint64_t hash;
		struct dpe_candidate_slice *slice; /* NULL: none */
	} *slices; /* a hash table with open addressing */
	unsigned nslices, slice_slots; /* a power of two, or 0 */
	/* Events that wait in groups, and of each the place of the one that came before it in its group. The first is not used. */
	struct dpe_waiting_event {
		uint32_t event, before;
	} *waiting;
	unsigned nwaiting, capwaiting;
	struct dpe_candidate_slice *recent;       /* the one that was looked for last; or NULL */
	struct dpe_candidate_slice **numbered;    /* by number of the text of their only value; NULL: unknown */
	unsigned nnumbered, capnumbered;
	struct dpe_candidate_group ***by_pattern; /* all groups of each pattern */
	unsigned *ngroups, *capgroups;
	bool pairwise; /* all patterns bind the same variables, and all events of a match are independent */
	uint64_t *partners; /* of a pairwise rule, by pattern: patterns of the other events of a match, a bit each */
	bool missed;        /* there may have been matches with events of earlier windows */
	struct dpe_sweep *sweeps; /* a hash table */
	struct dpe_slice_end *ends; /* a hash table */
	uint64_t *end_masks;        /* the sets of variables that ends have, each once */
	unsigned nend_masks, capend_masks;
	/* What has been reported at the current event: values of all variables. */
	struct dpe_assignment *reported;
	unsigned nreported, capreported;
	struct dpe_closure least, past, other; /* scratch */
	/* The least run of the events that were tried last has other events before the last one: its past there is `past`. */
	bool disordered;
	const struct dpe_stamp *stamp; /* of the current event */
	uint64_t work;                 /* left for it */
	bool cut_short;       /* a search was given up */
	bool refused;         /* the least run of a choice of events did not show a match at the current event */
	bool reorders;        /* what was refused is looked for with locks in another order */
	uint64_t reorder_work; /* left for that */
	struct dpe_reorder *reorder; /* other orders of locks; NULL: none was looked for */
};

static inline bool dpe_pomset_has_order(const struct dpe_pomset *pomset)
{
	for (unsigned i = 0; i < pomset->nevents; i++) {
		if (pomset->before[i])
			return true;
	}
	return false;
}

/* The pattern of an event of the behaviour. */
static inline unsigned dpe_pomset_pattern(
	const struct dpe_rule *rule, const struct dpe_pomset *pomset, unsigned event)
{
	return rule->literals[pomset->literals[event]].pattern;
}

/* ---- candidates.c ------------------------------------------------------------------------- */

/* The slice of the binding's values; NULL: no event of a match has these. */
struct dpe_candidate_slice *dpe_candidates_slice(
	struct dpe_prediction_search *search, const struct dpe_binding *binding);
/* The group of the binding, created when new. */
struct dpe_candidate_group *dpe_candidates_of(
	struct dpe_prediction_search *search, const struct dpe_binding *binding);
/* See dpe_recognizer_prefetch. */
void dpe_candidates_prefetch(const struct dpe_prediction_search *search, uint64_t mask,
	const struct dpe_value *values, bool soon);
void dpe_candidates_add(
	struct dpe_prediction_search *search, struct dpe_candidate_group *group, uint64_t number);
/* True if it is known that the event is the last of no match, from the slice's other events. */
bool dpe_candidates_rule_out(const struct dpe_prediction_search *search,
	const struct dpe_candidate_group *group, uint64_t number);
/* The event was the last of no match. */
void dpe_candidates_note_quiet(
	const struct dpe_prediction_search *search, struct dpe_candidate_group *group, uint64_t number);
/* Divides the events of the group by chain: before `by_chain` is looked at. */
void dpe_candidates_divide(struct dpe_prediction_search *search, struct dpe_candidate_group *group);
/* Those of the chain, created when there are none. */
struct dpe_candidates *dpe_candidates_of_chain(struct dpe_candidate_group *group, uint32_t chain);
typedef void dpe_group_fn(void *context, struct dpe_candidate_group *group);
/* Calls for the groups of a pattern that agree with the assignment's values. */
void dpe_candidates_each(struct dpe_prediction_search *search,
	const struct dpe_assignment *assignment, unsigned pattern, dpe_group_fn *each, void *context);
/* Adds the group's values; returns the mask before. */
uint64_t dpe_assignment_bind(
	struct dpe_assignment *assignment, const struct dpe_candidate_group *group);
bool dpe_values_compatible(uint64_t mask, const struct dpe_value *values, uint64_t other_mask,
	const struct dpe_value *others);
/* A hash of the values of the variables in the mask. */
uint64_t dpe_bound_values_hash(
	const struct dpe_rule *rule, uint64_t mask, const struct dpe_value *values);
static inline const struct dpe_past_event *dpe_event_of(
	const struct dpe_prediction_search *search, const struct dpe_assignment *assignment, unsigned i)
{
	return &search->history->events[assignment->events[i]];
}
/* True if an event precedes another one in every run. */
static inline bool dpe_precedes_always(const struct dpe_past_event *a, const struct dpe_past_event *b)
{
	if (a->epoch->chain == b->epoch->chain)
		return a->index < b->index;
	return a->index <= dpe_base_reach(b->epoch->base, a->epoch->chain);
}
/* True if the event of the behaviour precedes no other one. */
static inline bool dpe_pomset_is_maximal(const struct dpe_pomset *pomset, unsigned event)
{
	for (unsigned i = 0; i < pomset->nevents; i++) {
		if (pomset->before[i] >> event & 1)
			return false;
	}
	return true;
}
/* True if no run has the event of the epoch and one of the span independent. */
static inline bool dpe_span_excludes(const struct dpe_candidate_span *span, const struct dpe_epoch *epoch)
{
	return !span->any || span->chain == epoch->chain || dpe_sections_conflict(span->common, epoch->held);
}
/* Frees the events, and leaves the spans. Those that wait stay in the search's `waiting`. */
void dpe_candidates_forget(struct dpe_candidate_group *group);
typedef bool dpe_keep_fn(void *context, struct dpe_candidate_slice *slice);
/* Frees all slices but those for which `keep` is true. */
void dpe_candidates_keep(struct dpe_prediction_search *search, dpe_keep_fn *keep, void *context);
/* Frees all. */
void dpe_candidates_free(struct dpe_prediction_search *search);

/* ---- windows.c -------------------------------------------------------------------------- */

/* Before another window begins: forgets events, and keeps the spans of events that some later one may not follow. */
void dpe_candidates_restart(struct dpe_prediction_search *search, const uint32_t *passed);
/* True if the event may have been the last of a match with events of earlier windows. */
bool dpe_candidates_miss(const struct dpe_prediction_search *search,
	const struct dpe_candidate_group *group, uint64_t number);
/* The event ends the slice. */
void dpe_candidates_end(struct dpe_candidate_slice *slice, const struct dpe_rule *rule);

/* ---- slice_ends.c ------------------------------------------------------------------------- */

/* The event ends the slices that agree with its values, if the rule says so: no match has events before and after it. */
void dpe_slice_ends_add(struct dpe_prediction_search *search, const struct dpe_binding *binding,
	uint64_t number);
/* The number from which events belong to the slice: after the last event that ended it. */
uint64_t dpe_slice_begins(
	const struct dpe_prediction_search *search, const struct dpe_assignment *assignment);
void dpe_slice_ends_free(struct dpe_prediction_search *search);

/* ---- sweep.c ------------------------------------------------------------------------------ */

/* Matches of independent events; the assignment has the last event. */
void dpe_sweep_search(struct dpe_prediction_search *search, struct dpe_assignment *assignment);
void dpe_sweeps_free(struct dpe_prediction_search *search);

/* ---- enumerate.c -------------------------------------------------------------------------- */

typedef void dpe_judge_fn(struct dpe_prediction_search *search, struct dpe_assignment *assignment);

/* The same for behaviours with order, and conditions on several events. */
void dpe_enumerate(struct dpe_prediction_search *search, struct dpe_assignment *assignment);
/* Calls for choices of events that some run may have in this order, the latest ones first, as long as there is work
 * left. */
void dpe_enumerate_each(struct dpe_prediction_search *search, struct dpe_assignment *assignment, dpe_judge_fn *judge);
/* True if search->least shows the match: its events have the order of the behaviour, and no event of the
 * slice lies between them. */
bool dpe_match_is_shown(struct dpe_prediction_search *search, const struct dpe_assignment *assignment);

/* ---- reorder.c ---------------------------------------------------------------------------- */

/* For an event that is the last of no match: looks for one with locks in another order, and for one that needs more
 * than its least run. */
void dpe_reorder_search(struct dpe_prediction_search *search, struct dpe_assignment *assignment);
/* Another event comes: looks again for matches whose sections have ended. */
void dpe_reorder_resume(struct dpe_prediction_search *search);
/* An event has come that a rule follows. */
void dpe_reorder_earn(struct dpe_prediction_search *search);
/* Forgets what refers to events. */
void dpe_reorder_forget(struct dpe_prediction_search *search);
void dpe_reorder_free(struct dpe_prediction_search *search);

/* ---- closable_cycles.c -------------------------------------------------------------------- */

/* Decides which cycles in the order of locks can close; before their events are forgotten. */
void dpe_predictor_decide_cycles(struct dpe_history *history);

/* ---- prediction.c ------------------------------------------------------------------------- */

/* True if a match with these values was reported at the current event. */
bool dpe_prediction_reported(
	const struct dpe_prediction_search *search, const struct dpe_assignment *assignment);
/* True if the event's condition, if it names variables of other events, holds with the assignment's values. */
bool dpe_prediction_belongs(const struct dpe_prediction_search *search,
	const struct dpe_assignment *assignment, unsigned pattern, uint64_t number);
/* The same for all events of the assignment. */
bool dpe_prediction_admits(
	const struct dpe_prediction_search *search, const struct dpe_assignment *assignment);
/* Reports a match, whose least run is the closure's `there`. */
void dpe_prediction_report(struct dpe_prediction_search *search,
	const struct dpe_assignment *assignment, const struct dpe_closure *run);

#endif
