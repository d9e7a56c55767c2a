/* What a message waits for: explicit predecessors, its turn in its thread, the time of its host.
 * hold->waits counts the reasons; at 0 the message goes to the ready heap. */
#include "stabilizer/stages.h"

#include <stdlib.h>

static struct dpe_hold *take_spare(struct dpe_stabilizer *stabilizer)
{
	struct dpe_hold *hold, old;

	if (!stabilizer->nspare)
		return dpe_xcalloc(1, sizeof(*hold));
	hold = stabilizer->spare[--stabilizer->nspare];
	old = *hold;
	*hold = (struct dpe_hold){
		.needs = old.needs,
		.capneeds = old.capneeds,
		.waiters = {.at = old.waiters.at, .cap = old.waiters.cap},
	};
	return hold;
}

struct dpe_message_node *dpe_hold_new(struct dpe_stabilizer *stabilizer, struct dpe_message *message)
{
	struct dpe_message_node *node = dpe_node_new(stabilizer, message);

	node->hold = take_spare(stabilizer);
	node->hold->before = stabilizer->last;
	if (stabilizer->last)
		stabilizer->last->hold->after = node;
	else
		stabilizer->first = node;
	stabilizer->last = node;
	return node;
}

static void unlink_hold(struct dpe_stabilizer *stabilizer, const struct dpe_hold *hold)
{
	if (hold->before)
		hold->before->hold->after = hold->after;
	else
		stabilizer->first = hold->after;
	if (hold->after)
		hold->after->hold->before = hold->before;
	else
		stabilizer->last = hold->before;
}

static void leave_thread(struct dpe_thread *thread, const struct dpe_message_node *node)
{
	const struct dpe_hold *hold = node->hold;

	thread->nentangled -= dpe_node_is_entangled(node);
	if (hold->earlier)
		hold->earlier->hold->later = hold->later;
	else if (thread->head == node)
		thread->head = hold->later;
	if (hold->later)
		hold->later->hold->earlier = hold->earlier;
}

static void end_need(struct dpe_stabilizer *stabilizer, struct dpe_need *need)
{
	if (need->backward && !need->met)
		stabilizer->nbackward--;
	if (need->kind == DPE_NEED_SEND)
		dpe_node_unuse(need->node);
	else
		dpe_node_unref(need->node);
}

void dpe_hold_end(struct dpe_stabilizer *stabilizer, struct dpe_message_node *node)
{
	struct dpe_hold *hold = node->hold;

	unlink_hold(stabilizer, hold);
	if (hold->thread)
		leave_thread(hold->thread, node);
	for (unsigned i = 0; i < hold->nneeds; i++)
		end_need(stabilizer, &hold->needs[i]);
	for (unsigned i = 0; i < hold->waiters.count; i++)
		dpe_node_unref(hold->waiters.at[i].node);
	dpe_clock_unref(hold->received);
	free(hold->parts);
	*DPE_GROW(stabilizer->spare, stabilizer->nspare, stabilizer->capspare) = hold;
	node->hold = NULL;
	dpe_node_drop_message(node, stabilizer->edges_unused);
	dpe_node_unref(node);
}

void dpe_hold_drop(struct dpe_stabilizer *stabilizer, struct dpe_message_node *node)
{
	if (--node->hold->waits)
		return;
	if (dpe_node_released(node))
		*DPE_GROW(stabilizer->completed, stabilizer->ncompleted, stabilizer->capcompleted) =
			node;
	else
		dpe_heap_push(&stabilizer->ready, node->arrival, 0, node);
}

void dpe_hold_await(struct dpe_waiters *waiters, struct dpe_message_node *node, unsigned need)
{
	*DPE_GROW(waiters->at, waiters->count, waiters->cap) =
		(struct dpe_waiter){dpe_node_ref(node), need};
}

void dpe_waiters_free(struct dpe_waiters *waiters)
{
	for (unsigned i = 0; i < waiters->count; i++)
		dpe_node_unref(waiters->at[i].node);
	free(waiters->at);
	*waiters = (struct dpe_waiters){0};
}

unsigned dpe_hold_need(
	struct dpe_stabilizer *stabilizer, struct dpe_message_node *node, const struct dpe_need *need)
{
	struct dpe_hold *hold = node->hold;
	struct dpe_message_node *target = need->node;
	unsigned index = hold->nneeds;
	struct dpe_need *added = DPE_GROW(hold->needs, hold->nneeds, hold->capneeds);

	*added = *need;
	if (need->kind == DPE_NEED_SEND)
		dpe_node_use(need->node);
	else if (need->node)
		dpe_node_ref(need->node);
	added->met = target && !target->hold;
	added->backward = !added->met && (!target || target->arrival >= node->arrival);
	stabilizer->nbackward += added->backward;
	if (added->met)
		return index;
	hold->waits++;
	if (target)
		dpe_hold_await(&target->hold->waiters, node, index);
	else if (need->known)
		dpe_hold_await(&need->known->wanted, node, index);
	return index;
}

void dpe_hold_meet(struct dpe_stabilizer *stabilizer, struct dpe_message_node *node, unsigned index)
{
	struct dpe_need *need;

	if (!node->hold || node->hold->needs[index].met)
		return;
	need = &node->hold->needs[index];
	need->met = true;
	stabilizer->nbackward -= need->backward;
	dpe_hold_drop(stabilizer, node);
}

void dpe_hold_stuck(struct dpe_stabilizer *stabilizer, struct dpe_message_node *node)
{
	dpe_heap_push(&stabilizer->stuck, node->arrival, 0, dpe_node_ref(node));
}
