/* The causal order restricted to a slice. The predecessors of an event within a chain are a prefix
 * of it, so the last one of each prefix is a candidate, and the maximal candidates are the
 * immediate predecessors. */
#include "recognizer/events/events.h"
#include "recognizer/limits.h"

#include <stdlib.h>
#include <string.h>

struct dpe_occurrence *dpe_occurrence_new(struct dpe_pool *pool, const struct dpe_event *event)
{
	struct dpe_occurrence *occurrence = dpe_pool_take(pool, sizeof(*occurrence));

	occurrence->pool = pool;
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
	dpe_pool_give(occurrence->pool, occurrence, sizeof(*occurrence));
}

bool dpe_preds_have(const struct dpe_preds *preds, const struct dpe_occurrence *occurrence)
{
	for (unsigned i = 0; i < preds->count; i++) {
		if (preds->at[i] == occurrence)
			return true;
	}
	return false;
}

/* How many of the chain's events before its last one are among the first `reach` of their thread. */
static unsigned earlier_until(const struct dpe_chain *chain, uint32_t reach)
{
	return DPE_PARTITION_POINT(i, 0, chain->nearlier, chain->earlier[i]->stamp.index <= reach);
}

/* The last event that the order has of the chain's first `reach` events; mostly the chain's last. */
static struct dpe_occurrence *last_before(const struct dpe_chain *chain, uint32_t reach)
{
	unsigned count;

	if (!reach)
		return NULL;
	if (chain->last->stamp.index <= reach)
		return chain->last;
	count = earlier_until(chain, reach);
	return count ? chain->earlier[count - 1] : NULL;
}

/* Drops what precedes others: pairs are compared where there are few. */
static void keep_maximal_of_few(struct dpe_preds *preds)
{
	unsigned kept = 0;

	for (unsigned i = 0; i < preds->count; i++) {
		struct dpe_occurrence *at = preds->at[i];
		bool maximal = true;

		for (unsigned j = 0; j < kept && maximal; j++)
			maximal = !dpe_precedes(&at->stamp, &preds->at[j]->stamp);
		for (unsigned j = i + 1; j < preds->count && maximal; j++)
			maximal = !dpe_precedes(&at->stamp, &preds->at[j]->stamp);
		if (maximal)
			preds->at[kept++] = at;
	}
	preds->count = kept;
}

/* Drops what precedes the latest of them. */
static void keep_beside_latest(struct dpe_preds *preds)
{
	struct dpe_occurrence *latest = preds->at[0];
	unsigned kept = 0;

	for (unsigned i = 1; i < preds->count; i++) {
		if (preds->at[i]->number > latest->number)
			latest = preds->at[i];
	}
	for (unsigned i = 0; i < preds->count; i++) {
		if (!dpe_precedes(&preds->at[i]->stamp, &latest->stamp) || preds->at[i] == latest)
			preds->at[kept++] = preds->at[i];
	}
	preds->count = kept;
}

/* Joining pasts costs more than looking into one. */
static void keep_maximal_of_many(struct dpe_preds *preds)
{
	const struct dpe_stamp **stamps;
	const struct dpe_clock *past;
	unsigned kept = 0;

	keep_beside_latest(preds);
	stamps = dpe_xcalloc(preds->count, sizeof(*stamps));
	for (unsigned i = 0; i < preds->count; i++)
		stamps[i] = &preds->at[i]->stamp;
	past = dpe_pasts_join(stamps, preds->count);
	for (unsigned i = 0; i < preds->count; i++) {
		if (dpe_clock_reach(past, stamps[i]->chain) < stamps[i]->index)
			preds->at[kept++] = preds->at[i];
	}
	preds->count = kept;
	dpe_clock_unref(past);
	free(stamps);
}

static void keep_maximal(struct dpe_preds *preds)
{
	if (preds->count > DPE_FEW_CHAINS)
		keep_maximal_of_many(preds);
	else
		keep_maximal_of_few(preds);
}

static unsigned place_of(const struct dpe_order *order, uint32_t number)
{
	return dpe_chain_place(order->chains, order->nchains, sizeof(*order->chains), number);
}

/* NULL if the order has no event of the chain. */
static struct dpe_chain *look_up(const struct dpe_order *order, uint32_t number)
{
	unsigned at = place_of(order, number);

