/* What the parts of the recognizer know of each other. Private.
 *
 *	recognizer.c  the pipeline: message → roles → stabilizer → rules
 *	pattern_match.c     does an event look like a pattern, and what does it bind
 *	sync_roles.c       what a message is to the `sync` rules
 *	sync_sections.c    the sections of `during` rules that threads are in
 *	slices.c      which slices of a rule an event belongs to (parametric slicing); see cells.h
 *	slice_order.c       the immediate predecessors of an event within a slice
 *	configuration.c      where a reading stands: in an automaton, in several (product_state.c, product_step.c), or (token_game.c) in a net
 *	expect.c      a slice of an `expect` rule against its rule
 *	expect_fast_path.c      the same at once, while its events come one after another
 *	detect.c      partial matches of a `detect` rule in a slice; pruning.c: those without a future
 *	conjunction.h       the same operand by operand
 *	pairs.c       the same for two independent events: races; pair_events.c: their events;
 *	              pair_table.c: their slices
 *	eval.c        expressions; actions.c statements
 *	wait_graph.c       who waits for whom: the graph that actions keep, and what it tells
 *	lock_order.c  in which order locks are taken, and whether that could close a circle
 *	held_locks.c        the locks that a thread holds, as variables of its events
 *	deadlocks.c   telling deadlocks of any kind
 *	live_patterns.c        which patterns have events in partial matches
 *	doubt.c       what losses make uncertain; retraction.c: and what was told before they were known
 *	progress.c    states that come back without progress
 *	default_sink.c        callbacks that the caller left out
 *	step_trace.c       each step, for those who watch */
#ifndef DPE_RECOGNIZER_RECOGNIZER_H
#define DPE_RECOGNIZER_RECOGNIZER_H

#include "dpe-lang/automata/automata.h"
#include "dpe/dpe-recognizer.h"
#include "recognizer/events/events.h"
#include "stabilizer/stabilizer.h"

/* ---- pattern_match.c --------------------------------------------------------------------------- */

#define DPE_MAX_VARIABLES 64

/* What one pattern binds at one event: a value for each variable in the mask. */
struct dpe_binding {
	unsigned pattern;
	uint64_t mask;
	struct dpe_value values[DPE_MAX_VARIABLES];
};

/* True where the message looks like the pattern, its condition not regarded. */
bool dpe_pattern_match(const struct dpe_names *names, const struct dpe_pattern *pattern,
	const struct dpe_message *message, struct dpe_binding *binding);

/* The pattern is of a control event in any module, without a condition. */
bool dpe_pattern_is_simple(const struct dpe_pattern *pattern);
/* It is simple, and binds its first argument and nothing else. */
bool dpe_pattern_is_single(const struct dpe_pattern *pattern);
/* It is simple, and binds nothing. */
bool dpe_pattern_is_bare(const struct dpe_pattern *pattern);
struct dpe_run;
struct dpe_watcher;
/* dpe_watcher_match where it takes more. */
bool dpe_watcher_match_other(const struct dpe_watcher *watcher, const struct dpe_run *run,
	const struct dpe_message *message, struct dpe_binding *binding);
/* True where the pattern has no condition, one that needs values of other events (decided later, in
 * the slice or in each of its readings), or one that holds. Clears the values that are not bound.
 */
bool dpe_own_condition_holds(
	const struct dpe_run *run, struct dpe_binding *binding, const struct dpe_message *message);

/* ---- rules at work ----------------------------------------------------------------------- */

struct dpe_env;

struct dpe_stand;
struct dpe_stands;
struct dpe_way;

/* Where a reading of events stands: a state with its registers, several, or a marking. */
struct dpe_config {
	dpe_state state;
	struct dpe_occurrence **registers;
	struct dpe_stand *stand;
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
	const struct dpe_way *way;   /* … of several; else … */
	struct dpe_marking *marking; /* … where it leads */
};

/* An `expect` slice follows every reading of its events at once. */
struct dpe_reading {
	struct dpe_config config;
	struct dpe_occurrence **positions; /* by position; only where actions name them */
};

