/* The fast path: a message that waits for nothing, and that nothing can wait for or name later, is
 * released as it comes; its thread's last node is reused, so nothing is allocated.
 * fast_path_applies says when. tests/stabilizer/test_fast_path.c compares it with the general path,
 * message by message. */
#include "stabilizer/edges.h"

static inline bool is_next(const struct dpe_thread *thread, const struct dpe_message *message)
{
	return message->seq == thread->next && message->seq != UINT64_MAX;
}

static inline bool is_plain(const struct dpe_stabilizer *stabilizer, const struct dpe_thread *thread,
	const struct dpe_message *message)
{
	/* The usual case, by one comparison of all three. */
	if (dpe_message_is_plain(message) && (message->unreferenced & message->has_seq & !message->has_time))
		return is_next(thread, message);
	if (!dpe_message_is_plain(message) && (message->npreds || message->id.kind != DPE_NONE))
		return false;
	if (!message->unreferenced && message->place)
		return false;
	if (message->has_time && !stabilizer->ordered)
		return false;
	return message->has_seq ? is_next(thread, message) : thread->unnumbered;
}

/* True for a message that is more to the stabilizer than one of its thread. */
static inline bool is_special(const struct dpe_stabilizer *stabilizer, const struct dpe_message *message)
{
	return message->name == stabilizer->ends_thread || message->name == stabilizer->finds_thread;
}

