/* closure: the least run of events, and the causal order within it. docs/internals/predict.md has
 * the definitions. Private to predict. */
#ifndef DPE_RECOGNIZER_PREDICT_CLOSURE_H
#define DPE_RECOGNIZER_PREDICT_CLOSURE_H

#include "recognizer/predict/history.h"

/* Two cuts that only grow: what comes before some events, closed under locks; and the same with
 * these events. Zero is empty. */
struct dpe_closure {
	uint32_t *before, *there;
	uint32_t *seen; /* of each chain, how much of `there` is closed */
	unsigned nchains;
	bool refused; /* a lock is never given back: no run has all these events */
};

void dpe_closure_free(struct dpe_closure *closure);
/* Empties it. */
void dpe_closure_clear(struct dpe_closure *closure);
/* Adds an event: what must precede it, and the event itself to `there`. */
void dpe_closure_add(struct dpe_closure *closure, const struct dpe_history *history, uint64_t number);
/* Of each two conflicting acquires that are there, adds the release of the earlier one. */
void dpe_closure_close(struct dpe_closure *closure, const struct dpe_history *history);
static inline bool dpe_closure_has(
	const struct dpe_closure *closure, const struct dpe_past_event *event)
{
	return event->chain < closure->nchains && event->index <= closure->before[event->chain];
}

/* The causal past of an event within the closed run: in `past`, as a closure's `before`. */
void dpe_closure_past(const struct dpe_closure *run, const struct dpe_history *history,
	uint64_t number, struct dpe_closure *past);

#endif
