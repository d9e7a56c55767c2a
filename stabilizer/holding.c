/* What a message waits for: explicit predecessors, its turn in its thread, the time of its host.
 * hold->waits counts the reasons; at 0 the message goes to the ready heap. */
#include "stabilizer/edges.h"
#include "stabilizer/stages.h"

#include <stdlib.h>
#include <string.h>

/* ---- nodes ------------------------------------------------------------------------------- */

struct dpe_message_node *dpe_node_ref(struct dpe_message_node *node)
{
	node->refs++;
	return node;
}

void dpe_node_unref(struct dpe_message_node *node)
{
	if (!node || --node->refs)
		return;
	dpe_message_unref(node->message);
	if (dpe_node_released(node))
		dpe_stamp_unref(&node->stamp);
	dpe_edges_free(node);
	dpe_pool_give(node->pool, node, sizeof(*node));
}

struct dpe_message_node *dpe_node_new(struct dpe_stabilizer *stabilizer, struct dpe_message *message)
{
	struct dpe_message_node *node = dpe_pool_take(stabilizer->pool, sizeof(*node));

	*node = (struct dpe_message_node){
		.refs = 1,
		.pool = stabilizer->pool,
		.message = message,
		.arrival = stabilizer->arrivals++,
	};
	return node;
}

/* A complete message is needed only while a pairing may name it, or ask for its time. */
static void drop_message(struct dpe_message_node *node, bool unnamed)
{
	if (node->hold || (node->uses && !(unnamed && !node->host)))
		return;
	dpe_message_unref(node->message);
	node->message = NULL;
}

void dpe_node_use(struct dpe_message_node *node)
{
	node->uses++;
	dpe_node_ref(node);
}

void dpe_node_unuse(struct dpe_message_node *node)
{
	node->uses--;
	drop_message(node, false);
	dpe_node_unref(node);
}

/* ---- holds ------------------------------------------------------------------------------- */

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
	struct dpe_thread *thread = hold->thread;

	unlink_hold(stabilizer, hold);
	dpe_thread_leave(node);
	for (unsigned i = 0; i < hold->nneeds; i++)
		end_need(stabilizer, &hold->needs[i]);
	for (unsigned i = 0; i < hold->waiters.count; i++)
		dpe_node_unref(hold->waiters.at[i].node);
	free(hold->parts);
	*DPE_GROW(stabilizer->spare, stabilizer->nspare, stabilizer->capspare) = hold;
	node->hold = NULL;
	drop_message(node, stabilizer->edges_unused);
	dpe_node_unref(node);
	if (thread && thread->over)
		dpe_thread_retire(stabilizer, thread);
	else if (thread)
		dpe_fast_push_next(stabilizer, thread);
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

/* ---- explicit predecessors --------------------------------------------------------------- */

struct known_key {
	uint32_t log;
	struct dpe_value id;
};

static bool known_has_key(const void *entry, const void *key)
{
	const struct dpe_known *known = entry;
	const struct known_key *wanted = key;

	return known->log == wanted->log && dpe_value_same(known->id, wanted->id);
}

static uint64_t known_hash(uint32_t log, struct dpe_value id)
{
	return dpe_mix(dpe_value_hash(id), log);
}

struct dpe_known *dpe_known_find(
	const struct dpe_stabilizer *stabilizer, uint32_t log, struct dpe_value id)
{
	struct known_key key = {log, id};

	return dpe_table_find(&stabilizer->known, known_hash(log, id), known_has_key, &key);
}

static struct dpe_known *known_of(
	struct dpe_stabilizer *stabilizer, uint32_t log, struct dpe_value id)
{
	struct dpe_known *known = dpe_known_find(stabilizer, log, id);

	if (known)
		return known;
	known = dpe_xcalloc(1, sizeof(*known));
	known->log = log;
	known->id = dpe_value_copy(id);
	dpe_table_add(&stabilizer->known, known_hash(log, id), known);
	return known;
}

/* The awaited predecessor has come. */
static void give_wanted(struct dpe_message_node *node, const struct dpe_waiter *waiter)
{
	struct dpe_need *need;

	if (!waiter->node->hold)
		return;
	need = &waiter->node->hold->needs[waiter->need];
	if (need->met)
		return;
	need->node = dpe_node_ref(node);
	dpe_hold_await(&node->hold->waiters, waiter->node, waiter->need);
}

void dpe_known_add(struct dpe_stabilizer *stabilizer, struct dpe_message_node *node)
{
	const struct dpe_message *message = node->message;
	bool by_place = message->id.kind == DPE_NONE;
	struct dpe_known *known;

	if (by_place && !message->place)
		return;
	/* A message that no other can name need not be found, and its number in its thread shows duplicates. */
	if (message->unreferenced && (by_place || message->has_seq))
		return;
	known = known_of(stabilizer, message->log, dpe_message_id(message));
	if (known->node && by_place)
		return;
	dpe_node_unref(known->node);
	known->node = dpe_node_ref(node);
	node->known = true;
	known->by_place = by_place;
	for (unsigned i = 0; i < known->wanted.count; i++)
		give_wanted(node, &known->wanted.at[i]);
	dpe_waiters_free(&known->wanted);
}

static bool is_place_in(const struct dpe_known *known, uint32_t log)
{
	return known->log == log && known->by_place && known->node;
}

void dpe_stabilizer_forget_places(struct dpe_stabilizer *stabilizer, uint32_t log)
{
	struct dpe_table old = stabilizer->known;

	stabilizer->known = (struct dpe_table){0};
	for (unsigned i = 0; i < old.size; i++) {
		struct dpe_known *known = old.slots[i].entry;

		if (known && is_place_in(known, log)) {
			known->node->known = false;
			dpe_known_free(known);
		} else if (known) {
			dpe_table_add(&stabilizer->known, old.slots[i].hash, known);
		}
	}
	dpe_table_free(&old);
}

void dpe_known_free(struct dpe_known *known)
{
	dpe_value_drop(known->id);
	dpe_node_unref(known->node);
	dpe_waiters_free(&known->wanted);
	free(known);
}

void dpe_hold_preds(struct dpe_stabilizer *stabilizer, struct dpe_message_node *node)
{
	const struct dpe_message *message = node->message;

	for (unsigned i = 0; i < message->npreds; i++) {
		struct dpe_need need = {.kind = DPE_NEED_PRED};

		need.known = known_of(stabilizer, message->log, message->preds[i]);
		need.node = need.known->node;
		dpe_hold_need(stabilizer, node, &need);
	}
}
