/* The data of the stabilizer: messages with what they wait for, threads, hosts, chains. Private. A message
 * is held until it is released to the sink, and complete once its successors may follow. Only a receive that is
 * no .exit is released before it is complete: its edges enter after it. */
#ifndef DPE_STABILIZER_NODES_H
#define DPE_STABILIZER_NODES_H

#include "stabilizer/clock.h"
#include "stabilizer/limits.h"
#include "stabilizer/heap.h"

#define DPE_NO_CHAIN UINT32_MAX

/* A send that precedes the successors of a receive, but not the receive itself. */
struct dpe_edge {
	struct dpe_message *message;
	uint64_t number;
	struct dpe_stamp stamp;
};

/* A message from its arrival until nothing can name it any more. Counted. */
struct dpe_message_node {
	struct dpe_pool *pool; /* its own pool */
	uint32_t refs;
	uint32_t uses; /* by pairings, which keep the message beyond completion */
	struct dpe_message *message;
	struct dpe_host *host; /* whose clock holds it; NULL: none */
	uint64_t arrival, number;
	struct dpe_stamp stamp; /* index 0: not released */
	uint32_t since;         /* the first event of its chain with the same past */
	bool known;             /* can be named as a predecessor */
	struct dpe_edge *edges; /* of a receive, that enter after it; none if edges are not used … */
	unsigned nedges;
	/* … and the past of its successors with these; NULL: not computed, or the same. */
	const struct dpe_clock *entered;
	struct dpe_hold *hold; /* NULL: complete */
};

enum dpe_need_kind {
	DPE_NEED_PRED,     /* an explicit predecessor, called `known` */
	DPE_NEED_PROGRAM,  /* the previous message of the thread */
	DPE_NEED_SEND,     /* the send that it is paired with */
	DPE_NEED_ANY_SEND, /* any send of `queue`, since none has come */
};

struct dpe_need {
	enum dpe_need_kind kind;
	bool met;
	bool backward; /* for a later arrival */
	struct dpe_known *known;
	struct dpe_message_node *node; /* counted; NULL: not arrived */
	struct dpe_queue *queue;
	unsigned rule; /* of a send: the rule that paired it */
};

/* A need that ends when something completes. Counts the node. */
struct dpe_waiter {
	struct dpe_message_node *node;
	unsigned need;
};

struct dpe_waiters {
	struct dpe_waiter *at;
	unsigned count, cap;
};

/* The role of a message in one synchronisation rule. */
struct dpe_role_of_message {
	struct dpe_queue *queue;
	bool send, ends;
	bool taken; /* a send that was paired before its host's time reached it */
	int64_t round;
};

/* What is needed only until the message is complete. */
struct dpe_hold {
	struct dpe_message_node *before, *after; /* in the list of incomplete messages, by arrival */
	unsigned waits; /* number of unmet needs, plus its turn, its gate, and its push in progress */
	bool parked;    /* waits for its turn in its thread */
	bool gated;     /* waits for its host's time */
	bool paired;    /* its receives have been paired */
	bool deferred;  /* a receive whose edges enter after it */
	bool roleless;  /* its roles are assigned at its turn */
	uint64_t mark;  /* of the last search that visited it */
	unsigned open;  /* its index in host->open */
	struct dpe_thread *thread;
	uint64_t turn;                    /* unless parked: its position in its thread */
	struct dpe_message_node *earlier, *later; /* incomplete neighbours in its thread */
	struct dpe_need *needs;
	unsigned nneeds, capneeds;
	const struct dpe_clock *received; /* counted: what it receives from sends that a clock replaced */
	struct dpe_waiters waiters;
	struct dpe_role_of_message *parts;
	unsigned nparts;
};

/* A name by which predecessors are given. The table owns it until the end. */
struct dpe_known {
	uint32_t log;
	bool by_place;
	struct dpe_value id;       /* owns its text */
	struct dpe_message_node *node;     /* counted; NULL: named but not arrived */
	struct dpe_waiters wanted; /* by successors */
};

