/* edges: synchronisation edges on their way into a past. Private to the stabilizer. */
#ifndef DPE_STABILIZER_EDGES_H
#define DPE_STABILIZER_EDGES_H

#include "stabilizer/stages.h"

/* Edges are collected in stabilizer->edges: begin, … */
void dpe_edges_begin(struct dpe_stabilizer *stabilizer);
/* … add edges that enter after a node, … */
void dpe_edges_add(struct dpe_stabilizer *stabilizer, const struct dpe_message_node *node);
/* … add that of a released send, whose own edges join stabilizer->past if they are not used. */
void dpe_edges_add_send(struct dpe_stabilizer *stabilizer, const struct dpe_message_node *send);
/* Joins the edges with stabilizer->past, and keeps the edges that added something, in order. */
void dpe_edges_reduce(struct dpe_stabilizer *stabilizer);
/* Reports the kept edges with the event. */
void dpe_edges_report(struct dpe_stabilizer *stabilizer, struct dpe_event *event);
/* Lets them enter after the node instead, whose past stabilizer->past began with. */
void dpe_edges_defer(struct dpe_stabilizer *stabilizer, struct dpe_message_node *node);
void dpe_edges_free(struct dpe_message_node *node);

/* Whether some receive may be paired with the message, which is not complete yet. */
static inline bool dpe_node_sends(const struct dpe_message_node *node)
{
	for (unsigned i = 0; i < node->hold->nparts; i++) {
		if (node->hold->parts[i].send)
			return true;
	}
	return false;
}

/* The first event of its chain with that past; 0: it is newer. */
static inline uint32_t dpe_node_past_since(const struct dpe_message_node *node)
{
	return dpe_node_past(node) == node->stamp.past ? node->since : 0;
}

/* For the stamp of the next event of the chain. */
static inline uint32_t dpe_since_after(const struct dpe_message_node *tail, const struct dpe_stamp *stamp)
{
	return tail && tail->stamp.past == stamp->past ? tail->since : stamp->index;
}

#endif
