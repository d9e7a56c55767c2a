/* What the parts of the recognizer know of each other. Private.
 *
 *	recognizer.c  the pipeline: message → roles → stabilizer → rules
 *	pattern.c     does an event look like a pattern, and what does it bind
 *	roles.c       what a message is to the `sync` rules
 *	slices.c      which slices of a rule an event belongs to (parametric slicing); see slices.h
 *	order.c       the immediate predecessors of an event within a slice
 *	engine.c      where a reading stands: in an automaton, in several (stands.c, ways.c), or (game.c) in a net
 *	expect.c      a slice of an `expect` rule against its rule
 *	sequel.c      the same at once, while its events come one after another
 *	detect.c      partial matches of a `detect` rule in a slice; dead.c: those without a future
 *	braid.h       the same operand by operand
 *	pairs.c       the same for two independent events: races; pair_take.c: their events;
 *	              pair_table.c: their slices
 *	eval.c        expressions; action.c statements
 *	waits.c       who waits for whom: the graph that actions keep, and what it tells
 *	lock_order.c  in which order locks are taken, and whether that could close a circle
 *	held.c        the locks that a thread holds, as variables of its events
 *	deadlocks.c   telling deadlocks of any kind
 *	live.c        which patterns have events in partial matches
 *	doubt.c       what losses make uncertain; told.c: and what was told before they were known
 *	progress.c    states that come back without progress
 *	sink.c        callbacks that the caller left out
 *	trace.c       each step, for those who watch */
#ifndef DPE_RECOGNIZER_RUN_H
#define DPE_RECOGNIZER_RUN_H

#include "recognizer/game.h"
/* Keys are whole words: pointers and numbers. uthash's own function looks at each byte. */
#define HASH_FUNCTION(key, length, hash) (hash) = dpe_hash_words(key, length)
#include <uthash.h>

static inline unsigned dpe_hash_words(const void *key, size_t length)
{
	uint64_t hash = length;

	for (size_t i = 0; i + 8 <= length; i += 8) {
		uint64_t word;

		memcpy(&word, (const char *)key + i, 8);
		hash = (hash ^ word) * 0x9e3779b97f4a7c15ull;
		hash ^= hash >> 32;
	}
	for (size_t i = length & ~(size_t)7; i < length; i++)
		hash = (hash ^ ((const unsigned char *)key)[i]) * 0x9e3779b97f4a7c15ull;
	return (unsigned)(hash ^ hash >> 32);
}

/* A released event that some slice remembers. Counted. */
struct dpe_occurrence {
	uint32_t refs;
	struct dpe_pool *pool;
	struct dpe_message *message;
	uint64_t number;
	struct dpe_stamp stamp;
};

struct dpe_occurrence *dpe_occurrence_new(struct dpe_pool *pool, const struct dpe_event *event);
struct dpe_occurrence *dpe_occurrence_ref(struct dpe_occurrence *occurrence);
void dpe_occurrence_unref(struct dpe_occurrence *occurrence); /* accepts NULL */

/* ---- order.c: the causal order restricted to a slice ------------------------------------- */

struct dpe_chain {
	uint32_t chain;
	unsigned nearlier, capearlier;
	struct dpe_occurrence *last;
	struct dpe_occurrence **earlier; /* those before it, in the order of the chain */
};

/* The events of a slice, chain by chain. */
struct dpe_order {
	struct dpe_chain *chains;
	unsigned nchains, capchains;
	struct dpe_occurrence *top; /* that all others precede; NULL: none does, or nobody knows */
};

struct dpe_preds {
	struct dpe_occurrence **at; /* borrowed from the order */
	unsigned count, cap;
};

/* The immediate predecessors of an event that comes after all that were added. */
void dpe_order_preds(
	const struct dpe_order *order, const struct dpe_stamp *stamp, struct dpe_preds *preds);
