/* Whether a message waits for another one: a search back from it, through what each message waits for. */
#include "stabilizer/stages.h"

static void visit(struct dpe_stabilizer *stabilizer, struct dpe_message_node *node)
{
	if (!node || !node->hold || node->hold->mark == stabilizer->marks)
		return;
	node->hold->mark = stabilizer->marks;
	*DPE_GROW(stabilizer->walk, stabilizer->nwalk, stabilizer->capwalk) = node;
}

/* The gate: earlier messages of the host have to be released, but edges that enter after them do
 * not matter. */
static void visit_earlier(struct dpe_stabilizer *stabilizer, const struct dpe_message_node *node,
	const struct dpe_message_node *other)
{
	struct dpe_host *host = node->host;
	uint64_t time = node->message->time;

	if (host->mark == stabilizer->marks && host->mark_time >= time)
		return;
	host->mark = stabilizer->marks;
	host->mark_time = time;
	for (unsigned i = 0; i < host->nopen; i++) {
		if (host->open[i] != other || !other->hold->deferred)
			visit(stabilizer, host->open[i]);
	}
	for (unsigned i = 0; i < host->gate.count; i++) {
		if (host->gate.at[i].key < time)
			visit(stabilizer, host->gate.at[i].node);
	}
}

/* The turn: earlier messages of the thread. */
static void visit_parked(struct dpe_stabilizer *stabilizer, const struct dpe_message_node *node)
{
	struct dpe_thread *thread = node->hold->thread;
	uint64_t seq = node->message->seq;

	if (thread->mark == stabilizer->marks && thread->mark_seq >= seq)
		return;
	thread->mark = stabilizer->marks;
	thread->mark_seq = seq;
	visit(stabilizer, thread->tail);
	for (unsigned i = 0; i < thread->parked.count; i++) {
		if (thread->parked.at[i].key < seq)
			visit(stabilizer, thread->parked.at[i].node);
	}
}

/* True if the node comes after the other one in its thread. */
static bool is_later(const struct dpe_message_node *node, const struct dpe_message_node *other)
{
	if (!node->hold->thread || node->hold->thread != other->hold->thread)
		return false;
	return node->hold->parked || node->hold->turn > other->hold->turn;
}

/* The direct predecessors of a node. Where only the first message of a thread waits for others, it
 * represents the node's. */
static void visit_before(struct dpe_stabilizer *stabilizer, const struct dpe_message_node *node,
	const struct dpe_message_node *other)
{
	const struct dpe_hold *hold = node->hold;

	if (hold->thread && !hold->thread->nentangled && hold->thread->head != node) {
		visit(stabilizer, hold->thread->head);
		return;
	}
	for (unsigned i = 0; i < hold->nneeds; i++) {
		if (!hold->needs[i].met)
			visit(stabilizer, hold->needs[i].node);
	}
	if (hold->gated)
		visit_earlier(stabilizer, node, other);
	if (hold->parked)
		visit_parked(stabilizer, node);
}

/* A cheap test, false in most cases: nobody waits for the other node, or all wait only for earlier
 * arrivals. */
static bool might_wait(const struct dpe_stabilizer *stabilizer, const struct dpe_message_node *node,
	const struct dpe_message_node *other)
{
	const struct dpe_hold *hold = other->hold;

	if (node == other)
		return true;
	if (!node->hold)
		return false;
	if (node->arrival < other->arrival && !stabilizer->nbackward && !stabilizer->nparked &&
		!stabilizer->ninverted)
		return false;
	return hold->waiters.count || (hold->thread && hold->thread->parked.count) ||
	       (other->host && (other->host->gate.count || node->hold->gated));
}

bool dpe_waits_for(
	struct dpe_stabilizer *stabilizer, struct dpe_message_node *node, const struct dpe_message_node *other)
{
	if (!other->hold || !might_wait(stabilizer, node, other))
		return false;
	stabilizer->marks++;
	stabilizer->nwalk = 0;
	visit(stabilizer, node);
	while (stabilizer->nwalk) {
		const struct dpe_message_node *at = stabilizer->walk[--stabilizer->nwalk];

		if (at == other || is_later(at, other))
			return true;
		visit_before(stabilizer, at, other);
	}
	return false;
}
