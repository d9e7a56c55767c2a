/* The stages of a message, as their files call each other. Private to the stabilizer. */
#ifndef DPE_STABILIZER_STAGES_H
#define DPE_STABILIZER_STAGES_H

#include "stabilizer/nodes.h"

/* Number of events in the chain. */
static inline uint32_t dpe_chain_last(const struct dpe_chain_end *end)
{
	if (end->tail)
		return end->tail->stamp.index;
	return end->ended ? end->exported : 0;
}

/* Whether the values are equal, or both are DPE_NONE. */
static inline bool dpe_value_same(struct dpe_value a, struct dpe_value b)
{
	return a.kind == DPE_NONE || b.kind == DPE_NONE ? a.kind == b.kind : dpe_value_equal(a, b);
}

static inline uint64_t dpe_value_hash_any(struct dpe_value value)
{
	return value.kind == DPE_NONE ? 0 : dpe_value_hash(value);
}

/* The slot of a thread in the cache. */
static inline unsigned dpe_recent_slot(struct dpe_value id)
{
	return (unsigned)((uint64_t)id.num * 0x9e3779b97f4a7c15ull >> (64 - DPE_RECENT_BITS));
}

/* The past of the node's successors, without the edges in node->edges. */
static inline const struct dpe_clock *dpe_node_past(const struct dpe_message_node *node)
{
	return node->entered && !node->nedges ? node->entered : node->stamp.past;
}

/* True if the message itself says what it follows, so its arrival means nothing. */
static inline bool dpe_is_stated(
	const struct dpe_stabilizer *stabilizer, const struct dpe_message *message)
{
	return (message->has_seq | (message->thread.kind == DPE_NONE)) & !message->has_time &
	       !stabilizer->ordered;
}

/* ---- message_nodes.c ----------------------------------------------------------------------- */

/* With one reference; takes over the message's. */
struct dpe_message_node *dpe_node_new(struct dpe_stabilizer *stabilizer, struct dpe_message *message);
struct dpe_message_node *dpe_node_ref(struct dpe_message_node *node);
void dpe_node_unref(struct dpe_message_node *node); /* accepts NULL */
/* Keeps the message of a send for pairings beyond completion. */
void dpe_node_use(struct dpe_message_node *node);
void dpe_node_unuse(struct dpe_message_node *node); /* also drops a reference */
/* A complete message is needed only while a pairing may name it, or ask for its time. */
void dpe_node_drop_message(struct dpe_message_node *node, bool unnamed);
static inline bool dpe_node_released(const struct dpe_message_node *node)
{
	return node->stamp.index != 0;
}
static inline bool dpe_node_is_entangled(const struct dpe_message_node *node)
{
	return node->message->npreds || node->host;
}

/* ---- holding.c ----------------------------------------------------------------------------- */

struct dpe_message_node *dpe_hold_new(struct dpe_stabilizer *stabilizer, struct dpe_message *message);
/* Ends the hold; its waiters are dropped. */
void dpe_hold_end(struct dpe_stabilizer *stabilizer, struct dpe_message_node *node);
/* Removes one reason to wait. */
void dpe_hold_drop(struct dpe_stabilizer *stabilizer, struct dpe_message_node *node);
/* Adds a need for a node, met where that is complete; `known` is its name, if any. Returns the
 * index. A DPE_NEED_ANY_SEND has no node yet. */
unsigned dpe_hold_need(
	struct dpe_stabilizer *stabilizer, struct dpe_message_node *node, const struct dpe_need *need);
/* Ends a need; no effect where it was met. */
void dpe_hold_meet(struct dpe_stabilizer *stabilizer, struct dpe_message_node *node, unsigned need);
void dpe_hold_await(struct dpe_waiters *waiters, struct dpe_message_node *node, unsigned need);
void dpe_waiters_free(struct dpe_waiters *waiters);
/* After the end of the input: it waits for messages that never came. */
void dpe_hold_stuck(struct dpe_stabilizer *stabilizer, struct dpe_message_node *node);

