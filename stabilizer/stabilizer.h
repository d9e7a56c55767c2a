/* stabilizer: from messages in any order to events in causal order (paper 4.2, figure 4-5). A
 * message is held until its predecessors are released: the previous message of its thread, its
 * explicit predecessors, earlier messages under its host's clock. Synchronisation adds edges, and
 * each event gets a vector clock. */
#ifndef DPE_STABILIZER_H
#define DPE_STABILIZER_H

#include "event/event.h"

#include <limits.h>

/* ---- causal order ------------------------------------------------------------------------ */

/* True for the last event that its chain has room for: its thread continues in another one. */
bool dpe_stamp_fills_chain(const struct dpe_stamp *stamp);
/* How many events of `chain` precede the event; index - 1 for its own chain. */
uint32_t dpe_stamp_reach(const struct dpe_stamp *stamp, uint32_t chain);
/* The same by chain, but for its own one, where there are only chains below this number; NULL: there are others. */
#define DPE_CLOCK_FAN 16
const uint32_t *dpe_stamp_reaches(const struct dpe_stamp *stamp);
/* Calls for each chain of which more events precede `stamp` than `since` had in its past, with the
 * number of them; not for the chain of the stamp. It costs what the two pasts do not share. */
typedef void dpe_reach_fn(void *context, uint32_t chain, uint32_t reach);
void dpe_stamp_each_since(const struct dpe_stamp *stamp, const struct dpe_clock *since,
	dpe_reach_fn *visit, void *context);
/* The same for all that precede `stamp`, where something is wanted of chains `first` to `last`. */
typedef bool dpe_wanted_fn(void *context, uint32_t first, uint32_t last);
void dpe_stamp_each_wanted(
	const struct dpe_stamp *stamp, dpe_wanted_fn *wanted, dpe_reach_fn *visit, void *context);
/* What precedes any of the events: NULL or a clock for dpe_clock_unref; and how far it reaches. */
const struct dpe_clock *dpe_pasts_join(const struct dpe_stamp *const *stamps, unsigned count);
uint32_t dpe_clock_reach(const struct dpe_clock *clock, uint32_t chain); /* accepts NULL */
void dpe_clock_unref(const struct dpe_clock *clock);                     /* accepts NULL */
/* Clocks are counted; a stamp that is kept longer than the callback needs a reference. */
void dpe_stamp_ref(const struct dpe_stamp *stamp);
void dpe_stamp_unref(const struct dpe_stamp *stamp);

/* ---- forgetting -------------------------------------------------------------------------- */

/* Which past events can still be distinguished by future ones. An old snapshot stays valid: what it does not
 * see, no later event sees. */
struct dpe_horizon;
struct dpe_stabilizer;
/* Free with dpe_horizon_free. Sees nothing before the first update. */
struct dpe_horizon *dpe_horizon_new(void);
void dpe_horizon_free(struct dpe_horizon *horizon); /* accepts NULL */
/* Updates the snapshot. False, and unchanged, where any event may still be named as a predecessor:
 * messages have ids, or neither thread nor number. */
bool dpe_horizon_update(struct dpe_horizon *horizon, const struct dpe_stabilizer *stabilizer);
/* The cost of the last update, in events that could be processed meanwhile; 0 before the first. */
uint64_t dpe_horizon_cost(const struct dpe_horizon *horizon);
/* For a caller that keeps events of a chain, `index` and then `next`: true if a future event's
 * past may end between the two, so that `index` is its last predecessor among those kept. */
bool dpe_horizon_sees(
	const struct dpe_horizon *horizon, uint32_t chain, uint32_t index, uint32_t next);
/* The stamps of imagined events: of the events up to the snapshot, what precedes any future event is what precedes
 * some of these. */
const struct dpe_stamp *dpe_horizon_views(const struct dpe_horizon *horizon, unsigned *count);
/* True if the chain's thread had ended. */
bool dpe_horizon_ended(const struct dpe_horizon *horizon, uint32_t chain);

/* ---- what comes out ---------------------------------------------------------------------- */

