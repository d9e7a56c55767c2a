/* The lists of sends, and the table of queues by keys. */
#include "stabilizer/sync.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

/* ---- lists of sends ---------------------------------------------------------------------- */

/* Moves the entries from `from` on to `to`. */
static void sends_move(struct dpe_sends *sends, unsigned to, unsigned from, unsigned count)
{
	memmove(&sends->at[to], &sends->at[from], count * sizeof(*sends->at));
	if (sends->has_rounds)
		memmove(&sends->rounds[to], &sends->rounds[from], count * sizeof(*sends->rounds));
}

void dpe_sends_insert(struct dpe_sends *sends, unsigned at, struct dpe_message_node *node, int64_t round)
{
	if (sends->head && sends->count == sends->cap) {
		sends->count -= sends->head;
		at -= sends->head;
		sends_move(sends, 0, sends->head, sends->count);
		sends->head = 0;
	}
	dpe_node_use(node);
	if (sends->count == sends->cap) { /* most queues hold one send only */
		sends->cap = sends->cap ? 2 * sends->cap : 1;
		sends->at = dpe_xrealloc(sends->at, sends->cap * sizeof(struct dpe_message_node *));
		if (sends->has_rounds)
			sends->rounds = dpe_xrealloc(sends->rounds, sends->cap * sizeof(*sends->rounds));
	}
	sends->count++;
	if (at != sends->count - 1)
		sends_move(sends, at + 1, at, sends->count - 1 - at);
	sends->at[at] = node;
	if (sends->has_rounds)
		sends->rounds[at] = round;
}

void dpe_sends_remove(struct dpe_sends *sends, unsigned at)
{
	struct dpe_message_node *node = sends->at[at];

	if (at == sends->head) {
		sends->head++;
	} else {
		sends->count--;
		sends_move(sends, at, at + 1, sends->count - at);
	}
	if (sends->head == sends->count)
		sends->head = sends->count = 0;
	dpe_node_unuse(node);
}

unsigned dpe_sends_find(const struct dpe_sends *sends, const struct dpe_message_node *node)
{
	unsigned at = sends->head;

	while (at < sends->count && sends->at[at] != node)
		at++;
	return at;
}

static void sends_free(struct dpe_sends *sends)
{
	for (unsigned i = sends->head; i < sends->count; i++)
		dpe_node_unuse(sends->at[i]);
	free(sends->at);
	free(sends->rounds);
}

void dpe_queue_sweep(struct dpe_queue *queue)
{
	struct dpe_sends *closed = &queue->closed;
	unsigned kept = 0;

	if (queue->nstale * 2 <= closed->count - closed->head)
		return;
	for (unsigned i = closed->head; i < closed->count; i++) {
		if (dpe_send_is_gated(closed->at[i]))
			sends_move(closed, kept++, i, 1);
		else
			dpe_node_unuse(closed->at[i]);
	}
	closed->head = 0;
	closed->count = kept;
	queue->nstale = 0;
}

/* ---- queues ------------------------------------------------------------------------------ */

static bool same_queue(const void *entry, const void *key)
{
	const struct dpe_queue *queue = entry;
	const struct dpe_role *role = key;

	if (queue->rule != role->rule || queue->nkeys != role->nkeys)
		return false;
	for (unsigned i = 0; i < queue->nkeys; i++) {
		if (!dpe_value_same(queue->keys[i], role->keys[i]))
			return false;
	}
	return true;
}

static uint64_t queue_hash(const struct dpe_role *role)
{
	uint64_t hash = dpe_mix(role->rule, role->nkeys);

	for (unsigned i = 0; i < role->nkeys; i++) {
		if (role->keys[i].kind != DPE_NONE)
			hash = dpe_mix(hash, dpe_value_hash(role->keys[i]));
	}
	return hash;
}

__attribute__((noinline)) struct dpe_queue *dpe_queue_find_other(
	struct dpe_stabilizer *stabilizer, const struct dpe_role *role)
{
	struct dpe_queue *queue =
		dpe_table_find(&stabilizer->queues, queue_hash(role), same_queue, role);

	if (role->nkeys == 1 && queue && !dpe_value_has_own_text(queue->keys[0]))
		*dpe_queue_recent(stabilizer, role->rule, &role->keys[0]) = queue;
	return queue;
}

struct dpe_queue *dpe_queue_of(struct dpe_stabilizer *stabilizer, const struct dpe_role *role)
{
	struct dpe_queue *queue = dpe_queue_find(stabilizer, role);
	uint64_t hash;

