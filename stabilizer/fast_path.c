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
	if ((!message->unreferenced && message->place) || (!message->has_seq && !thread->unnumbered))
		return false;
	if (message->has_time && !stabilizer->ordered)
		return false;
	return message->name != stabilizer->ends_thread &&
	       message->name != stabilizer->finds_thread;
}

/* Positions and closed numbers are kept only for held messages, and there are none. */
static inline void count_turn(struct dpe_thread *thread, const struct dpe_message *message)
{
	thread->has_time = message->has_time;
	thread->time = message->time;
	if (message->has_seq)
		thread->next = message->seq + 1;
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

/* The predicate of the fast path; with a role, find_send has to agree. */
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

/* Releases the successor of the node, which becomes the successor's; `sent` to the sink, or not. */
static inline __attribute__((always_inline)) void release_next(struct dpe_stabilizer *stabilizer,
	struct dpe_message_node *node, struct dpe_message *message, bool sent)
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

	if (sent)
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
	bool is_send, struct dpe_message_node **send, bool sent)
{
	bool completes_now = !is_send && message->phase == DPE_EXIT;

	if (completes_now)
		receive(stabilizer, node, *send);
	release_next(stabilizer, node, message, sent);
	if (is_send) {
		stabilizer->chains[node->stamp.chain].exported = node->stamp.index;
		replace_send(stabilizer, send, node);
	} else if (!completes_now) {
		receive(stabilizer, node, *send);
	}
}

/* The send that the message receives or replaces; NULL: the message takes the general path. */
static struct dpe_message_node **find_send(
	struct dpe_stabilizer *stabilizer, const struct dpe_message *message, const struct dpe_role *role)
{
	if (role->ends || !stabilizer->edges_unused || stabilizer->reports[role->rule] ||
		dpe_is_stated(stabilizer, message))
		return NULL;
	return dpe_queue_only_send(stabilizer, role);
}

static inline __attribute__((always_inline)) bool push(struct dpe_stabilizer *stabilizer,
	struct dpe_thread *thread, struct dpe_message *message, const struct dpe_role *roles, unsigned nroles, bool sent)
{
	struct dpe_message_node **send = NULL;

	if (nroles > 1 || !fast_path_applies(stabilizer, thread, message))
		return false;
	if (nroles) {
		send = find_send(stabilizer, message, roles);
		if (!send)
			return false;
		synchronise_fast(stabilizer, thread->fast_tail, message, roles->send, send, sent);
	} else {
		release_next(stabilizer, thread->fast_tail, message, sent);
	}
	count_turn(thread, message);
	dpe_message_unref(message);
	return true;
}

bool dpe_fast_push(struct dpe_stabilizer *stabilizer, struct dpe_thread *thread,
	struct dpe_message *message, const struct dpe_role *roles, unsigned nroles)
{
	return push(stabilizer, thread, message, roles, nroles, true);
}

/* Apart, so that the usual case calls nothing. */
static __attribute__((noinline)) bool count_other(struct dpe_stabilizer *stabilizer,
	struct dpe_thread *thread, struct dpe_message *message, const struct dpe_role *roles, unsigned nroles)
{
	return push(stabilizer, thread, message, roles, nroles, false);
}

bool dpe_stabilizer_count(struct dpe_stabilizer *stabilizer, struct dpe_message *message,
	const struct dpe_role *roles, unsigned nroles)
{
	struct dpe_thread *thread = dpe_thread_recent(stabilizer, message);

	if (!thread || !thread->fast_tail || stabilizer->doubt)
		return false;
	if (nroles || thread->fast_tail->entered || !dpe_message_is_plain(message))
		return count_other(stabilizer, thread, message, roles, nroles);
	return push(stabilizer, thread, message, NULL, 0, false);
}

void dpe_fast_push_next(const struct dpe_stabilizer *stabilizer, struct dpe_thread *thread)
{
	struct dpe_message_node *tail = thread->tail;
	bool only = tail && !tail->hold && tail->refs == 2 && !tail->known && !tail->nedges;

	if (only && thread->chain != DPE_NO_CHAIN && stabilizer->chains[thread->chain].tail == tail)
		thread->fast_tail = tail;
}