/* ---- known_messages.c ---------------------------------------------------------------------- */

/* The name of an id in a log, or NULL. */
struct dpe_known *dpe_known_find(
	const struct dpe_stabilizer *stabilizer, uint32_t log, struct dpe_value id);
/* From now on the message can be named as a predecessor, if it has a name. */
void dpe_known_add(struct dpe_stabilizer *stabilizer, struct dpe_message_node *node);
void dpe_known_free(struct dpe_known *known);
/* Adds needs for explicit predecessors. */
void dpe_hold_preds(struct dpe_stabilizer *stabilizer, struct dpe_message_node *node);

/* ---- thread_table.c ------------------------------------------------------------------------ */

/* The cached thread of a message, or NULL. */
static inline struct dpe_thread *dpe_thread_recent(
	const struct dpe_stabilizer *stabilizer, const struct dpe_message *message)
{
	struct dpe_thread *thread = stabilizer->recent[dpe_recent_slot(message->thread)];

	return thread && thread->id.num == message->thread.num &&
			       thread->id.kind == message->thread.kind &&
			       (dpe_message_is_plain(message) || message->host.kind == DPE_NONE)
		       ? thread
		       : NULL;
}
/* The thread of a message, created when new; NULL: it has none. */
struct dpe_thread *dpe_thread_of(
	struct dpe_stabilizer *stabilizer, const struct dpe_message *message);
void dpe_thread_free(struct dpe_thread *thread);
/* Frees a thread without pending messages, where a table entry can represent it. */
void dpe_thread_retire(struct dpe_stabilizer *stabilizer, struct dpe_thread *thread);
/* As dpe_stabilizer_since, of one thread. */
uint64_t dpe_thread_since(const struct dpe_stabilizer *stabilizer, const struct dpe_thread *thread);

/* ---- program_order.c ----------------------------------------------------------------------- */

/* True if the number has come before, or was given up. */
bool dpe_thread_passed(
	const struct dpe_stabilizer *stabilizer, const struct dpe_thread *thread, uint64_t seq);
/* Prepares an ended thread for another one with the same id, which may number its messages from 0 again. */
void dpe_thread_restart_numbers(struct dpe_thread *thread, const struct dpe_message *message);
/* True if the message is the next one of its thread. */
bool dpe_thread_is_next(const struct dpe_thread *thread, const struct dpe_message *message);
/* Puts the message in program order. */
void dpe_thread_join(
	struct dpe_stabilizer *stabilizer, struct dpe_thread *thread, struct dpe_message_node *node);
/* Gives up all missing numbers before this one: reports the loss, and lets later messages proceed. */
void dpe_thread_close(struct dpe_stabilizer *stabilizer, struct dpe_thread *thread, uint64_t seq);

struct dpe_host *dpe_host_of(struct dpe_stabilizer *stabilizer, struct dpe_value id);
/* Puts a message before its host's gate. */
void dpe_gate_enter(struct dpe_stabilizer *stabilizer, struct dpe_message_node *node);
/* Opens the gate for the messages that may pass. */
void dpe_gate_open(struct dpe_stabilizer *stabilizer, struct dpe_host *host);
/* Lets a message through early. */
void dpe_gate_force(struct dpe_stabilizer *stabilizer, struct dpe_message_node *node);
/* The message was released. */
void dpe_gate_leave(struct dpe_stabilizer *stabilizer, struct dpe_message_node *node);

/* ---- ended_threads.c ----------------------------------------------------------------------- */

