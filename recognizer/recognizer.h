/* The vocabulary of the recognizer: rules at run time, and what their parts share. */
#ifndef DPE_RECOGNIZER_RECOGNIZER_H
#define DPE_RECOGNIZER_RECOGNIZER_H

#include "dpe-lang/automata/automata.h"
#include "dpe/dpe-recognizer.h"
#include "recognizer/events/events.h"
#include "recognizer/limits.h"
#include "stabilizer/stabilizer.h"

#include <string.h>

/* ---- rules at work ----------------------------------------------------------------------- */

struct dpe_env;

/* The state of a rule for one combination of values of its variables, while it is active: see
 * slices/README.md. */
struct dpe_slice {
	struct dpe_slice *before, *next; /* in the list of active slices */
	struct dpe_cell *cell;           /* see slices/cells.h */
	bool extended;                   /* a slice with these values and more exists */
	const struct dpe_value *params;  /* one a variable */
	uint64_t number; /* in order of creation */
	uint64_t mask;   /* bound variables */
	bool done;       /* no further verdict will come */
	bool renewed;    /* it has been ended and started again */
	bool overflown;  /* partial matches were dropped, so verdicts are in doubt … */
	bool searched;   /* … because one event had too many combinations to search */
	struct dpe_order order;
	struct dpe_branch *branches; /* of an `expect` rule */
	unsigned nbranches, capbranches;
	struct dpe_matching *matching; /* of a `detect` rule; NULL: none yet */
};

struct dpe_run;
struct dpe_occurrence;

/* How a rule is followed: in slices (slices/), by pairs of events (races/), or by a search for
 * predictions (predict/). What may be NULL there is nothing to do. */
struct dpe_rule_engine {
	/* Takes an event that matched run->bindings. The first rule that needs it makes the occurrence. */
	void (*take)(struct dpe_run *run, const struct dpe_event *event,
		struct dpe_occurrence **occurrence);
	void (*finish)(struct dpe_run *run); /* reports the verdicts at the end */
	void (*free)(struct dpe_run *run);
	uint64_t (*count)(const struct dpe_run *run); /* slices; may be NULL */
	/* Drops events that no future event needs; may be NULL. */
	void (*forget)(struct dpe_run *run, const struct dpe_horizon *horizon);
	/* Prefetches the slice with this value of the only variable that the pattern binds: see
	 * dpe_recognizer_prefetch; may be NULL. */
	void (*prefetch)(
		const struct dpe_run *run, unsigned pattern, struct dpe_value value, bool soon);
	/* Adds the patterns, one bit each, of events in partial matches; may be NULL. False if
	 * that is not known. */
	bool (*live)(struct dpe_run *run, uint64_t *patterns);
	/* Slices by state, as dpe_recognizer_slice_states; returns how many were looked at. NULL: it has none. */
	uint64_t (*states)(struct dpe_run *run, dpe_slice_state_fn *each, void *context);
};

/* What may be doubted at a time, each contained in the next: failures of slices that are not owned, verdicts that depend on other threads
 * than their own, or whose messages have no numbers, and all. */
enum dpe_doubts { DPE_DOUBT_FAILURES, DPE_DOUBT_SHARED, DPE_DOUBT_ALL, DPE_DOUBTS };

/* A rule at run time. */
struct dpe_run {
	struct dpe_recognizer *recognizer;
	const struct dpe_rule *rule;
	struct dpe_engine engine;        /* as dpe_engine_choose says */
	const struct dpe_rule_engine *rule_engine;   /* NULL: of a `sync` rule, or only stabilizing */
	const struct dpe_slice_engine *slice_engine; /* of `expect`, or of `detect` */
	const struct dpe_config_engine *follow;      /* follows configurations */
	struct dpe_factors *operands;    /* of a conjunction, until these are made */
	struct dpe_automaton *automaton; /* one of these … */
	size_t max_bytes;               /* size at which the automaton is started afresh */
	struct dpe_game *game;           /* … or none for a `sync` rule */
	struct dpe_conjunction *conjunction; /* `detect`: its operands */
	uint64_t *masks;                 /* variables that each pattern binds */
	uint64_t *matched;               /* events that match each pattern; not counted for patterns without values */
	bool *late;                      /* patterns whose condition needs other variables of the slice … */
	bool *placed;                    /* … or events at other positions */
	unsigned *named;                 /* positions that conditions name, from 0 */
	unsigned nnamed, capnamed;
	bool wants_positions; /* an action names $i */
	bool acts;            /* an event has an action */
	/* The actions within the rule's expression. */
	const struct dpe_stmt *const *inner_actions;
	unsigned ninner_actions;
	bool one_thread; /* each pattern binds the same variable to its thread: each slice is one chain */
	/* Variables bound to threads of events, where nothing but the events of these threads
	 * decides about a slice; else 0. See verdicts/doubt.c. */
	uint64_t owners;
	struct dpe_slices *slices; /* one of these two */
	/* The slice whose events and partial matches all others have, too, beside their own: see
	 * slices/shared_events.c. It stays active. NULL: there is none, or not yet. */
	struct dpe_slice *shared;
	bool *shared_literals; /* by literal: its events are in all slices; NULL: no slice shares events */
	struct dpe_pairs *pairs;   /* a rule about two independent events */
	struct dpe_prediction_search *prediction; /* a `predict` rule, without either */
	unsigned pair_rule;        /* its index among the rules that share these slices */
	/* Scratch space for the current event. */
	struct dpe_binding *bindings;
	unsigned nbindings;
	struct dpe_reads *reads;     /* by pattern */
	bool *all_literals;          /* for several patterns */
	const bool *literals;        /* literals that the event may be in the current slice */
	bool as_literal, ends;       /* it may be a literal; it ends the slice */
	bool only_shared;            /* it belongs to the slice only as one that all slices have */
	bool *acted;                 /* positions whose action has run for this event */
	const struct dpe_stmt **ran; /* other actions that have run for this event */
	unsigned nran, capran;
	struct dpe_preds preds;
	struct dpe_partial **new_partials; /* that the event makes */
	unsigned capnew_partials;
	struct dpe_branch *spare; /* branches after the event */
	unsigned capspare;
	struct dpe_occurrence **at_positions; /* of a partial match */
	struct dpe_config_step *steps;
	struct dpe_pred *step_preds;
	unsigned capsteps, cappreds;
	enum { DPE_AUTOMATA_NOT_YET, DPE_AUTOMATA_GIVEN, DPE_AUTOMATA_WITHHELD } given; /* to the sink, for traces */
	struct dpe_deferred *deferred; /* violations of slices that are part of others, by number */
	uint64_t unjoined_from; /* slices from this number on, less one, may lack events; 0: none do */
	uint64_t verdicts, satisfied, inconclusive; /* reported */
	const char *first, *second; /* of a rule `a ; b`: both; else NULL … */
	uint64_t unordered;         /* … and how often b was independent of an a */
	/* Verdicts that can no longer be retracted one by one: counted ones, by what makes them doubtful; how many there
	 * were, and the event after the last of them. */
	struct dpe_summary forgotten[DPE_DOUBTS];
	uint64_t nforgotten, forgotten_to;
	unsigned sync; /* index among the `sync` rules */
};

