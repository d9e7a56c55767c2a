/* slices: parametric slicing, as the rest of the recognizer uses it. */
#ifndef DPE_RECOGNIZER_SLICES_SLICES_H
#define DPE_RECOGNIZER_SLICES_SLICES_H

#include "recognizer/recognizer.h"

struct dpe_slices *dpe_slices_new(struct dpe_run *run);
void dpe_slices_free(struct dpe_run *run); /* with its slices; accepts a run without */
/* Fast path of dpe_slices_take, for an event that continues a sequence in its only slice. False
 * where nothing was done. */
bool dpe_slices_take_fast(struct dpe_run *run, const struct dpe_event *event);
/* True where dpe_slices_take_bare_fast applies to events of the pattern. */
bool dpe_slices_bare_is_fast(const struct dpe_run *run, unsigned pattern);
/* Fast path for a pattern without arguments in a rule without variables. */
bool dpe_slices_take_bare_fast(
	struct dpe_run *run, unsigned pattern, const struct dpe_event *event);
/* Gives the event, which matched run->bindings, to each slice that it belongs to. */
void dpe_slices_take(struct dpe_run *run, struct dpe_occurrence *occurrence);
/* Prefetches the slice with this value of the only variable that the pattern binds: see
 * dpe_recognizer_prefetch. */
void dpe_slices_prefetch(
	const struct dpe_run *run, unsigned pattern, struct dpe_value value, bool soon);
/* Translates the states of all slices from the old automaton to run->automaton. */
void dpe_slices_adopt(struct dpe_run *run, const struct dpe_automaton *old);
uint64_t dpe_slices_count(const struct dpe_run *run);
/* Calls for each slice of a `detect` rule until `each` returns false; returns false then. Makes
 * slices active. */
typedef bool dpe_slice_fn(void *context, const struct dpe_slice *slice);
bool dpe_slices_each(struct dpe_run *run, dpe_slice_fn *each, void *context);
void dpe_slices_finish(struct dpe_run *run);
/* Drops events that no future event needs. */
void dpe_slices_forget(struct dpe_run *run, const struct dpe_horizon *horizon);

#endif
