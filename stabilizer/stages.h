/* The stages of a message, as they call each other, by file. Private to the stabilizer. */
#ifndef DPE_STABILIZER_STAGES_H
#define DPE_STABILIZER_STAGES_H

#include "stabilizer/nodes.h"

/* How far the chain goes; 0: it is empty. */
static inline uint32_t dpe_chain_last(const struct dpe_chain_end *end)
{
	if (end->tail)
		return end->tail->stamp.index;
	return end->ended ? end->told : 0;
}

/* Where the thread stands among the recent ones. */
static inline unsigned dpe_recent_slot(struct dpe_value id)
{
	return (unsigned)((uint64_t)id.num * 0x9e3779b97f4a7c15ull >> 56);
}

_Static_assert(DPE_RECENT == 256, "eight bits tell the place");

/* What the past of whatever follows the node begins with; node->edges are not in it yet. */
static inline const struct dpe_clock *dpe_node_past(const struct dpe_node *node)
{
	return node->entered && !node->nedges ? node->entered : node->stamp.past;
}

/* With one reference; takes over that of the message. */
struct dpe_node *dpe_node_new(struct dpe_stabilizer *stabilizer, struct dpe_message *message);
struct dpe_node *dpe_node_ref(struct dpe_node *node);
void dpe_node_unref(struct dpe_node *node); /* accepts NULL */
/* Pairings that need the message of a send after it is complete. */
void dpe_node_use(struct dpe_node *node);
void dpe_node_unuse(struct dpe_node *node); /* with its reference */
static inline bool dpe_node_released(const struct dpe_node *node)
{
	return node->stamp.index != 0;
}

/* ---- holding.c ----------------------------------------------------------------------------- */

struct dpe_node *dpe_hold_new(struct dpe_stabilizer *stabilizer, struct dpe_message *message);
/* Ends the hold: unlinked, emptied, its waiters forgotten. */
void dpe_hold_end(struct dpe_stabilizer *stabilizer, struct dpe_node *node);
/* One reason less to wait. */
void dpe_hold_drop(struct dpe_stabilizer *stabilizer, struct dpe_node *node);
/* A need on a node (with its known name, where it has one), met if that is complete. Returns its
 * index. A DPE_NEED_ANY_SEND has no node yet. */
unsigned dpe_hold_need(
	struct dpe_stabilizer *stabilizer, struct dpe_node *node, const struct dpe_need *need);
/* Ends a need for whatever reason; nothing where it was met before. */
void dpe_hold_meet(struct dpe_stabilizer *stabilizer, struct dpe_node *node, unsigned need);
void dpe_hold_await(struct dpe_waiters *waiters, struct dpe_node *node, unsigned need);
void dpe_waiters_free(struct dpe_waiters *waiters);

/* The known name of an id in a log, or NULL. */
struct dpe_known *dpe_known_find(
	const struct dpe_stabilizer *stabilizer, uint32_t log, struct dpe_value id);
/* The message can now be named as a predecessor, if it can be named at all. */
void dpe_known_add(struct dpe_stabilizer *stabilizer, struct dpe_node *node);
/* Explicit predecessors. */
void dpe_hold_preds(struct dpe_stabilizer *stabilizer, struct dpe_node *node);

/* ---- program_order.c ----------------------------------------------------------------------- */

bool dpe_value_same(struct dpe_value a, struct dpe_value b); /* also where both are not there */

/* The thread of a message, where it came up lately and is known without a look at its text; or NULL. */
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
/* The thread of a message, made when new; NULL where it has none. */
struct dpe_thread *dpe_thread_of(
	struct dpe_stabilizer *stabilizer, const struct dpe_message *message);
void dpe_thread_free(struct dpe_thread *thread);
/* The same, and nobody finds it any more. */
void dpe_thread_remove(struct dpe_stabilizer *stabilizer, struct dpe_thread *thread);
/* True where the number was there before, or can no longer come. */
bool dpe_thread_passed(
	const struct dpe_stabilizer *stabilizer, const struct dpe_thread *thread, uint64_t seq);
/* Program order. */
void dpe_thread_join(
	struct dpe_stabilizer *stabilizer, struct dpe_thread *thread, struct dpe_node *node);
/* The message is complete. */
void dpe_thread_leave(struct dpe_node *node);
/* All numbers before this one came or are lost: says so, and lets what follows go on. */
void dpe_thread_close(struct dpe_stabilizer *stabilizer, struct dpe_thread *thread, uint64_t seq);

struct dpe_host *dpe_host_of(struct dpe_stabilizer *stabilizer, struct dpe_value id);
/* Puts a gated message before its host's gate. */
void dpe_gate_enter(struct dpe_stabilizer *stabilizer, struct dpe_node *node);
/* Lets through what may pass. */
void dpe_gate_open(struct dpe_stabilizer *stabilizer, struct dpe_host *host);
/* Lets one through out of turn. */
void dpe_gate_force(struct dpe_stabilizer *stabilizer, struct dpe_node *node);
/* The message has been released. */
void dpe_gate_leave(struct dpe_stabilizer *stabilizer, struct dpe_node *node);

/* ---- ended_threads.c ----------------------------------------------------------------------- */

