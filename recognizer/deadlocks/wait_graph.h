/* The parts of the wait-for graph. Private to wait_graph.c, wait_cycles.c, hang.c and long_waits.c. */
#ifndef DPE_RECOGNIZER_DEADLOCKS_WAIT_GRAPH_H
#define DPE_RECOGNIZER_DEADLOCKS_WAIT_GRAPH_H

#include "recognizer/recognizer.h"

struct dpe_wait_edge {
	uint32_t to; /* the thread that holds, or the object that is awaited */
	uint32_t count;
	struct dpe_message *since; /* counted; NULL: unknown */
};

struct dpe_list {
	uint32_t *at;
	unsigned count, cap;
};

/* A thread with the objects that it awaits, or an object with its holders. */
struct dpe_wait_node {
	struct dpe_value value; /* owns its text */
	struct dpe_wait_edge *edges;
	unsigned nedges, capedges;
	struct dpe_list held; /* objects that the thread holds */
	uint64_t mark;        /* of the last search that visited it */
	uint32_t before;      /* predecessor in that search */
	uint32_t awaited;     /* threads that await the object or are named by it */
	bool reported;            /* a cycle through this thread was reported, and it still waits */
	bool unchecked, unconfirmed;  /* the thread is in that list */
	bool ended;           /* the thread has ended, or the node is unused */
	bool has_name;        /* and this object is the name by which its end is awaited */
	uint32_t name;
	uint64_t end; /* time of its end; 0: unknown */
	uint64_t ask_at,
		pause; /* time of the next check whether it sleeps, and the pause after it */
	const struct dpe_rule *rule; /* the rule that checked its latest wait */
};

struct dpe_wait_table {
	struct dpe_wait_node *nodes;
	unsigned nnodes, capnodes;
	struct dpe_table index; /* of the latest node with each value; entries are index_entry */
	struct dpe_list unused; /* nodes for reuse */
};

struct dpe_wait_graph {
	struct dpe_wait_table threads, objects;
	uint64_t mark;
	struct dpe_list queue;   /* threads that the search has to visit */
	struct dpe_list unchecked;   /* threads that began to wait since the last check */
	struct dpe_list unconfirmed; /* threads whose wait counts once it has lasted */
	/* Number of living threads, and of waiting ones. */
	unsigned nliving, nwaiting;
	const struct dpe_rule *hang_rule; /* the last rule that asked; NULL: none */
	uint64_t latest;                  /* time of the last begin of a wait or end of a thread; 0: unknown */
	uint64_t ask_at, pause; /* time of the next check for a hang, and the pause after it */
	bool hang_reported;            /* and no thread has continued since */
	bool doubtful_reported;        /* a hang that a signal might end was reported */
	uint64_t now;                    /* time of the latest event that changed the graph */
	uint64_t hang_after, long_due;   /* waits are long from this time (ns) on; time of the next check, 0: none */
	uint64_t *places;                /* of long waits that were reported */
	unsigned nplaces, capplaces;
	bool ending; /* a thread is about to end and has not continued: other waits will not end either */
};

/* UINT32_MAX: none. */
uint32_t dpe_wait_graph_node(struct dpe_wait_table *table, struct dpe_value value, bool add);
/* NULL: none. */
struct dpe_wait_edge *dpe_wait_graph_edge(struct dpe_wait_node *node, uint32_t to);
void dpe_list_add(struct dpe_list *list, uint32_t node);
/* A wait of the thread for an object that an ended thread holds; NULL: none. */
const struct dpe_wait_edge *dpe_wait_graph_for_ended(
	struct dpe_wait_graph *waits, uint32_t thread, const struct dpe_wait_edge **held);
/* The thread's wait counts once it has lasted. */
void dpe_wait_graph_unconfirmed(struct dpe_wait_graph *waits, uint32_t thread);
/* Frees the node of an ended thread that holds nothing. */
void dpe_wait_graph_tidy(struct dpe_wait_graph *waits, uint32_t thread);
/* Asks the sink whether the threads of these waits are stuck. */
enum dpe_hang_check dpe_deadlock_ask(struct dpe_recognizer *recognizer, const struct dpe_deadlock *deadlock);
/* The awaited object of the waiting thread that somebody holds; else any. */
struct dpe_wait dpe_wait_graph_wait_of(
	const struct dpe_wait_graph *waits, const struct dpe_wait_node *thread);
/* Reports, as a possible hang, threads that at `time` have waited for long; UINT64_MAX: at the last event. */
void dpe_long_waits_report(
	struct dpe_wait_graph *waits, struct dpe_recognizer *recognizer, uint64_t time);
/* Reports a hang. */
void dpe_hang_settle(struct dpe_wait_graph *waits, struct dpe_recognizer *recognizer, uint64_t time);
/* Time of the next check for a hang; 0: none is due. */
uint64_t dpe_hang_due(const struct dpe_wait_graph *waits);

#endif
