/* slices: parametric slicing, as the rest of the recognizer uses it. */
#ifndef DPE_RECOGNIZER_SLICES_SLICES_H
#define DPE_RECOGNIZER_SLICES_SLICES_H

#include "recognizer/recognizer.h"

/* Follows a run in slices. */
void dpe_slices_new(struct dpe_run *run);
/* Translates the states of all slices from the old automaton to run->automaton. */
void dpe_slices_adopt(struct dpe_run *run, const struct dpe_automaton *old);
/* As struct dpe_rule_engine says. */
void dpe_slices_finish(struct dpe_run *run);
void dpe_slices_forget(struct dpe_run *run, const struct dpe_horizon *horizon);
uint64_t dpe_slices_states(struct dpe_run *run, dpe_slice_state_fn *each, void *context);
bool dpe_slices_live(struct dpe_run *run, uint64_t *patterns); /* makes slices active */

#endif
