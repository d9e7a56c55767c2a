/* Pairing: which sends a receive gets. "Before" means by
 * time under one host's clock, else by arrival. A queue whose sends are all compared one way is
 * sorted, and a receive looks at its end. Sends at their host's gate are kept apart: only receives
 * of other hosts can get them. */
#include "stabilizer/sync.h"

/* ---- before ------------------------------------------------------------------------------ */

/* True if the sends are sorted in the receive's order. */
static bool sorted_for(const struct dpe_queue *queue, const struct dpe_message_node *receive)
{
	return queue->order == DPE_BY_ARRIVAL ||
	       (queue->order == DPE_BY_TIME && queue->host == receive->host);
}

/* The sends before the receive, in order: `count` from the result on. */
static struct dpe_message_node **sends_before(
	struct dpe_queue *queue, const struct dpe_message_node *receive, unsigned *count)
{
	struct dpe_sends *sends = &queue->opened;
	unsigned low = DPE_PARTITION_POINT(i, sends->head, sends->count, dpe_sync_is_before(sends->at[i], receive));

	*count = low - sends->head;
	return sends->at ? sends->at + sends->head : NULL; /* no offset on NULL */
}

static void add_candidate(struct dpe_stabilizer *stabilizer, struct dpe_message_node *send)
{
	unsigned i;

	(void)DPE_GROW(stabilizer->candidates, stabilizer->ncandidates, stabilizer->capcandidates);
	for (i = stabilizer->ncandidates - 1;
		i && dpe_sync_is_before(send, stabilizer->candidates[i - 1]); i--)
		stabilizer->candidates[i] = stabilizer->candidates[i - 1];
	stabilizer->candidates[i] = send;
}

/* Collects all sends before the receive, or all others, in stabilizer->candidates. */
static void select_sends(struct dpe_stabilizer *stabilizer, const struct dpe_queue *queue,
	const struct dpe_message_node *receive, bool before)
{
	const struct dpe_sends *opened = &queue->opened, *closed = &queue->closed;

	stabilizer->ncandidates = 0;
	for (unsigned i = opened->head; i < opened->count; i++) {
		if (dpe_sync_is_before(opened->at[i], receive) == before)
			add_candidate(stabilizer, opened->at[i]);
	}
	for (unsigned i = closed->head; i < closed->count; i++) {
		if (dpe_send_is_gated(closed->at[i]) &&
			dpe_sync_is_before(closed->at[i], receive) == before)
			add_candidate(stabilizer, closed->at[i]);
	}
}

/* ---- pairing ----------------------------------------------------------------------------- */

void dpe_sync_pair_with(struct dpe_stabilizer *stabilizer, const struct dpe_queue *queue,
	struct dpe_message_node *receive, struct dpe_message_node *send)
{
	struct dpe_need need = {.kind = DPE_NEED_SEND, .node = send, .rule = queue->rule};

	dpe_debug(stabilizer->debug, "stabilizer", 2, "message %llu receives from %llu",
		(unsigned long long)receive->arrival, (unsigned long long)send->arrival);
	dpe_hold_need(stabilizer, receive, &need);
}

/* The send was taken: no other receive gets it. */
static void take(struct dpe_queue *queue, struct dpe_message_node *send)
{
	unsigned at = dpe_sends_find(&queue->opened, send);

	if (at < queue->opened.count) {
		dpe_sends_remove(&queue->opened, at);
		return;
	}
	for (unsigned i = 0; i < send->hold->nparts; i++) {
		if (send->hold->parts[i].queue == queue && send->hold->parts[i].send)
			send->hold->parts[i].taken = true;
	}
	dpe_sends_remove(&queue->closed, dpe_sends_find(&queue->closed, send));
}

/* The object of the queue has ended: where one clock or the order of arrival orders the queue, no later receive is
 * paired with this send or an earlier one. */
static void forget_until(
	const struct dpe_stabilizer *stabilizer, struct dpe_queue *queue, const struct dpe_message_node *send)
{
	struct dpe_sends *opened = &queue->opened;

	if (!dpe_queue_may_forget(stabilizer, queue, queue->unpaired - 1) ||
		dpe_sends_find(opened, send) == opened->count)
		return;
	while (opened->at[opened->head] != send)
		dpe_sends_remove(opened, opened->head);
	dpe_sends_remove(opened, opened->head);
}

static void pair_all(struct dpe_stabilizer *stabilizer, const struct dpe_queue *queue,
	struct dpe_message_node *receive, struct dpe_message_node **sends, unsigned count)
{
	for (unsigned i = 0; i < count; i++) {
		if (!dpe_waits_for(stabilizer, sends[i], receive))
			dpe_sync_pair_with(stabilizer, queue, receive, sends[i]);
	}
}

static void receive_folded(
	struct dpe_stabilizer *stabilizer, const struct dpe_queue *queue, struct dpe_message_node *receive)
{
	struct dpe_past past = {.pool = stabilizer->pool};

	dpe_past_start(&past, receive->hold->received, DPE_NO_CHAIN, 0);
	dpe_past_join(&past, queue->folded);
	dpe_clock_unref(receive->hold->received);
	receive->hold->received = dpe_past_take(&past);
}

