/* races: rules about pairs of independent events, the fast path of `detect a & b`. */
#ifndef DPE_RECOGNIZER_RACES_RACES_H
#define DPE_RECOGNIZER_RACES_RACES_H

#include "recognizer/recognizer.h"

struct dpe_name_watchers;
struct dpe_pair_access;

/* Gives a run whose engine is DPE_BY_PAIR_TABLE its slices; dpe_slices_new gives them to any other.
 */
void dpe_pairs_new(struct dpe_run *run);
void dpe_pairs_free(struct dpe_run *run); /* accepts a run without */
/* Once all runs are set up: joins the watchers of rules that share slices. */
void dpe_pairs_watch(struct dpe_name_watchers *watch);
/* As dpe_slices_prefetch. */
void dpe_pairs_prefetch(const struct dpe_run *run, const struct dpe_value *value, bool soon);
/* Prefetches for a message that is about to be stabilized. */
void dpe_pairs_prefetch_message(
	const struct dpe_pair_access *access, const struct dpe_message *message);
/* Takes the event for all rules that share these slices, where it just replaces one that the slice
 * keeps. False where nothing was done. */
bool dpe_pairs_access_fast(const struct dpe_pair_access *access, const struct dpe_event *event);
/* Takes the event for all rules that share these slices. */
void dpe_pairs_access(const struct dpe_pair_access *access, const struct dpe_event *event);
/* Takes an event that matched run->bindings. */
void dpe_pairs_take(struct dpe_run *run, const struct dpe_event *event);
uint64_t dpe_pairs_count(const struct dpe_run *run); /* number of slices */
void dpe_pairs_finish(struct dpe_run *run);

#endif