/* Adds an event after its predecessors were found. False where it took the place of another. */
bool dpe_order_add(
	struct dpe_order *order, struct dpe_occurrence *occurrence, const struct dpe_preds *preds);
void dpe_order_copy(struct dpe_order *to, const struct dpe_order *from);
/* Adds an event of before again, which comes after all of its chain; takes over the reference. */
void dpe_order_restore(struct dpe_order *order, struct dpe_occurrence *occurrence);
void dpe_order_clear(struct dpe_order *order); /* keeps the room for chains */
void dpe_order_free(struct dpe_order *order);
/* Drops what no event to come can have as its immediate predecessor. */
void dpe_order_forget(struct dpe_order *order, const struct dpe_horizon *horizon);
/* Drops events that are not needed: chains none of whose events is, and of others, now and then as
 * they grow, the beginning. An event is needed where one before it in its chain is. */
typedef bool dpe_needed_fn(void *context, const struct dpe_occurrence *occurrence);
void dpe_order_trim(struct dpe_order *order, dpe_needed_fn *needed, void *context);
uint64_t dpe_order_size(const struct dpe_order *order);
/* The last event of an order of one chain, where an event with this stamp comes right after it and
 * takes its place; else NULL. */
struct dpe_occurrence *dpe_order_alone(
	const struct dpe_order *order, const struct dpe_stamp *stamp);
/* The occurrence of another event from now on. */
void dpe_occurrence_become(struct dpe_occurrence *occurrence, const struct dpe_event *event);
/* The first event after one of its chain, of those that are there; NULL: there is none. */
const struct dpe_occurrence *dpe_order_next(
	const struct dpe_order *order, const struct dpe_occurrence *occurrence);
bool dpe_preds_have(const struct dpe_preds *preds, const struct dpe_occurrence *occurrence);

/* ---- pattern.c --------------------------------------------------------------------------- */

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
	struct dpe_cell *cell;           /* see slices.h */
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
};

/* What lies in the past of events to come, as of `newer` events ago at most, or as many as a look
 * costs unless that is 0; NULL where anything may. */
const struct dpe_horizon *dpe_recognizer_horizon(struct dpe_recognizer *recognizer, uint64_t newer);
/* unwatched.c: notes the objects that messages say were not watched. NULL where no rule has objects. */
struct dpe_unwatched *dpe_unwatched_new(const struct dpe_spec *spec);
void dpe_unwatched_free(struct dpe_unwatched *unwatched); /* accepts NULL */
void dpe_unwatched_note(struct dpe_recognizer *recognizer, const struct dpe_message *message);
/* Why that puts verdicts of this slice in doubt, or NULL. */
const char *dpe_unwatched_doubt(const struct dpe_run *run, const struct dpe_slice *slice);
/* Asks the sink; counts the finding as suppressed where it says so. */
bool dpe_recognizer_suppresses(struct dpe_recognizer *recognizer, const struct dpe_rule *rule,
	const struct dpe_message *const *events, unsigned nevents);
/* Fills in the rule and the parameters, counts and hands over. A suppressed verdict makes the
 * recognizer quiet until the caller has run the rule's action. */
void dpe_run_tell(struct dpe_run *run, const struct dpe_slice *slice, struct dpe_verdict *verdict);

/* ---- doubt.c ----------------------------------------------------------------------------- */

