/* The order of locks as a graph for Graphviz: an edge leads from a lock that was held to one that was acquired meanwhile.
 * Edges of a cycle are red: another run may deadlock there. */
#include "view/collection.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <uthash.h>

struct lock_order_edge {
	struct {
		dpe_name held, taken;
	} locks;
	uint64_t count;
	uint32_t event; /* the first that acquired it so */
	UT_hash_handle hh;
};

struct held_lock {
	uint32_t lane, event;
	dpe_name object;
};

struct lock_graph {
	const struct dpe_view *view;
	struct lock_order_edge *edges;
	struct held_lock *held;
	unsigned nheld, capheld;
};

static void add_edge(struct lock_graph *graph, dpe_name held, const struct dpe_view_lock *taken)
{
	struct lock_order_edge *edge, key = {.locks = {held, taken->object}};

	HASH_FIND(hh, graph->edges, &key.locks, sizeof(key.locks), edge);
	if (!edge) {
		edge = dpe_xcalloc(1, sizeof(*edge));
		*edge = (struct lock_order_edge){.locks = key.locks, .event = taken->event};
		HASH_ADD(hh, graph->edges, locks, sizeof(edge->locks), edge);
	}
	edge->count++;
}

static void acquire(struct lock_graph *graph, const struct dpe_view_lock *lock)
{
	uint32_t lane = graph->view->events[lock->event].lane;

	for (unsigned i = 0; i < graph->nheld; i++) {
		if (graph->held[i].event == lock->event && graph->held[i].object == lock->object)
			return; /* several rules say so */
	}
	for (unsigned i = 0; i < graph->nheld; i++)
		if (graph->held[i].lane == lane && graph->held[i].object != lock->object)
			add_edge(graph, graph->held[i].object, lock);
	*DPE_GROW(graph->held, graph->nheld, graph->capheld) =
		(struct held_lock){lane, lock->event, lock->object};
}

/* Removes the last acquisition of a lock that was acquired several times. */
static void release(struct lock_graph *graph, const struct dpe_view_lock *lock)
{
	uint32_t lane = graph->view->events[lock->event].lane;

	for (unsigned i = graph->nheld; i-- > 0;) {
		if (graph->held[i].lane != lane || graph->held[i].object != lock->object)
			continue;
		graph->held[i] = graph->held[--graph->nheld];
		return;
	}
}

/* Searches backwards for locks from which a path leads to the edge's source. */
static bool is_in_cycle(const struct lock_graph *graph, const struct lock_order_edge *closing)
{
	bool *reached = dpe_xcalloc(graph->view->ntexts + 1, 1), more = true, found;

	reached[closing->locks.held] = true;
	while (more) {
		more = false;
		for (const struct lock_order_edge *edge = graph->edges; edge; edge = edge->hh.next) {
			if (!reached[edge->locks.taken] || reached[edge->locks.held])
				continue;
			reached[edge->locks.held] = more = true;
		}
	}
	found = reached[closing->locks.taken];
	free(reached);
	return found;
}

static void put_lock(const struct dpe_view *view, FILE *to, dpe_name lock)
{
	dpe_name variable = lock < view->nvariables ? view->variables[lock] : DPE_VIEW_NONE;

	fprintf(to, "\tl%u [label=", lock);
	dpe_view_put_dot(to, dpe_name_text(view->texts, variable && variable != DPE_VIEW_NONE ? variable : lock));
	fputs("];\n", to);
}

static void put_locks(const struct lock_graph *graph, FILE *to)
{
	bool *put = dpe_xcalloc(graph->view->ntexts + 1, 1);

	for (const struct lock_order_edge *edge = graph->edges; edge; edge = edge->hh.next) {
		const dpe_name locks[] = {edge->locks.held, edge->locks.taken};

		for (unsigned i = 0; i < 2; i++) {
			if (!put[locks[i]])
				put_lock(graph->view, to, locks[i]);
			put[locks[i]] = true;
		}
	}
	free(put);
}

/* The caller of the function that acquired it. */
static void add_place(struct dpe_text *to, const struct dpe_view *view, uint32_t event)
{
	dpe_name stack = view->events[event].stack;
	const char *frames = stack ? dpe_name_text(view->keys, stack) : "", *second = strchr(frames, '\n');

	if (second)
		frames = second + 1;
	if (*frames)
		dpe_text_printf(to, ", %.*s", (int)strcspn(frames, "\n"), frames);
}

static void put_edge(const struct lock_graph *graph, FILE *to, const struct lock_order_edge *edge)
{
	struct dpe_text label = {0};

	dpe_view_print_lane(&label, graph->view, graph->view->events[edge->event].lane);
	add_place(&label, graph->view, edge->event);
	if (edge->count > 1)
		dpe_text_printf(&label, " (%" PRIu64 " times)", edge->count);
	fprintf(to, "\tl%u -> l%u [label=", edge->locks.held, edge->locks.taken);
	dpe_view_put_dot(to, label.at);
	fputs(is_in_cycle(graph, edge) ? ", color=red, penwidth=2];\n" : "];\n", to);
	dpe_text_free(&label);
}

void dpe_view_write_locks(struct dpe_view *view, FILE *to)
{
	struct lock_graph graph = {.view = view};
	struct lock_order_edge *edge, *next;

	for (unsigned i = 0; i < view->nlocks; i++) {
		if (view->locks[i].taken)
			acquire(&graph, &view->locks[i]);
		else
			release(&graph, &view->locks[i]);
	}
	fputs("digraph locks {\n\tnode [shape=box, fontname=monospace];\n", to);
	put_locks(&graph, to);
	for (edge = graph.edges; edge; edge = edge->hh.next)
		put_edge(&graph, to, edge);
	fputs("}\n", to);
	HASH_ITER (hh, graph.edges, edge, next) {
		HASH_DEL(graph.edges, edge);
		free(edge);
	}
	free(graph.held);
}