struct dpe_stabilizer_sink {
	void *context;
	void (*event)(void *context, const struct dpe_event *event);
	/* At the end of the input: `message` waited for something that never came, or for a message
	 * that waits for it. `missing` names it: "predecessor e7". Called before the message is
	 * released (for a receive whose edges enter after it: before its successors are). */
	void (*held)(void *context, const struct dpe_message *message, const char *missing);
	/* Messages were lost. Called before the message after the gap is released. */
	void (*lost)(void *context, const struct dpe_gap *gap);
	/* Only the order of arrival says what the message is paired with. Events from number
	 * `since` on may have other predecessors. */
	void (*unsure)(void *context, const struct dpe_message *message, uint64_t since);
	/* A message pushed with DPE_ROLES_AT_TURN now follows its thread's previous one. The callee has to call
	 * dpe_stabilizer_assign. */
	void (*turn)(void *context, struct dpe_message *message);
	/* A pushed message is held and waits for `missing`. May be NULL. */
	void (*waits)(void *context, const struct dpe_message *message, const char *missing);
	/* Where the order of events comes from, beside their threads: event number `from` precedes
	 * `to` as an explicit predecessor (DPE_NO_RULE), or as a send paired by a synchronisation
	 * rule. Called before the first event that follows by the edge: `to`, or a later one where
	 * the edge enters after it. May be NULL; events with roles whose edges are reported are slower. */
	void (*edge)(void *context, uint64_t from, uint64_t to, unsigned rule);
};
#define DPE_NO_RULE UINT32_MAX

/* ---- synchronisation --------------------------------------------------------------------- */

enum dpe_sync_pairing {
	DPE_SYNC_FIFO, /* a receive pairs with the earliest unpaired send before it */
	DPE_SYNC_LAST, /* with the latest send before it */
	DPE_SYNC_ALL,  /* with all sends before it */
	DPE_SYNC_ONCE, /* each value is sent once; the receive waits for its send */
	/* With all sends before it of its own round or an earlier one. Rounds of receives increase
	 * with time by at most one between receives, or start again. */
	DPE_SYNC_ROUNDS,
};

/* The role of a message in a synchronisation rule. Sends and receives pair where rule and keys are
 * equal. "Before" means by time under one host's clock (not in an `ordered` input), else by
 * arrival; a send that waits for the receive is not before it. Where a message says what it follows,
 * by predecessors or numbers, arrival means nothing: a FIFO receive then waits for the next send that
 * is released, and pairings that depend on arrival are reported as unsure.
 *
 * The edge enters where the receive completes: at an .exit itself, else right after the message,
 * that is at the thread's next message and messages that name this one as a predecessor. */
struct dpe_role {
	unsigned rule; /* index into the pairings given to dpe_stabilizer_new */
	bool send;     /* else a receive */
	bool ends;     /* a receive of DPE_SYNC_LAST after which no other one is about the same object */
	unsigned nkeys;
	const struct dpe_value *keys; /* copied */
	/* For DPE_SYNC_ROUNDS. INT64_MIN for a send, INT64_MAX for a receive of any round. */
	int64_t round;
};

struct dpe_stabilizer_options {
	const enum dpe_sync_pairing *pairings; /* one for each synchronisation rule; copied */
	unsigned npairings;
	const bool *unreported; /* by pairing: the sink's `edge` is not called for its edges; NULL: for none; copied */
	const bool *ends; /* by pairing: dpe_stabilizer_end_object is called for its objects; NULL: for none; copied */
	/* The rules of DPE_SYNC_ONCE whose only key is the id of the thread that receives, as for a thread's
	 * start: what was sent is forgotten when that thread has ended. Copied. */
	const unsigned *for_thread;
	unsigned nfor_thread;
	/* The name of each thread's last event; 0: none. A later thread with the same id is
	 * another, whose numbers may continue or begin again from 0. */
	dpe_name ends_thread;
	/* The name of the first event of a thread that was already running; 0: none. What released
	 * it is unknown, so it follows all events released by then. */
	dpe_name finds_thread;
	/* The input is in causal order, as the header of a recorded log says: messages are not held
	 * for their times, and messages missing from a thread's numbers are lost. */
	bool ordered;
	/* The `added` edges of events are not used: they may be missing, and the messages of sends
	 * need not be kept for them. */
	bool edges_unused;
	const struct dpe_debug *debug;
};

