/* Which sends no future receive can be paired with: hidden by later ones, or sent to what has ended; and sends
 * that one clock replaces. */
#include "stabilizer/sync.h"

/* ---- hidden sends ------------------------------------------------------------------------ */

/* True if every unpaired receive comes after the send. */
static bool is_settled(const struct dpe_queue *queue, const struct dpe_message_node *send)
{
	if (send->hold)
		return false;
	if (queue->order == DPE_BY_TIME && queue->host->time > send->message->time &&
		queue->receiver == queue->host && !queue->receivers_differ)
		return true;
	return !queue->unpaired && !queue->waiting.count;
}

/* True if each successor of `by` follows the send. */
static bool hides(const struct dpe_queue *queue, const struct dpe_message_node *by,
	const struct dpe_message_node *send)
{
	if (queue->keeps_sources && by->stamp.chain != send->stamp.chain)
		return false;
	return dpe_precedes(&send->stamp, &by->stamp);
}

/* Drops the sends that a settled one hides from all future receives. */
static void drop_hidden(struct dpe_queue *queue, unsigned settled)
{
	struct dpe_sends *opened = &queue->opened;
	const struct dpe_message_node *by = opened->at[settled];

	for (unsigned i = settled; i-- > opened->head;) {
		const struct dpe_message_node *send = opened->at[i];

		if ((queue->pairing != DPE_SYNC_ALL && queue->pairing != DPE_SYNC_ROUNDS) ||
			(!send->hold && hides(queue, by, send)))
			dpe_sends_remove(opened, i);
	}
}

/* Every future receive is paired with all sends of earlier rounds. */
static void prune_rounds(struct dpe_queue *queue)
{
	const struct dpe_sends *opened = &queue->opened;

	for (unsigned i = opened->count; i-- > opened->head;) {
		if (opened->rounds[i] >= queue->round || !is_settled(queue, opened->at[i]))
			continue;
		drop_hidden(queue, i);
		return;
	}
}

static void prune_by_latest(struct dpe_queue *queue)
{
	const struct dpe_sends *opened = &queue->opened;

	for (unsigned back = 1; back <= 2 && back < opened->count - opened->head; back++) {
		unsigned at = opened->count - back;

		if (!is_settled(queue, opened->at[at]))
			continue;
		drop_hidden(queue, at);
		return;
	}
}

/* True if receives that are not paired yet come after what is being released: messages of one clock are
 * released in its order. */
static bool is_ordered_by_clock(const struct dpe_stabilizer *stabilizer, const struct dpe_queue *queue)
{
	return queue->order == DPE_BY_TIME && stabilizer->hosts.count == 1 &&
	       (!queue->unpaired || (queue->receiver == queue->host && !queue->receivers_differ));
}

/* Each future receive is paired with all these sends: it follows what follows them. */
static void fold(const struct dpe_stabilizer *stabilizer, struct dpe_queue *queue)
{
	struct dpe_sends *opened = &queue->opened;
	struct dpe_past past = {.pool = stabilizer->pool};

	dpe_past_start(&past, queue->folded, DPE_NO_CHAIN, 0);
	dpe_clock_unref(queue->folded); /* the past may be its only user, and change it in place */
	while (opened->head < opened->count && is_settled(queue, opened->at[opened->head])) {
		const struct dpe_message_node *send = opened->at[opened->head];

		dpe_past_add(&past, &send->stamp);
		if (send->entered)
			dpe_past_join(&past, send->entered);
		dpe_sends_remove(opened, opened->head);
	}
	queue->folded = dpe_past_take(&past);
}

void dpe_queue_prune(const struct dpe_stabilizer *stabilizer, struct dpe_queue *queue)
{
	const struct dpe_sends *opened = &queue->opened;

	if (queue->pairing == DPE_SYNC_FIFO)
		return;
	if (queue->pairing == DPE_SYNC_ROUNDS) {
		prune_rounds(queue);
		return;
	}
	prune_by_latest(queue);
	if (queue->folds && opened->count - opened->head > stabilizer->max_sends &&
		(queue->order == DPE_BY_ARRIVAL || is_ordered_by_clock(stabilizer, queue)))
		fold(stabilizer, queue);
}

/* ---- what has ended ---------------------------------------------------------------------- */

static void drop_sends_before(struct dpe_queue *queue, const struct dpe_stamp *end)
{
	struct dpe_sends *opened = &queue->opened;

	for (unsigned after = opened->count; after > opened->head && after <= opened->count; after--) {
		const struct dpe_message_node *send = opened->at[after - 1];

		if (!send->hold && dpe_precedes(&send->stamp, end))
			dpe_sends_remove(opened, after - 1);
	}
}

bool dpe_queue_may_forget(const struct dpe_stabilizer *stabilizer, const struct dpe_queue *queue, unsigned pending)
{
	if (queue->kept)
		return false;
	return is_ordered_by_clock(stabilizer, queue) || (queue->order == DPE_BY_ARRIVAL && !pending);
}

/* Other sends stay: receives that are compared by the times of several hosts, or by what messages state, could be paired
 * with them. */
void dpe_stabilizer_end_object(
	struct dpe_stabilizer *stabilizer, const struct dpe_role *object, const struct dpe_stamp *end)
{
	struct dpe_queue *queue = dpe_queue_find(stabilizer, object);

	if (!queue || !dpe_queue_may_forget(stabilizer, queue, queue->held))
		return;
	dpe_queue_prune(stabilizer, queue);
	drop_sends_before(queue, end);
	dpe_queue_free_if_empty(stabilizer, queue);
}

/* What does not precede its end was sent to the next thread with this id. */
void dpe_sync_thread_ended(struct dpe_stabilizer *stabilizer, const struct dpe_message_node *last)
{
	struct dpe_role role = {.nkeys = 1, .keys = &last->hold->thread->id};

	for (unsigned i = 0; i < stabilizer->nfor_thread; i++) {
		struct dpe_queue *queue;

		role.rule = stabilizer->for_thread[i];
		queue = dpe_queue_find(stabilizer, &role);
		if (!queue)
			continue;
		drop_sends_before(queue, &last->stamp);
		dpe_queue_free_if_empty(stabilizer, queue);
	}
}
