/* dpe-recognizer.h, a part of dpe.h: follows the rules of a specification over a stream of messages,
 * and reports verdicts, deadlocks and the effects of actions to a sink, as data. */
#ifndef DPE_PUBLIC_RECOGNIZER_H
#define DPE_PUBLIC_RECOGNIZER_H

#include "dpe-spec.h"

#ifdef __cplusplus
extern "C" {
#endif

enum dpe_verdict_kind {
	DPE_SATISFIED,    /* `expect`: the slice is a behaviour of the rule */
	DPE_VIOLATED,     /* `expect`: no behaviour of the rule begins like this */
	DPE_INCOMPLETE,   /* `expect`: the slice ended before the behaviour was complete */
	DPE_INCONCLUSIVE, /* losses or limits leave the verdict open */
	DPE_MATCH,        /* `detect`; of `predict`, in another run */
};

/* What another run of the same threads would have shown. */
struct dpe_prediction;
/* A turn of a schedule: a thread runs until the event has begun, and is held before its next one. */
struct dpe_turn {
	unsigned chain; /* the same number is the same thread */
	const struct dpe_message *until;
};
/* The schedule that shows a predicted match, or its last turns if there are more than `max`: their
 * number. Borrowed as the verdict is. Costs time that grows with the turns. */
unsigned dpe_prediction_schedule(
	struct dpe_prediction *prediction, unsigned max, const struct dpe_turn **turns);
/* A critical section of a thread with an event of the match that the schedule leaves out. In the observed run another
 * thread acquired the lock after it; the schedule has that acquisition. */
struct dpe_left_out {
	struct dpe_value lock;
	const struct dpe_message *release; /* where the section ends */
	const struct dpe_message *taken;   /* where the other thread acquired it */
};
/* The latest such section of each event of the match, `max` at most: their number. Borrowed as the verdict is. */
unsigned dpe_prediction_left_out(
	struct dpe_prediction *prediction, unsigned max, struct dpe_left_out *sections);
/* A lock that two threads acquire in one order in the schedule, and in the other order in the observed run. */
struct dpe_swapped {
	struct dpe_value lock;
	const struct dpe_message *first, *then; /* acquire it, in the order of the schedule, … */
	unsigned chains[2];                     /* … and their threads */
};
/* Such locks, `max` at most: their number. 0: locks are acquired in the observed order. Borrowed as the verdict is. */
unsigned dpe_prediction_swapped(
	struct dpe_prediction *prediction, unsigned max, struct dpe_swapped *swapped);
/* Whether its events are independent, so that nothing but locks orders them in the observed run. */
bool dpe_prediction_is_independent(const struct dpe_prediction *prediction);
/* In which runs a predicted match, or a potential deadlock, occurs: words for reports, static. NULL: the deadlock was not
 * predicted. */
struct dpe_verdict;
struct dpe_deadlock;
const char *dpe_prediction_odds(const struct dpe_verdict *verdict);
const char *dpe_deadlock_odds(const struct dpe_deadlock *deadlock);
/* The number of events at the beginning of the run that happen as they were observed, before the schedule begins. */
uint64_t dpe_prediction_prefix(const struct dpe_prediction *prediction);

/* A verdict about a slice of a rule. Everything is borrowed for the call. */
struct dpe_verdict {
	const struct dpe_rule *rule;
	enum dpe_verdict_kind kind;
	const struct dpe_message *event;         /* that the verdict was given at; NULL: the end of the input */
	const struct dpe_message *const *events; /* of a match, in causal order, independent ones as in the rule … */
	const uint16_t *positions;               /* … and the position ($i) of each */
	unsigned nevents;
	/* The events of the finding in causal order: those of a match; or the violating event,
	 * after its immediate predecessors in the slice and `nbeside` events that are independent
	 * of it, the last ones of the slice; or where an incomplete slice ends. */
	const struct dpe_message *const *around;
	const struct dpe_stamp *const *stamps; /* of these events */
	unsigned naround, nbeside;
	const struct dpe_value *params; /* one a variable of the rule; DPE_NONE: unbound */
	const char *const *expected;    /* of a violation: what would have been allowed */
	unsigned nexpected;
	const char *reason; /* of a violation or an inconclusive verdict, as text; else NULL */
	struct dpe_prediction *prediction; /* of a match of a `predict` rule; else NULL */
	bool happened; /* of a predicted match of one event, or of two independent ones: it is one in this run, too */
	bool may_have_happened; /* of any other predicted match: it may be one in this run, too; dpe does not know */
	/* The predicted match depends on no unobserved data, and nothing in the run so far made it doubtful, so with the same input
	 * the schedule shows it. Else data that is not observed may forbid it. */
	bool certain;
};

/* What the sink wants after a `break`: to continue, or to end without further events. */
enum dpe_break { DPE_BREAK_CONTINUE, DPE_BREAK_END };

/* Whether waiting threads hang. */
enum dpe_hang_check {
	DPE_HANG_NONE,
	DPE_HANG_UNDECIDED, /* not decided by this check; ask again */
	DPE_HANG_UNKNOWN,   /* cannot be checked: judged by how long it lasts */
	DPE_HANG_DOUBTFUL,  /* a signal handler may end it: reported once, as inconclusive */
	DPE_HANG_CERTAIN,
};

/* Since the message `waits`, `thread` waits for `object`, which `holder` holds since `holds`. */
struct dpe_wait {
	struct dpe_value thread, object, holder;
	const struct dpe_message *waits, *holds; /* NULL: unknown */
	bool ended; /* the holder has ended; then this is the only wait of the deadlock */
	unsigned alike; /* of a long wait: number of further threads that wait at the same place */
};

enum dpe_deadlock_kind {
	DPE_DEADLOCK,           /* a cycle in the wait-for graph (paper 5.2) */
	DPE_POTENTIAL_DEADLOCK, /* a cycle in the lock order that did not close */
	DPE_HANG,               /* no cycle: all living threads, with what they wait for */
	DPE_LONG_WAIT, /* threads that have waited for long while others run: a possible hang */
};

/* In a cycle each holder is the thread of the previous wait. In a potential one `waits` is where the
 * thread acquired the object. Borrowed for the call. */
struct dpe_deadlock {
	enum dpe_deadlock_kind kind;
	const struct dpe_wait *waits;
	unsigned nwaits;
	const char *reason; /* why it is inconclusive, as text; else NULL */
	bool others; /* potential: more cycles at the same sites, of other locks, are not reported */
	bool predicted; /* potential: another order of the threads closes the cycle … */
	bool certain;   /* … with the same input; else only if data that is not observed allows it */
	uint64_t lasted; /* long waits: ns that each has lasted at least */
};

enum dpe_trace_kind {
	DPE_TRACE_HELD,     /* a message was fed and waits for `missing` */
	DPE_TRACE_RELEASED, /* the stabilizer released an event; `after`: sends paired with it */
	/* About a slice of a rule: */
	DPE_TRACE_BEGAN,   /* created, by the event if any */
	DPE_TRACE_IGNORED, /* no condition makes the event one of the slice */
	DPE_TRACE_TOOK, /* `count`: configurations, or partial matches, after it */
	DPE_TRACE_REFUSED, /* none accepts it */
	DPE_TRACE_ENDED,   /* by an event of `ends` */
	DPE_TRACE_FORGOT,  /* `count` events that no future event needs */
};

/* A state of one of the automata, or a place of one of the nets, that follow a rule: see the sink's `automata`. */
struct dpe_trace_state {
	unsigned automaton;
	uint32_t state; /* its "id"; of a net a place with a token, 2n before block n and 2n + 1 behind it: the root is block 0,
			 * and each comes before those in it */
};

/* A step from messages to verdicts. Everything is borrowed for the call. */
struct dpe_trace {
	enum dpe_trace_kind kind;
	const struct dpe_message *message; /* or NULL */
	const char *missing;
	const struct dpe_rule *rule;
	const struct dpe_value *params; /* one a variable of the rule; DPE_NONE: unbound */
	/* TOOK and REFUSED: the event's immediate predecessors in the slice. */
	const struct dpe_message *const *after;
	unsigned nafter;
	uint64_t count;
	bool matched; /* TOOK: it completes a match */
	/* TOOK and REFUSED, of a rule that `automata` was called for: the states that configurations, or
	 * partial matches, are in now, or were in before the event that they refuse; each once. */
	const struct dpe_trace_state *states;
	unsigned nstates;
	/* The events that these configurations accept, "c after a"; for `expect` rules that no automaton of these follows, if the sink has `automata`. */
	const char *const *expected;
	unsigned nexpected;
};

/* "race {m = 3}": the rule of the step, and the values of its variables. */
void dpe_trace_print_slice(struct dpe_text *to, const struct dpe_names *names, const struct dpe_trace *trace);

/* What a `sync` rule says of an event: edges lead from it, or to it. */
struct dpe_sync_part {
	const struct dpe_rule *rule;
	bool sends, receives;
	struct dpe_value object; /* the first value by which the two are paired, as a lock; DPE_NONE: no value is */
};

enum dpe_measuring { DPE_COUNT_OF, DPE_SUM_OF, DPE_HIST_OF, DPE_QUANTILES_OF };

/* What count(), sum(), hist() or quantiles() of an action has measured, of one key. Whole values are counted in buckets:
 * bucket i < 64 has the value i, others 2^(i/32 - 1) values from dpe_bucket_begin(i) on. */
struct dpe_measurement {
	const struct dpe_rule *rule;
	enum dpe_measuring what;
	const char *key; /* the values of the call's other arguments; "" without any */
	bool is_time;    /* in ns */
	bool at_least;   /* events were lost: there may be more */
	uint64_t count, negative, others; /* values; of these below 0; not numbers, and so not counted */
	long double sum, min, max; /* of whole numbers exact up to 2^64 */
	const uint64_t *buckets; /* DPE_MEASURE_BUCKETS of them; NULL for count and sum */
	const uint64_t *below;   /* as many for the magnitudes of negative values; NULL if there are none */
	uint64_t more_keys;      /* with the last one of a call: values of keys beyond the limit */
};

#define DPE_MEASURE_BUCKETS 1920
uint64_t dpe_bucket_begin(unsigned bucket);
/* The value that this share of the values (0 to 1) does not exceed, within 1.6 %. */
double dpe_measurement_quantile(const struct dpe_measurement *measurement, double share);

/* The callbacks of a recognizer. They must not call it. Each may be NULL. */
struct dpe_recognizer_sink {
	void *context;
	/* True to suppress a finding with these events: it only counts as suppressed, and its action prints nothing. An
	 * event may be NULL, if it is unknown; a NULL at the end says that the slice is incomplete. Not called for satisfied
	 * slices. */
	bool (*suppresses)(void *context, const struct dpe_rule *rule,
		const struct dpe_message *const *events, unsigned nevents);
	/* Each verdict. */
	void (*verdict)(void *context, const struct dpe_verdict *verdict);
	/* print() and printf() of actions: a line without line feed. */
	void (*print)(void *context, const struct dpe_rule *rule, const char *text);
	/* What was measured, at the end and by dpe_recognizer_measure: each call of a rule, its keys with the most values first. */
	void (*measured)(void *context, const struct dpe_measurement *measurement);
	/* error() of actions, which is a finding. */
	void (*error)(void *context, const struct dpe_rule *rule, const char *text);
	/* check_deadlock() and check_hang(): once while it lasts; check_order(): each potential
	 * deadlock, at the end. */
	void (*deadlock)(
		void *context, const struct dpe_rule *rule, const struct dpe_deadlock *deadlock);
	/* Whether the threads of these waits sleep forever: none has run since it began to wait, nothing outside the program
	 * can wake one, and, for a DPE_HANG, there are no other threads. Also called for deadlocks of one thread. NULL:
	 * DPE_HANG_UNKNOWN. */
	enum dpe_hang_check (*hangs)(void *context, const struct dpe_deadlock *hang);
	/* `break`, after its verdict. NULL: DPE_BREAK_END. */
	enum dpe_break (*stop)(
		void *context, const struct dpe_rule *rule, const struct dpe_message *at);
	/* At the end: a message waited for `missing`, which never arrived. */
	void (*held)(void *context, const struct dpe_message *message, const char *missing);
	/* Messages of a thread were lost before one that was fed. */
	void (*lost)(void *context, const struct dpe_gap *gap);
	/* Only the order of arrival says what the message synchronises with: verdicts that could depend on it are
	 * inconclusive. */
	void (*unsure)(void *context, const struct dpe_message *message);
	/* Number of messages lost so far, of this thread or of unknown ones; with DPE_NONE of all.
	 * NULL: losses show only as gaps, and a verdict that was given too early is retracted: it is
	 * reported again as inconclusive (a deadlock with a reason). */
	uint64_t (*losing)(void *context, struct dpe_value thread);
	/* Why events that seem independent may be ordered by something that is not observed, as text that stays; NULL: they
	 * are independent. Asked for each match or violation with such events, which is inconclusive then. */
	const char *(*unordered)(void *context);
	/* A copy of the message with its stack as text, owned by the recognizer; or NULL. */
	struct dpe_message *(*resolve)(void *context, const struct dpe_message *message);
	/* Each released event, before the rules take it. */
	void (*event)(void *context, const struct dpe_event *event);
	/* `event` needs no edges: `added` may be empty. Faster, and takes less memory, where there are many `sync` events. */
	bool no_edges;
	/* Each thread::create, before the events of the new thread (its first argument), and each mem::alloc. */
	void (*created)(void *context, const struct dpe_message *message);
	/* Right after `event`: the event's part in each `sync` rule, but not in the sections of `during`. */
	void (*synchronises)(
		void *context, const struct dpe_event *event, const struct dpe_sync_part *part);
	/* hold() and share(), or unhold(), of actions at the event that was released last. */
	void (*holds)(void *context, struct dpe_value thread, struct dpe_value object, bool held);
	/* Each step, before the verdict that follows from it. */
	void (*trace)(void *context, const struct dpe_trace *trace);
	/* Before the rule's first trace of a step: an array of what follows it, each an automaton as
	 * DPE_EMIT_TRACED writes it, or where tokens follow an operand its net, {"net":BLOCK}: an event is a
	 * string, others are ["OPERATOR",BLOCK,...]. Not called for a rule with more than DPE_TRACED_STATES
	 * states, or blocks, in one. */
	void (*automata)(void *context, const struct dpe_rule *rule, const char *json);
};

/* What follows a rule: its predecessor automaton, or the token game on its net. Both give the same verdicts on rules that
 * both can follow. `@` and control variables need the net, which reports some violations of synchronised operands later than
 * automata do. */
enum dpe_engine_choice {
	/* The automaton where it suits the rule, else the net. See dpe_rule_engine. */
	DPE_ENGINE_AUTO,
	DPE_ENGINE_PA,
	DPE_ENGINE_NET,
};

/* What follows a rule. The last two follow `detect` rules only. */
enum dpe_engine_kind {
	DPE_BY_AUTOMATON,   /* the predecessor automaton of the rule */
	DPE_BY_TOKEN_GAME,  /* tokens on its net */
	DPE_BY_PAIR_TABLE,  /* a table of accesses: all matches are two independent events */
	DPE_BY_CONJUNCTION, /* partial matches of each operand of &, joined when one is complete */
	DPE_BY_REORDERING,  /* `predict`: the least runs of the same threads that have the events */
};

struct dpe_engine {
	enum dpe_engine_kind kind;
	const char *reason; /* why it was chosen; static */
	const char *whole;  /* why no conjunction searches for matches of a `detect` rule, or NULL; static */
};

/* The engine of the rule in a run with DPE_ENGINE_AUTO and without the sink's `trace`, which pair tables
 * do not report to. False if no run can follow the rule; not for `sync` rules. */
bool dpe_rule_engine(const struct dpe_rule *rule, struct dpe_engine *engine);
/* The engine in words; static. */
const char *dpe_engine_name(enum dpe_engine_kind kind);

struct dpe_recognizer_options {
	enum dpe_engine_choice engine;
	bool ordered;           /* messages come in causal order, as a log's header says */
	bool stabilize_only;    /* synchronise and release events, but follow no rule */
	unsigned max_instances; /* partial matches of one slice; 0: 100,000 */
	/* Number of kept events at which slices forget what no future event needs; again when it
	 * has doubled. 0: 8,192; 1: at each event, which is slow. */
	uint64_t forget_from;
	/* Bytes for the states of one automaton, above which unused ones are dropped and composed
	 * again when needed; 0: 64 MiB. */
	size_t automaton_bytes;
	const struct dpe_debug *debug;
	/* Pairs of partial matches of operands of & that are compared for one event, at most; beyond, the slice is
	 * inconclusive. 0: 1,000,000. */
	uint64_t search_work;
	/* ns after which a wait is long, where a rule calls check_hang(); 0: ten seconds, UINT64_MAX:
	 * never. */
	uint64_t hang_after;
	/* `predict` rules whose names begin with this text do not report matches that happened in this run, since `detect`
	 * rules report these. NULL: none. Borrowed as long as the recognizer lives. */
	const char *skip_happened;
	/* The source reports all accesses to memory, also atomic ones; of equal accesses by a thread between two of its
	 * synchronisation events, at least one. */
	bool memory_observed;
};

/* Counts so far. */
struct dpe_summary {
	uint64_t events, lost, held; /* released events; lost messages; messages held at the end */
	uint64_t kept;               /* events that slices keep, once for each slice */
	uint64_t slices;
	unsigned rules;
	uint64_t satisfied, violated, incomplete, inconclusive, matches, errors, deadlocks;
	uint64_t potential, hangs; /* potential deadlocks, hangs */
	uint64_t long_waits;       /* reports of long waits, which are no findings */
	uint64_t suppressed;       /* findings, not counted above */
};
/* Number of findings: all reports except satisfied and inconclusive ones, and long waits. */
uint64_t dpe_summary_findings(const struct dpe_summary *summary);

/* What a thread that uses a recognizer is doing. */
enum dpe_stage {
	DPE_STAGE_OUTSIDE, /* something else */
	DPE_STAGE_ORDER,   /* the causal order of messages */
	DPE_STAGE_MATCH,   /* the rules */
	DPE_STAGE_REPORT,  /* in the sink's `verdict` */
	DPE_STAGES
};

struct dpe_recognizer;
/* The current stage; may be called by another thread, to sample where time is spent. */
enum dpe_stage dpe_recognizer_stage(const struct dpe_recognizer *recognizer);
/* A rule that cannot have found anything, or of which no event occurred, and one of its patterns as written; both NULL: no
 * event of any rule occurred. Borrowed. */
typedef void dpe_unobserved_fn(
	void *context, const struct dpe_rule *rule, const char *pattern, uint64_t occurred, uint64_t others);
/* Calls `each` for the patterns of each rule whose behaviours all need events that never occurred, and of each rule that is
 * not shipped and of which no event occurred. `occurred`: events that matched the pattern; `others`: events of its name that
 * did not, because of their values. If no event of any rule occurred, calls it once, with rule and pattern NULL. */
void dpe_recognizer_unobserved(
	const struct dpe_recognizer *recognizer, dpe_unobserved_fn *each, void *context);
/* Calls `each` for each name and phase of which events of the rules occurred, with their number so far. */
typedef void dpe_occurrence_fn(void *context, dpe_name name, enum dpe_phase phase, uint64_t count);
void dpe_recognizer_occurrences(
	const struct dpe_recognizer *recognizer, dpe_occurrence_fn *each, void *context);
struct dpe_rule_state {
	const struct dpe_rule *rule; /* borrowed */
	uint64_t slices;             /* now */
	uint64_t satisfied, findings, inconclusive; /* verdicts so far */
};
/* Calls `each` for each rule that is followed. */
void dpe_recognizer_rules(const struct dpe_recognizer *recognizer,
	void (*each)(void *context, const struct dpe_rule_state *state), void *context);
/* A state in words, "next unlock(x) after lock(x)", and how many slices are in it. */
typedef void dpe_slice_state_fn(
	void *context, const struct dpe_rule *rule, const char *state, uint64_t slices);
/* Counts the first DPE_LOOKED_SLICES slices of a rule by state and returns their number; states beyond
 * DPE_SHOWN_STATES are counted together. 0, without a call, if the rule has no slices, or no states because a pair table
 * or predictions follow it. Costs about as much as an event for each slice. */
uint64_t dpe_recognizer_slice_states(
	struct dpe_recognizer *recognizer, const struct dpe_rule *rule, dpe_slice_state_fn *each, void *context);
/* Whether an event of the rule with this number in its specification occurred. */
bool dpe_recognizer_observed(const struct dpe_recognizer *recognizer, unsigned number);
/* A rule `first ; second` without a match, whose second event occurred `count` times independent of a first one. */
typedef void dpe_unordered_fn(void *context, const struct dpe_rule *rule, const char *first,
	const char *second, uint64_t count);
void dpe_recognizer_unordered(
	const struct dpe_recognizer *recognizer, dpe_unordered_fn *each, void *context);
/* Creates a recognizer; the caller frees it. NULL after diagnostics where a rule cannot be followed (it
 * accepts nothing, or the chosen engine cannot follow it). The specification must outlive the
 * recognizer, and may be shared by several. `options` NULL: all 0. Copies the sink. */
struct dpe_recognizer *dpe_recognizer_new(const struct dpe_spec *spec,
	const struct dpe_recognizer_options *options, const struct dpe_recognizer_sink *sink,
	struct dpe_diags *diags);
/* Accepts NULL. Gives no verdicts: call dpe_recognizer_finish for these. */
void dpe_recognizer_free(struct dpe_recognizer *recognizer);
/* Feeds a message and takes over the caller's reference. Messages may come in any order: causal order
 * follows from threads, predecessors, times and `sync` rules. False after a diagnostic if the
 * message is dropped: a duplicate, one without a name, or one after the end. */
bool dpe_recognizer_feed(
	struct dpe_recognizer *recognizer, struct dpe_message *message, struct dpe_diags *diags);
/* Feeds messages in their order, until one is dropped; returns the number of messages before that one. */
unsigned dpe_recognizer_feed_some(struct dpe_recognizer *recognizer, struct dpe_message *const *messages,
	unsigned count, struct dpe_diags *diags);
/* Prefetches what the rules need for a message that will be fed after a few others; `soon`: after half as many. Affects
 * only speed. False as long as no rule has enough slices for it to pay. */
bool dpe_recognizer_prefetch(
	const struct dpe_recognizer *recognizer, const struct dpe_message *message, bool soon);
/* No message to come names one of this log by its place: see dpe_log_unreferenced. */
void dpe_recognizer_forget_places(struct dpe_recognizer *recognizer, uint32_t log);
/* No more messages of the host (as in messages; {0}: without one) with a time before this one (ns) will be
 * fed. Messages with times are held until a watermark passes them. */
void dpe_recognizer_watermark(
	struct dpe_recognizer *recognizer, struct dpe_value host, uint64_t time);
/* The time (ns, of messages) at which a watermark is wanted, because a report depends on the passing of
 * time; 0: none. */
uint64_t dpe_recognizer_due(const struct dpe_recognizer *recognizer);
/* Reads may be missing that are followed at once by the thread's own write of the same bytes, as clang does not report
 * these. So `predict` takes each write of memory for a read, too. To be called before any message is fed. */
void dpe_recognizer_expect_updates(struct dpe_recognizer *recognizer);
/* From now on all verdicts are inconclusive, because something is missing that no gap shows (as the tail of a
 * log). Copies the reason. */
void dpe_recognizer_doubt(struct dpe_recognizer *recognizer, const char *reason);
/* Lost messages of a thread. */
struct dpe_thread_loss {
	struct dpe_value thread; /* DPE_NONE: unknown */
	uint64_t count;          /* messages */
	uint64_t doubts;         /* watched variables whose values are not certain */
	bool has_times;
	uint64_t first, last; /* ns: between these times */
};
/* Reports, before the end, the total of a thread's lost messages, including the ones revealed by gaps. */
void dpe_recognizer_lose(struct dpe_recognizer *recognizer, const struct dpe_thread_loss *loss);
/* Calls `each` for each thread with losses, in order of detection. Borrowed for the call. */
void dpe_recognizer_losses(const struct dpe_recognizer *recognizer,
	void (*each)(void *context, const struct dpe_thread_loss *loss), void *context);
/* Reports what was measured so far. */
void dpe_recognizer_measure(struct dpe_recognizer *recognizer);
/* The end of the input: releases held messages and gives the verdicts of all slices. A second call has no
 * effect. */
void dpe_recognizer_finish(struct dpe_recognizer *recognizer);
/* Calls `each` for each edge of the wait-for graph: a waiting thread, an object that it waits for, and a holder of the
 * object (DPE_NONE: none known). Borrowed for the call. */
void dpe_recognizer_waits(const struct dpe_recognizer *recognizer,
	void (*each)(void *context, const struct dpe_wait *wait), void *context);
/* True if all messages fed so far are released. */
bool dpe_recognizer_idle(const struct dpe_recognizer *recognizer);
/* Which patterns of a `detect` rule (given by its number in the specification) have events in partial matches, one bit
 * each. False if there are too many partial matches to search. */
bool dpe_recognizer_live(
	const struct dpe_recognizer *recognizer, unsigned rule, uint64_t *patterns);
/* The time of the first event with a time, in ns; 0: none. */
uint64_t dpe_recognizer_start(const struct dpe_recognizer *recognizer);
/* Copies the counts so far. */
void dpe_recognizer_summary(const struct dpe_recognizer *recognizer, struct dpe_summary *summary);

#ifdef __cplusplus
}
#endif

#endif
