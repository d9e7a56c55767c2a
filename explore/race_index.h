/* race_index: the events of a run, by the memory that they use; see race_index.c. */
#ifndef DPE_EXPLORE_RACE_INDEX_H
#define DPE_EXPLORE_RACE_INDEX_H

#include "explore/sched/sched.h"

struct dpe_race_node {
	uint32_t event;
	uint32_t before; /* the chain's previous node, plus 1 */
};

struct dpe_race_index {
	unsigned threads, buckets;
	uint32_t *heads; /* by bucket, thread, and whether the event is a read: the latest node, plus 1 */
	struct dpe_race_node *nodes;
	uint32_t *everywhere; /* events that may depend on any other */
	uint32_t *found;
	unsigned count, cap, neverywhere, capeverywhere, nfound, capfound;
};

/* For a run with this number of events. */
void dpe_race_index_begin(struct dpe_race_index *index, uint32_t events, unsigned threads);
void dpe_race_index_free(struct dpe_race_index *index);
/* Adds the next event, whose number is given. */
void dpe_race_index_add(struct dpe_race_index *index, const struct dpe_sched_event *event, uint32_t number);
/* Finds, as `found`, the latest first, events before number `end` that may depend on this one and are not among
 * the first `known[thread]` events of the run: at least all that do depend. `events` are what was added. */
void dpe_race_index_find(struct dpe_race_index *index, const struct dpe_sched_event *events, uint32_t end,
	const struct dpe_sched_event *event, const uint32_t *known);

#endif