static int64_t round_of(const struct dpe_queue *queue, const struct dpe_message_node *send)
{
	unsigned at = dpe_sends_find(&queue->opened, send);

	return at < queue->opened.count
		       ? queue->opened.rounds[at]
		       : queue->closed.rounds[dpe_sends_find(&queue->closed, send)];
}

static void pair_rounds(struct dpe_stabilizer *stabilizer, struct dpe_message_node *receive,
	struct dpe_queue *queue, int64_t round)
{
	const struct dpe_sends *opened = &queue->opened;
	bool sorted = sorted_for(queue, receive);

	if (!sorted)
		select_sends(stabilizer, queue, receive, true);
	for (unsigned i = opened->head; sorted && i < opened->count; i++) {
		if (dpe_sync_is_before(opened->at[i], receive) && opened->rounds[i] <= round)
			pair_all(stabilizer, queue, receive, &opened->at[i], 1);
	}
	for (unsigned i = 0; !sorted && i < stabilizer->ncandidates; i++) {
		if (round_of(queue, stabilizer->candidates[i]) <= round)
			pair_all(stabilizer, queue, receive, &stabilizer->candidates[i], 1);
	}
	if (round != INT64_MAX && (round > queue->round || round < queue->round - 1))
		queue->round = round;
}

/* The first or last send that does not wait for the receive. */
static struct dpe_message_node *choose(struct dpe_stabilizer *stabilizer, struct dpe_message_node *receive,
	struct dpe_message_node **sends, unsigned count, bool last)
{
	for (unsigned i = 0; i < count; i++) {
		struct dpe_message_node *send = sends[last ? count - 1 - i : i];

		if (!dpe_waits_for(stabilizer, send, receive))
			return send;
	}
	return NULL;
}

static void await_send(
	struct dpe_stabilizer *stabilizer, struct dpe_message_node *receive, struct dpe_queue *queue)
{
	struct dpe_need need = {.kind = DPE_NEED_ANY_SEND, .queue = queue};
	unsigned index = dpe_hold_need(stabilizer, receive, &need);

	dpe_hold_await(&queue->waiting, receive, index);
	if (stabilizer->finished)
		dpe_hold_stuck(stabilizer, receive);
}

/* The next send that was released, or will be. */
static void pair_next(
	struct dpe_stabilizer *stabilizer, struct dpe_message_node *receive, struct dpe_queue *queue)
{
	struct dpe_sends *opened = &queue->opened;

	for (unsigned i = opened->head; i < opened->count; i++) {
		struct dpe_message_node *send = opened->at[i];

		if (!dpe_node_released(send) || dpe_waits_for(stabilizer, send, receive))
			continue;
		dpe_sync_pair_with(stabilizer, queue, receive, send);
		dpe_sends_remove(opened, i);
		return;
	}
	await_send(stabilizer, receive, queue);
}

static void pair(struct dpe_stabilizer *stabilizer, struct dpe_message_node *receive,
	struct dpe_queue *queue, bool ends)
{
	struct dpe_message_node **sends, *send;
	unsigned count;

	if (sorted_for(queue, receive)) {
		sends = sends_before(queue, receive, &count);
	} else {
		select_sends(stabilizer, queue, receive, true);
		sends = stabilizer->candidates;
		count = stabilizer->ncandidates;
	}
	if (queue->pairing == DPE_SYNC_ALL) {
		pair_all(stabilizer, queue, receive, sends, count);
		if (queue->folded)
			receive_folded(stabilizer, queue, receive);
		return;
	}
	send = choose(stabilizer, receive, sends, count, queue->pairing != DPE_SYNC_FIFO);
	if (!send && queue->pairing == DPE_SYNC_ONCE) {
		select_sends(stabilizer, queue, receive, false);
		send = choose(stabilizer, receive, stabilizer->candidates, stabilizer->ncandidates,
			false);
	}
	if (send)
		dpe_sync_pair_with(stabilizer, queue, receive, send);
	else if (queue->pairing == DPE_SYNC_ONCE)
		await_send(stabilizer, receive, queue);
	if (send && queue->pairing == DPE_SYNC_FIFO)
		take(queue, send);
	if (send && ends)
		forget_until(stabilizer, queue, send);
}

void dpe_sync_pair(struct dpe_stabilizer *stabilizer, struct dpe_message_node *node)
{
	struct dpe_hold *hold = node->hold;

	hold->paired = true;
	for (unsigned i = 0; i < hold->nparts; i++) {
		struct dpe_queue *queue = hold->parts[i].queue;

		if (hold->parts[i].send)
			continue;
		if (queue->pairing != DPE_SYNC_ONCE)
			dpe_sync_check(stabilizer, queue, node, false);
		if (dpe_receive_waits(stabilizer, queue, node))
			pair_next(stabilizer, node, queue);
		else if (queue->pairing == DPE_SYNC_ROUNDS)
			pair_rounds(stabilizer, node, queue, hold->parts[i].round);
		else
			pair(stabilizer, node, queue, hold->parts[i].ends);
		queue->unpaired--;
		dpe_queue_prune(stabilizer, queue);
		dpe_queue_free_if_empty(stabilizer, queue);
	}
}