	if (queue)
		return queue;
	hash = queue_hash(role);
	assert(role->rule < stabilizer->npairings);
	queue = dpe_xcalloc(1, sizeof(*queue) + role->nkeys * sizeof(*queue->keys));
	queue->hash = hash;
	queue->rule = role->rule;
	queue->nkeys = role->nkeys;
	for (unsigned i = 0; i < role->nkeys; i++)
		queue->keys[i] = dpe_value_copy(role->keys[i]);
	queue->pairing = stabilizer->pairings[role->rule];
	queue->keeps_sources = stabilizer->reports[role->rule];
	queue->folds = queue->pairing == DPE_SYNC_ALL && stabilizer->edges_unused && !queue->keeps_sources &&
		       !stabilizer->ends[role->rule];
	queue->opened.has_rounds = queue->closed.has_rounds = queue->pairing == DPE_SYNC_ROUNDS;
	queue->round = INT64_MIN;
	dpe_table_add(&stabilizer->queues, hash, queue);
	stabilizer->nqueues[role->rule]++;
	return queue;
}

static void queue_free(struct dpe_queue *queue)
{
	for (unsigned i = 0; i < queue->nkeys; i++)
		dpe_value_drop(queue->keys[i]);
	sends_free(&queue->opened);
	sends_free(&queue->closed);
	dpe_waiters_free(&queue->waiting);
	dpe_node_unref(queue->latest[0].node);
	dpe_node_unref(queue->latest[1].node);
	dpe_clock_unref(queue->folded);
	free(queue);
}

bool dpe_queue_no_sends(const struct dpe_queue *queue)
{
	return queue->opened.head == queue->opened.count &&
	       queue->closed.head == queue->closed.count;
}

struct dpe_message_node **dpe_queue_only_send(struct dpe_stabilizer *stabilizer, const struct dpe_role *role)
{
	struct dpe_queue *queue = dpe_queue_find(stabilizer, role);

	if (!queue || queue->pairing != DPE_SYNC_LAST || queue->order != DPE_BY_ARRIVAL ||
		queue->closed.head != queue->closed.count || queue->unpaired ||
		queue->waiting.count || queue->opened.count - queue->opened.head != 1)
		return NULL;
	return &queue->opened.at[queue->opened.head];
}

static void forget_recent(struct dpe_stabilizer *stabilizer, const struct dpe_queue *queue)
{
	struct dpe_queue **recent;

	if (queue->nkeys != 1)
		return;
	recent = dpe_queue_recent(stabilizer, queue->rule, &queue->keys[0]);
	if (*recent == queue)
		*recent = NULL;
}

void dpe_queue_free_if_empty(struct dpe_stabilizer *stabilizer, struct dpe_queue *queue)
{
	if (!dpe_queue_no_sends(queue) || queue->unpaired || queue->waiting.count || queue->held ||
		queue->kept || queue->folded)
		return;
	dpe_table_remove(&stabilizer->queues, queue->hash, queue);
	stabilizer->nqueues[queue->rule]--;
	forget_recent(stabilizer, queue);
	queue_free(queue);
}

void dpe_sync_free(struct dpe_stabilizer *stabilizer)
{
	for (unsigned i = 0; i < stabilizer->queues.size; i++) {
		if (stabilizer->queues.slots[i].entry)
			queue_free(stabilizer->queues.slots[i].entry);
	}
	dpe_table_free(&stabilizer->queues);
}

static void each_send(const struct dpe_sends *sends,
	void (*each)(void *context, const struct dpe_message_node *send), void *context)
{
	for (unsigned i = sends->head; i < sends->count; i++)
		each(context, sends->at[i]);
}

void dpe_sync_each_send(const struct dpe_stabilizer *stabilizer,
	void (*each)(void *context, const struct dpe_message_node *send),
	void (*each_folded)(void *context, const struct dpe_clock *folded), void *context)
{
	for (unsigned i = 0; i < stabilizer->queues.size; i++) {
		const struct dpe_queue *queue = stabilizer->queues.slots[i].entry;

		if (!queue)
			continue;
		each_send(&queue->opened, each, context);
		each_send(&queue->closed, each, context);
		if (queue->folded)
			each_folded(context, queue->folded);
	}
}

void dpe_queue_print(struct dpe_text *to, const struct dpe_queue *queue)
{
	dpe_text_printf(to, "its send (synchronisation %u", queue->rule + 1);
	for (unsigned i = 0; i < queue->nkeys; i++) {
		dpe_text_puts(to, ", ");
		dpe_value_print(to, queue->keys[i]);
	}
	dpe_text_puts(to, ")");
}