/* The latest event of the history that predictions look at. */
struct dpe_latest {
	const struct dpe_message *message; /* borrowed; NULL: there is no history */
	uint64_t number;
	uint32_t chain;
	unsigned nlocks; /* held by its thread, as `sync` rules say */
};

struct dpe_section;

/* The sections of `during` rules that threads are in: a hash table by thread. */
struct dpe_sections {
	struct dpe_section **buckets;
	unsigned nbuckets, count;
};

struct dpe_recognizer {
	const struct dpe_spec *spec;
	struct dpe_recognizer_options options;
	bool expects_updates; /* see dpe_recognizer_expect_updates */
	struct dpe_recognizer_sink sink;
	struct dpe_stabilizer *stabilizer;
	struct dpe_run *runs;      /* one per rule */
	struct dpe_name_watchers *by_name; /* by interned name below nnames */
	unsigned nnames;
	struct dpe_spec_variables *variables; /* owned */
	struct dpe_summary summary;
	uint64_t fed; /* messages fed; `summary` counts released events */
	struct dpe_wait_graph *waits;
	struct dpe_lock_order *lock_order;
	struct dpe_progress *progress;
	struct dpe_measures *measures;
	struct dpe_pool *pool;     /* of occurrences */
	struct dpe_horizon *horizon;
	uint64_t horizon_at;           /* event count at its last update; 0: never */
	uint64_t kept, forget_above;  /* events kept by slices, and the number above which some are forgotten */
	struct dpe_unwatched *unwatched; /* or NULL */
	struct dpe_doubt *doubt;   /* losses */
	struct dpe_message **gaps; /* counted: messages after a gap that are not released yet */
	unsigned ngaps, capgaps;
	struct dpe_reported *reported;     /* verdicts that may be retracted */
	bool many_slices;       /* some rule has so many slices that prefetching pays */
	bool inspects_all;     /* each event is inspected, whatever its name */
	bool started;   /* an event with a time has come; the first was at … */
	uint64_t start; /* … this time */
	bool own_waits; /* what a thread holds and awaits depends on its own events only */
	bool ended;             /* `break` in a replay */
	bool finished;          /* the final verdicts were given */
	bool matched;           /* a `detect` rule has, in this run */
	bool exhausted;         /* memory ran out in the middle of a change */
	volatile enum dpe_stage stage; /* which another thread may ask for */
	bool finishing;         /* no further message will come */
	dpe_name thread_found;         /* name of the first event of a thread that was already running */
	bool suppressing;             /* the current action belongs to a suppressed finding */
	struct dpe_text text;   /* scratch space of actions */
	struct dpe_predictor *predictor; /* NULL: no rule predicts */
	struct dpe_latest latest;
	/* Pairings of the stabilizer for all rules about locks; DPE_NO_RULE: none. */
	unsigned exclusive_sync, shared_sync;
	struct dpe_roles *roles; /* scratch space of the current message */
	struct dpe_sections sections;
	bool has_sections; /* some rule is `during`, and messages may come in any order */
	dpe_name ends_thread; /* name of the last event of a thread */
	dpe_name creates_thread, allocates;
};

/* Whether the sink gets each event of this name. */
static inline bool dpe_is_creation(const struct dpe_recognizer *recognizer, dpe_name name)
{
	return recognizer->sink.created && (name == recognizer->creates_thread || name == recognizer->allocates);
}

/* Whether another order of the threads gives the same data. A race that happened may have made a thread read what no
 * event says. */
static inline bool dpe_recognizer_knows_data(const struct dpe_recognizer *recognizer)
{
	return recognizer->options.memory_observed && !recognizer->matched;
}

/* Whether matches of the `predict` rule are not reported if they happened in this run. */
static inline bool dpe_rule_skips_happened(
	const struct dpe_recognizer *recognizer, const struct dpe_rule *rule)
{
	const char *begin = recognizer->options.skip_happened;

	return begin && rule->mode == DPE_PREDICT && !strncmp(rule->name, begin, strlen(begin));
}

#endif
