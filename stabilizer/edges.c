/* Synchronisation edges on their way into a past: edges of sends, and edges that enter after a
 * receive. */
#include "stabilizer/edges.h"

#include <stdlib.h>

void dpe_edges_begin(struct dpe_stabilizer *stabilizer)
{
	stabilizer->nedges = stabilizer->ndirect = 0;
}

static void add(struct dpe_stabilizer *stabilizer, const struct dpe_edge *edge)
{
	*DPE_GROW(stabilizer->edges, stabilizer->nedges, stabilizer->capedges) = edge;
}

void dpe_edges_add(struct dpe_stabilizer *stabilizer, const struct dpe_message_node *node)
{
	for (unsigned i = 0; i < node->nedges; i++)
		add(stabilizer, &node->edges[i]);
}

void dpe_edges_add_send(struct dpe_stabilizer *stabilizer, const struct dpe_message_node *send)
{
	*DPE_GROW(stabilizer->direct, stabilizer->ndirect, stabilizer->capdirect) =
		(struct dpe_edge){send->message, send->number, send->stamp};
	dpe_edges_add(stabilizer, send);
	if (!send->nedges && send->entered)
		dpe_past_join(&stabilizer->past, send->entered);
}

static int later_first(const void *a, const void *b)
{
	const struct dpe_edge *const *x = a, *const *y = b;

	return ((*x)->number < (*y)->number) - ((*x)->number > (*y)->number);
}

/* A later event cannot precede an earlier one, so later ones are tried first. */
void dpe_edges_reduce(struct dpe_stabilizer *stabilizer)
{
	const struct dpe_edge **edges;
	unsigned kept = 0;

	for (unsigned i = 0; i < stabilizer->ndirect; i++)
		add(stabilizer, &stabilizer->direct[i]);
	edges = stabilizer->edges;
	if (stabilizer->nedges == 1) {
		if (dpe_past_has(&stabilizer->past, &edges[0]->stamp))
			stabilizer->nedges = 0;
		else
			dpe_past_add(&stabilizer->past, &edges[0]->stamp);
		return;
	}
	if (stabilizer->nedges > 1)
		qsort(edges, stabilizer->nedges, sizeof(edges[0]), later_first);
	for (unsigned i = 0; i < stabilizer->nedges; i++) {
		if (dpe_past_has(&stabilizer->past, &edges[i]->stamp))
			continue;
		dpe_past_add(&stabilizer->past, &edges[i]->stamp);
		edges[kept++] = edges[i];
	}
	for (unsigned i = 0; i < kept / 2; i++) {
		const struct dpe_edge *edge = edges[i];

		edges[i] = edges[kept - 1 - i];
		edges[kept - 1 - i] = edge;
	}
	stabilizer->nedges = kept;
}

void dpe_edges_report(struct dpe_stabilizer *stabilizer, struct dpe_event *event)
{
	if (stabilizer->edges_unused)
		return;
	stabilizer->nadded = 0;
	for (unsigned i = 0; i < stabilizer->nedges; i++)
		*DPE_GROW(stabilizer->added, stabilizer->nadded, stabilizer->capadded) =
			stabilizer->edges[i]->message;
	event->added = stabilizer->added;
	event->nadded = stabilizer->nadded;
}

void dpe_edges_defer(struct dpe_stabilizer *stabilizer, struct dpe_message_node *node)
{
	dpe_edges_reduce(stabilizer);
	if (stabilizer->edges_unused && stabilizer->past.clock != node->stamp.past)
		node->entered = dpe_past_take(&stabilizer->past);
	if (stabilizer->edges_unused || !stabilizer->nedges)
		return;
	node->edges = dpe_pool_take(node->pool, stabilizer->nedges * sizeof(*node->edges));
	node->nedges = stabilizer->nedges;
	node->entered = dpe_past_take(&stabilizer->past);
	for (unsigned i = 0; i < node->nedges; i++) {
		node->edges[i] = *stabilizer->edges[i];
		if (node->edges[i].message) /* else edges are not reported */
			dpe_message_ref(node->edges[i].message);
		dpe_stamp_ref(&node->edges[i].stamp);
	}
}

void dpe_edges_free(struct dpe_message_node *node)
{
	for (unsigned i = 0; i < node->nedges; i++) {
		dpe_message_unref(node->edges[i].message);
		dpe_stamp_unref(&node->edges[i].stamp);
	}
	if (node->nedges)
		dpe_pool_give(node->pool, node->edges, node->nedges * sizeof(*node->edges));
	dpe_clock_unref(node->entered);
	node->entered = NULL;
	node->edges = NULL;
	node->nedges = 0;
}