struct dpe_stabilizer *dpe_stabilizer_new(const struct dpe_names *names,
	const struct dpe_stabilizer_options *options, const struct dpe_stabilizer_sink *sink);
void dpe_stabilizer_free(struct dpe_stabilizer *stabilizer); /* accepts NULL; releases nothing */
/* The number of the first event that may follow a loss of the thread that no gap shows: the one after its last
 * event, released or to come, or after the last one before a message without a number; of all hosts' threads
 * with this id the lowest. 0: any. */
uint64_t dpe_stabilizer_since(const struct dpe_stabilizer *stabilizer, struct dpe_value thread);
/* True if no message of a thread came without a number. */
bool dpe_stabilizer_numbered(const struct dpe_stabilizer *stabilizer);
/* False if an earlier message of the thread, by number, has not come yet. */
bool dpe_stabilizer_is_next(struct dpe_stabilizer *stabilizer, const struct dpe_message *message);
/* True if the message would pair with nothing as a receive of the rule: its arrival decides, and
 * no send has come that it could be paired with. */
bool dpe_stabilizer_pairs_nothing(const struct dpe_stabilizer *stabilizer,
	const struct dpe_message *message, unsigned rule);
/* The object with the role's rule and keys ends at a released event, which has no role with them itself:
 * sends that precede the event are forgotten. A receive that follows it loses nothing. */
void dpe_stabilizer_end_object(
	struct dpe_stabilizer *stabilizer, const struct dpe_role *object, const struct dpe_stamp *end);
/* For `nroles`: the roles depend on earlier messages of the thread. Only if the message is not the next one of
 * its thread. */
#define DPE_ROLES_AT_TURN UINT_MAX
/* Within the sink's `turn`: the roles of the message. */
void dpe_stabilizer_assign(
	struct dpe_stabilizer *stabilizer, const struct dpe_role *roles, unsigned nroles);
/* Takes over the caller's reference. Calls the sink for all events that become ready. False, after
 * a diagnostic, for a duplicate of a message's id or number in its thread, which is dropped.
 *
 * Predecessors name ids of the same log. A message without an id is named by its place. A released
 * message with a `seq` that nobody can name is not remembered. */
bool dpe_stabilizer_push(struct dpe_stabilizer *stabilizer, struct dpe_message *message,
	const struct dpe_role *roles, unsigned nroles, struct dpe_diags *diags);
/* The same for a message without roles whose event the caller takes in place of the sink: the event, which is the
 * stabilizer's until dpe_stabilizer_passed. NULL, with nothing done, where it takes more than the fast path. */
struct dpe_thread;
struct dpe_thread *dpe_stabilizer_next(
	const struct dpe_stabilizer *stabilizer, struct dpe_message *message, struct dpe_event *event);
/* The event was taken; takes over the reference of its message. */
void dpe_stabilizer_passed(struct dpe_stabilizer *stabilizer, struct dpe_thread *thread, const struct dpe_event *event);
/* dpe_stabilizer_push for a message whose event the sink does not need. False, with nothing done, where it takes more than the
 * fast path: it has to be pushed. */
bool dpe_stabilizer_count(struct dpe_stabilizer *stabilizer, struct dpe_message *message,
	const struct dpe_role *roles, unsigned nroles);
/* The same for the first of these messages, as far as they have names from `from` on, none of which has a role, and no
 * time, unless `timed`. Returns how many were taken. */
unsigned dpe_stabilizer_count_some(struct dpe_stabilizer *stabilizer, struct dpe_message *const *messages,
	unsigned max, dpe_name from, bool timed);
/* No message to come names one of this log by its place. */
void dpe_stabilizer_forget_places(struct dpe_stabilizer *stabilizer, uint32_t log);
/* No more messages of `host` (as in messages) with a time before `time` will come. A late one is
 * taken with a warning. */
void dpe_stabilizer_watermark(
	struct dpe_stabilizer *stabilizer, struct dpe_value host, uint64_t time);
/* The end of the input: reports what held messages wait for, and releases everything. */
void dpe_stabilizer_finish(struct dpe_stabilizer *stabilizer);

#endif
