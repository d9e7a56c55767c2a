/* Synchronisation: messages with roles enter the queues of their keys, and receives are paired when
 * nothing else holds them. */
#include "stabilizer/sync.h"

#include <assert.h>

/* ---- entering ---------------------------------------------------------------------------- */

static void open_send(const struct dpe_stabilizer *stabilizer, struct dpe_queue *queue,
	struct dpe_message_node *node, int64_t round)
{
	struct dpe_sends *opened = &queue->opened;
	unsigned at = opened->count;

	while (at > opened->head && dpe_sync_is_before(node, opened->at[at - 1]))
		at--;
	dpe_sends_insert(opened, at, node, round);
	dpe_queue_prune(stabilizer, queue);
}

/* Receives that waited for any send wait for this one. */
static void answer(
	struct dpe_stabilizer *stabilizer, struct dpe_queue *queue, struct dpe_message_node *send)
{
	unsigned kept = 0;
	bool taken = false;

	for (unsigned i = 0; i < queue->waiting.count; i++) {
		struct dpe_waiter waiter = queue->waiting.at[i];
		struct dpe_message_node *receive = waiter.node;

		if (taken || dpe_waits_for(stabilizer, send, receive)) {
			queue->waiting.at[kept++] = waiter;
			continue;
		}
		if (receive->hold && !receive->hold->needs[waiter.need].met) {
			dpe_sync_pair_with(stabilizer, queue, receive, send);
			dpe_hold_meet(stabilizer, receive, waiter.need);
			taken = queue->pairing == DPE_SYNC_FIFO;
		}
		dpe_node_unref(receive);
	}
	if (taken)
		dpe_sends_remove(&queue->opened, dpe_sends_find(&queue->opened, send));
	queue->waiting.count = kept;
}

static void note_order(struct dpe_queue *queue, const struct dpe_message_node *node)
{
	enum dpe_queue_order order = node->host ? DPE_BY_TIME : DPE_BY_ARRIVAL;

	if (dpe_queue_no_sends(queue)) {
		queue->order = order;
		queue->host = node->host;
	} else if (queue->order != order || queue->host != node->host) {
		queue->order = DPE_MIXED;
	}
}

static void enter_send(struct dpe_stabilizer *stabilizer, struct dpe_queue *queue,
	struct dpe_message_node *node, int64_t round)
{
	if (queue->pairing == DPE_SYNC_FIFO && dpe_is_stated(stabilizer, node->message))
		return; /* until it is released */
	note_order(queue, node);
	if (dpe_send_is_gated(node))
		dpe_sends_insert(&queue->closed, queue->closed.count, node, round);
	else
		open_send(stabilizer, queue, node, round);
	if (queue->pairing != DPE_SYNC_FIFO)
		answer(stabilizer, queue, node);
}

/* A send of a `fifo` queue was released: a receive that waits for any gets it. */
static void offer(
	struct dpe_stabilizer *stabilizer, struct dpe_queue *queue, struct dpe_message_node *send)
{
	if (dpe_is_stated(stabilizer, send->message)) {
		queue->order = DPE_MIXED;
		dpe_sends_insert(&queue->opened, queue->opened.count, send, 0);
	}
	if (queue->waiting.count && dpe_sends_find(&queue->opened, send) < queue->opened.count)
		answer(stabilizer, queue, send);
}

static void enter_receive(struct dpe_queue *queue, const struct dpe_message_node *node)
{
	if (!queue->unpaired) {
		queue->receiver = node->host;
		queue->receivers_differ = false;
	} else if (queue->receiver != node->host) {
		queue->receivers_differ = true;
	}
	queue->unpaired++;
}

void dpe_sync_enter(struct dpe_stabilizer *stabilizer, struct dpe_message_node *node,
	const struct dpe_role *roles, unsigned nroles)
{
	struct dpe_hold *hold = node->hold;

	if (!nroles)
		return;
	assert(!hold->parts);
	hold->parts = dpe_xcalloc(nroles, sizeof(*hold->parts));
	hold->nparts = nroles;
	for (unsigned i = 0; i < nroles; i++) {
		struct dpe_queue *queue = dpe_queue_of(stabilizer, &roles[i]);

		hold->parts[i] = (struct dpe_role_of_message){
			.queue = queue,
			.send = roles[i].send,
			.ends = roles[i].ends,
			.round = roles[i].round,
		};
		dpe_sync_begin(stabilizer, queue, node);
		if (!roles[i].send) {
			enter_receive(queue, node);
			hold->deferred = node->message->phase != DPE_EXIT;
		}
	}
	for (unsigned i = 0; i < nroles; i++) {
		if (roles[i].send)
			enter_send(stabilizer, hold->parts[i].queue, node, roles[i].round);
	}
}

bool dpe_stabilizer_pairs_nothing(const struct dpe_stabilizer *stabilizer,
	const struct dpe_message *message, unsigned rule)
{
	return !stabilizer->nqueues[rule] && (stabilizer->ordered || !message->has_time) &&
	       !dpe_is_stated(stabilizer, message);
}

void dpe_sync_open(const struct dpe_stabilizer *stabilizer, struct dpe_message_node *node)
{
	for (unsigned i = 0; i < node->hold->nparts; i++) {
		const struct dpe_role_of_message *part = &node->hold->parts[i];

		if (!part->send || part->taken)
			continue;
		open_send(stabilizer, part->queue, node, part->round);
		part->queue->nstale++;
		dpe_queue_sweep(part->queue);
	}
}

void dpe_sync_released(struct dpe_stabilizer *stabilizer, struct dpe_message_node *node)
{
	for (unsigned i = 0; i < node->hold->nparts; i++) {
		const struct dpe_role_of_message *part = &node->hold->parts[i];

		/* Other receives were compared when they were paired. */
		if (part->send || part->queue->pairing == DPE_SYNC_ONCE)
			dpe_sync_check(stabilizer, part->queue, node, part->send);
		if (part->send && part->queue->pairing == DPE_SYNC_FIFO)
			offer(stabilizer, part->queue, node);
		part->queue->held--;
		dpe_queue_free_if_empty(stabilizer, part->queue);
	}
}