struct dpe_doubt *dpe_doubt_new(void);
void dpe_doubt_free(struct dpe_doubt *doubt); /* accepts NULL */
/* Finds run->owners, and recognizer->own_waits, once all runs are there. */
void dpe_doubt_prepare(struct dpe_recognizer *recognizer);
/* All is in doubt from here on, for this reason, if there is none yet. */
void dpe_recognizer_set_doubt(struct dpe_recognizer *recognizer, const char *reason);
/* What could depend on the messages of a thread that are missing is in doubt. */
void dpe_doubt_gap(struct dpe_recognizer *recognizer, const struct dpe_gap *gap);
/* The message after a gap is there. */
void dpe_doubt_pass(struct dpe_recognizer *recognizer, const struct dpe_message *message);
/* The thread of the event ran before anybody looked. */
void dpe_doubt_found(struct dpe_recognizer *recognizer, const struct dpe_message *message);
/* Why what could depend on any loss is in doubt, or NULL. */
const char *dpe_doubt_any(const struct dpe_recognizer *recognizer);
/* Why verdicts of this slice are in doubt, or NULL. Without a slice: as any. */
const char *dpe_slice_doubt(const struct dpe_run *run, const struct dpe_slice *slice);
/* The same of what an `expect` slice does not do as it should: or did it before anybody looked? */
const char *dpe_failure_doubt(const struct dpe_run *run, const struct dpe_slice *slice);
/* True where the slice depends on the threads alone that it is bound to. */
bool dpe_slice_is_owned(const struct dpe_run *run, const struct dpe_slice *slice);
const char *dpe_deadlock_doubt(
	const struct dpe_recognizer *recognizer, const struct dpe_deadlock *deadlock);

/* ---- told.c ------------------------------------------------------------------------------ */

struct dpe_told *dpe_told_new(void);
void dpe_told_free(struct dpe_told *told); /* accepts NULL */
/* A verdict, a deadlock was told as certain. */
void dpe_told_verdict(struct dpe_run *run, const struct dpe_slice *slice,
	const struct dpe_verdict *verdict);
void dpe_told_deadlock(struct dpe_recognizer *recognizer, const struct dpe_rule *rule,
	const struct dpe_deadlock *deadlock);
/* Takes back the failures that were told so far of slices that any thread may belong to. */
void dpe_told_withdraw_failures(struct dpe_recognizer *recognizer, const char *reason);
/* Takes back what was told from an event on, and could depend on messages that this thread lost
 * (DPE_NONE: nobody knows who). */
void dpe_told_withdraw(struct dpe_recognizer *recognizer, uint64_t since,
	struct dpe_value thread, const char *reason);

/* ---- begin.c, dispatch.c ----------------------------------------------------------------- */

/* Makes all that depends on the specification; options and sink are there. False after a diagnostic. */
bool dpe_recognizer_begin(struct dpe_recognizer *recognizer, struct dpe_diags *diags);
/* Where the stabilizer's events go: to the rules. */
struct dpe_stabilizer_sink dpe_dispatch_begin(struct dpe_recognizer *recognizer);

/* ---- roles.c ----------------------------------------------------------------------------- */

/* Fills in recognizer->roles, for a name that some `sync` rule watches. */
void dpe_roles_find(struct dpe_recognizer *recognizer, const struct dpe_message *message);
/* Once the runs have begun. */
void dpe_roles_prepare(struct dpe_watch *watch);
void dpe_roles_clear(struct dpe_roles *roles);

/* ---- sink.c ------------------------------------------------------------------------------ */

/* With all callbacks that every sink must have: `break` ends the run, the others do nothing. */
struct dpe_recognizer_sink dpe_sink_whole(const struct dpe_recognizer_sink *sink);

/* ---- trace.c ----------------------------------------------------------------------------- */

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

/* ---- slices.c ---------------------------------------------------------------------------- */

struct dpe_slices *dpe_slices_new(struct dpe_run *run);
void dpe_slices_free(struct dpe_run *run); /* with its slices; accepts a run without */
/* The same at once where it is the next of a sequence in the one slice that it belongs to; false
 * where nothing was done. */
bool dpe_slices_follow(struct dpe_run *run, const struct dpe_event *event);
/* Whether dpe_slices_follow_bare is for events of the pattern. */
bool dpe_slices_follows_bare(const struct dpe_run *run, unsigned pattern);
/* The same as dpe_slices_follow for an event of a pattern without arguments, in a rule without
 * variables, if dpe_slices_follows_bare. */
