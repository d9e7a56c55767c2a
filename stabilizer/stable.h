/* What the parts of the stabilizer know of each other. Private.
 *
 *	stabilizer.c  the way of a message: push, release, finish
 *	through.c     the short way of a message that waits for nothing
 *	hold.c        what a message waits for, and explicit predecessors
 *	turn.c        the order within a thread and within a host
 *	stuck.c       at the end of the input: what never came, and circles
 *	sync*.c       sends and receives find each other
 *	edges.c       the edges between them
 *	clock.c       stamps
 *	retired.c     threads that are over
 *	horizon.c     what events to come can still follow
 *	table.c       a hash table and a heap
 *
 * A message is *held* until it is released (it has a stamp, the sink has seen it), and *complete*
 * once its successors may follow. The two differ only for a receive that is no .exit: its edges
 * enter right after it, so its successors wait for its sends although it has left itself. */
#ifndef DPE_STABILIZER_STABLE_H
#define DPE_STABILIZER_STABLE_H

#include "stabilizer/stabilizer.h"

#define DPE_NO_CHAIN UINT32_MAX

/* ---- table.c ----------------------------------------------------------------------------- */

struct dpe_slot {
	uint64_t hash;
	void *entry;
};

/* Open addressing; the entries belong to whoever added them. Start from {0}. */
struct dpe_table {
	struct dpe_slot *slots;
	unsigned size, count; /* size: a power of two, or 0 */
};

typedef bool dpe_same_fn(const void *entry, const void *key);
void *dpe_table_find(
	const struct dpe_table *table, uint64_t hash, dpe_same_fn *same, const void *key);
void dpe_table_add(struct dpe_table *table, uint64_t hash, void *entry);
void dpe_table_remove(struct dpe_table *table, uint64_t hash, const void *entry);
void dpe_table_free(struct dpe_table *table); /* not the entries */
uint64_t dpe_mix(uint64_t a, uint64_t b);

struct dpe_node;
struct dpe_heap_item {
	uint64_t key, tie;
	struct dpe_node *node;
};

/* The least key first, then the least tie. Start from {0}. */
struct dpe_heap {
	struct dpe_heap_item *at;
	unsigned count, cap;
};

void dpe_heap_push(struct dpe_heap *heap, uint64_t key, uint64_t tie, struct dpe_node *node);
struct dpe_node *dpe_heap_pop(struct dpe_heap *heap); /* NULL where it is empty */
void dpe_heap_remove(struct dpe_heap *heap, const struct dpe_node *node);

/* ---- clock.c ----------------------------------------------------------------------------- */

/* A past under construction, which starts from the one before it in the chain. */
struct dpe_past {
	struct dpe_pool *pool; /* of new clocks; borrowed */
	struct dpe_clock *clock; /* counted; NULL: empty */
	uint32_t own;            /* the chain of the event, whose past this will be */
};

void dpe_past_start(struct dpe_past *past, const struct dpe_clock *base, uint32_t own);
/* True where the event is in it, whatever comes from its own chain counting as there. */
bool dpe_past_has(const struct dpe_past *past, const struct dpe_stamp *stamp);
/* Adds the event with all that precedes it. */
void dpe_past_add(struct dpe_past *past, const struct dpe_stamp *stamp);
/* Adds all that is in the clock, which may be NULL. */
void dpe_past_join(struct dpe_past *past, const struct dpe_clock *clock);
/* The clock, with a reference for the caller. */
const struct dpe_clock *dpe_past_take(struct dpe_past *past);
/* What follows an event of chain `own` whose past is `base`, and this event, too; with a reference for
 * the caller. */
const struct dpe_clock *dpe_clock_follow(struct dpe_pool *pool, const struct dpe_clock *base,
	uint32_t own, const struct dpe_stamp *stamp);
const struct dpe_clock *dpe_clock_ref(const struct dpe_clock *clock); /* accepts NULL */
void dpe_clock_unref(const struct dpe_clock *clock); /* accepts NULL */
void dpe_past_free(struct dpe_past *past);
typedef void dpe_reach_fn(void *context, uint32_t chain, uint32_t index);
/* Tells how far the clock reaches into each chain. */
void dpe_clock_each(const struct dpe_clock *clock, dpe_reach_fn *visit, void *context);