/* Positions and closed numbers are kept only for held messages, and there are none. */
static inline void count_turn(struct dpe_thread *thread, const struct dpe_message *message)
{
	thread->has_time = message->has_time;
	thread->time = message->time;
	thread->next += message->has_seq; /* which is the next one */
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

/* The predicate of the fast path, where nothing is held; with a role, find_send has to agree. */
static inline bool fast_path_applies(const struct dpe_stabilizer *stabilizer,
	const struct dpe_thread *thread, const struct dpe_message *message)
{
	const struct dpe_message_node *node = thread->fast_tail;

	return node && node->stamp.index < stabilizer->chain_max && is_plain(stabilizer, thread, message);
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

/* The event of the node's successor. */
static inline void make_next(const struct dpe_stabilizer *stabilizer, const struct dpe_message_node *node,
	struct dpe_message *message, struct dpe_event *event)
{
	event->message = message;
	event->number = stabilizer->released;
	event->stamp.chain = node->stamp.chain;
	event->stamp.index = node->stamp.index + 1;
	event->stamp.exported = stabilizer->chains[node->stamp.chain].exported;
	event->stamp.past = node->entered ? node->entered : node->stamp.past; /* no edges beside it */
	event->added = NULL;
	event->nadded = 0;
	event->doubtful = stabilizer->doubt;
}

/* The node becomes its successor's, after the event. */
static inline void move_on(struct dpe_stabilizer *stabilizer, struct dpe_message_node *node, const struct dpe_event *event)
{
	const struct dpe_clock *entered = node->entered;

	if (entered) {
		node->since = dpe_since_after(node, &event->stamp);
		dpe_clock_unref(node->stamp.past);
		node->stamp.past = entered;
		node->entered = NULL;
	}
	node->stamp.index = event->stamp.index;
	node->stamp.exported = event->stamp.exported;
	node->number = event->number;
	stabilizer->released++;
	stabilizer->arrivals++; /* arrivals matter only for sends */
}

/* Releases the successor of the node, which becomes the successor's; `sent` to the sink, or not. */
static inline __attribute__((always_inline)) void release_next(struct dpe_stabilizer *stabilizer,
	struct dpe_message_node *node, struct dpe_message *message, bool sent)
{
	struct dpe_event event;

	make_next(stabilizer, node, message, &event);
	if (sent)
		stabilizer->sink.event(stabilizer->sink.context, &event);
	move_on(stabilizer, node, &event);
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
	struct dpe_message_node **send;

	if (role->ends || !stabilizer->edges_unused || stabilizer->reports[role->rule] ||
		dpe_is_stated(stabilizer, message))
		return NULL;
	send = dpe_queue_only_send(stabilizer, role);
	return send && !(*send)->entered ? send : NULL; /* what the send received itself precedes its receivers, too */
}

static inline __attribute__((always_inline)) bool push(struct dpe_stabilizer *stabilizer,
	struct dpe_thread *thread, struct dpe_message *message, const struct dpe_role *roles, unsigned nroles, bool sent)
{
	struct dpe_message_node **send = NULL;

	if (nroles > 1 || stabilizer->first || is_special(stabilizer, message) || !fast_path_applies(stabilizer, thread, message))
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

struct dpe_thread *dpe_stabilizer_next(
	const struct dpe_stabilizer *stabilizer, struct dpe_message *message, struct dpe_event *event)
{
	struct dpe_thread *thread = dpe_thread_recent(stabilizer, message);

	if (!thread || stabilizer->first || is_special(stabilizer, message) || !fast_path_applies(stabilizer, thread, message))
		return NULL;
	make_next(stabilizer, thread->fast_tail, message, event);
	return thread;
}

void dpe_stabilizer_passed(struct dpe_stabilizer *stabilizer, struct dpe_thread *thread, const struct dpe_event *event)
{
	move_on(stabilizer, thread->fast_tail, event);
	count_turn(thread, event->message);
	dpe_message_unref(event->message);
}

/* A plain message without a role that is only counted, the event of that number: as release_next does, where no edge
 * enters before it. False, with nothing done: it takes another path. */
static inline bool count(struct dpe_stabilizer *stabilizer, struct dpe_message *message, uint64_t number)
{
	struct dpe_thread *thread = dpe_thread_recent(stabilizer, message);
	struct dpe_message_node *node;

	if (!thread || !dpe_message_is_plain(message) || !fast_path_applies(stabilizer, thread, message))
		return false;
	node = thread->fast_tail;
	if (node->entered)
		return false;
	node->stamp.index++;
	node->stamp.exported = stabilizer->chains[node->stamp.chain].exported;
	node->number = number;
	count_turn(thread, message);
	dpe_message_unref(message);
	return true;
}

static inline void count_released(struct dpe_stabilizer *stabilizer, unsigned count)
{
	stabilizer->released += count;
	stabilizer->arrivals += count;
}

/* Apart, so that the usual case calls nothing. */
static __attribute__((noinline)) bool count_other(struct dpe_stabilizer *stabilizer, struct dpe_message *message,
	const struct dpe_role *roles, unsigned nroles)
{
	struct dpe_thread *thread = dpe_thread_recent(stabilizer, message);

	return thread && push(stabilizer, thread, message, roles, nroles, false);
}

bool dpe_stabilizer_count(struct dpe_stabilizer *stabilizer, struct dpe_message *message,
	const struct dpe_role *roles, unsigned nroles)
{
	if (stabilizer->doubt)
		return false;
	if (nroles || stabilizer->first || is_special(stabilizer, message) || !count(stabilizer, message, stabilizer->released))
		return count_other(stabilizer, message, roles, nroles);
	count_released(stabilizer, 1);
	return true;
}

__attribute__((noinline)) unsigned dpe_stabilizer_count_some(struct dpe_stabilizer *stabilizer, struct dpe_message *const *messages,
	unsigned max, dpe_name from, bool timed)
{
	const uint64_t number = stabilizer->released;
	unsigned counted = 0;

	if (stabilizer->doubt || stabilizer->first || from <= stabilizer->ends_thread || from <= stabilizer->finds_thread)
		return 0;
	while (counted < max && messages[counted]->name >= from && messages[counted]->has_time <= timed &&
		count(stabilizer, messages[counted], number + counted))
		counted++;
	count_released(stabilizer, counted);
	return counted;
}

void dpe_fast_push_next(const struct dpe_stabilizer *stabilizer, struct dpe_thread *thread)
{
	struct dpe_message_node *tail = thread->tail;
	bool only = tail && !tail->hold && tail->refs == 2 && !tail->known && !tail->nedges;

	if (only && thread->chain != DPE_NO_CHAIN && stabilizer->chains[thread->chain].tail == tail)
		thread->fast_tail = tail;
}
