/* waits: the graph of who waits for whom, as its parts share it. Private.
 *
 *	wait_graph.c        what threads hold and await
 *	wait_cycles.c  circles, and waits that can only end by themselves
 *	hang.c         no thread can go on */
#ifndef DPE_RECOGNIZER_DEADLOCKS_WAIT_GRAPH_H
#define DPE_RECOGNIZER_DEADLOCKS_WAIT_GRAPH_H

#include "recognizer/recognizer.h"

struct dpe_wait_edge {
	uint32_t to; /* a thread that holds, or an object that is awaited */
	uint32_t count;
	struct dpe_message *since; /* counted; NULL: unknown */
};

struct dpe_list {
	uint32_t *at;
	unsigned count, cap;
};

/* A thread, with what it waits for; or an object, with those who hold it. */
struct dpe_wait_node {
	struct dpe_value value; /* its text is owned */
	struct dpe_wait_edge *edges;
	unsigned nedges, capedges;
	struct dpe_list held; /* objects that the thread holds */
	uint64_t mark;        /* of the last search that came here */
	uint32_t before;      /* where that search came from */
	uint32_t awaited;     /* how many await the object, or are known by it */
	bool reported;            /* a cycle through this thread was, and it still waits */
	bool unchecked, unconfirmed;  /* the thread is in the list of that */
	bool ended;           /* the thread has, or the node is unused */
	bool has_name;        /* … by which its end is awaited: that object */
	uint32_t name;
	uint64_t end; /* when; 0: unknown */
	uint64_t ask_at,
		pause; /* when to look again whether it sleeps, and how long after that */
	const struct dpe_rule *rule; /* that checked its latest wait */
};

struct dpe_wait_index {
	UT_hash_handle hh;
	uint64_t hash;
	uint32_t node;
	struct dpe_wait_index *same_hash;
};

struct dpe_wait_table {
	struct dpe_wait_node *nodes;
	unsigned nnodes, capnodes;
	struct dpe_wait_index *index;
	struct dpe_wait_index *spare; /* entries of it that there are no more, by same_hash */
	struct dpe_list unused; /* places of nodes that there are no more */
};

struct dpe_wait_graph {
	struct dpe_wait_table threads, objects;
	uint64_t mark;
	struct dpe_list queue;   /* threads that the search has to look at */
	struct dpe_list unchecked;   /* that began to wait since the last check */
	struct dpe_list unconfirmed; /* whose wait counts once it has lasted, not told yet */
	/* Of threads that have not ended: how many there are, and how many of them wait. */
	unsigned nliving, nwaiting;
	const struct dpe_rule *hang_rule; /* that asked last; NULL: nobody did */
	uint64_t latest;                  /* beginning of a wait, or end of a thread; 0: unknown */
	uint64_t ask_at, pause; /* when to look for a hang again, and how long after that */
	bool hang_reported;            /* and nobody went on since */
	bool doubtful_reported;        /* a hang that a signal might end, once */
	bool ending; /* a thread is about to, and did not go on before: what waits goes on no more
		      */
};

/* UINT32_MAX: there is none. */
uint32_t dpe_wait_graph_node(struct dpe_wait_table *table, struct dpe_value value, bool add);
/* NULL: there is none. */
struct dpe_wait_edge *dpe_wait_graph_edge(struct dpe_wait_node *node, uint32_t to);
void dpe_list_add(struct dpe_list *list, uint32_t node);
/* The thread waits for nothing any more. */
void dpe_wait_graph_cut(struct dpe_wait_graph *waits, uint32_t thread);
/* It is known by its name no more. */
void dpe_wait_graph_unname(struct dpe_wait_graph *waits, uint32_t thread);
/* Gives up the node of a thread that has ended and left nothing. */
void dpe_wait_graph_tidy(struct dpe_wait_graph *waits, uint32_t thread);
/* Whether the threads of these waits are stuck, as far as whoever observes them knows. */
enum dpe_hangs dpe_wait_graph_ask(
	struct dpe_recognizer *recognizer, const struct dpe_deadlock *deadlock);
/* Tells of a hang. */
void dpe_hang_settle(struct dpe_wait_graph *waits, struct dpe_recognizer *recognizer, uint64_t time);
/* When to look for a hang; 0: there is none to look for. */
uint64_t dpe_hang_due(const struct dpe_wait_graph *waits);

#endif
