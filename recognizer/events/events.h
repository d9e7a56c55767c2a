/* events: what rules keep of events, their causal order in a slice, and tables keyed by values. */
#ifndef DPE_RECOGNIZER_EVENTS_EVENTS_H
#define DPE_RECOGNIZER_EVENTS_EVENTS_H

#include "dpe/dpe-recognizer.h"
#include "stabilizer/stabilizer.h"
/* Keys are whole words: pointers and numbers. uthash's own function looks at each byte. */
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
	return (unsigned)(hash ^ hash >> 32);
}

/* A released event that some slice remembers. Counted. */
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

struct dpe_chain {
	uint32_t chain;
	unsigned nearlier, capearlier;
	struct dpe_occurrence *last;
	struct dpe_occurrence **earlier; /* those before it, in the order of the chain */
};

/* The events of a slice, chain by chain. */
struct dpe_order {
	struct dpe_chain *chains;
	unsigned nchains, capchains;
	struct dpe_occurrence *top; /* that all others precede; NULL: none does, or nobody knows */
};

struct dpe_preds {
	struct dpe_occurrence **at; /* borrowed from the order */
	unsigned count, cap;
};

/* The immediate predecessors of an event that comes after all that were added. */
void dpe_order_preds(
	const struct dpe_order *order, const struct dpe_stamp *stamp, struct dpe_preds *preds);
/* Adds an event after its predecessors were found. False where it took the place of another. */
bool dpe_order_add(
	struct dpe_order *order, struct dpe_occurrence *occurrence, const struct dpe_preds *preds);
void dpe_order_copy(struct dpe_order *to, const struct dpe_order *from);
/* Adds an event of before again, which comes after all of its chain; takes over the reference. */
void dpe_order_restore(struct dpe_order *order, struct dpe_occurrence *occurrence);
void dpe_order_clear(struct dpe_order *order); /* keeps the room for chains */
void dpe_order_free(struct dpe_order *order);
/* Drops what no event to come can have as its immediate predecessor. */
void dpe_order_forget(struct dpe_order *order, const struct dpe_horizon *horizon);
/* Drops events that are not needed: chains none of whose events is, and of others, now and then as
 * they grow, the beginning. An event is needed where one before it in its chain is. */
typedef bool dpe_needed_fn(void *context, const struct dpe_occurrence *occurrence);
void dpe_order_trim(struct dpe_order *order, dpe_needed_fn *needed, void *context);
uint64_t dpe_order_size(const struct dpe_order *order);
/* The last event of an order of one chain, where an event with this stamp comes right after it and
 * takes its place; else NULL. */
struct dpe_occurrence *dpe_order_only_chain_end(
	const struct dpe_order *order, const struct dpe_stamp *stamp);
/* The occurrence of another event from now on. */
void dpe_occurrence_replace(struct dpe_occurrence *occurrence, const struct dpe_event *event);
/* The first event after one of its chain, of those that are there; NULL: there is none. */
const struct dpe_occurrence *dpe_order_next(
	const struct dpe_order *order, const struct dpe_occurrence *occurrence);
bool dpe_preds_have(const struct dpe_preds *preds, const struct dpe_occurrence *occurrence);

/* ---- value_table.c ------------------------------------------------------------------------ */

/* The first member of what is found by a value. */
struct dpe_keyed {
	UT_hash_handle hh;
	uint64_t hash;
	struct dpe_value value;
	struct dpe_keyed *same; /* another one with this hash */
};

/* NULL: there is none. */
struct dpe_keyed *dpe_keyed_find(struct dpe_keyed *table, struct dpe_value value);
/* The value is copied. */
void dpe_keyed_add(struct dpe_keyed **table, struct dpe_keyed *entry, struct dpe_value value);
/* Takes it out of the table; the value stays the entry's. */
void dpe_keyed_remove(struct dpe_keyed **table, struct dpe_keyed *entry);
/* Takes out any; NULL where the table is empty. */
struct dpe_keyed *dpe_keyed_take_any(struct dpe_keyed **table);

#endif