/* Whether a table entry can represent the thread. Threads with a host are few, and are kept. */
bool dpe_retired_takes(const struct dpe_thread *thread);
void dpe_retired_add(struct dpe_retired *retired, const struct dpe_thread *thread, uint64_t since);
/* Restores a new thread from the entry of the one that had its id, if there is one. */
void dpe_retired_restore(struct dpe_retired *retired, struct dpe_thread *thread);
/* dpe_stabilizer_since for an ended thread; UINT64_MAX: the thread is not known. */
uint64_t dpe_retired_since(const struct dpe_retired *retired, struct dpe_value id);
void dpe_retired_free(struct dpe_retired *retired);

/* ---- stamps.c ------------------------------------------------------------------------------ */

/* Gives a node that is released its stamp, and collects its edges. */
void dpe_node_stamp(struct dpe_stabilizer *stabilizer, struct dpe_message_node *node);
/* Adds the sends of a node that was released before they were complete. */
void dpe_node_stamp_sends(struct dpe_stabilizer *stabilizer, struct dpe_message_node *node);
/* The released node becomes the end of its chain. */
void dpe_node_end_chain(struct dpe_stabilizer *stabilizer, struct dpe_message_node *node);

/* ---- fast_path.c --------------------------------------------------------------------------- */

/* Releases the message if nothing is held, and only its thread's last node and the only send of a queue have to
 * change. False if nothing was done. */
bool dpe_fast_push(struct dpe_stabilizer *stabilizer, struct dpe_thread *thread,
	struct dpe_message *message, const struct dpe_role *roles, unsigned nroles);
/* A message of the thread is complete: the next one may take the fast path, if nothing else refers to the last. */
void dpe_fast_push_next(const struct dpe_stabilizer *stabilizer, struct dpe_thread *thread);

/* ---- sync.c, sync_pair.c, sync_queue.c, sync_prune.c ---------------------------------------- */

/* Notes the roles of the message. */
void dpe_sync_enter(struct dpe_stabilizer *stabilizer, struct dpe_message_node *node,
	const struct dpe_role *roles, unsigned nroles);
/* The host's time has reached the message. */
void dpe_sync_open(const struct dpe_stabilizer *stabilizer, struct dpe_message_node *node);
/* The message was released: its sends can be received. */
void dpe_sync_released(struct dpe_stabilizer *stabilizer, struct dpe_message_node *node);
/* Pairs the receives of a message that waits for nothing else, and adds needs for their sends. */
void dpe_sync_pair(struct dpe_stabilizer *stabilizer, struct dpe_message_node *node);
/* The only send of a queue, where a receive would leave it there and another send would replace it,
 * as with a lock. NULL: otherwise. */
struct dpe_message_node **dpe_queue_only_send(struct dpe_stabilizer *stabilizer, const struct dpe_role *role);
/* Calls for each send that a receive may still be paired with, and for the pasts that replace sends. */
void dpe_sync_each_send(const struct dpe_stabilizer *stabilizer,
	void (*each)(void *context, const struct dpe_message_node *send),
	void (*each_folded)(void *context, const struct dpe_clock *folded), void *context);
/* The thread's last event: forgets what was sent to this thread only. */
void dpe_sync_thread_ended(struct dpe_stabilizer *stabilizer, const struct dpe_message_node *last);
void dpe_sync_free(struct dpe_stabilizer *stabilizer);

/* ---- waits_for.c --------------------------------------------------------------------------- */

/* True if the node cannot complete before the other one. */
bool dpe_waits_for(
	struct dpe_stabilizer *stabilizer, struct dpe_message_node *node, const struct dpe_message_node *other);

/* ---- stuck_messages.c ---------------------------------------------------------------------- */

/* After the end of the input: finds what waits for messages that never came. */
void dpe_stuck_collect(struct dpe_stabilizer *stabilizer);
/* Reports to sink.waits what the node waits for. */
void dpe_stuck_report(struct dpe_stabilizer *stabilizer, const struct dpe_message_node *node);
/* Nothing is ready: releases the first stuck message from its need. */
void dpe_stuck_give_up(struct dpe_stabilizer *stabilizer);

#endif