/* ---- nodes ------------------------------------------------------------------------------- */

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
struct dpe_factor {
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
	struct dpe_factor *parts;
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
	struct dpe_node *quick;
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

/* How far the chain goes; 0: it is empty. */
static inline uint32_t dpe_chain_last(const struct dpe_chain_end *end)
{
	if (end->tail)
		return end->tail->stamp.index;
	return end->ended ? end->told : 0;
}

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
	bool ordered, edges_untold, finished;
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

/* Where the thread stands among the recent ones. */
static inline unsigned dpe_recent_place(struct dpe_value id)
{
	return (unsigned)((uint64_t)id.num * 0x9e3779b97f4a7c15ull >> 56);
}

_Static_assert(DPE_RECENT == 256, "eight bits tell the place");

/* What the past of whatever follows the node begins with; node->edges are not in it yet. */
static inline const struct dpe_clock *dpe_node_past(const struct dpe_node *node)
{
	return node->entered && !node->nedges ? node->entered : node->stamp.past;
}

/* With one reference; takes over that of the message. */
struct dpe_node *dpe_node_new(struct dpe_stabilizer *stabilizer, struct dpe_message *message);
struct dpe_node *dpe_node_ref(struct dpe_node *node);
void dpe_node_unref(struct dpe_node *node); /* accepts NULL */
/* Pairings that need the message of a send after it is complete. */
void dpe_node_use(struct dpe_node *node);
void dpe_node_unuse(struct dpe_node *node); /* with its reference */
static inline bool dpe_node_released(const struct dpe_node *node)
{
	return node->stamp.index != 0;
}

/* ---- hold.c ------------------------------------------------------------------------------ */

struct dpe_node *dpe_hold_new(struct dpe_stabilizer *stabilizer, struct dpe_message *message);
/* Ends the hold: unlinked, emptied, its waiters forgotten. */
void dpe_hold_end(struct dpe_stabilizer *stabilizer, struct dpe_node *node);
/* One reason less to wait. */
void dpe_hold_drop(struct dpe_stabilizer *stabilizer, struct dpe_node *node);
/* A need on a node (with its known name, where it has one), met if that is complete. Returns its
 * index. A DPE_NEED_ANY_SEND has no node yet. */
unsigned dpe_hold_need(
	struct dpe_stabilizer *stabilizer, struct dpe_node *node, const struct dpe_need *need);
/* Ends a need for whatever reason; nothing where it was met before. */
void dpe_hold_meet(struct dpe_stabilizer *stabilizer, struct dpe_node *node, unsigned need);
void dpe_hold_await(struct dpe_waiters *waiters, struct dpe_node *node, unsigned need);
void dpe_waiters_free(struct dpe_waiters *waiters);

/* The known name of an id in a log, or NULL. */
struct dpe_known *dpe_known_find(
	const struct dpe_stabilizer *stabilizer, uint32_t log, struct dpe_value id);
/* The message can now be named as a predecessor, if it can be named at all. */
void dpe_known_add(struct dpe_stabilizer *stabilizer, struct dpe_node *node);
/* Explicit predecessors. */
void dpe_hold_preds(struct dpe_stabilizer *stabilizer, struct dpe_node *node);

/* ---- turn.c ------------------------------------------------------------------------------ */

bool dpe_value_same(struct dpe_value a, struct dpe_value b); /* also where both are not there */

/* The thread of a message, where it came up lately and is known without a look at its text; or NULL. */
static inline struct dpe_thread *dpe_thread_recent(
	const struct dpe_stabilizer *stabilizer, const struct dpe_message *message)
{
	struct dpe_thread *thread = stabilizer->recent[dpe_recent_place(message->thread)];

	return thread && thread->id.num == message->thread.num &&
			       thread->id.kind == message->thread.kind &&
			       (dpe_message_is_plain(message) || message->host.kind == DPE_NONE)
		       ? thread
		       : NULL;
}
/* The thread of a message, made when new; NULL where it has none. */
struct dpe_thread *dpe_thread_of(
	struct dpe_stabilizer *stabilizer, const struct dpe_message *message);
void dpe_thread_free(struct dpe_thread *thread);
/* The same, and nobody finds it any more. */
void dpe_thread_remove(struct dpe_stabilizer *stabilizer, struct dpe_thread *thread);
/* True where the number was there before, or can no longer come. */
bool dpe_thread_passed(
	const struct dpe_stabilizer *stabilizer, const struct dpe_thread *thread, uint64_t seq);
/* Program order. */
void dpe_thread_join(
	struct dpe_stabilizer *stabilizer, struct dpe_thread *thread, struct dpe_node *node);
/* The message is complete. */
void dpe_thread_leave(struct dpe_node *node);
/* All numbers before this one came or are lost: says so, and lets what follows go on. */
void dpe_thread_close(struct dpe_stabilizer *stabilizer, struct dpe_thread *thread, uint64_t seq);

struct dpe_host *dpe_host_of(struct dpe_stabilizer *stabilizer, struct dpe_value id);
/* Puts a gated message before its host's gate. */
void dpe_gate_enter(struct dpe_stabilizer *stabilizer, struct dpe_node *node);
/* Lets through what may pass. */
void dpe_gate_open(struct dpe_stabilizer *stabilizer, struct dpe_host *host);
/* Lets one through out of turn. */
void dpe_gate_force(struct dpe_stabilizer *stabilizer, struct dpe_node *node);
/* The message has been released. */
void dpe_gate_leave(struct dpe_stabilizer *stabilizer, struct dpe_node *node);

/* ---- retired.c --------------------------------------------------------------------------- */

/* Nothing of the thread is on its way: it is freed, if so little of it is worth remembering. */
void dpe_thread_retire(struct dpe_stabilizer *stabilizer, struct dpe_thread *thread);
/* Gives a new thread what is remembered of the last one with its id. */
void dpe_thread_revive(struct dpe_stabilizer *stabilizer, struct dpe_thread *thread);
/* Where what follows the last event of a thread that is over begins; 0: no such thread. */
uint64_t dpe_retired_since(const struct dpe_retired *retired, struct dpe_value id);
void dpe_retired_free(struct dpe_retired *retired);

/* ---- through.c --------------------------------------------------------------------------- */

/* Lets a message of a thread through, if it leaves at once, its node stays the thread's and no edge is
 * to be told: then nothing has to be counted but the event. False where nothing was done. */
bool dpe_pass_quickly(struct dpe_stabilizer *stabilizer, struct dpe_thread *thread,
	struct dpe_message *message);
/* The same for one with a part in synchronisations. */
bool dpe_pass_quickly_as(struct dpe_stabilizer *stabilizer, struct dpe_thread *thread,
	struct dpe_message *message, const struct dpe_role *role);
/* Lets a message through, if it can leave at once; false where nothing was done. The thread may be
 * NULL. */
bool dpe_pass_through(struct dpe_stabilizer *stabilizer, struct dpe_thread *thread,
	struct dpe_message *message, const struct dpe_role *roles, unsigned nroles);

/* ---- edges.c ----------------------------------------------------------------------------- */

/* Edges are collected in stabilizer->edges: first none, … */
void dpe_edges_begin(struct dpe_stabilizer *stabilizer);
/* … then those that enter right after a node, … */
void dpe_edges_add(struct dpe_stabilizer *stabilizer, const struct dpe_node *node);
/* … or that a send makes, which was released. */
void dpe_edges_add_send(struct dpe_stabilizer *stabilizer, const struct dpe_node *send);
/* Takes them into stabilizer->past; those stay that told something new, the earlier first. */
void dpe_edges_reduce(struct dpe_stabilizer *stabilizer);
/* What stayed, as the event tells it. */
void dpe_edges_tell(struct dpe_stabilizer *stabilizer, struct dpe_event *event);
/* Gives them to a node, right after which they enter, instead. */
void dpe_edges_defer(struct dpe_stabilizer *stabilizer, struct dpe_node *node);
void dpe_edges_free(struct dpe_node *node);

/* ---- sync*.c ----------------------------------------------------------------------------- */

/* Notes what the message is to the synchronisation rules. */
void dpe_sync_enter(struct dpe_stabilizer *stabilizer, struct dpe_node *node,
	const struct dpe_role *roles, unsigned nroles);
/* Its host's time has reached the message. */
void dpe_sync_open(struct dpe_node *node);
/* Nothing but its sends keeps the message: finds them, and adds needs for them. */
void dpe_sync_pair(struct dpe_stabilizer *stabilizer, struct dpe_node *node);
/* Where a receive stands when nothing is held: the sends that it gets. */
struct dpe_meeting {
	struct dpe_queue *queue; /* NULL: nothing was sent */
	struct dpe_node *const *sends;
	unsigned nsends;
};

/* False where the receive has to wait, or it takes more to find out. Changes nothing. */
bool dpe_sync_meet(struct dpe_stabilizer *stabilizer, const struct dpe_role *role,
	struct dpe_meeting *meeting);
/* The receive has left. */
void dpe_sync_part(struct dpe_stabilizer *stabilizer, const struct dpe_meeting *meeting);
/* A send that nobody waits for has left. */
void dpe_sync_add(
	struct dpe_stabilizer *stabilizer, const struct dpe_role *role, struct dpe_node *node);
/* The one send that is there to be received, where a receive that comes now gets it and it stays, and
 * a send that comes now takes its place; as of a lock, most of the time. NULL: it takes more. */
struct dpe_node **dpe_sync_only(struct dpe_stabilizer *stabilizer, const struct dpe_role *role);
/* Each send that a receive may still be paired with. */
void dpe_sync_each_send(const struct dpe_stabilizer *stabilizer,
	void (*each)(void *context, const struct dpe_node *send), void *context);
/* "its send (synchronisation 0, 0x55)" */
void dpe_queue_print(struct dpe_text *to, const struct dpe_queue *queue);
void dpe_sync_free(struct dpe_stabilizer *stabilizer);

/* ---- stuck.c ----------------------------------------------------------------------------- */

/* True where the node cannot be complete before the other one is. */
bool dpe_waits_for(
	struct dpe_stabilizer *stabilizer, struct dpe_node *node, const struct dpe_node *other);
/* The input has ended: notes what waits for what never came. */
void dpe_stuck_collect(struct dpe_stabilizer *stabilizer);
void dpe_stuck_add(struct dpe_stabilizer *stabilizer, struct dpe_node *node);
/* Tells sink.waits what a node that is not released waits for. */
void dpe_stuck_tell(struct dpe_stabilizer *stabilizer, const struct dpe_node *node);
/* Nothing is ready: lets the first that is stuck go on without. */
void dpe_stuck_relieve(struct dpe_stabilizer *stabilizer);

/* ---- stabilizer.c ------------------------------------------------------------------------ */

/* So many messages of the node's thread are lost before it. */
void dpe_tell_lost(struct dpe_stabilizer *stabilizer, const struct dpe_node *after, uint64_t count);

#endif
