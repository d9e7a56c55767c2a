/* The horizon: how far the pasts of future events can reach. Events of a chain that lie between two
 * such reaches, except for the last one, can be forgotten. The argument is in
 * docs/internals/horizon.md. */
#include "stabilizer/stages.h"

#include <stdlib.h>
#include <string.h>

/* Reaches being collected, each as chain << 32 | index. */
struct views {
	uint64_t *at, *sorted; /* for sorting: room for as many */
	unsigned count, cap, capsorted;
	const struct dpe_clock **pasts; /* visited, and their parts; open addressing */
	unsigned npasts, size;
};

struct dpe_horizon {
	struct dpe_stamp *joined; /* counted: see dpe_horizon_views */
	unsigned njoined, capjoined;
	bool *ended; /* by chain */
	uint32_t nchains, capchains;
	uint32_t *ends;    /* by chain: its last event */
	uint32_t *begin;   /* by chain: its first entry in `reaches`; then the end */
	uint32_t *reaches; /* sorted and distinct */
	unsigned nreaches, capreaches;
	struct views views; /* kept for the next update */
};

static void note(void *context, uint32_t chain, uint32_t index)
{
	struct views *views = context;

	*DPE_GROW(views->at, views->count, views->cap) = (uint64_t)chain << 32 | index;
}

static const struct dpe_clock **find_past(const struct views *views, const struct dpe_clock *past)
{
	unsigned at = (unsigned)dpe_mix((uintptr_t)past, 0) & (views->size - 1);

	while (views->pasts[at] && views->pasts[at] != past)
		at = (at + 1) & (views->size - 1);
	return &views->pasts[at];
}

static void grow_pasts(struct views *views)
{
	struct views old = *views;

	views->size = old.size ? old.size * 2 : 64;
	views->pasts = dpe_xcalloc(views->size, sizeof(*views->pasts));
	for (unsigned i = 0; i < old.size; i++) {
		if (old.pasts[i])
			*find_past(views, old.pasts[i]) = old.pasts[i];
	}
	free(old.pasts);
}

/* Many stamps share their past, and pasts share most of their parts. */
static bool is_new(void *context, const struct dpe_clock *past)
{
	struct views *views = context;
	const struct dpe_clock **at;

	if (views->npasts * 2 >= views->size)
		grow_pasts(views);
	at = find_past(views, past);
	if (*at)
		return false;
	*at = past;
	views->npasts++;
	return true;
}

static void join_later(struct dpe_horizon *horizon, struct dpe_stamp stamp)
{
	dpe_stamp_ref(&stamp);
	*DPE_GROW(horizon->joined, horizon->njoined, horizon->capjoined) = stamp;
}

static void add_past(struct dpe_horizon *horizon, const struct dpe_clock *past)
{
	dpe_clock_each(past, is_new, note, &horizon->views);
	if (past)
		join_later(horizon, (struct dpe_stamp){.chain = DPE_NO_CHAIN, .past = past});
}

static void add_stamp(struct dpe_horizon *horizon, const struct dpe_stamp *stamp)
{
	note(&horizon->views, stamp->chain, stamp->index);
	dpe_clock_each(stamp->past, is_new, note, &horizon->views);
	join_later(horizon, (struct dpe_stamp){
		.chain = stamp->chain, .index = stamp->index + 1, .past = stamp->past});
}

/* Events that follow the node, or receive from it. */
static void add_node(struct dpe_horizon *horizon, const struct dpe_message_node *node)
{
	if (!node || !dpe_node_released(node))
		return;
	add_stamp(horizon, &node->stamp);
	add_past(horizon, node->entered);
	for (unsigned i = 0; i < node->nedges; i++)
		add_stamp(horizon, &node->edges[i].stamp);
}

static void add_send(void *context, const struct dpe_message_node *send)
{
	add_node(context, send);
}

static void add_folded(void *context, const struct dpe_clock *folded)
{
	add_past(context, folded);
}

static void collect(const struct dpe_stabilizer *stabilizer, struct dpe_horizon *views)
{
	for (unsigned i = 0; i < stabilizer->nchains; i++) {
		if (!stabilizer->chains[i].ended)
			add_node(views, stabilizer->chains[i].tail);
	}
	dpe_sync_each_send(stabilizer, add_send, add_folded, views);
	for (const struct dpe_message_node *node = stabilizer->first; node; node = node->hold->after) {
		add_past(views, node->hold->received);
		for (unsigned i = 0; i < node->hold->nneeds; i++)
			add_node(views, node->hold->needs[i].node);
	}
}

#define DIGIT 11 /* bits */

