/* Sends and receives find each other. One queue for each rule and combination of keys.
 *
 * Which sends come before a receive goes by time under one host's clock, else by arrival. Where
 * all sends of a queue are of one kind its list is sorted by that, and a receive looks only at
 * the end of the list that matters. Sends that wait before their host's gate stand apart: they
 * concern receives of other hosts only. */
#include "stabilizer/stable.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

struct sends {
	struct dpe_node **at;      /* counted and used */
	int64_t *rounds;           /* of each */
	unsigned head, count, cap; /* those before head are gone */
};

enum queue_order { BY_ARRIVAL, BY_TIME, MIXED };

struct dpe_queue {
	uint64_t hash;
	unsigned rule, nkeys;
	struct dpe_value *keys; /* texts owned */
	enum dpe_sync_pairing pairing;
	enum queue_order order;
	const struct dpe_host *host;     /* BY_TIME: whose */
	struct sends opened, closed;     /* closed: by arrival, with some that have opened since */
	unsigned nstale;                 /* of these, how many */
	unsigned unpaired;               /* receives that have come and not been looked at */
	const struct dpe_host *receiver; /* under whose clock they stand … */
	bool receivers_differ;           /* … unless under several */
	int64_t round;                   /* the latest that a receive was of */
	struct dpe_waiters waiting;      /* receives that wait for any send to come */
};

/* ---- lists of sends ---------------------------------------------------------------------- */

/* Moves what begins at `from`, to `to`. */
static void sends_move(struct sends *sends, unsigned to, unsigned from, unsigned count)
{
	memmove(&sends->at[to], &sends->at[from], count * sizeof(*sends->at));
	memmove(&sends->rounds[to], &sends->rounds[from], count * sizeof(*sends->rounds));
}

static void sends_insert(struct sends *sends, unsigned at, struct dpe_node *node, int64_t round)
{
	unsigned cap = sends->cap;

	if (sends->head && sends->count == sends->cap) {
		sends->count -= sends->head;
		at -= sends->head;
		sends_move(sends, 0, sends->head, sends->count);
		sends->head = 0;
	}
	dpe_node_use(node);
	*DPE_GROW(sends->at, sends->count, sends->cap) = node;
	if (sends->cap != cap)
		sends->rounds =
			dpe_xrealloc(sends->rounds, sends->cap * sizeof(*sends->rounds));
	if (at != sends->count - 1)
		sends_move(sends, at + 1, at, sends->count - 1 - at);
	sends->at[at] = node;
	sends->rounds[at] = round;
}

