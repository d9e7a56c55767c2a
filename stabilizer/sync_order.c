/* Whether a pairing depends on the order of arrival. Each message of a queue has to follow the one
 * before it, by the clock of their host or in the causal order; else another arrival could pair them
 * otherwise. Of a `fifo` queue, sends and receives are compared among themselves, since each receive
 * waits for its send. */
#include "stabilizer/sync.h"

/* True if the event, or one whose edges have entered, is the node's or before it. */
static bool reaches(const struct dpe_message_node *node, const struct dpe_stamp *event)
{
	const struct dpe_stamp next = {
		.chain = node->stamp.chain,
		.index = node->stamp.index + 1,
		.past = node->entered ? node->entered : node->stamp.past,
	};

	return dpe_precedes(event, &next);
}

/* The same for a message that is not released: by what it waited for. */
static bool will_follow(const struct dpe_stabilizer *stabilizer,
	const struct dpe_message_node *node, const struct dpe_stamp *event)
{
	const struct dpe_hold *hold = node->hold;
	const struct dpe_message_node *tail = NULL;

	if (hold->thread && hold->thread->chain != DPE_NO_CHAIN)
		tail = stabilizer->chains[hold->thread->chain].tail;
	if (tail && reaches(tail, event))
		return true;
	for (unsigned i = 0; i < hold->nneeds; i++) {
		const struct dpe_need *need = &hold->needs[i];

		if (need->kind == DPE_NEED_PRED && need->node && dpe_node_released(need->node) &&
			reaches(need->node, event))
			return true;
	}
	return false;
}

static bool is_ordered_after(const struct dpe_stabilizer *stabilizer,
	const struct dpe_sync_mark *mark, const struct dpe_message_node *node)
{
	if (node->host && node->host == mark->host && mark->time < node->message->time)
		return true;
	if (!dpe_node_released(mark->node))
		return false;
	return dpe_node_released(node) ? dpe_precedes(&mark->node->stamp, &node->stamp)
				       : will_follow(stabilizer, node, &mark->node->stamp);
}

static void set_mark(struct dpe_sync_mark *mark, struct dpe_message_node *node)
{
	dpe_node_unref(mark->node);
	*mark = (struct dpe_sync_mark){dpe_node_ref(node), node->host, node->message->time};
}

/* In a `once` queue nothing depends on the order before there is a second send. */
static bool matters(struct dpe_queue *queue, bool send, bool follows)
{
	if (queue->pairing != DPE_SYNC_ONCE)
		return !follows;
	follows &= !queue->scattered;
	queue->scattered = !follows;
	queue->sends += send && queue->sends < 2;
	return queue->sends > 1 && !follows;
}

void dpe_sync_begin(const struct dpe_stabilizer *stabilizer, struct dpe_queue *queue,
	const struct dpe_message_node *node)
{
	if (!queue->held && !queue->latest[0].node && !queue->latest[1].node)
		queue->since = stabilizer->released;
	queue->held++;
	queue->kept |= node->host ? stabilizer->hosts.count > 1
				  : dpe_is_stated(stabilizer, node->message);
}

void dpe_sync_check(struct dpe_stabilizer *stabilizer, struct dpe_queue *queue,
	struct dpe_message_node *node, bool send)
{
	struct dpe_sync_mark *mark = &queue->latest[queue->pairing == DPE_SYNC_FIFO && send];
	bool follows;

	if (queue->unsure || (!node->host && !dpe_is_stated(stabilizer, node->message)))
		return;
	follows = !mark->node || mark->node == node || is_ordered_after(stabilizer, mark, node);
	set_mark(mark, node);
	if (!matters(queue, send, follows))
		return;
	queue->unsure = true;
	stabilizer->sink.unsure(stabilizer->sink.context, node->message, queue->since);
}
