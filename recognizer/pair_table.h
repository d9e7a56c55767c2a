/* The slices of rules about pairs, each with the few events that it keeps: in a table whose places
 * they are, so that most take one cache line. With many objects, memory is what takes time. Private to
 * pairs.c. */
#ifndef DPE_RECOGNIZER_PAIR_TABLE_H
#define DPE_RECOGNIZER_PAIR_TABLE_H

#include "recognizer/run.h"

#define DPE_FEW_EVENTS 2

struct dpe_pair_event {
	uint32_t chain, index;    /* its stamp; of its past nothing is asked any more */
	struct dpe_kept *message; /* owned */
};

struct dpe_pair_slice {
	union {
		struct dpe_value key;   /* owned; where there is one variable, or none */
		struct dpe_value *keys; /* where there are more */
	};
	uint32_t nevents, capevents : 30, used : 1, overflown : 1; /* overflown: events were given up */
	union {
		struct dpe_pair_event few[DPE_FEW_EVENTS];
		struct {
			struct dpe_pair_event *many; /* where there is room for more */
			uint32_t *literals_of_many;
		};
	}; /* the earlier first */
	uint32_t literals_of_few[DPE_FEW_EVENTS]; /* as which each is kept, one bit each */
};

_Static_assert(sizeof(struct dpe_pair_slice) == 64, "it is a cache line");

struct dpe_pair_table {
	struct dpe_pool *pool; /* of messages; borrowed */
	struct dpe_pair_slice *slots; /* open addressing */
	uint64_t size, count;         /* size: a power of two */
	unsigned nkeys;
};

void dpe_pair_table_begin(struct dpe_pair_table *table, struct dpe_pool *pool, unsigned nkeys);
void dpe_pair_table_end(struct dpe_pair_table *table);
/* NULL where there is none. A slice stays where it is until another one is taken or removed. */
struct dpe_pair_slice *dpe_pair_find(
	const struct dpe_pair_table *table, const struct dpe_value *key);
/* The same, made where there is none. */
struct dpe_pair_slice *dpe_pair_take(struct dpe_pair_table *table, const struct dpe_value *key);
void dpe_pair_remove(struct dpe_pair_table *table, struct dpe_pair_slice *slice);
/* Drops its events. */
void dpe_pair_clear(const struct dpe_pair_table *table, struct dpe_pair_slice *slice);
/* Keeps the event, in the place of a message that is no longer kept, or NULL. */
void dpe_pair_add(const struct dpe_pair_table *table, struct dpe_pair_slice *slice,
	const struct dpe_event *event, uint32_t literals, struct dpe_kept *instead);
void dpe_pair_each(struct dpe_pair_table *table,
	void (*each)(void *context, struct dpe_pair_slice *slice), void *context);

static inline struct dpe_pair_event *dpe_pair_events(struct dpe_pair_slice *slice)
{
	return slice->capevents > DPE_FEW_EVENTS ? slice->many : slice->few;
}

static inline uint32_t *dpe_pair_literals(struct dpe_pair_slice *slice)
{
	return slice->capevents > DPE_FEW_EVENTS ? slice->literals_of_many
						 : slice->literals_of_few;
}

static inline const struct dpe_value *dpe_pair_key(
	const struct dpe_pair_table *table, const struct dpe_pair_slice *slice)
{
	return table->nkeys > 1 ? slice->keys : &slice->key;
}

#endif
