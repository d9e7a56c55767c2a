/* races: rules about pairs of independent events. */
#ifndef DPE_RECOGNIZER_RACES_RACES_H
#define DPE_RECOGNIZER_RACES_RACES_H

#include "recognizer/recognizer.h"

struct dpe_name_watchers;
struct dpe_pair_access;

/* False where the rule takes more, and dpe_slices_new is for it. */
bool dpe_pairs_new(struct dpe_run *run);
void dpe_pairs_free(struct dpe_run *run); /* accepts a run without */
/* Once all runs are there: joins the watchers of rules that share their slices. */
void dpe_pairs_watch(struct dpe_name_watchers *watch);
/* As dpe_slices_prefetch. */
void dpe_pairs_prefetch(const struct dpe_run *run, const struct dpe_value *value, bool soon);
/* The message is on its way: what it takes may come near, as memory goes, while it is put in order. */
void dpe_pairs_prefetch_message(const struct dpe_pair_access *access, const struct dpe_message *message);
/* The event, for all rules that share these slices, where it takes the place of another one that the
 * slice keeps and that is all; false where nothing was done. */
bool dpe_pairs_access_fast(const struct dpe_pair_access *access, const struct dpe_event *event);
/* The event, for all rules that share these slices. */
void dpe_pairs_access(const struct dpe_pair_access *access, const struct dpe_event *event);
/* The event, which matched run->bindings. */
void dpe_pairs_take(struct dpe_run *run, const struct dpe_event *event);
uint64_t dpe_pairs_count(const struct dpe_run *run); /* slices */
void dpe_pairs_finish(struct dpe_run *run);

#endif
