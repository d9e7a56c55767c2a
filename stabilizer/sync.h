/* The queues by which sends and receives find each other: one for each rule and combination of
 *keys. Private to
 *
 *	sync_queue.c  lists of sends, and the queues with their keys
 *	sync_pair.c   which sends a receive is paired with, and which no receive will want
 *	sync.c        messages on their way, the long one and the short one */
#ifndef DPE_STABILIZER_SYNC_H
#define DPE_STABILIZER_SYNC_H

#include "stabilizer/stages.h"

struct dpe_sends {
	struct dpe_node **at;      /* counted and used */
	int64_t *rounds;           /* of each */
	unsigned head, count, cap; /* those before head are gone */
};

enum dpe_queue_order { DPE_BY_ARRIVAL, DPE_BY_TIME, DPE_MIXED };

struct dpe_queue {
	uint64_t hash;
	unsigned rule, nkeys;
	struct dpe_value *keys; /* texts owned */
	enum dpe_sync_pairing pairing;
	enum dpe_queue_order order;
	const struct dpe_host *host;     /* DPE_BY_TIME: whose */
	struct dpe_sends opened, closed; /* closed: by arrival, with some that have opened since */
	unsigned nstale;                 /* of these, how many */
	unsigned unpaired;               /* receives that have come and not been looked at */
	const struct dpe_host *receiver; /* under whose clock they stand … */
	bool receivers_differ;           /* … unless under several */
	int64_t round;                   /* the latest that a receive was of */
	struct dpe_waiters waiting;      /* receives that wait for any send to come */
};

/* ---- sync_queue.c ------------------------------------------------------------------------ */

/* Puts the send, which it uses from then on, where the one at `at` stood. */
void dpe_sends_insert(struct dpe_sends *sends, unsigned at, struct dpe_node *node, int64_t round);
void dpe_sends_remove(struct dpe_sends *sends, unsigned at);
/* Where the send stands; sends->count where it does not. */
unsigned dpe_sends_find(const struct dpe_sends *sends, const struct dpe_node *node);
/* Drops from the closed list what has opened, once that is half of it. */
void dpe_queue_sweep(struct dpe_queue *queue);
bool dpe_queue_no_sends(const struct dpe_queue *queue);
/* The queue of a role, made where there is none. */
struct dpe_queue *dpe_queue_of(struct dpe_stabilizer *stabilizer, const struct dpe_role *role);
/* As dpe_queue_find, where the queue did not come up lately. */
struct dpe_queue *dpe_queue_find_other(
	struct dpe_stabilizer *stabilizer, const struct dpe_role *role);
/* A queue that knows nothing is made anew when it is needed. */
void dpe_queue_free_if_empty(struct dpe_stabilizer *stabilizer, struct dpe_queue *queue);

/* The send waits before its host's gate. */
static inline bool dpe_send_is_gated(const struct dpe_node *node)
{
	return node->hold && node->hold->gated;
}

/* Where the queue is if it came up lately: one of a key that is equal without a look at its text. */
static inline struct dpe_queue **dpe_queue_recent(
	struct dpe_stabilizer *stabilizer, unsigned rule, const struct dpe_value *key)
{
	uint64_t hash = ((uint64_t)key->num + rule) * 0x9e3779b97f4a7c15ull;

	return &stabilizer->recent_queues[(hash >> 40) % DPE_RECENT];
}

static inline bool dpe_queue_is_at_once(const struct dpe_queue *queue, const struct dpe_role *role)
{
	return queue && queue->rule == role->rule && queue->nkeys == 1 &&
	       queue->keys[0].num == role->keys[0].num && queue->keys[0].kind == role->keys[0].kind;
}

/* NULL where there is none. */
static inline struct dpe_queue *dpe_queue_find(
	struct dpe_stabilizer *stabilizer, const struct dpe_role *role)
{
	struct dpe_queue *queue;

	if (role->nkeys == 1) {
		queue = *dpe_queue_recent(stabilizer, role->rule, &role->keys[0]);
		if (dpe_queue_is_at_once(queue, role))
			return queue;
	}
	return dpe_queue_find_other(stabilizer, role);
}

/* ---- sync_pair.c ------------------------------------------------------------------------- */

/* Drops sends that no receive to come will want. */
void dpe_queue_prune(struct dpe_queue *queue);
/* The receive waits for the send, if that is not complete, and its edge enters with it. */
void dpe_sync_pair_with(
	struct dpe_stabilizer *stabilizer, struct dpe_node *receive, struct dpe_node *send);

/* By time under one host's clock, else by arrival. */
static inline bool dpe_sync_is_before(const struct dpe_node *a, const struct dpe_node *b)
{
	if (a->host && a->host == b->host && a->message->time != b->message->time)
		return a->message->time < b->message->time;
	return a->arrival < b->arrival;
}

#endif