bool dpe_slices_follow_bare(
	struct dpe_run *run, unsigned pattern, const struct dpe_event *event);
/* The event, which matched run->bindings, goes to every slice that it belongs to. */
void dpe_slices_take(struct dpe_run *run, struct dpe_occurrence *occurrence);
/* An event with this value for the only variable that the pattern binds is to come: see
 * dpe_recognizer_prepare. */
void dpe_slices_prepare(
	const struct dpe_run *run, unsigned pattern, struct dpe_value value, bool soon);
/* Lets every slice stand in the state of run->automaton that it stands in in the old one. */
void dpe_slices_adopt(struct dpe_run *run, const struct dpe_automaton *old);
uint64_t dpe_slices_count(const struct dpe_run *run);
/* Each slice of a `detect` rule that partial matches can be of, until one is not wanted. Slices are
 * put to work for it. False where that was the case. */
typedef bool dpe_slice_fn(void *context, const struct dpe_slice *slice);
bool dpe_slices_each(struct dpe_run *run, dpe_slice_fn *each, void *context);
void dpe_slices_finish(struct dpe_run *run);
/* Drops the events that can no longer matter. */
void dpe_slices_forget(struct dpe_run *run, const struct dpe_horizon *horizon);

/* ---- pairs.c ----------------------------------------------------------------------------- */

/* False where the rule takes more, and dpe_slices_new is for it. */
bool dpe_pairs_new(struct dpe_run *run);
void dpe_pairs_free(struct dpe_run *run); /* accepts a run without */
/* Once all runs are there: joins the watchers of rules that share their slices. */
void dpe_pairs_watch(struct dpe_watch *watch);
/* As dpe_slices_prepare. */
void dpe_pairs_prepare(const struct dpe_run *run, const struct dpe_value *value, bool soon);
/* The message is on its way: what it takes may come near, as memory goes, while it is put in order. */
void dpe_pairs_expect(const struct dpe_pair_access *access, const struct dpe_message *message);
/* The event, for all rules that share these slices, where it takes the place of another one that the
 * slice keeps and that is all; false where nothing was done. */
bool dpe_pairs_access_at_once(const struct dpe_pair_access *access, const struct dpe_event *event);
/* The event, for all rules that share these slices. */
void dpe_pairs_access(const struct dpe_pair_access *access, const struct dpe_event *event);
/* The event, which matched run->bindings. */
void dpe_pairs_take(struct dpe_run *run, const struct dpe_event *event);
uint64_t dpe_pairs_count(const struct dpe_run *run); /* slices */
void dpe_pairs_finish(struct dpe_run *run);

/* ---- engine.c ---------------------------------------------------------------------------- */

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
/* True where an action within the rule's expression names a position. */
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

/* ---- expect.c, detect.c ------------------------------------------------------------------ */

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
/* True where the violated slice is a part of a larger one, and is told of no more than that it is
 * done; slices that begin with what it saw will tell. */
bool dpe_slice_keeps_silent(struct dpe_run *run, struct dpe_slice *slice,
	struct dpe_occurrence *occurrence, const char *reason);
void dpe_expect_copy(struct dpe_run *run, struct dpe_slice *to, const struct dpe_slice *from);
/* Keep the room for readings, for partial matches. */
void dpe_expect_clear(struct dpe_run *run, struct dpe_slice *slice);

/* ---- sequel.c ---------------------------------------------------------------------------- */

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

/* ---- dead.c ------------------------------------------------------------------------------ */

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

/* ---- waits.c ----------------------------------------------------------------------------- */

struct dpe_waits *dpe_waits_new(void);
void dpe_waits_free(struct dpe_waits *waits); /* accepts NULL */
/* Values are copied, `since` is counted. Holding and waiting are counted, too: what was done twice
 * is over when it was undone twice. */
void dpe_waits_hold(struct dpe_waits *waits, struct dpe_value thread, struct dpe_value object,
	const struct dpe_message *since);
