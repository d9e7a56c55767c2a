/* races: rules about pairs of independent events, `detect a & b`. */
#ifndef DPE_RECOGNIZER_RACES_RACES_H
#define DPE_RECOGNIZER_RACES_RACES_H

#include "recognizer/recognizer.h"

struct dpe_name_watchers;
struct dpe_pair_access;

/* Follows a run whose engine is DPE_BY_PAIR_TABLE. */
void dpe_pairs_new(struct dpe_run *run);
/* Once all runs are set up: joins the watchers of rules that share slices. */
void dpe_pairs_watch(struct dpe_name_watchers *watch);
/* Takes the event for all rules that share these slices. */
void dpe_pairs_access(const struct dpe_pair_access *access, const struct dpe_event *event);

#endif
