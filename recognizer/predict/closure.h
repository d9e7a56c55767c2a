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
	uint32_t *pending; /* the chains of which that is not all */
	unsigned npending;
	unsigned nchains;
	uint32_t *latest; /* by the number of a lock: the place in its `order` of its latest acquire that is closed, plus 1 */
	unsigned nlatest;
	bool refused; /* a lock is never given back: no run has all these events */
	bool leans;   /* on the release of a lock that was held when the window began */
	const struct dpe_rearranged *order; /* of what is there; NULL: as observed. Borrowed */
};

/* Events of the run in another order: those before `first` as observed, then `events`. */
struct dpe_rearranged {
	uint64_t first;
	uint32_t *events;
	unsigned count;
	uint32_t *places; /* in `events`, by number - first; undefined for other events */
};

void dpe_closure_free(struct dpe_closure *closure);
/* The memory that it takes. */
static inline size_t dpe_closure_bytes(const struct dpe_closure *closure)
{
	enum { CUTS = 4 };

	return (CUTS * (size_t)closure->nchains + closure->nlatest) * sizeof(uint32_t);
}
/* Empties it. */
void dpe_closure_clear(struct dpe_closure *closure);
/* Makes it equal to one to which nothing was closed yet. */
void dpe_closure_copy(struct dpe_closure *closure, const struct dpe_closure *from);
/* Adds an event: what must precede it, and the event itself to `there`. */
void dpe_closure_add(struct dpe_closure *closure, const struct dpe_history *history, uint64_t number);
/* For each two conflicting acquires in the cut, adds the release of the earlier one. */
void dpe_closure_close(struct dpe_closure *closure, const struct dpe_history *history);
static inline bool dpe_closure_has(
	const struct dpe_closure *closure, const struct dpe_past_event *event)
{
	return event->epoch->chain < closure->nchains && event->index <= closure->before[event->epoch->chain];
}

static inline uint64_t dpe_rearranged_place(const struct dpe_rearranged *order, uint64_t number)
{
	return !order || number < order->first ? number : order->first + order->places[number - order->first];
}

/* The last acquire of a chain that is complete in its first `index` events and conflicts with a shared or an
 * exclusive one; or NULL. */
const struct dpe_lock_section *dpe_sections_last(
	const struct dpe_lock_sections *sections, uint32_t index, bool with_exclusive);
/* An acquire of another chain that conflicts with this one and that comes before it in the run, and after it in the
 * observed one; looks at the lock's chains from `*at` on, and steps on. NULL: there is none. */
const struct dpe_lock_section *dpe_section_swapped(
	const struct dpe_closure *run, const struct dpe_lock_section *section, unsigned *at);
/* The first entry of the chain's `acquires` whose gate is after its first `index` events. */
unsigned dpe_acquires_after(const struct dpe_past_chain *chain, uint32_t index);
/* Adds the release of the acquire, if it is not there. */
void dpe_closure_release(struct dpe_closure *closure, const struct dpe_history *history,
	const struct dpe_lock_section *section);
/* Adds the first `index` events of a chain. */
void dpe_closure_raise(
	struct dpe_closure *closure, const struct dpe_history *history, uint32_t chain, uint32_t index);

/* The causal past of an event within the closed run: in `past`, as a closure's `before`. */
void dpe_closure_past(const struct dpe_closure *run, const struct dpe_history *history,
	uint64_t number, struct dpe_closure *past);

#endif