struct dpe_thread {
	struct dpe_value host, id; /* own their texts */
	uint64_t next;             /* the next number, unless exhausted */
	uint64_t closed;           /* lower numbers have come or are lost */
	bool exhausted, lossy, has_time;
	bool over; /* its last event was released, and none came since */
	bool ended; /* its last event has come, and none since: the next thread with this id may count from 0
		     * again */
	uint64_t time; /* of its last message so far */
	uint64_t since; /* for dpe_stabilizer_since, if there is no tail or a message without a number */
	bool unnumbered; /* a message without a number came: losses may lie anywhere from `since` on */
	uint32_t chain;
	struct dpe_message_node *tail;  /* counted: the last message so far */
	/* The tail, if it is complete and unshared, and no edge enters after it; or NULL. */
	struct dpe_message_node *fast_tail;
	struct dpe_message_node *head;  /* the first incomplete message */
	uint64_t turns;         /* number of messages that had their turn */
	unsigned nentangled;    /* incomplete messages with predecessors or under a clock */
	struct dpe_heap parked; /* by number */
	uint64_t mark, mark_seq;
};

/* The gate of a clock: messages with the lowest time are open. Later ones wait until these are released and the
 * watermark has passed their own time. */
struct dpe_host {
	struct dpe_value id;      /* owns its text */
	uint64_t watermark, time; /* time: of the open messages, or of the last ones */
	bool has_time;
	uint64_t latest;      /* highest time at the gate so far */
	bool inverted;        /* a lower time came after a higher one */
	struct dpe_heap gate; /* by time, then arrival */
	struct dpe_message_node **open;
	unsigned nopen, capopen;
	uint64_t mark, mark_time;
};

struct dpe_chain_end {
	struct dpe_message_node *tail; /* counted; NULL also for an ended chain */
	uint32_t exported;         /* the last event that is a send, or can be named, or precedes a found thread; of an ended chain its last */
	bool of_thread;
	bool ended; /* its thread has ended */
};

/* What is remembered of ended threads. */
struct dpe_retired {
	struct dpe_retired_thread *slots; /* open addressing */
	uint64_t size, count;             /* its size: a power of two, or 0 */
};

#define DPE_RECENT (1 << DPE_RECENT_BITS)

struct dpe_stabilizer {
	const struct dpe_names *names;
	struct dpe_stabilizer_sink sink;
	enum dpe_sync_pairing *pairings;
	bool *reports; /* by pairing: its edges are given to the sink's `edge` */
	bool *ends;    /* by pairing: its objects may end */
	unsigned npairings;
	unsigned *nqueues; /* of each pairing */
	unsigned *for_thread, nfor_thread; /* rules: see the options */
	dpe_name ends_thread, finds_thread;
	bool ordered, edges_unused, finished;
	bool unnumbered; /* a message of a thread came without a number */
	bool doubt; /* a message never came, or came too late */
	const struct dpe_debug *debug;

	struct dpe_pool *pool; /* of nodes and their edges */
	uint64_t arrivals, released, marks;
	struct dpe_message_node *first, *last; /* incomplete messages */
	struct dpe_message_node *turning; /* whose roles are being assigned */
	struct dpe_heap ready;         /* by arrival */
	struct dpe_heap stuck;         /* by arrival, counted; only after the end of the input */
	struct dpe_message_node **completed;   /* their waiters are to be notified */
	unsigned ncompleted, capcompleted;

	struct dpe_table known, threads, hosts, queues;
	struct dpe_retired retired;
	struct dpe_queue *recent_queues[DPE_RECENT]; /* a cache of queues with one key, by key */
	struct dpe_thread *recent[DPE_RECENT]; /* a cache of threads without a host, by id */
	struct dpe_table parked; /* by thread and number */
	/* Number of messages that wait for a later arrival; without any there are no cycles. */
	unsigned nbackward, nparked, ninverted;
	struct dpe_chain_end *chains;
	unsigned nchains, capchains;
	struct dpe_stamp found; /* counted: of the latest thread that was found; the first `before_found` events precede it */
	uint64_t before_found;
	unsigned max_sends; /* of a DPE_SYNC_ALL queue that folds; tests lower it */
	uint32_t chain_max; /* a full chain is continued by another; tests lower it */

	/* Scratch space. */
	struct dpe_past past;
	const struct dpe_edge **edges;
	unsigned nedges, capedges;
	struct dpe_edge *direct;
	unsigned ndirect, capdirect;
	const struct dpe_message **added;
	unsigned nadded, capadded;
	struct dpe_message_node **walk;
	unsigned nwalk, capwalk;
	struct dpe_message_node **candidates;
	unsigned ncandidates, capcandidates;
	struct dpe_hold **spare; /* for reuse */
	unsigned nspare, capspare;
};

#endif