/* The events of a partial match, newest first; the tails are shared. */
struct dpe_taken {
	uint32_t refs;
	const uint16_t *positions; /* that the event took */
	unsigned npositions;
	uint64_t mask; /* variables bound so far */
	struct dpe_occurrence *occurrence;
	struct dpe_taken *before;
};

#define DPE_FEW_FIRST 2

struct dpe_partial {
	struct dpe_config config;
	struct dpe_taken *taken;
	unsigned nfirst; /* the minimal events of the match: few of them in place, more elsewhere */
	union {
		struct dpe_occurrence *few[DPE_FEW_FIRST];
		struct dpe_occurrence **many;
	};
};

/* What is followed for one combination of values, while it is at work. */
struct dpe_slice {
	struct dpe_slice *before, *next; /* among those at work */
	struct dpe_cell *cell;           /* see cells.h */
	const struct dpe_value *params;  /* one a variable */
	uint64_t number; /* in the order of their beginning */
	uint64_t mask;   /* variables that are bound */
	bool done;       /* no further verdict */
	bool renewed;    /* it has ended before */
	bool overflown;  /* partial matches were given up: from then on in doubt; … */
	bool searched;   /* … as there was too much to choose from */
	struct dpe_order order;
	struct dpe_reading *readings; /* expect */
	unsigned nreadings, capreadings;
	struct dpe_partial *partials; /* detect */
	unsigned npartials, cappartials;
	unsigned many; /* partial matches, from which on the dead ones are looked for; 0: some */
	struct dpe_weave *weave; /* detect, operand by operand; NULL: nothing yet */
};

/* How an event that looks like a pattern may be read. */
struct dpe_reads {
	bool *literals;
	int only; /* the one literal that it can be, and nothing else is to be looked at; or -1 */
	bool as_literal, observed, ends;
};

struct dpe_fresh;

/* One rule being followed. */
struct dpe_run {
	struct dpe_recognizer *recognizer;
	const struct dpe_rule *rule;
	struct dpe_automaton *automaton; /* or … */
	size_t most_bytes;               /* of the automaton: when to start it afresh */
	struct dpe_stands *stands;       /* … or … */
	struct dpe_game *game;           /* … none of them for sync */
	struct dpe_shape *shape;         /* detect: the rule operand by operand; or NULL */
	uint64_t *masks;                 /* of the patterns */
	bool *late;                      /* patterns whose condition asks for other variables */
	bool *placed;                    /* … or for the events at other positions */
	unsigned *named;                 /* positions that conditions name, from 0 */
	unsigned nnamed, capnamed;
	bool wants_positions; /* an action names $i */
	bool acts;            /* an event has an action */
	bool one_thread; /* a variable is bound to the thread of each event: slices are chains */
	/* Variables that are bound to the threads of events, where nothing else decides about a slice
	 * but what these threads did; else none. */
	uint64_t owners;
	struct dpe_sequel *sequel; /* NULL: each event is looked at by someone */
	struct dpe_slices *slices; /* or … */
	struct dpe_pairs *pairs;   /* … where the rule is about two independent events, … */
	unsigned pair_rule;        /* … as the so many-th of those that share the slices */
	/* Scratch for the event at hand. */
	struct dpe_binding *bindings;
	unsigned nbindings;
	struct dpe_reads *reads;     /* by pattern */
	bool *all_literals;          /* room for those of several patterns */
	const bool *literals;        /* how the event may be read in the slice at hand */
	bool as_literal, ends;       /* it may be read at all; it ends the slice */
	bool *acted;                 /* positions whose action ran for this event */
	const struct dpe_stmt **ran; /* other actions that ran for this event */
	unsigned nran, capran;
	struct dpe_preds preds;
	struct dpe_partial *fresh; /* room for the partial matches that the event makes */
	unsigned capfresh;
	struct dpe_fresh *fresh_fibres; /* the same of fibres */
	unsigned capfresh_fibres;
	struct dpe_reading *spare; /* room for the readings after the event */
	unsigned capspare;
	struct dpe_occurrence **at_positions; /* of a partial match */
	struct dpe_step *steps;
	struct dpe_pred *step_preds;
	unsigned capsteps, cappreds;
	uint64_t verdicts, inconclusive; /* told */
	uint64_t forgotten, forgotten_to; /* of those told: that cannot be taken back, up to an event */
	unsigned sync; /* its number among the `sync` rules */
};

