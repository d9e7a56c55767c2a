/* Messages, from their arrival until nothing can name them any more. */
#include "stabilizer/edges.h"

struct dpe_message_node *dpe_node_ref(struct dpe_message_node *node)
{
	node->refs++;
	return node;
}

void dpe_node_unref(struct dpe_message_node *node)
{
	if (!node || --node->refs)
		return;
	dpe_message_unref(node->message);
	if (dpe_node_released(node))
		dpe_stamp_unref(&node->stamp);
	dpe_edges_free(node);
	dpe_pool_give(node->pool, node, sizeof(*node));
}

struct dpe_message_node *dpe_node_new(struct dpe_stabilizer *stabilizer, struct dpe_message *message)
{
	struct dpe_message_node *node = dpe_pool_take(stabilizer->pool, sizeof(*node));

	*node = (struct dpe_message_node){
		.refs = 1,
		.pool = stabilizer->pool,
		.message = message,
		.arrival = stabilizer->arrivals++,
	};
	return node;
}

void dpe_node_drop_message(struct dpe_message_node *node, bool unnamed)
{
	if (node->hold || (node->uses && !(unnamed && !node->host)))
		return;
	dpe_message_unref(node->message);
	node->message = NULL;
}

void dpe_node_use(struct dpe_message_node *node)
{
	node->uses++;
	dpe_node_ref(node);
}

void dpe_node_unuse(struct dpe_message_node *node)
{
	node->uses--;
	dpe_node_drop_message(node, false);
	dpe_node_unref(node);
}