void dpe_waits_unhold(struct dpe_waits *waits, struct dpe_value thread, struct dpe_value object);
void dpe_waits_wait(struct dpe_waits *waits, struct dpe_value thread, struct dpe_value object,
	const struct dpe_message *since);
void dpe_waits_release(struct dpe_waits *waits, struct dpe_value thread, struct dpe_value object);
/* The thread is over: what it holds it holds for ever. Whoever has its id later is another. */
void dpe_waits_end(
	struct dpe_waits *waits, struct dpe_value thread, const struct dpe_message *event);
/* What the thread holds and awaits is not known any more. */
void dpe_waits_lose(struct dpe_waits *waits, struct dpe_value thread);
/* The thread begins, and holds the name by which others await its end. */
void dpe_waits_begin(struct dpe_waits *waits, struct dpe_value thread, struct dpe_value name,
	const struct dpe_message *since);
/* The thread is there, which matters to a hang. */
void dpe_waits_live(struct dpe_waits *waits, struct dpe_value thread);
/* The object is no more: nobody holds what will have its address. */
void dpe_waits_forget(struct dpe_waits *waits, struct dpe_value object);
/* From now on a hang is told, once as long as it lasts. */
void dpe_waits_check_hang(struct dpe_waits *waits, const struct dpe_rule *rule);
/* Tells the sink of each cycle through a wait that began since the last check. */
void dpe_waits_check(
	struct dpe_waits *waits, struct dpe_recognizer *recognizer, const struct dpe_rule *rule);
/* Each wait that there is. */
void dpe_waits_each(const struct dpe_waits *waits,
	void (*each)(void *context, const struct dpe_wait *wait), void *context);
/* Tells of threads that have waited until `time` for themselves, or for one that has ended, and of
 * a hang; UINT64_MAX: the end. */
void dpe_waits_settle(struct dpe_waits *waits, struct dpe_recognizer *recognizer, uint64_t time);
/* The same before a thread ends: where a program that hangs is ended, its threads end while they
 * wait, and it need not have hung for as long to be believed. */
void dpe_waits_settle_end(
	struct dpe_waits *waits, struct dpe_recognizer *recognizer, uint64_t time);

/* ---- lock_order.c ------------------------------------------------------------------------ */

struct dpe_lock_order *dpe_lock_order_new(void);
void dpe_lock_order_free(struct dpe_lock_order *order); /* accepts NULL */
/* Values are copied, `since` is counted, as in the graph of waits. What is shared others may hold
 * as well, so it keeps nobody apart but from those who hold it alone. */
void dpe_lock_order_hold(struct dpe_lock_order *order, struct dpe_value thread,
	struct dpe_value object, const struct dpe_message *since, bool shared);
void dpe_lock_order_unhold(struct dpe_lock_order *order, struct dpe_value thread,
	struct dpe_value object, const struct dpe_message *event);
/* The thread goes on to take the object, and waits as long as it must. */
void dpe_lock_order_check(struct dpe_lock_order *order, const struct dpe_rule *rule,
	struct dpe_value thread, struct dpe_value object, const struct dpe_message *event);
/* The object is no more; what has its address later is another. */
void dpe_lock_order_forget(struct dpe_lock_order *order, struct dpe_value object);
/* The thread makes another one, known by that name; begins; ends; has awaited the end of one. */
void dpe_lock_order_create(
	struct dpe_lock_order *order, struct dpe_value thread, struct dpe_value name);
void dpe_lock_order_begin(
	struct dpe_lock_order *order, struct dpe_value thread, struct dpe_value name);
void dpe_lock_order_end(struct dpe_lock_order *order, struct dpe_value thread);
void dpe_lock_order_join(
	struct dpe_lock_order *order, struct dpe_value thread, struct dpe_value name);