	return at < order->nchains && order->chains[at].chain == number ? &order->chains[at] : NULL;
}

static void add_last_before(struct dpe_preds *preds, const struct dpe_chain *chain, uint32_t reach)
{
	struct dpe_occurrence *candidate = last_before(chain, reach);

	if (candidate)
		*DPE_GROW(preds->at, preds->count, preds->cap) = candidate;
}

/* ---- the latest join ----------------------------------------------------------------------- */

static bool follows_join(const struct dpe_order *order, const struct dpe_stamp *stamp)
{
	return order->join.index && dpe_stamp_reach(stamp, order->join.chain) >= order->join.index;
}

static void note_since_join(struct dpe_join *join, struct dpe_chain *chain)
{
	if (!join->index || chain->since_join)
		return;
	chain->since_join = true;
	*DPE_GROW(join->since, join->nsince, join->capsince) = chain->chain;
}

void dpe_order_forget_join(struct dpe_order *order)
{
	for (unsigned i = 0; i < order->join.nsince; i++) {
		unsigned at = place_of(order, order->join.since[i]);

		if (at < order->nchains && order->chains[at].chain == order->join.since[i])
			order->chains[at].since_join = false;
	}
	order->join.index = 0;
	order->join.nsince = 0;
}

/* The event, which was added, follows all others. */
static void begin_join(struct dpe_order *order, const struct dpe_stamp *stamp)
{
	dpe_order_forget_join(order);
	order->join.chain = stamp->chain;
	order->join.index = stamp->index;
	note_since_join(&order->join, &order->chains[place_of(order, stamp->chain)]);
}

static void add_since_join(const struct dpe_order *order, const struct dpe_stamp *stamp, struct dpe_preds *preds)
{
	for (unsigned i = 0; i < order->join.nsince; i++) {
		uint32_t number = order->join.since[i];

		add_last_before(preds, look_up(order, number), dpe_stamp_reach(stamp, number));
	}
}

/* ---- recent events ------------------------------------------------------------------------- */

static void note_recent(struct dpe_order *order, const struct dpe_stamp *stamp)
{
	struct dpe_recent *recent = order->recent;
	unsigned at;

	if (order->nchains <= DPE_FEW_CHAINS)
		return;
	if (!recent)
		recent = order->recent = dpe_xcalloc(1, sizeof(*recent));
	at = recent->count++ % DPE_RECENT_EVENTS;
	recent->at[at].chain = stamp->chain;
	recent->at[at].index = stamp->index;
}

/* The latest of them that the order still has and that precedes an event with this stamp, or NULL. */
static const struct dpe_occurrence *find_recent(const struct dpe_order *order, const struct dpe_stamp *stamp)
{
	const struct dpe_recent *recent = order->recent;
	unsigned first = !recent || recent->count < DPE_RECENT_EVENTS ? 0 : recent->count - DPE_RECENT_EVENTS;

	for (unsigned i = recent ? recent->count : 0; i-- > first;) {
		unsigned at = i % DPE_RECENT_EVENTS;
		struct dpe_stamp of = {.chain = recent->at[at].chain, .index = recent->at[at].index};
		const struct dpe_occurrence *found = dpe_precedes(&of, stamp) ? dpe_order_find(order, &of) : NULL;

		if (found)
			return found;
	}
	return NULL;
}

/* ---- predecessors -------------------------------------------------------------------------- */

struct candidates {
	const struct dpe_order *order;
	const struct dpe_chain *own; /* whose last event is one */
	struct dpe_preds *preds;
};

static void add_candidate(void *context, uint32_t number, uint32_t reach)
{
	struct candidates *to = context;
	const struct dpe_chain *chain = look_up(to->order, number);

	if (chain && chain != to->own)
		add_last_before(to->preds, chain, reach);
}

/* What precedes an event of the order that the new one follows is not immediately before it: only chains that reach
 * further in its past have candidates. */
static void add_since_latest(const struct dpe_stamp *stamp, struct candidates *to)
{
	const struct dpe_occurrence *since = to->own ? to->own->last : NULL;
	const struct dpe_occurrence *recent = find_recent(to->order, stamp);

	if (recent && (!since || since->number < recent->number))
		since = recent;
	dpe_stamp_each_since(stamp, since ? since->stamp.past : NULL, add_candidate, to);
}