/* The patterns that events of one name can look like, in the order of the rules. */
struct dpe_watch {
	struct dpe_watcher {
		struct dpe_run *run;
		unsigned pattern;
		unsigned end; /* where the watchers of the next rule begin */
		bool simple;  /* the name, the phase and the arguments decide … */
		bool single;  /* … of which there is one, a variable … */
		bool bare;    /* … or none */
		uint8_t phases;    /* that decide so, one bit each */
		unsigned variable; /* of a single one */
		/* Where it decides about pairs: what the event is to all rules up to `end`, owned; or
		 * NULL. */
		struct dpe_pair_access *access;
		bool sends, receives; /* of a `sync` rule, … */
		bool keyed;           /* … whose events pair by this one variable */
	} * at;
	unsigned count, cap;
	bool syncs;    /* one of them is of a `sync` rule */
	bool followed; /* one is of another rule: its events are to be looked at, … */
	bool with_locks; /* … with the locks that their threads hold */
	/* The only one, where it is of a rule whose events may go the short way and are known by
	 * their name and phase; or NULL. */
	const struct dpe_watcher *alone;
	/* Where all others are of `sync` rules: what events are to rules about pairs; or NULL. */
	const struct dpe_pair_access *access;
	/* Where only one of them is of a `sync` rule, which its first argument decides about: the part
	 * of messages in these phases, one bit each; no phase: it takes more. */
	uint8_t role_phases;
	struct dpe_role role; /* but for its key */
};

/* dpe_pattern_match and dpe_own_condition_holds for a message with a name that is watched for. */
static inline bool dpe_watcher_match(const struct dpe_watcher *watcher, const struct dpe_run *run,
	const struct dpe_message *message, struct dpe_binding *binding)
{
	if (watcher->simple && !(watcher->phases >> message->phase & 1))
		return false;
	binding->pattern = watcher->pattern;
	if (watcher->bare) {
		binding->mask = 0;
		return true;
	}
	if (!watcher->single)
		return dpe_watcher_match_other(watcher, run, message, binding);
	if (!message->nargs || message->args[0].kind == DPE_NONE)
		return false;
	binding->mask = UINT64_C(1) << watcher->variable;
	binding->values[watcher->variable] = message->args[0];
	return true;
}

/* A message's parts in synchronisations. */
struct dpe_roles {
	struct dpe_role *at;
	unsigned count, cap;
	struct dpe_value *keys; /* of all roles, in order; their text is the message's */
	unsigned nkeys, capkeys;
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
	struct dpe_recognizer_sink sink;
	struct dpe_stabilizer *stabilizer;
	struct dpe_run *runs;      /* one a rule */
	struct dpe_watch *by_name; /* by interned name; none for names from nnames on */
	unsigned nnames;
	struct dpe_value *globals; /* owned */
	struct dpe_summary summary;
	uint64_t fed; /* messages; `summary` counts those that were released */
	struct dpe_waits *waits;
	struct dpe_lock_order *lock_order;
	struct dpe_progress *progress;
	struct dpe_pool *pool;     /* of occurrences */
	struct dpe_horizon *horizon;
	uint64_t looked;           /* when, in events; 0: never */
	uint64_t kept, most_kept;  /* events in the orders of slices, and when to forget some */
	struct dpe_unwatched *unwatched; /* or NULL */
	struct dpe_doubt *doubt;   /* what was lost */
	struct dpe_message **gaps; /* messages that come after a gap, counted */
	unsigned ngaps, capgaps;
	struct dpe_told *told;     /* what may have to be taken back */
	bool far;       /* some rule has so many slices that they are far away, as memory goes */
	bool looks;     /* each event is looked at, whatever its name is */
	bool started;   /* an event had a time: the first had … */
	uint64_t start; /* … this one */
	bool own_waits; /* who holds and awaits what, only the events of that thread say */
	bool ended;             /* break in a replay */
	bool finished;          /* the verdicts of the end were given */
	bool finishing;         /* nothing comes any more */
	dpe_name found;         /* the first event of a thread that ran already */
	bool quiet;             /* the action at hand is that of a suppressed finding */
	struct dpe_text text;   /* scratch of actions */
	struct dpe_roles roles; /* scratch of the message at hand */
	struct dpe_sections sections;
	dpe_name ends_thread; /* the last event of a thread */
};

