/* Forgetting events of a slice that no future event can follow immediately, or that nothing needs. */
#include "recognizer/events/events.h"
#include "recognizer/limits.h"

#include <stdlib.h>
#include <string.h>

static unsigned first_needed(const struct dpe_chain *chain, dpe_needed_fn *needed, void *context)
{
	return DPE_PARTITION_POINT(i, 0, chain->nearlier, !needed(context, chain->earlier[i]));
}

static void drop_chain(struct dpe_order *order, struct dpe_chain *chain)
{
	for (unsigned i = 0; i < chain->nearlier; i++)
		dpe_occurrence_unref(chain->earlier[i]);
	order->size -= chain->nearlier + 1;
	if (order->top == chain->last)
		order->top = NULL;
	dpe_occurrence_unref(chain->last);
	free(chain->earlier);
}

static void trim(struct dpe_order *order, struct dpe_chain *chain, dpe_needed_fn *needed, void *context)
{
	unsigned dropped = first_needed(chain, needed, context);

	for (unsigned i = 0; i < dropped; i++)
		dpe_occurrence_unref(chain->earlier[i]);
	chain->nearlier -= dropped;
	order->size -= dropped;
	if (dropped)
		memmove(chain->earlier, chain->earlier + dropped,
			chain->nearlier * sizeof(*chain->earlier));
}

void dpe_order_trim(struct dpe_order *order, dpe_needed_fn *needed, void *context)
{
	const uint64_t size = order->size;
	unsigned kept = 0;

	for (unsigned i = 0; i < order->nchains; i++) {
		struct dpe_chain *chain = &order->chains[i];

		if (!needed(context, chain->last)) {
			drop_chain(order, chain);
			continue;
		}
		if (chain->nearlier >= DPE_TRIM_EARLIER && !(chain->nearlier & (chain->nearlier - 1)))
			trim(order, chain, needed, context);
		order->chains[kept++] = *chain;
	}
	order->nchains = kept;
	if (order->size != size)
		dpe_order_forget_join(order);
}

static void forget_in(struct dpe_order *order, struct dpe_chain *chain, const struct dpe_horizon *horizon)
{
	const struct dpe_occurrence *next = chain->last;
	unsigned kept = chain->nearlier;

	for (unsigned i = chain->nearlier; i--;) {
		struct dpe_occurrence *at = chain->earlier[i];

		if (!dpe_horizon_sees(horizon, chain->chain, at->stamp.index, next->stamp.index)) {
			dpe_occurrence_unref(at);
			continue;
		}
		chain->earlier[--kept] = at;
		next = at;
	}
	chain->nearlier -= kept;
	order->size -= kept;
	if (!chain->nearlier) {
		free(chain->earlier);
		chain->earlier = NULL;
		chain->capearlier = 0;
		return;
	}
	memmove(chain->earlier, chain->earlier + kept, chain->nearlier * sizeof(*chain->earlier));
}

void dpe_order_forget(struct dpe_order *order, const struct dpe_horizon *horizon)
{
	const uint64_t size = order->size;

	for (unsigned i = 0; i < order->nchains; i++)
		forget_in(order, &order->chains[i], horizon);
	if (order->size != size)
		dpe_order_forget_join(order);
}

static unsigned count_ended(const struct dpe_order *order, const struct dpe_horizon *horizon)
{
	unsigned ended = 0;

	for (unsigned i = 0; i < order->nchains; i++)
		ended += dpe_horizon_ended(horizon, order->chains[i].chain);
	return ended;
}

static void mark(const struct dpe_order *order, const struct dpe_preds *preds, bool *needed)
{
	for (unsigned i = 0; i < preds->count; i++)
		needed[dpe_chain_place(order->chains, order->nchains, sizeof(*order->chains), preds->at[i]->stamp.chain)] = true;
}

/* The past of a future event joins some views, so what is immediately before it is so before one of them. */
void dpe_order_forget_ended(struct dpe_order *order, const struct dpe_horizon *horizon, unsigned few)
{
	const struct dpe_stamp *views;
	struct dpe_preds preds = {0};
	unsigned nviews, kept = 0;
	bool *needed;

	views = dpe_horizon_views(horizon, &nviews);
	if (nviews > DPE_ENDED_VIEWS || count_ended(order, horizon) <= few)
		return;
	needed = dpe_xcalloc(order->nchains, sizeof(*needed));
	for (unsigned i = 0; i < nviews; i++) {
		dpe_order_preds_of_past(order, &views[i], &preds);
		mark(order, &preds, needed);
	}
	preds.count = 0;
	dpe_order_ends(order, NULL, &preds);
	mark(order, &preds, needed);
	for (unsigned i = 0; i < order->nchains; i++) {
		struct dpe_chain *chain = &order->chains[i];

		if (needed[i] || !dpe_horizon_ended(horizon, chain->chain))
			order->chains[kept++] = *chain;
		else
			drop_chain(order, chain);
	}
	if (order->nchains != kept) {
		order->nchains = kept;
		dpe_order_forget_join(order);
	}
	free(needed);
	free(preds.at);
}