/* What precedes the chain's own last event precedes that. */
void dpe_order_preds(
	const struct dpe_order *order, const struct dpe_stamp *stamp, struct dpe_preds *preds)
{
	struct candidates to = {order, NULL, preds};
	const struct dpe_chain *own;

	preds->count = 0;
	if (order->top && dpe_precedes(&order->top->stamp, stamp)) {
		*DPE_GROW(preds->at, preds->count, preds->cap) = order->top;
		return;
	}
	to.own = own = look_up(order, stamp->chain);
	if (own)
		*DPE_GROW(preds->at, preds->count, preds->cap) = own->last;
	if (!stamp->past || (own && own->last->stamp.past == stamp->past))
		return;
	if (!own && order->join.nsince <= DPE_RECENT_EVENTS && follows_join(order, stamp)) {
		add_since_join(order, stamp, preds);
	} else if (order->nchains > DPE_FEW_CHAINS) {
		add_since_latest(stamp, &to);
	} else {
		for (unsigned i = 0; i < order->nchains; i++) {
			const struct dpe_chain *chain = &order->chains[i];

			if (chain != own)
				add_last_before(preds, chain, dpe_stamp_reach(stamp, chain->chain));
		}
	}
	keep_maximal(preds);
}

void dpe_order_preds_of_past(
	const struct dpe_order *order, const struct dpe_stamp *view, struct dpe_preds *preds)
{
	preds->count = 0;
	for (unsigned i = 0; i < order->nchains; i++)
		add_last_before(preds, &order->chains[i], dpe_stamp_reach(view, order->chains[i].chain));
	keep_maximal(preds);
}

void dpe_preds_join(struct dpe_preds *preds, const struct dpe_preds *others)
{
	for (unsigned i = 0; i < others->count; i++) {
		if (!dpe_preds_have(preds, others->at[i]))
			*DPE_GROW(preds->at, preds->count, preds->cap) = others->at[i];
	}
	if (others->count)
		keep_maximal(preds);
}

void dpe_order_ends(
	const struct dpe_order *order, const struct dpe_stamp *stamp, struct dpe_preds *ends)
{
	ends->count = 0;
	for (unsigned i = 0; i < order->nchains; i++) {
		struct dpe_occurrence *last = order->chains[i].last;

		if (!stamp || (last->stamp.chain != stamp->chain && !dpe_precedes(&last->stamp, stamp)))
			*DPE_GROW(ends->at, ends->count, ends->cap) = last;
	}
	keep_maximal(ends);
}

static struct dpe_chain *find_chain(struct dpe_order *order, uint32_t number)
{
	unsigned at = place_of(order, number);
	struct dpe_chain *chain;

	if (at < order->nchains && order->chains[at].chain == number)
		return &order->chains[at];
	(void)DPE_GROW(order->chains, order->nchains, order->capchains);
	chain = &order->chains[at];
	memmove(chain + 1, chain, (order->nchains - 1 - at) * sizeof(*chain));
	*chain = (struct dpe_chain){.chain = number};
	return chain;
}

/* Drops the last event of the chain where every successor also follows the new event. False if
 * it was dropped. */
static bool append(struct dpe_order *order, struct dpe_occurrence *occurrence)
{
	struct dpe_chain *chain = find_chain(order, occurrence->stamp.chain);

	bool more = !chain->last || chain->last->stamp.index <= occurrence->stamp.exported;

	order->size += more;
	if (!more)
		dpe_occurrence_unref(chain->last);
	else if (chain->last)
		*DPE_GROW(chain->earlier, chain->nearlier, chain->capearlier) = chain->last;
	chain->last = dpe_occurrence_ref(occurrence);
	note_since_join(&order->join, chain);
	return more;
}

/* True if the last events of all chains precede the event. */
static bool follows_all(const struct dpe_order *order, const struct dpe_stamp *stamp)
{
	if (order->join.index && !follows_join(order, stamp))
		return false;
	for (unsigned i = 0; i < order->join.nsince; i++) {
		if (!dpe_precedes(&look_up(order, order->join.since[i])->last->stamp, stamp))
			return false;
	}
	if (order->join.index)
		return true;
	for (unsigned i = 0; i < order->nchains; i++) {
		if (!dpe_precedes(&order->chains[i].last->stamp, stamp))
			return false;
	}
	return true;
}