/* What lies in the past of events to come, as of `newer` events ago at most, or as many as a look
 * costs unless that is 0; NULL where anything may. */
const struct dpe_horizon *dpe_recognizer_horizon(struct dpe_recognizer *recognizer, uint64_t newer);
/* Asks the sink; counts the finding as suppressed where it says so. */
bool dpe_recognizer_suppresses(struct dpe_recognizer *recognizer, const struct dpe_rule *rule,
	const struct dpe_message *const *events, unsigned nevents);
/* Fills in the rule and the parameters, counts and hands over. A suppressed verdict makes the
 * recognizer quiet until the caller has run the rule's action. */
void dpe_run_tell(struct dpe_run *run, const struct dpe_slice *slice, struct dpe_verdict *verdict);

/* ---- setup.c, dispatch.c ----------------------------------------------------------------- */

/* Makes all that depends on the specification; options and sink are there. False after a diagnostic. */
bool dpe_recognizer_begin(struct dpe_recognizer *recognizer, struct dpe_diags *diags);
/* Where the stabilizer's events go: to the rules. */
struct dpe_stabilizer_sink dpe_dispatch_begin(struct dpe_recognizer *recognizer);

/* ---- sync_sections.c --------------------------------------------------------------------- */

/* The message's thread enters a section of the `during` rule with these keys, which are copied; they
 * may point into the message. Its other section of the rule with equal keys ends. */
void dpe_sections_enter(struct dpe_sections *sections, struct dpe_message *message, unsigned rule,
	const struct dpe_value *keys, unsigned nkeys);
void dpe_sections_leave(struct dpe_sections *sections, const struct dpe_message *message,
	unsigned rule, const struct dpe_value *keys, unsigned nkeys);
/* Adds a send to `roles` for each section that the message is in, except those that it begins. */
void dpe_sections_add_roles(const struct dpe_sections *sections, const struct dpe_message *message,
	struct dpe_roles *roles);
/* The message's thread has ended. */
void dpe_sections_end_thread(struct dpe_sections *sections, const struct dpe_message *message);
void dpe_sections_clear(struct dpe_sections *sections);

/* ---- sync_roles.c ----------------------------------------------------------------------------- */

/* Fills in recognizer->roles. */
void dpe_roles_find(struct dpe_recognizer *recognizer, struct dpe_message *message);
/* Once the runs have begun. */
void dpe_roles_prepare(struct dpe_watch *watch);
void dpe_roles_clear(struct dpe_roles *roles);

/* ---- default_sink.c ------------------------------------------------------------------------------ */

/* With all callbacks that every sink must have: `break` ends the run, the others do nothing. */
struct dpe_recognizer_sink dpe_sink_whole(const struct dpe_recognizer_sink *sink);

/* ---- step_trace.c ----------------------------------------------------------------------------- */

/* True where somebody wants to know. */
bool dpe_traces(const struct dpe_recognizer *recognizer);
void dpe_trace(struct dpe_recognizer *recognizer, const struct dpe_trace *trace);
/* The rest does nothing where nobody wants to know. The occurrence may be NULL. */
void dpe_trace_slice(const struct dpe_run *run, const struct dpe_slice *slice,
	enum dpe_trace_kind kind, const struct dpe_occurrence *occurrence);
/* The event after run->preds: taken where it leads anywhere, else refused. */
void dpe_trace_take(const struct dpe_run *run, const struct dpe_slice *slice,
	const struct dpe_occurrence *occurrence, unsigned count, bool matched);
void dpe_trace_forgot(const struct dpe_run *run, const struct dpe_slice *slice, uint64_t count);

#endif
