/* The data of the stabilizer: messages with what they wait for, threads, hosts, chains. Private. A message
 * is held until it is released to the sink, and complete once its successors may follow. Only a receive that is
 * no .exit is released before it is complete: its edges enter after it. */
#ifndef DPE_STABILIZER_NODES_H
#define DPE_STABILIZER_NODES_H

#include "stabilizer/clock.h"
#include "stabilizer/tables.h"

#define DPE_NO_CHAIN UINT32_MAX

/* A send that precedes whatever follows a certain receive, though not the receive itself. */
struct dpe_edge {
	struct dpe_message *message;
	uint64_t number;
	struct dpe_stamp stamp;
};

/* A message on its way and, as long as anything can name it, after it has left. Counted. */
struct dpe_node {
	struct dpe_pool *pool; /* that it is from */
	uint32_t refs;
	uint32_t uses; /* by pairings, which keep the message; else it goes when complete */
	struct dpe_message *message;
	struct dpe_host *host; /* whose clock it stands under; NULL: times do not hold it */
	uint64_t arrival, number;
	struct dpe_stamp stamp; /* index 0: not yet released */
	bool known;             /* can be named as a predecessor */
	struct dpe_edge *edges; /* enter right after it … */
	unsigned nedges;
	/* … and this past is what follows then; NULL: to be found. Where nobody is told of edges it
	 * may stand alone, and is all that there is of them. */
	const struct dpe_clock *entered;
	struct dpe_hold *hold; /* NULL: complete */
};

enum dpe_need_kind {
	DPE_NEED_PRED,     /* an explicit predecessor, called `known` */
	DPE_NEED_PROGRAM,  /* the thread's message before it */
	DPE_NEED_SEND,     /* the send it is paired with */
	DPE_NEED_ANY_SEND, /* a send of `queue`: none has come */
};

struct dpe_need {
	enum dpe_need_kind kind;
	bool met;
	bool backward; /* waits for what arrived later */
	struct dpe_known *known;
	struct dpe_node *node; /* counted; NULL: it has not come */
	struct dpe_queue *queue;
};

/* Whose need ends when something completes. Counts the node. */
struct dpe_waiter {
	struct dpe_node *node;
	unsigned need;
};

struct dpe_waiters {
	struct dpe_waiter *at;
	unsigned count, cap;
};

/* What a message is to one synchronisation rule. */
struct dpe_role_of_message {
	struct dpe_queue *queue;
	bool send;
	bool taken; /* the send was paired before its host's time reached it */
	int64_t round;
};

/* What is of interest only until the message is complete. */
struct dpe_hold {
	struct dpe_node *before, *after; /* all that are not complete, in order of arrival */
	unsigned waits; /* unmet needs, the turn, the gate, and one while it is being pushed */
	bool parked;    /* its turn in its thread has not come */
	bool gated;     /* its host's time has not reached it */
	bool paired;    /* its receives have been looked at */
	bool deferred;  /* a receive whose edges enter after it */
	uint64_t mark;  /* of the last walk that saw it */
	unsigned open;  /* its place in host->open */
	struct dpe_thread *thread;
	uint64_t turn;                    /* unless parked: its place in its thread */
	struct dpe_node *earlier, *later; /* the same as a list, of what is not complete */
	struct dpe_need *needs;
	unsigned nneeds, capneeds;
	struct dpe_waiters waiters;
	struct dpe_role_of_message *parts;
	unsigned nparts;
};

/* A name by which predecessors are given. Owned by the table until the end. */
struct dpe_known {
	uint32_t log;
	bool by_place;
	struct dpe_value id;       /* its text is owned */
	struct dpe_node *node;     /* counted; NULL: it has been named but has not come */
	struct dpe_waiters wanted; /* meanwhile */
};