bool dpe_order_add(
	struct dpe_order *order, struct dpe_occurrence *occurrence, const struct dpe_preds *preds)
{
	const struct dpe_occurrence *top = order->top;
	bool all = top ? preds->count == 1 && preds->at[0] == top : follows_all(order, &occurrence->stamp), added;
	bool joins = all && !top && order->nchains > DPE_FEW_CHAINS;

	order->top = all ? occurrence : NULL;
	added = append(order, occurrence);
	note_recent(order, &occurrence->stamp);
	if (joins)
		begin_join(order, &occurrence->stamp);
	return added;
}

void dpe_order_copy(struct dpe_order *to, const struct dpe_order *from)
{
	for (unsigned i = 0; i < from->nchains; i++) {
		const struct dpe_chain *chain = &from->chains[i];

		for (unsigned j = 0; j < chain->nearlier; j++)
			append(to, chain->earlier[j]);
		append(to, chain->last);
	}
	to->top = from->top;
}

void dpe_order_clear(struct dpe_order *order)
{
	for (unsigned i = 0; i < order->nchains; i++) {
		struct dpe_chain *chain = &order->chains[i];

		for (unsigned j = 0; j < chain->nearlier; j++)
			dpe_occurrence_unref(chain->earlier[j]);
		dpe_occurrence_unref(chain->last);
		free(chain->earlier);
	}
	order->nchains = 0;
	order->size = 0;
	order->top = NULL;
	dpe_order_forget_join(order);
	if (order->recent)
		order->recent->count = 0;
}

void dpe_order_free(struct dpe_order *order)
{
	dpe_order_clear(order);
	free(order->chains);
	free(order->join.since);
	free(order->recent);
	*order = (struct dpe_order){0};
}

void dpe_order_restore(struct dpe_order *order, struct dpe_occurrence *occurrence)
{
	struct dpe_chain *chain = find_chain(order, occurrence->stamp.chain);

	dpe_order_forget_join(order);
	order->size++;
	if (chain->last)
		*DPE_GROW(chain->earlier, chain->nearlier, chain->capearlier) = chain->last;
	chain->last = occurrence;
}

struct dpe_occurrence *dpe_order_only_chain_end(const struct dpe_order *order, const struct dpe_stamp *stamp)
{
	struct dpe_occurrence *last;

	if (order->nchains != 1)
		return NULL;
	last = order->chains[0].last;
	return last == order->top && last->stamp.chain == stamp->chain &&
			       last->stamp.index > stamp->exported
		       ? last
		       : NULL;
}

void dpe_occurrence_replace(struct dpe_occurrence *occurrence, const struct dpe_event *event)
{
	dpe_message_unref(occurrence->message);
	dpe_stamp_unref(&occurrence->stamp);
	occurrence->message = dpe_message_ref(event->message);
	occurrence->number = event->number;
	occurrence->stamp = event->stamp;
	dpe_stamp_ref(&occurrence->stamp);
}

struct dpe_occurrence *dpe_order_find(const struct dpe_order *order, const struct dpe_stamp *stamp)
{
	const struct dpe_chain *chain = look_up(order, stamp->chain);
	struct dpe_occurrence *last = chain ? last_before(chain, stamp->index) : NULL;

	return last && last->stamp.index == stamp->index ? last : NULL;
}

const struct dpe_occurrence *dpe_order_next(
	const struct dpe_order *order, const struct dpe_occurrence *occurrence)
{
	const struct dpe_stamp *stamp = &occurrence->stamp;
	const struct dpe_chain *chain = look_up(order, stamp->chain);
	unsigned count;

	if (!chain)
		return NULL;
	count = earlier_until(chain, stamp->index);
	if (count < chain->nearlier)
		return chain->earlier[count];
	return chain->last->stamp.index > stamp->index ? chain->last : NULL;
}

bool dpe_order_forgot(const struct dpe_order *order, const struct dpe_occurrence *occurrence)
{
	const struct dpe_chain *chain = look_up(order, occurrence->stamp.chain);

	return !chain || chain->last->stamp.index < occurrence->stamp.index;
}
