/* The fast path: a message that waits for nothing, and that nothing can wait for or name later, is
 * released as it comes; its thread's last node is reused, so nothing is allocated.
 * fast_path_applies says when. tests/stabilizer/test_fast_path.c compares it with the general path,
 * message by message. */
#include "stabilizer/edges.h"

static inline bool is_plain(const struct dpe_stabilizer *stabilizer, const struct dpe_thread *thread,
	const struct dpe_message *message)
{
	if (!dpe_message_is_plain(message) && (message->npreds || message->id.kind != DPE_NONE))
		return false;
	if ((message->place && !message->unreferenced) || (!message->has_seq && !thread->unnumbered))
		return false;
	if (message->has_time && !stabilizer->ordered)
		return false;
	return message->name != stabilizer->ends_thread &&
	       message->name != stabilizer->finds_thread;
}

/* The thread's last node, where it is complete and ends its chain; or NULL. */
static struct dpe_message_node *find_tail(
	const struct dpe_stabilizer *stabilizer, const struct dpe_thread *thread)
{
	struct dpe_message_node *tail = thread->tail;

	if (!tail || tail->hold || thread->chain == DPE_NO_CHAIN ||
		stabilizer->chains[thread->chain].tail != tail ||
		tail->stamp.index >= stabilizer->chain_max)
		return NULL;
	return tail;
}

/* Only its thread and its chain refer to it, so that it can be reused. */
static bool is_unshared(const struct dpe_message_node *node)
{
	return node->refs == 2 && !node->known;
}

/* The stamp of the event after `tail`; an .exit of a receive follows its sends, too. */
static void stamp(struct dpe_stabilizer *stabilizer, const struct dpe_message_node *tail,
	const struct dpe_paired_sends *meeting, struct dpe_event *event)
{
	unsigned nsends = event->message->phase == DPE_EXIT ? meeting->nsends : 0;

	event->stamp = tail->stamp;
	event->stamp.past = dpe_node_past(tail);
	event->stamp.index++;
	event->stamp.exported = stabilizer->chains[tail->stamp.chain].exported;
	if (!tail->nedges && !nsends) {
		dpe_stamp_ref(&event->stamp);
		return;
	}
	dpe_edges_begin(stabilizer);
	if (tail->nedges && tail->entered && !nsends) {
		dpe_edges_add(stabilizer, tail);
		event->stamp.past = tail->entered;
		dpe_stamp_ref(&event->stamp);
		dpe_edges_report(stabilizer, event);
		return;
	}
	dpe_past_start(&stabilizer->past, event->stamp.past, tail->stamp.chain, dpe_node_past_since(tail));
	dpe_edges_add(stabilizer, tail);
	for (unsigned i = 0; i < nsends; i++)
		dpe_edges_add_send(stabilizer, meeting->sends[i]);
	dpe_edges_reduce(stabilizer);
	event->stamp.past = dpe_past_take(&stabilizer->past);
	dpe_edges_report(stabilizer, event);
}

/* The node of the event, the new end of its thread and its chain. */
static struct dpe_message_node *follow(struct dpe_stabilizer *stabilizer, struct dpe_thread *thread,
	struct dpe_message_node *tail, const struct dpe_event *event)
{
	uint32_t since = dpe_since_after(tail, &event->stamp);
	struct dpe_message_node *node = tail;

	if (is_unshared(tail)) {
		dpe_edges_free(node);
		dpe_stamp_unref(&node->stamp);
		node->arrival = stabilizer->arrivals++;
	} else {
		node = dpe_node_new(stabilizer, NULL);
		dpe_node_unref(thread->tail);
		dpe_node_unref(stabilizer->chains[thread->chain].tail);
		thread->tail = node;
		stabilizer->chains[thread->chain].tail = dpe_node_ref(node);
	}
	node->stamp = event->stamp;
	node->since = since;
	node->number = event->number;
	return node;
}

/* Positions and closed numbers are kept only for held messages, and there are none. */
static inline void count_turn(struct dpe_thread *thread, const struct dpe_message *message)
{
	thread->has_time = message->has_time;
	thread->time = message->time;
	if (message->has_seq)
		thread->next = message->seq + 1;
}

/* only after the sink saw the event: it may look at the state before it */
static void synchronise(struct dpe_stabilizer *stabilizer, struct dpe_message_node *node,
	struct dpe_message *message, const struct dpe_role *role,
	const struct dpe_paired_sends *meeting)
{
	if (role->send) {
		if (!stabilizer->edges_unused)
			node->message = dpe_message_ref(message);
		stabilizer->chains[node->stamp.chain].exported = node->stamp.index;
		dpe_sync_add(stabilizer, role, node);
		return;
	}
	if (message->phase != DPE_EXIT) {
		dpe_edges_begin(stabilizer);
		for (unsigned i = 0; i < meeting->nsends; i++)
			dpe_edges_add_send(stabilizer, meeting->sends[i]);
		dpe_edges_defer(stabilizer, node);
	}
	dpe_sync_paired(stabilizer, meeting);
}

/* ---- quickly ----------------------------------------------------------------------------- */

/* Whether the thread's next message may take the fast path. */
static bool can_continue_fast(const struct dpe_message_node *node)
{
	return !node->nedges && is_unshared(node);
}

/* Replaces the send in the queue by the event's. The thread keeps its own node; the old send's node
 * is reused if it is unshared. */
static void replace_send(
	struct dpe_stabilizer *stabilizer, struct dpe_message_node **place, const struct dpe_message_node *node)
{
	struct dpe_message_node *send = *place;
	uint64_t arrival = stabilizer->arrivals - 1; /* of the event */

