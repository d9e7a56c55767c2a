/* slices: parametric slicing. What the rest of the recognizer calls. */
#ifndef DPE_RECOGNIZER_SLICES_SLICES_H
#define DPE_RECOGNIZER_SLICES_SLICES_H

#include "recognizer/recognizer.h"

struct dpe_slices *dpe_slices_new(struct dpe_run *run);
void dpe_slices_free(struct dpe_run *run); /* with its slices; accepts a run without */
/* The same at once where it is the next of a sequence in the one slice that it belongs to; false
 * where nothing was done. */
bool dpe_slices_take_fast(struct dpe_run *run, const struct dpe_event *event);
/* Whether dpe_slices_take_bare_fast is for events of the pattern. */
bool dpe_slices_bare_is_fast(const struct dpe_run *run, unsigned pattern);
/* The same as dpe_slices_take_fast for an event of a pattern without arguments, in a rule without
 * variables, if dpe_slices_bare_is_fast. */
bool dpe_slices_take_bare_fast(
	struct dpe_run *run, unsigned pattern, const struct dpe_event *event);
/* The event, which matched run->bindings, goes to every slice that it belongs to. */
void dpe_slices_take(struct dpe_run *run, struct dpe_occurrence *occurrence);
/* An event with this value for the only variable that the pattern binds is to come: see
 * dpe_recognizer_prefetch. */
void dpe_slices_prefetch(
	const struct dpe_run *run, unsigned pattern, struct dpe_value value, bool soon);
/* Lets every slice stand in the state of run->automaton that it stands in in the old one. */
void dpe_slices_adopt(struct dpe_run *run, const struct dpe_automaton *old);
uint64_t dpe_slices_count(const struct dpe_run *run);
/* Each slice of a `detect` rule that partial matches can be of, until one is not wanted. Slices are
 * put to work for it. False where that was the case. */
typedef bool dpe_slice_fn(void *context, const struct dpe_slice *slice);
bool dpe_slices_each(struct dpe_run *run, dpe_slice_fn *each, void *context);
void dpe_slices_finish(struct dpe_run *run);
/* Drops the events that can no longer matter. */
void dpe_slices_forget(struct dpe_run *run, const struct dpe_horizon *horizon);

#endif
