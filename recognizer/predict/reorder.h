/* reorder: runs in which locks are taken in another order than the observed one. Any may be missed; none is
 * reported that was not followed event by event. Private to predict. */
#ifndef DPE_RECOGNIZER_PREDICT_REORDER_H
#define DPE_RECOGNIZER_PREDICT_REORDER_H

#include "recognizer/limits.h"
#include "recognizer/predict/predictor.h"

/* ---- data_view.c --------------------------------------------------------------------------- */

/* From this event on all accesses are known. */
uint64_t dpe_accesses_known(const struct dpe_recent_accesses *accesses);
/* Whether the event is complete at once and reads what later events of the cut overwrite, so that it cannot come after these.
 * True also where its accesses are forgotten and it may be so. */
bool dpe_reads_overwritten(const struct dpe_history *history, const uint32_t *cut, uint64_t number);

/* What the reads of a run from event `first` on have to see, and what was written in it so far. */
struct dpe_data_view {
	const struct dpe_history *history;
	uint64_t begin, end; /* of the accesses */
	struct access_use *uses;
	unsigned capuses;
	struct data_slot *slots; /* a hash table with open addressing */
	unsigned nslots, capslots; /* nslots: a power of two, or 0 */
};

/* For the events of the cut that are not before `first`. */
void dpe_data_begin(struct dpe_data_view *view, const struct dpe_history *history, uint64_t first,
	const uint32_t *cut);
/* Nothing has happened since `first`. */
void dpe_data_reset(struct dpe_data_view *view);
/* True if the event, as the next one, sees the writes that it sees in the observed run. */
bool dpe_data_can(const struct dpe_data_view *view, uint64_t number);
/* True if it overwrites what other events have yet to see. */
bool dpe_data_overwrites(const struct dpe_data_view *view, uint64_t number);
void dpe_data_do(struct dpe_data_view *view, uint64_t number);
void dpe_data_free(struct dpe_data_view *view);

/* ---- follow_run.c --------------------------------------------------------------------------- */

/* A run of the events of a cut, one by one; those before `first` have happened as they were observed. */
struct dpe_follower {
	const struct dpe_history *history;
	uint64_t first;
	const uint32_t *cut; /* borrowed */
	uint32_t *done;      /* events of each chain */
	unsigned nchains, capchains;
	struct dpe_data_view data;
};

/* How many events of the chain are before that one. */
uint32_t dpe_chain_before(const struct dpe_history *history, uint32_t chain, uint64_t number);

/* With so many events of each chain: the last section of chain i of its lock that excludes this one; NULL for its own chain. */
const struct dpe_lock_section *dpe_section_of_other_chain(
	const struct dpe_lock_section *section, unsigned i, const uint32_t *counts);
/* The same for any other chain, if it is open; NULL: there is none. */
const struct dpe_lock_section *dpe_section_rival(const struct dpe_lock_section *section, const uint32_t *counts);

void dpe_follower_begin(struct dpe_follower *follower, const struct dpe_history *history,
	uint64_t first, const uint32_t *cut, unsigned nchains);
void dpe_follower_reset(struct dpe_follower *follower);
/* True if the event can come next: the one before it in its thread has happened, and what must precede it;
 * what it takes hold of is free; and what it reads is what it read in the observed run. */
bool dpe_follower_can(const struct dpe_follower *follower, uint64_t number);
void dpe_follower_do(struct dpe_follower *follower, uint64_t number);
bool dpe_follower_is_complete(const struct dpe_follower *follower);
/* True if each event of the order can come next, and after them all of the cut have happened. */
bool dpe_follower_follow(struct dpe_follower *follower, const struct dpe_rearranged *order);
void dpe_follower_free(struct dpe_follower *follower);

/* ---- arrange.c ------------------------------------------------------------------------------- */

/* A section that comes before another one of its lock. */
struct dpe_precedence {
	const struct dpe_lock_section *first, *then;
};

/* The search for an order of the events of a cut. */
struct dpe_arrangement {
	struct dpe_follower follower;
	struct dpe_rearranged order;
	unsigned capplaces;
	uint32_t *limits; /* of each chain: its events before those of the match, which come first */
	unsigned caplimits;
	struct dpe_precedence before[DPE_REORDER_REPAIRS + 2 * DPE_POMSET_EVENTS];
	unsigned nbefore;
	uint64_t last; /* of the cut's events, in the observed order */
	uint64_t looked_at; /* events, threads and locks, in all */
};

/* Adds a precedence, unless its opposite holds already. */
bool dpe_arrangement_precede(struct dpe_arrangement *arrangement, const struct dpe_lock_section *first,
	const struct dpe_lock_section *then);
/* True if `order` is a run of the cut's events that was followed. The precedences, the order's first event and
 * the limits are given. */
bool dpe_arrange(struct dpe_arrangement *arrangement, const struct dpe_history *history,
	const uint32_t *cut, unsigned nchains);
void dpe_arrangement_free(struct dpe_arrangement *arrangement);

#endif
