/* The causal order restricted to a slice: which of its events come immediately before a new one.
 *
 * Within each chain the predecessors of an event are a beginning of the chain, so the last of them
 * is the only candidate; the maximal candidates are the immediate predecessors. */
#include "recognizer/run.h"

#include <stdlib.h>
#include <string.h>

struct dpe_chain {
	uint32_t chain;
	unsigned nevents, capevents;
	struct dpe_occurrence **events; /* in the order of the chain */
};

struct dpe_occurrence *dpe_occurrence_new(const struct dpe_event *event)
{
	struct dpe_occurrence *occurrence = dpe_xmalloc(sizeof(*occurrence));

	occurrence->refs = 1;
	occurrence->message = dpe_message_ref(event->message);
	occurrence->number = event->number;
	occurrence->stamp = event->stamp;
	dpe_stamp_ref(&occurrence->stamp);
	return occurrence;
}

struct dpe_occurrence *dpe_occurrence_ref(struct dpe_occurrence *occurrence)
{
	occurrence->refs++;
	return occurrence;
}

void dpe_occurrence_unref(struct dpe_occurrence *occurrence)
{
	if (!occurrence || --occurrence->refs)
		return;
	dpe_message_unref(occurrence->message);
	dpe_stamp_unref(&occurrence->stamp);
	free(occurrence);
}

bool dpe_preds_have(const struct dpe_preds *preds, const struct dpe_occurrence *occurrence)
{
	for (unsigned i = 0; i < preds->count; i++) {
		if (preds->at[i] == occurrence)
			return true;
	}
	return false;
}

/* The last event of the chain that precedes the stamp. It is almost always the last one there is.
 */
static struct dpe_occurrence *last_before(
	const struct dpe_chain *chain, const struct dpe_stamp *stamp)
{
	uint32_t reach = dpe_stamp_reach(stamp, chain->chain);
	unsigned low = 0, high = chain->nevents;

	if (high && chain->events[high - 1]->stamp.index <= reach)
		return chain->events[high - 1];
	while (low < high) {
		unsigned middle = low + (high - low) / 2;

		if (chain->events[middle]->stamp.index <= reach)
			low = middle + 1;
		else
			high = middle;
	}
	return low ? chain->events[low - 1] : NULL;
}

/* Adds a candidate unless another covers it, and drops those that it covers. */
static void add_candidate(struct dpe_preds *preds, struct dpe_occurrence *candidate)
{
	unsigned kept = 0;

	for (unsigned i = 0; i < preds->count; i++) {
		if (dpe_precedes(&candidate->stamp, &preds->at[i]->stamp))
			return;
	}
	for (unsigned i = 0; i < preds->count; i++) {
		if (!dpe_precedes(&preds->at[i]->stamp, &candidate->stamp))
			preds->at[kept++] = preds->at[i];
	}
	preds->count = kept;
	*DPE_GROW(preds->at, preds->count, preds->cap) = candidate;
}

void dpe_order_preds(
	const struct dpe_order *order, const struct dpe_stamp *stamp, struct dpe_preds *preds)
{
	preds->count = 0;
	for (unsigned i = 0; i < order->nchains; i++) {
		struct dpe_occurrence *candidate = last_before(&order->chains[i], stamp);

		if (candidate)
			add_candidate(preds, candidate);
	}
}

static struct dpe_chain *find_chain(struct dpe_order *order, uint32_t number)
{
	struct dpe_chain *chain;

	for (unsigned i = 0; i < order->nchains; i++) {
		if (order->chains[i].chain == number)
			return &order->chains[i];
	}
	chain = DPE_GROW(order->chains, order->nchains, order->capchains);
	*chain = (struct dpe_chain){.chain = number};
	return chain;
}

void dpe_order_add(struct dpe_order *order, struct dpe_occurrence *occurrence)
{
	struct dpe_chain *chain = find_chain(order, occurrence->stamp.chain);

	*DPE_GROW(chain->events, chain->nevents, chain->capevents) = dpe_occurrence_ref(occurrence);
}

void dpe_order_copy(struct dpe_order *to, const struct dpe_order *from)
{
	for (unsigned i = 0; i < from->nchains; i++) {
		for (unsigned j = 0; j < from->chains[i].nevents; j++)
			dpe_order_add(to, from->chains[i].events[j]);
	}
}

void dpe_order_clear(struct dpe_order *order)
{
	for (unsigned i = 0; i < order->nchains; i++) {
		for (unsigned j = 0; j < order->chains[i].nevents; j++)
			dpe_occurrence_unref(order->chains[i].events[j]);
		free(order->chains[i].events);
	}
	free(order->chains);
	*order = (struct dpe_order){0};
}
