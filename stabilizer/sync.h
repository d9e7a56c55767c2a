/* The queues in which sends and receives are paired, one for each rule and keys. Private to sync.c,
 * sync_*.c and stuck_messages.c. */
#ifndef DPE_STABILIZER_SYNC_H
#define DPE_STABILIZER_SYNC_H

#include "stabilizer/stages.h"

struct dpe_sends {
	struct dpe_message_node **at;      /* counted, and used */
	int64_t *rounds;           /* of each; NULL: the pairing has none */
	unsigned head, count, cap; /* entries before head are removed */
	bool has_rounds;
};

enum dpe_queue_order { DPE_BY_ARRIVAL, DPE_BY_TIME, DPE_MIXED };

/* The latest message of a queue that was compared with the one before it. */
struct dpe_sync_mark {
	struct dpe_message_node *node; /* counted; NULL: none */
	const struct dpe_host *host;
	uint64_t time;
};

struct dpe_queue {
	uint64_t hash;
	unsigned rule, nkeys;
	enum dpe_sync_pairing pairing;
	bool keeps_sources; /* a send hides earlier ones of its own chain only: edges are reported */
	enum dpe_queue_order order;
	const struct dpe_host *host;     /* DPE_BY_TIME: the host */
	struct dpe_sends opened, closed; /* closed: by arrival; some may have opened since */
	unsigned nstale;                 /* number of those */
	bool folds; /* many sends are replaced … */
	const struct dpe_clock *folded; /* … by the past of what follows them, counted; NULL: none was */
	unsigned unpaired;               /* receives that have come and are not paired */
	const struct dpe_host *receiver; /* their common host … */
	bool receivers_differ;           /* … unless they differ */
	int64_t round;                   /* the latest round received */
	struct dpe_waiters waiting;      /* receives that wait for any send */
	struct dpe_sync_mark latest[2];  /* of all messages; of `fifo`: receives, sends */
	uint64_t since;                  /* no earlier event was paired in it */
	unsigned sends;                  /* of `once`: how many came, up to 2 */
	bool scattered;                  /* of `once`: some did not follow the one before them */
	unsigned held;                   /* messages in it that are not released */
	bool kept;                       /* even if empty, for later comparisons */
	bool unsure;                     /* reported to depend on the order of arrival */
	struct dpe_value keys[];         /* own their texts */
};

/* ---- sync_queue.c ------------------------------------------------------------------------ */

/* Replaces the send at `at`; the new one is then in use. */
void dpe_sends_insert(struct dpe_sends *sends, unsigned at, struct dpe_message_node *node, int64_t round);
void dpe_sends_remove(struct dpe_sends *sends, unsigned at);
/* The index of the send, or sends->count. */
unsigned dpe_sends_find(const struct dpe_sends *sends, const struct dpe_message_node *node);
/* Drops opened sends from the closed list once they are half of it. */
void dpe_queue_sweep(struct dpe_queue *queue);
bool dpe_queue_no_sends(const struct dpe_queue *queue);
/* The queue of a role, created when new. */
struct dpe_queue *dpe_queue_of(struct dpe_stabilizer *stabilizer, const struct dpe_role *role);
/* The uncached case of dpe_queue_find. */
struct dpe_queue *dpe_queue_find_other(
	struct dpe_stabilizer *stabilizer, const struct dpe_role *role);
/* Frees an empty queue. */
void dpe_queue_free_if_empty(struct dpe_stabilizer *stabilizer, struct dpe_queue *queue);

/* The send waits at its host's gate. */
static inline bool dpe_send_is_gated(const struct dpe_message_node *node)
{
	return node->hold && node->hold->gated;
}

/* The cache slot of a queue with one key that is comparable without its text. */
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

/* or NULL */
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

/* ---- sync_prune.c ------------------------------------------------------------------------ */

/* Drops sends that no future receive can be paired with, or needs to be. */
void dpe_queue_prune(const struct dpe_stabilizer *stabilizer, struct dpe_queue *queue);
/* True if no later receive is paired with a send that precedes the end of the object. `pending` are the messages
 * of the queue that came before the end and may be paired after it. */
bool dpe_queue_may_forget(
	const struct dpe_stabilizer *stabilizer, const struct dpe_queue *queue, unsigned pending);

/* ---- sync_pair.c ------------------------------------------------------------------------- */

/* Adds a need for the send of a queue, and its edge. */
void dpe_sync_pair_with(struct dpe_stabilizer *stabilizer, const struct dpe_queue *queue,
	struct dpe_message_node *receive, struct dpe_message_node *send);

/* ---- sync_order.c ------------------------------------------------------------------------ */

/* The message enters the queue. */
void dpe_sync_begin(const struct dpe_stabilizer *stabilizer, struct dpe_queue *queue,
	const struct dpe_message_node *node);
/* The message is the next one of the queue: reports it if only the order of arrival says so. */
void dpe_sync_check(struct dpe_stabilizer *stabilizer, struct dpe_queue *queue,
	struct dpe_message_node *node, bool send);

/* A receive of a `fifo` queue whose order to the sends is not known: it waits for its send. */
static inline bool dpe_receive_waits(const struct dpe_stabilizer *stabilizer,
	const struct dpe_queue *queue, const struct dpe_message_node *receive)
{
	return queue->pairing == DPE_SYNC_FIFO &&
	       (dpe_is_stated(stabilizer, receive->message) ||
		       (receive->host && queue->order != DPE_BY_ARRIVAL && queue->host != receive->host));
}

/* Compares by time under one host's clock, else by arrival. */
static inline bool dpe_sync_is_before(const struct dpe_message_node *a, const struct dpe_message_node *b)
{
	if (a->host && a->host == b->host && a->message->time != b->message->time)
		return a->message->time < b->message->time;
	return a->arrival < b->arrival;
}

/* "its send (synchronisation 0, 0x55)" */
void dpe_queue_print(struct dpe_text *to, const struct dpe_queue *queue);

#endif
