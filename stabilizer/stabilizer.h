/* stabilizer: messages in any order → events in causal order (paper 4.2, figure 4-5).
 *
 * It holds each message until all that precedes it has left: the thread's previous message, the
 * explicit predecessors, earlier messages of the same host's clock. It establishes synchronisation
 * edges between sends and receives, and stamps each event with its place in the causal order. */
#ifndef DPE_STABILIZER_H
#define DPE_STABILIZER_H

#include "event/event.h"

/* ---- causal order ------------------------------------------------------------------------ */

/* How many events of `chain` precede the event (its own chain included: index - 1). */
uint32_t dpe_stamp_reach(const struct dpe_stamp *stamp, uint32_t chain);
/* True where events of two chains precede this one, none of them the event itself, and one look is
 * enough to tell: as long as there are few threads. */
bool dpe_stamp_follows(const struct dpe_stamp *stamp, uint32_t a, uint32_t index_a, uint32_t b,
	uint32_t index_b);
/* Clocks are counted; whoever keeps a stamp longer than the callback keeps its clock. */
void dpe_stamp_ref(const struct dpe_stamp *stamp);
void dpe_stamp_unref(const struct dpe_stamp *stamp);

/* ---- forgetting -------------------------------------------------------------------------- */

/* Which events of the past can still be told apart by events to come. A picture of one moment,
 * which stays right: what it does not see, nothing that comes later sees. */
struct dpe_horizon;
struct dpe_stabilizer;
/* For dpe_horizon_free. Sees nothing before the first look. */
struct dpe_horizon *dpe_horizon_new(void);
void dpe_horizon_free(struct dpe_horizon *horizon); /* accepts NULL */
/* Makes it the picture of now. False, and it is as it was, where any event may still be named as a
 * predecessor: messages have ids, or neither thread nor number. */
bool dpe_horizon_update(struct dpe_horizon *horizon, const struct dpe_stabilizer *stabilizer);
/* What the last look took, about as long as so many events take; 0 before the first. */
uint64_t dpe_horizon_cost(const struct dpe_horizon *horizon);
/* Let someone keep some events of a chain, one with `index` and the next after it with `next`.
 * True where an event may come whose past ends between the two, so that `index` is the last of
 * these that precedes it. */
bool dpe_horizon_sees(
	const struct dpe_horizon *horizon, uint32_t chain, uint32_t index, uint32_t next);

/* ---- what comes out ---------------------------------------------------------------------- */

struct dpe_stabilizer_sink {
	void *context;
	void (*event)(void *context, const struct dpe_event *event);
	/* At the end of the input: `message` waited for what never came, or for what waits for it
	 * in turn. `missing` says for what: "predecessor e7". Called before the message is released
	 * (a receive whose edges enter after it: before what follows it is). */
	void (*held)(void *context, const struct dpe_message *message, const char *missing);
	/* Messages were lost. Called before the one after the gap is released. */
	void (*lost)(void *context, const struct dpe_gap *gap);
	/* A message that was just pushed cannot leave yet: it waits for `missing`. May be NULL. */
	void (*waits)(void *context, const struct dpe_message *message, const char *missing);
};

/* ---- synchronisation --------------------------------------------------------------------- */

enum dpe_sync_pairing {
	DPE_SYNC_FIFO, /* a receive with the earliest send before it that none has taken yet */
	DPE_SYNC_LAST, /* with the latest send before it */
	DPE_SYNC_ALL,  /* with every send before it */
	DPE_SYNC_ONCE, /* each value is sent once: the receive waits for its send */
	/* With every send before it of its own round or an earlier one. The rounds of receives rise
	 * with time: one can be of the round before that of another, and not of an earlier one,
	 * or else all rounds begin anew. */
	DPE_SYNC_ROUNDS,
};

/* What a message is to a synchronisation rule. Sends and receives pair where rule and keys are
 * equal. "Before" goes by time where both messages stand under one host's clock (not in an input
 * that is `ordered`), else by arrival; a send that itself waits for the receive is not before it.
 *
 * The edge enters the receiver where the receive completes: at an .exit itself, else right after
 * the message: at the thread's next one, and at those that name it as their predecessor. */
struct dpe_role {
	unsigned rule; /* index into the pairings given to dpe_stabilizer_new */
	bool send;     /* else a receive */
	unsigned nkeys;
	const struct dpe_value *keys; /* copied */
	/* DPE_SYNC_ROUNDS: which one; of a send that may be of any INT64_MIN, of a receive INT64_MAX. */
	int64_t round;
};

struct dpe_stabilizer_options {
	const enum dpe_sync_pairing *pairings; /* one a synchronisation rule; copied */
	unsigned npairings;
	/* The name of each thread's last event; 0: none has one. Whoever has the thread's id after
	 * it is another thread. */
	dpe_name ends_thread;
	/* The name of the first event of a thread that ran already when the observation began; 0: none
	 * has one. What released it before is unknown: it comes after all that has left by then. */
	dpe_name finds_thread;
	/* The input already stands in causal order (a recorded log says so in its header): messages
	 * with times need not wait for earlier ones, and what is missing in a thread's numbers when
	 * a later one arrives is lost. */
	bool ordered;
	/* Nobody looks at what was `added` to events: it need not be there, and the messages of sends
	 * need not be kept for it. */
	bool edges_unused;
	const struct dpe_debug *debug;
};

struct dpe_stabilizer *dpe_stabilizer_new(const struct dpe_names *names,
	const struct dpe_stabilizer_options *options, const struct dpe_stabilizer_sink *sink);
void dpe_stabilizer_free(struct dpe_stabilizer *stabilizer); /* accepts NULL; releases nothing */
/* The number that the event after the last one of the thread had or will have; of all hosts' threads
 * of this name the least. 0: it has none. */
uint64_t dpe_stabilizer_since(const struct dpe_stabilizer *stabilizer, struct dpe_value thread);
/* Takes over the caller's reference. Calls the sink for everything that became ready. False, and
 * a diagnostic, where the message's id, or its number in its thread, was there before (it is then
 * dropped).
 *
 * Predecessors name ids of the same log. A message without an id is named by its place, unless
 * it has a `seq`. Of those with a `seq` that nobody can name (what probes made, and logs without
 * predecessors) nothing is remembered once they have left. */
bool dpe_stabilizer_push(struct dpe_stabilizer *stabilizer, struct dpe_message *message,
	const struct dpe_role *roles, unsigned nroles, struct dpe_diags *diags);
/* No message of `host` (a message's `host` value) with a time before `time` will come any more.
 * Those that have come leave; one that comes too late all the same is taken, with a warning. */
void dpe_stabilizer_watermark(
	struct dpe_stabilizer *stabilizer, struct dpe_value host, uint64_t time);
/* The end of the input: releases everything, telling what is held first. */
void dpe_stabilizer_finish(struct dpe_stabilizer *stabilizer);

#endif