static void sort_by_digit(struct views *views, unsigned shift)
{
	unsigned begin[1 << DIGIT] = {0}, mask = (1 << DIGIT) - 1, before = 0;
	uint64_t *from = views->at;

	for (unsigned i = 0; i < views->count; i++)
		begin[from[i] >> shift & mask]++;
	for (unsigned i = 0; i <= mask; i++) {
		unsigned count = begin[i];

		begin[i] = before;
		before += count;
	}
	for (unsigned i = 0; i < views->count; i++)
		views->sorted[begin[from[i] >> shift & mask]++] = from[i];
	views->at = views->sorted;
	views->sorted = from;
}

/* A radix sort: many sends make very many reaches. */
static void sort_views(struct views *views)
{
	uint64_t differing = 0;

	if (views->capsorted < views->cap) {
		views->capsorted = views->cap;
		views->sorted = dpe_xrealloc(views->sorted, views->capsorted * sizeof(*views->sorted));
	}
	for (unsigned i = 1; i < views->count; i++)
		differing |= views->at[i] ^ views->at[0];
	for (unsigned shift = 0; shift < 64; shift += DIGIT) {
		if (differing >> shift & ((1 << DIGIT) - 1))
			sort_by_digit(views, shift);
	}
}

static void make_room(struct dpe_horizon *horizon)
{
	if (horizon->nchains >= horizon->capchains) {
		horizon->capchains = horizon->nchains * 2 + 1;
		horizon->ends =
			dpe_xrealloc(horizon->ends, horizon->capchains * sizeof(*horizon->ends));
		horizon->ended =
			dpe_xrealloc(horizon->ended, horizon->capchains * sizeof(*horizon->ended));
		horizon->begin =
			dpe_xrealloc(horizon->begin, horizon->capchains * sizeof(*horizon->begin));
	}
	if (horizon->views.count > horizon->capreaches) {
		horizon->capreaches = horizon->views.count * 2;
		horizon->reaches = dpe_xrealloc(
			horizon->reaches, horizon->capreaches * sizeof(*horizon->reaches));
	}
}

static void sort(struct dpe_horizon *horizon, const struct dpe_stabilizer *stabilizer)
{
	struct views *views = &horizon->views;
	unsigned at = 0;

	sort_views(views);
	horizon->nchains = stabilizer->nchains;
	horizon->nreaches = 0;
	make_room(horizon);
	for (uint32_t chain = 0; chain < horizon->nchains; chain++) {
		horizon->ends[chain] = dpe_chain_last(&stabilizer->chains[chain]);
		horizon->ended[chain] = stabilizer->chains[chain].ended;
		horizon->begin[chain] = horizon->nreaches;
		for (; at < views->count && views->at[at] >> 32 == chain; at++) {
			if (!at || views->at[at] != views->at[at - 1])
				horizon->reaches[horizon->nreaches++] = (uint32_t)views->at[at];
		}
	}
	horizon->begin[horizon->nchains] = horizon->nreaches;
}

static void drop_joined(struct dpe_horizon *horizon)
{
	for (unsigned i = 0; i < horizon->njoined; i++)
		dpe_stamp_unref(&horizon->joined[i]);
	horizon->njoined = 0;
}

bool dpe_horizon_update(struct dpe_horizon *horizon, const struct dpe_stabilizer *stabilizer)
{
	struct views *views = &horizon->views;

	if (stabilizer->known.count)
		return false;
	views->count = views->npasts = 0;
	if (views->size)
		memset(views->pasts, 0, views->size * sizeof(*views->pasts));
	drop_joined(horizon);
	collect(stabilizer, horizon);
	sort(horizon, stabilizer);
	return true;
}

uint64_t dpe_horizon_cost(const struct dpe_horizon *horizon)
{
	return horizon->views.count / 8; /* a few dozen instructions each */
}

struct dpe_horizon *dpe_horizon_new(void)
{
	return dpe_xcalloc(1, sizeof(struct dpe_horizon));
}

void dpe_horizon_free(struct dpe_horizon *horizon)
{
	if (!horizon)
		return;
	drop_joined(horizon);
	free(horizon->joined);
	free(horizon->ended);
	free(horizon->ends);
	free(horizon->begin);
	free(horizon->reaches);
	free(horizon->views.at);
	free(horizon->views.sorted);
	free(horizon->views.pasts);
	free(horizon);
}

bool dpe_horizon_sees(
	const struct dpe_horizon *horizon, uint32_t chain, uint32_t index, uint32_t next)
{
	uint32_t first, end;

	if (chain >= horizon->nchains || next > horizon->ends[chain])
		return true;
	end = horizon->begin[chain + 1];
	first = DPE_PARTITION_POINT(i, horizon->begin[chain], end, horizon->reaches[i] < index);
	return first < end && horizon->reaches[first] < next;
}

const struct dpe_stamp *dpe_horizon_views(const struct dpe_horizon *horizon, unsigned *count)
{
	*count = horizon->njoined;
	return horizon->joined;
}

bool dpe_horizon_ended(const struct dpe_horizon *horizon, uint32_t chain)
{
	return chain < horizon->nchains && horizon->ended[chain];
}