/* Nothing of the thread is on its way: it is freed, if so little of it is worth remembering. */
void dpe_thread_retire(struct dpe_stabilizer *stabilizer, struct dpe_thread *thread);
/* Gives a new thread what is remembered of the last one with its id. */
void dpe_thread_revive(struct dpe_stabilizer *stabilizer, struct dpe_thread *thread);
/* Where what follows the last event of a thread that is over begins; 0: no such thread. */
uint64_t dpe_retired_since(const struct dpe_retired *retired, struct dpe_value id);
void dpe_retired_free(struct dpe_retired *retired);

/* ---- fast_path.c --------------------------------------------------------------------------- */

/* Lets a message of a thread through, if it leaves at once, its node stays the thread's and no edge is
 * to be told: then nothing has to be counted but the event. False where nothing was done. */
bool dpe_fast_path_plain(struct dpe_stabilizer *stabilizer, struct dpe_thread *thread,
	struct dpe_message *message);
/* The same for one with a part in synchronisations. */
bool dpe_fast_path_sync(struct dpe_stabilizer *stabilizer, struct dpe_thread *thread,
	struct dpe_message *message, const struct dpe_role *role);
/* Lets a message through, if it can leave at once; false where nothing was done. The thread may be
 * NULL. */
bool dpe_fast_path_any(struct dpe_stabilizer *stabilizer, struct dpe_thread *thread,
	struct dpe_message *message, const struct dpe_role *roles, unsigned nroles);

/* ---- edges.c ------------------------------------------------------------------------------- */

/* Edges are collected in stabilizer->edges: first none, … */
void dpe_edges_begin(struct dpe_stabilizer *stabilizer);
/* … then those that enter right after a node, … */
void dpe_edges_add(struct dpe_stabilizer *stabilizer, const struct dpe_node *node);
/* … or that a send makes, which was released. */
void dpe_edges_add_send(struct dpe_stabilizer *stabilizer, const struct dpe_node *send);
/* Takes them into stabilizer->past; those stay that told something new, the earlier first. */
void dpe_edges_reduce(struct dpe_stabilizer *stabilizer);
/* What stayed, as the event tells it. */
void dpe_edges_report(struct dpe_stabilizer *stabilizer, struct dpe_event *event);
/* Gives them to a node, right after which they enter, instead. */
void dpe_edges_defer(struct dpe_stabilizer *stabilizer, struct dpe_node *node);
void dpe_edges_free(struct dpe_node *node);

/* ---- sync*.c ------------------------------------------------------------------------------- */

/* Notes what the message is to the synchronisation rules. */
void dpe_sync_enter(struct dpe_stabilizer *stabilizer, struct dpe_node *node,
	const struct dpe_role *roles, unsigned nroles);
/* Its host's time has reached the message. */
void dpe_sync_open(struct dpe_node *node);
/* Nothing but its sends keeps the message: finds them, and adds needs for them. */
void dpe_sync_pair(struct dpe_stabilizer *stabilizer, struct dpe_node *node);
/* Where a receive stands when nothing is held: the sends that it gets. */
struct dpe_pairing {
	struct dpe_queue *queue; /* NULL: nothing was sent */
	struct dpe_node *const *sends;
	unsigned nsends;
};

/* False where the receive has to wait, or it takes more to find out. Changes nothing. */
bool dpe_sync_pair_now(struct dpe_stabilizer *stabilizer, const struct dpe_role *role,
	struct dpe_pairing *meeting);
/* The receive has left. */
void dpe_sync_paired(struct dpe_stabilizer *stabilizer, const struct dpe_pairing *meeting);
/* A send that nobody waits for has left. */
void dpe_sync_add(
	struct dpe_stabilizer *stabilizer, const struct dpe_role *role, struct dpe_node *node);
/* The one send that is there to be received, where a receive that comes now gets it and it stays, and
 * a send that comes now takes its place; as of a lock, most of the time. NULL: it takes more. */
struct dpe_node **dpe_sync_only_send(struct dpe_stabilizer *stabilizer, const struct dpe_role *role);
/* Each send that a receive may still be paired with. */
void dpe_sync_each_send(const struct dpe_stabilizer *stabilizer,
	void (*each)(void *context, const struct dpe_node *send), void *context);
/* "its send (synchronisation 0, 0x55)" */
void dpe_queue_print(struct dpe_text *to, const struct dpe_queue *queue);
void dpe_sync_free(struct dpe_stabilizer *stabilizer);

/* ---- stuck_messages.c ---------------------------------------------------------------------- */

/* True where the node cannot be complete before the other one is. */
bool dpe_waits_for(
	struct dpe_stabilizer *stabilizer, struct dpe_node *node, const struct dpe_node *other);
/* The input has ended: notes what waits for what never came. */
void dpe_stuck_collect(struct dpe_stabilizer *stabilizer);
void dpe_stuck_add(struct dpe_stabilizer *stabilizer, struct dpe_node *node);
/* Tells sink.waits what a node that is not released waits for. */
void dpe_stuck_report(struct dpe_stabilizer *stabilizer, const struct dpe_node *node);
/* Nothing is ready: lets the first that is stuck go on without. */
void dpe_stuck_relieve(struct dpe_stabilizer *stabilizer);

/* ---- stabilizer.c -------------------------------------------------------------------------- */

/* So many messages of the node's thread are lost before it. */
void dpe_report_lost(struct dpe_stabilizer *stabilizer, const struct dpe_node *after, uint64_t count);

#endif