static void sends_remove(struct sends *sends, unsigned at)
{
	struct dpe_node *node = sends->at[at];

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

static unsigned sends_find(const struct sends *sends, const struct dpe_node *node)
{
	unsigned at = sends->head;

	while (at < sends->count && sends->at[at] != node)
		at++;
	return at;
}

static void sends_free(struct sends *sends)
{
	for (unsigned i = sends->head; i < sends->count; i++)
		dpe_node_unuse(sends->at[i]);
	free(sends->at);
	free(sends->rounds);
}

static bool is_gated(const struct dpe_node *node)
{
	return node->hold && node->hold->gated;
}

/* Drops from the closed list what has opened, once that is half of it. */
static void sweep(struct dpe_queue *queue)
{
	struct sends *closed = &queue->closed;
	unsigned kept = 0;

	if (queue->nstale * 2 <= closed->count - closed->head)
		return;
	for (unsigned i = closed->head; i < closed->count; i++) {
		if (is_gated(closed->at[i]))
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

/* Where the queue is if it came up lately: one of a key that is equal without a look at its text. */
static inline struct dpe_queue **recent_queue(
	struct dpe_stabilizer *stabilizer, unsigned rule, const struct dpe_value *key)
{
	uint64_t hash = ((uint64_t)key->num + rule) * 0x9e3779b97f4a7c15ull;

	return &stabilizer->recent_queues[(hash >> 40) % DPE_RECENT];
}

static inline bool is_at_once(const struct dpe_queue *queue, const struct dpe_role *role)
{
	return queue && queue->rule == role->rule && queue->nkeys == 1 &&
	       queue->keys[0].num == role->keys[0].num && queue->keys[0].kind == role->keys[0].kind;
}

/* The same where it did not come up lately. */
static __attribute__((noinline)) struct dpe_queue *find_other_queue(
	struct dpe_stabilizer *stabilizer, const struct dpe_role *role)
{
	struct dpe_queue *queue =
		dpe_table_find(&stabilizer->queues, queue_hash(role), same_queue, role);

	if (role->nkeys == 1 && queue && !dpe_value_has_own_text(queue->keys[0]))
		*recent_queue(stabilizer, role->rule, &role->keys[0]) = queue;
	return queue;
}

/* NULL where there is none. */
static inline struct dpe_queue *find_queue(
	struct dpe_stabilizer *stabilizer, const struct dpe_role *role)
{
	struct dpe_queue *queue;

	if (role->nkeys == 1) {
		queue = *recent_queue(stabilizer, role->rule, &role->keys[0]);
		if (is_at_once(queue, role))
			return queue;
	}
	return find_other_queue(stabilizer, role);
}

static struct dpe_queue *queue_of(struct dpe_stabilizer *stabilizer, const struct dpe_role *role)
{
	struct dpe_queue *queue = find_queue(stabilizer, role);
	uint64_t hash;

	if (queue)
		return queue;
	hash = queue_hash(role);
	assert(role->rule < stabilizer->npairings);
	queue = dpe_xcalloc(1, sizeof(*queue));
	queue->hash = hash;
	queue->rule = role->rule;
	queue->nkeys = role->nkeys;
	queue->keys = dpe_xcalloc(role->nkeys + 1, sizeof(*queue->keys));
	for (unsigned i = 0; i < role->nkeys; i++)
		queue->keys[i] = dpe_value_copy(role->keys[i]);
	queue->pairing = stabilizer->pairings[role->rule];
	queue->round = INT64_MIN;
	dpe_table_add(&stabilizer->queues, hash, queue);
	return queue;
}

static void queue_free(struct dpe_queue *queue)
{
	for (unsigned i = 0; i < queue->nkeys; i++)
		dpe_value_discard(queue->keys[i]);
	free(queue->keys);
	sends_free(&queue->opened);
	sends_free(&queue->closed);
	dpe_waiters_free(&queue->waiting);
	free(queue);
}

static bool no_sends(const struct dpe_queue *queue)
{
	return queue->opened.head == queue->opened.count &&
	       queue->closed.head == queue->closed.count;
}

static void forget_recent(struct dpe_stabilizer *stabilizer, const struct dpe_queue *queue)
{
	struct dpe_queue **recent;

	if (queue->nkeys != 1)
		return;
	recent = recent_queue(stabilizer, queue->rule, &queue->keys[0]);
	if (*recent == queue)
		*recent = NULL;
}

/* A queue that knows nothing is made anew when it is needed. */
static void free_if_empty(struct dpe_stabilizer *stabilizer, struct dpe_queue *queue)
{
	if (!no_sends(queue) || queue->unpaired || queue->waiting.count)
		return;
	dpe_table_remove(&stabilizer->queues, queue->hash, queue);
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

static void each_send(const struct sends *sends,
	void (*each)(void *context, const struct dpe_node *send), void *context)
{
	for (unsigned i = sends->head; i < sends->count; i++)
		each(context, sends->at[i]);
}

void dpe_sync_each_send(const struct dpe_stabilizer *stabilizer,
	void (*each)(void *context, const struct dpe_node *send), void *context)
{
	for (unsigned i = 0; i < stabilizer->queues.size; i++) {
		const struct dpe_queue *queue = stabilizer->queues.slots[i].entry;

		if (!queue)
			continue;
		each_send(&queue->opened, each, context);
		each_send(&queue->closed, each, context);
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

/* ---- before ------------------------------------------------------------------------------ */

static bool is_before(const struct dpe_node *a, const struct dpe_node *b)
{
	if (a->host && a->host == b->host && a->message->time != b->message->time)
		return a->message->time < b->message->time;
	return a->arrival < b->arrival;
}

/* True where the list of sends is sorted as the receive sees it. */
static bool sorted_for(const struct dpe_queue *queue, const struct dpe_node *receive)
{
	return queue->order == BY_ARRIVAL ||
	       (queue->order == BY_TIME && queue->host == receive->host);
}

/* The sends that come before the receive, in order: `count` from the result on. */
static struct dpe_node **sends_before(
	struct dpe_queue *queue, const struct dpe_node *receive, unsigned *count)
{
	struct sends *sends = &queue->opened;
	unsigned low = sends->head, high = sends->count;

	while (low < high) {
		unsigned middle = low + (high - low) / 2;

		if (is_before(sends->at[middle], receive))
			low = middle + 1;
		else
			high = middle;
	}
	*count = low - sends->head;
	return sends->at + sends->head;
}

static void add_candidate(struct dpe_stabilizer *stabilizer, struct dpe_node *send)
{
	unsigned i;

	(void)DPE_GROW(stabilizer->candidates, stabilizer->ncandidates, stabilizer->capcandidates);
	for (i = stabilizer->ncandidates - 1; i && is_before(send, stabilizer->candidates[i - 1]);
		i--)
		stabilizer->candidates[i] = stabilizer->candidates[i - 1];
	stabilizer->candidates[i] = send;
}

/* Fills stabilizer->candidates with all sends that come before the receive, or all that do not. */
static void select_sends(struct dpe_stabilizer *stabilizer, const struct dpe_queue *queue,
	const struct dpe_node *receive, bool before)
{
	const struct sends *opened = &queue->opened, *closed = &queue->closed;

	stabilizer->ncandidates = 0;
	for (unsigned i = opened->head; i < opened->count; i++) {
		if (is_before(opened->at[i], receive) == before)
			add_candidate(stabilizer, opened->at[i]);
	}
	for (unsigned i = closed->head; i < closed->count; i++) {
		if (is_gated(closed->at[i]) && is_before(closed->at[i], receive) == before)
			add_candidate(stabilizer, closed->at[i]);
	}
}

/* ---- what no receive will want ----------------------------------------------------------- */

/* True where every receive still to be paired comes after the send. */
static bool is_settled(const struct dpe_queue *queue, const struct dpe_node *send)
{
	if (send->hold)
		return false;
	if (queue->order == BY_TIME && queue->host->time > send->message->time &&
		queue->receiver == queue->host && !queue->receivers_differ)
		return true;
	return !queue->unpaired && !queue->waiting.count;
}

/* Drops sends that the settled one hides from all receives to come. */
static void drop_hidden(struct dpe_queue *queue, unsigned settled)
{
	struct sends *opened = &queue->opened;
	const struct dpe_node *by = opened->at[settled];

	for (unsigned i = settled; i-- > opened->head;) {
		const struct dpe_node *send = opened->at[i];

		if ((queue->pairing != DPE_SYNC_ALL && queue->pairing != DPE_SYNC_ROUNDS) ||
			(!send->hold && dpe_precedes(&send->stamp, &by->stamp)))
			sends_remove(opened, i);
	}
}

/* What is of a round before the latest, every receive to come is paired with. */
static void prune_rounds(struct dpe_queue *queue)
{
	const struct sends *opened = &queue->opened;

	for (unsigned i = opened->count; i-- > opened->head;) {
		if (opened->rounds[i] >= queue->round || !is_settled(queue, opened->at[i]))
			continue;
		drop_hidden(queue, i);
		return;
	}
}

static void prune(struct dpe_queue *queue)
{
	const struct sends *opened = &queue->opened;

	if (queue->pairing == DPE_SYNC_FIFO)
		return;
	if (queue->pairing == DPE_SYNC_ROUNDS) {
		prune_rounds(queue);
		return;
	}
	for (unsigned back = 1; back <= 2 && back < opened->count - opened->head; back++) {
		unsigned at = opened->count - back;

		if (!is_settled(queue, opened->at[at]))
			continue;
		drop_hidden(queue, at);
		return;
	}
}

/* ---- pairing ----------------------------------------------------------------------------- */

static void pair_with(
	struct dpe_stabilizer *stabilizer, struct dpe_node *receive, struct dpe_node *send)
{
	struct dpe_need need = {.kind = DPE_NEED_SEND, .node = send};

	dpe_debug(stabilizer->debug, "stabilizer", 2, "message %llu receives from %llu",
		(unsigned long long)receive->arrival, (unsigned long long)send->arrival);
	dpe_hold_need(stabilizer, receive, &need);
}

/* The send has been taken: no other receive gets it. */
static void take(struct dpe_queue *queue, struct dpe_node *send)
{
	unsigned at = sends_find(&queue->opened, send);

	if (at < queue->opened.count) {
		sends_remove(&queue->opened, at);
		return;
	}
	for (unsigned i = 0; i < send->hold->nparts; i++) {
		if (send->hold->parts[i].queue == queue && send->hold->parts[i].send)
			send->hold->parts[i].taken = true;
	}
	sends_remove(&queue->closed, sends_find(&queue->closed, send));
}

static void pair_all(struct dpe_stabilizer *stabilizer, struct dpe_node *receive,
	struct dpe_node **sends, unsigned count)
{
	for (unsigned i = 0; i < count; i++) {
		if (!dpe_waits_for(stabilizer, sends[i], receive))
			pair_with(stabilizer, receive, sends[i]);
	}
}

static int64_t round_of(const struct dpe_queue *queue, const struct dpe_node *send)
{
	unsigned at = sends_find(&queue->opened, send);

	return at < queue->opened.count ? queue->opened.rounds[at]
					: queue->closed.rounds[sends_find(&queue->closed, send)];
}

static void pair_rounds(struct dpe_stabilizer *stabilizer, struct dpe_node *receive,
	struct dpe_queue *queue, int64_t round)
{
	const struct sends *opened = &queue->opened;
	bool sorted = sorted_for(queue, receive);

	if (!sorted)
		select_sends(stabilizer, queue, receive, true);
	for (unsigned i = opened->head; sorted && i < opened->count; i++) {
		if (is_before(opened->at[i], receive) && opened->rounds[i] <= round)
			pair_all(stabilizer, receive, &opened->at[i], 1);
	}
	for (unsigned i = 0; !sorted && i < stabilizer->ncandidates; i++) {
		if (round_of(queue, stabilizer->candidates[i]) <= round)
			pair_all(stabilizer, receive, &stabilizer->candidates[i], 1);
	}
	if (round != INT64_MAX && (round > queue->round || round < queue->round - 1))
		queue->round = round;
}

/* The first send, or the last, that does not itself wait for the receive. */
static struct dpe_node *choose(struct dpe_stabilizer *stabilizer, struct dpe_node *receive,
	struct dpe_node **sends, unsigned count, bool last)
{
	for (unsigned i = 0; i < count; i++) {
		struct dpe_node *send = sends[last ? count - 1 - i : i];

		if (!dpe_waits_for(stabilizer, send, receive))
			return send;
	}
	return NULL;
}

static void await_send(
	struct dpe_stabilizer *stabilizer, struct dpe_node *receive, struct dpe_queue *queue)
{
	struct dpe_need need = {.kind = DPE_NEED_ANY_SEND, .queue = queue};
	unsigned index = dpe_hold_need(stabilizer, receive, &need);

	dpe_hold_await(&queue->waiting, receive, index);
	if (stabilizer->finished)
		dpe_stuck_add(stabilizer, receive);
}

static void pair(
	struct dpe_stabilizer *stabilizer, struct dpe_node *receive, struct dpe_queue *queue)
{
	struct dpe_node **sends, *send;
	unsigned count;

	if (sorted_for(queue, receive)) {
		sends = sends_before(queue, receive, &count);
	} else {
		select_sends(stabilizer, queue, receive, true);
		sends = stabilizer->candidates;
		count = stabilizer->ncandidates;
	}
	if (queue->pairing == DPE_SYNC_ALL) {
		pair_all(stabilizer, receive, sends, count);
		return;
	}
	send = choose(stabilizer, receive, sends, count, queue->pairing != DPE_SYNC_FIFO);
	if (!send && queue->pairing == DPE_SYNC_ONCE) {
		select_sends(stabilizer, queue, receive, false);
		send = choose(stabilizer, receive, stabilizer->candidates, stabilizer->ncandidates,
			false);
	}
	if (send)
		pair_with(stabilizer, receive, send);
	else if (queue->pairing == DPE_SYNC_ONCE)
		await_send(stabilizer, receive, queue);
	if (send && queue->pairing == DPE_SYNC_FIFO)
		take(queue, send);
}

void dpe_sync_pair(struct dpe_stabilizer *stabilizer, struct dpe_node *node)
{
	struct dpe_hold *hold = node->hold;

	hold->paired = true;
	for (unsigned i = 0; i < hold->nparts; i++) {
		struct dpe_queue *queue = hold->parts[i].queue;

		if (hold->parts[i].send)
			continue;
		if (queue->pairing == DPE_SYNC_ROUNDS)
			pair_rounds(stabilizer, node, queue, hold->parts[i].round);
		else
			pair(stabilizer, node, queue);
		queue->unpaired--;
		prune(queue);
		free_if_empty(stabilizer, queue);
	}
}

/* ---- entering ---------------------------------------------------------------------------- */

static void open_send(struct dpe_queue *queue, struct dpe_node *node, int64_t round)
{
	struct sends *opened = &queue->opened;
	unsigned at = opened->count;

	while (at > opened->head && is_before(node, opened->at[at - 1]))
		at--;
	sends_insert(opened, at, node, round);
	prune(queue);
}

/* Receives that waited for a send go on to wait for this one. */
static void answer(
	struct dpe_stabilizer *stabilizer, struct dpe_queue *queue, struct dpe_node *send)
{
	unsigned kept = 0;

	for (unsigned i = 0; i < queue->waiting.count; i++) {
		struct dpe_waiter waiter = queue->waiting.at[i];
		struct dpe_node *receive = waiter.node;

		if (dpe_waits_for(stabilizer, send, receive)) {
			queue->waiting.at[kept++] = waiter;
			continue;
		}
		if (receive->hold && !receive->hold->needs[waiter.need].met) {
			pair_with(stabilizer, receive, send);
			dpe_hold_meet(stabilizer, receive, waiter.need);
		}
		dpe_node_unref(receive);
	}
	queue->waiting.count = kept;
}

static void note_order(struct dpe_queue *queue, const struct dpe_node *node)
{
	enum queue_order order = node->host ? BY_TIME : BY_ARRIVAL;

	if (no_sends(queue)) {
		queue->order = order;
		queue->host = node->host;
	} else if (queue->order != order || queue->host != node->host) {
		queue->order = MIXED;
	}
}

static void enter_send(struct dpe_stabilizer *stabilizer, struct dpe_queue *queue,
	struct dpe_node *node, int64_t round)
{
	note_order(queue, node);
	if (node->host)
		sends_insert(&queue->closed, queue->closed.count, node, round);
	else
		open_send(queue, node, round);
	answer(stabilizer, queue, node);
}

static void enter_receive(struct dpe_queue *queue, const struct dpe_node *node)
{
	if (!queue->unpaired) {
		queue->receiver = node->host;
		queue->receivers_differ = false;
	} else if (queue->receiver != node->host) {
		queue->receivers_differ = true;
	}
	queue->unpaired++;
}

void dpe_sync_enter(struct dpe_stabilizer *stabilizer, struct dpe_node *node,
	const struct dpe_role *roles, unsigned nroles)
{
	struct dpe_hold *hold = node->hold;

	if (!nroles)
		return;
	hold->parts = dpe_xcalloc(nroles, sizeof(*hold->parts));
	hold->nparts = nroles;
	for (unsigned i = 0; i < nroles; i++) {
		struct dpe_queue *queue = queue_of(stabilizer, &roles[i]);

		hold->parts[i] = (struct dpe_part){
			.queue = queue, .send = roles[i].send, .round = roles[i].round};
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

/* ---- the short way ----------------------------------------------------------------------- */

bool dpe_sync_meet(struct dpe_stabilizer *stabilizer, const struct dpe_role *role,
	struct dpe_meeting *meeting)
{
	struct dpe_queue *queue = find_queue(stabilizer, role);
	const struct sends *opened;

	*meeting = (struct dpe_meeting){.queue = queue};
	if (!queue)
		return stabilizer->pairings[role->rule] != DPE_SYNC_ONCE;
	opened = &queue->opened;
	if (queue->pairing == DPE_SYNC_ROUNDS || queue->order != BY_ARRIVAL || queue->closed.head != queue->closed.count ||
		queue->unpaired || queue->waiting.count)
		return false;
	meeting->sends = opened->at + opened->head;
	meeting->nsends = opened->count - opened->head;
	if (!meeting->nsends)
		return queue->pairing != DPE_SYNC_ONCE;
	if (queue->pairing == DPE_SYNC_LAST || queue->pairing == DPE_SYNC_ONCE)
		meeting->sends += meeting->nsends - 1;
	if (queue->pairing != DPE_SYNC_ALL)
		meeting->nsends = 1;
	return true;
}

struct dpe_node **dpe_sync_only(struct dpe_stabilizer *stabilizer, const struct dpe_role *role)
{
	struct dpe_queue *queue = find_queue(stabilizer, role);

	if (!queue || queue->pairing != DPE_SYNC_LAST || queue->order != BY_ARRIVAL ||
		queue->closed.head != queue->closed.count || queue->unpaired ||
		queue->waiting.count || queue->opened.count - queue->opened.head != 1)
		return NULL;
	return &queue->opened.at[queue->opened.head];
}

void dpe_sync_part(struct dpe_stabilizer *stabilizer, const struct dpe_meeting *meeting)
{
	struct dpe_queue *queue = meeting->queue;

	if (!queue)
		return;
	if (queue->pairing == DPE_SYNC_FIFO && meeting->nsends)
		sends_remove(&queue->opened, queue->opened.head);
	prune(queue);
	free_if_empty(stabilizer, queue);
}

void dpe_sync_add(
	struct dpe_stabilizer *stabilizer, const struct dpe_role *role, struct dpe_node *node)
{
	struct dpe_queue *queue = queue_of(stabilizer, role);

	note_order(queue, node);
	open_send(queue, node, role->round);
}

void dpe_sync_open(struct dpe_node *node)
{
	for (unsigned i = 0; i < node->hold->nparts; i++) {
		const struct dpe_part *part = &node->hold->parts[i];

		if (!part->send || part->taken)
			continue;
		open_send(part->queue, node, part->round);
		part->queue->nstale++;
		sweep(part->queue);
	}
}
