/* The slices of rules about pairs with the few events that each keeps, stored in the hash table
 * itself, so that most take one cache line. Private to races/. */
#ifndef DPE_RECOGNIZER_RACES_PAIR_TABLE_H
#define DPE_RECOGNIZER_RACES_PAIR_TABLE_H

#include "recognizer/recognizer.h"

#define DPE_FEW_EVENTS 2
#define DPE_LOG_FEW_EVENTS 1

struct dpe_pair_event {
	uint32_t chain, index;        /* of its stamp; its past is not needed */
	struct dpe_retained *message; /* owned */
};

struct dpe_pair_slice {
	union {
		struct dpe_value key;   /* owned; for at most one variable */
		struct dpe_value *keys; /* owned; for more */
	};
	uint32_t nevents;
	uint8_t log_cap; /* the capacity's logarithm to base 2 */
	bool used;
	uint8_t rules;     /* whose slice it is, one bit each … */
	uint8_t overflown; /* … and those for which events were dropped */
	union {
		struct dpe_pair_event few[DPE_FEW_EVENTS];
		struct {
			struct dpe_pair_event *many; /* where there are more events */
			uint32_t *literals_of_many;
		};
	};                                        /* in order of release */
	uint32_t literals_of_few[DPE_FEW_EVENTS]; /* the literals as which each is kept, one bit
						     each */
};

_Static_assert(sizeof(struct dpe_pair_slice) == 64, "it is a cache line");

struct dpe_pair_table {
	struct dpe_pool *pool;        /* of messages; borrowed */
	struct dpe_pair_slice *slots; /* open addressing */
	uint64_t size, count;         /* size: a power of two */
	unsigned nkeys;
	/* By number of text: the slot of its last lookup, which saves comparing texts. */
	uint32_t *places;
	unsigned nplaces;
};

void dpe_pair_table_begin(struct dpe_pair_table *table, struct dpe_pool *pool, unsigned nkeys);
void dpe_pair_table_end(struct dpe_pair_table *table);
/* NULL: none. The slice stays where it is until another one is taken or removed. */
struct dpe_pair_slice *dpe_pair_find(
	const struct dpe_pair_table *table, const struct dpe_value *key);
/* The same; creates it, of no rule yet, if there is none. The slow case of dpe_pair_take. */
struct dpe_pair_slice *dpe_pair_take_other(
	struct dpe_pair_table *table, const struct dpe_value *key);
void dpe_pair_remove(
	struct dpe_pair_table *table, struct dpe_pair_slice *slice); /* with its events */
/* Keeps the event, in place of a message that is no longer kept, or NULL. */
void dpe_pair_add(const struct dpe_pair_table *table, struct dpe_pair_slice *slice,
	const struct dpe_event *event, uint32_t literals, struct dpe_retained *instead);
void dpe_pair_each(struct dpe_pair_table *table,
	void (*each)(void *context, struct dpe_pair_slice *slice), void *context);

/* The slice of a single key whose slot is remembered and that is equal without comparing texts; a
 * free slot never is. */
static inline struct dpe_pair_slice *dpe_pair_place(
	const struct dpe_pair_table *table, const struct dpe_value *key)
{
	struct dpe_pair_slice *slice;

	if (key->number >= table->nplaces) /* 0 is no number and has no slot */
		return NULL;
	slice = &table->slots[table->places[key->number]];
	return slice->key.num == key->num && slice->key.kind == key->kind ? slice : NULL;
}

static inline struct dpe_pair_slice *dpe_pair_take(
	struct dpe_pair_table *table, const struct dpe_value *key)
{
	struct dpe_pair_slice *slice = dpe_pair_place(table, key);

	return slice ? slice : dpe_pair_take_other(table, key);
}

static inline bool dpe_pair_has_many(const struct dpe_pair_slice *slice)
{
	return slice->log_cap > DPE_LOG_FEW_EVENTS;
}

static inline struct dpe_pair_event *dpe_pair_events(struct dpe_pair_slice *slice)
{
	return dpe_pair_has_many(slice) ? slice->many : slice->few;
}

static inline uint32_t *dpe_pair_literals(struct dpe_pair_slice *slice)
{
	return dpe_pair_has_many(slice) ? slice->literals_of_many : slice->literals_of_few;
}

static inline const struct dpe_value *dpe_pair_key(
	const struct dpe_pair_table *table, const struct dpe_pair_slice *slice)
{
	return table->nkeys > 1 ? slice->keys : &slice->key;
}

#endif
