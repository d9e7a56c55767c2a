/* dpe-recognizer.h, a part of dpe.h: rules × events → matches, violations, actions. Reports are
 * data, given to a sink.
 *
 * It owns the way from a message to a verdict: it tells the stabilizer what each message is to the
 * `sync` rules, and hands each released event to the slices of the rules that watch it. */
#ifndef DPE_PUBLIC_RECOGNIZER_H
#define DPE_PUBLIC_RECOGNIZER_H

#include "dpe-spec.h"

#ifdef __cplusplus
extern "C" {
#endif

enum dpe_verdict_kind {
	DPE_SATISFIED,
	DPE_VIOLATED,
	DPE_INCOMPLETE,
	DPE_INCONCLUSIVE,
	DPE_MATCH,
};

/* Everything is borrowed for the time of the call. */
struct dpe_verdict {
	const struct dpe_rule *rule;
	enum dpe_verdict_kind kind;
	const struct dpe_message *event;         /* that decided; NULL at the end of the run */
	const struct dpe_message *const *events; /* of a match, in stabilised order … */
	const uint16_t *positions;               /* … and the position ($i) that each one took */
	unsigned nevents;
	/* What the finding is about, each after all that precede it: the events of a match; the one
	 * that violated, after its immediate predecessors in the slice. */
	const struct dpe_message *const *around;
	const struct dpe_stamp *const *stamps; /* their places in the causal order */
	unsigned naround;
	const struct dpe_value *params; /* one a variable of the rule; DPE_NONE: unbound */
	const char *const *expected;    /* violated: what would have fitted here */
	unsigned nexpected;
	const char *reason; /* violated, inconclusive: in words; else NULL */
};

enum dpe_break { DPE_GO_ON, DPE_END };

/* PERHAPS: a look takes time, and sees each thread at another moment; the next one will tell.
 * UNKNOWN: nobody can look, so it has to be judged by the time that it lasts. DOUBTFUL: a signal may end
 * it, whose handler posts; where it lasts, that is told once, as in doubt. */
enum dpe_hangs {
	DPE_HANGS_NOT,
	DPE_HANGS_PERHAPS,
	DPE_HANGS_UNKNOWN,
	DPE_HANGS_DOUBTFUL,
	DPE_HANGS,
};

/* `thread` waits since the message `waits` for `object`, which `holder` has since `holds`. */
struct dpe_wait {
	struct dpe_value thread, object, holder;
	const struct dpe_message *waits, *holds; /* NULL: unknown */
	bool ended; /* the holder has; then it is the only wait, and waits for nobody itself */
};

enum dpe_deadlock_kind {
	DPE_DEADLOCK,           /* a cycle in the wait-for graph (paper 5.2) */
	DPE_POTENTIAL_DEADLOCK, /* one that the order of locks allows, and that did not close */
	DPE_HANG,               /* no cycle: all threads that there are, with what they wait for */
};

/* Where it is a cycle, each holder is the thread of the wait before it. Of a potential one, `waits`
 * is where the thread took the object. */
struct dpe_deadlock {
	enum dpe_deadlock_kind kind;
	const struct dpe_wait *waits;
	unsigned nwaits;
	const char *reason; /* why it is inconclusive, in words; else NULL */
	bool others; /* potential: there are more like it, of other locks, that are not told */
};

enum dpe_trace_kind {
	DPE_TRACE_HELD,     /* a message came, and waits for `missing` */
	DPE_TRACE_RELEASED, /* an event left the stabilizer; `after`: the sends that it received
			       from */
	/* The rest is about a slice of a rule: */
	DPE_TRACE_BEGAN,   /* with the event, if any */
	DPE_TRACE_IGNORED, /* no condition holds that would make it an event of the slice */
	DPE_TRACE_TOOK, /* `count`: the readings that go on, or the partial matches with the event
			 */
	DPE_TRACE_REFUSED, /* it continues none of them */
	DPE_TRACE_ENDED,   /* by an event that was said to end it */
	DPE_TRACE_FORGOT,  /* `count` events that nothing to come can follow at once */
};

/* One step on the way from messages to verdicts. Everything is borrowed for the time of the call.
 */
struct dpe_trace {
	enum dpe_trace_kind kind;
	const struct dpe_message *message; /* or NULL */
	const char *missing;
	const struct dpe_rule *rule;
	const struct dpe_value *params; /* one a variable of the rule; DPE_NONE: unbound */
	/* Of TOOK and REFUSED: the event's immediate predecessors in the slice. */
	const struct dpe_message *const *after;
	unsigned nafter;
	uint64_t count;
	bool matched; /* TOOK: it completes a match */
};

/* What a recognizer calls. None may use the recognizer. A callback may be NULL: what it would have
 * been told is not told. */
struct dpe_recognizer_sink {
	void *context;
	/* True where nobody wants to know of a finding of this rule with these events (NULL: not
	 * known): it is then neither told nor counted as one, and what the rule's action says of it
	 * is not heard. Not asked for satisfied slices. */
	bool (*suppresses)(void *context, const struct dpe_rule *rule,
		const struct dpe_message *const *events, unsigned nevents);
	void (*verdict)(void *context, const struct dpe_verdict *verdict);
	/* print() and printf() of actions: a line, without its end */
	void (*print)(void *context, const struct dpe_rule *rule, const char *text);
	/* error(): a finding that counts for the exit status */
	void (*error)(void *context, const struct dpe_rule *rule, const char *text);
	/* check_deadlock(): a cycle, told once as long as it lasts. check_order(): at the end,
	 * each potential one. check_hang(): once as long as it lasts. Borrowed for the call. */
	void (*deadlock)(
		void *context, const struct dpe_rule *rule, const struct dpe_deadlock *deadlock);
	/* Whether the threads of these waits sleep, none has gone on meanwhile, and nobody outside
	 * of the program can wake one. Asked of a DPE_HANG, where it must also be so that there are
	 * no others, and of deadlocks of one thread. NULL: UNKNOWN. */
	enum dpe_hangs (*hangs)(void *context, const struct dpe_deadlock *hang);
	/* break: comes after the verdict that it belongs to. DPE_END, and NULL, take no more
	 * events. */
	enum dpe_break (*stop)(
		void *context, const struct dpe_rule *rule, const struct dpe_message *at);
	/* At the end: a message waited for `missing`, which never came. */
	void (*held)(void *context, const struct dpe_message *message, const char *missing);
	/* Messages of a thread were lost, right before one that came. */
	void (*lost)(void *context, const struct dpe_gap *gap);
	/* How many messages were lost so far, gap or none: of this thread, and of nobody knows
	 * whom; with DPE_NONE: of all. NULL: only gaps tell; then a verdict can turn out to have
	 * been given too early: it is taken back, by the same verdict once more, as inconclusive (a
	 * deadlock by the same with a reason). */
	uint64_t (*losing)(void *context, struct dpe_value thread);
	/* A message with the text of its stack, the caller's; for actions that print it. May
	 * return NULL. */
	struct dpe_message *(*resolve)(void *context, const struct dpe_message *message);
	/* Each event as the stabilizer released it, before the rules see it. */
	void (*event)(void *context, const struct dpe_event *event);
	/* Each step as it happens; before the verdict that follows from it. NULL: nothing is
	 * made for it. */
	void (*trace)(void *context, const struct dpe_trace *trace);
};

/* What follows a rule: its predecessor automaton, automata of its operands side by side, or the
 * token game on its net. All give the same verdicts on what all can follow; `@` and control
 * variables need the net, which sees some violations of synchronised operands later than automata
 * do. */
enum dpe_engine_choice {
	/* Automata side by side for a rule whose composed one would have too many states; the
	 * automaton where it suits the rule; else the net. See dpe_rule_engine. */
	DPE_ENGINE_AUTO,
	DPE_ENGINE_PA,
	DPE_ENGINE_NET,
	DPE_ENGINE_PARTS, /* side by side as far as the rule can be divided */
};

/* What DPE_ENGINE_AUTO takes for the rule: one of the others. */
enum dpe_engine_choice dpe_rule_engine(const struct dpe_rule *rule);

struct dpe_recognizer_options {
	enum dpe_engine_choice engine;
	bool ordered;           /* messages stand in causal order already, as a log's header
				 * says */
	bool stabilize_only;    /* establish synchronisation, follow no rule */
	unsigned max_instances; /* partial matches kept of one slice; 0: 100,000 */
	/* Slices forget the events that can no longer matter once they have as many, and again
	 * when these have doubled; 0: 8,192; 1: at each event, which is slow. */
	uint64_t forget_from;
	/* Memory for the states of one automaton, in bytes, beyond which those that no slice stands
	 * in are given up and composed again when they are needed; 0: 64 MiB. */
	size_t automaton_bytes;
	const struct dpe_debug *debug;
	/* Pairs of partial matches of operands of & that are looked at for one event before it is
	 * given up; 0: 1,000,000. */
	uint64_t search_work;
};

struct dpe_summary {
	uint64_t events, lost, held;
	uint64_t kept; /* events that slices remember, an event once for each slice */
	uint64_t slices;
	unsigned rules;
	uint64_t satisfied, violated, incomplete, inconclusive, matches, errors, deadlocks;
	uint64_t potential, hangs; /* deadlocks that could be, and those that are no cycle */
	uint64_t suppressed;       /* findings that are in none of these */
};
/* How many were told that count as findings: all but satisfied and inconclusive. */
uint64_t dpe_summary_findings(const struct dpe_summary *summary);

struct dpe_recognizer;
/* NULL and diagnostics where a rule cannot run (it accepts nothing, or not with the engine that was
 * chosen). The specification must outlive the recognizer. Several recognizers may share it.
 * `options` NULL: all 0. The sink is copied. */
struct dpe_recognizer *dpe_recognizer_new(const struct dpe_spec *spec,
	const struct dpe_recognizer_options *options, const struct dpe_recognizer_sink *sink,
	struct dpe_diags *diags);
void dpe_recognizer_free(struct dpe_recognizer *recognizer); /* accepts NULL; gives no verdicts */
/* Takes over the reference. Messages may come in any order: which precedes which follows from their
 * threads, predecessors, times, and the `sync` rules. False and a diagnostic where the message
 * cannot be used (its id was there before, it has no name, the run is finished): it is dropped. */
bool dpe_recognizer_feed(
	struct dpe_recognizer *recognizer, struct dpe_message *message, struct dpe_diags *diags);
/* The message will be fed after a few others, or `soon`, after half as many: what the rules will
 * want to know then is brought near. Nothing depends on it but the time that rules about very many
 * objects take; false as long as there are none, and it is as well fed at once. */
bool dpe_recognizer_prefetch(
	const struct dpe_recognizer *recognizer, const struct dpe_message *message, bool soon);
/* No message of the host (a message's `host`; {0} where messages have none) with a time before this
 * one will come: messages with times are held back until then. */
void dpe_recognizer_watermark(
	struct dpe_recognizer *recognizer, struct dpe_value host, uint64_t time);
/* When the next watermark is wanted, which tells that time has passed: a time of messages. 0: there
 * is nothing that only time decides. */
uint64_t dpe_recognizer_due(const struct dpe_recognizer *recognizer);
/* Something is missing that no gap shows, nobody knows of whom (the tail of a log): from here on,
 * all that is told is inconclusive. `reason` in words, copied. */
void dpe_recognizer_doubt(struct dpe_recognizer *recognizer, const char *reason);
/* What a thread lost. */
struct dpe_thread_loss {
	struct dpe_value thread; /* DPE_NONE: nobody knows whose */
	uint64_t count;          /* messages */
	bool has_times;
	uint64_t first, last; /* ns: they were lost between these */
};
/* Before the end: what a thread lost in all. Gaps may have shown some of it, or all. */
void dpe_recognizer_lose(struct dpe_recognizer *recognizer, const struct dpe_thread_loss *loss);
/* Each thread that lost anything, in the order in which that was noticed. Borrowed for the call. */
void dpe_recognizer_losses(const struct dpe_recognizer *recognizer,
	void (*each)(void *context, const struct dpe_thread_loss *loss), void *context);
/* The end of the run: releases what is held and gives the verdicts of all slices. A second time it
 * does nothing. */
void dpe_recognizer_finish(struct dpe_recognizer *recognizer);
/* Each thread that waits at this moment, for each object that it waits for and each who holds that
 * (holder DPE_NONE: nobody, as far as is known). Borrowed for the call. */
void dpe_recognizer_waits(const struct dpe_recognizer *recognizer,
	void (*each)(void *context, const struct dpe_wait *wait), void *context);
/* True where all messages given so far have been released and judged. */
bool dpe_recognizer_idle(const struct dpe_recognizer *recognizer);
/* Which patterns of a `detect` rule have events in partial matches, a bit each: where none of those
 * needed has, nothing to come completes a match before one of them comes. False
 * where that is not known: there are too many to look at. */
bool dpe_recognizer_live(
	const struct dpe_recognizer *recognizer, unsigned rule, uint64_t *patterns);
/* The time of the first event that had one, in ns; 0: none had. */
uint64_t dpe_recognizer_start(const struct dpe_recognizer *recognizer);
/* What was counted so far. */
void dpe_recognizer_summary(const struct dpe_recognizer *recognizer, struct dpe_summary *summary);

#ifdef __cplusplus
}
#endif

#endif