/* What the thread holds is not known any more. */
void dpe_lock_order_lose(struct dpe_lock_order *order, struct dpe_value thread);
/* That one has closed, so it is no potential one any more. */
void dpe_lock_order_told(struct dpe_lock_order *order, const struct dpe_deadlock *deadlock);
/* At the end: tells of each potential deadlock, and of what the bounds may have hidden. */
void dpe_lock_order_tell(struct dpe_lock_order *order, struct dpe_recognizer *recognizer);

/* ---- held.c ------------------------------------------------------------------------------ */

/* Finds the events that are to carry the locks, once all runs are there: where actions say who holds
 * what, those of all rules that do not say so themselves. */
void dpe_held_prepare(struct dpe_recognizer *recognizer);
/* The message with the locks that its thread holds, the caller's; NULL: it holds none, or the message
 * has them. */
struct dpe_message *dpe_held_tell(
	const struct dpe_recognizer *recognizer, const struct dpe_message *message);

/* ---- deadlocks.c ------------------------------------------------------------------------- */

/* Fills in why it is in doubt, counts and hands over. */
void dpe_deadlock_tell(struct dpe_recognizer *recognizer, const struct dpe_rule *rule,
	struct dpe_deadlock *deadlock);

/* ---- progress.c -------------------------------------------------------------------------- */

struct dpe_env;
struct dpe_progress *dpe_progress_new(void);
void dpe_progress_free(struct dpe_progress *progress); /* accepts NULL */
/* The call progress(e, …): tells an error where the state was there since e last changed. */
void dpe_progress_check(const struct dpe_env *env, const struct dpe_stmt *stmt);

/* ---- eval.c, action.c -------------------------------------------------------------------- */

/* What expressions and statements can see. */
struct dpe_env {
	struct dpe_recognizer *recognizer;
	const struct dpe_run *run;
	uint64_t slice;                    /* its number */
	const struct dpe_value *variables; /* of the rule; NULL: none */
	const struct dpe_message *event;   /* at hand; may be NULL */
	bool before;                       /* variables of the program are as before the event */
	/* The event at each position, index 0 for $1; NULL entries: not taken. */
	const struct dpe_message *const *positions;
	struct dpe_text *text; /* holds strings that evaluating makes */
};

/* DPE_NONE where it has no value: an unbound variable, a missing result, division by zero. */
/* `direct` where that is text; else the message's variable of that name, which is the text that the
 * probe found there. DPE_NONE where there is none, the raw value null where it cannot be read. */
struct dpe_value dpe_text_in(
	const struct dpe_message *message, struct dpe_value direct, dpe_name name);
struct dpe_value dpe_eval(const struct dpe_env *env, const struct dpe_expr *expr);
/* A condition holds when its value is a number that is not 0. */
bool dpe_eval_condition(const struct dpe_env *env, const struct dpe_expr *expr);

/* wait_calls.c: the calls that say who holds and awaits what, and those that look at it. */
void dpe_wait_call(const struct dpe_env *env, const struct dpe_stmt *call);
void dpe_action_run(const struct dpe_env *env, const struct dpe_stmt *stmt);
/* True where an error of this action is suppressed; counted then. */
bool dpe_action_suppressed(const struct dpe_env *env);
/* True for the first of all readings that asks for the action at this event. */
bool dpe_run_may_act(struct dpe_run *run, const struct dpe_stmt *action);
/* The same in a slice: `positions` has the event at each position, `event` is at hand or NULL. */
void dpe_run_action(struct dpe_run *run, const struct dpe_slice *slice,
	const struct dpe_stmt *action, const struct dpe_message *const *positions,
	const struct dpe_message *event);
/* True where a statement or one after it names a position. */
bool dpe_action_names_positions(const struct dpe_stmt *stmt);

/* A copy whose text is the caller's to free, and the end of one. */
struct dpe_value dpe_value_keep(struct dpe_value value);
void dpe_value_drop(struct dpe_value value);

#endif