struct dpe_thread {
	struct dpe_value host, id; /* texts owned */
	uint64_t next;             /* number that follows, unless exhausted */
	uint64_t closed;           /* all numbers before it came or can no longer come */
	bool exhausted, lossy, has_time;
	bool over; /* its last event has left, and none came since */
	uint64_t time; /* of the last message in program order so far */
	uint64_t since; /* where there is no tail: as dpe_stabilizer_since says */
	uint32_t chain;
	struct dpe_node *tail;  /* counted: the last in program order so far */
	/* The tail, where the last message took the short way, and only its thread and its chain know
	 * it, and no edges enter after it; or NULL. */
	struct dpe_node *fast_tail;
	struct dpe_node *head;  /* the first that is not complete */
	uint64_t turns;         /* how many have had theirs */
	unsigned nentangled;    /* of what is not complete: with predecessors or under a clock */
	struct dpe_heap parked; /* by number */
	uint64_t mark, mark_seq;
};

/* Messages under one clock pass a gate: those of the least time are open, all later ones wait
 * until these have been released and the watermark has passed their own time. */
struct dpe_host {
	struct dpe_value id;      /* text owned */
	uint64_t watermark, time; /* time: of what is or was open */
	bool has_time;
	uint64_t latest;      /* highest time that came to the gate */
	bool inverted;        /* a time came after a higher one */
	struct dpe_heap gate; /* by time, then arrival */
	struct dpe_node **open;
	unsigned nopen, capopen;
	uint64_t mark, mark_time;
};

struct dpe_chain_end {
	struct dpe_node *tail; /* counted; NULL also where the chain has ended */
	uint32_t told;         /* the last that is a send, or can be named as a predecessor, or that
				* a thread was found after; where the chain has ended its last */
	bool of_thread;
	bool ended; /* its thread: nothing continues it */
};

/* What is remembered of threads that are over, until others have their ids. */
struct dpe_retired {
	struct dpe_retired_thread *slots; /* open addressing */
	uint64_t size, count;             /* size: a power of two, or 0 */
};

#define DPE_RECENT 256

struct dpe_stabilizer {
	const struct dpe_names *names;
	struct dpe_stabilizer_sink sink;
	enum dpe_sync_pairing *pairings;
	unsigned npairings;
	dpe_name ends_thread, finds_thread;
	bool ordered, edges_unused, finished;
	bool doubt; /* something never came, or came too late */
	const struct dpe_debug *debug;

	struct dpe_pool *pool; /* of nodes and their edges */
	uint64_t arrivals, released, marks;
	struct dpe_node *first, *last; /* all that are not complete */
	struct dpe_heap ready;         /* by arrival */
	struct dpe_heap stuck;         /* by arrival, counted; after the end of the input */
	struct dpe_node **completed;   /* yet to be told to those who wait */
	unsigned ncompleted, capcompleted;

	struct dpe_table known, threads, hosts, queues;
	struct dpe_retired retired;
	struct dpe_queue *recent_queues[DPE_RECENT]; /* of one key, by what it is */
	struct dpe_thread *recent[DPE_RECENT]; /* threads without a host, by what they are */
	struct dpe_table parked; /* by thread and number */
	/* How much there is that waits for what arrived later: where none, no circle is possible.
	 */
	unsigned nbackward, nparked, ninverted;
	struct dpe_chain_end *chains;
	unsigned nchains, capchains;
	uint32_t chain_max; /* a chain that is full is continued by another; tests make it small */

	/* Scratch */
	struct dpe_past past;
	const struct dpe_edge **edges;
	unsigned nedges, capedges;
	struct dpe_edge *direct;
	unsigned ndirect, capdirect;
	const struct dpe_message **added;
	unsigned nadded, capadded;
	struct dpe_node **walk;
	unsigned nwalk, capwalk;
	struct dpe_node **candidates;
	unsigned ncandidates, capcandidates;
	struct dpe_hold **spare; /* emptied holds for reuse */
	unsigned nspare, capspare;
};

#endif
