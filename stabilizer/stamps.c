/* The stamp of an event: its chain, its index in it, and the clock of its past, of the edges to its predecessors. */
#include "stabilizer/edges.h"

#include <assert.h>

/* ---- chains ------------------------------------------------------------------------------ */

static uint32_t new_chain(struct dpe_stabilizer *stabilizer, bool of_thread)
{
	assert(stabilizer->nchains < DPE_NO_CHAIN);
	*DPE_GROW(stabilizer->chains, stabilizer->nchains, stabilizer->capchains) =
		(struct dpe_chain_end){.of_thread = of_thread};
	return stabilizer->nchains - 1;
}

/* True if the node is the unshared end of its chain, which has room. */
static bool can_follow(const struct dpe_stabilizer *stabilizer, const struct dpe_message_node *node)
{
	const struct dpe_chain_end *end;

	if (!node || !dpe_node_released(node))
		return false;
	end = &stabilizer->chains[node->stamp.chain];
	return end->tail == node && !end->of_thread && node->stamp.index < stabilizer->chain_max;
}

/* The chain of an event without a thread: that of a predecessor which ends its chain. */
static uint32_t greedy_chain(struct dpe_stabilizer *stabilizer, const struct dpe_message_node *node)
{
	const struct dpe_hold *hold = node->hold;

	for (unsigned i = 0; i < hold->nneeds; i++) {
		const struct dpe_message_node *before = hold->needs[i].node;

		if (hold->needs[i].kind == DPE_NEED_PRED && can_follow(stabilizer, before))
			return before->stamp.chain;
	}
	return new_chain(stabilizer, false);
}

/* sets `full` where the thread's chain is full and another one continues it */
static uint32_t choose_chain(struct dpe_stabilizer *stabilizer, const struct dpe_message_node *node,
	const struct dpe_message_node **full)
{
	struct dpe_thread *thread = node->hold->thread;
	const struct dpe_message_node *tail;

	if (!thread)
		return greedy_chain(stabilizer, node);
	if (thread->chain == DPE_NO_CHAIN) {
		thread->over = false;
		return thread->chain = new_chain(stabilizer, true);
	}
	tail = stabilizer->chains[thread->chain].tail;
	if (tail->stamp.index == stabilizer->chain_max) {
		*full = tail;
		thread->chain = new_chain(stabilizer, true);
	}
	return thread->chain;
}

/* ---- stamps ------------------------------------------------------------------------------ */

static void report_edge(const struct dpe_stabilizer *stabilizer, const struct dpe_message_node *from,
	const struct dpe_message_node *to, unsigned rule)
{
	if (rule == DPE_NO_RULE ? stabilizer->sink.edge != NULL : stabilizer->reports[rule])
		stabilizer->sink.edge(stabilizer->sink.context, from->number, to->number, rule);
}

static void take_pred(struct dpe_stabilizer *stabilizer, const struct dpe_message_node *pred)
{
	dpe_past_add(&stabilizer->past, &pred->stamp);
	if (!pred->nedges)
		dpe_past_join(&stabilizer->past, pred->entered);
	dpe_edges_add(stabilizer, pred);
}

/* The edges of the sends that the node is paired with. */
static void add_sends(struct dpe_stabilizer *stabilizer, const struct dpe_message_node *node)
{
	const struct dpe_hold *hold = node->hold;

	if (hold->received)
		dpe_past_join(&stabilizer->past, hold->received);
	for (unsigned i = 0; i < hold->nneeds; i++) {
		const struct dpe_message_node *send = hold->needs[i].node;

		if (hold->needs[i].kind != DPE_NEED_SEND || !dpe_node_released(send))
			continue;
		dpe_edges_add_send(stabilizer, send);
		report_edge(stabilizer, send, node, hold->needs[i].rule);
	}
}