	if (send->refs != 1 || send->known) {
		dpe_node_unuse(send);
		send = *place = dpe_node_new(stabilizer, NULL);
		stabilizer->arrivals--; /* the event, which has taken it already */
		send->uses = 1;
	} else {
		dpe_message_unref(send->message);
		send->message = NULL;
		dpe_edges_free(send);
		dpe_stamp_unref(&send->stamp);
	}
	send->stamp = node->stamp;
	dpe_stamp_ref(&send->stamp);
	send->arrival = arrival;
	send->number = node->number;
}

/* The predicate of the fast path; with a role, dpe_sync_only_send has to agree. */
static inline bool fast_path_applies(const struct dpe_stabilizer *stabilizer,
	const struct dpe_thread *thread, const struct dpe_message *message)
{
	const struct dpe_message_node *node = thread->fast_tail;

	return node && !stabilizer->first && node->stamp.index < stabilizer->chain_max &&
	       is_plain(stabilizer, thread, message) &&
	       (!message->has_seq ||
		       (message->seq == thread->next && message->seq != UINT64_MAX));
}

/* The successors of the node follow the send, too. */
static inline void receive(
	struct dpe_stabilizer *stabilizer, struct dpe_message_node *node, const struct dpe_message_node *send)
{
	const struct dpe_clock *past = dpe_clock_follow(stabilizer->pool, dpe_node_past(node),
		node->stamp.chain, dpe_node_past_since(node), &send->stamp);

	dpe_clock_unref(node->entered);
	node->entered = past;
}

/* Releases the successor of the node, which becomes the successor's. */
static inline __attribute__((always_inline)) void release_next(
	struct dpe_stabilizer *stabilizer, struct dpe_message_node *node, struct dpe_message *message)
{
	const struct dpe_clock *entered = node->entered; /* no edges beside it */
	const struct dpe_event event = {
		.message = message,
		.number = stabilizer->released++,
		.stamp = {
			.chain = node->stamp.chain,
			.index = node->stamp.index + 1,
			.exported = stabilizer->chains[node->stamp.chain].exported,
			.past = entered ? entered : node->stamp.past,
		},
		.doubtful = stabilizer->doubt,
	};

	stabilizer->sink.event(stabilizer->sink.context, &event);
	if (entered) {
		node->since = dpe_since_after(node, &event.stamp);
		dpe_clock_unref(node->stamp.past);
		node->stamp.past = entered;
		node->entered = NULL;
	}
	node->stamp.index = event.stamp.index;
	node->stamp.exported = event.stamp.exported;
	node->number = event.number;
	stabilizer->arrivals++; /* arrivals matter only for sends */
}

/* A message with one role: either it receives the only send of a queue, or replaces it. */
static inline __attribute__((always_inline)) void synchronise_fast(
	struct dpe_stabilizer *stabilizer, struct dpe_message_node *node, struct dpe_message *message,
	bool is_send, struct dpe_message_node **send)
{
	bool completes_now = !is_send && message->phase == DPE_EXIT;

	if (completes_now)
		receive(stabilizer, node, *send);
	release_next(stabilizer, node, message);
	if (is_send) {
		stabilizer->chains[node->stamp.chain].exported = node->stamp.index;
		replace_send(stabilizer, send, node);
	} else if (!completes_now) {
		receive(stabilizer, node, *send);
	}
}

bool dpe_fast_path_plain(struct dpe_stabilizer *stabilizer, struct dpe_thread *thread,
	struct dpe_message *message)
{
	if (!fast_path_applies(stabilizer, thread, message))
		return false;
	release_next(stabilizer, thread->fast_tail, message);
	count_turn(thread, message);
	dpe_message_unref(message);
	return true;
}

bool dpe_fast_path_sync(struct dpe_stabilizer *stabilizer, struct dpe_thread *thread,
	struct dpe_message *message, const struct dpe_role *role)
{
	struct dpe_message_node **send;

	if (!stabilizer->edges_unused || stabilizer->reports[role->rule] || dpe_is_stated(stabilizer, message) ||
		!fast_path_applies(stabilizer, thread, message))
		return false;
	send = dpe_sync_only_send(stabilizer, role);
	if (!send)
		return false;
	synchronise_fast(stabilizer, thread->fast_tail, message, role->send, send);
	count_turn(thread, message);
	dpe_message_unref(message);
	return true;
}

bool dpe_fast_path_any(struct dpe_stabilizer *stabilizer, struct dpe_thread *thread,
	struct dpe_message *message, const struct dpe_role *roles, unsigned nroles)
{
	struct dpe_event event = {.message = message, .doubtful = stabilizer->doubt};
	struct dpe_paired_sends meeting = {0};
	struct dpe_message_node *tail, *node;

	if (stabilizer->first || !thread || nroles > 1 || (nroles && stabilizer->reports[roles->rule]) ||
		stabilizer->ready.count || !is_plain(stabilizer, thread, message) ||
		!dpe_thread_is_next(thread, message) ||
		(nroles && dpe_is_stated(stabilizer, message)))
		return false;
	tail = find_tail(stabilizer, thread);
	if (!tail || (nroles && !roles->send && !dpe_sync_pair_now(stabilizer, roles, &meeting)))
		return false;
	event.number = stabilizer->released++;
	stamp(stabilizer, tail, &meeting, &event);
	stabilizer->sink.event(stabilizer->sink.context, &event);
	node = follow(stabilizer, thread, tail, &event);
	count_turn(thread, message);
	if (nroles)
		synchronise(stabilizer, node, message, roles, &meeting);
	thread->fast_tail = can_continue_fast(node) ? node : NULL;
	dpe_message_unref(message);
	return true;
}
