/* events: released events that rules keep, their causal order within a slice, and tables keyed by
 * values. */
#ifndef DPE_RECOGNIZER_EVENTS_EVENTS_H
#define DPE_RECOGNIZER_EVENTS_EVENTS_H

#include "recognizer/limits.h"
#include "dpe/dpe-recognizer.h"
#include "stabilizer/stabilizer.h"
/* Keys are pointers and numbers; uthash's default hashes byte by byte. */
#define HASH_FUNCTION(key, length, hash) (hash) = dpe_hash_words(key, length)
#include <uthash.h>

static inline unsigned dpe_hash_words(const void *key, size_t length)
{
	uint64_t hash = length;

	for (size_t i = 0; i + 8 <= length; i += 8) {
		uint64_t word;

		memcpy(&word, (const char *)key + i, 8);
		hash = (hash ^ word) * 0x9e3779b97f4a7c15ull;
		hash ^= hash >> 32;
	}
	for (size_t i = length & ~(size_t)7; i < length; i++)
		hash = (hash ^ ((const unsigned char *)key)[i]) * 0x9e3779b97f4a7c15ull;
	return (unsigned)(hash >> 32); /* low bits of a product follow those of the last word */
}

/* A released event that a rule keeps. Counted. */
struct dpe_occurrence {
	uint32_t refs;
	struct dpe_pool *pool;
	struct dpe_message *message;
	uint64_t number;
	struct dpe_stamp stamp;
};

struct dpe_occurrence *dpe_occurrence_new(struct dpe_pool *pool, const struct dpe_event *event);
struct dpe_occurrence *dpe_occurrence_ref(struct dpe_occurrence *occurrence);
void dpe_occurrence_unref(struct dpe_occurrence *occurrence); /* accepts NULL */

/* ---- slice_order.c: the causal order restricted to a slice ------------------------------------- */

/* In an array sorted by chain, of `size` bytes each, which begin with the chain's number: the index of the first one with this
 * number or a higher one. */
static inline unsigned dpe_chain_place(const void *chains, unsigned count, size_t size, uint32_t number)
{
	return DPE_PARTITION_POINT(i, 0, count, *(const uint32_t *)((const char *)chains + i * size) < number);
}

struct dpe_chain {
	uint32_t chain; /* first, see dpe_chain_place */
	bool since_join;
	unsigned nearlier, capearlier;
	struct dpe_occurrence *last;
	struct dpe_occurrence **earlier; /* the events before it, in order */
};

/* The latest events that were added, by their stamps; the order may have dropped some. */
struct dpe_recent {
	unsigned count; /* of all that were added */
	struct {
		uint32_t chain, index;
	} at[DPE_RECENT_EVENTS];
};

/* The events of a slice, by chain. */
struct dpe_order {
	struct dpe_chain *chains; /* by number */
	unsigned nchains, capchains;
	uint64_t size; /* events */
	struct dpe_occurrence *top; /* the event that all others precede; NULL: none or unknown */
	/* An event that all earlier ones precede: of its successors, only chains with events from it on have immediate
	 * predecessors. */
	struct dpe_join {
		uint32_t chain, index; /* of its stamp; index 0: there is none, or the order is small */
		uint32_t *since;       /* these chains */
		unsigned nsince, capsince;
	} join;
	struct dpe_recent *recent; /* NULL while the order is small */
};

struct dpe_preds {
	struct dpe_occurrence **at; /* borrowed from the order */
	unsigned count, cap;
};

/* Finds the immediate predecessors of an event that is later than all added ones. */
void dpe_order_preds(
	const struct dpe_order *order, const struct dpe_stamp *stamp, struct dpe_preds *preds);
/* The same of what precedes it in two orders. */
void dpe_preds_join(struct dpe_preds *preds, const struct dpe_preds *others);
/* Adds to `ends` the events of the order that no other one follows; `stamp`: of the events that are
 * independent of the one with that stamp; or NULL. */
void dpe_order_ends(
	const struct dpe_order *order, const struct dpe_stamp *stamp, struct dpe_preds *ends);
/* Adds an event, given its predecessors. False if it replaced another. */
bool dpe_order_add(
	struct dpe_order *order, struct dpe_occurrence *occurrence, const struct dpe_preds *preds);
void dpe_order_copy(struct dpe_order *to, const struct dpe_order *from);
/* Adds an event again, as the last of its chain; takes over the reference. */
void dpe_order_restore(struct dpe_order *order, struct dpe_occurrence *occurrence);
void dpe_order_clear(struct dpe_order *order); /* keeps allocated memory */
void dpe_order_free(struct dpe_order *order);
/* The last event of an order with one chain, where an event with this stamp follows it immediately
 * and replaces it; else NULL. */
struct dpe_occurrence *dpe_order_only_chain_end(
	const struct dpe_order *order, const struct dpe_stamp *stamp);
/* Reuses the occurrence for another event. */
void dpe_occurrence_replace(struct dpe_occurrence *occurrence, const struct dpe_event *event);
/* The event with this place in its chain, or NULL. */
struct dpe_occurrence *dpe_order_find(const struct dpe_order *order, const struct dpe_stamp *stamp);
/* The next event of its chain that the order has, or NULL. */
const struct dpe_occurrence *dpe_order_next(
	const struct dpe_order *order, const struct dpe_occurrence *occurrence);
/* True if the order has none of the events of its chain from this one on any more. */
bool dpe_order_forgot(const struct dpe_order *order, const struct dpe_occurrence *occurrence);
bool dpe_preds_have(const struct dpe_preds *preds, const struct dpe_occurrence *occurrence);
/* The immediate predecessors of an event with exactly this past. */
void dpe_order_preds_of_past(
	const struct dpe_order *order, const struct dpe_stamp *view, struct dpe_preds *preds);
/* Events were dropped, so there may be others immediately before a later one. */
void dpe_order_forget_join(struct dpe_order *order);

/* ---- forget_events.c --------------------------------------------------------------------------- */

/* Drops events that no future event can have as an immediate predecessor. */
void dpe_order_forget(struct dpe_order *order, const struct dpe_horizon *horizon);
/* The same of whole chains whose thread has ended, if there are more than `few`; what no other event follows stays. */
void dpe_order_forget_ended(struct dpe_order *order, const struct dpe_horizon *horizon, unsigned few);
/* Drops chains without a needed event, and from time to time the beginning of others. An event
 * counts as needed where an earlier one of its chain is. */
typedef bool dpe_needed_fn(void *context, const struct dpe_occurrence *occurrence);
void dpe_order_trim(struct dpe_order *order, dpe_needed_fn *needed, void *context);

/* ---- value_table.c ------------------------------------------------------------------------ */

/* The first member of table entries. A table starts as NULL. */
struct dpe_keyed {
	UT_hash_handle hh;
	uint64_t hash;
	struct dpe_value value;
	struct dpe_keyed *same; /* next entry with this hash */
};

/* The entry with this value, or NULL. */
struct dpe_keyed *dpe_keyed_find(struct dpe_keyed *table, struct dpe_value value);
/* Copies the value. */
void dpe_keyed_add(struct dpe_keyed **table, struct dpe_keyed *entry, struct dpe_value value);
/* Removes the entry from the table; its value becomes the caller's. */
void dpe_keyed_remove(struct dpe_keyed **table, struct dpe_keyed *entry);
/* Removes some entry; NULL if the table is empty. */
struct dpe_keyed *dpe_keyed_take_any(struct dpe_keyed **table);

#endif