/* All released events: what precedes the latest found thread, and what came since. */
static void take_tails(struct dpe_stabilizer *stabilizer, uint32_t own)
{
	if (stabilizer->before_found)
		dpe_past_add(&stabilizer->past, &stabilizer->found);
	for (uint32_t i = 0; i < stabilizer->nchains; i++) {
		struct dpe_chain_end *end = &stabilizer->chains[i];

		if (i == own || !dpe_chain_last(end) || (end->tail && end->tail->number < stabilizer->before_found))
			continue;
		/* All events before the last one of an ended chain. */
		if (end->ended)
			dpe_past_add(&stabilizer->past,
				&(struct dpe_stamp){.chain = i, .index = end->exported});
		else
			dpe_past_add(&stabilizer->past, &end->tail->stamp);
		end->exported = dpe_chain_last(end);
	}
}

static void note_found(struct dpe_stabilizer *stabilizer, const struct dpe_message_node *node)
{
	dpe_stamp_unref(&stabilizer->found);
	stabilizer->found = node->stamp;
	dpe_stamp_ref(&stabilizer->found);
	stabilizer->before_found = stabilizer->released;
}

void dpe_node_stamp(struct dpe_stabilizer *stabilizer, struct dpe_message_node *node)
{
	const bool found = stabilizer->finds_thread && node->message->name == stabilizer->finds_thread;
	const struct dpe_hold *hold = node->hold;
	const struct dpe_message_node *full = NULL;
	uint32_t chain = choose_chain(stabilizer, node, &full);
	struct dpe_chain_end *end = &stabilizer->chains[chain];

	dpe_edges_begin(stabilizer);
	dpe_past_start(&stabilizer->past, end->tail ? dpe_node_past(end->tail) : NULL, chain,
		end->tail ? dpe_node_past_since(end->tail) : 0);
	if (end->tail)
		dpe_edges_add(stabilizer, end->tail);
	if (full)
		take_pred(stabilizer, full);
	for (unsigned i = 0; i < hold->nneeds; i++) {
		const struct dpe_message_node *pred = hold->needs[i].node;

		if (hold->needs[i].kind != DPE_NEED_PRED || !pred || !dpe_node_released(pred))
			continue;
		take_pred(stabilizer, pred);
		report_edge(stabilizer, pred, node, DPE_NO_RULE);
	}
	if (found)
		take_tails(stabilizer, chain);
	if (!hold->deferred)
		add_sends(stabilizer, node);
	dpe_edges_reduce(stabilizer);
	node->stamp.chain = chain;
	node->stamp.index = end->tail ? end->tail->stamp.index + 1 : 1;
	node->stamp.exported = end->exported;
	node->stamp.past = dpe_past_take(&stabilizer->past);
	node->since = dpe_since_after(end->tail, &node->stamp);
	if (found)
		note_found(stabilizer, node);
}

void dpe_node_stamp_sends(struct dpe_stabilizer *stabilizer, struct dpe_message_node *node)
{
	dpe_edges_begin(stabilizer);
	dpe_past_start(&stabilizer->past, node->stamp.past, node->stamp.chain, node->since);
	add_sends(stabilizer, node);
	dpe_edges_defer(stabilizer, node);
}

void dpe_node_end_chain(struct dpe_stabilizer *stabilizer, struct dpe_message_node *node)
{
	struct dpe_chain_end *end = &stabilizer->chains[node->stamp.chain];

	dpe_node_unref(end->tail);
	end->tail = dpe_node_ref(node);
	if (node->known || dpe_node_sends(node))
		end->exported = node->stamp.index;
	if (node->message->name != stabilizer->ends_thread || !node->hold->thread ||
		!stabilizer->ends_thread)
		return;
	end->ended = true;
	end->exported = node->stamp.index;
	dpe_node_unref(end->tail);
	end->tail = NULL;
	node->hold->thread->chain = DPE_NO_CHAIN;
	node->hold->thread->over = true;
	dpe_sync_thread_ended(stabilizer, node);
}
