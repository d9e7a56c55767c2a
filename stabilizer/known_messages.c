/* Messages by their names, and the explicit predecessors of a message, which may come later. */
#include "stabilizer/stages.h"

#include <stdlib.h>

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
